/* SPDX-License-Identifier: MIT */
/*
 * Each field of each record, in their order, and what a repair may believe of it:
 *
 *	T  truth: nothing else says it.  A repair keeps it, or mends it to what can be.
 *	D  derived: what truth adds up to.  A repair forgets it first, and makes it anew.
 *	H  hint: where somebody looks next, or whether at all.  A repair forgets it.
 *	W  word: its owner's, or written by whoever may, without the lock or a journal.
 *	R  room for later; 0.
 *
 * What a field means stands where it is declared.  Truth with a derived part in it (flags of
 * a task that say which heap it is in) is truth here, and mended there.
 *
 * A field that is missing here fails the test of the layout, which goes through all bytes.
 */
#ifndef TQI_SCHEDULER_RECORD_FIELDS_H
#define TQI_SCHEDULER_RECORD_FIELDS_H

#include "scheduler/record/records.h"

/* clang-format off */
#define TQI_FIELDS_WAITER(F) \
	F(link, D) F(state, T) F(owner, T) F(older, D) F(newer, D) F(until_ns, T) \
	F(interest, T) F(subject, T) F(edges, T) F(told, T) F(until_wall_ns, T) \
	F(word, W) F(mutex_made, W) F(mutex, W) F(attempt, T) F(attempt_life, T) \
	F(attempt_prev, D) F(attempt_next, D) F(lent_deadline_ns, T) F(lent, T) \
	F(lent_hops, T) F(lent_deadline_hops, T) F(turn, D) F(list, D) F(list_older, D) \
	F(list_newer, D) F(domain, T) F(domain_older, D) F(domain_newer, D) \
	F(popped_ns, H) F(peer_older, D) F(peer_newer, D)

#define TQI_FIELDS_TASK(F) \
	F(link, D) F(state, T) F(cause, T) F(flags, T) F(generation, T) F(sequence, T) \
	F(wait_sequence, T) F(key, T) F(priority, T) F(lane, D) F(due_ns, T) \
	F(payload, T) F(payload_bytes, T) F(stamp, W) F(attempt, T) F(epoch, T) \
	F(edges, D) F(prev, D) F(next, D) F(pins, D) F(queue, T) F(kind, T) \
	F(failures, T) F(crashes, T) F(losses, T) F(attempts_max, T) F(crashes_max, T) \
	F(losses_max, T) F(attempts, T) F(result, T) F(result_bytes, T) F(cause_arg, T) \
	F(submitted_ns, T) F(ready_ns, T) F(started_ns, T) F(ended_ns, T) \
	F(timeout_ns, T) F(backoff_ns, T) F(backoff_cap_ns, T) F(timeout_total_ns, T) \
	F(first_started_ns, T) F(progress_timeout_ns, T) F(output_bytes, T) \
	F(cpu_ns, T) F(max_rss_bytes, T) F(error, T) F(history, T) F(kept, T) \
	F(kept_bytes, T) F(worker_pid, T) F(error_bytes, T) F(label_bytes, T) \
	F(history_count, T)

#define TQI_FIELDS_EXTRA(F) \
	F(deadline_ns, T) F(key, T) F(tenant, T) F(limits, T) F(group, T) F(counted, T) \
	F(pinned, D) F(shut, T) F(stale, T) F(again, D) F(reserved0, R) F(completes, T) \
	F(after, T) F(unmet, D) F(inherited, T) F(inherited_hops, T) \
	F(inherited_deadline_hops, T) F(inherited_deadline_ns, T) F(at_ns, T) \
	F(schedule, T) F(culprit, T) F(after_count, D) F(group_prev, D) \
	F(group_next, D) F(group_order, T) F(stale_prev, D) F(stale_next, D)

#define TQI_FIELDS_ATTEMPT(F) \
	F(link, D) F(task, T) F(id, T) F(epoch, T) F(worker, T) F(prev, D) F(next, D) \
	F(started_ns, T) F(phase_ns, T) F(phase, T) F(stop_cause, T) F(reserved0, R) \
	F(checkpoint, T) F(inherited, T) F(inherited_bytes, T) F(pgid_start, W) \
	F(pgid, W) F(progress_index, W) F(progress_ns, W) F(saved, W) F(serial, T) \
	F(server, T) F(charged_us, T) F(waits, D) F(waits_life, T) F(payload, T) \
	F(reserved1, R) F(progress, W)

