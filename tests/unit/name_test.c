/* SPDX-License-Identifier: MIT */
/* Names of queues and kinds: found by the index, whoever knows something else of them. */
#include <errno.h>
#include <stdio.h>

#include "client/core/handle.h"
#include "tests/unit/fixture.h"

static const char *name_of(uint32_t i)
{
	static char name[TQ_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%.*s%u", (int)(i % 40),
		 "a-name-of-the-longest-sort-that-there-is.", i);
	return name;
}

/* All that there may be; -ENOMEM goes away with growth, in a transaction of its own. */
static uint32_t make(struct fixture *f, const char *name, bool *ret_full)
{
	begin(f);
	uint32_t q = tqi_queue_make(&f->tx, name, ret_full);

	conclude(f, q ? 0 : -ENOMEM);
	return q;
}

static void test_each_name_leads_to_its_record(void **state)
{
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 0);
	for (uint32_t i = 1; i < TQI_QUEUES_MAX; i++)
		assert_int_equal(make(&f, name_of(i), &full), i);
	for (uint32_t i = TQI_QUEUES_MAX; i <= TQI_QUEUES_MAX + 1; i++) {
		assert_int_equal(make(&f, "one-more", &full), 0); /* the last one is kept ... */
		assert_true(full);
		assert_int_equal(make(&f, "default", &full), TQI_QUEUES_MAX); /* ... for this */
	}
	for (uint32_t i = 1; i < TQI_QUEUES_MAX; i++)
		assert_int_equal(make(&f, name_of(i), &full), i);
	begin(&f);
	assert_int_equal(tqi_queue_find(&f.tx, "one-more"), 0);
	assert_int_equal(tqi_queue_find(&f.tx, ""), 0);
	conclude(&f, 0);
	close_fixture(&f);
}

static uint32_t make_kind(struct fixture *f, const char *name, bool *ret_full)
{
	begin(f);
	uint32_t k = tqi_kind_make(&f->tx, name, ret_full);

	conclude(f, k ? 0 : -ENOMEM);
	return k;
}

/* As many as there may be, for one worker: too many for one transaction. */
static void test_a_worker_brings_all_kinds(void **state)
{
	static char names[TQI_KINDS_MAX - 1][TQ_NAME_MAX + 1];
	const char *kinds[TQI_KINDS_MAX - 1], *queue = "q";
	const struct tqi_ident owner = { .pid = 42, .start = 1 };
	struct tqi_worker_request request = { .owner = &owner,
					      .name = "",
					      .queues = &queue,
					      .queue_count = 1,
					      .kinds = kinds,
					      .kind_count = TQI_KINDS_MAX - 1 };
	struct fixture f;
	uint32_t worker;
	bool full;

	(void)state;
	open_fixture(&f, 0);
	for (uint32_t i = 0; i < TQI_KINDS_MAX - 1; i++) {
		memcpy(names[i], name_of(i), sizeof(names[i]));
		kinds[i] = names[i];
	}
	int r = -ENOMEM;

	for (int tries = 0; r == -ENOMEM && tries < 4; tries++) {
		begin(&f);
		r = tqi_worker_register(&f.tx, &request, &worker);
		conclude(&f, r);
	}
	assert_int_equal(r, 0);
	assert_int_equal(make_kind(&f, name_of(TQI_KINDS_MAX - 2), &full), TQI_KINDS_MAX - 1);
	close_fixture(&f);
}

/* A default that is there needs no place kept for it. */
static void test_a_kind_is_kept_for_commands(void **state)
{
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 0);
	for (uint32_t i = 1; i < TQI_KINDS_MAX; i++)
		assert_int_equal(make_kind(&f, name_of(i), &full), i);
	assert_int_equal(make_kind(&f, "one-more", &full), 0);
	assert_true(full);
	assert_int_equal(make_kind(&f, "exec", &full), TQI_KINDS_MAX);
	close_fixture(&f);
	open_fixture(&f, 0);
	assert_int_equal(make_kind(&f, "exec", &full), 1);
	for (uint32_t i = 2; i <= TQI_KINDS_MAX; i++)
		assert_int_equal(make_kind(&f, name_of(i), &full), i);
	assert_int_equal(make_kind(&f, "one-more", &full), 0);
	assert_true(full);
	close_fixture(&f);
}

/* What is undone is in no index. */
static void test_a_name_that_was_undone_is_free(void **state)
{
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 0);
	begin(&f);
	assert_int_equal(tqi_queue_make(&f.tx, "first", &full), 1);
	conclude(&f, -ECANCELED);
	assert_int_equal(make(&f, "second", &full), 1);
	begin(&f);
	assert_int_equal(tqi_queue_find(&f.tx, "first"), 0);
	assert_int_equal(tqi_queue_find(&f.tx, "second"), 1);
	conclude(&f, 0);
	close_fixture(&f);
}

