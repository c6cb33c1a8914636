/* SPDX-License-Identifier: MIT */
/* shm/: spans, blocks, tables, extents, things in flight. */
#include "tests/unit/fixture.h"

#include <errno.h>

#include "shm/extent.h"
#include "shm/inflight.h"
#include "shm/pool.h"
#include "shm/span.h"

#define BLOCKS 400

static const struct tqi_ident self = { .pid = 1, .tid = 1, .start = 1 };

struct held {
	uint32_t ref;
	uint64_t bytes;
	unsigned char mark;
};

static unsigned char *bytes_of(struct fixture *f, uint32_t ref)
{
	return f->box.seg.base + ((uint64_t)ref << TQI_UNIT_SHIFT);
}

static void take(struct fixture *f, struct held *h, uint64_t bytes, unsigned char mark)
{
	begin(f);
	h->ref = tqi_block_take(&f->tx, bytes);
	commit(f);
	h->bytes = bytes;
	h->mark = mark;
	if (h->ref)
		memset(bytes_of(f, h->ref), mark, bytes);
}

static void give(struct fixture *f, struct held *h)
{
	begin(f);
	tqi_block_give(&f->tx, h->ref);
	commit(f);
	h->ref = 0;
}

static void assert_whole(struct fixture *f, const struct held *h)
{
	for (uint64_t i = 0; i < h->bytes; i++)
		assert_int_equal(bytes_of(f, h->ref)[i], h->mark);
}

/* Each block is marked; another one over it would show. */
static void test_blocks_never_overlap(void **state)
{
	static struct held held[BLOCKS];
	uint64_t random = 3;
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	while (tqt_box_grow(&f.box, 1))
		;
	uint32_t spans_free = tqi_segment_core(&f.box.seg)->spans_free;

	memset(held, 0, sizeof(held));
	for (uint32_t round = 0; round < 20000; round++) {
		struct held *h = &held[tqt_below(&random, BLOCKS)];

		if (h->ref) {
			assert_whole(&f, h);
			give(&f, h);
		} else {
			uint64_t bytes = 1 + tqt_below(&random, 64u << tqt_below(&random, 12));

			take(&f, h, bytes, (unsigned char)round);
		}
	}
	for (uint32_t i = 0; i < BLOCKS; i++)
		if (held[i].ref)
			give(&f, &held[i]);
	/* One empty span a class may stay open. */
	assert_true(tqi_segment_core(&f.box.seg)->spans_free + TQI_SMALL_CLASSES >= spans_free);
	close_fixture(&f);
}

static void test_block_sizes(void **state)
{
	(void)state;
	assert_int_equal(tqi_block_bytes(1), 64);
	assert_int_equal(tqi_block_bytes(64), 64);
	assert_int_equal(tqi_block_bytes(65), 128);
	assert_int_equal(tqi_block_bytes(32768), 32768);
	assert_int_equal(tqi_block_bytes(32769), 65536);
	assert_int_equal(tqi_block_bytes(65537), 131072);
}

static void test_no_memory_is_no_block(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	assert_int_equal(tqi_block_take(&f.tx, 15u << 20), 0);
	assert_false(f.tx.corrupt);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

static void test_double_free_is_corrupt(void **state)
{
	struct held h;
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	take(&f, &h, 100, 1);
	uint32_t ref = h.ref;

	give(&f, &h);
	begin(&f);
	tqi_block_give(&f.tx, ref);
	tqi_tx_commit(&f.tx);
	assert_true(f.tx.corrupt);
	close_fixture(&f);
}

static void test_table_is_lifo_and_grows(void **state)
{
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 700);
	for (uint32_t i = 1; i <= 700; i++) {
		begin(&f);
		assert_int_equal(tqi_table_take(&f.tx, TQI_TASKS, &full), i);
		commit(&f);
	}
	begin(&f);
	assert_int_equal(tqi_table_take(&f.tx, TQI_TASKS, &full), 0);
	assert_true(full);
	tqi_table_give(&f.tx, TQI_TASKS, 5);
	tqi_table_give(&f.tx, TQI_TASKS, 600);
	commit(&f);
	begin(&f);
	assert_int_equal(tqi_table_take(&f.tx, TQI_TASKS, &full), 600);
	assert_int_equal(tqi_table_take(&f.tx, TQI_TASKS, &full), 5);
	assert_int_equal(f.tx.core->tables[TQI_TASKS].live, 700);
	tqi_tx_abort(&f.tx);
	assert_int_equal(f.tx.core->tables[TQI_TASKS].live, 698);
	close_fixture(&f);
}

