/* SPDX-License-Identifier: MIT */
/* Failures: exit codes, and messages that say what was wrong and what to do. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "errors.h"
#include "text.h"

enum {
	ABOUT_ANY = -1
};

/* Texts that say more than tq_strerror(), and what to do; the first row that fits. */
static const struct explanation {
	int error;
	int about;
	int code;
	const char *reason; /* NULL: tq_strerror() */
	const char *advice; /* NULL: none */
} explanations[] = {
	{ -ENOENT, ABOUT_SEGMENT, CLI_ABSENT, "no such segment",
	  "`taskq create` makes it; so do submit, run, map and work" },
	{ -ENOENT, ABOUT_REMOVAL, CLI_ABSENT, "no such segment", NULL },
	{ -ENOENT, ABOUT_QUEUE, CLI_ABSENT, "no such queue",
	  "`taskq stats` shows the queues there are; `taskq create -q` makes one, as does a "
	  "submit" },
	{ -ENOENT, ABOUT_LIMIT, CLI_ABSENT, "it is not set",
	  "`taskq limit list` shows the limits" },
	{ -ENOENT, ABOUT_SERVER, CLI_ABSENT, "no such server",
	  "`taskq server list` shows the servers" },
	{ -ENOENT, ABOUT_TASK, CLI_ABSENT, "no such task",
	  "`taskq list` shows the tasks there are" },
	{ -ENOENT, ABOUT_SCHEDULE, CLI_ABSENT, "no such schedule",
	  "`taskq schedule list` shows the schedules there are" },
	{ TQ_EGONE, ABOUT_SCHEDULE, CLI_ABSENT, "it has been removed",
	  "`taskq schedule list` shows the schedules there are" },
	{ -E2BIG, ABOUT_SCHEDULE, CLI_USAGE, "the payload is too large for a schedule",
	  "at most 64 KiB; put it in a file and pass the file's name" },
	{ -ENOENT, ABOUT_COMMAND, CLI_ABSENT, "no such command",
	  "`taskq command list` shows those that are open, and the last that were answered" },
	{ -ESRCH, ABOUT_COMMAND, CLI_NOTHING, "nobody is there to take it",
	  "`taskq status` shows the workers of each queue; start some: `taskq work`" },
	{ -EOPNOTSUPP, ABOUT_COMMAND, CLI_NOTHING, "that worker takes no commands",
	  "its program must ask for them: TQ_WORKER_COMMANDS, see libtaskq(3)" },
	{ -EXDEV, ABOUT_COMMAND, CLI_NOTHING, "that worker does not serve the queue",
	  "leave out --queue: it gets the command in the first queue that it serves" },
	{ -E2BIG, ABOUT_COMMAND, CLI_USAGE, "the argument is too long", "at most 4096 bytes" },
	{ TQ_EFULL, ABOUT_COMMAND, CLI_FULL, "too many commands are not answered yet",
	  "`taskq command list` shows who owes an answer" },
	{ TQ_ESTATE, ABOUT_COMMAND, CLI_NOTHING, "all have answered it",
	  "`taskq command show` prints what" },
	{ TQ_EGONE, ABOUT_COMMAND, CLI_ABSENT, "its record has been freed",
	  "the last 64 commands that were answered are kept" },
	{ -ENOENT, ABOUT_GROUP, CLI_ABSENT, "no such group",
	  "`taskq group list` shows the groups there are" },
	{ TQ_EGONE, ABOUT_GROUP, CLI_ABSENT, "its record has been freed",
	  "complete groups stay for the segment's retention time" },
	{ TQ_ESTATE, ABOUT_GROUP, CLI_NOTHING, "it is sealed or complete",
	  "`taskq group show` says how it stands; `taskq group new` makes another" },
	{ -EEXIST, ABOUT_GROUP, CLI_NOTHING, "another task has the unique key", NULL },
	{ TQ_EGONE, ABOUT_ANY, CLI_ABSENT, "its record has been freed",
	  "finished tasks stay for the segment's retention time; --keep keeps one longer" },
	{ TQ_ELAYOUT, ABOUT_ANY, CLI_FOREIGN, NULL,
	  "use the taskq that made it, or remove it: `taskq destroy --force`" },
	{ TQ_ENAMESPACE, ABOUT_ANY, CLI_FOREIGN, NULL,
	  "only list, show, log, stats and check work from here" },
	{ -EPERM, ABOUT_SEGMENT, CLI_FOREIGN, "it belongs to another user, or is open to others",
	  "if you trust whoever may write it, say --foreign" },
	{ -EPERM, ABOUT_REMOVAL, CLI_FOREIGN, "it belongs to another user, or is open to others",
	  "--force removes it all the same, where you may" },
	{ -EACCES, ABOUT_SEGMENT, CLI_FOREIGN, "its permissions keep you out",
	  "its owner may change them; who may read it can use list, show, log, stats and check" },
	{ -EACCES, ABOUT_REMOVAL, CLI_FOREIGN, "its permissions keep you out",
	  "its owner can remove it" },
	{ -EOPNOTSUPP, ABOUT_ANY, CLI_USAGE, "its directory is not on a tmpfs",
	  "give a name, or a path on a tmpfs such as /dev/shm or /run" },
	{ TQ_ECORRUPT, ABOUT_SEGMENT, CLI_DAMAGED, "the segment is cut off or overwritten",
	  "nothing in it can be used; `taskq destroy --force` removes it" },
	{ TQ_ECORRUPT, ABOUT_REMOVAL, CLI_DAMAGED, "the segment is cut off or overwritten",
	  "--force removes it all the same" },
	{ TQ_ECORRUPT, ABOUT_ANY, CLI_DAMAGED, "the segment is damaged",
	  "`taskq check` says where, `taskq check --repair` mends what can be mended" },
	{ TQ_EFULL, ABOUT_ANY, CLI_FULL, NULL, NULL },
	{ TQ_EQUEUES, ABOUT_ANY, CLI_FULL, NULL,
	  "one without tasks, settings and workers makes place for another: `taskq stats` "
	  "shows them; or use another segment" },
	{ TQ_EKINDS, ABOUT_ANY, CLI_FULL, NULL,
	  "one without tasks and workers makes place for another; or use another segment" },
	{ -ENOSPC, ABOUT_ANY, CLI_FULL, "its file system has no space left",
	  "make room there (`df` shows it), or use a segment on another tmpfs" },
	{ -EMFILE, ABOUT_ANY, CLI_NOTHING, NULL,
	  "`ulimit -n` says how many this process may have" },
	{ -ENOSYS, ABOUT_SEGMENT, CLI_NOTHING, "nothing can be read below /proc",
	  "mount it: segments are told apart by what it says of this system" },
	{ -EFBIG, ABOUT_SEGMENT, CLI_FULL, "a file of this process may not be so large",
	  "`ulimit -f` raises that, `taskq create --max SIZE` makes a smaller segment" },
	{ -EEXIST, ABOUT_SEGMENT, CLI_NOTHING, "it exists already", "`taskq info` describes it" },
	{ -EEXIST, ABOUT_QUEUE, CLI_NOTHING, "a live farm has that name",
	  "give another --name, or none" },
	{ -EEXIST, ABOUT_TASK, CLI_NOTHING, "another task has its unique key",
	  "`taskq list` shows which; it is free when that one has ended, or is forgotten" },
	{ -EAGAIN, ABOUT_CONTENT, CLI_NOTHING, "the segment changes faster than it can be copied",
	  "`taskq check --exact` looks at it under the lock" },
	{ -EBUSY, ABOUT_REMOVAL, CLI_NOTHING, "it is in use", "--force removes it all the same" },
	{ -EDEADLK, ABOUT_TASK, CLI_NOTHING,
	  "it cannot end before this task does: they would wait for each other",
	  "`taskq why` says what a running task waits for" },
	{ TQ_EDRAINING, ABOUT_ANY, CLI_NOTHING, NULL, "`taskq drain --undo` opens it again" },
	{ TQ_ESHUTDOWN, ABOUT_ANY, CLI_NOTHING, "the segment takes no more", NULL },
	{ -EDEADLK, ABOUT_GROUP, CLI_NOTHING,
	  "it cannot be complete before this task ends: they would wait for each other",
	  "`taskq group show --members` shows for whom a group waits" },
	{ TQ_ECYCLE, ABOUT_ANY, CLI_USAGE,
	  "it may come only after tasks that were submitted before it, and that do not wait "
	  "for it: they would wait for each other",
	  "submit it again, after the other one, or outside of the group that that one waits for" },
	{ TQ_EREMOVED, ABOUT_SEGMENT, CLI_ABSENT,
	  "one of that name was removed, and not all who work for it have ended",
	  "`ls -l /proc/[0-9]*/fd | grep deleted` finds them; end them, or take another name" },
	{ TQ_EREMOVED, ABOUT_ANY, CLI_ABSENT, "the segment's file has been removed",
	  "nobody can attach to it any more, and what was in it is lost" },
	{ TQ_ECOMMAND, ABOUT_ANY, CLI_NOTHING, NULL, NULL },
	{ TQ_ELOCKED, ABOUT_ANY, CLI_NOTHING, NULL, NULL },
	{ -E2BIG, ABOUT_TASK, CLI_USAGE,
	  "its payload is too large, or it has too many dependencies",
	  "at most 16 MiB; put it in a file and pass the file's name" },
	{ -EINVAL, ABOUT_ANY, CLI_USAGE, NULL, NULL },
	{ -ERANGE, ABOUT_ANY, CLI_USAGE, NULL, NULL },
	{ -E2BIG, ABOUT_ANY, CLI_USAGE, NULL, NULL },
};

