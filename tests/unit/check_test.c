/* SPDX-License-Identifier: MIT */
/* scheduler/check*.c: sound segments pass, each sort of damage is found, none crashes it. */
#include "tests/unit/check_scene.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "scheduler/check/check.h"
#include "scheduler/rebuild/rebuild.h"
#include "shm/domain.h"
#include "shm/span.h"

#define ROUNDS 1000

static char last_finding[256];

static void keep_finding(void *arg, const char *text)
{
	(void)arg;
	snprintf(last_finding, sizeof(last_finding), "%s", text);
}

static uint32_t check(const struct tqi_segment *seg, unsigned char *base)
{
	struct tqi_segment copy = *seg;
	uint64_t bytes = tqi_check_scratch_bytes(&seg->geometry);
	void *scratch = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(scratch, MAP_FAILED);
	copy.base = base;
	struct tqi_tx tx;

	tqi_tx_view(&tx, &copy);
	uint32_t faults = tqi_check(&tx, scratch, keep_finding, NULL);

	munmap(scratch, bytes);
	return faults;
}

static int rebuild(const struct tqi_segment *seg, unsigned char *base)
{
	struct tqi_segment copy = *seg;
	uint64_t bytes = tqi_check_scratch_bytes(&seg->geometry);
	void *scratch = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct tqi_tx tx;

	assert_ptr_not_equal(scratch, MAP_FAILED);
	copy.base = base;
	tqi_tx_view(&tx, &copy);
	tqi_tx_begin(&tx, 0);
	int r = tqi_rebuild(&tx, scratch);

	tqi_tx_commit(&tx);
	assert_false(tx.corrupt); /* its wakes met nothing that it has left damaged */
	munmap(scratch, bytes);
	return r;
}

static void test_sound(void **state)
{
	struct fixture f;
	struct scene s;

	(void)state;
	open_fixture(&f, 500);
	assert_int_equal(check(&f.box.seg, f.box.seg.base), 0);
	populate(&f, &s);
	if (check(&f.box.seg, f.box.seg.base))
		fail_msg("%s", last_finding);
	close_fixture(&f);
}

/* Something to damage, and its image to go back to. */
static void open_intact(struct fixture *f, struct scene *s, struct tqt_image *image)
{
	*image = (struct tqt_image){ NULL, 0 };
	open_fixture(f, 500);
	populate(f, s);
	tqt_image_take(image, &f->box.seg);
}

static void close_intact(struct fixture *f, struct tqt_image *image)
{
	tqt_image_free(image);
	close_fixture(f);
}

/* Damage that was found is mended, too. */
static void assert_mended(struct fixture *f, const struct tqt_image *image, const char *what)
{
	assert_int_equal(rebuild(&f->box.seg, f->box.seg.base), 0);
	if (check(&f->box.seg, f->box.seg.base))
		fail_msg("not mended: %s: %s", what, last_finding);
	tqt_image_restore(image, &f->box.seg);
}

/* Damage one field. */
#define DAMAGE(field, value)                                                                       \
	do {                                                                                       \
		(field) = (__typeof__(field))(value);                                              \
		if (!check(&f.box.seg, f.box.seg.base))                                            \
			fail_msg("not found: " #field);                                            \
		assert_mended(&f, &image, #field " = " #value);                                    \
	} while (0)

static void test_damage_of_waits_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_attempt *attempt = tqi_table_peek(&f.box.seg, TQI_ATTEMPTS, s.claimed.attempt);
	struct tqi_worker *worker = tqi_table_peek(&f.box.seg, TQI_WORKERS, s.worker);
	struct tqi_waiter *first = tqi_table_peek(&f.box.seg, TQI_WAITERS, s.behalf[1]);
	struct tqi_waiter *last = tqi_table_peek(&f.box.seg, TQI_WAITERS, s.behalf[0]);
	struct tqi_waiter *stale = tqi_table_peek(&f.box.seg, TQI_WAITERS, s.stale[0]);

	DAMAGE(worker->waiting, 2);
	DAMAGE(attempt->waits, 0);
	DAMAGE(attempt->waits, s.behalf[0]);
	DAMAGE(attempt->waits, 9999);
	DAMAGE(attempt->waits_life, 9);
	DAMAGE(first->attempt, 0);
	DAMAGE(first->attempt, 60000);
	DAMAGE(first->attempt_life, 9);
	DAMAGE(first->attempt_next, 0);
	DAMAGE(first->attempt_prev, s.behalf[0]);
	DAMAGE(last->attempt, 0);
	DAMAGE(last->attempt_prev, 0);
	DAMAGE(last->attempt_next, s.behalf[1]);
	DAMAGE(stale->attempt_prev, 0);
	DAMAGE(stale->attempt_next, 9999);
	close_intact(&f, &image);
}

/* WT-8, SL-1, SL-2. */
static void test_damage_of_sleepers_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_core *core = tqi_segment_core(&f.box.seg);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_worker *worker = tqi_table_peek(&f.box.seg, TQI_WORKERS, s.worker);
	struct tqi_waiter *waiter = tqi_table_peek(&f.box.seg, TQI_WAITERS, s.waiter);
	struct tqi_queue *queue = tqi_table_peek(&f.box.seg, TQI_QUEUES, 1);

	DAMAGE(core->waiter_turn, 0);
	DAMAGE(core->waiter_lists[TQI_INTEREST_TASKS].oldest, 0);
	DAMAGE(core->waiter_lists[TQI_INTEREST_TASKS].newest, 0);
	DAMAGE(core->waiter_lists[TQI_INTEREST_ROOM].oldest, s.waiter);
	DAMAGE(root->asleep_queues.bits[0], 2);
	DAMAGE(root->busy_queues.bits[0], 2);
	DAMAGE(root->room.queues.bits[0], 2);
	DAMAGE(root->room.oldest, s.waiter);
	DAMAGE(root->room.newest, s.waiter);
	DAMAGE(root->room.again, 2);
	DAMAGE(root->leaving_at, s.waiter);
	DAMAGE(root->leaving_again, 1);
	DAMAGE(queue->room_oldest, s.waiter);
	DAMAGE(queue->room_newest, s.waiter);
	DAMAGE(queue->asleep, 16);
	DAMAGE(worker->asleep, s.waiter);
	DAMAGE(waiter->list, TQI_INTEREST_ROOM);
	DAMAGE(waiter->list_older, s.waiter);
	DAMAGE(waiter->list_newer, s.waiter);
	DAMAGE(waiter->turn, 0);
	DAMAGE(core->waiter_transit.oldest, s.waiter);
	DAMAGE(core->waiter_coming, 1);
	DAMAGE(core->waiter_keepers[0], 0);
	DAMAGE(core->waiter_keepers[2], s.waiter);
	DAMAGE(core->waiter_domains_in_use[0], ~core->waiter_domains_in_use[0]);
	DAMAGE(core->waiter_domains[tqi_domain_list(waiter->domain)].oldest, 0);
	DAMAGE(core->waiter_domains[tqi_domain_list(waiter->domain)].newest, 0);
	DAMAGE(waiter->domain, waiter->domain + 1);
	DAMAGE(waiter->domain_older, s.waiter);
	DAMAGE(waiter->domain_newer, s.waiter);
	close_intact(&f, &image);
}

