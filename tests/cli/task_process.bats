#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The processes of a task: their session, their environment, and the signals that end them.
load helper

# at_terminal COMMAND...: what it prints at a terminal of its own, and its code.
at_terminal() {
	cat >terminal.py <<-'END'
		import os, pty, sys
		with open("terminal", "w") as file:
		    print(os.getpid(), file=file)
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp(sys.argv[1], sys.argv[1:])
		try:
		    while True:
		        data = os.read(fd, 1000)
		        if not data:
		            break
		        sys.stdout.buffer.write(data)
		except OSError:
		    pass
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	timeout 300 python3 terminal.py "$@"
}

@test "fault.X3: a task has no controlling terminal, so nothing can stop it there" {
	run -3 at_terminal taskq run -- sh -c '
		test "$(ps -o sid= -p $$ | tr -d " ")" = $$ && echo leads
		(read x </dev/tty) 2>/dev/null || exit 3'
	[[ $output == leads* ]]
	run -1 at_terminal taskq run -- stty -F /dev/tty sane
	prints "No such device"
}

@test "fault.X5: a stopped task hears that it is to end, and cleans up" {
	local id

	farm -j1
	id=$(submit -- sh -c 'trap "echo yes >cleaned; exit 0" TERM; echo $$ >leader; kill -STOP $$; sleep 60')
	eventually 5 test -s leader
	eventually 5 is_in "$(cat leader)" T
	expect 0 cancel "$id"
	eventually 10 test -s cleaned
	eventually 5 is_gone "$(cat leader)"
}

@test "fault.X5: a stopped worker ends with its farm" {
	local worker

	farm -j1 --grace 1h
	worker=$(taskq --json | jq -r '.workers[] | select(.flags | index("master") | not) | .pid')
	kill -STOP "$worker"
	eventually 5 is_in "$worker" T
	kill -TERM "$pid"
	ends 0 "$pid"
}

@test "fault.X10: neither an outer task nor the service manager speaks to a command" {
	export NOTIFY_SOCKET=/nonexistent/notify WATCHDOG_USEC=1000000 WATCHDOG_PID=1
	export LISTEN_FDS=1 LISTEN_PID=1 LISTEN_FDNAMES=web LISTEN_PORT=80
	export TASKQ_DEADLINE=1.000 TASKQ_SERVER=outer

	expect 0 run -- env
	[[ -z $(grep -E '^(NOTIFY_SOCKET|WATCHDOG_|LISTEN_[PF][^O]|TASKQ_(DEADLINE|SERVER))' <<<"$output") ]]
	prints LISTEN_PORT=80
	expect 0 run --timeout 1h --env NOTIFY_SOCKET=own -- env
	prints NOTIFY_SOCKET=own
	[[ $(grep -c ^TASKQ_DEADLINE= <<<"$output") == 1 ]]
	not prints TASKQ_DEADLINE=1.000
}

# What a test lets live on.
end_more() {
	local file

	for file in left*; do
		[[ ! -s $file ]] || kill -KILL "$(cat "$file")" 2>/dev/null || true
	done
	[[ -z ${reachable-} ]] || rm -rf "$reachable"
}

worker_pid() {
	taskq --json | jq -r '.workers[] | select(.flags | index("master") | not) | .pid'
}

# A script: `./leave FILE` leaves a process of another session, and one of another group only.
make_leave() {
	cat >leave <<-'END'
		#!/bin/sh
		setsid sleep 1000 & echo $! >"$1"
		until [ "$(cut -d' ' -f6 /proc/$!/stat)" = $! ]; do sleep 0.01; done
		python3 -c 'import os, sys, time
		os.setpgid(0, 0)
		with open(sys.argv[1], "w") as file:
		    print(os.getpid(), file=file)
		time.sleep(1000)' "$1.group" &
		while [ ! -s "$1.group" ]; do sleep 0.01; done
	END
	sed -i 's/^\t*//' leave
	chmod +x leave
}

both_are_gone() {
	is_gone "$(cat "$1")" && is_gone "$(cat "$1.group")"
}

