/* SPDX-License-Identifier: MIT */
/* The options with which submit, run and map describe a task. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors.h"
#include "parse.h"
#include "payload.h"
#include "signals.h"
#include "tools/taskq/options/task_options.h"

void task_options_init(struct task_options *options)
{
	*options =
		(struct task_options){ .spec = { .size = sizeof(options->spec) }, .errors_fd = -1 };
	options->umask = umask(0);
	umask(options->umask);
}

void task_options_exec(const struct task_options *options, struct tq_exec *ret_exec)
{
	*ret_exec = (struct tq_exec){
		.size = sizeof(*ret_exec),
		.env = options->env,
		.cwd = options->cwd,
		.output_path = options->output,
		.flags = options->exec_flags | TQ_EXEC_UMASK,
		.umask = options->umask,
	};
}

void task_options_free(struct task_options *options)
{
	for (unsigned i = 0; i < options->env_copy_count; i++)
		free(options->env_copies[i]);
	free(options->env_copies);
	free(options->env);
	free(options->cwd);
	free(options->output);
}

static bool take_label(struct cli *cli, struct task_options *options, const char *arg)
{
	if (strlen(arg) > TQ_LABEL_MAX)
		return refuse(cli, "--label", arg, "too long", "at most 127 bytes");
	options->spec.label = arg;
	return true;
}

static bool take_retries(struct cli *cli, struct task_options *options, const char *arg)
{
	uint64_t retries;

	if (!option_count(cli, "--retries", arg, 0, TQ_ATTEMPTS_MAX - 1, &retries))
		return false;
	options->spec.attempts_max = (uint32_t)retries + 1;
	return true;
}

char *path_absolute(const char *path)
{
	char *cwd, *absolute = NULL;

	if (path[0] == '/')
		return strdup(path);
	cwd = getcwd(NULL, 0);
	if (!cwd || !*path)
		return cwd;
	if (asprintf(&absolute, "%s/%s", cwd, path) < 0)
		absolute = NULL;
	free(cwd);
	return absolute;
}

static bool take_path(struct cli *cli, const char *option, const char *arg, char **ret_path)
{
	char *path = *arg ? path_absolute(arg) : NULL;

	if (!path)
		return refuse(cli, option, arg, *arg ? strerror(errno) : "empty", "a path");
	free(*ret_path);
	*ret_path = path;
	return true;
}

static const char *env_copied(struct task_options *options, const char *name, const char *value)
{
	char **copies =
		reallocarray(options->env_copies, options->env_copy_count + 1, sizeof(*copies));

	if (!copies)
		return NULL;
	options->env_copies = copies;
	if (asprintf(&copies[options->env_copy_count], "%s=%s", name, value) < 0)
		return NULL;
	return copies[options->env_copy_count++];
}

static bool take_env(struct cli *cli, struct task_options *options, const char *arg)
{
	const char **env, *value;

	if (*arg == '\0' || *arg == '=')
		return refuse(cli, "--env", arg, "no name", "NAME=VALUE, or NAME alone");
	if (!strchr(arg, '=')) {
		value = getenv(arg);
		if (!value)
			return refuse(cli, "--env", arg, "not set here", "NAME=VALUE");
		arg = env_copied(options, arg, value);
	}
	env = reallocarray(options->env, options->env_count + 2, sizeof(*env));
	if (!arg || !env)
		return refuse(cli, "--env", "", strerror(ENOMEM), "less");
	options->env = env;
	env[options->env_count++] = arg;
	env[options->env_count] = NULL;
	return true;
}

static bool take_time(struct cli *cli, struct tq_task_spec *spec, int key, const char *arg)
{
	switch (key) {
	case TASK_OPTION_DELAY:
		return option_duration(cli, "--delay", arg, &spec->delay_ns);
	case TASK_OPTION_TIMEOUT:
		return option_time_limit(cli, "--timeout", arg, &spec->timeout_ns);
	case TASK_OPTION_TIMEOUT_TOTAL:
		return option_time_limit(cli, "--timeout-total", arg, &spec->timeout_total_ns);
	case TASK_OPTION_DEADLINE:
		return option_time_limit(cli, "--deadline", arg, &spec->deadline_ns);
	case TASK_OPTION_PROGRESS_TIMEOUT:
		return option_time_limit(cli, "--progress-timeout", arg,
					 &spec->progress_timeout_ns);
	default:
		return option_duration(cli, "--full-timeout", arg, &spec->full_timeout_ns);
	}
}

/* The weight of KEY=WEIGHT; NULL: it is all key. */
static const char *weight_in(const char *arg)
{
	const char *weight = strrchr(arg, '=');

	return weight && weight[1] && weight[1 + strspn(weight + 1, "0123456789")] == '\0'
		       ? weight + 1
		       : NULL;
}

bool task_option_limit(struct cli *cli, const char *arg, struct limit_keys *limits)
{
	const char *weight = weight_in(arg);
	const size_t bytes = weight ? (size_t)(weight - 1 - arg) : strlen(arg);
	uint64_t places = 1;

	if (!bytes || bytes > TQ_KEY_MAX)
		return refuse(cli, "--limit", arg, bytes ? "too long" : "empty", FORM_KEY);
	if (weight && !option_count(cli, "--limit KEY=N", weight, 1, TQ_WEIGHT_MAX, &places))
		return false;
	if (limits->count == TQ_LIMITS_MAX) {
		cli->exit_code = usage(cli, "more than %u limit keys", TQ_LIMITS_MAX);
		return false;
	}
	const uint32_t i = limits->count++;

	memcpy(limits->texts[i], arg, bytes);
	limits->texts[i][bytes] = '\0';
	limits->keys[i] = limits->texts[i];
	limits->weights[i] = (uint32_t)places;
	return true;
}

