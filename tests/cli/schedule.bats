#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Schedules: submit --every and --cron, taskq schedule.
load helper

# of ID NAME: a field of the schedule's JSON.
of() {
	taskq schedule show --json "$1" | jq -r ".$2"
}

has_runs() { # ID LEAST
	(($(of "$1" runs) >= $2))
}

@test "C1: --every makes a run after each such time, and prints an id of its own" {
	local id

	farm -j 1
	id=$(submit --every 300ms -L often -- true)
	[[ $id == s1-1 ]]
	eventually 10 has_runs "$id" 3
	expect 0 list --label often --json
	[[ $(jq -r .schedule <<<"${lines[0]}") == "$id" ]]
	expect 0 show "$(of "$id" last_run)"
	prints "schedule    $id"
}

@test "C1: it outlives who made it, and everybody else" {
	local id

	id=$(submit --every 200ms -- true)
	farm -j 1
	eventually 10 has_runs "$id" 1
	end "$pid"
	taskq list >/dev/null
	has_runs "$id" 1
	farm -j 1
	eventually 10 has_runs "$id" 2
	expect 0 check
}

@test "C1: catch-up: of the times without anybody at most one becomes a run" {
	local id

	# One that takes as much memory as a run does: only who keeps time brings more for runs.
	submit --deadline 1h -- true
	id=$(submit --every 50ms -- true)
	sleep 1 # time that passes while nobody keeps it
	taskq submit -q other -- true 2>/dev/null
	taskq submit -q other -- true 2>/dev/null
	(($(of "$id" runs) == 1))
	(($(of "$id" skipped) > 5))
	is "$(of "$id" last_run)" state ready
}

@test "C1: overlap: skipped by default, or one waits for the end" {
	local skip queue

	farm -j 4
	skip=$(submit --every 100ms -- sh -c 'until [ -e go ]; do sleep 0.02; done')
	queue=$(submit --every 100ms --overlap queue -- sh -c 'until [ -e go ]; do sleep 0.02; done')
	eventually 10 has_runs "$skip" 1
	eventually 10 owes "$queue" 1
	(($(of "$skip" owed) == 0))
	(($(of "$skip" runs) == 1 && $(of "$queue" runs) == 1))
	touch go
	eventually 10 has_runs "$queue" 2
}

owes() {
	(($(of "$1" owed) == $2))
}

@test "C1: a full queue: the run stays due, and show says why" {
	local id

	taskq submit -- true 2>/dev/null
	taskq queue set --max-depth 1
	id=$(submit --every 100ms -- true)
	eventually 10 fails "$id" TQ_EFULL
	expect 0 schedule show "$id"
	prints "the last run could not be made"
	farm -j 1
	eventually 10 has_runs "$id" 1
	eventually 10 fails "$id" null
}

fails() { # somebody must hold the lock for times to pass
	taskq submit -q other -- true 2>/dev/null
	[[ $(of "$1" last_error) == "$2" ]]
}

@test "C1: --cron, with a zone" {
	local id next

	id=$(submit --cron '30 2 * * *' --tz America/New_York -- true)
	next=$(of "$id" next)
	[[ $(TZ=America/New_York date -d "$next" +%H:%M) == 02:30 ]]
	(($(date -d "$next" +%s) > $(date +%s)))
	(($(date -d "$next" +%s) <= $(date +%s) + 25 * 3600))
	is_of "$id" tz America/New_York
	is_of "$id" cron '30 2 * * *'
	id=$(TZ=Asia/Tokyo submit --cron @daily -- true)
	is_of "$id" tz Asia/Tokyo
	[[ $(TZ=Asia/Tokyo date -d "$(of "$id" next)" +%H:%M) == 00:00 ]]
	id=$(submit --cron '* * * * *' --tz '<+05>-5' -- true)
	[[ $(of "$id" next) == *:00.000Z ]]
}

is_of() {
	[[ $(of "$1" "$2") == "$3" ]]
}

@test "C1: pause, resume, remove" {
	local id runs

	farm -j 1
	id=$(submit --every 100ms -- true)
	eventually 10 has_runs "$id" 1
	expect 0 schedule pause "$id"
	runs=$(of "$id" runs)
	is_of "$id" paused true
	expect 0 schedule pause "$id"
	sleep 0.5 # time that passes
	(($(of "$id" runs) == runs))
	expect 0 schedule list
	prints paused
	expect 0 schedule resume "$id"
	eventually 10 has_runs "$id" $((runs + 1))
	expect 0 schedule remove "$id"
	expect 5 schedule show "$id"
	says "it has been removed"
	expect 5 schedule resume "$id"
	expect 0 schedule list
	[[ $(submit --every 1h -- true) == s1-2 ]]
}

