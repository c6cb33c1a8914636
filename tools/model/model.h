/* SPDX-License-Identifier: MIT */
/*
 * What the views show: the last look, the difference to the one before, the minutes
 * before that, and what is wrong in plain words.
 */
#ifndef TASKQ_MODEL_H
#define TASKQ_MODEL_H

#include "latency.h"
#include "pass.h"
#include "recorder.h"
#include "sample.h"

enum {
	HISTORY_MAX = 512, /* looks that graphs can show */
	TROUBLES_MAX = 6,
	TROUBLE_MAX = 320
};

/* What a graph is drawn of. */
enum series {
	SERIES_SUBMITTED,
	SERIES_STARTED,
	SERIES_DONE,
	SERIES_FAILED,
	SERIES_READY,
	SERIES_COUNT
};

/* A task that is on the screen. */
struct task_row {
	struct tq_task_info info; /* state TQ_FREE: its record has been freed since */
	char *command;		  /* or its payload, in one line; NULL nothing to say */
};

struct trouble {
	bool is_grave; /* no work goes on */
	char text[TROUBLE_MAX];
};

struct model {
	const char *segment; /* as it was named */
	uint64_t delay_ns;   /* between two looks */
	bool is_printed;     /* no graphs */
	struct sample now;
	struct sample counted; /* that rates are counted from; !has_counted: it is `now` */
	bool has_counted;
	struct tq_counters total; /* of all queues; oldest_ready_ns of the oldest */
	char oldest_queue[TQ_NAME_MAX + 1];
	uint32_t busy, idle, stopped, dead, masters; /* workers */
	bool has_rates;
	double transactions; /* a second */
	double series[SERIES_COUNT][HISTORY_MAX];
	unsigned history; /* values of each series */
	struct trouble troubles[TROUBLES_MAX];
	unsigned trouble_count;
	bool is_blocked; /* the first one: no segment, or nobody gets its lock */
	struct pass pass;	/* tasks in the order of their view */
	struct task_row *tasks; /* of its picks from tasks_first on */
	uint32_t tasks_first, task_count;
	struct latencies latencies;
	struct recorder recorder;
};

/* Takes @sample over, and frees the one before. */
void model_update(struct model *model, struct sample *sample);
/* Forgets what was found in another segment. */
void model_forget(struct model *model);
void model_free(struct model *model);

/* tasks.c: reads these picks anew. */
void tasks_load(struct model *model, struct tq *tq, uint32_t first, uint32_t count);
void tasks_forget(struct model *model);

/* trouble.c: what is wrong; @before is the look before, all zero at the first. */
void trouble_find(struct model *model, const struct sample *before);

#endif
