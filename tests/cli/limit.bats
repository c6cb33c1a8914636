#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Limits by key: how many tasks with a key run at a time.
load helper

# limit KEY NAME: of its JSON.
limit() {
	taskq limit show --json "$1" | jq -r ".$2"
}

limit_is() { # KEY NAME VALUE
	[[ $(limit "$1" "$2") == "$3" ]]
}

# Until the file FILE is there.
until_file() {
	printf 'until [ -e %s ]; do sleep 0.02; done' "$1"
}

@test "G2: a limit is set, shown, listed and removed" {
	taskq create
	expect 1 limit list
	expect 0 limit set db 2
	expect 0 limit set 'two words' 7
	limit_is db slots 2
	expect 0 limit show db
	prints "db"
	[[ $(taskq limit list --json | jq -rs 'map(.key) | sort | join(",")') == "db,two words" ]]
	expect 0 limit set db 3
	limit_is db slots 3
	expect 0 limit remove db
	expect 5 limit show db
	expect 5 limit remove db
	says "it is not set"
}

@test "G2: as many run at a time as there are slots; a wait is no attempt" {
	local ids=() id

	taskq create
	taskq limit set db 2
	for _ in 1 2 3 4; do
		ids+=("$(submit --limit db -- sh -c "$(until_file go)")")
	done
	farm -j 4
	eventually 10 limit_is db used 2
	limit_is db waiting 2
	for id in "${ids[@]:2}"; do
		is "$id" state ready
		is "$id" attempt 0
		expect 0 list
		prints "ready,throttled"
		taskq show --json "$id" | jq -e '.flags | index("throttled")' >/dev/null
		expect 0 why "$id"
		prints "limit db is full (2 of 2): held by task"
		taskq why --json "$id" |
			jq -e '.reason == "throttled" and .limit == "db" and .holder and .pid' >/dev/null
	done
	taskq stats --json | jq -se '[.[] | select(.throttled == 2)] != []' >/dev/null
	touch go
	expect 0 wait "${ids[@]}"
	limit_is db used 0
}

@test "G2: a limit is changed while it runs: lowering ends nobody, raising starts more" {
	taskq create
	taskq limit set db 2
	for _ in 1 2 3 4 5; do
		submit --limit db -- sh -c "$(until_file go)" >>ids
	done
	farm -j 5
	eventually 10 limit_is db used 2
	expect 0 limit set db 1
	limit_is db used 2
	expect 0 limit set db 4
	eventually 10 limit_is db used 4
	expect 0 limit remove db
	eventually 10 limit_is db used 5
	touch go
	xargs taskq wait <ids
}

@test "G2: all keys or none, and tasks without them go by" {
	local both other

	taskq create
	taskq limit set a 1
	submit --limit a -- sh -c "$(until_file go)" >first
	farm -j 2
	eventually 10 limit_is a used 1
	both=$(submit --limit b --limit a -- true)
	other=$(submit --limit b -- true)
	expect 0 wait "$other" "$(submit -- true)"
	is "$both" state ready
	limit_is b used 0
	touch go
	expect 0 wait "$(cat first)" "$both"
}

@test "G2 I1: under random kills a limit of 1 never has two holders and never loses its slot" {
	local farms=() round=0 pid

	taskq create
	taskq limit set one 1
	for _ in $(seq 40); do
		# Who holds the lock is alive, or a process of its group is.
		submit --limit one -- sh -c \
			'exec 9>lock; flock -n 9 || echo overlap >>bad; echo x >>starts; sleep 0.05' >>ids
	done
	for name in a b; do
		farm -j 2 --name "$name" -Q
	done
	until [[ $(taskq list --json | jq -s 'map(select(.ended | not)) | length') == 0 ]]; do
		((++round < 1000))
		pid=$(taskq --json | jq -r '.workers[] | select(.task) | .pid' | head -n 1)
		[[ -z $pid || $((round % 3)) == 0 ]] || kill -KILL "$pid" 2>/dev/null || true
		sleep 0.05
	done
	[[ ! -e bad ]]
	(($(wc -l <starts) >= 40))
	limit_is one used 0
	expect 0 check --exact
	expect 0 wait "$(submit --limit one -- true)"
}

@test "G2 H7: batches take limits, and a listing has them" {
	expect 0 submit --batch - <<<'{"command":["true"],"limits":["x","y"]}
{"command":["true"]}'
	[[ $(taskq list --json | jq -rs 'map(.limits // [] | sort | join("+")) | join(",")') == "x+y," ]]
	expect 0 submit --batch - <<<"$(taskq list --json | head -n 1)"
	limit_is x tasks 2
}

@test "G2: bad limits and keys are refused, with the form" {
	taskq create
	expect 2 limit set db 0
	says "a limit of 0 would start nothing"
	says "pause"
	expect 2 limit set db -1
	expect 2 limit set db many
	says "a whole number from 1 to"
	expect 2 limit set db 4294967295
	expect 2 limit set db
	expect 2 limit set '' 1
	says 'key "": empty'
	expect 2 limit set "$(printf 'x%.0s' {1..128})" 1
	says "1 to 127 bytes"
	expect 2 limit turn db
	says "set, remove, show or list"
	expect 2 submit --limit 1 --limit 2 --limit 3 --limit 4 --limit 5 -- true
	says "more than 4 limit keys"
	expect 2 submit --limit '' -- true
	expect 2 submit --limit "$(printf 'x%.0s' {1..128})" -- true
	says "too long"
	expect 2 submit --batch - <<<'{"command":["true"],"limits":["1","2","3","4","5"]}'
	says "up to 4 keys"
	expect 2 submit --batch - <<<'{"command":["true"],"limits":[""]}'
	expect 2 submit --batch - <<<'{"command":["true"],"limits":"db"}'
}
