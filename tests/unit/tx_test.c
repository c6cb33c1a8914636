/* SPDX-License-Identifier: MIT */
/* Transactions: undone at every length of the journal, and what they free (TX-1 - TX-6). */
#include "tests/unit/fixture.h"

#include "shm/lock.h"
#include "shm/pool.h"

typedef void change(struct fixture *f);

struct scene {
	uint32_t worker;
	uint32_t waiter;
	struct tqi_claimed claimed;
	uint64_t ready, finished, delayed;
};

static struct scene scene;

static void change_submit(struct fixture *f)
{
	const struct tq_task_spec spec = { .queue = "default",
					   .kind = "exec",
					   .payload = "some bytes",
					   .payload_bytes = 10,
					   .delay_ns = 5 };
	struct tqi_submit s = { .spec = &spec };
	uint64_t id;

	(void)tqi_submit(&f->tx, &s, &id);
}

static void change_submit_new_queue(struct fixture *f)
{
	const struct tq_task_spec spec = { .queue = "other", .kind = "kind" };
	struct tqi_submit s = { .spec = &spec };
	uint64_t id;

	(void)tqi_submit(&f->tx, &s, &id);
}

static void change_claim(struct fixture *f)
{
	struct tqi_claimed claimed;

	(void)tqi_claim(&f->tx, scene.worker, &claimed);
}

static void change_end(struct fixture *f)
{
	static const char result[100] = "a result that takes over the block of the one before";
	const struct tqi_verdict verdict = { .kind = TQ_VERDICT_FAIL,
					     .cause = TQ_CAUSE_ERROR,
					     .result = result,
					     .result_bytes = sizeof(result),
					     .text = "another text" };

	(void)tqi_end(&f->tx, scene.worker, scene.claimed.attempt, scene.claimed.id,
		      task_of(f, scene.claimed.id)->epoch, &verdict);
}

/* The bug that this names: the claim filled the record of the attempt just ended. */
static void change_next(struct fixture *f)
{
	change_end(f);
	change_claim(f);
}

static void change_cancel(struct fixture *f)
{
	(void)tqi_steer_cancel(&f->tx, scene.ready);
}

static void change_retry(struct fixture *f)
{
	(void)tqi_steer_retry(&f->tx, scene.finished);
}

static void change_forget(struct fixture *f)
{
	(void)tqi_steer_forget(&f->tx, scene.finished);
}

static void change_update(struct fixture *f)
{
	const struct tq_task_update update = { .fields = TQ_UPDATE_PRIORITY | TQ_UPDATE_DELAY,
					       .priority = 9,
					       .delay_ns = 77 };

	(void)tqi_steer_update(&f->tx, scene.ready, &update);
}

static void change_due(struct fixture *f)
{
	f->tx.now_ns += 1000 * SECOND;
	(void)tqi_due_run(&f->tx, 8);
}

/* The bug that this names: a submit filled the record and the blocks just evicted. */
static void change_evict_and_submit(struct fixture *f)
{
	(void)tqi_task_evict(&f->tx, 1);
	change_submit(f);
}

static void change_death(struct fixture *f)
{
	const struct tqi_death death = { .cause = TQ_CAUSE_SIGNAL, .cause_arg = 11 };

	(void)tqi_worker_dead(
		&f->tx, scene.worker,
		((struct tqi_worker *)tqi_table_peek(&f->box.seg, TQI_WORKERS, scene.worker))
			->generation,
		&death);
}

static void change_leave(struct fixture *f)
{
	(void)tqi_edge_drop(&f->tx, scene.waiter, 8);
	tqi_sleep_leave(&f->tx, scene.waiter);
}

static void change_purge(struct fixture *f)
{
	(void)tqi_queue_purge(&f->tx, 1);
	(void)tqi_sweep_slice(&f->tx);
}

static const struct {
	const char *name;
	change *run;
} changes[] = {
	{ "submit", change_submit },
	{ "submit to a new queue", change_submit_new_queue },
	{ "claim", change_claim },
	{ "end", change_end },
	{ "next", change_next },
	{ "cancel", change_cancel },
	{ "retry", change_retry },
	{ "forget", change_forget },
	{ "update", change_update },
	{ "due", change_due },
	{ "evict and submit", change_evict_and_submit },
	{ "death", change_death },
	{ "leave", change_leave },
	{ "purge", change_purge },
};

