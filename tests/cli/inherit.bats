#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Priority inheritance: what is waited for is as urgent as who waits for it.
load helper

# Tasks that write their label, in the order in which they start.
note() {
	local label=$1
	shift
	submit --label "$label" "$@" -- sh -c "echo $label >>order"
}

counts_as() {
	[[ $(taskq show --json "$1" | jq .effective_priority) == "$2" ]]
}

@test "B7: the parent of a critical task overtakes a flood of normal ones" {
	local parent child i

	for i in 1 2 3 4 5 6 7 8 9 10; do
		note "flood$i" >/dev/null
	done
	parent=$(note parent -p low)
	note middle -p high >/dev/null
	child=$(note child -p critical --after "$parent")
	eventually 10 counts_as "$parent" 1000
	expect 0 show "$parent"
	prints "priority -100 (low)"
	prints "counts as   priority 1000 (critical), inherited from $child"
	[[ $(taskq show --json "$parent" | jq -r .inherited_from) == "$child" ]]
	expect 0 list -o id,priority,effective
	prints "1000"
	work_off
	[[ $(head -3 order | tr '\n' ' ') == "parent child middle " ]]
	is "$parent" effective_priority -100
}

@test "B7: over a chain, and undone when the donor is cancelled or becomes less urgent" {
	local first second third

	first=$(note first)
	second=$(note second --after "$first")
	third=$(note third -p high --after "$second")
	eventually 10 counts_as "$first" 100
	expect 0 update --priority 30 "$third"
	eventually 10 counts_as "$first" 30
	expect 0 cancel "$third"
	eventually 10 counts_as "$first" 0
	expect 0 check
}

@test "B7: a client names its priority; when it is killed, that ends" {
	local id

	note other -p high >/dev/null
	farm -j 1 -q elsewhere # somebody who looks
	id=$(note waited)
	start taskq wait --priority critical "$id"
	eventually 10 counts_as "$id" 1000
	kill -KILL "$pid"
	eventually 10 counts_as "$id" 0
	start taskq wait -p critical "$id"
	eventually 10 counts_as "$id" 1000
	work_off
	[[ $(head -1 order) == waited ]]
	expect 2 wait --priority urgent "$id"
	says "--priority"
}

@test "B7: a command that waits lends its priority to what it waits for" {
	local inner outer

	inner=$(note inner -q inner)
	note other -q inner -p high >/dev/null
	farm -j 1
	outer=$(submit -p critical -- taskq wait "$inner")
	eventually 10 counts_as "$inner" 1000
	work_off -q inner
	[[ $(head -1 order) == inner ]]
	expect 0 wait "$outer"
}

@test "B7: it lifts no hold, and nothing crosses fair keys" {
	local held a b

	held=$(note held --hold)
	note child -p critical --after "$held" >/dev/null
	eventually 10 counts_as "$held" 1000
	is "$held" state ready
	a=$(note a --fair one)
	b=$(note b --fair two -p high --after "$a")
	work_off
	is "$held" state ready
	is "$b" state "done"
	is "$a" effective_priority 0
}
