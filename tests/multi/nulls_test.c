/* SPDX-License-Identifier: MIT */
/* fault.C2: NULL in every place of a pointer, each in a process of its own. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/farm/run.h"
#include "client/observe/snapshot.h"
#include "tests/multi/farm_box.h"
#include "tests/multi/nulls.h"

#define MUST(call)                                                                                 \
	do {                                                                                       \
		const int r = (call);                                                              \
                                                                                                   \
		if (r < 0) {                                                                       \
			fprintf(stderr, "%s: %s\n", #call, tq_strerror(r));                        \
			_exit(UNPREPARED);                                                         \
		}                                                                                  \
	} while (0)

enum {
	AS_IT_SHOULD,
	WRONG_RESULT,
	CHANGED_SOMETHING,
	UNPREPARED,
	NOT_CALLED,
};

bool null_row_is_next(struct null_asked *asked, const char *function, const char *pointer,
		      enum null_rule rule)
{
	if (asked->seen++ != asked->wanted)
		return false;
	asked->function = function;
	asked->pointer = pointer;
	asked->rule = rule;
	return asked->calls;
}

int null_handle(struct tq_run *run, void *arg)
{
	(void)run;
	(void)arg;
	return TQ_RUN_DONE;
}

void null_ignore(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

int null_destroy_default(void)
{
	setenv("TASKQ_SEGMENT", "there-is-none", 1);
	return tq_destroy(NULL, 0);
}

/* One that is told to end before it begins. */
int null_run_farm(struct null_scene *s)
{
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	raise(SIGTERM);
	return tq_farm_run(s->tq, NULL);
}

static void size_all(struct null_scene *s)
{
	s->claim.size = s->next.size = sizeof(s->claim);
	s->times.size = sizeof(s->times);
	s->entries[0].size = sizeof(s->entries[0]);
	s->segment.size = sizeof(s->segment);
	s->holder.size = sizeof(s->holder);
	s->info.size = sizeof(s->info);
	s->brief.size = sizeof(s->brief);
	s->why.size = sizeof(s->why);
	s->schedule_info.size = sizeof(s->schedule_info);
	s->group_info.size = sizeof(s->group_info);
	s->queue.size = sizeof(s->queue);
	s->kind.size = sizeof(s->kind);
	s->limit.size = sizeof(s->limit);
	s->server.size = sizeof(s->server);
	s->server_limit.size = sizeof(s->server_limit);
	s->worker_info.size = sizeof(s->worker_info);
	s->command_info.size = sizeof(s->command_info);
	s->answer.size = sizeof(s->answer);
	s->taken.size = sizeof(s->taken);
}

static void make_graphs(struct null_scene *s, const struct tq_task_spec *spec)
{
	const struct tq_graph_dependency self = { .member = 0 };

	MUST(tq_graph_new(s->tq, NULL, &s->graph));
	MUST(tq_graph_add(s->graph, spec, NULL, 0, NULL));
	MUST(tq_graph_new(s->tq, NULL, &s->ring));
	MUST(tq_graph_add(s->ring, spec, &self, 1, NULL));
	if (tq_graph_submit(s->ring, NULL, NULL) != TQ_ECYCLE)
		_exit(UNPREPARED);
}

