#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# B6: fair queues: keys share them by run time.
load helper

setup_file() {
	export BATS_TEST_TIMEOUT=120
}

@test "B6: a fair queue is set and shown, with its bound in words" {
	taskq create -q work
	expect 2 queue set work --fair maybe
	says "on or off"
	expect 0 queue set work --fair on
	expect 0 queue show work
	prints "the key that has had the least run time starts first"
	prints "at most N times as long as alone, plus the longest running task"
	[[ $(taskq queue show work --json | jq .fair) == true ]]
	expect 0 queue list
	prints "fair+strict"
	expect 2 queue set work --hybrid on
	says "--fair off"
	expect 0 queue set work --fair off --hybrid on
	expect 2 queue set work --fair on
	says "--hybrid off"
	expect 0 queue set work --strict
	[[ $(taskq queue show work --json | jq .fair) == null ]]
	expect 2 queue set work --strict --fair on
	says "leave one out"
}

@test "B6: a fair key is shown, listed, in JSON, and taken from a batch" {
	local id other

	taskq create -q default
	id=$(taskq submit --fair 'two words' -- true)
	expect 0 show "$id"
	prints "fair key"
	prints "two words"
	expect 0 list -o id,fair
	prints "two words"
	[[ $(taskq show "$id" --json | jq -r .fair) == "two words" ]]
	other=$(echo '{"command": ["true"], "fair": "b"}' | taskq submit --batch -)
	[[ $(taskq show "$other" --json | jq -r .fair) == b ]]
	expect 2 submit --fair '' -- true
	says "empty"
	expect 2 submit --batch - <<<'{"command": ["true"], "fair": 5}'
	says '"fair"'
}

@test "B6: a few tasks of one key are through soon, whatever another one has" {
	local ids before

	taskq create -q default
	taskq queue set default --fair on
	seq 300 | jq -c '{command: ["true"], fair: "a"}' | taskq submit --batch - >ids.a
	mapfile -t ids < <(seq 10 | jq -c '{command: ["true"], fair: "b"}' |
		taskq submit --batch -)
	taskq work -j 1 --until-empty
	# Of the other key not many more than as many again had started before the last of them.
	before=$(taskq list --json -n 400 | jq -s '
		(map(select(.fair == "b") | .started) | max) as $last |
		map(select(.fair == "a" and .started < $last)) | length')
	echo "started before: $before"
	((before <= 100))
	[[ $(taskq list --json -n 400 | jq -rs 'map(select(.state == "done")) | length') == 310 ]]
}

@test "B6: why counts those of its key and of others that go first" {
	local id

	taskq create -q default
	taskq queue set default --fair on
	taskq submit --fair a -- true
	taskq submit --fair a -- true
	taskq submit --fair b -- true
	id=$(taskq submit --fair a -- true)
	expect 0 why "$id"
	[[ $(taskq why --json "$id" | jq .before) == 3 ]]
	[[ $(taskq why --json "$id" | jq .fair) == true ]]
	id=$(taskq submit --fair b -- true) # after one of each
	[[ $(taskq why --json "$id" | jq .before) == 3 ]]
	id=$(taskq submit --fair c -- true)
	[[ $(taskq why --json "$id" | jq .before) == 2 ]]
}

@test "B6: a queue becomes fair with what waits, and is sound" {
	taskq create -q default
	seq 50 | jq -c '{command: ["true"], fair: (if . % 2 == 0 then "a" else null end)} |
		with_entries(select(.value))' | taskq submit --batch -
	expect 0 queue set default --fair on
	expect 0 check --exact
	expect 0 queue set default --fair off
	expect 0 check --exact
	expect 0 queue set default --fair on --max-wait 1s
	taskq work -j 2 --until-empty
	expect 0 check --exact
	expect 0 stats
}
