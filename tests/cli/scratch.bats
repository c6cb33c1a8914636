# SPDX-License-Identifier: MIT
# Q3: what the tests themselves leave.
load helper

@test "fault.Q3: what a killed run has left is cleared by the next" {
	local run=$BATS_TEST_DIRNAME/../with_scratch.sh segment dir file

	start "$run" sh -c 'taskq create && echo "$TASKQ_SEGMENT $TASKQ_TEST_TMP $$" >made && exec sleep 1000'
	eventually 5 test -s made
	read -r segment dir sleeper <made
	file=/dev/shm/taskq.$UID.$segment
	"$run" true
	[[ -e $file && -d $dir ]] # it still runs
	kill -KILL "$pid" "$sleeper"
	wait "$pid" 2>/dev/null || true
	[[ -e $file && -d $dir ]]
	"$run" true
	[[ ! -e $file && ! -e $dir ]]
}
