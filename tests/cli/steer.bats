#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# cancel, retry, hold, update, forget; pause, drain, purge.
load helper

@test "fault.L6: held tasks are a figure of their own, and not ready" {
	local id

	id=$(submit --hold -- true)
	submit -- true
	submit --hold --delay 1h -- true # delayed, and it stays so
	expect 0
	[[ $output =~ READY\ +HELD\ +WAITING\ +RUNNING ]]
	[[ $output =~ open\ +0\ +1\ +1\ +1\ +0 ]]
	taskq --json | jq -e '.queues[0] | .depth.ready == 1 and .held == 1 and .depth.delayed == 1' >/dev/null
	expect 0 stats
	prints "delayed 1  ready 1  running 0  held 1"
	[[ $(taskq stats -H -o ready,held,delayed) == 1$'\t'1$'\t'1 ]]
	taskq stats --prometheus >metrics
	grep -q 'taskq_tasks{queue="default",state="ready"} 1$' metrics
	grep -q 'taskq_tasks{queue="default",state="held"} 1$' metrics
	expect 0 queue show
	not grep -q 'ready 2' <<<"$output"
	taskq unhold "$id"
	[[ $(taskq stats -H -o ready,held) == 2$'\t'0 ]]
	taskq hold "$id"
	expect 0 purge
	[[ $(taskq stats -H -o ready,held,delayed) == 0$'\t'0$'\t'0 ]]
	expect 0 check
}

@test "E7: cancel a waiting task at once, a running one by ending it" {
	local waiting running

	waiting=$(submit -q other -- true)
	expect 0 cancel "$waiting"
	is "$waiting" state cancelled
	farm -j1
	running=$(submit --retries 5 -- sh -c "echo \$\$ >$PWD/child; sleep 60")
	eventually 5 test -s child
	expect 0 cancel "$running"
	eventually 5 is "$running" state cancelled
	is_gone "$(cat child)"
	is "$running" attempt 1
}

@test "E7: a cancel holds although no worker is up" {
	local id

	farm -j1
	id=$(submit -- sleep 60)
	eventually 5 is "$id" state running
	kill -KILL "$pid"
	taskq cancel "$id"
	work_off
	is "$id" state cancelled
	is "$id" attempt 1
}

@test "E7: what ignores TERM is killed after the grace time" {
	local id

	farm -j1 --grace 200ms
	id=$(submit -- sh -c "trap '' TERM; touch up; while :; do sleep 0.1; done")
	eventually 5 test -e up
	taskq cancel "$id"
	eventually 5 is "$id" state cancelled
}

@test "H7: what a task took is its last attempt's time, not what it waited after that" {
	local id began

	id=$(submit --retries 3 --backoff 1h -- false)
	farm -j1
	eventually 10 is "$id" state delayed
	began=$(date +%s%N)
	eventually 5 eval '(($(date +%s%N) - began > 10 ** 9))'
	taskq cancel "$id"
	is "$id" state cancelled
	[[ $(field "$id" 'run_ns == .history[0].duration_ns') == true ]]
	(($(field "$id" run_ns) < 10 ** 9))
	[[ $(taskq show -H -o run "$id") == 0.* ]]
	expect 0 show "$id"
	[[ $(sed -n 's/^took *//p' <<<"$output") == *ms ]]
	id=$(submit --delay 1h -- true)
	taskq cancel "$id"
	is "$id" run_ns null
}

@test "E10: the history of a retried task does not make up a worker" {
	local id

	id=$(submit -- false)
	work_off
	taskq retry "$id"
	[[ $(field "$id" 'history[0].worker') == null ]]
	expect 0 show "$id"
	[[ $(grep -A1 ATTEMPT <<<"$output" | tail -n 1) == *1*-*exit:1 ]]
}

@test "E10: retry gives a new life, with its history; --failed takes all of a queue" {
	local id

	id=$(submit -- sh -c '[ -e ok ]')
	submit -q other -- false
	work_off -q default,other
	is "$id" state failed
	touch ok
	expect 0 retry "$id"
	work_off
	is "$id" state done
	is "$id" attempt 2
	expect 1 retry --failed -q default
	prints "0 tasks retried"
	expect 0 retry --failed
	[[ $(taskq list --json -q other | jq -r .state) == ready ]]
	expect 5 retry --failed -q nowhere
	expect 2 retry --failed "$id"
}

