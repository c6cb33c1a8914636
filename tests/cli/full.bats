#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A full segment, queue or file system: exit 4, and what is full.
load helper

fill() { # ARG...: submits 200 KB payloads until one is refused; its exit code in $status
	head -c 200000 /dev/zero >payload
	for _ in $(seq 200); do
		run --separate-stderr taskq "$@" submit --kind x --payload @payload
		[[ $status == 0 ]] || return 0
	done
}

@test "A6: a full segment: exit 4, naming what is full, and nothing is lost" {
	taskq create --max 4M
	fill
	[[ $status == 4 ]]
	says "of its 4M memory in use"
	expect 4 submit --full-timeout 50ms --kind x --payload @payload
	expect 125 submit --wait --kind x --payload @payload
	expect 0 submit -- true
	expect 0 check
	expect 0 purge
	expect 0 submit --kind x --payload @payload
}

@test "A4: finished records never make submit fail; kept ones do, and are counted" {
	local i

	taskq create --max 4M --tasks 5
	for i in 1 2 3 4 5 6 7 8; do
		submit -- true
		work_off
	done
	for i in 1 2 3 4 5; do
		submit --keep -- true
		work_off
	done
	expect 4 submit -- true
	says "all 5 task records"
	says "5 finished ones that are kept"
	expect 0 forget "$(taskq list --json -n 1 | jq -r .id)"
	expect 0 submit -- true
}

@test "fault.R4: what is kept stays until it is forgotten, also when it has been read" {
	local id

	taskq create --max 4M --tasks 3
	for _ in 1 2 3; do
		id=$(submit --keep -- echo kept)
		work_off
		expect 0 wait "$id"
		expect 0 log "$id"
	done
	expect 4 submit -- true
	says "3 finished ones that are kept (\`taskq forget\` frees these)"
	[[ $(taskq log "$id") == kept ]]
	expect 0 forget "$id"
	expect 0 submit -- true
}

# The last eight queues are for whoever brings workers; submits do without.
@test "A6: queues and kinds that are in use stay: nobody waits for another one" {
	seq 1014 | jq -c '{command: ["true"], queue: "z\(.)"}' | submit --batch - >/dev/null
	expect 0 submit --kind k0 --payload x
	expect 4 submit -q another --full-timeout 1h -- true
	says "all 1023 queues are in use, or all but the last 8, which are not for submits"
	[[ $stderr != *memory* ]]
	for i in 1 2 3 4 5 6 7 8; do expect 0 create -q "w$i"; done
	expect 4 create -q another
	says "all 1023 queues are in use"
	expect 4 submit -q another --every 1h -- true
	says "all 1023 queues are in use"
	expect 4 work -q another --until-empty
	says "all 1023 queues are in use"
	seq 253 | jq -c '{kind: "k\(.)", payload: "x"}' | submit --batch - >/dev/null
	expect 4 submit --kind another --payload x --full-timeout 1h
	says "all 255 kinds are in use"
	expect 0 submit -q z7 --kind k7 --payload x
}

# @1: a number; whether so many queues, or more, have a row.
rows() {
	(($(taskq stats -H -o queue | wc -l) >= $1))
}

@test "fault.R5: what nobody needs gives its name's place back, and who runs has one in any case" {
	seq 1100 | jq -c '{command: ["true"], queue: "z\(.)", kind: "exec"}' >many
	expect 4 submit --batch many
	says "all 1023 queues are in use"
	rows 1014
	[[ $(taskq run -- echo hi) == hi ]] # they are in use, and keep nobody from a command
	expect 0 cancel -S ready
	sed 's/z/y/' many | head -1000 >others
	expect 0 submit --batch others # each finds a place, and some finished tasks go for it
	[[ $(taskq run -- echo hi) == hi ]]
	expect 0 check
}

@test "fault.R5: kinds, too" {
	seq 400 | jq -c '{kind: "k\(.)", payload: "x", forget: true}' >many
	expect 4 submit --batch many
	says "all 255 kinds are in use"
	expect 0 cancel -S ready
	seq 400 | jq -c '{kind: "n\(.)", payload: "x"}' | head -200 >more
	expect 0 submit --batch more
	expect 0 check
}

@test "fault.D5: the usual queue and kind are there from the start, whatever names are taken" {
	seq 400 | jq -c '{kind: "k\(.)", payload: "x", queue: "k"}' >kinds
	expect 4 submit --batch kinds
	says "all 255 kinds are in use"
	seq 1100 | jq -c '{command: ["true"], queue: "q\(.)"}' >queues
	expect 4 submit --batch queues
	says "all 1023 queues are in use"
	expect 0 submit -- true
	work_off -j1 -q default
	[[ $(taskq list -S done --json | jq -r '.queue + " " + .kind') == "default exec" ]]
}

