#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# submit --graph: tasks that depend on each other, all or none; graph: what depends on what.
load helper

# hand_in ARG...: the graph on standard input; prints its group.
hand_in() {
	taskq submit --graph - "$@" 2>/dev/null
}

# refused TEXT: the graph on standard input is, with TEXT, and leaves no segment.
refused() {
	expect 2 submit --graph -
	says "$1"
	says "nothing was handed in"
}

# node GROUP TEXT FIELD: of the node with that text, as `taskq graph` sees it.
node() {
	taskq graph --json "$1" | jq -r --arg text "$2" "select(.text == \$text) | .$3"
}

@test "D2: a diamond runs in its order" {
	local g

	g=$(hand_in -L night <<-'END'
		{"nodes":[
		 {"name":"join","command":["sh","-c","echo join >>order"],"after":["left","right"]},
		 {"name":"left","command":["sh","-c","echo side >>order"],"after":["top"]},
		 {"name":"right","command":["sh","-c","echo side >>order"],"after":["top"]},
		 {"name":"top","command":["sh","-c","echo top >>order"]}]}
	END
	)
	[[ $g == g*-* ]]
	expect 0 graph "$g"
	[[ ${lines[1]} == *0*ready*top* ]]
	[[ ${lines[2]} == *1*blocked*left*top* ]]
	[[ ${lines[4]} == *2*blocked*join*"left, right"* ]]
	work_off -j2
	[[ $(paste -sd' ' order) == "top side side join" ]]
	[[ $(taskq group show --json "$g" | jq -r '.label, .state, .states.done') == $'night\ncomplete\n4' ]]
	expect 0 graph "$g"
	[[ ${lines[1]} == *0*done*top* ]]
	[[ ${lines[4]} == *2*done*join*"left, right"* ]]
	expect 0 graph "$(node "$g" left id)"
	[[ ${#lines[@]} == 4 && ${lines[1]} == *-1*top* && ${lines[3]} == *1*join*"left, 1 elsewhere"* ]]
}

@test "D1: the clean-up node runs after a failure, and what cannot run says why" {
	local g

	cat >graph.json <<-'END'
		{"nodes":[
		 {"name":"make","command":["sh","-c","exit 3"]},
		 {"name":"use","command":["touch","used"],"after":["make"]},
		 {"name":"clean","command":["touch","cleaned"],"after":[{"name":"make","when":"any"}]},
		 {"name":"alarm","command":["touch","alarmed"],"after_fail":["make"]}]}
	END
	start taskq submit --graph graph.json --wait
	eventually 5 test -s out
	work_off
	ends 1 "$pid"
	g=$(cat out)
	grep -q '"make" failed, exit:3' err
	grep -q '1 other is cancelled' err
	[[ -e cleaned && -e alarmed && ! -e used ]]
	[[ $(node "$g" use outcome) == "cancelled, dependency:$(node "$g" make id)" ]]
	[[ $(node "$g" clean 'after[0].when') == any ]]
}

@test "D2: with --json a line for each node; with --wait, exit 0 when all are done" {
	farm -j1
	expect 0 submit --graph - --json --wait <<<'{"nodes":[
		{"name":"a","command":["true"]}, {"name":"b","command":["true"],"after":["a"]}]}'
	[[ $(jq -r 'select(.name == "b").id' <<<"$output") == *-* ]]
	[[ $(jq -sr 'map(select(.state == "done")) | length' <<<"$output") == 2 ]]
	[[ $(jq -sr 'map(.group // .member_of) | unique | length' <<<"$output") == 1 ]]
}

@test "D2: options are defaults for what a node does not say; tasks from before have ids" {
	local before g

	before=$(submit -- false)
	g=$(hand_in -q build -p high --after-any "$before" <<<'{"nodes":[
		{"name":"a","command":["true"]},
		{"name":"b","command":["true"],"queue":"other","priority":1,"after":["a"]}]}')
	[[ $(taskq show --json "$(node "$g" a id)" |
		jq -r '.queue, .priority, .label, .after_any[0]') == $'build\n100\na\n'"$before" ]]
	[[ $(taskq show --json "$(node "$g" b id)" | jq -r '.queue, .priority, .after_any') == \
		$'other\n1\nnull' ]]
	[[ $(node "$g" a after_elsewhere) == 1 ]]
	expect 0 submit --graph - <<<"{\"nodes\":[{\"name\":\"c\",\"command\":[\"true\"],
		\"after\":[{\"name\":\"$before\",\"when\":\"fail\"}]}]}"
}