#define TQI_FIELDS_WORKER(F) \
	F(link, D) F(state, T) F(owner, T) F(generation, T) F(flags, T) F(kill, T) \
	F(attempts, D) F(attempt_count, D) F(master, T) F(queue_count, T) \
	F(lease_ns, T) F(grace_ns, T) F(registered_ns, T) F(suspect_ns, T) \
	F(dying_ns, T) F(tasks, T) F(master_generation, T) F(output, T) \
	F(output_bytes, T) F(kinds, T) F(queues, T) F(name, T) F(lease_deadline_ns, W) \
	F(output_head, W) F(output_word, W) F(output_serial, W) F(readers, W) \
	F(reserved2, R) F(life, W) F(life_made, T) F(command, D) F(command_seen, D) \
	F(asleep, D) F(stopper, D) F(assigned, D) F(assigned_last, D) \
	F(assigned_count, D) F(steal_max, T) F(steal_capacity, T) F(waiting, D) \
	F(steal_interval_ns, T) F(stole_ns, T) F(stolen, T) F(reserved3, R) F(ranks, D) F(reserved4, R)

#define TQI_FIELDS_QUEUE(F) \
	F(node, D) F(flags, T) F(era, T) F(waiting, D) F(attempts_max, T) \
	F(purge_before, T) F(depth_max, T) F(timeout_ns, T) F(backoff_ns, T) \
	F(backoff_cap_ns, T) F(chains, D) F(name, T) F(users, D) F(ageing, T) \
	F(band_from, T) F(hybrid, T) F(hybrid_count, T) F(edf, T) F(overdue_turn, T) \
	F(max_wait_ns, T) F(batch, T) F(fair, T) F(fair_time_us, T) F(tenant, T) \
	F(home, T) F(servers, D) F(carry_at, D) F(carry_from, D) \
	F(carry_to, D) F(turn, T) F(asleep, D) F(room_oldest, D) F(room_newest, D) \
	F(streams, D) F(by_kind, D) F(contest, D) F(busy, D)

#define TQI_FIELDS_KIND(F) \
	F(node, D) F(name, T) F(mean_us, T) F(streams, D) F(users, D) F(reserved0, R) \
	F(defaults, T) F(reserved1, R)

#define TQI_FIELDS_CLASS(F) \
	F(link, D) F(queue, D) F(kind, D) F(band, D) F(prev, D) F(next, D) F(plain, D) \
	F(lane_count, D) F(tenant, D) F(era, D) F(rate, D) F(edf, D) F(watched, D) \
	F(aged, D) F(competes, D) F(parked, D) F(open, D) F(oldest, D)

#define TQI_FIELDS_LANE(F) \
	F(node, D) F(class_, D) F(members, D) F(limits, D) F(parking, D) \
	F(is_parking, D) F(state, D) F(reserved0, R) F(last, D) F(behind, D) F(tasks, D) \
	F(ages, D) F(prev, D) F(next, D) F(reserved1, R)

#define TQI_FIELDS_EDGE(F) \
	F(link, D) F(waiter, T) F(task, T) F(told, T) F(prev, D) F(next, D) \
	F(next_of_waiter, T) F(kind, T) F(quiet, T)

#define TQI_FIELDS_KEY(F) \
	F(node, D) F(task, T) F(successor, D) F(queue, T) F(scope, T) F(held, T) \
	F(bytes, T) F(reserved0, R) F(name, T) F(reserved1, R)

#define TQI_FIELDS_LIMIT(F) \
	F(node, D) F(size, T) F(used, D) F(tasks, D) F(waiting, D) F(closed, D) \
	F(prev, D) F(next, D) F(loosened, D) F(bytes, T) F(booked, D) F(reserved0, R) \
	F(next_ns, D) F(interval_ns, T) F(filled_ns, T) F(part, T) F(rate, T) \
	F(burst, T) F(tokens, T) F(owed, T) F(full_ns, T) F(needed, D) F(reserved1, R) \
	F(reserved2, R) F(name, T)

#define TQI_FIELDS_SCHEDULE(F) \
	F(node, D) F(generation, T) F(sequence, T) F(every_ns, T) \
	F(next_ns, T) F(retry_ns, T) F(last_run, T) F(made_ns, T) F(last_run_ns, T) \
	F(runs, T) F(skipped, T) F(overlap, T) F(catch_up, T) F(owed, T) \
	F(last_error, T) F(block, T) F(payload_bytes, T) F(label_bytes, T) \
	F(key_bytes, T) F(cron_bytes, T) F(zone_bytes, T) F(zone_changes, T) \
	F(delay_ns, T) F(timeout_ns, T) F(timeout_total_ns, T) \
	F(progress_timeout_ns, T) F(backoff_ns, T) F(backoff_cap_ns, T) \
	F(deadline_ns, T) F(priority, T) F(attempts_max, T) F(crashes_max, T) \
	F(losses_max, T) F(task_flags, T) F(unique_scope, T) F(queue, T) F(kind, T) \
	F(limit_count, T) F(limit_bytes, T) F(fair_bytes, T) F(flags, T) F(name, T) \
	F(limit_weights, T)

