/* SPDX-License-Identifier: MIT */
/* taskq submit: hand in one task, or a batch. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "json.h"
#include "parse.h"
#include "tools/taskq/options/options.h"
#include "tools/taskq/options/schedule_options.h"
#include "tools/taskq/options/task_options.h"
#include "tools/taskq/options/verbs.h"
#include "tools/taskq/print/unserved.h"
#include "tools/taskq/run/waiting.h"
#include "tools/taskq/submit/batch.h"
#include "tools/taskq/submit/graph_file.h"
#include "tools/taskq/submit/graph_submit.h"

enum key {
	KEY_KIND = TASK_OPTION_END,
	KEY_PAYLOAD,
	KEY_HOLD,
	KEY_FORGET,
	KEY_BATCH,
	KEY_GRAPH,
	KEY_GRAPH_MAX,
	KEY_WAIT,
	KEY_UNIQUE,
	KEY_UNIQUE_SCOPE
};

static const struct option_row rows[] = {
	TASK_OPTION_ROWS,
	{ TASK_OPTION_DELAY, "delay", "D", "start not before, from now" },
	{ TASK_OPTION_AT, "at", "TIME",
	  "start not before, by the wall clock: HH:MM, or a date with it" },
	{ 'o', "output", "FILE",
	  "its output goes there instead of being kept; %i is its id, %a the attempt" },
	{ TASK_OPTION_APPEND, "append", NULL, "to FILE, instead of emptying it first" },
	{ KEY_KIND, "kind", "K", "for the handler of that kind; default \"exec\", a command" },
	{ KEY_PAYLOAD, "payload", "TEXT|@FILE", "what that handler gets; @- is standard input" },
	{ KEY_HOLD, "hold", NULL, "do not start it until `taskq unhold`" },
	{ KEY_FORGET, "forget", NULL, "free its record as soon as it ends" },
	{ TASK_OPTION_KEEP, "keep", NULL, "keep its record until `taskq forget`" },
	{ TASK_OPTION_GROUP, "group", "GROUP", "it is a member of this group, see `taskq group`" },
	{ KEY_UNIQUE, "unique", "KEY", "when the queue has a task of that key, make no other" },
	{ KEY_UNIQUE_SCOPE, "unique-scope", "S",
	  "until when: queued, active (default), kept; or coalesce" },
	SCHEDULE_OPTION_ROWS,
	{ KEY_BATCH, "batch", "FILE|-", "hand in many: a JSON object a line" },
	{ KEY_GRAPH, "graph", "FILE|-",
	  "hand in tasks that depend on each other, as a whole: {\"nodes\":[...]}" },
	{ KEY_GRAPH_MAX, "graph-max", "SIZE", "refuse a longer file; default 256M" },
	{ KEY_WAIT, "wait", NULL, "wait for its end and exit with its code" },
	OPTION_ROW_COMMAND,
	{ 0, NULL, NULL, NULL },
};

struct submit {
	struct cli *cli;
	struct task_options options;
	struct schedule_options schedule;
	const char *payload; /* as given */
	const char *batch;
	const char *graph;
	uint64_t graph_max; /* bytes */
	bool wait;
	uint64_t *ids; /* to wait for */
	unsigned id_count;
	unsigned id_room;
	struct unserved unserved;
};

static bool take_option(struct cli *cli, void *ctx, int key, const char *arg)
{
	struct submit *submit = ctx;

	switch (key) {
	case KEY_KIND:
		return option_name(cli, "--kind", arg, &submit->options.spec.kind);
	case KEY_PAYLOAD:
		submit->payload = arg;
		return true;
	case KEY_HOLD:
		submit->options.spec.flags |= TQ_TASK_HOLD;
		return true;
	case KEY_FORGET:
		submit->options.spec.flags |= TQ_TASK_FORGET;
		return true;
	case KEY_UNIQUE:
		submit->options.spec.unique_key = arg;
		if (key_ok(arg))
			return true;
		return refuse(cli, "--unique", arg, *arg ? "too long" : "empty", FORM_KEY);
	case KEY_UNIQUE_SCOPE:
		if (parse_scope(arg, &submit->options.spec.unique_scope) == 0)
			return true;
		return refuse(cli, "--unique-scope", arg, "no such scope", FORM_SCOPE);
	case KEY_BATCH:
		submit->batch = arg;
		return true;
	case KEY_GRAPH:
		submit->graph = arg;
		return true;
	case KEY_GRAPH_MAX:
		return option_size(cli, "--graph-max", arg, 1, UINT32_MAX, &submit->graph_max);
	case KEY_WAIT:
		submit->wait = true;
		return true;
	default:
		if (key >= KEY_EVERY && key < KEY_SCHEDULE_END)
			return schedule_option(cli, &submit->schedule, key, arg);
		return task_option(cli, &submit->options, key, arg);
	}
}

