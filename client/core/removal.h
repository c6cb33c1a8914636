/* SPDX-License-Identifier: MIT */
/*
 * A segment whose file has lost its name: nobody can come to it any more, so whoever is in
 * it leaves it (docs/decisions/0025).
 *
 * RM-1  Whoever sees that the file has no link marks the header and wakes all sleepers;
 *     from then on every hold answers TQ_EREMOVED.  The mark is one store, outside of
 *     transactions: a marker that is killed before it has woken anybody leaves the rest to
 *     the next one that meets the mark in its sleep.
 * RM-2  Keepers look, whoever submits or goes to sleep and has not looked for a while, and
 *     a farm's master whom the kernel tells of it.
 * RM-3  Who makes a segment of that name ends the one before: it marks it, and waits until
 *     no worker of it is left, and no process of their commands.
 */
#ifndef TQI_CLIENT_CORE_REMOVAL_H
#define TQI_CLIENT_CORE_REMOVAL_H

#include "client/core/handle.h"

/* What every call answers by this value of header.destroyed, which is not 0. */
int tqi_loss(uint32_t destroyed);

/* Mark the segment as lost, and wake all who sleep in it. */
void tqi_dismiss(struct tq *tq, uint32_t why);

/* TQ_EREMOVED its file has no name any more, and everybody is told; TQ_ESHUTDOWN likewise, as
 * it was destroyed; 0 it has its name. */
int tqi_removal_look(struct tq *tq);

/* The same, for who has just done something with success, and only now and then. */
static inline int tqi_removal_check(struct tq *tq, uint64_t now_ns, int r)
{
	if (__builtin_expect(r < 0 || now_ns < tqi_load_relaxed64(&tq->removal_look_ns), 1))
		return r;
	const int lost = tqi_removal_look(tq);

	return lost < 0 ? lost : r;
}

/*
 * Before a segment is made under `path`: end all that are still there of earlier ones whose
 * file was removed.  0; TQ_EREMOVED somebody works for one still, after `patience_ns`.
 */
int tqi_predecessors_end(const char *path, uint64_t patience_ns);

#endif
