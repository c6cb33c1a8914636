/* SPDX-License-Identifier: MIT */
/* shm/hash.c: grows a bucket at a time, finds what is in it, and nothing else. */
#include "tests/unit/fixture.h"

#include "shm/hash.h"
#include "shm/table.h"

#define MANY 40000 /* beyond the near chunks */
#define SPLIT_ENTRIES 100 /* journal entries of one addition: no long holds */

struct scene {
	struct fixture f;
	uint32_t records[MANY];
	uint32_t most; /* journal entries of one addition */
};

static struct tqi_hash_index *index_of(struct scene *s)
{
	return &((struct tqi_root *)tqi_segment_root(&s->f.box.seg))->named.keys;
}

static void open_scene(struct scene *s)
{
	struct tqt_box_options o = { .max_bytes = 64ull << 20, .tasks_max = MANY + 10 };

	tqt_box_open(&s->f.box, &o);
	assert_true(tqt_box_grow(&s->f.box, 40));
	s->most = 0;
}

static uint64_t hash_of(uint32_t i)
{
	return tqi_hash_bytes(42, &i, sizeof(i));
}

static void add(struct scene *s, uint32_t i, uint64_t hash)
{
	bool full;

	begin(&s->f);
	s->records[i] = tqi_table_take(&s->f.tx, TQI_KEYS, &full);
	assert_int_not_equal(s->records[i], 0);
	assert_int_equal(tqi_hash_add(&s->f.tx, index_of(s), TQI_KEYS, s->records[i], hash), 0);
	s->most = s->f.tx.undo_count > s->most ? s->f.tx.undo_count : s->most;
	commit(&s->f);
}

static void take_out(struct scene *s, uint32_t i)
{
	begin(&s->f);
	tqi_hash_remove(&s->f.tx, index_of(s), TQI_KEYS, s->records[i]);
	tqi_table_give(&s->f.tx, TQI_KEYS, s->records[i]);
	commit(&s->f);
}

static bool has(struct scene *s, uint32_t i, uint64_t hash)
{
	uint32_t k;

	begin(&s->f);
	k = tqi_hash_first(&s->f.tx, index_of(s), TQI_KEYS, hash);
	while (k && k != s->records[i])
		k = tqi_hash_next(&s->f.tx, index_of(s), TQI_KEYS, k);
	commit(&s->f);
	return k != 0;
}

/* A7: ten thousand keys and more; each addition costs about as much as the first. */
static void test_grows_by_one_bucket(void **state)
{
	static struct scene s;

	(void)state;
	open_scene(&s);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_false(has(&s, i, hash_of(i)));
		add(&s, i, hash_of(i));
		assert_true(index_of(&s)->buckets >= index_of(&s)->count);
		assert_true(index_of(&s)->buckets <= (i < 16 ? 16 : i + 1));
	}
	print_message("%u journal entries at most\n", s.most);
	assert_true(s.most < SPLIT_ENTRIES);
	for (uint32_t i = 0; i < MANY; i += 7)
		assert_true(has(&s, i, hash_of(i)));
	for (uint32_t i = 0; i < MANY; i += 2)
		take_out(&s, i);
	for (uint32_t i = 0; i < MANY; i += 7)
		assert_int_equal(has(&s, i, hash_of(i)), i % 2);
	assert_int_equal(index_of(&s)->count, MANY / 2);
	close_fixture(&s.f);
}

/* Equal hashes: all are found, and each can be taken out. */
static void test_equal_hashes(void **state)
{
	static struct scene s;

	(void)state;
	open_scene(&s);
	for (uint32_t i = 0; i < 40; i++)
		add(&s, i, 7);
	for (uint32_t i = 0; i < 40; i++)
		assert_true(has(&s, i, 7));
	for (uint32_t i = 0; i < 40; i += 3)
		take_out(&s, i);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(has(&s, i, 7), i % 3 != 0);
	close_fixture(&s.f);
}

/* TX-6: nothing stays of an addition that is undone, split and new chunk included. */
static void test_undone(void **state)
{
	static struct scene s;
	struct tqt_image image = { NULL, 0 };
	char why[160];
	bool full;

	(void)state;
	open_scene(&s);
	for (uint32_t i = 0; i < 70; i++) {
		tqt_image_take(&image, &s.f.box.seg);
		begin(&s.f);
		uint32_t k = tqi_table_take(&s.f.tx, TQI_KEYS, &full);

		assert_int_equal(tqi_hash_add(&s.f.tx, index_of(&s), TQI_KEYS, k, hash_of(i)), 0);
		tqi_tx_abort(&s.f.tx);
		if (!tqt_image_same(&image, &s.f.box.seg, why))
			fail_msg("addition %u: %s", i, why);
		add(&s, i, hash_of(i));
	}
	tqt_image_free(&image);
	close_fixture(&s.f);
}

/* Bytes of all lengths, each bit of them, and the key make a difference. */
static void test_hash_of_bytes(void **state)
{
	unsigned char bytes[20] = { 0 };
	uint64_t seen[400], n = 0;

	(void)state;
	for (uint32_t length = 0; length <= sizeof(bytes); length++)
		seen[n++] = tqi_hash_bytes(1, bytes, length);
	for (uint32_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		seen[n++] = tqi_hash_bytes(1, bytes, sizeof(bytes));
		seen[n++] = tqi_hash_bytes(2, bytes, sizeof(bytes));
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (uint64_t i = 0; i < n; i++)
		for (uint64_t j = 0; j < i; j++)
			assert_true((uint32_t)seen[i] != (uint32_t)seen[j]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_by_one_bucket),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_undone),
		cmocka_unit_test(test_hash_of_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