static void test_damage_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_core *core = tqi_segment_core(&f.box.seg);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_task *ready = task_of(&f, s.ready), *done = task_of(&f, s.finished);
	struct tqi_task *delayed = task_of(&f, s.delayed), *running = task_of(&f, s.claimed.id);
	struct tqi_attempt *attempt = tqi_table_peek(&f.box.seg, TQI_ATTEMPTS, s.claimed.attempt);
	struct tqi_worker *worker = tqi_table_peek(&f.box.seg, TQI_WORKERS, s.worker);
	struct tqi_waiter *waiter = tqi_table_peek(&f.box.seg, TQI_WAITERS, s.waiter);
	struct tqi_class *class = tqi_table_peek(&f.box.seg, TQI_CLASSES, 1);
	struct tqi_lane *lane = tqi_table_peek(&f.box.seg, TQI_LANES, 1);
	struct tqi_queue *queue = tqi_table_peek(&f.box.seg, TQI_QUEUES, 1);
	struct tqi_edge *edge = tqi_table_peek(&f.box.seg, TQI_EDGES, 1);

	DAMAGE(core->undo_count, 1);
	DAMAGE(core->spans_free, core->spans_free + 1);
	DAMAGE(core->extents_reserved, 1);
	DAMAGE(core->class_head[0], 0);
	DAMAGE(core->tables[TQI_TASKS].count, UINT32_MAX);
	DAMAGE(core->tables[TQI_TASKS].free, 1);
	DAMAGE(core->tables[TQI_TASKS].live, 3);
	DAMAGE(core->tables[TQI_EDGES].spans, 9);
	DAMAGE(core->waiter_count, 0);
	DAMAGE(core->waiter_oldest, 5000);
	DAMAGE(core->waiter_newest, 0);
	DAMAGE(core->waiter_for_work, 4);
	DAMAGE(core->inflight[3].kind, 3);
	DAMAGE(root->ready, 0);
	DAMAGE(root->running, 0);
	DAMAGE(root->unfinished, 7);
	DAMAGE(root->finished.oldest, 0);
	DAMAGE(root->finished.newest, 1);
	DAMAGE(root->finished.count, 1);
	DAMAGE(root->telling.first, 1);
	DAMAGE(root->room_waiters, 1);
	DAMAGE(root->empty_workers, 1);
	DAMAGE(root->dying_workers, 1);
	DAMAGE(root->time.due.length, 3);
	DAMAGE(root->time.due.capacity, 77);
	DAMAGE(root->time.due.root.key, INT64_MAX);
	DAMAGE(root->sequence, 5);
	DAMAGE(ready->state, TQ_DELAYED);
	DAMAGE(ready->state, TQ_DONE);
	DAMAGE(ready->state, 200);
	DAMAGE(ready->flags, TQI_TASK_HELD);
	DAMAGE(ready->flags, TQI_TASK_DUE);
	DAMAGE(ready->key, 77);
	DAMAGE(ready->sequence, 1);
	DAMAGE(ready->lane, 9999);
	DAMAGE(ready->queue, 2);
	DAMAGE(ready->payload, 1);
	DAMAGE(ready->payload, done->payload);
	DAMAGE(ready->payload_bytes, 1u << 20);
	DAMAGE(ready->attempt, 1);
	DAMAGE(ready->generation, 0);
	DAMAGE(ready->pins, 0);
	DAMAGE(ready->edges, 0);
	DAMAGE(ready->epoch, 1);
	DAMAGE(ready->history, ready->payload);
	DAMAGE(delayed->flags, 0);
	DAMAGE(delayed->due_ns, 1);
	DAMAGE(done->flags, 0);
	DAMAGE(done->next, 3);
	DAMAGE(done->next, 0xffffff);
	DAMAGE(done->prev, 0);
	DAMAGE(done->result_bytes, 1000);
	DAMAGE(done->result, 0);
	DAMAGE(done->error_bytes, 255);
	DAMAGE(running->attempt, 0);
	DAMAGE(running->state, TQ_READY);
	DAMAGE(attempt->task, 0);
	DAMAGE(attempt->epoch, 5);
	DAMAGE(attempt->worker, 2);
	DAMAGE(attempt->next, 0);
	DAMAGE(attempt->phase, 1);
	DAMAGE(attempt->checkpoint, ready->payload);
	DAMAGE(worker->attempt_count, 0);
	DAMAGE(worker->attempts, 0);
	DAMAGE(worker->state, TQI_WORKER_FREE);
	DAMAGE(worker->queue_count, 17);
	DAMAGE(worker->queues[0], 9);
	DAMAGE(waiter->state, TQI_WAITER_TRANSIT);
	DAMAGE(waiter->edges, 0);
	DAMAGE(waiter->interest, TQI_INTEREST_WORK);
	DAMAGE(waiter->older, s.waiter);
	DAMAGE(edge->task, 1);
	DAMAGE(edge->told, 1);
	DAMAGE(edge->waiter, 0);
	DAMAGE(edge->next, 1);
	DAMAGE(class->kind, 200);
	DAMAGE(class->plain, 0);
	DAMAGE(class->next, 1);
	DAMAGE(class->open.length, 0);
	DAMAGE(class->open.root.key, 12345);
	DAMAGE(lane->members, 0);
	DAMAGE(lane->class_, 7);
	DAMAGE(lane->tasks.length, 1);
	DAMAGE(lane->behind, lane->behind + 1);
	DAMAGE(lane->last, 0xffffff);
	DAMAGE(lane->last, s.finished & TQI_INDEX_MASK);
	DAMAGE(ready->prev, 0xffffff);
	DAMAGE(ready->prev, s.finished & TQI_INDEX_MASK);
	DAMAGE(ready->next, 0xffffff);
	DAMAGE(ready->next, s.finished & TQI_INDEX_MASK);
	DAMAGE(ready->next, s.ready & TQI_INDEX_MASK);
	DAMAGE(lane->tasks.array.chunks[0], 1);
	DAMAGE(lane->tasks.array.chunks[1], lane->tasks.array.chunks[0]);
	DAMAGE(queue->waiting, 1);
	DAMAGE(queue->chains[0].first, 0);
	DAMAGE(queue->chains[0].left, 9);
	DAMAGE(queue->chains[1].left, 1);
	close_intact(&f, &image);
}

