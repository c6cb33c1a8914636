/* SPDX-License-Identifier: MIT */
/* shm/heap.c against sorting; aborts; wrap of the sequence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shm/heap.h"
#include "shm/table.h"
#include "tests/support/box.h"
#include "tests/support/image.h"

#define FAMILY TQI_FAMILY_DUE

struct fixture {
	struct tqt_box box;
	struct tqi_tx tx;
	struct tqi_heap *heap;
	uint64_t random;
};

/* Records 1 .. count exist, and so do their positions; the heap has room for them. */
static void prepare(struct fixture *f, uint32_t count)
{
	struct tqt_box_options o = { .tasks_max = 200000 };
	bool full;

	tqt_box_open(&f->box, &o);
	while (tqt_box_grow(&f->box, 8))
		;
	f->random = 7;
	for (uint32_t i = 1; i <= count; i++) {
		tqt_box_begin(&f->box, &f->tx);
		assert_int_equal(tqi_table_take(&f->tx, TQI_TASKS, &full), i);
		f->heap = &tqi_root(&f->tx)->time.due;
		assert_int_equal(tqi_heap_reserve(&f->tx, f->heap, i), 0);
		assert_false(f->tx.corrupt);
		tqi_tx_commit(&f->tx);
	}
}

static void begin(struct fixture *f)
{
	tqt_box_begin(&f->box, &f->tx);
}

static void commit(struct fixture *f)
{
	assert_false(f->tx.corrupt);
	tqi_tx_commit(&f->tx);
}

static void push(struct fixture *f, uint32_t index, int64_t key, uint64_t sequence)
{
	tqi_heap_push(&f->tx, f->heap, FAMILY,
		      (struct tqi_heap_entry){ key, tqi_tag(sequence, index) });
}

static struct tqi_heap_entry pop(struct fixture *f)
{
	struct tqi_heap_entry first = f->heap->root;

	tqi_heap_remove(&f->tx, f->heap, FAMILY, tqi_tag_index(first.tag));
	return first;
}

/* Ordered, and every record where its position says. */
static void assert_heap(struct fixture *f)
{
	for (uint32_t p = TQI_HEAP_ROOT; p < f->heap->length + TQI_HEAP_ROOT; p++) {
		struct tqi_heap_entry e = tqi_heap_at(&f->tx, f->heap, p);

		assert_int_equal(tqi_heap_position(&f->tx, FAMILY, tqi_tag_index(e.tag)), p);
		if (p > TQI_HEAP_ROOT) {
			struct tqi_heap_entry above = tqi_heap_at(&f->tx, f->heap, p / 4 + 2);

			assert_true(tqi_entry_before(&above, &e));
		}
	}
}

static int compare(const void *a, const void *b)
{
	return tqi_entry_before(a, b) ? -1 : tqi_entry_before(b, a) ? 1 : 0;
}

static void test_order_of_100000(void **state)
{
	enum {
		COUNT = 100000
	};
	struct tqi_heap_entry *sorted = calloc(COUNT, sizeof(*sorted));
	struct fixture f;

	(void)state;
	prepare(&f, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		int64_t key = (int64_t)tqt_below(&f.random, 1000) - 500;

		sorted[i] = (struct tqi_heap_entry){ key, tqi_tag(i, i + 1) };
		begin(&f);
		push(&f, i + 1, key, i);
		commit(&f);
	}
	assert_heap(&f);
	qsort(sorted, COUNT, sizeof(*sorted), compare);
	for (uint32_t i = 0; i < COUNT; i++) {
		begin(&f);
		struct tqi_heap_entry e = pop(&f);

		assert_int_equal(e.key, sorted[i].key);
		assert_int_equal(e.tag, sorted[i].tag);
		commit(&f);
	}
	assert_int_equal(f.heap->length, 0);
	begin(&f);
	tqi_heap_free(&f.tx, f.heap);
	commit(&f);
	assert_int_equal(f.heap->capacity, 0);
	free(sorted);
	tqt_box_close(&f.box);
}

static void test_sequence_wraps(void **state)
{
	const uint64_t wrap = 1ull << 40;
	struct fixture f;

	(void)state;
	prepare(&f, 8);
	begin(&f);
	for (uint32_t i = 0; i < 8; i++)
		push(&f, 8 - i, 0, wrap + 3 - i); /* newest first, across the wrap */
	for (uint32_t i = 1; i <= 8; i++)
		assert_int_equal(tqi_tag_index(pop(&f).tag), i);
	commit(&f);
	tqt_box_close(&f.box);
}

/* One random change of a heap of up to `count` records; `in` says which are there. */
static void change(struct fixture *f, bool *in, uint32_t count)
{
	uint32_t index = 1 + tqt_below(&f->random, count);
	int64_t key = tqt_below(&f->random, 50);

	if (!in[index])
		push(f, index, key, index);
	else if (tqt_below(&f->random, 2))
		tqi_heap_rekey(&f->tx, f->heap, FAMILY, index,
			       (struct tqi_heap_entry){ key, tqi_tag(index, index) });
	else
		tqi_heap_remove(&f->tx, f->heap, FAMILY, index);
}

static void note(struct fixture *f, bool *in, uint32_t count)
{
	memset(in, 0, (count + 1) * sizeof(*in));
	for (uint32_t p = TQI_HEAP_ROOT; p < f->heap->length + TQI_HEAP_ROOT; p++)
		in[tqi_tag_index(tqi_heap_at(&f->tx, f->heap, p).tag)] = true;
}

/*
 * The bug that this names: undoing a push restored the stale tag beyond the last
 * entry, and with it the position of a record that is elsewhere in the heap.
 */
static void test_abort_restores_positions(void **state)
{
	enum {
		COUNT = 60
	};
	bool in[COUNT + 1] = { false };
	struct fixture f;

	(void)state;
	prepare(&f, COUNT);
	for (int round = 0; round < 20000; round++) {
		begin(&f);
		for (uint32_t n = 1 + tqt_below(&f.random, 4); n > 0; n--) {
			note(&f, in, COUNT);
			change(&f, in, COUNT);
		}
		if (tqt_below(&f.random, 2)) {
			assert_false(f.tx.corrupt);
			tqi_tx_abort(&f.tx);
		} else {
			commit(&f);
		}
		assert_heap(&f);
	}
	tqt_box_close(&f.box);
}

static void test_no_push_without_room(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f, 2);
	begin(&f);
	for (uint32_t i = 0; i < f.heap->capacity; i++)
		push(&f, 1, 0, 1);
	assert_false(f.tx.corrupt);
	push(&f, 2, 0, 2);
	assert_true(f.tx.corrupt);
	tqi_tx_abort(&f.tx);
	begin(&f);
	tqi_heap_remove(&f.tx, f.heap, FAMILY, 1); /* is in no heap */
	assert_true(f.tx.corrupt);
	tqi_tx_abort(&f.tx);
	tqt_box_close(&f.box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_of_100000),
		cmocka_unit_test(test_sequence_wraps),
		cmocka_unit_test(test_abort_restores_positions),
		cmocka_unit_test(test_no_push_without_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
