#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Handing in: ids, what a command sees, order, retries, batches.
load helper

@test "A1 A6: submit prints the id alone; 17-3 and 17.3 are the same" {
	expect 0 submit -- true
	[[ $output =~ ^[0-9]+-[0-9]+$ ]]
	expect 0 show "${output/-/.}"
	prints "ready"
}

@test "B1: priorities by name and number, bigger first, equal ones in order" {
	local order="low:-p low|first:-p 5|second:-p 5|top:-p critical|neg:-p -2147483648|high:-p high"
	local IFS='|' item

	for item in $order; do
		IFS=' ' read -ra options <<<"${item#*:}"
		submit "${options[@]}" -- sh -c "echo ${item%%:*} >>$PWD/order"
	done
	work_off
	[[ $(tr '\n' ' ' <order) == "top high first second low neg " ]]
}

@test "A1: a command has the submitter's directory, --env, an empty input and its own names" {
	local id

	id=$(submit --env A='b c' --env HOME -- sh -c 'pwd; echo "$A"; cat; echo $TASKQ_ID $TASKQ_ATTEMPT $TASKQ_QUEUE')
	work_off
	expect 0 log "$id"
	[[ $output == "$PWD"$'\n'"b c"$'\n'"$id 1 default" ]]
	id=$(submit --cwd / -o out.txt -- sh -c 'pwd; echo err >&2')
	work_off
	[[ $(cat out.txt) == $'/\nerr' ]]
	[[ -z $(taskq log "$id") ]]
}

@test "A1: inside a task taskq finds the segment and itself" {
	local id

	id=$(submit -- sh -c 'taskq show $TASKQ_ID')
	work_off
	expect 0 wait "$id"
	[[ $(taskq log "$id") == *"running, attempt 1"* ]]
}

@test "F1: submit warns when no live worker serves the queue, else not" {
	expect 0 submit -q lone -- true
	says 'no live worker serves queue "lone"'
	says '`taskq work -q lone`'
	farm -j1
	expect 0 submit -- true
	[[ -z $stderr ]]
	expect 0 submit --kind nobody --payload x
	says 'kind "nobody"'
	expect 0 show "$output"
	prints "no live worker serves queue default and kind nobody"
}

@test "F1: a batch that nobody serves is warned of a few times, and the rest is counted" {
	seq 100 | jq -c '{command: ["true"], queue: "q\(. % 20)"}' >lines
	run -0 --separate-stderr taskq submit --batch lines
	[[ $(grep -c "warning: no live worker serves queue" <<<"$stderr") == 8 ]]
	says "warning: and 60 more tasks are of other queues or kinds that no live worker serves"
	[[ $(wc -l <<<"$stderr") == 17 ]]
}

@test "D7: submit --wait exits with the task's own code" {
	farm -j1
	expect 9 submit --wait -- sh -c 'exit 9'
	expect 0 submit --wait -- true
	expect 2 submit --wait
}

@test "C1: a delayed task does not start before its time" {
	local id

	id=$(submit --delay 1h -- true)
	is "$id" state delayed
	submit -- true
	work_off 3>&- &
	eventually 5 eval '[[ $(taskq list --json -S done | wc -l) == 1 ]]'
	is "$id" state delayed
	taskq update --delay 0 "$id"
	wait
	is "$id" state done
}

@test "E5: --retries and --backoff; the last code stands; --at-most-once has one start" {
	local id

	id=$(submit -p high --timeout 5s --retries 2 --backoff 10ms:20ms -- sh -c 'echo hi; exit 3')
	work_off
	expect 3 wait "$id"
	is "$id" attempt 3
	[[ $(field "$id" 'history | length') == 3 ]]
	id=$(submit --at-most-once -- sh -c 'exit 2')
	work_off
	is "$id" attempt 1
	is "$id" state failed
}

@test "fault.T3: the cap of a back-off is not below its first wait" {
	local id

	id=$(submit --retries 1 --backoff 1h -- false)
	taskq queue set --backoff 2h
	is "$id" backoff_cap_ns 3600000000000
	expect 0 queue show
	prints "backoff 2h00m:2h00m"
	farm -j 1
	eventually 10 is "$id" state delayed
	(($(field "$id" delay_ns) > 3500000000000))
}

@test "A4: --forget frees the record at its end; --keep until taskq forget" {
	local kept forgotten

	kept=$(submit --keep -- true)
	forgotten=$(submit --forget -- true)
	work_off
	expect 5 show "$forgotten"
	says "freed"
	expect 0 forget "$kept"
	expect 5 show "$kept"
}

@test "H1: --hold keeps it from starting until unhold" {
	local id

	id=$(submit --hold -- true)
	work_off
	is "$id" state ready
	taskq unhold "$id"
	work_off
	is "$id" state done
}

@test "A6: --batch takes JSON lines from a file and from a pipe, and prints their ids" {
	seq 200 | jq -c '{command: ["sh", "-c", "echo \(.)"], label: "n\(.)", priority: "low"}' >lines
	printf '\n{"kind":"k","payload":"x"}\n' >>lines
	expect 0 submit --batch lines -q q1
	[[ $(wc -l <<<"$output") == 201 ]]
	run -0 --separate-stderr bash -c 'timeout 300 taskq submit --batch - -q q2 <lines'
	[[ $(taskq list --json -q q2 | wc -l) == 201 ]]
	[[ $(taskq list -q q1 -L n7 -o command | tail -1) == "sh -c 'echo 7'" ]]
}

@test "A6: a batch with a bad line names it, and from a file hands in nothing" {
	printf '{"command":["true"]}\n{"command":["true"],"prio":1}\n' >lines
	expect 2 submit --batch lines
	says 'line 2: unknown field "prio"'
	expect 5 list
}
