/* SPDX-License-Identifier: MIT */
/* What attempts that have ended have written (scheduler/record/history.h). */
#include <errno.h>

#include "client/core/handle.h"
#include "client/observe/earlier.h"

#define TRIES 64

struct tqi_earlier tqi_last_output(const struct tqi_task *t)
{
	const uint64_t all = t->output_bytes > t->result_bytes ? t->output_bytes : t->result_bytes;

	return (struct tqi_earlier){ all, t->result, t->result ? t->result_bytes : 0 };
}

static int find_in(const struct tqi_task *t, const struct tqi_history *history, uint32_t attempt,
		   struct tqi_earlier *ret_output)
{
	const uint32_t count = t->history_count;
	const uint32_t entries = count < TQ_HISTORY_MAX ? count : TQ_HISTORY_MAX;

	for (uint32_t i = 1; i <= entries; i++) {
		const uint32_t at = (count - i) % TQ_HISTORY_MAX;

		if (history->attempts[at].number != attempt)
			continue;
		*ret_output = i == 1 ? tqi_last_output(t) : history->outputs[at];
		return 0;
	}
	return -ESTALE;
}

static int find_output(const struct tqi_segment *seg, const struct tqi_task *t, uint32_t attempt,
		       struct tqi_earlier *ret_output)
{
	struct tqi_history history;

	if (attempt > t->attempts || (attempt == t->attempts && t->state == TQ_RUNNING))
		return TQ_ESTATE;
	if (!t->history) { /* there was one, or no memory for what was before */
		*ret_output = tqi_last_output(t);
		return attempt == t->attempts ? 0 : -ESTALE;
	}
	const int r = tqi_peek_owned(seg, t, t->history, 0, &history, sizeof(history));

	return r < 0 ? r : find_in(t, &history, attempt, ret_output);
}

int tqi_copy_output(const struct tqi_segment *seg, const struct tqi_task *t,
		    const struct tqi_earlier *output, uint64_t offset, void *buf, uint32_t room,
		    uint64_t *ret_offset)
{
	const uint64_t all = output->output_bytes > output->bytes ? output->output_bytes
								  : output->bytes;
	const uint64_t oldest = all - output->bytes, from = offset > oldest ? offset : oldest;

	if (offset >= all)
		return -ENODATA;
	if (!output->block || output->bytes > TQ_PAYLOAD_MAX)
		return -ESTALE;
	const uint64_t bytes = all - from < room ? all - from : room;
	const int r = tqi_peek_owned(seg, t, output->block, from - oldest, buf, bytes);

	*ret_offset = from;
	return r < 0 ? r : (int)bytes;
}

int tq_output_read_attempt(struct tq *tq, uint64_t id, uint32_t attempt, uint64_t offset, void *buf,
			   uint32_t room, uint64_t *ret_offset)
{
	if (!tq)
		return -EINVAL;
	struct tqi_earlier output;
	struct tqi_task task;
	uint64_t from = 0;

	if (!attempt || !buf || !ret_offset || room == 0 || room > INT32_MAX)
		return -EINVAL;
	for (int i = 0; i < TRIES; i++) {
		int r = tqi_peek_task(&tq->seg, id, &task);

		if (r < 0)
			return r;
		r = find_output(&tq->seg, &task, attempt, &output);
		if (r == 0)
			r = tqi_copy_output(&tq->seg, &task, &output, offset, buf, room, &from);
		if (!tqi_task_unchanged(&tq->seg, tqi_id_index(id), &task))
			continue;
		if (r > 0)
			*ret_offset = from;
		return r;
	}
	return -EAGAIN;
}
