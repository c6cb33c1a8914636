#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A clear error, the right exit code, nothing changed.
load helper

# bad TEXT ARG...: usage error that says TEXT and what to give instead; no segment is made.
bad() {
	expect 2 "${@:2}"
	says "$1"
	says "give "
	expect 5 list
}

@test "B1: priorities that are none, or out of range" {
	bad '"abc": not a priority' submit -p abc -- true
	bad "out of range" submit -p 99999999999 -- true
	bad "not a priority" submit -p 1.5 -- true
	bad "not a priority" submit -p '' -- true
}

@test "durations that are none, negative or too long" {
	bad "negative" submit --timeout -5s -- true
	bad "negative" submit --delay=-1 -- true
	bad "not a duration" submit --timeout 5x -- true
	bad "not a duration" submit --delay '' -- true
	bad "too large" submit --delay 99999999999h -- true
	bad "too small" submit --timeout 0 -- true
	bad "below the first wait" submit --backoff 10s:1s -- true
}

@test "counts, sizes and modes" {
	bad "too large" submit --retries 256 -- true
	bad "negative" submit --retries -1 -- true
	bad "too small" work -j 0
	bad "not a number" work -j many
	bad "too small" create --max 1M
	bad "too large" create --max 300G
	bad "not a size" create --max big
	bad "not such a mode" create --mode 0999
	bad "not such a mode" create --mode 0444
}

@test "names of segments, queues, kinds, labels, variables" {
	bad "not a segment" -s ../x list
	bad "not a segment" -s '' list
	bad "not a queue" submit -q 'a b' -- true
	bad "not a name" submit --kind 'x y' --payload z
	bad "too long" submit -L "$(printf 'x%.0s' {1..200})" -- true
	bad "no name" submit --env =x -- true
	bad "not set here" submit --env NO_SUCH_VARIABLE -- true
	TASKQ_SEGMENT='a b' expect 2 list
	says 'TASKQ_SEGMENT "a b"'
	TASKQ_QUEUE='a b' expect 2 submit -- true
	says 'TASKQ_QUEUE "a b"'
}

@test "paths that cannot hold a segment" {
	expect 5 submit -s /nonexistent/x -- true
	says "directory does not exist"
	[[ $(stat -f -c %T .) == tmpfs ]] || {
		expect 2 submit -s "$PWD/x" -- true
		says "not on a tmpfs"
		not test -e x
	}
}

@test "ids: not one, never was, freed" {
	submit -- true
	expect 2 show 17.x
	says "not a task id"
	expect 2 cancel 0-0
	expect 5 cancel 99-1
	says "no such task"
	taskq cancel 1-1
	taskq forget 1-1
	expect 5 cancel 1-1
	says "freed"
	expect 5 show 1-1
}

@test "verbs, options and operands" {
	expect 2 nothing
	says 'no verb "nothing"'
	expect 2 submit --nothing -- true
	says "unknown option --nothing"
	expect 2 submit -Z -- true
	expect 2 submit --timeout
	says "needs an argument"
	expect 2 list --json=yes
	says "takes no argument"
	expect 2 submit --time 5s -- true
	expect 2 submit
	says "the command is missing"
	expect 2 show
	says "the id is missing"
	expect 2 work extra
	expect 2 list -S nothing
	expect 2 list -S ''
	expect 2 list -o nothing
	expect 2 submit --keep --forget -- true
	expect 2 submit --payload x -- true
	expect 2 submit --kind k -- true
	expect 5 list
}

@test "no such queue" {
	submit -- true
	for verb in pause resume drain purge; do
		expect 5 $verb nowhere
		says 'nowhere": no such queue'
	done
	expect 5 stats -q nowhere
}

@test "options after the command are the command's" {
	local id

	id=$(submit echo -p --json -- x)
	work_off
	[[ $(taskq log "$id") == "-p --json -- x" ]]
}

@test "closed standard descriptors do not harm the segment" {
	submit -- true
	taskq list >&- 2>/dev/null || true
	taskq list <&- >/dev/null
	expect 0 check
	expect 0 list
}

@test "fault.L9: a misspelt verb or option is told the nearest, a line of the shell sh -c" {
	expect 2 subnit -- true
	says 'did you mean "submit"?'
	expect 2 submit --prioritty 3 -- true
	says "did you mean --priority?"
	expect 2 submit --zzzzzzzz -- true
	[[ $stderr != *"did you mean"* ]]
	expect 0 submit 'ls | wc'
	says "sh -c 'ls | wc'"
	expect 0 submit -- ls -l
	[[ $stderr != *"sh -c"* ]]
	expect 127 run 'ls | wc'
	says "sh -c 'ls | wc'"
}

@test "fault.L15: output that cannot be written is said once, exit 1" {
	yes '{"command":["true"]}' | head -40 | submit --batch - >/dev/null
	for verb in 'list --json' list 'stats --json' 'queue list --json'; do
		run --separate-stderr sh -c "taskq $verb >/dev/full"
		[[ $status == 1 ]]
		[[ ${#stderr_lines[@]} == 1 && $stderr == *"cannot write to standard output"* ]]
	done
}
