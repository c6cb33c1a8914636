/* SPDX-License-Identifier: MIT */
/*
 * Random operations on the core and on a model of it, under simulated time.
 *
 *   TASKQ_SEED     first seed; printed, and new each time by default
 *   TASKQ_OPS      operations in all
 *   TASKQ_COMPARE  full comparison every so many operations
 *
 * An episode is one segment; each has a seed of its own, so that a failure is
 * repeated by TASKQ_SEED=(the seed printed).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "scheduler/check/check.h"
#include "scheduler/order/queue.h"
#include "tests/property/world.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPS 150000u
#else
#define OPS 1000000u
#endif
#define EPISODE_OPS 40000u

/* Operations and how often each is chosen. */
#define CHOICES(X)                                                                                 \
	X(op_submit, 260) \
	X(op_submit_in_flight, 4) \
	X(op_claim, 170) \
	X(op_end, 110) \
	X(op_end_stale, 3) \
	X(op_next, 70) \
	X(op_cancel, 25) \
	X(op_hold, 40) \
	X(op_retry, 30) \
	X(op_forget, 30) \
	X(op_update, 40) \
	X(op_unknown, 5) \
	X(op_pause, 20) \
	X(op_drain, 6) \
	X(op_purge, 3) \
	X(op_unused, 4) \
	X(op_queue_set, 4) \
	X(op_kind_set, 4) \
	X(op_policy, 8) \
	X(op_limit, 30) \
	X(op_server, 12) \
	X(op_pool, 12) \
	X(op_shutdown, 2) \
	X(op_evict, 3) \
	X(op_punch, 4) \
	X(op_grow, 1) \
	X(op_time, 80) \
	X(op_set_clock, 8) \
	X(op_wall, 20) \
	X(op_schedule_make, 3) \
	X(op_schedule_steer, 3) \
	X(op_schedule_run, 40) \
	X(op_due, 30) \
	X(op_tend, 40) \
	X(op_look, 40) \
	X(op_rebuild, 1) \
	X(op_register, 15) \
	X(op_unregister, 3) \
	X(op_die, 4) \
	X(op_verdict_on_worker, 3) \
	X(op_renew, 20) \
	X(op_progress, 20) \
	X(op_checkpoint, 12) \
	X(op_output, 10) \
	X(op_stop_step, 20) \
	X(op_sleep, 25) \
	X(op_wait, 25) \
	X(op_wait_room, 3) \
	X(op_back, 60) \
	X(op_sleeper_dies, 5) \
	X(op_send, 12) \
	X(op_take, 8) \
	X(op_ack, 60) \
	X(op_take_back, 10) \
	X(op_wait_command, 4) \
	X(op_after, 20) \
	X(op_group_make, 8) \
	X(op_group_steer, 10) \
	X(op_group_evict, 3) \
	X(op_graph, 40) \
	X(op_owner_dies, 1) \
	X(op_wait_group, 6)

struct choice {
	const char *name;
	operation *run;
	uint32_t weight;
};

static const struct choice choices[] = {
#define CHOICE(name, weight) { #name, name, weight },
	CHOICES(CHOICE)
#undef CHOICE
};

static const struct choice *choose(struct world *w)
{
	const uint32_t n = sizeof(choices) / sizeof(choices[0]);
	uint32_t sum = 0, i = 0;

	for (uint32_t c = 0; c < n; c++)
		sum += choices[c].weight;
	uint32_t at = below(w, sum);

	while (at >= choices[i].weight)
		at -= choices[i++].weight;
	return &choices[i];
}

static void make_names(struct world *w)
{
	bool full;

	tqt_box_grow(&w->box, 2);
	tqt_box_begin(&w->box, &w->tx);
	for (uint32_t q = 1; q <= MODEL_QUEUES; q++)
		expect(w, tqi_queue_make(&w->tx, queue_name(q), &full), q, "queue");
	for (uint32_t k = 1; k <= MODEL_KINDS; k++)
		expect(w, tqi_kind_make(&w->tx, kind_name(k), &full), k, "kind");
	tqi_tx_commit(&w->tx);
}

