#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make.sh BUILD-DIR: draws docs/pictures/taskq-top.svg anew, from taskq-top at work in a terminal.
# A picture differs with every run, so this is done by hand, when the screen has changed.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1/bin" && pwd)
export PATH=$bin:$PATH TASKQ_SEGMENT=shop-$$
scratch=$(mktemp -d)
started=()

finish()
{
	tmux -S "$scratch/tmux" kill-server 2>/dev/null || true
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
	for i in $(seq 60); do
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

prepare >/dev/null 2>&1
background taskq work -j6 -q mail,images --name shop
background orders
export TERM=xterm-256color LC_ALL=C.UTF-8
tmux -S "$scratch/tmux" -f /dev/null new-session -d -x 100 -y 30 taskq-top -d 0.15

# The graphs are worth a picture once they have some history.
until [ "$(taskq --json stats -q mail | jq -s '.[0].done')" -gt 400 ]; do
	sleep 0.1
done
tmux -S "$scratch/tmux" capture-pane -p -e -N | "$here/svg.py" "taskq-top, overview" >"$here/taskq-top.svg"
