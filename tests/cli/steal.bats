#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Batches and work stealing.
load helper

setup_file() {
	export BATS_TEST_TIMEOUT=60
}

@test "F6: a short task behind a long one is stolen by an idle worker" {
	local long short

	taskq create -q default
	expect 0 queue set --batch 4
	expect 0 queue show
	prints "a worker takes up to 4 at a time"
	[[ $(taskq queue show --json | jq .batch) == 4 ]]
	taskq pause
	long=$(submit -- sh -c 'while [ ! -e enough ]; do sleep 0.05; done')
	short=$(submit -- true)
	farm -j1
	taskq resume
	eventually 10 eval '[[ $(taskq why $short) == *"has taken it, and runs others first"* ]]'
	[[ $(taskq list --json | jq -r 'select(.flags | index("assigned")) | .id') == "$short" ]]
	[[ $(taskq why "$short" --json | jq -r .reason) == assigned ]]
	farm -j1
	expect 0 wait "$short"
	[[ $(taskq stats --json | jq -s 'map(.stolen // 0) | add') == 1 ]]
	taskq show --json "$long" | jq -e '.state == "running"'
	touch enough
	expect 0 wait "$long"
	expect 0 check
}

@test "F6: with stealing off it waits; a killed worker gives it back" {
	local long short worker

	one_behind_another
	WORK_STEALING_ENABLED=false farm -j1
	eventually 10 eval '[[ $(taskq --json status | jq "[.workers[] | select(.flags | index(\"master\") | not)] | length") == 2 ]]'
	[[ $(taskq why "$short" --json | jq -r .reason) == assigned ]]
	worker=$(taskq show --json "$long" | jq .worker_pid)
	kill -KILL "$worker" # while it runs the long one: the short one never began there
	touch enough
	expect 0 wait "$long" "$short"
	[[ $(taskq show --json "$short" | jq .attempt) == 1 ]]
	expect 0 check
}

@test "F6: settings that cannot be are refused" {
	taskq create -q default
	expect 2 queue set --batch 1
	expect 2 queue set --batch 17
	says "from 2 to 16"
	expect 0 queue set --batch off
	WORK_STEALING_ENABLED=perhaps expect 2 work --until-empty
	says "true or false"
	WORK_STEALING_MAX_COUNT=0 expect 2 work --until-empty
	WORK_STEALING_MIN_CAPACITY=1.5 expect 2 work --until-empty
	says "0 to 1"
	WORK_STEALING_INTERVAL=-1s expect 2 work --until-empty
	WORK_STEALING_INTERVAL=10ms WORK_STEALING_MIN_CAPACITY=0 WORK_STEALING_MAX_COUNT=3 \
		expect 0 work -Q --until-empty
}
