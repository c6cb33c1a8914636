/* SPDX-License-Identifier: MIT */
/* A model that is the same in every run: a shop at noon. */
#ifndef TASKQ_TESTS_TOP_MODEL_FIXTURE_H
#define TASKQ_TESTS_TOP_MODEL_FIXTURE_H

#include "ui.h"

/* Rows and picks are of static storage: nothing is to be freed but what tables order. */
void fixture_model(struct model *model);

/* As a look would: tables in their order. */
void fixture_update(struct ui *ui, struct model *model);

#endif
