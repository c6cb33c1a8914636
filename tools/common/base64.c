/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648), for payloads that JSON strings cannot hold. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t bytes)
{
	const uint8_t *in = data;
	char *text = malloc((bytes + 2) / 3 * 4 + 1);
	char *out = text;

	if (!text)
		return NULL;
	for (size_t at = 0; at < bytes; at += 3) {
		const size_t left = bytes - at;
		const uint32_t group = (uint32_t)in[at] << 16 |
				       (left > 1 ? (uint32_t)in[at + 1] << 8 : 0) |
				       (left > 2 ? in[at + 2] : 0u);

		*out++ = digits[group >> 18];
		*out++ = digits[group >> 12 & 63];
		*out++ = left > 1 ? digits[group >> 6 & 63] : '=';
		*out++ = left > 2 ? digits[group & 63] : '=';
	}
	*out = '\0';
	return text;
}

/* Four digits to three bytes; -1 when one of them is none. */
static int decode_group(const char *text, uint8_t *out)
{
	uint32_t group = 0;

	for (int i = 0; i < 4; i++) {
		const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

		if (!digit)
			return -1;
		group = group << 6 | (uint32_t)(digit - digits);
	}
	out[0] = (uint8_t)(group >> 16);
	out[1] = (uint8_t)(group >> 8);
	out[2] = (uint8_t)group;
	return 0;
}

void *base64_decode(const char *text, size_t *ret_bytes)
{
	const size_t chars = strlen(text);
	const size_t padding = chars < 4			    ? 0
			       : strspn(text + chars - 2, "=") == 2 ? 2
								    : text[chars - 1] == '=';
	uint8_t *data = malloc(chars / 4 * 3 + 1);
	int r = chars % 4 ? -1 : 0;

	if (!data)
		return NULL;
	for (size_t at = 0; r == 0 && at < chars; at += 4) {
		char group[5] = "AAAA";
		const size_t real = at + 4 == chars ? 4 - padding : 4;

		memcpy(group, text + at, real);
		r = decode_group(group, data + at / 4 * 3);
	}
	if (r < 0) {
		free(data);
		errno = EINVAL;
		return NULL;
	}
	*ret_bytes = chars / 4 * 3 - padding;
	return data;
}
