#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# taskq-top in a real terminal: tmux is its terminal, and types.
load ../cli/helper

# Each terminal has a server of its own: one that is about to end may still be asked.
mux() {
	tmux -S "$BATS_TEST_TMPDIR/tmux${terminal:-1}" -f /dev/null "$@"
}

next_terminal() {
	mux kill-server
	terminal=$((${terminal:-1} + 1))
}

end_more() {
	mux kill-server 2>/dev/null || true
}

# top ARG...: `taskq-top ARG...` in a terminal of 80x24; "ended CODE" is printed behind it.
top() {
	export LC_ALL=${LC_ALL-C.UTF-8}
	mux new-session -d -x "${WIDTH:-80}" -y "${HEIGHT:-24}" \
		"taskq-top -d 50ms $*; echo ended \$?; exec cat"
}

screen() {
	mux capture-pane -p
}

shows() {
	screen | grep -qF -- "$1"
}

# sees TEXT: it comes to be on the screen.
sees() {
	eventually 8 shows "$1" || { screen; return 1; }
}

# goes TEXT: it is there no more.
goes() {
	eventually 8 not shows "$1" || { screen; return 1; }
}

keys() {
	mux send-keys "$@"
}

is_coloured() {
	mux capture-pane -p -e | grep -q $'\e\\[3[0-7]m\\|\e\\[4[0-7]m'
}

# The pid of taskq-top, the child of the terminal's shell.
top_pid() {
	local shell

	shell=$(mux list-panes -F '#{pane_pid}')
	cut -d' ' -f1 "/proc/$shell/task/$shell/children"
}

@test "H8: the views, each by its number and by Tab; q gives the terminal back" {
	submit -q mail -L "order 1" --limit db -- true
	top
	sees "Attempts"
	shows "mail"
	keys 2
	goes "Attempts"
	shows "QUEUE"
	keys 3
	sees "order 1: true"
	keys 4
	sees "WORKER"
	keys Tab
	sees "SLOTS"
	shows "db"
	keys Tab
	sees "GROUP"
	keys Tab
	sees "submitted, ready"
	keys Tab
	sees "Attempts"
	keys BTab
	sees "submitted, ready"
	keys 5
	sees "SLOTS"
	keys "?"
	sees "Tasks: cancel"
	keys Escape
	goes "Tasks: cancel"
	keys q
	sees "ended 0"
	not shows "SLOTS"
}

@test "H8: cancel, retry, hold and priority ask first, and do it" {
	local id

	id=$(submit -L mine -- true)
	top --view tasks
	sees "mine: true"
	keys C
	sees "Cancel task $id (mine)?"
	keys n
	goes "Cancel task"
	is "$id" state ready
	keys H
	sees "Hold task $id (mine) back?"
	keys y
	sees "held "
	eventually 5 eval '[[ $(field '"$id"' flags) == *held* ]]'
	keys H
	sees "Let task $id (mine) go on?"
	keys y
	goes "held "
	keys N
	sees "Priority of task $id (mine): 0_"
	keys C-u h i g h Enter
	sees "Priority: done"
	is "$id" priority 100
	keys C
	sees "Cancel task"
	keys y
	sees "cancelled"
	is "$id" state cancelled
	keys R
	sees "Run task $id (mine) again?"
	keys y
	sees "no worker "
	is "$id" state ready
	keys C
	sees "Cancel task"
	keys y
	sees "Cancel: done"
	keys C
	sees "Cancel task"
	keys y
	sees "Cancel: its state does not allow it"
}

@test "fault.L5: a long label is shortened, never the question or what answers it" {
	local id

	id=$(submit -L "$(printf 'o%.0s' {1..60})$(printf '\303\266%.0s' {1..20})" -- true)
	top --view tasks
	sees "$id"
	keys C
	sees "oo...)?   y yes   n no"
	shows "Cancel task $id (oo"
	keys n
	goes "Cancel task"
	keys N
	sees "...): 0_   (a number, or low, normal, high, critical)"
	shows "Priority of task $id ("
}

@test "H8: what was typed before a question was drawn does not answer it" {
	local id

	id=$(submit -L mine -- true)
	top --view tasks
	sees "mine: true"
	keys -l Cy
	sees "Cancel task $id (mine)?"
	keys y
	sees "Cancel: done"
	is "$id" state cancelled
	id=$(submit -L other -- true)
	sees "other: true"
	keys g
	keys -l $'N\x15high\r'
	sees "Priority of task $id (other): 0_"
	keys Escape
	goes "Priority of task"
	is "$id" priority 0
}

@test "H8: a queue is paused and resumed" {
	submit -q mail -- true
	top --view queues
	sees "mail"
	keys P
	sees "Pause queue mail?"
	keys y
	sees "paused"
	[[ $(taskq --json stats -q mail | jq -s '.[0].paused') == true ]]
	keys P
	sees "Resume queue mail?"
	keys y
	goes "paused"
}

