#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each end point has the objects that the program prints.
load helper

# Ages go on between two looks, delays run down; and rates are there from the second one on.
same() {
	local filter='walk(if type == "object" then del(.age_ns, .delay_ns, .oldest_ready_ns, .time, .rates) else . end)'

	jq -S "$filter" "$1" >"$1.plain"
	jq -S "$filter" "$2" >"$2.plain"
	diff "$1.plain" "$2.plain"
}

# list PATH KEY: the array of the end point in "api", an object a line as the program has it.
list() {
	ask 200 "api/$1"
	jq -c ".$2[]" body >api
	[[ -s api ]]
}

# agree PATH KEY COMMAND...: the end point has what the command prints.
agree() {
	list "$1" "$2" && "${@:3}" >cli && same api cli
}

queues() {
	taskq stats --json | jq -c 'select(.queue)'
}

workers() {
	taskq --json | jq -c '.workers[]'
}

fill() {
	some_work
	submit --label 'a "b" <c> \d' --unique k --limit db -- sh -c 'echo "$0"' '</script>'
	submit --every 1h -- true
	taskq group new --label 'g "1"' >/dev/null
	taskq server add -q mail http://a
	farm -j2 -q none
}

# Between two looks something may happen: a worker looks around.  Then they are compared again.
@test "H7: /api/queues, workers, limits, groups, schedules are what taskq --json prints" {
	need_exporter
	fill
	exporter
	eventually 9 agree queues queues queues
	eventually 9 agree workers workers workers
	eventually 9 agree limits limits taskq limit list --json
	eventually 9 agree groups groups taskq group list --json
	eventually 9 agree schedules schedules taskq schedule list --json
}

@test "H7: /api/tasks is what taskq list --json prints, and its filters are the same" {
	need_exporter
	fill
	exporter
	eventually 9 agree tasks tasks taskq list --reverse --json
	eventually 9 agree 'tasks?queue=images&state=failed' tasks \
		taskq list --reverse --json -q images --state failed
	eventually 9 agree 'tasks?kind=thumbnail' tasks taskq list --reverse --json --kind thumbnail
	eventually 9 agree 'tasks?state=unfinished,failed&label=a%20%22b%22%20%3Cc%3E%20%5Cd' tasks \
		taskq list --reverse --json --label 'a "b" <c> \d'
	[[ $(wc -l <api) == 1 ]]
}

# Whether seven pages with ARGUMENTS are what `taskq list OPTION...` prints.
in_pages() { # ARGUMENTS OPTION...
	local cursor='' pages=0 arguments=$1

	shift
	rm -f api
	while :; do
		ask 200 "api/tasks?limit=40$arguments${cursor:+&cursor=$cursor}"
		jq -c '.tasks[]' body >>api
		pages=$((pages + 1))
		cursor=$(jq -r '.next // empty' body)
		[[ -n $cursor ]] || break
	done
	[[ $pages == 7 ]]
	taskq list "$@" --json >cli
	same api cli
}

@test "fault.L2: pages: all rows once, in the same order, and no next at the end" {
	need_exporter
	seq 250 | jq -c '{command: ["true"], label: "\(.)"}' | taskq submit --batch - >/dev/null 2>&1
	taskq cancel 7-1 >/dev/null
	taskq forget 7-1 >/dev/null
	submit -- true >/dev/null
	exporter
	ask 200 api/tasks
	[[ $(jq '.tasks | length' body) == 100 ]]
	in_pages '' --reverse
	in_pages '&order=newest' --reverse
	in_pages '&order=oldest'
	in_pages '&order=id' --sort id
	ask 200 'api/tasks?limit=1'
	[[ $(jq -r '.tasks[].id' body) == 7-2 ]]
	ask 400 'api/tasks?order=sideways'
}

@test "H7: without a segment all lists say so as taskq does" {
	need_exporter
	exporter
	for path in api/tasks api/queues api/tasks/1-1 api/tasks/1-1/why; do
		ask 503 "$path"
		jq -e '.error | endswith(": no such segment")' body
	done
}

@test "H7: payloads that are large are left out, and pages end when they have enough bytes" {
	local pages=0 cursor='' large huge

	need_exporter
	taskq create --max 256M
	jq -cn 'range(600) | {kind: "blob", payload: ("\u0001" * 4000)}' | taskq submit --batch - >/dev/null
	head -c 300000 /dev/zero | tr '\0' x >large
	head -c 2000000 /dev/zero | tr '\0' x >huge
	large=$(submit --kind blob --label large --payload @large)
	huge=$(submit --kind blob --label huge --payload @huge)
	exporter
	while :; do
		ask 200 "api/tasks?limit=1000${cursor:+&cursor=$cursor}"
		(($(wc -c <body) < 4 << 20))
		jq -c '.tasks[]' body >>api
		pages=$((pages + 1))
		cursor=$(jq -r '.next // empty' body)
		[[ -n $cursor ]] || break
	done
	((pages > 5))
	[[ $(jq -r .id api | sort -u | wc -l) == 602 ]]
	[[ $(jq -c 'select(.label == "large") | [.payload_bytes, has("payload")]' api) == '[300000,false]' ]]
	[[ $(jq -c 'select(.label == null) | has("payload")' api | sort -u) == true ]]
	ask 200 "api/tasks/$large"
	[[ $(jq '.payload | length' body) == 300000 ]]
	ask 200 "api/tasks/$huge"
	[[ $(jq -c '[.payload_bytes, has("payload")]' body) == '[2000000,false]' ]]
}

@test "H7: /api/tasks/ID and /why are what show and why print" {
	local id

	need_exporter
	fill
	exporter
	for id in $(taskq list --json | jq -r .id); do
		ask 200 "api/tasks/$id"
		taskq show --json "$id" >cli
		same body cli
		ask 200 "api/tasks/$id/why"
		taskq why --json "$id" >cli
		same body cli
	done
	ask 404 api/tasks/999-1
	id=$(taskq list --json --state failed | jq -r .id | head -n1)
	taskq forget "$id"
	ask 410 "api/tasks/$id"
	jq -e .error body
}

@test "H7 H8: /api/overview is what taskq-top --json prints" {
	need_exporter
	fill
	exporter
	eventually 9 overviews_agree
	# From the second look on, both have rates.
	eventually 5 has_rates
}

overviews_agree() {
	ask 200 api/overview && taskq-top --json -n1 >cli && same body cli
}

has_rates() {
	ask 200 api/overview && jq -e '.rates.started >= 0' body
}
