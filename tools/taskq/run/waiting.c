/* SPDX-License-Identifier: MIT */
/* Waiting for tasks in the way of a program that people stop and continue. */
#include <errno.h>
#include <stdlib.h>

#include "errors.h"
#include "format.h"
#include "json.h"
#include "outcome.h"
#include "signals.h"
#include "tools/taskq/print/refusal.h"
#include "tools/taskq/run/waiting.h"

enum {
	WAIT_MANY_MAX = 65536
}; /* ids that one tq_wait() takes */

static uint64_t deadline_of(uint64_t timeout_ns)
{
	const uint64_t now_ns = clocks_read().now_ns;

	return timeout_ns > TQ_FOREVER_NS - now_ns ? TQ_FOREVER_NS : now_ns + timeout_ns;
}

static uint64_t time_left(uint64_t deadline_ns)
{
	const uint64_t now_ns = clocks_read().now_ns;

	if (deadline_ns == TQ_FOREVER_NS)
		return TQ_FOREVER_NS;
	return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

int wait_task(struct tq *tq, uint64_t id, uint64_t timeout_ns, struct tq_task_info *ret_info)
{
	const uint64_t deadline_ns = deadline_of(timeout_ns);
	int r;

	do {
		if (ret_info)
			ret_info->size = sizeof(*ret_info);
		signals_sleep_begin();
		r = tq_wait(tq, &id, 1, time_left(deadline_ns), NULL, ret_info);
		signals_sleep_end();
	} while (r == -EINTR);
	return r;
}

/* The states that end a wait, and one that says that an attempt may have been given back. */
static uint32_t states_wanted(uint32_t state, bool is_told)
{
	const uint32_t final = (1u << TQ_STATE_COUNT) - (1u << TQ_DONE);
	const uint32_t back = state == TQ_DELAYED ? TQ_RUNNING : TQ_DELAYED;

	return is_told ? final : final | 1u << back;
}

/* As wait_task(); that a farm gives it back again and again, which need never end, is said once. */
static int wait_telling(struct tq *tq, uint64_t id, uint64_t timeout_ns, struct tq_task_info *info)
{
	const uint64_t deadline_ns = deadline_of(timeout_ns);
	struct tq_wait_opts opts = { .size = sizeof(opts) };
	bool is_told = false;
	int r;

	if (tq_task_info(tq, id, info) < 0)
		info->state = TQ_READY; /* the wait says what is wrong */
	do {
		is_told = is_told || refusal_say(info);
		opts.states = states_wanted(info->state, is_told);
		signals_sleep_begin();
		r = tq_wait(tq, &id, 1, time_left(deadline_ns), &opts, info);
		signals_sleep_end();
	} while (r == -EINTR || (r == 0 && info->state < TQ_DONE));
	return r;
}

/* Waits for all at once, so that none can be evicted while another is waited for.
 * Says nothing of errors: the look at each one that follows does. */
static int wait_all(struct tq *tq, const uint64_t *ids, unsigned count, const struct waiting *how,
		    uint64_t deadline_ns)
{
	const struct tq_wait_opts opts = {
		.size = sizeof(opts),
		.flags = how->urgent ? TQ_WAIT_PRIORITY : 0,
		.priority = how->priority,
	};
	int r = 0;

	for (unsigned at = 0; at < count && r != TQ_ELOCKED; at += WAIT_MANY_MAX) {
		const unsigned some = count - at < WAIT_MANY_MAX ? count - at : WAIT_MANY_MAX;

		do {
			signals_sleep_begin();
			r = tq_wait(tq, ids + at, some, time_left(deadline_ns), &opts, NULL);
			signals_sleep_end();
		} while (r == -EINTR);
	}
	return r;
}

/* What a failed task has to say that its exit code does not. */
static void report_task(const struct tq_task_info *info, bool several)
{
	char id[TQ_ID_TEXT_MAX], outcome[OUTCOME_MAX];

	if (info->state == TQ_DONE || (!several && outcome_is_plain(info)))
		return;
	complain("%s %s", tq_task_id_format(info->id, id), outcome_format(info, outcome));
}

/* Without time left, and for one that has not ended, nobody need have the lock. */
static int look_or_wait(struct tq *tq, uint64_t id, uint64_t timeout_ns, struct tq_task_info *info)
{
	if (timeout_ns == 0 && tq_task_info(tq, id, info) == 0 && info->state < TQ_DONE)
		return -ETIMEDOUT;
	/* Inside a task it may be refused, as one that would never end: only a wait for ends is. */
	const int r = getenv("TASKQ_ATTEMPT") ? wait_task(tq, id, timeout_ns, info)
					      : wait_telling(tq, id, timeout_ns, info);

	if (r != -ETIMEDOUT)
		return r;
	info->size = sizeof(*info);
	return tq_task_info(tq, id, info) == 0 && info->state >= TQ_DONE ? 0 : r;
}

static int wait_one(struct cli *cli, uint64_t id, bool several, uint64_t deadline_ns,
		    const struct clocks *clocks)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char text[TQ_ID_TEXT_MAX];
	const int r = look_or_wait(cli->tq, id, time_left(deadline_ns), &info);

	if (r == -ETIMEDOUT) {
		complain("%s has not finished yet", tq_task_id_format(id, text));
		return CLI_UNFINISHED;
	}
	if (r < 0)
		return fail_task(cli, r, id);
	if (cli->json)
		json_line(json_of_task(cli->tq, &info, clocks));
	report_task(&info, several);
	return outcome_code(&info);
}

/* Of several, one that never was would be told of when all others have ended: now. */
static int find_all(struct cli *cli, const uint64_t *ids, unsigned count)
{
	int code = CLI_OK;

	for (unsigned i = 0; i < count; i++) {
		struct tq_task_info info = { .size = sizeof(info) };
		const int r = tq_task_info(cli->tq, ids[i], &info);

		if (r == -ENOENT)
			code = fail_task(cli, r, ids[i]);
	}
	return code;
}

int wait_and_report(struct cli *cli, const uint64_t *ids, unsigned count, const struct waiting *how)
{
	const uint64_t deadline_ns = deadline_of(how->timeout_ns);
	const bool several = count > 1 || how->any_number;
	int code = several ? find_all(cli, ids, count) : CLI_OK;

	if (code)
		return code;
	if (count > 0 && (several || how->urgent) &&
	    wait_all(cli->tq, ids, count, how, deadline_ns) == TQ_ELOCKED)
		return fail(cli, TQ_ELOCKED, ABOUT_TASK, "%s", cli->verb->name);

	const struct clocks clocks = clocks_read();

	for (unsigned i = 0; i < count && !failed_at_lock(); i++) {
		const int one = wait_one(cli, ids[i], several, deadline_ns, &clocks);

		if (!several || one == CLI_OK || one == CLI_UNFINISHED)
			code = worse(code, one);
		else
			code = worse(code, CLI_NOTHING); /* "any failed" */
	}
	return code;
}
