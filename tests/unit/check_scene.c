/* SPDX-License-Identifier: MIT */
/* A segment with some of everything. */
#include "tests/unit/check_scene.h"

#include <stdio.h>

#include "scheduler/graph/behalf.h"
#include "scheduler/task/group_make.h"
#include "scheduler/task/group_walk.h"
#include "scheduler/worker/command.h"
#include "scheduler/graph/group.h"
#include "scheduler/limit/limit.h"
#include "scheduler/limit/server.h"

#define TASKS 120

/* A full limit with one who waits for it, another with room, and one set for nobody. */
static void populate_limits(struct fixture *f, struct scene *s)
{
	static const char *const limits[] = { "full", "roomy", "rated" };

	const struct tqi_limit_change one = { .size = 1 },
				      rate = { .has_rate = true, .rate = { SECOND, 2, 3 } };

	begin(f);
	assert_int_equal(tqi_limit_set(&f->tx, "full", &one), 0);
	assert_int_equal(tqi_limit_set(&f->tx, "nobody's", &one), 0);
	assert_int_equal(tqi_limit_set(&f->tx, "rated", &rate), 0);
	commit(f);
	s->holder = submit(
		f, (struct tq_task_spec){ .priority = 300, .limits = limits, .limit_count = 1 });
	assert_int_equal(claim(f, s->worker, &s->claimed), s->holder);
	s->parked = submit(f, (struct tq_task_spec){ .limits = limits, .limit_count = 2 });
	submit(f, (struct tq_task_spec){ .limits = limits + 1, .limit_count = 1 });
	for (int i = 0; i < 4; i++) /* three tokens: the last one waits */
		s->rated = submit(f, (struct tq_task_spec){ .priority = 300,
							    .limits = limits + 2,
							    .limit_count = 1 });
	for (int i = 0; i < 3; i++) {
		assert_int_not_equal(claim(f, s->worker, &s->claimed), s->rated);
		end(f, s->worker, &s->claimed, DONE);
	}
}

static uint64_t send(struct fixture *f, uint32_t to)
{
	const struct tq_command_spec spec = {
		.name = "reload", .to = to, .argument = "argument", .argument_bytes = 8
	};
	uint64_t id;

	begin(f);
	assert_int_equal(tqi_command_send(&f->tx, &spec, 1, &id), 1);
	commit(f);
	return id;
}

/* G3: commands in all their states. */
static void populate_commands(struct fixture *f, struct scene *s)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	static const char *const queues[] = { "default" };
	const struct tqi_worker_request request = { .owner = &owner,
						    .name = "",
						    .queues = queues,
						    .queue_count = 1,
						    .flags = TQI_WORKER_COMMANDS };

	begin(f);
	assert_int_equal(tqi_worker_register(&f->tx, &request, &s->commanded), 0);
	commit(f);
	s->answered = send(f, TQ_COMMAND_TO_ANY);
	s->taken = send(f, TQ_COMMAND_TO_ALL);
	s->open = send(f, TQ_COMMAND_TO_ALL);
	begin(f);
	assert_true(tqi_command_take(&f->tx, s->commanded));
	assert_int_equal(
		tqi_command_ack(&f->tx, s->commanded, s->answered, TQ_ANSWER_DONE, "answer"), 0);
	assert_true(tqi_command_take(&f->tx, s->commanded));
	commit(f);
}

/* B6: a fair queue with two keys, and tasks without; one runs, and one has ended. */
static void populate_fair(struct fixture *f, struct scene *s)
{
	const struct tqi_queue_settings settings = { .policy = { .fair = 1 } };
	static const char *const keys[] = { "tenant a", "tenant b", NULL };
	struct tqi_claimed claimed;
	bool full;

	begin(f);
	assert_int_equal(tqi_queue_set(&f->tx, tqi_queue_make(&f->tx, "fair", &full), &settings),
			 0);
	commit(f);
	uint32_t worker = add_worker(f, "fair", 0);

	for (int i = 0; i < 12; i++)
		s->fair = submit(f, (struct tq_task_spec){ .queue = "fair",
							   .kind = i % 2 ? "odd" : "even",
							   .fair_key = keys[i / 2 % 3] });
	s->fair_done = claim(f, worker, &claimed);
	f->box.system.now_ns++;
	end(f, worker, &claimed, DONE);
	s->fair = submit(f, (struct tq_task_spec){ .queue = "fair", .fair_key = "tenant a" });
	s->fair_running = claim(f, worker, &claimed);
}

