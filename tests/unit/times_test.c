/* SPDX-License-Identifier: MIT */
/* Histograms: their buckets, what is sampled and what is not, who shares one (H2). */
#include "tests/unit/fixture.h"

#include "scheduler/order/fair.h"
#include "taskq/times.h"

#define MS 1000000ull
#define SAMPLES 5000u

static const struct tqi_times *times_of(struct fixture *f, uint64_t id)
{
	struct tqi_tx tx;

	tqi_tx_view(&tx, &f->box.seg);
	return tqi_times_at(&tx, tqi_stream_of(&tx, task_of(f, id))->times);
}

static uint64_t count(const struct tqi_histogram *h)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < TQI_HISTOGRAM_BUCKETS; i++)
		n += h->buckets[i];
	return n;
}

/* One sample more, of this value, and nothing else. */
static void assert_sampled(const struct tqi_histogram *h, uint64_t samples, uint64_t ns)
{
	assert_int_equal(count(h), samples);
	assert_true(h->buckets[tqi_histogram_bucket(ns)] > 0);
	assert_true(h->longest_ns >= ns);
}

static void pass(struct fixture *f, uint64_t ns)
{
	f->box.system.now_ns += ns;
}

/* V1: buckets follow each other without a gap, and none is wider than an eighth. */
static void h2_buckets_are_an_eighth_wide(void **state)
{
	(void)state;
	assert_int_equal(tq_histogram_bound(1), 1024);
	assert_int_equal(tq_histogram_bound(TQ_HISTOGRAM_BUCKETS), UINT64_MAX);
	for (uint32_t i = 0; i + 1 < TQI_HISTOGRAM_BUCKETS; i++) {
		const uint64_t from = tqi_histogram_least(i), to = tqi_histogram_least(i + 1);

		assert_int_equal(tqi_histogram_bucket(from), i);
		assert_int_equal(tqi_histogram_bucket(to - 1), i);
		assert_int_equal(tq_histogram_bound(i), from);
		if (i)
			assert_true((to - from) * 8 <= from);
	}
	assert_true(tqi_histogram_least(TQI_HISTOGRAM_BUCKETS - 1) > 11 * 86400 * SECOND);
	assert_int_equal(tqi_histogram_bucket(UINT64_MAX), TQI_HISTOGRAM_BUCKETS - 1);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A percentile is never below the true one, and at most an eighth above. */
static void h2_percentiles_are_an_eighth_off_at_most(void **state)
{
	static uint64_t samples[SAMPLES];
	struct tqi_histogram stored = { .longest_ns = 0 };
	struct tq_histogram h = { .count = SAMPLES };
	uint64_t seed = 7;

	(void)state;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		samples[i] = 1024 + (tqt_random(&seed) >> (20 + tqt_below(&seed, 30)));
		tqi_histogram_add(&stored, samples[i]);
	}
	qsort(samples, SAMPLES, sizeof(samples[0]), by_value);
	h.longest_ns = stored.longest_ns;
	memcpy(h.buckets, stored.buckets, sizeof(h.buckets));
	for (uint32_t permille = 1; permille <= 1000; permille++) {
		const uint64_t is = samples[(SAMPLES * permille + 999) / 1000 - 1];
		const uint64_t said = tq_histogram_at(&h, permille);

		assert_true(said >= is && said <= is + is / 8);
	}
	assert_int_equal(tq_histogram_at(&h, 1000), samples[SAMPLES - 1]);
	assert_int_equal(tq_histogram_at(&(struct tq_histogram){ .count = 0 }, 500), 0);
}

static void h2_what_came_since(void **state)
{
	struct tqi_histogram stored = { .longest_ns = 0 };
	struct tq_histogram before = { .count = 1 }, now;

	(void)state;
	tqi_histogram_add(&stored, 9 * SECOND);
	before.longest_ns = stored.longest_ns;
	before.sum_ns = stored.sum_ns;
	memcpy(before.buckets, stored.buckets, sizeof(before.buckets));
	now = before;
	tq_histogram_since(&now, &before);
	assert_int_equal(now.count, 0);
	assert_int_equal(now.longest_ns, 0);
	now = before;
	now.sum_ns += 2 * MS;
	now.buckets[tqi_histogram_bucket(2 * MS)]++;
	tq_histogram_since(&now, &before);
	assert_int_equal(now.count, 1);
	assert_int_equal(now.sum_ns, 2 * MS);
	assert_true(now.longest_ns >= 2 * MS && now.longest_ns <= 2 * MS + 2 * MS / 8);
	assert_true(tq_histogram_at(&now, 500) >= 2 * MS);
}

