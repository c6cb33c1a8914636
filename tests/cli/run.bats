#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run: streams, exit codes, Ctrl-C, and nothing left behind.
load helper

@test "F1: run without workers brings its own, streams, and gives the code" {
	expect 7 run -- sh -c 'echo out; exit 7'
	[[ $output == out ]]
	expect 0 run -- uname -a
	prints Linux
	[[ $(taskq --json | jq '.workers | length') == 0 ]]
}

@test "A2: run tells 124, 126, 127 and 128+n as wait does" {
	expect 124 run --timeout 100ms -- sleep 60
	expect 126 run -- /etc/passwd
	says "Permission denied"
	expect 127 run -- no-such-command
	says "No such file"
	expect 139 run -- sh -c 'kill -SEGV $$'
	says "signal:SEGV"
	expect 125 run
	expect 125 run --cwd /nonexistent -- true
	says "/nonexistent"
}

@test "F1: run streams while the command runs" {
	start taskq run -- sh -c 'echo first; while [ ! -e go ]; do sleep 0.02; done; echo second'
	eventually 10 grep -q first out
	not grep -q second out
	touch go
	wait "$pid"
	[[ $(tail -1 out) == second ]]
}

@test "F1: half a megabyte of output arrives whole" {
	head -c 500000 /dev/urandom >data
	timeout 300 taskq run -- cat data | cmp - data
}

@test "F1: run uses the workers of the queue when there are any" {
	farm -j1
	expect 0 run -- sh -c 'echo $TASKQ_QUEUE'
	[[ $output == default ]]
}

@test "E7: Ctrl-C and SIGTERM cancel the task and wait for its end" {
	local signal

	for signal in INT TERM; do
		start setsid taskq run -- sh -c 'echo $$; trap "" INT; sleep 60'
		eventually 10 grep -q . out
		kill "-$signal" "$pid"
		ends $((128 + $(kill -l $signal))) "$pid"
		eventually 5 is_gone "$(cat out)"
		[[ $(cat err) == *cancelled* ]]
	done
	[[ $(taskq list --json | jq -r .state | sort -u) == cancelled ]]
}

@test "E7: Ctrl-C at a terminal" {
	cat >terminal.py <<-'END'
		import os, pty, sys
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp("taskq", ["taskq", "run", "--", "sh", "-c", "echo up; sleep 60"])
		seen = b""
		while b"up" not in seen:
		    seen += os.read(fd, 100)
		os.write(fd, b"\x03")
		try:
		    while os.read(fd, 100):
		        pass
		except OSError:
		    pass
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	run -130 timeout 300 python3 terminal.py
}

@test "F1: kill -9 of run leaves nothing behind" {
	local child

	start taskq run -- sh -c 'echo $$; sleep 60'
	eventually 10 grep -q . out
	child=$(cat out)
	kill -KILL "$pid"
	eventually 10 is_gone "$child"
	eventually 10 eval '[[ $(taskq --json info | jq .workers) == 0 ]]'
	[[ $(taskq list --json | jq -r .state) == cancelled ]]
}

@test "run ends when nobody reads it any more" {
	run -0 --separate-stderr bash -c 'timeout 300 taskq run -- yes | head -1; [[ ${PIPESTATUS[0]} == 141 ]]'
	[[ ${lines[0]} == y ]]
	eventually 5 eval '[[ $(taskq list --json | jq -r .state) == cancelled ]]'
}

@test "a full standard output is an error, not exit 0" {
	run -125 --separate-stderr bash -c 'timeout 300 taskq run -- echo hi >/dev/full'
	[[ $stderr == "taskq: cannot write to standard output: "* && $stderr != *$'\n'* ]]
	run -1 --separate-stderr bash -c 'taskq list >/dev/full'
	says "No space left"
}

@test "fault.X1: all of a long output arrives, and in order" {
	farm -j1
	timeout 300 taskq run -- seq 200000 | cmp - <(seq 200000)
	timeout 300 taskq run --retries 1 --backoff 1ms -- sh -c 'seq 30000; [ $TASKQ_ATTEMPT = 2 ]' |
		cmp - <(seq 30000; seq 30000)
}

