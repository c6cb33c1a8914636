#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Unique keys: a second submit gets the first one's id.
load helper

@test "A7: a second submit prints the first one's id and says so" {
	local id

	id=$(submit --unique nightly -- true)
	expect 0 submit --unique nightly -- false
	[[ $output == "$id" ]]
	says "task $id has this key already"
	expect 0 submit --json --unique nightly -- false
	[[ $(jq -c . <<<"$output") == '{"id":"'"$id"'","duplicate":true}' ]]
	expect 0 submit --unique other -- true
	[[ $output != "$id" ]]
	expect 0 submit -q elsewhere --unique nightly -- true
	[[ $output != "$id" ]]
	expect 0 show "$id"
	prints "nightly, scope active"
}

@test "A7: active is free again when the task has ended, kept when its record goes" {
	local active kept

	active=$(submit --unique a -- true)
	kept=$(submit --unique k --unique-scope kept -- true)
	work_off
	[[ $(submit --unique a -- true) != "$active" ]]
	[[ $(submit --unique k --unique-scope kept -- true) == "$kept" ]]
	expect 0 forget "$kept"
	[[ $(submit --unique k -- true) != "$kept" ]]
}

@test "A7: queued is free at the start" {
	local id

	farm -j 1
	id=$(submit --unique q --unique-scope queued -- sleep 30)
	eventually 10 is "$id" state running
	[[ $(submit --unique q --unique-scope queued -- true) != "$id" ]]
}

@test "A7: coalesce runs the newest, and one more after a run" {
	local first next

	first=$(submit --unique c --unique-scope coalesce -- sh -c 'echo one >>log')
	[[ $(submit --unique c --unique-scope coalesce -- sh -c 'echo two >>log; until [ -e go ]; do sleep 0.05; done') == "$first" ]]
	farm -j 2
	eventually 10 test -s log
	next=$(submit --unique c --unique-scope coalesce -- sh -c 'echo three >>log')
	[[ $next != "$first" ]]
	[[ $(submit --unique c --unique-scope coalesce -- sh -c 'echo four >>log') == "$next" ]]
	is "$next" state blocked
	expect 0 show "$next"
	prints "waits for $first (running, pid "
	prints ", the task that has its key"
	expect 0 why --json "$next"
	[[ $(jq -r '"\(.holder) \(.holder_state) \(.successor)"' <<<"$output") == "$first running true" ]]
	taskq create -q other 2>/dev/null || submit -q other -- true
	expect 1 update --move other "$next"
	says "it shares a coalesced key with another task of queue default"
	touch go
	expect 0 wait "$first" "$next"
	[[ $(tr '\n' ' ' <log) == "two four " ]]
}

@test "A7 I1: a key dies with its task's activity, also when its worker is killed" {
	local id

	farm -j 1 --name killed
	id=$(submit --unique k -- sh -c 'kill -KILL $$')
	expect 137 wait "$id"
	[[ $(submit --unique k -- true) != "$id" ]]
}

@test "A7 E10: a retry whose key is taken is refused" {
	local id

	id=$(submit --unique r -- false)
	work_off
	submit --hold --unique r -- true >other
	expect 1 retry "$id"
	says "another task has its unique key"
	expect 0 cancel "$(cat other)"
	expect 0 retry "$id"
}

@test "A7 H7: batches take keys, and a listing has them" {
	expect 0 submit --json --batch - <<<'{"command":["true"],"unique":"b","unique_scope":"kept"}
{"command":["true"]}
{"command":["true"],"unique":"b"}'
	[[ $(jq -rs 'map(.duplicate == true) | @csv' <<<"$output") == "false,false,true" ]]
	[[ $(jq -rs '.[0].id == .[2].id' <<<"$output") == true ]]
	[[ $(taskq list --json | jq -rs 'map(select(.unique)) | .[0] | .unique + .unique_scope') == bkept ]]
	expect 0 submit --json --batch - <<<"$(taskq list --json | head -n 1)"
	[[ $(jq .duplicate <<<"$output") == true ]]
}

@test "A7: bad keys and scopes are refused, with the form" {
	expect 2 submit --unique '' -- true
	says '--unique "": empty'
	expect 2 submit --unique "$(printf 'x%.0s' {1..128})" -- true
	says "1 to 127 bytes"
	expect 2 submit --unique k --unique-scope always -- true
	says "queued, active, kept or coalesce"
	expect 2 submit --unique-scope kept -- true
	says "--unique-scope is for a --unique KEY"
	expect 2 submit --batch - <<<'{"command":["true"],"unique":""}'
	says '"unique" is not 1 to 127 bytes'
	expect 2 submit --batch - <<<'{"command":["true"],"unique_scope":"kept"}'
	says '"unique_scope" is for a "unique" key'
	expect 2 submit --batch - <<<'{"command":["true"],"unique":"k","unique_scope":3}'
	says '"unique_scope" is not queued, active, kept or coalesce'
}
