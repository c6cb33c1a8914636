#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# /api/tasks/ID/output: what a task has written, also while it writes.
load helper

# output ID[?ARGUMENTS] ATTEMPT FROM NEXT STATE: answered with these headers; the bytes are in
# "body".
output() {
	ask 200 "api/tasks/${1/\?/\/output?}$([[ $1 == *\?* ]] || echo /output)"
	has_header Taskq-Attempt "$2" && has_header Taskq-From "$3" && has_header Taskq-Next "$4" &&
		has_header Taskq-Output "$5"
}

# follow ID: all of an attempt, a piece at a time, into "followed".
follow() {
	local next=0 state=''

	: >followed
	while [[ $state != end ]]; do
		ask 200 "api/tasks/$1/output?attempt=1&from=$next"
		(($(wc -c <body) <= 65536))
		[[ $(value Taskq-From) == "$next" ]]
		cat body >>followed
		next=$(value Taskq-Next)
		state=$(value Taskq-Output)
	done
}

value() {
	tr -d '\r' <head | sed -n "s/^$1: //p"
}

@test "fault.L7: the output of a task that has ended, as text that nobody takes for a page" {
	local id

	need_exporter
	id=$(submit -- printf '<script>\0\377%s\n' x)
	exporter
	output "$id" 0 0 0 live
	[[ ! -s body ]]
	work_off
	output "$id" 1 0 12 end
	has_header Content-Type 'text/plain; charset=utf-8'
	has_header X-Content-Type-Options nosniff
	has_header Cache-Control no-store
	cmp body <(printf '<script>\0\377x\n')
	output "$id?from=9" 1 9 12 end
	cmp body <(printf '\377x\n')
	output "$id?from=12" 1 12 12 end
	output "$id?from=18446744073709551615" 1 18446744073709551615 18446744073709551615 end
	[[ ! -s body ]]
	ask 403 "api/tasks/$id/output" -H 'Host: evil.example'
	for bad in from=x from= from=-1 attempt=0 attempt=x attempt=4294967296 offset=1 'from=1&from=1'; do
		ask 400 "api/tasks/$id/output?$bad"
		jq -e .error body
	done
	ask 404 "api/tasks/$id/output/x"
}

@test "fault.L7: the output of a task while it writes, and what comes later from there on" {
	local id

	need_exporter
	id=$(submit -- sh -c 'printf one; until [ -e go ]; do sleep 0.02; done; printf two')
	farm -j1
	exporter
	eventually 5 output "$id" 1 0 3 live
	[[ $(<body) == one ]]
	output "$id?attempt=1&from=3" 1 3 3 live
	[[ ! -s body ]]
	touch go
	eventually 5 output "$id?attempt=1&from=3" 1 3 6 end
	[[ $(<body) == two ]]
}

@test "fault.L7: a long output comes in pieces, its beginning may be gone" {
	local id

	need_exporter
	taskq run -- seq 30000 >/dev/null # of which more is kept than of others
	id=$(taskq list --json | jq -r .id)
	exporter
	follow "$id"
	cmp followed <(seq 30000)
	id=$(submit -- seq 30000)
	work_off
	output "$id" 1 $((168894 - 65536)) 168894 more
	cmp body <(seq 30000 | tail -c 65536)
	output "$id?attempt=1&from=168894" 1 168894 168894 end
}

@test "fault.L7: each attempt has its own output, and what is not there is told why" {
	local id

	need_exporter
	id=$(submit --retries 2 --backoff 10ms -- sh -c '[ $TASKQ_ATTEMPT != 2 ] || seq 20000; echo $TASKQ_ATTEMPT; exit 1')
	work_off
	exporter
	output "$id" 3 0 2 end
	[[ $(<body) == 3 ]]
	output "$id?attempt=3" 3 0 2 end
	ask 200 "api/tasks/$id/output?attempt=2"
	[[ $(value Taskq-Attempt) == 2 && $(value Taskq-From) -gt 0 ]]
	ask 410 "api/tasks/$id/output?attempt=1"
	jq -e '.error | endswith("the output of attempt 1 is not kept")' body
	ask 404 "api/tasks/$id/output?attempt=4"
	jq -e '.error | endswith("it has had 3 attempts")' body
	id=$(submit -- true)
	work_off
	output "$id" 1 0 0 end
	id=$(submit -o 'of.%i.%a' -- echo hi)
	work_off
	ask 404 "api/tasks/$id/output"
	jq -e --arg file "its output goes to $PWD/of.$id.1" '.error | endswith($file)' body
	taskq forget "$id"
	ask 410 "api/tasks/$id/output"
	ask 404 api/tasks/999-1/output
}