@test "H8: a group is looked at, sealed and cancelled" {
	local group

	group=$(taskq group new -L nightly)
	submit --group "$group" -L "the member" -- true
	top --view groups
	sees "nightly"
	keys Enter
	sees "members      1, 1 unfinished: 1 ready"
	shows "the member"
	keys S
	sees "Seal group $group (nightly)"
	keys n
	goes "Seal group"
	keys q
	keys S
	sees "Seal group $group (nightly), so that it takes no more members?"
	keys n
	goes "Seal group"
	[[ $(taskq group show --json "$group" | jq -r .state) == open ]]
	keys S
	sees "Seal group"
	keys y
	sees "sealed "
	keys C
	sees "Cancel group $group (nightly), and its 1 unfinished members?"
	keys y
	sees "cancelled "
	eventually 5 eval '[[ $(taskq group show --json '"$group"' | jq -r .state) == complete ]]'
	keys C
	sees "Cancel group"
	keys y
	sees "Cancel: its state does not allow it"
	keys q
	sees "ended 0"
	next_terminal
	top --read-only --view groups
	sees "nightly"
	keys C
	sees "--read-only: nothing can be done"
}

@test "H8: what a large group waits for is shown before what is done" {
	local group

	jq -n '{nodes: ([range(300) | {name: "n\(.)", command: ["true"]}] +
		[{name: "bad", label: "the bad one", command: ["false"]},
		{name: "late", label: "the late one", queue: "later", command: ["true"]}])}' >graph.json
	group=$(taskq submit --graph graph.json)
	work_off
	top --view groups
	sees "$group "
	keys Enter
	sees "members      302, 1 unfinished"
	eventually 5 eval '[[ $(screen | grep -A2 " members: " | tail -n2) == *"the late one"*"the bad one"* ]]'
	keys G
	sees "44 more are not shown"
	taskq cancel "$(taskq list --json --state ready | jq -r .id)"
	keys g
	eventually 5 eval 'screen | grep -A2 " members: " | grep "the late one" | grep cancelled'
}

@test "H5 H8: the trace follows, stands still for who scrolls up, filters, and leads to the task" {
	local id i

	for i in {1..30}; do
		submit -- true
	done
	top --view trace
	sees "30-1 "
	shows "following"
	keys k
	sees "paused"
	id=$(submit -L "the last one" -- true)
	sees "1 newer"
	not shows "$id "
	keys G
	sees "$id "
	shows "following"
	keys g
	sees " 1-1 "
	keys /
	keys 7 - 1
	sees "27-1 "
	goes " 8-1 "
	keys Enter
	sees "filter: 7-1"
	keys Escape
	sees "$id "
	keys Enter
	sees "Task $id"
	sees "the last one"
	keys C # what the details are of, whatever comes meanwhile
	sees "Cancel task $id (the last one)?"
	keys y
	sees "Cancel: done"
	is "$id" state cancelled
}

@test "H8: a worker is killed, and its task runs again; SIGTERM lets it finish" {
	local id

	id=$(submit -q mail -- sleep 60)
	farm -j1 -q mail
	eventually 5 is "$id" state running
	top --view workers
	sees "busy"
	keys j K
	sees "KILL worker"
	keys n
	goes "KILL worker"
	keys K
	sees "KILL worker"
	keys y
	sees "Kill: done"
	eventually 8 is "$id" attempt 2
	eventually 8 is "$id" state running
	taskq cancel "$id"
	eventually 8 is "$id" state cancelled
	sees "idle"
	keys k T # the one that takes its place may have its slot
	sees "Send SIGTERM to master"
	keys y
	sees "Term: done"
}

@test "H8: --read-only changes nothing" {
	local id

	id=$(submit -- true)
	top --read-only --view tasks
	sees "read-only"
	not shows "CCancel"
	keys C
	sees "--read-only: nothing can be done"
	keys y
	is "$id" state ready
}

@test "H8: filter, order, details" {
	submit -L apple -p low -- true
	submit -L pear -p high -- true
	submit -L quince -- true
	top --view tasks
	sees "quince"
	keys /
	sees "Filter: _"
	keys p e a r
	goes "quince"
	shows "pear"
	keys Enter
	sees "filter: pear"
	keys Escape
	sees "quince"
	keys ">" # by priority, highest first
	eventually 5 eval '[[ $(screen | grep -nF pear: | cut -d: -f1) -lt $(screen | grep -nF quince: | cut -d: -f1) ]]'
	keys I
	eventually 5 eval '[[ $(screen | grep -nF apple: | cut -d: -f1) -lt $(screen | grep -nF pear: | cut -d: -f1) ]]'
	keys Enter
	sees "label        apple"
	keys q
	sees "quince"
}

@test "H8: follows the output of a running task" {
	mkfifo gate
	submit -q mail -L talker -- sh -c 'seq 100; read line <gate; echo the very $0' end
	farm -j1 -q mail
	top --view tasks
	sees "talker"
	keys Enter
	sees "output of attempt 1"
	not shows "the very end"
	keys f
	sees "following its output"
	sees " 100"
	echo go >gate
	sees "the very end"
}

