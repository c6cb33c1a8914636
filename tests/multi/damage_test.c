/* SPDX-License-Identifier: MIT */
/*
 * I4: damaged records crash and hang nobody.  Every byte of a record of each table, and of
 * the root, is flipped once, and every observer looks at what comes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "client/core/handle.h"
#include "tests/support/scene.h"

static void flip(const struct tqt_scene *s, unsigned char *byte, unsigned char by)
{
	*byte ^= by;
	tqt_scene_look(s);
	*byte ^= by;
}

static void flip_each(const struct tqt_scene *s, unsigned char *bytes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		flip(s, &bytes[i], 0xff);
		if (i % sizeof(uint32_t) == 0)
			flip(s, &bytes[i], 0x01); /* a reference to its neighbour, or to itself */
	}
}

/* Rare settings of the group's members: its chain is there. */
static void flip_extra(const struct tqt_scene *s, uint64_t id)
{
	const struct tqi_task *t = tqi_table_peek(&s->tq->seg, TQI_TASKS, tqi_id_index(id));
	unsigned char *block = s->tq->seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT);

	assert_true(t->flags & TQI_TASK_EXTRA);
	flip_each(s, block + tqi_extra_at(t->payload_bytes, t->label_bytes),
		  sizeof(struct tqi_extra));
}

static void fault_d2_d3_every_byte_of_every_record(void **state)
{
	struct tqt_scene s;

	(void)state;
	tqt_scene_open(&s, "damage");
	for (uint32_t t = 0; t < s.tq->seg.schema->table_count; t++) {
		unsigned char *record = tqi_table_peek(&s.tq->seg, t, 1);

		if (record)
			flip_each(&s, record, s.tq->seg.geometry.tables[t].record_bytes);
	}
	flip_extra(&s, s.ids[2]);
	flip_extra(&s, s.ids[4]);
	flip_each(&s, s.tq->seg.base + s.tq->seg.geometry.root, s.tq->seg.schema->root_bytes);
	assert_int_equal(tq_check(s.tq, TQ_CHECK_EXACT, NULL, NULL), 0);
	tqt_scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_d2_d3_every_byte_of_every_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
