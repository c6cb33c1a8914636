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

	while page=$(taskq list -H -o id -n "$1" ${last:+--after "$last"} 2>/dev/null) && [[ -n $page ]]; do
		echo "$page" >>listed
		last=${page##*$'\n'}
		"$2"
	done
}

@test "H7: pages of a list have each task once, in the order of the whole list" {
	many 250
	pages 7 true
	diff listed <(taskq list -H -o id)
	diff listed ids
	expect 0 list --after "$(tail -n 1 ids)"
	says "no such tasks"
	[[ $(taskq list --json --after "$(sed -n 249p ids)" | jq -r .id) == "$(sed -n 250p ids)" ]]
	expect 2 list --after x
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

@test "H7: the order of submission is a column to sort by" {
	many 20
	taskq cancel 3-1 >/dev/null
	taskq forget 3-1 >/dev/null
	many 1
	[[ $(taskq list -H -o id | tail -n 1) == 20-1 ]]
	[[ $(taskq list -H -o sequence,id | sort -n | tail -n 1 | cut -f 2) == 3-2 ]]
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
