/* SPDX-License-Identifier: MIT */
/* States of tasks as the value of an option. */
#include "states.h"

#include <string.h>

#include "errors.h"
#include "parse.h"

/* The states that a word stands for; 0 none. */
static uint32_t states_of(const char *word)
{
	uint32_t states = 0;

	for (uint32_t state = TQ_BLOCKED; state < TQ_STATE_COUNT; state++)
		if (!strcmp(word, tq_task_state_name(state)) ||
		    !strcmp(word, state >= TQ_DONE ? "finished" : "unfinished"))
			states |= 1u << state;
	return states;
}

static bool add_word(void *ctx, const char *word)
{
	uint32_t *states = ctx;
	const uint32_t some = states_of(word);

	*states |= some;
	return some != 0;
}

bool parse_states(const char *list, uint32_t *states)
{
	return words_each(list, add_word, states);
}

struct reading {
	const struct cli *cli;
	uint32_t *states;
};

static bool add_or_refuse(void *ctx, const char *word)
{
	const struct reading *r = ctx;

	return add_word(r->states, word) ||
	       refuse(r->cli, "--state", word, "no such state", FORM_STATES);
}

bool option_states(const struct cli *cli, const char *arg, uint32_t *states)
{
	struct reading reading = { cli, states };

	return words_each(arg, add_or_refuse, &reading);
}
