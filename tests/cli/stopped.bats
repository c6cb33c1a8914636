#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Ctrl-Z, and a lock holder that has been stopped.
load helper

@test "I7: Ctrl-Z stops who waits, and fg goes on" {
	local id

	id=$(submit -- true)
	start_job taskq wait "$id"
	eventually 5 eval '[[ $(taskq --json info | jq .sleepers) == 1 ]]'
	kill -TSTP "$pid"
	eventually 5 is_in "$pid" T
	work_off
	kill -CONT "$pid"
	ends 0 "$pid"
}

@test "I7: Ctrl-Z does not stop a farm" {
	local id

	farm -j1
	kill -TSTP "$pid"
	id=$(submit -- true)
	expect 0 wait "$id"
	is_in "$pid" SR
}

@test "I7: Ctrl-Z in the middle of many submits never stops inside the lock" {
	seq 200000 | jq -c '{command: ["true"]}' >lines
	start_job taskq submit --batch lines
	eventually 5 eval '[[ $(taskq --json info 2>/dev/null | jq .tasks_count) -gt 100 ]]'
	kill -TSTP "$pid"
	eventually 5 is_in "$pid" T
	expect 0 submit -- true # at once, as nobody has the lock
	kill -KILL "$pid"
	expect 0 check
}

@test "I7 H3: a stopped lock holder is named after 5 s; observers do not wait" {
	local id began

	[[ -x $TASKQ_LOCK_HOLDER ]] || skip "TASKQ_LOCK_HOLDER is not set"
	id=$(submit -- true)
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	eventually 5 is_in "$pid" T
	began=$SECONDS
	expect 0 list
	expect 0 status
	expect 0 show "$id"
	expect 0 stats
	((SECONDS - began < 4))
	expect 0 info
	prints "held by thread $pid"
	expect 1 cancel "$id"
	says "held by process $pid, which is stopped (T)"
	says "kill -CONT $pid"
	((SECONDS - began < 9))
	kill -CONT "$pid"
	ends 0 "$pid"
	expect 0 cancel "$id"
}

@test "I1 I7: killing the stopped lock holder frees everybody" {
	[[ -x $TASKQ_LOCK_HOLDER ]] || skip "TASKQ_LOCK_HOLDER is not set"
	taskq create
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	eventually 5 is_in "$pid" T
	(kill -KILL "$pid")
	expect 0 submit -- true
	[[ $(taskq --json info | jq .rollbacks) == 1 ]]
	expect 0 check
}

# Stops the lock's holder, `pid`.
stop_holder() {
	[[ -x $TASKQ_LOCK_HOLDER ]] || skip "TASKQ_LOCK_HOLDER is not set"
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	eventually 5 is_in "$pid" T
}

@test "fault.S6: a wait's own time-out wins over a lock that is not to be had" {
	local id

	id=$(submit -- true)
	stop_holder
	expect 75 wait --timeout 10ms "$id"
	says "$id has not finished yet"
	expect 75 wait --timeout 0 "$id"
	kill -CONT "$pid"
	ends 0 "$pid"
}

@test "fault.S6: destroy names the stopped holder of the lock" {
	submit -- true
	stop_holder
	expect 1 destroy
	says "held by process $pid, which is stopped (T)"
	says "kill -CONT $pid"
	kill -CONT "$pid"
	ends 0 "$pid"
	expect 0 destroy --force
}

@test "fault.D10: of several tasks the first finds the lock held, for all" {
	local ids=() i

	for i in 1 2 3; do ids+=("$(submit -- true)"); done
	stop_holder
	expect 1 cancel "${ids[@]}"
	[[ $(grep -c 'the lock could not be had' <<<"$stderr") == 1 ]]
	expect 75 wait --timeout 0 "${ids[@]}"
	[[ $(grep -c 'has not finished yet' <<<"$stderr") == 3 ]]
	expect 125 wait "${ids[@]}"
	[[ $(grep -c 'the lock could not be had' <<<"$stderr") == 1 ]]
	kill -CONT "$pid"
	ends 0 "$pid"
}

@test "fault.S3: of two farms the older is stopped as a whole: status names it, the other works" {
	local id older stopped

	farm -j2
	older=$pid
	farm -j1 -q default
	for id in 1 2 3 4 5 6; do expect 0 wait "$(submit -- true)"; done
	mapfile -t stopped < <(taskq --json status | jq -r --argjson pid "$older" \
		'[.workers[] | select(.pid == $pid) | .worker][0] as $farm | .workers[] |
		select(.worker == $farm or .master == $farm) | .pid')
	[[ ${#stopped[@]} == 3 ]]
	kill -STOP "${stopped[@]}"
	for id in "${stopped[@]}"; do eventually 5 is_in "$id" T; done
	expect 0 status
	[[ $(grep -c stopped <<<"$output") == 3 ]]
	[[ $(taskq --json status | jq '[.workers[] | select(.stopped)] | length') == 3 ]]
	for id in 1 2 3; do expect 0 wait "$(submit -- true)"; done
	kill -CONT "${stopped[@]}"
}
