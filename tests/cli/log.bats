#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# log: output while it runs and after.
load helper

@test "F1: log shows what a command has written so far, -f the rest" {
	local id

	farm -j1
	id=$(submit -- sh -c 'echo one; while [ ! -e go ]; do sleep 0.02; done; echo two >&2')
	eventually 5 eval '[[ $(taskq log $id) == one ]]'
	touch go
	expect 0 log -f "$id"
	[[ $output == $'one\ntwo' ]]
}

@test "E5: log -f goes across attempts, log shows the last" {
	local id

	id=$(submit --retries 2 --backoff 1ms -- sh -c 'echo try $TASKQ_ATTEMPT; exit 1')
	start taskq log -f "$id"
	work_off
	ends 0 "$pid"
	[[ $(tail -1 out) == "try 3" ]]
	[[ $(taskq log "$id") == "try 3" ]]
}

@test "Defaults: the last 64 KiB are kept, and what was cut is said" {
	local id

	id=$(submit -- sh -c 'seq 50000')
	work_off
	expect 0 log "$id"
	says "bytes at the beginning not kept"
	[[ ${lines[-1]} == 50000 ]]
	[[ ${#output} -ge 65000 ]]
	expect 0 show "$id"
	prints "only the tail of its output was kept"
}

@test "A3: binary output comes back as it was" {
	local id

	head -c 5000 /dev/urandom >data
	id=$(submit -- cat data)
	work_off
	taskq log "$id" | cmp - data
}

@test "log of a task without output, and of none" {
	expect 0 log "$(submit -- true)"
	[[ -z $output ]]
	expect 5 log 99-1
	expect 2 log
	expect 2 log 1-1 2-1
}

@test "E11: the output of a killed worker's attempt is kept" {
	local id

	farm -j1
	id=$(submit --at-most-once -- sh -c 'echo last words; while [ ! -e go ]; do sleep 0.02; done; kill -KILL $PPID')
	eventually 5 eval '[[ -n $(taskq log $id) ]]'
	touch go
	eventually 5 is "$id" state failed
	[[ $(taskq log "$id") == "last words" ]]
}

@test "E11: what another task wrote is never shown as its own" {
	local id

	farm -j1
	expect 0 wait "$(submit -- echo of the first)"
	id=$(submit --at-most-once -- sh -c 'while [ ! -e go ]; do sleep 0.02; done; kill -KILL $PPID')
	eventually 5 is "$id" state running
	[[ -z $(taskq log "$id") ]]
	touch go
	eventually 5 is "$id" state failed
	[[ -z $(taskq log "$id") ]]
}

@test "fault.X1: log -f holds the command back, and all of it arrives" {
	local id

	farm -j1
	id=$(submit -- sh -c "echo up; while [ ! -e $PWD/go ]; do sleep 0.02; done; seq 200000")
	start taskq log -f "$id"
	eventually 10 grep -q up out
	touch go
	ends 0 "$pid"
	cmp out <(echo up; seq 200000)
}

@test "fault.L8: log says where an output goes, or why there is none" {
	local id

	id=$(submit -o 'of.%i' -- echo hi)
	expect 0 log "$id"
	says "its output goes to $PWD/of.$id"
	work_off
	expect 0 log "$id"
	says "its output goes to $PWD/of.$id"
	[[ $(<"of.$id") == hi ]]
	id=$(submit -- /nowhere/command)
	expect 0 log "$id"
	says "it has not started: ready"
	work_off
	expect 0 log "$id"
	says "/nowhere/command"
	id=$(submit -- true)
	work_off
	expect 0 log "$id"
	says "it has written nothing: done"
	id=$(submit -- echo hi)
	work_off
	expect 0 log "$id"
	[[ $output == hi ]]
}

@test "fault.X12: log --attempt shows what earlier attempts have written" {
	local id

	id=$(submit --retries 2 --backoff 10ms -- sh -c 'echo $TASKQ_ATTEMPT; exit 1')
	work_off
	for n in 1 2 3; do
		expect 0 log --attempt "$n" "$id"
		[[ $output == "$n" ]]
	done
	expect 0 log "$id"
	[[ $output == 3 ]]
	expect 1 log --attempt 4 "$id"
	says "it has had 3 attempts"
	expect 2 log --attempt 0 "$id"
}

@test "fault.X12: of earlier attempts so much is kept as of one, and of those that run it is known" {
	local id n

	id=$(submit --retries 4 --backoff 10ms -- sh -c '[ $TASKQ_ATTEMPT = 3 ] || echo $TASKQ_ATTEMPT; [ $TASKQ_ATTEMPT != 2 ] || seq 20000; [ $TASKQ_ATTEMPT != 5 ] || while [ ! -e go ]; do sleep 0.02; done; exit 1')
	farm -j1
	eventually 10 is "$id" attempt 5
	[[ $(taskq show --json "$id" | jq -c '[.history[] | [.attempt, .output]]') == \
		'[[1,"gone"],[2,"tail"],[3,"none"],[4,"kept"]]' ]]
	expect 0 show "$id"
	[[ $output =~ [[:space:]]tail[[:space:]]+exit:1 ]]
	expect 1 log --attempt 1 "$id"
	says "the output of attempt 1 is not kept any more"
	expect 0 log --attempt 2 "$id"
	says "at the beginning not kept"
	[[ ${lines[-1]} == 20000 ]]
	expect 0 log --attempt 3 "$id"
	says "it has written nothing"
	expect 0 log --attempt 4 "$id"
	[[ $output == 4 ]]
	touch go
	eventually 10 is "$id" state failed
	expect 0 log --attempt 4 "$id"
	[[ $output == 4 ]]
}

@test "fault.X12: what an attempt wrote whose worker died is not shown as another's" {
	local id

	id=$(submit -- sh -c 'if [ $TASKQ_ATTEMPT = 1 ]; then echo one; while [ ! -e go ]; do sleep 0.02; done; fi; kill -KILL $PPID; sleep 60')
	farm -j1
	eventually 10 eval '[[ $(taskq log $id) == one ]]'
	touch go
	eventually 10 is "$id" state failed
	[[ -z $(taskq log "$id" 2>/dev/null) ]]
	expect 0 log --attempt 1 "$id"
	[[ $output == one ]]
}

@test "fault.X12: with -o, log --attempt names the file of that attempt" {
	local id

	id=$(submit --retries 1 --backoff 10ms -o 'of.%i.%a.100%%' -- sh -c 'echo $TASKQ_ATTEMPT; exit 1')
	work_off
	for n in 1 2; do
		expect 0 log --attempt "$n" "$id"
		says "its output goes to $PWD/of.$id.$n.100%"
		[[ $(<"of.$id.$n.100%") == "$n" ]]
	done
}
