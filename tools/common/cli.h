/* SPDX-License-Identifier: MIT */
/* What every part of the program knows: its state, its exit codes, its verbs. */
#ifndef TASKQ_TOOL_CLI_H
#define TASKQ_TOOL_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include <taskq/taskq.h>

/* Exit codes; the contract of taskq(1). */
enum cli_exit {
	CLI_OK = 0,
	CLI_NOTHING = 1, /* it could not be done */
	CLI_USAGE = 2,
	CLI_FULL = 4,
	CLI_ABSENT = 5,	 /* no such segment, queue or task */
	CLI_FOREIGN = 6, /* a segment that this program may not or cannot use */
	CLI_DAMAGED = 7,
	CLI_UNFINISHED = 75, /* sysexits' EX_TEMPFAIL: ask again later */
	CLI_TIMED_OUT = 124, /* as timeout(1) */
	CLI_SELF = 125,	     /* as timeout(1): taskq failed, not the task */
	CLI_SIGNALLED = 128, /* plus the signal's number, as shells do */
};

struct option_row;
struct verb;

/* One run of the program. */
struct cli {
	const struct verb *verb; /* NULL before it is known */
	const char *segment;	 /* name or path; never NULL */
	const char *queue;	 /* never NULL */
	bool queue_given;	 /* by option, so not from the environment or by default */
	bool json;
	bool foreign;	  /* another user's segment was asked for */
	bool transparent; /* exits with the task's code, so own failures are CLI_SELF */
	bool is_unread;	  /* nobody reads standard output any more */
	int exit_code;	  /* why a helper that returned false or NULL did so */
	struct tq *tq;	  /* NULL not attached */
	char **operands;  /* what options_parse() left */
	int operand_count;
	/* In place of parsing: is told of the options that the verb has.  NULL: parse. */
	void (*describe)(const struct verb *verb, const struct option_row *rows);
};

typedef int verb_run_fn(struct cli *cli, int argc, char **argv);

struct verb {
	const char *name;
	verb_run_fn *run;
	const char *globals;  /* which global options it has a use for: of s, q, j, f */
	const char *args;     /* synopsis without the verb */
	const char *summary;  /* one line */
	const char *text;     /* the rest of its help */
	const char *examples; /* a line each */
};

/* main.c */
const struct verb *verb_find(const char *name);
const struct verb *verb_at(unsigned index); /* NULL behind the last */

/* attach.c: failures are reported; NULL or false then, with cli->exit_code set. */
struct tq *attach(struct cli *cli, uint32_t open_flags);
struct tq *attach_new(struct cli *cli, const struct tq_open_opts *opts);
bool require_queue(struct cli *cli, const char *queue);
void detach(struct cli *cli);

#endif
