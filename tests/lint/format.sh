#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [--fix]: C files look as .clang-format says.  The column of trailing
# comments is left to the author: clang-format 14 cannot leave it alone, so lines
# are compared with the blanks before such comments folded.
. "$(dirname "$0")/lib.sh"

fix=${1:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-format.XXXXXX")
trap 'rm -rf "$work" "$lint_faults"' EXIT

# fold: blanks before a trailing comment, and before a backslash, become one.
fold()
{
	awk '
		inside { sub(/^[ \t]+/, "") }
		/[^ \t].*\/\*/ && !inside {
			at = index($0, "/*")
			before = substr($0, 1, at - 1)
			if (before ~ /[^ \t]/) {
				sub(/[ \t]+$/, "", before)
				inside = index(substr($0, at), "*/") == 0
				$0 = before " " substr($0, at)
			}
		}
		/\*\// { inside = 0 }
		{ sub(/[ \t]+\\$/, " \\"); print }'
}

# merge FILE: the formatted text, with the author's own form of lines that
# differ only in what fold() folds.
merge()
{
	diff --unchanged-line-format='=%dn
' --old-line-format='' --new-line-format='+%dn
' "$work/folded.old" "$work/folded.new" | awk -v old="$1" -v new="$work/new" '
		BEGIN {
			while ((getline line < old) > 0) o[++no] = line
			while ((getline line < new) > 0) n[++nn] = line
		}
		/^=/ { print o[substr($0, 2)] }
		/^\+/ { print n[substr($0, 2)] }'
}

lint_files '*.[ch]' '*.cc' | while IFS= read -r file; do
	clang-format --style=file "$file" >"$work/new"
	fold <"$file" >"$work/folded.old"
	fold <"$work/new" >"$work/folded.new"
	if [ "$fix" = --fix ]; then
		merge "$file" >"$work/merged"
		cmp -s "$work/merged" "$file" || { cat "$work/merged" >"$file"; echo "formatted $file" >&2; }
	else
		diff -U0 --label "$file" --label formatted "$work/folded.old" "$work/folded.new" || true
	fi
done | lint_report 'not formatted (./run format mends it)'

lint_done
