#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh BUILD-DIR [SECONDS] [NAME...]: each fuzzer for so long (60), or those that are named.
# They begin with tests/fuzz/corpus and with what earlier runs found, in BUILD-DIR/fuzz/NAME;
# an input at which one ended is left there, too: what it shows is mended, and the input
# goes into the corpus, where every test run gives it to its fuzzer again.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:?build directory?}
seconds=60
shift
case ${1:-} in '' | *[!0-9]*) ;; *)
	seconds=$1
	shift
	;;
esac
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)

readonly HANGS_S=20 # an input that takes so long is a fault
total=0 faults=0
for name; do
	[ -x "$build/tests/bin/fuzz.$name" ] || {
		echo "fuzz: no fuzzer \"$name\"; there are: $(ls tests/fuzz/corpus | tr '\n' ' ')" >&2
		exit 2
	}
	dir=$build/fuzz/$name
	mkdir -p "$dir/found"
	"$build/tests/bin/fuzz.$name" -timeout=$HANGS_S -max_total_time="$seconds" \
		-print_final_stats=1 -artifact_prefix="$dir/" "$dir/found" \
		"tests/fuzz/corpus/$name" >"$dir/log" 2>&1 &
	pid=$!
	if wait "$pid"; then
		result=sound
	else
		result="a fault, see $dir/log" faults=$((faults + 1))
		grep -E 'not so|runtime error|SUMMARY|Test unit' "$dir/log" | head -5 >&2 || true
	fi
	rm -f /dev/shm/taskq.*.test-fuzz*-"$pid" # of one that did not end by itself
	inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log")
	total=$((total + ${inputs:-0}))
	printf '%-10s %10d inputs in %d s: %s\n' "$name" "${inputs:-0}" "$seconds" "$result"
done
echo "fuzz: $total inputs by $# fuzzers, $faults faults"
[ "$faults" -eq 0 ]
