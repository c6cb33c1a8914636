/* SPDX-License-Identifier: MIT */
/*
 * Graphs: tasks that depend on each other, submitted as a whole.
 *
 * A graph is put together in the memory of its process, where nobody else sees it, and
 * submitted by one call: all of its tasks come to be at once, or none.  They are the
 * members of a sealed group, <taskq/group.h>, by which they are watched, waited for and
 * cancelled.
 */
#ifndef TASKQ_GRAPH_H
#define TASKQ_GRAPH_H

#include <taskq/group.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TQ_GRAPH_MEMBERS_MAX 4000000u /* tasks of one graph */
#define TQ_GRAPH_NONE UINT32_MAX      /* no member */

struct tq_graph;

/* A member that another one waits for. */
struct tq_graph_dependency {
	uint32_t member; /* its number; it may be added later */
	uint32_t kind;	 /* enum tq_after; default TQ_AFTER_OK */
};

/**
 * tq_graph_new() - begin a graph.
 *
 * @opts:	of its group, or NULL; copied.  Flags must be 0: once submitted, it needs
 *		no owner.
 * @ret_graph:	tq_graph_drop() it.
 *
 * Threads:	one at a time per graph.
 * Fork:	a child cannot use its parent's.
 * Errors:	-EINVAL, -ERANGE, -E2BIG bad options; -ENOMEM.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above.
 */
TQ_API TQ_NODISCARD int tq_graph_new(struct tq *tq, const struct tq_group_opts *opts,
				     struct tq_graph **ret_graph);

/**
 * tq_graph_add() - add a task.
 *
 * @spec:	copied.  Without unique_key, full_timeout_ns and group; its .after are tasks
 *		that were submitted before.
 * @after:	members that it waits for, @count of them; copied.
 * @ret_member:	its number, from 0 up; may be NULL.
 *
 * Errors:	-EINVAL, -ERANGE, -E2BIG bad field; TQ_EFULL TQ_GRAPH_MEMBERS_MAX;
 *		TQ_ESTATE it has been submitted; -ENOMEM.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above; the graph is as before then.
 */
TQ_API TQ_NODISCARD int tq_graph_add(struct tq_graph *graph, const struct tq_task_spec *spec,
				     const struct tq_graph_dependency *after, uint32_t count,
				     uint32_t *ret_member);

/**
 * tq_graph_after() - let a member wait for others, too; as @after of tq_graph_add().
 *
 * Errors:	-EINVAL also no such member.
 * Since: 0.1.0
 */
TQ_API TQ_NODISCARD int tq_graph_after(struct tq_graph *graph, uint32_t member,
				       const struct tq_graph_dependency *after, uint32_t count);

/**
 * tq_graph_submit() - hand the graph in.
 *
 * @ret_ids:	room for the id of each member, by number; may be NULL.
 * @ret_group:	its group's id; may be NULL.
 *
 * While it is written, a slice in each lock hold, nobody else sees anything of it but
 * that room is taken; when its process is killed, all that is given back as soon as
 * somebody works in the segment, or waits there.  Members come in the order of their
 * numbers, but behind those that they wait for.
 *
 * Threads:	one at a time per graph.
 * Fork:	-ECHILD in a child of the process that began it.
 * Blocks:	as tq_submit(), for each slice.
 * Errors:	TQ_ECYCLE members wait for each other: tq_graph_cycle(); or for the end of
 *		the group that the completion task is a member of; -EINVAL a
 *		dependency on a member that is not there; TQ_ESTATE it has been
 *		submitted; else as tq_submit() and tq_group_new(): of which member,
 *		tq_graph_failed() says.
 * Since: 0.1.0
 *
 * Return: 0, or one of the errors above; nothing was submitted then, and the graph is as
 * before.
 */
TQ_API TQ_NODISCARD int tq_graph_submit(struct tq_graph *graph, uint64_t *ret_ids,
					uint64_t *ret_group);

/**
 * tq_graph_cycle() - after TQ_ECYCLE: members that wait for each other.
 *
 * @members:	room for @room of them: each is to run before the next one, and the last
 *		before the first.
 *
 * Since: 0.1.0
 * Return: how many there are, also when @room is smaller; 0 no cycle was found.
 */
TQ_API uint32_t tq_graph_cycle(const struct tq_graph *graph, uint32_t *members, uint32_t room);

/**
 * tq_graph_failed() - the member that the last submit failed at.
 *
 * Since: 0.1.0
 * Return: its number; TQ_GRAPH_NONE it was none.
 */
TQ_API uint32_t tq_graph_failed(const struct tq_graph *graph);

/** tq_graph_drop() - free a graph, submitted or not; NULL is allowed. Since: 0.1.0 */
TQ_API void tq_graph_drop(struct tq_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
