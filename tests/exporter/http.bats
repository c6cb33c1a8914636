#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# taskq exporter as a server: what any client may do to it.
load helper

setup_file() {
	type -P curl >/dev/null
}

@test "H7: methods: GET and HEAD alike, others 405 with Allow, bodies not wanted" {
	need_exporter
	taskq create
	exporter
	ask 200 metrics
	has_header Cache-Control no-store
	has_header X-Content-Type-Options nosniff
	[[ $(tr -d '\r' <head | sed -n 's/^Content-Length: //p') == $(wc -c <body) ]]
	not grep -qi '^Access-Control' head
	[[ $(curl -sS -I "${url}healthz" | tr -d '\r' | sed -n 's/^Content-Length: //p') == 3 ]]
	[[ $(curl -sS -I -o /dev/null -w '%{http_code} %{size_download}' "${url}metrics") == '200 0' ]]
	for method in POST PUT DELETE OPTIONS PATCH NONSENSE; do
		ask 405 api/queues -X $method
		has_header Allow 'GET, HEAD'
		jq -e .error body
	done
	ask 405 metrics -d x=1
	ask 405 metrics --data-binary @- <<<"$(seq 100000)"
	ask 400 metrics -X GET -d x=1
	expect 0 check
}

@test "H7: paths: 404 says what there is, in JSON below /api" {
	need_exporter
	taskq create
	exporter
	ask 404 nothing
	has_header Content-Type 'text/plain; charset=utf-8'
	prints /metrics
	for path in api/nothing api/ api/tasks/ api/tasks/nonsense api/tasks/1-1/how api/tasks/1-1/why/x; do
		ask 404 "$path"
		has_header Content-Type application/json
		jq -e '.error and .hint' body
	done
	ask 404 'metrics/../../../etc/passwd' --path-as-is
	ask 404 "api/tasks/$(printf '1%.0s' {1..500})-1"
}

@test "H7: arguments are checked and bounded" {
	need_exporter
	submit -- true
	exporter
	for bad in limit=0 limit=1001 limit=x limit= limit limit=-1 cursor=x cursor=99999999999999999999 \
		nonsense=1 'queue=a%20b' queue=%00 state=new kind=%22 'limit=1&limit=2' \
		"label=$(printf 'x%.0s' {1..300})" 'label=a%00b'; do
		ask 400 "api/tasks?$bad"
		jq -e .error body
	done
	ask 400 'api/queues?queue=default'
	ask 404 'api/tasks?queue=missing'
	for good in cursor=18446744073709551615 cursor=4294967296 limit=1000 'state=finished,ready' \
		'label=%22%3Cscript%3E'; do
		ask 200 "api/tasks?$good"
	done
	for list in queues workers limits groups schedules; do
		ask 200 "api/$list?cursor=18446744073709551615"
	done
	# A head too large for the server ends the connection, or is answered with an error.
	[[ $(curl -sS -m 20 -o /dev/null -w '%{http_code}' -H "X: $(printf 'x%.0s' {1..60000})" \
		"${url}healthz" 2>/dev/null) != 200 ]]
	ask 200 healthz
}

# raw LINE...: the status of a request that is written like this, with each line's end.
raw() {
	python3 - "$(port)" "$@" <<'EOF'
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20) as s:
    lines = [line.encode() + b"\r\n" for line in sys.argv[2:]]
    s.sendall(b"".join(lines) + b"\r\n")
    print(s.makefile("rb").readline().decode().split(" ")[1])
EOF
}

@test "H7: a NUL cuts neither a path nor an argument's name" {
	need_exporter
	submit -- true
	exporter
	for path in healthz%00 healthz%00/x api/queues%00 api/tasks/1-1%00x api/tasks/1-1%00/why \
		'api/tasks?limit%00x=1' 'api/tasks?%00=1' 'healthz?%00' '%%00healthz'; do
		ask 400 "$path"
		prints "NUL"
	done
	ask 404 'healthz%2500'
	ask 200 healthz
}

