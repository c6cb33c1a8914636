#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Servers of a queue: where tasks run, and how many at a time.
load helper

# server NAME FIELD: of its JSON.
server() {
	taskq server list --json | jq -r --arg name "$1" 'select(.server == $name) | .'"$2"
}

server_is() { # NAME FIELD VALUE
	[[ $(server "$1" "$2") == "$3" ]]
}

# running N: so many attempts are under way.
running() {
	[[ $(taskq list --json | jq -s '[.[] | select(.state == "running")] | length') == "$1" ]]
}

# Until the file FILE is there.
until_file() {
	printf 'until [ -e %s ]; do sleep 0.02; done' "$1"
}

# A queue "q" with these servers.
queue_with() {
	submit -q q --hold -- true >/dev/null
	taskq server add -q q "$@"
}

@test "G1: servers are added, listed and removed; limits set, listed and removed" {
	taskq create
	expect 0 server list
	expect 5 server add -q q http://a
	says "no such queue"
	queue_with http://a http://b
	expect 0 server add -q q http://a
	[[ $(taskq server list -q q --json | jq -rs 'map(.server) | sort | join(",")') == "http://a,http://b" ]]
	expect 0 limit set -q q --server 'http://*' 3
	expect 0 limit set -q q --server http://b 2
	server_is http://a limit 'http://*'
	server_is http://b limit http://b
	expect 0 limit list
	prints "http://*"
	[[ $(taskq limit list --json | jq -rs 'map(select(.server == "http://*").slots) | .[0]') == 3 ]]
	expect 0 queue show q
	prints "http://b (0 of 2)"
	taskq queue show q --json | jq -e '.server_count == 2 and (.servers | length == 2)' >/dev/null
	expect 0 limit remove -q q --server http://b
	server_is http://b limit 'http://*'
	expect 5 limit remove -q q --server http://b
	says "it is not set"
	expect 0 server remove -q q http://b
	expect 5 server remove -q q http://b
	says "no such server"
	expect 0 server remove -q q --all
	expect 1 server remove -q q --all
	says "has no servers"
	expect 0 check
}

@test "G1: what cannot be a server, a limit or a pattern is named" {
	queue_with http://a
	expect 2 server add -q q 'http://*'
	says "1 to 255 printable"
	expect 2 server add -q q ''
	expect 2 server add -q q "$(printf '%0256d' 0)"
	expect 2 server add -q q $'a\nb'
	expect 2 limit set -q q --server 'a*b' 2
	says "one * at its end"
	expect 2 limit set -q q --server http://a 0
	says "taskq pause"
	expect 2 limit set -q q --server http://a two
	expect 2 limit set -q q --server http://a
	expect 2 limit set -q q --server http://a 2 --rate 5/s
	expect 2 limit show --server http://a
	expect 2 server
	expect 2 server add -q q
	expect 2 server list --all
	expect 5 limit set -q other --server http://a 2
	[[ -z $(taskq limit list --json 2>/dev/null) ]]
}

@test "G1: a command learns its server; idle ones are given tasks in turn" {
	local ids=() id

	queue_with a b c
	for _ in 1 2 3; do
		ids+=("$(submit -q q -- sh -c 'echo "at $TASKQ_SERVER"')")
	done
	expect 0 work -q q -j1 -Q --until-empty
	for id in "${ids[@]}"; do
		expect 0 log "$id"
		echo "$output" >>at
		is "$id" server "${output#at }"
	done
	[[ $(sort at | tr '\n' ,) == "at a,at b,at c," ]]
	expect 0 show "${ids[0]}"
	prints "server      a"
	expect 0 server remove -q q --all
	ids=("$(submit -q q -- sh -c 'echo "at ${TASKQ_SERVER-none}"')")
	expect 0 work -q q -j1 -Q --until-empty
	expect 0 log "${ids[0]}"
	prints "at none"
}

@test "G1: without room a task is throttled, at no cost, and a raised limit starts it" {
	local ids=() id

	queue_with http://a http://b
	taskq limit set -q q --server 'http://*' 1
	for _ in 1 2 3; do
		ids+=("$(submit -q q -- sh -c "$(until_file go)")")
	done
	farm -q q -j 4
	eventually 10 running 1
	id=${ids[1]}
	is "$id" attempt 0
	expect 0 list
	prints "ready,throttled"
	expect 0 why "$id"
	prints "all 2 servers of queue q are full: "
	prints "longest held by ${ids[0]}"
	taskq why --json "$id" | jq -e --arg h "${ids[0]}" '.reason == "servers" and .holder == $h and
		(.servers | length == 2)' >/dev/null
	taskq stats --json | jq -se '[.[] | select(.queue == "q" and .throttled == 2)] != []' >/dev/null
	taskq limit list --json | jq -se '[.[] | select(.waiting == 2 and .used == 1)] != []' >/dev/null
	expect 0 limit set -q q --server 'http://*' 2
	eventually 10 running 2
	expect 0 server add -q q elsewhere
	eventually 10 running 3
	touch go
	expect 0 wait "${ids[@]}"
	eventually 10 server_is http://a used 0
	expect 0 check
}

