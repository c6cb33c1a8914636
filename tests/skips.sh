#!/bin/sh
# SPDX-License-Identifier: MIT
# skips.sh BUILD-DIR: says what the last run of ctest there skipped: whole tests
# (junit.xml) and cases of tests that passed (LastTest.log).  With TASKQ_NO_SKIP set, as
# in CI, it fails for all but those in skips.allow.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

{
	sed -n 's/.*<testcase name="\([^"]*\)".*status="notrun".*/\1: all of it/p' Testing/junit.xml || true
	awk '
		/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
		/^ok .* # skip/ { sub(/.* # skip */, ""); print test ": " $0 }
		/^\[  SKIPPED \] [^0-9]/ { print test ": " $NF }' Testing/Temporary/LastTest.log
} 2>/dev/null | sort | uniq -c | awk '{ n = $1; $1 = ""; print substr($0, 2) "\t" n }' |
	awk -F'\t' -v list="$here/skips.allow" -v strict="${TASKQ_NO_SKIP:-}" '
		BEGIN {
			while ((getline line < list) > 0)
				if (line !~ /^#/)
					allowed[line] = 1
		}
		{
			refused = strict != "" && !($1 in allowed)
			printf "skipped: %s (%d)%s\n", $1, $2, refused ? ", which must not be" : ""
			failed += refused
		}
		END { exit failed > 0 }'
