#!/bin/sh
# SPDX-License-Identifier: MIT
# with_scratch.sh COMMAND ARGS: run a test with a scratch directory and a name
# of its own, and fail it when a segment of that name is left behind.
#
# Sets TASKQ_TEST_TMP (directory, removed afterwards), TASKQ_TEST_ID (start every
# segment name with it) and TASKQ_SEGMENT (= TASKQ_TEST_ID).
set -eu

TASKQ_TEST_TMP=$(mktemp -d "${TMPDIR:-/tmp}/taskq-test.XXXXXX")
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
