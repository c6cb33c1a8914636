/* SPDX-License-Identifier: MIT */
/* Starting a command: the worker's side. */
#include "client/farm/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/core/marked.h"
#include "client/farm/reader.h"
#include "shm/ident.h"
#include "taskq/farm.h"

#define LOWEST_FD 3 /* so that no pipe sits where the child puts its standard ones */

/* What a command is told about its task: NAME=value each. */
struct identity {
	char id[16 + TQ_ID_TEXT_MAX];
	char attempt[32];
	char queue[16 + TQ_NAME_MAX];
	char segment[16 + TQI_PATH_MAX];
	char deadline[48];			    /* "" none */
	char server[16 + TQ_SERVER_MAX];	    /* "" none */
	char leftovers[sizeof(TQI_MARK_LEFTOVERS)]; /* MK-1 */
};
#define IDENTITY_COUNT 7

/* When the attempt times out: seconds since 1970, as `date +%s` says them. */
static void describe_deadline(const struct tq_worker *worker, const struct tq_claim *claim,
			      char *to, size_t room)
{
	const uint64_t ns_per_s = 1000000000ull;
	uint64_t now = tqi_now(worker->tq);
	struct timespec ts;

	to[0] = '\0';
	if (!claim->timeout_at_ns)
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	uint64_t left = claim->timeout_at_ns > now ? claim->timeout_at_ns - now : 0;
	uint64_t at = (uint64_t)ts.tv_sec * ns_per_s + (uint64_t)ts.tv_nsec + left;

	snprintf(to, room, "TASKQ_DEADLINE=%llu.%03llu", (unsigned long long)(at / ns_per_s),
		 (unsigned long long)(at % ns_per_s / 1000000));
}

/* In the same allocation, behind the identity, stand the entries. */
static void describe(const struct tq_worker *worker, const struct tq_claim *claim,
		     struct identity *identity)
{
	char text[TQ_ID_TEXT_MAX];

	snprintf(identity->id, sizeof(identity->id), "TASKQ_ID=%s",
		 tq_task_id_format(claim->id, text));
	snprintf(identity->attempt, sizeof(identity->attempt), "TASKQ_ATTEMPT=%u", claim->attempt);
	snprintf(identity->queue, sizeof(identity->queue), "TASKQ_QUEUE=%s", claim->queue);
	snprintf(identity->segment, sizeof(identity->segment), "TASKQ_SEGMENT=%s",
		 worker->tq->seg.path);
	identity->server[0] = '\0';
	if (claim->server)
		snprintf(identity->server, sizeof(identity->server), "TASKQ_SERVER=%s",
			 claim->server);
	memcpy(identity->leftovers, TQI_MARK_LEFTOVERS, sizeof(identity->leftovers));
	describe_deadline(worker, claim, identity->deadline, sizeof(identity->deadline));
}

static uint32_t count_entries(char *const *entries)
{
	uint32_t count = 0;

	while (entries && entries[count])
		count++;
	return count;
}

/* Replace an entry of the same name among the first `count`, or append. */
static uint32_t put(char **env, uint32_t count, uint32_t total, char *entry)
{
	size_t name = strcspn(entry, "=") + 1;

	for (uint32_t i = 0; i < count; i++) {
		if (strncmp(env[i], entry, name) == 0) {
			env[i] = entry;
			return total;
		}
	}
	env[total] = entry;
	return total + 1;
}

/*
 * What speaks of the worker itself: an outer task that it may run in, and the service
 * manager, which would take a command's word for the farm's.
 */
static bool is_withheld(const char *entry)
{
	static const char *const names[] = {
		"TASKQ_DEADLINE", "TASKQ_SERVER",    "NOTIFY_SOCKET", "WATCHDOG_PID",
		"WATCHDOG_USEC",  "LISTEN_PID",	     "LISTEN_FDS",    "LISTEN_FDNAMES",
		"LISTEN_PIDFDID", "TASKQ_LEFTOVERS",
	};
	const size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == n && memcmp(entry, names[i], n) == 0)
			return true;
	return false;
}

static uint32_t copy_base(char **env)
{
	uint32_t count = 0;

	for (char *const *entry = environ; entry && *entry; entry++)
		if (!is_withheld(*entry))
			env[count++] = *entry;
	return count;
}

