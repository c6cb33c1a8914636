/* SPDX-License-Identifier: MIT */
/* From a copied task record to the public snapshot. */
#ifndef TQI_CLIENT_INFO_H
#define TQI_CLIENT_INFO_H

#include "client/handle.h"

/*
 * Fill `ret_info` from a record copied under the lock or by tqi_peek_task(); texts
 * are read from the segment.  false: the record changed meanwhile.
 */
bool tqi_info_fill(const struct tqi_segment *seg, uint32_t index, const struct tqi_task *task,
		   struct tq_task_info *ret_info);

/* TQ_INFO_* of what stands in the record. */
uint32_t tqi_info_flags(const struct tqi_task *task);

#endif
