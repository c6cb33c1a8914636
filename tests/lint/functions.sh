#!/bin/sh
# SPDX-License-Identifier: MIT
# Length of functions, from { to }: median and p90 are printed, over 120 is red.
# The format lint makes sure that both braces stand in column one.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2046
set -- $(lint_files 'shm/*.[ch]' 'scheduler/*.[ch]' 'client/*.[ch]' 'tools/*.[ch]' \
	'examples/*.[ch]' 'bench/*.[ch]' 'tests/*.[ch]')
[ $# -gt 0 ] || exit 0

awk '
	/^[A-Za-z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
	/^\{/ { start = FNR }
	/^\}/ && start { print FNR - start + 1, FILENAME ":" start, name; start = 0 }
' "$@" | sort -n | awk '
	{ length_of[NR] = $1 }
	$1 > 120 { print > "/dev/stderr" }
	END {
		if (NR)
			printf "%d functions, median %d lines, p90 %d, longest %d (%s)\n", NR,
				length_of[int((NR + 1) / 2)], length_of[int((NR * 9 + 9) / 10)], $1, $3
	}' 2>"$lint_faults"

lint_done
