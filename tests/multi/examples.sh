#!/bin/sh
# SPDX-License-Identifier: MIT
# examples.sh DIR: the example programs do what their heads say.
set -eu

dir=$1
segment=$TASKQ_TEST_ID
tmp=$TASKQ_TEST_TMP

fail()
{
	echo "$*" >&2
	exit 1
}

trap 'taskq destroy --force 2>/dev/null || true' EXIT

"$dir/handler_farm" "$segment" >"$tmp/farm" || fail "handler_farm: exit $?"
grep -qx '1 + ... + 40 = 820, attempts 2' "$tmp/farm" || fail "handler_farm: $(cat "$tmp/farm")"
[ "$(wc -l <"$tmp/farm")" -eq 4 ] || fail "handler_farm: $(cat "$tmp/farm")"
taskq destroy

"$dir/prefork" "$segment" >"$tmp/prefork" || fail "prefork: exit $?"
grep -qx '100 submitted, 100 done' "$tmp/prefork" || fail "prefork: $(cat "$tmp/prefork")"
taskq destroy

"$(dirname "$0")/../../examples/pipeline/pipeline.sh" >"$tmp/pipeline" || fail "pipeline: exit $?"
grep -q 'is killed in the middle of task' "$tmp/pipeline" || fail "pipeline: $(cat "$tmp/pipeline")"
grep -Eq 'done, exit:0, attempt 2 .*compile main' "$tmp/pipeline" ||
	fail "pipeline: $(cat "$tmp/pipeline")"
grep -qx 'the primes below 1000 add up to 76127' "$tmp/pipeline" ||
	fail "pipeline: $(cat "$tmp/pipeline")"

# A farm that is already there, and ends when it is told to.
taskq work -Q -j1 &
farm=$!
code=0
"$dir/submit" "$segment" sh -c 'echo "$TASKQ_ATTEMPT"; exit 0' >"$tmp/submit" || code=$?
[ "$code" -eq 0 ] || fail "submit: exit $code"
[ "$(cat "$tmp/submit")" = 1 ] || fail "submit: $(cat "$tmp/submit")"
"$dir/submit" "$segment" no-such-command >"$tmp/submit" && fail 'submit: a failed task exits 0'
kill -TERM "$farm"
wait "$farm" || fail "work: exit $?"
taskq check || fail 'check'
taskq destroy
