/* SPDX-License-Identifier: MIT */
/* What the parts of the model call of each other. */
#ifndef TQT_MODEL_PARTS_H
#define TQT_MODEL_PARTS_H

#include "tests/property/model.h"

bool model_has_done(const struct model *m, enum model_unit unit, uint32_t index);
bool model_state_waits(uint32_t state);

uint32_t model_empty(const struct model *m);
uint32_t model_best_but(const struct model *m, const struct model_worker *w, uint32_t queue,
			uint32_t limits);
bool model_was_throttled(const struct model *m, const struct model_task *t);
/* Whether the best task lacks places, which come together from now on. */
bool model_gather(struct model *m, const struct model_task *t);
void model_slots_take(struct model *m, const struct model_task *t);
void model_refill(struct model *m, bool maybe);
void model_freshen(struct model *m, const struct model_task *t);
uint64_t model_next_token(const struct model *m, uint32_t limit);
void model_tenant_join(struct model *m, uint32_t queue, uint32_t tenant);
void model_tenant_own(struct model *m, uint32_t queue);
int64_t model_fair_begin(struct model *m, const struct model_task *t);
void model_fair_end(struct model *m, const struct model_task *t);
bool model_tenant_before(const struct model *m, uint32_t queue, uint32_t a, uint32_t b);
void model_slots_give(struct model *m, const struct model_task *t);
bool model_in_lane(const struct model_task *t);
/* model_blocked.c: a task waits for one thing more, or less; its turn has come. */
bool model_has_leader(const struct model_task *t);
void model_block(struct model *m, uint32_t task);
void model_unblock(struct model *m, uint32_t task);
void model_go_on(struct model *m, uint32_t task);
/* model_after.c */
uint64_t model_id(const struct model *m, uint32_t task);
bool model_has_after(const struct model *m, uint32_t task);
uint32_t model_depend(struct model *m, uint32_t task, uint32_t on, uint32_t kind, uint32_t told);
void model_after_submit(struct model *m, uint32_t task, const struct model_submit *s,
			uint64_t *ret_culprit);
void model_refuse(struct model *m, uint32_t task, uint64_t culprit, bool dooms);
/* For those that wait for it, as far as the core has come; true: for all. */
bool model_decide(struct model *m, uint32_t task);
bool model_must_release(const struct model *m, uint32_t task);
/* True when it has none any more; *count: how many are freed. */
bool model_discard(struct model *m, uint32_t task, uint32_t *count);
uint32_t model_reopen(struct model *m, uint32_t task);
void model_enlist(struct model *m, uint32_t task);
/* model_group.c */
void model_member_join(struct model *m, uint32_t group, uint32_t task);
void model_member_move(struct model *m, const struct model_task *t, uint32_t from, uint32_t to);
void model_member_ended(struct model *m, uint32_t task);
void model_member_leave(struct model *m, uint32_t task);
void model_member_open(struct model *m, uint32_t task);
void model_member_show(struct model *m, uint32_t task);
bool model_member_is_condemned(const struct model *m, const struct model_task *t);
void model_pop(struct model *m, uint32_t waiter);
void model_close_groups(struct model *m);
void model_close_slice(struct model *m);
void model_rebuild_groups(struct model *m);
/* model_server.c */
bool model_may_start(const struct model *m, uint32_t queue);
bool model_is_stuck(const struct model *m, uint32_t queue);
bool model_keeps_assigned(const struct model *m, uint32_t queue);
uint32_t model_server_take(struct model *m, uint32_t queue);
void model_server_give(struct model *m, uint32_t slot);
bool model_is_carrying(const struct model *m);
void model_carry(struct model *m);
void model_rebuild_servers(struct model *m);
/* model_assign.c */
void model_go_back(struct model *m, uint32_t task);
uint32_t model_assigned_all(const struct model *m);
uint32_t model_assigned_next(struct model *m, uint32_t worker);
void model_assigned_return(struct model *m, uint32_t worker);
void model_assign(struct model *m, uint32_t worker, uint32_t queue);
uint32_t model_steal(struct model *m, uint32_t worker);
bool model_can_steal(const struct model *m, uint32_t worker);
bool model_sequence_before(uint64_t a, uint64_t b);
void model_move(struct model *m, uint32_t task, uint32_t to);
void model_wake_for(struct model *m, uint32_t queue, uint32_t kind);
void model_wake_empty(struct model *m);
void model_wake_empty_more(struct model *m);
/* Pops up to `count` of those whose command or group has come that far; whether there was one. */
bool model_wake_called(struct model *m, uint32_t count);
/* How many are listed for this and not called yet, waiting for a group's last end or, 0, not. */
uint32_t model_listed(const struct model *m, uint32_t interest, uint32_t subject, uint32_t told);
/* The slot of a worker that sleeps; the newest that takes commands in a queue; 0 none. */
uint32_t model_sleeper_of(const struct model *m, uint32_t worker);
uint32_t model_sleeper_commanded(const struct model *m, uint32_t queue);
uint32_t model_chain_next(const struct model *m, uint32_t state, uint64_t order, bool newest_first);
void model_become_ready(struct model *m, uint32_t task, bool keep_place);
void model_become_delayed(struct model *m, uint32_t task, uint64_t delay_ns);
void model_key_started(struct model_task *t);
void model_key_ended(struct model *m, uint32_t task);
int model_key_move(const struct model *m, uint32_t task, uint32_t queue);
void model_free(struct model *m, uint32_t task);
void model_settle(struct model *m, uint32_t task);
bool model_tell(struct model *m, uint32_t task);
/* A duration that ends now is sampled (H2). */
void model_time(struct model *m, const struct model_task *t, enum tqi_timed what,
		uint64_t since_ns);
void model_finish(struct model *m, uint32_t task, uint32_t state, uint32_t cause, int32_t arg);
uint64_t model_later(const struct model *m, uint64_t delay_ns);
void model_cancel_waiting(struct model *m, uint32_t task);
void model_end_over(struct model *m, uint32_t task);
void model_schedule_ended(struct model *m, uint32_t task);
void model_wait_for_wall(struct model *m, uint32_t task);
bool model_waits_for_wall(const struct model_task *t);
uint64_t model_deadline(const struct model_task *t);
/* Whether a waiting task is to be ended instead of started. */
bool model_is_over(const struct model *m, const struct model_task *t);
void model_mark_late(const struct model *m, struct model_task *t);
uint64_t model_or_default(uint64_t value, uint64_t fallback);
uint64_t model_look_at(const struct model_task *t);
uint64_t model_stall_at(const struct model_task *t);
void model_stop_ask(struct model *m, uint32_t task, uint32_t cause);
void model_end_by_death(struct model *m, uint32_t task, const struct tqi_death *death);
uint32_t model_oldest_finished(const struct model *m);
bool model_command_leave(struct model *m, uint32_t worker);
/* Sleepers that wait for a command's answers, or (0) for any's. */
uint32_t model_command_waiters(const struct model *m, uint32_t command);
/* Sleepers that are to take commands. */
bool model_wake_commanded(struct model *m, uint32_t count);
void model_rebuild_commands(struct model *m);
void model_judge(struct model *m, uint32_t worker);
void model_retire(struct model *m);

#endif
