/* SPDX-License-Identifier: MIT */
/* Commands to workers (<taskq/command.h>): what its parts share. */
#ifndef TQI_CLIENT_OPERATE_CONTROL_H
#define TQI_CLIENT_OPERATE_CONTROL_H

#include "client/core/handle.h"

/* The snapshot of a command; its deliveries and its argument as they stand beside it. */
void tqi_command_fill(const struct tqi_command *command, uint64_t id, const char *queue,
		      const struct tqi_delivery *deliveries, const void *argument,
		      struct tq_command_info *ret_info);

#endif
