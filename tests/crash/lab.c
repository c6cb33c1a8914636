/* SPDX-License-Identifier: MIT */
/* Restore, kill, rescue; the rescue itself stepped. */
#include "tests/crash/lab.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "scheduler/check/check.h"
#include "taskq/taskq.h"

void tqt_fault(struct tqt_sweep *sweep, uint32_t level, const char *format, ...)
{
	va_list args;

	if (sweep->faults++ >= TQT_FAULTS_SHOWN)
		return;
	printf("FAULT %s/%s step %llu level %u: ", sweep->operation, sweep->state,
	       (unsigned long long)sweep->steps[0], level);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

double tqt_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

bool tqt_time_is_over(const struct tqt_sweep *sweep)
{
	return sweep->end_s > 0 && tqt_seconds() >= sweep->end_s;
}

bool tqt_robust_changed(const struct tqt_thread *thread, uintptr_t seen[2])
{
	const volatile struct robust_list_head *head = thread->robust;
	uintptr_t now[2] = { (uintptr_t)head->list.next, (uintptr_t)head->list_op_pending };
	bool changed = now[0] != seen[0] || now[1] != seen[1];

	seen[0] = now[0];
	seen[1] = now[1];
	return changed;
}

static void blank(unsigned char *page, uint64_t page_at, uint64_t from, uint64_t bytes)
{
	for (uint64_t at = from; at < from + bytes; at++)
		if (at >= page_at && at < page_at + TQT_PAGE)
			page[at - page_at] = 0;
}

#define BLANK_FIELD(field)                                                                         \
	blank(page, at, g->core + offsetof(struct tqi_core, field),                                \
	      sizeof(((struct tqi_core *)0)->field))

/*
 * What no rescuer reads: unused journal entries, the holder's record (rewritten by
 * each), statistics, and of the lock all but its word.
 */
static void normalise(const struct tqi_segment *seg, unsigned char *page, uint64_t at)
{
	const struct tqi_geometry *g = &seg->geometry;
	uint64_t used = tqi_segment_core(seg)->undo_count * sizeof(struct tqi_undo);

	blank(page, at, g->core + 4, sizeof(pthread_mutex_t) - 4);
	BLANK_FIELD(holder_tid);
	BLANK_FIELD(holder_pid);
	BLANK_FIELD(holder_start);
	BLANK_FIELD(version);
	blank(page, at, g->core + offsetof(struct tqi_core, undo) + 4, 4); /* its mark */
	BLANK_FIELD(rollbacks);
	BLANK_FIELD(closed);
	BLANK_FIELD(undone);
	BLANK_FIELD(mended);
	blank(page, at, g->journal + used, TQI_JOURNAL_MAX * sizeof(struct tqi_undo) - used);
}

static uint64_t hash_page(uint32_t number, const unsigned char *page)
{
	uint64_t h = number * 0x9e3779b97f4a7c15ull, word;

	for (uint32_t i = 0; i < TQT_PAGE; i += sizeof(word)) {
		memcpy(&word, page + i, sizeof(word));
		h = (h ^ word) * 0xff51afd7ed558ccdull;
		h ^= h >> 29;
	}
	return h;
}

/* Identity of an image: of all pages that differ from the start. */
static uint64_t key_of(const struct tqt_lab *lab)
{
	const struct tqi_geometry *g = &lab->seg.geometry;
	uint64_t special_end = g->journal + TQI_JOURNAL_MAX * sizeof(struct tqi_undo), key = 0;
	unsigned char copy[TQT_PAGE];

	for (uint32_t i = 0; i < lab->map.count; i++) {
		uint32_t page = lab->map.pages[i];
		uint64_t at = (uint64_t)page * TQT_PAGE;
		const unsigned char *bytes = tqt_map_page(&lab->map, page);

		if (at + TQT_PAGE > g->core && at < special_end) {
			memcpy(copy, bytes, TQT_PAGE);
			normalise(&lab->seg, copy, at);
			key += hash_page(page, copy);
		} else if (memcmp(bytes, lab->sweep->start.bytes + at, TQT_PAGE) != 0) {
			key += hash_page(page, bytes);
		}
	}
	return key;
}

#define MARK_STEPPED 1

/* Whether it goes the same way from here on as one that was stepped already. */
static bool was_passed(const struct tqt_lab *lab)
{
	bool is_new;

	if (lab->sweep->intact) { /* by where it is, too: the next one would begin anew */
		tqt_seen_at(&lab->sweep->passed, key_of(lab) ^ tqt_step_place(&lab->stepper),
			    &is_new);
		return !is_new;
	}
	/* On from an image whose rescue has been stepped. */
	return tqi_segment_core(&lab->seg)->undo_count < lab->undo_first &&
	       *tqt_seen_at(&lab->sweep->seen, key_of(lab->next), &is_new) & MARK_STEPPED;
}

/* After each step of a rescue. */
static bool look(struct tqt_stepper *stepper)
{
	struct tqt_lab *lab = stepper->arg;

	/* Both are asked: each remembers what it saw. */
	bool bytes = tqt_map_changed(&lab->map);
	bool locks = tqt_robust_changed(&lab->thread, lab->robust_seen);

	if (!bytes && !locks)
		return true;
	tqt_lab_examine(lab->next, &lab->thread);
	if (tqt_time_is_over(lab->sweep))
		return false;
	return lab->sweep->thorough || !was_passed(lab);
}

/* Whether anybody but a repair is refused. */
static bool is_closed(struct tqt_lab *lab)
{
	struct tqi_tx tx;
	int r = tqi_hold_begin(lab->tq, &tx);

	return (r < 0 ? r : tqi_hold_end(lab->tq, &tx, 0)) == TQ_ECORRUPT;
}

static bool is_begun(const struct tqt_lab *lab)
{
	char why[160];

	for (uint32_t i = 0; i < lab->map.count; i++) {
		uint64_t at = (uint64_t)lab->map.pages[i] * TQT_PAGE;

		if (!tqt_image_same_in(&lab->sweep->start, &lab->seg, at, at + TQT_PAGE, why))
			return true;
	}
	return false;
}

/*
 * TX-8: from its first store to its last others are refused, until another repair has come
 * to its end.  Where they are not, all must be done: the verification looks at it as it is.
 */
static int repair(struct tqt_lab *lab)
{
	if (!is_closed(lab) && is_begun(lab))
		return 0;
	int r = tq_check(lab->tq, TQ_CHECK_REPAIR, NULL, NULL);

	return r < 0 ? r : 0;
}

/* As anybody does who takes the lock. */
static int take_lock(struct tqt_lab *lab)
{
	int r = tqi_lock(&lab->seg, &tqi_self(lab->tq)->thread, lab->tq->lock_timeout_ns);

	if (r == 0)
		tqi_unlock(&lab->seg);
	return r;
}

static void rescue(struct tqt_lab *lab)
{
	if (lab->next) {
		lab->stepper =
			(struct tqt_stepper){ .look = look, .arg = lab, .stores = &lab->map };
		lab->undo_first = tqi_segment_core(&lab->seg)->undo_count;
		tqt_robust_changed(&lab->thread, lab->robust_seen);
		tqt_step_begin(&lab->stepper);
	}
	int r = lab->sweep->intact ? repair(lab) : take_lock(lab);

	if (lab->next)
		tqt_step_end();
	lab->sweep->steps[lab->level] += lab->stepper.steps;
	lab->stepper.steps = 0;
	if (r < 0)
		tqt_fault(lab->sweep, lab->level, "rescue: %s", tq_error_name(r));
	else
		tqt_verify(lab);
	struct tqt_held held;

	tqt_thread_held(&lab->thread, &held);
	if (held.count) {
		tqt_fault(lab->sweep, lab->level, "the rescuer still holds %u mutexes", held.count);
		exit(1); /* the next image would be restored over a live list */
	}
}

static void examine(struct tqt_lab *lab)
{
	struct tqt_sweep *sweep = lab->sweep;
	bool is_new;

	tqt_map_copy(&lab->map, lab->dying->map);
	tqt_thread_die(lab->dying, lab->map.base);
	tqt_map_changed(&lab->map);
	uint8_t *mark = tqt_seen_at(&sweep->seen, key_of(lab), &is_new);

	if (!is_new && (*mark & MARK_STEPPED || !lab->next) && !sweep->boundary)
		return;
	sweep->states[lab->level - 1]++;
	if (lab->next)
		*mark |= MARK_STEPPED;
	lab->system.now_ns = sweep->system->now_ns;
	lab->system.woken_count = 0;
	tqt_handle_forget(lab->tq);
	if (lab->level == 1 && !sweep->intact)
		tqt_observe(lab);
	rescue(lab);
}

static void *work(void *arg)
{
	struct tqt_lab *lab = arg;

	tqt_step_thread();
	tqt_thread_here(&lab->thread, &lab->map);
	for (;;) {
		sem_wait(&lab->go);
		if (!lab->dying)
			return NULL;
		examine(lab);
		sem_post(&lab->done);
	}
}

void tqt_lab_examine(struct tqt_lab *lab, const struct tqt_thread *dying)
{
	lab->dying = dying;
	sem_post(&lab->go);
	while (sem_wait(&lab->done) < 0)
		;
}

static struct tqt_lab *open_labs; /* the last is followed by NULL */

/* Observers read a segment's file: of a lab's, what it maps, without a system call.  (Linked by
 * --wrap.) */
ssize_t __real_pread(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at);

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at)
{
	for (const struct tqt_lab *lab = open_labs; lab; lab = lab->next) {
		const uint64_t size = lab->seg.geometry.max_bytes, from = (uint64_t)at;

		if (lab->seg.fd != fd || from > size || bytes > size - from)
			continue;
		memcpy(to, lab->seg.base + from, bytes);
		return (ssize_t)bytes;
	}
	return __real_pread(fd, to, bytes, at);
}

