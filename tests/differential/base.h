/* SPDX-License-Identifier: MIT */
/* The interface of the earlier commit under the present names. */
#include <errno.h>

#define tq_task_info tq_info
#include <taskq/taskq.h>

enum {
	TQ_TASK_ACTION_CANCEL = 6
};

static inline int base_steer(struct tq *tq, uint64_t id, uint32_t action)
{
	return action == TQ_TASK_ACTION_CANCEL ? tq_cancel(tq, id)
					       : tq_task_steer(tq, id, (enum tq_task_action)action);
}
#define tq_task_steer base_steer

static inline int base_claim(struct tq_worker *worker, uint64_t timeout_ns, struct tq_claim *claim)
{
	int r = tq_claim(worker, timeout_ns, claim);

	return r == -EAGAIN ? -ETIMEDOUT : r;
}
#define tq_claim(...) base_claim(__VA_ARGS__)

/* Those that are held are among them. */
#define count_ready(counters) ((counters)->depth[TQ_READY])
