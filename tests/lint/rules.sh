#!/bin/sh
# SPDX-License-Identifier: MIT
# Ids lead somewhere.  A rule of the code, two letters and a number (TX-1), is defined once:
# at the head of a header (" * TX-1  ..."), and PF-n in docs/platform.md.  A requirement, a
# letter and a number (B7), stands in docs/requirements.md.
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-rules.XXXXXX")
trap 'rm -rf "$work" "$lint_faults"' EXIT

# Text of C files that is not code: comments alone.
comments()
{
	lint_files "$@" | xargs -r awk '
		{
			line = $0
			while (line != "") {
				if (inside) {
					at = index(line, "*/")
					print FILENAME ": " (at ? substr(line, 1, at - 1) : line)
					line = at ? substr(line, at + 2) : ""
					inside = !at
				} else {
					at = index(line, "/*")
					line = at ? substr(line, at + 2) : ""
					inside = at > 0
				}
			}
		}'
}

{
	lint_files '*.h' | xargs -r sed -nE 's/^ \* ([A-Z]{2}-[0-9]+)  .*/\1/p'
	sed -nE 's/^- \*\*(PF-[0-9]+[a-d]?)\*\* .*/\1/p' docs/platform.md
} >"$work/defined"
sort "$work/defined" | uniq -d | lint_report 'rules that are defined twice'
sort -u "$work/defined" >"$work/rules"
prefixes=$(cut -d- -f1 "$work/rules" | sort -u | paste -sd'|')

# cited PATTERN: the ids in comments and documents, as FILE: ID.
cited()
{
	{
		comments '*.[ch]'
		lint_files '*.md' '*.pml' '*.sh' '*.bats' | xargs -r awk '{ print FILENAME ": " $0 }'
	} | awk -v pattern="$1" '{
		file = $1
		for (rest = $0; match(rest, pattern); rest = substr(rest, RSTART + RLENGTH)) {
			before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : " "
			after = substr(rest, RSTART + RLENGTH, 1)
			if (before !~ /[A-Za-z0-9_.-]/ && after !~ /[A-Za-z0-9_]/)
				print file, substr(rest, RSTART, RLENGTH)
		}
	}'
}

cited "($prefixes)-[0-9]+[a-d]?" | sort -u | awk -v rules="$work/rules" '
	BEGIN { while ((getline line < rules) > 0) known[line] = 1 }
	!($2 in known)' | lint_report 'rules that are cited and defined nowhere'

sed -nE 's/^- \*\*([A-I][0-9]+)\*\*.*/\1/p' docs/requirements.md | sort -u >"$work/requirements"
comments 'shm/*.[ch]' 'scheduler/*.[ch]' 'client/*.[ch]' 'include/taskq/*.h' |
	grep -oE '^[^ ]+|(^|[^A-Za-z0-9_.-])[A-Z][0-9]{1,2}([^A-Za-z0-9_.]|[.][^0-9]|[.]?$)' | awk -v known="$work/requirements" '
	BEGIN { while ((getline line < known) > 0) is[line] = 1 }
	/^[a-z].*:$/ { file = $0; next }
	{
		gsub(/[^A-Z0-9]/, "")
		if (!($0 in is))
			print file, $0
	}' | sort -u | lint_report 'requirements that are cited and stand nowhere'

lint_done
