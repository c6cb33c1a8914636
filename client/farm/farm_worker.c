/* SPDX-License-Identifier: MIT */
/* A worker process of a farm: claim, run, report, again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "client/farm/exec_command.h"
#include "client/farm/farm.h"
#include "client/farm/output.h"
#include "client/farm/run.h"
#include "client/core/stopper.h"
#include "shm/text_file.h"

#define EXIT_FAILED 70		/* sysexits' EX_SOFTWARE: the worker itself could not go on */
#define PAUSE_NS 100000000l	/* 100 ms: what the segment lacks may be there again */
#define STATM_BYTES 128
#define REFUSAL_PAUSE_NS 1000000000ull /* 1 s, doubled with each command in a row that ... */
#define REFUSAL_DOUBLINGS 6	       /* ... cannot be started, to about a minute */

struct farm_worker {
	struct tqi_farm *farm;
	struct tqi_board *board;
	struct tq_worker *worker;
	struct tqi_outcome outcome;
	struct tq_claim claim;
	bool holding;	  /* the claim's verdict is still to be reported */
	struct tq_farm_event ended; /* .id 0, or the end to tell of when that is reported */
	char label[TQ_LABEL_MAX + 1];
	uint32_t refusals; /* commands in a row that could not be started */
	bool refused;	   /* the last one: a pause is due */
	uint64_t begun;	  /* attempts */
	uint32_t handlers; /* generation that its kinds are of */
};

static bool takes_exec(const struct tqi_farm *farm)
{
	return !(farm->opts.flags & TQ_FARM_NO_EXEC);
}

static uint32_t ring_bytes(const struct tqi_farm *farm)
{
	uint32_t bytes = TQI_OUTPUT_LEAST;

	while (bytes < farm->opts.output_tail_bytes)
		bytes *= 2;
	return takes_exec(farm) ? bytes : 0;
}

static int open_worker(struct farm_worker *fw)
{
	const struct tq_farm_opts *o = &fw->farm->opts;
	struct tqi_kinds kinds;
	int r = tqi_handlers_list(fw->farm->tq, takes_exec(fw->farm), &kinds);

	if (r < 0)
		return r;
	const struct tq_worker_opts opts = {
		.size = sizeof(opts),
		.queues = o->queues,
		.queue_count = o->queue_count,
		.kinds = kinds.names,
		.kind_count = kinds.count,
		.lease_ns = o->lease_ns,
		.grace_ns = o->grace_ns,
		.kill = TQ_KILL_PROCESS,
		.flags = TQ_WORKER_HEARTBEAT | TQ_WORKER_COMMANDS,
		.name = o->name,
		.stealing = o->stealing,
	};
	struct tqi_worker_extra extra = {
		.flags = TQI_WORKER_GROUP | (o->flags & TQ_FARM_UNTIL_EMPTY ? TQI_WORKER_EMPTY : 0),
		.output_bytes = ring_bytes(fw->farm),
		.master = fw->farm->self->index,
	};

	r = kinds.count ? tqi_worker_open(fw->farm->tq, &opts, &extra, &fw->worker) : -ENOENT;
	/* Where memory is short a smaller ring, or none, keeps less of an output, but the command
	 * runs. */
	while ((r == TQ_EFULL || r == -ENOSPC) && extra.output_bytes) {
		extra.output_bytes = extra.output_bytes > TQI_OUTPUT_LEAST ? extra.output_bytes / 2
									   : 0;
		r = tqi_worker_open(fw->farm->tq, &opts, &extra, &fw->worker);
	}
	fw->handlers = kinds.generation;
	free(kinds.names);
	return r;
}

static void post(struct farm_worker *fw)
{
	struct tqi_farm_signals *signals = &fw->farm->signals;

	tqi_store_relaxed64(&fw->board->generation, fw->worker->generation);
	tqi_store_release32(&fw->board->worker, fw->worker->index);
	/* A SIGTERM before this store is seen in `pending`, before the first claim. */
	atomic_store(&signals->heartbeat, fw->worker->heartbeat);
	if (tqi_load_acquire32(&signals->pending))
		tqi_heartbeat_tell(fw->worker->heartbeat);
}

struct new_kinds {
	uint32_t worker;
	struct tqi_kinds kinds;
};

