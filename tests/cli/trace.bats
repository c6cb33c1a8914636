#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The flight recorder, and percentiles.
load helper

setup_file() {
	export BATS_TEST_TIMEOUT=90
}

# attempts: slices of attempts in the exported trace.
attempts() {
	jq '[.traceEvents[] | select(.cat == "attempt")] | length' "$1"
}

started() {
	taskq stats --json | jq -s 'map(.started // 0) | add'
}

@test "H5: trace shows the life of a task, text and JSON" {
	local id

	taskq create --trace 100
	expect 1 trace
	id=$(submit --retries 1 --backoff 1ms -- false)
	work_off
	expect 0 trace
	prints "$id  submitted, ready"
	prints "ready -> running, attempt 2, worker"
	prints "running -> delayed, exit:1"
	prints "running -> failed, exit:1"
	expect 0 trace --task "$id" -n 1 --json
	jq -e --arg id "$id" '.id == $id and .to == "failed" and .cause == "exit:1"' <<<"$output"
	[[ $(taskq trace --json | jq -s 'map(.number) == [range(1; length + 1)]') == true ]]
	[[ $(taskq trace -n 3 | wc -l) == 3 ]]
	expect 1 trace --task 9-9
	expect 2 trace --task nine
	says "such as 17-3"
	expect 2 trace -n 0
	expect 2 trace --chrome - --follow
	expect 0 info
	prints "of which the last 100 stay"
}

@test "H5: create --trace: sizes, and a segment without a recorder" {
	expect 2 create --trace 63
	says "64 to 16777216"
	expect 2 create --trace many
	expect 0 create --trace off
	submit -- true
	work_off
	expect 1 trace
	says "has no recorder"
	expect 0 stats
	prints "run       p50"
	expect 0 check
}

@test "H5: follow prints what comes, and ends when the segment goes" {
	local id

	taskq create
	submit -- true
	start taskq trace --follow -n 1
	eventually 5 grep -q submitted out
	id=$(submit -- true)
	eventually 5 grep -q "$id  submitted" out
	[[ $(grep -c submitted out) == 2 ]]
	taskq destroy --force
	ends 5 "$pid"
	grep -q "was removed" err
}

@test "H5: a reader that is lapped says how many it missed" {
	local last

	taskq create --trace 64
	for _ in 1 2 3; do
		taskq list --json >/dev/null || true
	done
	for _ in {1..20}; do
		submit -- true
	done
	work_off
	expect 0 trace --json
	last=$(taskq info --json | jq .traced)
	((last > 57))
	[[ $(taskq trace | wc -l) -le 64 ]]
	[[ $(taskq trace --json | tail -1 | jq .number) == "$last" ]]
}

@test "H5, E3: the exported slices are the attempts made, through SIGKILLs and stops" {
	local ids=() victim i

	taskq create
	for i in 1 2 3; do
		ids+=("$(submit --retries 2 --backoff 1ms -- sh -c "[ -e go$i ] || { touch go$i; sleep 60; }")")
	done
	ids+=("$(submit --timeout 100ms -- sleep 60)")
	for _ in {1..10}; do
		ids+=("$(submit -- true)")
	done
	farm -j4
	for i in 1 2 3; do
		eventually 10 test -e "go$i"
		victim=$(taskq show --json "${ids[i - 1]}" | jq .worker_pid)
		kill -KILL "$victim"
	done
	expect 1 wait "${ids[@]}"
	[[ $(taskq list --json --state failed | wc -l) == 1 ]]
	end "$pid"
	expect 0 trace --chrome x.json
	jq -e '.displayTimeUnit == "ms" and (.traceEvents | length > 20)' x.json
	jq -e 'all(.traceEvents[]; .ph | IN("X", "i", "M", "s", "f"))' x.json
	jq -e 'all(.traceEvents[] | select(.ph != "M"); .ts >= 0)' x.json
	jq -e 'all(.traceEvents[] | select(.ph == "X"); .dur >= 0 and .args.end != "running")' x.json
	[[ $(attempts x.json) == $(started) ]]
	[[ $(attempts x.json) == 17 ]]
	# Each killed worker's attempt is marked in its lane, and leads to the next one.
	[[ $(jq '[.traceEvents[] | select(.cat == "reclaim")] | length' x.json) == 3 ]]
	[[ $(jq '[.traceEvents[] | select(.cat == "signal" and (.name | test("SIGTERM")))] | length' x.json) -ge 1 ]]
	[[ $(jq '[.traceEvents[] | select(.ph == "s" and .name == "again")] | length' x.json) == 3 ]]
	# No two slices of one lane overlap.
	jq -e '[.traceEvents[] | select(.ph == "X")] | group_by(.tid) | all(.[];
		sort_by(.ts) | . as $s | all(range(1; length); $s[.].ts >= $s[. - 1].ts + $s[. - 1].dur - 0.001))' x.json
	expect 0 trace --chrome - -n 3
	jq -e . <<<"$output"
	expect 1 trace --chrome /nowhere/x.json
	expect 0 check
}

@test "H5: an arrow leads from a task to the one that waited for its end" {
	local first second

	taskq create
	first=$(submit --unique one --unique-scope coalesce -- sh -c 'touch begun; while [ ! -e enough ]; do sleep 0.02; done')
	farm -j1
	eventually 10 test -e begun
	second=$(submit --unique one --unique-scope coalesce -- true)
	touch enough
	expect 0 wait "$first" "$second"
	expect 0 trace --chrome x.json
	[[ $(jq '[.traceEvents[] | select(.ph == "s" and .name == "after")] | length' x.json) == 1 ]]
}

@test "H2: stats shows percentiles, for each kind, in JSON too" {
	local out

	taskq create
	for _ in 1 2 3; do
		submit -- sleep 0.05
	done
	submit -- false
	work_off
	expect 0 stats
	prints "wait      p50"
	prints "in all    p50"
	out=$(taskq stats --json --by-kind | head -1)
	jq -e '.kind == "exec" and .wait.count == 4 and .run.count == 4 and .end_to_end.count == 4' <<<"$out"
	jq -e '.run.max_ns >= 50000000 and .run.p50_ns >= 50000000 and .run.p99_ns <= .run.max_ns' <<<"$out"
	jq -e '.run.p50_ns <= .run.p90_ns and .run.mean_ns <= .run.max_ns' <<<"$out"
	jq -e '.success_rate == 0.75' <<<"$out"
}

@test "H2: stats --interval prints what has changed" {
	taskq create -q default
	expect 2 stats -n 3
	says "give --interval"
	expect 2 stats --interval 0
	start taskq stats --interval 100ms -n 600 --json
	eventually 5 test -s out
	submit -- true
	work_off
	eventually 10 eval 'jq -s -e "any(.[]; .done_per_s > 0 and .run.count == 1)" out >/dev/null'
	[[ $(jq -s 'map(.run.count) | add' out) == 1 ]]
	kill -TERM "$pid"
	expect 0 stats --interval 1ms -n 2
	prints "DONE/s"
	[[ ${#lines[@]} == 3 ]]
}