static void add_server(struct fixture *f, uint32_t queue, const char *name)
{
	begin(f);
	assert_int_equal(tqi_server_add(&f->tx, queue, name), 0);
	commit(f);
}

/* G1: a queue with servers at limits and without, one removed; what ran there, and runs. */
static void populate_servers(struct fixture *f, struct scene *s)
{
	struct tqi_claimed claimed;
	bool full;

	begin(f);
	uint32_t queue = tqi_queue_make(&f->tx, "served", &full);

	assert_int_equal(tqi_pool_set(&f->tx, queue, "http://*", 3), 0);
	assert_int_equal(tqi_pool_set(&f->tx, queue, "nobody", 1), 0);
	commit(f);
	uint32_t worker = add_worker(f, "served", 0);

	for (int i = 0; i < 5; i++)
		submit(f, (struct tq_task_spec){ .queue = "served" });
	add_server(f, queue, "http://a");
	s->was_at_server = claim(f, worker, &claimed);
	end(f, worker, &claimed, DONE);
	s->at_server = claim(f, worker, &claimed);
	begin(f);
	assert_int_equal(tqi_server_remove(&f->tx, queue, "http://a"), 0);
	commit(f);
	add_server(f, queue, "http://b");
	claim(f, worker, &claimed);
	add_server(f, queue, "c");
	claim(f, worker, &claimed);
}

static uint64_t depend(struct fixture *f, uint64_t on, uint64_t other)
{
	const struct tq_dependency after[] = { { .id = on }, { .id = other } };

	return submit(f, (struct tq_task_spec){ .queue = "after",
						.priority = 30, /* which is inherited */
						.after = after,
						.after_count = other ? 2 : 1 });
}

/* D1: dependencies that are open, met and refused; and dependants that are being revived. */
static void populate_after(struct fixture *f, struct scene *s)
{
	uint32_t worker = add_worker(f, "after", 0);
	struct tqi_claimed claimed;

	s->waited_for = submit(f, (struct tq_task_spec){ .queue = "after" });
	assert_int_equal(claim(f, worker, &claimed), s->waited_for);
	end(f, worker, &claimed, DONE);
	s->refuser = submit(f, (struct tq_task_spec){ .queue = "after" });
	s->refused = depend(f, s->refuser, 0);
	s->reviving = submit(f, (struct tq_task_spec){ .queue = "after" });
	depend(f, depend(f, s->reviving, 0), s->refuser);
	for (int i = 0; i < 2; i++) {
		claim(f, worker, &claimed);
		end(f, worker, &claimed, FATAL);
	}
	begin(f);
	tqi_sweep_slice(&f->tx);
	commit(f);
	begin(f);
	assert_int_equal(tqi_steer_revive(&f->tx, s->reviving), 0);
	commit(f);
	s->blocked = depend(f, s->waited_for, s->ready);
}

static void wait_on_behalf(struct fixture *f, uint32_t attempt, uint32_t ret_slots[2])
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	bool full;

	for (int i = 0; i < 2; i++) {
		begin(f);
		ret_slots[i] = tqi_sleep_enter(&f->tx, &owner, TQI_INTEREST_TASKS, 0, &full);
		tqi_behalf_enter(&f->tx, ret_slots[i], attempt);
		commit(f);
	}
}

static void populate_behalf(struct fixture *f, struct scene *s)
{
	struct tqi_claimed ended;

	wait_on_behalf(f, s->claimed.attempt, s->behalf);
	claim(f, s->worker, &ended);
	wait_on_behalf(f, ended.attempt, s->stale);
	end(f, s->worker, &ended, DONE);
}

static uint64_t make_group(struct fixture *f, bool building)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	struct tq_task_spec spec = { .queue = "grouped", .kind = "exec" };
	struct tqi_submit after = { .spec = &spec };
	const struct tqi_group_request request = { .owner = building ? &owner : NULL,
						   .label = "label",
						   .condition = building ? 0 : TQ_GROUP_OK,
						   .building = building,
						   .completion = building ? NULL : &after };
	uint64_t id, completion;

	begin(f);
	assert_int_equal(tqi_group_make(&f->tx, &request, &id, &completion), 0);
	commit(f);
	return id;
}

