/* SPDX-License-Identifier: MIT */
/* A segment with one of everything. */
#include "tests/support/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOME 16		/* infos at a time */
#define CALLS_MAX 10000 /* of one list: nothing here is so long, so it would go on for ever */

void tqt_require_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}

static uint64_t submit(struct tqt_scene *s, struct tq_task_spec spec)
{
	uint64_t id;

	spec.size = sizeof(spec);
	spec.payload = "a payload";
	spec.payload_bytes = 9;
	spec.label = "a label";
	tqt_require(tq_submit(s->tq, &spec, &id) == 0);
	return id;
}

/* One of everything. */
static void set_scene(struct tqt_scene *s)
{
	const struct tq_worker_opts worker = { .size = sizeof(worker) };
	const struct tq_task_spec plain = { .size = sizeof(plain), .queue = "others" };
	const struct tq_schedule_spec every = { .size = sizeof(every),
						.task = &plain,
						.every_ns = 3600000000000 };
	const char *const limits[] = { "key" };
	struct tq_claim claim = { .size = sizeof(claim) };

	tqt_require(tq_worker_open(s->tq, &worker, &s->worker) == 0);
	tqt_require(tq_group_new(s->tq, NULL, &s->group) == 0);
	s->ids[0] = submit(s, (struct tq_task_spec){ .priority = 100 });
	tqt_require(tq_claim(s->worker, 0, &claim) == 0);
	for (int i = 1; i < 4; i++)
		s->ids[i] = submit(s, (struct tq_task_spec){ .group = s->group });
	const struct tq_dependency after[] = { { .id = s->ids[1] },
					       { .id = s->ids[2], .kind = TQ_AFTER_ANY } };

	s->ids[4] = submit(s, (struct tq_task_spec){ .after = after, .after_count = 2 });
	s->ids[5] = submit(s, (struct tq_task_spec){ .limits = limits, .limit_count = 1 });
	s->ids[6] = submit(s, (struct tq_task_spec){ .unique_key = "alone", .fair_key = "tenant" });
	s->ids[7] = submit(s, (struct tq_task_spec){ .delay_ns = 3600000000000 });
	tqt_require(tq_schedule_create(s->tq, &every, &s->schedule) == 0);
}

static void end_of(uint32_t calls)
{
	tqt_require(calls < CALLS_MAX);
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

static void look_at_lists(const struct tqt_scene *s)
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
		tqt_require(infos[i].kind <= TQ_AFTER_FAIL && infos[i].state < TQ_STATE_COUNT);
	n = tq_dependants(tq, id, infos, SOME);
	for (int i = 0; i < n; i++)
		tqt_require(infos[i].kind <= TQ_AFTER_FAIL && infos[i].state < TQ_STATE_COUNT);
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

void tqt_scene_look(const struct tqt_scene *s)
{
	struct tq_segment_info segment = { .size = sizeof(segment) };
	struct tq_times times = { .size = sizeof(times) };

	for (uint32_t i = 0; i < sizeof(s->ids) / sizeof(s->ids[0]); i++)
		look_at_task(s->tq, s->ids[i]);
	look_at_lists(s);
	(void)!tq_segment_info(s->tq, &segment);
	(void)!tq_times_read(s->tq, "default", NULL, &times);
}

void tqt_scene_open(struct tqt_scene *s, const char *name)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = 16u << 20 };

	*s = (struct tqt_scene){ .tq = NULL };
	snprintf(s->name, sizeof(s->name), "test-%s-%d", name, (int)getpid());
	tqt_require(tq_open(s->name, &opts, &s->tq) == 0);
	set_scene(s);
}

void tqt_scene_close(struct tqt_scene *s)
{
	tq_worker_close(s->worker);
	tq_close(s->tq);
	tqt_require(tq_destroy(s->name, TQ_DESTROY_FORCE) == 0);
}
