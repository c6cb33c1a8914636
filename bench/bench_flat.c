/* SPDX-License-Identifier: MIT */
/*
 * What an operation costs beside very many queues, kinds, tenants, workers and sleepers,
 * against the same beside one: in instructions, which a busy machine does not change.  As
 * many tasks wait on both sides.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define CALLS 32 /* that are counted */
#define WARM_UP 8
#define QUEUES 1000u
#define BEYOND_CACHE 500u /* names from here on: those that a cache of the first few lacks */
#define KINDS 250u
#define TENANTS 1000u
#define WORKERS 4000u  /* a segment has 4,095 */
#define SLEEPERS 8000u /* a segment has 8,191 */
#define OTHERS 1000u
#define KEEPERS 4u /* sleepers, of whom three keep watch on both sides */
#define THREAD_STACK_BYTES (64u << 10)
#define SETTLE_US 20000
#define LOOK_NS 1000000 /* what looking itself takes is less */
#define BATCH TQ_BATCH_MAX
#define NAME_BYTES 24

/* One side of a comparison: how many there are, and what is done beside them. */
struct side {
	struct tq *tq;
	struct tq_worker *worker;
	struct tq_claim claim;
	struct tq_task_spec spec;
	uint32_t count;
	uint32_t turn;
	char queue[NAME_BYTES], kind[NAME_BYTES], fair_key[NAME_BYTES];
};

static void name(char text[NAME_BYTES], const char *what, uint32_t number)
{
	snprintf(text, NAME_BYTES, "%s%u", what, number);
}

static void submit(void *arg)
{
	struct side *s = arg;

	bench_must(tq_submit(s->tq, &s->spec, NULL), "submit");
}

static void live(void *arg)
{
	struct side *s = arg;

	submit(s);
	bench_must(tq_claim(s->worker, 0, &s->claim), "claim");
	bench_must(tq_complete(s->worker, &s->claim, NULL, 0), "complete");
}

static void open_side(struct side *s, uint32_t count)
{
	*s = (struct side){ .tq = bench_open(),
			    .claim = { .size = sizeof(s->claim) },
			    .count = count };
	s->spec = bench_spec();
}

static void close_side(struct side *s)
{
	if (s->worker)
		tq_worker_close(s->worker);
	bench_close(s->tq);
}

/* Counts `op`, before which `turn` makes ready. */
static void count(struct side *s, void (*op)(void *), void (*turn)(struct side *))
{
	for (uint32_t i = 0; i < WARM_UP + CALLS; i++) {
		if (turn)
			turn(s);
		if (i < WARM_UP)
			op(s);
		else
			bench_counted(op, s);
	}
}

/* Queues. */

static void next_queue(struct side *s)
{
	name(s->queue, "queue", s->turn++ % s->count);
	s->spec.queue = s->queue;
}

static void first_queue(struct side *s)
{
	name(s->queue, "queue", 0);
	s->spec.queue = s->queue;
}

static void submit_to(uint32_t queues, void (*turn)(struct side *))
{
	struct side s;

	open_side(&s, queues);
	for (uint32_t i = 0; i < QUEUES; i++) {
		next_queue(&s);
		submit(&s);
	}
	s.turn = BEYOND_CACHE;
	count(&s, submit, turn);
	close_side(&s);
}

static void submit_to_first(uint32_t queues)
{
	submit_to(queues, first_queue);
}

static void submit_to_each(uint32_t queues)
{
	submit_to(queues, next_queue);
}

/* Kinds: each has a task; what is claimed is submitted again. */

static void next_kind(struct side *s)
{
	name(s->kind, "kind", s->turn++ % s->count);
	s->spec.kind = s->kind;
	s->spec.priority = bench_priority();
}

/* The kinds that were claimed last take turns by themselves. */
static void same_kind(struct side *s)
{
	snprintf(s->kind, sizeof(s->kind), "%.*s", NAME_BYTES - 1, s->claim.kind);
	s->spec.kind = s->kind;
	s->spec.priority = bench_priority();
}

