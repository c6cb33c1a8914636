#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# queue set, show, list: the order inside a queue.
load helper

setup_file() {
	export BATS_TEST_TIMEOUT=60
}

# Labels of the tasks in the order of their starts, as the flight recorder has it: several
# may start in one millisecond.
started_labels() {
	jq -rn --slurpfile tasks <(taskq list --json) --slurpfile moves <(taskq trace --json) '
		($tasks | map({ (.id): (.label // "") }) | add) as $labels |
		[$moves[] | select(.to == "running") | $labels[.id]] | join(" ")'
}

@test "queue set: each setting is shown again" {
	taskq create -q work
	expect 0 queue set work --ageing low=2,normal=0.5 --max-depth 9 --timeout 5m --retries 2 \
		--backoff 1s:2m
	expect 0 queue show work
	prints "low      below 0: 2 points/s"
	prints "normal   0 to 99: 0.500 points/s"
	prints "high     100 to 999: strict"
	prints "max-depth 9"
	prints "timeout 5m00s, retries 2, backoff 1.0s:2m00s"
	taskq queue show work --json |
		jq -e '.ageing == {low: 2, normal: 0.5} and .bands == [0, 100, 1000] and .depth_max == 9'
	expect 0 queue set work --bands -100,-50,critical --ageing normal=off
	expect 0 queue show work
	prints "normal   -100 to -51: strict"
	expect 0 queue set work --strict --max-depth off --timeout off
	expect 0 queue show work
	prints "strict priority"
	prints "timeout none"
	expect 0 queue list
	prints "work"
	[[ $(taskq queue list --json | jq -r .queue) == work ]]
}

@test "queue set: what cannot be is refused, and says what can" {
	taskq create -q work
	expect 2 queue set work --ageing 10001
	says "out of range"
	says "points a second from 0 to 10000"
	expect 2 queue set work --ageing middle=1
	says "low, normal, high, critical"
	expect 2 queue set work --ageing -1
	expect 2 queue set work --bands 5,5,6
	says "three whole numbers that ascend"
	expect 2 queue set work --strict --ageing 1
	says "leave one out"
	expect 2 queue set work --edf maybe
	says "on or off"
	expect 2 queue set work --max-wait 0
	expect 2 queue set work --max-wait -5s
	expect 2 queue set work --edf on --ageing 1
	says "cannot both order"
	taskq queue set work --ageing 1
	expect 2 queue set work --edf on
	says "--ageing off"
	expect 0 queue set work --edf on --ageing off
	expect 2 queue set work
	says "nothing to change"
	expect 2 queue set 'no name' --strict
	expect 5 queue set nowhere --strict
	says "no such queue"
	expect 2 queue show work --strict
	expect 2 queue turn work
	says "set, show or list"
	expect 2 queue
}

# Critical tasks faster than one worker does them, until the low one has ended.
flood() {
	local id=$1 i

	for ((i = 0; i < 100; i++)); do
		submit -p critical -- sleep 0.2 >>flood
		if is "$id" state done; then return 0; fi
	done
	return 1
}

@test "fault.T4: the printed bound is rounded up, never down" {
	taskq create -q default
	taskq queue set --ageing low=60
	(($(taskq queue show --json | jq .overtaken_ns.low) > 16000000000))
	expect 0 queue show
	prints "priority -100: tasks of higher priority (up to 1000) go first only if submitted within 19s after it"
}

@test "fault.T5: ageing is just switched on, at a tenth of a point a second" {
	taskq create -q default
	taskq queue set --ageing on
	[[ $(taskq queue show --json | jq -c .ageing) == '{"low":0.1,"normal":0.1,"high":0.1,"critical":0.1}' ]]
	taskq queue set --ageing off
	taskq queue set --ageing low=on
	expect 0 queue show
	prints "0.100 points/s"
}

@test "fault.T9: what a task has gained by waiting is shown, whoever shows it" {
	local id held

	taskq create -q default
	taskq queue set --ageing low=1000,normal=500
	id=$(submit -p low -- true)
	held=$(submit -p low --hold -- true)
	eventually 10 eval '(($(taskq list -H -o effective | head -n 1) >= 0))'
	(($(field "$id" effective_priority) >= 0))
	is "$id" priority -100
	is "$held" effective_priority -100
	expect 0 show "$id"
	prints "by waiting"
	taskq queue set --ageing off
	is "$id" effective_priority -100
}

@test "B2: a low task under a flood of critical ones is overtaken as long as show says" {
	local bound_ns id

	taskq create -q default
	taskq queue set --ageing low=1000
	bound_ns=$(taskq queue show --json | jq .overtaken_ns.low)
	expect 0 queue show
	prints "priority -100: tasks of higher priority (up to 1000) go first only if submitted within 1.2s after it"
	((bound_ns > 1100000000 && bound_ns < 1110000000))
	for i in 1 2 3; do
		submit -p critical -- sleep 0.2 >>flood
	done
	farm -j1
	id=$(submit -p low -L low -- true)
	flood "$id"
	taskq list --json | jq -se --argjson bound "$bound_ns" '
		map(select(.label == "low"))[0] as $low |
		map(select(.started != null and .started < $low.started and
			$low.age_ns - .age_ns > $bound)) == []'
	taskq list --json | jq -se '
		map(select(.label == "low"))[0] as $low | any(.submitted < $low.started and
			(.started == null or .started > $low.started))'
}

@test "B4: hybrid: the least urgent band has its turns, as show says" {
	local i

	taskq create -q default
	taskq queue set --hybrid 2
	expect 0 queue show
	prints "after 2 starts of other bands one of the least urgent"
	prints "of every 3 starts one is of that band"
	[[ $(taskq queue show --json | jq .hybrid) == 2 ]]
	taskq pause
	for i in 1 2 3 4 5 6; do
		submit -p critical -L "c$i" -- true
	done
	submit -p low -L l1 -- true
	submit -p low -L l2 -- true
	taskq resume
	work_off
	[[ $(started_labels) == "c1 c2 l1 c3 c4 l2 c5 c6" ]]
	expect 0 queue set --hybrid on
	[[ $(taskq queue show --json | jq .hybrid) == 5 ]]
	expect 2 queue set --hybrid 0
	says "a whole number from 1 to 1000000"
	expect 0 queue set --strict
	[[ $(taskq queue show --json | jq .hybrid) == null ]]
}

@test "B5: edf: inside a band the earliest deadline starts first" {
	taskq create -q default
	expect 0 queue set --edf on
	expect 0 queue show
	prints "in it the earliest deadline"
	prints "normal   0 to 99: by deadline"
	[[ $(taskq queue show --json | jq .edf) == true ]]
	taskq pause
	submit -L none -- true
	submit -L late --deadline 2h -- true
	submit -L early --deadline 1h -- true
	submit -L low --deadline 1m -p low -- true
	submit -L high -p high -- true
	taskq resume
	work_off
	[[ $(started_labels) == "high early late none low" ]]
	[[ $(taskq queue list --json | jq .edf) == true ]]
	expect 0 queue list
	prints " edf "
}

# The bound that `queue show` prints: with N older overdue ones, within 2 x (N + 1) starts.
@test "B3: max-wait: under a flood of urgent tasks low ones start within the printed bound" {
	local i labels

	taskq create -q default
	expect 0 queue set --max-wait 1ms
	expect 0 queue show
	prints "ready for 1ms is overdue"
	prints "within 2 x (N + 1) starts"
	[[ $(taskq queue show --json | jq .max_wait_ns) == 1000000 ]]
	taskq pause
	for i in 1 2 3; do
		submit -p low -L "low$i" -- true
	done
	for i in 1 2 3 4 5 6 7 8; do
		submit -p critical -L "c$i" -- true
	done
	taskq resume
	work_off
	labels=$(started_labels)
	[[ $labels == "low1 c1 low2 c2 low3 "* ]]
	expect 0 queue set --strict
	[[ $(taskq queue show --json | jq .max_wait_ns) == null ]]
}

@test "B2: tasks that wait follow into another order" {
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		submit -p $((-i)) -L "old$i" -- true
	done
	sleep 0.1
	expect 0 queue set --ageing low=10000
	[[ $(taskq queue show --json | jq .reordering) == null ]]
	submit -p critical -L critical -- true
	submit -p low -L new -- true
	work_off
	[[ $(started_labels) == "old1 old2 old3 old4 old5 old6 old7 old8 old9 old10 old11 old12 new critical" ||
		$(started_labels) == "old1 old2 old3 old4 old5 old6 old7 old8 old9 old10 old11 old12 critical new" ]]
	expect 0 check
}

@test "D3: a band that is given two rates of ageing is refused" {
	submit -- true
	expect 2 queue set default --ageing low=1,low=2
	says "not rates of ageing"
	expect 0 queue set default --ageing low=1,normal=2
}

@test "a list takes the queue of -q alone, and says when there is none of that name" {
	submit -q a --every 1h -- true
	submit -q b --every 1h -- true
	[[ $(taskq schedule list -q b --json | jq -r .queue) == b ]]
	[[ $(taskq queue list -q b --json | jq -r .queue) == b ]]
	[[ $(taskq status -q b --json | jq -r '.queues[].queue') == b ]]
	for verb in "schedule list" "queue list" "status" "limit list" "command list"; do
		# shellcheck disable=SC2086
		expect 5 $verb -q nosuch
		says 'queue "nosuch": no such queue'
	done
}

@test "fault.T6: defaults of a kind stand between those of the task and of the queue" {
	submit -- true
	expect 0 queue set default --timeout 20s --retries 1
	expect 0 kind set exec --timeout 10s --timeout-total off --backoff 1s:5s
	submit -L kind -- true
	submit -L own --timeout 3s -- true
	submit -L other --kind mail --payload x
	[[ $(taskq list -H -o timeout,retries,backoff-cap -L kind) == $'10.000000000\t1\t5.000000000' ]]
	[[ $(taskq list -H -o timeout -L own) == 3.000000000 ]]
	[[ $(taskq list -H -o timeout -L other) == 20.000000000 ]]
	expect 0 kind list
	prints "exec      10s   none        -     1.0s  5.0s"
	[[ $(taskq kind list --json) == '{"kind":"exec","timeout_ns":10000000000,"timeout_total_ns":null,"backoff_ns":1000000000,"backoff_cap_ns":5000000000}' ]]
	expect 0 kind clear exec
	expect 1 kind clear exec
	says "kind exec has no defaults"
	[[ -z $(taskq kind list --json) ]]
	expect 2 kind set exec
	expect 2 kind set exec --timeout 0
	expect 2 kind clear exec --timeout 3s
	expect 2 kind set "no name" --timeout 3s
	expect 2 kind drop exec
	expect 0 check
}
