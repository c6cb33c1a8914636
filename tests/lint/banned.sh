#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls that this code base does without, and why.  Exceptions, with a reason
# each, stand in banned.allow as FILE:CALL.
. "$(dirname "$0")/lib.sh"

# calls NAMES FILE-PATTERN...: calls of NAMES (a regular expression) in code, as
# FILE:CALL LINE.  Members (ops->exit) and longer names (tqi_exit) do not count.
calls()
{
	names=$1
	shift
	# No file name of this tree has a blank in it.
	# shellcheck disable=SC2046
	lint_code $(lint_files "$@") |
		awk -v names="(^|[^A-Za-z0-9_.>])($names)[ \t]*\\\\(" -F: '{
			file = $1; line = $2
			code = substr($0, length(file) + length(line) + 3)
			while (match(code, names)) {
				call = substr(code, RSTART, RLENGTH)
				gsub(/[^A-Za-z0-9_]/, "", call)
				print file ":" call " line " line
				code = substr(code, RSTART + RLENGTH)
			}
		}'
}

{
	# Lost wake-ups after a kill, blocking without limit, or overflow.
	calls 'pthread_mutex_lock|pthread_cond_[a-z_]+|sem_[a-z]+|usleep|system|strcpy|strcat|v?sprintf|gets|alloca' '*.[ch]'
	# A library neither prints nor ends its host.
	calls 'abort|exit|v?f?printf|v?dprintf|f?puts|f?putc|putchar|perror' \
		'shm/*.[ch]' 'scheduler/*.[ch]' 'client/*.[ch]'
	# fault.D11: a set-user-ID program that is linked to it believes no caller's environment.
	calls 'getenv' 'shm/*.[ch]' 'scheduler/*.[ch]' 'client/*.[ch]'
} | lint_allow tests/lint/banned.allow | lint_report 'banned calls'

# A test ends only processes that it started.
lint_files 'tests/*' | xargs -r grep -HnwE 'pkil[l]|killal[l]' /dev/null |
	lint_report 'tests kill by process id only' || true

# set -e passes over a command after a `!`, so as an assertion that cannot fail (`not` can);
# `command -v` finds functions, such as a test's own that bears the name of a program.
lint_files 'tests/*.bats' 'tests/*.bash' | xargs -r grep -HnE '^[[:space:]]*! |[;{] ! ' /dev/null |
	lint_report 'a negation that cannot fail' || true
lint_files 'tests/*.bats' 'tests/*.bash' | xargs -r grep -HnE 'command -[v]' /dev/null |
	lint_report 'a look for a program that finds functions, too (type -P)' || true

lint_done
