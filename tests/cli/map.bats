#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# map: a task a line, in order or not, and nothing left behind.
load helper

map() {
	timeout 300 taskq map "$@"
}

@test "F1: map -k prints in the order of the input" {
	seq 60 | map -j4 -k -- sh -c 'sleep 0.0$(({} % 4)); echo {}' | diff - <(seq 60)
}

@test "F1: without -k every output is whole, in any order" {
	seq 40 | map -j4 -- sh -c 'echo {}a; echo {}b' >all
	[[ $(wc -l <all) == 80 ]]
	awk 'NR % 2 { first = $0; next } { sub("a$", "b", first); if (first != $0) exit 1 }' all
}

@test "map with an empty input exits 0" {
	run -0 bash -c 'timeout 300 taskq map -- echo </dev/null'
	[[ -z $output ]]
}

@test "{} anywhere, or the line as the last argument; spaces and quotes survive" {
	printf 'a b\n$x "y"\n' | map -k -- printf '<%s>' >out
	[[ $(cat out) == '<a b><$x "y">' ]]
	printf 'q\n' | map -- echo 1{}2 {} | grep -qx '1q2 q'
}

@test "-0: lines may hold line feeds" {
	printf 'a\nb\0c d\0' | map -0 -k -- printf '<%s>' >out
	[[ $(cat out) == $'<a\nb><c d>' ]]
	run -1 --separate-stderr bash -c 'printf "a\0b\n" | timeout 300 taskq map -- echo'
	says "-0"
}

@test "exit 1 names the tasks that failed, and their lines" {
	run -1 --separate-stderr bash -c 'seq 5 | timeout 300 taskq map -- sh -c "test {} != 3"'
	says '"3": failed, exit:1'
	not says '"4"'
}

@test "two maps at once in one segment do not mix" {
	local one two

	start bash -c 'seq 200 | taskq map -j2 -k -- echo A >a'
	one=$pid
	start bash -c 'seq 200 | taskq map -j2 -k -- echo B >b'
	two=$pid
	wait "$one"
	wait "$two"
	diff a <(seq 200 | sed 's/^/A /')
	diff b <(seq 200 | sed 's/^/B /')
}

@test "F1: kill -9 of map ends its workers and cancels what waits" {
	local child

	seq 20 >in
	start bash -c 'exec taskq map -j2 -- sh -c "echo \$\$ >>$PWD/children; sleep 60" <in'
	eventually 10 eval '[[ -s children ]]'
	kill -KILL "$pid"
	for child in $(cat children); do
		eventually 10 is_gone "$child"
	done
	eventually 10 eval '[[ $(taskq --json info | jq .workers) == 0 ]]'
	[[ -z $(taskq list --json -S unfinished) ]]
}

@test "E7: Ctrl-C of map cancels everything" {
	seq 1000 >in
	start bash -c 'exec taskq map -j2 -- sh -c "touch $PWD/up; sleep 60" <in'
	eventually 10 test -e up
	kill -TERM "$pid"
	ends 143 "$pid"
	[[ $(taskq --json info | jq .tasks_unfinished) == 0 ]]
}

@test "map ends when nobody reads it any more" {
	run -0 bash -c 'seq 100000 | timeout 300 taskq map -j2 -- echo | head -1 | wc -l'
	[[ $output == 1 ]]
	eventually 10 eval '[[ $(taskq --json info | jq .tasks_unfinished) == 0 ]]'
}

@test "A4: a long input leaves no records and little memory behind" {
	seq 1500 | map -j2 -- true
	[[ $(taskq --json info | jq .tasks_count) == 0 ]]
	[[ $(taskq --json info | jq '.used_bytes < 16000000') == true ]]
}

@test "fault.X1: all of a long output arrives, from a farm and from private workers" {
	farm -j2
	[[ $(echo 20000 | map -- seq | wc -l) == 20000 ]]
	[[ $(seq 4 | map -k -- sh -c 'seq {} 100000' | cksum) == $(for i in 1 2 3 4; do seq $i 100000; done | cksum) ]]
	[[ $(echo 300000 | map -j1 -- seq | cksum) == $(seq 300000 | cksum) ]]
}

@test "fault.X1: only the last attempt's output is printed, and whole" {
	farm -j1
	echo 100000 | map --retries 1 --backoff 1ms -- sh -c 'seq {}; [ $TASKQ_ATTEMPT = 2 ]' |
		cmp - <(seq 100000)
}

@test "fault.X17: a line that is too long for an argument is named, and the others run" {
	local long=$((128 * 1024)) jobs

	for jobs in "" -j2; do
		{ head -c $long /dev/zero | tr '\0' x; echo; echo two; head -c 1000000 /dev/zero | tr '\0' x; echo; echo four; } >lines
		expect 1 map $jobs -k -- echo <lines
		[[ $output == two$'\n'four ]]
		says "line 1: an argument of $long bytes, over the limit of $((long - 1)): not run"
		says "line 3: an argument of 1000000 bytes"
		expect 1 map $jobs -k -- echo --name={} <<<"$(head -c $((long - 3)) /dev/zero | tr '\0' x)"$'\nlast'
		[[ $output == --name=last ]]
		says "line 1: an argument of $((long + 4)) bytes"
		# The longest that there is.
		expect 0 map $jobs -- sh -c 'echo ${#1}' sh <<<"$(head -c $((long - 1)) /dev/zero | tr '\0' x)"
		[[ $output == $((long - 1)) ]]
	done
}