static uint64_t join(struct fixture *f, uint64_t group)
{
	return submit(f, (struct tq_task_spec){ .queue = "grouped", .group = group });
}

/* D5: one with an end, one that is complete, one being cancelled; and a graph half written. */
static void populate_groups(struct fixture *f, struct scene *s)
{
	struct tq_task_spec spec = { .queue = "grouped", .kind = "exec" };
	struct tqi_submit shut = { .spec = &spec, .shut = true };
	uint32_t worker = add_worker(f, "grouped", 0);
	struct tqi_claimed claimed;

	s->open_group = make_group(f, false);
	s->member_ended = join(f, s->open_group);
	assert_int_equal(claim(f, worker, &claimed), s->member_ended);
	end(f, worker, &claimed, DONE);
	s->member = join(f, s->open_group);
	s->complete_group = make_group(f, false);
	s->cancelled_group = make_group(f, false);
	for (int i = 0; i < 3; i++)
		join(f, s->cancelled_group);
	begin(f);
	assert_int_equal(tqi_group_seal(&f->tx, s->complete_group), 0);
	while (tqi_group_slice(&f->tx))
		;
	commit(f);
	s->graph = make_group(f, true);
	begin(f);
	assert_int_equal(tqi_group_cancel(&f->tx, s->cancelled_group), 0);
	assert_int_equal(tqi_graph_find(&f->tx, s->graph, &shut.group), 0);
	assert_int_equal(tqi_submit(&f->tx, &shut, &s->shut), 0);
	commit(f);
}

void populate(struct fixture *f, struct scene *s)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	static char bytes[70000];
	uint64_t random = 5;
	bool full;

	s->worker = add_worker(f, "default", SECOND);
	for (int i = 0; i < TASKS; i++) {
		uint64_t id = submit(
			f, (struct tq_task_spec){ .payload = bytes,
						  .payload_bytes = i % 40 ? tqt_below(&random, 3000)
									  : sizeof(bytes),
						  .delay_ns = i % 5 ? 0 : SECOND,
						  .attempts_max = 5,
						  .priority = (int32_t)tqt_below(&random, 9) });

		s->delayed = i % 5 ? s->delayed : id;
	}
	for (int i = 0; i < 40; i++) {
		struct tqi_verdict v = { .kind = i % 3 ? TQ_VERDICT_DONE : TQ_VERDICT_FAIL,
					 .cause = TQ_CAUSE_ERROR,
					 .result = bytes,
					 .result_bytes = 100,
					 .text = "text" };

		claim(f, s->worker, &s->claimed);
		end(f, s->worker, &s->claimed, v);
		s->finished = i % 3 ? s->claimed.id : s->finished;
	}
	s->leader = submit(f, (struct tq_task_spec){ .priority = 200,
						     .unique_key = "coalesced",
						     .unique_scope = TQ_UNIQUE_COALESCE });
	claim(f, s->worker, &s->claimed);
	s->successor = submit(f, (struct tq_task_spec){ .unique_key = "coalesced",
							.unique_scope = TQ_UNIQUE_COALESCE });
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "key %d", i);
		s->keyed = submit(f, (struct tq_task_spec){ .unique_key = name });
	}
	populate_limits(f, s);
	s->late = submit(f, (struct tq_task_spec){ .priority = 100, .deadline_ns = 1 });
	claim(f, s->worker, &s->claimed);
	f->box.system.now_ns++;
	begin(f);
	tqi_due_run(&f->tx, 8);
	commit(f);
	claim(f, s->worker, &s->claimed);
	s->dated = submit(f, (struct tq_task_spec){ .payload = bytes,
						    .payload_bytes = 60,
						    .deadline_ns = 100 * SECOND });
	s->ready = submit(f, (struct tq_task_spec){ .payload = bytes, .payload_bytes = 9 });
	begin(f);
	s->waiter = tqi_sleep_enter(&f->tx, &owner, TQI_INTEREST_TASKS, 0, &full);
	tqi_edge_add(&f->tx, s->waiter, tqi_id_index(s->claimed.id));
	tqi_edge_add(&f->tx, s->waiter, tqi_id_index(s->ready));
	commit(f);
	populate_behalf(f, s);
	populate_commands(f, s);
	populate_fair(f, s);
	populate_servers(f, s);
	populate_after(f, s);
	populate_groups(f, s);
}
