/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on queues with servers, and their preparations. */
#include "client/core/sleeper.h"
#include "scheduler/order/queue.h"
#include "scheduler/limit/server.h"
#include "tests/crash/operations.h"

#include <errno.h>
#include <stdio.h>

#define MANY 12 /* servers: more than are carried in one transaction */

static const struct tq_task_spec urgent = {
	.size = sizeof(struct tq_task_spec),
	.kind = "k",
	.label = "label",
	.payload = "payload",
	.payload_bytes = 7,
	.priority = 2000, /* before all others */
	.attempts_max = 3,
};

static void prepare(struct tqt_world *w)
{
	w->ids[w->id_count++] = tqt_submit(w, &urgent);
}

/* Two servers that share so many slots. */
static void add_servers(struct tqt_world *w, uint32_t slots)
{
	tqt_must(tq_server_limit_set(w->other, "default", "http://*", slots), "limit");
	tqt_must(tq_server_add(w->other, "default", "http://a/"), "server");
	tqt_must(tq_server_add(w->other, "default", "http://b/"), "server");
}

/* A task that may start. */
void tqt_prepare_served(struct tqt_world *w)
{
	tqt_serve(w, 0);
	add_servers(w, 3);
	prepare(w);
}

/* The only slot is taken, and two wait for it. */
void tqt_prepare_no_room(struct tqt_world *w)
{
	tqt_serve(w, 0);
	add_servers(w, 1);
	prepare(w);
	w->id_count = 0;
	tqt_claim(w);
	w->id_count = 0;
	prepare(w);
	prepare(w);
}

/* The server that the slot is of has been removed. */
void tqt_prepare_leaving(struct tqt_world *w)
{
	tqt_prepare_no_room(w);
	tqt_must(tq_server_remove(w->other, "default", w->claims[0].server), "removal");
}

/* The slot has been given back, and nobody has looked since. */
void tqt_prepare_slot_back(struct tqt_world *w)
{
	tqt_prepare_no_room(w);
	tqt_must(tq_complete(w->worker, w->claims, NULL, 0), "complete");
}

void tqt_prepare_many_servers(struct tqt_world *w)
{
	tqt_prepare_served(w);
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "http://many/%d", i);
		tqt_must(tq_server_add(w->other, "default", name), "server");
	}
	tqt_claim(w);
	prepare(w);
}

/* A slice of a change has been carried out, then its author was killed. */
void tqt_prepare_carried(struct tqt_world *w)
{
	struct tqi_tx tx;

	tqt_prepare_many_servers(w);
	tqt_must(tqi_hold_begin(w->other, &tx), "hold");
	int r = tqi_pool_set(&tx, tqi_queue_find(&tx, "default"), "http://many/*", 1);

	tqt_must(tqi_hold_end(w->other, &tx, r), "limit");
}

/* Who had the slots has died. */
void tqt_prepare_served_dead(struct tqt_world *w)
{
	tqt_prepare_task(w);
	add_servers(w, 1);
	uint32_t foreign = tqt_foreign_worker(w, TQT_PID_DEAD, 1, false);

	prepare(w);
	tqt_worker_dies(w, foreign);
}

static void add(struct tqt_world *w, const char *server)
{
	w->result = tq_server_add(w->tq, "default", server);
}

void tqt_run_server_first(struct tqt_world *w)
{
	add(w, "http://c/");
}

void tqt_run_server_add(struct tqt_world *w)
{
	add(w, "c"); /* at no limit: a sleeper may start what waits */
}

void tqt_run_server_add_again(struct tqt_world *w)
{
	add(w, w->claims[0].server);
}

void tqt_run_server_remove(struct tqt_world *w)
{
	w->result = tq_server_remove(w->tq, "default", "http://b/");
}

void tqt_run_server_leave(struct tqt_world *w)
{
	w->result = tq_server_remove(w->tq, "default", w->claims[0].server);
}

void tqt_run_server_clear(struct tqt_world *w)
{
	w->result = tq_server_clear(w->tq, "default");
}

void tqt_run_server_clear_many(struct tqt_world *w)
{
	w->result = tq_server_clear(w->tq, "default");
}

static void limit(struct tqt_world *w, const char *pattern, uint32_t slots)
{
	w->result = tq_server_limit_set(w->tq, "default", pattern, slots);
}

void tqt_run_server_limit_first(struct tqt_world *w)
{
	limit(w, "http://*", 1);
}

void tqt_run_server_limit_longer(struct tqt_world *w)
{
	limit(w, "http://b*", 2);
}

void tqt_run_server_limit_raise(struct tqt_world *w)
{
	limit(w, "http://*", 2);
}

void tqt_run_server_limit_many(struct tqt_world *w)
{
	limit(w, "http://many/*", 1);
}

void tqt_run_server_limit_remove(struct tqt_world *w)
{
	w->result = tq_server_limit_remove(w->tq, "default", "http://*");
}

void tqt_run_server_limit_remove_many(struct tqt_world *w)
{
	w->result = tq_server_limit_remove(w->tq, "default", "http://*");
}

void tqt_run_claim_served(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_no_room(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_slot_back(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_claim_carried(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_submit_served(struct tqt_world *w)
{
	uint64_t id;

	w->result = tq_submit(w->tq, &urgent, &id);
}

void tqt_run_submit_no_room(struct tqt_world *w)
{
	tqt_run_submit_served(w);
}

void tqt_run_complete_served(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, "result", 6);
}

void tqt_run_complete_leaving(struct tqt_world *w)
{
	tqt_run_complete_served(w);
}

void tqt_run_complete_carried(struct tqt_world *w)
{
	tqt_run_complete_served(w);
}

void tqt_run_next_served(struct tqt_world *w)
{
	const struct tq_verdict v = { .size = sizeof(v), .kind = TQ_VERDICT_DONE };

	w->result = tq_next(w->worker, w->claims, &v, 0, w->claims, NULL);
}

void tqt_run_fail_served(struct tqt_world *w)
{
	w->result = tq_fail(w->worker, w->claims, 0, "once more");
}

void tqt_run_release_served(struct tqt_world *w)
{
	w->result = tq_release(w->worker, w->claims, 0);
}

void tqt_run_keep_served(struct tqt_world *w)
{
	tqi_keep(w->tq);
}

void tqt_run_keep_carried(struct tqt_world *w)
{
	tqi_keep(w->tq);
}
