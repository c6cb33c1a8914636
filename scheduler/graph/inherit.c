/* SPDX-License-Identifier: MIT */
/* Who lends what to whom, and the stale tasks. */
#include "scheduler/graph/inherit.h"

#include <errno.h>
#include <string.h>

#include "scheduler/graph/behalf.h"
#include "scheduler/graph/edge.h"
#include "scheduler/order/fair.h"
#include "scheduler/order/policy.h"
#include "scheduler/record/task_record.h"
#include "shm/list.h"

#define LOOKS_SLICE 128 /* edges looked at in one hold ... */
#define CHANGES_SLICE 8 /* ... and worths or places changed: journal space */

/* What is left of a slice. */
struct slice {
	uint32_t looks;
	uint32_t changes;
};

/* Edges. */

static bool have_same_key(struct tqi_tx *tx, const struct tqi_task *a, const struct tqi_task *b)
{
	uint32_t s = tqi_tenant_of(tx, a), t = tqi_tenant_of(tx, b);

	if (!s || !t)
		return s == t;
	const struct tqi_tenant *x = tqi_tenant_at(tx, s), *y = tqi_tenant_at(tx, t);

	return x->bytes == y->bytes && memcmp(x->name, y->name, x->bytes) == 0;
}

/* The task that waits, itself or by a slot on its behalf; 0 a client does. */
static uint32_t donor_index(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	if (edge->kind)
		return edge->waiter;
	uint32_t a = tqi_behalf_of(tx, edge->waiter);

	return a ? tqi_attempt_at(tx, a)->task : 0;
}

static const struct tqi_task *donor_of(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	const uint32_t donor = donor_index(tx, edge);

	return donor ? tqi_task_at(tx, donor) : NULL;
}

static bool lends(const struct tqi_worth *w, const struct tqi_worth *has)
{
	return has->hops ? w->priority == has->priority && w->hops == has->hops
			 : w->deadline_ns == has->deadline_ns;
}

uint64_t tqi_inherit_lender(struct tqi_tx *tx, const struct tqi_task *task)
{
	const struct tqi_worth has = tqi_worth_of(tx, task);
	uint32_t steps = 0;

	for (uint32_t e = task->edges; e && tqi_table_walks(tx, TQI_EDGES, &steps);) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);
		const struct tqi_worth w = tqi_inherit_over(tx, edge);
		const uint32_t donor = lends(&w, &has) ? donor_index(tx, edge) : 0;

		if (donor)
			return tqi_id_make(donor, tqi_task_at(tx, donor)->generation);
		e = edge->next;
	}
	return 0;
}

bool tqi_inherit_is_quiet(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	const struct tqi_task *donor = donor_of(tx, edge);

	return donor && !have_same_key(tx, donor, tqi_task_at(tx, edge->task));
}

/* Whether or not the donor has ended. */
static struct tqi_worth over(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	if (edge->quiet)
		return TQI_WORTH_NOTHING;
	return tqi_worth_passed_on(!edge->kind ? tqi_worth_lent(tqi_waiter_at(tx, edge->waiter))
					       : tqi_worth_of(tx, tqi_task_at(tx, edge->waiter)));
}

/* Or is about to, as soon as its graph is there. */
static bool has_ended(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	return edge->kind && (edge->told == TQI_EDGE_REFUSED ||
			      tqi_state_is_final(tqi_task_at(tx, edge->waiter)->state));
}

struct tqi_worth tqi_inherit_over(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	return has_ended(tx, edge) ? TQI_WORTH_NOTHING : over(tx, edge);
}

/* The list of stale tasks. */

static struct tqi_extra *extra_at(struct tqi_tx *tx, uint32_t index)
{
	return tqi_task_extra(tx, tqi_task_at(tx, index));
}

static void set_stage(struct tqi_tx *tx, enum tqi_stage stage, uint32_t cursor)
{
	struct tqi_root *root = tqi_root(tx);

	if (root->stale.stage != stage)
		TQI_SET(tx, root->stale.stage, (uint32_t)stage);
	if (root->stale.cursor != cursor)
		TQI_SET(tx, root->stale.cursor, cursor);
}

