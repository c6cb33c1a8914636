/* SPDX-License-Identifier: MIT */
/* Work stealing, as the environment sets it. */
#ifndef TASKQ_TOOL_STEALING_H
#define TASKQ_TOOL_STEALING_H

#include "tools/taskq/options/options.h"

/* From WORK_STEALING_*; false: reported, and cli->exit_code says so. */
bool stealing_from_env(struct cli *cli, struct tq_stealing *ret_stealing);

#endif
