/* SPDX-License-Identifier: MIT */
/* Writing the ledger. */
#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "who.h"

#define NO_SLOT UINT32_MAX

static struct ledger *map(int fd)
{
	void *p = mmap(NULL, sizeof(struct ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct ledger *ledger_create(int *ret_fd)
{
	int fd = memfd_create("taskq-storm-ledger", MFD_CLOEXEC);
	struct ledger *l = NULL;

	if (fd >= 0 && ftruncate(fd, sizeof(struct ledger)) == 0)
		l = map(fd);
	if (!l && fd >= 0)
		close(fd);
	else
		*ret_fd = fd;
	return l;
}

struct ledger *ledger_attach(const char *path, int *ret_lock_fd)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct ledger *l = fd < 0 ? NULL : map(fd);

	if (fd >= 0)
		close(fd);
	/* The mapping keeps the first description alive: locks need one that goes with the fd. */
	*ret_lock_fd = l ? open(path, O_RDWR | O_CLOEXEC) : -1;
	return *ret_lock_fd < 0 ? NULL : l;
}

static void note(struct ledger *l, enum ledger_note what, uint32_t slot, uint64_t who,
		 uint64_t argument)
{
	struct ledger_event *e = &l->event[atomic_fetch_add(&l->events, 1) % LEDGER_EVENTS];

	e->at_ns = 0; /* one that is half written is not shown */
	e->who = who;
	e->slot = slot;
	e->what = what;
	e->argument = argument;
	e->at_ns = now_ns();
}

uint32_t ledger_offer(struct ledger *l, uint32_t count)
{
	uint32_t first = l->tasks;

	do
		if (first + count > LEDGER_TASKS_MAX) {
			l->overflow = 1;
			return NO_SLOT;
		}
	while (!atomic_compare_exchange_weak(&l->tasks, &first, first + count));
	return first;
}

void ledger_describe(struct ledger *l, uint32_t slot, uint32_t traits, uint32_t failures_max)
{
	struct ledger_task *t = &l->task[slot];

	t->traits = traits;
	t->failures_max = failures_max;
	t->state = LEDGER_OFFERED;
	note(l, NOTE_OFFERED, slot, 0, traits);
}

/* Its submitter and its first attempts all know the id. */
static void learn_id(struct ledger *l, uint32_t slot, uint64_t id)
{
	uint64_t known = 0;

	if (!atomic_compare_exchange_strong(&l->task[slot].id, &known, id) && known != id)
		ledger_fault(l, FAULT_GHOST, slot, "it has two ids, %llx and %llx",
			     (unsigned long long)known, (unsigned long long)id);
}

void ledger_seen(struct ledger *l, uint32_t slot, uint64_t id)
{
	if (!l->task[slot].id)
		learn_id(l, slot, id);
}

void ledger_accepted(struct ledger *l, uint32_t slot, uint64_t id)
{
	learn_id(l, slot, id);
	l->task[slot].state = LEDGER_ACCEPTED;
	note(l, NOTE_ACCEPTED, slot, 0, id);
}

void ledger_refused(struct ledger *l, uint32_t slot, int error)
{
	l->task[slot].state = LEDGER_REFUSED;
	note(l, NOTE_REFUSED, slot, 0, (uint64_t)(int64_t)error);
	if (l->task[slot].id)
		ledger_fault(l, FAULT_GHOST, slot, "its submit answered %d, but it is there",
			     error);
}

static void check_life(struct ledger *l, uint32_t slot, uint32_t attempt)
{
	struct ledger_task *t = &l->task[slot];
	uint32_t before = t->attempt;

	if (t->state == LEDGER_REFUSED || t->state == LEDGER_UNUSED)
		ledger_fault(l, FAULT_GHOST, slot, "attempt %u of a task that was not accepted",
			     attempt);
	if ((t->heard & (SAID_DONE | SAID_FATAL)) || t->outcome || t->over)
		ledger_fault(l, FAULT_AFTERLIFE, slot, "attempt %u: heard %x, outcome %u%s",
			     attempt, t->heard, t->outcome,
			     t->over ? ", and who waited for it has begun" : "");
	while (before < attempt && !atomic_compare_exchange_weak(&t->attempt, &before, attempt))
		;
	if (before >= attempt)
		ledger_fault(l, FAULT_TWICE, slot, "attempt %u after attempt %u", attempt, before);
	uint32_t starts = atomic_fetch_add(&t->starts, 1) + 1;

	if ((t->traits & TRAIT_ONCE) && (starts > 1 || attempt > 1))
		ledger_fault(l, FAULT_TWICE, slot, "attempt %u, start %u of at most one", attempt,
			     starts);
}

static void take_over(struct ledger *l, uint32_t slot, uint64_t dead)
{
	uint64_t n;

	if (l->task[slot].traits & TRAIT_STEERED)
		return;
	n = atomic_fetch_add(&l->recoveries, 1);
	if (n >= LEDGER_KILLS_MAX)
		return;
	l->recovery[n].slot = slot;
	l->recovery[n].dead = dead;
	l->recovery[n].at_ns = now_ns();
}

void ledger_begin(struct ledger *l, uint32_t slot, uint64_t id, uint32_t attempt, uint64_t self)
{
	struct ledger_task *t = &l->task[slot];
	uint64_t owner = t->owner;

	learn_id(l, slot, id);
	do
		if (owner && !who_is_gone(owner))
			ledger_fault(l, FAULT_OVERLAP, slot,
				     "attempt %u of process %d: process %d runs one", attempt,
				     (int)who_pid(self), (int)who_pid(owner));
	while (!atomic_compare_exchange_strong(&t->owner, &owner, self));
	t->last = 0;
	if (owner)
		take_over(l, slot, owner);
	check_life(l, slot, attempt);
	ledger_check_links(l, slot);
	note(l, NOTE_BEGIN, slot, self, attempt);
}

static struct flock byte_of(uint32_t slot, short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1
	};
}

bool ledger_lock(struct ledger *l, int fd, uint32_t slot)
{
	struct flock lock = byte_of(slot, F_WRLCK);

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return true;
	ledger_fault(l, FAULT_OVERLAP, slot, "a process of an earlier attempt is there: %s",
		     strerror(errno));
	return false;
}

void ledger_unlock(int fd, uint32_t slot)
{
	struct flock lock = byte_of(slot, F_UNLCK);

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}

void ledger_say(struct ledger *l, uint32_t slot, uint32_t said, uint64_t self)
{
	struct ledger_task *t = &l->task[slot];
	uint64_t owner = self;

	atomic_fetch_or(&t->said, said);
	if (said == SAID_FAIL)
		atomic_fetch_add(&t->failures, 1);
	t->last = said;
	atomic_fetch_add(&l->says, 1);
	note(l, NOTE_SAID, slot, self, said);
	if (!atomic_compare_exchange_strong(&t->owner, &owner, 0))
		ledger_fault(l, FAULT_OVERLAP, slot, "process %d ends its attempt: %d runs one",
			     (int)who_pid(self), (int)who_pid(owner));
}

void ledger_hear(struct ledger *l, uint32_t slot, uint32_t said)
{
	atomic_fetch_or(&l->task[slot].heard, said);
	note(l, NOTE_HEARD, slot, 0, said);
}

void ledger_ask(struct ledger *l, uint32_t slot, uint32_t asked)
{
	atomic_fetch_or(&l->task[slot].asked, asked);
	note(l, NOTE_ASKED, slot, 0, asked);
}

void ledger_outcome(struct ledger *l, uint32_t slot, uint32_t state)
{
	uint32_t before = 0;

	if (atomic_compare_exchange_strong(&l->task[slot].outcome, &before, state)) {
		l->task[slot].ended_ns = now_ns();
		note(l, NOTE_OUTCOME, slot, 0, state);
	} else if (before != state) {
		ledger_fault(l, FAULT_CHANGED, slot, "from %u to %u", before, state);
	}
}

void ledger_killing(struct ledger *l, uint64_t who, uint64_t in_ns)
{
	uint64_t n = atomic_fetch_add(&l->kills, 1);

	if (n >= LEDGER_KILLS_MAX)
		return;
	l->kill[n].who = who;
	l->kill[n].at_ns = now_ns() + in_ns;
}

void ledger_guest(struct ledger *l, uint64_t who)
{
	l->guest[atomic_fetch_add(&l->guests, 1) % LEDGER_GUESTS] = who;
}

static const char *const fault_names[FAULT_COUNT] = {
#define FAULT_NAME(name, text) text,
	FAULT_MAP(FAULT_NAME)
#undef FAULT_NAME
};

void ledger_fault(struct ledger *l, enum fault fault, uint32_t slot, const char *format, ...)
{
	char text[LEDGER_TEXT_MAX];
	uint32_t n;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n = atomic_fetch_add(&l->texts, 1);
	if (n < LEDGER_TEXTS && slot == NO_SLOT)
		snprintf(l->text[n], LEDGER_TEXT_MAX, "%s: %.120s", fault_names[fault], text);
	else if (n < LEDGER_TEXTS)
		snprintf(l->text[n], LEDGER_TEXT_MAX, "task %u: %s: %.120s", slot,
			 fault_names[fault], text);
	atomic_fetch_add(&l->faults[fault], 1);
}

uint32_t ledger_faults(struct ledger *l)
{
	uint32_t sum = 0;

	for (int i = 0; i < FAULT_COUNT; i++)
		sum += l->faults[i];
	return sum;
}
