#!/bin/sh
# SPDX-License-Identifier: MIT
# The first version heading of CHANGELOG.md is the project's version.
. "$(dirname "$0")/lib.sh"

if [ ! -f CHANGELOG.md ]; then
	echo 'no CHANGELOG.md yet'
	exit 77
fi
project=$(sed -nE 's/^project\(.*VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
heading=$(sed -nE 's/^## *\[?v?([0-9]+\.[0-9]+\.[0-9]+).*/\1/p' CHANGELOG.md | head -n 1)
[ "$project" = "$heading" ] ||
	echo "CHANGELOG.md '$heading', CMakeLists.txt '$project'" | lint_report 'versions differ'

lint_done
