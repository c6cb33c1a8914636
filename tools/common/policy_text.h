/* SPDX-License-Identifier: MIT */
/* The order inside a queue in words, and what bounds a task's wait in it. */
#ifndef TASKQ_TOOL_POLICY_TEXT_H
#define TASKQ_TOOL_POLICY_TEXT_H

#include <stdio.h>

#include <taskq/taskq.h>

/* The names of the bands, lowest first. */
extern const char *const band_names[TQ_BANDS];

/* In a word or two, for a column: "strict", "ageing+hybrid". */
void policy_text_short(const struct tq_queue_info *info, char *to, size_t room);

/* Lines that begin with two spaces: the rule, then its bounds. */
void policy_text_print(const struct tq_queue_info *info, FILE *out);

/*
 * How long after a task of this band others may still come and start before it;
 * TQ_UNLIMITED: however late they come.  Bands stand for their named priorities, or
 * where these are outside, for the lowest one (the lowest band for its highest).
 */
uint64_t policy_overtaken_ns(const struct tq_queue_info *info, unsigned band);

#endif
