/* SPDX-License-Identifier: MIT */
/*
 * Every pointer of every public function, once NULL, all else as it is to be.  tests/lint/nulls.sh
 * compares the first two words of each row with the headers.
 */
#include "tests/multi/nulls.h"

#define ROW(function, pointer, rule, call)                                                         \
	do {                                                                                       \
		if (null_row_is_next(asked, #function, #pointer, rule))                            \
			asked->result = (int64_t)(call);                                           \
	} while (0)

static const char *const argv[] = { "true", NULL };
static const struct tq_task_spec plain = { .size = sizeof(plain), .queue = "q", .kind = "k" };
static const struct tq_task_spec command = { .size = sizeof(command), .queue = "q" };
static const struct tq_task_update update = { .size = sizeof(update),
					      .fields = TQ_UPDATE_PRIORITY };
static const struct tq_schedule_spec hourly = { .size = sizeof(hourly),
						.task = &plain,
						.cron = "@hourly" };
static const struct tq_kind_opts slow = { .size = sizeof(slow), .timeout_ns = 1000000000 };
static const struct tq_limit_opts two = { .size = sizeof(two), .slots = 2 };
static const struct tq_verdict done = { .size = sizeof(done), .kind = TQ_VERDICT_DONE };
static const struct tq_command_spec reload = {
	.size = sizeof(reload), .name = "reload", .queue = "q", .to = TQ_COMMAND_TO_FARMS
};
static const struct tq_exec touch = { .size = sizeof(touch), .argv = argv, .output_path = "%i" };

static void rows_of_names(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_task_id_format, buf, NOTHING, (intptr_t)tq_task_id_format(1, NULL));
	ROW(tq_task_id_parse, text, REFUSED, tq_task_id_parse(NULL, &s->number));
	ROW(tq_task_id_parse, ret_id, REFUSED, tq_task_id_parse("1-1", NULL));
	ROW(tq_priority_parse, text, REFUSED, tq_priority_parse(NULL, &s->priority));
	ROW(tq_priority_parse, ret_priority, REFUSED, tq_priority_parse("low", NULL));
	ROW(tq_cause_format, buf, NOTHING, (intptr_t)tq_cause_format(TQ_CAUSE_EXIT, 1, NULL));
	ROW(tq_schedule_id_format, buf, NOTHING, (intptr_t)tq_schedule_id_format(1, NULL));
	ROW(tq_schedule_id_parse, text, REFUSED, tq_schedule_id_parse(NULL, &s->number));
	ROW(tq_schedule_id_parse, ret_id, REFUSED, tq_schedule_id_parse("s1-1", NULL));
	ROW(tq_group_id_format, buf, NOTHING, (intptr_t)tq_group_id_format(1, NULL));
	ROW(tq_group_id_parse, text, REFUSED, tq_group_id_parse(NULL, &s->number));
	ROW(tq_group_id_parse, ret_id, REFUSED, tq_group_id_parse("g1-1", NULL));
	ROW(tq_cron_check, cron, REFUSED, tq_cron_check(NULL, s->buf));
	ROW(tq_cron_check, buf, REFUSED, tq_cron_check("@daily", NULL));
	ROW(tq_histogram_at, histogram, NOTHING, (int64_t)tq_histogram_at(NULL, 500));
	ROW(tq_histogram_since, histogram, NOTHING, (tq_histogram_since(NULL, &s->histogram), 0));
	ROW(tq_histogram_since, before, NOTHING, (tq_histogram_since(&s->histogram, NULL), 0));
}

static void rows_of_segment(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_open, name, TAKEN, tq_open(NULL, NULL, &s->other));
	ROW(tq_open, opts, TAKEN, tq_open(s->name, NULL, &s->other));
	ROW(tq_open, ret_tq, REFUSED, tq_open(s->name, NULL, NULL));
	ROW(tq_close, tq, NOTHING, (intptr_t)tq_close(NULL));
	ROW(tq_destroy, name, TAKEN, null_destroy_default());
	ROW(tq_segment_info, tq, REFUSED, tq_segment_info(NULL, &s->segment));
	ROW(tq_segment_info, ret_info, REFUSED, tq_segment_info(s->tq, NULL));
	ROW(tq_shutdown, tq, REFUSED, tq_shutdown(NULL, 0));
	ROW(tq_check, tq, REFUSED, tq_check(NULL, 0, NULL, NULL));
	ROW(tq_check, report, TAKEN, tq_check(s->tq, TQ_CHECK_EXACT, NULL, NULL));
	ROW(tq_check, arg, TAKEN, tq_check(s->tq, TQ_CHECK_EXACT, null_ignore, NULL));
	ROW(tq_lock_blame, tq, REFUSED, tq_lock_blame(NULL, &s->holder));
	ROW(tq_lock_blame, ret_holder, REFUSED, tq_lock_blame(s->tq, NULL));
	ROW(tq_times_read, tq, REFUSED, tq_times_read(NULL, "q", NULL, &s->times));
	ROW(tq_times_read, queue, REFUSED, tq_times_read(s->tq, NULL, NULL, &s->times));
	ROW(tq_times_read, kind, TAKEN, tq_times_read(s->tq, "q", NULL, &s->times));
	ROW(tq_times_read, ret_times, REFUSED, tq_times_read(s->tq, "q", NULL, NULL));
	ROW(tq_trace_read, tq, REFUSED, tq_trace_read(NULL, &s->cursor, s->entries, 1, &s->number));
	ROW(tq_trace_read, cursor, REFUSED, tq_trace_read(s->tq, NULL, s->entries, 1, &s->number));
	ROW(tq_trace_read, entries, REFUSED, tq_trace_read(s->tq, &s->cursor, NULL, 1, &s->number));
	ROW(tq_trace_read, ret_lost, TAKEN, tq_trace_read(s->tq, &s->cursor, s->entries, 1, NULL));
}

