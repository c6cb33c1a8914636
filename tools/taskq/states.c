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
		if (!strcmp(word, tq_state_name(state)) ||
		    !strcmp(word, state >= TQ_DONE ? "finished" : "unfinished"))
			states |= 1u << state;
	return states;
}

struct reading {
	const struct cli *cli;
	uint32_t *states;
};

static bool add_word(void *ctx, const char *word)
{
	const struct reading *r = ctx;
	const uint32_t some = states_of(word);

	*r->states |= some;
	return some || refuse(r->cli, "--state", word, "no such state",
			      "blocked, delayed, ready, running, done, failed, cancelled, expired, "
			      "unfinished or finished");
}

bool option_states(const struct cli *cli, const char *arg, uint32_t *states)
{
	struct reading reading = { cli, states };

	return words_each(arg, add_word, &reading);
}
