/* SPDX-License-Identifier: MIT */
/* Reading the ledger aloud. */
#include <stdio.h>
#include <string.h>

#include "ledger.h"
#include "who.h"

#define HISTORIES 4 /* tasks whose history is shown; the first faults say most */

static const char *const notes[] = {
	[NOTE_OFFERED] = "offered, traits", [NOTE_ACCEPTED] = "accepted, id",
	[NOTE_REFUSED] = "refused, error",  [NOTE_BEGIN] = "begins attempt",
	[NOTE_SAID] = "wants to say",	    [NOTE_HEARD] = "was heard to say",
	[NOTE_OUTCOME] = "seen in state",   [NOTE_ASKED] = "is asked to",
};

static void print_event(const struct ledger_event *e)
{
	printf("    %llu.%06llu  ", (unsigned long long)(e->at_ns / S),
	       (unsigned long long)(e->at_ns % S / 1000));
	if (e->who)
		printf("process %d ", (int)who_pid(e->who));
	printf("%s %llx\n", e->what < sizeof(notes) / sizeof(*notes) ? notes[e->what] : "?",
	       (unsigned long long)e->argument);
}

void ledger_print(struct ledger *l, uint32_t slot)
{
	const struct ledger_task *t = &l->task[slot];
	uint64_t end = l->events, at = end > LEDGER_EVENTS ? end - LEDGER_EVENTS : 0;

	printf("  task %u: id %llx, state %u, traits %x, starts %u, attempt %u, failures %u of "
	       "%u,\n"
	       "    said %x, last %x, heard %x, asked %x, outcome %u, owner %d%s\n",
	       slot, (unsigned long long)t->id, t->state, t->traits, t->starts, t->attempt,
	       t->failures, t->failures_max, t->said, t->last, t->heard, t->asked, t->outcome,
	       (int)who_pid(t->owner), t->owner && who_is_gone(t->owner) ? " (gone)" : "");
	for (; at < end; at++) {
		const struct ledger_event *e = &l->event[at % LEDGER_EVENTS];

		if (e->slot == slot && e->at_ns)
			print_event(e);
	}
}

void ledger_print_faults(struct ledger *l)
{
	uint32_t count = l->texts < LEDGER_TEXTS ? l->texts : LEDGER_TEXTS, shown = 0;
	unsigned slot;

	for (uint32_t i = 0; i < count; i++) {
		printf("FAULT %s\n", l->text[i]);
		if (shown < HISTORIES && sscanf(l->text[i], "task %u:", &slot) == 1) {
			ledger_print(l, slot);
			shown++;
		}
	}
	if (l->texts > count)
		printf("and %u more\n", l->texts - count);
}