static void rows_of_task(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_submit, tq, REFUSED, tq_submit(NULL, &plain, &s->number));
	ROW(tq_submit, spec, REFUSED, tq_submit(s->tq, NULL, &s->number));
	ROW(tq_submit, ret_id, TAKEN, tq_submit(s->tq, &plain, NULL));
	ROW(tq_submit_many, tq, REFUSED, tq_submit_many(NULL, &plain, 1, &s->number));
	ROW(tq_submit_many, specs, REFUSED, tq_submit_many(s->tq, NULL, 1, &s->number));
	ROW(tq_submit_many, ret_ids, TAKEN, tq_submit_many(s->tq, &plain, 1, NULL));
	ROW(tq_submit_exec, tq, REFUSED, tq_submit_exec(NULL, argv, NULL, NULL));
	ROW(tq_submit_exec, argv, REFUSED, tq_submit_exec(s->tq, NULL, NULL, NULL));
	ROW(tq_submit_exec, spec, TAKEN, tq_submit_exec(s->tq, argv, NULL, &s->number));
	ROW(tq_submit_exec, ret_id, TAKEN, tq_submit_exec(s->tq, argv, &command, NULL));
	ROW(tq_task_info, tq, REFUSED, tq_task_info(NULL, s->id, &s->info));
	ROW(tq_task_info, ret_info, REFUSED, tq_task_info(s->tq, s->id, NULL));
	ROW(tq_task_list, tq, REFUSED, tq_task_list(NULL, NULL, &s->cursor, &s->info, 1));
	ROW(tq_task_list, filter, TAKEN, tq_task_list(s->tq, NULL, &s->cursor, &s->info, 1));
	ROW(tq_task_list, cursor, REFUSED, tq_task_list(s->tq, NULL, NULL, &s->info, 1));
	ROW(tq_task_list, infos, REFUSED, tq_task_list(s->tq, NULL, &s->cursor, NULL, 1));
	ROW(tq_task_scan, tq, REFUSED, tq_task_scan(NULL, 0, &s->cursor, &s->number, &s->brief, 1));
	ROW(tq_task_scan, cursor, REFUSED, tq_task_scan(s->tq, 0, NULL, &s->number, &s->brief, 1));
	ROW(tq_task_scan, ret_left, REFUSED,
	    tq_task_scan(s->tq, 0, &s->cursor, NULL, &s->brief, 1));
	ROW(tq_task_scan, briefs, REFUSED, tq_task_scan(s->tq, 0, &s->cursor, &s->number, NULL, 1));
	ROW(tq_task_result, tq, REFUSED, tq_task_result(NULL, s->id, s->buf, 1, &s->number));
	ROW(tq_task_result, buf, REFUSED, tq_task_result(s->tq, s->id, NULL, 1, &s->number));
	ROW(tq_task_result, ret_bytes, TAKEN, tq_task_result(s->tq, s->done, s->buf, 1, NULL));
	ROW(tq_task_payload, tq, REFUSED, tq_task_payload(NULL, s->id, s->buf, 1, &s->number));
	ROW(tq_task_payload, buf, REFUSED, tq_task_payload(s->tq, s->id, NULL, 1, &s->number));
	ROW(tq_task_payload, ret_bytes, TAKEN, tq_task_payload(s->tq, s->id, s->buf, 1, NULL));
	ROW(tq_task_checkpoint, tq, REFUSED, tq_task_checkpoint(NULL, s->id, s->buf, &s->number));
	ROW(tq_task_checkpoint, buf, REFUSED, tq_task_checkpoint(s->tq, s->id, NULL, &s->number));
	ROW(tq_task_checkpoint, ret_bytes, REFUSED, tq_task_checkpoint(s->tq, s->id, s->buf, NULL));
	ROW(tq_task_history, tq, REFUSED, tq_task_history(NULL, s->id, s->attempts));
	ROW(tq_task_history, attempts, REFUSED, tq_task_history(s->tq, s->id, NULL));
	ROW(tq_wait, tq, REFUSED, tq_wait(NULL, &s->id, 1, 0, NULL, NULL));
	ROW(tq_wait, ids, REFUSED, tq_wait(s->tq, NULL, 1, 0, NULL, NULL));
	ROW(tq_wait, opts, TAKEN, tq_wait(s->tq, &s->id, 1, 0, NULL, &s->info));
	ROW(tq_wait, ret_info, TAKEN, tq_wait(s->tq, &s->done, 1, 0, NULL, NULL));
	ROW(tq_task_after, tq, REFUSED, tq_task_after(NULL, s->later, s->id, TQ_AFTER_OK));
	ROW(tq_task_dependencies, tq, REFUSED, tq_task_dependencies(NULL, s->later, s->edges, 1));
	ROW(tq_task_dependencies, infos, REFUSED, tq_task_dependencies(s->tq, s->later, NULL, 1));
	ROW(tq_task_dependants, tq, REFUSED, tq_task_dependants(NULL, s->id, s->edges, 1));
	ROW(tq_task_dependants, infos, REFUSED, tq_task_dependants(s->tq, s->id, NULL, 1));
	ROW(tq_task_steer, tq, REFUSED, tq_task_steer(NULL, s->id, TQ_TASK_ACTION_CANCEL));
	ROW(tq_task_update, tq, REFUSED, tq_task_update(NULL, s->id, &update));
	ROW(tq_task_update, update, REFUSED, tq_task_update(s->tq, s->id, NULL));
	ROW(tq_task_why, tq, REFUSED, tq_task_why(NULL, s->id, &s->why));
	ROW(tq_task_why, ret_why, REFUSED, tq_task_why(s->tq, s->id, NULL));
}

