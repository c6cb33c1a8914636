/* SPDX-License-Identifier: MIT */
/* Handles before and after they have a segment. */
#ifndef TQI_CLIENT_OPERATE_NEW_HANDLE_H
#define TQI_CLIENT_OPERATE_NEW_HANDLE_H

#include "client/core/handle.h"

/* NULL no memory. */
struct tq *tqi_handle_make(void);
/* Its segment was never attached, or is detached. */
void tqi_handle_unmake(struct tq *tq);

#endif