@test "fault.L11: retry runs what was done once more, and nothing that came after it" {
	local id after

	id=$(submit -L twice -- sh -c 'echo >>ran; taskq checkpoint >>ran || taskq checkpoint end')
	after=$(submit --after "$id" -- sh -c 'echo >>ran_after')
	work_off
	expect 0 retry "$id"
	is "$id" state ready
	is "$after" state done
	work_off
	is "$id" state done
	is "$id" attempt 2
	# It began anew: without the checkpoint of its first life.
	[[ $(wc -l <ran) == 2 ]]
	[[ $(wc -l <ran_after) == 1 ]]
	expect 0 retry --dependants "$id"
	work_off
	[[ $(wc -l <ran_after) == 1 ]]
}

@test "fault.L11: update changes label, retries and time-outs of what waits" {
	local id

	id=$(submit -L before --timeout 1h -- false)
	expect 0 update --relabel 'after all' --retries 2 --timeout 2s --timeout-total 1m "$id"
	is "$id" label 'after all'
	is "$id" attempts_max 3
	is "$id" timeout_ns 2000000000
	is "$id" timeout_total_ns 60000000000
	[[ $(taskq list --json | jq -c .command) == '["false"]' ]]
	expect 0 update --timeout off --timeout-total off --retries 0 "$id"
	is "$id" timeout_ns null
	work_off
	is "$id" failures 1
	is "$id" label 'after all'
	expect 1 update --relabel late "$id"
	says "only tasks that wait"
	id=$(submit -L before -- true "$(printf '%5000s')")
	expect 2 update --relabel after "$id"
	says "more than 4096 bytes, so its label stays"
	is "$id" label before
	id=$(submit -- true)
	expect 2 update --timeout 0 "$id"
	expect 2 update --retries 256 "$id"
	expect 2 update --relabel "$(printf '%128s')" "$id"
}

limits_are() { # ID KEYS, as JSON, by name
	[[ $(taskq show --json "$1" | jq -c '.limits // [] | sort') == "$2" ]]
}

@test "fault.L11: update changes the limits of what waits, also of what is parked, held or blocked" {
	local holder parked held blocked

	taskq create
	expect 0 limit set full 1
	holder=$(submit --limit full -- sh -c 'until [ -e go ]; do sleep 0.05; done')
	farm -j 2
	eventually 10 is "$holder" state running
	parked=$(submit --limit full --limit other -- true)
	held=$(submit --limit full -- true)
	expect 0 hold "$held"
	blocked=$(submit --after "$holder" -- true)
	limits_are "$parked" '["full","other"]'
	expect 0 update --limit free "$parked"
	expect 0 wait "$parked"
	limits_are "$parked" '["free"]'
	expect 0 update --limit free --limit full "$held" "$blocked"
	[[ $(taskq limit show --json full | jq .tasks) == 3 ]]
	expect 0 update --no-limits "$held"
	limits_are "$held" '[]'
	expect 0 unhold "$held"
	expect 0 wait "$held"
	expect 1 update --limit free "$holder"
	says "only tasks that wait"
	expect 2 update --limit a --no-limits "$blocked"
	expect 2 update --limit '' "$blocked"
	touch go
	expect 0 wait "$blocked"
	limits_are "$blocked" '["free","full"]'
}

@test "H1: update changes priority, queue and delay of what waits" {
	local id

	taskq create -q slow
	id=$(submit -- true)
	expect 0 update -p -7 --move slow --delay 1h "$id"
	is "$id" priority -7
	is "$id" queue slow
	is "$id" state delayed
	expect 0 stats -H -o queue,submitted,moved
	prints $'default\t1\t1'
	prints $'slow\t1\t0'
	expect 5 update --move nowhere "$id"
	says 'queue "nowhere": no such queue'
	expect 2 update "$id"
	says "nothing to change"
}

@test "H1 C1 B5: update sets and moves a start by the wall clock and a deadline" {
	local id seen

	id=$(submit -L label -- echo 'a b')
	expect 0 update --at 2101-03-01T08:00:00Z --deadline 1h "$id"
	is "$id" state delayed
	is "$id" at 2101-03-01T08:00:00.000Z
	is "$id" label label
	[[ $(field "$id" deadline) != null ]]
	expect 0 update --at 2102-03-01T08:00:00Z --deadline off "$id"
	is "$id" at 2102-03-01T08:00:00.000Z
	is "$id" deadline null
	expect 0 update --at 1999-12-31T23:59:59Z "$id"
	is "$id" state ready
	work_off
	is "$id" state done
	seen=$(taskq log "$id")
	[[ $seen == 'a b' ]]
	id=$(submit --delay 1h -- true)
	expect 0 update --deadline 200ms "$id"
	farm -j 1 -q other
	expect 125 wait "$id"
	says "expired, deadline"
}

