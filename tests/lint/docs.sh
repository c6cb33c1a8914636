#!/bin/sh
# SPDX-License-Identifier: MIT
# Documentation that cannot lie for long: man pages name every verb, option,
# function, state, cause and error, and none that is not there; links and paths
# in Markdown lead somewhere.
. "$(dirname "$0")/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-docs.XXXXXX")
trap 'rm -rf "$work" "$lint_faults"' EXIT

# macro MAP FILE: the rows X(...) of an X-macro, one a line.
macro()
{
	[ ! -f "$2" ] || awk -v start="#define $1(X)" '
		index($0, start) { inside = 1 }
		inside { print }
		inside && !/\\$/ { exit }' "$2" | grep -oE 'X\([^)]*' || true
}

# differ NAME: reports what only the code has, or only the page.
differ()
{
	sort -u "$work/code" -o "$work/code"
	sort -u "$work/page" -o "$work/page"
	comm -23 "$work/code" "$work/page" | lint_report "$1: in the code, not in the page"
	comm -13 "$work/code" "$work/page" | lint_report "$1: in the page, not in the code"
}

# Verbs are subsections of taskq(1).
if [ -f man/taskq.1 ]; then
	macro VERB_MAP tools/taskq/options/verbs.h | sed 's/X(\([a-z]*\).*/\1/' >"$work/code"
	awk '/^\.Sh / { inside = $2 ~ /^(TASKS|WORKERS|QUEUES|SEGMENTS)$/ } inside && /^\.Ss / { print $2 }' \
		man/taskq.1 >"$work/page"
	differ 'verbs, taskq(1)'

	# Options are rows { 'x' or KEY, "name", ... }, perhaps over several lines.
	lint_files 'tools/taskq/*.[ch]' | xargs -r cat | tr -s '\n\t\\ ' ' ' |
		grep -oE "\{ ('.'|(KEY|OPTION|TASK_OPTION)_[A-Z_]+), \"[a-z-]+\", (NULL|\")" |
		sed 's/^[^"]*"\([^"]*\)".*/\1/' >"$work/code"
	grep -oE 'Fl -[a-z][a-z-]*' man/taskq.1 | sed 's/^Fl -//' >"$work/page"
	differ 'long options, taskq(1)'
fi

# Programs without verbs.
for program in taskq-top taskq-exporter; do
	[ -f "man/$program.1" ] || continue
	lint_files "tools/$program/options.c" | xargs -r cat |
		sed -nE 's/^.*\{ "([a-z-]+)", (no|required)_argument.*/\1/p' >"$work/code"
	# What other programs have stands behind their names.
	grep -vE '^\.Nm taskq' "man/$program.1" | grep -oE 'Fl -[a-z][a-z-]*' | sed 's/^Fl -//' >"$work/page"
	differ "long options, $program(1)"
done

if [ -f man/taskq-top.1 ]; then
	macro VIEW_MAP tools/taskq-top/view.h | sed 's/X(view_\([a-z]*\).*/\1/' >"$work/code"
	awk '/^\.Sh / { inside = $2 == "VIEWS" } inside && /^\.It Sy / { print tolower($3) }' \
		man/taskq-top.1 >"$work/page"
	differ 'views, taskq-top(1)'
fi

if [ -f man/libtaskq.3 ]; then
	lint_files 'include/taskq/*.h' | xargs -r sed -nE 's/^TQ_API .*[ *](tq_[a-z0-9_]+)\(.*/\1/p' >"$work/code"
	sed -nE 's/^\.Fo (tq_[a-z0-9_]+).*/\1/p' man/libtaskq.3 >"$work/page"
	differ 'functions, libtaskq(3)'

	macro TQ_ERROR_MAP include/taskq/error.h | sed 's/X(\([A-Z_]*\).*/\1/' >"$work/code"
	sed -nE 's/^\.It Er (TQ_[A-Z]+).*/\1/p' man/libtaskq.3 >"$work/page"
	differ 'errors, libtaskq(3)'
fi

if [ -f man/taskq.7 ]; then
	{ macro TQ_STATE_MAP include/taskq/task.h; macro TQ_CAUSE_MAP include/taskq/task.h; } |
		sed 's/^[^"]*"\([^"]*\)".*/\1/' | sort -u | while IFS= read -r name; do
		grep -qE "(^| |\.)Sy $name(\$|[ :])" man/taskq.7 || echo "$name"
	done | lint_report 'states and causes that taskq(7) does not explain'
fi

# Links, and in `...` paths of the tree and names of functions.
lint_files '*.md' | while IFS= read -r file; do
	dir=$(dirname "$file")
	grep -oE '\]\([^)]*\)' "$file" | sed -E 's/^\]\(//; s/\)$//; s/#.*//' |
		grep -vE '^$|^[a-z]+:' | while IFS= read -r link; do
		[ -e "$dir/$link" ] || echo "$file: $link"
	done || true
	grep -oE '`(shm|scheduler|client|include|tools|tests|examples|docs|man|cmake)/[A-Za-z0-9_.*/-]+`' "$file" |
		tr -d '`' | while IFS= read -r path; do
		# A pattern such as shm/tx.* is meant to be one.
		# shellcheck disable=SC2086
		ls -d $path >/dev/null 2>&1 || echo "$file: $path"
	done || true
done | lint_report 'Markdown: links and paths that lead nowhere'

lint_files 'shm/*.[ch]' 'scheduler/*.[ch]' 'client/*.[ch]' 'include/taskq/*.h' 'tests/support/*.h' |
	xargs -r grep -ohE '\btq[it]?_[a-z0-9_]+' | sort -u >"$work/code"
lint_files '*.md' | xargs -r grep -ohE '`tq[it]?_[a-z0-9_]+\(\)`' | tr -d '`()' | sort -u >"$work/page"
comm -13 "$work/code" "$work/page" | lint_report 'Markdown: functions that are not there'

lint_done
