#!/bin/sh
# SPDX-License-Identifier: MIT
# fault.Q1: no verdict depends on how busy the machine is.  Tests wait for conditions; a limit
# that stands against hanging only is far beyond what anything takes on a busy machine: 100 s of
# timeout(1), a minute in C.
. "$(dirname "$0")/lib.sh"

lint_files 'tests/*.bats' 'tests/*.bash' 'tests/*.sh' | grep -v '^tests/lint/' |
	xargs -r grep -nE '(^|[^-[:alnum:]_])timeout (-[a-z] [A-Z0-9]+ )?[0-9]{1,2}(\.[0-9]+)?s? ' /dev/null |
	lint_report 'timeout(1) below 100 s' || true

lint_files 'tests/*.c' 'tests/*.h' |
	xargs -r grep -nE '#define [A-Z_]*(PATIENCE|PROMPT)_NS (\([1-5]?[0-9] \* S\)|[1-5]?[0-9]{10}ull|[0-9]{1,9}ull)' /dev/null |
	lint_report 'a limit below a minute' || true

lint_done
