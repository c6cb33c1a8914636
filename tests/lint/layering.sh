#!/bin/sh
# SPDX-License-Identifier: MIT
# Arrows point down only: no #include of a layer above, and no operating system
# in the scheduler (ARCHITECTURE.md).
. "$(dirname "$0")/lib.sh"

# includes FOLDER: every quoted or project #include in it, as FILE: NAME.
includes()
{
	# A quoted name without a folder is the own folder's.
	lint_files "$1/*.[ch]" | xargs -r grep -HE '^[ 	]*#[ 	]*include' /dev/null |
		sed -E 's/:[ 	]*#[ 	]*include[ 	]*/: /'
}

# The lock has no public face, nor has damage: the benches that need them look inside.
readonly inside='bench/bench_(lock|probe|repair)[.]c'

# only FOLDER PREFIX...: FOLDER may include these folders, the public headers and
# the system's.
only()
{
	folder=$1
	shift
	may=$(printf '%s/|' "$@")
	includes "$folder" | grep -vE "^$inside: " |
		grep -E ': ("|<(taskq|shm|scheduler|client)/)' |
		grep -vE ": (\"(${may%|})|[\"<]taskq/|\"[^/]*\"\$)" |
		lint_report "$folder/ may not include" || true
}

only shm shm
only scheduler scheduler shm
only client client scheduler shm
# Rooms, as far as they have come.
only client/core client/core client/worker scheduler shm
only client/worker client/worker client/core scheduler shm
only client/submit client/submit client/core client/observe scheduler shm
only client/farm client/farm client/worker client/core scheduler/task scheduler/worker shm
only client/operate client/operate client/core client/observe client/farm scheduler shm
only client/observe client/observe client/submit client/operate client/core scheduler shm
# Each room of the scheduler uses those before it; check and rebuild, which stand beside, all.
below=shm
for room in record wake limit order time graph worker task; do
	below="scheduler/$room $below"
	# shellcheck disable=SC2086
	only scheduler/$room $below
done
only tools tools
# Rooms of the program: verbs use all, and those below use what stands before them.
below=tools/taskq/options
for room in options print submit run; do
	below="tools/taskq/$room $below"
	# shellcheck disable=SC2086
	only tools/taskq/$room $below
done
only tools/taskq/dump tools/taskq/dump tools/taskq/submit tools/taskq/options
only tools/taskq/graph tools/taskq/graph tools/taskq/options
only tools/taskq/trace tools/taskq/trace tools/taskq/options
only examples examples
only bench bench

# Public headers are compiled by strangers: only two system headers in them.
lint_files 'include/taskq/*' | xargs -r grep -HE '^[ 	]*#[ 	]*include' /dev/null |
	grep -vE '<(taskq/[a-z_]+|stddef|stdint)\.h>' |
	lint_report 'public headers may include only <stddef.h>, <stdint.h> and <taskq/...>' || true

# <signal.h> has numbers and <stdio.h> snprintf; purity.sh sees what is called.
includes scheduler |
	grep -E '<(unistd|time|pthread|fcntl|poll|sched|threads|semaphore|linux/.*|sys/.*)(\.h)?>' |
	lint_report 'scheduler/ is pure: no operating system' || true

lint_done
