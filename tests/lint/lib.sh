# SPDX-License-Identifier: MIT
# Sourced by every lint: where the tree is, which files count, how to report.
# LINT_ROOT points a lint at another tree (the self-test does).
# shellcheck shell=sh
set -eu
LC_ALL=C
export LC_ALL

lint_dir=$(cd "$(dirname "$0")" && pwd)
cd "${LINT_ROOT:-$lint_dir/../..}"
lint_faults=$(mktemp "${TMPDIR:-/tmp}/taskq-lint.XXXXXX")
trap 'rm -f "$lint_faults"' EXIT

# lint_files PATTERN...: files of the tree whose path matches one (case's
# patterns): what git would track, or, without git, all but build/.
lint_files()
{
	if [ -e .git ] && git ls-files >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard
	else
		find . \( -name .git -o -path ./build \) -prune -o -type f -print | sed 's|^\./||'
	fi | sort -u | while IFS= read -r file; do
		[ -f "$file" ] || continue
		for pattern; do
			# The pattern is meant to be one.
			# shellcheck disable=SC2254
			case $file in $pattern) printf '%s\n' "$file"; break ;; esac
		done
	done
}

# lint_code FILE...: their lines as FILE:LINE:CODE, comments and strings blanked.
lint_code()
{
	[ $# -eq 0 ] || awk -f "$lint_dir/code.awk" "$@"
}

# lint_report TEXT: red if standard input has a line; shows the lines under TEXT.
lint_report()
{
	cat >"$lint_faults.new"
	if [ -s "$lint_faults.new" ]; then
		{ echo "$1:"; sed 's/^/  /' "$lint_faults.new"; } >>"$lint_faults"
	fi
	rm -f "$lint_faults.new"
}

# lint_allow FILE: passes input on without the entries of the allow-list FILE,
# lines of "ENTRY  reason", where an input line is "ENTRY ...".  An entry
# without a reason, or one that matches nothing, is itself a fault.  FILE is in the
# tree that is linted; a tree without it allows nothing.
lint_allow()
{
	awk -v list="$1" '
		BEGIN {
			while ((getline line < list) > 0) {
				n = split(line, word, " ")
				if (n == 0 || line ~ /^#/)
					continue
				unused[word[1]] = allowed[word[1]] = 1
				if (n < 3)
					print list ": no reason: " line
			}
		}
		$1 in allowed { delete unused[$1]; next }
		{ print }
		END { for (entry in unused) print list ": matches nothing: " entry }'
}

# lint_done: the exit code, after showing what was found.
lint_done()
{
	[ -s "$lint_faults" ] || exit 0
	cat "$lint_faults" >&2
	exit 1
}

# lint_declarations INCLUDE-DIR...: what the public headers declare, a statement a line: what is
# outside braces, without attributes, typedefs and what is static.
lint_declarations()
{
	flags=
	for dir; do
		flags="$flags -I$dir"
	done
	for dir; do
		for header in "$dir"/taskq/*.h; do
			# shellcheck disable=SC2086
			gcc -E -P $flags "$header"
		done
	done | tr '\n' ' ' |
		sed -E 's/__attribute__ ?\(\(([^()]|\([^()]*\))*\)\)//g; s/\{[^{}]*\}/;/g; s/\{[^{}]*\}/;/g' |
		tr ';' '\n' | grep -vE '^ *(typedef|static)'
}