/* Wait at each start, run at each end, life at the last. */
static void h2_samples_of_two_attempts(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .attempts_max = 2, .backoff_ns = 1 });
	const struct tqi_times *t = times_of(&s.f, id);

	assert_int_equal(count(&t->of[TQI_TIMED_WAIT]), 0);
	pass(&s.f, 3 * MS);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	assert_sampled(&t->of[TQI_TIMED_WAIT], 1, 3 * MS);
	pass(&s.f, 40 * MS);
	assert_int_equal(end(&s.f, s.worker, &s.c, FAIL), 0);
	assert_sampled(&t->of[TQI_TIMED_RUN], 1, 40 * MS);
	assert_int_equal(count(&t->of[TQI_TIMED_LIFE]), 0);
	pass(&s.f, SECOND);
	begin(&s.f);
	tqi_tend(&s.f.tx);
	commit(&s.f);
	pass(&s.f, 5 * MS);
	assert_int_equal(claim(&s.f, s.worker, &s.c), id);
	assert_sampled(&t->of[TQI_TIMED_WAIT], 2, 5 * MS);
	pass(&s.f, 2 * SECOND);
	assert_int_equal(end(&s.f, s.worker, &s.c, DONE), 0);
	assert_sampled(&t->of[TQI_TIMED_RUN], 2, 2 * SECOND);
	assert_sampled(&t->of[TQI_TIMED_LIFE], 1, 3 * SECOND + 48 * MS);
	assert_int_equal(t->of[TQI_TIMED_LIFE].sum_ns, 3 * SECOND + 48 * MS);
	assert_int_equal(t->of[TQI_TIMED_LIFE].longest_ns, 3 * SECOND + 48 * MS);
	assert_sound(&s.f);
	close_fixture(&s.f);
}

/* V2: a start that is undone was none; a task that is cancelled has no end to end. */
static void h2_undone_and_cancelled_count_nothing(void **state)
{
	struct one_worker s;

	(void)state;
	open_one_worker(&s);
	uint64_t id = submit(&s.f, (struct tq_task_spec){ .label = "" });
	const struct tqi_times *t = times_of(&s.f, id);

	begin(&s.f);
	assert_int_equal(tqi_claim(&s.f.tx, s.worker, &s.c), 0);
	tqi_tx_abort(&s.f.tx);
	begin(&s.f);
	commit(&s.f);
	assert_int_equal(count(&t->of[TQI_TIMED_WAIT]), 0);
	begin(&s.f);
	tqi_task_cancel_waiting(&s.f.tx, tqi_id_index(id));
	commit(&s.f);
	assert_int_equal(count(&t->of[TQI_TIMED_LIFE]), 0);
	close_fixture(&s.f);
}

/* RC-13: bands and tenants of a queue and kind share their record, kinds and queues do not. */
static void h2_tasks_of_a_kind_share(void **state)
{
	const struct tqi_queue_settings fair = { .policy = { .fair = 1 } };
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 100);
	begin(&f);
	const struct tqi_queue_settings aged = { .policy = { .ageing = { 1, 2, 3, 4 } } };
	uint32_t queue = tqi_queue_make(&f.tx, "default", &full);

	assert_int_equal(tqi_queue_set(&f.tx, queue, &aged), 0);
	assert_int_equal(tqi_queue_set(&f.tx, tqi_queue_make(&f.tx, "fair", &full), &fair), 0);
	commit(&f);
	uint64_t low = submit(&f, (struct tq_task_spec){ .priority = -1 });
	uint64_t high = submit(&f, (struct tq_task_spec){ .priority = 1000 });
	uint64_t other = submit(&f, (struct tq_task_spec){ .kind = "other" });
	uint64_t a = submit(&f, (struct tq_task_spec){ .queue = "fair", .fair_key = "a" });
	uint64_t b = submit(&f, (struct tq_task_spec){ .queue = "fair", .fair_key = "b" });

	assert_int_not_equal(task_of(&f, low)->lane, task_of(&f, high)->lane);
	assert_ptr_equal(times_of(&f, low), times_of(&f, high));
	assert_ptr_not_equal(times_of(&f, low), times_of(&f, other));
	assert_int_not_equal(task_of(&f, a)->lane, task_of(&f, b)->lane);
	assert_ptr_equal(times_of(&f, a), times_of(&f, b));
	assert_int_equal(tqi_segment_core(&f.box.seg)->tables[TQI_TIMES].live, 3);
	assert_sound(&f);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(h2_buckets_are_an_eighth_wide),
		cmocka_unit_test(h2_percentiles_are_an_eighth_off_at_most),
		cmocka_unit_test(h2_what_came_since),
		cmocka_unit_test(h2_samples_of_two_attempts),
		cmocka_unit_test(h2_undone_and_cancelled_count_nothing),
		cmocka_unit_test(h2_tasks_of_a_kind_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
