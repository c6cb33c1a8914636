/* SPDX-License-Identifier: MIT */
/* Set, find and list handlers. */
#include "client/farm/handler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <urcu/urcu-bp.h>
#include <urcu/rculfhash.h>

#define BUCKETS 64 /* fixed: a table that resizes itself would start a thread */
#define EXEC_KIND "exec"

struct entry {
	struct cds_lfht_node node; /* first: see entry_of() */
	struct tqi_handler handler;
	char kind[TQ_NAME_MAX + 1];
};

struct tqi_handlers {
	struct cds_lfht *table;
	struct tqi_word32 generation;
};

static struct entry *entry_of(struct cds_lfht_node *node)
{
	return (struct entry *)(void *)node; /* its first member */
}

/* FNV-1a: names are short and chosen by the program itself. */
static unsigned long hash_of(const char *kind)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *kind; kind++)
		hash = (hash ^ (unsigned char)*kind) * 0x100000001b3u;
	return (unsigned long)(hash ^ hash >> 32);
}

static int match(struct cds_lfht_node *node, const void *kind)
{
	return strcmp(entry_of(node)->kind, kind) == 0;
}

static struct tqi_handlers *handlers_new(void)
{
	struct tqi_handlers *handlers = calloc(1, sizeof(*handlers));

	if (!handlers)
		return NULL;
	handlers->table = cds_lfht_new_flavor(BUCKETS, BUCKETS, BUCKETS, 0, &urcu_bp_flavor, NULL);
	if (handlers->table)
		return handlers;
	free(handlers);
	return NULL;
}

void tqi_handlers_free(struct tqi_handlers *handlers)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	if (!handlers)
		return;
	/* Nobody else uses the handle any more: no grace period is needed. */
	urcu_bp_read_lock();
	for (cds_lfht_first(handlers->table, &iter); (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(handlers->table, &iter)) {
		cds_lfht_del(handlers->table, node);
		free(entry_of(node));
	}
	urcu_bp_read_unlock();
	cds_lfht_destroy(handlers->table, NULL);
	free(handlers);
}

/* Two threads may make the first one at once: the loser frees its own. */
static struct tqi_handlers *obtain(struct tq *tq)
{
	struct tqi_handlers *made, *handlers = __atomic_load_n(&tq->handlers, __ATOMIC_ACQUIRE);

	if (handlers)
		return handlers;
	made = handlers_new();
	if (made && __atomic_compare_exchange_n(&tq->handlers, &handlers, made, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	tqi_handlers_free(made);
	return handlers;
}

static struct tqi_handlers *present(const struct tq *tq)
{
	return __atomic_load_n(&tq->handlers, __ATOMIC_ACQUIRE);
}

/* The entry that was there before; NULL none. */
static struct entry *put(struct tqi_handlers *handlers, struct entry *entry)
{
	urcu_bp_read_lock();
	struct cds_lfht_node *old = cds_lfht_add_replace(handlers->table, hash_of(entry->kind),
							 match, entry->kind, &entry->node);

	urcu_bp_read_unlock();
	return old ? entry_of(old) : NULL;
}

static struct entry *take(struct tqi_handlers *handlers, const char *kind)
{
	struct cds_lfht_iter iter;

	urcu_bp_read_lock();
	cds_lfht_lookup(handlers->table, hash_of(kind), match, kind, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);

	/* Of two threads that remove it at once one fails. */
	if (node && cds_lfht_del(handlers->table, node) < 0)
		node = NULL;
	urcu_bp_read_unlock();
	return node ? entry_of(node) : NULL;
}

static void retire(struct tqi_handlers *handlers, struct entry *old)
{
	tqi_add_release32(&handlers->generation, 1);
	if (!old)
		return;
	urcu_bp_synchronize_rcu(); /* HD-2; call_rcu() would start a thread */
	free(old);
}

int tq_handler_set(struct tq *tq, const char *kind, tq_handler *handler, void *arg)
{
	if (!tq || !kind || !tqi_name_is_valid(kind) || strcmp(kind, EXEC_KIND) == 0)
		return -EINVAL;
	struct tqi_handlers *handlers = handler ? obtain(tq) : present(tq);
	struct entry *entry = handler ? calloc(1, sizeof(*entry)) : NULL;

	if (handler && (!handlers || !entry)) {
		free(entry);
		return -ENOMEM;
	}
	if (!handler) {
		entry = handlers ? take(handlers, kind) : NULL;
		if (!entry)
			return -ENOENT;
		retire(handlers, entry);
		return 0;
	}
	cds_lfht_node_init(&entry->node);
	entry->handler = (struct tqi_handler){ handler, arg };
	memcpy(entry->kind, kind, strlen(kind));
	retire(handlers, put(handlers, entry));
	return 0;
}

bool tqi_handler_find(struct tq *tq, const char *kind, struct tqi_handler *ret_handler)
{
	struct tqi_handlers *handlers = present(tq);
	struct cds_lfht_iter iter;

	if (!handlers)
		return false;
	urcu_bp_read_lock();
	cds_lfht_lookup(handlers->table, hash_of(kind), match, kind, &iter);
	struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);

	if (node)
		*ret_handler = entry_of(node)->handler;
	urcu_bp_read_unlock();
	return node != NULL;
}

uint32_t tqi_handlers_generation(const struct tq *tq)
{
	const struct tqi_handlers *handlers = present(tq);

	return handlers ? tqi_load_acquire32(&handlers->generation) : 0;
}

/* Copies of at most `room` names; returns how many there are. */
static uint32_t copy_names(struct tqi_handlers *handlers, char (*names)[TQ_NAME_MAX + 1],
			   uint32_t room)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;
	uint32_t count = 0;

	urcu_bp_read_lock();
	for (cds_lfht_first(handlers->table, &iter); (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(handlers->table, &iter)) {
		if (count < room)
			memcpy(names[count], entry_of(node)->kind, sizeof(names[count]));
		count++;
	}
	urcu_bp_read_unlock();
	return count;
}

int tqi_handlers_list(struct tq *tq, bool with_exec, struct tqi_kinds *ret_kinds)
{
	struct tqi_handlers *handlers = present(tq);
	const uint32_t generation = tqi_handlers_generation(tq);
	uint32_t room = (handlers ? copy_names(handlers, NULL, 0) : 0) + 1;
	/* One that is added between the two walks is missed: the generation tells. */
	const char **list = calloc(1, (room + 1) * sizeof(*list) + room * (TQ_NAME_MAX + 1));

	if (!list)
		return -ENOMEM;
	char(*names)[TQ_NAME_MAX + 1] = (void *)&list[room + 1];
	uint32_t count = handlers ? copy_names(handlers, names, room - 1) : 0;

	if (count > room - 1)
		count = room - 1;
	if (with_exec)
		memcpy(names[count++], EXEC_KIND, sizeof(EXEC_KIND));
	for (uint32_t i = 0; i < count; i++)
		list[i] = names[i];
	*ret_kinds = (struct tqi_kinds){ list, count, generation };
	return 0;
}

void tqi_handlers_fork_before(void)
{
	urcu_bp_before_fork();
}

void tqi_handlers_fork_parent(void)
{
	urcu_bp_after_fork_parent();
}

void tqi_handlers_fork_child(void)
{
	urcu_bp_after_fork_child();
}