static const struct explanation *explain(int r, enum about about)
{
	static const struct explanation other = { .code = CLI_NOTHING };

	for (unsigned i = 0; i < sizeof(explanations) / sizeof(explanations[0]); i++) {
		const struct explanation *row = &explanations[i];

		if (row->error == r && (row->about == ABOUT_ANY || row->about == (int)about))
			return row;
	}
	return &other;
}

const char *error_text(int r, enum about about)
{
	const char *reason = explain(r, about)->reason;

	return reason ? reason : tq_strerror(r);
}

/* The program's name, or as many blanks. */
static char *lead_format(bool first, char buf[64])
{
	const int width = (int)strlen(program_invocation_short_name) + 2;

	if (first)
		snprintf(buf, 64, "%.60s: ", program_invocation_short_name);
	else
		snprintf(buf, 64, "%*s", width, "");
	return buf;
}

static void complain_lines(const char *lead, char *lines)
{
	char *save = NULL, more[64];

	for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		fputs(lead, stderr);
		text_put_safe(stderr, line);
		fputc('\n', stderr);
		lead = lead_format(false, more);
	}
}

static void complain_list(bool first, const char *format, va_list args) PRINTF_LIKE(2, 0);
static void complain_list(bool first, const char *format, va_list args)
{
	char *lines = NULL, lead[64];

	if (vasprintf(&lines, format, args) < 0)
		return;
	/* Whole messages only, also when several threads have something to say. */
	flockfile(stderr);
	complain_lines(lead_format(first, lead), lines);
	funlockfile(stderr);
	free(lines);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_list(true, format, args);
	va_end(args);
}

