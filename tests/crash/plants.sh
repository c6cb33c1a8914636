#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# plants.sh BUILD-DIR [--some COUNT] [--seed SEED] [NAME...]: the crash tests can fail.
# For each planted fault of shm/plant.h the files that bear it are compiled anew and
# linked before the library; the test named here must find it, and must pass without
# it.  --some takes so many of them, by the seed that is printed.
set -eu -o pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/support/relink.bash
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-plants.XXXXXX")
trap 'rm -rf "$work"' EXIT
some=0 seed=$(date +%s)
while [[ "${1:-}" == --* ]]; do
	case $1 in
	--some) some=$2 ;;
	--seed) seed=$2 ;;
	*) echo "plants: no option $1" >&2; exit 2 ;;
	esac
	shift 2
done

# Fault, the test that finds it, its arguments.  `submit/ONE`: the sweep of that name, with
# options; of
# a storm, the seconds: it ends when it has found something, after some ten as a rule.
faults()
{
	cat <<'END'
no_entry       linear complete/ONE
late_entry     linear complete/ONE
early_count    linear complete/ONE
short_batch    linear complete/ONE
late_batch     linear submit/ONE
early_commit   linear forget/FINISHED
early_forget   linear submit/ONE
any_journal    stale
plain_submit   linear submit/ONE
plain_claim    linear claim/ONE
plain_end      linear complete_forget/EMPTY
early_give     linear fail_history/EMPTY
late_wake      linear submit/SLEEPERS
no_note        linear submit/SLEEPERS
no_pins        linear complete_waited/EMPTY
early_release  linear claim_timeout/EMPTY
no_place       linear claim/DEEP
loose_run      linear cancel_run_middle/EMPTY
raw_block      linear forget/FINISHED
plain_wall     linear submit_at/EMPTY
plain_token    linear claim_token/EMPTY
plain_history  linear fail_again/EMPTY
blind_check    linear repair/EMPTY --levels 1
no_depths      linear repair/EMPTY --levels 1
unmarked_repair linear repair_few/EMPTY --levels 1
unmarked_journal linear repair/EMPTY --levels 1
early_end      linear repair_few/EMPTY --levels 1
stale_holder   stale
no_epoch       stale
plain_lock     kill lost_wake
early_commit   storm 60
no_place       storm 60
END
}

target()
{
	case $1 in
	storm) echo tests/bin/stress.storm ;;
	*) echo "tests/bin/crash.$1_test" ;;
	esac
}

# plant NAME TEST: the test's program with the fault.
plant()
{
	local name=$1
	mkdir -p "$work/$name"
	relink_bearing "$work/$name" "$(grep -lF "TQI_PLANTED($name)" shm/*.[ch] scheduler/*/*.[ch] client/*/*.[ch])" \
		"-DTQI_PLANT_$name=1"
	relink_link "$work/$name/test" "$(target "$2")" "$work/$name"/*.o
}

# run BINARY TEST [ARGUMENT...]
run()
{
	case $2 in
	linear) timeout 240 "$1" --only "${@:3}" ;;
	storm) timeout 240 "$1" --seconds "$3" ;;
	*) timeout 240 "$1" ${3+"$3"} ;;
	esac
}

relink_begin "$build"
[ "$some" -eq 0 ] || echo "plants: --some $some --seed $seed"
red=0 total=0
while read -r name test argument options; do
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	total=$((total + 1))
	sound=$argument
	[ "$test" != storm ] || sound=3 # it has no end of its own when all is well
	# shellcheck disable=SC2086 # words
	if ! run "$build/$(target "$test")" "$test" ${sound:+"$sound"} $options >"$work/log" 2>&1; then
		cat "$work/log"
		echo "plants: $test $argument fails without a fault planted"
		continue
	fi
	plant "$name" "$test"
	# shellcheck disable=SC2086
	if run "$work/$name/test" "$test" ${argument:+"$argument"} $options >"$work/log" 2>&1; then
		echo "plants: $name is not found by $test $argument"
	else
		red=$((red + 1))
		printf '%-16s %s\n' "$name" "$(grep -m 1 -E 'FAULT|FAILED|lost|error' "$work/log" || echo "died")"
	fi
	rm -rf "${work:?}/$name"
done < <(faults | relink_some "$some" "$seed")
echo "plants: $red of $total planted faults found"
[ "$red" -eq "$total" ]
