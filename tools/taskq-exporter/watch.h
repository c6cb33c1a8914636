/* SPDX-License-Identifier: MIT */
/* Looks at the segment, of which there is at most one in half a second, however many ask. */
#ifndef TASKQ_EXPORTER_WATCH_H
#define TASKQ_EXPORTER_WATCH_H

#include "answer.h"
#include "exporter.h"
#include "metrics.h"

/* NULL no memory. */
struct watch *watch_new(const struct options *options);
void watch_free(struct watch *watch);

/* From any thread. */
struct answer watch_overview(struct watch *watch);
struct answer watch_health(struct watch *watch);
struct answer watch_metrics(struct watch *watch, enum metrics_form form);

/* To be called every second or so: lets a segment go that nobody has asked for in a while,
 * so that a destroyed one does not keep its memory. */
void watch_rest(struct watch *watch);

/* A handle for one request; NULL: @ret_answer says why. */
struct tq *watch_open(const struct options *options, struct answer *ret_answer);

#endif