@test "D2: what is wrong with a file is said with the node and the field" {
	refused "line 2, column" <<<'{"nodes":['
	refused 'not an object such as' <<<'[]'
	refused '"nodes" is missing' <<<'{}'
	refused 'unknown field "node"' <<<'{"node":[]}'
	refused '"nodes" is not an array' <<<'{"nodes":{}}'
	refused '"nodes" is empty' <<<'{"nodes":[]}'
	refused 'nodes[1]: not an object' <<<'{"nodes":[{"name":"a","command":["x"]},3]}'
	refused 'nodes[0]: "name" is missing' <<<'{"nodes":[{"command":["x"]}]}'
	refused 'nodes[0]: "name" is not a string' <<<'{"nodes":[{"name":7}]}'
	refused 'nodes[0]: "name" is not a string of 1 to 127' <<<'{"nodes":[{"name":""}]}'
	refused 'nodes[1] "a": nodes[0] has that name' \
		<<<'{"nodes":[{"name":"a","command":["x"]},{"name":"a","command":["x"]}]}'
	refused 'nodes[0] "a": "command" is not an array' <<<'{"nodes":[{"name":"a"}]}'
	refused 'nodes[0] "a": unknown field "comand"' <<<'{"nodes":[{"name":"a","comand":["x"]}]}'
	refused 'nodes[0] "a": "unique" is not for a node' \
		<<<'{"nodes":[{"name":"a","command":["x"],"unique":"k"}]}'
	refused 'nodes[1] "run": after: there is no node "liink" (did you mean "link"?)' <<<'{"nodes":[
		{"name":"link","command":["x"]},{"name":"run","command":["x"],"after":["liink"]}]}'
	refused 'nodes[0] "a": after: there is no node "zzzzzz"' \
		<<<'{"nodes":[{"name":"a","command":["x"],"after":["zzzzzz"]}]}'
	not says "did you mean"
	refused 'nodes[0] "a": after: not an array' \
		<<<'{"nodes":[{"name":"a","command":["x"],"after":"b"}]}'
	refused 'nodes[0] "a": after: an entry is not such as' \
		<<<'{"nodes":[{"name":"a","command":["x"],"after":[{"name":"b"}]}]}'
	refused 'nodes[0] "a": after: "when" of "a" is not ok, any or fail' \
		<<<'{"nodes":[{"name":"a","command":["x"],"after":[{"name":"a","when":"if"}]}]}'
	expect 5 list
	expect 2 submit --graph absent.json
	says 'No such file'
	expect 125 submit --graph absent.json --wait
	expect 2 submit --graph .
	says '--graph ".": Is a directory'
	refused 'payload_base64 holds any bytes' <<<'{"nodes":[{"name":"a","command":["x\u0000"]}]}'
}

@test "D2: a cycle is refused, with those that are in it" {
	refused 'c -> b -> a -> c' <<<'{"nodes":[{"name":"x","command":["x"]},
		{"name":"a","command":["x"],"after":["b"]},{"name":"b","command":["x"],"after":["c"]},
		{"name":"c","command":["x"],"after":["a","x"]}]}'
	refused 'a -> a' <<<'{"nodes":[{"name":"a","command":["x"],"after":["a"]}]}'
	expect 5 list # no segment was made for it
}

