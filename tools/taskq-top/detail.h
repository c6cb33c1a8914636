/* SPDX-License-Identifier: MIT */
/* Everything about one task, queue, worker, limit or group; and the help. */
#ifndef TASKQ_TOP_DETAIL_H
#define TASKQ_TOP_DETAIL_H

#include "lines.h"
#include "model.h"
#include "view.h"
#include "why.h"

enum detail_kind {
	DETAIL_NONE,
	DETAIL_HELP,
	DETAIL_TASK,
	DETAIL_QUEUE,
	DETAIL_WORKER,
	DETAIL_LIMIT,
	DETAIL_GROUP
};

enum {
	TAIL_MAX = 64 << 10 /* bytes of an output that are kept: as many as the library keeps */
};

/* The end of what a task's command has written. */
struct tail {
	char *text;
	uint32_t bytes;
	uint64_t offset; /* of what comes next */
	uint32_t attempt;
};

/* How far the members of a group that have ended were gone through. */
struct group_scan {
	uint64_t last;	 /* the last one; 0 none */
	uint32_t ended;	 /* how many */
	bool is_through; /* all of them */
	struct lines bad, done;
};

struct detail {
	enum detail_kind kind;
	uint64_t id;		   /* task or group */
	uint32_t number;	   /* worker */
	char name[TQ_KEY_MAX + 1]; /* queue or limit */
	struct lines lines;
	unsigned first; /* row at the top */
	bool follow;	/* show the end of the output as it comes */
	struct tail tail;
	struct group_scan scan;
	const void *acts_on; /* what keys act on: the row below; NULL it is gone */
	enum subject subject;
	union {
		struct task_row task;
		struct queue_row queue;
		struct worker_row worker;
		struct tq_group_info group;
	} row; /* as it was read last */
};

/* What is known of a task. */
struct task_facts {
	struct tq_task_info info;
	char why[WHY_MAX]; /* what keeps it from running, in one sentence */
	struct tq_attempt_info history[TQ_HISTORY_MAX];
	int history_count;
	const char *command; /* or payload, in one line; may be NULL */
	struct clocks clocks;
};

void detail_close(struct detail *detail);
/* It is this: keys can act on it. */
void detail_set_row(struct detail *detail, enum subject subject, const void *row, size_t bytes);
/* Reads it anew; @tq may be NULL. */
void detail_read(struct detail *detail, const struct model *model, struct tq *tq);
void detail_title(const struct detail *detail, char *to, size_t room);

/* What is shown of them: no look at the segment. */
void detail_task_lines(struct lines *lines, const struct task_facts *facts);
void detail_help_lines(struct lines *lines);

/* detail_group.c: the group, and its members as far as they are worth showing. */
void detail_group_read(struct detail *detail, const struct model *model, struct tq *tq);
void group_scan_free(struct group_scan *scan);

/* tail.c: reads on; and adds the lines. */
void tail_read(struct tail *tail, struct tq *tq, uint64_t id);
void tail_lines(const struct tail *tail, struct lines *lines);
void tail_free(struct tail *tail);

#endif
