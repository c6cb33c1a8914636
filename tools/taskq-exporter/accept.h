/* SPDX-License-Identifier: MIT */
/* Which format of metrics a client wants. */
#ifndef TASKQ_EXPORTER_ACCEPT_H
#define TASKQ_EXPORTER_ACCEPT_H

#include "metrics.h"

/* @header: of Accept; NULL none.  OpenMetrics only for who names it, and likes it no less
 * than the other. */
enum metrics_form accept_metrics(const char *header);

#endif