@test "G1: the longest prefix changes under what runs: it counts at once, and ends nobody" {
	queue_with http://a/1 http://a/2 http://b
	for _ in 1 2 3 4 5 6; do
		submit -q q -- sh -c "$(until_file go)" >>ids
	done
	farm -q q -j 6
	eventually 10 running 6
	expect 0 limit set -q q --server 'http://*' 4
	server_is http://b limit_used 6
	expect 0 limit set -q q --server 'http://a/*' 2
	server_is http://a/1 limit_used 4
	server_is http://b limit_used 2
	running 6
	expect 0 limit remove -q q --server 'http://*'
	server_is http://b limit null
	touch go
	xargs taskq wait <ids
	for _ in 1 2 3 4 5 6; do
		submit -q q -- sh -c "$(until_file again); echo \$TASKQ_SERVER >>\"$PWD/at\"" >>more
	done
	eventually 10 running 6
	[[ $(server http://a/1 limit_used) -le 2 ]]
	touch again
	xargs taskq wait <more
	expect 0 check
}

@test "G1: a removed server ends what it has; without any the queue stands still" {
	local first second

	queue_with a
	first=$(submit -q q -- sh -c "$(until_file go)")
	farm -q q -j 2
	eventually 10 running 1
	expect 0 server remove -q q a
	server_is a leaving true
	second=$(submit -q q -- true)
	expect 0 why "$second"
	prints "queue q has no server left"
	touch go
	expect 0 wait "$first"
	eventually 10 eval '[[ -z $(taskq server list --json) ]]'
	is "$second" state ready
	expect 0 server remove -q q --all
	expect 0 wait "$second"
}

# Each server, and each slot of a prefix, is a lock that only its command holds: it is
# free again when the last process of the command is gone.
lock_server() {
	cat <<'EOF'
case $TASKQ_SERVER in
one | two) exec 9>"$LEDGER/$TASKQ_SERVER"; flock -n 9 || echo "$TASKQ_SERVER $TASKQ_ID" >>"$LEDGER/wrong" ;;
http://*) exec 8>"$LEDGER/first" 9>"$LEDGER/second"
	flock -n 8 || flock -n 9 || echo "$TASKQ_SERVER $TASKQ_ID" >>"$LEDGER/wrong" ;;
*) echo "no server $TASKQ_ID" >>"$LEDGER/wrong" ;;
esac
sleep 0.03
EOF
}

worker_pids() {
	taskq --json | jq -r '.workers[] | select(.flags | index("master") | not) | .pid'
}

unfinished() {
	taskq list --json -q q | jq -s '[.[] | select(.state == "ready" or .state == "running" or .state == "delayed")] | length'
}

less_than() { # N: fewer are unfinished
	(($(unfinished) < $1))
}

@test "G1: never more at a server than its limit while workers are killed, and no slot is lost" {
	local left before victims

	type -P flock >/dev/null || skip "needs flock"
	export LEDGER=$PWD
	taskq create
	lock_server >command
	for _ in $(seq 60); do
		submit -q q --retries 5 --backoff 10ms -- sh "$PWD/command" >/dev/null
	done
	taskq limit set -q q --server one 1
	taskq limit set -q q --server two 1
	taskq limit set -q q --server 'http://*' 2
	taskq server add -q q one two http://a http://b http://c
	farm -q q -j 6
	before=61
	while left=$(unfinished) && ((left > 0)); do
		mapfile -t victims < <(worker_pids)
		((${#victims[@]} == 0)) || kill -KILL "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null || true
		eventually 20 less_than "$before"
		before=$left
	done
	[[ ! -e wrong ]] || { cat wrong; false; }
	[[ $(taskq server list --json | jq -s 'map(.used) | add') == 0 ]]
	expect 0 check
	# Every slot starts one more.
	for _ in 1 2 3 4 5; do
		submit -q q -- sh -c "$(until_file "$PWD/go")" >>ids
	done
	eventually 20 running 4
	touch go
	xargs taskq wait <ids
}
