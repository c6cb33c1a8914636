/* SPDX-License-Identifier: MIT */
/*
 * The layout of a segment as docs/shared-memory-layout.md states it.
 *
 *   layout_test FILE            compare
 *   layout_test FILE --update   write it
 *
 * A difference means that two builds do not understand each other's segments: the
 * fingerprint, and at a release TQI_LAYOUT_VERSION, must differ, too.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/time/cron.h"
#include "scheduler/record/records.h"
#include "scheduler/record/trace.h"

#define TEXT_BYTES 65536
#define GEOMETRY_BYTES (1ull << 30)
#define GEOMETRY_ENTRIES 4096

struct text {
	char bytes[TEXT_BYTES];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	t->length += (size_t)vsnprintf(t->bytes + t->length, TEXT_BYTES - t->length, format, ap);
	va_end(ap);
	if (t->length >= TEXT_BYTES)
		exit(2);
}

#define STRUCT(type)                                                                               \
	add(t, "\n## struct %s, %zu bytes\n\n| offset | bytes | field |\n|---|---|---|\n", #type,  \
	    sizeof(struct type))
#define FIELD(type, field)                                                                         \
	add(t, "| %zu | %zu | %s |\n", offsetof(struct type, field),                               \
	    sizeof(((struct type *)0)->field), #field)

static void add_header(struct text *t)
{
	STRUCT(tqi_header);
	FIELD(tqi_header, magic);
	FIELD(tqi_header, layout_version);
	FIELD(tqi_header, fingerprint);
	FIELD(tqi_header, creation_id);
	FIELD(tqi_header, max_bytes);
	FIELD(tqi_header, tasks_max);
	FIELD(tqi_header, ring_entries);
	FIELD(tqi_header, pid_namespace);
	FIELD(tqi_header, time_namespace);
	FIELD(tqi_header, created_unix_ns);
	FIELD(tqi_header, creator_uid);
	FIELD(tqi_header, boot_id);
	FIELD(tqi_header, destroyed);
}

static void add_core(struct text *t)
{
	STRUCT(tqi_core);
	FIELD(tqi_core, lock);
	FIELD(tqi_core, holder_tid);
	FIELD(tqi_core, holder_pid);
	FIELD(tqi_core, holder_start);
	FIELD(tqi_core, version);
	FIELD(tqi_core, rollbacks);
	FIELD(tqi_core, undo);
	FIELD(tqi_core, ring_head);
	FIELD(tqi_core, ring_shown);
	FIELD(tqi_core, closed);
	FIELD(tqi_core, undone);
	FIELD(tqi_core, last_now_ns);
	FIELD(tqi_core, waiter_oldest);
	FIELD(tqi_core, waiter_newest);
	FIELD(tqi_core, waiter_count);
	FIELD(tqi_core, waiter_coming);
	FIELD(tqi_core, waiter_for_work);
	FIELD(tqi_core, spans_free);
	FIELD(tqi_core, spans_hint);
	FIELD(tqi_core, extents_reserved);
	FIELD(tqi_core, class_head);
	FIELD(tqi_core, tables);
	FIELD(tqi_core, inflight);
	FIELD(tqi_core, waiter_turn);
	FIELD(tqi_core, waiter_lists);
	FIELD(tqi_core, waiter_transit);
	FIELD(tqi_core, waiter_keepers);
	FIELD(tqi_core, waiter_domains_in_use);
	FIELD(tqi_core, waiter_domains);
}

static void add_parts(struct text *t)
{
	STRUCT(tqi_table);
	FIELD(tqi_table, count);
	FIELD(tqi_table, free);
	FIELD(tqi_table, live);
	FIELD(tqi_table, spans);
	STRUCT(tqi_undo);
	FIELD(tqi_undo, where);
	FIELD(tqi_undo, old);
	STRUCT(tqi_inflight);
	FIELD(tqi_inflight, kind);
	FIELD(tqi_inflight, first);
	FIELD(tqi_inflight, count);
	FIELD(tqi_inflight, generation);
	FIELD(tqi_inflight, owner);
	STRUCT(tqi_span);
	FIELD(tqi_span, use);
	FIELD(tqi_span, class_);
	FIELD(tqi_span, used);
	FIELD(tqi_span, bump);
	FIELD(tqi_span, free);
	FIELD(tqi_span, prev);
	FIELD(tqi_span, next);
	STRUCT(tqi_heap);
	FIELD(tqi_heap, length);
	FIELD(tqi_heap, capacity);
	FIELD(tqi_heap, root);
	FIELD(tqi_heap, directory);
	FIELD(tqi_heap, chunks);
	STRUCT(tqi_waiter);
	FIELD(tqi_waiter, state);
	FIELD(tqi_waiter, owner);
	FIELD(tqi_waiter, older);
	FIELD(tqi_waiter, newer);
	FIELD(tqi_waiter, until_ns);
	FIELD(tqi_waiter, interest);
	FIELD(tqi_waiter, subject);
	FIELD(tqi_waiter, edges);
	FIELD(tqi_waiter, told);
	FIELD(tqi_waiter, until_wall_ns);
	FIELD(tqi_waiter, word);
	FIELD(tqi_waiter, mutex_made);
	FIELD(tqi_waiter, mutex);
	FIELD(tqi_waiter, attempt);
	FIELD(tqi_waiter, attempt_life);
	FIELD(tqi_waiter, attempt_prev);
	FIELD(tqi_waiter, attempt_next);
	FIELD(tqi_waiter, lent_deadline_ns);
	FIELD(tqi_waiter, lent);
	FIELD(tqi_waiter, lent_hops);
	FIELD(tqi_waiter, lent_deadline_hops);
	FIELD(tqi_waiter, turn);
	FIELD(tqi_waiter, list);
	FIELD(tqi_waiter, list_older);
	FIELD(tqi_waiter, list_newer);
	FIELD(tqi_waiter, domain);
	FIELD(tqi_waiter, domain_older);
	FIELD(tqi_waiter, domain_newer);
	FIELD(tqi_waiter, popped_ns);
}

static void add_task(struct text *t)
{
	STRUCT(tqi_task);
	FIELD(tqi_task, link);
	FIELD(tqi_task, state);
	FIELD(tqi_task, cause);
	FIELD(tqi_task, flags);
	FIELD(tqi_task, generation);
	FIELD(tqi_task, sequence);
	FIELD(tqi_task, wait_sequence);
	FIELD(tqi_task, key);
	FIELD(tqi_task, priority);
	FIELD(tqi_task, lane);
	FIELD(tqi_task, due_ns);
	FIELD(tqi_task, payload);
	FIELD(tqi_task, payload_bytes);
	FIELD(tqi_task, stamp);
	FIELD(tqi_task, attempt);
	FIELD(tqi_task, epoch);
	FIELD(tqi_task, edges);
	FIELD(tqi_task, prev);
	FIELD(tqi_task, next);
	FIELD(tqi_task, pins);
	FIELD(tqi_task, queue);
	FIELD(tqi_task, kind);
	FIELD(tqi_task, failures);
	FIELD(tqi_task, crashes);
	FIELD(tqi_task, losses);
	FIELD(tqi_task, attempts_max);
	FIELD(tqi_task, crashes_max);
	FIELD(tqi_task, losses_max);
	FIELD(tqi_task, attempts);
	FIELD(tqi_task, result);
	FIELD(tqi_task, result_bytes);
	FIELD(tqi_task, cause_arg);
	FIELD(tqi_task, submitted_ns);
	FIELD(tqi_task, ready_ns);
	FIELD(tqi_task, started_ns);
	FIELD(tqi_task, ended_ns);
	FIELD(tqi_task, timeout_ns);
	FIELD(tqi_task, backoff_ns);
	FIELD(tqi_task, backoff_cap_ns);
	FIELD(tqi_task, timeout_total_ns);
	FIELD(tqi_task, first_started_ns);
	FIELD(tqi_task, progress_timeout_ns);
	FIELD(tqi_task, output_bytes);
	FIELD(tqi_task, cpu_ns);
	FIELD(tqi_task, max_rss_bytes);
	FIELD(tqi_task, error);
	FIELD(tqi_task, history);
	FIELD(tqi_task, checkpoint);
	FIELD(tqi_task, checkpoint_bytes);
	FIELD(tqi_task, worker_pid);
	FIELD(tqi_task, error_bytes);
	FIELD(tqi_task, label_bytes);
	FIELD(tqi_task, history_count);
}

static void add_extra(struct text *t)
{
	STRUCT(tqi_extra);
	FIELD(tqi_extra, deadline_ns);
	FIELD(tqi_extra, key);
	FIELD(tqi_extra, tenant);
	FIELD(tqi_extra, limits);
	FIELD(tqi_extra, group);
	FIELD(tqi_extra, counted);
	FIELD(tqi_extra, pinned);
	FIELD(tqi_extra, shut);
	FIELD(tqi_extra, stale);
	FIELD(tqi_extra, again);
	FIELD(tqi_extra, completes);
	FIELD(tqi_extra, after);
	FIELD(tqi_extra, unmet);
	FIELD(tqi_extra, inherited);
	FIELD(tqi_extra, inherited_hops);
	FIELD(tqi_extra, inherited_deadline_hops);
	FIELD(tqi_extra, inherited_deadline_ns);
	FIELD(tqi_extra, at_ns);
	FIELD(tqi_extra, schedule);
	FIELD(tqi_extra, culprit);
	FIELD(tqi_extra, after_count);
	FIELD(tqi_extra, group_prev);
	FIELD(tqi_extra, group_next);
	FIELD(tqi_extra, group_order);
	FIELD(tqi_extra, stale_prev);
	FIELD(tqi_extra, stale_next);
}

static void add_schedule(struct text *t)
{
	STRUCT(tqi_schedule);
	FIELD(tqi_schedule, flags);
	FIELD(tqi_schedule, generation);
	FIELD(tqi_schedule, sequence);
	FIELD(tqi_schedule, every_ns);
	FIELD(tqi_schedule, next_ns);
	FIELD(tqi_schedule, retry_ns);
	FIELD(tqi_schedule, last_run);
	FIELD(tqi_schedule, made_ns);
	FIELD(tqi_schedule, last_run_ns);
	FIELD(tqi_schedule, runs);
	FIELD(tqi_schedule, skipped);
	FIELD(tqi_schedule, overlap);
	FIELD(tqi_schedule, catch_up);
	FIELD(tqi_schedule, owed);
	FIELD(tqi_schedule, last_error);
	FIELD(tqi_schedule, block);
	FIELD(tqi_schedule, payload_bytes);
	FIELD(tqi_schedule, label_bytes);
	FIELD(tqi_schedule, key_bytes);
	FIELD(tqi_schedule, cron_bytes);
	FIELD(tqi_schedule, zone_bytes);
	FIELD(tqi_schedule, zone_changes);
	FIELD(tqi_schedule, delay_ns);
	FIELD(tqi_schedule, timeout_ns);
	FIELD(tqi_schedule, timeout_total_ns);
	FIELD(tqi_schedule, progress_timeout_ns);
	FIELD(tqi_schedule, backoff_ns);
	FIELD(tqi_schedule, backoff_cap_ns);
	FIELD(tqi_schedule, deadline_ns);
	FIELD(tqi_schedule, priority);
	FIELD(tqi_schedule, attempts_max);
	FIELD(tqi_schedule, crashes_max);
	FIELD(tqi_schedule, losses_max);
	FIELD(tqi_schedule, task_flags);
	FIELD(tqi_schedule, unique_scope);
	FIELD(tqi_schedule, queue);
	FIELD(tqi_schedule, kind);
	STRUCT(tqi_cron);
	FIELD(tqi_cron, minutes);
	FIELD(tqi_cron, hours);
	FIELD(tqi_cron, days);
	FIELD(tqi_cron, months);
	FIELD(tqi_cron, weekdays);
	FIELD(tqi_cron, any);
	STRUCT(tqi_zone);
	FIELD(tqi_zone, count);
	FIELD(tqi_zone, offset_s);
	FIELD(tqi_zone, has_rule);
	FIELD(tqi_zone, rule);
	STRUCT(tqi_zone_change);
	FIELD(tqi_zone_change, at_s);
	FIELD(tqi_zone_change, offset_s);
}

static void add_key(struct text *t)
{
	STRUCT(tqi_key);
	FIELD(tqi_key, node);
	FIELD(tqi_key, task);
	FIELD(tqi_key, successor);
	FIELD(tqi_key, queue);
	FIELD(tqi_key, scope);
	FIELD(tqi_key, held);
	FIELD(tqi_key, bytes);
	FIELD(tqi_key, name);
	STRUCT(tqi_hash_node);
	FIELD(tqi_hash_node, link);
	FIELD(tqi_hash_node, next);
	FIELD(tqi_hash_node, hash);
	STRUCT(tqi_hash_index);
	FIELD(tqi_hash_index, count);
	FIELD(tqi_hash_index, buckets);
	FIELD(tqi_hash_index, directory);
	FIELD(tqi_hash_index, chunks);
}

static void add_command(struct text *t)
{
	STRUCT(tqi_command);
	FIELD(tqi_command, state);
	FIELD(tqi_command, generation);
	FIELD(tqi_command, sequence);
	FIELD(tqi_command, sent_ns);
	FIELD(tqi_command, ended_ns);
	FIELD(tqi_command, prev);
	FIELD(tqi_command, next);
	FIELD(tqi_command, block);
	FIELD(tqi_command, argument_bytes);
	FIELD(tqi_command, delivery_count);
	FIELD(tqi_command, waiting);
	FIELD(tqi_command, open);
	FIELD(tqi_command, sender_pid);
	FIELD(tqi_command, queue);
	FIELD(tqi_command, to);
	FIELD(tqi_command, name);
	FIELD(tqi_command, cancelled_ns);
	STRUCT(tqi_delivery);
	FIELD(tqi_delivery, worker);
	FIELD(tqi_delivery, state);
	FIELD(tqi_delivery, takes);
	FIELD(tqi_delivery, generation);
	FIELD(tqi_delivery, changed_ns);
	FIELD(tqi_delivery, pid);
	FIELD(tqi_delivery, text);
}

static void add_attempt(struct text *t)
{
	STRUCT(tqi_attempt);
	FIELD(tqi_attempt, task);
	FIELD(tqi_attempt, id);
	FIELD(tqi_attempt, epoch);
	FIELD(tqi_attempt, worker);
	FIELD(tqi_attempt, prev);
	FIELD(tqi_attempt, next);
	FIELD(tqi_attempt, started_ns);
	FIELD(tqi_attempt, phase_ns);
	FIELD(tqi_attempt, phase);
	FIELD(tqi_attempt, stop_cause);
	FIELD(tqi_attempt, checkpoint);
	FIELD(tqi_attempt, inherited);
	FIELD(tqi_attempt, inherited_bytes);
	FIELD(tqi_attempt, pgid_start);
	FIELD(tqi_attempt, pgid);
	FIELD(tqi_attempt, progress_index);
	FIELD(tqi_attempt, progress_ns);
	FIELD(tqi_attempt, saved);
	FIELD(tqi_attempt, server);
	FIELD(tqi_attempt, waits);
	FIELD(tqi_attempt, charged_us);
	FIELD(tqi_attempt, waits_life);
	FIELD(tqi_attempt, payload);
	FIELD(tqi_attempt, progress);
}

static void add_worker(struct text *t)
{
	STRUCT(tqi_worker);
	FIELD(tqi_worker, state);
	FIELD(tqi_worker, owner);
	FIELD(tqi_worker, generation);
	FIELD(tqi_worker, flags);
	FIELD(tqi_worker, kill);
	FIELD(tqi_worker, attempts);
	FIELD(tqi_worker, attempt_count);
	FIELD(tqi_worker, master);
	FIELD(tqi_worker, queue_count);
	FIELD(tqi_worker, lease_ns);
	FIELD(tqi_worker, grace_ns);
	FIELD(tqi_worker, registered_ns);
	FIELD(tqi_worker, suspect_ns);
	FIELD(tqi_worker, dying_ns);
	FIELD(tqi_worker, tasks);
	FIELD(tqi_worker, master_generation);
	FIELD(tqi_worker, output);
	FIELD(tqi_worker, output_bytes);
	FIELD(tqi_worker, kinds);
	FIELD(tqi_worker, queues);
	FIELD(tqi_worker, name);
	FIELD(tqi_worker, lease_deadline_ns);
	FIELD(tqi_worker, output_head);
	FIELD(tqi_worker, output_word);
	FIELD(tqi_worker, output_serial);
	FIELD(tqi_worker, readers);
	FIELD(tqi_worker, life);
	FIELD(tqi_worker, life_made);
	FIELD(tqi_worker, command);
	FIELD(tqi_worker, command_seen);
	FIELD(tqi_worker, asleep);
	FIELD(tqi_worker, stopper);
	FIELD(tqi_worker, ranks);
}

static void add_queues(struct text *t)
{
	STRUCT(tqi_queue);
	FIELD(tqi_queue, flags);
	FIELD(tqi_queue, classes);
	FIELD(tqi_queue, waiting);
	FIELD(tqi_queue, purge_before);
	FIELD(tqi_queue, depth_max);
	FIELD(tqi_queue, timeout_ns);
	FIELD(tqi_queue, backoff_ns);
	FIELD(tqi_queue, backoff_cap_ns);
	FIELD(tqi_queue, attempts_max);
	FIELD(tqi_queue, era);
	FIELD(tqi_queue, name);
	FIELD(tqi_queue, ageing);
	FIELD(tqi_queue, band_from);
	FIELD(tqi_queue, hybrid);
	FIELD(tqi_queue, hybrid_count);
	FIELD(tqi_queue, fair);
	FIELD(tqi_queue, fair_time_us);
	FIELD(tqi_queue, tenant);
	FIELD(tqi_queue, tenant_classes);
	FIELD(tqi_queue, home);
	FIELD(tqi_queue, servers);
	FIELD(tqi_queue, carry_at);
	FIELD(tqi_queue, carry_from);
	FIELD(tqi_queue, carry_to);
	FIELD(tqi_queue, tournaments);
	FIELD(tqi_queue, asleep);
	FIELD(tqi_queue, turn);
	FIELD(tqi_queue, asleep_prev);
	FIELD(tqi_queue, asleep_next);
	FIELD(tqi_queue, streams);
	FIELD(tqi_queue, by_kind);
	FIELD(tqi_queue, contest);
	STRUCT(tqi_kind);
	FIELD(tqi_kind, name);
	FIELD(tqi_kind, mean_us);
	STRUCT(tqi_class);
	FIELD(tqi_class, queue);
	FIELD(tqi_class, kind);
	FIELD(tqi_class, band);
	FIELD(tqi_class, next);
	FIELD(tqi_class, prev);
	FIELD(tqi_class, plain);
	FIELD(tqi_class, lane_count);
	FIELD(tqi_class, tenant);
	FIELD(tqi_class, era);
	FIELD(tqi_class, rate);
	FIELD(tqi_class, watched);
	FIELD(tqi_class, parked);
	FIELD(tqi_class, open);
	STRUCT(tqi_stream);
	FIELD(tqi_stream, queue);
	FIELD(tqi_stream, kind);
	FIELD(tqi_stream, times);
	FIELD(tqi_stream, depth);
	FIELD(tqi_stream, submitted);
	FIELD(tqi_stream, started);
	FIELD(tqi_stream, ended);
	FIELD(tqi_stream, retried);
	FIELD(tqi_stream, crashed);
	FIELD(tqi_stream, reclaimed);
	FIELD(tqi_stream, stolen);
	FIELD(tqi_stream, throttled);
	FIELD(tqi_stream, moved);
	FIELD(tqi_stream, next);
	FIELD(tqi_stream, tenant_classes);
	FIELD(tqi_stream, tenant_ready);
	FIELD(tqi_stream, tenants);
	STRUCT(tqi_by_kind);
	FIELD(tqi_by_kind, streams);
	STRUCT(tqi_times);
	FIELD(tqi_times, queue);
	FIELD(tqi_times, kind);
	FIELD(tqi_times, of);
	STRUCT(tqi_histogram);
	FIELD(tqi_histogram, longest_ns);
	FIELD(tqi_histogram, sum_ns);
	FIELD(tqi_histogram, buckets);
	STRUCT(tqi_trace_entry);
	FIELD(tqi_trace_entry, time_ns);
	FIELD(tqi_trace_entry, task);
	FIELD(tqi_trace_entry, pid);
	FIELD(tqi_trace_entry, worker);
	FIELD(tqi_trace_entry, event);
	FIELD(tqi_trace_entry, from);
	FIELD(tqi_trace_entry, to);
	FIELD(tqi_trace_entry, cause);
	FIELD(tqi_trace_entry, argument);
}

static void add_lanes(struct text *t)
{
	STRUCT(tqi_lane);
	FIELD(tqi_lane, node);
	FIELD(tqi_lane, class_);
	FIELD(tqi_lane, members);
	FIELD(tqi_lane, limits);
	FIELD(tqi_lane, parking);
	FIELD(tqi_lane, prev);
	FIELD(tqi_lane, next);
	FIELD(tqi_lane, is_parking);
	FIELD(tqi_lane, state);
	FIELD(tqi_lane, tasks);
	STRUCT(tqi_limit);
	FIELD(tqi_limit, node);
	FIELD(tqi_limit, size);
	FIELD(tqi_limit, used);
	FIELD(tqi_limit, tasks);
	FIELD(tqi_limit, waiting);
	FIELD(tqi_limit, closed);
	FIELD(tqi_limit, prev);
	FIELD(tqi_limit, next);
	FIELD(tqi_limit, loosened);
	FIELD(tqi_limit, bytes);
	FIELD(tqi_limit, booked);
	FIELD(tqi_limit, next_ns);
	FIELD(tqi_limit, interval_ns);
	FIELD(tqi_limit, filled_ns);
	FIELD(tqi_limit, part);
	FIELD(tqi_limit, rate);
	FIELD(tqi_limit, burst);
	FIELD(tqi_limit, tokens);
	FIELD(tqi_limit, full_ns);
	FIELD(tqi_limit, name);
	STRUCT(tqi_tenant);
	FIELD(tqi_tenant, node);
	FIELD(tqi_tenant, tasks);
	FIELD(tqi_tenant, classes);
	FIELD(tqi_tenant, sequence);
	FIELD(tqi_tenant, tag_us);
	FIELD(tqi_tenant, credit_us);
	FIELD(tqi_tenant, overdue_turn);
	FIELD(tqi_tenant, queue);
	FIELD(tqi_tenant, bytes);
	FIELD(tqi_tenant, tournaments);
	FIELD(tqi_tenant, name);
	STRUCT(tqi_edge);
	FIELD(tqi_edge, waiter);
	FIELD(tqi_edge, task);
	FIELD(tqi_edge, told);
	FIELD(tqi_edge, prev);
	FIELD(tqi_edge, next);
	FIELD(tqi_edge, next_of_waiter);
	FIELD(tqi_edge, kind);
	FIELD(tqi_edge, quiet);
}

static void add_servers(struct text *t)
{
	STRUCT(tqi_server);
	FIELD(tqi_server, node);
	FIELD(tqi_server, pool);
	FIELD(tqi_server, used);
	FIELD(tqi_server, turn);
	FIELD(tqi_server, sequence);
	FIELD(tqi_server, queue);
	FIELD(tqi_server, bytes);
	FIELD(tqi_server, leaving);
	FIELD(tqi_server, name);
	STRUCT(tqi_pool);
	FIELD(tqi_pool, node);
	FIELD(tqi_pool, size);
	FIELD(tqi_pool, used);
	FIELD(tqi_pool, servers);
	FIELD(tqi_pool, queue);
	FIELD(tqi_pool, bytes);
	FIELD(tqi_pool, is_prefix);
	FIELD(tqi_pool, load);
	FIELD(tqi_pool, rooms);
	FIELD(tqi_pool, pools);
	FIELD(tqi_pool, has_room);
	FIELD(tqi_pool, pattern);
}

static void add_groups(struct text *t)
{
	STRUCT(tqi_group);
	FIELD(tqi_group, state);
	FIELD(tqi_group, condition);
	FIELD(tqi_group, cancelled);
	FIELD(tqi_group, work);
	FIELD(tqi_group, generation);
	FIELD(tqi_group, owner);
	FIELD(tqi_group, made_ns);
	FIELD(tqi_group, ended_ns);
	FIELD(tqi_group, sequence);
	FIELD(tqi_group, completion_id);
	FIELD(tqi_group, culprit);
	FIELD(tqi_group, completion);
	FIELD(tqi_group, members);
	FIELD(tqi_group, unfinished);
	FIELD(tqi_group, ends);
	FIELD(tqi_group, states);
	FIELD(tqi_group, first);
	FIELD(tqi_group, last);
	FIELD(tqi_group, ended_last);
	FIELD(tqi_group, walk);
	FIELD(tqi_group, prev);
	FIELD(tqi_group, next);
	FIELD(tqi_group, busy_next);
	FIELD(tqi_group, waiters);
	FIELD(tqi_group, label);
}

static void add_root(struct text *t)
{
	STRUCT(tqi_root);
	FIELD(tqi_root, sequence);
	FIELD(tqi_root, flags);
	FIELD(tqi_root, unfinished);
	FIELD(tqi_root, ready);
	FIELD(tqi_root, running);
	FIELD(tqi_root, finished_oldest);
	FIELD(tqi_root, finished_newest);
	FIELD(tqi_root, finished_count);
	FIELD(tqi_root, telling);
	FIELD(tqi_root, sweep_at);
	FIELD(tqi_root, sweep_left);
	FIELD(tqi_root, cancel_before);
	FIELD(tqi_root, retention_ns);
	FIELD(tqi_root, look_ns);
	FIELD(tqi_root, unbroken_ns);
	FIELD(tqi_root, reclaimed);
	FIELD(tqi_root, evicted);
	FIELD(tqi_root, seed);
	FIELD(tqi_root, worker_cursor);
	FIELD(tqi_root, room_waiters);
	FIELD(tqi_root, empty_workers);
	FIELD(tqi_root, sweep_count);
	FIELD(tqi_root, untidy);
	FIELD(tqi_root, dying_workers);
	FIELD(tqi_root, moving);
	FIELD(tqi_root, appointments);
	FIELD(tqi_root, loosened);
	FIELD(tqi_root, due);
	FIELD(tqi_root, wall);
	FIELD(tqi_root, every);
	FIELD(tqi_root, cron);
	FIELD(tqi_root, schedules);
	FIELD(tqi_root, crons);
	FIELD(tqi_root, schedule_sequence);
	FIELD(tqi_root, wall_seen_ns);
	FIELD(tqi_root, anew);
	FIELD(tqi_root, keys);
	FIELD(tqi_root, limits);
	FIELD(tqi_root, lanes);
	FIELD(tqi_root, rates);
	FIELD(tqi_root, refills);
	FIELD(tqi_root, command_change);
	FIELD(tqi_root, command_sequence);
	FIELD(tqi_root, commands_oldest);
	FIELD(tqi_root, commands_newest);
	FIELD(tqi_root, commands_open);
	FIELD(tqi_root, ended_oldest);
	FIELD(tqi_root, ended_newest);
	FIELD(tqi_root, ended_count);
	FIELD(tqi_root, command_waiters);
	FIELD(tqi_root, telling_last);
	FIELD(tqi_root, tenants);
	FIELD(tqi_root, servers);
	FIELD(tqi_root, pools);
	FIELD(tqi_root, queues);
	FIELD(tqi_root, kinds);
	FIELD(tqi_root, moving_queues);
	FIELD(tqi_root, moving_at);
	FIELD(tqi_root, carrying_queues);
	FIELD(tqi_root, owners);
	FIELD(tqi_root, carrying);
	FIELD(tqi_root, stale_first);
	FIELD(tqi_root, stale_last);
	FIELD(tqi_root, stale_stuck);
	FIELD(tqi_root, stale_stage);
	FIELD(tqi_root, stale_cursor);
	FIELD(tqi_root, stale_best);
	FIELD(tqi_root, stale_best_deadline_ns);
	FIELD(tqi_root, stale_best_hops);
	FIELD(tqi_root, stale_best_deadline_hops);
	FIELD(tqi_root, groups_closing);
	FIELD(tqi_root, groups_owned);
	FIELD(tqi_root, groups_ended);
	FIELD(tqi_root, groups_busy);
	FIELD(tqi_root, groups_busy_last);
	FIELD(tqi_root, groups_cursor);
	FIELD(tqi_root, group_waiters);
	FIELD(tqi_root, waiter_cursor);
	FIELD(tqi_root, asleep_queues);
}

static void add_places(struct text *t)
{
	const struct tqi_sizes sizes = { GEOMETRY_BYTES, GEOMETRY_BYTES / 256, GEOMETRY_ENTRIES };
	struct tqi_geometry g;

	if (tqi_geometry_compute(&tqi_schema, &sizes, &g) < 0)
		exit(2);
	add(t, "\n## Places in a segment of 1 GiB\n\n| offset | what |\n|---|---|\n");
	add(t, "| 0 | header |\n");
	add(t, "| %llu | core |\n", (unsigned long long)g.core);
	add(t, "| %llu | journal |\n", (unsigned long long)g.journal);
	add(t, "| %llu | root |\n", (unsigned long long)g.root);
	add(t, "| %llu | scratch |\n", (unsigned long long)g.scratch);
	add(t, "| %llu | ring of the flight recorder, of %u entries of %u bytes |\n",
	    (unsigned long long)g.ring, g.ring_slots, TQI_RING_ENTRY_BYTES);
	add(t, "| %llu | states of extents |\n", (unsigned long long)g.extents);
	add(t, "| %llu | map of free spans |\n", (unsigned long long)g.span_map);
	add(t, "| %llu | spans |\n", (unsigned long long)g.spans);
	for (uint32_t i = 0; i < tqi_schema.table_count; i++)
		add(t, "| %llu | directory of %s: %u bytes a record, %u a span, %u at most |\n",
		    (unsigned long long)g.tables[i].directory, tqi_schema.tables[i].name,
		    g.tables[i].record_bytes, 1u << g.tables[i].shift, g.tables[i].max - 1);
	for (uint32_t f = 0; f < tqi_schema.family_count; f++)
		add(t, "| %llu | positions of heap family %u |\n",
		    (unsigned long long)g.positions[f], f);
	add(t, "| %llu | extents that grow |\n", (unsigned long long)g.fixed_bytes);
}

static void describe(struct text *t)
{
	add(t, "# Shared memory layout\n\n");
	add(t, "Written by `layout_test --update`, and compared by the test of that name.\n");
	add(t, "What the fields mean stands in shm/layout.h, shm/wait.h and "
	       "scheduler/record/records.h.\n\n");
	add(t, "Layout version %u, fingerprint `%016llx` (x86-64, glibc).\n", TQI_LAYOUT_VERSION,
	    (unsigned long long)tqi_fingerprint(&tqi_schema));
	add_places(t);
	add_header(t);
	add_core(t);
	add_parts(t);
	add_task(t);
	add_extra(t);
	add_key(t);
	add_schedule(t);
	add_command(t);
	add_attempt(t);
	add_worker(t);
	add_queues(t);
	add_lanes(t);
	add_servers(t);
	add_groups(t);
	add_root(t);
}

static int update(const char *path, const struct text *t)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return 2;
	size_t n = fwrite(t->bytes, 1, t->length, file);

	return fclose(file) == 0 && n == t->length ? 0 : 2;
}

static int compare(const char *path, const struct text *t)
{
	static char old[TEXT_BYTES];
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		return 1;
	}
	size_t n = fread(old, 1, sizeof(old), file);

	fclose(file);
	if (n == t->length && memcmp(old, t->bytes, n) == 0)
		return 0;
	fputs(t->bytes, stdout);
	fprintf(stderr, "the layout is not as in %s: layout_test %s --update\n", path, path);
	return 1;
}

int main(int argc, char **argv)
{
	static struct text t;

	if (argc < 2)
		return 2;
#ifndef __x86_64__
	return 77; /* the table is that of one processor */
#endif
	describe(&t);
	return argc > 2 && strcmp(argv[2], "--update") == 0 ? update(argv[1], &t)
							    : compare(argv[1], &t);
}
