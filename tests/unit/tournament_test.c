/* SPDX-License-Identifier: MIT */
/* Many kinds in one queue: the best among those that a worker serves, by key and by age. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>

#include "scheduler/order/tournament.h"
#include "scheduler/rebuild/rebuild.h"

#define KINDS 250
#define STEPS 3000

/* Of each kind the priorities that wait, as sets: one task of each priority at most. */
struct many {
	struct fixture f;
	uint64_t random;
	uint32_t worker[3];	 /* of any kind, of every second one, of one */
	uint64_t waiting[KINDS]; /* bit: a task of that priority waits */
	uint32_t count;
};

static const char *kind_name(uint32_t kind)
{
	static char name[16];

	snprintf(name, sizeof(name), "kind-%u", kind);
	return name;
}

static bool serves(uint32_t worker, uint32_t kind)
{
	return worker == 0 || (worker == 1 ? kind % 2 == 0 : kind == 100);
}

static void add_worker_of(struct many *m, uint32_t number)
{
	static const struct tqi_ident owner = { .pid = 7, .tid = 7, .start = 7 };
	const char *queue = "default", *kinds[KINDS];
	static char names[KINDS][16];
	struct tqi_worker_request request = { .owner = &owner,
					      .name = "",
					      .queues = &queue,
					      .queue_count = 1,
					      .kinds = number ? kinds : NULL };

	for (uint32_t k = 0; k < KINDS && number; k++)
		if (serves(number, k)) {
			memcpy(names[k], kind_name(k), sizeof(names[k]));
			kinds[request.kind_count++] = names[k];
		}
	begin(&m->f);
	assert_int_equal(tqi_worker_register(&m->f.tx, &request, &m->worker[number]), 0);
	commit(&m->f);
}

static void open_many(struct many *m)
{
	memset(m, 0, sizeof(*m));
	open_fixture(&m->f, 1000);
	assert_true(tqt_box_grow(&m->f.box, 4)); /* beside what submits leave (shm/span.h) */
	m->random = 5;
	for (uint32_t k = 0; k < KINDS; k++) { /* one a transaction */
		bool full;

		begin(&m->f);
		assert_true(tqi_kind_make(&m->f.tx, kind_name(k), &full));
		commit(&m->f);
	}
	for (uint32_t w = 0; w < 3; w++)
		add_worker_of(m, w);
}

/* Priorities are unlike, so that there is one best task. */
static void submit_some(struct many *m)
{
	uint32_t kind = tqt_below(&m->random, KINDS), bit = tqt_below(&m->random, 3);

	if (m->waiting[kind] >> bit & 1)
		return;
	m->waiting[kind] |= 1ull << bit;
	m->count++;
	submit(&m->f, (struct tq_task_spec){ .kind = kind_name(kind),
					     .priority = (int32_t)(bit * 1000 + kind * 37 % KINDS),
					     .flags = TQ_TASK_FORGET });
}

/* What is best, by a look at all; -1 nothing. */
static int32_t best_of(const struct many *m, uint32_t worker, uint32_t *ret_kind, uint32_t *ret_bit)
{
	int32_t best = -1;

	for (uint32_t k = 0; k < KINDS; k++)
		for (uint32_t bit = 0; bit < 3; bit++) {
			int32_t priority = (int32_t)(bit * 1000 + k * 37 % KINDS);

			if (!serves(worker, k) || !(m->waiting[k] >> bit & 1) || priority < best)
				continue;
			best = priority;
			*ret_kind = k;
			*ret_bit = bit;
		}
	return best;
}

static void claim_best(struct many *m, uint32_t worker)
{
	struct tqi_claimed claimed;
	uint32_t kind = 0, bit = 0;
	int32_t best = best_of(m, worker, &kind, &bit);
	uint64_t id = claim(&m->f, m->worker[worker], &claimed);

	assert_int_equal(id != 0, best >= 0);
	if (!id)
		return;
	assert_int_equal(task_of(&m->f, id)->priority, best);
	m->waiting[kind] &= ~(1ull << bit);
	m->count--;
	assert_int_equal(end(&m->f, m->worker[worker], &claimed, DONE), 0);
}

static const struct tqi_queue *the_queue(struct many *m)
{
	return tqi_table_peek(&m->f.box.seg, TQI_QUEUES, 1);
}

