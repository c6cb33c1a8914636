/* SPDX-License-Identifier: MIT */
/* The page that people see. */
#ifndef TASKQ_EXPORTER_PAGE_H
#define TASKQ_EXPORTER_PAGE_H

#include "api.h"

answer_fn page_answer;

#endif
