#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Waiting inside a command: substitutes for those who wait, and waits that would close a cycle.
load helper

setup_file() {
	cat >"$BATS_FILE_TMPDIR/link" <<-'END'
		#!/bin/sh
		# link HOW N: waits for a link below it; the last one for a file.
		if [ "$2" -gt 0 ]; then
			set -- "$1" "$0" "$1" $(($2 - 1))
			case $1 in
			submit) shift; exec taskq submit --wait -- "$@" ;;
			run) shift; exec taskq run -- "$@" ;;
			wait) shift; exec taskq wait "$(taskq submit -- "$@")" ;;
			esac
		fi
		while [ ! -e go ]; do sleep 0.02; done
		echo bottom
		exit 3
	END
	chmod +x "$BATS_FILE_TMPDIR/link"
}

chain() { # HOW DEPTH
	submit --keep -- "$BATS_FILE_TMPDIR/link" "$@"
}

has() { # COUNT STATE
	[[ $(taskq list --json -S "$2" | wc -l) == "$1" ]]
}

workers() { # COUNT
	[[ $(taskq --json info | jq .workers) == $(($1 + 1)) ]] # and the master
}

@test "E9: one worker and a chain 10 deep: submit --wait, wait, run" {
	local how

	farm -j1
	for how in submit wait run; do
		rm -f go
		id=$(chain "$how" 10)
		eventually 10 has 11 running
		touch go
		expect 3 wait "$id"
		eventually 5 workers 1
		has 0 running
	done
	expect 0 log "$id"
	[[ $output == bottom ]] # run passes it on
}

@test "E9: who waits is killed; its attempt is not one that waits any more" {
	local first victim i

	farm -j1
	first=$(chain wait 3)
	eventually 10 has 4 running
	for i in 1 2 3; do # each of them is killed by its command's process group
		victim=$(taskq list --json -S running | jq -r .id | head -1)
		kill -KILL "$(taskq why --json "$victim" | jq .pgid)"
		eventually 10 has $((4 - i)) running
	done
	is "$first" cause signal:KILL
	touch go
	eventually 10 has 0 running
	eventually 5 workers 1
}

@test "E9: waits that would close a cycle are refused, at once" {
	farm -j1
	id=$(submit -- sh -c 'taskq wait $TASKQ_ID')
	expect 125 wait "$id"
	expect 0 log "$id"
	prints "wait for each other"
	# The parent waits for its child, the child for its parent.
	id=$(submit -- sh -c 'taskq submit --wait -- sh -c "taskq wait $TASKQ_ID"')
	expect 125 wait "$id"
	eventually 5 workers 1
}

@test "E9: another segment's ids are no business of this one" {
	local other=$TASKQ_SEGMENT-other

	farm -j1
	start taskq -s "$other" work -j1
	eventually 5 taskq -s "$other" info
	id=$(taskq -s "$other" submit -- sh -c 'while [ ! -e go ]; do sleep 0.02; done')
	eventually 5 eval '[[ $(taskq -s "$other" list --json -S running | wc -l) == 1 ]]'
	# Each is the first attempt of 1-1: here it waits for the one there, which runs.
	[[ $id == 1-1 && $(submit -- taskq -s "$other" wait --timeout 0.1 1-1) == 1-1 ]]
	expect 75 wait 1-1
	touch go
	taskq -s "$other" wait 1-1
	end "$pid"
	taskq -s "$other" destroy --force
}

@test "E9: show, why and status say who waits, and for what" {
	farm -j1
	id=$(chain wait 1)
	eventually 10 has 2 running
	eventually 5 eval '[[ $(taskq why --json $id | jq -r .reason) == waiting ]]'
	below=$(taskq list --json -S running | jq -r .id | grep -v "^$id$")
	[[ $(taskq why --json "$id" | jq -r .holder) == "$below" ]]
	expect 0 why "$id"
	prints "it waits for $below"
	expect 0 show "$id"
	prints "it waits for $below"
	[[ $(field "$id" flags) == *waiting* ]]
	expect 0 status
	prints "waiting"
	touch go
	expect 3 wait "$id"
}

@test "E9: one worker and a task that waits for a group: a substitute runs the members" {
	local g parent

	farm -j1
	parent=$(submit -- sh -c '
		g=$(taskq group new)
		taskq submit --group "$g" -- sh -c "while [ ! -e go ]; do sleep 0.02; done" >member
		taskq group seal "$g"
		exec taskq group wait "$g"')
	eventually 10 has 2 running
	eventually 5 eval '[[ $(taskq why --json $parent | jq -r .reason) == waiting ]]'
	[[ $(taskq why --json "$parent" | jq -r .holder) == "$(cat member)" ]]
	touch go
	expect 0 wait "$parent"
	eventually 5 workers 1
	# Ends, one by one, likewise.
	g=$(taskq group new)
	parent=$(submit -- taskq group wait --each "$g")
	eventually 5 eval '[[ $(taskq why --json $parent | jq -r .reason) == waiting ]]'
	submit --group "$g" -- true
	taskq group seal "$g"
	expect 0 wait "$parent"
}

@test "E9: a member's wait for its own group, or for its completion task, is refused" {
	local c g

	farm -j1
	g=$(taskq group new -- true)
	c=$(taskq group show --json "$g" | jq -r .completion)
	id=$(submit --group "$g" -- taskq group wait "$g")
	expect 125 wait "$id"
	expect 0 log "$id"
	prints "wait for each other"
	id=$(submit --group "$g" -- taskq wait "$c")
	expect 125 wait "$id"
	taskq group seal "$g"
	expect 0 wait "$c"
}

@test "E9 H4: why names the limit of substitutes, and no other wait" {
	local held id i

	held=$(submit --hold -- true)
	farm -j1
	for ((i = 0; i < 64; i++)); do
		submit -- taskq wait "$held" >/dev/null
	done
	eventually 20 has 64 running
	eventually 20 workers 65
	# The worker that is left is busy: that is no matter of substitutes.
	submit -- sleep 60 >/dev/null
	eventually 10 has 65 running
	id=$(submit -- true)
	[[ $(taskq why --json "$id" | jq -r .reason) == busy ]]
	taskq cancel "$(taskq list -H -o id,command | grep -P '\tsleep 60$' | cut -f 1)"
	eventually 10 is "$id" state 'done'
	submit -- taskq wait "$held" >/dev/null
	eventually 10 has 65 running
	id=$(submit -- true)
	eventually 10 eval '[[ $(taskq why --json "$id" | jq -c "[.reason, .others]") == "[\"substitutes\",65]" ]]'
	expect 0 why "$id"
	prints "all 65 workers that serve it are busy, and 65 tasks of the farm of pid $pid wait for others"
	prints "no more than 64 substitutes for those; another worker lets it go on"
	taskq command send resize 2 --to farms --wait
	eventually 10 is "$id" state 'done'
	taskq cancel "$held"
	eventually 20 has 0 running
}
