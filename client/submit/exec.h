/* SPDX-License-Identifier: MIT */
/* The payload of kind "exec": what a submit accepts as one. */
#ifndef TQI_CLIENT_SUBMIT_EXEC_H
#define TQI_CLIENT_SUBMIT_EXEC_H

#include <stdbool.h>

#include "taskq/farm.h"

/* Whether tq_exec_decode() can read it; takes no memory. */
bool tqi_exec_is_valid(const void *payload, uint64_t bytes);

#endif