@test "D2: a task from before that is not there is named" {
	submit -- true
	expect 5 submit --graph - <<<'{"nodes":[{"name":"a","command":["x"]},
		{"name":"b","command":["x"],"after":["a","99-1"]}]}'
	says 'nodes[1] "b": after 99-1: no such task'
	[[ $(taskq list --json | wc -l) == 1 ]]
}

@test "D2: options that a graph cannot have" {
	local options

	for options in "-- true" "--batch -" "--unique k" "--group g1-1" "--full-timeout 1" \
		"--every 5s" "--kind k --payload x"; do
		# shellcheck disable=SC2086 # words
		expect 2 submit --graph - $options
	done
}

@test "graph: a task with what it waits for and what waits for it, not with others" {
	local a b c other

	a=$(submit -L first -- true)
	b=$(submit -L second --after "$a" -- true)
	c=$(submit -L third --after-any "$b" -- true)
	other=$(submit -L other --after "$a" -- true)
	expect 0 graph "$b"
	prints "LAYER"
	[[ ${#lines[@]} == 4 ]]
	[[ ${lines[1]} == *-1*"$a"*first* && ${lines[2]} == *0*"$b"*second*first* ]]
	[[ ${lines[3]} == *1*"$c"*third*"second (any)"* ]]
	expect 0 graph --max 2 "$b"
	says "2 tasks are shown, and there are more"
	expect 0 graph "$a"
	prints other
	expect 5 graph 999-1
	expect 5 graph g999-1
	expect 2 graph nothing
	says "such as 17-3"
	expect 2 graph
	expect 2 graph --dot --json "$a"
	expect 2 graph --max 0 "$a"
}

@test "D5: graph: a completion task comes after the members of its group" {
	local g id

	g=$(taskq group new -- echo end)
	id=$(submit --group "$g" -L first -- true)
	submit --group "$g" -L second --after "$id" -- true
	submit --group "$g" -L lone -- true
	expect 0 graph "$g"
	[[ ${#lines[@]} == 5 && ${lines[4]} == *2*blocked*"echo end"*"second (any), lone (any)"* ]]
	id=$(node "$g" "echo end" id)
	expect 0 graph "$id"
	[[ ${#lines[@]} == 5 && ${lines[4]} == *0*"echo end"*"second (any), lone (any)"* ]]
	[[ $(node "$id" first layer) == -2 ]]
	taskq group seal "$g"
	work_off
	expect 0 graph "$g"
	[[ ${lines[4]} == *2*done*"echo end"*"second (any), lone (any)"* ]]
	expect 0 graph --dot "$g"
	[[ $(grep -c -- '->' <<<"$output") == 3 ]]
}

@test "graph: what Graphviz reads is well formed, whatever a label says" {
	local g

	g=$(hand_in <<<'{"nodes":[{"name":"a \"b\\c\u001b[2J\n->{","command":["true"]},
		{"name":"b","command":["true"],"after_any":["a \"b\\c\u001b[2J\n->{"]}]}')
	expect 0 graph --dot "$g"
	prints '\"b\\c'
	prints 'style=dashed'
	not prints $'\e'
	type -P dot >/dev/null || skip "no Graphviz"
	expect 0 graph --svg x.svg "$g"
	grep -q '<svg' x.svg
	expect 0 graph --png - "$g"
	expect 1 graph --svg absent/x.svg "$g"
	says "dot has failed"
}

@test "graph: a picture without Graphviz says what to install" {
	local g taskq

	g=$(hand_in <<<'{"nodes":[{"name":"a","command":["true"]}]}')
	taskq=$(type -P taskq)
	run -1 --separate-stderr env PATH=/nonexistent "$taskq" graph --svg x.svg "$g"
	says 'install Graphviz, the package "graphviz"'
}

# layers N: a graph of N nodes in layers of 100, each after three of the layer before.
layers() {
	jq -nc "{nodes: [range($1) | . as \$i | {name: \"n\\(.)\", command: [\"true\"],
		after: (if . < 100 then [] else [range(3) |
			\"n\\((\$i / 100 | floor - 1) * 100 + (\$i * 7 + . * 31) % 100)\"] end)}]}"
}

@test "graph: 10,000 nodes are drawn in seconds" {
	local g n=10000

	[[ -z ${TASKQ_SLOW:-} ]] || n=1000
	layers "$n" >large.json
	g=$(taskq submit --graph large.json 2>/dev/null)
	[[ $(taskq graph "$g" | wc -l) == $((n + 1)) ]]
	[[ $(taskq graph --json "$g" | jq -s 'map(.layer) | max') == $((n / 100 - 1)) ]]
	type -P dot >/dev/null || skip "no Graphviz"
	timeout 100 taskq graph --svg large.svg "$g"
	[[ $(grep -c 'class="node"' large.svg) == "$n" ]]
	expect 0 check
}

# All of the graph, or nothing.
whole_or_nothing() {
	local n

	n=$(taskq list --json 2>/dev/null | wc -l)
	[[ $n == 0 || $n == "$1" ]]
}

@test "I1: submit --graph is killed at random: all of it is there, or nothing" {
	local n=5000 members whole=0

	[[ -z ${TASKQ_SLOW:-} ]] || n=500
	layers "$n" >large.json
	taskq create
	for _ in {1..15}; do
		start taskq submit --graph large.json
		sleep "0.$(printf %03d $((RANDOM % 150)))" # any moment will do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
		whole_or_nothing "$n"
		members=$(taskq group list --json 2>/dev/null | jq -s 'map(.members) | add // 0')
		[[ $members == 0 || $members == "$n" ]]
		[[ $members == 0 ]] || whole=$((whole + 1))
		taskq destroy --force
		taskq create
	done
	start taskq submit --graph large.json
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	work_off # who works also clears up what is left of a graph
	expect 0 check
}

# ring N: a graph of N nodes, each of which waits for the next one, and the last for the first.
ring() {
	awk -v n="$1" 'BEGIN {
		printf "{\"nodes\":["
		for (i = 0; i < n; i++)
			printf "%s{\"name\":\"n%d\",\"command\":[\"true\"],\"after\":[\"n%d\"]}",
				i ? "," : "", i, (i + 1) % n
		print "]}"
	}'
}

@test "fault.D9: a large graph in one cycle takes at most 300 bytes a node" {
	local few many

	ring 1000 >few
	ring 100000 >many
	few=$("$TASKQ_PEAK" taskq submit --graph few 2>&1 | tail -n 1)
	many=$("$TASKQ_PEAK" taskq submit --graph many 2>said; tail -n 1 said)
	grep -q '99968 more -> n99999' said
	((many - few < 99000 * 300 / 1024))
}

@test "fault.D9: a file that is too long is refused, and may be longer" {
	ring 1000 | sed 's/"after":\["n0"\]/"after":[]/' >chain
	expect 2 submit --graph chain --graph-max 10K
	says "longer than 10"
	says "--graph-max SIZE takes a longer one"
	says "nothing was handed in"
	expect 2 submit --graph /dev/zero --graph-max 1M
	says "longer than 1"
	expect 0 submit --graph chain --graph-max "$(wc -c <chain)"
}

@test "fault.D9: nodes are taken as they are written" {
	refused 'line 3, column 17' <<<$'{"nodes":[\n{"name":"a","command":["x"]},\n{"name":"b","x" 1}]}'
	refused '"nodes" is not written as' <<<'{"\u006eodes":[{"name":"a","command":["x"]}]}'
	refused 'line 1, column' <<<'{"nodes":[{"name":"a","command":["x"]}]} 7'
	refused 'line 1, column' <<<'{"nodes":[{"name":"a","command":["x"]},]}'
	expect 0 submit --graph - <<<$' {\t"nodes" : [ {"name":"\\u00e4","command":["true"]}\n , {"name":"b", "command":["true"],"after":["ä"]} ] } '
}