/* `fair_key`: of one tenant, who has them all; NULL the queue is not fair. */
static void live_of_kinds(uint32_t kinds, uint32_t every, const char *fair_key)
{
	const struct tq_queue_opts fair = { .size = sizeof(fair), .fair = 1 };
	char names[KINDS][NAME_BYTES];
	const char *served[KINDS];
	struct tq_worker_opts opts = { .size = sizeof(opts), .kinds = served };
	struct side s;

	for (uint32_t k = 0; every > 1 && k < kinds; k += every) {
		name(names[k], "kind", k);
		served[opts.kind_count++] = names[k];
	}
	open_side(&s, kinds);
	s.spec.fair_key = fair_key;
	if (fair_key)
		bench_must(tq_queue_set(s.tq, "default", &fair), "queue");
	bench_must(tq_worker_open(s.tq, every > 1 ? &opts : NULL, &s.worker), "worker");
	for (uint32_t i = 0; i < KINDS; i++) {
		next_kind(&s);
		submit(&s);
	}
	s.turn = 0;
	next_kind(&s);
	live(&s);
	count(&s, live, same_kind);
	close_side(&s);
}

static void live_of_any_kind(uint32_t kinds)
{
	live_of_kinds(kinds, 1, NULL);
}

static void live_of_every_second_kind(uint32_t kinds)
{
	live_of_kinds(kinds, 2, NULL);
}

static void live_of_one_kind(uint32_t kinds)
{
	live_of_kinds(kinds, KINDS, NULL);
}

static void live_of_tenants_one_kind(uint32_t kinds)
{
	live_of_kinds(kinds, KINDS, "tenant");
}

/* Tenants of a fair queue: all have tasks of one kind, the first one has another kind, too. */

static void next_tenant(struct side *s)
{
	name(s->fair_key, "tenant", s->turn++ % s->count);
	s->spec.fair_key = s->fair_key;
}

static void live_of_tenants(uint32_t tenants)
{
	static const char *const rare = "rare";
	const struct tq_queue_opts fair = { .size = sizeof(fair), .fair = 1 };
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .kinds = &rare,
					     .kind_count = 1 };
	struct side s;

	open_side(&s, tenants);
	bench_must(tq_queue_set(s.tq, "default", &fair), "queue");
	bench_must(tq_worker_open(s.tq, &opts, &s.worker), "worker");
	for (uint32_t i = 0; i < TENANTS; i++) {
		next_tenant(&s);
		submit(&s);
	}
	s.turn = 0;
	next_tenant(&s);
	s.spec.kind = rare;
	count(&s, live, NULL);
	close_side(&s);
}

/* Workers: some have taken batches, one steals, very many have nothing. */

#define OWNERS 8u /* who have taken more than is stolen: 15 each */

static void claim(void *arg)
{
	struct side *s = arg;

	bench_must(tq_claim(s->worker, 0, &s->claim), "claim");
}

static void finish_last(struct side *s)
{
	if (s->claim.id)
		bench_must(tq_complete(s->worker, &s->claim, NULL, 0), "complete");
}

static void open_owners(struct side *s, struct tq_worker **owners)
{
	const struct tq_queue_opts batch = { .size = sizeof(batch), .batch = BATCH };
	struct tq_claim claimed = { .size = sizeof(claimed) };

	bench_must(tq_queue_set(s->tq, "default", &batch), "queue");
	for (uint32_t i = 0; i < OWNERS * BATCH; i++)
		submit(s);
	for (uint32_t i = 0; i < OWNERS; i++) {
		bench_must(tq_worker_open(s->tq, NULL, &owners[i]), "worker");
		bench_must(tq_claim(owners[i], 0, &claimed), "claim");
	}
}

