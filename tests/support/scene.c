/* SPDX-License-Identifier: MIT */
/* A segment with one of everything. */
#include "tests/support/scene.h"

#include <stdbool.h>
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
	if (!spec.kind)
		spec.kind = "k";
	spec.payload = "a payload";
	spec.payload_bytes = 9;
	spec.label = "a label";
	tqt_require(tq_submit(s->tq, &spec, &id) == 0);
	return id;
}

/* A fair queue with servers, a kind with defaults, commands, and a task that has ended. */
static void add_rooms(struct tqt_scene *s)
{
	const struct tq_queue_opts fair = { .size = sizeof(fair), .fair = 1, .max_wait_ns = 1000 };
	const struct tq_command_spec order = {
		.size = sizeof(order), .name = "go", .to = TQ_COMMAND_TO_ALL, .queue = "default"
	};

	const struct tq_kind_opts often = { .size = sizeof(often), .attempts_max = 3 };

	tqt_require(tq_queue_set(s->tq, "served", &fair) == 0);
	tqt_require(tq_kind_set(s->tq, "other", &often) == 0);
	tqt_require(tq_server_add(s->tq, "served", "http://a") == 0);
	tqt_require(tq_server_limit_set(s->tq, "served", "http://*", 2) == 0);
	s->ids[8] = submit(s, (struct tq_task_spec){ .queue = "served", .fair_key = "b" });
	s->ids[9] = submit(s, (struct tq_task_spec){ .queue = "served", .kind = "other" });
	tqt_require(tq_task_steer(s->tq, s->ids[9], TQ_TASK_ACTION_CANCEL) == 0);
	tqt_require(tq_command_send(s->tq, &order, &s->command) == 1);
}

/* One of everything. */
static void set_scene(struct tqt_scene *s)
{
	const struct tq_worker_opts worker = { .size = sizeof(worker),
					       .flags = TQ_WORKER_COMMANDS };
	const struct tq_task_spec plain = { .size = sizeof(plain), .kind = "k", .queue = "others" };
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
	add_rooms(s);
	tqt_require(tq_schedule_create(s->tq, &every, &s->schedule) == 0);
}

#define WALK(info_type, call, sound)                                                               \
	do {                                                                                       \
		info_type infos[SOME];                                                             \
		uint64_t cursor = 0;                                                               \
		int calls = 0, n;                                                                  \
                                                                                                   \
		memset(infos, 0, sizeof(infos));                                                   \
		for (int i = 0; i < SOME; i++)                                                     \
			infos[i].size = sizeof(infos[i]);                                          \
		while ((n = (call)) > 0 && calls++ < CALLS_MAX)                                    \
			for (int i = 0; i < n; i++)                                                \
				tqt_require(sound);                                                \
		tqt_require(calls < CALLS_MAX);                                                    \
	} while (0)

#define IS_TEXT(field) (memchr((field), 0, sizeof(field)) != NULL)

static bool is_task(const struct tq_task_info *i)
{
	return i->state < TQ_STATE_COUNT && i->limit_count <= TQ_LIMITS_MAX && IS_TEXT(i->queue) &&
	       IS_TEXT(i->kind) && IS_TEXT(i->label) && IS_TEXT(i->error_text) &&
	       IS_TEXT(i->progress_text) && IS_TEXT(i->unique_key) && IS_TEXT(i->fair_key) &&
	       IS_TEXT(i->server);
}

