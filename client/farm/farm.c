/* SPDX-License-Identifier: MIT */
/* The master of a farm. */
#include "client/farm/farm.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "client/farm/handler.h"
#include "client/farm/oom.h"
#include "client/core/options.h"
#include "client/core/removal.h"
#include "client/core/sleeper.h"
#include "scheduler/worker/command.h"

#define LEASE_NS 30000000000ull /* 30 s */
#define GRACE_NS 5000000000ull	/* 5 s */
#define TAIL_BYTES (64u << 10)
#define TAIL_BYTES_MAX (1u << 20)
#define FLAGS                                                                                      \
	(TQ_FARM_UNTIL_EMPTY | TQ_FARM_NO_EXEC | TQ_FARM_KEEP_SIGNALS | TQ_FARM_REPORT_ATTEMPTS | \
	 TQ_FARM_REAP_ALL)
#define NS_PER_S 1000000000.0
#define LIFE_PAUSE_NS 1000000ull /* 1 ms: from the hint of a death to a child that can be reaped */
#define BLIND_PAUSE_NS 100000000ull /* 100 ms: without the lock, a wait slot, or a hint of death */
#define LIVES_MAX (TQI_FUTEX_WAIT_MAX - 3) /* beside its slot's word, the older one's, `pending` */

static uint32_t usable_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return (uint32_t)CPU_COUNT(&set);
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (uint32_t)n : 1;
}

/* Names are checked when the master registers. */
static int take_options(struct tqi_farm *farm, const struct tq_farm_opts *opts, char *name,
			size_t room)
{
	struct tq_farm_opts *o = &farm->opts;
	int r = tqi_options_in(o, sizeof(*o), sizeof(*o), opts);

	if (r < 0)
		return r;
	if ((o->flags & ~FLAGS) || o->reserved0 || o->workers > TQI_FARM_WORKERS_MAX ||
	    o->output_tail_bytes > TAIL_BYTES_MAX)
		return -EINVAL;
	if ((o->flags & TQ_FARM_NO_EXEC) && tqi_handlers_generation(farm->tq) == 0)
		return -EINVAL; /* nothing that it could run */
	snprintf(name, room, "farm.%d", (int)getpid());
	o->name = o->name ? o->name : name;
	o->workers = o->workers ? o->workers : usable_cpus();
	o->lease_ns = o->lease_ns ? o->lease_ns : LEASE_NS;
	o->grace_ns = o->grace_ns ? o->grace_ns : GRACE_NS;
	o->output_tail_bytes = o->output_tail_bytes ? o->output_tail_bytes : TAIL_BYTES;
	return 0;
}

static int register_master(struct tqi_farm *farm)
{
	static const struct tqi_worker_extra master = { .flags = TQI_WORKER_MASTER };
	const struct tq_worker_opts opts = {
		.size = sizeof(opts),
		.queues = farm->opts.queues,
		.queue_count = farm->opts.queue_count,
		.name = farm->opts.name,
		.grace_ns = farm->opts.grace_ns,
		.flags = TQ_WORKER_COMMANDS,
	};

	return tqi_worker_open(farm->tq, &opts, &master, &farm->self);
}

static int open_memory(struct tqi_farm *farm)
{
	const size_t bytes = TQI_FARM_WORKERS_MAX * sizeof(*farm->boards);
	void *boards = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	farm->children = calloc(TQI_FARM_WORKERS_MAX, sizeof(*farm->children));
	if (boards != MAP_FAILED)
		farm->boards = boards;
	return boards == MAP_FAILED || !farm->children ? -ENOMEM : 0;
}

static void close_memory(struct tqi_farm *farm)
{
	if (farm->boards)
		munmap(farm->boards, TQI_FARM_WORKERS_MAX * sizeof(*farm->boards));
	free(farm->children);
	tqi_host_end(&farm->host);
}

static uint32_t count_children(const struct tqi_farm *farm)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < farm->child_count; i++)
		count += farm->children[i].state != TQI_CHILD_NONE;
	return count;
}

static void signal_children(struct tqi_farm *farm, int signal)
{
	for (uint32_t i = 0; i < farm->child_count; i++) {
		struct tqi_child *child = &farm->children[i];

		if (child->state != TQI_CHILD_LIVE)
			continue;
		child->killed = signal == SIGKILL;
		kill(child->pid, signal);
		if (signal == SIGTERM) /* one that is stopped would not hear it */
			kill(child->pid, SIGCONT);
	}
}

/* Without a grace time there is no limit to how long running tasks may take. */
static bool is_draining(const struct tqi_farm *farm)
{
	return farm->stopping && farm->kill_ns == UINT64_MAX;
}