@test "H7: one header Host; a target with a name in it is that name's" {
	need_exporter
	taskq create
	exporter
	[[ $(raw 'GET /healthz HTTP/1.1' 'Host: localhost' 'Host: localhost') == 400 ]]
	[[ $(raw 'GET /healthz HTTP/1.1' 'Host: localhost' 'host: evil.example') == 400 ]]
	[[ $(raw 'GET /healthz HTTP/1.1') == 400 ]]
	[[ $(raw 'GET http://localhost/healthz HTTP/1.1' 'Host: localhost') == 200 ]]
	[[ $(raw 'GET HTTP://127.0.0.1:1/api/tasks?limit=1 HTTP/1.1' 'Host: localhost') == 200 ]]
	[[ $(raw 'GET http://[::1] HTTP/1.1' 'Host: localhost') == 200 ]]
	[[ $(raw 'GET http://localhost/nothing HTTP/1.1' 'Host: localhost') == 404 ]]
	for name in evil.example localhost.evil.example '' a@localhost "$(printf 'x%.0s' {1..400})"; do
		[[ $(raw "GET http://$name/healthz HTTP/1.1" 'Host: localhost') == 403 ]]
	done
}

# clients COUNT: so many connections that say nothing, until their standard input ends.
clients() {
	python3 -c '
import socket, sys
port, count = map(int, sys.argv[1:])
idle = [socket.create_connection(("127.0.0.1", port)) for i in range(count)]
open("idle", "w").write("ready")
sys.stdin.read()' "$(port)" "$1"
}

# Seconds of processor time that the exporter has used.
used() {
	awk '{ print int(($14 + $15) / 100) }' "/proc/$exporter/stat"
}

@test "H7: few descriptors: a soft limit is raised, a hard one leaves enough to look" {
	local before end

	need_exporter
	taskq create
	start prlimit --nofile=40:4096 taskq-exporter --listen 127.0.0.1:0
	exporter=$pid
	eventually 5 grep -q '^listening on http' out
	url=$(sed -n 's/^listening on //p' out)
	mkfifo hold
	clients 60 <hold 3>&- &
	started+=("$!")
	exec 9>hold
	eventually 5 test -s idle
	ask 200 healthz -m 5
	exec 9>&-
	wait "${started[-1]}"
	rm idle out

	start prlimit --nofile=40:40 taskq-exporter --listen 127.0.0.1:0
	exporter=$pid
	eventually 5 grep -q '^listening on http' out
	url=$(sed -n 's/^listening on //p' out)
	clients 60 <hold 3>&- &
	started+=("$!")
	exec 9>hold
	eventually 5 test -s idle
	before=$(used)
	end=$((SECONDS + 4))
	while ((SECONDS < end)); do
		[[ $(find "/proc/$exporter/fd" | wc -l) -lt 40 ]]
		sleep 0.2
	done
	(($(used) - before <= 1))
	exec 9>&-
	wait "${started[-1]}"
	ask 200 healthz
	[[ $output == ok ]]
}