static void test_damage_of_names_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_queue *queue = tqi_table_peek(&f.box.seg, TQI_QUEUES, 1);
	struct tqi_queue *other = tqi_table_peek(&f.box.seg, TQI_QUEUES, 2);
	struct tqi_kind *kind = tqi_table_peek(&f.box.seg, TQI_KINDS, 1);

	DAMAGE(root->named.queues.count, 1);
	DAMAGE(root->named.queues.buckets, 3);
	DAMAGE(root->named.queues.heads.chunks[0], 0);
	DAMAGE(root->named.kinds.count, 9);
	DAMAGE(root->owners.capacity, 0);
	DAMAGE(root->owners.length, 1);
	DAMAGE(root->moving.queues.bits[0], 2);
	DAMAGE(root->carrying.queues.bits[0], 4);
	DAMAGE(root->named.kinds.heads.chunks[0], root->named.queues.heads.chunks[0]);
	DAMAGE(queue->name[0], 0);
	DAMAGE(queue->name[0], 'x');
	DAMAGE(queue->node.hash, 1);
	DAMAGE(queue->node.next, 1);
	DAMAGE(queue->node.next, 9999);
	DAMAGE(kind->name[0], 0);
	DAMAGE(kind->node.hash, kind->node.hash + 1);
	memcpy(other->name, queue->name, sizeof(other->name));
	DAMAGE(other->node.hash, queue->node.hash);
	close_intact(&f, &image);
}

/* B5: deadlines, and what is stored behind a payload. */
static void test_damage_of_extras_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_task *ready = task_of(&f, s.ready);
	struct tqi_task *dated = task_of(&f, s.dated), *late = task_of(&f, s.late);
	struct tqi_extra *extra =
		(void *)(f.box.seg.base + ((uint64_t)dated->payload << TQI_UNIT_SHIFT) + 64);

	DAMAGE(dated->flags, 0);
	DAMAGE(dated->flags, TQI_TASK_EXTRA);
	DAMAGE(dated->flags, dated->flags | TQI_TASK_LATE);
	DAMAGE(dated->payload_bytes, 128);
	DAMAGE(extra->deadline_ns, 1);
	DAMAGE(extra->deadline_ns, UINT64_MAX);
	DAMAGE(extra->deadline_ns, UINT64_MAX - 1);
	DAMAGE(late->flags, TQI_TASK_LATE);
	DAMAGE(late->flags, TQI_TASK_EXTRA);
	DAMAGE(ready->flags, TQI_TASK_EXTRA);
	close_intact(&f, &image);
}

static void test_policy_damage_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_class *class = tqi_table_peek(&f.box.seg, TQI_CLASSES, 1);
	struct tqi_queue *queue = tqi_table_peek(&f.box.seg, TQI_QUEUES, 1);

	DAMAGE(class->band, 1);
	DAMAGE(class->band, TQ_BANDS);
	DAMAGE(class->era, 3);
	DAMAGE(class->rate, 5);
	DAMAGE(queue->era, 1);
	DAMAGE(queue->ageing[0], TQ_AGEING_MAX + 1);
	DAMAGE(queue->ageing[0], 1);
	DAMAGE(queue->band_from[0], INT32_MAX);
	DAMAGE(queue->hybrid, TQ_HYBRID_MAX + 1);
	DAMAGE(queue->hybrid, 5);
	DAMAGE(queue->hybrid_count, 1);
	DAMAGE(queue->flags, TQI_QUEUE_ORDERED);
	DAMAGE(root->moving.count, 1);
	close_intact(&f, &image);
}

static struct tqi_command *command_of(struct fixture *f, uint64_t id)
{
	return tqi_table_peek(&f->box.seg, TQI_COMMANDS, tqi_id_index(id));
}

static struct tqi_delivery *delivery_of(struct fixture *f, uint64_t id)
{
	return (void *)(f->box.seg.base + ((uint64_t)command_of(f, id)->block << TQI_UNIT_SHIFT));
}

/* G3, RC-8: commands, their deliveries and their lists. */
static void test_damage_of_commands_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_worker *worker = tqi_table_peek(&f.box.seg, TQI_WORKERS, s.commanded);
	struct tqi_command *taken = command_of(&f, s.taken), *open = command_of(&f, s.open);
	struct tqi_command *answered = command_of(&f, s.answered);
	struct tqi_delivery *d = delivery_of(&f, s.taken), *waits = delivery_of(&f, s.open);

	DAMAGE(root->command.oldest, 0);
	DAMAGE(root->command.newest, 0);
	DAMAGE(root->command.open, 1);
	DAMAGE(root->command.ended_oldest, 0xffffff);
	DAMAGE(root->command.ended_newest, 0);
	DAMAGE(root->command.ended_count, 0);
	DAMAGE(root->command.waiters, 1);
	DAMAGE(taken->state, TQI_COMMAND_FREE);
	DAMAGE(taken->state, TQI_COMMAND_ENDED);
	DAMAGE(taken->state, 3);
	DAMAGE(answered->state, TQI_COMMAND_OPEN);
	DAMAGE(taken->generation, 0);
	DAMAGE(open->sequence, 1);
	DAMAGE(open->prev, 0);
	DAMAGE(taken->next, 0);
	DAMAGE(taken->next, tqi_id_index(s.taken));
	DAMAGE(taken->block, 0);
	DAMAGE(taken->block, open->block);
	DAMAGE(taken->argument_bytes, TQ_COMMAND_ARGUMENT_MAX + 1);
	DAMAGE(taken->argument_bytes, 1000);
	DAMAGE(taken->delivery_count, 0);
	DAMAGE(taken->delivery_count, UINT32_MAX);
	DAMAGE(taken->waiting, 1);
	DAMAGE(open->open, 0);
	DAMAGE(open->queue, 99);
	DAMAGE(open->to, 0);
	DAMAGE(open->cancelled_ns, 1);
	DAMAGE(open->to, TQ_COMMAND_TO_ANY);
	DAMAGE(open->name[0], 0);
	memset(open->name, 'x', sizeof(open->name));
	DAMAGE(open->name[0], 'x');
	DAMAGE(d->state, TQ_ANSWER_WAITING);
	DAMAGE(d->state, 9);
	DAMAGE(d->worker, s.worker);
	DAMAGE(d->worker, 0);
	DAMAGE(d->generation, 77);
	DAMAGE(waits->state, TQ_ANSWER_TAKEN);
	DAMAGE(waits->state, TQ_ANSWER_GONE);
	DAMAGE(worker->command, 0);
	DAMAGE(worker->command, tqi_id_index(s.open));
	DAMAGE(worker->command, 0xffffff);
	DAMAGE(worker->flags, 0);
	DAMAGE(worker->generation, 77);
	close_intact(&f, &image);
}