static void look_at_lists(const struct tqt_scene *s)
{
	struct tq *tq = s->tq;
	uint64_t left = 0;

	WALK(struct tq_task_info, tq_task_list(tq, NULL, &cursor, infos, SOME), is_task(&infos[i]));
	WALK(struct tq_task_info, tq_group_members(tq, s->group, &cursor, infos, SOME),
	     is_task(&infos[i]));
	WALK(struct tq_task_brief, tq_task_scan(tq, TQ_SCAN_LABELS, &cursor, &left, infos, SOME),
	     infos[i].state < TQ_STATE_COUNT && IS_TEXT(infos[i].queue) && IS_TEXT(infos[i].label));
	WALK(struct tq_queue_info, tq_queue_list(tq, TQ_QUEUE_BY_KIND, &cursor, infos, SOME),
	     IS_TEXT(infos[i].name) && IS_TEXT(infos[i].kind));
	WALK(struct tq_kind_info, tq_kind_list(tq, &cursor, infos, SOME), IS_TEXT(infos[i].name));
	WALK(struct tq_worker_info, tq_worker_list(tq, &cursor, infos, SOME),
	     IS_TEXT(infos[i].name));
	WALK(struct tq_group_info, tq_group_list(tq, &cursor, infos, SOME),
	     IS_TEXT(infos[i].label));
	WALK(struct tq_limit_info, tq_limit_list(tq, &cursor, infos, SOME), IS_TEXT(infos[i].key));
	WALK(struct tq_server_info, tq_server_list(tq, NULL, &cursor, infos, SOME),
	     IS_TEXT(infos[i].name) && IS_TEXT(infos[i].queue));
	WALK(struct tq_server_limit_info, tq_server_limit_list(tq, NULL, &cursor, infos, SOME),
	     IS_TEXT(infos[i].pattern));
	WALK(struct tq_schedule_info, tq_schedule_list(tq, &cursor, infos, SOME),
	     IS_TEXT(infos[i].queue));
	WALK(struct tq_command_info, tq_command_list(tq, &cursor, infos, SOME),
	     IS_TEXT(infos[i].name));
	WALK(struct tq_command_answer, tq_command_answers(tq, s->command, &cursor, infos, SOME),
	     infos[i].state < TQ_ANSWER_COUNT);
}

static void look_at_edges(struct tq *tq, uint64_t id)
{
	struct tq_dependency_info infos[SOME];
	int n = tq_task_dependencies(tq, id, infos, SOME);

	for (int i = 0; i < n; i++)
		tqt_require(infos[i].kind <= TQ_AFTER_FAIL && infos[i].state < TQ_STATE_COUNT);
	n = tq_task_dependants(tq, id, infos, SOME);
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

	if (tq_task_info(tq, id, &info) == 0)
		tqt_require(is_task(&info));
	if (tq_task_why(tq, id, &why) == 0)
		tqt_require(why.holder_state < TQ_STATE_COUNT && IS_TEXT(why.limit) &&
			    why.before <= TQ_WHY_BEFORE_MAX);
	(void)!tq_task_payload(tq, id, text, sizeof(text), &bytes);
	(void)!tq_task_result(tq, id, text, sizeof(text), &bytes);
	(void)!tq_output_read(tq, id, 0, text, sizeof(text), 0, &offset, &attempt);
	(void)!tq_task_history(tq, id, attempts);
	look_at_edges(tq, id);
}

void tqt_scene_look(const struct tqt_scene *s)
{
	struct tq_segment_info segment = { .size = sizeof(segment) };
	struct tq_group_info group = { .size = sizeof(group) };
	struct tq_queue_info queue = { .size = sizeof(queue) };
	struct tq_schedule_info schedule = { .size = sizeof(schedule) };
	struct tq_limit_info limit = { .size = sizeof(limit) };
	struct tq_times times = { .size = sizeof(times) };
	char payload[64];
	uint64_t bytes;

	for (uint32_t i = 0; i < sizeof(s->ids) / sizeof(s->ids[0]); i++)
		look_at_task(s->tq, s->ids[i]);
	look_at_lists(s);
	(void)!tq_segment_info(s->tq, &segment);
	(void)!tq_group_info(s->tq, s->group, &group);
	(void)!tq_queue_info(s->tq, "served", &queue);
	(void)!tq_schedule_info(s->tq, s->schedule, &schedule);
	(void)!tq_schedule_payload(s->tq, s->schedule, payload, sizeof(payload), &bytes);
	(void)!tq_limit_info(s->tq, "key", &limit);
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
