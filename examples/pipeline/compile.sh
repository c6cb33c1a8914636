#!/bin/sh
# SPDX-License-Identifier: MIT
# compile.sh IN OUT: one step.  Its first attempt for the file that VICTIM names writes half
# of a result, says so in VICTIM.id, and never ends: somebody is to kill it.
set -eu

if [ "$TASKQ_ATTEMPT" -eq 1 ] && [ "$1" = "${VICTIM:-}" ]; then
	echo half >"$2"
	echo "$TASKQ_ID" >"$VICTIM.new"
	mv "$VICTIM.new" "$VICTIM.id" # whole, or not there
	exec sleep 1000
fi
exec "${CC:-cc}" -O2 -c -o "$2" "$1"
