/* SPDX-License-Identifier: MIT */
/* taskq exporter: the program taskq-exporter, which stands beside this one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

#define PROGRAM "taskq-exporter"

/* Beside this program; else only the name, to be found in PATH. */
static const char *program_path(char *buf, size_t room)
{
	const ssize_t bytes = readlink("/proc/self/exe", buf, room - sizeof(PROGRAM));
	char *slash = bytes > 0 ? memrchr(buf, '/', (size_t)bytes) : NULL;

	if (!slash)
		return PROGRAM;
	memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
	return access(buf, X_OK) == 0 ? buf : PROGRAM;
}

/* Our options before those of the verb; NULL no memory. */
static char **arguments(const struct cli *cli, int argc, char **argv)
{
	static char program[] = "taskq exporter", segment[] = "--segment", json[] = "--json",
		    foreign[] = "--foreign";
	char **list = calloc((size_t)argc + 5, sizeof(*list));
	unsigned count = 0;

	if (!list)
		return NULL;
	list[count++] = program;
	list[count++] = segment;
	list[count++] = (char *)(uintptr_t)cli->segment;
	if (cli->json)
		list[count++] = json;
	if (cli->foreign)
		list[count++] = foreign;
	for (int i = 1; i < argc; i++)
		list[count++] = argv[i];
	return list;
}

int verb_exporter(struct cli *cli, int argc, char **argv)
{
	char **list = arguments(cli, argc, argv);
	char path[4096];

	if (cli->describe) { /* that program has its own options */
		cli->describe(cli->verb, options_none);
		free(list);
		return CLI_OK;
	}

	if (list)
		execvp(program_path(path, sizeof(path)), list);
	complain("exporter: cannot start " PROGRAM ": %s\n%s", strerror(errno),
		 errno == ENOENT ? "it is missing: it is built where libmicrohttpd-dev is installed"
				 : "it should stand beside this program, and be executable");
	free(list);
	return CLI_NOTHING;
}
