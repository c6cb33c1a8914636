#!/bin/sh
# SPDX-License-Identifier: MIT
# Every file says its licence first (after #!), and C files then what they are for.
. "$(dirname "$0")/lib.sh"

lint_files '*.[ch]' '*.h.in' '*.cc' '*.map' '*.sh' '*.bats' '*.awk' '*.cmake' '*.cmake.in' \
	'CMakeLists.txt' '*/CMakeLists.txt' run .ci/run | while IFS= read -r file; do
	awk '
		NR == 1 && /^#!/ { next }
		{ line[++n] = $0 }
		n == 2 { exit }
		END {
			if (line[1] !~ /^(\/\*|\/\/|#) SPDX-License-Identifier: MIT( \*\/)?$/)
				print FILENAME ": no SPDX line"
			else if (line[2] !~ /^(\/\*|\/\/|#)/)
				print FILENAME ": does not say what it is for"
		}' "$file"
done | lint_report 'heads of files'

lint_done