/* Something of everything: waiting, running for the second time, failed, watched. */
static void set_scene(struct fixture *f)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	const struct tqi_verdict fail = { .kind = TQ_VERDICT_FAIL,
					  .cause = TQ_CAUSE_ERROR,
					  .result = "first result",
					  .result_bytes = 12,
					  .text = "first text" };
	struct tqi_claimed c;
	bool full;

	scene.worker = add_worker(f, "default", 0);
	scene.finished = submit(f, (struct tq_task_spec){ .payload = "p", .payload_bytes = 1 });
	claim(f, scene.worker, &c);
	end(f, scene.worker, &c, fail);
	submit(f, (struct tq_task_spec){ .attempts_max = 3, .backoff_ns = 1, .priority = 5 });
	claim(f, scene.worker, &c);
	end(f, scene.worker, &c, fail);
	f->box.system.now_ns += SECOND;
	begin(f);
	tqi_due_run(&f->tx, 8);
	commit(f);
	claim(f, scene.worker, &scene.claimed);
	scene.delayed = submit(f, (struct tq_task_spec){ .delay_ns = 900 * SECOND });
	scene.ready = submit(f, (struct tq_task_spec){ .payload = "q", .payload_bytes = 1 });
	for (int i = 0; i < 6; i++)
		submit(f, (struct tq_task_spec){ .priority = i % 3 });
	begin(f);
	const uint32_t block = tqi_block_take(&f->tx, sizeof("some bytes"));

	commit(f);
	begin(f);
	tqi_block_give(&f->tx, block); /* the one that the next payload is put into */
	commit(f);
	begin(f);
	scene.waiter = tqi_sleep_enter(&f->tx, &owner, TQI_INTEREST_TASKS, 0, &full);
	tqi_edge_add(&f->tx, scene.waiter, tqi_id_index(scene.claimed.id));
	tqi_edge_add(&f->tx, scene.waiter, tqi_id_index(scene.ready));
	commit(f);
}

/* Leave room for `left` entries; those before restore a word as it is. */
static void fill_journal(struct fixture *f, uint32_t left)
{
	uint64_t where = tqi_offset(&f->tx, &f->tx.core->spans_hint) << 8 | TQI_UNDO_32;

	while (f->tx.undo_count < TQI_JOURNAL_MAX - left)
		assert_true(tqi_undo_push(&f->tx, where, f->tx.core->spans_hint));
}

/*
 * With room for only k entries an operation stores exactly what a process killed
 * after its k-th store had stored, and must be corrupt, and wholly undone.
 */
static void test_undone_at_every_length(void **state)
{
	struct tqt_image image = { NULL, 0 };
	struct fixture f;
	char why[160];

	(void)state;
	open_fixture(&f, 500);
	set_scene(&f);
	tqt_image_take(&image, &f.box.seg);
	for (uint32_t c = 0; c < sizeof(changes) / sizeof(changes[0]); c++) {
		bool corrupt = true;

		for (uint32_t k = 0; corrupt && k < TQI_JOURNAL_MAX; k++) {
			begin(&f);
			fill_journal(&f, k);
			changes[c].run(&f);
			corrupt = f.tx.corrupt;
			tqi_tx_abort(&f.tx);
			if (!tqt_image_same(&image, &f.box.seg, why))
				fail_msg("%s cut after %u entries: %s", changes[c].name, k, why);
		}
		assert_false(corrupt);
	}
	tqt_image_free(&image);
	close_fixture(&f);
}

/* TX-2: a rescuer that died after undoing an entry, before counting it, is rescued. */
static void test_rollback_is_idempotent(void **state)
{
	struct tqt_image before = { NULL, 0 }, half = { NULL, 0 };
	struct fixture f;
	char why[160];

	(void)state;
	open_fixture(&f, 500);
	set_scene(&f);
	tqt_image_take(&before, &f.box.seg);
	for (uint32_t c = 0; c < sizeof(changes) / sizeof(changes[0]); c++) {
		begin(&f);
		changes[c].run(&f);
		const uint64_t version = tqi_load_relaxed64(&f.tx.core->version);
		uint32_t n = f.tx.undo_count;

		tqt_image_take(&half, &f.box.seg);
		for (uint32_t k = 0; k <= n; k++) {
			tqt_image_restore(&half, &f.box.seg);
			assert_int_equal(tqi_tx_rollback(&f.box.seg), 0);
			if (k == 0)
				continue;
			/* Undone already, but not counted. */
			f.tx.core->undo = tqi_undo_mark(version) + k * TQI_UNDO_ONE;
			tqi_store_relaxed64(&f.tx.core->version, version);
			assert_int_equal(tqi_tx_rollback(&f.box.seg), 0);
			if (!tqt_image_same(&before, &f.box.seg, why))
				fail_msg("%s, rescued at %u: %s", changes[c].name, k, why);
		}
		if (f.tx.taken)
			pthread_mutex_unlock(f.tx.taken);
	}
	tqt_image_free(&before);
	tqt_image_free(&half);
	close_fixture(&f);
}

