#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo over a small tree with odd names: it must kill, lose nothing and say so.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tree=$TASKQ_TEST_TMP/tree
i=0

mkdir -p "$tree/with blank"
while [ "$i" -lt 600 ]; do
	echo "$i" >"$tree/$i"
	i=$((i + 1))
done
echo a >"$tree/with blank/a b"
echo b >"$tree/$(printf 'new\nline')"
echo c >"$tree/quotes\"'\`\$x\\"
echo d >"$tree/$(printf 'control\001\033[31m\ttab')"
echo e >"$tree/$(printf 'latin\344\366')"
echo f >"$tree/ümläut"
echo g >"$tree/-n"
echo h >"$tree/{\"label\":\"0\"}"
: >"$tree/empty"

"$here/../../examples/demo.sh" "$tree" >"$TASKQ_TEST_TMP/out" || {
	cat "$TASKQ_TEST_TMP/out"
	exit 1
}
cat "$TASKQ_TEST_TMP/out"
grep -qE '^tasks +609,' "$TASKQ_TEST_TMP/out"
grep -qE '^kills +[1-9][0-9]* workers' "$TASKQ_TEST_TMP/out"
grep -qE '^results +identical$' "$TASKQ_TEST_TMP/out"