static int set_kinds(struct tqi_tx *tx, void *arg)
{
	const struct new_kinds *k = arg;

	int r = tqi_worker_make_kinds(tx, k->kinds.names, k->kinds.count);

	return r < 0 ? r : tqi_worker_set_kinds(tx, k->worker, k->kinds.names, k->kinds.count);
}

/* Handlers were set or removed by this process since the last look. */
static void refresh_kinds(struct farm_worker *fw)
{
	struct new_kinds k = { .worker = fw->worker->index };

	if (tqi_handlers_generation(fw->farm->tq) == fw->handlers)
		return;
	if (tqi_handlers_list(fw->farm->tq, takes_exec(fw->farm), &k.kinds) < 0)
		return;
	if (tqi_run(fw->farm->tq, set_kinds, &k) == 0)
		fw->handlers = k.kinds.generation;
	free(k.kinds.names);
}

/* Private resident memory: what is shared with others, the segment above all, stays anyway. */
static uint64_t resident_bytes(void)
{
	char text[STATM_BYTES], *at = text;

	if (!tqi_read_text("/proc/self/statm", text, sizeof(text)))
		return 0;
	strtoull(at, &at, 10); /* size */
	uint64_t resident = strtoull(at, &at, 10), shared = strtoull(at, &at, 10);

	return resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Whether it may begin another task. */
static enum tqi_leave wants_to_leave(const struct farm_worker *fw)
{
	const struct tq_farm_opts *o = &fw->farm->opts;

	if (tqi_load_acquire32(&fw->farm->signals.pending))
		return TQI_LEAVE_TOLD;
	if (tqi_board_change(fw->board, TQI_SURPLUS_TAKEN))
		return TQI_LEAVE_SURPLUS;
	if (o->max_tasks && fw->begun >= o->max_tasks)
		return TQI_LEAVE_WORN;
	if (o->max_rss_bytes && fw->holding && resident_bytes() >= o->max_rss_bytes)
		return TQI_LEAVE_WORN;
	return TQI_LEAVE_NOT;
}

/* A start that failed for want of something: said once, and tried again less and less often. */
static void note_refusal(struct farm_worker *fw)
{
	const struct tq_verdict *v = &fw->outcome.verdict;
	const bool refused = v->kind == TQ_VERDICT_RELEASE && v->delay_ns;

	fw->refused = refused;
	if (refused && fw->refusals++ == 0)
		tqi_farm_trouble(fw->farm, "worker %d: %s", (int)getpid(), v->text);
	if (!refused && fw->refusals)
		tqi_farm_trouble(fw->farm, "worker %d starts commands again", (int)getpid());
	if (!refused)
		fw->refusals = 0;
}

/* What is to be told of it, while the claim is at hand: its verdict may bring the next. */
static void note_end(struct farm_worker *fw, uint64_t began_ns)
{
	const struct tq_verdict *v = &fw->outcome.verdict;
	struct tq_task_info info = { .size = sizeof(info) };
	const int stop = v->kind == TQ_VERDICT_DONE ? 0 : tq_claim_stopping(fw->worker, &fw->claim);

	if (tq_task_info(fw->farm->tq, fw->claim.id, &info) < 0)
		info.label[0] = '\0';
	memcpy(fw->label, info.label, sizeof(fw->label));
	fw->ended = (struct tq_farm_event){
		.worker_pid = (uint32_t)getpid(),
		.id = fw->claim.id,
		.label = fw->label,
		.run_ns = tqi_now(fw->farm->tq) - began_ns,
		.attempt = fw->claim.attempt,
		.cause = stop > 0 ? (uint32_t)stop : v->cause,
		.cause_arg = stop > 0 ? 0 : v->cause_arg,
	};
}

static void run_claimed(struct farm_worker *fw)
{
	const bool told = tqi_farm_reports_attempts(fw->farm);
	const uint64_t began_ns = told ? tqi_now(fw->farm->tq) : 0;

	fw->begun++;
	fw->holding = true;
	if (strcmp(fw->claim.kind, "exec") == 0)
		tqi_command_run(fw->worker, &fw->claim, fw->farm->opts.output_tail_bytes,
				&fw->outcome);
	else
		tqi_run_handler(fw->farm->tq, fw->worker, &fw->claim, &fw->outcome);
	if (told)
		note_end(fw, began_ns);
	note_refusal(fw);
}

static void reported(struct farm_worker *fw)
{
	fw->holding = false;
	tqi_store_relaxed64(&fw->board->finished, tqi_load_relaxed64(&fw->board->finished) + 1);
	if (fw->ended.id)
		tqi_farm_report_attempt(fw->farm, &fw->ended);
	fw->ended.id = 0;
}

/* Verdict and next claim. */
static int next(struct farm_worker *fw)
{
	int verdict = 1; /* neither 0 nor an error: not reported */

	if (!fw->holding)
		return tq_claim(fw->worker, TQ_FOREVER_NS, &fw->claim);
	int r = tq_next(fw->worker, &fw->claim, &fw->outcome.verdict, TQ_FOREVER_NS, &fw->claim,
			&verdict);

	if (verdict != 1)
		reported(fw);
	return r;
}

static void rest(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	nanosleep(&pause, NULL);
}

/* 0 claimed, 1 try again, or an error that ends the worker. */
static int survive(int r)
{
	switch (r) {
	case -EINTR:
	case -ECANCELED: /* told to end: seen before the next claim */
		return 1;
	case TQ_ELOCKED:
	case TQ_EFULL:
	case -ENOSPC:
	case -ENOMEM:
		rest();
		return 1;
	default:
		return r;
	}
}

/* The last verdict; 0 or an error. */
static int report_last(struct farm_worker *fw)
{
	int r = 0;

	while (fw->holding) {
		r = tq_end(fw->worker, &fw->claim, &fw->outcome.verdict);
		if (r == 0 || r == TQ_ELEASE)
			reported(fw);
		else if ((r = survive(r)) < 0)
			return r;
	}
	return 0;
}

/* Before it claims again; ended when it is told to leave.  1, or an error. */
static int back_off(struct farm_worker *fw)
{
	const struct tqi_ops *ops = fw->farm->tq->seg.ops;
	const struct tqi_futex word = { &fw->farm->signals.pending, 0 };
	const uint32_t doublings = fw->refusals - 1 < REFUSAL_DOUBLINGS ? fw->refusals - 1
									: REFUSAL_DOUBLINGS;

	const int r = report_last(fw);

	fw->refused = false;
	if (r == 0)
		ops->futex_wait(ops->ctx, &word, 1,
				tqi_now(fw->farm->tq) + (REFUSAL_PAUSE_NS << doublings));
	return r < 0 ? r : 1;
}

static int serve(struct farm_worker *fw, enum tqi_leave *ret_leave)
{
	for (;;) {
		*ret_leave = wants_to_leave(fw);
		if (*ret_leave != TQI_LEAVE_NOT)
			return report_last(fw);
		refresh_kinds(fw);
		int r = fw->refused ? back_off(fw) : survive(next(fw));

		if (r == TQ_ECOMMAND) { /* what it held has been reported */
			r = tqi_farm_worker_obey(fw->farm, fw->worker, fw->board, ret_leave);
			if (r < 0 || *ret_leave != TQI_LEAVE_NOT)
				return r;
			continue;
		}
		if (r == -ENODATA || r == TQ_ESHUTDOWN || r == TQ_EREMOVED) {
			*ret_leave = TQI_LEAVE_EMPTY;
			return report_last(fw);
		}
		if (r < 0)
			return r;
		if (r == 0)
			run_claimed(fw);
	}
}

/*
 * Commands' orphans come to the worker.  It ends by _exit(): the host's atexit()
 * handlers are the master's.
 */
_Noreturn void tqi_farm_worker_main(struct tqi_farm *farm, struct tqi_board *board)
{
	struct farm_worker fw = { .farm = farm, .board = board, .claim.size = sizeof(fw.claim) };
	enum tqi_leave leave = TQI_LEAVE_NOT;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	int r = open_worker(&fw);

	if (r == 0) {
		post(&fw);
		r = serve(&fw, &leave);
		atomic_store(&farm->signals.heartbeat, NULL);
		tq_worker_close(fw.worker);
	} else if (r == TQ_ESHUTDOWN || r == TQ_EREMOVED) {
		leave = TQI_LEAVE_EMPTY;
	}
	fflush(NULL);
	if (r < 0 && leave == TQI_LEAVE_NOT) {
		if (!fw.worker)
			tqi_store_relaxed32(&board->error, (uint32_t)r);
		_exit(EXIT_FAILED);
	}
	tqi_store_release32(&board->leave, (uint32_t)leave);
	_exit(0);
}
