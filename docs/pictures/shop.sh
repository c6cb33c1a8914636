# SPDX-License-Identifier: MIT
# Sourced by the scripts beside it: a shop at work in a segment of its own.
# shellcheck shell=bash
TASKQ_SEGMENT=shop-$$
export TASKQ_SEGMENT
scratch=$(mktemp -d)
started=()

# What a picture has to end besides; one that has something says so.
end_more()
{
	:
}

finish()
{
	end_more
	[ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
	wait
	taskq destroy --force 2>/dev/null || true
	rm -rf "$scratch"
}
trap finish EXIT

# background COMMAND...: ended by finish.
background()
{
	"$@" >/dev/null 2>&1 &
	started+=($!)
}

# What a shop might do: mails at a rate, images two at a time, reports while paused.
prepare()
{
	local i

	taskq create
	taskq limit set mail-server --rate 40/1s --burst 20
	taskq limit set render 2
	for i in $(seq 12); do
		taskq submit -q reports -L "report $i" -- true
	done
	for i in $(seq 160); do
		taskq submit -q images -L "resize photo-$i.jpg" --limit render -p high -- sleep 1.3
	done
	taskq submit -q images -L "nightly backup" --delay 6h -- backup
	taskq pause -q reports
}

orders()
{
	local i

	for ((i = 1;; i++)); do
		taskq submit -q mail -L "order $i" --limit mail-server -- sh -c 'sleep 0.0$((RANDOM % 9))'
		[ $((i % 25)) -ne 0 ] || taskq submit -q mail -L "bounce $i" -- sh -c 'exit 69'
		sleep 0.0$((RANDOM % 5))
	done
}

open_shop()
{
	prepare >/dev/null 2>&1
	background taskq work -j6 -q mail,images --name shop
	background orders
}

# has_done N: so many mails have gone out; graphs are worth a picture once they have history.
has_done()
{
	[ "$(taskq --json stats -q mail | jq -s '.[0].done')" -gt "$1" ]
}