static struct tqi_extra *extra_of(struct fixture *f, uint64_t id)
{
	const struct tqi_task *t = task_of(f, id);

	return (void *)(f->box.seg.base + ((uint64_t)t->payload << TQI_UNIT_SHIFT) +
			tqi_extra_at(t->payload_bytes, t->label_bytes));
}

static struct tqi_key *key_of(struct fixture *f, uint64_t id)
{
	return tqi_table_peek(&f->box.seg, TQI_KEYS, extra_of(f, id)->key);
}

static struct tqi_group *group_of(struct fixture *f, uint64_t id)
{
	return tqi_table_peek(&f->box.seg, TQI_GROUPS, tqi_id_index(id));
}

/* D5: groups, their members and graphs. */
static void test_damage_of_groups_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_group *open = group_of(&f, s.open_group),
			 *whole = group_of(&f, s.complete_group);
	struct tqi_group *cancelled = group_of(&f, s.cancelled_group),
			 *graph = group_of(&f, s.graph);
	struct tqi_extra *waits = extra_of(&f, s.member), *ended = extra_of(&f, s.member_ended);
	struct tqi_extra *shut = extra_of(&f, s.shut), *last = extra_of(&f, open->completion_id);

	DAMAGE(root->group.owned.first, 0);
	DAMAGE(root->group.owned.last, 0);
	DAMAGE(root->group.ended.first, 0xffffff);
	DAMAGE(root->group.ended.first, tqi_id_index(s.open_group));
	DAMAGE(root->group.busy, 0);
	DAMAGE(root->group.busy_last, 0);
	DAMAGE(root->group.cursor, 77);
	DAMAGE(root->group.closing, 1); /* nobody has shut it down */
	DAMAGE(root->group.waiters, 1);
	DAMAGE(open->state, TQI_GROUP_FREE);
	DAMAGE(open->state, TQI_GROUP_COMPLETE);
	DAMAGE(open->state, 9);
	DAMAGE(open->generation, 0);
	DAMAGE(open->condition, 0);
	DAMAGE(open->cancelled, 1);
	DAMAGE(open->work, TQI_GROUP_RELEASING);
	DAMAGE(open->work, 9);
	DAMAGE(open->completion, 0);
	DAMAGE(open->completion, tqi_id_index(s.member));
	DAMAGE(open->members, 1);
	DAMAGE(open->unfinished, 0);
	DAMAGE(open->ends, 0);
	DAMAGE(open->ends, 9);
	DAMAGE(open->states[TQ_DONE], 0);
	DAMAGE(open->states[TQ_READY], 0);
	DAMAGE(open->first, 0);
	DAMAGE(open->last, tqi_id_index(s.shut));
	DAMAGE(open->ended_last, 0);
	DAMAGE(open->walk, 0xffffff);
	DAMAGE(open->waiters, 1);
	memset(open->label, 'x', sizeof(open->label));
	DAMAGE(open->label[0], 'x');
	DAMAGE(whole->state, TQI_GROUP_SEALED);
	DAMAGE(whole->completion, tqi_id_index(s.member));
	DAMAGE(cancelled->work, TQI_GROUP_IDLE);
	DAMAGE(cancelled->busy_next, 0xffffff);
	DAMAGE(graph->owner.pid, 0);
	DAMAGE(graph->state, TQI_GROUP_OPEN);
	DAMAGE(graph->work, TQI_GROUP_CANCELLING);
	DAMAGE(waits->group, 0);
	DAMAGE(waits->group, 0xffffff);
	DAMAGE(waits->group_prev, 0);
	DAMAGE(waits->group_next, tqi_id_index(s.member_ended));
	DAMAGE(waits->counted, TQ_DONE);
	DAMAGE(waits->pinned, 0);
	DAMAGE(waits->shut, 1);
	DAMAGE(ended->counted, 0);
	DAMAGE(ended->counted, TQ_READY);
	DAMAGE(ended->group_order, 0);
	DAMAGE(shut->shut, 0);
	DAMAGE(last->completes, 0);
	DAMAGE(last->completes, 0xffffff);
	close_intact(&f, &image);
}

/* G2: limits, lanes and parkings. */
static void test_damage_of_limits_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_extra *extra = extra_of(&f, s.parked);
	struct tqi_limit *full = tqi_table_peek(&f.box.seg, TQI_LIMITS, extra->limits[0]);
	struct tqi_limit *roomy = tqi_table_peek(&f.box.seg, TQI_LIMITS, extra->limits[1]);
	struct tqi_limit *rated =
		tqi_table_peek(&f.box.seg, TQI_LIMITS, extra_of(&f, s.rated)->limits[0]);
	struct tqi_task *parked = task_of(&f, s.parked), *holder = task_of(&f, s.holder);
	struct tqi_lane *lane = tqi_table_peek(&f.box.seg, TQI_LANES, parked->lane);
	struct tqi_lane *parking = tqi_table_peek(&f.box.seg, TQI_LANES, lane->parking);
	struct tqi_class *class = tqi_table_peek(&f.box.seg, TQI_CLASSES, lane->class_);

	assert_string_equal(full->name, "full");
	assert_int_equal(parking->state, TQI_PARKING_CLOSED);
	DAMAGE(root->limit.loosened, 1);
	DAMAGE(root->limit.loosened, 0xffffff);
	DAMAGE(root->named.limits.count, 1);
	DAMAGE(root->named.limits.buckets, 0);
	DAMAGE(root->named.limits.heads.chunks[0], 0);
	DAMAGE(root->named.lanes.count, 1);
	DAMAGE(root->named.lanes.buckets, UINT32_MAX);
	DAMAGE(root->named.lanes.heads.chunks[0], root->named.limits.heads.chunks[0]);
	DAMAGE(full->size, 0);
	DAMAGE(full->used, 0);
	DAMAGE(full->used, 2);
	DAMAGE(full->tasks, 1);
	DAMAGE(full->waiting, 0);
	DAMAGE(full->closed, 0);
	DAMAGE(full->closed, 1);
	DAMAGE(full->closed, 0xffffff);
	DAMAGE(full->loosened, 1);
	DAMAGE(full->bytes, 3);
	DAMAGE(full->name[0], 'x');
	DAMAGE(full->name[0], 0);
	DAMAGE(full->node.hash, 5);
	DAMAGE(full->node.next, 0xffffff);
	DAMAGE(roomy->bytes, 0);
	DAMAGE(roomy->name[0], 0);
	DAMAGE(roomy->size, 0);
	DAMAGE(extra->limits[0], extra->limits[1]);
	DAMAGE(extra->limits[0], 0);
	DAMAGE(extra->limits[1], 0);
	DAMAGE(extra->limits[2], 3);
	DAMAGE(extra->limits[3], 3);
	DAMAGE(extra->limits[2], 0xffffff);
	DAMAGE(parked->lane, 1);
	DAMAGE(parked->lane, lane->parking);
	DAMAGE(holder->lane, parked->lane);
	DAMAGE(holder->state, TQ_READY);
	DAMAGE(lane->limits[0], 0);
	DAMAGE(lane->limits[1], 0);
	DAMAGE(lane->limits[1], 2);
	DAMAGE(lane->class_, 0);
	DAMAGE(lane->members, 2);
	DAMAGE(lane->parking, 0);
	DAMAGE(lane->parking, parked->lane);
	DAMAGE(lane->is_parking, 1);
	DAMAGE(lane->tasks.length, 0);
	DAMAGE(lane->tasks.root.key, 5);
	DAMAGE(lane->node.hash, 5);
	DAMAGE(parking->state, TQI_PARKING_OPEN);
	DAMAGE(parking->state, TQI_PARKING_EMPTY);
	DAMAGE(parking->state, 9);
	DAMAGE(parking->limits[0], 0xffffff);
	DAMAGE(parking->limits[1], 3);
	DAMAGE(parking->is_parking, 0);
	DAMAGE(parking->prev, 1);
	DAMAGE(parking->next, 1);
	DAMAGE(parking->members, 9);
	DAMAGE(parking->tasks.length, 0);
	DAMAGE(parking->tasks.root.key, 5);
	DAMAGE(class->lane_count, 1);
	DAMAGE(class->parked, 0);
	DAMAGE(rated->rate, 0);
	DAMAGE(rated->burst, 0);
	DAMAGE(rated->interval_ns, 0);
	DAMAGE(rated->interval_ns, UINT64_MAX);
	DAMAGE(rated->tokens, 4);
	DAMAGE(rated->tokens, 1);
	DAMAGE(rated->part, SECOND);
	DAMAGE(rated->filled_ns, UINT64_MAX);
	DAMAGE(rated->next_ns, 0);
	DAMAGE(rated->next_ns, 5);
	DAMAGE(rated->booked, 0);
	DAMAGE(roomy->booked, 1);
	DAMAGE(root->limit.rates, 0);
	DAMAGE(root->limit.refills.length, 0);
	DAMAGE(root->limit.refills.root.key, 5);
	close_intact(&f, &image);
}

