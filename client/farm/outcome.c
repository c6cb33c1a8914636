/* SPDX-License-Identifier: MIT */
/* Building verdicts. */
#include "client/farm/outcome.h"

#include <stdio.h>
#include <stdlib.h>

#include "taskq/error.h"

#define RELEASE_DELAY_NS 1000000000ull /* 1 s: what the worker lacks may be there again */

void tqi_outcome_begin(struct tqi_outcome *o)
{
	o->verdict = (struct tq_verdict){ .size = sizeof(o->verdict) };
	o->text[0] = '\0';
}

void *tqi_outcome_room(struct tqi_outcome *o, uint64_t bytes)
{
	if (bytes > o->room || !o->buffer) {
		void *buffer = realloc(o->buffer, bytes ? bytes : 1);

		if (!buffer)
			return NULL;
		o->buffer = buffer;
		o->room = bytes;
	}
	return o->buffer;
}

void tqi_outcome_set(struct tqi_outcome *o, uint32_t kind, uint32_t cause, int32_t cause_arg,
		     const char *format, ...)
{
	va_list args;

	o->verdict.kind = kind;
	o->verdict.cause = cause;
	o->verdict.cause_arg = cause_arg;
	o->verdict.text = NULL;
	if (!format)
		return;
	va_start(args, format);
	vsnprintf(o->text, sizeof(o->text), format, args);
	va_end(args);
	o->verdict.text = o->text;
}

void tqi_outcome_release(struct tqi_outcome *o, const char *what, int error)
{
	tqi_outcome_set(o, TQ_VERDICT_RELEASE, TQ_CAUSE_RELEASED, 0, "%s: %s", what,
			tq_strerror(error));
	o->verdict.delay_ns = RELEASE_DELAY_NS;
}
