#!/bin/sh
# SPDX-License-Identifier: MIT
# covered.sh LINEAR-TEST LIBRARY: every exported function that changes the segment is
# in the table of the linear harness, or is listed as one that does not.
set -eu
linear=$1
library=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-covered.XXXXXX")
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort -u >"$work/exported"
"$linear" --functions | grep -vx core | sort -u >"$work/swept"
grep -v '^#' "$here/unswept.list" | sort >"$work/unswept"

failed=0
complain()
{
	while IFS= read -r function; do
		echo "$function: $1"
		failed=1
	done <"$work/found"
}
sort -u "$work/swept" "$work/unswept" >"$work/known"
comm -23 "$work/exported" "$work/known" >"$work/found"
complain 'changes the segment (or may), yet is neither in tests/crash/table.h nor in unswept.list'
comm -13 "$work/exported" "$work/known" >"$work/found"
complain 'is in tests/crash/table.h or unswept.list, yet not exported'
comm -12 "$work/swept" "$work/unswept" >"$work/found"
complain 'is in both lists'
[ "$failed" -eq 0 ] || exit 1
echo "covered: $(wc -l <"$work/swept") functions swept, $(wc -l <"$work/unswept") not to be swept"
