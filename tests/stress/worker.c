/* SPDX-License-Identifier: MIT */
/* Workers of a foreign host: claims one by one, in chains and by the dozen. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define CLAIMS_MAX 5u
#define CHAIN_MAX 30u
#define RESULT_MAX 600u
#define LARGE_RESULT_MAX (20u << 10)

/* The bytes live until the verdict is given. */
static void *write_result(struct player *p, const struct attempt *a, struct tq_verdict *v)
{
	uint32_t max = chance_percent(&p->chance, 8) ? LARGE_RESULT_MAX : RESULT_MAX;
	uint32_t bytes = (uint32_t)chance_in(&p->chance, PAPER_BYTES_MIN, max);
	void *buf = a->said == SAID_DONE && chance_percent(&p->chance, 60) ? malloc(bytes) : NULL;

	if (!buf)
		return NULL;
	paper_write(buf, bytes, a->slot);
	v->result = buf;
	v->result_bytes = bytes;
	return buf;
}

static struct tq_verdict verdict_of(struct player *p, const struct attempt *a)
{
	struct tq_verdict v = { .size = sizeof(v), .kind = TQ_VERDICT_RELEASE };

	if (a->said == SAID_DONE)
		v.kind = TQ_VERDICT_DONE;
	else if (a->said == SAID_FAIL)
		v.kind = TQ_VERDICT_FAIL;
	else if (a->said == SAID_FATAL)
		v.kind = TQ_VERDICT_FATAL;
	if (v.kind == TQ_VERDICT_RELEASE && chance_percent(&p->chance, 50))
		v.delay_ns = 5 * MS;
	if (v.kind == TQ_VERDICT_FAIL || v.kind == TQ_VERDICT_FATAL)
		v.text = "as the dice fell";
	return v;
}

static void say(struct player *p, const struct attempt *a)
{
	if (a->slot != UINT32_MAX)
		ledger_say(p->ledger, a->slot, a->said, p->who);
}

static void hear(struct player *p, const struct attempt *a, int r)
{
	if (r == 0 && a->slot != UINT32_MAX)
		ledger_hear(p->ledger, a->slot, a->said);
	else if (r < 0) /* the claim was ours while we lived: no TQ_ELEASE */
		player_accepts(p, "tq_end", r);
}

static void end(struct player *p, struct tq_worker *worker, const struct tq_claim *claim,
		const struct attempt *a)
{
	struct tq_verdict v = verdict_of(p, a);
	void *result = write_result(p, a, &v);
	int r;

	player_does(p, DOING_VERDICT, a->slot);
	say(p, a);
	do
		r = tq_end(worker, claim, &v);
	while (r == TQ_ELOCKED); /* the claim stays */
	hear(p, a, r);
	free(result);
}

/*
 * A child of an attempt goes on with its parent's handle: it must be a participant of
 * its own, and the worker must not be its.
 */
static void be_a_child(struct player *p, struct tq_worker *parents)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct tq_worker *own = NULL;
	int r = tq_claim(parents, 0, &claim);

	player_become_child(p);
	if (r != -ECHILD)
		ledger_fault(p->ledger, FAULT_ANSWER, UINT32_MAX,
			     "tq_claim with the parent's worker: %d", r);
	if (player_phase_is(p, PHASE_STORM))
		(void)submit_some(p);
	const char *const queue = QUEUE_PLAIN;
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1 };

	fuse_light(p);
	r = tq_worker_open(p->tq, &opts, &own);
	if (!player_accepts(p, "tq_worker_open", r) || r < 0)
		return;
	for (uint32_t i = 0; i < 3 && tq_claim(own, MS, &claim) == 0; i++) {
		struct attempt a;

		attempt_begin(p, &claim, &a);
		attempt_run(p, own, &claim, &a);
		end(p, own, &claim, &a);
	}
	tq_worker_close(own);
}

static void fork_child(struct player *p, struct tq_worker *worker)
{
	pid_t pid = fork();

	if (pid != 0)
		return;
	be_a_child(p, worker);
	_exit(0);
}

/* In the middle of an attempt. */
static void interlude(struct player *p, struct tq_worker *worker)
{
	uint64_t dice = chance_below(&p->chance, 1000);

	if (!player_phase_is(p, PHASE_STORM) || p->child)
		return;
	if (dice < 10) {
		fork_child(p, worker);
	} else if (dice < 13) { /* dies with what it has */
		ledger_killing(p->ledger, p->who, 0);
		_exit(EXIT_PLANNED);
	}
}

static int claim_single(struct player *p, struct tq_worker *worker, uint64_t timeout)
{
	struct tq_claim claim = { .size = sizeof(claim) };
	struct attempt a;
	int r = tq_claim(worker, timeout, &claim);

	if (r < 0)
		return r;
	player_does(p, DOING_RUN, UINT32_MAX);
	attempt_begin(p, &claim, &a);
	interlude(p, worker);
	attempt_run(p, worker, &claim, &a);
	end(p, worker, &claim, &a);
	return 0;
}

