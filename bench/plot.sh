#!/bin/sh
# SPDX-License-Identifier: MIT
# plot.sh PART.json: a picture PLOT.svg beside it for each plot that has a title here.
set -eu
json=$1
directory=$(dirname "$json")
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-plot.XXXXXX")
trap 'rm -rf "$work"' EXIT

# TITLE;X;Y of a plot; nothing: it stays a table.
words_of()
{
	case $1 in
	peers-depth) echo 'A task put, taken and done, one process;tasks that wait;µs' ;;
	peers-payload) echo 'A task put, taken and done, one process, 8 wait;bytes of payload;µs' ;;
	commands) echo 'A command that does nothing;commands at a time;µs' ;;
	crowd) echo 'A task between N producers and N workers;N;ns' ;;
	crowd-tails) echo 'taskq: calls of N producers and N workers;N;ns' ;;
	growth-depth) echo 'Life of a task;tasks that wait;ns of processor time' ;;
	growth-payload) echo 'Life of a task;bytes of payload;ns of processor time' ;;
	growth-beside) echo 'Life of a task beside N others, 1,000 tasks wait;N;times the floor' ;;
	esac
}

# One block a series, its name first.
data_of()
{
	jq -r 'select(.plot == "'"$1"'") | [.series, (if .x < 1 then 1 else .x end), .value, .least, .most]
			| @tsv' "$json" |
		awk -F'\t' '
			!($1 in rows) { order[++n] = $1 }
			{ rows[$1] = rows[$1] $2 " " $3 " " $4 " " $5 "\n" }
			END { for (i = 1; i <= n; i++) printf "\"%s\"\n%s\n\n", order[i], rows[order[i]] }'
}

# draw PLOT TITLE X Y
draw()
{
	data_of "$1" >"$work/data"
	last=$(($(grep -c '^"' "$work/data") - 1))
	gnuplot <<-EOF
		set terminal svg size 800,560 font "sans-serif,13" background "white" noenhanced
		set output "$work/picture.svg"
		set title "$2"
		set xlabel "$3"
		set ylabel "$4"
		set logscale xy
		set format x "%.0s%c"
		set autoscale xfix
		set format y "%.12g"
		set grid
		set linetype 5 linecolor "grey50"
		set key below
		plot for [i=0:$last] "$work/data" index i using 1:2:3:4 with yerrorlines \
			pointtype i+1 linewidth 1.5 title columnheader(1)
	EOF
	mv "$work/picture.svg" "$directory/$1.svg"
}

for plot in $(jq -r 'select(.plot) | .plot' "$json" | sort -u); do
	words=$(words_of "$plot")
	[ "$words" ] || continue
	IFS=';' read -r title x y <<-EOF
		$words
	EOF
	draw "$plot" "$title" "$x" "$y"
done