@test "fault.X1: a reader that is killed holds no command" {
	farm -j1
	start taskq run -- sh -c "echo up; while [ ! -e $PWD/go ]; do sleep 0.02; done; yes | head -c 3000000; touch $PWD/through"
	eventually 10 grep -q up out
	kill -KILL "$pid"
	touch go
	eventually 10 test -e through
}

@test "fault.X1: a reader that is stopped holds its command for seconds only, and says what it missed" {
	farm -j1
	start taskq run -- sh -c "echo up; while [ ! -e $PWD/go ]; do sleep 0.02; done; yes | head -c 3000000; touch $PWD/through"
	eventually 10 grep -q up out
	kill -STOP "$pid"
	touch go
	eventually 20 test -e through
	kill -CONT "$pid"
	ends 125 "$pid"
	[[ $(grep -c "not kept" err) == 1 ]]
}

@test "fault.X1: a command that is held back ends at its time-out and by a cancel" {
	farm -j1
	start bash -c 'taskq run --timeout 1s -- yes | while [ ! -e go ]; do sleep 0.02; done'
	eventually 20 is 1-1 state failed
	is 1-1 cause timeout
	start bash -c 'taskq run -- yes | while [ ! -e go ]; do sleep 0.02; done'
	eventually 20 is 2-1 state running
	expect 0 cancel 2-1
	eventually 20 is 2-1 state cancelled
	touch go
}

@test "fault.L14: a pipe at the standard input of run is the command's, as it is" {
	timeout 300 taskq run -- cat < <(seq 100000) | cmp - <(seq 100000)
	farm -j1
	seq 100000 | timeout 300 taskq run -- cat | cmp - <(seq 100000)
	seq 5 | timeout 300 taskq run -o got -- cat
	cmp got <(seq 5)
	[[ $(yes 2>/dev/null | timeout 300 taskq run -- head -1) == y ]]
	[[ $(seq 3 | timeout 300 taskq run -- true) == "" ]]
}

@test "fault.L14: a file at the standard input of run is read from where that stands" {
	local n

	farm -j1
	seq 5 >file
	[[ $({ read -r n; timeout 300 taskq run -- xargs; } <file) == "2 3 4 5" ]]
	[[ $(timeout 300 taskq run --retries 1 --backoff 1ms -- sh -c 'xargs; [ $TASKQ_ATTEMPT = 2 ]' <file 2>/dev/null | xargs) == "1 2 3 4 5 1 2 3 4 5" ]]
	[[ $(while read -r n; do timeout 300 taskq run -- echo "$n"; done <file | xargs) == "1 2 3 4 5" ]]
	[[ $(timeout 300 taskq run -- cat <<<"of the shell") == "of the shell" ]]
}

@test "fault.L14: run says what input its command does not get" {
	local id

	run -0 --separate-stderr timeout 300 taskq run -- cat </dev/zero
	says "standard input is neither a pipe nor a file"
	run -0 --separate-stderr timeout 300 taskq run -- cat </dev/null
	[[ -z $stderr ]]
	run -0 --separate-stderr bash -c 'timeout 300 taskq run -- cat <&-'
	[[ -z $output ]]
	farm -j1
	taskq pause
	start bash -c 'seq 3 | { exec taskq run -- cat; }'
	eventually 10 eval '[[ -n $(taskq list -H -o id -S ready) ]]'
	id=$(taskq list -H -o id -S ready)
	kill -KILL "$(pgrep -P "$pid" -f 'taskq run' || echo "$pid")"
	eventually 10 is_gone "$pid"
	taskq resume
	eventually 10 is "$id" state failed
	[[ $(field "$id" error) == *"cannot read the standard input of process "*"No such process" ]]
}

@test "fault.L14: the commands of map have no input" {
	[[ $(printf 'a\nb\n' | timeout 300 taskq map -j1 -- sh -c 'cat; echo "$1"' - | xargs) == "a b" ]]
}