@test "A6: --full-timeout waits for room" {
	taskq create --max 4M --tasks 1
	submit -- true
	start taskq submit --full-timeout 20s -- true
	eventually 5 eval '[[ $(taskq --json info | jq .sleepers) == 1 ]]'
	taskq purge
	ends 0 "$pid"
}

@test "I3: a full small tmpfs: exit 4 and a clear error, never SIGBUS" {
	need_root
	mkdir small
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	cat >inside <<-'END'
		load() { :; }
		set -e
		mount -t tmpfs -o size=8m none small
		s=$PWD/small/q
		head -c 200000 /dev/zero >payload
		code=0
		taskq -s "$s" create --max 64M
		while [ $code = 0 ]; do
			taskq -s "$s" submit --kind x --payload @payload >/dev/null 2>err || code=$?
		done
		[ $code = 4 ]
		grep -q "no space left" err
		grep -q "free of 8M" err
		taskq -s "$s" check
		[ "$(taskq -s "$s" run -- echo hi)" = hi ]
		taskq -s "$s" list --json >/dev/null
		taskq -s "$s" list >/dev/null
		taskq -s "$s" purge
		[ "$(taskq -s "$s" run -- echo hi)" = hi ]
		cat /dev/zero >small/rest 2>/dev/null || true
		code=0
		taskq -s "$PWD/small/other" create 2>err || code=$?
		[ $code = 4 ]
		grep -q "no space left" err
		taskq -s "$s" check
		taskq -s "$s" destroy --force
	END
	sed -i 1d inside
	run -0 timeout 300 unshare -m --propagation private bash inside
}

@test "A6: the payload limit is told" {
	head -c 17000000 /dev/zero >payload
	expect 2 submit --kind x --payload @payload
	says "16777216 (16 MiB)"
	expect 5 list
}

@test "A6: update and retry into a queue at its max-depth name that queue" {
	local failed

	failed=$(submit -q narrow -- false)
	work_off -q narrow
	taskq queue set narrow --max-depth 1
	submit -q narrow -- true
	submit -q other -- true
	expect 4 update --move narrow "$(taskq list -q other --json | jq -r .id)"
	says 'queue "narrow" holds 1 waiting tasks, its limit is 1'
	[[ $stderr != *--full-timeout* ]]
	expect 4 retry "$failed"
	says 'queue "narrow" holds 1 waiting tasks, its limit is 1'
	expect 4 submit -q narrow -- true
	says "wait for room: --full-timeout"
}

# Large tasks, then small ones, until there is no room for either.
fill_with_tasks() {
	local text

	text=$(printf '%03000d' 0)
	yes "{\"command\":[\"true\",\"$text\"]}" | head -10000 | taskq submit --batch - >/dev/null 2>&1 || true
	yes '{"command":["true"]}' | head -10000 | taskq submit --batch - >/dev/null 2>&1 || true
	expect 4 submit -- true
}

all_have_ended() {
	[[ $(taskq --json info | jq .tasks_unfinished) == 0 ]]
}

@test "fault.R1: a full segment is waited on, steered, run in, and drained by one or by many" {
	local id

	taskq create --max 4M
	fill_with_tasks
	id=$(taskq list --json -n 1 | jq -r .id)
	expect 75 wait --timeout 10ms "$id"
	expect 0 limit set key 3
	expect 0 queue set default --max-depth 50000
	expect 0 cancel "$id"
	[[ $(taskq run -- echo hi) == hi ]]
	[[ $(seq 300 | taskq map -- echo | sort -n | tail -1) == 300 ]]
	timeout 120 taskq work -j1 -Q --until-empty
	all_have_ended
	fill_with_tasks
	timeout 120 taskq work -j100 -Q --until-empty
	all_have_ended
	expect 0 check
}

@test "fault.R2: --full-timeout waits for room, and no longer" {
	taskq create --max 4M
	fill_with_tasks
	expect 4 submit --full-timeout 50ms -- true
	start taskq submit --full-timeout 60s -- true
	eventually 5 eval '[[ $(taskq --json info | jq .sleepers) == 1 ]]'
	timeout 120 taskq work -j2 -Q --until-empty
	ends 0 "$pid"
}

@test "fault.R3: finished records make room for workers and their rings" {
	taskq create --max 4M
	fill_with_tasks
	timeout 120 taskq work -j2 -Q --until-empty
	[[ $(taskq --json info | jq .tasks_count) -gt 100 ]]
	farm -j40
	eventually 10 eval '[[ $(taskq --json | jq "[.workers[] | select(.flags | index(\"master\") | not)] | length") == 40 ]]'
	[[ $(taskq run -- echo hi) == hi ]]
}
