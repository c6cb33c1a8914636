#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A real Prometheus scrapes the exporter, and answers what the dashboard asks.
load helper

need_prometheus() {
	need_exporter
	type -P prometheus >/dev/null || skip "prometheus is not there"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Starts one that scrapes $url once a second; then $prometheus is its address.
prometheus() {
	local address

	address=127.0.0.1:$(free_port)
	cat >prometheus.yml <<EOF
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: taskq
    static_configs: [{ targets: ['$(sed 's|http://\(.*\)/|\1|' <<<"$url")'] }]
EOF
	command prometheus --config.file=prometheus.yml --storage.tsdb.path="$BATS_TEST_TMPDIR/data" \
		--web.listen-address="$address" >prometheus.log 2>&1 3>&- &
	started+=($!)
	prometheus=http://$address
	eventually 10 curl -sSf -o /dev/null "$prometheus/-/ready"
}

# query EXPRESSION: the answer of the query API in "answer".
query() {
	curl -sS -G --data-urlencode "query=$1" "$prometheus/api/v1/query" >answer
	jq -e '.status == "success"' answer >/dev/null || { echo "$1: $(cat answer)"; return 1; }
}

# says_now EXPRESSION VALUE
says_now() {
	query "$1" && [[ $(jq -r '.data.result[0].value[1]' answer) == "$2" ]]
}

# A quantile of the exported bounds, which are an octave apart, is near the exact one.
median_is_near() {
	query 'histogram_quantile(0.5, taskq_task_run_seconds_bucket{queue="mail"})'
	python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not b / 2.3 <= a <= b * 2.3)' \
		"$(jq -r '.data.result[0].value[1] // 0' answer)" "$1"
}

@test "H7: Prometheus reads the exporter, and answers the numbers that taskq prints" {
	local queue name

	need_prometheus
	some_work
	exporter
	prometheus
	eventually 10 says_now 'sum(taskq_tasks_submitted_total)' 13
	eventually 10 says_now up 1
	eventually 10 says_now taskq_up 1
	for queue in mail images later; do
		taskq stats --json | jq "select(.queue == \"$queue\")" >stats
		for name in submitted:taskq_tasks_submitted_total started:taskq_attempts_started_total; do
			eventually 10 says_now "${name#*:}{queue=\"$queue\"}" "$(jq ".${name%:*}" stats)"
		done
		eventually 10 says_now "taskq_tasks{queue=\"$queue\",state=\"ready\"}" "$(jq .depth.ready stats)"
		eventually 10 says_now "taskq_tasks_ended_total{queue=\"$queue\",state=\"failed\"}" "$(jq .failed stats)"
	done
	eventually 10 says_now 'taskq_task_run_seconds_count{queue="mail"}' 5
	eventually 10 median_is_near "$(taskq stats --json | jq 'select(.queue == "mail").run.p50_ns / 1e9')"
	# It took OpenMetrics, and nothing of it was left out.
	eventually 10 says_now 'count({job="taskq",__name__=~"taskq_.*"})' \
		"$(taskq stats --prometheus | grep -c '^taskq_')"
	not grep -i 'level=\(warn\|error\)' prometheus.log
}

@test "H7: a segment that goes away is taskq_up 0 to Prometheus, not an exporter that is down" {
	need_prometheus
	submit -- true
	exporter
	prometheus
	eventually 10 says_now taskq_up 1
	taskq destroy --force
	eventually 10 says_now taskq_up 0
	eventually 10 says_now up 1
	submit -- true
	eventually 10 says_now 'taskq_tasks{state="ready"}' 1
}

# All expressions of the dashboard, with its variables replaced.
expressions() {
	jq -r '.. | .expr? // empty' "$TASKQ_DASHBOARD" |
		sed 's/\$__rate_interval/1m/g; s/\$instance/.*/g; s/\$queue/.*/g'
}

@test "H7: the dashboard: Prometheus takes each expression, and each metric in it is there" {
	local count=0 expression

	need_prometheus
	[[ -r $TASKQ_DASHBOARD ]]
	some_work
	exporter
	prometheus
	eventually 10 says_now taskq_up 1
	while IFS= read -r expression; do
		[[ $expression != *'$'* ]] || { echo "a variable is left: $expression"; false; }
		query "$expression"
		count=$((count + 1))
	done < <(expressions)
	((count > 30))
	ask 200 metrics
	sed -n 's/^\(taskq_[a-z_]*\).*/\1/p' body | sort -u >there
	{
		expressions
		jq -r '.templating.list[].definition? // empty' "$TASKQ_DASHBOARD"
	} | grep -o 'taskq_[a-z_]*' | sort -u >wanted
	[[ $(wc -l <wanted) -gt 20 ]]
	[[ -z $(comm -23 wanted there) ]] || { comm -23 wanted there; false; }
}

@test "H7: the dashboard is one for any data source, and its panels are apart" {
	[[ -r $TASKQ_DASHBOARD ]]
	jq -e '[.. | .datasource? // empty | objects | .uid] | unique == ["${datasource}"]' "$TASKQ_DASHBOARD"
	jq -e '[.panels[].id] | length == (unique | length)' "$TASKQ_DASHBOARD"
	jq -e '[.templating.list[].name] == ["datasource", "instance", "queue"]' "$TASKQ_DASHBOARD"
	jq -e '. as $d | [range($d.panels | length)] | all(. as $i | $d.panels[$i].gridPos as $a |
		all($d.panels[$i + 1:][].gridPos; .x >= $a.x + $a.w or $a.x >= .x + .w or
			.y >= $a.y + $a.h or $a.y >= .y + .h))' "$TASKQ_DASHBOARD"
}
