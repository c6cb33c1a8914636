#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Starts by the wall clock: --at.
load helper

# unix ID: the task's time, in seconds since 1970.
unix() {
	date -d "$(field "$1" at)" +%s
}

# at TIME: the time that `submit --at TIME` means, in seconds since 1970.
at() {
	unix "$(submit --at "$1" -- true)"
}

@test "C1: it starts at that time, not before, asleep until then" {
	local at id started

	farm -j 1
	at=$(date -d '+2 seconds' --rfc-3339=ns)
	id=$(submit --at "$at" -- true)
	is "$id" state delayed
	expect 0 wait "$id"
	started=$(date -d "$(field "$id" started)" +%s%3N)
	((started >= $(date -d "$at" +%s%3N) - 1))
}

@test "C1: a time that has passed is no hindrance" {
	local id

	id=$(submit --at 1999-12-31T23:59:59Z -- true)
	is "$id" state ready
	work_off
	is "$id" state done
}

@test "C1: with an offset, in local time, as the next HH:MM" {
	export TZ=Europe/Berlin
	[[ $(at 2101-03-01T08:00:00+01:00) == $(date -d 2101-03-01T07:00:00Z +%s) ]]
	[[ $(at 2101-03-01T08:00:00.5-05:30) == $(date -d 2101-03-01T13:30:00Z +%s) ]]
	[[ $(at 2101-03-01t07:00:00z) == $(date -d 2101-03-01T07:00:00Z +%s) ]]
	[[ $(at '2031-03-01 08:00') == $(date -d 2031-03-01T07:00:00Z +%s) ]]
	[[ $(at '2031-07-01 08:00:30') == $(date -d 2031-07-01T06:00:30Z +%s) ]]
	[[ $(at 2031-10-26T02:30) == $(date -d 2031-10-26T00:30:00Z +%s) ]] # twice: the first
	local next
	next=$(at "$(date -d '+2 hours' +%H:%M)")
	((next > $(date +%s) && next <= $(date +%s) + 3 * 3600))
	next=$(at "$(date -d '-2 hours' +%H:%M)")
	((next > $(date +%s) + 20 * 3600 && next < $(date +%s) + 24 * 3600))
}

@test "C1: what is no time is refused, with the form" {
	local time

	for time in '' noon 25:00 12:60 8:00 12:00x 2027-02-29T08:00:00Z '2027-02-30 08:00' \
		2027-13-01T08:00:00Z 2027-03-01 2027-03-01T08 2027-03-01T08:00:00+25:00 \
		2027-03-01T08:00:00+1 3027-03-01T08:00:00Z 2027-03-01T08:00:60Z 1969-12-31T08:00Z; do
		expect 2 submit --at "$time" -- true
		says "--at \"$time\""
		says "HH:MM"
	done
	TZ=Europe/Berlin expect 2 submit --at '2031-03-30 02:30' -- true
	says "clocks are set forward over that time"
	expect 2 submit --at 12:00 --delay 1s -- true
	says "exclude each other"
}

@test "C1 H4: why names the time" {
	local id

	id=$(submit --at 2101-03-01T08:00:00Z -- true)
	TZ=UTC expect 0 why "$id"
	prints "it waits for the wall clock"
	prints "at 2101-03-01T08:00:00.000+00:00"
	TZ=UTC expect 0 show "$id"
	prints "2101-03-01T08:00:00.000+00:00 by the wall clock"
}

@test "C1 H1: an update's delay takes the place of the time" {
	local id

	id=$(submit --at 2101-03-01T08:00:00Z -- true)
	expect 0 update --delay 0 "$id"
	work_off
	is "$id" state done
	is "$id" at null
}

@test "C1 H7: a listing says the time, and a batch takes it" {
	local id

	id=$(submit --at 2101-03-01T08:00:00.25Z -- true)
	is "$id" at 2101-03-01T08:00:00.250Z
	expect 0 submit --batch - <<<"$(taskq list --json)"
	is "$output" at 2101-03-01T08:00:00.250Z
	is "$output" state delayed
	expect 2 submit --batch - <<<'{"command":["true"],"at":"soon"}'
	says '"at" is not a time'
}
