/* SPDX-License-Identifier: MIT */
/* peak COMMAND [ARG]...: runs it, and prints the most memory that it had, in KiB, on
 * standard error. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	const pid_t pid = argc > 1 ? fork() : -1;

	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0 || getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return 1;
	fprintf(stderr, "%ld\n", usage.ru_maxrss);
	return 0;
}
