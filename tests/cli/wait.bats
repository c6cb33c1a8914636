#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# wait: exit codes, time-outs, several ids, many waiters.
load helper

# code COMMAND...: the exit code of wait for it.
code() {
	local id code=0

	id=$(submit --timeout 10s -- "$@")
	work_off
	timeout 300 taskq wait "$id" 2>/dev/null || code=$?
	echo "$code"
}

@test "A2 D7: wait exits with the command's own code" {
	[[ $(code true) == 0 ]]
	[[ $(code sh -c 'exit 42') == 42 ]]
}

@test "A2: 126 not executable, 127 not found: failed tasks, not failed workers" {
	[[ $(code /etc/passwd) == 126 ]]
	[[ $(code no-such-command) == 127 ]]
	[[ $(taskq --json | jq '.queues[0].crashed') == 0 ]]
}

@test "A2: 128 plus the signal" {
	[[ $(code sh -c 'kill -SEGV $$') == 139 ]]
	[[ $(code sh -c 'kill -KILL $$') == 137 ]]
}

@test "E6: 124 timed out, with its cause" {
	local id

	id=$(submit --timeout 100ms -- sleep 60)
	work_off
	expect 124 wait "$id"
	says "timeout"
	is "$id" cause timeout
}

@test "D7: 75 not finished yet, --timeout 0 only looks" {
	local id

	id=$(submit -- true)
	expect 75 wait --timeout 0 "$id"
	says "not finished yet"
	expect 75 wait --timeout 50ms "$id"
}

@test "fault.L3: what is wrong in the line is exit 2, as elsewhere" {
	expect 2 wait
	expect 2 wait foo
	says "foo"
	expect 2 wait --timeout x 1-1
	expect 2 group wait foo
	expect 2 submit --wait
}

@test "A5 D7: 125 for a failure of taskq itself" {
	expect 125 wait 1-1
	submit -- true
	expect 125 wait 99-1
	says "no such task"
	taskq cancel 1-1
	expect 125 wait 1-1
	says "cancelled"
	taskq forget 1-1
	expect 125 wait 1-1
	says "freed"
}

@test "D7: several ids: 0, or 1 when any failed" {
	local good bad

	good=$(submit -- true)
	bad=$(submit -- sh -c 'exit 4')
	work_off
	expect 0 wait "$good" "$good"
	expect 1 wait "$good" "$bad"
	says "$bad failed, exit:4"
}

@test "D7: of several, a mistyped id is told of before any is waited for" {
	local id

	id=$(submit -- true)
	expect 125 wait "$id" 99-1
	says "99-1: no such task"
}

@test "D7: many waiters on one task all wake" {
	local id i waiters=()

	id=$(submit -- sh -c 'exit 6')
	for i in 1 2 3 4 5; do
		start taskq wait "$id"
		waiters+=("$pid")
	done
	eventually 5 eval '[[ $(taskq --json info | jq .sleepers) == 5 ]]'
	work_off
	for pid in "${waiters[@]}"; do
		ends 6 "$pid"
	done
}

@test "A5: a waiter wakes when its task is purged and when the segment is destroyed" {
	local id

	id=$(submit -- true)
	start taskq wait "$id"
	eventually 5 eval '[[ $(taskq --json info | jq .sleepers) == 1 ]]'
	taskq destroy --force
	ends 125 "$pid"
}
