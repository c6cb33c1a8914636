#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JSON out and in again.
load helper

# What a task is, without what has happened to it.
work() {
	jq -cS 'del(.id, .sequence, .submitted, .ready, .due, .age_ns, .delay_ns)'
}

@test "H7: list --json feeds submit --batch -, and the copy is the same" {
	submit -p 7 -L 'my label' --timeout 9s --timeout-total 99s --progress-timeout 5s --retries 3 \
		--backoff 2s:8s --at-most-once --cwd /usr --env A=b --env 'C=x y' -o out --hold --keep \
		-- sh -c $'echo "a\nb"'
	submit --kind k --payload $'b\tin "quoted"' -q other
	head -c 3000 /dev/urandom >random
	submit --kind k --payload @random --forget
	submit -p low -- echo 'ünïcödé' '$x' ''
	submit -- echo $'\xff\xfe'
	taskq list --json >one
	[[ $(wc -l <one) == 5 ]]
	submit -s "$TASKQ_SEGMENT-copy" --batch - <one
	taskq -s "$TASKQ_SEGMENT-copy" list --json >two
	taskq -s "$TASKQ_SEGMENT-copy" destroy --force
	diff <(work <one) <(work <two)
}

@test "H7: a delay comes back as what is left of it" {
	submit --delay 1h -- true
	[[ $(taskq list --json | jq '.delay_ns > 3500e9 and .delay_ns <= 3600e9') == true ]]
}

@test "H7: one object a line; ids are strings, times RFC 3339, durations _ns" {
	submit -- true
	submit -- true
	work_off
	expect 0 list --json
	[[ ${#lines[@]} == 2 ]]
	jq -e '(.id | type == "string") and (.ended | test("^[0-9-]+T[0-9:.]+Z$")) and (.run_ns > 0)' \
		<<<"${lines[0]}"
}

@test "H7: every verb that prints knows --json" {
	local id verb

	id=$(submit -- true)
	for verb in status info stats trace version list "show $id" "wait --timeout 0 $id"; do
		# shellcheck disable=SC2086
		run --separate-stderr taskq --json $verb
		jq -e . <<<"${output:-null}" >/dev/null || [[ $verb == wait* ]]
	done
	[[ $(taskq --json submit -- true 2>/dev/null | jq -r .id) == 2-1 ]]
	[[ $(taskq --json cancel 2-1 | jq -r .cancel) == cancelled ]]
	[[ $(taskq --json purge | jq .cancelled) == 1 ]]
}

@test "A1: bad lines of a batch, each with its reason" {
	local line

	while read -r line; do
		run -2 --separate-stderr timeout 300 taskq submit --batch - <<<"$line"
		says "line 1: "
	done <<'END'
{
[]
{}
{"command":[]}
{"command":"ls"}
{"command":["a"],"priority":"urgent"}
{"command":["a"],"priority":99999999999}
{"command":["a"],"timeout_ns":-1}
{"command":["a"],"attempts_max":0}
{"command":["a"],"queue":"a b"}
{"command":["a"],"hold":1}
{"command":["a"],"command":["b"]}
{"command":["a\u0000b"]}
{"command":["a"],"env":{"A":1}}
{"command":["a"],"cwd":""}
{"command":["a"],"payload":"x"}
{"kind":"k","command":["a"]}
{"kind":"k","payload":5}
{"kind":"k","payload_base64":"@@"}
{"command":["a"],"nothing":1}
END
	expect 0 list
}

# What is read is of the same segment as what is written.
@test "fault.L1: a list leaves out what comes after its beginning" {
	yes '{"command":["true"]}' | head -1000 | submit --batch - >/dev/null
	taskq list --json | timeout 100 taskq submit --batch - >ids
	[[ $(wc -l <ids) == 1000 ]]
	[[ $(taskq list -H -o id | wc -l) == 2000 ]]
}
