#!/bin/sh
# SPDX-License-Identifier: MIT
# Each fault of tests/faults.list has a test that is named after it, "fault.ID: ...": one of a
# bats file or of a C program; a comment of that form in a script or fuzzer, whose tests have no
# names.  What the list marks as "not yet" may have none (it is said when it has one: marks and tests
# come from several hands); no test names a fault that is not listed.
. "$(dirname "$0")/lib.sh"

list=tests/faults.list
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-faults.XXXXXX")
trap 'rm -rf "$work" "$lint_faults"' EXIT

lint_files 'tests/*.bats' 'tests/*.c' 'tests/*.py' 'tests/*.sh' |
	grep -v '^tests/lint/selftest.sh$' | xargs -r grep -hE '"fault\.|^[[:space:]/]*[#*]+ fault\.' /dev/null |
	grep -oE 'fault\.[A-Z][0-9]+[:,]' | sed 's/^fault\.//; s/[:,]$//' | sort -u >"$work/named"
grep -v '^#' "$list" | awk 'NF { print $1 }' | sort >"$work/listed"
grep -v '^#' "$list" | awk '$2 == "not" && $3 == "yet:" { print $1 }' | sort >"$work/open"

uniq -d "$work/listed" | lint_report "listed twice in $list"
grep -v '^#' "$list" | awk 'NF == 1' | lint_report "a fault without words in $list"
comm -23 "$work/listed" "$work/named" | comm -23 - "$work/open" |
	lint_report 'no test is named "fault.ID: ..." after'
comm -12 "$work/open" "$work/named" | sed 's/$/ has a test by now: take away its mark/' >&2
comm -13 "$work/listed" "$work/named" | lint_report "tests name faults that $list has not"

lint_done
