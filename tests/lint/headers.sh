#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh INCLUDE-DIR...: each public header compiles alone, without a warning,
# in every dialect that users have.
. "$(dirname "$0")/lib.sh"

flags='-fsyntax-only -pedantic -Wall -Wextra -Wundef -Werror'
headers=
for dir; do
	flags="$flags -I$dir"
	headers="$headers $(cd "$dir" && echo taskq/*.h)"
done

# try COMPILER LANGUAGE DIALECT HEADER
try()
{
	# A unit must declare something; several flags in one word, on purpose.
	# shellcheck disable=SC2086
	printf '#include <%s>\nextern int unit;\n' "$4" | "$1" $flags -x "$2" -std="$3" - 2>"$lint_faults.cc" ||
		{ echo "$4 by $1 as $3"; head -n 4 "$lint_faults.cc"; }
	rm -f "$lint_faults.cc"
}

for header in $headers; do
	for dialect in c99 c11 c17 c2x; do
		try gcc c "$dialect" "$header"
		try clang c "$dialect" "$header"
	done
	for dialect in c++11 c++14 c++17 c++20; do
		try g++ c++ "$dialect" "$header"
		try clang++ c++ "$dialect" "$header"
	done
done | lint_report 'headers that do not compile alone'

lint_done
