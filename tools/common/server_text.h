/* SPDX-License-Identifier: MIT */
/* Servers and their limits as text, JSON, and what is accepted of them. */
#ifndef TASKQ_TOOL_SERVER_TEXT_H
#define TASKQ_TOOL_SERVER_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "cli.h"
#include "format.h"

#define FORM_SERVER "1 to 255 printable ASCII characters, no *"
#define FORM_PATTERN "a server's name, or a prefix of names and one * at its end"

bool server_ok(const char *text);
bool pattern_ok(const char *text);

json_t *json_of_server(const struct tq_server_info *info, const struct clocks *clocks);
json_t *json_of_server_limit(const struct tq_server_limit_info *info);
/* All servers of a queue, as an array. */
json_t *json_of_servers(struct tq *tq, const char *queue, const struct clocks *clocks);

/* "http://a (1 of 4, longest held by 17-3)": some of a queue's, as many as fit. */
void servers_format(struct tq *tq, const char *queue, char *buf, size_t room);
/* A line each. */
void servers_print(struct tq *tq, const char *queue, FILE *out);

#endif