/* The worker's environment, then what identifies the task, then the task's own. */
static char **make_env(const struct tq_worker *worker, const struct tq_claim *claim,
		       const struct tq_exec *exec)
{
	char *const *added = (char *const *)(uintptr_t)exec->env;
	uint32_t more = count_entries(added);
	size_t entries = (size_t)count_entries(environ) + IDENTITY_COUNT + more + 1;
	char **env = malloc(entries * sizeof(*env) + sizeof(struct identity));

	if (!env)
		return NULL;
	struct identity *identity = (struct identity *)(void *)&env[entries];

	describe(worker, claim, identity);
	uint32_t base = copy_base(env), total = base;

	total = put(env, base, total, identity->id);

	total = put(env, base, total, identity->attempt);
	total = put(env, base, total, identity->queue);
	total = put(env, base, total, identity->segment);
	if (identity->deadline[0])
		total = put(env, base, total, identity->deadline);
	if (identity->server[0])
		total = put(env, base, total, identity->server);
	if (exec->flags & TQ_EXEC_LEFTOVERS)
		total = put(env, base, total, identity->leftovers);
	base = total;
	for (uint32_t i = 0; i < more; i++)
		total = put(env, base, total, added[i]);
	env[total] = NULL;
	return env;
}

void tqi_launch_close(int fd[static 1])
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int tqi_launch_raise(int fd[static 1])
{
	if (*fd >= LOWEST_FD)
		return 0;
	int raised = fcntl(*fd, F_DUPFD_CLOEXEC, LOWEST_FD);

	if (raised < 0)
		return -errno;
	close(*fd);
	*fd = raised;
	return 0;
}

static int make_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) < 0) {
		fd[0] = fd[1] = -1;
		return -errno;
	}
	int r = tqi_launch_raise(&fd[0]);

	return r < 0 ? r : tqi_launch_raise(&fd[1]);
}

static int make_pipes(struct tqi_launch *launch)
{
	int r = make_pipe(launch->go);

	if (r == 0)
		r = make_pipe(launch->status);
	if (r == 0 && !launch->output_path)
		r = make_pipe(launch->output);
	if (r == 0 && !launch->output_path && fcntl(launch->output[0], F_SETFL, O_NONBLOCK) < 0)
		r = -errno;
	return r;
}

int tqi_launch_prepare(struct tqi_launch *launch, const struct tq_worker *worker,
		       const struct tq_claim *claim, const struct tq_exec *exec)
{
	*launch = (struct tqi_launch){ .exec = exec,
				       .parent = getpid(),
				       .go = { -1, -1 },
				       .status = { -1, -1 },
				       .input = tqi_reader_input(exec),
				       .errors = tqi_reader_errors(exec),
				       .output = { -1, -1 } };
	launch->env = make_env(worker, claim, exec);
	if (!launch->env)
		return -ENOMEM;
	const int r = tq_exec_output_path(exec, claim->id, claim->attempt, &launch->output_path);

	return r < 0 && r != -ENODATA ? r : make_pipes(launch);
}

void tqi_launch_free(struct tqi_launch *launch)
{
	free(launch->env);
	free(launch->output_path);
	tqi_launch_close(&launch->input);
	tqi_launch_close(&launch->errors);
	for (int i = 0; i < 2; i++) {
		tqi_launch_close(&launch->go[i]);
		tqi_launch_close(&launch->status[i]);
		tqi_launch_close(&launch->output[i]);
	}
}

pid_t tqi_launch_fork(struct tqi_launch *launch)
{
	sigset_t all, old;

	/* Until the child has reset them, our handlers must not run in it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid_t pid = fork();

	if (pid == 0)
		tqi_launch_child(launch);
	const int error = errno;

	pthread_sigmask(SIG_SETMASK, &old, NULL);
	tqi_launch_close(&launch->status[1]);
	tqi_launch_close(&launch->output[1]);
	tqi_launch_close(&launch->input);
	tqi_launch_close(&launch->errors);
	return pid < 0 ? -error : pid;
}

int tqi_launch_go(struct tqi_launch *launch, struct tqi_launch_fault *ret_fault)
{
	struct tqi_launch_fault fault;
	ssize_t n;

	/* Our own read end is open: no SIGPIPE when the child has been killed already. */
	do
		n = write(launch->go[1], "", 1);
	while (n < 0 && errno == EINTR);
	tqi_launch_close(&launch->go[1]);
	tqi_launch_close(&launch->go[0]);
	do
		n = read(launch->status[0], &fault, sizeof(fault));
	while (n < 0 && errno == EINTR);
	tqi_launch_close(&launch->status[0]);
	if (n != (ssize_t)sizeof(fault))
		return 0;
	*ret_fault = fault;
	return 1;
}