@test "H1: update refuses two starts and bad times, naming field and form" {
	local id

	id=$(submit -- true)
	expect 2 update --at 12:00 --delay 1h "$id"
	says "--at and --delay exclude each other"
	expect 2 update --at noon "$id"
	says '--at "noon"'
	expect 2 update --deadline 0 "$id"
	says '--deadline "0"'
	expect 2 update --deadline soon "$id"
	says '--deadline "soon"'
	is "$id" state ready
}

@test "H1: pause and resume a queue" {
	local id

	id=$(submit -- true)
	expect 0 pause
	work_off
	is "$id" state ready
	expect 0 resume default
	work_off
	is "$id" state done
}

@test "H1: drain refuses new tasks and finishes the rest" {
	local id

	id=$(submit -- true)
	expect 0 drain
	expect 1 submit -- true
	says "draining"
	says "drain --undo"
	work_off
	is "$id" state done
	expect 0 drain --undo
	expect 0 submit -- true
}

@test "fault.T8: a drained queue takes what its own running tasks submit, and nothing else" {
	local own other

	farm -j 1
	farm -j 1 -q other
	echo '{"label":"batch","command":["true"]}' >batch
	echo '{"nodes":[{"name":"a","label":"graph","command":["true"]}]}' >graph
	own=$(submit -- sh -c 'taskq drain && taskq submit -L next -- true &&
		taskq submit --batch batch && taskq submit --graph graph')
	expect 0 wait "$own"
	[[ $(taskq list --json | jq -r 'select(.label) | .label' | sort | xargs) == "batch graph next" ]]
	other=$(submit -q other -- taskq submit -q default -- true)
	expect 1 wait "$other"
	expect 1 submit -- true
	says "draining"
}

@test "H1: purge cancels what waits, all of it, and says how much" {
	seq 500 | jq -c '{command: ["true"]}' | submit --batch - >/dev/null
	submit --hold -- true
	submit --delay 1h -- true
	expect 0 purge
	[[ $output == "502 tasks cancelled" ]]
	[[ $(taskq list --json | jq -r .state | sort -u) == cancelled ]]
	expect 0 purge
	[[ $output == "0 tasks cancelled" ]]
	expect 0 submit -- true
}

@test "A4: forget frees a finished record; its id is gone for good" {
	local id next

	id=$(submit -- false)
	work_off
	expect 0 forget --failed
	expect 5 show "$id"
	next=$(submit -- true)
	[[ $next != "$id" ]]
	expect 5 cancel "$id"
	says "freed"
}

@test "steering in the wrong state says the state and what is possible" {
	local id

	id=$(submit -- true)
	expect 1 retry "$id"
	says "retry $id: it is ready"
	expect 1 forget "$id"
	says "only tasks that have ended"
	work_off
	for verb in cancel hold unhold 'update -p 1'; do
		# shellcheck disable=SC2086
		expect 1 $verb "$id"
		says "it is done"
		says "only tasks that"
	done
}

@test "fault.L4: the same filters for hold, unhold, update, retry, forget and wait, and how many" {
	local group one two other

	taskq create -q other
	group=$(taskq group new)
	one=$(submit -L mine -- true)
	two=$(submit -L mine --group "$group" -- true)
	other=$(submit -q other -L mine --kind k --payload x)
	expect 0 hold -L mine -q default
	[[ $output == "2 tasks held" ]]
	not is "$other" flags '["held"]'
	expect 0 hold -L mine
	[[ $output == "1 task held" ]]
	expect 1 hold -L mine
	[[ $output == "0 tasks held" ]]
	expect 0 unhold --group "$group" --json
	[[ $output == "{\"id\":\"$two\"}" ]]
	expect 0 unhold -L mine
	[[ $output == "2 tasks let go" ]]
	expect 0 update -p 7 -K k
	[[ $output == "1 task changed" && $(field "$other" priority) == 7 ]]
	expect 0 update --move default -q other
	is "$other" queue default
	expect 2 update -p 7 -q other "$one"
	expect 2 hold -S running
	says "only tasks that wait"
	expect 0 cancel -K k
	expect 75 wait -q default --timeout 0
	work_off
	expect 0 wait -q default
	[[ $output == "0 tasks have ended" ]]
	expect 0 wait -L mine -S "done"
	[[ $output == "2 tasks have ended" ]]
	expect 1 wait -L mine -S finished
	expect 0 retry -L mine
	[[ $output == "1 task retried" ]]
	expect 0 forget -L mine -S "done"
	[[ $output == "2 tasks forgotten" ]]
	[[ $(taskq list -H -o label --group "$group") == mine ]]
	expect 5 hold --group g99-1
	expect 2 hold
	says "the id is missing"
}
