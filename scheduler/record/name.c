/* SPDX-License-Identifier: MIT */
/* The indexes of names. */
#include "scheduler/record/name.h"

#include "shm/table.h"

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

uint64_t tqi_name_hash(const struct tqi_tx *tx, const char *name)
{
	return tqi_hash_bytes(tqi_root(tx)->seed, name, (uint32_t)strnlen(name, TQ_NAME_MAX));
}

uint32_t tqi_name_find(struct tqi_tx *tx, uint32_t table, const char *name)
{
	const struct tqi_hash_index *index = tqi_name_index(tx, table);
	uint32_t record = tqi_hash_first(tx, index, table, tqi_name_hash(tx, name));

	while (record && !tx->corrupt &&
	       strncmp(tqi_name_at(tx, table, record), name, TQ_NAME_MAX + 1) != 0)
		record = tqi_hash_next(tx, index, table, record);
	return record;
}

uint32_t tqi_name_take(struct tqi_tx *tx, uint32_t table, const char *name, bool *ret_full)
{
	const char *kept = table == TQI_QUEUES ? TQI_QUEUE_DEFAULT : TQI_KIND_DEFAULT;
	uint32_t records = tx->seg->geometry.tables[table].max - 1; /* index 0 is none */

	*ret_full = tx->core->tables[table].live + 1 >= records && strcmp(name, kept) != 0 &&
		    !tqi_name_find(tx, table, kept);
	return *ret_full ? 0 : tqi_table_take(tx, table, ret_full);
}

int tqi_name_put(struct tqi_tx *tx, uint32_t table, uint32_t record, const char *name)
{
	char *to = tqi_name_at(tx, table, record);

	memset(to, 0, TQ_NAME_MAX + 1);
	memcpy(to, name, strnlen(name, TQ_NAME_MAX));
	return tqi_hash_add(tx, tqi_name_index(tx, table), table, record, tqi_name_hash(tx, name));
}
