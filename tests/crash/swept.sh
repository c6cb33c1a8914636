#!/bin/sh
# SPDX-License-Identifier: MIT
# swept.sh LINEAR-TEST DOCUMENT [--update]: the table of what is swept, between two
# marks in docs/crash-safety.md.  Compares operations, functions and start states with
# what the harness has; --update sweeps everything and writes the table anew, with how
# many states that were.  (Those differ from build to build, so they are not compared.)
set -eu
LC_ALL=C
export LC_ALL
linear=$1
document=$2
begin='<!-- swept: begin, written by `./run crash --table` -->'
end='<!-- swept: end -->'
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-swept.XXXXXX")
trap 'rm -rf "$work"' EXIT

# rows FILE: its table's rows.
rows()
{
	awk -v begin="$begin" -v end="$end" '
		$0 == end { inside = 0 }
		inside && /^\| `/ { print }
		$0 == begin { inside = 1 }' "$1"
}

# The table, and a sentence of its sums.
generate()
{
	"$linear" --table >"$work/sweep" || { grep -v '^|' "$work/sweep" >&2; exit 1; }
	grep '^|' "$work/sweep" >"$work/table"
	awk -F'|' '
		function thousands(n, rest) {
			while (n >= 1000) {
				rest = sprintf(",%03d", n % 1000) rest
				n = int(n / 1000)
			}
			return n rest
		}
		/^\| `/ {
			operations++
			sweeps += split($4, names, " ")
			for (i in names)
				states[names[i]]
			crashes += $5
			nested += $6
			faults += $7
		}
		END {
			for (i in states)
				starts++
			printf "%d operations in %d start states are %d sweeps: %s crash states, and %s inside rescues; %d faults.\n\n",
				operations, starts, sweeps, thousands(crashes), thousands(nested), faults
		}' "$work/table"
	cat "$work/table"
}

if [ "${3:-}" = --update ]; then
	generate >"$work/new"
	awk -v begin="$begin" -v end="$end" -v new="$work/new" '
		$0 == end { inside = 0 }
		!inside { print }
		$0 == begin { inside = 1; while ((getline line < new) > 0) print line }' \
		"$document" >"$work/document"
	cat "$work/document" >"$document"
fi

# What the document says, in the form of --list and --functions.
rows "$document" | awk -F'|' '{
	gsub(/[` ]/, "", $2)
	n = split($4, names, " ")
	for (i = 1; i <= n; i++)
		print $2 "/" names[i]
}' | sort >"$work/said"
"$linear" --list | sort >"$work/there"
rows "$document" | awk -F'|' '{ gsub(/[` ()]/, "", $3); print $3 }' | sort >"$work/said.functions"
"$linear" --functions | sort >"$work/there.functions"
failed=0
for what in '' .functions; do
	cmp -s "$work/there$what" "$work/said$what" && continue
	failed=1
	echo "$document: the table of what is swept is out of date; ./run crash --table writes it"
	diff "$work/there$what" "$work/said$what" |
		sed -n 's/^</  swept, not said:/p; s/^>/  said, not swept:/p'
done
exit "$failed"