@test "H8: the terminal grows, shrinks to nothing, and comes back" {
	taskq create -q mail
	top
	sees "mail"
	mux resize-window -x 120 -y 40
	sees "THROT"
	mux resize-window -x 1 -y 1
	mux resize-window -x 30 -y 10
	sees "too small"
	mux resize-window -x 80 -y 24
	sees "Attempts"
	keys q
	sees "ended 0"
}

@test "H8: waits for a segment, and goes on with the next one of its name" {
	top
	sees "there is no segment"
	submit -q first -- true
	sees "first"
	taskq destroy --force
	sees "the segment was removed"
	shows "first" # what it was like at the end
	submit -q second -- true
	sees "second"
	not shows "first"
	keys q
	sees "ended 0"
}

@test "H8: a segment of another build, one that is cut off under it" {
	local file=/dev/shm/taskq.$EUID.$TASKQ_SEGMENT

	head -c 8192 /dev/urandom >"$file"
	chmod 600 "$file"
	top
	sees "is not of this version, build or boot"
	rm "$file"
	submit -q mail -- true
	sees "mail"
	truncate -s 0 "$file"
	sees "cut off or overwritten"
	keys 3 4 5 1
	sees "cut off or overwritten"
	keys q
	sees "ended 0"
}

@test "H3 H8: goes on while the lock holder is stopped, and says who it is" {
	local id

	[[ -x $TASKQ_LOCK_HOLDER ]] || skip "TASKQ_LOCK_HOLDER is not set"
	id=$(submit -L mine -- true)
	top
	sees "Attempts"
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	eventually 5 is_in "$pid" T
	sees "lock held by stopped pid $pid for "
	keys 3
	sees "mine: true"
	keys C
	sees "Cancel task"
	keys y
	sees "Cancel: not done, lock held by pid $pid (state T)"
	keys 1
	sees "for 2." # seconds, and it still counts them
	kill -CONT "$pid"
	goes "lock held by stopped"
	is "$id" state ready
}

@test "H8: SIGTERM and SIGHUP give the terminal back" {
	local signal

	taskq create
	for signal in TERM HUP; do
		top
		sees "Attempts"
		kill "-$signal" "$(top_pid)"
		sees "ended $((128 + $(kill -l "$signal")))"
		not shows "Attempts"
		next_terminal
	done
}

@test "H8: Ctrl-Z gives the terminal back, fg takes it again" {
	taskq create
	LC_ALL=C.UTF-8 mux new-session -d -x 80 -y 24 \
		"bash -c 'set -m; taskq-top -d 50ms; echo stopped \$?; read line; fg >/dev/null; echo ended \$?; exec cat'"
	sees "Attempts"
	keys C-z
	sees "stopped 148"
	not shows "Attempts"
	keys Enter
	sees "Attempts"
	keys q
	sees "ended 0"
}

@test "H8: it ends with its terminal, also under nohup" {
	taskq create
	top
	sees "Attempts"
	pid=$(top_pid)
	next_terminal
	eventually 5 is_gone "$pid"
	LC_ALL=C.UTF-8 mux new-session -d -x 80 -y 24 "trap '' HUP; taskq-top -d 50ms; sleep 1"
	sees "Attempts"
	pid=$(top_pid)
	mux kill-server
	eventually 5 is_gone "$pid"
}

@test "H8: NO_COLOR, and colours without it" {
	taskq create
	top
	sees "Attempts"
	is_coloured
	next_terminal
	NO_COLOR=1 top
	sees "Attempts"
	not is_coloured
	mux capture-pane -p -e | grep -q $'\e\[7m' # what is picked can still be seen
}

@test "H8: ASCII where the locale has no more" {
	taskq create -q mail
	LC_ALL=C top
	sees "Attempts"
	screen >plain
	not env LC_ALL=C grep -q '[^ -~]' plain
}

@test "H8: the mouse: a tab, a line, a header" {
	submit -q apple -- true
	submit -q pear -- true
	top
	sees "Attempts"
	keys -H 1b 5b 4d 20 2e 22 # press at column 14, line 2: Queues
	keys -H 1b 5b 4d 23 2e 22
	goes "Attempts"
	sees "▼READY"
	keys -H 1b 5b 4d 20 23 24 # the header of the first column
	keys -H 1b 5b 4d 23 23 24
	sees "QUEUE▲"
}

@test "H8: a terminal whose type is not known, or that is not fit" {
	local type

	taskq create
	for type in no-such-thing dumb; do
		mux new-session -d -x 100 -y 24 "TERM=$type taskq-top; echo ended \$?; exec cat"
		sees "the type of this terminal is not known"
		sees "ended 2"
		next_terminal
	done
}

@test "H8: -n ends it after so many looks" {
	taskq create
	top -n 3
	sees "ended 0"
}
