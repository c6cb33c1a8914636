/* SPDX-License-Identifier: MIT */
/* The model: limits by key, by counting all tasks. */
#include "tests/property/model_parts.h"

#include <errno.h>

static bool names(const struct model_task *t, uint32_t limit)
{
	return t->limits >> limit & 1;
}

struct model_limit model_limit(const struct model *m, uint32_t limit)
{
	struct model_limit sum = { 0 };

	for (uint32_t i = 1; i < m->task_slots; i++) {
		const struct model_task *t = &m->tasks[i];

		if (t->state == TQ_FREE || !names(t, limit))
			continue;
		sum.tasks++;
		sum.used += t->state == TQ_RUNNING;
		sum.waiting += model_in_lane(t);
	}
	return sum;
}

/* Bit per limit that is full. */
uint32_t model_full(const struct model *m)
{
	uint32_t full = 0;

	for (uint32_t x = 1; x <= MODEL_LIMITS; x++)
		if (m->limit_size[x] != UINT32_MAX && model_limit(m, x).used >= m->limit_size[x])
			full |= 1u << x;
	return full;
}

/* An attempt of this running task is about to end. */
void model_slots_give(struct model *m, const struct model_task *t)
{
	for (uint32_t x = 1; t->limits && x <= MODEL_LIMITS; x++) {
		struct model_limit sum = model_limit(m, x);

		if (names(t, x) && sum.used == m->limit_size[x] && sum.waiting)
			m->pass_on = true;
	}
}

int model_limit_set(struct model *m, uint32_t limit, uint32_t size)
{
	struct model_limit sum = model_limit(m, limit);
	uint32_t before = m->limit_size[limit];

	if (!size && before == UINT32_MAX)
		return -ENOENT;
	m->limit_size[limit] = size ? size : UINT32_MAX;
	if (sum.used >= before && sum.used < m->limit_size[limit] && sum.waiting)
		m->pass_on = true;
	return 0;
}

void model_pass_on(struct model *m)
{
	if (m->pass_on)
		model_wake_any(m);
	m->pass_on = false;
}
