/* SPDX-License-Identifier: MIT */
/* A segment and a farm of its own for one test; everything is ended by process id. */
#ifndef FARM_BOX_H
#define FARM_BOX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/types.h>

#include "taskq/taskq.h"

#define MS 1000000ull
#define S 1000000000ull
#define PATIENCE_NS (180 * S) /* a limit for what takes milliseconds on an idle machine */

struct farm_box {
	char name[TQ_NAME_MAX + 1];
	char dir[64]; /* scratch */
	struct tq *tq;
	pid_t farm; /* 0 none */
	struct tq_farm_opts opts;
	void (*handlers)(struct tq *tq); /* called before the farm runs; or NULL */
};

/* Exit codes of a farm's process: what tq_farm_run() returned, or this. */
#define FARM_FAILED 99

/* cmocka fixtures: *state is a struct farm_box. */
int farm_box_setup(void **state);
int farm_box_teardown(void **state);

void farm_start(struct farm_box *box);
/* Wait for its end, bounded: its exit code, or 128 + the signal that killed it. */
int farm_join(struct farm_box *box);
/* SIGTERM, and its exit code. */
int farm_stop(struct farm_box *box);

/* Submit `sh -c SCRIPT`; the scratch directory is its working directory. */
uint64_t submit_script(struct farm_box *box, const char *script, const struct tq_task_spec *like);
/* The same; what has left its group may live on. */
uint64_t submit_leaving(struct farm_box *box, const char *script);
uint64_t submit_argv(struct farm_box *box, const struct tq_exec *exec,
		     const struct tq_task_spec *like);
uint64_t submit_kind(struct farm_box *box, const char *kind, const struct tq_task_spec *like);

/* Bounded waits; each fails the test when the time is over. */
struct tq_task_info wait_final(struct farm_box *box, uint64_t id);
struct tq_task_info wait_running(struct farm_box *box, uint64_t id);
/* Until a file of the scratch directory is there and holds a whole line; the number in it. */
long wait_number(struct farm_box *box, const char *file);
bool process_is_there(long pid); /* a zombie is not */
void wait_gone(long pid);
/* Until there are exactly so many workers (not masters). */
void wait_workers(struct farm_box *box, uint32_t count);
/* Some worker's pid. */
pid_t any_worker(struct farm_box *box);

/* "exit:3" */
const char *cause_of(const struct tq_task_info *info);
/* The result as a string, in static memory. */
const char *result_of(struct farm_box *box, uint64_t id);

uint64_t now_ns(void);
void pause_ms(void);

#define assert_cause(info, text) assert_string_equal(cause_of(info), text)

#endif
