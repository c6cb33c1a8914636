/* SPDX-License-Identifier: MIT */
/* The operations of the sweep on tasks with a unique key, and their preparations. */
#include "tests/crash/operations.h"

#include <stdio.h>

#define KEYS 16 /* the index has 16 buckets: the next key splits one */

static struct tq_task_spec spec_of(const char *key, uint32_t scope)
{
	return (struct tq_task_spec){ .size = sizeof(struct tq_task_spec),
				      .kind = "k",
				      .label = "label",
				      .payload = "payload",
				      .payload_bytes = 7,
				      .priority = 2000, /* before all others */
				      .attempts_max = 3,
				      .unique_key = key,
				      .unique_scope = scope };
}

static void submit(struct tqt_world *w, struct tq_task_spec spec)
{
	uint64_t id;

	w->result = tq_submit(w->tq, &spec, &id);
}

static void prepare(struct tqt_world *w, const char *key, uint32_t scope)
{
	const struct tq_task_spec spec = spec_of(key, scope);

	w->ids[w->id_count++] = tqt_submit(w, &spec);
}

void tqt_prepare_keyed(struct tqt_world *w)
{
	prepare(w, "key", TQ_UNIQUE_QUEUED);
	if (!w->worker)
		tqt_serve(w, 0);
}

void tqt_prepare_keys(struct tqt_world *w)
{
	char key[16];

	for (uint32_t i = 0; i < KEYS; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		prepare(w, key, TQ_UNIQUE_ACTIVE);
	}
}

void tqt_prepare_coalesced(struct tqt_world *w)
{
	prepare(w, "key", TQ_UNIQUE_COALESCE);
}

/* One that runs. */
void tqt_prepare_leader(struct tqt_world *w)
{
	tqt_prepare_coalesced(w);
	tqt_serve(w, 0);
	w->id_count = 0;
	tqt_claim(w);
}

/* And one that waits for it. */
void tqt_prepare_successor(struct tqt_world *w)
{
	tqt_prepare_leader(w);
	prepare(w, "key", TQ_UNIQUE_COALESCE);
	w->ids[0] = w->ids[1];
}

void tqt_prepare_kept(struct tqt_world *w)
{
	prepare(w, "key", TQ_UNIQUE_KEPT);
	tqt_must(tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

void tqt_prepare_lost_key(struct tqt_world *w)
{
	prepare(w, "key", TQ_UNIQUE_ACTIVE);
	tqt_must(tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL), "cancel");
}

/* A purge has decided about who has the key; nobody has carried it out. */
void tqt_prepare_purged_key(struct tqt_world *w)
{
	tqt_prepare_keyed(w);
	tqt_steer_queue(w, TQ_QUEUE_PURGE);
}

void tqt_run_submit_key(struct tqt_world *w)
{
	submit(w, spec_of("new", TQ_UNIQUE_ACTIVE));
}

void tqt_run_submit_split(struct tqt_world *w)
{
	submit(w, spec_of("new", TQ_UNIQUE_ACTIVE));
}

void tqt_run_submit_twin(struct tqt_world *w)
{
	submit(w, spec_of("key", TQ_UNIQUE_QUEUED));
}

void tqt_run_submit_twin_large(struct tqt_world *w)
{
	struct tq_task_spec spec = spec_of("key", TQ_UNIQUE_QUEUED);

	spec.payload = tqt_large;
	spec.payload_bytes = TQT_LARGE_BYTES;
	submit(w, spec);
}

void tqt_run_submit_over(struct tqt_world *w)
{
	submit(w, spec_of("key", TQ_UNIQUE_QUEUED));
}

static struct tq_task_spec newer(void)
{
	struct tq_task_spec spec = spec_of("key", TQ_UNIQUE_COALESCE);

	spec.payload = tqt_large; /* another class of blocks */
	spec.payload_bytes = 300;
	spec.label = "newer";
	return spec;
}

void tqt_run_coalesce(struct tqt_world *w)
{
	submit(w, newer());
}

void tqt_run_coalesce_large(struct tqt_world *w)
{
	struct tq_task_spec spec = newer();

	spec.payload_bytes = TQT_LARGE_BYTES;
	submit(w, spec);
}

void tqt_run_coalesce_running(struct tqt_world *w)
{
	submit(w, newer());
}

void tqt_run_coalesce_successor(struct tqt_world *w)
{
	submit(w, newer());
}

void tqt_run_claim_keyed(struct tqt_world *w)
{
	tqt_run_claim(w);
}

void tqt_run_complete_keyed(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_complete_leader(struct tqt_world *w)
{
	w->result = tq_complete(w->worker, w->claims, NULL, 0);
}

void tqt_run_cancel_successor(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_CANCEL);
}

void tqt_run_forget_kept(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_FORGET);
}

void tqt_run_retry_keyed(struct tqt_world *w)
{
	w->result = tq_task_steer(w->tq, w->ids[0], TQ_TASK_ACTION_RETRY);
}

void tqt_run_update_keyed(struct tqt_world *w)
{
	const struct tq_task_update u = { .size = sizeof(u),
					  .fields = TQ_UPDATE_QUEUE,
					  .queue = "other" };

	w->result = tq_task_update(w->tq, w->ids[0], &u);
}
