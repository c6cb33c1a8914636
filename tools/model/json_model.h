/* SPDX-License-Identifier: MIT */
/* A look as a JSON object. */
#ifndef TASKQ_MODEL_JSON_MODEL_H
#define TASKQ_MODEL_JSON_MODEL_H

#include <jansson.h>

#include "model.h"

/* Without tasks. */
json_t *json_of_model(const struct model *model);

#endif