/* A task that is done, one that is worked on, one behind that, and one of all else. */
static void make_scene(struct null_scene *s)
{
	const char *kinds[] = { "k", NULL }, *queues[] = { "q", NULL };
	const struct tq_worker_opts worker = { .size = sizeof(worker),
					       .queues = queues,
					       .queue_count = 1,
					       .flags = TQ_WORKER_COMMANDS,
					       .kinds = kinds };
	const struct tq_task_spec spec = { .size = sizeof(spec), .queue = "q", .kind = "k" };
	const struct tq_schedule_spec daily = { .size = sizeof(daily),
						.task = &spec,
						.cron = "@daily" };
	const struct tq_command_spec stop = {
		.size = sizeof(stop), .name = "stop", .queue = "q", .to = TQ_COMMAND_TO_ANY
	};
	const struct tq_open_opts open = { .size = sizeof(open), .flags = TQ_OPEN_CREATE };

	size_all(s);
	MUST(tq_open(s->name, &open, &s->tq));
	MUST(tq_worker_open(s->tq, &worker, &s->worker));
	MUST(tq_submit(s->tq, &spec, &s->done));
	MUST(tq_claim(s->worker, 0, &s->claim));
	MUST(tq_complete(s->worker, &s->claim, "result", 6));
	MUST(tq_submit(s->tq, &spec, &s->id));
	MUST(tq_claim(s->worker, 0, &s->claim));
	MUST(tq_submit(s->tq, &spec, &s->later));
	MUST(tq_group_new(s->tq, NULL, &s->group));
	MUST(tq_schedule_create(s->tq, &daily, &s->schedule));
	MUST(tq_command_send(s->tq, &stop, &s->command));
	MUST(tq_command_take(s->worker, &s->taken));
	make_graphs(s, &spec);
}

/* What the child ends with. */
static int verdict_on(const struct null_asked *asked, uint64_t before, uint64_t after)
{
	if (!asked->function)
		return NOT_CALLED;
	if (asked->rule == TAKEN)
		return asked->result == -EINVAL ? WRONG_RESULT : AS_IT_SHOULD;
	if (asked->result != (asked->rule == REFUSED ? -EINVAL : 0))
		return WRONG_RESULT;
	return before == after ? AS_IT_SHOULD : CHANGED_SOMETHING;
}

struct trial {
	struct null_asked *asked;
	struct null_scene *scene;
};

/* Inside a handler, so that there is a run as well. */
static int try_row(struct tq_run *run, void *arg)
{
	const struct trial *trial = arg;
	struct null_scene *s = trial->scene;
	uint64_t before = 0, after = 0;

	s->run = run;
	MUST(tqi_peek_version(&s->tq->seg, &before));
	null_rows(trial->asked, s);
	if (trial->asked->rule != TAKEN)
		MUST(tqi_peek_version(&s->tq->seg, &after));
	_exit(verdict_on(trial->asked, before, after));
}

static void try_in_child(const char *name, unsigned row)
{
	static struct null_scene scene;
	static struct tqi_outcome outcome;
	struct null_asked asked = { .wanted = row, .calls = true };
	struct trial trial = { &asked, &scene };

	alarm(60);
	scene.name = name;
	make_scene(&scene);
	MUST(tq_handler_set(scene.tq, "k", try_row, &trial));
	tqi_run_handler(scene.tq, scene.worker, &scene.claim, &outcome);
	_exit(NOT_CALLED);
}

static bool is_right(const char *name, const struct null_asked *asked)
{
	static const char *const said[] = { "", "gives the wrong result", "changes something",
					    "cannot be tried", "is not called" };
	char own[TQ_NAME_MAX + 1];
	int status;

	snprintf(own, sizeof(own), "%.48s-%u", name, asked->wanted);
	const pid_t pid = fork();

	if (pid == 0)
		try_in_child(own, asked->wanted);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(tq_destroy(own, TQ_DESTROY_FORCE), 0);
	if (WIFSIGNALED(status))
		print_error("%s() with NULL for %s dies of signal %d\n", asked->function,
			    asked->pointer, WTERMSIG(status));
	else if (WEXITSTATUS(status) != AS_IT_SHOULD)
		print_error(
			"%s() with NULL for %s %s\n", asked->function, asked->pointer,
			said[WEXITSTATUS(status) <= NOT_CALLED ? WEXITSTATUS(status) : NOT_CALLED]);
	return status == 0;
}

static void every_null(void **state)
{
	const struct farm_box *box = *state;
	unsigned wrong = 0;

	for (unsigned row = 0;; row++) {
		struct null_asked asked = { .wanted = row };

		null_rows(&asked, NULL);
		if (!asked.function) {
			assert_true(row > 200);
			break;
		}
		wrong += !is_right(box->name, &asked);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "fault.C2: NULL is refused, or taken, as the headers say", every_null,
		  farm_box_setup, farm_box_teardown, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
