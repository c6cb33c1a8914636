#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files that are no segment, or not for us: an error, never a crash.
load helper

file() {
	echo "/dev/shm/taskq.$EUID.$TASKQ_SEGMENT"
}

# refused CODE: every sort of verb exits so, and only destroy --force removes it.
refused() {
	local verb

	for verb in status list check info 'show 1-1' 'submit -- true' 'cancel 1-1' 'work -j1 --until-empty' \
		destroy; do
		# shellcheck disable=SC2086
		expect "$1" $verb
		says "destroy --force"
	done
	expect 125 run -- true
	expect 0 destroy --force
	not test -e "$(file)"
}

# destroy itself speaks of --force
says() {
	[[ $stderr == *"$1"* || $stderr == *"--force removes it"* ]]
}

@test "I4: an empty file" {
	: >"$(file)"
	chmod 600 "$(file)"
	refused 6
}

@test "I4: random bytes" {
	head -c 3000000 /dev/urandom >"$(file)"
	chmod 600 "$(file)"
	refused 6
}

@test "I4: another layout version" {
	taskq create
	printf '\377' | dd of="$(file)" bs=1 seek=8 conv=notrunc status=none
	refused 6
}

@test "I4: a truncated one" {
	taskq create
	truncate -s 700000 "$(file)"
	refused 7
}

@test "I4: truncated to its header, and to nothing, under a live farm" {
	farm -j1
	truncate -s 4096 "$(file)"
	refused 7
	kill -KILL "$pid" 2>/dev/null || true
	eventually 5 is_gone "$pid"
}

@test "I4: random bytes after the header never crash an observer" {
	local i verb

	taskq create
	taskq limit set a 1 --rate 1/1h
	seq 50 | jq -c '{command: ["true"], limits: (if . % 2 == 0 then ["a", "own \(.)"] else [] end)}' |
		submit --batch - >/dev/null
	for i in 1 2 3 4 5 6 7 8; do
		cp "$(file)" copy
		dd if=/dev/urandom of="$(file)" bs=1 seek=$((RANDOM * 40 % 1500000 + 8192)) count=3000 \
			conv=notrunc status=none
		for verb in status list stats trace 'trace --chrome -' check 'show 1-1' 'list --json' 'limit list' 'why 50-1'; do
			# shellcheck disable=SC2086
			timeout 300 taskq $verb >/dev/null 2>&1 || [[ $? -le 7 ]]
		done
		cp copy "$(file)"
	done
	expect 0 check
}

@test "I4: a count that is damaged keeps no observer" {
	local table verb

	submit -- true
	cp "$(file)" copy
	for table in {0..18}; do # core, tables, count: docs/shared-memory-layout.md
		printf '\377\377\377\377' |
			dd of="$(file)" bs=1 seek=$((4096 + 272 + 16 * table)) conv=notrunc status=none
		for verb in stats 'stats --by-kind' status list; do
			# shellcheck disable=SC2086
			timeout 300 taskq $verb >/dev/null 2>&1 || [[ $? -le 7 ]]
		done
		cp copy "$(file)"
	done
	expect 0 check
}

@test "I6: owned by somebody else: refused unless asked for" {
	need_root
	taskq create
	chown 12345 "$(file)"
	expect 6 list
	[[ $stderr == *"--foreign"* ]]
	expect 6 submit -- true
	expect 6 destroy
	expect 0 --foreign submit -- true
	expect 0 --foreign list
}

@test "I6: open to others: refused unless asked for" {
	taskq create
	chmod 666 "$(file)"
	expect 6 submit -- true
	[[ $stderr == *"open to others"* ]]
	expect 0 --foreign submit -- true
	expect 0 destroy --force
	expect 0 create --mode 0660
	expect 0 --foreign info
	prints "mode 0660"
}

@test "E3 I6: who may only read can look, and is told so when it writes" {
	local id

	need_root
	id=$(submit -- echo hi)
	work_off
	chmod 644 "$(file)"
	chmod 711 "$BATS_TEST_TMPDIR"
	as_nobody() {
		run "-$1" --separate-stderr setpriv --reuid 65534 --clear-groups env \
			TASKQ_SEGMENT="$(file)" PATH="$PATH" timeout 300 "$(type -P taskq)" "${@:2}"
	}
	cd /
	as_nobody 6 list
	as_nobody 0 --foreign list
	as_nobody 0 --foreign log "$id"
	[[ $output == hi ]]
	as_nobody 0 --foreign check
	as_nobody 6 --foreign submit -- true
	[[ $stderr == *"permissions"* && $stderr == *"list, show, log"* ]]
	as_nobody 6 --foreign forget "$id"
	as_nobody 6 destroy --force
	expect 0 --foreign show "$id"
}

@test "destroy --force touches nothing that is not on a tmpfs" {
	[[ $(stat -f -c %T .) != tmpfs ]] || skip "the scratch directory is on a tmpfs"
	echo precious >file
	expect 2 destroy --force -s "$PWD/file"
	[[ $(cat file) == precious ]]
}

# poke OFFSET BYTES: stored into the segment as it is.
poke() {
	# shellcheck disable=SC2059
	printf "$2" | dd of="$(file)" bs=1 seek="$1" conv=notrunc status=none
}

# A lock holder's death, as the kernel marks it, with a journal of this length.
die_inside() {
	poke $((4096 + 128)) "$1"
	poke 4096 '\0\0\0\x40'
}

@test "fault.D1: a journal of impossible length is not undone, and a repair goes without it" {
	local id length

	id=$(submit -- true)
	for length in '\xff\xff\xff\xff' '\1\4\0\0' '\0\4\0\4' '\1\0\1\0'; do
		die_inside "$length"
		expect 7 submit -- true
		expect 7 submit -- true
		expect 7 check
		expect 1 check --repair
		expect 0 check
		expect 0 submit -- true
	done
	is "$id" state ready
}

@test "fault.D6: a check that finds no moment to copy says what to do" {
	local moving

	moving=$(dirname "$(type -P taskq)")/../tests/bin/cli.moving.so
	submit -- true
	run -1 --separate-stderr env LD_PRELOAD="$moving" taskq check
	says "changes faster than it can be copied"
	says "taskq check --exact"
	run -0 --separate-stderr env LD_PRELOAD="$moving" taskq check --exact
	[[ $output == sound ]]
}

@test "fault.D7: a repair that leaves something says what" {
	local moving

	moving=$(dirname "$(type -P taskq)")/../tests/bin/cli.moving.so
	miscount() { # core, waiter_count: docs/shared-memory-layout.md
		printf '\7' | dd of="$(file)" bs=1 seek=$((4096 + 208)) conv=notrunc status=none
	}
	submit -- true
	miscount
	run -7 --separate-stderr env LD_PRELOAD="$moving" TQT_LEFT=1 taskq check --repair
	says "2 of 2 faults left"
	[[ $(grep -c '^left: ' <<<"$output") == 2 ]]
	prints "left: core 0: waiter_count is 1, should be 0"
	miscount
	run -7 --separate-stderr env LD_PRELOAD="$moving" TQT_LEFT=1 taskq --json check --repair
	[[ $(jq -s 'map(select(.left)) | length' <<<"$output") == 2 ]]
	expect 0 check
}
