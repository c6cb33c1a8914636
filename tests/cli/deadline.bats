#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Deadlines: what has not started by then expires; what runs then is late.
load helper

has_flag() {
	[[ $(taskq show --json "$1" | jq -r '.flags | index("'"$2"'")') != null ]]
}

@test "B5: a task that has not started by its deadline expires, cause deadline" {
	local id

	farm -j 1 -q other
	id=$(submit --deadline 300ms -- true)
	expect 0 show "$id"
	prints "deadline"
	expect 125 wait "$id"
	says "expired, deadline"
	expect 0 show "$id"
	prints "expired, deadline"
}

@test "B5: also while it is held, delayed, or its queue is paused" {
	local held delayed paused

	farm -j 1
	taskq submit -q quiet -- true
	taskq pause quiet
	held=$(submit --hold --deadline 200ms -- true)
	delayed=$(submit --delay 1h --deadline 200ms -- true)
	paused=$(submit -q quiet --deadline 200ms -- true)
	expect 1 wait "$held" "$delayed" "$paused"
	is "$held" state expired
	is "$delayed" state expired
	is "$paused" state expired
}

# Runs until there is a file "go", then exits with the code given.
until_go() {
	echo "until [ -e go ]; do sleep 0.05; done; exit $1"
}

@test "B5: what runs goes on, flagged late, and may succeed" {
	local id

	farm -j 1
	id=$(submit --deadline 4s -- sh -c "$(until_go 0)")
	eventually 10 has_flag "$id" late
	is "$id" state running
	touch go
	expect 0 wait "$id"
	has_flag "$id" late
	expect 0 show "$id"
	prints "its deadline passed while it ran"
}

@test "B5 E5: no attempt starts after the deadline; a used-up budget fails as ever" {
	local again last

	farm -j 2
	again=$(submit --deadline 4s --retries 5 --backoff 10ms -- sh -c "$(until_go 3)")
	last=$(submit --deadline 4s -- sh -c "$(until_go 3)")
	eventually 10 has_flag "$again" late
	eventually 10 has_flag "$last" late
	touch go
	expect 125 wait "$again"
	is "$again" state expired
	is "$again" 'history[0].cause' exit:3
	expect 3 wait "$last"
}

@test "B5 E10: a retry is rid of the deadline that has passed" {
	local id

	id=$(submit --deadline 1ms -- true)
	work_off
	is "$id" state expired
	expect 0 retry "$id"
	work_off
	is "$id" state done
}

@test "B5 H7: a batch takes deadline_ns, and a listing says what is left of it" {
	expect 0 submit --batch - <<<'{"command":["true"],"deadline_ns":3600000000000}'
	local id=$output left

	left=$(taskq show --json "$id" | jq .deadline_ns)
	((left > 3500000000000 && left <= 3600000000000))
	[[ $(taskq show --json "$id" | jq -r .deadline) == 20*Z ]]
	expect 0 submit --batch - <<<"$(taskq list --json)"
	(($(taskq show --json "$output" | jq .deadline_ns) <= left))
}

@test "B5: bad deadlines are refused, with the form" {
	expect 2 submit --deadline soon -- true
	says '--deadline "soon"'
	says "a duration from 1ns to 53375d"
	expect 2 submit --deadline 0 -- true
	expect 2 submit --batch - <<<'{"command":["true"],"deadline_ns":-1}'
	says '"deadline_ns" is not a whole number of nanoseconds'
}

# The second attempt would start twice as late as all have to be over.
@test "fault.T2: a task whose time in all is over begins no attempt, and fails at that time" {
	local waiting held

	farm -j 1
	waiting=$(submit --timeout-total 300ms --retries 5 --backoff 1h -- sh -c 'exit 1')
	held=$(submit --timeout-total 300ms --retries 5 --backoff 1ms -- sh -c "taskq pause; exit 1")
	expect 124 wait "$waiting"
	is "$waiting" cause timeout
	is "$waiting" attempt 1
	is "$waiting" 'history[0].cause' exit:1
	expect 124 wait "$held"
	is "$held" attempt 1
}
