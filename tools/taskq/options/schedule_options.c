/* SPDX-License-Identifier: MIT */
/* The options with which submit makes a schedule instead of a task. */
#include "tools/taskq/options/schedule_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "parse.h"

static bool take_cron(struct schedule_options *options, const char *arg)
{
	char error[TQ_TEXT_MAX + 1];

	options->spec.cron = arg;
	if (tq_cron_check(arg, error) == 0)
		return true;
	complain("--cron \"%s\": %s", arg, error);
	return false;
}

static bool take_overlap(struct cli *cli, struct schedule_options *options, const char *arg)
{
	for (uint32_t o = TQ_OVERLAP_SKIP; o <= TQ_OVERLAP_QUEUE; o++) {
		if (strcmp(tq_overlap_name(o), arg) != 0)
			continue;
		options->spec.overlap = o;
		return true;
	}
	return refuse(cli, "--overlap", arg, "no such overlap", FORM_OVERLAP);
}

static bool take_name(struct cli *cli, struct schedule_options *options, const char *arg)
{
	uint64_t id;

	if (tq_schedule_id_parse(arg, &id) == 0)
		return refuse(cli, "--name", arg, "it reads as an id", FORM_NAME);
	return option_name(cli, "--name", arg, &options->spec.name);
}

bool schedule_option(struct cli *cli, struct schedule_options *options, int key, const char *arg)
{
	uint64_t count;

	switch (key) {
	case KEY_EVERY:
		return option_duration_from(cli, "--every", arg, TQ_EVERY_MIN_NS, "",
					    &options->spec.every_ns);
	case KEY_CRON:
		return take_cron(options, arg);
	case KEY_TZ:
		options->spec.zone = arg;
		return *arg || refuse(cli, "--tz", arg, "empty", FORM_ZONE);
	case KEY_OVERLAP:
		return take_overlap(cli, options, arg);
	case KEY_NAME:
		return take_name(cli, options, arg);
	default:
		if (!option_count(cli, "--catch-up", arg, 1, TQ_CATCH_UP_MAX, &count))
			return false;
		options->spec.catch_up = (uint32_t)count;
		return true;
	}
}

bool schedule_is_given(const struct schedule_options *options)
{
	return options->spec.every_ns || options->spec.cron;
}

bool schedule_options_agree(struct cli *cli, const struct schedule_options *options,
			    const struct tq_task_spec *task)
{
	const struct tq_schedule_spec *spec = &options->spec;

	if (spec->every_ns && spec->cron)
		cli->exit_code = usage(cli, "--every and --cron exclude each other");
	else if (spec->zone && !spec->cron)
		cli->exit_code = usage(cli, "--tz is for a --cron expression");
	else if ((spec->overlap || spec->catch_up || spec->name) && !schedule_is_given(options))
		cli->exit_code = usage(cli, "--overlap, --catch-up and --name are for --every or "
					    "--cron");
	else if (schedule_is_given(options) && (task->at_ns || task->full_timeout_ns))
		cli->exit_code = usage(cli, "a schedule takes neither --at nor --full-timeout");
	else if (schedule_is_given(options) && task->after_count)
		cli->exit_code = usage(cli, "the runs of a schedule come after no other tasks: "
					    "leave out --after");
	else
		return true;
	return false;
}

static void report(struct cli *cli, const struct tq_schedule_spec *spec, int r)
{
	const char *zone = spec->zone ? spec->zone : getenv("TZ");

	if (spec->cron && zone && (r == -ENOENT || r == -EINVAL)) {
		refuse(cli, spec->zone ? "--tz" : "TZ", zone, "no such time zone", FORM_ZONE);
		cli->exit_code = CLI_USAGE;
		return;
	}
	cli->exit_code = fail(cli, r, ABOUT_SCHEDULE, "%s", cli->verb->name);
}

/* As for a task: the commonest mistake. */
static void warn_unserved(struct cli *cli, const struct tq_task_spec *task)
{
	struct tq_queue_info info = { .size = sizeof(info) };

	if (tq_queue_info(cli->tq, task->queue, &info) < 0 || info.workers)
		return;
	complain("warning: no live worker serves queue \"%s\"; nobody makes its runs\n"
		 "start one: `taskq work -q %s`",
		 task->queue, task->queue);
}

void schedule_create(struct cli *cli, const struct schedule_options *options,
		     const struct tq_task_spec *task, const void *payload, uint64_t bytes)
{
	struct tq_schedule_spec spec = options->spec;
	struct tq_task_spec run = *task;
	char text[TQ_ID_TEXT_MAX];
	uint64_t id;

	run.payload = payload;
	run.payload_bytes = bytes;
	spec.size = sizeof(spec);
	spec.task = &run;
	const int r = tq_schedule_create(cli->tq, &spec, &id);

	if (r < 0) {
		report(cli, &spec, r);
		return;
	}
	cli->exit_code = CLI_OK;
	tq_schedule_id_format(id, text);
	if (cli->json)
		json_line(json_pack("{s:s}", "id", text));
	else
		puts(text);
	fflush(stdout);
	warn_unserved(cli, task);
}
