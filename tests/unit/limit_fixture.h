/* SPDX-License-Identifier: MIT */
/* Short forms for tests of limits. */
#ifndef TQT_UNIT_LIMIT_FIXTURE_H
#define TQT_UNIT_LIMIT_FIXTURE_H

#include "scheduler/limit/limit.h"
#include "tests/unit/fixture.h"

static const struct tqi_ident self = { .pid = 7, .tid = 7, .start = 7 };

static inline int set_limit(struct one_worker *s, const char *name, uint32_t size)
{
	const struct tqi_limit_change change = { .size = size ? size : TQI_LIMIT_NONE };

	begin(&s->f);
	return conclude(&s->f, tqi_limit_set(&s->f.tx, name, &change));
}

/* A task with these keys; NULL ends them. */
static inline uint64_t keyed(struct one_worker *s, const char *const *keys,
			     struct tq_task_spec spec)
{
	spec.limits = keys;
	while (keys[spec.limit_count])
		spec.limit_count++;
	return submit(&s->f, spec);
}

#define KEYS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define PLAIN ((struct tq_task_spec){ .attempts_max = 10, .crashes_max = 10, .losses_max = 10 })

static inline void end_by(struct one_worker *s, struct tqi_verdict v)
{
	assert_int_equal(end(&s->f, s->worker, &s->c, v), 0);
}

static inline uint32_t sleep_as(struct one_worker *s, uint32_t worker)
{
	bool full;

	begin(&s->f);
	uint32_t w = tqi_sleep_enter(&s->f.tx, &self, TQI_INTEREST_WORK, worker, &full);

	tqi_sleep_again(&s->f.tx, w, UINT64_MAX);
	commit(&s->f);
	return w;
}

#endif
