#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tables of which the user chooses the columns: list, show and stats with -o and -H.
load helper

# Fields of `list --json` that are not a column: what a column of another name says, too
# (a flag, a rest of a time), or what is in the command.
readonly ELSEWHERE='hold forget keep at_most_once delay_ns deadline_ns cause_arg env cwd umask'

# FIELD:COLUMN, of all others; the values are the same but for the unit of times.
readonly PAIRS='id:id sequence:sequence state:state flags:flags queue:queue kind:kind
	label:label unique:unique unique_scope:unique-scope limits:limits fair:fair priority:priority
	attempts_max:retries crashes_max:crashes-max losses_max:losses-max timeout_ns:timeout
	timeout_total_ns:timeout-total progress_timeout_ns:progress-timeout backoff_ns:backoff
	backoff_cap_ns:backoff-cap at:at schedule:schedule member_of:group completes:completes
	command:command payload:command after:after after_any:after after_fail:after unmet:unmet
	effective_priority:effective inherited_from:inherited-from attempt:attempts
	failures:failures crashes:crashes losses:losses worker:worker worker_pid:pid
	server:server progress_percent:progress progress_text:doing checkpoint_bytes:checkpoint cause:cause cause_id:cause-id
	error:error result_bytes:result output_bytes:output max_rss_bytes:memory cpu_ns:cpu
	submitted:submitted ready:ready due:due deadline:deadline started:started ended:ended
	inherited_deadline:urgent-by age_ns:age run_ns:run'

# What a column prints of a field's value, by a program that knows nothing of columns.
readonly CELL='def cell($key; $value):
	if $key == "state" then $value | tostring
	elif $key == "attempts_max" then $value - 1 | tostring
	elif $value == 0 and ($key | endswith("_bytes")) then ""
	elif ($key | startswith("after")) then $value | length | tostring
	elif $key == "command" then $value | join(" ")
	elif ($value | type) == "array" then if $value == [] then "" else $value | join(",") end
	else $value | tostring end;'