/* B6: tenants, their classes, and the heaps of streams. */
static void test_damage_of_tenants_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_task *task = task_of(&f, s.fair), *done = task_of(&f, s.fair_done);
	struct tqi_queue *queue = tqi_table_peek(&f.box.seg, TQI_QUEUES, task->queue);
	struct tqi_kind *kind = tqi_table_peek(&f.box.seg, TQI_KINDS, task->kind);
	struct tqi_extra *extra = extra_of(&f, s.fair);
	struct tqi_tenant *tenant = tqi_table_peek(&f.box.seg, TQI_TENANTS, extra->tenant);
	struct tqi_tenant *own = tqi_table_peek(&f.box.seg, TQI_TENANTS, queue->tenant);
	struct tqi_lane *lane = tqi_table_peek(&f.box.seg, TQI_LANES, task->lane);
	struct tqi_class *class = tqi_table_peek(&f.box.seg, TQI_CLASSES, lane->class_);
	struct tqi_stream *stream = tqi_table_peek(&f.box.seg, TQI_STREAMS, queue->streams);
	struct tqi_class *others = tqi_table_peek(&f.box.seg, TQI_CLASSES, 1);
	struct tqi_attempt *attempt =
		tqi_table_peek(&f.box.seg, TQI_ATTEMPTS, task_of(&f, s.fair_running)->attempt);

	assert_string_equal(tenant->name, "tenant a");
	assert_true(attempt->charged_us > 0 && class->competes && stream->tenant_classes &&
		    !others->tenant);
	DAMAGE(root->named.tenants.count, 1);
	DAMAGE(root->named.tenants.buckets, 0);
	DAMAGE(root->named.tenants.heads.chunks[0], 0);
	DAMAGE(tenant->tasks, 9);
	DAMAGE(tenant->chains[1].first, 0);
	DAMAGE(tenant->chains[1].first, 0xffffff);
	DAMAGE(tenant->chains[1].first, 1);
	DAMAGE(tenant->chains[1].left, 9);
	DAMAGE(tenant->chains[0].left, 1);
	DAMAGE(tenant->sequence, UINT64_MAX / 2);
	DAMAGE(tenant->tag_us, -1);
	DAMAGE(tenant->credit_us, -1);
	DAMAGE(tenant->overdue_turn, 2);
	DAMAGE(tenant->queue, 1);
	DAMAGE(tenant->queue, 999);
	DAMAGE(tenant->bytes, 0);
	DAMAGE(tenant->bytes, 200);
	DAMAGE(tenant->name[0], 'x');
	DAMAGE(tenant->name[0], 0);
	DAMAGE(tenant->node.hash, 5);
	DAMAGE(tenant->node.next, 0xffffff);
	DAMAGE(own->bytes, 3);
	DAMAGE(own->queue, 1);
	DAMAGE(queue->fair, 2);
	DAMAGE(queue->fair, 0);
	DAMAGE(queue->fair_time_us, -1);
	DAMAGE(queue->tenant, 0);
	DAMAGE(queue->tenant, extra->tenant);
	DAMAGE(queue->tenant, 0xffffff);
	DAMAGE(queue->chains[0].left, 1);
	DAMAGE(queue->chains[1].left, 0);
	DAMAGE(queue->hybrid, 5);
	DAMAGE(queue->flags, 0);
	DAMAGE(queue->era, 5);
	DAMAGE(kind->mean_us, -1);
	DAMAGE(class->tenant, 0);
	DAMAGE(class->tenant, queue->tenant);
	DAMAGE(class->tenant, 0xffffff);
	DAMAGE(class->competes, 0);
	DAMAGE(class->next, 0xffffff);
	DAMAGE(class->prev, 0xffffff);
	DAMAGE(class->kind, 2);
	DAMAGE(class->band, 1);
	DAMAGE(class->era, 0);
	DAMAGE(stream->tenant_classes, 0);
	DAMAGE(stream->tenant_classes, 99);
	DAMAGE(stream->held, 1);
	DAMAGE(stream->busy, 0);
	DAMAGE(queue->busy[0], 0);
	DAMAGE(queue->busy[3], 1);
	DAMAGE(stream->tenants.length, 0);
	DAMAGE(stream->tenants.root.key, INT64_MAX);
	DAMAGE(stream->tenants.root.key, -1);
	DAMAGE(stream->tenants.root.tag, 0);
	DAMAGE(others->competes, 1);
	DAMAGE(extra->tenant, 0);
	DAMAGE(extra->tenant, queue->tenant);
	DAMAGE(extra->tenant, 0xffffff);
	DAMAGE(task->lane, others->plain);
	DAMAGE(task->queue, 1);
	DAMAGE(done->state, TQ_READY);
	DAMAGE(attempt->charged_us, -1);
	DAMAGE(lane->members, 0);
	close_intact(&f, &image);
}

