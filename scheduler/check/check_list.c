/* SPDX-License-Identifier: MIT */
/* Walks along lists. */
#include "scheduler/check/check_state.h"

static uint32_t link_of(const void *links, size_t at)
{
	return *(const uint32_t *)(const void *)((const unsigned char *)links + at);
}

static void break_at(struct tqi_check *c, struct tqi_check_list *list, uint32_t index)
{
	if (list->owner)
		tqi_check_fault(c, "%s %u: list broken at %u", list->name, list->owner, index);
	else
		tqi_check_fault(c, "%s: list broken at %u", list->name, index);
	list->broken = true;
	list->next = 0;
}

void tqi_check_break(struct tqi_check *c, struct tqi_check_list *list)
{
	break_at(c, list, list->at);
}

void tqi_check_list_end(struct tqi_check *c, const struct tqi_check_list *list, const char *field,
			uint32_t last)
{
	if (!list->broken)
		tqi_check_equal(c, list->name, list->owner, field, last, list->at);
}

void *tqi_check_next(struct tqi_check *c, struct tqi_check_list *list)
{
	const uint32_t index = list->next;
	void *record = tqi_check_record_in_use(c, list->table, index);
	const void *links = record && list->in_extra ? tqi_check_extra(c, record) : record;

	if (!index)
		return NULL;
	if (!links || (list->prev_at && link_of(links, list->prev_at) != list->at) ||
	    (c->marks[list->table][index] & list->mark) || list->count >= c->count[list->table]) {
		break_at(c, list, index);
		return NULL;
	}
	c->marks[list->table][index] |= (uint16_t)list->mark;
	list->at = index;
	list->next = link_of(links, list->next_at);
	list->count++;
	return record;
}
