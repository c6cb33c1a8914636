#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# taskq dump, taskq load: a queue goes to another segment.
load helper

end_more() {
	taskq -s "$TASKQ_SEGMENT-to" destroy --force 2>/dev/null || true
}

to() {
	taskq -s "$TASKQ_SEGMENT-to" "$@"
}

# tells FILE: what a dump says, with ids in the order in which they come, and without what is
# new with each dump; of a deadline, which is counted from a load on, that there is one.
tells() {
	jq -c 'del(.dump, .taken, .segment)
		| walk(if type == "object" then del(.state) else . end)
		| walk(if type == "object" and .deadline_at then .deadline_at = true else . end)' \
		"$1" | awk '{
		while (match($0, /"g?[0-9]+-[0-9]+"/)) {
			id = substr($0, RSTART, RLENGTH)
			if (!(id in seen))
				seen[id] = "<" ++count ">"
			$0 = substr($0, 1, RSTART - 1) seen[id] substr($0, RSTART + RLENGTH)
		}
		print
	}'
}

# deadlines FILE: in seconds.
deadlines() {
	jq -r '.. | objects | .deadline_at // empty' "$1" | date +%s -f -
}

# Deadlines lie within a minute of each other, also where another minute has begun between them.
same() {
	diff <(tells "$1") <(tells "$2") && paste <(deadlines "$1") <(deadlines "$2") |
		awk '{ off = $2 - $1; bad += NF != 2 || off < -60 || off > 60 } END { exit bad }'
}

# finished: the load of all, also when one that was killed has not gone quite yet (75).
finished() {
	to load all 2>said || grep 'has been loaded' said || { cat said; return 1; }
}

# Something of everything.
scene() {
	local a b group

	taskq create -q default
	taskq create -q web 2>/dev/null || true
	taskq queue set --ageing low=0.5,high=2 --max-depth 100 --timeout 1h --retries 2 default
	submit -q web --hold -- true
	taskq queue set --fair on --bands 0,10,20 --max-wait 90s web
	taskq server add -q web http://a http://b
	taskq limit set -q web --server 'http://*' 7
	taskq pause web
	taskq kind set thumb --timeout off --retries 3 --backoff 2s:9s
	taskq limit set db 3
	taskq limit set api --rate 10/s --burst 20
	a=$(submit -p high --retries 4 --limit db --limit api -- sh -c 'echo a')
	b=$(submit --after "$a" --delay 1h --deadline 2h --hold --keep -L bee -- true)
	submit --at '2030-01-01 10:00' --timeout 5s --timeout-total 9s --progress-timeout 7s \
		--backoff 2s:9s --env 'A=b=c' --cwd / --allow-leftovers -o o --append -- printf %s $'\xff\n'
	group=$(taskq group new -L all -- echo completion)
	submit --group "$group" --after-any "$a,$b" --unique k --kind thumb --payload $'bin\xff'
	submit --group "$group" --after-fail "$a" --unique-scope queued --unique q -p -7 -- true
	taskq group seal "$group"
	submit --group "$(taskq group new -L open)" --forget --at-most-once --fair me -- true
	submit --every 10m --name poll --at-most-once --timeout 3s -- ./poll
	submit --cron '5 4 * * *' --tz Europe/Berlin --overlap queue --catch-up 3 -- ./nightly
	taskq schedule pause poll
	[[ $(taskq list --json | wc -l) == 8 ]]
}

@test "issue 14.6: a dump that is loaded and dumped again says the same" {
	scene
	taskq drain default
	taskq dump >one
	grep -q '"payload_base64"' one
	to load one
	to dump >two
	same one two
	[[ $(jq -s '[.[] | select(.record == null)] | length' two) == 7 ]]
	to check
	# What is not as before stays seen: the test can fail.
	to update -p 5 "$(to list --json -L bee | jq -r .id)"
	to dump >three
	not same one three
}