static void test_widths(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	uint64_t id = submit(&f, (struct tq_task_spec){ .priority = -3 });
	struct tqi_task *t = task_of(&f, id);
	struct tqi_task before = *t;

	begin(&f);
	TQI_SET(&f.tx, t->cause, 0xff);
	TQI_SET(&f.tx, t->failures, 0xffff);
	TQI_SET(&f.tx, t->epoch, 0xffffffffu);
	TQI_SET(&f.tx, t->cpu_ns, UINT64_MAX);
	TQI_SET(&f.tx, t->priority, INT32_MIN);
	TQI_SET(&f.tx, t->key, INT64_MIN);
	TQI_ADD(&f.tx, t->crashes, -1);
	assert_int_equal(t->crashes, 0xffff);
	assert_int_equal(t->state, before.state); /* neighbours are untouched */
	assert_int_equal(t->losses, before.losses);
	tqi_tx_abort(&f.tx);
	assert_memory_equal(t, &before, sizeof(before));
	close_fixture(&f);
}

/* A batch: every width, one count for all; without room for all of it none is stored. */
static void test_batches(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	struct tqi_task *t = task_of(&f, submit(&f, (struct tq_task_spec){ .priority = -3 }));
	const struct tqi_task before = *t;

	begin(&f);
	uint32_t count = f.tx.undo_count;

	TQI_SETS(&f.tx, t, (cause, 0xff), (failures, 0xffff), (epoch, UINT32_MAX),
		 (cpu_ns, UINT64_MAX), (priority, INT32_MIN), (key, INT64_MIN),
		 (crashes, t->failures - 1));
	assert_int_equal(f.tx.undo_count, count + 7);
	assert_int_equal(f.tx.core->undo_count, count + 7);
	assert_int_equal(t->priority, INT32_MIN);
	assert_int_equal(t->crashes, 0xfffe);	  /* of what the stores before it have left */
	assert_int_equal(t->state, before.state); /* neighbours are untouched */
	assert_int_equal(t->losses, before.losses);
	tqi_tx_abort(&f.tx);
	assert_memory_equal(t, &before, sizeof(before));
	begin(&f);
	fill_journal(&f, 1);
	TQI_SETS(&f.tx, t, (epoch, 7), (cpu_ns, 7));
	assert_true(f.tx.corrupt);
	assert_memory_equal(t, &before, sizeof(before));
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

static void test_freed_comes_after_commit(void **state)
{
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	uint32_t block = tqi_block_take(&f.tx, 64);
	uint32_t edge = tqi_table_take(&f.tx, TQI_EDGES, &full);

	commit(&f);
	begin(&f);
	tqi_block_give(&f.tx, block);
	tqi_table_give(&f.tx, TQI_EDGES, edge);
	assert_int_not_equal(tqi_block_take(&f.tx, 64), block);
	assert_int_not_equal(tqi_table_take(&f.tx, TQI_EDGES, &full), edge);
	commit(&f);
	begin(&f);
	assert_int_equal(tqi_block_take(&f.tx, 64), block);
	assert_int_equal(tqi_table_take(&f.tx, TQI_EDGES, &full), edge);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

static void test_bad_free_is_corrupt(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	tqi_block_give(&f.tx, UINT32_MAX);
	tqi_tx_commit(&f.tx);
	assert_true(f.tx.corrupt);
	assert_int_equal(f.tx.core->undo_count, 0);
	begin(&f);
	for (uint32_t i = 0; i <= TQI_GIVES_MAX; i++)
		tqi_table_give(&f.tx, TQI_EDGES, 1);
	assert_true(f.tx.corrupt);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

static void test_time_never_goes_back(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	tqi_tx_abort(&f.tx);
	uint64_t now = f.tx.now_ns;

	f.box.system.now_ns = 1;
	begin(&f);
	assert_int_equal(f.tx.now_ns, now);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

static void test_version_is_odd_inside(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	uint64_t inside = tqi_load_relaxed64(&f.tx.core->version);

	assert_int_equal(inside & 1, 1);
	commit(&f);
	assert_int_equal(tqi_load_relaxed64(&f.tx.core->version), inside + 1);
	close_fixture(&f);
}

/* Nothing is undone, and the lock refuses everybody but a repair. */
static void refuse_journal(struct fixture *f, const char *what)
{
	const struct tqi_thread self = { .pid = 1, .tid = 1, .start = 1 };
	struct tqt_image image = { NULL, 0 };
	const uint64_t undo = f->tx.core->undo;
	char why[160];

	tqt_image_take(&image, &f->box.seg);
	assert_int_equal(tqi_tx_rollback(&f->box.seg), TQ_ECORRUPT);
	if (!tqt_image_same(&image, &f->box.seg, why) || f->tx.core->undo != undo)
		fail_msg("%s: %s", what, why);
	assert_int_equal(tqi_lock(&f->box.seg, &self, 0), TQ_ECORRUPT);
	assert_int_equal(tqi_lock_damaged(&f->box.seg, &self, 0), 0);
	tqi_unlock(&f->box.seg);
	tqt_image_free(&image);
}

static void push_good(struct fixture *f)
{
	tqi_undo_push(&f->tx, tqi_offset(&f->tx, &f->tx.core->spans_hint) << 8 | TQI_UNDO_32,
		      f->tx.core->spans_hint + 1);
}

/* Behind a good one, which is not undone either. */
static void try_entry(struct fixture *f, const char *what, uint64_t where)
{
	begin(f);
	push_good(f);
	tqi_undo_push(&f->tx, where, 0x5a5a5a5a5a5a5a5a);
	refuse_journal(f, what);
	f->tx.core->undo = 0;
}

#define OF_CORE(field) (core + offsetof(struct tqi_core, field))

/* TX-7: entries that no transaction writes. */
static void a_damaged_entry_is_not_undone(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	set_scene(&f);
	const struct tqi_geometry *g = &f.box.seg.geometry;
	const uint64_t core = g->core, bytes = g->max_bytes;
	const struct {
		const char *what;
		uint64_t where;
	} entries[] = {
		{ "the magic", 0 << 8 | TQI_UNDO_64 },
		{ "the lock", core << 8 | TQI_UNDO_32 },
		{ "its list pointer", (core + 24) << 8 | TQI_UNDO_64 },
		{ "the version", OF_CORE(version) << 8 | TQI_UNDO_64 },
		{ "its own length", OF_CORE(undo) << 8 | TQI_UNDO_64 },
		{ "the journal", g->journal << 8 | TQI_UNDO_64 },
		{ "16 bits at an odd place", (g->root + 1) << 8 | TQI_UNDO_16 },
		{ "32 bits misaligned", (g->root + 2) << 8 | TQI_UNDO_32 },
		{ "64 bits misaligned", (g->root + 4) << 8 | TQI_UNDO_64 },
		{ "behind the end", bytes << 8 | TQI_UNDO_8 },
		{ "over the end", (bytes - 4) << 8 | TQI_UNDO_64 },
		{ "where no memory is", (bytes - 8) << 8 | TQI_UNDO_64 },
		{ "no code", g->root << 8 | TQI_UNDO_CODES },
		{ "no heap family", g->root << 8 | (TQI_UNDO_CODES - 1) },
		{ "a tag without its key", 3 << 8 | TQI_UNDO_TAG },
		{ "a wait word",
		  tqi_offset(&f.tx, &tqi_waiter_at(&f.tx, scene.waiter)->word) << 8 | TQI_UNDO_32 },
		{ "the mutex of a life",
		  tqi_offset(&f.tx, &tqi_worker_at(&f.tx, scene.worker)->life) << 8 | TQI_UNDO_64 },
	};

	for (uint32_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		try_entry(&f, entries[i].what, entries[i].where);
	begin(&f);
	assert_int_equal(tqi_tx_rollback(&f.box.seg), 0);
	close_fixture(&f);
}

/* TX-7: lengths that no transaction stores, also where all of the journal's slots make sense. */
static void a_damaged_length_is_not_believed(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, 500);
	begin(&f);
	fill_journal(&f, 0);
	const uint64_t version = tqi_load_relaxed64(&f.tx.core->version);
	const uint64_t mark = tqi_undo_mark(version), full = f.tx.core->undo;
	const uint64_t lengths[] = {
		UINT64_MAX,
		UINT32_MAX,
		mark,
		full + TQI_UNDO_ONE,
		full - 1,
		full - UINT16_MAX - 1,
		full ^ 1ull << 32,
		tqi_undo_mark(version - 2) + 5 * TQI_UNDO_ONE,
	};

	assert_int_equal(full, mark + TQI_JOURNAL_MAX * TQI_UNDO_ONE);
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		f.tx.core->undo = lengths[i];
		refuse_journal(&f, "a length");
	}
	f.tx.core->undo = full;
	tqi_store_relaxed64(&f.tx.core->version, version + 1);
	refuse_journal(&f, "a journal between two transactions");
	tqi_store_relaxed64(&f.tx.core->version, version);
	assert_int_equal(tqi_tx_rollback(&f.box.seg), 0);
	close_fixture(&f);
}

/* Much more than a journal has room for: a heap of a million. */
static void reserve_a_million(struct fixture *f)
{
	struct tqi_heap *due = &tqi_root(&f->tx)->time.due;

	assert_int_equal(tqi_heap_reserve(&f->tx, due, 1u << 20), 0);
	assert_in_range(due->capacity, 1u << 20, 2u << 20);
	tqi_heap_free(&f->tx, due);
}

/* TX-8: what it stores stays, what it frees is free, and it notes nothing. */
static void test_plain(void **state)
{
	const struct tqt_box_options o = { .max_bytes = 64ull << 20, .tasks_max = 500 };
	struct fixture f;

	(void)state;
	tqt_box_open(&f.box, &o);
	assert_true(tqt_box_grow(&f.box, 40));
	struct tqi_task *t = task_of(&f, submit(&f, (struct tq_task_spec){ .priority = -3 }));

	begin(&f);
	struct tqi_root *root = tqi_root(&f.tx);
	const struct tqi_heap due = root->time.due;
	const uint32_t spans = f.tx.core->spans_free;

	tqi_tx_plain_begin(&f.tx);
	root->time.due = (struct tqi_heap){ 0 };
	reserve_a_million(&f);
	root->time.due = due;
	assert_in_range(f.tx.core->spans_free, spans - TQI_ARRAY_CHUNKS, spans);
	for (uint32_t i = 0; i < 2 * TQI_JOURNAL_MAX; i++) {
		TQI_SET(&f.tx, t->cause, (uint8_t)i);
		TQI_SET(&f.tx, t->failures, (uint16_t)i);
		TQI_SET(&f.tx, t->cpu_ns, (uint64_t)i);
		TQI_SETS(&f.tx, t, (epoch, i), (key, i), (crashes, t->failures));
		tqi_tx_wake(&f.tx, i);
	}
	assert_false(f.tx.corrupt);
	assert_true(f.tx.core->undo == TQI_UNDO_OFF);
	assert_int_equal(tqi_tx_rollback(&f.box.seg), TQ_ECORRUPT);
	tqi_tx_plain_end(&f.tx);
	assert_int_equal(f.tx.core->undo, 0);
	assert_int_equal(f.tx.wake_count + f.tx.give_count + f.tx.sample_count, 0);
	TQI_SET(&f.tx, t->epoch, 7u); /* journalled again */
	tqi_tx_abort(&f.tx);
	assert_int_equal(t->epoch, 2 * TQI_JOURNAL_MAX - 1);
	assert_int_equal(t->crashes, 2 * TQI_JOURNAL_MAX - 1);
	tqt_box_close(&f.box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_undone_at_every_length),
		cmocka_unit_test(test_rollback_is_idempotent),
		{ "fault.D1: a damaged entry is not undone", a_damaged_entry_is_not_undone, NULL,
		  NULL, NULL },
		{ "fault.D1: a damaged length is not believed", a_damaged_length_is_not_believed,
		  NULL, NULL, NULL },
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_freed_comes_after_commit),
		cmocka_unit_test(test_bad_free_is_corrupt),
		cmocka_unit_test(test_time_never_goes_back),
		cmocka_unit_test(test_version_is_odd_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
