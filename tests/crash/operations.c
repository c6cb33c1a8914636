/* SPDX-License-Identifier: MIT */
/* The table of the sweep, from the rows of table.h. */
#include "tests/crash/operations.h"

const struct tqt_operation tqt_operations[] = {
#define OPERATION(name, function, prepare, rule, states)                                           \
	{ #name, #function, TQT_##rule, states, tqt_prepare_##prepare, tqt_run_##name },
	TQT_OPERATIONS(OPERATION)
#undef OPERATION
};
const uint32_t tqt_operation_count = sizeof(tqt_operations) / sizeof(tqt_operations[0]);
