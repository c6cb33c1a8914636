#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The processes of a task: their session, their environment, and the signals that end them.
load helper

# at_terminal COMMAND...: what it prints at a terminal of its own, and its code.
at_terminal() {
	cat >terminal.py <<-'END'
		import os, pty, sys
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
	timeout 60 python3 terminal.py "$@"
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
