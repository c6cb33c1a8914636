/* SPDX-License-Identifier: MIT */
/* "Did you mean": the nearest of some names. */
#ifndef TASKQ_TOOL_SIMILAR_H
#define TASKQ_TOOL_SIMILAR_H

#include <jansson.h>

/* The key of @object that @word may be a misspelling of; NULL none comes near. */
const char *similar_key(json_t *object, const char *word);

#endif
