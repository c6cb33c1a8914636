/* SPDX-License-Identifier: MIT */
/*
 * D1 to D6, E10, A4: random operations on tasks that depend on each other agree with a
 * model that decides everything at once, however the core's slices fall.
 *
 * Where several dependencies of a task cannot be met, any of them may be its culprit:
 * that is learnt from the core.
 */
#include <time.h>

#include "scheduler/graph/after.h"
#include "scheduler/rebuild/rebuild.h"
#include "scheduler/task/depend.h"
#include "taskq/error.h"
#include "tests/unit/fixture.h"

#define RUNS 300
#define OPERATIONS 400
#define NODES 200
#define DEPENDENCIES 8

struct dependency {
	uint32_t on;
	uint32_t kind;
	uint32_t told; /* enum tqi_edge_told */
};

struct node {
	uint64_t id;
	uint32_t state; /* READY stands for all that wait for no dependency */
	uint32_t culprit; /* 0 none: not cancelled by a dependency */
	bool forget, gone, dooms;
	uint32_t count;
	struct dependency after[DEPENDENCIES];
};

struct run {
	struct one_worker s;
	uint64_t random;
	uint64_t seed;
	uint32_t op;
	uint32_t nodes; /* index 0 unused */
	struct node node[NODES];
	struct tqi_claimed claims[NODES]; /* of those that run */
	uint32_t revived, doomed, refused;
};

static void wrong(const struct run *r, uint32_t n, const char *what)
{
	fail_msg("seed %llu, operation %u, task %u: %s", (unsigned long long)r->seed, r->op, n,
		 what);
}

static bool is_final(const struct node *n)
{
	return tqi_state_is_final(n->state);
}

static bool depends(const struct node *n, uint32_t on, uint32_t told)
{
	for (uint32_t i = 0; i < n->count; i++)
		if (n->after[i].on == on && n->after[i].told == told)
			return true;
	return false;
}

static bool is_blocked(const struct node *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		if (n->after[i].told == TQI_EDGE_OPEN)
			return true;
	return false;
}

/* A4; one that a dependency has cancelled keeps what it came after. */
static bool is_pinned(const struct run *r, uint32_t on)
{
	for (uint32_t i = 1; i <= r->nodes; i++)
		for (uint32_t k = 0; !r->node[i].gone && k < r->node[i].count; k++)
			if (r->node[i].after[k].on == on)
				return true;
	return false;
}

/* The model. */

static void let_go(struct run *r)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = 1; i <= r->nodes; i++) {
			struct node *n = &r->node[i];

			if (n->gone || !is_final(n) || !n->forget || is_pinned(r, i))
				continue;
			n->gone = more = true;
			n->count = 0;
		}
	}
}

static void finish(struct run *r, uint32_t at, uint32_t state, uint32_t culprit);

static void decide(struct run *r, uint32_t at, struct dependency *d)
{
	const struct node *on = &r->node[d->on];
	struct node *n = &r->node[at];

	d->told = TQI_EDGE_TOLD;
	if (is_final(n) || (!on->dooms && tqi_after_is_met(d->kind, on->state)))
		return;
	d->told = TQI_EDGE_REFUSED;
	n->dooms |= on->dooms;
	r->refused++;
	finish(r, at, TQ_CANCELLED, d->on);
}

static void finish(struct run *r, uint32_t at, uint32_t state, uint32_t culprit)
{
	r->node[at].state = state;
	r->node[at].culprit = culprit;
	if (!culprit || r->node[at].forget) /* D3 */
		r->node[at].count = 0;
	for (uint32_t i = 1; i <= r->nodes; i++)
		for (uint32_t k = 0; k < r->node[i].count; k++)
			if (r->node[i].after[k].on == at &&
			    r->node[i].after[k].told == TQI_EDGE_OPEN)
				decide(r, i, &r->node[i].after[k]);
}

static void renew(struct run *r, uint32_t at)
{
	struct node *n = &r->node[at];

	for (uint32_t i = 0; i < n->count; i++)
		if (n->after[i].told == TQI_EDGE_REFUSED)
			n->after[i].told = TQI_EDGE_TOLD;
	n->state = TQ_READY;
	n->culprit = 0;
	n->dooms = false;
}

