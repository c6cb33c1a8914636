/* SPDX-License-Identifier: MIT */
/*
 * Stop domains: sleepers by what stops together (Ctrl-Z, a freezer, a debugger): the
 * processes of a farm, else those of one process.  The scheduler gives each a number.
 *
 * Listed sleepers stand, newest last, on the list of their domain; one of TQI_DOMAIN_LISTS,
 * so that two domains may share one.  From these lists the keepers are filled up (WT-6):
 * when one leaves, its place goes to the first on a list that has no keeper yet, else
 * to another domain's among the first on the lists that have, else to anybody.  Who enters
 * gets an empty place, or, if it has no keeper of its domain, the place of one whose domain
 * has two.  A keeper keeps its place until it leaves the list.
 *
 *  field (struct tqi_core)   written by      under
 *  waiter_domains*           transactions    the lock, journalled
 *  waiter_keepers            transactions    the lock, journalled
 *
 * Rebuild enters all slots anew.
 */
#ifndef TQI_SHM_DOMAIN_H
#define TQI_SHM_DOMAIN_H

#include "shm/wait.h"

/* The list of a domain. */
static inline uint32_t tqi_domain_list(uint32_t domain)
{
	return (domain * 2654435761u) >> 24; /* the golden ratio spreads what follows each other */
}
_Static_assert(TQI_DOMAIN_LISTS == 1 << 8, "as many as the hash has bits");

/* A slot has just been listed, or is about to leave the lists. */
void tqi_domain_enter(struct tqi_tx *tx, uint32_t w);
void tqi_domain_leave(struct tqi_tx *tx, uint32_t w);

/* Its place if it is a keeper: 0 timekeeper, 1 and 2 deputies; else TQI_KEEPERS. */
uint32_t tqi_waiter_keeper(struct tqi_tx *tx, uint32_t w);

/* Domains of which one has been in transit for more than TQI_STALL_NS, and lives. */
#define TQI_STALLS 4
#define TQI_STALL_LOOKS 16 /* slots in transit looked at for them, the first popped first */
struct tqi_stalls {
	uint32_t count;
	uint32_t domains[TQI_STALLS];
};
void tqi_stalls_find(struct tqi_tx *tx, struct tqi_stalls *ret_stalls);
bool tqi_stalls_have(const struct tqi_stalls *stalls, uint32_t domain);

/* Cover (WT-7): how many are on their way to work, and have not been for long. */
uint32_t tqi_waiter_cover(struct tqi_tx *tx);

#endif
