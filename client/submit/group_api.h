/* SPDX-License-Identifier: MIT */
/* What the parts of groups at the boundary share. */
#ifndef TQI_CLIENT_SUBMIT_GROUP_API_H
#define TQI_CLIENT_SUBMIT_GROUP_API_H

#include "client/submit/entry.h"

/* Options, with no other than these flags.  -EINVAL; -E2BIG. */
int tqi_group_opts_in(const struct tq_group_opts *from, uint32_t flags, struct tq_group_opts *to);
/* Snapshot of a record. */
void tqi_group_fill(const struct tqi_group *group, uint32_t index, struct tq_group_info *ret_info);

#endif
