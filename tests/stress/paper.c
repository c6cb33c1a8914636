/* SPDX-License-Identifier: MIT */
/* Payloads, results and checkpoints that say whose they are, and whether they are whole. */
#include <stdio.h>
#include <string.h>

#include "storm.h"

#define PAPER_MAGIC 0x5354524du
#define LABEL "storm "

struct paper {
	uint32_t magic;
	uint32_t slot;
	uint32_t bytes;
	uint32_t reserved0;
};
_Static_assert(sizeof(struct paper) == PAPER_BYTES_MIN, "the least paper");

static unsigned char pattern(uint32_t slot, uint32_t at)
{
	return (unsigned char)(slot * 31u + at * 7u + (at >> 8));
}

void paper_write(void *buf, uint32_t bytes, uint32_t slot)
{
	const struct paper head = { PAPER_MAGIC, slot, bytes, 0 };
	unsigned char *to = buf;

	memcpy(to, &head, sizeof(head));
	for (uint32_t i = sizeof(head); i < bytes; i++)
		to[i] = pattern(slot, i);
}

bool paper_read(const void *buf, uint64_t bytes, uint32_t *ret_slot)
{
	const unsigned char *from = buf;
	struct paper head;

	if (!buf || bytes < sizeof(head))
		return false;
	memcpy(&head, from, sizeof(head));
	if (head.magic != PAPER_MAGIC || head.bytes != bytes)
		return false;
	for (uint32_t i = sizeof(head); i < bytes; i++)
		if (from[i] != pattern(head.slot, i))
			return false;
	*ret_slot = head.slot;
	return true;
}

void paper_label(char *buf, uint32_t slot)
{
	snprintf(buf, TQ_LABEL_MAX + 1, LABEL "%u", slot);
}

uint32_t paper_label_slot(const char *label)
{
	unsigned slot;

	return sscanf(label, LABEL "%u", &slot) == 1 ? slot : UINT32_MAX;
}
