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

@test "fault.X11: a worker that cannot start commands says so once, and less and less often tries" {
	local id n

	# The fewest descriptors with which it gets as far as that.
	id=$(submit -- true)
	for n in $(seq 5 60); do
		start bash -c "ulimit -n $n; exec taskq work -j1"
		until grep -qE 'cannot start a command|cannot register|error while loading|Too many' err || is_gone "$pid" || is "$id" state done; do sleep 0.05; done
		if grep -q 'cannot start a command: Too many open files' err; then break; fi
		end "$pid"
	done
	grep -q 'cannot start a command: Too many open files' err
	eventually 10 eval '[[ $(field $id attempt) == 3 ]]'
	[[ $(grep -c 'cannot start' err) == 1 ]]
	expect 0 why "$id"
	prints "was given back: cannot start a command: Too many open files"
	kill -TERM "$pid"
	ends 0 "$pid"
	work_off
	is "$id" state done
	is "$id" failures 0
}

@test "fault.X11: run says why its command does not start" {
	local n

	for n in $(seq 5 60); do
		start bash -c "ulimit -n $n; exec taskq run -- true"
		until grep -q 'cannot start a command' err || is_gone "$pid"; do sleep 0.05; done
		if grep -q 'cannot start a command: Too many open files' err; then break; fi
	done
	grep -q 'cannot start a command: Too many open files' err
}

# farm_without_descriptors: one that works, and can start no command.
farm_without_descriptors() {
	local id n

	id=$(submit -- true)
	for n in $(seq 5 60); do
		start bash -c "ulimit -n $n; exec taskq work -j1 2>$PWD/farm-err"
		until grep -qE 'cannot start a command|cannot register|error while loading|Too many' farm-err || is_gone "$pid" || is "$id" state done; do sleep 0.05; done
		if grep -q 'cannot start a command: Too many open files' farm-err; then break; fi
		end "$pid"
	done
	grep -q 'cannot start a command: Too many open files' farm-err
	taskq cancel "$id"
}

# says_refusal_once COMMAND...: while no worker can start what it has submitted.
says_refusal_once() {
	local farm

	farm_without_descriptors
	farm=$pid
	start "$@"
	eventually 20 grep -q 'an attempt was given back, others follow: cannot start a command: Too many open files' err
	eventually 20 eval '[[ $(taskq list -H -o attempts -S ready,delayed,running | sort -n | tail -1) -ge 3 ]]'
	end "$farm"
	work_off
	ends 0 "$pid"
	[[ $(grep -c 'given back' err) == 1 ]]
	[[ $(cat out) == fine ]]
}

@test "fault.X11: run says once why workers of others cannot start its command" {
	says_refusal_once taskq run -- echo fine
}

@test "fault.X11: so do wait and submit --wait" {
	local id

	says_refusal_once bash -c 'taskq submit --wait -- true >id && echo fine'
	id=$(submit -- true)
	says_refusal_once bash -c "taskq wait $id && echo fine"
}

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups) # whose processes the kernel counts

@test "fault.X11: a farm that cannot fork says so once, and goes on when it can" {
	local id before

	need_root
	"${nobody[@]}" bash -c 'ulimit -u 1 && (true)' 2>/dev/null && skip "processes are not counted here"
	id=$(cd / && "${nobody[@]}" taskq submit -- true 2>/dev/null)
	start "${nobody[@]}" bash -c 'ulimit -S -u 1; exec taskq work -j1'
	eventually 10 grep -q 'cannot fork a worker, and tries less and less often: Resource' err
	before=$(naps)
	eventually 10 eval '(($(naps) > before + 3))'
	"${nobody[@]}" prlimit --pid "$pid" --nproc=100:
	eventually 20 eval '[[ $("${nobody[@]}" taskq show --json "$id" | jq -r .state) == done ]]'
	[[ $(grep -c 'cannot fork' err) == 1 ]]
	end "$pid"
	"${nobody[@]}" taskq destroy --force
}

# naps: how often the farm has slept.
naps() {
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$pid/status"
}

@test "fault.X11: a command that has no /dev/null is given back with the reason" {
	local id

	need_root
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	id=$(submit -- true)
	start unshare -m sh -c 'mkdir shm && mount --bind /dev/shm shm && mount -t tmpfs none /dev &&
		mkdir /dev/shm && mount --move shm /dev/shm && exec taskq work -j1'
	eventually 10 grep -q 'cannot start a command: /dev/null: No such file' err
	eventually 10 eval '[[ $(field $id attempt) == 3 ]]'
	[[ $(grep -c 'cannot start' err) == 1 ]]
	expect 0 why "$id"
	prints "was given back: cannot start a command: /dev/null: No such file"
}

@test "fault.X11: map says once why workers of others cannot start its commands" {
	says_refusal_once bash -c 'echo fine | exec taskq map -- echo'
}

@test "fault.X15: the log names what ended, for people and for programs" {
	local ids

	ids=($(submit -L mine -- sh -c 'exit 3') $(submit -- sh -c 'kill -KILL $PPID; sleep 60' --retries 0))
	start taskq work -j1 -v --until-empty
	ends 0 "$pid"
	grep -qE "task ${ids[0]} \"mine\": attempt 1 ended after [0-9.]+ s: exit:3" err
	grep -qE "worker [0-9]+ ended: signal:KILL, while it ran task ${ids[1]}" err
	[[ $(grep -c "task ${ids[1]}: attempt [123] ended after .*: signal:KILL" err) == 3 ]]
	ids=($(submit -L $'two\nlines' -- true))
	start taskq work -j1 -v --until-empty
	ends 0 "$pid"
	grep -q "task ${ids[0]} .*two.*lines.*: attempt 1 ended" err
	ids=($(submit -L mine -- sh -c 'exit 4') $(submit --timeout 300ms -- sleep 60))
	start taskq --json work -j2 --until-empty
	ends 0 "$pid"
	[[ $(jq -r 'select(.event == "attempt" and .cause == "exit:4") | "\(.id) \(.label) \(.attempt)"' err) == "${ids[0]} mine 1" ]]
	jq -e -s '[.[] | select(.event == "attempt" and .cause == "timeout")] | .[0].run_ns >= 300000000' err
	jq -e -s 'map(select(.event == "farm")) | length > 2' err
}

@test "work serves queues that are given one by one, the first one first" {
	submit -q b -L second -- true
	submit -q a -L first -- true
	expect 0 work -j1 -Q --until-empty -q a -q b -q a
	[[ $(taskq list -S "done" -H -o started,label | sort | cut -f 2 | tr '\n' ' ') == "first second " ]]
	expect 2 work -q a -q ,
	says "empty"
}
