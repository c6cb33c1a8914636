#!/bin/sh
# SPDX-License-Identifier: MIT
# globals.sh ARCHIVE: the library has no writable globals: everything hangs off
# a handle.  Exceptions, with a reason each, stand in globals.allow.
. "$(dirname "$0")/lib.sh"

# What threads have each is of no type that objdump would show as O.
# Constants that hold addresses live in .data.rel.ro, which is made read-only.
objdump -t "$1" |
	awk '(/ O / || / \.(tdata|tbss)/) && ($0 ~ / (\.data|\.bss|\.tdata|\.tbss|\*COM\*)/) &&
		$0 !~ / \.data\.rel\.ro/ && $NF !~ /^\./ { print $NF }' |
	lint_allow tests/lint/globals.allow |
	lint_report 'writable globals'

lint_done
