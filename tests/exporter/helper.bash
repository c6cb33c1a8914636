# SPDX-License-Identifier: MIT
# An exporter a test, and questions to it.
load ../cli/helper

need_exporter() {
	type -P taskq-exporter >/dev/null || skip "taskq-exporter was not built"
}

# exporter ARG...: starts one at a free port of 127.0.0.1; then $url (with a slash at its
# end) and $exporter, its pid.
exporter() {
	start taskq exporter --listen 127.0.0.1:0 "$@"
	exporter=$pid
	eventually 5 grep -q '^listening on http' out
	url=$(sed -n 's/^listening on //p' out)
}

# ask CODE PATH [CURL-ARG]...: answered with that status; then $output is the body.
ask() {
	local code=$1 path=$2 status

	shift 2
	status=$(curl -sS -m 20 -g -o body -D head -w '%{http_code}' "$@" "$url$path")
	output=$(tr -d '\0' <body)
	[[ $status == "$code" ]] || { echo "$path: $status, not $code: $output"; return 1; }
}

# has_header NAME VALUE: the last answer had it.
has_header() {
	tr -d '\r' <head | grep -qixF "$1: $2" || { echo "no $1: $2 in:"; cat head; return 1; }
}

# metric NAME-WITH-LABELS: its value in what is read from the standard input.
metric() {
	grep -F "$1 " | grep -v '^#' | sed 's/.* //'
}

# Tasks in three queues, of several kinds and ends.
some_work() {
	local i

	for i in 1 2 3 4 5; do
		submit -q mail -- true
		submit -q images -- false
	done
	work_off -q mail,images
	submit -q images -p high -- true
	submit -q later --delay 1h -- true
	submit -q mail --kind thumbnail --payload x
	taskq limit set db 3
	taskq limit set api --rate 10/s
}
