#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# plants.sh BUILD-DIR [NAME...]: the crash tests can fail.  For each planted fault of
# shm/plant.h the files that bear it are compiled anew and linked before the library;
# the test named here must find it, and must pass without it.
set -eu -o pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-plants.XXXXXX")
trap 'rm -rf "$work"' EXIT

readonly flags=(-std=gnu11 -D_GNU_SOURCE -O2 -g -w -fPIC -I. -Iinclude "-I$build/include")
readonly libs=("$build/lib/libtaskq.a" -lurcu-bp -lurcu-cds -lpthread -Wl,-z,now)
operations=(tests/crash/operations*.c)
operations=("${operations[@]##*/}")
readonly harness=(lab verify map death step seen dump world handle states prepare
	"${operations[@]%.c}")
readonly support=(image box system trace)

# Fault, the test that finds it, its arguments.  `submit/ONE`: the sweep of that name; of
# a storm, the seconds: it ends when it has found something, after some ten as a rule.
faults()
{
	cat <<'END'
no_entry       linear complete/ONE
late_entry     linear complete/ONE
early_count    linear complete/ONE
early_commit   linear forget/FINISHED
early_forget   linear submit/ONE
no_barrier     linear submit/SLEEPERS
early_give     linear fail_history/EMPTY
late_wake      linear submit/SLEEPERS
no_note        linear submit/SLEEPERS
no_pins        linear complete_waited/EMPTY
early_release  linear claim_timeout/EMPTY
no_place       linear claim/DEEP
stale_holder   stale
no_epoch       stale
plain_lock     kill lost_wake
early_commit   storm 60
no_place       storm 60
END
}

compile_tests()
{
	local name
	for name in "${harness[@]}" linear_test stale_test kill_test; do
		gcc "${flags[@]}" -c -o "$work/$name.o" "tests/crash/$name.c"
	done
	for name in "${support[@]}"; do
		gcc "${flags[@]}" -c -o "$work/$name.o" "tests/support/$name.c"
	done
	mkdir "$work/stress"
	for name in tests/stress/*.c; do
		case $name in *_test.c) continue ;; esac
		printf '%s\0%s\0' "$work/stress/$(basename "$name" .c).o" "$name"
	done | xargs -0 -n 2 -P 2 gcc "${flags[@]}" -c -o
}

# link TEST OUTPUT OBJECT...: the objects come before the library's.
link()
{
	local test=$1 output=$2 name objects=()
	shift 2
	if [ "$test" = storm ]; then
		gcc -o "$output" "$work"/stress/*.o "$@" "${libs[@]}"
		return
	fi
	for name in "${harness[@]}" "${support[@]}"; do
		objects+=("$work/$name.o")
	done
	gcc -o "$output" "$work/${test}_test.o" "${objects[@]}" "$@" "${libs[@]}" -lcmocka
}

# Files that bear the fault; all of the core when it is in a header.
bearers()
{
	local files
	files=$(grep -lF "TQI_PLANTED($1)" shm/*.[ch] scheduler/*/*.[ch])
	case $files in
	*.h*) ls shm/*.c scheduler/*/*.c ;;
	*) echo "$files" ;;
	esac
}

plant()
{
	local name=$1 source
	mkdir -p "$work/$name"
	for source in $(bearers "$name"); do
		printf '%s\0%s\0' "$work/$name/$(basename "$source" .c).o" "$source"
	done | xargs -0 -n 2 -P 2 gcc "${flags[@]}" "-DTQI_PLANT_$name=1" -c -o
	link "$2" "$work/$name/test" "$work/$name"/*.o
}

# run BINARY TEST [ARGUMENT]
run()
{
	case $2 in
	linear) timeout 120 "$1" --only "$3" ;;
	storm) timeout 180 "$1" --seconds "$3" ;;
	*) timeout 120 "$1" ${3+"$3"} ;;
	esac
}

compile_tests
for test in linear stale kill storm; do
	link "$test" "$work/$test"
done
red=0 total=0
while read -r name test argument; do
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	total=$((total + 1))
	sound=$argument
	[ "$test" != storm ] || sound=3 # it has no end of its own when all is well
	if ! run "$work/$test" "$test" ${sound:+"$sound"} >"$work/log" 2>&1; then
		cat "$work/log"
		echo "plants: $test $argument fails without a fault planted"
		continue
	fi
	plant "$name" "$test"
	if run "$work/$name/test" "$test" ${argument:+"$argument"} >"$work/log" 2>&1; then
		echo "plants: $name is not found by $test $argument"
	else
		red=$((red + 1))
		printf '%-14s %s\n' "$name" "$(grep -m 1 -E 'FAULT|FAILED|lost|error' "$work/log" || echo "died")"
	fi
done < <(faults)
echo "plants: $red of $total planted faults found"
[ "$red" -eq "$total" ]