static void steal_beside(uint32_t workers)
{
	static struct tq_worker *others[OWNERS + WORKERS];
	const struct tq_worker_opts thief = { .size = sizeof(thief),
					      .stealing = { .max_count = 1 } };
	struct side s;

	open_side(&s, workers);
	open_owners(&s, others);
	for (uint32_t i = 0; i < workers; i++)
		bench_must(tq_worker_open(s.tq, NULL, &others[OWNERS + i]), "worker");
	bench_must(tq_worker_open(s.tq, &thief, &s.worker), "worker");
	count(&s, claim, finish_last);
	for (uint32_t i = 0; i < OWNERS + workers; i++)
		tq_worker_close(others[i]);
	close_side(&s);
}

/*
 * Sleepers: a worker of another queue, and clients that wait for a task which does not start;
 * threads of a process of its own, which is not under callgrind.
 */

struct sleepers {
	struct tq *tq;
	uint64_t awaited;
	void *(*sleep)(struct sleepers *all, uint32_t number);
	_Atomic uint32_t arrived;
};

static void *wait_as_worker(struct sleepers *all, const char *queue, const char *kind)
{
	const struct tq_worker_opts opts = { .size = sizeof(opts),
					     .queues = &queue,
					     .queue_count = 1,
					     .kinds = &kind,
					     .kind_count = kind != NULL };
	struct tq_claim claimed = { .size = sizeof(claimed) };
	struct tq_worker *worker;

	bench_must(tq_worker_open(all->tq, &opts, &worker), "worker");
	return tq_claim(worker, TQ_FOREVER_NS, &claimed) < 0 ? all : NULL;
}

/* The first one is a worker of another queue, the others are clients. */
static void *sleep_for_task(struct sleepers *all, uint32_t number)
{
	if (number == 0)
		return wait_as_worker(all, "nowhere", NULL);
	return tq_wait(all->tq, &all->awaited, 1, TQ_FOREVER_NS, NULL, NULL) < 0 ? all : NULL;
}

/* The first one waits for that group, the others each for one of its own. */
static void *sleep_for_group(struct sleepers *all, uint32_t number)
{
	uint64_t group = all->awaited;

	if (number > 0)
		bench_must(tq_group_new(all->tq, NULL, &group), "group");
	return tq_group_wait(all->tq, group, TQ_FOREVER_NS, NULL) < 0 ? all : NULL;
}

/* All wait for answers to one command. */
static void *sleep_for_command(struct sleepers *all, uint32_t number)
{
	(void)number;
	return tq_command_wait(all->tq, all->awaited, TQ_FOREVER_NS, NULL) < 0 ? all : NULL;
}

/* Each is a worker of a queue of its own, of a kind that has no tasks. */
static void *sleep_as_worker(struct sleepers *all, uint32_t number)
{
	char queue[NAME_BYTES];

	name(queue, "other", number);
	return wait_as_worker(all, queue, "none");
}

static const struct sort {
	const char *name;
	void *(*sleep)(struct sleepers *all, uint32_t number);
} sorts[] = {
	{ "task", sleep_for_task },
	{ "group", sleep_for_group },
	{ "command", sleep_for_command },
	{ "worker", sleep_as_worker },
};

static void *sleep_beside(void *arg)
{
	struct sleepers *all = arg;

	return all->sleep(all, atomic_fetch_add(&all->arrived, 1));
}

/* Writes a byte when all have come and none runs any more. */
static void tell_when_asleep(struct sleepers *all, uint32_t number)
{
	uint64_t before, now = 0;

	while (atomic_load(&all->arrived) < number)
		bench_pause(SETTLE_US);
	do {
		before = now;
		bench_pause(SETTLE_US);
		now = bench_cpu_ns(getpid());
	} while (now - before > LOOK_NS);
	if (write(STDOUT_FILENO, "", 1) < 0)
		_exit(1);
}

