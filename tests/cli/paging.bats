#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Very many tasks: in pages, in an order that holds, in memory that does not grow.
load helper

many() { # COUNT: tasks without a command
	yes '{"kind":"k","payload":"x"}' | head -n "$1" | taskq submit --batch - >>ids 2>/dev/null
}

# Writes all ids to a file, in pages of $1; calls $2 between them.
pages() {
	local last='' page

	while page=$(taskq list --sort id -H -o id -n "$1" ${last:+--after "$last"} 2>/dev/null) && [[ -n $page ]]; do
		echo "$page" >>listed
		last=${page##*$'\n'}
		"$2"
	done
}

@test "H7: pages of a list have each task once, in the order of the whole list" {
	many 250
	pages 7 true
	diff listed <(taskq list --sort id -H -o id)
	diff listed ids
	expect 0 list --sort id --after "$(tail -n 1 ids)"
	says "no such tasks"
	[[ $(taskq list --json --sort id --after "$(sed -n 249p ids)" | jq -r .id) == "$(sed -n 250p ids)" ]]
	expect 2 list --after "$(head -n 1 ids)"
	says "--after goes by ids: add --sort id"
	expect 2 list --sort id --after x
	says '--after "x": not a task id'
}

# Ends the task that the last page ended with, so that its record is used again, and
# submits some more.
disturb() {
	taskq cancel "$last" >/dev/null
	taskq forget "$last" >/dev/null
	echo "$last" >>gone
	many 1
}

@test "H7: tasks that are there all along are in one page each, whatever comes and goes" {
	many 100
	cp ids before
	pages 9 disturb
	((($(wc -l <gone)) >= 11))
	[[ -z $(sort listed | uniq -d) ]]
	# Who was there all along: not gone.
	diff <(sort before | comm -23 - <(sort gone)) \
		<(sort listed | comm -12 - <(sort before) | comm -23 - <(sort gone))
}

# The column of tasks in the order of `taskq list ARG...`, in one line.
order() { # COLUMN ARG...
	taskq list -H -o "$@" | paste -sd ' '
}

@test "fault.L2: a list is in the order of submission, and -n are the newest" {
	many 6
	taskq cancel 3-1 2-1 >/dev/null
	taskq forget 3-1 2-1 >/dev/null
	many 2
	[[ $(order id) == "1-1 4-1 5-1 6-1 2-2 3-2" || $(order id) == "1-1 4-1 5-1 6-1 3-2 2-2" ]]
	[[ $(order sequence) == "1 4 5 6 7 8" ]]
	[[ $(order sequence --reverse) == "8 7 6 5 4 1" ]]
	[[ $(order sequence -n 2) == "7 8" ]]
	[[ $(order sequence -n 2 --reverse) == "8 7" ]]
	[[ $(order sequence -n 99) == "1 4 5 6 7 8" ]]
	[[ $(order sequence --sort id) =~ ^1\ (8\ 7|7\ 8)\ 4\ 5\ 6$ ]]
	[[ $(order sequence --sort sequence -n 2) == "1 4" ]]
	taskq hold 6-1 >/dev/null
	[[ $(order sequence -K k -S ready -n 3) == "6 7 8" ]]
	[[ $(order sequence -K other -n 3) == "" ]]
	taskq list --json -n 2 | jq -e --slurp 'map(.sequence) == [7, 8]'
}

@test "fault.L2: a group's members are listed in that order, too" {
	local group id

	group=$(taskq group new)
	for id in 1 2 3 4; do
		submit --group "$group" -- true >/dev/null
		submit -- true >/dev/null
	done
	taskq cancel 1-1 2-1 >/dev/null
	taskq forget 2-1 >/dev/null
	submit --group "$group" -- true >/dev/null
	[[ $(order sequence --group "$group") == "1 3 5 7 9" ]]
	[[ $(order sequence --group "$group" -n 2) == "7 9" ]]
}

@test "fault.L2: any column sorts, figures by value, words with the numbers in them" {
	local column

	submit -L job-10 -p 5 --timeout 90s --delay 1h -- sleep 2 >/dev/null
	submit -L job-9 -p -7 --timeout 1500ms -- sleep 10 >/dev/null
	submit -p 100 --kind none --payload x >/dev/null
	[[ $(order priority --sort priority) == "-7 5 100" ]]
	[[ $(order priority --sort priority --reverse) == "100 5 -7" ]]
	[[ $(order sequence --sort timeout) == "2 1 3" ]] # none is last, whichever way
	[[ $(order sequence --sort timeout --reverse) == "1 2 3" ]]
	[[ $(order sequence --sort label) == "2 1 3" ]]
	[[ $(order sequence --sort label --reverse) == "1 2 3" ]]
	[[ $(order sequence --sort command) == "1 2 3" ]] # sleep 2 before sleep 10
	[[ $(order sequence --sort due -n 1) == 1 ]]
	[[ $(order sequence --sort age -n 1) == 3 ]]
	[[ $(order sequence --sort worker --reverse) == "3 2 1" ]] # equal ones, turned round as well
	for column in $(taskq list -o help | cut -d ' ' -f 1); do
		[[ $(order sequence --sort "$column" | tr ' ' '\n' | sort | paste -sd ' ') == "1 2 3" ]]
	done
	expect 2 list --sort prority
	says 'no such column'
	says 'perhaps priority'
}

@test "fault.L2: more tasks than are kept in order at a time come in order all the same" {
	many 70000
	taskq cancel 5-1 >/dev/null
	taskq forget 5-1 >/dev/null
	many 1
	taskq list -H -o sequence >listed
	sort -nc listed
	[[ $(sort -u listed | wc -l) == 70000 && $(tail -n 1 listed) == 70001 ]]
	taskq list --reverse -H -o sequence | diff - <(tac listed)
}

# peak COMMAND...: most memory of the command, in KiB, printed; its output goes nowhere.
peak() {
	"$TASKQ_PEAK" "$@" 2>&1 >/dev/null
}

@test "H3: list, stats and status of very many tasks take no more memory than of few" {
	local verb before after
	local -A few

	many 1000
	for verb in list 'list --json' 'list -H -o id,command' 'list -S unfinished -q default' stats 'stats --by-kind' status; do
		# shellcheck disable=SC2086
		few[$verb]=$(peak taskq $verb)
	done
	many 49000
	[[ $(taskq list -H -o id | wc -l) == 50000 ]]
	for verb in "${!few[@]}"; do
		before=${few[$verb]}
		# shellcheck disable=SC2086
		after=$(peak taskq $verb)
		echo "$verb: $before KiB, $after KiB"
		((before > 500 && after < before + 2048))
	done
}
