/* SPDX-License-Identifier: MIT */
/* Questions, and the functions of the scheduler that answer them. */
#include "client/observe/ask.h"

#include <string.h>

#include "client/observe/snapshot.h"
#include "scheduler/graph/inherit.h"
#include "scheduler/limit/limit.h"
#include "scheduler/order/before.h"
#include "scheduler/record/serves.h"

/* NULL: it is another one by now. */
static const struct tqi_task *task_of(struct tqi_tx *tx, uint64_t id)
{
	const struct tqi_task *task = tqi_task_at(tx, tqi_id_index(id));

	return !tx->corrupt && task->generation == tqi_id_generation(id) ? task : NULL;
}

static void count_before(struct tqi_tx *tx, void *arg)
{
	struct tqi_ask_before *ask = arg;
	const struct tqi_task *task = task_of(tx, ask->id);

	ask->count = 0;
	ask->is_all = true;
	if (task && task->state == TQ_READY)
		ask->count = tqi_count_before(tx, tqi_id_index(ask->id), ask->kinds,
					      TQ_WHY_BEFORE_MAX, &ask->is_all);
}

void tqi_ask_before(struct tq *tq, struct tqi_ask_before *ask)
{
	int r = tqi_view_ask(&tq->seg, tq, count_before, ask);

	ask->is_torn = r == TQI_VIEW_TORN;
	if (r < 0) {
		ask->count = 0;
		ask->is_all = false;
	}
}

struct full {
	uint64_t id;
	uint32_t need; /* 0 none */
	struct tqi_limit limit;
};

static void find_full(struct tqi_tx *tx, void *arg)
{
	struct full *full = arg;
	const struct tqi_task *task = task_of(tx, full->id);
	const uint32_t *limits = task ? tqi_limits_of(tx, task) : NULL;

	full->need = limits ? tqi_limits_holding(tx, limits) : 0;
	if (full->need)
		full->limit = *tqi_limit_at(tx, tqi_need_limit(full->need));
}

bool tqi_ask_full(struct tq *tq, uint64_t id, uint32_t *ret_need, struct tqi_limit *ret_limit)
{
	struct full full = { .id = id };

	if (tqi_view_ask(&tq->seg, tq, find_full, &full) < 0 || !full.need)
		return false;
	*ret_need = full.need;
	*ret_limit = full.limit;
	return true;
}

struct room {
	uint32_t queue;
	bool lacks;
};

static void find_room(struct tqi_tx *tx, void *arg)
{
	struct room *room = arg;

	room->lacks = !tqi_queue_has_room(tx, tqi_queue_at(tx, room->queue)) && !tx->corrupt;
}

bool tqi_ask_lacks_room(const struct tqi_segment *seg, uint32_t q, const struct tqi_queue *queue)
{
	struct room room = { .queue = q };

	return (queue->flags & TQI_QUEUE_SERVED) &&
	       tqi_view_ask(seg, NULL, find_room, &room) >= 0 && room.lacks;
}

struct lender {
	uint64_t of;
	uint64_t id;
};

static void find_lender(struct tqi_tx *tx, void *arg)
{
	struct lender *lender = arg;
	const struct tqi_task *task = task_of(tx, lender->of);

	lender->id = task ? tqi_inherit_lender(tx, task) : 0;
}

uint64_t tqi_ask_lender(const struct tqi_segment *seg, uint64_t id)
{
	struct lender lender = { .of = id };

	return tqi_view_ask(seg, NULL, find_lender, &lender) < 0 ? 0 : lender.id;
}
