#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stores.sh PROGRAM ROOT STEPPED... [--update]: every store into the segment is stepped
# over by some row of the sweep.  A store is an instruction that came of one of the setters of
# shm/tx.h and shm/atomic.h; where it stands is the line that called the setter.  STEPPED
# are what `PROGRAM --stepped` wrote.  Stores that no row reaches stand in
# unstepped.list, by function and text (files move), which may only get shorter: a new one fails,
# and so does one that is stepped over and still there.  --update writes it.
set -eu -o pipefail
LC_ALL=C
export LC_ALL
program=$1 root=$2
shift 2
list=$root/tests/crash/unstepped.list
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-stores.XXXXXX")
trap 'rm -rf "$work"' EXIT
update=''
stepped=()
for file; do
	if [ "$file" = --update ]; then update=1; else stepped+=("$file"); fi
done

# Instructions whose destination is in memory and not on the stack.
objdump -d --no-show-raw-insn "$program" | awk '
	/^ +[0-9a-f]+:\t/ && /\)$/ && !/\(%rsp/ &&
		!/\t(lea|cmp|test|call|jmp|nop|push|prefetch|imul|mul|div|idiv)/ {
		sub(":", "", $1)
		print $1
	}' >"$work/stores"

# sites: ADDRESS FILE FUNCTION LINE of those that came of a setter.  addr2line says an
# instruction's functions from the innermost inlined one outwards, two lines each.
addr2line -a -f -i -e "$program" <"$work/stores" | awk -v root="$root/" '
	function done() {
		if (setter && at != "")
			print address, at
	}
	/^0x/ { done(); address = $1; sub(/^0x0*/, "", address); setter = 0; at = ""; name = ""; next }
	name == "" { name = $1; next }
	{
		sub(/ \(discriminator.*/, "")
		split($0, place, ":")
		file = place[1]
		sub(root, "", file)
		sub(/^.*\.\.\//, "", file) # a cache of objects makes names relative
		if (file == "shm/tx.h" || file == "shm/atomic.h")
			setter = setter || name ~ /^tqi_(set|undo|save|store|add|cas)/
		else if (at == "")
			at = file " " name " " place[2]
		name = ""
	}
	END { done() }' | grep -E ' (shm|scheduler|client)/' >"$work/sites"

[ -s "$work/sites" ] || { echo "stores: $program has no debug information of this tree"; exit 1; }

# Rescues: those of one sweep do.  And two with every instruction: what the setters store into
# a handle, which is in no segment, the others do not stop at.
"$program" --only complete/EMPTY --every --stepped "$work/rescues" >/dev/null
"$program" --only submit_kind/EMPTY --levels 1 --every --stepped "$work/handles" >/dev/null

# What has a store that was not stepped over at a line that has none that was.
sort -u "$work/rescues" "$work/handles" "${stepped[@]}" >"$work/stepped"
awk -v root="$root/" '
	FNR == NR { stepped[$1] = 1; next }
	{
		key = $2 " " $3 " " $4
		all[key] = 1
		reached[key] += $1 in stepped
	}
	END { for (key in all) print (reached[key] ? "reached" : "missed"), key }' \
	"$work/stepped" "$work/sites" | while read -r how file function line; do
	printf '%s\t%s(): %s\n' "$how" "${function%%.*}" \
		"$(sed -n "${line}s/^[[:space:]]*//p" "$root/$file")"
done | sort -u >"$work/found"
grep -P '^missed\t' "$work/found" | cut -f 2- >"$work/missed" || true
# A text that stands twice in a function is missed when one of the two is.
grep -P '^reached\t' "$work/found" | cut -f 2- | grep -vxFf "$work/missed" >"$work/reached" || true

if [ -n "$update" ]; then
	{ sed -n '/^#/p' "$list"; cat "$work/missed"; } >"$work/list"
	cat "$work/list" >"$list"
fi
grep -v '^#' "$list" | sort -u >"$work/known" || true
failed=0
complain()
{
	while IFS= read -r line; do
		echo "$line"
		echo "  $1"
		failed=1
	done
}
complain 'no row of the sweep steps over this store: give it one in tests/crash/table.h' \
	< <(comm -23 "$work/missed" "$work/known")
complain 'is stepped over: it has no place in tests/crash/unstepped.list any more' \
	< <(comm -12 "$work/reached" "$work/known")
echo "stores: $(wc -l <"$work/reached") stepped over, $(wc -l <"$work/missed") not yet"
exit "$failed"
