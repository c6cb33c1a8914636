/* SPDX-License-Identifier: MIT */
/* Reading the flight recorder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"
#include "trace_text.h"

#define CLOCKS_NS 10000000ll /* 10 ms */

enum {
	CHUNK = 256,
	ROOM = 2 * RECORDS_MAX, /* so that old ones are dropped many at a time */
	WORDS_COUNT = 3
};

static bool matches(const struct recorder *recorder, const struct tq_trace_entry *entry)
{
	char id[TQ_ID_TEXT_MAX], text[TRACE_TEXT_MAX], pid[16];
	const char *const texts[WORDS_COUNT] = { tq_task_id_format(entry->task, id),
						 trace_text(entry, text), pid };

	if (!recorder->filter[0])
		return true;
	snprintf(pid, sizeof(pid), "%u", entry->pid);
	return entry->event && words_match(recorder->filter, texts, WORDS_COUNT);
}

static void drop_old(struct recorder *recorder)
{
	const uint32_t drop = recorder->count - RECORDS_MAX;
	uint32_t n = 0;

	memmove(recorder->entries, recorder->entries + drop,
		RECORDS_MAX * sizeof(*recorder->entries));
	recorder->count = RECORDS_MAX;
	for (uint32_t i = 0; i < recorder->shown_count; i++)
		if (recorder->shown[i] >= drop)
			recorder->shown[n++] = recorder->shown[i] - drop;
	recorder->shown_count = n;
}

static void append(struct recorder *recorder, const struct tq_trace_entry *entry)
{
	if (recorder->count == ROOM)
		drop_old(recorder);
	recorder->entries[recorder->count] = *entry;
	if (matches(recorder, entry))
		recorder->shown[recorder->shown_count++] = recorder->count;
	recorder->count++;
}

static void append_gap(struct recorder *recorder, uint64_t lost)
{
	if (lost)
		append(recorder, &(struct tq_trace_entry){ .number = lost });
}

static bool allocate(struct recorder *recorder)
{
	if (!recorder->entries)
		recorder->entries = calloc(ROOM, sizeof(*recorder->entries));
	if (!recorder->shown)
		recorder->shown = calloc(ROOM, sizeof(*recorder->shown));
	return recorder->entries && recorder->shown;
}

/* Who has fallen back further than what is kept goes on where that begins. */
static void skip(struct recorder *recorder, uint64_t newest)
{
	const uint64_t first = newest > RECORDS_MAX ? newest - RECORDS_MAX + 1 : 1;

	if (recorder->cursor >= first)
		return;
	if (recorder->cursor)
		append_gap(recorder, first - recorder->cursor);
	recorder->cursor = first;
}

/* Two clocks are never read in one moment; another difference is a wall clock that was set. */
static void set_clocks(struct recorder *recorder, const struct clocks *clocks)
{
	const int64_t off_ns =
		(int64_t)(clocks_unix_ns(&recorder->clocks, clocks->now_ns) - clocks->unix_now_ns);

	if (off_ns > CLOCKS_NS || off_ns < -CLOCKS_NS)
		recorder->clocks = *clocks;
}

void recorder_read(struct recorder *recorder, struct tq *tq, uint64_t newest,
		   const struct clocks *clocks)
{
	struct tq_trace_entry entries[CHUNK];
	const bool is_first = recorder->cursor == 0;
	uint32_t looked = 0;
	uint64_t lost;
	int n;

	if (!allocate(recorder))
		return;
	set_clocks(recorder, clocks);
	skip(recorder, newest);
	do {
		entries[0].size = sizeof(entries[0]);
		n = tq_trace_read(tq, &recorder->cursor, entries, CHUNK, &lost);
		if (n > 0 && !(is_first && looked == 0))
			append_gap(recorder, lost);
		for (int i = 0; i < n; i++)
			append(recorder, &entries[i]);
		looked += n > 0 ? (uint32_t)n : 0;
	} while (n == CHUNK && looked < ROOM);
	recorder->error = n < 0 ? n : 0;
}

void recorder_filter(struct recorder *recorder, const char *filter)
{
	if (!strcmp(recorder->filter, filter))
		return;
	snprintf(recorder->filter, sizeof(recorder->filter), "%s", filter);
	recorder->shown_count = 0;
	for (uint32_t i = 0; i < recorder->count; i++)
		if (matches(recorder, &recorder->entries[i]))
			recorder->shown[recorder->shown_count++] = i;
}

void recorder_clear(struct recorder *recorder)
{
	recorder->count = recorder->shown_count = 0;
}

void recorder_forget(struct recorder *recorder)
{
	free(recorder->entries);
	free(recorder->shown);
	*recorder = (struct recorder){ 0 };
}
