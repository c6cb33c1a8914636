/* SPDX-License-Identifier: MIT */
/* Workers: who they are, what they do, and whether they can. */
#include <string.h>

#include "field.h"
#include "view.h"
#include "worker_text.h"

#define LEASE_SHORT_NS 2000000000ull /* a heartbeat renews it long before */

static const struct tq_worker_info *info_of(const void *row)
{
	return &((const struct worker_row *)row)->info;
}

static bool is_stopped(const void *row)
{
	const char process = ((const struct worker_row *)row)->process;

	return process == 'T' || process == 't';
}

static const char *state_of(const void *row)
{
	const struct tq_worker_info *info = info_of(row);

	return is_stopped(row) && !(info->flags & TQ_WORKER_IS_DYING) ? "stopped"
								      : worker_state_name(info);
}

static void put_state(const struct model *model, const void *row, struct field *field)
{
	const char *state = state_of(row);
	const enum role role = !strcmp(state, "busy")					 ? ROLE_BUSY
			       : !strcmp(state, "dead") || !strcmp(state, "stopped")	 ? ROLE_BAD
			       : !strcmp(state, "suspect") || !strcmp(state, "stopping") ? ROLE_WARN
											 : ROLE_DIM;

	(void)model;
	field_text(field, role, state);
}

TEXT_RANK(state, state_of(row))

static void put_number(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field->role = ROLE_STRONG;
	snprintf(field->text, sizeof(field->text), "%u", info_of(row)->number);
}

static void put_name(const struct model *model, const void *row, struct field *field)
{
	const char *name = info_of(row)->name;

	(void)model;
	field_text(field, name[0] ? ROLE_TEXT : ROLE_DIM, name[0] ? name : "-");
}

TEXT_RANK(name, info_of(row)->name)

static void put_pid(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field->role = ROLE_TEXT;
	snprintf(field->text, sizeof(field->text), "%u", info_of(row)->pid);
}

static void put_task(const struct model *model, const void *row, struct field *field)
{
	const uint64_t task = info_of(row)->task;
	char id[TQ_ID_TEXT_MAX];

	(void)model;
	field_text(field, task ? ROLE_TEXT : ROLE_DIM, task ? tq_task_id_format(task, id) : "-");
}

/* What is left of the lease; red when nobody renews it. */
static void put_lease(const struct model *model, const void *row, struct field *field)
{
	const struct tq_worker_info *info = info_of(row);
	const uint64_t now_ns = model->now.clocks.now_ns, end_ns = info->lease_deadline_ns;
	const uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;

	if (!info->lease_ns || !end_ns) {
		field_text(field, ROLE_DIM, "-");
		return;
	}
	field_duration(field, left_ns < LEASE_SHORT_NS ? ROLE_BAD : ROLE_TEXT, left_ns);
}

static void put_up(const struct model *model, const void *row, struct field *field)
{
	const uint64_t since_ns = info_of(row)->registered_ns;

	field_duration(field, ROLE_TEXT,
		       model->now.clocks.now_ns > since_ns ? model->now.clocks.now_ns - since_ns
							   : 0);
}

static void put_queues(const struct model *model, const void *row, struct field *field)
{
	(void)model;
	field_text(field, ROLE_TEXT, info_of(row)->queues);
}

TEXT_RANK(queues, info_of(row)->queues)

RANK_COLUMN(number, info_of(row)->number)
RANK_COLUMN(pid, info_of(row)->pid)
RANK_COLUMN(task, info_of(row)->task)
RANK_COLUMN(lease, info_of(row)->lease_deadline_ns)
RANK_COLUMN(up, ~info_of(row)->registered_ns)
RATE_COLUMN(started, ROLE_GOOD, ((const struct worker_row *)row)->starts)
NUMBER_COLUMN(claims, ROLE_BUSY, info_of(row)->claims)
NUMBER_COLUMN(tasks, ROLE_TEXT, info_of(row)->tasks)
NUMBER_COLUMN(assigned, ROLE_TEXT, info_of(row)->assigned)
NUMBER_COLUMN(stolen, ROLE_TEXT, info_of(row)->stolen)
NUMBER_COLUMN(master, ROLE_TEXT, info_of(row)->master)

static const struct column columns[] = {
	{ "WORKER", 7, 0, false, false, put_number, rank_number },
	{ "NAME", 12, 0, false, false, put_name, rank_name },
	{ "PID", 7, 0, true, false, put_pid, rank_pid },
	{ "STATE", 8, 0, false, false, put_state, rank_state },
	{ "RUN", 4, 0, true, true, put_claims, rank_claims },
	{ "TASK", 10, 0, false, false, put_task, rank_task },
	{ "ALL", 6, 0, true, true, put_tasks, rank_tasks },
	{ "/S", 5, 0, true, true, put_started, rank_started },
	{ "LEASE", 6, 100, true, false, put_lease, rank_lease },
	{ "UP", 6, 100, true, true, put_up, rank_up },
	{ "TAKEN", 6, 120, true, true, put_assigned, rank_assigned },
	{ "STOLEN", 6, 120, true, true, put_stolen, rank_stolen },
	{ "MASTER", 6, 120, true, false, put_master, rank_master },
	{ "QUEUES", 0, 0, false, false, put_queues, rank_queues },
};

static uint32_t count(const struct model *model)
{
	return model->now.worker_count;
}

static const void *row_at(const struct model *model, uint32_t index)
{
	return &model->now.workers[index];
}

/* A number is given out again: only with its registration is it the same worker. */
static uint64_t identity(const struct model *model, uint32_t index)
{
	const struct tq_worker_info *info = &model->now.workers[index].info;

	return info->registered_ns ^ (uint64_t)info->number << 52;
}

static bool matches(const void *row, const char *filter)
{
	char pid[16];
	const char *const texts[] = { info_of(row)->name, state_of(row), info_of(row)->queues,
				      pid };

	snprintf(pid, sizeof(pid), "%u", info_of(row)->pid);
	return words_match(filter, texts, sizeof(texts) / sizeof(texts[0]));
}

static const struct table_kind table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.first_sort = 0,
	.count = count,
	.row = row_at,
	.identity = identity,
	.matches = matches,
	.nothing = "there are no workers: `taskq work` starts some",
};

const struct view view_workers = { "Workers", SUBJECT_WORKER, &table, NULL };
