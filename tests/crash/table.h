/* SPDX-License-Identifier: MIT */
/*
 * The table of the sweep: operations x start states.  One line adds an operation:
 *
 *   X(name, public function it stands for, preparation, rule, start states)
 *
 * with tqt_run_NAME(struct tqt_world *w) in one of operations_*.c.  `core` stands for no
 * public function.  tests/crash/covered.sh fails when a public function that
 * changes the segment is not in the second column.
 */
#ifndef TQT_TABLE_H
#define TQT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct tqt_world;

/* How what users see may change while it goes on. */
enum tqt_rule {
	TQT_WHOLE, /* only from what was before to what is after; nothing when it failed */
	TQT_STEPS, /* through several commits; each of them is sound */
	TQT_REPAIRS, /* without a journal (TX-8): whoever comes next repairs, and finds what was */
	TQT_WORDS, /* without the lock: at each store what was before or what is after, which differ */
};

/*
 * Start states: name, task records (0 = default), and whether any operation there
 * may first do what is due or evict: then users see several steps.
 */
#define TQT_STATES(X)                                                                              \
	X(EMPTY, 0, WHOLE)	/* nothing but what the preparation made */                               \
	X(ONE, 0, WHOLE)	/* one task waits */                                                      \
	X(DEEP, 0, WHOLE)	/* 1,021 wait: the heaps grow with the next */                            \
	X(FULL, 24, WHOLE)	/* all records taken by unfinished tasks */                               \
	X(SHORT, 0, WHOLE)	/* no memory left */                                                      \
	X(RETRY, 0, STEPS)	/* tasks that back off, one of them due now */                            \
	X(FINISHED, 24, STEPS) /* all records taken, all but the prepared finished */                     \
	X(SLEEPERS, 0, WHOLE)	/* three sleeping workers, a client that waits */

enum tqt_state_number {
#define TQT_STATE_NUMBER(name, tasks, rule) TQT_NUMBER_##name,
	TQT_STATES(TQT_STATE_NUMBER)
#undef TQT_STATE_NUMBER
	TQT_STATE_TOTAL
};

enum {
#define TQT_STATE_BIT(name, tasks, rule) TQT_##name = 1 << TQT_NUMBER_##name,
	TQT_STATES(TQT_STATE_BIT)
#undef TQT_STATE_BIT
	TQT_ALL = (1 << TQT_STATE_TOTAL) - 1,
	TQT_SOME = TQT_EMPTY | TQT_DEEP | TQT_SHORT | TQT_SLEEPERS,
	TQT_FEW = TQT_EMPTY | TQT_SLEEPERS,
};

