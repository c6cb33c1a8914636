#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# work: the farm in the foreground, and the death of its processes.
load helper

@test "F1: --until-empty ends when nothing is left that could start" {
	submit -- true
	submit -q other -- true
	expect 0 work -j2 --until-empty
	says "worker"
	[[ $(taskq list --json -S done | jq -r .queue) == default ]]
	expect 0 work -j2 -Q -q default,other --until-empty
	[[ -z $stderr ]]
	[[ $(taskq list --json -S done | wc -l) == 2 ]]
}

@test "B8: queues are served in the order they are named" {
	submit -q b -- sh -c "echo b >>$PWD/order"
	submit -q a -- sh -c "echo a >>$PWD/order"
	work_off -q a,b
	[[ $(tr -d '\n' <order) == ab ]]
}

@test "E3 E11: a killed worker takes its command along; attempt 2 starts, show names the cause" {
	local id worker child

	farm -j1
	id=$(submit -- sh -c "echo \$\$ >>$PWD/children; sleep 60")
	eventually 5 eval '[[ -s children ]]'
	worker=$(field "$id" worker_pid)
	child=$(cat children)
	kill -KILL "$worker"
	eventually 5 is_gone "$child"
	eventually 5 is "$id" attempt 2
	expect 0 show "$id"
	prints "signal:KILL"
	[[ $(field "$id" crashes) == 1 ]]
	expect 0 cancel "$id"
	eventually 5 is "$id" state cancelled
}

@test "E5: a poison task ends as failed after three crashes" {
	local id

	farm -j1
	id=$(submit -- sh -c 'kill -KILL $PPID; sleep 5')
	eventually 20 is "$id" state failed
	is "$id" crashes 3
	is "$id" cause signal:KILL
}

@test "F4: TERM finishes what runs; a second one gives it back at once" {
	local id

	farm -j1
	id=$(submit -- sh -c 'while [ ! -e go ]; do sleep 0.02; done')
	eventually 5 is "$id" state running
	kill -TERM "$pid"
	touch go
	ends 0 "$pid"
	is "$id" state done
	farm -j1
	id=$(submit -- sleep 60)
	eventually 5 is "$id" state running
	kill -TERM "$pid"
	eventually 5 grep -q stopping err
	kill -TERM "$pid"
	ends 1 "$pid"
	is "$id" state ready
	is "$id" failures 0
}

@test "F1: a second farm of the same name is refused" {
	farm -j1 --name alpha
	expect 1 work -j1 --name alpha
	says "a live farm has that name"
	end "$pid"
	expect 0 work -j1 --name alpha --until-empty
}

@test "F5: --max-tasks replaces a worker" {
	local i

	for i in 1 2 3 4; do
		submit -- sh -c "echo \$PPID >>$PWD/parents"
	done
	work_off --max-tasks 1
	[[ $(sort -u parents | wc -l) == 4 ]]
}

@test "F4: TTIN and TTOU change the number of workers" {
	farm -j1
	kill -TTIN "$pid"
	eventually 5 eval '[[ $(taskq --json info | jq .workers) == 3 ]]' # with the master
	kill -TTOU "$pid"
	eventually 5 eval '[[ $(taskq --json info | jq .workers) == 2 ]]'
}

@test "F1: kill -9 of the master: no command is left, the task can run again" {
	local id child

	farm -j1
	id=$(submit -- sh -c "echo \$\$ >>$PWD/children; [ -e second ] || sleep 60")
	eventually 5 eval '[[ -s children ]]'
	child=$(cat children)
	touch second
	kill -KILL "$pid"
	eventually 10 is_gone "$child"
	work_off
	is "$id" state done
}

@test "E6: what a command leaves running in its group ends with it" {
	local id

	id=$(submit -- sh -c "sleep 60 & echo \$! >$PWD/left")
	work_off
	is "$id" state done
	is_gone "$(cat left)"
}
