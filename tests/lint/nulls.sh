#!/bin/sh
# SPDX-License-Identifier: MIT
# nulls.sh ROWS INCLUDE-DIR...: each pointer that a public function takes has a row in the table
# of what NULL does there (tests/multi/nulls_rows.c), and no other has.
. "$(dirname "$0")/lib.sh"

rows=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-nulls.XXXXXX")
trap 'rm -rf "$work" "$lint_faults"' EXIT

# Of each declaration its name and, of each argument with a star, the last word.
lint_declarations "$@" |
	sed -nE 's/^[^(]*[ *](tq_[a-z0-9_]+) ?\((.*)\) *$/\1,\2/p' |
	awk -F, '{ for (i = 2; i <= NF; i++) if ($i ~ /\*/) {
		sub(/.*[ *]/, "", $i); print $1, $i } }' | sort -u >"$work/declared"
tr '\n' ' ' <"$rows" | { grep -oE 'ROW\(tq_[a-z_]+,[[:space:]]*[a-z_]+' || true; } |
	sed -E 's/ROW\(//; s/,[[:space:]]*/ /' | sort >"$work/rows"

[ -s "$work/declared" ] || [ ! -s "$work/rows" ] || echo 'no declarations were found' | lint_report nulls
uniq -d "$work/rows" | lint_report 'twice in the table of NULLs'
sort -u "$work/rows" | comm -23 "$work/declared" - | lint_report 'not in the table of NULLs'
sort -u "$work/rows" | comm -13 "$work/declared" - | lint_report 'in the table of NULLs only'

lint_done
