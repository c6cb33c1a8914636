#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# create, info, destroy, check; which verbs make what is missing.
load helper

@test "only submit, run, map and work make a segment; the others exit 5" {
	local verb

	for verb in status list stats trace info check shutdown destroy pause purge 'show 1-1' 'log 1-1' \
		'cancel 1-1' 'retry 1-1' 'hold 1-1' 'forget 1-1' 'update -p 1 1-1'; do
		# shellcheck disable=SC2086
		expect 5 $verb
		says "no such segment"
	done
	expect 0 submit -- true
	expect 0 list
}

@test "create makes it once; info describes it" {
	expect 0 create --max 8M --tasks 100 --retention 2h
	expect 1 create
	says "exists already"
	expect 0 info
	prints "mode 0600"
	prints "may grow to 8M"
	prints "at most 100"
	prints "2h00m"
	[[ $(taskq --json info | jq '.max_bytes') == 8388608 ]]
}

@test "A4: finished records go when their retention is over" {
	taskq create --retention 100ms
	submit -- true
	work_off
	eventually 5 eval 'submit -- true >/dev/null; work_off; [[ $(taskq list --json | grep -c "\"1-1\"") == 0 ]]'
}

@test "destroy refuses unfinished tasks and live workers without --force" {
	submit -- true
	expect 1 destroy
	says "it has 1 unfinished task"
	says "--force"
	work_off
	expect 0 destroy
	expect 5 destroy
	farm -j1
	expect 1 destroy
	expect 0 destroy --force
	eventually 5 is_gone "$pid"
}

@test "-s and TASKQ_SEGMENT name it; a path on a tmpfs works too" {
	local path=/dev/shm/$TASKQ_SEGMENT-path

	expect 0 submit -s "$path" -- true
	expect 0 -s "$path" list
	expect 5 list
	TASKQ_SEGMENT=$path expect 0 list
	expect 0 -s "$path" destroy --force
}

@test "-q and TASKQ_QUEUE name the queue" {
	TASKQ_QUEUE=fast submit -- true
	submit -q slow -- true
	[[ $(taskq list --json | jq -r .queue | xargs) == "fast slow" ]]
}

@test "check of a sound segment exits 0, also after kills" {
	local i

	submit -- true
	expect 0 check
	prints "sound"
	farm -j2
	for i in 1 2 3 4 5; do
		submit -- sh -c 'kill -KILL $PPID; sleep 9'
	done >/dev/null
	eventually 5 eval '[[ $(taskq --json stats | jq -s ".[0].crashed") -ge 3 ]]'
	kill -KILL "$pid"
	expect 0 check
	expect 0 check --exact
}

@test "version and help, also of every verb" {
	local verb

	expect 0 version
	[[ $output == taskq\ [0-9]* ]]
	expect 0 --version
	expect 0 help
	prints "Exit codes"
	for verb in $(sed -n 's/^  \([a-z]*\)  .*/\1/p' <<<"$output"); do
		expect 0 help "$verb"
		prints "Usage: taskq $verb"
	done
	expect 2 help nothing
}

@test "destroy refuses a segment with a schedule without --force; status counts them" {
	submit --every 1h -- true
	taskq cancel -q default >/dev/null 2>&1 || true
	work_off
	expect 0 status
	prints "1 schedule,"
	[[ $(taskq info --json | jq .schedules) == 1 ]]
	expect 1 destroy
	says "it has 0 unfinished tasks, 0 workers and masters, 1 schedule"
	expect 0 schedule remove s1-1
	expect 0 destroy
}

@test "create -q makes a queue in a segment that exists" {
	expect 0 create
	expect 0 create -q early
	says 'exists already; queue "early" is new in it'
	expect 0 queue set early --max-depth 3
	expect 1 create -q early
	says "exists already"
	expect 1 create --tasks 5 -q late
	expect 5 queue set late --max-depth 3
	says '`taskq create -q` makes one'
}

# The segment's file goes, whatever is in it.
remove() {
	rm "$(taskq info --json | jq -r .path)"
}

@test "fault.S4: an idle farm and a busy one end when the file is removed, with all that they run" {
	local waiter

	farm -j2
	remove
	ends 5 "$pid"
	grep -q "the segment's file has been removed" err
	farm -j2 --grace 300ms
	taskq submit -- sh -c "echo \$\$ >$PWD/leader; sleep 600" >id
	eventually 10 test -s leader
	taskq wait "$(cat id)" 2>waiter.err 3>&- &
	waiter=$!
	started+=("$waiter")
	eventually 10 eval '[[ $(taskq --json info | jq .sleepers) -ge 4 ]]'
	remove
	ends 5 "$pid"
	ends 125 "$waiter"
	grep -q "the segment's file has been removed" waiter.err
	is_gone "$(cat leader)"
}

@test "fault.S4: a new segment starts when the old one's farm and its commands are gone" {
	farm -j1 --grace 300ms
	taskq submit -- sh -c "trap '' TERM; echo \$\$ >$PWD/leader; sleep 600; sleep 600" >id
	eventually 10 test -s leader
	remove
	expect 0 submit -- true
	is_gone "$(cat leader)"
	ends 5 "$pid"
	[[ $(taskq list --json | jq -s length) == 1 ]]
}

@test "fault.X18: a limit of file sizes is an error with both sizes" {
	run -4 --separate-stderr bash -c 'ulimit -f 1000; taskq create --max 64M'
	says "a file of this process may not be so large"
	says "it may have 1000K; a segment takes 64M"
	expect 5 info
	bash -c 'ulimit -f 100000; taskq create --max 64M'
	expect 0 info
}

@test "fault.X19: without descriptors nothing is made that nobody could attach" {
	local n refused=0

	# With too few the program is not even loaded: 127.
	for n in $(seq 4 40); do
		run --separate-stderr bash -c "ulimit -n $n; taskq create || exit \$?"
		[[ $stderr != *"loading shared libraries"* ]] || continue
		if ((status == 0)); then
			((refused)) || continue
			expect 0 info
			break
		fi
		says "Too many open files"
		expect 5 info
		refused=$n
	done
	((refused))
	# The same for who attaches one that is there.
	[[ -e /dev/shm/taskq.$EUID.$TASKQ_SEGMENT ]] || expect 0 create
	run --separate-stderr bash -c "ulimit -n $refused; taskq submit -- true || exit \$?"
	says "Too many open files"
}
