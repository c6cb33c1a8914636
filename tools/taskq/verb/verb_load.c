/* SPDX-License-Identifier: MIT */
/* taskq load: what `taskq dump` has written, into a segment. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "tools/taskq/dump/load.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/verbs.h"

enum key {
	KEY_DRY_RUN = OPTION_OWN,
	KEY_NO_SETTINGS,
};

static const struct option_row rows[] = {
	{ KEY_DRY_RUN, "dry-run", NULL, "only check the file; needs no segment" },
	{ KEY_NO_SETTINGS, "no-settings", NULL,
	  "leave queues, kinds, limits and servers as they are" },
	{ 0, NULL, NULL, NULL },
};

struct load_options {
	bool dry_run;
	bool no_settings;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct load_options *options = ctx;

	switch (key) {
	case KEY_DRY_RUN:
		return options->dry_run = true;
	case KEY_NO_SETTINGS:
		return options->no_settings = true;
	default:
		return option_global(cli, NULL, key, arg);
	}
}

/* A file without a name, as what comes from a pipe is read more than once.  -errno. */
static int keep_input(void)
{
	char buf[64 << 10];
	FILE *file = tmpfile();
	ssize_t n = file ? 1 : -1;
	int fd;

	while (n > 0) {
		do
			n = read(STDIN_FILENO, buf, sizeof(buf));
		while (n < 0 && errno == EINTR);
		if (n > 0 && fwrite(buf, 1, (size_t)n, file) != (size_t)n)
			n = -1;
	}
	if (n == 0 && fflush(file) != 0)
		n = -1;
	fd = n == 0 ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
	if (fd < 0)
		fd = -errno;
	if (file)
		fclose(file);
	return fd;
}

/* -errno */
static int open_file(const char *path)
{
	const bool is_input = !strcmp(path, "-");
	struct stat status;
	int fd;

	if (is_input && fstat(STDIN_FILENO, &status) == 0 && !S_ISREG(status.st_mode))
		return keep_input();
	fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
		close(fd);
		return S_ISDIR(status.st_mode) ? -EISDIR : -ENODATA;
	}
	return fd < 0 ? -errno : fd;
}

/* What is wrong with the file, unless that has been said. */
static int failed(struct load *load)
{
	struct cli *cli = load->cli;
	char id[TQ_ID_TEXT_MAX];

	if (load->error[0]) {
		complain("load %s: line %llu: %s", load->path, (unsigned long long)load->number,
			 load->error);
		cli->exit_code = CLI_USAGE;
	}
	if (load->gate)
		complain_more("%llu %s there, and wait for %s: the same load goes on from there",
			      (unsigned long long)load->task_count,
			      format_plural(load->task_count, "task is", "tasks are"),
			      tq_task_id_format(load->gate, id));
	else if (load->error[0])
		complain_more("nothing was loaded");
	return cli->exit_code;
}

static void print_done(const struct load *load, const char *what)
{
	const uint64_t counts[] = { load->task_count, load->group_count, load->schedule_count };

	if (load->twin_count)
		complain("load: %llu %s there already, by their unique keys",
			 (unsigned long long)load->twin_count,
			 format_plural(load->twin_count, "task was", "tasks were"));
	if (!load->cli->json)
		printf("%llu %s, %llu %s, %llu %s %s\n", (unsigned long long)counts[0],
		       format_plural(counts[0], "task", "tasks"), (unsigned long long)counts[1],
		       format_plural(counts[1], "group", "groups"), (unsigned long long)counts[2],
		       format_plural(counts[2], "schedule", "schedules"), what);
}

static int load_all(struct load *load, bool dry_run)
{
	if (!load_read(load, LOAD_CHECK))
		return failed(load);
	if (dry_run) {
		print_done(load, "would be loaded");
		return CLI_OK;
	}
	/* Not before: a bad file is not to leave a new segment behind. */
	if (!attach(load->cli, TQ_OPEN_CREATE))
		return load->cli->exit_code;
	if (!load_gate_enter(load)) {
		load->gate = 0;
		return failed(load);
	}
	if (!load_read(load, LOAD_SETTINGS) || !load_read(load, LOAD_TASKS) ||
	    !load_groups_finish(load) || !load_read(load, LOAD_FINISH) || !load_gate_open(load))
		return failed(load);
	print_done(load, "loaded");
	return CLI_OK;
}

static int load_path(struct cli *cli, const char *path, const struct load_options *options)
{
	struct load *load = calloc(1, sizeof(*load));
	int code;

	if (!load)
		return fail(cli, -ENOMEM, ABOUT_CONTENT, "load");
	load->cli = cli;
	load->path = path;
	load->settings = !options->no_settings;
	load->keyed = json_object();
	load->fd = open_file(path);
	task_options_init(&load->defaults);
	if (load->fd >= 0) {
		code = load_all(load, options->dry_run);
		close(load->fd);
	} else {
		refuse(cli, "FILE", path, strerror(-load->fd),
		       "a file that `taskq dump` wrote, or -");
		code = CLI_USAGE;
	}
	load_free(load);
	task_options_free(&load->defaults);
	free(load);
	return code;
}

int verb_load(struct cli *cli, int argc, char **argv)
{
	struct load_options options = { .dry_run = false };

	if (!options_parse(cli, rows, take_option, &options, argc, argv) ||
	    !operands_ok(cli, 1, 1, "a file"))
		return cli->exit_code;
	return load_path(cli, cli->operands[0], &options);
}