TQI_LINKS(stale_links, extra_at, tqi_extra, stale_prev, stale_next)

static inline struct tqi_list stale_list(struct tqi_root *root)
{
	return (struct tqi_list){ stale_links, &root->stale.first, &root->stale.last };
}

static void append(struct tqi_tx *tx, uint32_t index)
{
	tqi_list_append(tx, stale_list(tqi_root(tx)), index);
}

static void unlink_stale(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_root *root = tqi_root(tx);

	if (root->stale.first == index)
		set_stage(tx, TQI_STAGE_NONE, 0);
	tqi_list_remove(tx, stale_list(root), index);
}

/* What has begun for these reasons begins anew. */
static void list(struct tqi_tx *tx, uint32_t index, uint32_t why)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_extra *extra = extra_at(tx, index);
	uint32_t stale = extra->stale | why | TQI_STALE_LISTED;

	if (!(extra->stale & TQI_STALE_LISTED))
		append(tx, index);
	else if (root->stale.first == index &&
		 ((why & TQI_STALE_COUNT && root->stale.stage == TQI_STAGE_COUNT) ||
		  (why & TQI_STALE_PUSH && root->stale.stage == TQI_STAGE_PUSH)))
		set_stage(tx, TQI_STAGE_NONE, 0);
	if (stale != extra->stale)
		TQI_SET(tx, extra->stale, (uint8_t)stale);
}

static void done_with(struct tqi_tx *tx, struct tqi_extra *extra, uint32_t why)
{
	TQI_SET(tx, extra->stale, (uint8_t)(extra->stale & ~why));
	set_stage(tx, TQI_STAGE_NONE, 0);
}

/* Worths. */

/* As it is kept (IN-1): nothing, where its own is as good. */
static void set_inherited(struct tqi_tx *tx, const struct tqi_task *task, struct tqi_extra *extra,
			  const struct tqi_worth *w)
{
	bool higher = w->priority > task->priority, earlier = w->deadline_ns < extra->deadline_ns;
	int32_t priority = higher ? w->priority : 0;
	uint64_t deadline = earlier ? w->deadline_ns : 0;
	uint16_t hops = higher ? w->hops : 0, deadline_hops = earlier ? w->deadline_hops : 0;

	if (extra->inherited != priority)
		TQI_SET(tx, extra->inherited, priority);
	if (extra->inherited_hops != hops)
		TQI_SET(tx, extra->inherited_hops, hops);
	if (extra->inherited_deadline_ns != deadline)
		TQI_SET(tx, extra->inherited_deadline_ns, deadline);
	if (extra->inherited_deadline_hops != deadline_hops)
		TQI_SET(tx, extra->inherited_deadline_hops, deadline_hops);
}

static void set_best(struct tqi_tx *tx, const struct tqi_worth *w)
{
	struct tqi_root *root = tqi_root(tx);

	TQI_SET(tx, root->stale.best, w->priority);
	TQI_SET(tx, root->stale.best_hops, w->hops);
	TQI_SET(tx, root->stale.best_deadline_ns, w->deadline_ns);
	TQI_SET(tx, root->stale.best_deadline_hops, w->deadline_hops);
}

static struct tqi_worth best_so_far(struct tqi_tx *tx)
{
	const struct tqi_root *root = tqi_root(tx);

	return (struct tqi_worth){ root->stale.best_deadline_ns, root->stale.best,
				   root->stale.best_hops, root->stale.best_deadline_hops };
}

/* Whether one is better in either respect. */
static bool is_better(const struct tqi_worth *a, const struct tqi_worth *b)
{
	return tqi_worth_is_higher(a, b) || tqi_worth_is_earlier(a, b);
}

static bool is_being_counted(struct tqi_tx *tx, uint32_t heir)
{
	return tqi_root(tx)->stale.first == heir && tqi_root(tx)->stale.stage == TQI_STAGE_COUNT;
}

