#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# shutdown and destroy under live workers.
load helper

@test "H1: shutdown refuses new tasks, finishes the rest, stops the workers" {
	local id

	farm -j1
	id=$(submit -- sh -c 'while [ ! -e go ]; do sleep 0.02; done')
	eventually 5 is "$id" state running
	submit -- true
	expect 0 shutdown
	expect 1 submit -- true
	says "shutting down"
	says "shutdown --undo"
	touch go
	expect 0 shutdown --wait
	ends 0 "$pid"
	[[ $(taskq list --json | jq -r .state | sort -u) == done ]]
}

@test "H1: shutdown --cancel ends what runs and what waits" {
	farm -j1
	submit -- sh -c "echo \$\$ >$PWD/child; sleep 60"
	eventually 5 test -s child
	submit -- true
	expect 0 shutdown --cancel --wait
	ends 0 "$pid"
	is_gone "$(cat child)"
	[[ $(taskq list --json | jq -r .state | sort -u) == cancelled ]]
}

@test "H1: shutdown --cancel works when nobody else is there" {
	seq 300 | jq -c '{command: ["true"]}' | submit --batch - >/dev/null
	expect 0 shutdown --cancel --wait
	[[ $(taskq --json info | jq .tasks_unfinished) == 0 ]]
}

@test "shutdown --wait says when nobody will finish the rest" {
	submit -- true
	start taskq shutdown --wait
	eventually 5 grep -q "no worker is there" err
	taskq shutdown --cancel
	ends 0 "$pid"
}

@test "H1, D5: shutdown seals open groups, whose completion tasks run" {
	local g

	g=$(taskq group new -- touch completed)
	taskq shutdown
	expect 0 work -j1 -Q
	expect 0 shutdown --wait
	[[ -e completed && $(taskq --json group show "$g" | jq -r .state) == complete ]]
	expect 1 group new -- true
	says "shutting down"
}

@test "H1, D4: shutdown --cancel cancels open groups" {
	local g

	g=$(taskq group new -- touch completed)
	submit --group "$g" -- true
	expect 0 shutdown --cancel --wait
	expect 0 group show "$g"
	prints "complete, cancelled"
	[[ ! -e completed ]]
	taskq shutdown --undo
	expect 1 submit --group "$g" -- true
}

@test "shutdown --wait inside a task would wait for itself: it is refused" {
	farm -j1
	id=$(submit -- sh -c 'taskq shutdown --wait 2>said')
	expect 1 wait "$id"
	grep -q "inside a task" said
	expect 0 submit -- true # nothing was shut down
}

@test "shutdown --undo opens it again" {
	taskq create
	expect 0 shutdown
	expect 0 status
	prints "shutting down"
	expect 0 shutdown --undo
	expect 0 submit -- true
	expect 2 shutdown --undo --wait
}

@test "A5: a destroyed segment stops farm, waiter and run" {
	local farm waiter id

	farm -j1
	farm=$pid
	id=$(submit -- sleep 60)
	start taskq wait "$id"
	waiter=$pid
	eventually 5 eval '[[ $(taskq --json info | jq .sleepers) -ge 2 ]]'
	eventually 5 is "$id" state running
	expect 0 destroy --force
	ends 125 "$waiter"
	eventually 10 is_gone "$farm"
}