static void test_best_of_the_kinds_that_are_served(void **state)
{
	static struct many m;

	(void)state;
	open_many(&m);
	for (uint32_t i = 0; i < STEPS; i++) {
		if (m.count < KINDS / 2 || (m.count < 2 * KINDS && tqt_below(&m.random, 2)))
			submit_some(&m);
		else
			claim_best(&m, tqt_below(&m.random, 3));
	}
	assert_true(the_queue(&m)->chains[0].tournaments);
	assert_sound(&m.f);
	while (m.count)
		claim_best(&m, 0);
	claim_best(&m, 0);
	assert_sound(&m.f);
	close_fixture(&m.f);
}

/* An era begins without classes, and gets one with its fifth; then by age, too. */
static void test_an_era_has_its_own(void **state)
{
	const struct tqi_queue_settings aged = { .policy = { .max_wait_ns = SECOND } };
	struct tqi_claimed claimed;
	static struct many m;

	(void)state;
	open_many(&m);
	for (uint32_t k = 0; k < 40; k++)
		submit(&m.f,
		       (struct tq_task_spec){ .kind = kind_name(k), .flags = TQ_TASK_FORGET });
	while (claim(&m.f, m.worker[0], &claimed))
		assert_int_equal(end(&m.f, m.worker[0], &claimed, DONE), 0);
	begin(&m.f);
	assert_int_equal(conclude(&m.f, tqi_queue_set(&m.f.tx, 1, &aged)), 0);
	assert_false(the_queue(&m)->chains[1].left);
	uint64_t old = submit(&m.f, (struct tq_task_spec){ .kind = kind_name(39), .priority = -9 });

	assert_false(the_queue(&m)->chains[1].tournaments);
	m.f.box.system.now_ns += 2 * SECOND;
	for (uint32_t k = 0; k < 38; k++)
		submit(&m.f, (struct tq_task_spec){ .kind = kind_name(k), .priority = 5 });
	assert_sound(&m.f);
	assert_int_equal(claim(&m.f, m.worker[0], &claimed), old);
	close_fixture(&m.f);
}

static uint32_t count_busy(struct many *m)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < 4; i++)
		count += (uint32_t)__builtin_popcountll(the_queue(m)->busy[i]);
	return count;
}

static bool is_idle(struct many *m)
{
	begin(&m->f);
	bool idle = tqi_worker_is_idle(&m->f.tx, tqi_worker_at(&m->f.tx, m->worker[0]));

	commit(&m->f);
	return idle;
}

/* Whoever asks whether there is work goes by kinds that had some only once. */
static void test_kinds_without_tasks_are_passed_once(void **state)
{
	struct tqi_claimed claimed;
	static struct many m;

	(void)state;
	open_many(&m);
	assert_true(is_idle(&m));
	for (uint32_t k = 0; k < 40; k++)
		submit(&m.f,
		       (struct tq_task_spec){ .kind = kind_name(k), .flags = TQ_TASK_FORGET });
	assert_false(is_idle(&m));
	while (claim(&m.f, m.worker[0], &claimed))
		assert_int_equal(end(&m.f, m.worker[0], &claimed, DONE), 0);
	assert_int_equal(count_busy(&m), 40);
	assert_true(is_idle(&m));
	assert_int_equal(count_busy(&m), 0);
	uint64_t held =
		submit(&m.f, (struct tq_task_spec){ .kind = kind_name(39), .flags = TQ_TASK_HOLD });

	assert_true(is_idle(&m));
	assert_int_equal(count_busy(&m), 1);
	assert_sound(&m.f);
	begin(&m.f);
	assert_int_equal(conclude(&m.f, tqi_steer_hold(&m.f.tx, held, false)), 0);
	assert_false(is_idle(&m));
	begin(&m.f);
	assert_int_equal(conclude(&m.f, tqi_steer_hold(&m.f.tx, held, true)), 0);
	assert_true(is_idle(&m));
	assert_sound(&m.f);
	close_fixture(&m.f);
}