# Clients that ask for much, and read nothing of it.
greedy_clients() {
	python3 - "$(port)" "$@" <<'EOF'
import socket, sys, time
port, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
idle = []
for i in range(count):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(("127.0.0.1", port))
    s.sendall(b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
    idle.append(s)
for s in idle:
    s.settimeout(30)
    s.recv(12)
open("greedy", "w").write("ready")
sys.stdin.read()
EOF
}

@test "H7: clients that read nothing of large answers do not fill the memory" {
	need_exporter
	taskq create --max 256M
	head -c 300000 /dev/zero | tr '\0' x >large
	for _ in {1..50}; do
		taskq submit --kind blob --payload @large >/dev/null
	done
	jq -cn 'range(400) | {kind: "blob", payload: ("\u0001" * 4000)}' | taskq submit --batch - >/dev/null
	exporter
	for path in 'api/tasks?limit=1000' api/tasks/1-1; do
		greedy_clients 100 "$path" <<<"" &
		started+=("$!")
		eventually 20 test -s greedy
		ask 200 healthz
		wait "${started[-1]}"
		rm greedy
	done
	(($(awk '/^VmHWM/ { print $2 }' "/proc/$exporter/status") < 200000))
}

@test "H7: a request to a name of somebody else is not answered" {
	need_exporter
	taskq create
	exporter --allow-host queue.example.org
	for host in 127.0.0.1 localhost localhost:1 LOCALHOST. '[::1]:80' 10.1.2.3 queue.example.org:80 \
		Queue.Example.Org; do
		ask 200 healthz -H "Host: $host"
	done
	for host in evil.example localhost.evil.example evil.example:80 '[::1' 127.0.0.1.evil.example \
		'127.0.0.1:80:80' '[evil]' 'a b' queue.example.org.evil; do
		ask 403 healthz -H "Host: $host"
		prints "--allow-host"
	done
	ask 403 api/tasks -H 'Host: evil.example'
	jq -e .hint body
	ask 200 healthz -0 -H 'Host:' # HTTP/1.0 knows no names; no browser speaks it
}

@test "H7: the page runs its own scripts only" {
	local policy nonce

	need_exporter
	taskq create
	exporter
	ask 200 ''
	has_header Content-Type 'text/html; charset=utf-8'
	policy=$(tr -d '\r' <head | sed -n 's/^Content-Security-Policy: //p')
	[[ $policy == *"default-src 'none'"* && $policy == *"frame-ancestors 'none'"* ]]
	nonce=$(sed -n "s/.*script-src 'nonce-\([0-9a-f]\{32\}\)'.*/\1/p" <<<"$policy")
	[[ -n $nonce ]]
	not grep -q '<script>' body
	[[ $(grep -o '<script' body | wc -l) == $(grep -o "<script nonce=\"$nonce\">" body | wc -l) ]]
	ask 200 ''
	not grep -qF "$nonce" head
	ask 404 index.html
}

# Connections that say half of a request, and then nothing.
slow_clients() {
	python3 - "$1" "$2" "$3" <<'EOF'
import socket, sys, time
port, count, hold = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
socks = []
for i in range(count):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    socks.append(s)
open("slow", "w").write("ready")
end = time.monotonic() + hold
left = list(socks)
while left and time.monotonic() < end:
    for s in list(left):
        try:
            s.send(b"x")
            s.settimeout(0.001)
            if s.recv(1) == b"":
                left.remove(s)
        except socket.timeout:
            pass
        except OSError:
            left.remove(s)
    time.sleep(0.5)
open("slow", "w").write("cut %d" % (count - len(left)))
EOF
}

port() {
	sed 's/.*:\([0-9]*\)\/$/\1/' <<<"$url"
}

@test "H7: slow clients hold up nobody, and are cut off" {
	local slow

	need_exporter
	taskq create
	exporter
	slow_clients "$(port)" 100 90 3>&- &
	slow=$!
	started+=("$slow")
	eventually 5 grep -q ready slow
	for _ in 1 2 3 4 5; do
		ask 200 metrics -m 5
	done
	# A byte now and then does not keep a connection for longer than half a minute or so.
	eventually 15 grep -qx 'cut 100' slow
	wait "$slow"
	ask 200 metrics
}

@test "fault.D8: an address with 700 connections that say nothing delays no other" {
	need_exporter
	taskq create
	exporter
	cat >crowd.py <<'EOF'
import socket, sys
crowd = []
for i in range(700):
    s = socket.socket()
    s.bind(("127.0.0.2", 0))
    s.connect(("127.0.0.1", int(sys.argv[1])))
    crowd.append(s)
# Those beyond the share are closed: at least so many have been, when all are looked at.
closed = 0
for s in crowd[512:]:
    s.settimeout(5)
    closed += s.recv(1) == b""
print(closed, flush=True)
sys.stdin.read()
EOF
	port=${url##*:}
	coproc crowd { exec python3 crowd.py "${port%/}"; }
	# Not by the clock: while all of them are there, and before any is idle for too long.
	read -r closed <&"${crowd[0]}"
	((closed == 188))
	ask 200 healthz -m 5
	ask 200 metrics -m 5
	# It takes no more than its own share.
	python3 - "${port%/}" <<'EOF'
import socket, sys
s = socket.socket()
s.bind(("127.0.0.2", 0))
s.connect(("127.0.0.1", int(sys.argv[1])))
s.settimeout(5)
sys.exit(0 if s.recv(1) == b"" else 1)
EOF
	exec {crowd[1]}>&-
	wait "$crowd_PID"
}

@test "H7: 200 connections at once are all answered" {
	need_exporter
	some_work
	exporter
	python3 - "$(port)" <<'EOF'
import socket, sys, threading
port = int(sys.argv[1])
barrier = threading.Barrier(200)
good = []
def answer(s, path):
    """Its status; None: closed before any of it, as a server may do with one that was idle."""
    s.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    f = s.makefile("rb")
    if not (status := f.readline()):
        return None
    length = 0
    while (line := f.readline()) != b"\r\n":
        assert line, "cut off"
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    assert len(f.read(length)) == length
    return status
def one(path):
    s = socket.create_connection(("127.0.0.1", port))
    barrier.wait(300)
    for _ in range(3):
        try:
            status = answer(s, path)
        except (BrokenPipeError, ConnectionResetError):
            status = None
        if status is None:
            s = socket.create_connection(("127.0.0.1", port))
            status = answer(s, path)
        if b" 200 " in status:
            good.append(path)
paths = [b"/metrics", b"/api/overview", b"/api/tasks", b"/healthz"]
threads = [threading.Thread(target=one, args=(paths[i % 4],), daemon=True) for i in range(200)]
for t in threads: t.start()
for t in threads: t.join(300)
assert len(good) == 600, len(good)
EOF
}

@test "H7: however many ask, the segment is looked at at most twice a second" {
	need_exporter
	submit -- true
	exporter
	# Answers within half a second are of one look: their time is the same.
	for _ in 1 2 3 4 5 6 7 8; do
		ask 200 api/overview
		jq -r .time body
	done >times
	[[ $(sort -u times | wc -l) -le 3 ]]
}

@test "H7: SIGTERM, SIGINT and SIGHUP end it with 0, also while clients are connected" {
	need_exporter
	taskq create
	for signal in TERM INT HUP; do
		exporter
		exec 9<>"/dev/tcp/127.0.0.1/$(port)"
		ask 200 healthz
		kill -"$signal" "$exporter"
		ends 0 "$exporter"
		exec 9>&-
		rm out
	done
}

@test "H7: --listen: addresses, ports, and what is wrong with them" {
	local taken

	need_exporter
	taskq create
	start taskq exporter --json --listen 127.0.0.1:0 # which says where in JSON
	eventually 5 test -s out
	[[ $(jq -r .address out) == 127.0.0.1 ]]
	url=$(jq -r .url out)
	taken=$(jq -r .port out)
	ask 200 healthz
	expect 1 exporter --listen "127.0.0.1:$taken"
	says "Address already in use"
	says "or 0 for any that is free"
	expect 1 exporter --listen 192.0.2.1:0
	says "cannot listen on 192.0.2.1:0"
	for bad in '' : :1 127.0.0.1:x 127.0.0.1:65536 127.0.0.1:-1 '[::1' '[::1]x' 127.0.0.1: no.such.name.invalid:1; do
		expect 2 exporter --listen "$bad"
		says "give an address or a name, and a port"
	done
}

@test "H7: --listen [::1] and beyond this machine" {
	need_exporter
	taskq create
	start taskq exporter -l '[::1]:0'
	eventually 5 eval 'grep -q "^listening on" out || is_gone $pid' # without IPv6
	if grep -q '^listening on http://\[::1\]:' out; then
		url=$(sed -n 's/^listening on //p' out)
		ask 200 healthz
	fi
	[[ ! -s err ]] # nothing to warn of
	start taskq-exporter -l 0.0.0.0:0
	eventually 5 grep -q '^listening on http://0.0.0.0:' out
	grep -q "can be reached from other machines" err
}

@test "H7: bad options are refused with what to do" {
	need_exporter
	for bad in --nonsense --list operand '--listen' '--allow-host=' '--allow-host=a/b' \
		'--segment=a/b' --json=x '-x'; do
		expect 2 exporter $bad
		[[ -n $stderr ]]
	done
	expect 2 exporter --listen
	says "option --listen needs an argument"
	expect 2 exporter --json=x
	says "option --json=x takes no argument"
	expect 2 exporter operand
	says '"operand" is one operand too many'
	expect 2 exporter --allow-host "$(printf 'x%.0s' {1..300})"
	says "not a name"
	TASKQ_SEGMENT=a/b expect 2 exporter
	run --separate-stderr -2 env TASKQ_SEGMENT=a/b taskq-exporter
	says "TASKQ_SEGMENT"
	expect 0 exporter --help
	prints "--allow-host"
	expect 0 help exporter
	prints "--listen"
	expect 0 exporter --version
	prints "taskq-exporter "
}

@test "H7: without taskq-exporter the verb says what is missing" {
	mkdir bin
	cp "$(type -P taskq)" bin/taskq
	run --separate-stderr -1 env PATH=/nowhere \
		LD_LIBRARY_PATH="$(dirname "$(type -P taskq)")/../lib" "$PWD/bin/taskq" exporter
	says "libmicrohttpd-dev"
}