static bool is_exec(const struct submit *submit)
{
	return !submit->options.spec.kind || !strcmp(submit->options.spec.kind, "exec");
}

/* Combinations that cannot be meant. */
static bool options_agree(struct cli *cli, const struct submit *submit)
{
	const uint32_t flags = submit->options.spec.flags;
	const bool has_command = cli->operand_count > 0;

	if (submit->batch && (has_command || submit->payload))
		cli->exit_code = usage(cli, "--batch takes its tasks from its lines alone");
	else if (submit->graph && (has_command || submit->payload || submit->batch))
		cli->exit_code = usage(cli, "--graph takes its tasks from its file alone");
	else if (submit->graph && !graph_options_fit(&submit->options.spec))
		cli->exit_code = usage(cli, "--graph takes no --unique, --group or --full-timeout");
	else if (!submit->batch && !submit->graph && is_exec(submit) && !has_command)
		cli->exit_code = usage(cli, "the command is missing");
	else if (is_exec(submit) && submit->payload)
		cli->exit_code = usage(cli, "--payload is for a --kind other than exec");
	else if (!is_exec(submit) && has_command)
		cli->exit_code = usage(cli, "a command is for --kind exec; this one has --payload");
	else if (submit->options.spec.unique_scope && !submit->options.spec.unique_key &&
		 !submit->batch)
		cli->exit_code = usage(cli, "--unique-scope is for a --unique KEY");
	else if (submit->options.spec.at_ns && submit->options.spec.delay_ns)
		cli->exit_code = usage(cli, "--at and --delay exclude each other");
	else if (flags & TQ_TASK_FORGET && flags & TQ_TASK_KEEP)
		cli->exit_code = usage(cli, "--forget and --keep exclude each other");
	else if (flags & TQ_TASK_FORGET && submit->wait)
		cli->exit_code = usage(cli, "--forget leaves nothing to --wait for");
	else if (schedule_is_given(&submit->schedule) && submit->options.spec.group)
		cli->exit_code = usage(cli, "the runs of a schedule are in no group");
	else if (schedule_is_given(&submit->schedule) &&
		 (submit->batch || submit->graph || submit->wait))
		cli->exit_code = usage(cli, "a schedule takes neither --batch, --graph nor --wait");
	else
		return schedule_options_agree(cli, &submit->schedule, &submit->options.spec);
	return false;
}