static int submit_hinted(struct fixture *f, const struct tq_task_spec *spec, uint32_t queue,
			 uint32_t kind, struct tqi_submit *ret_submit)
{
	uint64_t id;

	*ret_submit = (struct tqi_submit){ .spec = spec, .queue_hint = queue, .kind_hint = kind };
	begin(f);
	return conclude(f, tqi_submit(&f->tx, ret_submit, &id));
}

static void test_a_wrong_hint_does_no_harm(void **state)
{
	struct tq_task_spec spec = { .queue = "a", .kind = "x" };
	struct tqi_submit s;
	struct fixture f;

	(void)state;
	open_fixture(&f, 0);
	assert_int_equal(submit_hinted(&f, &spec, 0, 0, &s), 0);
	spec.queue = "b";
	spec.kind = "y";
	assert_int_equal(submit_hinted(&f, &spec, 1, 1, &s), 0);
	assert_int_equal(s.queue, 2);
	assert_int_equal(s.kind, 2);
	assert_int_equal(submit_hinted(&f, &spec, 2, 2, &s), 0);
	assert_int_equal(s.queue, 2);
	assert_int_equal(submit_hinted(&f, &spec, UINT16_MAX, UINT32_MAX, &s), 0);
	assert_int_equal(s.queue, 2);
	assert_int_equal(s.kind, 2);
	spec.queue = "b/";
	assert_int_equal(submit_hinted(&f, &spec, 2, 2, &s), -EINVAL);
	spec.queue = "b";
	spec.kind = "";
	assert_int_equal(submit_hinted(&f, &spec, 2, 2, &s), -EINVAL);
	close_fixture(&f);
}

/* A process that has used all names knows most of them, and none wrongly. */
static void test_names_that_were_used_are_known(void **state)
{
	static char text[TQI_QUEUES_MAX + 1][TQ_NAME_MAX + 1];
	struct tqi_names *names = calloc(1, sizeof(*names));
	uint32_t known = 0;

	(void)state;
	assert_non_null(names);
	for (uint32_t i = 1; i <= TQI_QUEUES_MAX; i++) {
		snprintf(text[i], sizeof(text[i]), "%s", name_of(i));
		assert_int_equal(tqi_names_find(names, TQI_QUEUES, text[i]), 0);
		tqi_names_add(names, TQI_QUEUES, text[i], i);
		assert_int_equal(tqi_names_find(names, TQI_QUEUES, text[i]), i);
		assert_int_equal(tqi_names_find(names, TQI_KINDS, text[i]), 0);
	}
	for (uint32_t i = 1; i <= TQI_QUEUES_MAX; i++) {
		uint32_t found = tqi_names_find(names, TQI_QUEUES, text[i]);

		assert_true(found == 0 || found == i);
		known += found == i;
	}
	assert_true(known > TQI_QUEUES_MAX * 8 / 10);
	free(names);
}

/* A text is known by its address, until it has been two names. */
static void test_a_text_with_several_names_is_read(void **state)
{
	struct tqi_names *names = calloc(1, sizeof(*names));
	static char text[] = "a";
	uint64_t word;

	(void)state;
	assert_non_null(names);
	tqi_names_add(names, TQI_QUEUES, text, 1);
	assert_int_equal(tqi_names_find(names, TQI_QUEUES, text), 1);
	assert_int_equal(tqi_names_find(names, TQI_KINDS, text), 0);
	text[0] = 'b';
	assert_int_equal(tqi_names_find(names, TQI_QUEUES, text), 1); /* a hint, and wrong */
	tqi_names_add(names, TQI_QUEUES, text, 2);
	assert_int_equal(tqi_names_find(names, TQI_QUEUES, text), 2);
	text[0] = 'a';
	assert_int_equal(tqi_names_find(names, TQI_QUEUES, text), 1);
	const struct tqi_word64 *place = tqi_names_text(names, TQI_QUEUES, text, &word);

	assert_int_equal(tqi_load_relaxed64(place), word);
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_name_leads_to_its_record),
		cmocka_unit_test(test_a_worker_brings_all_kinds),
		cmocka_unit_test(test_a_kind_is_kept_for_commands),
		cmocka_unit_test(test_a_name_that_was_undone_is_free),
		cmocka_unit_test(test_a_wrong_hint_does_no_harm),
		cmocka_unit_test(test_names_that_were_used_are_known),
		cmocka_unit_test(test_a_text_with_several_names_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