static void test_damage_of_servers_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_task *running = task_of(&f, s.at_server), *done = task_of(&f, s.was_at_server);
	struct tqi_queue *queue = tqi_table_peek(&f.box.seg, TQI_QUEUES, running->queue);
	struct tqi_attempt *attempt = tqi_table_peek(&f.box.seg, TQI_ATTEMPTS, running->attempt);
	struct tqi_server *leaving = tqi_table_peek(&f.box.seg, TQI_SERVERS, attempt->server);
	struct tqi_server *b = tqi_table_peek(&f.box.seg, TQI_SERVERS, 2);
	struct tqi_pool *home = tqi_table_peek(&f.box.seg, TQI_POOLS, queue->home);
	struct tqi_pool *pool = tqi_table_peek(&f.box.seg, TQI_POOLS, b->pool);

	assert_string_equal(leaving->name, "http://a");
	assert_string_equal(b->name, "http://b");
	assert_string_equal(pool->pattern, "http://");
	assert_true(leaving->leaving && (done->flags & TQI_TASK_SERVED));
	DAMAGE(root->named.servers.count, 9);
	DAMAGE(root->named.servers.buckets, 0);
	DAMAGE(root->named.pools.count, 1);
	DAMAGE(root->named.pools.heads.chunks[0], 0);
	DAMAGE(root->carrying.count, 1);
	DAMAGE(queue->home, 0);
	DAMAGE(queue->home, b->pool);
	DAMAGE(queue->home, 0xffffff);
	DAMAGE(queue->servers, 0);
	DAMAGE(queue->carry_at, 1);
	DAMAGE(queue->flags, 0);
	DAMAGE(attempt->server, 0);
	DAMAGE(attempt->server, 2);
	DAMAGE(attempt->server, 0xffffff);
	DAMAGE(leaving->used, 0);
	DAMAGE(leaving->leaving, 0);
	DAMAGE(leaving->queue, 1);
	DAMAGE(b->used, 0);
	DAMAGE(b->leaving, 1);
	DAMAGE(b->leaving, 2);
	DAMAGE(b->pool, 0);
	DAMAGE(b->pool, queue->home);
	DAMAGE(b->pool, 0xffffff);
	DAMAGE(b->turn, 0);
	DAMAGE(b->sequence, UINT64_MAX / 2);
	DAMAGE(b->queue, 0);
	DAMAGE(b->queue, 999);
	DAMAGE(b->bytes, 0);
	DAMAGE(b->bytes, 200);
	DAMAGE(b->name[0], 'x');
	DAMAGE(b->name[7], 'a');
	DAMAGE(b->name[0], 0);
	DAMAGE(b->node.hash, 5);
	DAMAGE(b->node.next, 0xffffff);
	DAMAGE(pool->size, 0);
	DAMAGE(pool->size, 2);
	DAMAGE(pool->used, 0);
	DAMAGE(pool->servers, 0);
	DAMAGE(pool->queue, 0);
	DAMAGE(pool->queue, 1);
	DAMAGE(pool->bytes, 0);
	DAMAGE(pool->bytes, 3);
	DAMAGE(pool->is_prefix, 0);
	DAMAGE(pool->is_prefix, 2);
	DAMAGE(pool->has_room, 0);
	DAMAGE(pool->pattern[0], 'x');
	DAMAGE(pool->load.length, 0);
	DAMAGE(pool->load.root.key, 0);
	DAMAGE(pool->load.root.tag, 5);
	DAMAGE(home->rooms.length, 0);
	DAMAGE(home->rooms.root.key, 7);
	DAMAGE(home->rooms.root.tag, 0);
	DAMAGE(home->pools, 9);
	DAMAGE(home->bytes, 1);
	DAMAGE(home->queue, 0);
	DAMAGE(running->queue, 1);
	DAMAGE(done->state, TQ_READY);
	close_intact(&f, &image);
}

/* A7: keys and their index. */
static void test_damage_of_keys_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_hash_index *index =
		&((struct tqi_root *)tqi_segment_root(&f.box.seg))->named.keys;
	struct tqi_key *key = key_of(&f, s.keyed), *leader = key_of(&f, s.leader);
	struct tqi_key *successor = key_of(&f, s.successor);
	struct tqi_task *blocked = task_of(&f, s.successor);

	DAMAGE(index->count, 3);
	DAMAGE(index->buckets, 7);
	DAMAGE(index->buckets, 0);
	DAMAGE(index->buckets, UINT32_MAX);
	DAMAGE(index->heads.chunks[0], 0);
	DAMAGE(index->heads.chunks[1], index->heads.chunks[0]);
	DAMAGE(index->heads.chunks[9], 5);
	DAMAGE(index->heads.directory, 5);
	DAMAGE(key->node.next, extra_of(&f, s.keyed)->key);
	DAMAGE(key->node.next, 0xffffff);
	DAMAGE(key->node.hash, 5);
	DAMAGE(key->task, 1);
	DAMAGE(key->queue, 2);
	DAMAGE(key->scope, 0);
	DAMAGE(key->scope, 9);
	DAMAGE(key->held, 0);
	DAMAGE(key->bytes, 0);
	DAMAGE(key->bytes, 4);
	DAMAGE(key->name[0], 'x');
	DAMAGE(key->name[4], 0);
	DAMAGE(key->successor, 3);
	DAMAGE(leader->successor, 0);
	DAMAGE(leader->successor, 1);
	DAMAGE(leader->held, 0);
	DAMAGE(successor->held, 1);
	DAMAGE(successor->name[0], 'x');
	DAMAGE(successor->scope, TQ_UNIQUE_ACTIVE);
	DAMAGE(blocked->state, TQ_READY);
	DAMAGE(blocked->state, TQ_DONE);
	DAMAGE(blocked->flags, 0);
	DAMAGE(extra_of(&f, s.keyed)->key, 0);
	DAMAGE(extra_of(&f, s.keyed)->key, 9999);
	DAMAGE(extra_of(&f, s.keyed)->key, extra_of(&f, s.leader)->key);
	DAMAGE(extra_of(&f, s.successor)->key, 0);
	close_intact(&f, &image);
}

