/* SPDX-License-Identifier: MIT */
/*
 * `taskq load`: what `taskq dump` has written, once and as a whole.
 *
 * The file is read several times.  First all of it is checked, and nothing is changed.  Then comes
 * the gate, a held task by whose unique key the dump is known in the segment.  All tasks of the
 * dump are submitted to come after it, in the order of their lines, and when all are there it is
 * cancelled: then, in one transaction, they may start.  Who finds the gate held finishes what was
 * broken off: the tasks that wait for it are what has been loaded so far, the first ones of the
 * file.  Who finds it ended has nothing to do.
 */
#ifndef TASKQ_TOOL_LOAD_H
#define TASKQ_TOOL_LOAD_H

#include "errors.h"
#include "tools/taskq/dump/dump.h"
#include "tools/taskq/submit/batch_line.h"

/* What one reading of the file is for. */
enum load_pass {
	LOAD_CHECK,    /* is it a dump, and a whole one?  Uses no segment */
	LOAD_SETTINGS, /* queues and limits, but what would refuse the tasks */
	LOAD_TASKS,    /* groups and tasks */
	LOAD_FINISH,   /* schedules, and the settings that were left out */
};

enum {
	LOAD_CHUNK = 64, /* what the library takes in one lock hold */
	LOAD_KEY_MAX = TQ_NAME_MAX + TQ_KEY_MAX + 2,
};

/* A task's line, read. */
struct load_line {
	struct batch_line line;
	uint64_t old;		    /* its id in the dump; 0 it has none */
	struct load_group *group;   /* that it is a member of; NULL none */
	struct tq_dependency *more; /* those for which a submission has no room */
	uint32_t more_count;
};

/* A group of the dump. */
struct load_group {
	char label[TQ_LABEL_MAX + 1];
	uint64_t id;	   /* 0 it is not there yet */
	uint64_t stand_in; /* for members that had failed; 0 none */
	bool sealed;
};

/* A task that an earlier run has loaded. */
struct loaded {
	uint64_t sequence;
	uint64_t id;
};

struct load {
	struct cli *cli;
	const char *path;
	int fd;
	bool settings; /* are to be set */
	enum load_pass pass;
	struct task_options defaults;
	uint64_t number;		 /* of the line */
	char name[64];			 /* of the dump */
	uint64_t told_tasks, told_lines; /* by its last line; 0 not read yet */
	char error[512];		 /* what is wrong with the line */

	struct id_map tasks; /* of the dump: the ids here; 0 it is in the chunk */
	struct id_map group_numbers;
	struct load_group **groups;
	uint32_t group_count;
	uint64_t task_count, schedule_count, twin_count;

	uint64_t gate;
	uint64_t gate_ns;      /* since when it is there */
	struct loaded *loaded; /* in order of submission */
	uint32_t loaded_count, loaded_at;
	json_t *keyed;		 /* those that have a unique key, by that */
	struct id_map schedules; /* that earlier runs have made, and that are accounted for */

	struct load_line chunk[LOAD_CHUNK];
	unsigned chunk_count;
};

/* The file.  Each is false when it failed: ->error says how, or it has been reported and
 * cli->exit_code is set. */
bool load_read(struct load *load, enum load_pass pass);
bool load_bad(struct load *load, const char *format, ...) PRINTF_LIKE(2, 3);
bool load_failed(struct load *load, int r, enum about about, const char *what);
void load_free(struct load *load);

/* Its lines, by what they are about; likewise. */
bool load_queue(struct load *load, const json_t *object);
bool load_kind(struct load *load, const json_t *object);
bool load_limit(struct load *load, const json_t *object);
bool load_schedule(struct load *load, const json_t *object);
bool load_group(struct load *load, const json_t *object);
bool load_task(struct load *load, const json_t *object);

/* load_line.c */
bool load_line_read(struct load *load, struct load_line *line, const json_t *object);
void load_line_free(struct load_line *line);

/* load_submit.c */
bool load_flush(struct load *load);
/* Hands in one, or takes the one that is there from an earlier run; its id. */
bool load_submit(struct load *load, struct load_line *line, uint64_t *ret_id);
/* The next one that is there from an earlier run, if any: 1; 0 none; -1 it is not of that line. */
int load_next(struct load *load, const struct tq_task_spec *spec, struct tq_task_info *ret_info);
bool load_note(struct load *load, struct load_line *line, uint64_t id);
/* By which a task with a key is known again. */
void load_key(const char *queue, const char *key, char text[LOAD_KEY_MAX]);

/* load_group.c */
bool load_group_need(struct load *load, struct load_group *group, uint64_t id);
bool load_groups_finish(struct load *load);

/* load_gate.c */
bool load_gate_enter(struct load *load);
bool load_gate_open(struct load *load);

#endif
