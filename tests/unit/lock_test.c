/* SPDX-License-Identifier: MIT */
/* Taking the lock: how long it is spun for, and who gets it. */
#include <errno.h>
#include <sched.h>

#include "shm/lock.h"
#include "taskq/error.h"
#include "tests/unit/fixture.h"

#define TIMEOUT_NS 3000000ull /* 3 ms: two slices */
#define SPIN_NS 3000ull
#define SPIN 1000u /* pauses */

static const struct tqi_thread me = { .pid = 1, .tid = 1, .start = 1 };

/* What a process that may use these processors measures. */
static uint32_t pauses_on(const cpu_set_t *allowed)
{
	assert_int_equal(sched_setaffinity(0, sizeof(*allowed), allowed), 0);
	return tqi_ops_linux.pauses(NULL, SPIN_NS);
}

static cpu_set_t first_of(const cpu_set_t *set)
{
	cpu_set_t one;
	size_t cpu = 0;

	while (!CPU_ISSET(cpu, set))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return one;
}

static void one_processor_is_no_place_to_spin(void **state)
{
	cpu_set_t all, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	one = first_of(&all);
	assert_int_equal(pauses_on(&one), 0);
	if (CPU_COUNT(&all) > 1)
		assert_int_not_equal(pauses_on(&all), 0);
}

/* What comes of a try at a lock whose word is this. */
static int lock_word(uint32_t word, uint32_t spin)
{
	struct tqt_box box;

	tqt_box_open(&box, NULL);
	box.seg.spin = spin;
	uint32_t *at = (uint32_t *)(void *)&tqi_segment_core(&box.seg)->lock;

	*(volatile uint32_t *)at = word;
	int r = tqi_lock(&box.seg, &me, TIMEOUT_NS);

	if (r == 0)
		tqi_unlock(&box.seg);
	*(volatile uint32_t *)at = 0;
	tqt_box_close(&box);
	return r;
}

static void a_spin_ends(void **state)
{
	static const uint32_t spins[] = { 0, 1, SPIN };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(lock_word(0, spins[i]), 0);
		assert_int_equal(lock_word(me.tid, spins[i]), -EDEADLK);
		assert_int_equal(lock_word(TQT_TID_OTHER, spins[i]), TQ_ELOCKED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_processor_is_no_place_to_spin),
		cmocka_unit_test(a_spin_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
