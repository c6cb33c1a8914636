#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# taskq-top -b: looks that are printed.
load ../cli/helper

# top CODE ARG...: `taskq-top -b ARG...` exits with CODE; then $output and $stderr.
top() {
	local code=$1

	shift
	run "-$code" --separate-stderr timeout 300 taskq-top -b "$@"
}

has_more_than_ascii() {
	LC_ALL=C grep -q '[^ -~]' "$1"
}

@test "H8: -b prints the views without a terminal" {
	local id

	id=$(submit -q mail -L "order 1" -- true)
	submit -q images -p high -L "photo" -- false
	taskq limit set db 3
	top 0 -n1
	prints "Tasks     ready 2 "
	prints "mail "
	prints "no live worker: 2 tasks are ready"
	top 0 -n1 --view tasks
	prints "$id "
	prints "order 1: true"
	top 0 -n1 --view tasks --filter photo
	prints "photo: false"
	[[ $output != *"order 1"* ]]
	top 0 -n1 --view Queues
	prints "QUEUE"
	top 0 -n1 --view limits
	prints "db "
	farm -j2 -q mail,images
	top 0 -n1 --view workers
	prints "master"
	prints "mail,images"
}

@test "H8: -b prints a view however narrow the output is said to be" {
	taskq create -q mail
	COLUMNS=10 top 0 -n1
	prints "Tasks     ready"
	prints "mail"
	[[ $output != *"too small"* ]]
}

@test "H8: the first look knows no rates" {
	taskq create -q mail
	top 0 -n1
	prints "changes -/s"
	top 0 -n2 -d 20ms
	[[ $(grep -c "changes -/s" <<<"$output") == 1 ]]
}

@test "H8: -n and -d: so many looks, so far apart" {
	taskq create
	top 0 -n3 -d 20ms
	[[ $(grep -c "taskq-top  " <<<"$output") == 3 ]]
}