#define TQI_FIELDS_COMMAND(F) \
	F(link, D) F(state, T) F(generation, T) F(sequence, T) F(sent_ns, T) \
	F(ended_ns, T) F(prev, D) F(next, D) F(block, T) F(argument_bytes, T) \
	F(delivery_count, T) F(waiting, D) F(open, D) F(sender_pid, T) F(queue, T) \
	F(to, T) F(name, T) F(waiters, D) F(cancelled_ns, T) F(asleep, D) \
	F(called, D) F(reserved1, R)

#define TQI_FIELDS_TENANT(F) \
	F(node, D) F(sequence, T) F(tag_us, T) F(credit_us, T) F(chains, D) \
	F(tasks, D) F(overdue_turn, T) F(queue, T) F(bytes, T) F(reserved0, R) \
	F(reserved2, R) F(reserved1, R) F(name, T)

#define TQI_FIELDS_SERVER(F) \
	F(node, D) F(pool, D) F(used, D) F(turn, T) F(sequence, T) F(queue, T) \
	F(bytes, T) F(leaving, T) F(reserved0, R) F(reserved1, R) F(name, T)

#define TQI_FIELDS_POOL(F) \
	F(node, D) F(size, T) F(used, D) F(servers, D) F(queue, T) F(bytes, T) \
	F(is_prefix, T) F(load, D) F(rooms, D) F(pools, D) F(has_room, D) \
	F(reserved0, R) F(full_ns, T) F(pattern, T)

#define TQI_FIELDS_GROUP(F) \
	F(link, D) F(state, T) F(condition, T) F(cancelled, T) F(work, T) \
	F(generation, T) F(owner, T) F(made_ns, T) F(ended_ns, T) F(sequence, T) \
	F(completion_id, T) F(culprit, T) F(completion, D) F(members, D) \
	F(unfinished, D) F(ends, D) F(states, T) F(first, D) F(last, D) \
	F(ended_last, D) F(walk, D) F(prev, D) F(next, D) F(busy_next, D) F(waiters, D) \
	F(reserved0, R) F(asleep_next, D) F(asleep_last, D) F(reserved1, R) F(label, T)

#define TQI_FIELDS_TIMES(F) \
	F(link, D) F(queue, T) F(kind, T) F(reserved0, R) F(of, T)

#define TQI_FIELDS_STREAM(F) \
	F(link, D) F(queue, T) F(kind, T) F(times, T) F(depth, D) F(submitted, T) \
	F(started, T) F(ended, T) F(retried, T) F(crashed, T) F(reclaimed, T) \
	F(stolen, T) F(throttled, T) F(moved, T) F(next, D) F(tenant_classes, D) \
	F(held, D) F(busy, D) F(tenants, D) F(reserved1, R)

