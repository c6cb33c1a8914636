#!/bin/sh
# SPDX-License-Identifier: MIT
# fault.C9: the library that is built here has its static probes.
# probes.sh LIBRARY: they, as `readelf -n` lists them, are those of the
# table at the head of client/core/probes.h, and as many arguments each.
. "$(dirname "$0")/lib.sh"

# "NAME ARGUMENTS", one a line.
readelf -n "$1" |
	awk '/Provider: taskq$/ { mine = 1 } /Name:/ { name = $2 }
		/Arguments:/ && mine { print name, NF - 1; mine = 0 }' | sort -u >"$lint_faults.found"
sed -nE 's/^ \*   ([a-z]+) +(id, .*)/\1 \2/p' client/core/probes.h |
	awk '{ print $1, gsub(/,/, ",") + 1 }' | sort -u >"$lint_faults.stated"

diff "$lint_faults.stated" "$lint_faults.found" | grep '^[<>]' |
	lint_report 'client/core/probes.h states (<), the library has (>)' || true
rm -f "$lint_faults.found" "$lint_faults.stated"

lint_done
