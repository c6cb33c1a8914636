/* SPDX-License-Identifier: MIT */
/* The situations, and the system of make-believe. */
#include "tests/counts/situation.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAITING 1000
#define PRIORITIES 1000
#define PAYLOAD_BYTES 64
#define HOUR_NS 3600000000000ull
#define CLOCK_BEGIN_NS 1000000000000000000ull /* 31 years: beyond any machine's, when opened */
#define CLOCK_STEP_NS 1000ull

int tqt_must(int r, const char *what)
{
	if (r >= 0)
		return r;
	fprintf(stderr, "counts: %s: %s\n", what, tq_strerror(r));
	exit(1);
}

/* The system of make-believe. */

static uint64_t play_clock(void *ctx)
{
	struct tqt_scene *s = ctx;

	return s->now_ns += CLOCK_STEP_NS;
}

static uint64_t play_wall(void *ctx)
{
	return ((struct tqt_scene *)ctx)->now_ns;
}

/*
 * Until somebody is woken, whoever it is: no time passes by itself.  (On one word of our own:
 * valgrind does not know the system call for several.)
 */
static int play_sleep(void *ctx, const struct tqi_futex *words, uint32_t count, uint64_t until_ns)
{
	struct tqt_scene *s = ctx;
	const uint32_t woken = tqi_load_acquire32(&s->woken);

	(void)until_ns;
	for (uint32_t i = 0; i < count; i++)
		if (tqi_load_acquire32(words[i].word) != words[i].value)
			return 0;
	tqi_store_release32(&s->asleep, 1);
	while (tqi_load_acquire32(&s->woken) == woken)
		syscall(SYS_futex, &s->woken, FUTEX_WAIT_PRIVATE, woken, NULL, NULL, 0);
	return 0;
}

static void play_wake(void *ctx, struct tqi_word32 *word, uint32_t count)
{
	struct tqt_scene *s = ctx;

	(void)word, (void)count;
	tqi_store_release32(&s->asleep, 0);
	tqi_add_release32(&s->woken, 1);
	syscall(SYS_futex, &s->woken, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void tqt_scene_settle(struct tqt_scene *s)
{
	while (s->awaited && !tqi_load_acquire32(&s->asleep))
		sched_yield();
}

/* At random: a heap is not a list. */
static int32_t next_priority(struct tqt_scene *s)
{
	if (s->in_order)
		return 0;
	s->random ^= s->random << 13;
	s->random ^= s->random >> 17;
	s->random ^= s->random << 5;
	return (int32_t)(s->random % PRIORITIES);
}

/* strcmp() takes a longer way near the end of a line, where a literal may come to lie. */
static const char kind[] __attribute__((aligned(64))) = "counted";

void tqt_scene_prepare(struct tqt_scene *s)
{
	static const char payload[PAYLOAD_BYTES];

	for (uint32_t i = 0; i < TQT_BATCH; i++)
		s->specs[i] = (struct tq_task_spec){ .size = sizeof(s->specs[i]),
						     .kind = kind,
						     .payload = payload,
						     .payload_bytes = sizeof(payload),
						     .priority = next_priority(s),
						     .flags = TQ_TASK_FORGET };
}

static struct tq_task_spec spec_elsewhere(void)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .queue = "elsewhere",
				      .kind = kind,
				      .flags = TQ_TASK_FORGET };
}

static void submit_elsewhere(struct tqt_scene *s, struct tq_task_spec spec)
{
	tqt_must(tq_submit(s->tq, &spec, &s->awaited), "tq_submit");
	s->awaited = 0;
}

static void nothing_more(struct tqt_scene *s)
{
	(void)s;
}

static void some_waiting(struct tqt_scene *s)
{
	for (uint32_t i = 0; i < WAITING; i++) {
		tqt_scene_prepare(s);
		tqt_must(tq_submit(s->tq, &s->specs[0], NULL), "tq_submit");
	}
}

static void some_in_order(struct tqt_scene *s)
{
	s->in_order = true;
	some_waiting(s);
}

