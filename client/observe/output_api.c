/* SPDX-License-Identifier: MIT */
/* Reading what a task's command has written, and being waited for while one does. */
#include <errno.h>
#include <string.h>

#include "client/core/current_attempt.h"
#include "client/core/handle.h"
#include "client/observe/earlier.h"
#include "client/submit/wait_api.h"

#define LOOK_FIRST_NS 1000000ull /* 1 ms */
#define LOOK_LAST_NS 50000000ull /* 50 ms */
#define TRIES 8			 /* to read one moment, before a sleep */

/* Where an output is: in the running worker's ring, or with the task. */
struct source {
	struct tqi_task task;
	struct tqi_worker worker;
	uint64_t worker_offset;
	uint32_t serial; /* of the attempt, while `running` */
	bool running;
};

/* Where a caller wants it. */
struct reading {
	void *buf;
	uint32_t room;
	bool follow;
	uint64_t *offset;
	uint32_t *attempt;
};

static int find_source(struct tq *tq, uint64_t id, struct source *s)
{
	struct tqi_attempt a;
	int r = tqi_peek_task(&tq->seg, id, &s->task);

	if (r < 0)
		return r;
	s->running = false;
	if (s->task.state != TQ_RUNNING ||
	    tqi_peek_record(&tq->seg, TQI_ATTEMPTS, s->task.attempt, &a) < 0 || a.id != id ||
	    tqi_peek_record(&tq->seg, TQI_WORKERS, a.worker, &s->worker) < 0)
		return 0;
	s->worker_offset = tqi_record_offset(&tq->seg, TQI_WORKERS, a.worker);
	s->serial = a.serial;
	s->running = s->worker.output_bytes &&
		     tqi_load_relaxed32(&s->worker.output_serial) == a.serial;
	return 0;
}

/* The worker's words may run ahead while the ring is copied: what was overwritten is dropped. */
static int read_ring(struct tq *tq, const struct source *s, uint64_t offset, void *buf,
		     uint32_t room, uint64_t *ret_offset)
{
	uint64_t ring = s->worker.output_bytes, head, later;
	const uint64_t head_at = s->worker_offset + offsetof(struct tqi_worker, output_head);

	if (tqi_peek(&tq->seg, head_at, &head, sizeof(head)) < 0 || offset >= head)
		return 0;
	uint64_t whole = ring - TQI_OUTPUT_CHUNK, oldest = head > whole ? head - whole : 0;
	uint64_t from = offset > oldest ? offset : oldest;
	uint64_t bytes = head - from < room ? head - from : room;

	for (uint64_t done = 0; done < bytes;) {
		uint64_t at = (from + done) % ring, n = ring - at;

		if (n > bytes - done)
			n = bytes - done;
		if (tqi_peek_block(&tq->seg, s->worker.output, at, (char *)buf + done, n) < 0)
			return TQ_ECORRUPT;
		done += n;
	}
	if (tqi_peek(&tq->seg, head_at, &later, sizeof(later)) < 0)
		return TQ_ECORRUPT;
	uint64_t lost = later > whole && later - whole > from ? later - whole - from : 0;

	if (lost >= bytes)
		return 0; /* all of it overwritten meanwhile: the caller comes again */
	memmove(buf, (char *)buf + lost, bytes - lost);
	*ret_offset = from + lost;
	return (int)(bytes - lost);
}

static int read_kept(struct tq *tq, const struct source *s, uint64_t offset, void *buf,
		     uint32_t room, uint64_t *ret_offset)
{
	const struct tqi_earlier output = tqi_last_output(&s->task);
	const int r = tqi_copy_output(&tq->seg, &s->task, &output, offset, buf, room, ret_offset);

	return r == -ENODATA || r == -ESTALE ? 0 : r;
}

/* The worker bumps it at each write, and so does the end of its attempt, just before that
 * is committed. */
static const struct tqi_word32 *output_word(const struct tq *tq, const struct source *s)
{
	return (const void *)(tq->seg.base + s->worker_offset +
			      offsetof(struct tqi_worker, output_word));
}

/*
 * Asleep on that word; nobody knows of us.  `look_ns`: so the first look after a bump
 * comes soon, later ones less often.
 */
static int sleep_unseen(struct tq *tq, const struct source *s, uint64_t until_ns, uint64_t *look_ns)
{
	uint64_t now = tqi_now(tq), until = now + *look_ns < until_ns ? now + *look_ns : until_ns;
	struct tqi_word32 never = { 0 };
	struct tqi_futex futex = { &never, 0 };

	if (s->running)
		futex = (struct tqi_futex){ output_word(tq, s),
					    tqi_load_relaxed32(&s->worker.output_word) };
	int r = tq->seg.ops->futex_wait(tq->seg.ops->ctx, &futex, 1, until);

	if (r == 0)
		*look_ns = LOOK_FIRST_NS;
	else if (*look_ns < LOOK_LAST_NS)
		*look_ns *= 2;
	return r == -EINTR ? r : 0;
}

/* E9: who works for an attempt waits with a slot, on its behalf. */
static int wait_for_more(struct tq *tq, uint64_t id, const struct source *s, uint64_t until_ns,
			 uint64_t *look_ns)
{
	if (tq->seg.readonly || !tqi_behalf_is_known(tq))
		return sleep_unseen(tq, s, until_ns, look_ns);
	int r = tqi_wait_output(tq, id, s->running ? output_word(tq, s) : NULL,
				s->running ? tqi_load_relaxed32(&s->worker.output_word) : 0,
				until_ns);

	return r == TQ_EFULL || r == TQ_ELOCKED	  ? sleep_unseen(tq, s, until_ns, look_ns)
	       : r == -ETIMEDOUT || r == TQ_EGONE ? 0
						  : r;
}