/* It is lent so much: -ENOMEM nothing is changed. */
static int lend(struct tqi_tx *tx, uint32_t heir, const struct tqi_worth *w)
{
	struct tqi_task *task = tqi_task_at(tx, heir);
	const struct tqi_worth now = tqi_worth_of(tx, task);

	if (tqi_state_is_final(task->state) || !is_better(w, &now))
		return 0;
	int r = tqi_task_extra_make(tx, task);

	if (r < 0)
		return r;
	const struct tqi_worth best = tqi_worth_best(now, w);

	tqi_task_touch(tx, task);
	set_inherited(tx, task, tqi_task_extra(tx, task), &best);
	if (is_being_counted(tx, heir)) {
		const struct tqi_worth counted = best_so_far(tx), more = tqi_worth_best(counted, w);

		set_best(tx, &more);
	}
	list(tx, heir, TQI_STALE_PLACE | TQI_STALE_PUSH);
	return 0;
}

/* Whether what somebody has may be what it was lent by who lent so much at most. */
static bool is_from(const struct tqi_worth *has, const struct tqi_worth *lent)
{
	return (has->hops && !tqi_worth_is_higher(has, lent)) ||
	       (has->deadline_hops && !tqi_worth_is_earlier(has, lent));
}

/* Who has lent it so much, at most, lends no more, or less. */
static void withdraw(struct tqi_tx *tx, uint32_t heir, const struct tqi_worth *w)
{
	const struct tqi_task *task = tqi_task_at(tx, heir);

	if (tqi_state_is_final(task->state) || !(task->flags & TQI_TASK_EXTRA))
		return;
	const struct tqi_worth has = tqi_worth_inherited(tqi_task_extra(tx, task));
	const struct tqi_worth best = best_so_far(tx);

	if (is_from(&has, w) || (is_being_counted(tx, heir) && is_from(&best, w)))
		list(tx, heir, TQI_STALE_COUNT);
}

/* Events. */

static void set_lent(struct tqi_tx *tx, struct tqi_waiter *slot, const struct tqi_worth *w)
{
	TQI_SET(tx, slot->lent, w->priority);
	TQI_SET(tx, slot->lent_hops, w->hops);
	TQI_SET(tx, slot->lent_deadline_ns, w->deadline_ns);
	TQI_SET(tx, slot->lent_deadline_hops, w->deadline_hops);
}

/* Plain stores (TX-3). */
void tqi_inherit_lend(struct tqi_tx *tx, uint32_t waiter, const struct tqi_worth *w)
{
	struct tqi_waiter *slot = tqi_waiter_at(tx, waiter);

	TQI_INIT(slot->lent, w->priority);
	TQI_INIT(slot->lent_hops, w->hops);
	TQI_INIT(slot->lent_deadline_ns, w->deadline_ns);
	TQI_INIT(slot->lent_deadline_hops, w->deadline_hops);
}

/* Whether an edge lends its task more than that has. */
static bool lends_more(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	const struct tqi_task *task = tqi_task_at(tx, edge->task);
	const struct tqi_worth w = tqi_inherit_over(tx, edge), has = tqi_worth_of(tx, task);

	return !tqi_state_is_final(task->state) && is_better(&w, &has);
}

int tqi_inherit_reserve(struct tqi_tx *tx, const struct tqi_edge *like)
{
	if (like->kind || !lends_more(tx, like))
		return 0;
	return tqi_task_extra_make(tx, tqi_task_at(tx, like->task));
}

void tqi_inherit_begin(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	if (!lends_more(tx, edge))
		return;
	const struct tqi_worth w = tqi_inherit_over(tx, edge);

	if (edge->kind)
		list(tx, edge->waiter, TQI_STALE_PUSH);
	else if (lend(tx, edge->task, &w) < 0)
		tx->corrupt = true; /* it has been reserved */
}

static const struct tqi_worth more_than_any = { .priority = INT32_MAX };

/* A task that has ended takes back what it has lent, and one that is stale has lent more. */
static void withdraw_over(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	uint32_t stale = edge->kind ? extra_at(tx, edge->waiter)->stale : 0;
	const struct tqi_worth w = stale & TQI_STALE_DOWN ? more_than_any : over(tx, edge);

	if (!has_ended(tx, edge) || stale)
		withdraw(tx, edge->task, &w);
}

