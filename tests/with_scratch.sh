#!/bin/sh
# SPDX-License-Identifier: MIT
# with_scratch.sh COMMAND ARGS: run a test with a scratch directory and a name
# of its own, and fail it when a segment of that name is left behind.  First, clear what
# tests have left that were killed: all of them name segments "test-PID-...".
#
# Sets TASKQ_TEST_TMP (directory, removed afterwards), TASKQ_TEST_ID (start every
# segment name with it) and TASKQ_SEGMENT (= TASKQ_TEST_ID).
set -eu

# clear MARK PATH...: those whose name goes on with MARK and the pid of nobody.
clear()
{
	mark=$1
	shift
	for left; do
		pid=${left##*"$mark"}
		pid=${pid%%[!0-9]*}
		[ ! -e "$left" ] || [ -z "$pid" ] || [ -e "/proc/$pid" ] || rm -rf "$left" 2>/dev/null || true
	done
}
clear .test- /dev/shm/taskq.*.test-[0-9]*
clear taskq-test. "${TMPDIR:-/tmp}"/taskq-test.[0-9]*.*

TASKQ_TEST_TMP=$(mktemp -d "${TMPDIR:-/tmp}/taskq-test.$$.XXXXXX")
TASKQ_TEST_ID=test-$$-${TASKQ_TEST_TMP##*.}
TASKQ_SEGMENT=$TASKQ_TEST_ID
export TASKQ_TEST_TMP TASKQ_TEST_ID TASKQ_SEGMENT
unset TASKQ_QUEUE TASKQ_ID TASKQ_ATTEMPT TASKQ_DEADLINE

status=0
"$@" || status=$?

rm -rf "$TASKQ_TEST_TMP"
for left in /dev/shm/taskq.*."$TASKQ_TEST_ID"*; do
	[ -e "$left" ] || continue
	echo "left behind: $left" >&2
	rm -f "$left"
	[ "$status" -ne 0 ] || status=1
done
exit "$status"
