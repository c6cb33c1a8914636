/* SPDX-License-Identifier: MIT */
/* For observers: what a task has inherited, and of whom. */
#ifndef TQI_CLIENT_OBSERVE_INHERITED_H
#define TQI_CLIENT_OBSERVE_INHERITED_H

#include "client/core/handle.h"

/* With its rare settings. */
void tqi_info_inherited(const struct tqi_segment *seg, const struct tqi_task *task,
			const struct tqi_extra *extra, struct tq_task_info *info);

#endif
