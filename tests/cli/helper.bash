# SPDX-License-Identifier: MIT
# What every file here loads: a segment a test, and processes that end with it.
bats_require_minimum_version 1.5.0

setup() {
	export TASKQ_SEGMENT=${TASKQ_TEST_ID:-test-$$}-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || return
	started=()
}

# What a file has to end besides; one that has something says so.
end_more() {
	:
}

teardown() {
	local pid

	end_more
	for pid in "${started[@]}"; do
		end "$pid"
	done
	taskq destroy --force 2>/dev/null || true
}

# expect CODE ARG...: `taskq ARG...` exits with CODE; then $output and $stderr.
expect() {
	local code=$1

	shift
	run "-$code" --separate-stderr timeout 300 taskq "$@"
}

# says TEXT, prints TEXT: standard error, standard output of the last expect has TEXT in it.
says() {
	[[ $stderr == *"$1"* ]] || { echo "no \"$1\" in: $stderr"; return 1; }
}

prints() {
	[[ $output == *"$1"* ]] || { echo "no \"$1\" in: $output"; return 1; }
}

# start COMMAND...: in the background, ended by teardown; its pid is in $pid.
start() {
	"$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	started+=("$pid")
}

# As start, in a process group of its own, as a shell with job control does it: the
# kernel stops nobody (SIGTSTP) in a group whose parents are all in other sessions.
start_job() {
	set -m
	start "$@"
	set +m
}

farm() {
	start taskq work "$@"
	eventually 10 has_worker
}

end() {
	kill -TERM "$1" 2>/dev/null || return 0
	kill -CONT "$1" 2>/dev/null || true # one that is stopped ends by nothing else
	eventually 8 is_gone "$1" || kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null || true
}

# eventually SECONDS COMMAND...: until it succeeds.  So long it may take on an idle machine;
# on a busy one it takes what it takes, and the limit is there for what never comes.
eventually() {
	local end=$((SECONDS + 180 + 6 * $1))

	shift
	until "$@"; do
		((SECONDS < end)) || { echo "not in time: $*"; return 1; }
		sleep 0.02
	done
}

# one_behind_another: a worker runs "long" until there is a file "enough", and has taken "short"
# beforehand.  Both are variables of the caller.
one_behind_another() {
	taskq create -q default
	taskq queue set --batch 4
	taskq pause
	long=$(submit -- sh -c 'while [ ! -e enough ]; do sleep 0.05; done')
	short=$(submit -- true)
	farm -j1
	taskq resume
	eventually 10 eval '[[ $(taskq why $short --json | jq -r .reason) == assigned ]]'
}

# ends CODE PID: it has ended, or does so soon, with CODE.
ends() {
	local code=0

	eventually 15 is_gone "$2"
	wait "$2" || code=$?
	[[ $code == "$1" ]] || { echo "exit code $code, not $1: $(cat err)"; return 1; }
}

# Gone, or a zombie of ours.
is_gone() {
	local state

	state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || true
	[[ -z $state || $state == Z ]]
}

is_in() { # PID STATE-LETTERS
	grep -q "^State:[[:space:]]*[$2]" "/proc/$1/status"
}

not() {
	if "$@"; then return 1; fi
}

has_worker() {
	taskq --json 2>/dev/null | jq -e '[.workers[] | select(.flags | index("master") | not)] != []' >/dev/null
}

# field ID NAME: of the task's JSON.
field() {
	taskq show --json "$1" | jq -r ".$2"
}

is() { # ID NAME VALUE
	[[ $(field "$1" "$2") == "$3" ]]
}

# Submits without the warning that nobody serves the queue.
submit() {
	taskq submit "$@" 2>/dev/null
}

work_off() {
	timeout 300 taskq work -j1 -Q --until-empty "$@"
}

need_root() {
	[[ $EUID == 0 ]] || skip "needs root"
}
