/* SPDX-License-Identifier: MIT */
/* shm/list.h: lists with one end and with two, against an array. */
#include "shm/list.h"

#include "tests/unit/fixture.h"

#define RECORDS 12u
#define CHANGES 2000

TQI_LINKS(links_of, tqi_group_at, tqi_group, prev, next)

struct model {
	uint32_t of[RECORDS];
	uint32_t count;
};

static void model_put(struct model *m, uint32_t record, uint32_t at)
{
	memmove(m->of + at + 1, m->of + at, (m->count - at) * sizeof(m->of[0]));
	m->of[at] = record;
	m->count++;
}

static void model_remove(struct model *m, uint32_t at)
{
	m->count--;
	memmove(m->of + at, m->of + at + 1, (m->count - at) * sizeof(m->of[0]));
}

static uint32_t place_of(const struct model *m, uint32_t record)
{
	uint32_t at = 0;

	while (at < m->count && m->of[at] != record)
		at++;
	return at;
}

/* From the first to the last, and each knows its neighbours. */
static void assert_same(struct fixture *f, struct tqi_list list, const struct model *m)
{
	uint32_t record = *list.first, prev = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		assert_int_equal(record, m->of[i]);
		assert_int_equal(links_of(&f->tx, record)[0], prev);
		prev = record;
		record = links_of(&f->tx, record)[1];
	}
	assert_int_equal(record, 0);
	if (list.last)
		assert_int_equal(*list.last, prev);
}

/* In or out, in one of the ways. */
static void change(struct fixture *f, struct tqi_list list, struct model *m, uint64_t *random)
{
	uint32_t record = 1 + tqt_below(random, RECORDS), at = place_of(m, record);

	if (at < m->count) {
		tqi_list_remove(&f->tx, list, record);
		model_remove(m, at);
		return;
	}
	at = tqt_below(random, m->count + 1);
	if (at == 0) {
		tqi_list_push(&f->tx, list, record);
	} else if (at == m->count && list.last) {
		tqi_list_append(&f->tx, list, record);
	} else {
		tqi_list_put(&f->tx, list, record, m->of[at - 1], at < m->count ? m->of[at] : 0);
	}
	model_put(m, record, at);
}

static void go_through(struct fixture *f, struct tqi_list list)
{
	uint64_t random = 9;
	struct model m = { .count = 0 };

	for (uint32_t i = 0; i < CHANGES; i++) {
		const struct model before = m;

		begin(f);
		change(f, list, &m, &random);
		change(f, list, &m, &random);
		assert_same(f, list, &m);
		if (tqt_below(&random, 3)) {
			commit(f);
			continue;
		}
		tqi_tx_abort(&f->tx);
		m = before;
		tqi_tx_view(&f->tx, &f->box.seg);
		assert_same(f, list, &m);
	}
}

static void test_lists(void **state)
{
	struct fixture f;
	bool full;

	(void)state;
	open_fixture(&f, 100);
	begin(&f);
	for (uint32_t i = 1; i <= RECORDS; i++)
		assert_int_equal(tqi_table_take(&f.tx, TQI_GROUPS, &full), i);
	commit(&f);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);

	go_through(&f, (struct tqi_list){ links_of, &root->group.owned.first,
					  &root->group.owned.last });
	go_through(&f, (struct tqi_list){ links_of, &root->group.ended.first, NULL });
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lists) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