void bench_sleepers(const char *segment, const char *sort, uint32_t number, uint64_t awaited)
{
	struct sleepers all = { .awaited = awaited };
	pthread_attr_t attr;
	pthread_t thread;

	for (uint32_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
		if (strcmp(sorts[i].name, sort) == 0)
			all.sleep = sorts[i].sleep;
	bench_must(all.sleep ? 0 : -EINVAL, "sort of sleepers");
	bench_must(tq_open(segment, NULL, &all.tq), "open");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	for (uint32_t i = 0; i < number; i++)
		if (pthread_create(&thread, &attr, sleep_beside, &all))
			_exit(1);
	tell_when_asleep(&all, number);
	for (;;)
		pause();
}

static pid_t start_sleepers(const char *sort, uint64_t awaited, uint32_t number)
{
	char self[1024], segment[32], text[2][24], asleep;
	int ends[2];

	bench_self(self, sizeof(self));
	snprintf(segment, sizeof(segment), "bench.%d", (int)getpid());
	snprintf(text[0], sizeof(text[0]), "%u", number);
	snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)awaited);
	bench_must(pipe(ends) < 0 ? -errno : 0, "pipe");
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a scene that fails leaves nobody asleep */
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		execl(self, self, "--sleepers", segment, sort, text[0], text[1], (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	bench_must(read(ends[0], &asleep, 1) == 1 ? 0 : -ESRCH, "sleepers");
	close(ends[0]);
	return pid;
}

static void end_sleepers(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void submit_beside_sleepers(uint32_t sleepers)
{
	uint64_t awaited;
	struct side s;

	open_side(&s, sleepers);
	s.spec.queue = "elsewhere";
	s.spec.flags = TQ_TASK_HOLD;
	bench_must(tq_submit(s.tq, &s.spec, &awaited), "submit");
	s.spec = bench_spec();
	const pid_t pid = start_sleepers("task", awaited, sleepers);

	count(&s, submit, NULL);
	end_sleepers(pid);
	close_side(&s);
}

/* A member's end, while somebody waits for the last one of its group. */
static void live_beside_groups(uint32_t sleepers)
{
	struct side s;

	open_side(&s, sleepers);
	bench_must(tq_worker_open(s.tq, NULL, &s.worker), "worker");
	bench_must(tq_group_new(s.tq, NULL, &s.spec.group), "group");
	const pid_t pid = start_sleepers("group", s.spec.group, sleepers);

	count(&s, live, NULL);
	end_sleepers(pid);
	close_side(&s);
}

/* A command is sent, taken and answered. */
static void command(void *arg)
{
	const struct tq_command_spec spec = { .size = sizeof(spec),
					      .name = "reload",
					      .to = TQ_COMMAND_TO_ANY };
	struct tq_command taken = { .size = sizeof(taken) };
	struct side *s = arg;

	bench_must(tq_command_send(s->tq, &spec, NULL), "send");
	bench_must(tq_claim(s->worker, 0, &s->claim) == TQ_ECOMMAND ? 0 : -ENOMSG, "claim");
	bench_must(tq_command_take(s->worker, &taken), "command");
	bench_must(tq_command_ack(s->worker, taken.id, TQ_ANSWER_DONE, NULL), "answer");
}

/* Another command waits for a worker that does not take it. */
static void command_beside(const char *sort, uint32_t sleepers)
{
	static const char *const elsewhere = "elsewhere";
	const struct tq_worker_opts opts = { .size = sizeof(opts), .flags = TQ_WORKER_COMMANDS };
	const struct tq_worker_opts deaf = { .size = sizeof(deaf),
					     .flags = TQ_WORKER_COMMANDS,
					     .queues = &elsewhere,
					     .queue_count = 1 };
	const struct tq_command_spec spec = {
		.size = sizeof(spec), .name = "wait", .queue = elsewhere, .to = TQ_COMMAND_TO_ANY
	};
	struct tq_worker *other;
	uint64_t awaited;
	struct side s;

	open_side(&s, sleepers);
	bench_must(tq_worker_open(s.tq, &opts, &s.worker), "worker");
	bench_must(tq_worker_open(s.tq, &deaf, &other), "worker");
	bench_must(tq_command_send(s.tq, &spec, &awaited), "send");
	const pid_t pid = start_sleepers(sort, awaited, sleepers);

	count(&s, command, NULL);
	end_sleepers(pid);
	tq_worker_close(other);
	close_side(&s);
}

static void command_beside_waiters(uint32_t sleepers)
{
	command_beside("command", sleepers);
}

static void command_beside_workers(uint32_t sleepers)
{
	command_beside("worker", sleepers);
}

/* What waits for a worker to come makes each wake look for one that could start it. */
static void resume(void *arg)
{
	const struct side *s = arg;

	bench_must(tq_queue_steer(s->tq, "side", TQ_QUEUE_PAUSE), "pause");
	bench_must(tq_queue_steer(s->tq, "side", TQ_QUEUE_RESUME), "resume");
}

static void resume_beside_workers(uint32_t sleepers)
{
	const struct tq_queue_opts side = { .size = sizeof(side), .batch = 1 };
	struct tq_worker *owners[OWNERS];
	struct side s;

	open_side(&s, sleepers);
	open_owners(&s, owners);
	bench_must(tq_queue_set(s.tq, "side", &side), "queue");
	const pid_t pid = start_sleepers("worker", 0, sleepers);

	count(&s, resume, NULL);
	end_sleepers(pid);
	for (uint32_t i = 0; i < OWNERS; i++)
		tq_worker_close(owners[i]);
	close_side(&s);
}

static const struct scene {
	const char *name;
	void (*run)(uint32_t number);
	uint32_t few, many;
	double bound;
} scenes[] = {
	{ "submit, 1000 queues against 1", submit_to_first, 1, QUEUES, 1.1 },
	{ "submit to each of 1000 queues against 1", submit_to_each, 1, QUEUES, 1.1 },
	{ "life, 250 kinds against 1, worker of any", live_of_any_kind, 1, KINDS, 1.2 },
	{ "life, 250 kinds against 1, worker of every second", live_of_every_second_kind, 1, KINDS,
	  1.2 },
	{ "life, 250 kinds against 1, worker of one", live_of_one_kind, 1, KINDS, 1.2 },
	{ "life, a tenant's 250 kinds against 1, worker of one", live_of_tenants_one_kind, 1, KINDS,
	  1.2 },
	{ "life, 1000 tenants against 1, worker of a rare kind", live_of_tenants, 1, TENANTS, 1.2 },
	{ "claim that steals, 4000 more workers against none", steal_beside, 0, WORKERS, 1.2 },
	{ "submit, 8000 sleepers for other things against 1", submit_beside_sleepers, 1, SLEEPERS,
	  1.1 },
	{ "life of a member, 1000 that wait for other groups against 4", live_beside_groups,
	  KEEPERS, OTHERS, 1.1 },
	{ "command, 1000 that wait for another one against 4", command_beside_waiters, KEEPERS,
	  OTHERS, 1.1 },
	{ "command, 1000 workers of other queues asleep against 4", command_beside_workers, KEEPERS,
	  OTHERS, 1.1 },
	{ "resume, tasks assigned, 1000 workers of other queues asleep against 4",
	  resume_beside_workers, KEEPERS, OTHERS, 1.2 },
};
#define SCENES (sizeof(scenes) / sizeof(scenes[0]))

bool bench_scene(const char *name, uint32_t number)
{
	for (uint32_t i = 0; i < SCENES; i++) {
		if (strcmp(scenes[i].name, name) != 0)
			continue;
		scenes[i].run(number);
		return true;
	}
	return false;
}

void bench_flat(void)
{
	for (uint32_t i = 0; i < SCENES; i++) {
		const struct scene *s = &scenes[i];
		double few = 0, many = 0;
		const char *why = bench_count_scene(s->name, s->few, &few);

		if (!why)
			why = bench_count_scene(s->name, s->many, &many);
		if (why)
			bench_not_measured(s->name, why);
		else
			bench_report(s->name, many / few, "times", s->bound);
	}
}