#define TQI_FIELDS_ROOT(F) \
	F(sequence, T) F(flags, T) F(unfinished, D) F(ready, D) F(running, D) \
	F(finished.oldest, D) F(finished.newest, D) F(finished.count, D) \
	F(telling.first, D) F(telling.last, D) F(untidy, H) F(assigned, D) \
	F(dying_workers, D) F(sweep.at, D) F(sweep.left, D) F(sweep.count, D) \
	F(sweep.reserved0, R) F(sweep.cancel_before, T) F(retention_ns, T) F(look_ns, T) \
	F(unbroken_ns, T) F(reclaimed, T) F(evicted, T) F(seed, T) F(worker_cursor, H) \
	F(waiter_cursor, H) F(room_waiters, D) F(empty_workers, D) F(leaving_at, D) \
	F(leaving_again, D) F(queues_at, H) F(kinds_at, H) F(set_kinds, D) F(reserved0, R) \
	F(time.appointments, D) \
	F(time.schedules, D) F(time.crons, D) F(time.anew, T) F(time.due, D) F(time.wall, D) F(time.every, D) F(time.cron, D) \
	F(time.sequence, T) F(time.wall_seen_ns, T) F(limit.rates, D) F(limit.loosened, D) \
	F(limit.refills, D) F(stale.first, D) F(stale.last, D) F(stale.stuck, D) \
	F(stale.stage, D) F(stale.cursor, D) F(stale.best, D) F(stale.best_deadline_ns, D) \
	F(stale.best_hops, D) F(stale.best_deadline_hops, D) F(stale.reserved0, R) \
	F(moving.count, D) F(moving.at, H) F(moving.queues, D) F(carrying.count, D) \
	F(carrying.reserved0, R) F(carrying.queues, D) F(group.closing, D) \
	F(group.cursor, H) F(group.owned, D) F(group.ended, D) F(group.busy, D) \
	F(group.busy_last, D) F(group.waiters, D) F(group.reserved0, R) \
	F(command.change, T) F(command.sequence, T) F(command.oldest, D) \
	F(command.newest, D) F(command.open, D) F(command.ended_oldest, D) \
	F(command.ended_newest, D) F(command.ended_count, D) F(command.waiters, D) \
	F(command.calling, D) F(command.anybody, D) F(command.reserved0, R) \
	F(named.keys, D) F(named.limits, D) F(named.lanes, D) \
	F(named.tenants, D) F(named.servers, D) F(named.pools, D) F(named.queues, D) \
	F(named.kinds, D) F(named.schedules, D) F(owners, D) \
	F(asleep_queues, D) F(busy_queues, D) F(room.oldest, D) F(room.newest, D) \
	F(room.turn, H) F(room.again, D) \
	F(room.queues, D) F(called, D)

/* Beside the tables: what the root has, and a task's block. */
#define TQI_FIELDS_OF_ROOT TQI_TABLE_COUNT
#define TQI_FIELDS_OF_EXTRA (TQI_TABLE_COUNT + 1)
#define TQI_FIELDS_LISTS (TQI_TABLE_COUNT + 2)

#define TQI_FIELDS_EACH(X) \
	X(TQI_WAITERS, tqi_waiter, TQI_FIELDS_WAITER) \
	X(TQI_TASKS, tqi_task, TQI_FIELDS_TASK) \
	X(TQI_ATTEMPTS, tqi_attempt, TQI_FIELDS_ATTEMPT) \
	X(TQI_WORKERS, tqi_worker, TQI_FIELDS_WORKER) \
	X(TQI_QUEUES, tqi_queue, TQI_FIELDS_QUEUE) \
	X(TQI_KINDS, tqi_kind, TQI_FIELDS_KIND) \
	X(TQI_CLASSES, tqi_class, TQI_FIELDS_CLASS) \
	X(TQI_LANES, tqi_lane, TQI_FIELDS_LANE) \
	X(TQI_EDGES, tqi_edge, TQI_FIELDS_EDGE) \
	X(TQI_KEYS, tqi_key, TQI_FIELDS_KEY) \
	X(TQI_LIMITS, tqi_limit, TQI_FIELDS_LIMIT) \
	X(TQI_SCHEDULES, tqi_schedule, TQI_FIELDS_SCHEDULE) \
	X(TQI_COMMANDS, tqi_command, TQI_FIELDS_COMMAND) \
	X(TQI_TENANTS, tqi_tenant, TQI_FIELDS_TENANT) \
	X(TQI_SERVERS, tqi_server, TQI_FIELDS_SERVER) \
	X(TQI_POOLS, tqi_pool, TQI_FIELDS_POOL) \
	X(TQI_GROUPS, tqi_group, TQI_FIELDS_GROUP) \
	X(TQI_TIMES, tqi_times, TQI_FIELDS_TIMES) \
	X(TQI_STREAMS, tqi_stream, TQI_FIELDS_STREAM) \
	X(TQI_FIELDS_OF_ROOT, tqi_root, TQI_FIELDS_ROOT) \
	X(TQI_FIELDS_OF_EXTRA, tqi_extra, TQI_FIELDS_EXTRA)
/* clang-format on */

enum tqi_sort {
	TQI_SORT_T,
	TQI_SORT_D,
	TQI_SORT_H,
	TQI_SORT_W,
	TQI_SORT_R,
};

struct tqi_field {
	uint16_t at; /* offset in its record */
	uint16_t bytes;
	uint32_t sort; /* enum tqi_sort */
};

/* Those of a table's records, the root, or a task's rare settings; NULL there is no such list. */
const struct tqi_field *tqi_fields_of(uint32_t list, uint32_t *ret_count);

#endif