static void rows_of_output(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_output_read, tq, REFUSED,
	    tq_output_read(NULL, s->done, 0, s->buf, 9, 0, &s->number, &s->attempt));
	ROW(tq_output_read, buf, REFUSED,
	    tq_output_read(s->tq, s->done, 0, NULL, 9, 0, &s->number, &s->attempt));
	ROW(tq_output_read, ret_offset, REFUSED,
	    tq_output_read(s->tq, s->done, 0, s->buf, 9, 0, NULL, &s->attempt));
	ROW(tq_output_read, attempt, REFUSED,
	    tq_output_read(s->tq, s->done, 0, s->buf, 9, 0, &s->number, NULL));
	ROW(tq_output_follow, tq, REFUSED,
	    tq_output_follow(NULL, s->done, 0, s->buf, 9, 0, &s->number, &s->attempt));
	ROW(tq_output_follow, buf, REFUSED,
	    tq_output_follow(s->tq, s->done, 0, NULL, 9, 0, &s->number, &s->attempt));
	ROW(tq_output_follow, ret_offset, REFUSED,
	    tq_output_follow(s->tq, s->done, 0, s->buf, 9, 0, NULL, &s->attempt));
	ROW(tq_output_follow, attempt, REFUSED,
	    tq_output_follow(s->tq, s->done, 0, s->buf, 9, 0, &s->number, NULL));
	ROW(tq_output_leave, tq, REFUSED, tq_output_leave(NULL, s->id));
	ROW(tq_output_reader, tq, NOTHING, (int64_t)tq_output_reader(NULL));
	ROW(tq_output_read_attempt, tq, REFUSED,
	    tq_output_read_attempt(NULL, s->done, 1, 0, s->buf, 9, &s->number));
	ROW(tq_output_read_attempt, buf, REFUSED,
	    tq_output_read_attempt(s->tq, s->done, 1, 0, NULL, 9, &s->number));
	ROW(tq_output_read_attempt, ret_offset, REFUSED,
	    tq_output_read_attempt(s->tq, s->done, 1, 0, s->buf, 9, NULL));
}

