#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [--fix] [FILE...]: C files, by default all, look as .clang-format says.  The
# column of trailing comments is left to the author: clang-format 14 cannot leave it alone,
# so lines are compared with the blanks before such comments folded.
. "$(dirname "$0")/lib.sh"

fix=
[ "${1:-}" != --fix ] || { fix=1; shift; }
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-format.XXXXXX")
trap 'rm -rf "$work" "$lint_faults"' EXIT

# fold FROM TO: each file of the list below FROM, into TO, with one blank where there are
# several before a trailing comment or a backslash.
fold()
{
	awk -v from="$1" -v to="$2" '
		function folded(line, at, before) {
			if (inside)
				sub(/^[ \t]+/, "", line)
			else if ((at = index(line, "/*")) > 1) {
				before = substr(line, 1, at - 1)
				if (before ~ /[^ \t]/) {
					sub(/[ \t]+$/, "", before)
					inside = index(substr(line, at), "*/") == 0
					line = before " " substr(line, at)
				}
			}
			if (line ~ /\*\//)
				inside = 0
			sub(/[ \t]+\\$/, " \\", line)
			return line
		}
		{
			inside = 0
			printf "" >(to "/" $0)
			while ((getline line <(from "/" $0)) > 0)
				print folded(line) >(to "/" $0)
			close(from "/" $0)
			close(to "/" $0)
		}' "$work/list"
}

# merge FILE: the formatted text, with the author's own form of lines that
# differ only in what fold() folds.
merge()
{
	diff --unchanged-line-format='=%dn
' --old-line-format='' --new-line-format='+%dn
' "$work/old/$1" "$work/folded/$1" | awk -v old="$1" -v new="$work/new/$1" '
		BEGIN {
			while ((getline line < old) > 0) o[++no] = line
			while ((getline line < new) > 0) n[++nn] = line
		}
		/^=/ { print o[substr($0, 2)] }
		/^\+/ { print n[substr($0, 2)] }'
}

if [ $# -gt 0 ]; then printf '%s\n' "$@"; else lint_files '*.[ch]' '*.cc'; fi >"$work/list"
# One clang-format for all: on copies, with the rules beside them.
mkdir "$work/new"
cp .clang-format "$work/new/"
sed 's|/[^/]*$||' "$work/list" | sort -u | while IFS= read -r dir; do
	mkdir -p "$work/new/$dir" "$work/old/$dir" "$work/folded/$dir"
done
xargs -r cp --parents -t "$work/new" <"$work/list"
(cd "$work/new" && xargs -r clang-format --style=file -i <"$work/list")
fold . "$work/old"
fold "$work/new" "$work/folded"

diff -rq "$work/old" "$work/folded" | sed -n "s|^Files $work/old/\(.*\) and .*|\1|p" |
	while IFS= read -r file; do
		if [ "$fix" ]; then
			merge "$file" >"$work/merged"
			cat "$work/merged" >"$file"
			echo "formatted $file" >&2
		else
			diff -U0 --label "$file" --label formatted "$work/old/$file" "$work/folded/$file" || true
		fi
	done | lint_report 'not formatted (./run format mends it)'

lint_done
