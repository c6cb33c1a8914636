#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What becomes of the rows: a page of Markdown, and pictures.
bats_require_minimum_version 1.5.0

setup() {
	rows=$BATS_TEST_TMPDIR/part.json
	cat >"$rows" <<-'EOF'
		{"name":"machine","processors":2,"model":"Some","load":1.5}
		{"name":"other","value":null,"unit":null,"bound":null,"met":null,"settings":"as it is","lacks":"much"}
		{"name":"a, 1 waiting","value":1.256,"unit":"us","bound":null,"met":null,"plot":"peers-depth","series":"a","x":1,"least":1,"most":123.4}
		{"name":"a, 9 waiting","value":2,"unit":"us","bound":null,"met":null,"plot":"peers-depth","series":"a","x":9,"least":1,"most":3}
		{"name":"b, 9 waiting","value":5,"unit":"us","bound":null,"met":null,"plot":"peers-depth","series":"b","x":9,"least":4,"most":6}
		{"name":"c, 1 waiting","value":5,"unit":"us","bound":null,"met":null,"plot":"untitled","series":"c","x":1,"least":4,"most":6}
		{"name":"ratio","value":12,"unit":"times","bound":10,"side":"at least","met":true}
		{"name":"late","value":12,"unit":"ms","bound":10,"side":"at most","met":false}
		{"name":"free","value":0.5,"unit":"ns","bound":null,"met":null}
		{"name":"nowhere","value":null,"unit":null,"bound":null,"met":null,"not_measured":"not there"}
		{"name":"bounds","met":1,"missed":1,"not_measured":1}
	EOF
}

page() {
	"$TASKQ_SOURCE/bench/table.sh" "$rows"
}

@test "the page has every row, in the section that it belongs to" {
	page >"$BATS_TEST_TMPDIR/page"
	diff - <(grep '^|' "$BATS_TEST_TMPDIR/page" | grep -v -- ---) <<-'EOF'
		| Peer | Settings | Lacks beside taskq |
		| other | as it is | much |
		| Row | Measured | Bound | |
		| ratio | 12 times | at least 10 | met |
		| late | 12 ms | at most 10 | MISSED |
		| Row | Median | Least | Most |
		| a, 1 waiting | 1.26 us | 1 | 123 |
		| a, 9 waiting | 2 us | 1 | 3 |
		| b, 9 waiting | 5 us | 4 | 6 |
		| Row | Median | Least | Most |
		| c, 1 waiting | 5 us | 4 | 6 |
		| Row | Measured |
		| free | 0.5 ns |
		| Row | Why |
		| nowhere | not there |
	EOF
	grep -q '^2 processors (Some), with a load of 1.5' "$BATS_TEST_TMPDIR/page"
}

@test "a plot that has a title becomes a picture with all its series, which the page shows" {
	type -P gnuplot >/dev/null || skip "no gnuplot"
	"$TASKQ_SOURCE/bench/plot.sh" "$rows"
	[[ $(ls "$BATS_TEST_TMPDIR"/*.svg) == "$BATS_TEST_TMPDIR/peers-depth.svg" ]]
	grep -q '>a</text>\|>a<' "$BATS_TEST_TMPDIR/peers-depth.svg"
	grep -q '>b<' "$BATS_TEST_TMPDIR/peers-depth.svg"
	page | grep -qF '![peers-depth](peers-depth.svg)'
	[[ $(page | grep -c '^!') == 1 ]]
}
