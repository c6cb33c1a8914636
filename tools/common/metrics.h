/* SPDX-License-Identifier: MIT */
/*
 * Metrics of a segment, as Prometheus and others that read its formats take them.
 *
 * All is read without the lock, so it is there whatever the segment's processes do.
 * There are as many series as queues (and kinds, if asked for) ask for; what there may be
 * many thousands of, limit keys, workers and groups, is exported as numbers of them.
 */
#ifndef TASKQ_TOOL_METRICS_H
#define TASKQ_TOOL_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include <taskq/taskq.h>

enum metrics_form {
	METRICS_TEXT, /* Prometheus text format 0.0.4; files for node_exporter too */
	METRICS_OPEN, /* OpenMetrics 1.0 */
	METRICS_FORMS
};

/*
 * Writes all metrics of @tq, which is NULL where there is no segment that can be read.
 * With @by_kind what is counted of a queue is counted for each kind in it: the sums are
 * the same.  When the segment cannot be read on the way only taskq_up, 0, is written.
 */
void metrics_write(FILE *out, struct tq *tq, enum metrics_form form, bool by_kind);

#endif