/*
 * DP-4: it waits for what has a new life, too, and was not decided for it, but not for its
 * culprit.  The core may have opened that already, or not, by the order in which it revived.
 */
static void retry(struct run *r, uint32_t at)
{
	struct node *n = &r->node[at];

	for (uint32_t i = 0; i < n->count; i++)
		if (n->after[i].told == TQI_EDGE_TOLD && n->after[i].kind == TQ_AFTER_OK &&
		    n->after[i].on != n->culprit && !is_final(&r->node[n->after[i].on]))
			n->after[i].told = TQI_EDGE_OPEN;
	renew(r, at);
}

/* One that this task's end has cancelled, which lives again. */
static bool revive_one(struct run *r, uint32_t at, uint32_t on)
{
	struct node *n = &r->node[at];
	struct dependency *culprit = NULL;

	for (uint32_t i = 0; i < n->count; i++) {
		struct dependency *d = &n->after[i];
		const struct node *other = &r->node[d->on];

		if (d->told == TQI_EDGE_REFUSED && d->on == on)
			d->told = TQI_EDGE_OPEN;
		else if (d->told == TQI_EDGE_TOLD && is_final(other) &&
			 !tqi_after_is_met(d->kind, other->state))
			culprit = d;
		else if (d->told == TQI_EDGE_TOLD && !is_final(other) &&
			 (d->kind == TQ_AFTER_OK || d->on == on))
			d->told = TQI_EDGE_OPEN;
	}
	if (culprit) {
		culprit->told = TQI_EDGE_REFUSED;
		n->culprit = culprit->on;
		return false;
	}
	renew(r, at);
	return true;
}

static void revive(struct run *r, uint32_t at)
{
	uint32_t queue[NODES], first = 0, last = 0;

	retry(r, at);
	for (queue[last++] = at; first < last; first++)
		for (uint32_t i = 1; i <= r->nodes; i++)
			if (!r->node[i].gone && is_final(&r->node[i]) &&
			    depends(&r->node[i], queue[first], TQI_EDGE_REFUSED) &&
			    revive_one(r, i, queue[first])) {
				queue[last++] = i;
				r->revived++;
			}
}

/* The comparison. */

static bool drain(struct run *r, uint32_t holds)
{
	bool pending = true;

	while (pending && holds--) {
		begin(&r->s.f);
		pending = tqi_sweep_slice(&r->s.f.tx);
		assert_in_range(r->s.f.tx.undo_count, 0, TQI_JOURNAL_MAX * 2 / 3);
		commit(&r->s.f);
	}
	return !pending;
}

/* Of several that could be it, the core's: what is refused follows from that. */
static void learn_culprit(struct run *r, uint32_t at)
{
	struct node *n = &r->node[at];
	const struct tqi_task *t = task_of(&r->s.f, n->id);

	begin(&r->s.f);
	uint64_t id = tqi_task_extra(&r->s.f.tx, t)->culprit;

	commit(&r->s.f);
	if (t->cause != TQ_CAUSE_DEPENDENCY)
		wrong(r, at, "was not cancelled by a dependency");
	if (r->node[n->culprit].id == id)
		return;
	for (uint32_t i = 0; i < n->count; i++) {
		struct dependency *d = &n->after[i];
		const struct node *on = &r->node[d->on];

		if (d->told == TQI_EDGE_REFUSED)
			d->told = TQI_EDGE_TOLD;
		if (on->id == id && is_final(on) &&
		    (on->dooms || !tqi_after_is_met(d->kind, on->state))) {
			d->told = TQI_EDGE_REFUSED;
			n->culprit = d->on;
		}
	}
	if (r->node[n->culprit].id != id)
		wrong(r, at, "has another culprit");
}

static void compare_node(struct run *r, uint32_t at)
{
	const struct node *n = &r->node[at];
	const struct tqi_task *t = task_of(&r->s.f, n->id);

	if (n->gone != (t->generation != tqi_id_generation(n->id)))
		wrong(r, at, n->gone ? "should be gone" : "should not be gone");
	if (n->gone)
		return;
	uint32_t state = n->state == TQ_READY && is_blocked(n) ? TQ_BLOCKED : n->state;

	if (t->state != state) {
		print_message("state %u, should be %u\n", t->state, state);
		wrong(r, at, "has another state");
	}
	if (n->culprit && n->count)
		learn_culprit(r, at);
}

