/* SPDX-License-Identifier: MIT */
/* "Did you mean": the nearest of some names. */
#ifndef TASKQ_TOOL_SIMILAR_H
#define TASKQ_TOOL_SIMILAR_H

/* A search among names: .found is the nearest so far, NULL when none comes near. */
struct similar {
	const char *word;
	const char *found;
	unsigned best;
};

/* A word that may be a misspelling of the names that are tried then. */
struct similar similar_to(const char *word);
void similar_try(struct similar *similar, const char *name);

#endif
