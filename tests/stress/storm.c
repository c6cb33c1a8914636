/* SPDX-License-Identifier: MIT */
/*
 * Many processes on one segment under random SIGKILL, SIGSTOP and fork; then the proof,
 * from a ledger outside the segment, that no task was lost, none ran twice at once, and
 * everything was given back (docs/crash-safety.md).
 *
 *   storm [--seconds N] [--processes N] [--seed N] [--save FILE]
 *
 * Three layers: this process guards, its child conducts, the players are the
 * conductor's children.  Whichever of the first two is killed, the other cleans up.
 */
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain.h"
#include "report.h"
#include "weather.h"

#define SEGMENT_BYTES (6ull << 20) /* so small that it is full now and then */
#define RETENTION_NS S
#define SECONDS 10
#define PROCESSES 16
#define EXIT_USAGE 2

static void create_segment(struct storm *storm)
{
	const struct tq_open_opts opts = { .size = sizeof(opts),
					   .flags = TQ_OPEN_CREATE | TQ_OPEN_EXCLUSIVE,
					   .max_bytes = SEGMENT_BYTES,
					   .retention_ns = RETENTION_NS };
	const char *const queues[] = { QUEUE_PLAIN, QUEUE_STEERED, QUEUE_SCRAP, QUEUE_FARM };
	int r = tq_open(storm->segment, &opts, &storm->tq);

	for (uint32_t i = 0; i < 4 && r == 0; i++)
		r = tq_queue_set(storm->tq, queues[i], NULL);
	if (r < 0) {
		printf("storm: cannot make a segment: %s\n", tq_strerror(r));
		exit(1);
	}
}

/* A copy of a segment at fault, for whoever looks into it. */
static void save_segment(struct storm *storm)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	char buf[1 << 16];
	ssize_t n;

	if (!storm->save || tq_segment_info(storm->tq, &info) < 0)
		return;
	int from = open(info.path, O_RDONLY | O_CLOEXEC);
	int to = open(storm->save, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	while (from >= 0 && to >= 0 && (n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			break;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
}

/* 0 all is proved; 1 something is wrong. */
static int conduct(struct storm *storm)
{
	struct usage before;
	struct cast cast;
	uint64_t ns;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	create_segment(storm);
	usage_read(storm->tq, &before);
	cast_open(&cast, storm);
	ns = weather(&cast);
	if (ledger_faults(storm->ledger))
		save_segment(storm);
	drain(&cast, &before);
	if (storm->ledger->overflow)
		printf("storm: the ledger was full after %u tasks\n", storm->ledger->tasks);
	ledger_print_faults(storm->ledger);
	report(&cast, storm->ledger, ns);
	storm->tq = tq_close(storm->tq);
	return ledger_faults(storm->ledger) ? 1 : 0;
}

/* Until the conductor ends; its exit code. */
static int guard(pid_t conductor, const sigset_t *waited)
{
	int status = 0, signal, told = 0;

	while (waitpid(conductor, &status, WNOHANG) != conductor) {
		signal = sigwaitinfo(waited, NULL);
		if (signal > 0 && signal != SIGCHLD)
			kill(conductor, told++ ? SIGKILL : SIGTERM);
	}
	if (WIFSIGNALED(status))
		printf("storm: ended by signal %d\n", WTERMSIG(status));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void prepare(struct storm *storm)
{
	const struct rlimit none = { 0, 0 };
	const char *test = getenv("TASKQ_TEST_ID");
	ssize_t n = readlink("/proc/self/exe", storm->program, sizeof(storm->program) - 1);

	setrlimit(RLIMIT_CORE, &none);
	snprintf(storm->segment, sizeof(storm->segment), "%.40s%sstorm-%d", test ? test : "",
		 test ? "-" : "", (int)getpid());
	storm->program[n > 0 ? n : 0] = '\0';
	storm->ledger = ledger_create(&storm->ledger_fd);
	if (!storm->ledger || n <= 0) {
		perror("storm");
		exit(1);
	}
	snprintf(storm->ledger_path, sizeof(storm->ledger_path), "/proc/%d/fd/%d", (int)getpid(),
		 storm->ledger_fd);
}

static uint64_t number(const char *text, uint64_t max)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > max) {
		fprintf(stderr, "storm: not a number up to %llu: %s\n", (unsigned long long)max,
			text);
		exit(EXIT_USAGE);
	}
	return n;
}

static void parse(int argc, char **argv, struct storm *storm)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "processes", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 'r' },
		{ "save", required_argument, NULL, 'k' },
		{ NULL, 0, NULL, 0 },
	};
	const char *seed = getenv("TASKQ_SEED");
	int c;

	storm->run_ns = SECONDS * S;
	storm->processes = PROCESSES;
	storm->seed = seed ? number(seed, UINT64_MAX) : now_ns() / 1000 % 1000000000;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			storm->run_ns = number(optarg, 100000) * S;
		else if (c == 'p')
			storm->processes = (uint32_t)number(optarg, SEATS_MAX);
		else if (c == 'r')
			storm->seed = number(optarg, UINT64_MAX);
		else if (c == 'k')
			storm->save = optarg;
		else
			exit(EXIT_USAGE);
	}
	if (storm->processes < ROLE_COUNT)
		storm->processes = ROLE_COUNT; /* one of each */
}

static pid_t start_conductor(struct storm *storm)
{
	pid_t self = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != self)
		_exit(1);
	int r = conduct(storm);

	fflush(NULL);
	_exit(r);
}

int main(int argc, char **argv)
{
	struct storm storm = { .ledger_fd = -1 };
	sigset_t waited;

	if (argc > 1 && strcmp(argv[1], "--attempt") == 0)
		return command_main(argc, argv);
	parse(argc, argv, &storm);
	prepare(&storm);
	printf("storm: %u processes, seed %llu\n", storm.processes, (unsigned long long)storm.seed);
	fflush(stdout);
	/* Guard and conductor wait for these; players get the mask from before. */
	sigemptyset(&waited);
	sigaddset(&waited, SIGCHLD);
	sigaddset(&waited, SIGINT);
	sigaddset(&waited, SIGTERM);
	sigaddset(&waited, SIGHUP);
	sigprocmask(SIG_BLOCK, &waited, &storm.signals);
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	pid_t conductor = start_conductor(&storm);
	int r = conductor < 0 ? 1 : guard(conductor, &waited);

	storm_clean_up(&storm);
	return r;
}
