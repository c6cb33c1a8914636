/* SPDX-License-Identifier: MIT */
/*
 * Handlers of this process, by kind: an RCU hash table (liburcu, flavour bp).
 *
 * HD-1  A lookup runs under urcu_bp_read_lock() and copies what it found; that copy
 *     is where a thread enters the handler.
 * HD-2  tq_handler_set() waits for a grace period after it has unlinked the old one:
 *     when it returns, every lookup that found the old one is over.
 * HD-3  fork() is announced to liburcu by whoever forks a process that goes on to use
 *     handlers: tqi_handlers_fork_*().
 */
#ifndef TQI_CLIENT_FARM_HANDLER_H
#define TQI_CLIENT_FARM_HANDLER_H

#include <stdbool.h>
#include <stdint.h>

#include "client/core/handle.h"

struct tqi_handler {
	tq_handler *function;
	void *arg;
};

/* Copy of the kind's handler; false when there is none. */
bool tqi_handler_find(struct tq *tq, const char *kind, struct tqi_handler *ret_handler);

/* Grows by one with every change. */
uint32_t tqi_handlers_generation(const struct tq *tq);

/* The kinds that have a handler, NULL-terminated. */
struct tqi_kinds {
	const char **names; /* one allocation with the strings: free() it */
	uint32_t count;
	uint32_t generation; /* read before the list was made */
};
/* `with_exec` adds the built-in kind.  0, -ENOMEM. */
int tqi_handlers_list(struct tq *tq, bool with_exec, struct tqi_kinds *ret_kinds);

/* For tq_close(). */
void tqi_handlers_free(struct tqi_handlers *handlers);

void tqi_handlers_fork_before(void);
void tqi_handlers_fork_parent(void);
void tqi_handlers_fork_child(void);

#endif
