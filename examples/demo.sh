#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# demo.sh [DIR]: the SHA-256 of every file under DIR (default /usr/include), by a
# farm of workers of which one is killed every 200 ms, compared with sha256sum.
#
# Exits 0 only if no task is lost, no two attempts of a task overlap, and all
# results are the same.  Needs `taskq` in PATH, bash, coreutils, findutils and awk.
set -eu -o pipefail
export LC_ALL=C # bytes, and a point in $EPOCHREALTIME

readonly workers=4 clients=4
readonly kill_every_us=200000
# Huge files might never be finished between two kills: then let them.
readonly kill_for_us=120000000
readonly stuck_us=300000000 # no task has ended for so long: give up

dir=$(cd -- "${1:-/usr/include}" && printf '%s.' "$PWD") || exit 2
dir=${dir%.} # the point kept a line feed at the end of the name
export TASKQ_SEGMENT=${TASKQ_TEST_ID:+$TASKQ_TEST_ID-}demo-$$-$RANDOM # of this run alone
unset TASKQ_QUEUE

tmp=$(mktemp -d "${TMPDIR:-/tmp}/taskq-demo.XXXXXX")
farm=
feeders=()
failed=0

# Ends what was started here, by pid.
clean_up()
{
	trap - EXIT INT TERM HUP
	local pid
	for pid in ${farm:+"$farm"} "${feeders[@]}"; do
		kill -TERM "$pid" 2>/dev/null || true
	done
	wait
	taskq destroy --force 2>/dev/null || true
	rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() { printf '%s\n' "$*"; }
now_us() { printf -v "$1" '%s' "${EPOCHREALTIME/./}"; }

# The text of $1 as a JSON string in $json; ASCII only.
json_string()
{
	json=${1//\\/\\\\}
	json=${json//\"/\\\"}
	local i code char
	if [[ $json == *[$'\x01'-$'\x1f']* ]]; then
		for ((i = 1; i < 32; i++)); do
			printf -v code '\\u%04x' "$i"
			printf -v char '%b' "\\x$(printf %02x "$i")"
			json=${json//"$char"/$code}
		done
	fi
	json=\"$json\"
}

# Files of the demo: $files, split into one part for each client.  The label of a
# task is its file's number; JSON has no bytes beyond UTF-8, so names that are not
# plain ASCII go into a list of their own, and are submitted one by one.
list_files()
{
	find "$dir" -type f -readable -print0 >"$tmp/files"
	mapfile -d '' -t files <"$tmp/files"
	total=${#files[@]}
	((total > 0)) || { say "no readable files under $dir"; exit 2; }
	local i part size=$(((total + clients - 1) / clients)) json
	local -r priorities=(low normal high critical)
	for ((part = 0; part < clients; part++)); do
		: >"$tmp/part.$part"
	done
	for ((i = 0; i < total; i++)); do
		if [[ ${files[i]} == *[$'\x80'-$'\xff']* ]]; then
			echo "$i" >>"$tmp/odd"
			continue
		fi
		json_string "${files[i]}"
		# A kill is no fault of the task, and its record must stay until it is read.
		printf '{"command":["sha256sum","--",%s],"label":"%d","priority":"%s",' \
			"$json" "$i" "${priorities[i % 4]}" >&3
		printf '"crashes_max":256,"keep":true,"cwd":"/"}\n' >&3
	done 3> >(split -l "$size" -a 1 -d - "$tmp/part.")
	wait $!
}

# Feeds the lines of a part, from the middle on slowly: so that whoever reads them
# is killed in the middle of its work.
feed_slowly()
{
	local line n=0 half
	half=$(($(wc -l <"$1") / 2))
	exec 4<> <(:)
	while IFS= read -r line; do
		printf '%s\n' "$line" || return 0
		((++n < half)) || read -r -t 0.002 -u 4 || true
	done <"$1"
}

# The client of part 0 is killed when it has submitted more than half of it.  What
# it did submit is found by the labels; the rest is submitted by another one.
submit_and_die()
{
	local client half
	half=$(($(wc -l <"$tmp/part.0") / 2))
	: >"$tmp/ids.0"
	feed_slowly "$tmp/part.0" 2>/dev/null | {
		taskq submit --batch - >"$tmp/ids.0" 2>/dev/null &
		client=$!
		while kill -0 "$client" 2>/dev/null &&
			(($(wc -l <"$tmp/ids.0") <= half + 10)); do
			sleep 0.01
		done
		kill -KILL "$client" 2>/dev/null && touch "$tmp/client_killed"
		wait "$client" || true
	} 2>/dev/null || true
	taskq list --json | sed -n 's/^.*"label":"\([0-9]*\)".*$/\1/p' >"$tmp/accepted" || true
	awk 'NR == FNR { accepted[$1] = 1; next }
		match($0, /"label":"[0-9]+"/) && !(substr($0, RSTART + 9, RLENGTH - 10) in accepted)' \
		"$tmp/accepted" "$tmp/part.0" >"$tmp/rest"
	wc -l <"$tmp/rest" >"$tmp/resubmitted"
	taskq submit --batch - <"$tmp/rest" >/dev/null 2>>"$tmp/clients.log"
}

submit_odd()
{
	local i
	[ -e "$tmp/odd" ] || return 0
	while read -r i; do
		taskq submit -L "$i" --cwd / --keep -- sha256sum -- "${files[i]}" \
			>/dev/null 2>>"$tmp/clients.log"
	done <"$tmp/odd"
}

start_clients()
{
	local part
	submit_and_die &
	feeders+=($!)
	for ((part = 1; part < clients; part++)); do
		taskq submit --batch - <"$tmp/part.$part" >/dev/null 2>>"$tmp/clients.log" &
		feeders+=($!)
	done
	submit_odd &
	feeders+=($!)
}

# One look: counters in $submitted, $started, $done and $ended, pids of live
# workers in $pids.
look()
{
	local status rest
	local -r count='([0-9]+)'
	local -r counters="\"submitted\":$count,\"started\":$count,\"done\":$count,\"failed\":$count"
	status=$(taskq --json)
	submitted=0 started=0 done=0 ended=0 pids=()
	if [[ $status =~ $counters ]]; then
		submitted=${BASH_REMATCH[1]}
		started=${BASH_REMATCH[2]}
		done=${BASH_REMATCH[3]}
		ended=$((done + BASH_REMATCH[4]))
	fi
	rest=${status#*\"workers\":\[}
	while [[ $rest =~ \"pid\":([0-9]+),\"flags\":\[([^]]*)\](.*) ]]; do
		[[ ${BASH_REMATCH[2]} == *master* || ${BASH_REMATCH[2]} == *dying* ]] ||
			pids+=("${BASH_REMATCH[1]}")
		rest=${BASH_REMATCH[3]}
	done
}

# Kills a worker; by then its pid might be another's, so its parent must be the farm.
kill_one()
{
	local pid stat at
	((${#pids[@]} > 0)) || return 0
	pid=${pids[RANDOM % ${#pids[@]}]}
	read -r stat 2>/dev/null <"/proc/$pid/stat" || return 0
	stat=${stat##*) }
	[[ ${stat#* } == "$farm "* ]] || return 0
	at=$EPOCHREALTIME
	kill -KILL "$pid" 2>/dev/null || return 0
	printf '%s %s\n' "$pid" "$at" >>"$tmp/kills"
	kills=$((kills + 1))
}

show_progress()
{
	local bar percent=$((ended * 100 / total))
	if [ -t 1 ]; then
		printf -v bar '%*s' $((percent * 40 / 100)) ''
		printf '\r[%-40s] %3d %%  %d of %d tasks, %d workers killed ' "${bar// /#}" \
			"$percent" "$ended" "$total" "$kills"
	elif ((ended == total || ++silent % 10 == 0)); then
		printf '%3d %%  %d of %d tasks, %d workers killed\n' "$percent" "$ended" \
			"$total" "$kills"
	fi
}

clients_live()
{
	local pid
	for pid in "${feeders[@]}"; do
		if kill -0 "$pid" 2>/dev/null; then
			return 0
		fi
	done
	return 1
}

# Until all tasks have ended, a worker less every 200 ms.
rage()
{
	local now next end last=0 last_us
	now_us next
	end=$((next + kill_for_us))
	last_us=$next
	for (( ; ; )); do
		look
		show_progress
		((ended < total)) || break
		# Should clients have failed, fewer will ever end; look once more to be sure.
		if ((ended == submitted)) && ! clients_live; then
			look
			((ended < submitted)) || break
		fi
		kill -0 "$farm" 2>/dev/null || { say; say 'the farm is gone:'; tail "$tmp/farm.log"; exit 1; }
		now_us now
		((ended == last)) || last_us=$now
		last=$ended
		((now - last_us < stuck_us)) || { say; say 'no task has ended for 5 minutes:'; taskq; exit 1; }
		((now >= end)) || kill_one
		next=$((next + kill_every_us))
		now_us now
		((next > now)) || next=$now
		sleep "$(((next - now) / 1000000)).$(printf %06d $(((next - now) % 1000000)))"
	done
	[ ! -t 1 ] || echo
}

# Every result, as sha256sum printed it.
fetch_results()
{
	local k pids=()
	sed -n 's/^{"id":"\([0-9]*-[0-9]*\)".*$/\1/p' "$tmp/list" >"$tmp/ids"
	split -n r/$((workers)) -a 1 -d "$tmp/ids" "$tmp/fetch."
	for ((k = 0; k < workers; k++)); do
		while read -r id; do
			taskq log "$id"
		done <"$tmp/fetch.$k" >"$tmp/results.$k" &
		pids+=($!)
	done
	wait "${pids[@]}"
	sort "$tmp"/results.? >"$tmp/results"
}

compare()
{
	xargs -0 sha256sum -- <"$tmp/files" | sort >"$tmp/expected"
	fetch_results
	same=identical
	cmp -s "$tmp/expected" "$tmp/results" || same=DIFFERENT
}

# From the histories of the tasks that were run more than once: overlaps, and the
# time from each kill to the next attempt of the task that it hit.
judge_histories()
{
	sed -n 's/^{"id":"\([0-9]*-[0-9]*\)".*"attempt":\([0-9]*\),.*$/\1 \2/p' "$tmp/list" |
		awk '$2 > 1 { print $1 }' >"$tmp/again"
	xargs -r -n 100 taskq show --json <"$tmp/again" >"$tmp/histories"
	awk '
		function seconds(text, d, y, m, day) { # since 1970, of 2026-11-27T23:38:48.202Z
			split(text, d, /[-T:Z]/)
			y = d[1] - (d[2] <= 2)
			m = (d[2] + 9) % 12
			day = 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + \
				int((153 * m + 2) / 5) + d[3] - 719469
			return day * 86400 + d[4] * 3600 + d[5] * 60 + d[6]
		}
		function field(text, name) {
			if (!match(text, "\"" name "\":\"?[^\",}]*"))
				return ""
			text = substr(text, RSTART, RLENGTH)
			sub(/^"[a-z]*":"?/, "", text)
			return text
		}
		FILENAME == kills { killed[$1] = killed[$1] " " $2; next } # a pid may come twice
		{
			sub(/^.*"history":\[/, "")
			n = split($0, attempt, /\},?/)
			end = 0
			for (i = 1; i <= n; i++) {
				if (attempt[i] !~ /"started"/)
					continue
				start = seconds(field(attempt[i], "started"))
				if (start < end)
					overlaps++
				if (end && cause ~ /^(signal:KILL|worker-died)$/) {
					at = 0
					m = split(killed[pid], times, " ")
					for (k = 1; k <= m; k++)
						if (times[k] <= end + 0.001)
							at = times[k]
					if (at)
						printf "%.3f\n", 1000 * (start - at)
				}
				end = seconds(field(attempt[i], "ended"))
				cause = field(attempt[i], "cause")
				pid = field(attempt[i], "pid")
			}
		}
		END { print overlaps + 0 >overlaps_file }' \
		overlaps_file="$tmp/overlaps" kills="$tmp/kills" "$tmp/kills" "$tmp/histories" | sort -n >"$tmp/restarts"
	overlapping=$(<"$tmp/overlaps")
	restarts=$(awk '{ ms[NR] = $1 < 0 ? 0 : $1 }
		END {
			if (NR)
				printf "median %.0f ms, worst %.0f ms (of %d)", ms[int((NR + 1) / 2)], ms[NR], NR
			else
				print "no kill hit a task"
		}' "$tmp/restarts")
}

report()
{
	local records unique lost client=0 sound=sound
	[ ! -e "$tmp/client_killed" ] || client=1
	records=$(wc -l <"$tmp/list")
	unique=$(sed -n 's/^.*"label":"\([0-9]*\)".*$/\1/p' "$tmp/list" | sort -u | wc -l)
	lost=$((total - done))
	taskq check >"$tmp/check" 2>&1 || { sound=DAMAGED; cat "$tmp/check"; failed=1; }
	cat <<REPORT
tasks               $total, one a file, by $clients clients at once
kills               $kills workers, $client client in mid-submit ($(<"$tmp/resubmitted") tasks submitted by another)
attempts            $started
kill to restart     $restarts
lost                $lost
submitted twice     $((records - unique))
overlapping         $overlapping
results             $same
segment             $sound (taskq check)
REPORT
	((lost == 0 && overlapping == 0 && records == total && unique == total)) || failed=1
	[ "$same" = identical ] || failed=1
}

say "files under $dir"
list_files
say "$total files, $clients clients, $workers workers; every 200 ms a worker is killed"
taskq create
: >"$tmp/kills"
echo 0 >"$tmp/resubmitted"
kills=0 silent=0
taskq work -j "$workers" >"$tmp/farm.log" 2>&1 &
farm=$!
for ((i = 0; i < 100; i++)); do
	look
	((${#pids[@]} < workers)) || break
	sleep 0.05
done
start_clients
rage
for feeder in "${feeders[@]}"; do
	wait "$feeder" || { say 'a client failed:'; cat "$tmp/clients.log"; failed=1; }
done
feeders=()
say 'comparing with sha256sum'
taskq list --json >"$tmp/list"
compare
judge_histories
report
exit "$failed"