void tqi_inherit_end(struct tqi_tx *tx, uint32_t e)
{
	const struct tqi_root *root = tqi_root(tx);
	const struct tqi_edge *edge = tqi_edge_at(tx, e);

	if (edge->told == TQI_EDGE_OPEN && !edge->quiet)
		withdraw_over(tx, edge);
	if (root->stale.cursor == e && root->stale.stage == TQI_STAGE_PUSH)
		set_stage(tx, TQI_STAGE_NONE, 0);
}

void tqi_inherit_unlinked(struct tqi_tx *tx, uint32_t e)
{
	struct tqi_root *root = tqi_root(tx);

	if (root->stale.cursor == e && root->stale.stage == TQI_STAGE_COUNT)
		TQI_SET(tx, root->stale.cursor, tqi_edge_at(tx, e)->next);
}

/* A task with such settings is worth something else; what it has lent may be too much. */
static void spread(struct tqi_tx *tx, uint32_t index, const struct tqi_worth *before)
{
	const struct tqi_worth now = tqi_worth_of(tx, tqi_task_at(tx, index));

	if (tqi_worth_is(&now, before))
		return;
	list(tx, index,
	     TQI_STALE_PLACE | TQI_STALE_PUSH | (is_better(before, &now) ? TQI_STALE_DOWN : 0));
}

int tqi_inherit_changed(struct tqi_tx *tx, uint32_t index, const struct tqi_worth *before)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	const struct tqi_worth now = tqi_worth_of(tx, task);
	bool worse = is_better(before, &now);
	int r = worse && task->edges ? tqi_task_extra_make(tx, task) : 0;

	if (r < 0 || !(task->flags & TQI_TASK_EXTRA))
		return r; /* nobody waits for it, and it waits for nobody */
	if (worse && task->edges)
		list(tx, index, TQI_STALE_COUNT | TQI_STALE_WHOLE);
	spread(tx, index, before);
	return 0;
}

static bool is_listed(const struct tqi_extra *extra)
{
	return extra->stale & TQI_STALE_LISTED;
}

void tqi_inherit_finished(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_extra *extra = extra_at(tx, index);

	if (!extra->unmet || !extra->after) {
		tqi_inherit_forgotten(tx, index);
		return;
	}
	list(tx, index, TQI_STALE_PUSH | TQI_STALE_DOWN);
	TQI_SET(tx, extra->stale, TQI_STALE_ENDED);
	if (tqi_root(tx)->stale.first == index)
		set_stage(tx, TQI_STAGE_NONE, 0);
}

void tqi_inherit_forgotten(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_extra *extra = extra_at(tx, index);

	if (!is_listed(extra))
		return;
	unlink_stale(tx, index);
	TQI_SET(tx, extra->stale, 0);
}

void tqi_inherit_renew(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if (task->flags & TQI_TASK_EXTRA)
		set_inherited(tx, task, tqi_task_extra(tx, task), &TQI_WORTH_NOTHING);
}

void tqi_inherit_renewed(struct tqi_tx *tx, uint32_t index)
{
	const struct tqi_task *task = tqi_task_at(tx, index);

	if ((task->flags & TQI_TASK_EXTRA) && tqi_task_extra(tx, task)->unmet)
		list(tx, index, TQI_STALE_PUSH);
}

/* Stale tasks: counting. */

/* Nothing that is still to be looked at can be better: no donor lends more than it has. */
static bool is_counted(const struct tqi_extra *extra, const struct tqi_worth *best)
{
	const struct tqi_worth has = tqi_worth_inherited(extra);

	return !(extra->stale & TQI_STALE_WHOLE) && !is_better(&has, best);
}