static void map_file(struct tqt_lab *lab, uint64_t bytes)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	void *base = fd < 0 || ftruncate(fd, (off_t)bytes) < 0
			     ? MAP_FAILED
			     : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED) {
		perror("lab");
		exit(1);
	}
	lab->seg.fd = fd;
	lab->seg.base = base;
	tqt_map_init(&lab->map, base, bytes);
}

static void open_lab(struct tqt_lab *lab, uint32_t level, const struct tqi_segment *like,
		     struct tqt_sweep *sweep)
{
	lab->level = level;
	lab->sweep = sweep;
	lab->seg = *like;
	lab->seg.ops = &lab->system.ops;
	tqt_system_init(&lab->system, 0);
	lab->system.dead_from = level;
	map_file(lab, like->geometry.max_bytes);
	lab->tq = tqt_handle_new(&lab->seg, &lab->system, TQT_PID_RESCUER + level);
	sem_init(&lab->go, 0, 0);
	sem_init(&lab->done, 0, 0);
	if (pthread_create(&lab->pthread, NULL, work, lab))
		exit(1);
}

void tqt_labs_open(struct tqt_lab *labs, uint32_t count, const struct tqi_segment *like,
		   struct tqt_sweep *sweep)
{
	memset(labs, 0, count * sizeof(*labs));
	for (uint32_t i = 0; i < count; i++) {
		labs[i].next = i + 1 < count ? &labs[i + 1] : NULL;
		open_lab(&labs[i], i + 1, like, sweep);
	}
	open_labs = labs;
}

