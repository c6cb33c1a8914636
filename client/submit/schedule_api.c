/* SPDX-License-Identifier: MIT */
/* Making and steering schedules. */
#include "scheduler/time/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/handle.h"
#include "client/core/options.h"
#include "client/submit/spec.h"
#include "client/submit/tzif.h"
#include "scheduler/record/name.h"

#define SECOND_NS 1000000000ull

_Static_assert(TQ_CRON_MAX == TQI_CRON_MAX && TQ_ZONE_MAX == TQI_ZONE_NAME_MAX, "one limit");

/* What a caller's spec becomes. */
struct making {
	struct tq *tq;
	struct tq_schedule_spec spec;
	struct tq_task_spec task;
	struct tqi_cron cron;
	struct tqi_zone *zone;
	char zone_name[TQI_ZONE_NAME_MAX + 1];
	struct tqi_schedule_request request;
	uint64_t id;
};

/* One that cannot be taken for an id. */
static bool name_is_valid(const char *name)
{
	uint64_t id;

	return tqi_name_is_valid(name) && tq_schedule_id_parse(name, &id) < 0;
}

static int take_task(struct making *m)
{
	int r = m->spec.task ? tqi_spec_in(&m->task, m->spec.task) : -EINVAL;

	if (r < 0)
		return r;
	/* What is of one task, not of each run. */
	if (m->task.at_ns || m->task.full_timeout_ns || m->task.after_count || m->task.group)
		return -EINVAL;
	if (!tqi_name_is_valid(m->task.queue) || !tqi_name_is_valid(m->task.kind))
		return -EINVAL;
	return m->task.payload_bytes > TQ_SCHEDULE_PAYLOAD_MAX ? -E2BIG : 0;
}

static int take_times(struct making *m)
{
	const struct tq_schedule_spec *s = &m->spec;
	char error[TQ_TEXT_MAX + 1];

	if (!s->every_ns == !s->cron || (s->every_ns && s->zone))
		return -EINVAL;
	if (s->catch_up > TQ_CATCH_UP_MAX || s->overlap > TQ_OVERLAP_QUEUE)
		return -ERANGE;
	if (s->every_ns)
		return s->every_ns < TQ_EVERY_MIN_NS || s->every_ns > TQI_NS_MAX ? -ERANGE : 0;
	if (!tqi_cron_parse(s->cron, &m->cron, error, sizeof(error)))
		return -EINVAL;
	return tqi_tzif_load(s->zone, (int64_t)(tqi_wall(m->tq) / SECOND_NS), &m->zone,
			     m->zone_name);
}

static int prepare(struct making *m, const struct tq_schedule_spec *spec)
{
	int r = tqi_options_in(&m->spec, sizeof(m->spec), sizeof(m->spec), spec);

	if (r == 0 && m->spec.name && !name_is_valid(m->spec.name))
		r = -EINVAL;
	if (r == 0)
		r = take_task(m);
	if (r == 0)
		r = take_times(m);
	m->request = (struct tqi_schedule_request){
		.spec = &m->task,
		.name = m->spec.name,
		.every_ns = m->spec.every_ns,
		.cron_text = m->spec.cron,
		.cron = &m->cron,
		.zone_name = m->zone_name,
		.zone = m->zone,
		.overlap = m->spec.overlap ? m->spec.overlap : TQ_OVERLAP_SKIP,
		.catch_up = m->spec.catch_up ? m->spec.catch_up : 1,
	};
	return r;
}

static int make_op(struct tqi_tx *tx, void *arg)
{
	struct making *m = arg;

	if (!tx->wall_ns)
		tx->wall_ns = tqi_wall(m->tq);
	return tqi_schedule_make(tx, &m->request, &m->id);
}

int tq_schedule_create(struct tq *tq, const struct tq_schedule_spec *spec, uint64_t *ret_id)
{
	if (!tq || !spec)
		return -EINVAL;
	struct making m = { .tq = tq };
	int r = prepare(&m, spec);

	if (r == 0)
		r = tqi_run(tq, make_op, &m);
	free(m.zone);
	if (r >= 0 && ret_id)
		*ret_id = m.id;
	return r;
}

struct steering {
	uint64_t id;
	enum tq_schedule_action action;
};

static int steer_op(struct tqi_tx *tx, void *arg)
{
	const struct steering *s = arg;

	switch (s->action) {
	case TQ_SCHEDULE_PAUSE:
	case TQ_SCHEDULE_RESUME:
		return tqi_schedule_pause(tx, s->id, s->action == TQ_SCHEDULE_PAUSE);
	case TQ_SCHEDULE_REMOVE:
		return tqi_schedule_remove(tx, s->id);
	}
	return -EINVAL;
}

int tq_schedule_steer(struct tq *tq, uint64_t id, enum tq_schedule_action action)
{
	if (!tq)
		return -EINVAL;
	struct steering s = { .id = id, .action = action };

	return tqi_run(tq, steer_op, &s);
}

int tq_cron_check(const char *cron, char *buf)
{
	if (!cron || !buf)
		return -EINVAL;
	struct tqi_cron ignored;

	buf[0] = '\0';
	return tqi_cron_parse(cron, &ignored, buf, TQ_TEXT_MAX + 1) ? 0 : -EINVAL;
}
