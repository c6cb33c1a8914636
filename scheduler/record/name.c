/* SPDX-License-Identifier: MIT */
/* The indexes of names. */
#include "scheduler/record/name.h"

#include "shm/span.h"

const char tqi_queue_default[] __attribute__((aligned(16))) = TQI_QUEUE_DEFAULT;
const char tqi_kind_default[] __attribute__((aligned(16))) = TQI_KIND_DEFAULT;

/* Queues that no submit takes: for who drains, looks, or brings workers (A6).  All kinds are
 * for submits: who runs commands has one from the start. */
#define QUEUES_SPARED 8

static uint8_t *first_of(char *name)
{
	return (uint8_t *)name;
}

static bool is_in_names(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

bool tqi_name_is_valid(const char *name)
{
	size_t n = 0;

	while (is_in_names(name[n]))
		n++;
	return n >= 1 && n <= TQ_NAME_MAX && name[n] == '\0';
}

uint32_t tqi_name_find_any(struct tqi_tx *tx, uint32_t table, const struct tqi_name *name)
{
	return tqi_name_seek(tx, table, *name);
}

uint32_t tqi_name_find(struct tqi_tx *tx, uint32_t table, const char *text)
{
	const struct tqi_name name = { text, (uint32_t)strlen(text), 0 };

	return tqi_name_find_any(tx, table, &name);
}

int tqi_name_enter(struct tqi_tx *tx, uint32_t table, uint32_t record)
{
	const struct tqi_name name = tqi_name_of(tx, table, record);

	return tqi_hash_add(tx, tqi_name_index(tx, table), table, record, tqi_name_hash(tx, &name));
}

void tqi_name_leave(struct tqi_tx *tx, uint32_t table, uint32_t record)
{
	tqi_hash_remove(tx, tqi_name_index(tx, table), table, record);
}

uint32_t tqi_name_take(struct tqi_tx *tx, uint32_t table, const char *name, bool *ret_full)
{
	const char *kept = table == TQI_QUEUES ? TQI_QUEUE_DEFAULT : TQI_KIND_DEFAULT;
	const bool spares = table == TQI_QUEUES && tx->spares == TQI_SPARES_ALL;
	const uint32_t spared = spares ? QUEUES_SPARED : 0;
	const uint32_t left = tx->seg->geometry.tables[table].max - 1 - /* index 0 is none */
			      tx->core->tables[table].live;

	*ret_full = left <= spared + 1 && strcmp(name, kept) != 0 &&
		    left <= spared + !tqi_name_find(tx, table, kept);
	return *ret_full ? 0 : tqi_table_take(tx, table, ret_full);
}

int tqi_name_put(struct tqi_tx *tx, uint32_t table, uint32_t record, const char *name)
{
	char *to = tqi_name_at(tx, table, record);

	memset(to + 1, 0, TQ_NAME_MAX);
	memcpy(to + 1, name + 1, strnlen(name + 1, TQ_NAME_MAX - 1));
	TQI_SET(tx, *first_of(to), *(const uint8_t *)name); /* undone, it is no name again */
	return tqi_name_enter(tx, table, record);
}

void tqi_name_drop(struct tqi_tx *tx, uint32_t table, uint32_t record)
{
	tqi_name_leave(tx, table, record);
	TQI_SET(tx, *first_of(tqi_name_at(tx, table, record)), 0);
	tqi_table_give(tx, table, record);
}
