#!/bin/sh
# SPDX-License-Identifier: MIT
# graph.sh SOURCES OUT: the graph that builds and runs the C files in SOURCES, as
# `taskq submit --graph` reads it.  Each file is preprocessed, then compiled; when all are,
# they are linked, and the program is run.  Whatever becomes of the link, the preprocessed
# files go.
set -eu

sources=$1
out=$2
steps=$(dirname "$0")

# A string of JSON.
quote()
{
	printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"
}

# node NAME AFTER COMMAND...: AFTER is the inside of an array.
node()
{
	printf '%s\n{"name":%s,"after":[%s],"command":[' "$comma" "$(quote "$1")" "$2"
	shift 2
	printf '%s' "$(quote "$1")"
	shift
	for word; do
		printf ',%s' "$(quote "$word")"
	done
	printf ']}'
	comma=,
}

comma=
objects=
printf '{"nodes":['
for file in "$sources"/*.c; do
	name=$(basename "$file" .c)
	node "preprocess $name" '' "${CC:-cc}" -E -o "$out/$name.i" "$file"
	node "compile $name" "$(quote "preprocess $name")" \
		"$steps/compile.sh" "$out/$name.i" "$out/$name.o"
	objects="$objects${objects:+,}$(quote "compile $name")"
done
node link "$objects" sh -c '"$1" -o "$2/program" "$2"/*.o' link "${CC:-cc}" "$out"
node run '"link"' sh -c '"$1/program" >"$1/result"' run "$out"
node tidy '{"name":"link","when":"any"}' sh -c 'rm -f "$1"/*.i' tidy "$out"
printf '\n]}\n'
