/* SPDX-License-Identifier: MIT */
/*
 * Creation and attachment, stepped: at every instruction the name either does not
 * exist, or leads to a segment that is complete; attaching changes no byte.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "taskq/taskq.h"
#include "tests/crash/step.h"
#include "scheduler/record/records.h"

#define BYTES (4ull << 20)
#define COMPARE_EVERY 500 /* instructions; comparing 4 MiB is slow */

static char path[64];

struct sweep {
	struct tqt_stepper stepper;
	uint64_t there_since; /* step at which the name appeared; 0 not yet */
	uint32_t faults;
	uint32_t looks;
	const unsigned char *before; /* the segment's bytes must stay these; NULL do not look */
	const struct tqi_segment *seg;
};

static const struct tq_open_opts opts = { .size = sizeof(opts),
					  .flags = TQ_OPEN_CREATE,
					  .max_bytes = BYTES };

static void report(void *arg, const char *text)
{
	(void)arg;
	printf("check: %s\n", text);
}

/* What another process finds. */
static void visit(struct sweep *s)
{
	struct tq *tq;
	int r = tq_open(path, NULL, &tq);

	s->looks++;
	if (r == 0) {
		const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k" };

		r = tq_check(tq, 0, report, NULL);
		if (r == 0)
			r = tq_submit(tq, &spec, NULL);
		tq_close(tq);
	}
	if (r == 0)
		return;
	s->faults++;
	printf("step %llu: %s\n", (unsigned long long)s->stepper.steps, tq_error_name(r));
}

static bool look_at_name(struct tqt_stepper *stepper)
{
	struct sweep *s = stepper->arg;

	if (s->there_since || access(path, F_OK) < 0)
		return true;
	s->there_since = stepper->steps;
	visit(s);
	return true;
}

static void creation_is_all_or_nothing(void **state)
{
	struct sweep s = { .stepper = { .look = look_at_name, .arg = &s } };
	struct tq *tq;

	(void)state;
	tqt_step_begin(&s.stepper);
	int r = tq_open(path, &opts, &tq);

	tqt_step_end();
	assert_int_equal(r, 0);
	assert_int_equal(s.faults, 0);
	assert_int_equal(s.looks, 1);
	assert_true(s.there_since && s.there_since < s.stepper.steps);
	printf("creation: %llu instructions, the name appears after %llu\n",
	       (unsigned long long)s.stepper.steps, (unsigned long long)s.there_since);
	tq_close(tq);
	assert_int_equal(tq_destroy(path, TQ_DESTROY_FORCE), 0);
}

static bool look_at_bytes(struct tqt_stepper *stepper)
{
	struct sweep *s = stepper->arg;

	if (stepper->steps % COMPARE_EVERY == 0) {
		s->looks++;
		s->faults += memcmp(s->before, s->seg->base, BYTES) != 0;
	}
	return true;
}

static void attaching_changes_nothing(void **state)
{
	struct sweep s = { .stepper = { .look = look_at_bytes, .arg = &s } };
	unsigned char *before = malloc(BYTES);
	struct tqi_segment seg;
	struct tq *tq;

	(void)state;
	assert_non_null(before);
	assert_int_equal(tq_open(path, &opts, &tq), 0);
	assert_int_equal(tqi_segment_attach(path, &tqi_schema, false, false, &seg), 0);
	memcpy(before, seg.base, BYTES);
	s.before = before;
	s.seg = &seg;
	struct tq *second;

	tqt_step_begin(&s.stepper);
	int r = tq_open(path, NULL, &second);

	tqt_step_end();
	assert_int_equal(r, 0);
	assert_int_equal(memcmp(before, seg.base, BYTES), 0);
	assert_int_equal(s.faults, 0);
	assert_true(s.looks > 0);
	printf("attachment: %llu instructions\n", (unsigned long long)s.stepper.steps);
	tq_close(second);
	tqi_segment_detach(&seg);
	tq_close(tq);
	free(before);
	assert_int_equal(tq_destroy(path, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creation_is_all_or_nothing),
		cmocka_unit_test(attaching_changes_nothing),
	};

	snprintf(path, sizeof(path), "/dev/shm/taskq-create.%d", (int)getpid());
	tqt_step_install();
	tqt_step_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
