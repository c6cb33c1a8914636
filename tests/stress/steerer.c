/* SPDX-License-Identifier: MIT */
/* Steerers: make, pause and remove schedules; cancel, hold, move and reprioritise tasks; pause, drain and purge queues. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "storm.h"

#define RECENT 400u
#define PAGE 32u
#define SCHEDULES 8u
#define WAITING (1u << TQ_DELAYED | 1u << TQ_READY)

/* By either clock. */
static void put_off(struct chance *chance, struct tq_task_update *update)
{
	uint64_t by_ns = chance_in(chance, 1, 50) * MS;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	update->fields = chance_percent(chance, 50) ? TQ_UPDATE_DELAY : TQ_UPDATE_AT;
	update->delay_ns = by_ns;
	update->at_ns = (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec + by_ns;
}

/* More urgent or less, or to wait for other limits, or for none. */
static int change_task(struct player *p, uint64_t id)
{
	const char *limits[2];
	struct tq_task_update update = { .size = sizeof(update),
					 .fields = TQ_UPDATE_PRIORITY,
					 .priority = (int32_t)chance_below(&p->chance, 300),
					 .limits = limits };

	if (chance_percent(&p->chance, 30))
		update.fields = TQ_UPDATE_LIMITS;
	update.limit_count = (uint32_t)chance_below(&p->chance, 3);
	for (uint32_t i = 0; i < update.limit_count; i++)
		limits[i] = storm_limits[chance_below(&p->chance, STORM_LIMITS)];
	return tq_task_update(p->tq, id, &update);
}

static void steer_task(struct player *p, uint32_t slot)
{
	struct ledger_task *t = &p->ledger->task[slot];
	struct tq_task_update update = { .size = sizeof(update) };
	uint64_t id = t->id, dice = chance_below(&p->chance, 100);
	bool steered = (t->traits & TRAIT_STEERED) && !(t->traits & (TRAIT_GROUP | TRAIT_PURGED));
	int r = 0;

	if (dice < 15) {
		ledger_ask(p->ledger, slot, ASKED_CANCEL);
		r = tq_task_steer(p->tq, id, TQ_TASK_ACTION_CANCEL);
	} else if (dice < 50) {
		r = change_task(p, id);
	} else if (steered && dice < 75) {
		r = tq_task_steer(p->tq, id, TQ_TASK_ACTION_HOLD);
	} else if (steered && dice < 95) {
		r = tq_task_steer(p->tq, id, TQ_TASK_ACTION_UNHOLD);
	} else if (steered) {
		put_off(&p->chance, &update);
		r = tq_task_update(p->tq, id, &update);
	}
	player_accepts(p, "steering a task", r);
}

/* Another order for what waits, perhaps while it is on its way into the last one. */
static void reorder(struct player *p)
{
	static const char *const queues[] = { QUEUE_STEERED, QUEUE_SCRAP, QUEUE_FARM };
	struct tq_queue_opts opts = { .size = sizeof(opts) };
	bool edf = chance_percent(&p->chance, 30);

	for (uint32_t b = 0; b < TQ_BANDS; b++)
		opts.ageing[b] = edf || chance_percent(&p->chance, 30)
					 ? TQ_OFF
					 : (uint32_t)chance_in(&p->chance, 1, TQ_AGEING_MAX);
	opts.edf = edf ? 1 : TQ_OFF;
	opts.fair = chance_percent(&p->chance, 50) ? TQ_OFF : 1;
	opts.hybrid = opts.fair == 1 || chance_percent(&p->chance, 50)
			      ? TQ_OFF
			      : (uint32_t)chance_in(&p->chance, 1, 5);
	opts.max_wait_ns = chance_percent(&p->chance, 50) ? TQ_UNLIMITED
							  : chance_in(&p->chance, 1, 500) * MS;
	opts.batch = chance_percent(&p->chance, 50)
			     ? TQ_OFF
			     : (uint32_t)chance_in(&p->chance, 2, TQ_BATCH_MAX);
	int r = tq_queue_set(p->tq, queues[chance_below(&p->chance, 3)], &opts);

	player_accepts(p, "another order", r == -EBUSY ? 0 : r);
}

static void steer_queue(struct player *p)
{
	static const enum tq_queue_action actions[] = { TQ_QUEUE_PAUSE, TQ_QUEUE_RESUME,
							TQ_QUEUE_RESUME, TQ_QUEUE_DRAIN,
							TQ_QUEUE_UNDRAIN };
	uint64_t dice = chance_below(&p->chance, 100);
	struct tq_queue_opts opts = { .size = sizeof(opts) };
	int r;

	if (dice < 15) {
		atomic_fetch_add(&p->ledger->purges, 1);
		r = tq_queue_steer(p->tq, QUEUE_SCRAP, TQ_QUEUE_PURGE);
	} else if (dice < 40) {
		reorder(p);
		return;
	} else if (dice < 50) {
		opts.depth_max = chance_percent(&p->chance, 40) ? 10 : TQ_UNLIMITED;
		r = tq_queue_set(p->tq, QUEUE_STEERED, &opts);
	} else {
		r = tq_queue_steer(p->tq, QUEUE_STEERED, actions[chance_below(&p->chance, 5)]);
	}
	player_accepts(p, "steering a queue", r);
}

/* Limits that let everything through in the end. */
static void steer_limit(struct player *p)
{
	const char *key = storm_limits[chance_below(&p->chance, STORM_LIMITS)];
	struct tq_limit_opts opts = { .size = sizeof(opts) };
	uint64_t dice = chance_below(&p->chance, 100);

	if (dice < 30) {
		int r = tq_limit_remove(p->tq, key);

		player_accepts(p, "removing a limit", r == -ENOENT ? 0 : r);
		return;
	}
	if (dice < 80)
		opts.slots = (uint32_t)chance_in(&p->chance, 1, 6);
	if (dice >= 60) {
		opts.rate = (uint32_t)chance_in(&p->chance, 300, 900);
		opts.burst = (uint32_t)chance_in(&p->chance, 1, 5);
		opts.interval_ns = 1000 * MS;
	}
	player_accepts(p, "setting a limit", tq_limit_set(p->tq, key, &opts));
}

/* Servers that come and go, at limits that do; none may be left: let_go() helps then. */
static void steer_server(struct player *p)
{
	static const char *const names[] = { "http://a", "http://b", "c", "d" };
	static const char *const patterns[] = { "http://*", "http://a", "*", "c" };
	const char *name = names[chance_below(&p->chance, 4)];
	const char *pattern = patterns[chance_below(&p->chance, 4)];
	uint64_t dice = chance_below(&p->chance, 100);
	uint32_t slots = (uint32_t)chance_in(&p->chance, 1, 6);
	int r;

	if (dice < 40)
		r = tq_server_add(p->tq, QUEUE_STEERED, name);
	else if (dice < 55)
		r = tq_server_remove(p->tq, QUEUE_STEERED, name);
	else if (dice < 60)
		r = tq_server_clear(p->tq, QUEUE_STEERED);
	else if (dice < 85)
		r = tq_server_limit_set(p->tq, QUEUE_STEERED, pattern, slots);
	else
		r = tq_server_limit_remove(p->tq, QUEUE_STEERED, pattern);
	player_accepts(p, "servers", r == -ENOENT ? 0 : r);
}

/* Runs that nobody serves and everybody forgets: they expire before they are counted. */
static int make_schedule(struct player *p)
{
	const struct tq_task_spec run = { .size = sizeof(run),
					  .queue = QUEUE_TIMES,
					  .kind = KIND_WORK,
					  .flags = TQ_TASK_FORGET,
					  .deadline_ns = MS };
	const bool cron = chance_percent(&p->chance, 30);
	const struct tq_schedule_spec spec = { .size = sizeof(spec),
					       .task = &run,
					       .every_ns = cron ? 0 : 20 * MS,
					       .cron = cron ? "* * * * *" : NULL,
					       .zone = cron ? "UTC0" : NULL,
					       .overlap = TQ_OVERLAP_QUEUE };

	return tq_schedule_create(p->tq, &spec, NULL);
}

static void steer_schedule(struct player *p)
{
	struct tq_schedule_info infos[SCHEDULES] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n = tq_schedule_list(p->tq, &cursor, infos, SCHEDULES);

	if (n >= 0 && n < (int)SCHEDULES && chance_percent(&p->chance, 50))
		n = make_schedule(p);
	else if (n > 0)
		n = tq_schedule_steer(p->tq, infos[chance_below(&p->chance, (uint64_t)n)].id,
				      (enum tq_schedule_action)chance_in(
					      &p->chance, TQ_SCHEDULE_PAUSE, TQ_SCHEDULE_REMOVE));
	player_accepts(p, "schedules", n == -ENOENT ? 0 : n);
}

static bool nobody_takes_it(int r)
{
	return r == -ENOENT || r == -ESRCH || r == -EOPNOTSUPP || r == -EXDEV;
}

/* Whoever gets a command answers it, or is answered for. */
static void command(struct player *p)
{
	static const char *const names[] = { "hello", "reload", "resize", "stop" };
	static const char *const queues[] = { QUEUE_PLAIN, QUEUE_STEERED, QUEUE_FARM };
	struct tq_command_spec spec = { .size = sizeof(spec),
					.name = names[chance_below(&p->chance, 4)],
					.queue = queues[chance_below(&p->chance, 3)],
					.argument = "2",
					.argument_bytes = 1,
					.to = 1 + (uint32_t)chance_below(&p->chance, 4) };
	uint64_t id;

	if (strcmp(spec.name, "stop") == 0) /* not all farms at once: their tasks would wait */
		spec.to = TQ_COMMAND_TO_ANY;
	if (spec.to == TQ_COMMAND_TO_WORKER)
		spec.worker = 1 + (uint32_t)chance_below(&p->chance, 40);
	int r = tq_command_send(p->tq, &spec, &id);

	if (nobody_takes_it(r) || !player_accepts(p, "tq_command_send", r) || r < 0)
		return;
	if (chance_percent(&p->chance, 20))
		player_accepts(p, "tq_command_cancel", tq_command_cancel(p->tq, id));
	if (chance_percent(&p->chance, 50))
		player_accepts(p, "tq_command_wait",
			       tq_command_wait(p->tq, id, chance_below(&p->chance, 50) * MS, NULL));
}

static void steer_some(struct player *p)
{
	uint32_t end = p->ledger->tasks, room = end < RECENT ? end : RECENT;

	if (chance_percent(&p->chance, 15))
		steer_queue(p);
	if (chance_percent(&p->chance, 15))
		steer_limit(p);
	if (chance_percent(&p->chance, 15))
		steer_server(p);
	if (chance_percent(&p->chance, 10))
		steer_schedule(p);
	if (chance_percent(&p->chance, 10))
		command(p);
	for (uint32_t i = 0; i < 4 && room; i++) {
		uint32_t slot = end - 1 - (uint32_t)chance_below(&p->chance, room);
		const struct ledger_task *t = &p->ledger->task[slot];

		if (t->state == LEDGER_ACCEPTED && !t->outcome)
			steer_task(p, slot);
	}
}

static void unhold_all(struct player *p)
{
	const struct tq_task_filter filter = { .size = sizeof(filter), .states = WAITING };
	struct tq_task_info infos[PAGE] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	int n;

	while ((n = tq_task_list(p->tq, &filter, &cursor, infos, PAGE)) > 0)
		for (int i = 0; i < n; i++) {
			if (infos[i].flags & TQ_INFO_HELD)
				player_accepts(
					p, "unhold",
					tq_task_steer(p->tq, infos[i].id, TQ_TASK_ACTION_UNHOLD));
			infos[i].size = sizeof(infos[i]);
		}
	player_accepts(p, "tq_task_list", n);
}

/* What was stopped does not stay so: or all would come to rest in the end. */
static void let_go(struct player *p)
{
	struct tq_queue_opts opts = { .size = sizeof(opts), .depth_max = TQ_UNLIMITED };

	unhold_all(p);
	int r = tq_server_clear(p->tq, QUEUE_STEERED);

	player_accepts(p, "no servers", r == -ENOENT ? 0 : r);
	player_accepts(p, "resume", tq_queue_steer(p->tq, QUEUE_STEERED, TQ_QUEUE_RESUME));
	player_accepts(p, "undrain", tq_queue_steer(p->tq, QUEUE_STEERED, TQ_QUEUE_UNDRAIN));
	player_accepts(p, "no limit", tq_queue_set(p->tq, QUEUE_STEERED, &opts));
}

int play_steerer(struct player *p)
{
	if (!player_open(p, 0))
		return 0;
	while (player_phase_is(p, PHASE_STORM)) {
		player_does(p, DOING_STEER, UINT32_MAX);
		steer_some(p);
		player_work(chance_in(&p->chance, 1, 30) * MS);
		if (chance_percent(&p->chance, 10))
			let_go(p);
	}
	return 0;
}
