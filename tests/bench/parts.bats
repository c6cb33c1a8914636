#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Parts of taskq-bench, a hundredth of each: they end, and say what they should in JSON.
bats_require_minimum_version 1.5.0

setup() {
	export TMPDIR=$BATS_TEST_TMPDIR
}

# glimpse PART...: its rows go to $rows.
glimpse() {
	rows=$BATS_TEST_TMPDIR/rows
	timeout 300 "$TASKQ_BENCH" --json --quick "$@" >"$rows"
	jq -es 'first.name == "machine" and last.name == "bounds" and length > 2' "$rows" >/dev/null
	[[ $(ls "$BATS_TEST_TMPDIR") == rows ]] # no sockets, nor what commands leave
}

# that FILTER: true of all rows together.
that() {
	jq -es "$1" "$rows" >/dev/null || { echo "not so: $1"; return 1; }
}

# points PLOT SERIES: has such a curve.
points() {
	that "map(select(.plot == \"$1\" and .series == \"$2\")) |
		length > 1 and all(.least <= .value and .value <= .most)"
}

@test "alone: lives are multiples of the floor, with their times beside" {
	glimpse alone
	that 'map(select(.name | endswith("times the floor"))) | length == 6 and all(.bound == 1.6)'
	that 'map(select(.name == "life of a task, 1000 waiting")) | length == 1 and first.value > 0'
}

@test "pair: taskq beside its floor, with bounds for undisturbed windows and the median" {
	glimpse pair
	that 'map(select(.name == "producer and worker: taskq with tq_next, 0 waiting, p5"))
		| length == 1 and first.bound == 1200 and first.value > 0'
	that 'map(select(.name == "producer and worker: times the floor with next, 0 waiting"))
		| length == 1 and first.value > 0'
	that 'map(select(.name | contains("times POSIX mq"))) | length == 2'
	that 'map(select(.name | contains("times boost"))) | length == 2'
}

@test "crowd: up to 32 pairs, their tails, and the share of the slowest" {
	glimpse crowd
	points crowd "taskq with tq_next"
	points crowd-tails "submit, p99.9"
	points crowd-tails "next, p50"
	points crowd-shares "taskq with tq_next, slowest worker"
	that 'map(select(.name == "a task of 32 + 32 processes, times of 1 + 1: taskq with tq_next"))
		| length == 1 and first.bound == 1.4'
}

@test "peers: each has a row for each load, be it why there is none" {
	glimpse peers
	points peers-depth taskq
	points peers-payload "limit: memcpy"
	that 'map(select(.settings and .lacks)) | length == 10'
	that 'map(select(.name | startswith("boost message_queue,"))) | length >= 11'
	that 'map(select(.name | startswith("limit: fork and exec"))) | length == 1'
}

@test "commands: taskq map beside xargs" {
	glimpse commands
	points commands "taskq map"
	points commands xargs
	that 'map(select(.name == "a command by xargs, 2 at a time, times taskq map"))
		| length == 1 and first.bound == 1 and first.side == "at least"'
}

@test "growth: with what waits, with payloads, and beside everything else" {
	glimpse growth
	points growth-depth taskq
	points growth-depth "the floor"
	points growth-payload taskq
	for what in queues kinds limits tenants groups workers observers dependencies; do
		points growth-beside "$what"
	done
}

@test "count: the floor is counted, too, and a life is a multiple of it" {
	glimpse count
	that 'map(select(.name | endswith("instructions, times the floor"))) | length == 2 and
		all(.value > 1 or .not_measured == "no valgrind")'
}

@test "the other parts that take no minutes" {
	glimpse wake death lock memory policy steer graph herd idle repair parked hold observers
	that 'map(select(.name | startswith("hold, "))) | length >= 30'
	that 'map(select(.name | startswith("heap moves"))) | length == 1'
	that 'map(select(.name | startswith("CPU of a life beside 20"))) | length == 1'
	that 'map(select(.name | startswith("wake-up"))) | length >= 3'
	that 'map(select(.name | startswith("EOWNERDEAD to order"))) | length >= 2'
	that 'map(select(.name | startswith("wake-ups of an idle farm"))) | length == 2'
	that 'map(select(.name == "repair of 1000000 tasks against their submits"))
		| length == 1 and first.value > 0'
}

@test "bounds on either side: the last line counts those that are met and missed" {
	glimpse pair commands
	that '(map(select(.met == true)) | length) == last.met and
		(map(select(.met == false)) | length) == last.missed and
		(map(select(.not_measured | type == "string")) | length) == last.not_measured'
	that 'map(select(.side == "at most")) | all(.met == (.value <= .bound))'
	that 'map(select(.side == "at least")) | all(.met == (.value >= .bound))'
}

@test "what is no part is refused before anything runs" {
	run -2 "$TASKQ_BENCH" --json alone nothing
	[[ $output == usage:* ]]
}
