/* SPDX-License-Identifier: MIT */
/* A task's description with all that it refers to, in one piece of memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/submit/spec.h"

/* Where the next part goes; with `to` NULL the parts are only counted. */
struct parts {
	unsigned char *to;
	uint64_t bytes;
};

#define ALIGNMENT 8u

static const void *put(struct parts *p, const void *from, uint64_t bytes)
{
	void *to = p->to ? p->to + p->bytes : NULL;

	if (!from)
		return NULL;
	if (to && bytes)
		memcpy(to, from, bytes);
	p->bytes += (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	return to;
}

static const char *put_text(struct parts *p, const char *text)
{
	return put(p, text, text ? strlen(text) + 1 : 0);
}

static void put_spec(struct parts *p, struct tq_task_spec *s)
{
	s->queue = put_text(p, s->queue);
	s->kind = put_text(p, s->kind);
	s->label = put_text(p, s->label);
	s->payload = put(p, s->payload, s->payload_bytes);
	s->unique_key = put_text(p, s->unique_key);
	s->fair_key = put_text(p, s->fair_key);
	s->after = put(p, s->after, s->after_count * sizeof(*s->after));
	const char *keys[TQ_LIMITS_MAX] = { NULL };

	for (uint32_t i = 0; i < s->limit_count; i++)
		keys[i] = put_text(p, s->limits[i]);
	if (s->limit_count)
		s->limits = put(p, keys, s->limit_count * sizeof(keys[0]));
	if (s->limit_weights)
		s->limit_weights =
			put(p, s->limit_weights, s->limit_count * sizeof(*s->limit_weights));
}

int tqi_spec_copy(const struct tq_task_spec *from, struct tq_task_spec **ret_spec)
{
	struct parts p = { .to = NULL };
	struct tq_task_spec s;
	int r = tqi_spec_in(&s, from);

	if (r < 0)
		return r;
	put(&p, &s, sizeof(s));
	struct tq_task_spec counted = s;

	put_spec(&p, &counted);
	struct tq_task_spec *to = malloc(p.bytes);

	if (!to)
		return -ENOMEM;
	p = (struct parts){ .to = (unsigned char *)to };
	put(&p, &s, sizeof(s));
	put_spec(&p, to);
	*ret_spec = to;
	return 0;
}
