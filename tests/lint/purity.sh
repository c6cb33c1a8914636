#!/bin/sh
# SPDX-License-Identifier: MIT
# purity.sh OBJECT...: the scheduler calls nothing but this library and a few
# functions that compute: no system call, no clock, no allocation.
. "$(dirname "$0")/lib.sh"

pure='_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__assert_fail|bsearch'
pure="$pure|mem(cpy|move|set|cmp|chr)|str(len|nlen|cmp|ncmp|chr)|v?snprintf"

for object; do
	nm -u "$object" | awk -v object="${object##*/}" '{ print object ": " $2 }'
done | grep -vE ": (tqi_[a-z0-9_]+|$pure)\$" |
	lint_report 'scheduler/ calls' || true

lint_done
