#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Options that take a number, a duration or a size: what is none, or out of range, is refused
# with the range, in every option of every verb.
load helper

# "VERB OPTION ARGUMENT" of each such option, as the help of the verbs says.
numeric_options() {
	local verb

	for verb in $(taskq help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		taskq "$verb" --help | sed -nE "s/^ .*--([a-z-]+) ([^ ]+) .*/$verb \1 \2/p"
	done | grep -E ' (N|D|P|SIZE|OCTAL|D\[:CAP\]|[ND]\|off|N\|on\|off|N,N,N|N/D\|off|R\|.*)$'
}

# give VERB OPTION VALUE: a command line that is right but for the value.
give() {
	local before=() after=()

	case $1 in
	submit | run | map) after=(-- true) ;;
	wait | update | graph) after=(9-1) ;;
	queue | limit | kind) before=(set key) ;;
	group) before=(new) ;;
	command) before=(send stop) ;;
	stats) [[ $2 == interval ]] || after=(--interval 1s) ;;
	esac
	[[ $1 == wait && $2 == priority ]] && after+=(--timeout 0)
	[[ $1 == group ]] && after=(-- true)
	[[ $2 == burst ]] && after=(--rate 1/s)
	timeout 300 taskq "$1" "${before[@]}" "--$2=$3" "${after[@]}" </dev/null >/dev/null 2>err
}

# takes VERB OPTION ARGUMENT VALUE: whether that is a value of the option.
takes() {
	case $3:$4 in
	P:0 | P:-1 | R*:0) return 0 ;;
	*:0) [[ $2 == retries || $2 == delay || $2 == full-timeout || $1-$2 == @(wait|group|command)-timeout ]] ;;
	*) return 1 ;;
	esac
}

@test "B1: no option takes what is no number, duration or size, or is out of range" {
	local verb option arg value code expected count=0

	while read -r verb option arg; do
		expected=2
		[[ $verb == run ]] && expected=125
		for value in 0 -1 1e99 18446744073709551616 '' abc 5x 99999999999999d -0.5; do
			code=0
			give "$verb" "$option" "$value" || code=$?
			if takes "$verb" "$option" "$arg" "$value"; then
				((code != 2 && code < 128)) && [[ $(cat err) != *"give "* ]]
			else
				((code == expected)) && grep -qF -- "--$option \"$value\"" err &&
					grep -qE "give .*from [^ ]+ to [^ ]+" err
			fi || { echo "$verb --$option \"$value\": exit $code: $(cat err)"; return 1; }
			count=$((count + 1))
		done
	done < <(numeric_options)
	((count > 500))
}

@test "B1: the ends of the ranges are taken, and mean what they say" {
	local id

	id=$(submit --delay 53375d --timeout 1ns --timeout-total 53375d --deadline 53375d \
		--progress-timeout 53375d --backoff 53375d:53375d --retries 255 -p -2147483648 -- true)
	[[ $(field "$id" timeout_ns) == 1 ]]
	[[ $(taskq show --json "$id" | grep -o '"timeout_total_ns":[0-9]*') == *:4611600000000000000 ]]
	[[ $(taskq show --json "$id" | grep -o '"backoff_cap_ns":[0-9]*') == *:4611600000000000000 ]]
	[[ $(taskq show -H -o retries,priority "$id") == $'255\t-2147483648' ]]
	expect 2 submit --delay 53376d -- true
	says "too large"
	says "from 0 to 53375d (500ms,"
	expect 2 submit --timeout 0 -- true
	says "too small"
	says "from 1ns to 53375d"
	expect 2 submit --every 999us -- true
	says "from 1ms to 53375d"
	expect 2 create --max 4194303
	says "from 4M to 256G (64K,"
	expect 2 queue set default --max-wait 0
	says "), or off"
	expect 0 queue set default --max-wait 53375d --max-depth 4294967295
	expect 0 limit set k --rate 4294967294/1s --burst 1
	expect 2 limit set k --rate 1/53376d
	says "too large"
}

@test "F6: the variables for stealing are checked like options" {
	local value

	for value in -1 1e99 nan 1.1 abc; do
		WORK_STEALING_MIN_CAPACITY=$value expect 2 work --until-empty
		says "WORK_STEALING_MIN_CAPACITY \"$value\": not a part of the whole"
		says "give 0 to 1"
	done
	for value in 0 -1 1e99 18446744073709551616 abc 5x; do
		WORK_STEALING_MAX_COUNT=$value expect 2 work --until-empty
		says "from 1 to "
	done
	WORK_STEALING_INTERVAL=5x expect 2 work --until-empty
	says "from 1ns to 53375d"
}
