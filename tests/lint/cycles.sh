#!/bin/sh
# SPDX-License-Identifier: MIT
# cycles.sh OBJECT...: no file of the scheduler calls one that, over however many others,
# calls it.  A circle that is to stay stands in cycles.allow: its files, joined by +, and
# the reason; a bigger one, another one, or one that is gone is a fault.
. "$(dirname "$0")/lib.sh"

# file_of OBJECT: room/file.
file_of()
{
	printf '%s\n' "$1" | sed 's|.*/tqi_scheduler[.]dir/||; s|.*/scheduler/||; s|[.]o$||; s|[.]c$||; s|^[.]/||'
}

for object; do
	nm "$object" | awk -v file="$(file_of "$object")" '{ print file, $(NF - 1), $NF }'
done | awk -f "$lint_dir/cycles.awk" |
	lint_allow tests/lint/cycles.allow |
	lint_report 'scheduler/: files that call each other in a circle' || true

lint_done
