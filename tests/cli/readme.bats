#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# README's lines for the shell, as somebody pastes them.
load helper

# The indented lines of its section.
lines() {
	awk '/^## / { inside = $0 == "## At the shell" } inside && /^    / { print substr($0, 5) }' \
		"$BATS_TEST_DIRNAME/../../README.md"
}

@test "fault.L12: README's lines for the shell run as they stand, in a fresh shell" {
	lines >pasted
	[[ $(wc -l <pasted) -ge 25 && $(tail -1 pasted) == "taskq destroy"* ]]
	{
		echo "trap 'echo \"exit \$?: \$BASH_COMMAND\" >>failed' ERR"
		cat pasted
		echo 'echo "$id $group" >ended'
	} >input
	timeout 300 env -u TASKQ_QUEUE bash <input >out 2>err
	# The only one that is meant to: the task's own exit code.
	diff failed <(echo 'exit 3: taskq wait $id') || { cat err; return 1; }
	[[ $(cat ended) =~ ^[0-9]+-[0-9]+\ g[0-9]+-[0-9]+$ ]]
	grep -qx "Linux .*" out
	[[ -s trace.json ]]
	expect 5 status
}