#define TQT_OPERATIONS(X)                                                                          \
	X(submit, tq_submit, none, WHOLE, TQT_ALL)                                                 \
	X(submit_names, tq_submit, none, WHOLE, TQT_SOME | TQT_ONE)                                \
	X(submit_bucket, tq_submit, queues, WHOLE, TQT_EMPTY)                                      \
	X(submit_delayed, tq_submit, none, WHOLE, TQT_SOME)                                        \
	X(submit_held, tq_submit, none, WHOLE, TQT_FEW)                                            \
	X(submit_large, tq_submit, none, WHOLE, TQT_SOME | TQT_FULL)                               \
	X(submit_run, tq_submit, none, WHOLE, TQT_EMPTY | TQT_SHORT | TQT_FINISHED)                \
	X(submit_waiting, tq_submit, task, STEPS, TQT_FULL)                                        \
	X(submit_growing, tq_submit, growing, WHOLE, TQT_EMPTY)                                    \
	X(submit_batch, tq_submit_many, none, STEPS, TQT_ALL)                                     \
	X(submit_batch_refused, tq_submit_many, bounded, STEPS, TQT_FEW)                          \
	X(claim, tq_claim, worker, WHOLE, TQT_ALL)                                                 \
	X(claim_many, tq_claim_many, worker, STEPS, TQT_DEEP | TQT_FULL | TQT_RETRY)               \
	X(claim_sleep, tq_claim, worker, STEPS, TQT_FEW)                                           \
	X(claim_timeout, tq_claim, worker, STEPS, TQT_FEW)                                         \
	X(claim_purged, tq_claim, purged, STEPS, TQT_EMPTY)                                        \
	X(next, tq_next, claim, WHOLE, TQT_SOME | TQT_RETRY)                                       \
	X(next_large, tq_next, claim, WHOLE, TQT_SOME)                                             \
	X(renew, tq_renew, claim, WHOLE, TQT_EMPTY)                                                \
	X(complete, tq_complete, claim, WHOLE, TQT_ALL)                                            \
	X(complete_result, tq_complete, claim, WHOLE, TQT_SOME)                                    \
	X(complete_large, tq_complete, claim, WHOLE, TQT_SOME)                                     \
	X(complete_waited, tq_complete, waited, STEPS, TQT_EMPTY)                                  \
	X(complete_forget, tq_complete, forget_claim, WHOLE, TQT_SOME)                             \
	X(next_forget, tq_next, forget_claim, WHOLE, TQT_SOME)                                     \
	X(end_many, tq_end_many, claims, STEPS, TQT_SOME)                                          \
	X(end_stopped, tq_end, stopped, WHOLE, TQT_FEW)                                            \
	X(fail_again, tq_fail, claim, WHOLE, TQT_ALL)                                              \
	X(fail_last, tq_fail, claim, WHOLE, TQT_SOME)                                              \
	X(fail_history, tq_fail, again, WHOLE, TQT_SOME)                                           \
	X(fail_output, tq_end, output, WHOLE, TQT_EMPTY | TQT_SHORT)                               \
	X(fail_outputs, tq_end, outputs, WHOLE, TQT_EMPTY)                                         \
	X(fail_outputs_large, tq_end, outputs_large, WHOLE, TQT_EMPTY)                             \
	X(forget_outputs, tq_task_steer, outputs_ended, WHOLE, TQT_EMPTY)                          \
	X(release, tq_release, claim, WHOLE, TQT_ALL)                                              \
	X(release_later, tq_release, claim, WHOLE, TQT_FEW)                                        \
	X(progress, tq_claim_progress, claim, WORDS, TQT_EMPTY)                                    \
	X(progress_next, tq_claim_progress, reported, WORDS, TQT_EMPTY)                            \
	X(progress_third, tq_claim_progress, reported_twice, WORDS, TQT_EMPTY)                     \
	X(checkpoint, tq_claim_checkpoint, claim, WHOLE, TQT_EMPTY | TQT_SHORT)                    \
	X(checkpoint_next, tq_claim_checkpoint, saved, WHOLE, TQT_EMPTY)                           \
	X(attempt_progress, tq_attempt_progress, claim, WORDS, TQT_EMPTY)                          \
	X(attempt_checkpoint, tq_attempt_checkpoint, claim, STEPS, TQT_EMPTY | TQT_SHORT)          \
	X(fail_reported, tq_fail, reported, WHOLE, TQT_EMPTY | TQT_SHORT)                          \
	X(fail_handed_on, tq_fail, handed_on, WHOLE, TQT_EMPTY | TQT_SHORT)                        \
	X(complete_reported, tq_complete, reported_twice, WHOLE, TQT_EMPTY)                        \
	X(fail_saved, tq_fail, saved, WHOLE, TQT_EMPTY | TQT_SHORT)                                \
	X(claim_saved, tq_claim, inherited, WHOLE, TQT_EMPTY)                                      \
	X(claim_stop, tq_claim_wait_stop, claim, STEPS, TQT_FEW)                                   \
	X(cancel_waiting, tq_task_steer, task, WHOLE, TQT_ALL)                                         \
	X(cancel_delayed, tq_task_steer, delayed, WHOLE, TQT_FEW)                                      \
	X(cancel_running, tq_task_steer, claim, WHOLE, TQT_SOME)                                       \
	X(retry, tq_task_steer, cancelled, WHOLE, TQT_ALL)                                         \
	X(retry_done, tq_task_steer, done, WHOLE, TQT_EMPTY | TQT_SHORT)                           \
	X(forget, tq_task_steer, cancelled, WHOLE, TQT_SOME | TQT_FINISHED)                        \
	X(hold, tq_task_steer, task, WHOLE, TQT_SOME | TQT_RETRY)                                  \
	X(unhold, tq_task_steer, held, WHOLE, TQT_SOME)                                            \
	X(submit_behind, tq_submit, run, WHOLE, TQT_EMPTY)                                         \
	X(submit_before_last, tq_submit, run, WHOLE, TQT_EMPTY)                                    \
	X(submit_before_all, tq_submit, run, WHOLE, TQT_EMPTY)                                     \
	X(submit_behind_limited, tq_submit, run_limited, WHOLE, TQT_EMPTY)                         \
	X(claim_run, tq_claim, run, WHOLE, TQT_EMPTY)                                              \
	X(claim_run_limited, tq_claim, run_limited, WHOLE, TQT_EMPTY)                              \
	X(claim_runs, tq_claim, runs, WHOLE, TQT_EMPTY)                                            \
	X(claim_run_of_one, tq_claim, run_of_one, WHOLE, TQT_EMPTY)                                \
	X(release_run, tq_release, run, WHOLE, TQT_EMPTY)                                          \
	X(cancel_run_first, tq_task_steer, run, WHOLE, TQT_EMPTY)                                  \
	X(cancel_run_middle, tq_task_steer, run, WHOLE, TQT_EMPTY)                                 \
	X(cancel_run_end, tq_task_steer, run, WHOLE, TQT_EMPTY)                                    \
	X(cancel_runs_other, tq_task_steer, runs, WHOLE, TQT_EMPTY)                                \
	X(update_priority, tq_task_update, task, WHOLE, TQT_SOME)                                  \
	X(update_queue, tq_task_update, task, WHOLE, TQT_SOME)                                     \
	X(update_delay, tq_task_update, task, WHOLE, TQT_SOME)                                     \
	X(update_deadline, tq_task_update, task, WHOLE, TQT_SOME)                                  \
	X(update_to_at, tq_task_update, task, WHOLE, TQT_SOME)                                     \
	X(update_label, tq_task_update, task, WHOLE, TQT_FEW | TQT_SHORT)                          \
	X(update_settings, tq_task_update, task, WHOLE, TQT_FEW)                                   \
	X(queue_new, tq_queue_set, none, WHOLE, TQT_EMPTY | TQT_SHORT)                             \
	X(queue_set, tq_queue_set, task, WHOLE, TQT_EMPTY)                                         \
	X(queue_unused, core, unused_queue, STEPS, TQT_FEW)                                        \
	X(queue_in_its_place, tq_queue_set, given_queue, WHOLE, TQT_EMPTY | TQT_SHORT)             \
	X(kind_unused, core, unused_kinds, STEPS, TQT_FEW)                                         \
	X(policy_set, tq_queue_set, bands, STEPS, TQT_FEW)                                         \
	X(policy_off, tq_queue_set, ageing, STEPS, TQT_EMPTY)                                      \
	X(policy_busy, tq_queue_set, moving, STEPS, TQT_EMPTY)                                     \
	X(claim_aged, tq_claim, ageing, STEPS, TQT_FEW | TQT_SHORT)                                \
	X(claim_moving, tq_claim, moving, STEPS, TQT_FEW)                                          \
	X(policy_hybrid, tq_queue_set, bands, STEPS, TQT_EMPTY)                                    \
	X(claim_hybrid, tq_claim, hybrid, STEPS, TQT_FEW)                                          \
	X(policy_edf, tq_queue_set, deadlines, STEPS, TQT_EMPTY)                                   \
	X(claim_edf, tq_claim, edf, STEPS, TQT_FEW)                                                \
	X(submit_edf, tq_submit, edf, WHOLE, TQT_FEW | TQT_SHORT)                                  \
	X(policy_max_wait, tq_queue_set, bands, STEPS, TQT_FEW)                                    \
	X(policy_max_wait_off, tq_queue_set, overdue, STEPS, TQT_EMPTY)                            \
	X(claim_overdue, tq_claim, overdue, STEPS, TQT_FEW | TQT_SHORT)                            \
	X(submit_overdue, tq_submit, overdue, WHOLE, TQT_FEW | TQT_SHORT)                          \
	X(release_moving, tq_release, moving, STEPS, TQT_FEW)                                      \
	X(submit_aged, tq_submit, ageing, WHOLE, TQT_FEW | TQT_SHORT)                              \
	X(update_band, tq_task_update, ageing, STEPS, TQT_FEW)                                     \
	X(keep_move, core, moving, STEPS, TQT_FEW)                                                 \
	X(submit_first_of_many, tq_submit, few_kinds, WHOLE, TQT_FEW | TQT_SHORT)                  \
	X(submit_kind, tq_submit, many_kinds, WHOLE, TQT_FEW | TQT_SHORT)                          \
	X(submit_head, tq_submit, many_kinds, WHOLE, TQT_FEW)                                      \
	X(claim_kinds, tq_claim, many_kinds, STEPS, TQT_FEW)                                       \
	X(claim_aged_kinds, tq_claim, aged_kinds, STEPS, TQT_FEW)                                  \
	X(release_kinds, tq_release, many_kinds, STEPS, TQT_EMPTY)                                 \
	X(policy_kinds, tq_queue_set, some_kinds, STEPS, TQT_EMPTY)                                \
	X(policy_idle_kinds, tq_queue_set, idle_kinds, STEPS, TQT_EMPTY)                           \
	X(submit_fair_first_of_many, tq_submit, few_fair_kinds, WHOLE, TQT_FEW | TQT_SHORT)        \
	X(submit_fair_kind, tq_submit, many_fair_kinds, WHOLE, TQT_FEW | TQT_SHORT)                \
	X(claim_fair_kinds, tq_claim, many_fair_kinds, STEPS, TQT_FEW)                             \
	X(cancel_fair_kind, tq_task_steer, many_fair_kinds, STEPS, TQT_EMPTY)                          \
	X(cancel_fair_last_kind, tq_task_steer, last_fair_kinds, STEPS, TQT_EMPTY)                     \
	X(policy_fair_kinds, tq_queue_set, many_fair_kinds, STEPS, TQT_EMPTY)                      \
	X(pause, tq_queue_steer, task, WHOLE, TQT_SOME)                                            \
	X(resume, tq_queue_steer, paused, WHOLE, TQT_SOME)                                         \
	X(drain, tq_queue_steer, task, WHOLE, TQT_FEW)                                             \
	X(undrain, tq_queue_steer, drained, WHOLE, TQT_FEW)                                        \
	X(purge, tq_queue_steer, task, STEPS, TQT_FEW | TQT_FULL | TQT_RETRY)                      \
	X(shutdown, tq_shutdown, task, WHOLE, TQT_SOME)                                            \
	X(shutdown_cancel, tq_shutdown, claim, STEPS, TQT_FEW)                                     \
	X(shutdown_groups, tq_shutdown, empty_group, STEPS, TQT_FEW | TQT_SHORT)                   \
	X(shutdown_cancel_groups, tq_shutdown, members, STEPS, TQT_FEW)                            \
	X(shutdown_undo, tq_shutdown, shut, WHOLE, TQT_EMPTY)                                      \
	X(worker_open, tq_worker_open, none, WHOLE, TQT_ALL)                                       \
	X(worker_kinds, tq_worker_open, none, WHOLE, TQT_EMPTY | TQT_SHORT)                        \
	X(worker_close, tq_worker_close, worker, WHOLE, TQT_SOME)                                  \
	X(worker_leave, tq_worker_close, claim, WHOLE, TQT_SOME)                                   \
	X(worker_leave_many, tq_worker_close, claims, STEPS, TQT_EMPTY)                            \
	X(wait, tq_wait, claim, STEPS, TQT_FEW | TQT_SHORT)                                        \
	X(wait_behalf, tq_wait, waiting, STEPS, TQT_FEW | TQT_SHORT)                               \
	X(wait_behalf_many, tq_wait, waiting, STEPS, TQT_EMPTY)                               \
	X(wait_cycle, tq_wait, waiting, STEPS, TQT_FEW)                                            \
	X(output_behalf, tq_output_read, waiting, STEPS, TQT_EMPTY)                                     \
	X(complete_waiting, tq_complete, waiting, WHOLE, TQT_FEW)                                  \
	X(keep_bury_waiting, core, buried_waiting, STEPS, TQT_FEW)                                 \
	X(wait_timeout, tq_wait, task, STEPS, TQT_FEW)                                             \
	X(wait_many, tq_wait, claims, STEPS, TQT_EMPTY)                                       \
	X(wait_state, tq_wait, task, STEPS, TQT_EMPTY)                                       \
	X(check, tq_check, task, WHOLE, TQT_EMPTY)                                                 \
	X(close, tq_close, none, WHOLE, TQT_EMPTY)                                                 \
	X(destroy, tq_destroy, none, STEPS, TQT_FEW)                                               \
	X(repair, tq_check, repairable, REPAIRS, TQT_EMPTY)                                        \
	X(repair_few, tq_check, repairable_few, REPAIRS, TQT_EMPTY)                                \
	X(cancel_for_room, tq_task_steer, room_waiters, WHOLE, TQT_FEW | TQT_SHORT)                \
	X(keep_room, core, dead_room_waiters, STEPS, TQT_EMPTY)                                    \
	X(keep_called, core, called, STEPS, TQT_EMPTY)                                             \
	X(cancel_leavers, tq_task_steer, leavers, WHOLE, TQT_EMPTY)                                \
	X(cancel_leavers_more, tq_task_steer, leavers_more, WHOLE, TQT_EMPTY)                      \
	X(keep_leavers, core, leavers, STEPS, TQT_EMPTY)                                           \
	X(keep_idle, core, none, STEPS, TQT_ALL)                                                   \
	X(keep_dead, core, dead, STEPS, TQT_SOME | TQT_RETRY)                                      \
	X(keep_lease, core, lost, STEPS, TQT_FEW)                                                  \
	X(keep_due, core, delayed, STEPS, TQT_SOME)                                                \
	X(keep_sweep, core, purged, STEPS, TQT_EMPTY)                                              \
	X(keep_cancel, core, shut_cancel, STEPS, TQT_EMPTY)                                        \
	X(keep_retire, core, finished, STEPS, TQT_EMPTY | TQT_FINISHED)                            \
	X(keep_bury, core, buried, STEPS, TQT_FEW)                                                 \
	X(keep_punch, core, spare, STEPS, TQT_EMPTY)                                               \
	X(submit_dated, tq_submit, none, WHOLE, TQT_ALL)                                           \
	X(submit_dated_large, tq_submit, none, WHOLE, TQT_SOME)                                    \
	X(claim_dated, tq_claim, dated, WHOLE, TQT_SOME)                                           \
	X(claim_expired, tq_claim, dated, STEPS, TQT_EMPTY | TQT_DEEP)                             \
	X(complete_late, tq_complete, past, STEPS, TQT_FEW)                                        \
	X(fail_expired, tq_fail, past, STEPS, TQT_FEW)                                             \
	X(cancel_dated, tq_task_steer, dated, WHOLE, TQT_FEW)                                          \
	X(retry_expired, tq_task_steer, expired, WHOLE, TQT_FEW)                                   \
	X(keep_expire, core, dated, STEPS, TQT_SOME)                                               \
	X(keep_late, core, past, STEPS, TQT_FEW)                                                   \
	X(submit_key, tq_submit, none, WHOLE, TQT_ALL)                                             \
	X(submit_split, tq_submit, keys, WHOLE, TQT_EMPTY | TQT_SHORT)                             \
	X(submit_twin, tq_submit, keyed, WHOLE, TQT_SOME | TQT_FULL)                               \
	X(submit_twin_large, tq_submit, keyed, WHOLE, TQT_EMPTY)                                   \
	X(submit_over, tq_submit, purged_key, STEPS, TQT_EMPTY)                                    \
	X(coalesce, tq_submit, coalesced, WHOLE, TQT_SOME | TQT_FULL)                              \
	X(coalesce_large, tq_submit, coalesced, WHOLE, TQT_EMPTY | TQT_SHORT)                      \
	X(coalesce_running, tq_submit, leader, WHOLE, TQT_SOME | TQT_FULL)                         \
	X(coalesce_successor, tq_submit, successor, WHOLE, TQT_FEW)                                \
	X(claim_keyed, tq_claim, keyed, WHOLE, TQT_SOME)                                           \
	X(complete_keyed, tq_complete, leader, WHOLE, TQT_FEW)                                     \
	X(complete_leader, tq_complete, successor, WHOLE, TQT_SOME)                                \
	X(cancel_successor, tq_task_steer, successor, WHOLE, TQT_FEW)                                  \
	X(forget_kept, tq_task_steer, kept, WHOLE, TQT_FEW)                                        \
	X(retry_keyed, tq_task_steer, lost_key, WHOLE, TQT_FEW | TQT_SHORT)                        \
	X(update_keyed, tq_task_update, coalesced, WHOLE, TQT_FEW)                                 \
	X(submit_at, tq_submit, none, WHOLE, TQT_ALL)                                              \
	X(submit_at_large, tq_submit, none, WHOLE, TQT_EMPTY | TQT_SHORT)                          \
	X(claim_at, tq_claim, appointments, STEPS, TQT_EMPTY | TQT_DEEP)                           \
	X(cancel_at, tq_task_steer, appointments, WHOLE, TQT_FEW)                                      \
	X(retry_at, tq_task_steer, missed, WHOLE, TQT_FEW)                                         \
	X(update_at, tq_task_update, appointments, WHOLE, TQT_FEW)                                 \
	X(update_at_to_at, tq_task_update, appointments, WHOLE, TQT_FEW)                           \
	X(update_at_to_past, tq_task_update, appointments, WHOLE, TQT_FEW)                         \
	X(move_at, tq_task_update, appointed, WHOLE, TQT_FEW | TQT_SHORT)                          \
	X(keep_appointments, core, appointments, STEPS, TQT_SOME)                                  \
	X(submit_limited, tq_submit, none, WHOLE, TQT_ALL)                                         \
	X(submit_limited_large, tq_submit, none, WHOLE, TQT_EMPTY | TQT_SHORT)                     \
	X(submit_lane, tq_submit, limited, WHOLE, TQT_SOME | TQT_FULL)                             \
	X(submit_parked, tq_submit, throttled, WHOLE, TQT_FEW)                                     \
	X(claim_limited, tq_claim, limited, WHOLE, TQT_SOME)                                       \
	X(claim_parking, tq_claim, lanes, WHOLE, TQT_FEW)                                          \
	X(claim_overdue_lanes, tq_claim, overdue_lanes, STEPS, TQT_FEW)                            \
	X(claim_overdue_loosened, tq_claim, overdue_loosened, STEPS, TQT_FEW)                      \
	X(submit_overdue_lane, tq_submit, overdue_lanes, WHOLE, TQT_FEW | TQT_SHORT)               \
	X(claim_many_lanes, tq_claim, many_lanes, STEPS, TQT_EMPTY)                                \
	X(claim_loosened, tq_claim, loosened, WHOLE, TQT_FEW)                                      \
	X(complete_limited, tq_complete, throttled, WHOLE, TQT_SOME)                               \
	X(complete_last, tq_complete, limited_claim, WHOLE, TQT_FEW)                               \
	X(next_limited, tq_next, throttled, WHOLE, TQT_SOME)                                       \
	X(release_limited, tq_release, throttled, WHOLE, TQT_FEW)                                  \
	X(fail_limited, tq_fail, throttled, WHOLE, TQT_FEW)                                        \
	X(cancel_parked, tq_task_steer, throttled, WHOLE, TQT_SOME)                                    \
	X(hold_parked, tq_task_steer, throttled, WHOLE, TQT_EMPTY)                                 \
	X(update_limited, tq_task_update, throttled, WHOLE, TQT_FEW)                               \
	X(update_to_limits, tq_task_update, task, WHOLE, TQT_FEW | TQT_SHORT)                      \
	X(update_limits, tq_task_update, throttled, WHOLE, TQT_FEW | TQT_SHORT)                    \
	X(update_no_limits, tq_task_update, throttled, WHOLE, TQT_FEW)                             \
	X(claim_gather, tq_claim, weights, STEPS, TQT_FEW)                                         \
	X(claim_gathered, tq_claim, gathered, WHOLE, TQT_FEW)                                      \
	X(complete_gathering, tq_complete, gathering, WHOLE, TQT_FEW)                              \
	X(limit_gathering, tq_limit_set, gathering, WHOLE, TQT_EMPTY)                              \
	X(retry_limited, tq_task_steer, limited_end, WHOLE, TQT_FEW | TQT_SHORT)                   \
	X(forget_limited, tq_task_steer, limited_end, WHOLE, TQT_FEW)                              \
	X(limit_new, tq_limit_set, none, WHOLE, TQT_EMPTY | TQT_SHORT)                             \
	X(limit_raise, tq_limit_set, throttled, WHOLE, TQT_FEW)                                    \
	X(limit_lower, tq_limit_set, throttled, WHOLE, TQT_EMPTY)                                  \
	X(limit_remove, tq_limit_remove, throttled, WHOLE, TQT_FEW)                                \
	X(limit_drop, tq_limit_remove, limit, WHOLE, TQT_EMPTY)                                    \
	X(kind_set, tq_kind_set, none, WHOLE, TQT_FEW | TQT_SHORT)                                 \
	X(kind_set_again, tq_kind_set, kind_defaults, WHOLE, TQT_EMPTY)                            \
	X(kind_clear, tq_kind_clear, kind_defaults, WHOLE, TQT_EMPTY)                              \
	X(submit_by_kind, tq_submit, kind_defaults, WHOLE, TQT_FEW | TQT_SHORT)                    \
	X(policy_limited, tq_queue_set, throttled, STEPS, TQT_FEW)                                 \
	X(keep_limited, core, limited_dead, STEPS, TQT_FEW)                                        \
	X(claim_batch, tq_claim, batch, WHOLE, TQT_SOME | TQT_FULL)                                \
	X(claim_assigned, tq_claim, assigned, STEPS, TQT_FEW)                                      \
	X(claim_steal, tq_claim, steal, STEPS, TQT_FEW | TQT_SHORT)                                \
	X(cancel_assigned, tq_task_steer, assigned, WHOLE, TQT_FEW)                                    \
	X(hold_assigned, tq_task_steer, assigned, WHOLE, TQT_FEW)                                  \
	X(close_assigned, tq_worker_close, assigned, WHOLE, TQT_FEW)                               \
	X(keep_assigned, core, assigned_dead, STEPS, TQT_FEW)                                      \
	X(limit_rate, tq_limit_set, throttled, WHOLE, TQT_EMPTY | TQT_SHORT)                       \
	X(limit_rate_off, tq_limit_set, no_token, WHOLE, TQT_FEW)                                  \
	X(claim_token, tq_claim, tokens, WHOLE, TQT_FEW)                                           \
	X(claim_owing, tq_claim, heavy_tokens, WHOLE, TQT_FEW)                                     \
	X(claim_refilled, tq_claim, refilled, STEPS, TQT_FEW)                                      \
	X(submit_refilled, tq_submit, rested, WHOLE, TQT_FEW)                                      \
	X(cancel_rated, tq_task_steer, no_token, WHOLE, TQT_FEW)                                       \
	X(keep_refill, core, refilled, STEPS, TQT_FEW)                                             \
	X(schedule_every, tq_schedule_create, none, WHOLE, TQT_SOME | TQT_FULL)                    \
	X(schedule_cron, tq_schedule_create, none, WHOLE, TQT_EMPTY | TQT_SHORT)                   \
	X(schedule_replace, tq_schedule_create, schedules, WHOLE, TQT_FEW | TQT_SHORT)             \
	X(schedule_pause, tq_schedule_steer, schedules, WHOLE, TQT_FEW)                            \
	X(schedule_resume, tq_schedule_steer, paused_schedule, WHOLE, TQT_FEW)                     \
	X(schedule_remove, tq_schedule_steer, schedules, WHOLE, TQT_FEW)                           \
	X(keep_schedules, core, schedules, STEPS, TQT_SOME | TQT_FULL | TQT_FINISHED)              \
	X(keep_cron, core, schedules, STEPS, TQT_FEW)                                              \
	X(keep_set_back, core, noted_clock, STEPS, TQT_FEW)                                        \
	X(complete_run, tq_complete, owed_run, WHOLE, TQT_FEW)                                     \
	X(command_one, tq_command_send, commanded, WHOLE, TQT_SOME)                                \
	X(command_any, tq_command_send, commanded, WHOLE, TQT_SOME)                                \
	X(command_all, tq_command_send, commanded, WHOLE, TQT_SOME)                                \
	X(command_farms, tq_command_send, commanded, WHOLE, TQT_EMPTY)                             \
	X(command_crowd, tq_command_send, crowd, WHOLE, TQT_EMPTY)                                 \
	X(keep_calls, core, calls, STEPS, TQT_EMPTY)                                               \
	X(claim_command, tq_claim, told, WHOLE, TQT_EMPTY | TQT_ONE | TQT_SLEEPERS)                \
	X(claim_other_told, tq_claim, other_told, WHOLE, TQT_EMPTY | TQT_ONE)                      \
	X(claim_awaits_command, tq_claim, commanded, STEPS, TQT_FEW)                               \
	X(claim_passes_on, tq_claim, commanded, STEPS, TQT_FEW)                                    \
	X(command_take, tq_command_take, told, WHOLE, TQT_FEW)                                     \
	X(command_ack, tq_command_ack, taken, WHOLE, TQT_SOME)                                     \
	X(command_cancel, tq_command_cancel, cancellable, WHOLE, TQT_SOME)                         \
	X(command_cancel_taken, tq_command_cancel, taken, WHOLE, TQT_FEW)                          \
	X(claim_taken_back, tq_claim, taken_back, WHOLE, TQT_FEW)                                  \
	X(worker_leave_taken_back, tq_worker_close, taken_back, WHOLE, TQT_FEW)                    \
	X(command_ack_kept, tq_command_ack, kept_commands, WHOLE, TQT_EMPTY)                       \
	X(command_wait, tq_command_wait, taken, STEPS, TQT_FEW | TQT_SHORT)                        \
	X(command_wait_timeout, tq_command_wait, taken, STEPS, TQT_FEW)                            \
	X(worker_leave_commands, tq_worker_close, busy, WHOLE, TQT_FEW)                            \
	X(worker_leave_many_commands, tq_worker_close, very_busy, STEPS, TQT_EMPTY)                \
	X(keep_dead_commands, core, dead_commanded, STEPS, TQT_FEW)                                \
	X(submit_fair_key, tq_submit, none, WHOLE, TQT_FEW | TQT_SHORT)                            \
	X(submit_fair, tq_submit, fair, WHOLE, TQT_ALL)                                            \
	X(submit_fair_large, tq_submit, fair, WHOLE, TQT_EMPTY | TQT_SHORT)                        \
	X(submit_tenant, tq_submit, tenants, WHOLE, TQT_SOME | TQT_FULL)                           \
	X(submit_fair_limited, tq_submit, fair, WHOLE, TQT_FEW | TQT_SHORT)                        \
	X(claim_fair, tq_claim, tenants, WHOLE, TQT_SOME)                                          \
	X(claim_fair_old_tags, tq_claim, fair_old_tags, STEPS, TQT_EMPTY)                          \
	X(claim_fair_throttled, tq_claim, fair_throttled, WHOLE, TQT_FEW)                          \
	X(claim_fair_moving, tq_claim, fair_moving, STEPS, TQT_FEW)                                \
	X(claim_unfair_moving, tq_claim, unfair_moving, STEPS, TQT_FEW)                            \
	X(complete_fair, tq_complete, fair_claims, WHOLE, TQT_SOME)                                \
	X(complete_fair_short, tq_complete, fair_short, WHOLE, TQT_FEW)                            \
	X(next_fair, tq_next, fair_claims, WHOLE, TQT_SOME)                                        \
	X(release_fair, tq_release, fair_claims, WHOLE, TQT_FEW)                                   \
	X(cancel_fair, tq_task_steer, tenants, WHOLE, TQT_SOME)                                        \
	X(hold_fair, tq_task_steer, tenants, WHOLE, TQT_FEW)                                       \
	X(update_fair, tq_task_update, tenants, WHOLE, TQT_FEW)                                    \
	X(retry_fair, tq_task_steer, fair_end, WHOLE, TQT_FEW | TQT_SHORT)                         \
	X(forget_fair, tq_task_steer, fair_end, WHOLE, TQT_FEW)                                    \
	X(policy_fair, tq_queue_set, limited, STEPS, TQT_FEW | TQT_SHORT)                          \
	X(policy_unfair, tq_queue_set, tenants, STEPS, TQT_FEW)                                    \
	X(submit_after, tq_submit, parents, WHOLE, TQT_SOME | TQT_FULL)                            \
	X(submit_after_done, tq_submit, parents, WHOLE, TQT_FEW | TQT_SHORT)                       \
	X(submit_refused, tq_submit, parents, WHOLE, TQT_FEW | TQT_SHORT)                          \
	X(submit_after_many, tq_submit, parents, WHOLE, TQT_SOME)                                  \
	X(complete_parent, tq_complete, family, WHOLE, TQT_SOME)                                   \
	X(fail_parent, tq_fail, family, WHOLE, TQT_SOME)                                           \
	X(complete_offspring, tq_complete, offspring, WHOLE, TQT_FEW)                              \
	X(complete_heir, tq_complete, heir, WHOLE, TQT_FEW)                                        \
	X(keep_telling, core, untold, STEPS, TQT_FEW | TQT_SHORT)                                  \
	X(after, tq_task_after, parents, WHOLE, TQT_SOME)                                          \
	X(after_refused, tq_task_after, parents, WHOLE, TQT_FEW | TQT_SHORT)                       \
	X(cancel_dependants, tq_task_steer, family, WHOLE, TQT_FEW)                         \
	X(cancel_doomed, tq_task_steer, family, STEPS, TQT_FEW)                             \
	X(retry_dependants, tq_task_steer, fallen, STEPS, TQT_FEW | TQT_SHORT)                     \
	X(retry_refused, tq_task_steer, fallen, WHOLE, TQT_FEW | TQT_SHORT)                        \
	X(retry_reopen, tq_task_steer, refused, WHOLE, TQT_FEW | TQT_SHORT)                        \
	X(forget_refused, tq_task_steer, fallen, WHOLE, TQT_FEW)                                   \
	X(keep_fair, core, fair_dead, STEPS, TQT_FEW)                                              \
	X(keep_fair_moving, core, fair_moving, STEPS, TQT_EMPTY | TQT_SHORT)                       \
	X(server_first, tq_server_add, task, WHOLE, TQT_SOME)                                      \
	X(server_add, tq_server_add, no_room, WHOLE, TQT_SOME)                                     \
	X(server_add_again, tq_server_add, leaving, WHOLE, TQT_FEW)                                \
	X(server_remove, tq_server_remove, no_room, WHOLE, TQT_FEW)                                \
	X(server_leave, tq_server_remove, no_room, WHOLE, TQT_FEW)                                 \
	X(server_clear, tq_server_clear, no_room, WHOLE, TQT_FEW)                                  \
	X(server_clear_many, tq_server_clear, many_servers, STEPS, TQT_FEW)                        \
	X(server_limit_first, tq_server_limit_set, task, WHOLE, TQT_EMPTY | TQT_SHORT)             \
	X(server_limit_longer, tq_server_limit_set, no_room, WHOLE, TQT_SOME)                      \
	X(server_limit_raise, tq_server_limit_set, no_room, WHOLE, TQT_FEW)                        \
	X(server_limit_many, tq_server_limit_set, many_servers, STEPS, TQT_FEW)                    \
	X(server_limit_remove, tq_server_limit_remove, no_room, WHOLE, TQT_FEW)                    \
	X(server_limit_remove_many, tq_server_limit_remove, many_servers, STEPS, TQT_EMPTY)        \
	X(claim_served, tq_claim, served, WHOLE, TQT_SOME)                                         \
	X(claim_no_room, tq_claim, no_room, WHOLE, TQT_EMPTY)                                      \
	X(claim_slot_back, tq_claim, slot_back, WHOLE, TQT_FEW)                                    \
	X(claim_carried, tq_claim, carried, STEPS, TQT_FEW)                                        \
	X(submit_served, tq_submit, served, WHOLE, TQT_FEW)                                        \
	X(submit_no_room, tq_submit, no_room, WHOLE, TQT_FEW)                                      \
	X(complete_served, tq_complete, no_room, WHOLE, TQT_SOME)                                  \
	X(complete_leaving, tq_complete, leaving, WHOLE, TQT_FEW)                                  \
	X(complete_carried, tq_complete, carried, STEPS, TQT_EMPTY)                                \
	X(next_served, tq_next, no_room, WHOLE, TQT_SOME)                                          \
	X(fail_served, tq_fail, no_room, WHOLE, TQT_FEW)                                           \
	X(release_served, tq_release, no_room, WHOLE, TQT_FEW)                                     \
	X(keep_served, core, served_dead, STEPS, TQT_FEW)                                          \
	X(keep_carried, core, carried, STEPS, TQT_FEW)                                             \
	X(submit_donor, tq_submit, heirs, WHOLE, TQT_FEW | TQT_SHORT)                              \
	X(wait_urgent, tq_wait, heirs, STEPS, TQT_FEW | TQT_SHORT)                          \
	X(wait_urgent_running, tq_wait, claim, STEPS, TQT_FEW | TQT_SHORT)                  \
	X(claim_heir, tq_claim, lent, STEPS, TQT_FEW | TQT_SHORT)                                  \
	X(update_donor, tq_task_update, heirs_chain, STEPS, TQT_FEW)                               \
	X(update_heir, tq_task_update, lender_dead, STEPS, TQT_FEW)                                \
	X(cancel_donor, tq_task_steer, heirs_settled, STEPS, TQT_FEW)                                  \
	X(complete_lent, tq_complete, heir_runs, WHOLE, TQT_FEW)                                   \
	X(release_lent, tq_release, heir_runs, WHOLE, TQT_FEW)                                     \
	X(retry_heir, tq_task_steer, heir_ended, STEPS, TQT_FEW)                                   \
	X(keep_inherit, core, lent, STEPS, TQT_FEW | TQT_SHORT)                                    \
	X(keep_withdraw, core, lender_dead, STEPS, TQT_FEW)                                        \
	X(group_new, tq_group_new, none, WHOLE, TQT_SOME | TQT_FULL)                               \
	X(group_new_completion, tq_group_new, none, WHOLE, TQT_ALL)                                \
	X(submit_member, tq_submit, group, WHOLE, TQT_SOME | TQT_FULL)                             \
	X(group_seal, tq_group_seal, group, WHOLE, TQT_FEW)                                        \
	X(group_seal_empty, tq_group_seal, empty_group, WHOLE, TQT_SOME)                           \
	X(group_cancel, tq_group_cancel, members, STEPS, TQT_FEW | TQT_SHORT)                      \
	X(group_cancel_running, tq_group_cancel, member, STEPS, TQT_FEW)                           \
	X(complete_member, tq_complete, member, WHOLE, TQT_SOME)                                   \
	X(complete_last_member, tq_complete, last_member, WHOLE, TQT_SOME)                         \
	X(complete_against, tq_complete, no_failure, WHOLE, TQT_FEW)                               \
	X(fail_last_member, tq_fail, last_member, WHOLE, TQT_SOME)                                 \
	X(cancel_member, tq_task_steer, member, WHOLE, TQT_FEW)                                        \
	X(claim_condemned, tq_claim, condemned, STEPS, TQT_FEW)                                    \
	X(group_wait, tq_group_wait, last_member, STEPS, TQT_FEW | TQT_SHORT)                      \
	X(group_wait_behalf, tq_group_wait, group_and_claim, STEPS, TQT_FEW)                       \
	X(group_wait_cycle, tq_group_wait, last_member, STEPS, TQT_FEW)                            \
	X(group_wait_timeout, tq_group_wait, group, STEPS, TQT_FEW)                                \
	X(group_next, tq_group_next, last_member, STEPS, TQT_FEW)                                  \
	X(graph_submit, tq_graph_submit, graph, STEPS, TQT_SOME | TQT_FULL)                        \
	X(keep_dead_group, core, dead_group, STEPS, TQT_FEW)                                       \
	X(keep_dead_graph, core, dead_graph, STEPS, TQT_SOME)                                      \
	X(keep_released, core, released, STEPS, TQT_FEW)                                           \
	X(keep_old_group, core, old_group, STEPS, TQT_FEW)

struct tqt_operation {
	const char *name;
	const char *function;
	enum tqt_rule rule;
	uint32_t states;
	void (*prepare)(struct tqt_world *w);
	void (*run)(struct tqt_world *w);
};
extern const struct tqt_operation tqt_operations[];
extern const uint32_t tqt_operation_count;

struct tqt_state {
	const char *name;
	uint32_t tasks_max;
	enum tqt_rule rule;
	void (*fill)(struct tqt_world *w);
};
extern const struct tqt_state tqt_states[TQT_STATE_TOTAL];

#endif