static void damage_and_mend(struct many *m, uint32_t field, uint8_t *at)
{
	const uint64_t bytes = tqi_check_scratch_bytes(&m->f.box.seg.geometry);
	void *scratch = calloc(1, bytes);
	struct tqi_tx tx;

	assert_non_null(scratch);
	*at ^= 1;
	tqi_tx_view(&tx, &m->f.box.seg);
	if (tqi_check(&tx, scratch, NULL, NULL) == 0)
		fail_msg("field %u: not found", field);
	memset(scratch, 0, bytes);
	begin(&m->f);
	assert_int_equal(tqi_rebuild(&m->f.tx, scratch), 0);
	commit(&m->f);
	free(scratch);
	assert_sound(&m->f);
}

static void test_damage_is_found_and_mended(void **state)
{
	static struct many m;

	(void)state;
	open_many(&m);
	for (uint32_t i = 0; i < 400; i++)
		submit_some(&m);
	for (uint32_t field = 0; field < 6; field++) {
		const struct tqi_queue *queue = the_queue(&m);
		const struct tqi_tournaments *all =
			(void *)(m.f.box.seg.base +
				 ((uint64_t)queue->chains[0].tournaments << TQI_UNIT_SHIFT));
		struct tqi_tournament *t =
			(void *)(m.f.box.seg.base + ((uint64_t)all->bands[0] << TQI_UNIT_SHIFT));
		uint8_t *const fields[] = {
			(void *)&t->of[7],	(void *)&t->ready[3],
			(void *)&t->groups,	&t->best[TQI_BY_KEY][2],
			&t->winner[TQI_BY_KEY], (void *)&t->first[0][t->winner[0]].key,
		};

		damage_and_mend(&m, field, fields[field]);
	}
	while (m.count)
		claim_best(&m, 0);
	close_fixture(&m.f);
}

/* In a fair queue: the tenant with the least tag that has something, then its best. */

static const char *const keys[] = { "a", "b", "c", "d", "e" };
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static bool is_better(struct tqi_tx *tx, const struct tqi_task *a, const struct tqi_task *b)
{
	const struct tqi_tenant *x = tqi_tenant_at(tx, tqi_tenant_of(tx, a));
	const struct tqi_tenant y = *x;

	x = tqi_tenant_at(tx, tqi_tenant_of(tx, b));
	if (y.tag_us != x->tag_us)
		return y.tag_us < x->tag_us;
	if (y.sequence != x->sequence)
		return y.sequence < x->sequence;
	return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
}

/* By a look at all; 0 nothing. */
static uint64_t fair_best(struct many *m, uint32_t worker)
{
	const struct tqi_task *best = NULL;
	uint64_t id = 0;
	struct tqi_tx tx;

	tqi_tx_view(&tx, &m->f.box.seg);
	for (uint32_t i = 1; i < tx.core->tables[TQI_TASKS].count; i++) {
		const struct tqi_task *t = tqi_table_peek(&m->f.box.seg, TQI_TASKS, i);
		uint32_t kind = (uint32_t)atoi(tqi_kind_at(&tx, t->kind)->name + 5);

		if (t->state != TQ_READY || !serves(worker, kind) ||
		    (best && !is_better(&tx, t, best)))
			continue;
		best = t;
		id = tqi_id_make(i, t->generation);
	}
	return id;
}

static void submit_fair(struct many *m)
{
	submit(&m->f, (struct tq_task_spec){ .kind = kind_name(tqt_below(&m->random, KINDS)),
					     .fair_key = keys[tqt_below(&m->random, KEYS)],
					     .priority = (int32_t)tqt_below(&m->random, 3),
					     .flags = TQ_TASK_FORGET });
	m->count++;
}

/* In as many transactions as it takes (FA-5). */
static void claim_fair(struct many *m, uint32_t worker)
{
	struct tqi_claimed claimed;
	uint64_t best = fair_best(m, worker);
	int r = -EALREADY;

	while (r == -EALREADY) {
		begin(&m->f);
		r = tqi_claim(&m->f.tx, m->worker[worker], &claimed);
		commit(&m->f);
	}
	assert_int_equal(r, best ? 0 : -EAGAIN);
	if (!best)
		return;
	assert_int_equal(claimed.id, best);
	m->f.box.system.now_ns += tqt_below(&m->random, 5000000);
	m->count--;
	assert_int_equal(end(&m->f, m->worker[worker], &claimed, DONE), 0);
}