@test "fault.X7: what has left its group ends before the verdict" {
	make_leave
	expect 3 run -- sh -c './leave left; exit 3'
	both_are_gone left
	expect 124 run --timeout 2s -- sh -c './leave left.late; sleep 60'
	both_are_gone left.late
}

@test "fault.X7: what has left its group ends with its worker, and with its farm" {
	local id

	make_leave
	farm -j1 --grace 100ms
	id=$(submit -- sh -c './leave left.$TASKQ_ATTEMPT; sleep 60')
	eventually 10 test -s left.1.group
	kill -KILL "$(worker_pid)"
	eventually 10 test -s left.2.group
	both_are_gone left.1
	end "$pid"
	is "$id" state ready
	both_are_gone left.2
}

@test "fault.X7: leftovers that are allowed live on, also beside those that are not" {
	make_leave
	farm -j1
	expect 0 run --allow-leftovers -- sh -c './leave left; sleep 1000 & echo $! >member'
	is_gone "$(cat member)"
	expect 0 run -- ./leave left.second
	both_are_gone left.second
	end "$pid"
	not is_gone "$(cat left)"
	not is_gone "$(cat left.group)"
}

zombies_of() {
	ps -o stat= --ppid "$1" | grep -c ^Z || true
}

@test "fault.X6: orphans are reaped while the task goes on that left them" {
	local id worker

	farm -j1
	worker=$(worker_pid)
	id=$(submit -- sh -c 'for i in $(seq 100); do (true &); done; echo >all; while [ ! -e go ]; do sleep 0.1; done')
	eventually 10 test -e all
	eventually 1 eval '[[ $(zombies_of '"$worker"') == 0 ]]'
	is "$id" state running
	touch go
	eventually 5 is "$id" state done
}

@test "fault.X6: a daemon that is allowed to live on leaves no zombies behind" {
	farm -j1
	expect 0 run --allow-leftovers -- sh -c 'setsid sh -c "while [ ! -e enough ]; do (true &); : >turned; sleep 0.01; done" & echo $! >left
		while [ ! -e turned ]; do sleep 0.01; done'
	sleep 0.5
	touch enough
	eventually 5 is_gone "$(cat left)"
	[[ $(zombies_of "$pid") -le 1 && $(zombies_of "$(worker_pid)") == 0 ]]
	eventually 1 eval '[[ $(zombies_of $pid) == 0 ]]'
}

