/* SPDX-License-Identifier: MIT */
/*
 * I4: damaged records crash and hang nobody.  Every byte of a record of each table, and of
 * the root, is flipped once, and every observer looks at what comes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/core/handle.h"
#include "tests/support/scene.h"

#define CHECK_EVERY 8 /* flips: it takes longer than all others together */
#define LOOK_S 20     /* seconds for all observers to look once, which takes some ms */

/* What is being flipped: for who finds the child dead. */
struct at {
	const char *volatile what;
	volatile uint64_t byte;
	volatile unsigned by;
};
static struct at *at;

static void flip(const struct tqt_scene *s, unsigned char *bytes, uint64_t i, unsigned char by)
{
	at->byte = i;
	at->by = by;
	bytes[i] ^= by;
	alarm(LOOK_S);
	tqt_scene_look(s);
	if (i % CHECK_EVERY == 0 && by == 0xff)
		(void)!tq_check(s->tq, 0, NULL, NULL);
	bytes[i] ^= by;
}

/* In a child: whatever it dies of is said. */
static void flip_each(const struct tqt_scene *s, const char *what, unsigned char *bytes,
		      uint64_t count)
{
	int status;

	at->what = what;
	fflush(NULL);
	pid_t pid = fork();

	assert_true(pid >= 0);
	for (uint64_t i = 0; pid == 0 && i < count; i++) {
		flip(s, bytes, i, 0xff);
		if (i % sizeof(uint32_t) == 0)
			flip(s, bytes, i, 0x01); /* a reference to its neighbour, or to itself */
	}
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("%s %d with byte %llu of %s xor 0x%x",
			 WIFSIGNALED(status) ? "died of signal" : "exit code",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
			 (unsigned long long)at->byte, at->what, at->by);
}

/* Rare settings of the group's members: its chain is there. */
static void flip_extra(const struct tqt_scene *s, uint64_t id)
{
	const struct tqi_task *t = tqi_table_peek(&s->tq->seg, TQI_TASKS, tqi_id_index(id));
	unsigned char *block = s->tq->seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT);

	assert_true(t->flags & TQI_TASK_EXTRA);
	flip_each(s, "rare settings", block + tqi_extra_at(t->payload_bytes, t->label_bytes),
		  sizeof(struct tqi_extra));
}

static void every_byte_of_every_record(void **state)
{
	struct tqt_scene s;

	(void)state;
	at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	tqt_scene_open(&s, "damage");
	for (uint32_t t = 0; t < s.tq->seg.schema->table_count; t++) {
		unsigned char *record = tqi_table_peek(&s.tq->seg, t, 1);

		if (record)
			flip_each(&s, s.tq->seg.schema->tables[t].name, record,
				  s.tq->seg.geometry.tables[t].record_bytes);
	}
	flip_each(&s, "a dependency", tqi_table_peek(&s.tq->seg, TQI_TASKS, tqi_id_index(s.ids[1])),
		  sizeof(struct tqi_task));
	flip_extra(&s, s.ids[2]);
	flip_extra(&s, s.ids[4]);
	flip_each(&s, "the root", s.tq->seg.base + s.tq->seg.geometry.root,
		  s.tq->seg.schema->root_bytes);
	assert_int_equal(tq_check(s.tq, TQ_CHECK_EXACT, NULL, NULL), 0);
	tqt_scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "fault.D2, fault.D3: every byte of every record", every_byte_of_every_record,
		  NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