static uint32_t count_tournaments(struct many *m)
{
	uint32_t count = 0;

	for (uint32_t t = 1; t < tqi_segment_core(&m->f.box.seg)->tables[TQI_TENANTS].count; t++) {
		const struct tqi_tenant *tenant = tqi_table_peek(&m->f.box.seg, TQI_TENANTS, t);

		count += tenant->chains[0].tournaments || tenant->chains[1].tournaments;
	}
	return count;
}

static void open_fair_many(struct many *m)
{
	const struct tqi_queue_settings fair = { .policy = { .fair = 1 } };

	open_many(m);
	begin(&m->f);
	assert_int_equal(conclude(&m->f, tqi_queue_set(&m->f.tx, 1, &fair)), 0);
}

static void test_tenants_of_many_kinds(void **state)
{
	static struct many m;

	(void)state;
	open_fair_many(&m);
	for (uint32_t i = 0; i < STEPS; i++) {
		if (m.count < KINDS / 2 || (m.count < 2 * KINDS && tqt_below(&m.random, 2)))
			submit_fair(&m);
		else
			claim_fair(&m, tqt_below(&m.random, 3));
	}
	assert_true(the_queue(&m)->contest);
	assert_int_equal(count_tournaments(&m), KEYS);
	assert_sound(&m.f);
	while (m.count)
		claim_fair(&m, 0);
	assert_int_equal(count_tournaments(&m), 0);
	assert_sound(&m.f);
	close_fixture(&m.f);
}

/* Two eras of one tenant: each has its own. */
static void test_tenants_in_another_era(void **state)
{
	const struct tqi_queue_settings aged = { .policy = { .max_wait_ns = 1000 * SECOND } };
	static struct many m;

	(void)state;
	open_fair_many(&m);
	for (uint32_t i = 0; i < 300; i++)
		submit_fair(&m);
	begin(&m.f);
	assert_int_equal(conclude(&m.f, tqi_queue_set(&m.f.tx, 1, &aged)), 0);
	assert_sound(&m.f);
	submit_fair(&m);
	assert_sound(&m.f);
	for (bool more = true; more;) {
		begin(&m.f);
		more = tqi_sweep_slice(&m.f.tx);
		commit(&m.f);
	}
	assert_sound(&m.f);
	assert_int_equal(count_tournaments(&m), KEYS);
	while (m.count)
		claim_fair(&m, 0);
	assert_sound(&m.f);
	close_fixture(&m.f);
}

static void test_damage_of_tenants_is_found_and_mended(void **state)
{
	static struct many m;

	(void)state;
	open_fair_many(&m);
	for (uint32_t i = 0; i < 400; i++)
		submit_fair(&m);
	for (uint32_t field = 0; field < 8; field++) {
		unsigned char *base = m.f.box.seg.base;
		struct tqi_queue *queue = tqi_table_peek(&m.f.box.seg, TQI_QUEUES, 1);
		struct tqi_tenant *tenant = tqi_table_peek(&m.f.box.seg, TQI_TENANTS, 2);
		const struct tqi_tournaments *all =
			(void *)(base +
				 ((uint64_t)tenant->chains[1].tournaments << TQI_UNIT_SHIFT));
		struct tqi_tournament *t =
			(void *)(base + ((uint64_t)all->bands[0] << TQI_UNIT_SHIFT));
		struct tqi_tournament *contest =
			(void *)(base + ((uint64_t)queue->contest << TQI_UNIT_SHIFT));
		uint8_t *const fields[] = {
			(void *)&t->of[t->winner[0]],
			(void *)&t->groups,
			&t->winner[TQI_BY_KEY],
			(void *)&tenant->chains[1].tournaments,
			(void *)&contest->of[contest->winner[0]],
			(void *)&contest->ready[3],
			&contest->best[TQI_BY_KEY][2],
			(void *)&contest->first[0][contest->winner[0]].key,
		};

		damage_and_mend(&m, field, fields[field]);
	}
	while (m.count)
		claim_fair(&m, 0);
	close_fixture(&m.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_of_the_kinds_that_are_served),
		cmocka_unit_test(test_an_era_has_its_own),
		cmocka_unit_test(test_kinds_without_tasks_are_passed_once),
		cmocka_unit_test(test_damage_is_found_and_mended),
		cmocka_unit_test(test_tenants_of_many_kinds),
		cmocka_unit_test(test_tenants_in_another_era),
		cmocka_unit_test(test_damage_of_tenants_is_found_and_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
