#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh [--quick] [--some COUNT] [--seed SEED]: the models hold, and their broken variants
# do not; --some takes about so many of them, by the seed that is printed.  Needs spin and
# gcc; without spin it is skipped (77).
set -eu -o pipefail
quick='' some=0 seed=$(date +%s)
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=$1 ;;
	--some) some=$2; shift ;;
	--seed) seed=$2; shift ;;
	*) echo "models: no option $1" >&2; exit 2 ;;
	esac
	shift
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v spin >/dev/null || { echo "models: skipped, no spin"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-model.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0 held=0 broken=0 states=0

# check OPTIMISATION MODEL OPTION...: leaves spin's verdict in log.
check()
{
	local optimise=$1 model=$2
	shift 2
	spin "$@" -a "$here/$model.pml" >/dev/null
	gcc "$optimise" -w -DSAFETY -DCOLLAPSE -DMEMLIM=2500 -DVECTORSZ=2048 -o pan pan.c
	timeout "$limit" ./pan -E -m500000 >log || [ $? -ne 124 ] || echo "time exceeded" >>log
}

limit=1200 # seconds a run: the longest takes a minute on an idle processor, and 2.5 GB at most

# A compiler that optimises takes longer than what it saves, but for the largest.
optimise=-O2
[ "$quick" != --quick ] || optimise=-O0

# Instances of this file, for a share of them.
instances=$(grep -cE '(^|[ ;])(holds|fails) [a-z]' "$here/run.sh")
number=$seed
[ "$some" -eq 0 ] || echo "models: --some $some --seed $seed"

# is_wanted: the next instance belongs to the share.
is_wanted()
{
	number=$((number + 1))
	[ "$some" -eq 0 ] || [ $((number * some % instances)) -lt "$some" ]
}

holds()
{
	is_wanted || return 0
	check "$optimise" "$@"
	if grep -q 'errors: 0' log && ! grep -qE 'max search depth too small|memory exceeded|time exceeded' log; then
		held=$((held + 1))
		states=$((states + $(awk '/states, stored/ { print $1; exit }' log)))
	else
		echo "models: $* does not hold"
		grep -E 'assertion|error|depth|memory|time' log
		failed=1
	fi
}

fails() # at once: compiling is what takes the time
{
	is_wanted || return 0
	check -O0 "$@"
	if grep -q 'errors: 1' log; then
		broken=$((broken + 1))
	else
		echo "models: $* should fail, and does not"
		failed=1
	fi
}

holds lock
for bad in 1 2 3 4; do fails lock -DBAD=$bad; done
if [ "$quick" = --quick ]; then holds slot -DKILLS=1; else holds slot; fi
for bad in 1 2 3 4; do fails slot -DBAD=$bad; done
holds reader -DTXS=2
for bad in 1 2 3 4 6 7; do fails reader -DBAD=$bad -DTXS=2; done
if [ "$quick" != --quick ]; then
	holds reader -DTXS=2 -DUNSTAMPED
	holds reader -DTXS=2 -DKILLS=2
fi
fails reader -DBAD=5 -DTXS=1 -DUNSTAMPED
holds waiting -DKILLS=2 -DFIRST0=DUE
holds waiting -DKILLS=1 -DGIVE_UPS=1 -DFIRST0=DUE
# Nothing waits for a timer; nor does it where the timekeeper is one that starts nothing.
prompt="-DPROMPT -DKILLS=0 -DGIVE_UPS=1 -DTQI_DEPUTIES=0"
holds waiting $prompt -DCLIENTS=1
holds waiting $prompt -DTASKS=2 -DQUEUES=2
# Of two domains one may stop as a whole.
farm="-DSTOPS=1 -DKILLS=0 -DTQI_DEPUTIES=1"
holds waiting $farm -DFARM=2
holds waiting $farm -DFARM=2 -DFIRST0=DUE
if [ "$quick" != --quick ]; then
	holds waiting -DSTOPS=1 -DKILLS=1
	holds waiting -DSTOPS=1 -DKILLS=0 -DFIRST0=DUE
	holds waiting -DTASKS=2 -DGIVE_UPS=1 -DFIRST0=DUE
	holds waiting -DN=2 -DTASKS=2 -DKILLS=2 -DFIRST0=DUE
	holds waiting -DCLIENTS=1 -DKILLS=2 -DFIRST0=DUE
	holds waiting -DCLIENTS=1 -DSTOPS=1 -DKILLS=1
	holds waiting -DQUEUES=2 -DTASKS=2 -DKILLS=1
	holds waiting -DN=4 -DTQI_DEPUTIES=1 -DKILLS=1 -DFIRST0=DUE
	holds waiting $farm -DFARM=2 -DTASKS=2
	holds waiting $farm -DFARM=3 -DN=4
	fails waiting -DBAD=4 $farm -DFARM=3 -DN=4
	holds waiting $farm -DCLIENTS=2 -DN=4
	fails waiting -DBAD=5 $farm -DCLIENTS=2 -DN=4
	holds waiting -DCLIENTS=1 -DFARM=2 -DSTOPS=1 -DKILLS=1
fi
fails waiting -DBAD=1 -DTQI_DEPUTIES=0 -DKILLS=2 -DFIRST0=DUE
fails waiting -DBAD=2 -DFIRST0=DUE
fails waiting -DBAD=3 $prompt -DCLIENTS=1
fails waiting -DTQI_DEPUTIES=1 -DSTOPS=1 -DKILLS=1 -DFIRST0=DUE
fails waiting -DBAD=6 $prompt -DCLIENTS=1
echo "models: $held hold ($states states), $broken broken variants fail"
exit "$failed"