@test "fault.L16: --halt cancels the rest when so many have failed" {
	expect 1 map -j1 --halt 2 -- sh -c 'echo {} >>begun; exit 1' <<<"$(seq 100)"
	says "map: 2 failed: the rest is cancelled"
	[[ $(wc -l <begun) -lt 100 && $(grep -c 'exit:1' <<<"$stderr") -ge 2 ]]
	expect 0 map -j2 --halt 1 -k -- echo <<<"$(seq 20)"
	[[ $output == "$(seq 20)" ]]
}

@test "fault.L16: --dry-run prints what a shell would run, and makes no segment" {
	expect 0 map --dry-run -- echo "a b" {}.txt <<<"it's"$'\n'two
	[[ $(bash -c "$output") == $'a b it\'s.txt\na b two.txt' ]]
	expect 5 status
}

@test "fault.L16: --joblog has a line a command, and --resume runs what is not done" {
	expect 1 map -j1 --joblog log -- sh -c 'echo {} >>ran; [ {} != 2 ] || [ -e ok ]' <<<"$(seq 3)"
	[[ $(sort ran | tr '\n' ' ') == "1 2 3 " ]]
	[[ $(cut -f 1,2,5 log | sort | tr '\t\n' ' ,') == "1 0 1,2 1 2,3 0 3,number exit line," ]]
	: >ok
	# Half a line, as a process leaves it that is killed in the middle.
	printf '4\t0\t0.1' >>log
	expect 0 map -j1 --dry-run --joblog log --resume -- echo <<<"$(seq 4)"
	[[ $output == $'echo 2\necho 4' ]]
	expect 0 map -j1 --joblog log --resume -- sh -c 'echo {} >>ran; [ {} != 2 ] || [ -e ok ]' <<<"$(seq 4)"
	[[ $(sort ran | tr '\n' ' ') == "1 2 2 3 4 " ]]
	expect 0 map -j1 --joblog log --resume -- false <<<"$(seq 4)"
	[[ -z $output ]]
	# Another text at the same place is not done.
	expect 0 map --dry-run --joblog log --resume -- echo <<<"$(echo one; seq 2 4)"
	[[ $output == "echo one" ]]
	expect 2 map --resume -- true </dev/null
	expect 1 map --joblog /none/log -- true <<<x
	says "/none/log: No such file or directory"
}

# plain FILE: what a terminal has been given, without the line that is drawn and erased there.
plain() {
	sed -z ':a; s/\r\x1b\[K[^\r\n]*\(\r\x1b\[K\)/\1/; ta; s/\r\x1b\[K//g; s/\r//g' "$1" | grep -v '^Script'
}

@test "fault.L16: --resume takes no file that is no job log, and leaves it as it is" {
	printf 'mine\n' >letter
	run -1 --separate-stderr bash -c 'seq 3 | taskq map --joblog letter --resume -- echo'
	says "letter: its first line is not that of a job log"
	[[ $(cat letter) == mine ]]
	printf 'number\texit\tsec' >cut # by a kill
	[[ $(seq 3 | taskq map -k --joblog cut --resume -- echo) == $'1\n2\n3' ]]
	[[ $(seq 3 | taskq map -k --joblog cut --resume -- echo) == "" ]]
	printf 'number\texit\tseconds\toutcome\tline\n1073741823\t0\t1\tdone\tx\n' >far
	[[ $(ulimit -v 20000000; seq 1 | taskq map --dry-run --joblog far --resume -- echo) == "echo 1" ]]
}

@test "fault.L16: on a terminal map shows how far it has come, and leaves the output alone" {
	export TERM=xterm
	start script -qfec 'seq 3 | taskq map -k -j2 -- sh -c "while [ ! -e go\$1 ]; do sleep 0.02; done; echo \$1; [ \$1 != 1 ]" -' seen
	eventually 20 grep -q '0 of 3' seen
	touch go1
	eventually 20 grep -q '1 of 3, 1 failed, .* left' seen
	touch go2 go3
	ends 1 "$pid"
	[[ $(plain seen | grep -x '[0-9]' | xargs) == "1 2 3" ]]
	[[ $(plain seen | grep -c 'exit:1') == 1 ]]
	not grep -q 'of 3' <(plain seen)
}

@test "fault.L16: without a terminal, or when it is not wanted, map shows nothing of the kind" {
	export TERM=xterm
	run -0 script -qfec 'seq 3 | taskq map --no-progress -- echo' seen
	not grep -q "$(printf '\033')" seen
	run -0 script -qfec 'seq 3 | TERM=dumb taskq map -- echo' seen
	not grep -q "$(printf '\033')" seen
	run -0 --separate-stderr bash -c 'seq 3 | taskq map -- echo'
	[[ -z $stderr ]]
}
