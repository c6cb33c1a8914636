#!/bin/sh
# SPDX-License-Identifier: MIT
# pipeline.sh [SOURCES]: builds and runs the C files in SOURCES (default: those beside this
# script) as one graph of tasks.  In mid-step, the worker of one of them is killed; the step
# is run again, and the rest is as if nothing had been.
#
# Prints the graph before and after, and what the program prints.  Needs `taskq` in PATH,
# and a C compiler: $CC, or cc.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "${1:-$here/src}" && pwd)
out=$(mktemp -d "${TMPDIR:-/tmp}/taskq-pipeline.XXXXXX")
export TASKQ_SEGMENT="${TASKQ_TEST_ID:+$TASKQ_TEST_ID-}pipeline-$$"
farm=

clean_up()
{
	if [ -n "$farm" ]; then
		kill -TERM "$farm" 2>/dev/null || true
		wait "$farm" || true
	fi
	taskq destroy --force 2>/dev/null || true
	rm -rf "$out"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

set -- "$sources"/*.c
VICTIM=$out/$(basename "$1" .c).i
export VICTIM

group=$("$here/graph.sh" "$sources" "$out" | taskq submit --graph - -L pipeline 2>/dev/null)
taskq graph "$group"
taskq work -Q -j3 --until-empty &
farm=$!
until [ -e "$VICTIM.id" ]; do
	kill -0 "$farm" # else it has ended, and this one never comes
	sleep 0.02
done
task=$(cat "$VICTIM.id")
worker=$(taskq show --json "$task" | sed 's/.*"worker_pid":\([0-9]*\).*/\1/')
echo
echo "worker $worker is killed in the middle of task $task"
kill -KILL "$worker"
wait "$farm"
farm=
echo
taskq group wait "$group"
taskq graph "$group"
echo
cat "$out/result"