void tqi_farm_drain(struct tqi_farm *farm)
{
	if (farm->stopping)
		return;
	farm->stopping = true;
	farm->kill_ns = UINT64_MAX;
	tqi_farm_notify("STOPPING=1");
	signal_children(farm, SIGTERM);
}

static void begin_to_stop(struct tqi_farm *farm, uint64_t now)
{
	if (farm->stopping && !is_draining(farm))
		return;
	tqi_farm_drain(farm);
	farm->kill_ns = now + farm->opts.grace_ns;
	tqi_farm_log(farm, "stopping: running tasks may take %.1f s more",
		     (double)farm->opts.grace_ns / NS_PER_S);
}

static void begin_to_kill(struct tqi_farm *farm)
{
	if (farm->killing)
		return;
	farm->killing = true;
	tqi_farm_log(farm, "giving running tasks back");
	signal_children(farm, SIGKILL);
}

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* SIGHUP: the terminal that it was started at is gone, or else it is to reload. */
static void hang_up(struct tqi_farm *farm, uint64_t now)
{
	if (farm->terminal && !has_terminal())
		begin_to_stop(farm, now);
	else
		tqi_farm_reload(farm);
}

static void heed(struct tqi_farm *farm, uint32_t pending, uint64_t now)
{
	const uint32_t told = pending / TQI_PENDING_STOP + (pending & TQI_PENDING_NOW ? 2 : 0);
	bool again = told > 1 || (told && farm->stopping && !is_draining(farm));

	if (told)
		begin_to_stop(farm, now);
	if (pending & TQI_PENDING_RELOAD)
		hang_up(farm, now);
	if (again || (farm->stopping && now >= farm->kill_ns))
		begin_to_kill(farm);
	if (farm->stopping && !farm->killing) /* draining: for ever */
		tqi_farm_appoint(farm, farm->kill_ns);
	if (farm->stopping)
		return;
	if ((pending & TQI_PENDING_MORE) && farm->width == TQI_FARM_WORKERS_MAX)
		tqi_farm_log(farm, "no more workers than %u", TQI_FARM_WORKERS_MAX);
	else if (pending & TQI_PENDING_MORE)
		farm->width++;
	if ((pending & TQI_PENDING_LESS) && farm->width > 1) /* the last one stays */
		farm->width--;
}

/* How soon a live child must be looked at; UINT64_MAX: its life lock, noted, tells. */
static uint64_t look_for_life(struct tqi_farm *farm, struct tqi_child *child)
{
	const struct tqi_board *board = tqi_farm_board(farm, child);
	uint32_t w = tqi_load_acquire32(&board->worker), value;
	struct tqi_worker *record = w ? tqi_table_peek(&farm->tq->seg, TQI_WORKERS, w) : NULL;

	child->life.word = NULL;
	if (!record) /* not registered yet */
		return BLIND_PAUSE_NS;
	if (record->generation != tqi_load_relaxed64(&board->generation))
		return LIFE_PAUSE_NS; /* it has left; the record is another worker's */
	if (record->flags & TQI_WORKER_POLLED)
		return BLIND_PAUSE_NS;
	value = tqi_mutex_watch(&record->life);
	if (!value) /* let go, or dead */
		return LIFE_PAUSE_NS;
	child->life = (struct tqi_futex){ tqi_mutex_word(&record->life), value };
	return UINT64_MAX;
}

/* Without a SIGCHLD of our own (TQ_FARM_KEEP_SIGNALS) the life locks are slept on. */
static void look_for_lives(struct tqi_farm *farm, uint64_t now)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < farm->child_count; i++) {
		if (farm->children[i].state != TQI_CHILD_LIVE)
			continue;
		uint64_t soon = look_for_life(farm, &farm->children[i]);

		if (soon == UINT64_MAX && ++held > LIVES_MAX)
			soon = BLIND_PAUSE_NS;
		if (soon != UINT64_MAX)
			tqi_farm_appoint(farm, now + soon);
	}
}

/* 0: something is to be done outside the lock. */
static int look(struct tqi_tx *tx, struct tqi_sleeper *s)
{
	struct tqi_farm *farm = s->arg;

	if (tqi_load_acquire32(&farm->signals.pending) || tx->now_ns >= farm->next_ns)
		return 0;
	if (tqi_command_take(tx, farm->self->index))
		return 0;
	if (tqi_farm_count_waits(tx, farm) && !farm->stopping)
		return 0; /* E9 */
	uint64_t next = tqi_farm_stop_steps(tx, farm);

	if (!farm->signals.installed)
		look_for_lives(farm, tx->now_ns);
	s->wake_ns = next < farm->next_ns ? next : farm->next_ns;
	return -EAGAIN;
}

