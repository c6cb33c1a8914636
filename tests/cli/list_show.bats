#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What people see: list, show, status, stats.
load helper

@test "H3: list filters by state, kind, label and queue, and takes columns" {
	submit -L one -- true
	work_off
	submit -L two -q other -- sh -c 'exit 1'
	submit -L three --kind k --payload x
	[[ $(taskq list -o label -S done | tail -n +2) == one ]]
	[[ $(taskq list -o label -S unfinished -q other | tail -n +2) == two ]]
	[[ $(taskq list -o label,kind -K k | tail -n +2) =~ ^three\ +k$ ]]
	[[ $(taskq list -L two -o queue | tail -n +2) == other ]]
	[[ $(taskq list -n 2 | wc -l) == 3 ]]
	[[ $(taskq list -o help | wc -l) -ge 10 ]]
}

@test "fault.L3: an empty list is exit 0, no such queue exit 5" {
	taskq create -q default
	expect 0 list
	says "no such tasks"
	expect 0 list --json
	[[ -z $output ]]
	expect 5 list -q nowhere
	says "no such queue"
}

@test "A3: show tells outcome, times, attempts and output" {
	local id

	id=$(submit -p high --retries 1 --backoff 1ms --timeout 9s -L 'a label' -- sh -c 'echo seen; exit 3')
	work_off
	expect 0 show "$id"
	prints "$id: failed, exit:3"
	prints "priority 100 (high)"
	prints "a label"
	prints "sh -c 'echo seen; exit 3'"
	prints "2 begun; 2 of 2 failed"
	prints "9.0s an attempt"
	prints "    seen"
	[[ $(grep -c 'exit:3$' <<<"$output") == 3 ]]
}

@test "H4: show says why a task waits" {
	local id

	id=$(submit -q q1 --hold -- true)
	taskq pause q1
	expect 0 show "$id"
	prints "it does not start until \`taskq unhold\`"
	prints "its queue starts nothing until \`taskq resume\`"
	prints "\`taskq work -q q1\`"
	expect 0 show "$(submit --delay 1h -- true)"
	prints "delayed; it is not due: in "
	prints "(in 59m"
}

@test "A2: a command that does not exist is named in the cause" {
	local id

	id=$(submit -- no-such-command)
	work_off
	expect 0 show "$id"
	prints "exit:127: no-such-command: No such file or directory"
}

@test "show of several ids goes on after a bad one" {
	submit -- true
	expect 5 show 99-1 1-1
	says "show 99-1: no such task"
	prints "1-1: ready"
}

@test "control characters of tasks do not reach the terminal" {
	local id

	id=$(submit -L $'a\033[31mb' -- printf '%s' $'x\033[31my\a')
	work_off
	expect 0 list
	[[ $output != *$'\033'* ]]
	prints '\x1b[31m'
	expect 0 show "$id"
	[[ $output != *$'\033'* && $output != *$'\a'* ]]
}

@test "status: queues and workers at a glance" {
	submit -- true
	taskq pause
	expect 0
	prints "1 task, 1 unfinished"
	[[ ${lines[2]} =~ ^default\ +paused\ +0\ +1\  ]]
	taskq resume
	farm -j1 --name alpha
	expect 0 status
	prints "master"
	prints "alpha"
}

@test "H2: stats counts attempts and final states" {
	submit -- true
	submit --retries 1 --backoff 1ms -- false
	work_off
	expect 0 stats
	prints "submitted 2  started 3  done 1  failed 1"
	prints "retried 1"
	prints "50.0 % of 2"
	expect 0 stats --by-kind
	prints "queue default, kind exec"
	expect 5 stats -q nowhere
}

@test "list | head ends quietly" {
	seq 3000 | jq -c '{command: ["true"]}' | taskq submit --batch - >/dev/null 2>&1
	run -0 --separate-stderr bash -c 'taskq list | head -1'
	[[ $output == ID* && -z $stderr ]]
}
