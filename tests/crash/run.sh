#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh BUILD-DIR [--quick]: everything that kills.  --quick takes a share that
# rotates with the seed that it prints, for CI; all of it is below ten minutes on two
# processors.
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
		tail -n 30 "$work/$name"
		echo "$name: failed (seed $seed)"
		return 1
	fi
}

both() # two parts at a time, one for each processor
{
	local first=0 second=0
	"$1" & first=$!
	"$2" || second=1
	wait "$first" || failed=1
	[ "$second" -eq 0 ] || failed=1
}

linear()
{
	part "linear.$1" "$tests/crash.linear_test" --share "$1/2" --seed "$seed" "${@:2}"
}
half_0() { linear 0 ${limit:+--seconds "$limit"}; }
half_1() { linear 1 ${limit:+--seconds "$limit"}; }
kills() { part kill "$tests/crash.kill_test" --every "$every" --seed "$seed"; }
wakes() { part wake "$tests/crash.wake_test" --seed "$seed" ${quick:+--quick}; }
single() # those that want processes of their own, one after the other
{
	local failed=0
	kills || failed=1
	wakes || failed=1
	part create "$tests/crash.create_test" || failed=1
	part stale "$tests/crash.stale_test" || failed=1
	return "$failed"
}
models() { part models "$here/../model/run.sh" ${quick:+--quick}; }

if [ "$quick" = --quick ]; then
	limit=25 every=100
else
	limit='' every=4
fi
echo "crash: seed $seed"
both half_0 half_1
both models single
if [ "$quick" != --quick ]; then
	part plants "$here/plants.sh" "$build" || failed=1
fi
if [ "$failed" -eq 0 ]; then
	echo "crash: all sound"
else
	echo "crash: FAILED; again with TASKQ_CRASH_SEED=$seed"
	exit 1
fi
