/* SPDX-License-Identifier: MIT */
/*
 * The page that people see: web/index.html, with a nonce in each <script>.  Only scripts
 * that have it run, so that no text of a task can become one.
 */
#include "page.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SCRIPT "<script>"

enum {
	NONCE_BYTES = 16
};

extern const char page_begin[], page_end[];

static bool make_nonce(char nonce[2 * NONCE_BYTES + 1])
{
	unsigned char bytes[NONCE_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return false;
	for (unsigned i = 0; i < NONCE_BYTES; i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

static void put_page(FILE *out, const char *nonce)
{
	const char *from = page_begin, *script;

	while ((script = memmem(from, (size_t)(page_end - from), SCRIPT, strlen(SCRIPT)))) {
		fwrite(from, 1, (size_t)(script - from), out);
		fprintf(out, "<script nonce=\"%s\">", nonce);
		from = script + strlen(SCRIPT);
	}
	fwrite(from, 1, (size_t)(page_end - from), out);
}

struct answer page_answer(const struct request *request)
{
	struct answer answer = { .status = MHD_HTTP_OK, .type = TYPE_HTML };
	char nonce[2 * NONCE_BYTES + 1], *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)request;
	if (!out)
		return answer;
	if (make_nonce(nonce))
		put_page(out, nonce);
	fclose(out);
	answer.body = body_new(text, bytes);
	/* Styles come from scripts, too: as attributes, which have no nonce. */
	snprintf(answer.policy, sizeof(answer.policy),
		 "default-src 'none'; script-src 'nonce-%s'; style-src 'unsafe-inline'; "
		 "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
		 "frame-ancestors 'none'",
		 nonce);
	return answer;
}
