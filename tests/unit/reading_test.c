/* SPDX-License-Identifier: MIT */
/*
 * H3: what is said of one thing is of one committed state, whoever stands still inside a
 * transaction; and what a view may take, of memory and of address space.
 */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "client/observe/reading.h"
#include "client/observe/snapshot.h"
#include "shm/pool.h"
#include "tests/crash/handle.h"

#define TASKS (TQI_VIEW_RECORDS + 8)
#define BLOCK_BYTES (TQI_VIEW_BYTES / 4) /* of payloads */
#define HEADROOM (8u << 20) /* address space that a child may still take: half of a segment */

static struct tq tq; /* an observer without a lock */

struct scene {
	struct one_worker s;
	uint64_t runs, waits, done;
};

static void open_scene(struct scene *scene)
{
	static const char *const limits[] = { "host" };
	struct tqi_claimed c;

	open_one_worker(&scene->s);
	tq.seg = scene->s.f.box.seg;
	tq.seg.readonly = true;
	scene->done = submit(&scene->s.f, (struct tq_task_spec){ .label = "over" });
	assert_int_equal(claim(&scene->s.f, scene->s.worker, &c), scene->done);
	assert_int_equal(end(&scene->s.f, scene->s.worker, &c, DONE), 0);
	scene->runs = submit(&scene->s.f, (struct tq_task_spec){ .label = "at work" });
	assert_int_equal(claim(&scene->s.f, scene->s.worker, &scene->s.c), scene->runs);
	scene->waits = submit(
		&scene->s.f,
		(struct tq_task_spec){ .label = "in line", .limits = limits, .limit_count = 1 });
}

/* Transactions, up to before their commit. */

static void come_in(struct scene *scene)
{
	struct tq_task_spec spec = { .queue = "default", .kind = "exec" };
	struct tqi_submit s = { .spec = &spec };
	uint64_t id;

	assert_int_equal(tqi_submit(&scene->s.f.tx, &s, &id), 0);
}

static void start(struct scene *scene)
{
	struct tqi_claimed c;

	assert_int_equal(tqi_claim(&scene->s.f.tx, scene->s.worker, &c), 0);
}

static void finish(struct scene *scene)
{
	const struct tqi_verdict verdict = DONE;

	assert_int_equal(tqi_end(&scene->s.f.tx, scene->s.worker, scene->s.c.attempt, scene->runs,
				 task_of(&scene->s.f, scene->runs)->epoch, &verdict),
			 0);
}

static void cancel(struct scene *scene)
{
	assert_int_equal(tqi_steer_cancel(&scene->s.f.tx, scene->waits), 0);
}

static void forget(struct scene *scene)
{
	assert_int_equal(tqi_steer_forget(&scene->s.f.tx, scene->done), 0);
}

static void pause_queue(struct scene *scene)
{
	struct tqi_queue *queue = tqi_queue_at(&scene->s.f.tx, 1);

	TQI_SET(&scene->s.f.tx, queue->flags, queue->flags | TQI_QUEUE_PAUSED);
}

static void (*const halves[])(struct scene *scene) = { come_in, start,	finish,
						       cancel,	forget, pause_queue };

struct said {
	int r[4];
	struct tq_task_info tasks[3];
	struct tq_queue_info queue;
};

static struct said ask_all(struct tq *by, const struct scene *scene)
{
	const uint64_t ids[] = { scene->done, scene->runs, scene->waits };
	struct said said;

	memset(&said, 0, sizeof(said));
	for (uint32_t i = 0; i < 3; i++) {
		said.tasks[i].size = sizeof(said.tasks[i]);
		said.r[i] = tq_task_info(by, ids[i], &said.tasks[i]);
	}
	said.queue.size = sizeof(said.queue);
	said.r[3] = tq_queue_info(by, "default", &said.queue);
	return said;
}

static void test_h3_said_of_what_was_committed(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		struct scene scene;

		open_scene(&scene);
		const struct said before = ask_all(&tq, &scene);

		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(before.r[k], 0);
		begin(&scene.s.f);
		halves[i](&scene);
		const struct said inside = ask_all(&tq, &scene);

		assert_memory_equal(&inside, &before, sizeof(before));
		commit(&scene.s.f);
		const struct said after = ask_all(&tq, &scene);

		assert_memory_not_equal(&after, &before, sizeof(before));
		close_fixture(&scene.s.f);
	}
}