@test "H7 H8: --json is one object a look, and the same fields each time" {
	submit -q mail --limit db -- true
	top 0 --json -n2 -d 20ms
	[[ ${#lines[@]} == 2 ]]
	[[ $(jq -r 'keys_unsorted | join(" ")' <<<"${lines[0]}") == \
		"time segment lock troubles queues workers limits" ]]
	[[ $(jq -r 'keys_unsorted | join(" ")' <<<"${lines[1]}") == \
		"time segment lock troubles rates queues workers limits" ]]
	[[ $(jq -c '[.queues[0].queue, .queues[0].depth.ready, .limits[0].key, .lock.held]' \
		<<<"${lines[1]}") == '["mail",1,"db",false]' ]]
	[[ $(jq -c '.rates' <<<"${lines[1]}") == '{"submitted":0.0,"started":0.0,"done":0.0,"failed":0.0}' ]] ||
		[[ $(jq -c '.rates | map_values(. == 0)' <<<"${lines[1]}") == \
			'{"submitted":true,"started":true,"done":true,"failed":true}' ]]
	top 0 --json -n1 --view tasks
	[[ $(jq -r '.tasks[0].id' <<<"$output") == 1-1 ]]
}

@test "H2 H8: the percentiles of a queue are those of taskq stats, and the overview has them" {
	submit -q mail -- sleep 0.05
	submit -q mail -- false
	submit -q images -- true
	work_off -q mail,images
	top 0 --json -n1
	[[ $(jq -c '.queues[] | [.queue, .wait, .run, .end_to_end]' <<<"$output") == \
		"$(taskq stats --json | jq -c 'select(.queue) | [.queue, .wait, .run, .end_to_end]')" ]]
	jq -e '.queues[0].run | .count == 2 and .max_ns >= 50000000' <<<"$output"
	top 0 -n1
	grep -qE '^ Wait +p50 [0-9.]+(ms|s) +p90 .* p99 .* max ' <<<"$output"
	grep -qE '^ Run +p50 .* max [0-9.]+(ms|s)' <<<"$output"
	grep -qE '^ In all +p50 .* max [0-9.]+(ms|s)' <<<"$output"
	COLUMNS=200 top 0 -n1 --view queues
	prints "WAIT50 WAIT99  RUN50  RUN99"
}

@test "H8: groups, and what the recorder got since the look before, in text and JSON" {
	local group member

	group=$(taskq group new -L nightly)
	member=$(submit --group "$group" -- true)
	top 0 -n1 --view groups
	prints "$group "
	prints "nightly"
	top 0 -n1 --view groups --filter sealed
	prints "nothing matches"
	top 0 --json -n1 --view groups
	[[ $(jq -c .groups <<<"$output") == "$(taskq group list --json | jq -sc .)" ]]
	top 0 -n1 --view trace
	prints "$member "
	prints "submitted, ready"
	top 0 --json -n2 -d 20ms --view trace
	[[ $(jq -c '.trace[]' <<<"${lines[0]}") == "$(taskq trace --json)" ]]
	[[ $(jq -c .trace <<<"${lines[1]}") == '[]' ]]
	taskq destroy --force
	taskq create --trace off
	top 0 -n1 --view trace
	prints "no flight recorder"
}

@test "H8: rates are what was done between two looks" {
	taskq create -q mail
	start taskq-top --json -d 200ms
	eventually 5 eval '[[ -s out ]]'
	submit -q mail -- true
	eventually 5 eval 'jq -se "any(.[]; .rates.submitted > 0)" out >/dev/null'
	end "$pid"
}

@test "H8: no such segment, one of another build, one that is cut off" {
	local file=/dev/shm/taskq.$EUID.$TASKQ_SEGMENT

	top 5 -n1
	says "no such segment"
	head -c 8192 /dev/urandom >"$file"
	chmod 600 "$file"
	top 6 -n1
	rm "$file"
	taskq create
	truncate -s 4096 "$file"
	top 7 -n1
	says "cut off"
}

@test "H8: -b ends when the segment is removed under it, with exit code 5" {
	taskq create
	start taskq-top -b -d 20ms
	eventually 5 eval '[[ -s out ]]'
	taskq destroy
	ends 5 "$pid"
	grep -q "the segment was removed" out
	grep -q "it has been removed" err
}

@test "H3 H8: a stopped lock holder is named at once, and no look waits for it" {
	local began=$SECONDS

	[[ -x $TASKQ_LOCK_HOLDER ]] || skip "TASKQ_LOCK_HOLDER is not set"
	submit -q mail -- true
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	eventually 5 is_in "$pid" T
	top 0 -n1
	prints "lock held by stopped pid $pid for "
	prints "kill -CONT $pid"
	prints "mail "
	top 0 -n1 --view tasks
	prints "1-1 "
	top 0 --json -n1
	[[ $(jq -c '[.lock.held, .lock.pid, .lock.state, .troubles[0].grave]' <<<"$output") == \
		"[true,$pid,\"T\",true]" ]]
	((SECONDS - began < 15))
	kill -CONT "$pid"
	ends 0 "$pid"
	top 0 -n1
	[[ $output != *"lock held"* ]]
}

@test "H3 H8: all processes dead, one in the middle of a change" {
	[[ -x $TASKQ_LOCK_HOLDER ]] || skip "TASKQ_LOCK_HOLDER is not set"
	submit -q mail --group "$(taskq group new)" -- sleep 60
	farm -j2 -q mail
	eventually 5 is 1-1 state running
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	eventually 5 is_in "$pid" T
	for pid in "${started[@]}" $(taskq-top --json -n1 | jq '.workers[].pid'); do
		kill -KILL "$pid" 2>/dev/null || is_gone "$pid"
	done
	eventually 5 eval 'taskq-top -b -n1 | grep -q "no live worker"'
	top 0 -n1 --view workers
	prints "dead"
	top 0 -n1 --view tasks
	prints "running"
	top 0 -n1 --view groups
	prints "g1-1      open           1      1     1 "
	top 0 -n1 --view trace
	prints "ready -> running, attempt 1"
	top 0 -n1 --view overview
	grep -qE '^ Wait +p50 [0-9.]+(ms|s)' <<<"$output"
}

@test "H8: a stopped worker is named" {
	farm -j1 -q mail
	pid=$(taskq-top --json -n1 | jq '.workers[] | select(.flags | index("master") | not) | .pid')
	kill -STOP "$pid"
	eventually 5 eval 'taskq-top -b -n1 | grep -q "1 of the workers is stopped"'
	top 0 -n1 --view workers
	prints "stopped"
	kill -CONT "$pid"
}

@test "H8: ASCII where the locale has no more" {
	taskq create -q mail
	LC_ALL=C taskq-top -b -n1 >plain
	LC_ALL=C.UTF-8 taskq-top -b -n1 >rich
	not has_more_than_ascii plain
	has_more_than_ascii rich
}

@test "H8: control characters of a label stay harmless" {
	submit -L $'evil \e[2J' -- true
	top 0 -n1 --view tasks
	prints 'evil \x1b[2J'
}

@test "H8: it ends when nobody reads any more" {
	local codes

	taskq create
	timeout 300 taskq-top -b -d 10m | head -n1 >first
	codes=(${PIPESTATUS[@]})
	[[ ${codes[0]} == 0 || ${codes[0]} == 141 ]]
	grep -q taskq-top first
}

@test "H8: bad usage names the option and the accepted form" {
	top 2 --iter 3
	says "unknown option --iter"
	top 2 -x
	says "unknown option -x"
	top 2 --delay
	says "option --delay needs an argument"
	top 2 -d 1ms
	says "give a duration from 10ms to 53375d"
	top 2 -d soon
	says "not a duration"
	top 2 -n 0
	says "--iterations"
	top 2 --view nonsense
	says "overview, queues, tasks, workers, limits, groups or trace"
	top 2 -s a/b
	says "not a segment"
	top 2 this
	says "one operand too many"
	run -0 taskq-top --help
	run -0 taskq-top --version
	[[ $output == "taskq-top "* ]]
}

@test "H8: without a terminal it says so; -b needs none" {
	taskq create
	run -2 --separate-stderr taskq-top </dev/null
	says "are no terminal"
	says "taskq-top -b"
}
