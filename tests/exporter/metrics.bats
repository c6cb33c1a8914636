#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Metrics: what others read in them, and that they are the numbers that taskq prints.
load helper

need_promtool() {
	type -P promtool >/dev/null || skip "promtool is not there"
}

# The interpreter that Debian's packages of modules are for may be another than the first.
need_parsers() {
	for python in python3 /usr/bin/python3; do
		if "$python" -c 'import prometheus_client' 2>/dev/null; then return 0; fi
	done
	skip "python3-prometheus-client is not there"
}

# strict FORMAT FILE: Debian's parser of OpenMetrics, or of the older text, takes it.
strict() {
	"$python" - "$1" "$2" <<'EOF'
import sys
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as text
parse = openmetrics if sys.argv[1] == "openmetrics" else text
families = list(parse.text_string_to_metric_families(open(sys.argv[2]).read()))
names = [f.name for f in families]
assert len(names) == len(set(names)) > 20, names
assert all(f.documentation for f in families)
for family in families:
    if family.type == "histogram" and family.samples:
        check = {}
        for s in family.samples:
            key = tuple(sorted((k, v) for k, v in s.labels.items() if k != "le"))
            check.setdefault(key, {}).setdefault(s.name[len(family.name):], []).append(s.value)
        for series in check.values():
            buckets = series["_bucket"]
            assert buckets == sorted(buckets) and buckets[-1] == series["_count"][0], family.name
EOF
}

# value NAME QUEUE [LABELS]: of a queue, in the file "metrics".
value() {
	metric "$1{queue=\"$2\"${3:-}}" <metrics
}

# What stats --json has of a queue.
counted() {
	jq -r "select(.queue == \"$1\") | .$2" stats
}

@test "H7: stats --prometheus is what promtool takes without a word" {
	need_promtool
	some_work
	taskq stats --prometheus >metrics
	promtool check metrics <metrics >said 2>&1
	[[ ! -s said ]] || { cat said; false; }
	taskq stats --prometheus --by-kind | promtool check metrics >said 2>&1
	[[ ! -s said ]]
}

@test "H7: the strict parsers take both formats" {
	need_exporter
	need_parsers
	some_work
	taskq stats --prometheus >metrics
	strict text metrics
	exporter
	ask 200 metrics
	has_header Content-Type 'text/plain; version=0.0.4; charset=utf-8'
	strict text body
	ask 200 metrics -H 'Accept: application/openmetrics-text; version=1.0.0'
	has_header Content-Type 'application/openmetrics-text; version=1.0.0; charset=utf-8'
	strict openmetrics body
	[[ $(tail -n1 body) == '# EOF' ]]
	grep -q '^# TYPE taskq_tasks_submitted counter' body
	grep -q '^# UNIT taskq_task_wait_seconds seconds' body
}

@test "H2 H7: the numbers are those of stats --json" {
	local queue name state

	some_work
	taskq stats --json >stats
	taskq stats --prometheus >metrics
	for queue in mail images later; do
		for name in submitted:taskq_tasks_submitted_total started:taskq_attempts_started_total \
			retried:taskq_attempts_retried_total crashed:taskq_attempts_crashed_total \
			reclaimed:taskq_attempts_reclaimed_total stolen:taskq_tasks_stolen_total \
			moved:taskq_tasks_moved_total \
			throttled_total:taskq_attempts_throttled_total workers:taskq_queue_workers; do
			[[ $(value "${name#*:}" $queue) == "$(counted $queue "${name%:*}")" ]]
		done
		for state in blocked delayed ready running done failed cancelled expired; do
			[[ $(value taskq_tasks $queue ",state=\"$state\"") == \
				"$(counted $queue depth.$state)" ]]
		done
		for state in done failed cancelled expired; do
			[[ $(value taskq_tasks_ended_total $queue ",state=\"$state\"") == \
				"$(counted $queue $state)" ]]
		done
	done
	[[ $(value taskq_task_wait_seconds_count images) == "$(counted images wait.count)" ]]
	[[ $(value taskq_task_run_seconds_count mail) == 5 ]]
	[[ $(value taskq_task_life_seconds_count mail) == "$(counted mail end_to_end.count)" ]]
	[[ -z $(value taskq_task_run_seconds_count later) ]] # nothing ever started there
	[[ $(metric 'taskq_limit_keys{limited_by="slots"}' <metrics) == 1 ]]
	[[ $(metric 'taskq_limit_slots{limited_by="slots"}' <metrics) == 3 ]]
	[[ $(metric 'taskq_limit_keys{limited_by="rate"}' <metrics) == 1 ]]
	[[ $(metric taskq_memory_used_bytes <metrics) == "$(jq 'select(.segment) | .segment.used_bytes' stats)" ]]
	[[ $(metric taskq_up <metrics) == 1 ]]
}

