/* SPDX-License-Identifier: MIT */
/* The model: schedules, whose expressions come every so many minutes of UTC. */
#include "tests/property/model_parts.h"

#include <errno.h>

#define SECOND 1000000000ull
#define MINUTE (60 * SECOND)

static bool by_wall(const struct model_schedule *s)
{
	return !s->every_ns && !s->retry_ns;
}

static uint64_t look_of(const struct model_schedule *s)
{
	if (!s->retry_ns || (s->every_ns && s->next_ns < s->retry_ns))
		return s->next_ns;
	return s->retry_ns;
}

uint64_t model_schedule_next(const struct model *m, bool wall)
{
	uint64_t next = NEVER;

	for (uint32_t i = 1; i < m->schedule_slots; i++) {
		const struct model_schedule *s = &m->schedules[i];

		if (s->live && !s->paused && by_wall(s) == wall && look_of(s) < next)
			next = look_of(s);
	}
	return next;
}

static uint32_t first(const struct model *m, bool wall, uint64_t now)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < m->schedule_slots; i++) {
		const struct model_schedule *s = &m->schedules[i], *f = &m->schedules[found];

		if (!s->live || s->paused || by_wall(s) != wall || look_of(s) > now)
			continue;
		if (!found || look_of(s) < look_of(f) ||
		    (look_of(s) == look_of(f) && s->sequence < f->sequence))
			found = i;
	}
	return found;
}

uint32_t model_schedule_due(const struct model *m)
{
	uint32_t found = first(m, false, m->now_ns);

	return found ? found : first(m, true, m->wall_ns);
}

bool model_schedule_is_running(const struct model *m, const struct model_schedule *s)
{
	uint32_t task = tqi_id_index(s->last_run);
	const struct model_task *t = &m->tasks[task];

	return s->last_run && t->generation == tqi_id_generation(s->last_run) &&
	       t->state != TQ_FREE && !model_state_is_final(t->state);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static uint64_t next_minute(uint64_t after_ns, uint32_t minutes)
{
	return (after_ns / (minutes * MINUTE) + 1) * minutes * MINUTE;
}

static void begin(const struct model *m, struct model_schedule *s)
{
	if (!s->every_ns)
		s->next_ns = next_minute(m->wall_ns, s->minutes);
	else if (!s->next_ns)
		s->next_ns = add(m->now_ns, s->every_ns);
	else
		while (s->next_ns <= m->now_ns)
			s->next_ns = add(s->next_ns, s->every_ns);
}

void model_schedule_make(struct model *m, uint32_t slot, const struct model_schedule *like)
{
	struct model_schedule *s = &m->schedules[slot];
	uint64_t generation = s->generation ? s->generation : 1;

	if (slot >= m->schedule_slots)
		m->schedule_slots = slot + 1;
	*s = *like;
	s->generation = generation;
	s->sequence = m->schedule_sequence++;
	s->live = true;
	begin(m, s);
}

/* The slot of a name; 0 none. */
uint32_t model_schedule_named(const struct model *m, uint32_t name)
{
	for (uint32_t i = 1; name && i < m->schedule_slots; i++)
		if (m->schedules[i].live && m->schedules[i].name == name)
			return i;
	return 0;
}

/* SC-5. */
void model_schedule_replace(struct model *m, uint32_t slot, const struct model_schedule *like)
{
	struct model_schedule *s = &m->schedules[slot], before = *s;

	*s = *like;
	s->live = true;
	s->paused = before.paused;
	s->generation = before.generation;
	s->sequence = m->schedule_sequence++;
	s->last_run = before.last_run;
	s->runs = before.runs;
	s->skipped = before.skipped;
	if (s->every_ns == before.every_ns)
		s->next_ns = before.next_ns;
	if (!s->paused)
		begin(m, s);
}

void model_schedule_pause(struct model *m, uint32_t slot, bool pause)
{
	struct model_schedule *s = &m->schedules[slot];

	if (s->paused == pause)
		return;
	s->paused = pause;
	if (pause)
		s->owed = 0;
	if (pause)
		s->retry_ns = 0;
	else
		begin(m, s);
}

void model_schedule_remove(struct model *m, uint32_t slot)
{
	m->schedules[slot] =
		(struct model_schedule){ .generation = m->schedules[slot].generation + 1 };
}

static uint32_t advance(const struct model *m, struct model_schedule *s)
{
	uint64_t now = s->every_ns ? m->now_ns : m->wall_ns, passed = 0;

	for (; s->next_ns <= now; passed++)
		s->next_ns = s->every_ns ? add(s->next_ns, s->every_ns)
					 : next_minute(s->next_ns, s->minutes);
	return !s->every_ns && passed > s->catch_up ? s->catch_up + 1 : (uint32_t)passed;
}

/* Of each time that has come one run is owed, or it is skipped. */
static void again(const struct model *m, struct model_schedule *s, uint64_t retry_ns)
{
	s->retry_ns = s->owed && !retry_ns && !model_schedule_is_running(m, s) ? m->now_ns
									       : retry_ns;
}

bool model_schedule_decide(struct model *m, uint32_t slot)
{
	struct model_schedule *s = &m->schedules[slot];

	for (uint32_t passed = advance(m, s); passed; passed--) {
		bool skip = s->overlap == TQ_OVERLAP_SKIP && model_schedule_is_running(m, s);

		if (skip || s->owed == s->catch_up)
			s->skipped++;
		else
			s->owed++;
	}
	again(m, s, 0);
	return s->retry_ns;
}

void model_schedule_made(struct model *m, uint32_t slot, uint64_t id)
{
	struct model_schedule *s = &m->schedules[slot];

	s->owed--;
	s->runs++;
	s->last_error = 0;
	s->last_run = id;
	m->tasks[tqi_id_index(id)].schedule = tqi_id_make(slot, m->schedules[slot].generation);
	m->tasks[tqi_id_index(id)].extra = true;
	again(m, s, 0);
}

void model_schedule_failed(struct model *m, uint32_t slot, int r)
{
	struct model_schedule *s = &m->schedules[slot];
	bool wait = r == TQ_EFULL || r == -ENOMEM;

	s->last_error = r;
	if (!wait) {
		s->skipped += s->owed;
		s->owed = 0;
	}
	again(m, s, wait ? m->now_ns + SECOND : 0);
}

void model_schedule_ended(struct model *m, uint32_t task)
{
	const struct model_task *t = &m->tasks[task];
	struct model_schedule *s = &m->schedules[tqi_id_index(t->schedule)];

	if (t->schedule && s->live && s->generation == tqi_id_generation(t->schedule) && s->owed &&
	    !s->retry_ns && s->last_run == tqi_id_make(task, t->generation))
		s->retry_ns = m->now_ns;
}