/* D1, D3: dependencies and what they come to. */
static void test_damage_of_dependencies_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);
	struct tqi_task *blocked = task_of(&f, s.blocked), *on = task_of(&f, s.waited_for);
	struct tqi_task *refused = task_of(&f, s.refused), *refuser = task_of(&f, s.refuser);
	struct tqi_task *reviving = task_of(&f, s.reviving);
	struct tqi_extra *extra = extra_of(&f, s.blocked), *no = extra_of(&f, s.refused);
	struct tqi_edge *open = tqi_table_peek(&f.box.seg, TQI_EDGES, extra->after);
	struct tqi_edge *met = tqi_table_peek(&f.box.seg, TQI_EDGES, open->next_of_waiter);
	struct tqi_edge *never = tqi_table_peek(&f.box.seg, TQI_EDGES, no->after);

	assert_int_equal(open->told, TQI_EDGE_OPEN);
	assert_int_equal(met->told, TQI_EDGE_TOLD);
	assert_int_equal(never->told, TQI_EDGE_REFUSED);
	DAMAGE(root->telling.first, 0);
	DAMAGE(root->telling.last, 0);
	DAMAGE(blocked->state, TQ_READY);
	DAMAGE(blocked->sequence, 1);
	DAMAGE(extra->unmet, 0);
	DAMAGE(extra->unmet, 2);
	DAMAGE(extra->after, 0);
	DAMAGE(extra->after, no->after);
	DAMAGE(extra->after, UINT32_MAX);
	DAMAGE(extra->after_count, 1);
	DAMAGE(extra->again, 1);
	DAMAGE(on->pins, 0);
	DAMAGE(open->told, TQI_EDGE_TOLD);
	DAMAGE(open->told, TQI_EDGE_REFUSED);
	DAMAGE(open->kind, 0);
	DAMAGE(open->kind, 4);
	DAMAGE(open->waiter, 1);
	DAMAGE(open->task, tqi_id_index(s.blocked));
	DAMAGE(open->task, tqi_id_index(s.refuser));
	DAMAGE(open->next_of_waiter, 0);
	DAMAGE(open->next_of_waiter, no->after);
	DAMAGE(open->prev, 1);
	DAMAGE(met->told, TQI_EDGE_OPEN);
	DAMAGE(met->told, TQI_EDGE_REFUSED);
	DAMAGE(never->told, TQI_EDGE_OPEN);
	DAMAGE(never->told, TQI_EDGE_TOLD);
	DAMAGE(never->task, tqi_id_index(s.ready));
	DAMAGE(no->culprit, 0);
	DAMAGE(no->culprit, s.waited_for);
	DAMAGE(refused->cause, TQ_CAUSE_CANCELLED);
	DAMAGE(refuser->edges, 0);
	DAMAGE(reviving->flags, reviving->flags & ~TQI_TASK_TELLING);
	DAMAGE(reviving->state, TQ_READY);
	DAMAGE(reviving->edges, 0);
	close_intact(&f, &image);
}

/* H2: streams, with histograms that are no larger than their counters; H5: the ring. */
static void test_damage_of_streams_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_core *core = tqi_segment_core(&f.box.seg);
	struct tqi_stream *stream = tqi_table_peek(&f.box.seg, TQI_STREAMS, 1);
	const struct tqi_task *fair_task = task_of(&f, s.fair);
	struct tqi_queue *queue = tqi_table_peek(&f.box.seg, TQI_QUEUES, stream->queue);
	struct tqi_queue *fair = tqi_table_peek(&f.box.seg, TQI_QUEUES, fair_task->queue);
	struct tqi_by_kind *by_kind =
		(void *)(f.box.seg.base + ((uint64_t)queue->by_kind << TQI_UNIT_SHIFT));
	struct tqi_stream *other = tqi_table_peek(&f.box.seg, TQI_STREAMS, fair->streams);
	struct tqi_times *times = tqi_table_peek(&f.box.seg, TQI_TIMES, stream->times);

	assert_true(stream->times && other->times && stream->times != other->times);
	DAMAGE(queue->streams, 0);
	DAMAGE(queue->streams, 0xffffff);
	DAMAGE(queue->streams, fair->streams);
	DAMAGE(queue->by_kind, 0);
	DAMAGE(queue->by_kind, fair->by_kind);
	DAMAGE(queue->by_kind, 0xffffff);
	DAMAGE(by_kind->streams[stream->kind], 0);
	DAMAGE(by_kind->streams[stream->kind], fair->streams);
	DAMAGE(by_kind->streams[stream->kind], 0xffffff);
	DAMAGE(by_kind->streams[0], 1);
	DAMAGE(by_kind->streams[TQI_KINDS_MAX], 1);
	DAMAGE(stream->queue, 999);
	DAMAGE(stream->queue, other->queue);
	DAMAGE(stream->kind, 0);
	DAMAGE(stream->kind, 999);
	DAMAGE(stream->next, 1);
	DAMAGE(stream->next, 0xffffff);
	DAMAGE(stream->depth[TQ_READY], 99);
	DAMAGE(stream->depth[TQ_FREE], 99);
	DAMAGE(stream->times, other->times);
	DAMAGE(stream->times, 0xffffff);
	DAMAGE(other->times, stream->times);
	DAMAGE(times->queue, 999);
	DAMAGE(times->kind, times->kind + 1);
	DAMAGE(times->of[TQI_TIMED_WAIT].buckets[9], stream->started + 1);
	DAMAGE(times->of[TQI_TIMED_WAIT].buckets[0], UINT64_MAX);
	DAMAGE(times->of[TQI_TIMED_RUN].buckets[TQI_HISTOGRAM_BUCKETS - 1], 1);
	DAMAGE(times->of[TQI_TIMED_LIFE].buckets[9], 1000);
	DAMAGE(stream->started, 0);
	DAMAGE(core->tables[TQI_TIMES].live, 0);
	DAMAGE(core->tables[TQI_TIMES].free, 1);
	DAMAGE(core->tables[TQI_TIMES].count, UINT32_MAX);
	DAMAGE(core->ring_head, 0);
	close_intact(&f, &image);
}

static void test_memory_damage_is_found_and_mended(void **state)
{
	struct tqt_image image;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	const struct tqi_geometry *g = &f.box.seg.geometry;
	struct tqi_span *spans = (struct tqi_span *)(void *)(f.box.seg.base + g->spans);
	uint64_t *map = (uint64_t *)(void *)(f.box.seg.base + g->span_map);
	uint8_t *extents = f.box.seg.base + g->extents;
	uint32_t *tasks = (uint32_t *)(void *)(f.box.seg.base + g->tables[TQI_TASKS].directory);
	uint32_t *places = (uint32_t *)(void *)(f.box.seg.base + g->positions[TQI_FAMILY_LANE]);
	uint32_t blocks = task_of(&f, s.finished)->error >> (TQI_SPAN_SHIFT - TQI_UNIT_SHIFT);

	DAMAGE(spans[blocks].used, 1);
	DAMAGE(spans[blocks].bump, 1);
	DAMAGE(spans[blocks].free, 1);
	DAMAGE(spans[blocks].class_, 9);
	DAMAGE(spans[blocks].use, TQI_SPAN_RUN);
	DAMAGE(spans[blocks].prev, 3);
	DAMAGE(map[0], map[0] ^ 1);
	DAMAGE(map[1], map[1] ^ 1ull << 60);
	DAMAGE(extents[0], 9);
	DAMAGE(extents[10], TQI_EXTENT_MOVING);
	DAMAGE(extents[10], TQI_EXTENT_HERE);
	DAMAGE(tasks[0], 0);
	DAMAGE(tasks[0], blocks);
	DAMAGE(tasks[0], UINT32_MAX);
	DAMAGE(places[0], 0);
	close_intact(&f, &image);
}