@test "H7: ready tasks of a kind that no worker runs are counted, and are a trouble" {
	submit --kind resize --payload x
	submit -- true
	submit -q alone --kind resize --payload x
	farm -j1 -q default
	eventually 9 unserved_is 'default 1' 'alone 1'
	taskq-top --json -n1 | jq -e '[.troubles[].text] |
		any(startswith("no live worker of queue default runs kind resize: 1 task is")) and
		any(startswith("no live worker serves queue alone: 1 task is"))'
}

unserved_is() {
	local want

	taskq stats --prometheus >metrics
	for want in "$@"; do
		[[ $(value taskq_tasks_unserved "${want% *}") == "${want#* }" ]] || return 1
	done
}

@test "H7: a full segment is a trouble when nothing can be thrown out of it" {
	taskq create --max 4M
	head -c 60000 /dev/zero | tr '\0' x >large
	while taskq submit --kind a --payload @large >/dev/null 2>&1; do :; done
	taskq-top --json -n1 | jq -e '[.troubles[].text] | any(contains("submits may be refused"))'
	taskq purge
	taskq-top --json -n1 | jq -e '[.troubles[].text] | any(contains("submits may be refused")) | not'
}

# troubles FILTER: is true of the list, and /healthz says ok all the time.
troubles() {
	ask 200 healthz && ask 200 api/overview && jq -e ".troubles | $1" body
}

@test "H7: a stopped worker is grave only when no other one goes on; /healthz is not of workers" {
	local pids

	need_exporter
	farm -j2 -q default
	submit -- true
	eventually 9 two_workers
	exporter
	mapfile -t pids < <(taskq --json | jq '.workers[] | select(.flags | index("master") | not) | .pid')
	kill -STOP "${pids[-1]}"
	eventually 9 troubles 'any(.text | contains("stopped")) and all(.grave | not)'
	kill -STOP "${pids[@]}"
	submit -- true
	eventually 9 troubles 'any(.grave and (.text | contains("stopped")))'
	kill -CONT "${pids[@]}"
	eventually 9 troubles 'length == 0'
}

two_workers() {
	[[ $(taskq-top --json -n1 | jq '.workers | length') -ge 2 ]]
}

@test "H2: buckets end where the segment's own do, so that each task is on the right side" {
	submit -- sleep 0.01
	work_off
	taskq stats --json >stats
	taskq stats --prometheus >metrics
	# The one sample: its longest is exact.
	python3 - "$(jq -r 'select(.queue).run.max_ns' stats)" <<'EOF'
import re, sys
ns = int(sys.argv[1])
for line in open("metrics"):
    m = re.match(r'taskq_task_run_seconds_bucket\{queue="default",le="([0-9.]+)"\} (\d+)', line)
    if m:
        bound = round(float(m[1]) * 1e9)
        assert (bound + 1) & bound == 0, line
        assert int(m[2]) == (ns <= bound), (ns, line)
EOF
	[[ $(metric taskq_task_run_seconds_sum'{queue="default"}' <metrics) == \
		"$(jq -r 'select(.queue).run.max_ns' stats | awk '{ printf "%.9f", $1 / 1e9 }' | sed 's/0*$//')" ]]
}

@test "H2 H7: --by-kind: the sum over the kinds is the queue's" {
	some_work
	taskq stats --prometheus >metrics
	taskq stats --prometheus --by-kind >kinds
	grep -qF 'taskq_tasks_submitted_total{queue="mail",kind="thumbnail"} 1' kinds
	grep -qF 'taskq_tasks_submitted_total{queue="mail",kind="exec"} 5' kinds
	[[ $(value taskq_tasks_submitted_total mail) == 6 ]]
	grep -qF 'taskq_task_run_seconds_count{queue="images",kind="exec"} 5' kinds
	not grep -q 'taskq_queue_paused{.*kind' kinds
	if type -P taskq-exporter >/dev/null; then
		exporter --by-kind
		ask 200 metrics
		grep -v '^#' body | sed 's/[^ ]*$//' >served
		grep -v '^#' kinds | sed 's/[^ ]*$//' | diff - served
	fi
}

