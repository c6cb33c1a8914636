/* SPDX-License-Identifier: MIT */
/* Whether a command's group has a process that its worker may not signal. */
#ifndef TQI_CLIENT_OBSERVE_WHY_FOREIGN_H
#define TQI_CLIENT_OBSERVE_WHY_FOREIGN_H

#include <stdint.h>

#include "taskq/why.h"

/* Fills in .foreign_pid and .foreign_uid when there is one.  Walks through /proc. */
void tqi_why_foreign(uint32_t pgid, uint32_t worker_pid, struct tq_why *why);

#endif
