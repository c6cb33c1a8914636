/* SPDX-License-Identifier: MIT */
/* Names of states and causes, from their tables. */
#include "scheduler/records.h"

const char *tq_state_name(uint32_t state)
{
	static const char *const names[] = {
#define NAME(symbol, value, text) [value] = text,
		TQ_STATE_MAP(NAME)
#undef NAME
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

const char *tq_cause_name(uint32_t cause)
{
	static const char *const names[] = {
#define NAME(symbol, value, text) [value] = text,
		TQ_CAUSE_MAP(NAME)
#undef NAME
	};

	return cause < sizeof(names) / sizeof(names[0]) ? names[cause] : "?";
}
