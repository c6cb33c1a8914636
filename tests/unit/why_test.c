/* SPDX-License-Identifier: MIT */
/* client/observe/why_before.c against counting one by one. */
#include "tests/unit/fixture.h"

#include "client/observe/why_before.h"

#define TASKS 15000 /* so that a lane's heap has near and far chunks */
#define ASKED 60

/* As the claim orders them. */
static bool is_before(const struct tqi_task *a, const struct tqi_task *b)
{
	return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

static uint32_t count_before(struct fixture *f, const struct tqi_task *task)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i <= TASKS; i++) {
		const struct tqi_task *t = tqi_table_peek(&f->box.seg, TQI_TASKS, i);

		count += t->queue == task->queue && is_before(t, task);
	}
	return count < TQ_WHY_BEFORE_MAX ? count : TQ_WHY_BEFORE_MAX;
}

static void test_h4_before(void **state)
{
	struct fixture f;
	uint64_t random = 11;

	struct tqt_box_options o = { .tasks_max = TASKS };

	(void)state;
	tqt_box_open(&f.box, &o);
	while (tqt_box_grow(&f.box, 8))
		;
	for (uint32_t i = 0; i < TASKS; i++)
		submit(&f, (struct tq_task_spec){ .queue = i % 5 ? "default" : "other",
						  .kind = i % 3 ? "exec" : "other",
						  .priority = (int32_t)tqt_below(&random, 4000) });
	for (uint32_t i = 0; i < ASKED; i++) {
		uint32_t index = 1 + tqt_below(&random, TASKS);
		const struct tqi_task *task = tqi_table_peek(&f.box.seg, TQI_TASKS, index);

		assert_int_equal(tqi_why_before(&f.box.seg, index, task), count_before(&f, task));
	}
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_h4_before) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
