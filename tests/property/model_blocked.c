/* SPDX-License-Identifier: MIT */
/* The model: tasks that wait for something else than time. */
#include "tests/property/model_parts.h"

/* It waits for its turn with its unique key. */
bool model_has_leader(const struct model_task *t)
{
	return t->unique && !t->holds && t->scope == TQ_UNIQUE_COALESCE &&
	       !model_state_is_final(t->state);
}

void model_block(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	t->unmet++;
	if (t->state == TQ_BLOCKED)
		return;
	model_move(m, task, TQ_BLOCKED);
	t->look_ns = model_deadline(t);
}

/* To where it would have begun. */
void model_go_on(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	if (t->due_ns == NEVER) {
		model_wait_for_wall(m, task);
	} else if (t->due_ns > m->now_ns) {
		model_move(m, task, TQ_DELAYED);
		t->look_ns = model_least(t->due_ns, model_watched(t));
	} else {
		model_become_ready(m, task, false);
	}
}

void model_unblock(struct model *m, uint32_t task)
{
	struct model_task *t = &m->tasks[task];

	t->unmet--;
	if (!t->unmet && !model_has_leader(t))
		model_go_on(m, task);
}