static void rows_of_group(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_schedule_create, tq, REFUSED, tq_schedule_create(NULL, &hourly, &s->number));
	ROW(tq_schedule_create, spec, REFUSED, tq_schedule_create(s->tq, NULL, &s->number));
	ROW(tq_schedule_create, ret_id, TAKEN, tq_schedule_create(s->tq, &hourly, NULL));
	ROW(tq_schedule_steer, tq, REFUSED,
	    tq_schedule_steer(NULL, s->schedule, TQ_SCHEDULE_PAUSE));
	ROW(tq_schedule_info, tq, REFUSED, tq_schedule_info(NULL, s->schedule, &s->schedule_info));
	ROW(tq_schedule_info, ret_info, REFUSED, tq_schedule_info(s->tq, s->schedule, NULL));
	ROW(tq_schedule_list, tq, REFUSED,
	    tq_schedule_list(NULL, &s->cursor, &s->schedule_info, 1));
	ROW(tq_schedule_list, cursor, REFUSED, tq_schedule_list(s->tq, NULL, &s->schedule_info, 1));
	ROW(tq_schedule_list, infos, REFUSED, tq_schedule_list(s->tq, &s->cursor, NULL, 1));
	ROW(tq_schedule_find, tq, REFUSED, tq_schedule_find(NULL, "hourly", &s->number));
	ROW(tq_schedule_find, name, REFUSED, tq_schedule_find(s->tq, NULL, &s->number));
	ROW(tq_schedule_find, ret_id, REFUSED, tq_schedule_find(s->tq, "hourly", NULL));
	ROW(tq_schedule_payload, tq, REFUSED,
	    tq_schedule_payload(NULL, s->schedule, s->buf, 1, &s->number));
	ROW(tq_schedule_payload, buf, REFUSED,
	    tq_schedule_payload(s->tq, s->schedule, NULL, 1, &s->number));
	ROW(tq_schedule_payload, ret_bytes, TAKEN,
	    tq_schedule_payload(s->tq, s->schedule, s->buf, 1, NULL));
	ROW(tq_group_new, tq, REFUSED, tq_group_new(NULL, NULL, &s->number));
	ROW(tq_group_new, opts, TAKEN, tq_group_new(s->tq, NULL, &s->number));
	ROW(tq_group_new, ret_id, REFUSED, tq_group_new(s->tq, NULL, NULL));
	ROW(tq_group_seal, tq, REFUSED, tq_group_seal(NULL, s->group));
	ROW(tq_group_cancel, tq, REFUSED, tq_group_cancel(NULL, s->group));
	ROW(tq_group_info, tq, REFUSED, tq_group_info(NULL, s->group, &s->group_info));
	ROW(tq_group_info, ret_info, REFUSED, tq_group_info(s->tq, s->group, NULL));
	ROW(tq_group_list, tq, REFUSED, tq_group_list(NULL, &s->cursor, &s->group_info, 1));
	ROW(tq_group_list, cursor, REFUSED, tq_group_list(s->tq, NULL, &s->group_info, 1));
	ROW(tq_group_list, infos, REFUSED, tq_group_list(s->tq, &s->cursor, NULL, 1));
	ROW(tq_group_members, tq, REFUSED,
	    tq_group_members(NULL, s->group, &s->cursor, &s->info, 1));
	ROW(tq_group_members, cursor, REFUSED,
	    tq_group_members(s->tq, s->group, NULL, &s->info, 1));
	ROW(tq_group_members, infos, REFUSED,
	    tq_group_members(s->tq, s->group, &s->cursor, NULL, 1));
	ROW(tq_group_wait, tq, REFUSED, tq_group_wait(NULL, s->group, 0, NULL));
	ROW(tq_group_wait, ret_info, TAKEN, tq_group_wait(s->tq, s->group, 0, NULL));
	ROW(tq_group_next, tq, REFUSED, tq_group_next(NULL, s->group, &s->end, 0, NULL));
	ROW(tq_group_next, cursor, REFUSED, tq_group_next(s->tq, s->group, NULL, 0, NULL));
	ROW(tq_group_next, ret_info, TAKEN, tq_group_next(s->tq, s->group, &s->end, 0, NULL));
	ROW(tq_graph_new, tq, REFUSED, tq_graph_new(NULL, NULL, &s->other_graph));
	ROW(tq_graph_new, opts, TAKEN, tq_graph_new(s->tq, NULL, &s->other_graph));
	ROW(tq_graph_new, ret_graph, REFUSED, tq_graph_new(s->tq, NULL, NULL));
	ROW(tq_graph_add, graph, REFUSED, tq_graph_add(NULL, &plain, NULL, 0, NULL));
	ROW(tq_graph_add, spec, REFUSED, tq_graph_add(s->graph, NULL, NULL, 0, NULL));
	ROW(tq_graph_add, after, REFUSED, tq_graph_add(s->graph, &plain, NULL, 1, NULL));
	ROW(tq_graph_add, ret_member, TAKEN, tq_graph_add(s->graph, &plain, NULL, 0, NULL));
	ROW(tq_graph_after, graph, REFUSED, tq_graph_after(NULL, 0, NULL, 0));
	ROW(tq_graph_after, after, REFUSED, tq_graph_after(s->graph, 0, NULL, 1));
	ROW(tq_graph_submit, graph, REFUSED, tq_graph_submit(NULL, &s->number, &s->number));
	ROW(tq_graph_submit, ret_ids, TAKEN, tq_graph_submit(s->graph, NULL, &s->number));
	ROW(tq_graph_submit, ret_group, TAKEN, tq_graph_submit(s->graph, &s->number, NULL));
	ROW(tq_graph_cycle, graph, NOTHING, tq_graph_cycle(NULL, &s->attempt, 1));
	ROW(tq_graph_cycle, members, NOTHING, tq_graph_cycle(s->ring, NULL, 1));
	ROW(tq_graph_failed, graph, NOTHING, tq_graph_failed(NULL) - (int64_t)TQ_GRAPH_NONE);
	ROW(tq_graph_drop, graph, NOTHING, (tq_graph_drop(NULL), 0));
}

