/* SPDX-License-Identifier: MIT */
/* What the parts of groups at the boundary share. */
#ifndef TQI_CLIENT_GROUP_H
#define TQI_CLIENT_GROUP_H

#include "client/entry.h"

/* Checked options; the completion task, if there is one, in `entry`. */
int tqi_group_opts_in(struct tq *tq, const struct tq_group_opts *from, struct tq_group_opts *to,
		      struct tqi_entry *entry);
/* Snapshot of a record. */
void tqi_group_fill(const struct tqi_group *group, uint32_t index, struct tq_group_info *ret_info);

#endif
