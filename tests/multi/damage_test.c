/* SPDX-License-Identifier: MIT */
/*
 * I4: damaged records crash and hang nobody.  Every byte of a record of each table, and of
 * the root, is flipped once, and every observer looks at what comes of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/core/handle.h"
#include "taskq/taskq.h"

#define SOME 16		/* infos at a time */
#define CALLS_MAX 10000 /* of one list: nothing here is so long, so it would go on for ever */

struct scene {
	struct tq *tq;
	struct tq_worker *worker;
	uint64_t ids[8];
	uint64_t group;
	uint64_t schedule;
};

static uint64_t submit(struct scene *s, struct tq_task_spec spec)
{
	uint64_t id;

	spec.size = sizeof(spec);
	spec.payload = "a payload";
	spec.payload_bytes = 9;
	spec.label = "a label";
	assert_int_equal(tq_submit(s->tq, &spec, &id), 0);
	return id;
}

/* One of everything. */
static void set_scene(struct scene *s)
{
	const struct tq_worker_opts worker = { .size = sizeof(worker) };
	const struct tq_task_spec plain = { .size = sizeof(plain), .queue = "others" };
	const struct tq_schedule_spec every = { .size = sizeof(every),
						.task = &plain,
						.every_ns = 3600000000000 };
	const char *const limits[] = { "key" };
	struct tq_claim claim = { .size = sizeof(claim) };

	assert_int_equal(tq_worker_open(s->tq, &worker, &s->worker), 0);
	assert_int_equal(tq_group_new(s->tq, NULL, &s->group), 0);
	s->ids[0] = submit(s, (struct tq_task_spec){ .priority = 100 });
	assert_int_equal(tq_claim(s->worker, 0, &claim), 0);
	for (int i = 1; i < 4; i++)
		s->ids[i] = submit(s, (struct tq_task_spec){ .group = s->group });
	const struct tq_dependency after[] = { { .id = s->ids[1] },
					       { .id = s->ids[2], .kind = TQ_AFTER_ANY } };

	s->ids[4] = submit(s, (struct tq_task_spec){ .after = after, .after_count = 2 });
	s->ids[5] = submit(s, (struct tq_task_spec){ .limits = limits, .limit_count = 1 });
	s->ids[6] = submit(s, (struct tq_task_spec){ .unique_key = "alone", .fair_key = "tenant" });
	s->ids[7] = submit(s, (struct tq_task_spec){ .delay_ns = 3600000000000 });
	assert_int_equal(tq_schedule_create(s->tq, &every, &s->schedule), 0);
}

static void end_of(uint32_t calls)
{
	assert_true(calls < CALLS_MAX);
}

#define WALK(info_type, call)                                                                      \
	do {                                                                                       \
		info_type infos[SOME];                                                             \
		uint64_t cursor = 0;                                                               \
		uint32_t calls = 0;                                                                \
                                                                                                   \
		memset(infos, 0, sizeof(infos));                                                   \
		for (int i = 0; i < SOME; i++)                                                     \
			infos[i].size = sizeof(infos[i]);                                          \
		while ((call) > 0)                                                                 \
			end_of(++calls);                                                           \
	} while (0)

static void look_at_lists(const struct scene *s)
{
	struct tq *tq = s->tq;

	WALK(struct tq_task_info, tq_task_list(tq, NULL, &cursor, infos, SOME));
	WALK(struct tq_queue_info, tq_queue_list(tq, 0, &cursor, infos, SOME));
	WALK(struct tq_worker_info, tq_worker_list(tq, &cursor, infos, SOME));
	WALK(struct tq_group_info, tq_group_list(tq, &cursor, infos, SOME));
	WALK(struct tq_task_info, tq_group_members(tq, s->group, &cursor, infos, SOME));
	WALK(struct tq_limit_info, tq_limit_list(tq, &cursor, infos, SOME));
	WALK(struct tq_schedule_info, tq_schedule_list(tq, &cursor, infos, SOME));
	WALK(struct tq_command_info, tq_command_list(tq, &cursor, infos, SOME));
}