static uint32_t watch(struct tqi_sleeper *s, struct tqi_futex *words, uint32_t room)
{
	struct tqi_farm *farm = s->arg;
	uint32_t count = 0;

	if (room > 0) /* FM-3 */
		words[count++] = (struct tqi_futex){ &farm->signals.pending, 0 };
	for (uint32_t i = 0; !farm->signals.installed && i < farm->child_count && count < room; i++)
		if (farm->children[i].state == TQI_CHILD_LIVE && farm->children[i].life.word)
			words[count++] = farm->children[i].life;
	return count;
}

static void sleep_blindly(struct tqi_farm *farm, uint64_t now)
{
	const struct tqi_ops *ops = farm->tq->seg.ops;
	const struct tqi_futex word = { &farm->signals.pending, 0 };
	uint64_t until = now + BLIND_PAUSE_NS;

	ops->futex_wait(ops->ctx, &word, 1, until < farm->next_ns ? until : farm->next_ns);
}

static void note_loss(struct tqi_farm *farm, int r)
{
	if (!farm->error)
		tqi_farm_log(farm, "the segment is lost: %s",
			     r == TQ_ESHUTDOWN ? "it was destroyed" : tq_strerror(r));
	farm->error = r;
}

static void rest(struct tqi_farm *farm)
{
	struct tqi_sleeper s = {
		.interest = TQI_INTEREST_MASTER,
		.subject = farm->self->index,
		.deadline_ns = UINT64_MAX,
		.wake_ns = UINT64_MAX,
		.attempt = look,
		.words = watch,
		.handle_intr = true,
		.arg = farm,
	};
	int r = farm->error ? farm->error : tqi_block(farm->tq, &s);

	if (r == TQ_ESHUTDOWN || r == TQ_EREMOVED || r == TQ_ECORRUPT) {
		note_loss(farm, r);
		begin_to_stop(farm, tqi_now(farm->tq));
	}
	if (r < 0)
		sleep_blindly(farm, tqi_now(farm->tq));
}

static void run(struct tqi_farm *farm)
{
	farm->width = farm->opts.workers;
	farm->terminal = has_terminal();
	for (bool ready = false;; ready = true) {
		uint32_t pending = tqi_farm_signals_take(&farm->signals);
		uint64_t now = tqi_now(farm->tq);

		farm->next_ns = UINT64_MAX;
		if (pending & TQI_PENDING_FILE)
			tqi_farm_file_changed(farm);
		heed(farm, pending, now);
		tqi_farm_obey(farm);
		tqi_farm_reap(farm, now);
		tqi_farm_adapt(farm, now);
		tqi_farm_start_due(farm, now);
		if (!ready)
			tqi_farm_notify("READY=1");
		if (count_children(farm) == 0)
			return;
		rest(farm);
	}
}

/* Orphans of its workers' commands must come to the master. */
static int run_as_subreaper(struct tqi_farm *farm)
{
	int before = 0;

	if (!(farm->opts.flags & TQ_FARM_REAP_ALL) && tqi_host_begin(&farm->host) < 0)
		return -ENOMEM;
	prctl(PR_GET_CHILD_SUBREAPER, &before);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	farm->pid = getpid();
	farm->oom_kills = tqi_oom_kills();
	tqi_farm_watch_file(farm);
	run(farm);
	/* Its workers may have noticed, and left, before it. */
	if (!farm->error && tqi_removal_look(farm->tq) == TQ_EREMOVED)
		note_loss(farm, TQ_EREMOVED);
	tqi_farm_unwatch_file(farm);
	prctl(PR_SET_CHILD_SUBREAPER, before);
	tqi_farm_log(farm, "stopped");
	return farm->error ? farm->error : farm->given_back;
}

int tq_farm_run(struct tq *tq, const struct tq_farm_opts *opts)
{
	struct tqi_farm farm = { .tq = tq, .file_watch = -1 };
	char name[TQ_NAME_MAX + 1];

	if (!tq)
		return -EINVAL;
	int r = take_options(&farm, opts, name, sizeof(name));

	if (r == 0)
		r = tqi_farm_signals_open(&farm.signals, tq->seg.ops,
					  farm.opts.flags & TQ_FARM_KEEP_SIGNALS);
	if (r < 0)
		return r;
	r = open_memory(&farm);
	if (r == 0)
		r = register_master(&farm);
	if (r == 0) {
		tq->farms = true;
		r = run_as_subreaper(&farm);
		tq->farms = false;
		farm.self = tq_worker_close(farm.self);
	}
	close_memory(&farm);
	tqi_farm_signals_close(&farm.signals);
	return r;
}