/* The worker as it is, not as it was copied: its readers are written through the mapping. */
static struct tqi_worker *live_worker(const struct tq *tq, const struct source *s)
{
	return (void *)(tq->seg.base + s->worker_offset);
}

/* Our place among the readers of a ring; NULL there is none. */
static struct tqi_reader *own_reader(struct tqi_worker *worker, uint64_t name)
{
	for (int i = 0; i < TQI_READERS; i++)
		if (tqi_load_acquire64(&worker->readers[i].name) == name)
			return &worker->readers[i];
	return NULL;
}

static struct tqi_reader *take_reader(struct tqi_worker *worker, uint64_t name)
{
	for (int i = 0; i < TQI_READERS; i++)
		if (tqi_cas_acq_rel64(&worker->readers[i].name, 0, name))
			return &worker->readers[i];
	return NULL;
}

static void leave_reader(struct tq *tq, struct tqi_reader *reader, uint64_t name)
{
	tqi_cas_acq_rel64(&reader->name, name, 0);
	tq->seg.ops->futex_wake(tq->seg.ops->ctx, &reader->read, 1);
}

/* OU-3: all before `offset` has been read.  An attempt that has begun meanwhile is not held. */
static void follow_from(struct tq *tq, const struct source *s, uint64_t offset)
{
	const uint64_t name = tq_output_reader(tq);
	struct tqi_worker *worker = live_worker(tq, s);
	struct tqi_reader *reader = own_reader(worker, name);

	if (!reader && !(reader = take_reader(worker, name)))
		return;
	if (tqi_load_relaxed32(&reader->read) != (uint32_t)offset) {
		tqi_store_release32(&reader->read, (uint32_t)offset);
		tq->seg.ops->futex_wake(tq->seg.ops->ctx, &reader->read, 1);
	}
	if (tqi_load_acquire32(&worker->output_serial) != s->serial)
		leave_reader(tq, reader, name);
}

uint64_t tq_output_reader(struct tq *tq)
{
	if (!tq)
		return 0;
	const struct tqi_ident self = tqi_ident_self(tq);

	return tqi_reader_name(&self);
}

int tq_output_leave(struct tq *tq, uint64_t id)
{
	if (!tq)
		return -EINVAL;
	struct source s;
	int r = tq->seg.readonly ? -EROFS : find_source(tq, id, &s);

	if (r < 0 || !s.running)
		return r;
	const uint64_t name = tq_output_reader(tq);
	struct tqi_reader *reader = own_reader(live_worker(tq, &s), name);

	if (reader)
		leave_reader(tq, reader, name);
	return 0;
}

/* Bytes as of one moment, 0 none yet, or an error: in *ret_r; *offset is 0 from an attempt's
 * beginning on.  False: the task changed, as when its output moves from ring to record. */
static bool read_once(struct tq *tq, uint64_t id, uint64_t *offset, const struct reading *to,
		      struct source *s, int *ret_r)
{
	int r = *ret_r = find_source(tq, id, s);

	if (r < 0)
		return true;
	if (*to->attempt && *to->attempt != s->task.attempts)
		*offset = 0; /* a retry writes its own output */
	if (s->running && to->follow)
		follow_from(tq, s, *offset);
	if (s->running)
		r = read_ring(tq, s, *offset, to->buf, to->room, to->offset);
	else if (s->task.state != TQ_RUNNING) /* else what is kept is an earlier attempt's */
		r = read_kept(tq, s, *offset, to->buf, to->room, to->offset);
	if (!tqi_task_unchanged(&tq->seg, tqi_id_index(id), &s->task))
		return false;
	*to->attempt = s->task.attempts;
	*ret_r = r == 0 && tqi_state_is_final(s->task.state) ? -ENODATA : r;
	return true;
}

static int read_output(struct tq *tq, uint64_t id, uint64_t offset, uint64_t timeout_ns,
		       const struct reading *to)
{
	uint64_t deadline = tqi_deadline(tq, timeout_ns), look_ns = LOOK_FIRST_NS;
	struct source s;
	int r, tries = 0;

	if (to->room == 0 || to->room > INT32_MAX)
		return -EINVAL;
	for (;;) {
		if (!read_once(tq, id, &offset, to, &s, &r)) {
			if (++tries < TRIES)
				continue;
			r = 0; /* no moment holds, as of a damaged segment: later, maybe */
		}
		if (r != 0)
			return r;
		if (tqi_now(tq) >= deadline)
			return -ETIMEDOUT;
		r = wait_for_more(tq, id, &s, deadline, &look_ns);
		if (r < 0)
			return r;
	}
}

int tq_output_read(struct tq *tq, uint64_t id, uint64_t offset, void *buf, uint32_t room,
		   uint64_t timeout_ns, uint64_t *ret_offset, uint32_t *attempt)
{
	if (!tq || !buf || !ret_offset || !attempt)
		return -EINVAL;
	const struct reading to = { buf, room, false, ret_offset, attempt };

	return read_output(tq, id, offset, timeout_ns, &to);
}

int tq_output_follow(struct tq *tq, uint64_t id, uint64_t offset, void *buf, uint32_t room,
		     uint64_t timeout_ns, uint64_t *ret_offset, uint32_t *attempt)
{
	if (!tq || !buf || !ret_offset || !attempt)
		return -EINVAL;
	const struct reading to = { buf, room, true, ret_offset, attempt };

	return tq->seg.readonly ? -EROFS : read_output(tq, id, offset, timeout_ns, &to);
}