static bool take_limit(struct cli *cli, struct task_options *options, const char *arg)
{
	if (!task_option_limit(cli, arg, &options->limits))
		return false;
	options->spec.limits = options->limits.keys;
	options->spec.limit_weights = options->limits.weights;
	options->spec.limit_count = options->limits.count;
	return true;
}

static bool take_after(struct cli *cli, struct task_options *options, int key, const char *arg)
{
	if (!after_option(cli, &options->after, key, arg))
		return false;
	options->spec.after = options->after.list;
	options->spec.after_count = options->after.count;
	return true;
}

bool task_option(struct cli *cli, struct task_options *options, int key, const char *arg)
{
	switch (key) {
	case 'p':
		return option_priority(cli, arg, &options->spec.priority);
	case 'L':
		return take_label(cli, options, arg);
	case 'o':
		return take_path(cli, "--output", arg, &options->output);
	case TASK_OPTION_DELAY:
	case TASK_OPTION_TIMEOUT:
	case TASK_OPTION_TIMEOUT_TOTAL:
	case TASK_OPTION_DEADLINE:
	case TASK_OPTION_PROGRESS_TIMEOUT:
	case TASK_OPTION_FULL_TIMEOUT:
		return take_time(cli, &options->spec, key, arg);
	case TASK_OPTION_AT:
		return option_at(cli, arg, &options->spec.at_ns);
	case TASK_OPTION_RETRIES:
		return take_retries(cli, options, arg);
	case TASK_OPTION_BACKOFF:
		return option_backoff(cli, arg, &options->spec.backoff_ns,
				      &options->spec.backoff_cap_ns);
	case TASK_OPTION_AT_MOST_ONCE:
		options->spec.flags |= TQ_TASK_AT_MOST_ONCE;
		return true;
	case TASK_OPTION_KEEP:
		options->spec.flags |= TQ_TASK_KEEP;
		return true;
	case TASK_OPTION_LIMIT:
		return take_limit(cli, options, arg);
	case TASK_OPTION_FAIR:
		options->spec.fair_key = arg;
		return key_ok(arg) ||
		       refuse(cli, "--fair", arg, *arg ? "too long" : "empty", FORM_KEY);
	case OPTION_AFTER:
	case OPTION_AFTER_ANY:
	case OPTION_AFTER_FAIL:
		return take_after(cli, options, key, arg);
	case TASK_OPTION_GROUP:
		return tq_group_id_parse(arg, &options->spec.group) == 0 ||
		       refuse(cli, "--group", arg, "not a group's id", FORM_GROUP);
	case TASK_OPTION_LEFTOVERS:
		options->exec_flags |= TQ_EXEC_LEFTOVERS;
		return true;
	case TASK_OPTION_APPEND:
		options->exec_flags |= TQ_EXEC_APPEND;
		return true;
	case TASK_OPTION_CWD:
		return take_path(cli, "--cwd", arg, &options->cwd);
	case TASK_OPTION_ENV:
		return take_env(cli, options, arg);
	default:
		return option_global(cli, NULL, key, arg);
	}
}

void task_options_finish(const struct cli *cli, struct task_options *options)
{
	options->spec.queue = cli->queue;
}

/* One word with blanks or what only a shell knows is hardly the name of a program. */
void task_options_hint(const struct cli *cli, const char *const *argv)
{
	if (!argv[0] || argv[1] || !argv[0][strcspn(argv[0], " \t\n|&;<>()$`*?")] ||
	    access(argv[0], F_OK) == 0)
		return;
	complain("warning: \"%s\" is taken as the name of one program\n"
		 "for a line of the shell: `taskq %s -- sh -c '%s'`",
		 argv[0], cli->verb->name, argv[0]);
}

int task_options_command(const struct cli *cli, const struct task_options *options,
			 const char *const *argv, void **ret_payload, uint64_t *ret_bytes)
{
	char *here = options->cwd ? NULL : path_absolute("");
	struct tq_exec exec;
	int r = options->cwd || here ? 0 : -errno;

	task_options_exec(options, &exec);
	exec.argv = argv;
	exec.cwd = options->cwd ? options->cwd : here;
	if ((options->is_read && !options->output) || (exec.flags & TQ_EXEC_READER_INPUT))
		exec.reader = tq_output_reader(cli->tq);
	if (exec.reader && options->errors_fd >= 0) {
		exec.flags |= TQ_EXEC_READER_FD;
		exec.reader_fd = (uint32_t)options->errors_fd;
	}
	if (r < 0)
		complain("the current directory: %s\nsay --cwd DIR", strerror(-r));
	else if ((r = command_encode(&exec, ret_payload, ret_bytes)) < 0)
		fail(cli, r, ABOUT_TASK, "the command");
	free(here);
	return r;
}

int task_options_submit(struct cli *cli, const struct task_options *options, const void *payload,
			uint64_t bytes, uint64_t *ret_id)
{
	struct tq_task_spec spec = options->spec;
	int r;

	spec.payload = payload;
	spec.payload_bytes = bytes;
	signals_sleep_begin(); /* a full queue may keep us */
	do
		r = tq_submit(cli->tq, &spec, ret_id);
	while (r == -EINTR);
	signals_sleep_end();
	if (spec.group && (r == TQ_ESTATE || r == TQ_EGONE || r == -ENOENT))
		cli->exit_code = fail(cli, r, ABOUT_GROUP, "%s to group %s", cli->verb->name,
				      tq_group_id_format(spec.group, (char[TQ_ID_TEXT_MAX]){ "" }));
	else if (r < 0 && !after_blame(cli, r, &spec))
		cli->exit_code =
			fail(cli, r, ABOUT_TASK, "%s to queue \"%s\"", cli->verb->name, spec.queue);
	return r;
}