@test "issue 14.6: what is loaded runs, in the old order" {
	local last

	for n in 1 2 3 4 5; do
		last=$(submit ${last:+--after "$last"} -- sh -c "echo $n >>'$PWD/ran'")
		submit -- sh -c "echo late $n >>'$PWD/ran'"
	done
	taskq dump | to load -
	timeout 300 taskq -s "$TASKQ_SEGMENT-to" work -j1 -Q --until-empty
	[[ $(sort ran | wc -l) == 10 && $(sort -u ran | wc -l) == 10 ]]
	diff <(grep -v late ran) <(seq 5)
}

@test "issue 14.6: a load that found no room goes on where it was broken off" {
	local last ids

	for n in $(seq 40); do
		last=$(submit ${last:+--after "$last"} --label "$n" -- true)
	done
	submit --unique here -- true
	taskq dump >all
	to create -q default
	to queue set --max-depth 17 default
	run -4 --separate-stderr taskq -s "$TASKQ_SEGMENT-to" load all
	says "16 tasks are there"
	[[ $(to list --json -S ready | jq -c .hold) == true ]] # the gate; none of them may start
	run -4 taskq -s "$TASKQ_SEGMENT-to" load all
	to queue set --max-depth off default
	to load all
	[[ $(to list --json -S unfinished | wc -l) == 41 ]]
	to dump >loaded
	same all loaded
	to check
	run -1 --separate-stderr taskq -s "$TASKQ_SEGMENT-to" load all
	says "it has been loaded"
	[[ $(to list --json -S unfinished | wc -l) == 41 ]]
}

@test "issue 14.6: a load killed anywhere, and called again, loads all once" {
	local last group delay

	scene
	for n in $(seq 300); do
		submit -q many --label "$n" ${last:+--after "$last"} -- true >new
		[[ $((n % 3)) != 0 ]] || last=$(<new)
	done
	taskq dump >all
	for delay in 0.001 0.003 0.005 0.007 0.009 0.012 0.015 0.02 0.03; do
		end_more
		for again in 1 2 3; do
			timeout -s KILL "$delay" taskq -s "$TASKQ_SEGMENT-to" load all >/dev/null 2>&1 || true
		done
		eventually 5 finished 3>&-
		to dump >loaded
		same all loaded
		to check
	done
}

@test "issue 14.6: members that have failed count in the group, and those that are done" {
	local group bad

	for bad in false true; do
		for when in ok fail; do
			group=$(taskq group new --when "$when" -L "$bad-$when" -- true)
			submit --group "$group" -- "$bad"
			taskq group seal "$group" 2>/dev/null
		done
	done
	work_off -q default || true
	for bad in false true; do
		for when in ok fail; do
			group=$(taskq group new --when "$when" -L "$bad-$when-open" -- true)
			submit --group "$group" -- "$bad"
		done
	done
	timeout 300 taskq work -j1 -Q --until-empty || true
	taskq dump | to load -
	for group in $(to group list --json | jq -r .id); do to group seal "$group"; done
	timeout 300 taskq -s "$TASKQ_SEGMENT-to" work -j1 -Q --until-empty || true
	diff <(to list --json | jq -r 'select(.label | test("-open")) | "\(.label) \(.state)"' | sort) - <<-E
		false-fail-open done
		false-ok-open cancelled
		true-fail-open cancelled
		true-ok-open done
	E
}

@test "issue 14.6: what runs is to run again, but not what runs at most once" {
	local twice once

	twice=$(submit --retries 2 --unique-scope queued --unique u -- sleep 60)
	once=$(submit --at-most-once -- sleep 60)
	farm -j2
	eventually 10 is "$twice" state running
	eventually 10 is "$once" state running
	submit --unique u -- true
	expect 0 dump
	says "2 tasks are running here, and wait in the dump"
	says "1 task has begun that runs at most once: it is held"
	printf '%s\n' "$output" >all
	taskq cancel "$twice" "$once" # the farm does not wait for them in the end
	to load all
	to list --json -S unfinished >there
	[[ $(jq -c 'select(.hold) | .at_most_once' there) == true ]]
	[[ $(jq -c 'select(.hold | not)' there | wc -l) == 2 ]] # one has the key by now
}

