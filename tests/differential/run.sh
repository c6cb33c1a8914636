#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh DRIVER [--seed N] [--seconds S] [--plant]: the library of a commit before the order
# was built anew, and the present one, run the same random operations and start the same
# tasks in the same order.  DRIVER is linked with the present one; the other is built once,
# below build/.  One run a seed, from N on, for S seconds; a seed that differs is printed.
# --plant: the driver itself differs, and that must be found.
set -eu -o pipefail
driver=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly base=55d6051 batch=10
readonly old=$PWD/build/differential/$base
readonly sources=(tests/differential/driver*.c)

seed=$((RANDOM * 32768 + RANDOM)) seconds=60 plant=
while [ $# -gt 0 ]; do
	case $1 in
	--seed) seed=$2; shift 2 ;;
	--seconds) seconds=$2; shift 2 ;;
	--plant) plant=--plant; shift ;;
	*) echo "differential: $1: unknown" >&2; exit 2 ;;
	esac
done

not_here()
{
	echo "differential: not run here: $1"
	exit 77
}

# The commit's library, for as long as build/ is there.
build_library()
{
	[ ! -e "$old/build/lib/libtaskq.a" ] || return 0
	git cat-file -e "$base^{commit}" 2>/dev/null || not_here "$base is not in this clone"
	rm -rf "$old"
	mkdir -p "$old"
	git archive "$base" | tar -x -C "$old"
	cmake -G Ninja -S "$old" -B "$old/build" -DTASKQ_TESTS=OFF
	cmake --build "$old/build" --target taskq_static
}

# This tree's driver with that tree's headers.
build_driver()
{
	local libs
	libs=$(pkg-config --libs liburcu-bp liburcu-cds)
	# The list is meant to be one.
	# shellcheck disable=SC2086
	cc -std=gnu11 -D_GNU_SOURCE -O2 -g -I"$old" -I"$old/include" -I"$old/build/include" \
		-include tests/differential/base.h \
		-o "$old/driver" "${sources[@]}" "$old/tests/support/system.c" \
		"$old/build/lib/libtaskq.a" $libs -lpthread
}

work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-differential.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p build/differential
exec 9>build/differential/lock
flock 9
build_library >"$work/log" 2>&1 || {
	status=$?
	cat "$work/log"
	exit "$status"
}
build_driver
flock -u 9

# compare SEED: a batch from there on; false when the two differ.
compare()
{
	local failed=
	"$old/driver" --seed "$1" --runs "$batch" >"$work/old" 9>&- &
	"$driver" --seed "$1" --runs "$batch" $plant >"$work/new" 9>&- || failed=$?
	wait $! || failed=$?
	[ -z "$failed" ] || echo "differential: a driver ended with $failed" | tee -a "$work/new"
	cmp -s "$work/old" "$work/new"
}

# What came before the first line that differs, and that line of both.
show_difference()
{
	local line
	line=$({ cmp "$work/old" "$work/new" 2>&1 || true; } | sed 's/.*line //')
	echo "differential: seed $(sed -n "${line}p" "$work/old" | sed 's/[. ].*//') differs:"
	head -n "$((line - 1))" "$work/old" | tail -n 8 | sed 's/^/  /'
	sed -n "${line}p" "$work/old" | sed 's/^/- /'
	sed -n "${line}p" "$work/new" | sed 's/^/+ /'
}

echo "differential: seeds from $seed on"
starts=0 runs=0 differs=
end=$((SECONDS + seconds))
while [ -z "$differs" ]; do
	compare "$seed" || { show_difference; differs=1; }
	starts=$((starts + $(grep -c ' start ' "$work/old")))
	runs=$((runs + batch))
	seed=$((seed + batch))
	[ "$SECONDS" -lt "$end" ] || break
done
! grep -q 'check: ' "$work/old" "$work/new" || { grep -h 'check: ' "$work"/{old,new}; exit 1; }
if [ -n "$plant" ]; then
	[ -n "$differs" ] || { echo "differential: a planted difference was not found"; exit 1; }
	exit 0
fi
[ -z "$differs" ] || exit 1
echo "differential: $starts starts in $runs runs, the same ones as by $base"
[ "$starts" -gt 0 ]
