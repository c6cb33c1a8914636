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

# valid FILE: what the trace event format demands, and what a viewer needs to show it: flows
# that lead from inside a slice to the begin of another, slices of a lane one after the other,
# each lane with its name.
valid() {
	jq -e '
		def has_text($key): .[$key] | type == "string" and length > 0;
		def fits($slices): . as $e | any($slices[]; .ts <= $e.ts + 0.0005 and
			$e.ts <= .ts + .dur + 0.0005);
		.displayTimeUnit == "ms" and (.traceEvents | type == "array") and
		(.traceEvents as $all | ($all | map(select(.ph == "X")) | group_by(.tid)) as $lanes |
		($lanes | map({key: "\(.[0].tid)", value: .}) | from_entries) as $lane |
		($all | map(select(.ph == "M" and .name == "thread_name"))) as $names |
		all($all[]; (.ph | IN("X", "M", "s", "f", "i")) and .pid == 1 and
			(.tid | type == "number") and has_text("name")) and
		all($all[] | select(.ph == "M"); .args | has_text("name")) and
		all($all[] | select(.ph != "M"); (.ts | type == "number" and . >= 0) and has_text("cat")) and
		all($all[] | select(.ph == "i"); .s == "t") and
		all($all[] | select(.ph == "X"); .dur >= 0 and (.args.attempt | type == "number") and
			(.args | has_text("end"))) and
		($names | length == (map(.tid) | unique | length)) and
		all($all[] | select(.ph != "M"); .tid as $tid | any($names[]; .tid == $tid)) and
		all($lanes[]; .[0].tid as $tid | any($names[]; .tid == $tid and (.args.name | test("^worker [0-9]+, pid [0-9]+$")))) and
		all($lanes[]; . as $s | all(range(1; length); $s[.].ts >= $s[. - 1].ts + $s[. - 1].dur - 0.0005)) and
		all($all | map(select(.ph | IN("s", "f"))) | group_by(.id)[]; length == 2 and
			.[0].ph == "s" and .[1].ph == "f" and .[0].ts <= .[1].ts and
			.[0].name == .[1].name and .[1].bp == "e" and
			(.[0] | fits($lane["\(.tid)"])) and
			(.[1] as $f | any($lane["\($f.tid)"][]; .ts == $f.ts))))' "$1" >/dev/null
}

# arrows NAME FILE: as "FROM TO", the tasks of the slices that they lead from and to.
arrows() {
	jq -r --arg name "$1" '.traceEvents | map(select(.ph == "X")) as $slices |
		map(select(.name == $name and (.ph | IN("s", "f")))) | group_by(.id)[] |
		. as [$s, $f] |
		[($slices[] | select(.tid == $s.tid and .ts <= $s.ts and $s.ts <= .ts + .dur) | .name),
		 ($slices[] | select(.tid == $f.tid and .ts == $f.ts) | .name)] | join(" ")' "$2" | sort
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
	prints "(ring of 100)"
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
	valid x.json
	jq -e 'all(.traceEvents[] | select(.ph == "X"); .args.end != "running")' x.json
	[[ $(attempts x.json) == $(started) ]]
	[[ $(attempts x.json) == 17 ]]
	# Each killed worker's attempt is marked in its lane, and leads to the next one.
	[[ $(jq '[.traceEvents[] | select(.cat == "reclaim")] | length' x.json) == 3 ]]
	[[ $(jq '[.traceEvents[] | select(.cat == "signal" and (.name | test("SIGTERM")))] | length' x.json) -ge 1 ]]
	[[ $(jq '[.traceEvents[] | select(.ph == "s" and .name == "again")] | length' x.json) == 3 ]]
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
	valid x.json
	[[ $(arrows after x.json) == "$first $second" ]]
}

@test "H5: the exported file says when it began, and how its tasks are called" {
	local id

	taskq create
	id=$(submit -L "my \"label\"" -- true)
	submit -- true
	work_off
	expect 0 trace --chrome x.json
	valid x.json
	[[ $(jq -r .otherData.begin x.json) == $(taskq trace --json | head -1 | jq -r .time) ]]
	[[ $(jq -c '[.traceEvents[] | select(.ph == "X") | .args.label]' x.json) == '["my \"label\"",null]' ]]
	jq -e --arg id "$id" 'any(.traceEvents[]; .name == $id and .args.label)' x.json
	[[ $(jq -c '[.otherData.lost, .otherData.attempts_without_start]' x.json) == '[0,0]' ]]
}

@test "H5: an arrow for each dependency whose two ends are in the trace" {
	local a b c d late alarm

	taskq create
	a=$(submit -- true)
	b=$(submit --after "$a" -- true)
	c=$(submit --after "$a" --retries 1 --backoff 1ms -- sh -c '[ -e again ] || { touch again; false; }')
	d=$(submit --after "$a" --after "$b" --after-any "$c" -- true)
	alarm=$(submit --after-fail "$d" -- true)
	farm -j2
	expect 0 wait "$d"
	late=$(submit --after "$a" --after "$d" -- true) # both had ended when it came
	expect 0 wait "$late"
	end "$pid"
	expect 0 trace --chrome x.json
	valid x.json
	[[ $(arrows after x.json) == $(printf '%s\n' "$a $b" "$a $c" "$a $d" "$a $late" "$b $d" "$c $d" "$d $late" | sort) ]]
	[[ $(arrows again x.json) == "$c $c" ]]
	[[ $(attempts x.json) == 6 && $(started) == 6 ]]
	[[ $(taskq show --json "$alarm" | jq -r .state) == cancelled ]]
	expect 0 trace --task "$d"
	prints "$d  need not wait for $c any more"
	[[ $(taskq trace --task "$d" --json | jq -r 'select(.event == "after") | .other' | sort) == $(printf '%s\n' "$a" "$b" "$c" | sort) ]]
}

@test "H5: the arrows of a graph are its edges" {
	local group

	taskq create
	cat >graph.json <<-'END'
		{"nodes": [{"name": "a", "command": ["true"]},
			{"name": "b", "command": ["true"], "after": ["a"]},
			{"name": "c", "command": ["true"], "after": ["a"]},
			{"name": "d", "command": ["true"], "after": ["b", "c"]}]}
	END
	group=$(taskq submit --graph graph.json)
	work_off
	expect 0 group wait "$group"
	expect 0 trace --chrome x.json
	valid x.json
	[[ $(arrows after x.json) == $(taskq list --json | jq -r '.id as $id | .after[]? | "\(.) \($id)"' | sort) ]]
	[[ $(arrows after x.json | wc -l) == 4 ]]
}

@test "H5, F6: what is stolen runs in the thief's lane, with a mark" {
	local long short

	one_behind_another
	farm -j1
	expect 0 wait "$short"
	touch enough
	expect 0 wait "$long"
	expect 0 trace --chrome x.json
	valid x.json
	[[ $(attempts x.json) == "$(started)" ]]
	jq -e --arg id "$short" '(.traceEvents[] | select(.cat == "steal")) as $mark |
		($mark.name | startswith($id + " stolen by worker ")) and
		any(.traceEvents[]; .ph == "X" and .name == $id and .tid == $mark.tid)' x.json
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
