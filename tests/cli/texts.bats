#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the program says, as a whole: words that go with their numbers, lines that fit.
load helper

# No "1 tasks" in what was said: a 1 that is a number of its own, and a noun in the plural.
# Words that end so and are none: is, was, has, starts.
speaks() {
	local all="$output"$'\n'"$stderr"

	not grep -vE '\b1 (is|was|has|starts|begins)\b' < <(
		grep -E '(^|[^0-9A-Za-z.:-])1 ([a-z]+ )?[a-rt-z][a-z]*[a-rt-z]s\b' <<<"$all")
}

@test "one of each is not in the plural, in any verb" {
	local id schedule verb

	taskq create --trace 64 --tasks 4000
	id=$(submit --kind k --payload x)
	schedule=$(taskq submit --every 1h -- true)
	taskq queue set default --hybrid 1
	for verb in status info stats "show $id" "queue show" "why $id" "schedule show $schedule" \
		"stats --by-kind" "destroy"; do
		# shellcheck disable=SC2086
		run --separate-stderr taskq $verb
		speaks || { echo "in: taskq $verb: $output $stderr"; return 1; }
	done
	expect 0 status
	prints "1 task, 1 unfinished"
	prints "1 schedule,"
	expect 1 destroy
	says "1 unfinished task, 0 workers and masters, 1 schedule"
	expect 0 show "$id"
	prints "(1 byte)"
	expect 0 purge
	prints "1 task cancelled"
	taskq forget "$id"
	expect 0 status
	prints "0 tasks, 0 unfinished"
}

@test "one worker is not in the plural" {
	local id

	farm -j1
	id=$(submit -- sleep 60)
	eventually 10 is "$id" state running
	for verb in status info stats "queue show" "why $id" "why $(submit -- true)" \
		"why $(submit --kind k --payload x)"; do
		# shellcheck disable=SC2086
		run --separate-stderr taskq $verb
		speaks || { echo "in: taskq $verb: $output $stderr"; return 1; }
	done
	expect 0 stats
	prints "queue default: 1 worker"
	expect 0 why "$(submit -- true)"
	prints "the one worker that serves it is busy"
	taskq command send resize 1 --to farms --wait >answers
	grep -q "1 worker, 1 before" answers
}

@test "the help of every verb fits 80 columns, and its options are aligned" {
	local verb verbs line

	expect 0 help
	mapfile -t verbs < <(sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$output")
	((${#verbs[@]} > 30))
	for verb in '' "${verbs[@]}"; do
		# shellcheck disable=SC2086
		expect 0 help $verb
		for line in "${lines[@]}"; do
			((${#line} <= 80)) || { echo "$verb, ${#line} columns: $line"; return 1; }
			[[ $line == "  -"* || $line == "      --"* ]] || continue
			[[ $line =~ ^.{27}\ [^\ ] ]] || { echo "$verb, not aligned: $line"; return 1; }
		done
		[[ $output != *" "$'\n'* ]] || { echo "$verb: blanks at the end of a line"; return 1; }
	done
	# A text is not cut: its last word is there.
	expect 0 help submit
	prints "--graph FILE|-        hand in tasks that depend on each other, as a whole:
                            {\"nodes\":[...]}"
	prints "Usage: taskq submit [OPTION]... [--] CMD [ARG]..."
}

has_empty_heading() {
	grep -A1 -x 'Options:' <<<"$output" | grep -qx ''
}

@test "fault.L10: help of each verb has a heading only over options" {
	local verb

	for verb in $(taskq help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		expect 0 help "$verb"
		not has_empty_heading
	done
	expect 0 help progress
	not prints "Options:"
}
