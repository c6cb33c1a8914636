/* SPDX-License-Identifier: MIT */
/* How many connections the descriptors of this process are enough for. */
#include "descriptors.h"

#include <dirent.h>
#include <sys/resource.h>

enum {
	OPEN_GUESS = 16, /* when /proc cannot say */
	OF_ALL = 8,	 /* the segment that is watched, its lock's and workers' processes */
	OF_THREAD = 4	 /* what it waits with, and the segment while it answers */
};

/* Those that are open: some may have been inherited. */
static unsigned count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	if (!dir)
		return OPEN_GUESS;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

unsigned descriptors_for(unsigned connections, unsigned threads)
{
	const rlim_t taken = count_open() + OF_ALL + OF_THREAD * threads;
	const rlim_t wanted = taken + connections;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return connections;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return connections;
	return limit.rlim_cur > taken + threads ? (unsigned)(limit.rlim_cur - taken) : threads;
}
