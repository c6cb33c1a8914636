#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make.sh BUILD-DIR: draws docs/pictures/taskq-top.svg anew, from taskq-top at work in a terminal.
# A picture differs with every run, so this is done by hand, when the screen has changed.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=$(cd "$1/bin" && pwd):$PATH
export PATH TERM=xterm-256color LC_ALL=C.UTF-8
. "$here/shop.sh"

end_more()
{
	tmux -S "$scratch/tmux" kill-server 2>/dev/null || true
}

open_shop
tmux -S "$scratch/tmux" -f /dev/null new-session -d -x 100 -y 30 taskq-top -d 0.15
until has_done 400; do
	sleep 0.1
done
tmux -S "$scratch/tmux" capture-pane -p -e -N | "$here/svg.py" "taskq-top, overview" >"$here/taskq-top.svg"