void complain_more(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_list(false, format, args);
	va_end(args);
}

int usage(const struct cli *cli, const char *format, ...)
{
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (cli->verb)
		complain("%s: %s\nsee `taskq help %s`", cli->verb->name, what, cli->verb->name);
	else
		complain("%s\nsee `taskq help`", what);
	return cli->transparent ? CLI_SELF : CLI_USAGE;
}

bool refuse(const struct cli *cli, const char *option, const char *arg, const char *wrong,
	    const char *form)
{
	complain("%s%s%s \"%.80s%s\": %s\ngive %s", cli->verb ? cli->verb->name : "",
		 cli->verb ? ": " : "", option, arg, strlen(arg) > 80 ? "..." : "", wrong, form);
	return false;
}

static _Atomic bool at_lock; /* set by any thread that reports, never taken back */

bool failed_at_lock(void)
{
	return at_lock;
}

int fail(const struct cli *cli, int r, enum about about, const char *format, ...)
{
	const struct explanation *row = explain(r, about);
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	complain("%s: %s%s%s", what, error_text(r, about), row->advice ? "\n" : "",
		 row->advice ? row->advice : "");
	advise(cli, r);
	if (r == TQ_ELOCKED)
		at_lock = true;
	return cli->transparent ? CLI_SELF : row->code;
}

int fail_task(const struct cli *cli, int r, uint64_t id)
{
	char text[TQ_ID_TEXT_MAX];

	return fail(cli, r, ABOUT_TASK, "%s %s", cli->verb->name, tq_task_id_format(id, text));
}

int worse(int a, int b)
{
	return a > b ? a : b;
}