/* Verdict and next claim in one. */
static int claim_chain(struct player *p, struct tq_worker *worker, uint64_t timeout)
{
	uint64_t length = chance_in(&p->chance, 2, CHAIN_MAX);
	struct tq_claim claim = { .size = sizeof(claim) };
	int r = tq_claim(worker, timeout, &claim);

	while (r == 0) {
		struct attempt a;
		int verdict = 1; /* neither 0 nor an error: not given */

		player_does(p, DOING_RUN, UINT32_MAX);
		attempt_begin(p, &claim, &a);
		interlude(p, worker);
		attempt_run(p, worker, &claim, &a);
		if (--length == 0) {
			end(p, worker, &claim, &a);
			break;
		}
		struct tq_verdict v = verdict_of(p, &a);
		void *result = write_result(p, &a, &v);

		say(p, &a);
		player_does(p, DOING_CLAIM, UINT32_MAX);
		do
			r = tq_next(worker, &claim, &v, timeout, &claim, &verdict);
		while (verdict == 1 && r == TQ_ELOCKED);
		hear(p, &a, verdict == 1 ? r : verdict);
		free(result);
	}
	return r;
}

static int claim_many(struct player *p, struct tq_worker *worker, uint64_t timeout)
{
	struct tq_claim claims[CLAIMS_MAX];
	struct attempt a[CLAIMS_MAX];

	for (uint32_t i = 0; i < CLAIMS_MAX; i++)
		claims[i] = (struct tq_claim){ .size = sizeof(claims[i]) };
	int n = tq_claim_many(worker, timeout, claims, CLAIMS_MAX);

	player_does(p, DOING_RUN, UINT32_MAX);
	for (int i = 0; i < n; i++)
		attempt_begin(p, &claims[i], &a[i]);
	for (int i = 0; i < n; i++) {
		interlude(p, worker);
		attempt_run(p, worker, &claims[i], &a[i]);
		end(p, worker, &claims[i], &a[i]);
	}
	return n;
}

/* Claims that are open when the worker is closed go back. */
static void close_with_claims(struct player *p, struct tq_worker *worker)
{
	struct tq_claim claims[CLAIMS_MAX];
	struct attempt a;

	for (uint32_t i = 0; i < CLAIMS_MAX; i++)
		claims[i] = (struct tq_claim){ .size = sizeof(claims[i]) };
	int n = chance_percent(&p->chance, 30) ? tq_claim_many(worker, 0, claims, CLAIMS_MAX) : 0;

	for (int i = 0; i < n; i++) {
		attempt_begin(p, &claims[i], &a);
		a.said = SAID_BACK;
		say(p, &a);
	}
	player_does(p, DOING_CLOSE, UINT32_MAX);
	tq_worker_close(worker);
}

static int serve(struct player *p, struct tq_worker *worker)
{
	uint64_t timeout = chance_percent(&p->chance, 40) ? TQ_FOREVER_NS
							  : chance_in(&p->chance, 0, 50) * MS;

	player_does(p, DOING_CLAIM, UINT32_MAX);
	switch (chance_below(&p->chance, 3)) {
	case 0:
		return claim_single(p, worker, timeout);
	case 1:
		return claim_chain(p, worker, timeout);
	default:
		return claim_many(p, worker, timeout);
	}
}

/* What a claim met before any task; now and then it dies with it. */
static int obey(struct player *p, struct tq_worker *worker)
{
	struct tq_command command = { .size = sizeof(command) };
	int r = tq_command_take(worker, &command);

	if (r < 0)
		return r;
	if (player_phase_is(p, PHASE_STORM) && chance_percent(&p->chance, 5)) {
		ledger_killing(p->ledger, p->who, 0);
		_exit(EXIT_PLANNED);
	}
	if (chance_percent(&p->chance, 5))
		return 0; /* it is answered later: until then it is all that there is to do */
	r = tq_command_ack(worker, command.id, TQ_ANSWER_DONE, "as you say");
	if (r == TQ_ESTATE)
		ledger_fault(p->ledger, FAULT_ANSWER, UINT32_MAX, "tq_command_ack: %s",
			     tq_strerror(r));
	return r;
}

/* -EAGAIN and the like: try again. */
static int open_worker(struct player *p, struct tq_worker **ret_worker)
{
	const char *queues[] = { QUEUE_PLAIN, QUEUE_STEERED, QUEUE_SCRAP };
	uint64_t first = chance_below(&p->chance, 3);
	const char *const ahead = queues[first];
	struct tq_worker_opts opts = { .size = sizeof(opts), .queues = queues, .queue_count = 3 };

	queues[first] = queues[0];
	queues[0] = ahead;
	if (chance_percent(&p->chance, 50))
		opts.flags = TQ_WORKER_COMMANDS;
	if (chance_percent(&p->chance, 40)) {
		opts.flags |= TQ_WORKER_HEARTBEAT;
		opts.lease_ns = chance_in(&p->chance, 300, 2000) * MS;
		opts.grace_ns = 100 * MS;
		opts.kill = chance_percent(&p->chance, 50) ? TQ_KILL_PROCESS : TQ_KILL_NOTHING;
	}
	return tq_worker_open(p->tq, &opts, ret_worker);
}

int play_worker(struct player *p)
{
	int r = 0;

	if (!player_open(p, 0))
		return 0;
	while (r != TQ_ESHUTDOWN) {
		uint64_t rounds = chance_in(&p->chance, 1, 200);
		struct tq_worker *worker;

		player_does(p, DOING_OPEN, UINT32_MAX);
		r = open_worker(p, &worker);
		if (!player_accepts(p, "tq_worker_open", r))
			return 1;
		if (r < 0)
			continue;
		while (rounds-- > 0 && r != TQ_ESHUTDOWN) {
			r = serve(p, worker);
			if (r == TQ_ECOMMAND)
				r = obey(p, worker);
			player_reap(p, false);
			if (!player_accepts(p, "tq_claim", r))
				return 1;
		}
		close_with_claims(p, worker);
	}
	player_reap(p, true);
	return 0;
}