@test "fault.X8: a new farm ends what a dead one has left running" {
	local id worker

	farm -j1
	id=$(submit -- sh -c '[ $TASKQ_ATTEMPT = 1 ] || exit 0
		setsid sleep 1000 & echo $! >left
		until [ "$(cut -d" " -f6 /proc/$!/stat)" = $! ]; do sleep 0.01; done
		sleep 1000 & echo $! >left.member; wait')
	eventually 5 test -s left.member
	worker=$(worker_pid)
	kill -KILL "$pid" "$worker"
	eventually 5 is_gone "$worker"
	not is_gone "$(cat left.member)"
	farm -j1
	eventually 10 is "$id" state done
	is_gone "$(cat left.member)"
	is_gone "$(cat left)"
	is "$id" attempt 2
}

@test "fault.X16: the submitter's umask travels with the command" {
	farm -j1
	umask 077
	expect 0 run -o out.umask -- sh -c 'umask; echo >made'
	[[ $(cat out.umask) == 0077 ]]
	[[ $(stat -c %a out.umask made | xargs) == "600 600" ]]
	umask 022
	id=$(echo '{"command":["touch","given"],"umask":"0027"}' | submit --batch -)
	expect 0 wait "$id"
	[[ $(stat -c %a given) == 640 ]]
	[[ $(taskq list --json | jq -r 'select(.id == "'"$id"'").umask') == 0027 ]]
	expect 2 submit --batch - <<<'{"command":["true"],"umask":"0888"}'
	says '"umask"'
}

@test "fault.X12: an output file knows task and attempt, and is appended to on request" {
	local id

	farm -j1
	id=$(submit --retries 1 --backoff 1ms -o 'of.%i.%a.%%.%x' -- sh -c 'echo $TASKQ_ATTEMPT; exit 1')
	expect 1 wait "$id"
	[[ $(cat "of.$id.1.%.%x") == 1 && $(cat "of.$id.2.%.%x") == 2 ]]
	id=$(submit --retries 1 --backoff 1ms --append -o log -- sh -c 'echo $TASKQ_ATTEMPT; exit 1')
	expect 1 wait "$id"
	[[ $(xargs <log) == "1 2" ]]
	expect 1 run -o log -- sh -c 'echo 3; exit 1'
	[[ $(xargs <log) == 3 ]]
}

# every_process PID SIGNAL: to it and to all below it, as systemd's control-group mode does.
every_process() {
	local all=$1 next=$1

	while next=$(pgrep -P "${next//[[:space:]]/,}" -d ' '); do
		all+=" $next"
		next=${next% }
	done
	# shellcheck disable=SC2086
	kill "-$2" $all
}

@test "fault.X4: SIGTERM to every process of a farm gives its task back" {
	local id

	farm -j1
	id=$(submit -- sh -c 'echo >>ran; [ $(wc -l <ran) = 2 ] || sleep 60')
	eventually 5 test -s ran
	every_process "$pid" TERM
	eventually 15 is_gone "$pid"
	is "$id" state ready
	is "$id" failures 0
	work_off
	is "$id" state done
	# One that dies by SIGTERM alone has failed.
	expect 143 run -- sh -c 'kill -TERM $$'
}

@test "fault.X4: the unit for systemd leaves commands to the farm" {
	local unit=$BATS_TEST_DIRNAME/../../docs/systemd/taskq@.service

	grep -qx 'KillMode=mixed' "$unit"
	grep -qx 'Type=notify' "$unit"
	grep -qx 'ExecReload=kill -HUP $MAINPID' "$unit"
}

@test "fault.X14: SIGHUP replaces the workers after their tasks, and not the master" {
	local id before

	farm -j1
	before=$(worker_pid)
	id=$(submit -- sh -c 'while [ ! -e go ]; do sleep 0.05; done')
	eventually 5 is "$id" state running
	kill -HUP "$pid"
	eventually 5 grep -q 'reload: its 1 worker is replaced' err
	is "$id" state running
	touch go
	eventually 5 is "$id" state done
	is "$id" attempt 1
	eventually 5 eval '[[ -n $(worker_pid) && $(worker_pid) != '"$before"' ]]'
	not is_gone "$pid"
	kill -TERM "$pid"
	ends 0 "$pid"
}

@test "fault.X14: a farm ends with the terminal that it was started at" {
	at_terminal sh -c 'taskq work -j1 2>err & echo $! >farm; wait' &
	eventually 10 grep -q 'worker .* started' err
	kill -KILL "$(cat terminal)"
	eventually 10 is_gone "$(cat farm)"
	grep -q 'stopping' err
}

@test "fault.X9: what runs as another user is said, and does not hold a farm up" {
	local id nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

	need_root
	reachable=$(mktemp -d) # the test's own folder is closed to others
	cd "$reachable"
	cp "$(type -P setpriv)" escalate
	chmod 4755 escalate
	chmod 777 .
	"${nobody[@]}" ./escalate --reuid 0 true 2>/dev/null || skip "no setuid programs here"
	start "${nobody[@]}" taskq work -j1 --grace 200ms
	eventually 10 eval '"${nobody[@]}" taskq --json 2>/dev/null | jq -e ".workers | length == 2"'
	id=$("${nobody[@]}" taskq submit --timeout 200ms -- ./escalate --reuid 0 sh -c 'echo $$ >left; exec sleep 1000')
	eventually 10 eval '"${nobody[@]}" taskq why '"$id"' | grep -q "may not signal pid $(cat left), which runs as uid 0; SIGKILL"'
	kill -TERM "$pid"
	eventually 15 is_gone "$pid"
	grep -q 'runs as another user' "$BATS_TEST_TMPDIR/err"
	kill -KILL "$(cat left)"
	"${nobody[@]}" taskq destroy --force
}

@test "fault.X2: run and map keep the two streams apart" {
	local farms

	for farms in none some; do
		[[ $farms == none ]] || farm -j2
		taskq run -- sh -c 'echo out; echo err >&2' >o 2>e
		[[ $(cat o e | xargs) == "out err" && $(cat e) == err ]]
		seq 20 | taskq map -- sh -c 'echo out $1; echo err $1 >&2' sh >o 2>e
		[[ $(sort -V o) == $(seq -f 'out %g' 20) && $(sort -V e) == $(seq -f 'err %g' 20) ]]
		taskq run -- sh -c 'seq 100000 >&2' >o 2>e
		[[ ! -s o ]]
		cmp e <(seq 100000)
		taskq run -- sh -c 'seq 1 2 99 & seq 2 2 100 >&2; wait; exit 7' 2>e >o || [[ $? == 7 ]]
		cmp o <(seq 1 2 99)
		cmp e <(seq 2 2 100)
	done
}

@test "fault.X2: where both streams are one file they stay in order" {
	taskq run -- sh -c 'echo 1; echo 2 >&2; echo 3; echo 4 >&2' >both 2>&1
	[[ $(xargs <both) == "1 2 3 4" ]]
}

@test "fault.X2: without its reader an attempt's errors are in its output" {
	local id

	taskq create -q default
	taskq pause
	start taskq run --keep -- sh -c 'echo out; echo err >&2'
	eventually 5 eval '[[ $(taskq list --json | wc -l) == 1 ]]'
	id=$(taskq list --json | jq -r .id)
	kill -KILL "$pid"
	eventually 5 is_gone "$pid"
	taskq resume
	work_off
	[[ $(taskq log "$id" | xargs) == "out err" ]]
}

@test "fault.X20: a command reports progress, which is all that a progress time-out asks" {
	local id

	farm -j2
	id=$(submit -- sh -c 'taskq progress 42 halfway; echo >told; while [ ! -e go ]; do sleep 0.05; done')
	eventually 5 test -e told
	is "$id" progress_percent 42
	is "$id" progress_text halfway
	touch go
	expect 0 wait "$id"
	expect 0 run --progress-timeout 10s -- sh -c 'for i in $(seq 11); do sleep 1; taskq progress $((i * 9)); done'
	expect 124 run --progress-timeout 1s -- sleep 60
	expect 1 progress 1
	says "not part of a running task"
	expect 2 progress 101
	# What an attempt leaves running says nothing of the next one.
	expect 1 run --retries 1 --backoff 1ms -- sh -c '[ $TASKQ_ATTEMPT = 1 ] && exit 1; TASKQ_ATTEMPT=1 taskq progress 7'
}

@test "fault.X20: a checkpoint is handed to the next attempt" {
	farm -j1
	expect 0 run --retries 1 --backoff 1ms -- sh -c '
		if [ $TASKQ_ATTEMPT = 1 ]; then
			taskq checkpoint && exit 9
			taskq checkpoint first
			printf "a\0b" | taskq checkpoint @-
			exit 1
		fi
		taskq checkpoint | od -An -c | xargs
		taskq checkpoint second
		taskq checkpoint'
	[[ $output == *'a \0 b'*second || $output == *'a 0 b'*second ]]
	head -c 4097 /dev/zero >large
	expect 2 run -- taskq checkpoint @large
	says "more than 4096 bytes"
	expect 1 checkpoint
}

@test "fault.T11: the last report and checkpoint outlive the attempt, whatever ended it" {
	local id end

	farm -j2
	for end in 'exit 0' 'exit 1' 'kill -KILL $$'; do
		id=$(submit -- sh -c "taskq progress 7; taskq progress 42 'of a day'; taskq checkpoint 'page 3'; $end")
		taskq wait "$id" || true
		is "$id" progress_percent 42
		is "$id" progress_text 'of a day'
		is "$id" checkpoint_bytes 6
		expect 0 show "$id"
		prints '42 % of a day'
		prints 'page 3'
	done
	# A new life says and saves nothing, and still has what it was given.
	id=$(submit -- sh -c 'taskq checkpoint || { taskq progress 9 begun; taskq checkpoint first; }; exit 1')
	expect 1 wait "$id"
	expect 0 retry "$id"
	expect 1 wait "$id"
	is "$id" attempt 2
	is "$id" progress_text begun
	expect 0 show "$id"
	prints first
	expect 0 log "$id"
	prints first
}
