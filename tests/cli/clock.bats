#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Steps of the wall clock, as a running farm sees them: libfaketime lies to it, and to
# nobody else.  Something runs all the while, so that its keepers sleep by the monotonic
# clock: the kernel is not lied to, and a sleep until a time of the wall clock would be
# by the real one.
load helper

lib=$(compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' | head -n1) || true

teardown() {
	local pid

	for pid in "${started[@]}"; do
		end "$pid"
		rm -f "/dev/shm/faketime_shm_$pid" "/dev/shm/sem.faketime_sem_$pid"
	done
	taskq destroy --force 2>/dev/null || true
}

# ahead SECONDS: from now on the farm's wall clock is so far ahead of the real one.
ahead() {
	echo "$1" >ahead.new
	mv ahead.new ahead
}

lied_to_farm() {
	ahead +0
	start env LD_PRELOAD="$lib" FAKETIME_TIMESTAMP_FILE="$PWD/ahead" FAKETIME_NO_CACHE=1 \
		FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 taskq work "$@"
	eventually 10 has_worker
}

# Somebody of the farm has looked since the clock was set.
has_looked() {
	expect 0 wait "$(submit -- true)"
}

in_hours() {
	date -d "+$1 hours" --rfc-3339=ns
}

runs_of() {
	taskq schedule show --json "$1" | jq -r .runs
}

@test "C1: a step of the wall clock moves what waits for it, and nothing else" {
	local busy delayed soon late cron

	[[ -n $lib ]] || skip "needs libfaketime"
	lied_to_farm -j2
	busy=$(submit --timeout 30m -- sleep 1000)
	eventually 5 is "$busy" state running
	delayed=$(submit --delay 30m -- true)
	soon=$(submit --at "$(in_hours 2)" -- true)
	late=$(submit --at "$(in_hours 5)" -- true)
	cron=$(submit --cron '0 * * * *' --tz UTC -- true)
	has_looked
	is "$soon" state delayed

	ahead +7260 # two hours and a minute
	eventually 15 is "$soon" state done
	eventually 15 eval '[[ $(runs_of "$cron") -ge 1 ]]'
	is "$late" state delayed

	ahead -7260
	has_looked
	is "$late" state delayed
	ahead +18060
	eventually 15 is "$late" state done

	is "$delayed" state delayed
	is "$busy" state running
	is "$busy" attempt 1
	expect 0 cancel "$busy"
	expect 0 check
}
