#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Dependencies: tasks that wait for the end of others.
load helper

@test "D1: after, after-any and after-fail, on what is done and on what fails" {
	local good bad id kind
	declare -A after=()

	good=$(submit -- true)
	bad=$(submit -- false)
	for kind in after after-any after-fail; do
		after[good-$kind]=$(submit "--$kind" "$good" -- true)
		after[bad-$kind]=$(submit "--$kind" "$bad" -- true)
		is "${after[good-$kind]}" state blocked
	done
	id=$(submit --after "$good,${after[good-after]}" --after-fail "$bad" -- true)
	work_off
	for kind in good-after good-after-any bad-after-any bad-after-fail; do
		is "${after[$kind]}" state "done"
	done
	is "$id" state "done"
	is "${after[bad-after]}" state cancelled
	is "${after[bad-after]}" cause "dependency:$bad"
	is "${after[good-after-fail]}" cause "dependency:$good"
	expect 0 list -o id,cause
	prints "dependency:$bad"
	expect 0 check
}

@test "D1: decided at once on what has ended; a freed or unknown one is named" {
	local good gone

	good=$(submit -- true)
	gone=$(submit --forget -- true)
	work_off
	is "$(submit --after "$good" -- true)" state ready
	is "$(submit --after-fail "$good" -- true)" cause "dependency:$good"
	is "$(submit --after-any "$gone" -- true)" state ready
	expect 5 submit --after "$good,$gone" -- true
	says "--after $gone: its record has been freed"
	expect 5 submit --after-fail 99-1 -- true
	says "--after-fail 99-1: no such task"
	expect 2 submit --after x -- true
	says '--after "x": not a task id'
	expect 2 submit --after "" -- true
}

@test "D1: why and show name what is waited for" {
	local first second id

	farm -j 1
	first=$(submit -- sh -c 'until [ -e go ]; do sleep 0.05; done')
	second=$(submit --hold -- true)
	id=$(submit --after "$second,$first" -- true)
	eventually 10 is "$first" state running
	expect 0 why "$id"
	prints "it waits for $first (running, pid "
	prints "and 1 other"
	expect 0 why --json "$id"
	[[ $(jq -r '.reason, .holder, .others' <<<"$output" | xargs) == "blocked $first 1" ]]
	expect 0 show "$id"
	prints "$second (after-ok, ready)"
	expect 0 show "$first"
	prints "$id (after-ok, blocked)"
	[[ $(taskq show --json "$id" | jq -r '.dependencies[].id' | sort | xargs) == "$first $second" ]]
	[[ $(taskq show --json "$second" | jq -r '.dependants[0].id') == "$id" ]]
	touch go
	expect 0 unhold "$second"
	expect 0 wait "$id"
}

@test "D1: a batch has dependencies, and a listing can be submitted again" {
	local first ids

	first=$(submit --hold -- true)
	expect 0 submit --batch - <<<'{"command":["true"],"after":["'"$first"'"],"after_fail":["'"$first"'"]}'
	taskq list --json -S blocked >blocked
	[[ $(jq -r '.after[0], .after_fail[0]' blocked | xargs) == "$first $first" ]]
	ids=$(taskq submit --batch blocked 2>/dev/null)
	is "$ids" state blocked
	expect 2 submit --batch - <<<'{"command":["true"],"after":"1-1"}'
	says '"after" is not an array'
	expect 5 submit --batch - <<<'{"command":["true"],"after":["99-1"]}'
	says "99-1: no such task"
}

@test "D3: one more dependency on what was submitted earlier, until it starts" {
	local first second

	first=$(submit --hold -- true)
	second=$(submit -- true)
	expect 2 update --after "$second" "$first"
	says "submitted before it"
	expect 0 update --after "$first" "$second"
	is "$second" state blocked
	expect 5 update --after 99-1 "$second"
	says "--after 99-1: no such task"
	work_off
	is "$second" state blocked
	expect 0 unhold "$first"
	work_off
	is "$second" state "done"
	expect 1 update --after-any "$first" "$second"
}

@test "D4: cancel with dependants, and all that match" {
	local first any last other

	first=$(submit --hold -L one -- true)
	any=$(submit --after-any "$first" -- true)
	last=$(submit --after-fail "$any" -- true)
	expect 0 cancel --dependants "$first"
	is "$any" cause "dependency:$first"
	is "$last" cause "dependency:$any"
	submit --hold -L two -- true
	submit --hold -L two -q other -- true
	other=$(submit --hold -L three -- true)
	expect 2 cancel -L two "$other"
	expect 2 cancel -S "done"
	expect 0 cancel -L two -S ready
	prints "2 tasks cancelled"
	expect 0 cancel -q default
	prints "1 task cancelled"
	is "$other" state cancelled
	expect 1 cancel -q default
	prints "0 tasks"
}

@test "E10: retry --dependants revives what a failure has cancelled, in its order" {
	local first second third

	first=$(submit -- sh -c 'echo 1 >>log; test -e fixed')
	second=$(submit --after "$first" -- sh -c 'echo 2 >>log')
	third=$(submit --after "$second" -- sh -c 'echo 3 >>log')
	work_off
	is "$third" cause "dependency:$second"
	touch fixed
	expect 0 retry --dependants "$first"
	is "$third" state blocked
	work_off
	is "$third" state "done"
	[[ $(xargs <log) == "1 1 2 3" ]]
	expect 0 check
}

@test "A4: what is waited for stays, and can be read by who comes after it" {
	local first second

	first=$(submit --forget -- echo result)
	second=$(submit --after "$first" -- sh -c 'taskq log '"$first")
	work_off
	[[ $(taskq log "$second") == result ]]
	expect 5 show "$first"
}

@test "I1: dependants start though every worker and the master are killed" {
	local first second pid

	farm -j 1
	first=$(submit -- sh -c 'echo begun >>log; until [ -e go ]; do sleep 0.05; done')
	second=$(submit --after "$first" --after-any "$first" -- sh -c 'echo second >>log')
	eventually 10 test -s log
	kill -KILL "$pid"
	touch go
	work_off
	eventually 10 is "$first" state "done"
	work_off
	is "$second" state "done"
	[[ $(tail -1 log) == second ]]
	expect 0 check
}

@test "a dependency of a batch's line that cannot be: its line is named" {
	expect 5 submit --batch - <<<$'{"command":["true"]}\n\n{"command":["true"],"after":["99-1"]}'
	says "99-1"
	says "line 3; 1 task was handed in before it"
}