/*
 * One to be forgotten gives up what it came after as soon as nobody needs it (D3), even if
 * somebody does again before it could be freed.
 */
static void learn_released(struct run *r)
{
	for (uint32_t i = 1; i <= r->nodes; i++) {
		struct node *n = &r->node[i];
		const struct tqi_task *t = task_of(&r->s.f, n->id);

		if (!n->culprit || !n->forget || t->generation != tqi_id_generation(n->id))
			continue;
		begin(&r->s.f);
		if (!tqi_after_has_any(&r->s.f.tx, t))
			n->count = 0;
		commit(&r->s.f);
	}
}

static void compare(struct run *r)
{
	drain(r, UINT32_MAX);
	learn_released(r);
	let_go(r);
	for (uint32_t i = 1; i <= r->nodes; i++)
		compare_node(r, i);
	if (r->op % 8 == 0)
		assert_sound(&r->s.f);
}

/* The operations. */

static uint32_t pick(struct run *r)
{
	return r->nodes ? 1 + tqt_below(&r->random, r->nodes) : 0;
}

/* Never after-ok and after-fail of the same one, which is never met (DP-5). */
static uint32_t pick_kind(struct run *r, uint32_t at, uint32_t on)
{
	if (!tqt_below(&r->random, 4))
		return TQ_AFTER_ANY;
	return (at + on) % 3 ? TQ_AFTER_OK : TQ_AFTER_FAIL;
}

/* Between two comparisons, when the model lets nobody go. */
static bool has_gone(struct run *r, uint32_t at)
{
	uint64_t id = r->node[at].id;

	return task_of(&r->s.f, id)->generation != tqi_id_generation(id);
}

static bool is_there(const struct node *n, uint32_t on, uint32_t kind)
{
	for (uint32_t i = 0; i < n->count; i++)
		if (n->after[i].on == on && n->after[i].kind == kind)
			return true;
	return false;
}

static void depend(struct run *r, uint32_t at, uint32_t on, uint32_t kind)
{
	struct node *n = &r->node[at];
	const struct node *other = &r->node[on];

	if (has_gone(r, on) || is_there(n, on, kind))
		return;
	struct dependency *d = &n->after[n->count++];

	*d = (struct dependency){ on, kind, TQI_EDGE_OPEN };
	if (!is_final(other))
		return;
	d->told = TQI_EDGE_TOLD;
	if (is_final(n) || tqi_after_is_met(kind, other->state))
		return;
	d->told = TQI_EDGE_REFUSED;
	n->state = TQ_CANCELLED;
	n->culprit = on;
}

static void op_submit(struct run *r)
{
	struct tq_dependency after[3];
	struct tq_task_spec spec = { .queue = "default", .kind = "exec", .after = after };
	struct tqi_submit submit = { .spec = &spec };
	int expected = 0;

	if (r->nodes + 1 == NODES)
		return;
	for (uint32_t i = tqt_below(&r->random, 4); i > 0 && r->nodes; i--) {
		uint32_t on = pick(r), kind = pick_kind(r, r->nodes + 1, on);

		after[spec.after_count++] =
			(struct tq_dependency){ .id = r->node[on].id, .kind = kind };
		if (has_gone(r, on) && kind != TQ_AFTER_ANY)
			expected = TQ_EGONE;
	}
	spec.flags = tqt_below(&r->random, 6) ? 0 : TQ_TASK_FORGET;
	spec.priority = (int32_t)tqt_below(&r->random, 5) * 50;
	struct node n = { .state = TQ_READY, .forget = spec.flags };

	begin(&r->s.f);
	int answer = tqi_submit(&r->s.f.tx, &submit, &n.id);

	if (answer < 0)
		tqi_tx_abort(&r->s.f.tx);
	else
		commit(&r->s.f);
	assert_int_equal(answer, expected);
	if (answer < 0)
		return;
	r->node[++r->nodes] = n;
	for (uint32_t i = 0; i < spec.after_count; i++)
		for (uint32_t on = 1; on < r->nodes; on++)
			if (r->node[on].id == after[i].id)
				depend(r, r->nodes, on, after[i].kind);
	if (n.forget && is_final(&r->node[r->nodes])) /* D3 */
		r->node[r->nodes].count = 0;
}