void tqt_labs_close(struct tqt_lab *labs, uint32_t count)
{
	open_labs = NULL;
	for (uint32_t i = 0; i < count; i++) {
		labs[i].dying = NULL;
		sem_post(&labs[i].go);
		pthread_join(labs[i].pthread, NULL);
		tqt_map_free(&labs[i].map);
		tqt_handle_free(labs[i].tq);
		munmap(labs[i].seg.base, labs[i].seg.geometry.max_bytes);
		munmap(labs[i].scratch, labs[i].scratch_bytes);
		close(labs[i].seg.fd);
	}
}

/* By the geometry, which depends on the number of tasks. */
static void reserve_scratch(struct tqt_lab *lab)
{
	uint64_t bytes = tqi_check_scratch_bytes(&lab->seg.geometry);

	if (bytes <= lab->scratch_bytes)
		return;
	if (lab->scratch)
		munmap(lab->scratch, lab->scratch_bytes);
	lab->scratch_bytes = bytes;
	lab->scratch = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (lab->scratch == MAP_FAILED) {
		perror("scratch");
		exit(1);
	}
}

void tqt_labs_begin(struct tqt_lab *labs, uint32_t count, const struct tqi_segment *like)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tqi_segment *seg = &labs[i].seg;

		seg->geometry = like->geometry; /* another number of tasks */
		labs[i].tq->seg.geometry = like->geometry;
		tqt_map_unwatch(&labs[i].map);
		reserve_scratch(&labs[i]);
		memcpy(seg->base, like->base, like->geometry.max_bytes);
		tqt_map_watch(&labs[i].map);
	}
}