static void one_schedule(struct tqt_scene *s)
{
	const struct tq_task_spec task = spec_elsewhere();
	const struct tq_schedule_spec spec = { .size = sizeof(spec),
					       .task = &task,
					       .every_ns = HOUR_NS };
	uint64_t id;

	tqt_must(tq_schedule_create(s->tq, &spec, &id), "tq_schedule_create");
}

static void one_limit(struct tqt_scene *s)
{
	static const char *const key = "a limit";
	struct tq_task_spec spec = spec_elsewhere();

	spec.limits = &key;
	spec.limit_count = 1;
	submit_elsewhere(s, spec);
}

static void one_delayed(struct tqt_scene *s)
{
	struct tq_task_spec spec = spec_elsewhere();

	spec.delay_ns = HOUR_NS;
	submit_elsewhere(s, spec);
}

static void one_queue(struct tqt_scene *s)
{
	submit_elsewhere(s, spec_elsewhere());
}

static void one_kind(struct tqt_scene *s)
{
	struct tq_task_spec spec = spec_elsewhere();

	spec.queue = NULL;
	spec.kind = "another";
	spec.priority = -1;
	submit_elsewhere(s, spec);
}

static void *wait_for_task(void *arg)
{
	struct tqt_scene *s = arg;

	tqt_must(tq_wait(s->tq, &s->awaited, 1, TQ_FOREVER_NS, NULL, NULL), "tq_wait");
	return NULL;
}

static void one_client(struct tqt_scene *s)
{
	struct tq_task_spec spec = spec_elsewhere();

	spec.flags = 0;
	tqt_must(tq_submit(s->tq, &spec, &s->awaited), "tq_submit");
	if (pthread_create(&s->client, NULL, wait_for_task, s))
		tqt_must(-EAGAIN, "pthread_create");
}

static const struct {
	const char *name;
	void (*prepare)(struct tqt_scene *s);
} situations[] = {
	{ "plain", nothing_more },
	{ "1000-waiting", some_waiting },
	{ "1000-in-order", some_in_order },
	{ "schedule", one_schedule },
	{ "limit", one_limit },
	{ "client", one_client },
	{ "delayed", one_delayed },
	{ "kind", one_kind },
	{ "queue", one_queue },
};
_Static_assert(sizeof(situations) / sizeof(situations[0]) == TQT_SITUATIONS, "all of them");

const char *tqt_situation_name(uint32_t situation)
{
	return situations[situation].name;
}

static const char *segment_name(void)
{
	static char name[TQ_NAME_MAX + 1];
	const char *id = getenv("TASKQ_TEST_ID");

	snprintf(name, sizeof(name), "%.40s.%d", id ? id : "counts", (int)getpid());
	return name;
}

void tqt_situation_open(struct tqt_scene *s, uint32_t situation)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE };

	*s = (struct tqt_scene){ .now_ns = CLOCK_BEGIN_NS, .random = 1 };
	for (uint32_t i = 0; i < TQT_BATCH; i++)
		s->claims[i].size = sizeof(s->claims[i]);
	tqt_must(tq_open(segment_name(), &opts, &s->tq), "tq_open");
	s->ops = tqi_ops_linux;
	s->ops.ctx = s;
	s->ops.now = play_clock;
	s->ops.wall = play_wall;
	s->ops.futex_wait = play_sleep;
	s->ops.futex_wait_wall = play_sleep;
	s->ops.futex_wake = play_wake;
	s->tq->seg.ops = &s->ops;
	tqt_must(tq_worker_open(s->tq, NULL, &s->worker), "tq_worker_open");
	situations[situation].prepare(s);
}

void tqt_situation_close(struct tqt_scene *s)
{
	if (s->awaited) {
		tqt_must(tq_task_steer(s->tq, s->awaited, TQ_TASK_ACTION_CANCEL), "cancel");
		pthread_join(s->client, NULL);
	}
	tq_worker_close(s->worker);
	s->tq->seg.ops = &tqi_ops_linux;
	tq_close(s->tq);
	tqt_must(tq_destroy(segment_name(), TQ_DESTROY_FORCE), "tq_destroy");
}