static void look_at_edges(struct tq *tq, uint64_t id)
{
	struct tq_dependency_info infos[SOME];
	int n = tq_dependencies(tq, id, infos, SOME);

	for (int i = 0; i < n; i++)
		assert_true(infos[i].kind <= TQ_AFTER_FAIL && infos[i].state < TQ_STATE_COUNT);
	n = tq_dependants(tq, id, infos, SOME);
	for (int i = 0; i < n; i++)
		assert_true(infos[i].kind <= TQ_AFTER_FAIL && infos[i].state < TQ_STATE_COUNT);
}

static void look_at_task(struct tq *tq, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	struct tq_why why = { .size = sizeof(why) };
	struct tq_attempt_info attempts[TQ_HISTORY_MAX];
	uint64_t bytes, offset;
	uint32_t attempt = 0;
	char text[64];

	(void)!tq_info(tq, id, &info);
	(void)!tq_why(tq, id, &why);
	(void)!tq_payload(tq, id, text, sizeof(text), &bytes);
	(void)!tq_result(tq, id, text, sizeof(text), &bytes);
	(void)!tq_output(tq, id, 0, text, sizeof(text), 0, &offset, &attempt);
	(void)!tq_history(tq, id, attempts);
	look_at_edges(tq, id);
}

static void look(const struct scene *s)
{
	struct tq_segment_info segment = { .size = sizeof(segment) };
	struct tq_times times = { .size = sizeof(times) };

	for (uint32_t i = 0; i < sizeof(s->ids) / sizeof(s->ids[0]); i++)
		look_at_task(s->tq, s->ids[i]);
	look_at_lists(s);
	(void)!tq_segment_info(s->tq, &segment);
	(void)!tq_times_read(s->tq, "default", NULL, &times);
}

static void flip(const struct scene *s, unsigned char *byte, unsigned char by)
{
	*byte ^= by;
	look(s);
	*byte ^= by;
}

static void flip_each(const struct scene *s, unsigned char *bytes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		flip(s, &bytes[i], 0xff);
		if (i % sizeof(uint32_t) == 0)
			flip(s, &bytes[i], 0x01); /* a reference to its neighbour, or to itself */
	}
}

/* Rare settings of the group's members: its chain is there. */
static void flip_extra(const struct scene *s, uint64_t id)
{
	const struct tqi_task *t = tqi_table_peek(&s->tq->seg, TQI_TASKS, tqi_id_index(id));
	unsigned char *block = s->tq->seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT);

	assert_true(t->flags & TQI_TASK_EXTRA);
	flip_each(s, block + tqi_extra_at(t->payload_bytes, t->label_bytes),
		  sizeof(struct tqi_extra));
}

static void fault_d2_d3_every_byte_of_every_record(void **state)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 16u << 20 };
	struct scene s = { 0 };
	char name[TQ_NAME_MAX + 1];

	(void)state;
	snprintf(name, sizeof(name), "test-damage-%d", (int)getpid());
	assert_int_equal(tq_open(name, &opts, &s.tq), 0);
	set_scene(&s);
	for (uint32_t t = 0; t < s.tq->seg.schema->table_count; t++) {
		unsigned char *record = tqi_table_peek(&s.tq->seg, t, 1);

		if (record)
			flip_each(&s, record, s.tq->seg.geometry.tables[t].record_bytes);
	}
	flip_extra(&s, s.ids[2]);
	flip_extra(&s, s.ids[4]);
	flip_each(&s, s.tq->seg.base + s.tq->seg.geometry.root, s.tq->seg.schema->root_bytes);
	assert_int_equal(tq_check(s.tq, TQ_CHECK_EXACT, NULL, NULL), 0);
	tq_worker_close(s.worker);
	tq_close(s.tq);
	assert_int_equal(tq_destroy(name, TQ_DESTROY_FORCE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_d2_d3_every_byte_of_every_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