static void rows_of_queue(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_queue_set, tq, REFUSED, tq_queue_set(NULL, "q", NULL));
	ROW(tq_queue_set, queue, REFUSED, tq_queue_set(s->tq, NULL, NULL));
	ROW(tq_queue_set, opts, TAKEN, tq_queue_set(s->tq, "q", NULL));
	ROW(tq_queue_steer, tq, REFUSED, tq_queue_steer(NULL, "q", TQ_QUEUE_PAUSE));
	ROW(tq_queue_steer, queue, REFUSED, tq_queue_steer(s->tq, NULL, TQ_QUEUE_PAUSE));
	ROW(tq_queue_info, tq, REFUSED, tq_queue_info(NULL, "q", &s->queue));
	ROW(tq_queue_info, queue, REFUSED, tq_queue_info(s->tq, NULL, &s->queue));
	ROW(tq_queue_info, ret_info, REFUSED, tq_queue_info(s->tq, "q", NULL));
	ROW(tq_queue_list, tq, REFUSED, tq_queue_list(NULL, 0, &s->cursor, &s->queue, 1));
	ROW(tq_queue_list, cursor, REFUSED, tq_queue_list(s->tq, 0, NULL, &s->queue, 1));
	ROW(tq_queue_list, infos, REFUSED, tq_queue_list(s->tq, 0, &s->cursor, NULL, 1));
	ROW(tq_kind_set, tq, REFUSED, tq_kind_set(NULL, "k", &slow));
	ROW(tq_kind_set, kind, REFUSED, tq_kind_set(s->tq, NULL, &slow));
	ROW(tq_kind_set, opts, REFUSED, tq_kind_set(s->tq, "k", NULL));
	ROW(tq_kind_clear, tq, REFUSED, tq_kind_clear(NULL, "k"));
	ROW(tq_kind_clear, kind, REFUSED, tq_kind_clear(s->tq, NULL));
	ROW(tq_kind_list, tq, REFUSED, tq_kind_list(NULL, &s->cursor, &s->kind, 1));
	ROW(tq_kind_list, cursor, REFUSED, tq_kind_list(s->tq, NULL, &s->kind, 1));
	ROW(tq_kind_list, infos, REFUSED, tq_kind_list(s->tq, &s->cursor, NULL, 1));
	ROW(tq_limit_set, tq, REFUSED, tq_limit_set(NULL, "key", &two));
	ROW(tq_limit_set, key, REFUSED, tq_limit_set(s->tq, NULL, &two));
	ROW(tq_limit_set, opts, REFUSED, tq_limit_set(s->tq, "key", NULL));
	ROW(tq_limit_remove, tq, REFUSED, tq_limit_remove(NULL, "key"));
	ROW(tq_limit_remove, key, REFUSED, tq_limit_remove(s->tq, NULL));
	ROW(tq_limit_info, tq, REFUSED, tq_limit_info(NULL, "key", &s->limit));
	ROW(tq_limit_info, key, REFUSED, tq_limit_info(s->tq, NULL, &s->limit));
	ROW(tq_limit_info, ret_info, REFUSED, tq_limit_info(s->tq, "key", NULL));
	ROW(tq_limit_list, tq, REFUSED, tq_limit_list(NULL, &s->cursor, &s->limit, 1));
	ROW(tq_limit_list, cursor, REFUSED, tq_limit_list(s->tq, NULL, &s->limit, 1));
	ROW(tq_limit_list, infos, REFUSED, tq_limit_list(s->tq, &s->cursor, NULL, 1));
	ROW(tq_server_add, tq, REFUSED, tq_server_add(NULL, "q", "a"));
	ROW(tq_server_add, queue, REFUSED, tq_server_add(s->tq, NULL, "a"));
	ROW(tq_server_add, server, REFUSED, tq_server_add(s->tq, "q", NULL));
	ROW(tq_server_remove, tq, REFUSED, tq_server_remove(NULL, "q", "a"));
	ROW(tq_server_remove, queue, REFUSED, tq_server_remove(s->tq, NULL, "a"));
	ROW(tq_server_remove, server, REFUSED, tq_server_remove(s->tq, "q", NULL));
	ROW(tq_server_clear, tq, REFUSED, tq_server_clear(NULL, "q"));
	ROW(tq_server_clear, queue, REFUSED, tq_server_clear(s->tq, NULL));
	ROW(tq_server_list, tq, REFUSED, tq_server_list(NULL, NULL, &s->cursor, &s->server, 1));
	ROW(tq_server_list, queue, TAKEN, tq_server_list(s->tq, NULL, &s->cursor, &s->server, 1));
	ROW(tq_server_list, cursor, REFUSED, tq_server_list(s->tq, NULL, NULL, &s->server, 1));
	ROW(tq_server_list, infos, REFUSED, tq_server_list(s->tq, NULL, &s->cursor, NULL, 1));
	ROW(tq_server_limit_set, tq, REFUSED, tq_server_limit_set(NULL, "q", "a", 1));
	ROW(tq_server_limit_set, queue, REFUSED, tq_server_limit_set(s->tq, NULL, "a", 1));
	ROW(tq_server_limit_set, pattern, REFUSED, tq_server_limit_set(s->tq, "q", NULL, 1));
	ROW(tq_server_limit_remove, tq, REFUSED, tq_server_limit_remove(NULL, "q", "a"));
	ROW(tq_server_limit_remove, queue, REFUSED, tq_server_limit_remove(s->tq, NULL, "a"));
	ROW(tq_server_limit_remove, pattern, REFUSED, tq_server_limit_remove(s->tq, "q", NULL));
	ROW(tq_server_limit_list, tq, REFUSED,
	    tq_server_limit_list(NULL, NULL, &s->cursor, &s->server_limit, 1));
	ROW(tq_server_limit_list, queue, TAKEN,
	    tq_server_limit_list(s->tq, NULL, &s->cursor, &s->server_limit, 1));
	ROW(tq_server_limit_list, cursor, REFUSED,
	    tq_server_limit_list(s->tq, NULL, NULL, &s->server_limit, 1));
	ROW(tq_server_limit_list, infos, REFUSED,
	    tq_server_limit_list(s->tq, NULL, &s->cursor, NULL, 1));
}

