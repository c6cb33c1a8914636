#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# H4: why a task is not running, each reason once.
load helper

# reason ID WORD: `taskq why` gives WORD as its reason, and says one sentence.
reason() {
	expect 0 why "$1" --json
	[[ $(jq -r .reason <<<"$output") == "$2" ]] || { echo "$output"; return 1; }
	expect 0 why "$1"
	[[ $(wc -l <<<"$output") == 1 ]]
	prints "$1: "
}

has_reason() {
	[[ $(taskq why "$1" --json | jq -r .reason) == "$2" ]]
}

@test "H4: waiting: held, delayed, backing off, paused" {
	local id

	id=$(submit --hold -- true)
	reason "$id" held
	prints "taskq unhold $id"
	id=$(submit --delay 1h -- true)
	reason "$id" delayed
	prints "it is not due: in 59m"
	id=$(submit --retries 1 --backoff 1h -- false)
	taskq work -j1 --until-empty >work.log 2>&1 3>&- &
	started+=($!)
	eventually 10 has_reason "$id" back-off
	reason "$id" back-off
	prints "before attempt 2; attempt 1 ended with exit:1"
	taskq pause
	id=$(submit -- true)
	reason "$id" paused
	prints "taskq resume default"
}

@test "H4: past its deadline, and nobody there to look" {
	local id

	id=$(submit --deadline 10ms -- true)
	eventually 10 has_reason "$id" expired
	reason "$id" expired
	prints "its deadline has passed"
	work_off
	reason "$id" ended
	prints "expired, deadline"
}

@test "H4: nobody serves the queue, or the kind" {
	local id

	id=$(submit -- true)
	reason "$id" no-worker
	prints "taskq work -q default"
	farm -j1
	id=$(submit --kind thumbnail --payload x)
	reason "$id" no-kind
	prints "the one live worker of queue default does not serve kind thumbnail"
}

@test "H4: running, busy and what is before it, stopped, ended" {
	local id first second low

	farm -j1
	first=$(submit -- sleep 60)
	eventually 10 has_reason "$first" running
	reason "$first" running
	prints "attempt 1, on worker"
	second=$(submit -p high -- true)
	reason "$second" busy
	[[ $output != *before* ]]
	low=$(submit -p low -- true)
	reason "$low" busy
	prints "the one worker that serves it is busy, and about 1 task is before it"
	[[ $(taskq why "$low" --json | jq .before) == 1 ]]
	taskq cancel "$first"
	expect 0 wait "$second" "$low"
	reason "$low" ended
	prints "it has ended: done"
}

@test "H4: an attempt that is being ended is in the way" {
	local id

	farm -j1 --grace 1m
	id=$(submit --timeout 100ms -- sh -c 'trap "" TERM; echo deaf; while [ ! -e enough ]; do sleep 0.1; done')
	eventually 10 eval '[[ $(taskq log $id 2>&1) == *deaf* ]]'
	eventually 10 eval '[[ $(taskq why $id) == *"got SIGTERM"* ]]'
	reason "$id" stopping
	prints "attempt 1 is being ended (timeout): pid "
	[[ $(taskq why "$id" --json | jq -r .stop_cause) == timeout ]]
	touch enough
	expect 0 wait "$id" # it was asked to end, and did
}

@test "H4: a worker that is free but stopped" {
	local id worker

	farm -j1
	worker=$(taskq --json status | jq -r '.workers[] | select(.flags | index("master") | not) | .pid')
	kill -STOP "$worker"
	eventually 5 is_in "$worker" T
	id=$(submit -- true)
	reason "$id" stopped
	prints "kill -CONT $worker"
	kill -CONT "$worker"
	expect 0 wait "$id"
}

@test "H4: workers that are stopped, with a task or without" {
	local id next workers

	farm -j2
	mapfile -t workers < <(taskq --json status |
		jq -r '.workers[] | select(.flags | index("master") | not) | .pid')
	id=$(submit -- sleep 60)
	eventually 10 has_reason "$id" running
	kill -STOP "${workers[@]}"
	eventually 5 is_in "${workers[0]}" T
	eventually 5 is_in "${workers[1]}" T
	reason "$id" running
	prints "is stopped; \`kill -CONT $(field "$id" worker_pid)\` lets it go on"
	[[ $(taskq why "$id" --json | jq .stopped_pid) == "$(field "$id" worker_pid)" ]]
	expect 0 show "$id"
	prints "is stopped; "
	next=$(submit -- true)
	reason "$next" stopped
	prints "all 2 workers that serve it are stopped, as pid "
	kill -CONT "$(field "$id" worker_pid)"
	eventually 5 eval '[[ $(taskq why "$next") == *"1 of the 2 workers that serve it is stopped, as pid"* ]]'
	kill -CONT "${workers[@]}"
	expect 0 wait "$next"
}

@test "H4: a task after one that is held" {
	local first id

	first=$(submit --hold -- true)
	id=$(submit --after "$first" -- true)
	reason "$id" blocked
	prints "it waits for $first (ready, held)"
	[[ $(taskq why "$id" --json | jq .holder_held) == true ]]
}

@test "H4: why of no task" {
	taskq create
	expect 5 why 7-1
	says "no such task"
	expect 2 why
	expect 2 why seven
}
