/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648), for payloads that JSON strings cannot hold. */
#ifndef TASKQ_TOOL_BASE64_H
#define TASKQ_TOOL_BASE64_H

#include <stddef.h>

/* Freed by free(); NULL out of memory. */
char *base64_encode(const void *data, size_t bytes);

/* Freed by free(); NULL out of memory or, with errno EINVAL, not base64. */
void *base64_decode(const char *text, size_t *ret_bytes);

#endif