/* Sizes and mix of an episode come from its seed. */
static void open_world(struct world *w, uint64_t seed)
{
	struct model *m = w->m;

	memset(w, 0, sizeof(*w));
	w->m = m;
	w->seed = w->random = seed;
	uint32_t size = below(w, 4);
	struct tqt_box_options o = { .max_bytes = size ? 16ull << 20 : 4ull << 20,
				     .tasks_max = size == 3 ? 1500 : 40 + below(w, 300),
				     .sequence = chance(w, 3) ? (1ull << 40) - 5000 : 1,
				     .retention_ns = (chance(w, 2) ? 3600 : 20) * 1000000000ull };

	tqt_box_open(&w->box, &o);
	w->extents_max = size ? 16 : 4;
	w->payload_max = chance(w, 2) ? 3000 : size ? 100000 : 50000;
	w->compare_every = size == 3 ? 64 : 16;
	w->check_every = getenv("TASKQ_CHECK") ? strtoull(getenv("TASKQ_CHECK"), NULL, 10) : 300;
	w->abort_every = 250;
	w->link_every = chance(w, 4) ? 0 : 1 + below(w, 6);
	if (getenv("TASKQ_COMPARE"))
		w->compare_every = strtoull(getenv("TASKQ_COMPARE"), NULL, 10);
	m->did = compare_did;
	m->did_ctx = &w->comparison;
	model_init(m, o.sequence, o.retention_ns);
	m->now_ns = w->box.system.now_ns;
	m->wall_ns = m->now_ns + w->box.system.wall_offset_ns;
	w->comparison.m = m;
	tqi_tx_view(&w->comparison.tx, &w->box.seg);
}

static void compare(struct world *w)
{
	struct comparison *c = &w->comparison;

	tqi_tx_view(&c->tx, &w->box.seg);
	bool same = compare_jitter(c) && compare_gauges(c);

	if (same && (w->compare_now || w->op % w->compare_every == 0))
		same = compare_all(c);
	if (!same)
		fail(w, "%s", c->text);
	w->compare_now = false;
	if (model_is_stranded(w->m))
		fail(w, "work is startable, and nobody is on the way to it");
}

static void show_finding(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "check: %s\n", text);
}

static void check(struct world *w)
{
	struct tqi_tx tx;

	if (w->op % w->check_every)
		return;
	tqi_tx_view(&tx, &w->box.seg);
	if (tqi_check(&tx, scratch(w), show_finding, NULL))
		fail(w, "the check found faults");
	w->checks++;
}

static void sum_up(const struct world *w)
{
	struct model_class sum = { 0 };

	for (uint32_t q = 1; q <= MODEL_QUEUES; q++) {
		for (uint32_t k = 1; k <= MODEL_KINDS; k++) {
			const struct model_class *c = &w->m->classes[q][k];

			sum.submitted += c->submitted;
			sum.started += c->started;
			sum.ended[0] += c->ended[0];
			sum.ended[3] += c->ended[3];
			sum.crashed += c->crashed;
			sum.reclaimed += c->reclaimed;
		}
	}
	printf("seed %" PRIu64 ": %" PRIu64 " ops: %" PRIu64 " submitted, %" PRIu64
	       " started, %" PRIu64 " done, %" PRIu64 " crashed, %" PRIu64 " lost, %" PRIu64
	       " evicted; %" PRIu64 " expired, %" PRIu64 " twins, %" PRIu64 " successors, %" PRIu64
	       " runs, %" PRIu64 " waits refused; %" PRIu64 " dependencies, %" PRIu64
	       " cycles, %" PRIu64 " groups, %" PRIu64 " graphs; %" PRIu64 " unsettled, %" PRIu64
	       " aborts, %" PRIu64 " without room\n",
	       w->seed, w->op, sum.submitted, sum.started, sum.ended[0], sum.crashed, sum.reclaimed,
	       w->m->evicted, sum.ended[3], w->twins, w->successors, w->runs, w->refused, w->links,
	       w->cycles, w->groups, w->graphs, w->unsettled, w->aborts, w->no_room);
}

static bool run(struct world *w, uint64_t ops)
{
	if (setjmp(w->failed))
		return false;
	make_names(w);
	for (w->op = 0; w->op < ops; w->op++) {
		const struct choice *c = choose(w);

		note(w, "%s", c->name); /* until it says more itself */
		c->run(w);
		if (!w->stuck)
			settle(w);
		if (w->stuck) /* all is full: what is inherited waits for room, others do not */
			return true;
		compare(w);
		check(w);
		if (w->m->flags && chance(w, 300))
			op_shutdown(w); /* undone: it would stay for long */
	}
	return true;
}

static bool episode(struct world *w, uint64_t seed, uint64_t ops)
{
	open_world(w, seed);
	bool ok = run(w, ops);

	sum_up(w);
	tqt_image_free(&w->image);
	if (w->scratch)
		munmap(w->scratch, tqi_check_scratch_bytes(&w->box.seg.geometry));
	tqt_box_close(&w->box);
	return ok;
}

static uint64_t number_from(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : fallback;
}

int main(void)
{
	static struct model model;
	static struct world world = { .m = &model };
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	uint64_t seed = number_from("TASKQ_SEED", (uint64_t)ts.tv_sec * 1000);
	uint64_t left = number_from("TASKQ_OPS", OPS);

	printf("TASKQ_SEED=%" PRIu64 "\n", seed);
	while (left > 0) {
		uint64_t ops = left < EPISODE_OPS ? left : EPISODE_OPS;

		if (!episode(&world, seed++, ops))
			return 1;
		left -= ops;
	}
	return 0;
}