static void rows_of_worker(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_worker_open, tq, REFUSED, tq_worker_open(NULL, NULL, &s->other_worker));
	ROW(tq_worker_open, opts, TAKEN, tq_worker_open(s->tq, NULL, &s->other_worker));
	ROW(tq_worker_open, ret_worker, REFUSED, tq_worker_open(s->tq, NULL, NULL));
	ROW(tq_worker_close, worker, NOTHING, (intptr_t)tq_worker_close(NULL));
	ROW(tq_worker_list, tq, REFUSED, tq_worker_list(NULL, &s->cursor, &s->worker_info, 1));
	ROW(tq_worker_list, cursor, REFUSED, tq_worker_list(s->tq, NULL, &s->worker_info, 1));
	ROW(tq_worker_list, infos, REFUSED, tq_worker_list(s->tq, &s->cursor, NULL, 1));
	ROW(tq_claim, worker, REFUSED, tq_claim(NULL, 0, &s->next));
	ROW(tq_claim, ret_claim, REFUSED, tq_claim(s->worker, 0, NULL));
	ROW(tq_claim_many, worker, REFUSED, tq_claim_many(NULL, 0, &s->next, 1));
	ROW(tq_claim_many, ret_claims, REFUSED, tq_claim_many(s->worker, 0, NULL, 1));
	ROW(tq_end, worker, REFUSED, tq_end(NULL, &s->claim, &done));
	ROW(tq_end, claim, REFUSED, tq_end(s->worker, NULL, &done));
	ROW(tq_end, verdict, REFUSED, tq_end(s->worker, &s->claim, NULL));
	ROW(tq_end_many, worker, REFUSED, tq_end_many(NULL, &s->claim, &done, 1, NULL));
	ROW(tq_end_many, claims, REFUSED, tq_end_many(s->worker, NULL, &done, 1, NULL));
	ROW(tq_end_many, verdicts, REFUSED, tq_end_many(s->worker, &s->claim, NULL, 1, NULL));
	ROW(tq_end_many, ret_results, TAKEN, tq_end_many(s->worker, &s->claim, &done, 1, NULL));
	ROW(tq_complete, worker, REFUSED, tq_complete(NULL, &s->claim, "x", 1));
	ROW(tq_complete, claim, REFUSED, tq_complete(s->worker, NULL, "x", 1));
	ROW(tq_complete, result, REFUSED, tq_complete(s->worker, &s->claim, NULL, 1));
	ROW(tq_fail, worker, REFUSED, tq_fail(NULL, &s->claim, 0, "x"));
	ROW(tq_fail, claim, REFUSED, tq_fail(s->worker, NULL, 0, "x"));
	ROW(tq_fail, text, TAKEN, tq_fail(s->worker, &s->claim, 0, NULL));
	ROW(tq_release, worker, REFUSED, tq_release(NULL, &s->claim, 0));
	ROW(tq_release, claim, REFUSED, tq_release(s->worker, NULL, 0));
	ROW(tq_next, worker, REFUSED, tq_next(NULL, &s->claim, &done, 0, &s->next, &s->priority));
	ROW(tq_next, claim, REFUSED, tq_next(s->worker, NULL, &done, 0, &s->next, &s->priority));
	ROW(tq_next, verdict, REFUSED,
	    tq_next(s->worker, &s->claim, NULL, 0, &s->next, &s->priority));
	ROW(tq_next, ret_claim, REFUSED,
	    tq_next(s->worker, &s->claim, &done, 0, NULL, &s->priority));
	ROW(tq_next, ret_verdict, TAKEN, tq_next(s->worker, &s->claim, &done, 0, &s->next, NULL));
	ROW(tq_renew, worker, REFUSED, tq_renew(NULL));
	ROW(tq_claim_stopping, worker, REFUSED, tq_claim_stopping(NULL, &s->claim));
	ROW(tq_claim_stopping, claim, REFUSED, tq_claim_stopping(s->worker, NULL));
	ROW(tq_claim_wait_stop, worker, REFUSED, tq_claim_wait_stop(NULL, &s->claim, 0));
	ROW(tq_claim_wait_stop, claim, REFUSED, tq_claim_wait_stop(s->worker, NULL, 0));
	ROW(tq_claim_progress, worker, REFUSED, tq_claim_progress(NULL, &s->claim, 1, "x"));
	ROW(tq_claim_progress, claim, REFUSED, tq_claim_progress(s->worker, NULL, 1, "x"));
	ROW(tq_claim_progress, text, TAKEN, tq_claim_progress(s->worker, &s->claim, 1, NULL));
	ROW(tq_claim_adopt, worker, REFUSED, tq_claim_adopt(NULL, &s->claim));
	ROW(tq_claim_adopt, claim, TAKEN, tq_claim_adopt(s->worker, NULL));
	ROW(tq_claim_checkpoint, worker, REFUSED, tq_claim_checkpoint(NULL, &s->claim, "x", 1));
	ROW(tq_claim_checkpoint, claim, REFUSED, tq_claim_checkpoint(s->worker, NULL, "x", 1));
	ROW(tq_claim_checkpoint, data, REFUSED, tq_claim_checkpoint(s->worker, &s->claim, NULL, 1));
	ROW(tq_attempt_progress, tq, REFUSED, tq_attempt_progress(NULL, 1, "x"));
	ROW(tq_attempt_progress, text, TAKEN, tq_attempt_progress(s->tq, 1, NULL));
	ROW(tq_attempt_checkpoint, tq, REFUSED, tq_attempt_checkpoint(NULL, "x", 1));
	ROW(tq_attempt_checkpoint, data, REFUSED, tq_attempt_checkpoint(s->tq, NULL, 1));
	ROW(tq_attempt_restore, tq, REFUSED, tq_attempt_restore(NULL, s->buf, &s->number));
	ROW(tq_attempt_restore, buf, REFUSED, tq_attempt_restore(s->tq, NULL, &s->number));
	ROW(tq_attempt_restore, ret_bytes, REFUSED, tq_attempt_restore(s->tq, s->buf, NULL));
}