/* Reads @name up to one byte over the limit, which the caller then refuses. */
static char *read_file(const char *name, uint64_t *ret_bytes)
{
	const int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	char *data = fd < 0 ? NULL : malloc(TQ_PAYLOAD_MAX + 1);
	uint64_t bytes = 0;
	ssize_t n = 0;

	while (data && bytes <= TQ_PAYLOAD_MAX &&
	       (n = read(fd, data + bytes, TQ_PAYLOAD_MAX + 1 - bytes)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		bytes += n > 0 ? (uint64_t)n : 0;
	}
	const int error = errno;

	if (fd > STDERR_FILENO)
		close(fd);
	if (n < 0) {
		free(data);
		data = NULL;
	}
	errno = error;
	*ret_bytes = bytes;
	return data;
}

/* The payload of the one task; false after a message. */
static bool make_payload(struct submit *submit, void **ret_payload, uint64_t *ret_bytes)
{
	struct cli *cli = submit->cli;
	const char *given = submit->payload ? submit->payload : "";

	if (is_exec(submit)) {
		const char **argv = calloc((size_t)cli->operand_count + 1, sizeof(*argv));

		for (int i = 0; argv && i < cli->operand_count; i++)
			argv[i] = cli->operands[i];

		if (argv)
			task_options_hint(cli, argv);

		const int r = argv ? task_options_command(cli, &submit->options, argv, ret_payload,
							  ret_bytes)
				   : -ENOMEM;

		free(argv);
		return r == 0;
	}
	if (given[0] != '@') {
		*ret_payload = strdup(given);
		*ret_bytes = strlen(given);
	} else {
		*ret_payload = read_file(given + 1, ret_bytes);
	}
	if (!*ret_payload)
		return refuse(cli, "--payload", given, strerror(errno), "TEXT, or @ and a file");
	if (*ret_bytes <= TQ_PAYLOAD_MAX)
		return true;
	free(*ret_payload);
	complain("--payload %s: it has more bytes than the limit, %u (16 MiB)\n"
		 "put it in a file of its own, and pass the file's name",
		 given[0] == '@' ? given : "TEXT", TQ_PAYLOAD_MAX);
	return false;
}

static void remember(struct submit *submit, uint64_t id)
{
	if (submit->id_count == submit->id_room) {
		const unsigned room = submit->id_room ? 2 * submit->id_room : 64;
		uint64_t *ids = reallocarray(submit->ids, room, sizeof(*ids));

		if (!ids)
			return;
		submit->ids = ids;
		submit->id_room = room;
	}
	submit->ids[submit->id_count++] = id;
}

static void print_id(const struct submit *submit, uint64_t id, bool twin)
{
	char text[TQ_ID_TEXT_MAX];

	tq_task_id_format(id, text);
	if (submit->cli->json && twin)
		json_line(json_pack("{s:s, s:b}", "id", text, "duplicate", 1));
	else if (submit->cli->json)
		json_line(json_pack("{s:s}", "id", text));
	else
		puts(text);
	if (twin)
		complain("task %s has this key already: no other was made", text);
}

static void take_ids(void *arg, const uint64_t *ids, unsigned count, bool twin)
{
	struct submit *submit = arg;

	for (unsigned i = 0; i < count; i++) {
		print_id(submit, ids[i], twin);
		if (submit->wait)
			remember(submit, ids[i]);
		unserved_warn(submit->cli, &submit->unserved, ids[i]);
	}
	fflush(stdout); /* whoever reads the ids may act on them at once */
}

static int submit_one(struct submit *submit)
{
	struct cli *cli = submit->cli;
	void *payload = NULL;
	uint64_t bytes = 0, id;
	int r;

	if (!make_payload(submit, &payload, &bytes))
		return cli->transparent ? CLI_SELF : CLI_USAGE;
	if (!attach(cli, TQ_OPEN_CREATE)) {
		free(payload);
		return cli->exit_code;
	}
	if (schedule_is_given(&submit->schedule)) {
		schedule_create(cli, &submit->schedule, &submit->options.spec, payload, bytes);
		free(payload);
		return cli->exit_code;
	}
	r = task_options_submit(cli, &submit->options, payload, bytes, &id);
	free(payload);
	if (r < 0)
		return cli->exit_code;
	take_ids(submit, &id, 1, r > 0);
	return CLI_OK;
}

static int submit_all(struct submit *submit)
{
	struct cli *cli = submit->cli;
	int code;

	if (!options_agree(cli, submit))
		return cli->exit_code;
	cli->transparent = submit->wait;
	if (submit->graph)
		return graph_submit(cli, submit->graph, &submit->options, submit->wait,
				    submit->graph_max);
	if (submit->batch)
		code = batch_submit(cli, submit->batch, &submit->options, take_ids, submit);
	else
		code = submit_one(submit);
	unserved_end(&submit->unserved);
	if (code == CLI_OK && submit->wait)
		code = wait_and_report(cli, submit->ids, submit->id_count,
				       &(struct waiting){ .timeout_ns = TQ_FOREVER_NS });
	return code;
}

int verb_submit(struct cli *cli, int argc, char **argv)
{
	struct submit submit = { .cli = cli, .graph_max = GRAPH_BYTES_MAX };
	int code;

	task_options_init(&submit.options);
	if (options_parse(cli, rows, take_option, &submit, argc, argv)) {
		task_options_finish(cli, &submit.options);
		code = submit_all(&submit);
	} else {
		code = cli->exit_code;
	}
	free(submit.ids);
	task_options_free(&submit.options);
	return code;
}