# Each task as JSON and as exact cells of all columns, at about the same time.
compare() {
	local names cells name id pair key want i
	local -A column cell

	mapfile -t names < <(taskq list -o help | sed 's/ .*//')
	for pair in $PAIRS; do
		column[${pair%%:*}]=${pair#*:}
	done
	for id in "$@"; do
		taskq show --json "$id" |
			jq -r "$CELL"' del(.history, .dependencies, .dependants) | to_entries[] | .key + "\t" + cell(.key; .value)' >fields
		(($(wc -l <fields) > 20))
		mapfile -t cells < <(taskq show -H -o "$(IFS=,; echo "${names[*]}")" "$id" | tr '\t' '\n')
		for i in "${!names[@]}"; do
			cell[${names[$i]}]=${cells[$i]}
		done
		while IFS=$'\t' read -r key want; do
			[[ " $ELSEWHERE " == *" $key "* ]] && continue
			name=${column[$key]?no column for it}
			is_same "$key" "$want" "${cell[$name]?no such column}" ||
				{ echo "$id: $key: $want, $name: ${cell[$name]}"; return 1; }
		done <fields
	done
}

# A duration in ns is in seconds in a cell; the age goes on.  Times are off by what two
# looks at two clocks differ.
is_same() { # KEY JSON CELL
	case $1 in
	age_ns) ((10#${3/./} >= $2 && 10#${3/./} < $2 + 60 * 10 ** 9)) ;;
	*_ns) ((10#${3/./} == $2)) ;;
	at | submitted | ready | due | deadline | started | ended | inherited_deadline)
		(($(date -d "$2" +%s%3N) - $(date -d "$3" +%s%3N) < 50)) &&
			(($(date -d "$3" +%s%3N) - $(date -d "$2" +%s%3N) < 50)) ;;
	*) [[ $3 == "$2" ]] ;;
	esac
}

@test "H7: each field of list --json has a column, and the same value in it" {
	local all=() group

	taskq create -q served
	taskq server add -q served s1
	group=$(taskq group new)
	all+=("$(submit -p 7 -L label --unique u --unique-scope kept --limit a --limit b --fair f --timeout 9s \
		--timeout-total 99s --progress-timeout 5s --retries 3 --backoff 2s:8s --hold -- true)")
	all+=("$(submit --group "$group" --deadline 1h -p high --at 2099-01-01T00:00:00Z -- true)")
	all+=("$(submit --kind k --payload text --delay 1h -q other)")
	all+=("$(submit --after "${all[0]}" --fair f -p 9 -- true)")
	all+=("$(submit -q here -- ls /nonexistent)")
	all+=("$(submit -q here --after "${all[4]}" -- true)")
	work_off -q here
	all+=("$(submit -q served -- sleep 60)")
	farm -q served -j1
	eventually 10 is "${all[6]}" state running
	is "${all[5]}" cause "dependency:${all[4]}"
	is "${all[6]}" server s1
	is "${all[0]}" effective_priority 9
	compare "${all[@]}"
}

@test "H7: -o help says what each column means, of tasks and of queues" {
	expect 0 list -o help
	[[ $(grep -cE '^[a-z-]+ +[^ ]' <<<"$output") == "${#lines[@]}" ]]
	((${#lines[@]} > 50))
	[[ $output == "$(taskq show -o help)" ]]
	expect 0 stats -o help
	[[ $(grep -cE '^[a-z0-9-]+ +[^ ]' <<<"$output") == "${#lines[@]}" ]]
	prints "wait-p99"
}

@test "H7: a column that is not there is refused, and the nearest is named" {
	expect 2 list -o id,stat
	says '"stat": no such column'
	says 'give perhaps state,'
	expect 2 show -o worker_pid,owrker 1-1
	says 'perhaps worker,'
	expect 2 stats -o wait-p98
	says 'perhaps wait-p9'
	expect 2 list -o zzzzzzzz
	says "some of those that \`taskq list -o help\` lists"
	expect 2 list -o ''
	expect 2 list -o "$(printf 'id,%.0s' {1..65})"
	says "at most 64 columns"
}

@test "H7: -H prints no header, tabs, and exact values for programs" {
	local id other

	id=$(submit -L $'a\tb\n' --timeout 90s -- true)
	[[ $(taskq show -H -o state "$id") == ready ]]
	taskq hold "$id"
	[[ $(taskq show -H -o state,flags "$id") == $'ready\theld,unserved' ]]
	[[ $(taskq list -o state) == *ready,held ]]
	taskq unhold "$id"
	[[ $(taskq list -H -o id,label,timeout,error,kind) == "$id"$'\ta\\tb\\n\t90.000000000\t\texec' ]]
	[[ $(taskq list -o timeout) == *1m30s ]]
	[[ $(taskq list -H | tr -cd '\t' | wc -c) == 7 ]]
	[[ $(taskq stats -H -o queue,submitted,success) == $'default\t1\t' ]]
	work_off
	[[ $(taskq stats -H --by-kind -o kind,done,success) == $'exec\t1\t100.0' ]]
	# Nothing is "nothing", and each text can be had back.
	other=$(submit -L - -- true)
	[[ $(taskq show -H -o label,fair "$other") == $'-\t' ]]
	other=$(submit -L 'a\n\xff' -- true)
	[[ $(taskq show -H -o label "$other") == 'a\\n\\xff' ]]
	[[ $(taskq show -o label "$other" | tail -n 1) == 'a\n\xff' ]]
	printf 'a\\b\0\n\377' >payload
	other=$(submit --kind k --payload @payload)
	[[ $(printf '%b' "$(taskq show -H -o command "$other")" | base64) == "$(base64 <payload)" ]]
	# A duration is what options read.
	submit --timeout "$(taskq show -H -o timeout "$id")" -L again -- true
	[[ $(taskq list -L again --json | jq .timeout_ns) == 90000000000 ]]
}

@test "H2: stats -o is a table of queues and kinds" {
	submit -q a -- true
	submit -q b -- false
	submit -q b --kind k --payload x
	work_off -q b
	taskq pause a
	expect 0 stats -o queue,flags,ready,done,failed,success,run-max
	[[ ${lines[0]} =~ ^QUEUE\ +FLAGS\ +READY\ +DONE\ +FAILED\ +SUCCESS\ +RUN-MAX$ ]]
	[[ ${lines[1]} =~ ^a\ +paused\ +1\ +0\ +0\ +-\ +-$ ]]
	[[ ${lines[2]} =~ ^b\ +-\ +1\ +0\ +1\ +0.0%\ +[0-9.]+ms$ ]]
	[[ ${#lines[@]} == 3 ]]
	expect 0 stats --by-kind -H -q b -o queue,kind,submitted
	[[ $output == $'b\texec\t1\nb\tk\t1' ]]
}

@test "H7: what columns do not go with is refused" {
	submit -- true
	for verb in "list -o id" "list -H" "show 1-1 -o id" "stats -o queue"; do
		# shellcheck disable=SC2086
		expect 2 $verb --json
		says "--json prints every field"
	done
	expect 2 show -H 1-1
	says "choose its columns with -o"
	expect 2 stats -H
	expect 2 stats --interval 1s -n 1 -o queue
	says "columns of its own"
	expect 2 show -o id
	says "the id is missing"
	expect 5 show -H -o state 1-1 9-1
	[[ $output == ready ]]
	says "show 9-1: no such task"
}
