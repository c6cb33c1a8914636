#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh BUILD-DIR [--quick]: everything that kills.  --quick takes a share that
# rotates with the seed that it prints, for CI; all of it takes a quarter of an
# hour on two idle processors.
set -u -o pipefail
build=$(cd "${1:?build directory}" && pwd) || exit
quick=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tests=$build/tests/bin
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-crash.XXXXXX")
trap 'rm -rf "$work"' EXIT
seed=${TASKQ_CRASH_SEED:-$(date +%s)}
failed=0

# part NAME COMMAND...: its last lines are shown when it fails, its figures always.
part()
{
	local name=$1
	shift
	"$@" >"$work/$name" 2>&1
	local r=$?
	if [ "$r" -eq 0 ] || [ "$r" -eq 77 ]; then # 77: skipped, and says so
		tail -n 1 "$work/$name"
	else
		tail -n 60 "$work/$name"
		echo "$name: failed (seed $seed)"
		return 1
	fi
}

# all PART...: one after the other, whatever fails.
all()
{
	local each failed=0
	for each; do
		"$each" || failed=1
	done
	return "$failed"
}

linear()
{
	part "linear.$1" "$tests/crash.linear_test" --share "$1/2" --seed "$seed" "${@:2}"
}
half_0() { linear 0 ${limit:+--seconds "$limit"}; }
half_1() { linear 1 ${limit:+--seconds "$limit"}; }
kills() { part kill "$tests/crash.kill_test" --every "$every" --seed "$seed"; }
wakes() { part wake "$tests/crash.wake_test" --seed "$seed" ${quick:+--quick}; }
betweens() { part between "$tests/crash.between_test" --every "$between" --seed "$seed"; }
creates() { part create "$tests/crash.create_test"; }
stale() { part stale "$tests/crash.stale_test"; }
# Many processes, minutes of kills, and a ledger outside the segment.
storm()
{
	part storm "$here/../with_scratch.sh" "$tests/stress.storm" \
		--seconds "$storm_seconds" --seed "$seed"
}
models() { part models "$here/../model/run.sh" ${quick:+--quick}; }
plants() { [ "$quick" = --quick ] || part plants "$here/plants.sh" "$build"; }

if [ "$quick" = --quick ]; then
	limit=25 every=100 between=20 storm_seconds=10
else
	limit='' every=4 between=2 storm_seconds=180
fi
echo "crash: seed $seed"
# One row for each processor; what wants processes of its own is in the second.
all half_0 models plants & first=$!
all half_1 kills wakes betweens creates stale storm || failed=1
wait "$first" || failed=1
if [ "$failed" -eq 0 ]; then
	echo "crash: all sound"
else
	echo "crash: FAILED; again with TASKQ_CRASH_SEED=$seed"
	exit 1
fi
