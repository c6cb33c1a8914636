/* SPDX-License-Identifier: MIT */
/* The operations, and the lives in which they are counted. */
#include "tests/counts/counts.h"

#include <errno.h>
#include <stdio.h>

#include "tests/counts/situation.h"

#define WARM_UP 10 /* lives of both sorts before anything is counted */

static const struct tqt_meter *meter;
static struct tqt_table *table;

static void do_nothing(void *arg)
{
	(void)arg;
}

static void do_submit(void *arg)
{
	struct tqt_scene *s = arg;

	tqt_must(tq_submit(s->tq, &s->specs[0], NULL), "tq_submit");
}

static void do_claim(void *arg)
{
	struct tqt_scene *s = arg;

	tqt_must(tq_claim(s->worker, 0, &s->claims[0]), "tq_claim");
}

static void do_complete(void *arg)
{
	struct tqt_scene *s = arg;

	tqt_must(tq_complete(s->worker, &s->claims[0], NULL, 0), "tq_complete");
}

static void do_next(void *arg)
{
	static const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
	struct tqt_scene *s = arg;
	int verdict;

	tqt_must(tq_next(s->worker, &s->claims[0], &done, 0, &s->claims[0], &verdict), "tq_next");
}

static void do_submit_batch(void *arg)
{
	struct tqt_scene *s = arg;

	tqt_must(tq_submit_many(s->tq, s->specs, TQT_BATCH, NULL), "tq_submit_many");
}

static void do_claim_batch(void *arg)
{
	struct tqt_scene *s = arg;

	if (tqt_must(tq_claim_many(s->worker, 0, s->claims, TQT_BATCH), "tq_claim_many") !=
	    TQT_BATCH)
		tqt_must(-EAGAIN, "tq_claim_many");
}

static void do_complete_batch(void *arg)
{
	struct tqt_scene *s = arg;
	struct tq_verdict done[TQT_BATCH];

	for (uint32_t i = 0; i < TQT_BATCH; i++)
		done[i] = (struct tq_verdict){ .size = sizeof(done[i]), .kind = TQ_VERDICT_DONE };
	if (tqt_must(tq_end_many(s->worker, s->claims, done, TQT_BATCH, NULL), "tq_end_many") !=
	    TQT_BATCH)
		tqt_must(-EAGAIN, "tq_end_many");
}

/* In one order in all passes. */
enum row {
	NOTHING, /* what counting itself costs: not in the table */
	SUBMIT,
	CLAIM,
	COMPLETE,
	NEXT,
	SUBMIT_BATCH,
	CLAIM_BATCH,
	COMPLETE_BATCH,
	ROWS
};

/*
 * Each is counted in lives of a task, or of a batch: operations from `first` on, to `last`;
 * so many calls that their mean has one decimal place.
 */
static const struct {
	const char *name;
	tqt_operation *op;
	uint32_t calls;
	enum row first, last;
} rows[ROWS] = {
	[NOTHING] = { "", do_nothing, TQT_CALLS, NOTHING, NOTHING },
	[SUBMIT] = { "submit", do_submit, TQT_CALLS, SUBMIT, COMPLETE },
	[CLAIM] = { "claim", do_claim, TQT_CALLS, SUBMIT, COMPLETE },
	[COMPLETE] = { "complete", do_complete, TQT_CALLS, SUBMIT, COMPLETE },
	[NEXT] = { "next", do_next, TQT_CALLS, NEXT, NEXT },
	[SUBMIT_BATCH] = { "submit-64", do_submit_batch, 1, SUBMIT_BATCH, COMPLETE_BATCH },
	[CLAIM_BATCH] = { "claim-64", do_claim_batch, 1, SUBMIT_BATCH, COMPLETE_BATCH },
	[COMPLETE_BATCH] = { "complete-64", do_complete_batch, 1, SUBMIT_BATCH, COMPLETE_BATCH },
};

/* The life that a row is counted in; `with` runs the row's own operation. */
static void live(struct tqt_scene *s, enum row row, void (*with)(tqt_operation *op, void *arg))
{
	tqt_scene_prepare(s);
	if (row == NEXT)
		do_submit(s);
	for (enum row op = rows[row].first; op <= rows[row].last; op++) {
		tqt_scene_settle(s);
		if (op == row)
			with(rows[op].op, s);
		else
			rows[op].op(s);
	}
}

static void just_run(tqt_operation *op, void *arg)
{
	op(arg);
}

static struct tqt_row count_row(struct tqt_scene *s, enum row row)
{
	struct tqt_row r = { 0 };

	for (uint32_t i = 0; i < rows[row].calls; i++)
		live(s, row, meter->count);
	meter->end_row(&r);
	for (enum tqt_figure f = 0; f < TQT_FIGURES; f++)
		r.of[f] /= rows[row].calls;
	return r;
}

static void add_row(const char *situation, enum row row, const struct tqt_row *counted,
		    const struct tqt_row *nothing)
{
	struct tqt_row *r = &table->rows[table->count];

	if (table->count++ >= TQT_ROWS_MAX)
		tqt_must(-E2BIG, "rows");
	snprintf(r->operation, sizeof(r->operation), "%s", rows[row].name);
	snprintf(r->situation, sizeof(r->situation), "%s", situation);
	r->calls = rows[row].calls;
	for (enum tqt_figure f = 0; f < TQT_FIGURES; f++)
		r->of[f] = counted->of[f] - nothing->of[f];
}

static void count_rows(struct tqt_scene *s, const char *situation)
{
	const struct tqt_row nothing = count_row(s, NOTHING);

	for (enum row row = SUBMIT; row < ROWS; row++) {
		if (row == NEXT) { /* a claim is there before and after */
			do_submit(s);
			do_claim(s);
		}
		const struct tqt_row counted = count_row(s, row);

		if (row == NEXT)
			do_complete(s);
		add_row(situation, row, &counted, &nothing);
	}
}

static void warm_up(struct tqt_scene *s)
{
	for (uint32_t i = 0; i < WARM_UP; i++) {
		live(s, SUBMIT, just_run);
		live(s, SUBMIT_BATCH, just_run);
	}
}

void tqt_scenes(const struct tqt_meter *with, struct tqt_table *ret)
{
	static struct tqt_scene s;

	meter = with;
	table = ret;
	table->count = 0;
	for (uint32_t i = 0; i < TQT_SITUATIONS; i++) {
		tqt_situation_open(&s, i);
		warm_up(&s);
		meter->watch(s.tq);
		count_rows(&s, tqt_situation_name(i));
		tqt_situation_close(&s);
	}
}