static void count_some(struct tqi_tx *tx, uint32_t index, struct slice *s)
{
	struct tqi_root *root = tqi_root(tx);
	struct tqi_task *task = tqi_task_at(tx, index);
	struct tqi_extra *extra = tqi_task_extra(tx, task);
	const struct tqi_worth before = tqi_worth_of(tx, task);
	bool begun = root->stale.stage == TQI_STAGE_COUNT;
	struct tqi_worth best = begun ? best_so_far(tx) : TQI_WORTH_NOTHING;
	uint32_t e = begun ? root->stale.cursor : task->edges;

	for (; e && !is_counted(extra, &best) && s->looks > 0 && !tx->corrupt; s->looks--) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);
		const struct tqi_worth w = tqi_inherit_over(tx, edge);

		best = tqi_worth_best(best, &w);
		e = edge->next;
	}
	if (e && !is_counted(extra, &best)) {
		set_stage(tx, TQI_STAGE_COUNT, e);
		set_best(tx, &best);
		return;
	}
	tqi_task_touch(tx, task);
	done_with(tx, extra, TQI_STALE_COUNT | TQI_STALE_WHOLE);
	set_inherited(tx, task, extra, &best);
	spread(tx, index, &before);
}

/* Stale tasks: pushing.  Those that wait by slots, of their running attempt, have no other edges. */

static uint32_t first_of_slots(struct tqi_tx *tx, uint32_t waiter)
{
	uint32_t steps = 0;

	while (waiter && !tqi_waiter_at(tx, waiter)->edges &&
	       tqi_table_walks(tx, TQI_WAITERS, &steps))
		waiter = tqi_waiter_at(tx, waiter)->attempt_next;
	return waiter ? tqi_waiter_at(tx, waiter)->edges : 0;
}

static uint32_t first_from(struct tqi_tx *tx, const struct tqi_task *task)
{
	return task->attempt ? first_of_slots(tx, tqi_attempt_at(tx, task->attempt)->waits)
			     : tqi_task_extra(tx, task)->after;
}

static uint32_t next_from(struct tqi_tx *tx, const struct tqi_edge *edge)
{
	if (edge->next_of_waiter || edge->kind)
		return edge->next_of_waiter;
	return first_of_slots(tx, tqi_waiter_at(tx, edge->waiter)->attempt_next);
}

/* A slot has what it lends itself, as its attempt may end before it. */
static void refresh(struct tqi_tx *tx, const struct tqi_edge *edge, const struct tqi_task *donor)
{
	struct tqi_waiter *slot = tqi_waiter_at(tx, edge->waiter);
	const struct tqi_worth lent = tqi_worth_lent(slot), now = tqi_worth_of(tx, donor);

	if (!tqi_worth_is(&lent, &now))
		set_lent(tx, slot, &now);
}

/* -ENOMEM. */
static int push_over(struct tqi_tx *tx, const struct tqi_task *donor, const struct tqi_edge *edge,
		     struct slice *s)
{
	if (!edge->kind)
		refresh(tx, edge, donor);
	if (edge->told)
		return 0;
	const struct tqi_worth w = tqi_inherit_over(tx, edge);
	const struct tqi_task *heir = tqi_task_at(tx, edge->task);
	const struct tqi_worth has = tqi_worth_of(tx, heir);
	int r = 0;

	if (is_better(&w, &has)) { /* in one respect; in the other it may be worse */
		s->changes--;
		r = lend(tx, edge->task, &w);
	}
	if (r == 0 && tqi_task_extra(tx, donor)->stale & TQI_STALE_DOWN && !edge->quiet)
		withdraw(tx, edge->task, &more_than_any);
	return r;
}

/* -ENOMEM: it goes on where it was. */
static int push_some(struct tqi_tx *tx, uint32_t index, struct slice *s)
{
	struct tqi_root *root = tqi_root(tx);
	const struct tqi_task *task = tqi_task_at(tx, index);
	uint32_t e = root->stale.stage == TQI_STAGE_PUSH ? root->stale.cursor
							 : first_from(tx, task);

	for (; e && s->looks > 0 && s->changes > 0 && !tqi_tx_is_filling(tx) && !tx->corrupt;
	     s->looks--) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);
		int r = push_over(tx, task, edge, s);

		if (r < 0) {
			set_stage(tx, TQI_STAGE_PUSH, e);
			return r;
		}
		e = next_from(tx, edge);
	}
	set_stage(tx, TQI_STAGE_PUSH, e);
	if (!e)
		done_with(tx, tqi_task_extra(tx, task), TQI_STALE_PUSH | TQI_STALE_DOWN);
	return 0;
}