/* Two words of two records that each transaction changes together. */
struct pair {
	uint32_t queue_waiting, root_ready;
	uint32_t reads;	    /* so often it was read anew */
	struct fixture *by; /* who ends a transaction between the two, ... */
	uint32_t times;	    /* ... in so many reads */
};

static void change_pair(struct fixture *f)
{
	begin(f);
	TQI_ADD(&f->tx, tqi_queue_at(&f->tx, 1)->waiting, 1);
	TQI_ADD(&f->tx, tqi_root(&f->tx)->ready, 1);
	commit(f);
}

static void read_pair(const struct tqi_segment *seg, void *arg)
{
	struct pair *pair = arg;
	struct tqi_queue queue;
	struct tqi_root root;

	assert_int_equal(tqi_peek_record(seg, TQI_QUEUES, 1, &queue), 0);
	if (pair->reads++ < pair->times)
		change_pair(pair->by);
	assert_int_equal(tqi_peek_root(seg, &root), 0);
	pair->queue_waiting = (uint32_t)queue.waiting;
	pair->root_ready = (uint32_t)root.ready;
}

/* Others end a transaction inside so many reads. */
static void read_in_a_hurry(uint32_t times, bool may_hold, enum tqi_view_answer expected)
{
	struct one_worker s;

	open_one_worker(&s);
	struct tq *by = tqt_handle_new(&s.f.box.seg, &s.f.box.system, 7);
	struct pair pair = { .by = &s.f, .times = times };

	by->seg.readonly = !may_hold;
	assert_int_equal(tqi_read(by, read_pair, &pair), expected);
	assert_int_equal(pair.queue_waiting == pair.root_ready, expected == TQI_VIEW_WHOLE);
	assert_int_equal(tqi_segment_core(&s.f.box.seg)->lock.__data.__lock, 0);
	tqt_handle_free(by);
	close_fixture(&s.f);
}

static void test_h3_read_anew_and_then_held(void **state)
{
	(void)state;
	for (uint32_t times = 0; times < 2 * TQI_VIEW_TRIES; times++)
		read_in_a_hurry(times, false, TQI_VIEW_WHOLE);
	read_in_a_hurry(2 * TQI_VIEW_TRIES, true, TQI_VIEW_WHOLE);
	read_in_a_hurry(UINT32_MAX, false, TQI_VIEW_TORN);
}

/* VW-3. */

static void open_many(struct fixture *f)
{
	open_fixture(f, 2 * TASKS);
	tq.seg = f->box.seg;
	tq.seg.readonly = true;
	for (uint32_t i = 0; i < TASKS; i++)
		submit(f, (struct tq_task_spec){ .label = "one of many" });
}

static void refer_to_tasks(struct tqi_tx *tx, void *arg)
{
	uint32_t *count = arg;

	for (*count = 0; !tx->corrupt && *count < TASKS; ++*count)
		(void)tqi_task_at(tx, *count + 1);
}

static void test_h4_no_more_records_than_it_may(void **state)
{
	struct fixture f;
	uint32_t count;

	(void)state;
	open_many(&f);
	assert_int_equal(tqi_view_ask(&tq.seg, NULL, refer_to_tasks, &count), TQI_VIEW_CUT);
	assert_int_equal(count, TQI_VIEW_RECORDS + 1); /* the last one was not had */
	close_fixture(&f);
}

static void read_tasks(const struct tqi_segment *seg, void *arg)
{
	uint32_t *count = arg;
	struct tqi_task task;

	for (*count = 0; *count < TASKS; ++*count)
		if (tqi_peek_record(seg, TQI_TASKS, *count + 1, &task) < 0)
			return;
}

/* A reading that is for more than a view is read of the segment, and says so. */
static void test_h3_more_than_a_view_may_have(void **state)
{
	struct fixture f;
	uint32_t count;

	(void)state;
	open_many(&f);
	assert_int_equal(tqi_read(&tq, read_tasks, &count), TQI_VIEW_WHOLE);
	assert_int_equal(count, TASKS);
	begin(&f);
	TQI_ADD(&f.tx, tqi_root(&f.tx)->ready, 1);
	assert_int_equal(tqi_read(&tq, read_tasks, &count), TQI_VIEW_CUT);
	assert_int_equal(count, TASKS);
	tqi_tx_abort(&f.tx);
	close_fixture(&f);
}

