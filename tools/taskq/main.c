/* SPDX-License-Identifier: MIT */
/* Entry: global options, the verb table, and the last look at standard output. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "errors.h"
#include "help.h"
#include "options.h"
#include "signals.h"
#include "verbs.h"

static const struct verb verbs[] = {
#define VERB_ROW(name, run, args, summary, text) { #name, run, args, summary, text },
	VERB_MAP(VERB_ROW)
#undef VERB_ROW
};

const struct verb *verb_at(unsigned index)
{
	return index < sizeof(verbs) / sizeof(verbs[0]) ? &verbs[index] : NULL;
}

const struct verb *verb_find(const char *name)
{
	for (unsigned i = 0; verb_at(i); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* A closed descriptor 0 to 2 would be given to the segment's file, and what is
 * printed would land in it.  Opened the wrong way round, so that use still fails. */
static void fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(CLI_SELF);
	}
}

static const char *from_environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static int run_verb(struct cli *cli, int argc, char **argv)
{
	static char status[] = "status";
	static char *bare[] = { status, NULL };

	if (argc == 0)
		return run_verb(cli, 1, bare);
	cli->verb = verb_find(argv[0]);
	if (!cli->verb) {
		complain("no verb \"%s\"\n`taskq help` lists them", argv[0]);
		return CLI_USAGE;
	}
	return cli->verb->run(cli, argc, argv);
}

/* What was printed but could not be written must not end in exit code 0. */
static int close_output(struct cli *cli, int code)
{
	const bool failed = ferror(stdout);

	errno = 0;
	if ((fclose(stdout) == 0 && !failed) || errno == EPIPE || cli->is_unread)
		return code;
	complain("cannot write to standard output: %s", errno ? strerror(errno) : "write error");
	if (code != CLI_OK)
		return code;
	return cli->transparent ? CLI_SELF : CLI_NOTHING;
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	int code = CLI_USAGE;

	fill_standard_descriptors();
	setlocale(LC_CTYPE, "");
	signals_setup();
	cli.segment = from_environment("TASKQ_SEGMENT", "default");
	cli.queue = from_environment("TASKQ_QUEUE", "default");
	if (options_parse(&cli, global_options, NULL, NULL, argc, argv))
		code = run_verb(&cli, cli.operand_count, cli.operands);
	else
		code = cli.exit_code;
	detach(&cli);
	return close_output(&cli, code);
}