/* Stale tasks. */

/* -ENOMEM: it can start where it is. */
static int place(struct tqi_tx *tx, uint32_t index, struct slice *s)
{
	s->changes--;
	if (!tqi_policy_place(tx, index))
		return -ENOMEM;
	done_with(tx, extra_at(tx, index), TQI_STALE_PLACE);
	return 0;
}

static int step(struct tqi_tx *tx, uint32_t index, struct slice *s)
{
	struct tqi_extra *extra = extra_at(tx, index);

	if (tqi_task_at(tx, index)->flags & TQI_TASK_TELLING && extra->stale & TQI_STALE_COUNT)
		return -EAGAIN;
	if (extra->stale & TQI_STALE_COUNT) {
		count_some(tx, index, s);
		return 0;
	}
	if (extra->stale & TQI_STALE_PLACE)
		return place(tx, index, s);
	if (extra->stale & TQI_STALE_PUSH)
		return push_some(tx, index, s);
	unlink_stale(tx, index);
	TQI_SET(tx, extra->stale, 0);
	return 0;
}

/* Others may be luckier. */
static void postpone(struct tqi_tx *tx, uint32_t index)
{
	unlink_stale(tx, index);
	append(tx, index);
}

void tqi_inherit_slice(struct tqi_tx *tx)
{
	struct tqi_root *root = tqi_root(tx);
	struct slice s = { LOOKS_SLICE, CHANGES_SLICE };
	int r = 0;

	while (root->stale.first && s.looks > 0 && s.changes > 0 && !tqi_tx_is_filling(tx) &&
	       !tx->corrupt && r == 0) {
		s.looks--;
		r = step(tx, root->stale.first, &s);
	}
	if (r < 0)
		postpone(tx, root->stale.first);
	if (r == -ENOMEM)
		TQI_SET(tx, root->stale.stuck, 1u);
}

void tqi_inherit_try_again(struct tqi_tx *tx)
{
	if (tqi_root(tx)->stale.stuck)
		TQI_SET(tx, tqi_root(tx)->stale.stuck, 0u);
}

/* For the reasons that it had been, but not yet. */
static void list_again(struct tqi_tx *tx, uint32_t index, struct tqi_extra *extra)
{
	uint32_t why = extra->stale & ~TQI_STALE_LISTED;

	TQI_SET(tx, extra->stale, 0);
	if (why)
		list(tx, index, why);
}

static struct tqi_worth count_all(struct tqi_tx *tx, const struct tqi_task *task)
{
	struct tqi_worth best = TQI_WORTH_NOTHING;
	uint32_t steps = 0;

	for (uint32_t e = task->edges; e && tqi_table_walks(tx, TQI_EDGES, &steps);) {
		const struct tqi_edge *edge = tqi_edge_at(tx, e);
		const struct tqi_worth w = tqi_inherit_over(tx, edge);

		best = tqi_worth_best(best, &w);
		e = edge->next;
	}
	return best;
}

int tqi_inherit_restore(struct tqi_tx *tx, uint32_t index)
{
	struct tqi_task *task = tqi_task_at(tx, index);
	bool final = tqi_state_is_final(task->state);
	const struct tqi_worth before = tqi_worth_of(tx, task), own = tqi_worth_own(tx, task);
	const struct tqi_worth best = final ? TQI_WORTH_NOTHING : count_all(tx, task);
	int r = is_better(&best, &own) ? tqi_task_extra_make(tx, task) : 0;

	if (r < 0 || !(task->flags & TQI_TASK_EXTRA))
		return r;
	struct tqi_extra *extra = tqi_task_extra(tx, task);

	list_again(tx, index, extra);
	set_inherited(tx, task, extra, &best);
	if (!final)
		spread(tx, index, &before);
	return 0;
}
