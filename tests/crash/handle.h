/* SPDX-License-Identifier: MIT */
/* Handles of make-believe processes, whose system the test plays. */
#ifndef TQT_HANDLE_H
#define TQT_HANDLE_H

#include "client/core/handle.h"
#include "tests/support/system.h"

/* A handle of process `pid` on a mapped segment; does not own the mapping. */
struct tq *tqt_handle_new(const struct tqi_segment *seg, const struct tqt_system *system,
			  uint32_t pid);
void tqt_handle_free(struct tq *tq);
/* Forget names: the segment is another now. */
void tqt_handle_forget(struct tq *tq);

#endif