static void rows_of_farm(struct null_asked *asked, struct null_scene *s)
{
	ROW(tq_command_send, tq, REFUSED, tq_command_send(NULL, &reload, &s->number));
	ROW(tq_command_send, spec, REFUSED, tq_command_send(s->tq, NULL, &s->number));
	ROW(tq_command_send, ret_id, TAKEN, tq_command_send(s->tq, &reload, NULL));
	ROW(tq_command_cancel, tq, REFUSED, tq_command_cancel(NULL, s->command));
	ROW(tq_command_wait, tq, REFUSED, tq_command_wait(NULL, s->command, 0, NULL));
	ROW(tq_command_wait, ret_info, TAKEN, tq_command_wait(s->tq, s->command, 0, NULL));
	ROW(tq_command_list, tq, REFUSED, tq_command_list(NULL, &s->cursor, &s->command_info, 1));
	ROW(tq_command_list, cursor, REFUSED, tq_command_list(s->tq, NULL, &s->command_info, 1));
	ROW(tq_command_list, infos, REFUSED, tq_command_list(s->tq, &s->cursor, NULL, 1));
	ROW(tq_command_answers, tq, REFUSED,
	    tq_command_answers(NULL, s->command, &s->cursor, &s->answer, 1));
	ROW(tq_command_answers, cursor, REFUSED,
	    tq_command_answers(s->tq, s->command, NULL, &s->answer, 1));
	ROW(tq_command_answers, answers, REFUSED,
	    tq_command_answers(s->tq, s->command, &s->cursor, NULL, 1));
	ROW(tq_command_take, worker, REFUSED, tq_command_take(NULL, &s->taken));
	ROW(tq_command_take, ret_command, REFUSED, tq_command_take(s->worker, NULL));
	ROW(tq_command_ack, worker, REFUSED, tq_command_ack(NULL, s->command, TQ_ANSWER_DONE, "x"));
	ROW(tq_command_ack, text, TAKEN,
	    tq_command_ack(s->worker, s->command, TQ_ANSWER_DONE, NULL));
	ROW(tq_handler_set, tq, REFUSED, tq_handler_set(NULL, "k", null_handle, NULL));
	ROW(tq_handler_set, kind, REFUSED, tq_handler_set(s->tq, NULL, null_handle, NULL));
	ROW(tq_handler_set, handler, TAKEN, tq_handler_set(s->tq, "none", NULL, NULL));
	ROW(tq_handler_set, arg, TAKEN, tq_handler_set(s->tq, "other", null_handle, NULL));
	ROW(tq_run_claim, run, NOTHING, (intptr_t)tq_run_claim(NULL));
	ROW(tq_run_worker, run, NOTHING, (intptr_t)tq_run_worker(NULL));
	ROW(tq_run_result, run, REFUSED, tq_run_result(NULL, "x", 1));
	ROW(tq_run_result, data, REFUSED, tq_run_result(s->run, NULL, 1));
	ROW(tq_run_progress, run, REFUSED, tq_run_progress(NULL, 1, "x"));
	ROW(tq_run_progress, text, TAKEN, tq_run_progress(s->run, 1, NULL));
	ROW(tq_run_checkpoint, run, REFUSED, tq_run_checkpoint(NULL, "x", 1));
	ROW(tq_run_checkpoint, data, REFUSED, tq_run_checkpoint(s->run, NULL, 1));
	ROW(tq_run_stopping, run, REFUSED, tq_run_stopping(NULL));
	ROW(tq_run_error, run, NOTHING, (tq_run_error(NULL, "x"), 0));
	ROW(tq_run_error, text, NOTHING, (tq_run_error(s->run, NULL), 0));
	ROW(tq_exec_encode, exec, REFUSED, tq_exec_encode(NULL, s->buf, 1, &s->number));
	ROW(tq_exec_encode, buf, TAKEN, tq_exec_encode(&touch, NULL, 0, &s->number));
	ROW(tq_exec_encode, ret_bytes, REFUSED, tq_exec_encode(&touch, s->buf, 1, NULL));
	ROW(tq_exec_decode, payload, REFUSED, tq_exec_decode(NULL, 64, &s->exec));
	ROW(tq_exec_decode, ret_exec, REFUSED, tq_exec_decode(s->buf, sizeof(s->buf), NULL));
	ROW(tq_exec_output_path, exec, REFUSED, tq_exec_output_path(NULL, 1, 1, &s->path));
	ROW(tq_exec_output_path, ret_path, REFUSED, tq_exec_output_path(&touch, 1, 1, NULL));
	ROW(tq_farm_run, tq, REFUSED, tq_farm_run(NULL, NULL));
	ROW(tq_farm_run, opts, TAKEN, null_run_farm(s));
}

void null_rows(struct null_asked *asked, struct null_scene *s)
{
	rows_of_names(asked, s);
	rows_of_segment(asked, s);
	rows_of_task(asked, s);
	rows_of_output(asked, s);
	rows_of_group(asked, s);
	rows_of_queue(asked, s);
	rows_of_worker(asked, s);
	rows_of_farm(asked, s);
}
