#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# One table of verbs and options: help, completion and manual say the same.
load helper

root=$BATS_TEST_DIRNAME/../..

verbs() {
	taskq completion | cut -f 1 | grep -v '^-'
}

# The long options that the help of VERB has: its own, or all.
own_options() {
	taskq help "$1" | sed -n '/^Options:/,/^Common options:/s/^ *\(-.,\)\? *--\([a-z-]*\).*/\2/p' | sort -u
}

all_options() {
	taskq help "$1" | sed -n '/^\(Common \)\?[Oo]ptions:/,/^Examples:/s/^ *\(-.,\)\? *--\([a-z-]*\).*/\2/p' |
		sort -u
}

# Its section of the manual.
section() {
	awk -v verb="$1" '/^\.S[hs] / { inside = $1 == ".Ss" && $2 == verb } inside' "$root/man/taskq.1"
}

# Long options in the lines of the input.
named() {
	grep -oE 'Fl -[a-z][a-z-]*' | sed 's/^Fl -//' | sort -u
}

complete_line() {
	bash -c 'source "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_taskq
		printf "%s\n" "${COMPREPLY[@]}"' "$root/tools/taskq/taskq.bash" "$@"
}

@test "fault.L10: the manual has each verb's options, and no others" {
	local verb wrong=''

	for verb in $(verbs); do
		[[ $verb != exporter ]] || continue
		wrong+=$(comm -23 <(own_options "$verb") <(section "$verb" | named) |
			sed "s/^/$verb: not in the manual: /")
		wrong+=$(comm -13 <(own_options "$verb") <(section "$verb" | grep '^\.It' | named) |
			sed "s/^/$verb: only in the manual: /")
	done
	[[ -z $wrong ]] || { echo "$wrong"; return 1; }
}

@test "fault.L10: completion has the options that help has" {
	local verb

	for verb in $(verbs); do
		[[ $verb != exporter ]] || continue
		diff <(complete_line taskq "$verb" -- | sed -n 's/^--//p') <(all_options "$verb")
	done
	diff <(complete_line taskq '' | sort) <(verbs | sort)
}

@test "fault.L10: completion knows values, ids and queues, and leaves a command's line alone" {
	local id

	id=$(submit -q letters --hold -- true)
	diff <(complete_line taskq submit --overlap '') <(printf '%s\n' queue skip)
	[[ $(complete_line taskq list --state = unf) == unfinished ]]
	[[ $(complete_line taskq list -q l) == letters ]]
	[[ $(complete_line taskq -s "$TASKQ_SEGMENT" show '') == "$id" ]]
	[[ -z $(TASKQ_SEGMENT=$TASKQ_SEGMENT-none complete_line taskq show '') ]]
	[[ $(complete_line taskq queue s) == $'set\nshow' ]]
	touch --  --json-of-ours
	[[ $(complete_line taskq run -- ls --js) == --json-of-ours ]]
	[[ $(complete_line taskq run ls --js) == --json-of-ours ]]
}

@test "fault.L10: help has examples, of options that the verb has" {
	local verb option

	for verb in $(verbs); do
		[[ $verb == exporter || $verb == status || $verb == info || $verb == version ]] && continue
		taskq help "$verb" | grep -q '^Examples:'
		for option in $(taskq help "$verb" | sed -n '/^Examples:/,$p' | sed 's/ -- .*//' |
			grep -oE ' --[a-z][a-z-]*' | tr -d ' -'); do
			all_options "$verb" | tr -d - | grep -qx "$option"
		done
	done
}

@test "fault.L10: help names a common option only where it does something" {
	expect 0 help version
	not prints "--queue"
	expect 0 help list
	prints "--queue"
}
