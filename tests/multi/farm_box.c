/* SPDX-License-Identifier: MIT */
/* Segments and farms of the tests in this folder. */
#include "farm_box.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/ident.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * S + (uint64_t)ts.tv_nsec;
}

void pause_ms(void)
{
	const struct timespec pause = { .tv_nsec = (long)MS };

	nanosleep(&pause, NULL);
}

int farm_box_setup(void **state)
{
	static unsigned count;
	struct farm_box *box = calloc(1, sizeof(*box));
	const struct tq_open_opts opts = {
		.size = sizeof(opts),
		.flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
		.max_bytes = 64u << 20,
	};

	assert_non_null(box);
	snprintf(box->name, sizeof(box->name), "test-%d-farm-%u", (int)getpid(), count++);
	snprintf(box->dir, sizeof(box->dir), "/tmp/taskq-farm.XXXXXX");
	assert_non_null(mkdtemp(box->dir));
	assert_int_equal(tq_open(box->name, &opts, &box->tq), 0);
	box->opts = (struct tq_farm_opts){
		.size = sizeof(box->opts), .workers = 1, .lease_ns = 5 * S, .grace_ns = S
	};
	*state = box;
	return 0;
}

static void remove_dir(const char *dir)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

int farm_box_teardown(void **state)
{
	struct farm_box *box = *state;

	if (box->farm > 0) {
		kill(box->farm, SIGKILL);
		waitpid(box->farm, NULL, 0);
	}
	tq_close(box->tq);
	int r = tq_destroy(box->name, TQ_DESTROY_FORCE);

	remove_dir(box->dir);
	free(box);
	return r == -ENOENT ? 0 : r; /* the test has destroyed it */
}

static void log_line(void *arg, const char *text)
{
	(void)arg;
	if (getenv("FARM_LOG"))
		fprintf(stderr, "farm %d: %s\n", (int)getpid(), text);
}

void farm_start(struct farm_box *box)
{
	pid_t parent = getpid();

	fflush(NULL);
	box->opts.log = log_line;
	box->farm = fork();
	if (box->farm != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	if (box->handlers)
		box->handlers(box->tq);
	int r = tq_farm_run(box->tq, &box->opts);

	if (r < 0)
		fprintf(stderr, "tq_farm_run: %s\n", tq_strerror(r));
	_exit(r < 0 ? FARM_FAILED : r);
}

int farm_join(struct farm_box *box)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	int status;

	while (waitpid(box->farm, &status, WNOHANG) == 0) {
		if (now_ns() > until)
			fail_msg("the farm does not end");
		pause_ms();
	}
	box->farm = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int farm_stop(struct farm_box *box)
{
	kill(box->farm, SIGTERM);
	return farm_join(box);
}

uint64_t submit_argv(struct farm_box *box, const struct tq_exec *exec,
		     const struct tq_task_spec *like)
{
	char payload[4096];
	struct tq_task_spec spec = { .size = sizeof(spec) };
	uint64_t id;

	if (like)
		spec = *like;
	spec.size = sizeof(spec);
	spec.payload = payload;
	assert_int_equal(tq_exec_encode(exec, payload, sizeof(payload), &spec.payload_bytes), 0);
	assert_int_equal(tq_submit(box->tq, &spec, &id), 0);
	return id;
}

static uint64_t submit_shell(struct farm_box *box, const char *script,
			     const struct tq_task_spec *like, uint32_t flags)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	const struct tq_exec exec = {
		.size = sizeof(exec), .argv = argv, .cwd = box->dir, .flags = flags
	};

	return submit_argv(box, &exec, like);
}

uint64_t submit_leaving(struct farm_box *box, const char *script)
{
	return submit_shell(box, script, NULL, TQ_EXEC_LEFTOVERS);
}

uint64_t submit_script(struct farm_box *box, const char *script, const struct tq_task_spec *like)
{
	return submit_shell(box, script, like, 0);
}

uint64_t submit_kind(struct farm_box *box, const char *kind, const struct tq_task_spec *like)
{
	struct tq_task_spec spec = { .size = sizeof(spec) };
	uint64_t id;

	if (like)
		spec = *like;
	spec.size = sizeof(spec);
	spec.kind = kind;
	assert_int_equal(tq_submit(box->tq, &spec, &id), 0);
	return id;
}

struct tq_task_info wait_final(struct farm_box *box, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	int r = tq_wait(box->tq, &id, 1, PATIENCE_NS, NULL, &info);

	if (r < 0)
		fail_msg("task %llu: %s", (unsigned long long)id, tq_strerror(r));
	return info;
}

struct tq_task_info wait_running(struct farm_box *box, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	const struct tq_wait_opts running = { .size = sizeof(running), .states = 1u << TQ_RUNNING };
	int r = tq_wait(box->tq, &id, 1, PATIENCE_NS, &running, &info);

	if (r < 0)
		fail_msg("task %llu: %s", (unsigned long long)id, tq_strerror(r));
	return info;
}

static long read_number(const struct farm_box *box, const char *file)
{
	char path[256], text[64];

	snprintf(path, sizeof(path), "%s/%s", box->dir, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || text[n - 1] != '\n')
		return -1;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

long wait_number(struct farm_box *box, const char *file)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	long number;

	while ((number = read_number(box, file)) < 0) {
		if (now_ns() > until)
			fail_msg("%s is not written", file);
		pause_ms();
	}
	return number;
}

bool process_is_there(long pid)
{
	uint64_t start;
	char state;

	return tqi_pid_start((uint32_t)pid, &start, &state) == 0 && state != 'Z' && state != 'X';
}

void wait_gone(long pid)
{
	uint64_t until = now_ns() + PATIENCE_NS;

	while (process_is_there(pid)) {
		if (now_ns() > until)
			fail_msg("process %ld is still there", pid);
		pause_ms();
	}
}

static uint32_t list_workers(struct farm_box *box, pid_t *ret_pid)
{
	struct tq_worker_info infos[64] = { { .size = sizeof(infos[0]) } };
	uint64_t cursor = 0;
	uint32_t count = 0;
	int n = tq_worker_list(box->tq, &cursor, infos, 64);

	for (int i = 0; i < n; i++) {
		if (infos[i].flags & (TQ_WORKER_IS_MASTER | TQ_WORKER_IS_DYING))
			continue;
		*ret_pid = (pid_t)infos[i].pid;
		count++;
	}
	return count;
}

void wait_workers(struct farm_box *box, uint32_t count)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	pid_t pid;

	while (list_workers(box, &pid) != count) {
		if (now_ns() > until)
			fail_msg("%u workers, not %u", list_workers(box, &pid), count);
		pause_ms();
	}
}

pid_t any_worker(struct farm_box *box)
{
	pid_t pid = 0;

	assert_true(list_workers(box, &pid) > 0);
	return pid;
}

const char *cause_of(const struct tq_task_info *info)
{
	static char text[32];

	return tq_cause_format(info->cause, info->cause_arg, text);
}

const char *result_of(struct farm_box *box, uint64_t id)
{
	static char text[4096];
	uint64_t bytes;

	assert_int_equal(tq_task_result(box->tq, id, text, sizeof(text) - 1, &bytes), 0);
	text[bytes < sizeof(text) - 1 ? bytes : sizeof(text) - 1] = '\0';
	return text;
}
