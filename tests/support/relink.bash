# SPDX-License-Identifier: MIT
# Sourced: tests of the library with a few of its objects compiled anew, changed.  The
# build's own commands are used, and the changed objects come before the library, so
# one change costs one compilation and one link.
#
#   relink_begin BUILD                        first; from the top of the tree
#   relink_compile OBJECT SOURCE [TEXT [FLAG...]]
#                                             OBJECT of SOURCE, a file of the library; of
#                                             what stands in the file TEXT instead
#   relink_bearing DIRECTORY "FILE..." [FLAG...]
#                                             DIRECTORY/*.o of those files; of the whole
#                                             library when a header is among them
#   relink_link PROGRAM TARGET OBJECT...      TARGET of the build (tests/bin/NAME, bin/NAME)
#   relink_some COUNT SEED                    COUNT of the lines of its input (0 all)
# shellcheck shell=bash

relink_begin()
{
	relink_build=$1
	relink_commands=$(ninja -C "$relink_build" -t commands lib/libtaskq.a)
}

relink_compile()
{
	local object=$1 source=$2 text=${3:-$PWD/$2} command
	command=$(grep -m 1 -F -e " -c $PWD/$source" "${relink_list:-/dev/stdin}" <<<"${relink_commands:-}") || return
	command=$(sed -E "s| -M[TF] [^ ]+||g; s| -MD||; s| -o [^ ]+| -o $object|; s| -c [^ ]+| -w -c $text|" <<<"$command")
	(cd "$relink_build" && eval "$command ${*:4}")
}

relink_bearing()
{
	local source sources=$2
	[[ "$sources" != *.h* ]] || sources=$(ls shm/*.c scheduler/*/*.c client/*/*.c)
	printf '%s\n' "$relink_commands" >"$1/commands" # a variable may have 128 KiB at most
	export relink_build
	export -f relink_compile
	for source in $sources; do
		printf '%s\0%s\0' "$1/${source//\//.}.o" "$source"
	done | relink_list="$1/commands" xargs -0 -n 2 -P 2 bash -c 'relink_compile "${@: -2}" "" "${@:1:$#-2}"' _ "${@:3}"
}

relink_link()
{
	local program=$1 target=$2 command
	command=$(ninja -C "$relink_build" -t commands "$target" | tail -n 1) || return
	command=${command/ -o $target/ ${*:3} -o $program}
	(cd "$relink_build" && eval "$command")
}

# The order of the input is kept, so that a run can be read beside the list.
relink_some()
{
	awk -v count="$1" -v seed="$2" '
		BEGIN { srand(seed) }
		{ line[NR] = $0; rank[NR] = rand() }
		END {
			for (i = 1; i <= NR; i++) {
				before = 0
				for (j = 1; j <= NR; j++)
					before += rank[j] < rank[i]
				if (count == 0 || before < count)
					print line[i]
			}
		}'
}