/* Bytes of any value anywhere: findings perhaps, crashes and endless loops never. */
static void test_random_bytes_never_crash(void **state)
{
	struct tqt_image image;
	uint64_t random = 12, found = 0, mended = 0;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	uint64_t max = f.box.seg.geometry.max_bytes;
	unsigned char *base = mmap(NULL, max, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(base, MAP_FAILED);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t hits = 1u << tqt_below(&random, 12);
		bool records = tqt_below(&random, 2);

		memcpy(base, image.bytes, image.size);
		for (uint32_t i = 0; i < hits; i++) {
			/* The header is trusted: attach has verified it. */
			uint64_t at = 4096 + tqt_random(&random) % (image.size - 4096 - 8);
			uint64_t value = tqt_random(&random) >> tqt_below(&random, 64);

			if (records) /* the fixed part and what came first behind it */
				at = 4096 + at % (f.box.seg.geometry.fixed_bytes + (1u << 20));
			memcpy(base + (at & ~3ull), &value, tqt_below(&random, 2) ? 8 : 1);
		}
		found += check(&f.box.seg, base) != 0;
		int r = rebuild(&f.box.seg, base);

		if (r == 0 && check(&f.box.seg, base))
			fail_msg("round %d: not mended: %s", round, last_finding);
		mended += r == 0;
	}
	print_message("%u of %u noticed, %u mended\n", (unsigned)found, ROUNDS, (unsigned)mended);
	assert_true(found > ROUNDS * 3 / 10 && mended > ROUNDS * 9 / 10);
	munmap(base, max);
	close_intact(&f, &image);
}

static void kill_one_repair(struct fixture *f, uint64_t *random)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			(void)rebuild(&f->box.seg, f->box.seg.base);
	const struct timespec ts = { .tv_nsec = tqt_below(random, 3000000) };

	nanosleep(&ts, NULL);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Wherever a repair is killed, the next one mends all. */
static void test_repair_killed_and_run_again(void **state)
{
	struct tqt_image image;
	uint64_t random = 3, unfinished = 0;
	struct fixture f;
	struct scene s;

	(void)state;
	open_intact(&f, &s, &image);
	struct tqi_root *root = tqi_segment_root(&f.box.seg);

	for (int round = 0; round < 200; round++) {
		tqt_image_restore(&image, &f.box.seg);
		root->ready = 0;
		task_of(&f, s.ready)->lane = 99;
		kill_one_repair(&f, &random);
		unfinished += !!(root->flags & TQI_ROOT_REPAIR);
		/* Whoever gets the lock finds that nothing is to be undone (TX-8). */
		if (tqi_segment_core(&f.box.seg)->undo == TQI_UNDO_OFF)
			assert_int_equal(tqi_tx_rollback(&f.box.seg), TQ_ECORRUPT);
		else
			assert_int_equal(tqi_tx_rollback(&f.box.seg), 0);
		assert_mended(&f, &image, "killed half-way");
	}
	assert_true(unfinished > 20);
	close_intact(&f, &image);
}

/* Tasks of all sorts, until there is no memory for one more. */
static uint32_t fill_up(struct fixture *f, uint64_t *random)
{
	static const char *const limits[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	static const char payload[6000];
	uint32_t n = 0;
	uint64_t id;
	int r = 0;

	for (; r >= 0 || tqt_box_grow(&f->box, 1); n++) {
		char key[16];
		struct tq_task_spec spec = { .payload = payload,
					     .payload_bytes = tqt_below(random, n % 8 ? 200 : 6000),
					     .limits = &limits[tqt_below(random, 7)],
					     .limit_count = tqt_below(random, 3),
					     .unique_key = n % 5 ? NULL : key,
					     .delay_ns = n % 7 ? 0 : SECOND };

		snprintf(key, sizeof(key), "%u", n);
		r = try_submit(f, spec, &id);
	}
	return n;
}

/* Also one in which nothing else has room, and no memory can be had. */
static void test_full_segment_is_mended(void **state)
{
	struct tqt_box_options o = { .max_bytes = 8ull << 20 };
	struct fixture f = { .tx = { .undo = 0 } };
	uint64_t random = 5;

	(void)state;
	for (uint32_t round = 0; round < 5; round++) {
		tqt_box_open(&f.box, &o);
		assert_true(fill_up(&f, &random) > 1000);
		struct tqi_root *root = tqi_segment_root(&f.box.seg);
		const uint32_t unfinished = root->unfinished;

		root->ready++;
		root->named.limits.buckets = 7;
		assert_int_equal(rebuild(&f.box.seg, f.box.seg.base), 0);
		if (check(&f.box.seg, f.box.seg.base))
			fail_msg("%s", last_finding);
		assert_int_equal(root->unfinished, unfinished);
		tqt_box_close(&f.box);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_damage_of_sleepers_is_found_and_mended),
		cmocka_unit_test(test_damage_is_found_and_mended),
		cmocka_unit_test(test_damage_of_names_is_found_and_mended),
		cmocka_unit_test(test_damage_of_waits_is_found_and_mended),
		cmocka_unit_test(test_damage_of_extras_is_found_and_mended),
		cmocka_unit_test(test_policy_damage_is_found_and_mended),
		cmocka_unit_test(test_damage_of_keys_is_found_and_mended),
		cmocka_unit_test(test_damage_of_limits_is_found_and_mended),
		cmocka_unit_test(test_damage_of_groups_is_found_and_mended),
		cmocka_unit_test(test_damage_of_commands_is_found_and_mended),
		cmocka_unit_test(test_damage_of_tenants_is_found_and_mended),
		cmocka_unit_test(test_damage_of_servers_is_found_and_mended),
		cmocka_unit_test(test_damage_of_dependencies_is_found_and_mended),
		cmocka_unit_test(test_damage_of_streams_is_found_and_mended),
		cmocka_unit_test(test_memory_damage_is_found_and_mended),
		cmocka_unit_test(test_random_bytes_never_crash),
		cmocka_unit_test(test_repair_killed_and_run_again),
		cmocka_unit_test(test_full_segment_is_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