@test "H7: without a segment taskq_up is 0, and the exit code says why" {
	need_promtool
	expect 5 stats --prometheus
	says "no such segment"
	[[ $(metric taskq_up <<<"$output") == 0 ]]
	promtool check metrics <<<"$output"
	expect 2 stats --prometheus --interval 1s
	says "without --interval"
	expect 2 stats --prometheus --json
	expect 2 stats --prometheus -q mail
}

# Each counter of a queue in the files "before" and "after" has not gone back.
never_back() {
	python3 - <<'EOF'
def read(name):
    rows = (line.rsplit(" ", 1) for line in open(name) if line[0] != "#")
    return {k: float(v) for k, v in rows if "_total" in k or "_bucket" in k or "_count" in k}
before, after = read("before"), read("after")
assert set(before) <= set(after), set(before) - set(after)
back = [(k, before[k], after[k]) for k in before if after[k] < before[k]]
assert not back, back
EOF
}

@test "H2 H3: counters never go back while a farm works and is killed" {
	local round

	need_exporter
	exporter
	for round in 1 2 3 4 5; do
		# More than the farm gets through before it is killed.
		seq 3000 | jq -c '{command: ["sleep", "0.02"]}' | taskq submit --batch - >/dev/null 2>&1
		farm -j2
		ask 200 metrics
		cp body before
		eventually 5 moved
		(kill -KILL "$pid")
		taskq stats --prometheus >after # at once, where the exporter's look may be older
		never_back
	done
	expect 0 check
}

moved() {
	ask 200 metrics
	cp body after
	never_back
	[[ $(metric taskq_attempts_started_total'{queue="default"}' <after) -gt \
		$(metric taskq_attempts_started_total'{queue="default"}' <before) ]]
}

is_unhealthy() {
	ask 503 healthz
}

is_healthy() {
	ask 200 healthz
}

@test "H3 H7: a stopped lock holder holds up nobody who asks, and healthz names it" {
	local began id holder

	need_exporter
	[[ -x $TASKQ_LOCK_HOLDER ]] || skip "TASKQ_LOCK_HOLDER is not set"
	id=$(submit -- true)
	exporter
	ask 200 healthz
	[[ $output == ok ]]
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	holder=$pid
	eventually 5 is_in "$holder" T
	eventually 5 is_unhealthy
	prints "lock held by stopped pid $holder"
	prints "kill -CONT $holder"
	began=$SECONDS
	ask 200 metrics
	prints 'taskq_tasks{queue="default",state="ready"} 1'
	prints 'taskq_lock_holder_stopped 1'
	[[ $(metric taskq_lock_held_seconds <body) != 0.0 ]]
	for path in api/overview api/queues api/tasks "api/tasks/$id" "api/tasks/$id/why"; do
		ask 200 "$path"
	done
	((SECONDS - began < 4))
	kill -CONT "$holder"
	ends 0 "$holder"
	eventually 5 is_healthy
}

@test "H3: destroyed: 503 and taskq_up 0; made again: found again, and nothing is kept" {
	need_exporter
	submit -- true
	exporter
	ask 200 api/overview
	taskq destroy --force
	eventually 5 is_unhealthy
	eventually 5 is_missed
	ask 503 api/queues
	ask 503 api/overview
	jq -e .error body
	eventually 5 is_down
	# Its memory goes with it.
	not grep -q "taskq.*deleted" "/proc/$exporter/maps"
	submit -q again -- true
	eventually 5 is_healthy
	ask 200 api/queues
	[[ $(jq -r '.queues[].queue' body) == again ]]
}

is_missed() {
	ask 503 healthz && prints "there is no segment \"$TASKQ_SEGMENT\""
}

is_down() {
	ask 200 metrics && [[ $(metric taskq_up <body) == 0 ]]
}

@test "H3: a damaged segment is named, and answered for" {
	need_exporter
	taskq create
	exporter
	ask 200 healthz
	: >"$(taskq info --json | jq -r .path)"
	eventually 5 is_unhealthy
	prints "cut off or overwritten"
	ask 503 api/tasks
	eventually 5 is_down
}
