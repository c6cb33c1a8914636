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
	expect 0 limit list
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

@test "fault.T10: limit show names who has a slot, and who waits for one" {
	local first second

	taskq create
	taskq limit set gpu 1
	first=$(submit -L first --limit gpu -- sh -c 'while [ ! -e go ]; do sleep 0.05; done')
	second=$(submit -L second --limit gpu -- true)
	submit -L other -- true
	start taskq work -j2
	eventually 10 sh -c "taskq show --json $first | grep -q '\"state\": *\"running\"'"
	expect 0 limit show gpu --json
	[[ $(jq -c '[.holders, .waiters]' <<<"$output") == "[[\"$first\"],[\"$second\"]]" ]]
	expect 0 limit show gpu
	prints "running    $first  first"
	prints "waiting    $second  second"
	not grep -q other <<<"$output"
	touch go
	expect 0 wait "$first" "$second"
	expect 0 limit show gpu --json
	[[ $(jq -c '[.holders, .waiters]' <<<"$output") == "[[],[]]" ]]
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
	taskq stats --json | jq -se '[.[] | select(.throttled_total == 2)] != []' >/dev/null
	expect 0 stats
	prints "throttled 2"
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

# Milliseconds from the first start to the last.
starts_span() {
	taskq list --json | jq -s 'map(.started | (.[0:19] + "Z" | fromdate) * 1000 +
		(.[20:23] | tonumber)) | max - min'
}

@test "G2: a rate spreads starts in time, and nobody polls meanwhile" {
	taskq create
	expect 0 limit set api --rate 4/s --burst 1
	expect 0 limit show api
	prints "4/1.0s"
	prints "1 of 1"
	for _ in 1 2 3 4 5; do
		submit --limit api -- true
	done
	work_off -j 3
	# The fifth token comes a second after the first; times are cut to milliseconds.
	(($(starts_span) >= 999))
	limit_is api rate 4
	limit_is api interval_ns 1000000000
	expect 0 limit set api --rate off
	[[ $(limit api rate) == null ]]
}

@test "G2: why says when the next token comes" {
	local id

	taskq create
	taskq limit set api --rate 1/1h
	submit --limit api -- true
	id=$(submit --limit api -- true)
	farm -j 1
	eventually 10 limit_is api tokens 0
	eventually 10 is 1-1 state done
	expect 0 why "$id"
	prints "limit api has used up its rate: the next token comes in 59m"
	taskq why --json "$id" | jq -e '.reason == "throttled" and .until' >/dev/null
	taskq show --json "$id" | jq -e '.flags | index("throttled")' >/dev/null
	expect 0 limit set api 1 --rate off
	expect 0 wait "$id"
}

@test "G2: bad rates are refused, with the form" {
	taskq create
	for rate in 5 /s 5/ 0/s -1/s 5/0s x/s 5/parsec; do
		expect 2 limit set api --rate "$rate"
		says "such as 10/s, 100/1m or 5/500ms"
	done
	expect 2 limit set api --rate 1000000/1000d
	says "more tokens in more time than can be counted"
	expect 2 limit set api --rate 99999999999/s
	expect 2 limit set api --burst 3
	expect 2 limit set api 3 --burst 3
	says "--burst is for a --rate"
	expect 2 limit set api --rate 3/s --burst 0
	expect 2 limit set api
	says "a number, or --rate, is missing"
	expect 2 limit list --rate 3/s
	says "only set changes limits"
	expect 0 limit list
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
	expect 2 submit --limit mem=0 -- true
	says "a whole number from 1 to 1000"
	expect 2 submit --limit mem=1001 -- true
	expect 2 submit --limit =3 -- true
	says "empty"
	expect 2 submit --limit '' -- true
	expect 2 submit --limit "$(printf 'x%.0s' {1..128})" -- true
	says "too long"
	expect 2 submit --batch - <<<'{"command":["true"],"limits":["1","2","3","4","5"]}'
	says "up to 4 keys"
	expect 2 submit --batch - <<<'{"command":["true"],"limits":[""]}'
	expect 2 submit --batch - <<<'{"command":["true"],"limits":"db"}'
	expect 2 submit --batch - <<<'{"command":["true"],"limits":[{"key":"db","weight":0}]}'
	says "a number from 1 to 1000"
	expect 2 submit --batch - <<<'{"command":["true"],"limits":[{"key":"db","wait":1}]}'
	expect 2 submit --batch - <<<'{"command":["true"],"limits":[{"key":"db"}]}'
}

weights() { # ID: its keys and weights
	taskq show --json "$1" | jq -c '.limits'
}

@test "fault.L17: a heavy task takes 3 of mem, and light ones do not starve it" {
	local first heavy light

	taskq create
	taskq limit set mem 3
	first=$(submit --limit mem -- sh -c "$(until_file go)")
	farm -j 3
	eventually 10 limit_is mem used 1
	heavy=$(submit --limit mem=3 -- sh -c "$(until_file heavy)")
	eventually 10 limit_is mem needed 3
	light=$(submit --limit mem -- true)
	expect 0 why "$heavy"
	prints "needs 3 of limit mem: 2 of 3 free"
	expect 0 why "$light"
	prints "limit mem waits until 3 of its 3 are free, for a task that needs as many: 2 are"
	taskq why --json "$heavy" | jq -e '.limit_weight == 3 and .limit_needed == 3' >/dev/null
	expect 0 wait "$(submit -- true)"
	touch go
	eventually 10 limit_is mem used 3
	is "$light" state ready
	is "$first" state done
	[[ $(weights "$heavy") == '[{"key":"mem","weight":3}]' ]]
	expect 0 show "$heavy"
	prints "mem=3"
	[[ $(taskq list -H -o limits -S running) == mem=3 ]]
	expect 0 limit show mem
	prints "$heavy (3 places)"
	touch heavy
	expect 0 wait "$heavy" "$light"
	limit_is mem used 0
}

@test "fault.L17: weights go through batches, schedules, updates, dump and load" {
	local id heavier

	taskq create
	taskq limit set mem 2
	id=$(submit --limit mem=2 --limit 'a=b' -- true)
	[[ $(weights "$id" | jq -c 'sort_by(.key?)') == *'"a=b"'* ]]
	taskq list --json | taskq submit --batch - >id
	[[ $(weights "$(cat id)" | jq -c 'map(select(type == "object"))') == '[{"key":"mem","weight":2}]' ]]
	expect 0 update --limit mem=5 "$id"
	[[ $(weights "$id") == '[{"key":"mem","weight":5}]' ]]
	expect 0 why "$id"
	expect 0 submit --every 1h --name hourly --limit mem=2 -- true
	taskq schedule show --json hourly | jq -e '.limits == [{"key":"mem","weight":2}]' >/dev/null
	taskq dump >all
	taskq destroy --force
	taskq load all
	[[ $(taskq list --json | jq -c 'select(.limits == [{"key":"mem","weight":5}])' | wc -l) == 1 ]]
	taskq schedule show --json hourly | jq -e '.limits == [{"key":"mem","weight":2}]' >/dev/null
	# More than there are: alone, and when all are free.
	heavier=$(taskq list --json | jq -r 'select(.limits == [{"key":"mem","weight":5}]).id')
	work_off
	is "$heavier" state done
}