static void op_claim(struct run *r)
{
	struct tqi_claimed c;
	uint64_t id = claim(&r->s.f, r->s.worker, &c);

	for (uint32_t i = 1; id && i <= r->nodes; i++) {
		if (r->node[i].id != id)
			continue;
		if (r->node[i].state != TQ_READY || is_blocked(&r->node[i]))
			wrong(r, i, "started, but should wait");
		r->node[i].state = TQ_RUNNING;
		r->claims[i] = c;
	}
}

static void op_end(struct run *r)
{
	const struct tqi_verdict verdicts[] = { DONE, DONE, FATAL, FATAL, RELEASE };
	const uint32_t states[] = { TQ_DONE, TQ_DONE, TQ_FAILED, TQ_FAILED, TQ_READY };
	uint32_t at = pick(r), how = tqt_below(&r->random, 5);

	for (uint32_t i = 0; at && i < r->nodes && r->node[at].state != TQ_RUNNING; i++)
		at = at < r->nodes ? at + 1 : 1;
	if (!at || r->node[at].state != TQ_RUNNING)
		return;
	/* Who has been cancelled, and is not told yet, would be doomed with what comes after it. */
	if (r->node[at].dooms)
		drain(r, UINT32_MAX);
	bool cancelled = task_of(&r->s.f, r->node[at].id)->flags & TQI_TASK_CANCEL;

	end(&r->s.f, r->s.worker, &r->claims[at], verdicts[how]);
	if (how == 4 && !cancelled)
		r->node[at].state = TQ_READY;
	else
		finish(r, at, how >= 2 && cancelled ? TQ_CANCELLED : states[how], 0);
	if (r->node[at].dooms) /* who comes after one that is about to be doomed would be, too */
		drain(r, UINT32_MAX);
}

static int steer(struct run *r, int (*how)(struct tqi_tx *tx, uint64_t id), uint32_t at)
{
	begin(&r->s.f);
	int answer = how(&r->s.f.tx, r->node[at].id);

	if (answer < 0)
		tqi_tx_abort(&r->s.f.tx);
	else
		commit(&r->s.f);
	return answer;
}

static int expected_of(const struct node *n, bool allowed)
{
	return n->gone ? TQ_EGONE : allowed ? 0 : TQ_ESTATE;
}

static void op_cancel(struct run *r)
{
	uint32_t at = pick(r);
	struct node *n = &r->node[at];
	bool dooms = !tqt_below(&r->random, 3);

	if (!at)
		return;
	int answer = steer(r, dooms ? tqi_steer_cancel_dependants : tqi_steer_cancel, at);

	if (answer == 1 && n->state == TQ_RUNNING) {
		n->dooms |= dooms;
		return;
	}
	assert_int_equal(answer, expected_of(n, !is_final(n)));
	if (answer < 0)
		return;
	n->dooms |= dooms;
	r->doomed += dooms;
	finish(r, at, TQ_CANCELLED, 0);
}

static void op_retry(struct run *r)
{
	uint32_t at = pick(r);
	const struct node *n = &r->node[at];
	bool all = tqt_below(&r->random, 2);

	if (!at)
		return;
	int answer = steer(r, all ? tqi_steer_revive : tqi_steer_retry, at);

	assert_int_equal(answer, expected_of(n, is_final(n)));
	if (answer == 0 && all && n->state != TQ_DONE)
		revive(r, at);
	else if (answer == 0)
		retry(r, at);
}

static void op_forget(struct run *r)
{
	uint32_t at = pick(r);
	struct node *n = &r->node[at];

	if (!at)
		return;
	assert_int_equal(steer(r, tqi_steer_forget, at), expected_of(n, is_final(n)));
	n->forget |= !n->gone && is_final(n);
}

