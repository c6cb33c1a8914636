#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# group: tasks that are counted together, and what runs after the last one.
load helper

new() {
	taskq group new "$@"
}

# group GROUP FIELD
group() {
	taskq group show --json "$1" | jq -r ".$2"
}

@test "D5: the completion task starts after the last end, and not before the seal" {
	local g id

	expect 0 group new --json -L night -- sh -c 'wc -l <did >last'
	g=$(jq -r .id <<<"$output")
	id=$(jq -r .completion <<<"$output")
	for i in 1 2 3; do
		submit --group "$g" -- sh -c 'echo x >>did'
	done
	work_off
	is "$id" state blocked
	expect 0 why "$id"
	prints "group $g is open"
	[[ $(group "$g" state) == open && $(group "$g" states.done) == 3 ]]
	expect 75 group wait --timeout 0 "$g"
	says "0 unfinished members, and is not sealed"
	submit --group "$g" -- sh -c 'echo x >>did'
	expect 0 group seal "$g"
	[[ $(group "$g" state) == sealed ]]
	work_off
	is "$id" state done
	[[ $(cat last) == 4 ]]
	expect 0 group wait "$g"
	expect 0 group show --members "$g"
	prints "complete"
	prints "4 done"
	expect 0 group list
	prints "night"
}

@test "D5: conditions, and who is against them" {
	local g bad

	g=$(new --when ok -- touch never)
	submit --group "$g" -- true
	bad=$(submit --group "$g" -- false)
	taskq group seal "$g"
	work_off
	expect 1 group wait "$g"
	is "$(group "$g" completion)" state cancelled
	is "$(group "$g" completion)" cause "dependency:$bad"
	[[ $(group "$g" culprit) == "$bad" ]]
	[[ ! -e never ]]
	g=$(new --when fail -- touch failed)
	submit --group "$g" -- false
	taskq group seal "$g"
	work_off
	[[ -e failed ]]
}

@test "D5: an empty sealed group is complete at once" {
	local g

	g=$(new)
	expect 0 group seal "$g"
	expect 0 group wait "$g"
	[[ $(group "$g" state) == complete ]]
}

@test "D5: each end is printed as it comes" {
	local g

	g=$(new)
	start taskq group wait --each "$g"
	submit --group "$g" -- true
	submit --group "$g" -- sh -c 'exit 3'
	work_off
	eventually 5 grep -q "failed" out
	not is_gone "$pid"
	taskq group seal "$g"
	ends 1 "$pid"
	[[ $(wc -l <out) == 2 ]]
	grep -q "done" out
}

@test "D4: a cancelled group cancels what waits and what runs" {
	local g waits runs

	farm -j1
	g=$(new -- touch after)
	runs=$(submit --group "$g" -- sleep 100)
	eventually 5 is "$runs" state running
	waits=$(submit --group "$g" -- touch never)
	expect 0 group cancel "$g"
	is "$waits" state cancelled
	expect 1 group wait "$g"
	is "$runs" state cancelled
	eventually 5 test -e after
	[[ ! -e never ]]
	expect 1 group cancel "$g"
	says "sealed or complete"
}

@test "D5: what is refused, and how" {
	local g

	g=$(new)
	taskq group seal "$g"
	expect 1 submit --group "$g" -- true
	says "it is sealed or complete"
	expect 5 submit --group g99-1 -- true
	says "no such group"
	expect 2 submit --group 99-1 -- true
	says "such as g2-1"
	expect 5 group show g99-1
	expect 125 group wait g99-1
	expect 2 group seal nothing
	expect 2 group new --when sometimes -- true
	says "any, ok or fail"
	expect 2 group new --when ok
	expect 2 group seal --each "$g"
	expect 2 group
	expect 2 group dance
	expect 2 submit --group "$g" --every 5s -- true
}

@test "D5: a batch joins a group, line by line or as a whole" {
	local g

	g=$(new)
	for i in 1 2 3; do
		echo '{"command":["true"]}'
	done | submit --group "$g" --batch -
	echo "{\"command\":[\"true\"],\"group\":\"$g\"}" | submit --batch -
	[[ $(group "$g" members) == 4 ]]
	expect 0 list --json
	[[ $(head -n1 <<<"$output" | jq -r .member_of) == "$g" ]]
	expect 2 submit --batch - <<<'{"command":["true"],"group":7}'
	says "such as g2-1"
}

@test "D5: of several groups, a mistyped one is told of before any is waited for" {
	local g

	g=$(new)
	expect 125 group wait "$g" g99-1
	says "g99-1: no such group"
}

@test "a group's counts are an object of their own in JSON" {
	local g

	g=$(new)
	submit --group "$g" -- true
	taskq group cancel "$g"
	taskq --json group show "$g" | jq -e '.cancelled == true and .states.cancelled == 1'
	taskq --json group list | jq -e '.cancelled == true and .states.cancelled == 1'
	expect 1 group new --group "$g" -- true
	says "--group $g: it is sealed"
	g=$(new)
	submit --group "$g" -- true
	expect 75 group wait --timeout 0 "$g"
	says "has 1 unfinished member,"
}

@test "D3: a member may not come after its own group's completion task, nor by way of others" {
	local g h c d x m

	g=$(new -- true)
	c=$(group "$g" completion)
	expect 2 submit --group "$g" --after "$c" -- true
	says "would wait for each other"
	x=$(submit --after-any "$c" -- true)
	expect 2 submit --group "$g" --after-any "$x" -- true
	m=$(submit --hold --group "$g" -- true)
	expect 2 update --after "$c" "$m"
	h=$(new -- true)
	d=$(group "$h" completion)
	submit --group "$h" --after "$c" -- true
	expect 2 submit --group "$g" --after "$d" -- true
	[[ $(group "$g" members) == 1 ]]
	taskq unhold "$m"
	taskq group seal "$g"
	taskq group seal "$h"
	work_off
	is "$d" state done
	is "$x" state done
}

# Pids of the farm's master and workers.
participants() {
	taskq --json | jq -r '.workers[].pid'
}

@test "D5: workers are killed at random: the completion task starts once, after the last" {
	local g victims kills=0 n=10000

	[[ -z ${TASKQ_SLOW:-} ]] || n=500
	g=$(new -- sh -c 'taskq group show --json "$(cat g)" | jq .unfinished >>completed')
	echo "$g" >g
	seq "$n" | jq -c '{command: ["true"]}' | submit --group "$g" --batch - >ids
	[[ $(wc -l <ids) == "$n" ]]
	taskq group seal "$g"
	while [[ $kills -lt 40 && $(group "$g" state) != complete ]]; do
		farm -j3 -Q
		mapfile -t victims < <(participants)
		sleep "0.$((RANDOM % 5))" # any moment will do
		kill -KILL "${victims[RANDOM % ${#victims[@]}]}" || true
		kill -KILL "$pid" "${victims[@]}" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
		kills=$((kills + 1))
	done
	timeout 100 taskq work -j3 -Q --until-empty
	[[ $(group "$g" members) == "$n" && $(group "$g" unfinished) == 0 ]]
	# A kill may hit the completion task itself: a line for each attempt at most, and none early.
	[[ $(sort -u completed) == 0 ]]
	[[ $(wc -l <completed) -le $(taskq show --json "$(group "$g" completion)" | jq .attempt) ]]
	expect 0 check
}
