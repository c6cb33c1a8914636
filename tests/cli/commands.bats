#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# command: what workers and farms are told, and what they answer.
load helper

workers() {
	taskq --json | jq '[.workers[] | select(.flags | index("master") | not)] | length'
}

has_workers() {
	[[ $(workers) == "$1" ]]
}

worker_pids() {
	taskq --json | jq -r '.workers[] | select(.flags | index("master") | not) | .pid' | sort
}

# A worker's number, by its pid.
number() {
	taskq --json | jq -r ".workers[] | select(.pid == $1) | .worker"
}

@test "G3: resize up and down" {
	farm -j1
	expect 0 command send resize 4 --wait
	prints "done: 4 workers, 1 before"
	eventually 5 has_workers 4
	expect 0 command send --to farms --wait resize 2
	eventually 5 has_workers 2
	for number in 0 x 99999999999 ""; do
		expect 1 command send --wait resize "$number"
		prints "refused: resize wants a number of workers"
	done
	expect 1 command send --wait --to workers resize 3
	prints "refused: only a farm's master can be resized"
	[[ $(workers) == 2 ]]
}

@test "G3: reload replaces the workers after what they run" {
	local id before

	farm -j2
	eventually 5 has_workers 2
	before=$(worker_pids)
	id=$(submit -- sh -c 'while [ ! -e go ]; do sleep 0.02; done')
	eventually 5 is "$id" state running
	expect 0 command send --wait reload
	is "$id" state running
	touch go
	eventually 5 is "$id" state done
	is "$id" attempt 1
	replaced() { [[ $(comm -12 <(echo "$before") <(worker_pids) | wc -l) == 0 ]]; }
	eventually 5 replaced
	eventually 5 has_workers 2
}

@test "G3: stop to one worker: the farm is one smaller" {
	farm -j3
	eventually 5 has_workers 3
	expect 0 command send --to "$(number "$(worker_pids | head -n1)")" --wait stop
	prints "done: leaves"
	eventually 5 has_workers 2
	expect 0 command send --to any --wait stop
	eventually 5 has_workers 1
	not is_gone "$pid"
	expect 0 command send --to any --wait stop
	ends 0 "$pid"
}

@test "G3: stop to all under load loses no task" {
	local i

	for i in $(seq 60); do
		echo "{\"command\":[\"sh\",\"-c\",\"sleep 0.0$((i % 5)); echo $i >>$PWD/did\"]}"
	done | submit --batch - >ids
	farm -j3
	eventually 10 eval '[[ $(wc -l <did) -ge 5 ]]'
	expect 0 command send stop --wait
	prints "done: stops when its workers have finished"
	ends 0 "$pid"
	# What had begun has ended, and the rest waits: nothing is lost or half done.
	[[ $(taskq list --json -S done | wc -l) == $(wc -l <did) ]]
	[[ $(($(taskq list --json -S done | wc -l) + $(taskq list --json -S ready | wc -l))) == 60 ]]
	work_off
	[[ $(sort -n did | uniq | wc -l) == 60 ]]
	[[ $(wc -l <did) == 60 ]]
}

@test "G3: a stopping farm has no limit of time; SIGTERM sets one" {
	local id

	farm -j1 --grace 300ms
	id=$(submit -- sleep 60)
	eventually 5 is "$id" state running
	expect 0 command send stop --wait
	sleep 1
	is "$id" state running
	kill -TERM "$pid"
	ends 1 "$pid"
	is "$id" state ready
}

@test "G3: a paused queue delivers; a command that nobody knows is refused" {
	farm -j1
	expect 0 pause
	expect 1 command send --wait --to any dance "with me"
	prints "refused: this farm knows no such command"
	expect 0 command list
	prints "dance with me"
	[[ $(taskq command list --json | jq -r .argument) == "with me" ]]
	[[ $(taskq command list --json | jq -r '.answers[0].answer') == refused ]]
	expect 0 command show "$(taskq command list --json | jq -r .id)"
	prints "dance 'with me'"
	prints "refused: this farm"
}

@test "G3: a worker that is busy has the command later; one that is killed is gone" {
	local id command worker

	farm -j1
	id=$(submit -- sleep 60)
	eventually 5 is "$id" state running
	worker=$(field "$id" worker_pid)
	expect 75 command send --to "$(number "$worker")" --timeout 0 reload
	prints "waiting"
	expect 0 info
	prints "commands    1 not answered yet"
	kill -KILL "$worker"
	command=$(taskq command list --json | jq -r .id)
	gone() { [[ $(taskq command list --json | jq -r .gone) == 1 ]]; }
	eventually 5 gone
	expect 0 command show --json "$command"
	[[ $(jq -r '.answers[0].pid' <<<"$output") == "$worker" ]]
	expect 0 cancel "$id"
}

@test "G3: cancel takes a command back from those who have not taken it" {
	local id command

	farm -j1
	id=$(submit -- sleep 60)
	eventually 5 is "$id" state running
	command=$(taskq command send --to workers hello)
	expect 0 command cancel "$command"
	expect 0 command show "$command"
	prints "cancelled"
	[[ $(taskq command show --json "$command" | jq -c '[.cancelled, .waiting]') == '[1,0]' ]]
	expect 1 command cancel "$command"
	says "all have answered it"
	expect 0 cancel "$id"
	expect 0 command send --to workers --wait reload
	[[ $(taskq command show --json "$command" | jq -r .answers[0].answer) == cancelled ]]
	expect 5 command cancel 99-1
	expect 2 command cancel nonsense
	expect 2 command cancel
}

@test "G3: nobody there, no such queue, bad usage" {
	expect 5 command send stop
	says "no such segment"
	expect 0 create
	expect 5 command send stop
	says "no such queue"
	expect 0 create -q default || true
	submit -- true
	expect 1 command send stop
	says "nobody is there to take it"
	expect 1 command send --to 7 stop
	says "nobody is there to take it"
	expect 0 command list
	expect 5 command show 1-1
	says "no such command"
	expect 2 command show nonsense
	expect 2 command send
	expect 2 command send "bad name"
	expect 2 command send --to nobody stop
	says "give a worker's number"
	expect 2 command list --wait
	expect 2 command
	expect 2 command sing
}
