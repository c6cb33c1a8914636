/* SPDX-License-Identifier: MIT */
/*
 * What can be done to the picked line.  Each has an upper-case key, and is done only
 * after a question that names what it is done to.
 *
 * For that moment the segment is opened for writing, and closed again: who only looks
 * can hold nobody up, whatever happens to it.
 */
#ifndef TASKQ_TOP_ACT_H
#define TASKQ_TOP_ACT_H

#include "sample.h"
#include "view.h"

enum {
	ACT_TEXT_MAX = 384
};

struct action_kind;

/* An action, and what it is done to, as it was when the key was pressed. */
struct action {
	const struct action_kind *kind; /* NULL none */
	uint64_t id;			/* task or group */
	int32_t priority;
	uint32_t unfinished; /* members of the group */
	bool is_on; /* it is held, or paused: the opposite is done */
	struct tq_worker_info worker;
	char name[TQ_NAME_MAX + 1]; /* queue */
	char label[TQ_LABEL_MAX + 1];
};

struct action_kind {
	int key;
	enum subject subject;
	const char *hint; /* in the last line */
	void (*ask)(const struct action *action, char question[ACT_TEXT_MAX]);
	int (*run)(struct tq *tq, const struct action *action);
	bool wants_priority; /* is asked for, too */
};

extern const struct action_kind action_kinds[]; /* ended by key 0 */

/* The action of a key on a row; false: it has none there. */
bool act_find(int key, enum subject subject, const void *row, struct action *ret_action);

/* Does it, and says how that went; false: it could not be done. */
bool act_run(const struct source *source, const struct action *action, char said[ACT_TEXT_MAX]);

#endif