static void test_bad_reference_is_corrupt(void **state)
{
	static const uint32_t bad[] = { 0, 701, UINT32_MAX };
	struct fixture f;

	(void)state;
	open_fixture(&f, 700);
	for (uint32_t i = 0; i < 3; i++) {
		begin(&f);
		assert_ptr_equal(tqi_table_at(&f.tx, TQI_TASKS, bad[i]),
				 f.box.seg.base + f.box.seg.geometry.scratch);
		assert_true(f.tx.corrupt);
		tqi_tx_abort(&f.tx);
		assert_null(tqi_table_peek(&f.box.seg, TQI_TASKS, bad[i]));
	}
	close_fixture(&f);
}

static void test_runs_of_spans(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	uint32_t free = f.tx.core->spans_free;
	uint32_t a = tqi_span_take(&f.tx, 5, TQI_SPAN_RUN),
		 b = tqi_span_take(&f.tx, 1, TQI_SPAN_RUN);

	assert_int_not_equal(a, 0);
	assert_true(b < a || b >= a + 5);
	for (uint32_t s = a; s < a + 5; s++)
		assert_false(tqi_span_is_free(&f.tx, s));
	assert_int_equal(f.tx.core->spans_free, free - 6);
	tqi_span_give(&f.tx, a, 5);
	tqi_span_give(&f.tx, b, 1);
	assert_int_equal(f.tx.core->spans_free, free);
	assert_int_equal(tqi_span_take(&f.tx, free + 1, TQI_SPAN_RUN), 0);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

static void test_extents_come_and_go(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	uint32_t here = tqi_segment_core(&f.box.seg)->extents_reserved;

	assert_true(tqt_box_grow(&f.box, 3));
	assert_int_equal(tqi_segment_core(&f.box.seg)->extents_reserved, here + 3);
	while (tqt_box_punch(&f.box))
		;
	/* What is in use, and two free ones, stay. */
	assert_int_equal(tqi_segment_core(&f.box.seg)->spans_free, 2 * TQI_SPANS_PER_EXTENT);
	assert_false(tqt_box_grow(&f.box, 1000));
	close_fixture(&f);
}

/* The owner dies between the two holds of growing. */
static void test_growth_of_the_dead_is_undone(void **state)
{
	struct tqi_inflight seen;
	struct fixture f;
	uint32_t first;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	uint64_t token = tqi_extent_grow_begin(&f.tx, 2, &self, &first);

	assert_int_not_equal(token, 0);
	commit(&f);
	begin(&f);
	assert_true(tqi_inflight_peek(&f.tx, 0, &seen));
	assert_int_equal(seen.first, first);
	tqi_inflight_undo(&f.tx, 0, &seen);
	assert_null(tqi_inflight_get(&f.tx, token));
	commit(&f);
	begin(&f);
	tqi_extent_grow_end(&f.tx, token, true); /* it was not dead after all: too late */
	commit(&f);
	assert_int_equal(f.box.seg.base[f.box.seg.geometry.extents + first], TQI_EXTENT_HOLE);
	close_fixture(&f);
}

static void test_stale_token(void **state)
{
	struct tqi_inflight seen;
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	uint32_t block = tqi_block_take(&f.tx, 64);
	uint64_t token = tqi_inflight_take(&f.tx, TQI_INFLIGHT_BLOCK, block, 1, &self);

	commit(&f);
	begin(&f);
	tqi_inflight_peek(&f.tx, 0, &seen);
	tqi_inflight_undo(&f.tx, 0, &seen);
	commit(&f);
	begin(&f);
	block = tqi_block_take(&f.tx, 64);
	assert_int_not_equal(tqi_inflight_take(&f.tx, TQI_INFLIGHT_BLOCK, block, 1, &self), token);
	assert_null(tqi_inflight_get(&f.tx, token));
	tqi_inflight_undo(&f.tx, 0, &seen); /* another entry by now */
	assert_true(tqi_inflight_peek(&f.tx, 0, &seen));
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

static void test_inflight_table_is_full(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	for (uint32_t i = 0; i < TQI_INFLIGHT_MAX; i++)
		assert_int_not_equal(tqi_inflight_take(&f.tx, TQI_INFLIGHT_BLOCK, 1, 1, &self), 0);
	assert_int_equal(tqi_inflight_take(&f.tx, TQI_INFLIGHT_BLOCK, 1, 1, &self), 0);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

/* Until it is refused, in memory that does not grow; free spans that it leaves. */
static uint32_t fill_up(struct fixture *f, uint32_t flags)
{
	static const unsigned char payload[3000];
	struct tq_task_spec spec = { .payload = payload, .payload_bytes = sizeof(payload) };
	uint64_t id;
	int r;

	spec.flags = flags;
	do
		r = try_submit(f, spec, &id);
	while (r == 0);
	assert_int_equal(r, -ENOMEM);
	return tqi_segment_core(&f->box.seg)->spans_free;
}

static uint32_t take_ring(struct fixture *f, uint32_t bytes)
{
	const char *queue = "default";
	const struct tqi_worker_request request = {
		.owner = &self,
		.name = "w",
		.queues = &queue,
		.queue_count = 1,
		.output_bytes = bytes,
	};
	uint32_t w = 0;

	begin(f);
	return conclude(f, tqi_worker_register(&f->tx, &request, &w)) == 0 ? w : 0;
}

static void test_r1_submits_leave_room_for_those_who_drain(void **state)
{
	struct tqi_claimed claimed;
	struct fixture f;

	(void)state;
	open_fixture(&f, 10000);
	assert_int_equal(fill_up(&f, 0), TQI_SPANS_KEPT_LEAST);
	assert_int_equal(take_ring(&f, 2 * TQI_OUTPUT_LEAST), 0);
	assert_int_not_equal(take_ring(&f, TQI_OUTPUT_LEAST), 0);
	assert_int_equal(fill_up(&f, TQ_TASK_RESERVE), TQI_SPANS_KEPT_LEAST / 2);
	assert_int_not_equal(take_ring(&f, TQI_OUTPUT_LEAST), 0);
	assert_true(claim(&f, take_ring(&f, 0), &claimed) > 0);
	assert_sound(&f);
	close_fixture(&f);
}

static void test_r1_what_is_kept_grows_with_the_segment(void **state)
{
	struct tqt_box_options o = { .max_bytes = 256ull << 20, .tasks_max = 200000 };
	struct fixture f;

	(void)state;
	tqt_box_open(&f.box, &o);
	assert_true(tqt_box_grow(&f.box, 99));
	const uint32_t extents = tqi_segment_core(&f.box.seg)->extents_reserved;

	assert_int_equal(fill_up(&f, 0), extents * TQI_SPANS_PER_EXTENT / TQI_SPANS_KEPT_SHARE);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_never_overlap),
		cmocka_unit_test(test_block_sizes),
		cmocka_unit_test(test_no_memory_is_no_block),
		cmocka_unit_test(test_double_free_is_corrupt),
		cmocka_unit_test(test_table_is_lifo_and_grows),
		cmocka_unit_test(test_bad_reference_is_corrupt),
		cmocka_unit_test(test_runs_of_spans),
		cmocka_unit_test(test_extents_come_and_go),
		cmocka_unit_test(test_growth_of_the_dead_is_undone),
		cmocka_unit_test(test_stale_token),
		cmocka_unit_test(test_inflight_table_is_full),
		cmocka_unit_test(test_r1_submits_leave_room_for_those_who_drain),
		cmocka_unit_test(test_r1_what_is_kept_grows_with_the_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