struct payloads {
	uint64_t ids[8];
	uint64_t had; /* bytes */
};

static void refer_to_payloads(struct tqi_tx *tx, void *arg)
{
	struct payloads *p = arg;

	p->had = 0;
	for (uint32_t i = 0; i < 8; i++) {
		const struct tqi_task *task = tqi_task_at(tx, tqi_id_index(p->ids[i]));
		const unsigned char *bytes = tqi_unit(tx, task->payload);

		if (tx->corrupt)
			return;
		assert_int_equal(bytes[BLOCK_BYTES - 1], i);
		p->had += BLOCK_BYTES;
	}
}

static void test_h4_no_more_bytes_than_it_may(void **state)
{
	static unsigned char bytes[BLOCK_BYTES];
	struct payloads p;
	struct fixture f;

	(void)state;
	open_fixture(&f, 100);
	tqt_box_grow(&f.box, 4);
	tq.seg = f.box.seg;
	for (uint32_t i = 0; i < 8; i++) {
		bytes[BLOCK_BYTES - 1] = (unsigned char)i;
		p.ids[i] = submit(&f, (struct tq_task_spec){ .payload = bytes,
							     .payload_bytes = BLOCK_BYTES });
	}
	assert_int_equal(tqi_view_ask(&tq.seg, NULL, refer_to_payloads, &p), TQI_VIEW_CUT);
	assert_in_range(p.had, 1, TQI_VIEW_BYTES);
	close_fixture(&f);
}

/* Where a process may not map as much again as the segment has. */

static void do_nothing(struct tqi_tx *tx, void *arg)
{
	(void)tx;
	(void)arg;
}

static uint64_t mapped_bytes(int resource)
{
	unsigned long pages[6] = { 0 };
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm || fscanf(statm, "%lu %lu %lu %lu %lu %lu", &pages[0], &pages[1], &pages[2],
			     &pages[3], &pages[4], &pages[5]) != 6)
		_exit(90);
	fclose(statm);
	return pages[resource == RLIMIT_AS ? 0 : 5] * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In a child: exit code 0 is right. */
static int limited(struct scene *scene, const struct said *before, int resource)
{
	const struct rlimit limit = { mapped_bytes(resource) + HEADROOM, RLIM_INFINITY };
	struct tq_why why = { .size = sizeof(why) };

	if ((resource == RLIMIT_AS ? setrlimit(RLIMIT_AS, &limit)
				   : setrlimit(RLIMIT_DATA, &limit)) < 0)
		return 91;
	if (tqi_view_ask(&tq.seg, NULL, do_nothing, NULL) != -ENOMEM)
		return 1;
	const struct said now = ask_all(&tq, scene);

	if (memcmp(&now, before, sizeof(now)) != 0)
		return 2;
	/* What it can only count on a view is missing, and said to be. */
	if (tq_task_why(&tq, scene->waits, &why) != 0)
		return 3;
	return why.before == 0 && why.before_more ? 0 : 4;
}

static void test_h3_without_address_space(void **state)
{
	static const int resources[] = { RLIMIT_AS, RLIMIT_DATA };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct scene scene;
		int status;

		open_scene(&scene);
		const struct said before = ask_all(&tq, &scene);

		if (i / 2) {
			begin(&scene.s.f);
			cancel(&scene);
		}
		const pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(limited(&scene, &before, resources[i % 2]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		if (i / 2)
			tqi_tx_abort(&scene.s.f.tx);
		close_fixture(&scene.s.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_h3_said_of_what_was_committed),
		cmocka_unit_test(test_h3_read_anew_and_then_held),
		cmocka_unit_test(test_h4_no_more_records_than_it_may),
		cmocka_unit_test(test_h3_more_than_a_view_may_have),
		cmocka_unit_test(test_h4_no_more_bytes_than_it_may),
		cmocka_unit_test(test_h3_without_address_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