@test "C1 H7: lists and shows, also as JSON" {
	submit --every 90m -q "q" -p high -L 'a label' --retries 2 --timeout 5s -- echo 'a b' >/dev/null
	submit --cron @weekly --tz UTC --kind k --payload text >/dev/null
	expect 0 schedule list
	[[ ${lines[0]} == SCHEDULE*WHEN*NEXT*RUNS*SKIPPED*QUEUE*LABEL*COMMAND ]]
	[[ ${lines[1]} == s1-1*'every 1h30m'*'a label'*"echo 'a b'" ]]
	[[ ${lines[2]} == s2-1*@weekly*text ]]
	expect 0 schedule show s1-1 s2-1
	prints "schedule    s1-1: every 1h30m"
	prints "schedule    s2-1: @weekly, UTC"
	expect 0 schedule list --json
	[[ ${#lines[@]} == 2 ]]
	[[ $(jq -c '[.id, .every_ns, .queue, .priority, .label, .attempts_max, .timeout_ns, .command]' \
		<<<"${lines[0]}") == \
		'["s1-1",5400000000000,"q",100,"a label",3,5000000000,["echo","a b"]]' ]]
	[[ $(jq -r .payload <<<"${lines[1]}") == text ]]
	expect 0 submit --json --every 1h -- true
	[[ $(jq -r .id <<<"$output") == s3-1 ]]
}

@test "C1 G2 B6: shows the limit keys and the fair key of its runs" {
	submit --every 1h --limit db --limit 'mail out' --fair acme -- true >/dev/null
	submit --every 1h -- true >/dev/null
	expect 0 schedule show s1-1
	prints "limit       db"
	prints "limit       mail out"
	prints "fair key    acme"
	expect 0 schedule show --json s1-1 s2-1
	[[ $(jq -c '[.limits, .fair]' <<<"${lines[0]}") == '[["db","mail out"],"acme"]' ]]
	[[ $(jq -c '[.limits, .fair]' <<<"${lines[1]}") == '[null,null]' ]]
	expect 0 schedule show s2-1
	[[ $output != *limit* && $output != *fair* ]]
}

@test "C1: the warning that nobody serves the queue" {
	expect 0 submit --every 1h -- true
	says "no live worker serves queue"
}

@test "C1: bad expressions are refused, naming field and form" {
	expect 2 submit --cron '61 * * * *' -- true
	says '--cron "61 * * * *": minute: 61 is out of range; give 0 to 59'
	expect 2 submit --cron '* * 31 2 *' -- true
	says 'it never comes'
	expect 2 submit --cron '* * * foo *' -- true
	says 'month: no such name'
	expect 2 submit --cron '@reboot' -- true
	says 'no such word'
	expect 2 submit --cron '* * * *' -- true
	says 'fewer than five fields'
	expect 2 submit --cron '*/0 * * * *' -- true
	says 'a step of 0'
	expect 2 submit --cron @daily --tz Mars/Olympus -- true
	says '--tz "Mars/Olympus": no such time zone'
	expect 2 submit --cron @daily --tz ../../../etc/passwd -- true
	TZ=Nowhere/Land expect 2 submit --cron @daily -- true
	says 'TZ "Nowhere/Land": no such time zone'
}

@test "C1: bad distances and combinations are refused" {
	local bad

	for bad in 0 0s 1us -5s soon 99999999999999d 60000d; do
		expect 2 submit --every "$bad" -- true
		says "--every \"$bad\""
	done
	expect 2 submit --every 1h --cron @daily -- true
	expect 2 submit --every 1h --tz UTC -- true
	expect 2 submit --every 1h --at 12:00 -- true
	expect 2 submit --every 1h --full-timeout 1s -- true
	expect 2 submit --every 1h --wait -- true
	expect 2 submit --every 1h --batch - </dev/null
	expect 2 submit --overlap skip -- true
	expect 2 submit --every 1h --overlap both -- true
	says "skip or queue"
	for bad in 0 101 -1 x; do
		expect 2 submit --every 1h --catch-up "$bad" -- true
		says "1 to 100"
	done
	head -c 70000 /dev/zero >large
	expect 2 submit --every 1h --kind k --payload @large
	says "at most 64 KiB"
	expect 0 schedule list
}

@test "C1: bad ids and verbs are refused" {
	taskq create
	for bad in 'a b' s1/1 ''; do
		expect 2 schedule show "$bad"
		says "neither a schedule's id nor a name"
	done
	expect 5 schedule show x
	says "no such schedule"
	expect 2 schedule
	expect 2 schedule show
	expect 2 schedule list s1-1
	expect 2 schedule frob s1-1
	expect 5 schedule pause s7-1
	says "no such schedule"
	expect 0 schedule list
}

@test "C1: a dependency, which its runs could not have, is refused" {
	local option

	submit -- true
	for option in --after --after-any --after-fail; do
		expect 2 submit --every 1h "$option" 1-1 -- true
		says "the runs of a schedule come after no other tasks"
	done
	expect 2 submit --cron @hourly --after 1-1 -- true
	expect 0 schedule list
}

@test "fault.T7: a schedule with a name replaces the one that has it, and keeps its id" {
	local id next

	taskq create
	id=$(submit --every 10m --name poll -- echo old)
	next=$(of "$id" next)
	[[ $(submit --every 10m --name poll -- echo new) == "$id" ]]
	[[ $(submit --every 10m --name poll -- echo new) == "$id" ]]
	[[ $(taskq schedule list --json | wc -l) == 1 ]]
	[[ $(of poll 'command[1]') == new ]]
	[[ $(of poll next) == "$next" ]]
	expect 0 schedule show poll
	prints "name        poll"
	expect 0 schedule pause poll
	[[ $(submit --cron @hourly --name poll -- true) == "$id" ]]
	[[ $(of poll paused) == true && $(of poll cron) == @hourly ]]
	expect 0 schedule resume poll
	[[ $(submit --every 10m --name other -- true) != "$id" ]]
	expect 0 schedule remove poll
	expect 5 schedule show poll
	[[ $(submit --every 10m --name poll -- true) != "$id" ]]
	expect 0 check --exact
	expect 2 submit --every 10m --name s1-1 -- true
	says "reads as an id"
	expect 2 submit --name x -- true
	says "are for --every or --cron"
}