static void op_after(struct run *r)
{
	uint32_t at = pick(r), on = pick(r), kind = pick_kind(r, at, on);

	if (!at || r->node[at].count == DEPENDENCIES)
		return;
	const struct node *n = &r->node[at], *other = &r->node[on];
	bool started = n->gone || n->state != TQ_READY || task_of(&r->s.f, n->id)->first_started_ns;
	int expected = n->gone	     ? TQ_EGONE
		       : started     ? TQ_ESTATE
		       : other->gone ? (kind == TQ_AFTER_ANY ? 0 : TQ_EGONE)
		       : on >= at    ? TQ_ECYCLE
				     : 0;

	begin(&r->s.f);
	int answer = tqi_after_add(&r->s.f.tx, n->id, other->id, kind);

	if (answer < 0)
		tqi_tx_abort(&r->s.f.tx);
	else
		commit(&r->s.f);
	assert_int_equal(answer, expected);
	if (answer == 0)
		depend(r, at, on, kind);
	if (answer == 0 && is_final(n))
		finish(r, at, n->state, n->culprit);
}

/* Whatever goes may go. */
static void op_evict(struct run *r)
{
	begin(&r->s.f);
	tqi_task_evict(&r->s.f.tx, 1 + tqt_below(&r->random, 3));
	commit(&r->s.f);
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 1; i <= r->nodes; i++) {
			struct node *n = &r->node[i];

			if (n->gone ||
			    task_of(&r->s.f, n->id)->generation == tqi_id_generation(n->id) ||
			    is_pinned(r, i))
				continue;
			if (!is_final(n))
				wrong(r, i, "was evicted");
			n->gone = more = true;
			n->count = 0;
		}
	}
}

static void op_rebuild(struct run *r)
{
	void *scratch = calloc(1, tqi_check_scratch_bytes(&r->s.f.box.seg.geometry));

	assert_non_null(scratch);
	begin(&r->s.f);
	assert_int_equal(tqi_rebuild(&r->s.f.tx, scratch), 0);
	commit(&r->s.f);
	free(scratch);
}

/* What ends and what begins may come while others are still being told. */
/* B7: what tasks inherit is right when all slices are over: the check says so. */
static void op_update(struct run *r)
{
	const struct tq_task_update update = { .fields = TQ_UPDATE_PRIORITY,
					       .priority = (int32_t)tqt_below(&r->random, 5) * 50 -
							   50 };
	uint32_t n = pick(r);

	if (!n)
		return;
	begin(&r->s.f);
	if (tqi_steer_update(&r->s.f.tx, r->node[n].id, &update) < 0)
		tqi_tx_abort(&r->s.f.tx);
	else
		commit(&r->s.f);
}

static void step(struct run *r)
{
	static void (*const any_time[])(struct run * r) = { op_submit, op_submit, op_claim, op_end,
							    op_update };
	static void (*const drained[])(struct run * r) = { op_cancel, op_retry, op_retry, op_forget,
							   op_after,  op_after, op_evict };
	uint32_t which = tqt_below(&r->random, 100);

	if (which < 60) {
		any_time[which % 5](r);
		drain(r, tqt_below(&r->random, 3));
		return;
	}
	compare(r);
	if (which == 60)
		op_rebuild(r);
	else
		drained[which % 7](r);
	compare(r);
}

static void run(uint64_t seed, struct run *r)
{
	*r = (struct run){ .seed = seed, .random = seed };
	open_fixture(&r->s.f, NODES + 10);
	r->s.worker = add_worker(&r->s.f, "default", 0);
	for (r->op = 0; r->op < OPERATIONS; r->op++)
		step(r);
	compare(r);
	assert_sound(&r->s.f);
	close_fixture(&r->s.f);
}

static void test_agrees_with_the_model(void **state)
{
	static struct run r;
	const char *given = getenv("TASKQ_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000;
	uint32_t revived = 0, doomed = 0, refused = 0;

	(void)state;
	for (uint32_t i = 0; i < (given ? 1 : RUNS); i++) {
		run(seed + i, &r);
		revived += r.revived;
		doomed += r.doomed;
		refused += r.refused;
	}
	print_message("seed %llu: %u refused, %u doomed, %u revived\n", (unsigned long long)seed,
		      refused, doomed, revived);
	assert_true(given || (revived && doomed && refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