@test "issue 14.6: tasks that are there stay, and a unique key is not loaded twice" {
	submit --unique k -L old -- true
	submit -L new -- true
	taskq dump >all
	to submit --unique k -L mine -- true 2>/dev/null
	run -0 --separate-stderr taskq -s "$TASKQ_SEGMENT-to" load all
	says "1 task was there already"
	diff <(to list -H -o label -S ready | sort) <(printf '%s\n' mine new)
}

@test "issue 14.6: more dependencies than a submit takes" {
	local ids last

	ids=$(for n in $(seq 90); do submit -- true; done)
	last=$(submit --hold -- true)
	for id in $ids; do taskq update --after "$id" "$last"; done
	taskq dump >one
	to load one
	to dump >two
	same one two
	[[ $(jq -s '.[-2].after | length' two) == 90 ]]
}

@test "issue 14.6: --no-settings leaves queues and limits" {
	scene
	taskq dump | to load --no-settings -
	[[ $(to limit show --json db | jq .slots) == null ]]
	[[ $(to queue show --json default | jq .depth_max) == null ]]
}

@test "issue 14.6: what is no file is named as such" {
	expect 2 load /
	says 'FILE "/": Is a directory'
	expect 2 load /dev/null
	says "No data available"
}

@test "issue 14.6: bad files are refused whole, with the line" {
	scene
	taskq dump >all
	run -0 taskq -s "$TASKQ_SEGMENT-to" load --dry-run all
	prints "8 tasks, 2 groups, 2 schedules would be loaded"
	head -n -1 all >cut
	sed '3d' all >less
	sed 's/"priority":100/"priority":"tall"/' all >tall
	sed 's/"after":\["[0-9-]*"\]/"after":["99-1"]/' all >dangling
	{ cat all; echo '{}'; } >more
	sed 's/"format":1/"format":2/' all >newer
	sed 's/"record":"limit"/"record":"lemon"/' all >lemon
	{ sed '$d' all; head -n 1 all; tail -n 1 all; } >two
	: >empty
	for what in "cut:it is not whole" "less:but its end says" 'tall:"priority" is not' \
		"dangling:99-1 does not stand before it" "more:more behind the end" \
		"newer:a dump of format 2" 'lemon:a record "lemon"' "two:another dump begins" \
		"empty:it is not whole"; do
		run -2 --separate-stderr taskq -s "$TASKQ_SEGMENT-to" load "${what%%:*}"
		says "${what#*:}"
		says "line "
		says "nothing was loaded"
	done
	run -5 taskq -s "$TASKQ_SEGMENT-to" info # none of them has made it
	expect 2 load /nowhere
	expect 2 load .
}

@test "issue 14.6: a task's line is one of a batch, the others are not" {
	scene
	taskq dump >all
	jq -c 'select(.record == null) | del(.after, .after_any, .after_fail, .group)' all |
		to submit --batch - 2>/dev/null >ids
	[[ $(wc -l <ids) == 7 ]]
	expect 2 submit --batch all
	says 'of a dump, and no task: `taskq load` reads it'
	run -0 taskq -s "$TASKQ_SEGMENT-to" list --json -L bee
	[[ $(jq -r .deadline <<<"$output") == $(jq -r 'select(.label == "bee").deadline_at[:16]' all)* ]]
}

@test "issue 14.6: a dump that cannot be written says so, and is not taken for one" {
	scene
	run -1 --separate-stderr bash -c 'taskq dump >/dev/full'
	[[ $(grep -c . <<<"$stderr") == 1 ]]
	taskq dump | head -n 3 >cut || true
	run -2 taskq -s "$TASKQ_SEGMENT-to" load cut
}

@test "issue 14.6: a dump waits for nobody, and changes nothing" {
	scene
	taskq dump >one
	start "$TASKQ_LOCK_HOLDER" "$TASKQ_SEGMENT"
	eventually 10 is_in "$pid" T
	timeout 300 taskq dump >two
	same one two
	run -75 --separate-stderr timeout 300 bash -c 'taskq load one & first=$!
		while ! grep -q taskq-load /proc/net/unix; do kill -0 $first || break; done
		taskq load one; code=$?; kill $first; wait $first; exit $code'
	says "another process loads it"
	kill -KILL "$pid" # who is stopped ends by nothing else
}
