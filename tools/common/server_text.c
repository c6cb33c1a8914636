/* SPDX-License-Identifier: MIT */
/* Servers and their limits as text, JSON, and what is accepted of them. */
#include "server_text.h"

#include <string.h>

#include "json.h"
#include "text.h"

#define NAMED_MAX 3 /* servers that one sentence names */

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

bool server_ok(const char *text)
{
	return *text && strlen(text) <= TQ_SERVER_MAX && is_printable(text) && !strchr(text, '*');
}

bool pattern_ok(const char *text)
{
	const char *star = strchr(text, '*');

	return *text && strlen(text) <= TQ_SERVER_MAX && is_printable(text) && (!star || !star[1]);
}

json_t *json_of_server(const struct tq_server_info *info, const struct clocks *clocks)
{
	json_t *object = json_object();

	json_object_set_new(object, "server", json_text(info->name));
	json_object_set_new(object, "queue", json_text(info->queue));
	json_object_set_new(object, "used", json_u64(info->used));
	json_object_set_new(object, "full", json_boolean(info->flags & TQ_SERVER_FULL));
	json_object_set_new(object, "leaving", json_boolean(info->flags & TQ_SERVER_LEAVING));
	if (info->limit[0]) {
		json_object_set_new(object, "limit", json_text(info->limit));
		json_object_set_new(object, "limit_slots", json_u64(info->limit_slots));
		json_object_set_new(object, "limit_used", json_u64(info->limit_used));
	}
	if (info->holder) {
		json_object_set_new(object, "holder", json_id(info->holder));
		json_set_time(object, "since", clocks, info->since_ns);
	}
	return object;
}

json_t *json_of_server_limit(const struct tq_server_limit_info *info)
{
	json_t *object = json_object();

	json_object_set_new(object, "server", json_text(info->pattern));
	json_object_set_new(object, "queue", json_text(info->queue));
	json_object_set_new(object, "slots", json_u64(info->slots));
	json_object_set_new(object, "used", json_u64(info->used));
	json_object_set_new(object, "servers", json_u64(info->servers));
	return object;
}

json_t *json_of_servers(struct tq *tq, const char *queue, const struct clocks *clocks)
{
	struct tq_server_info info = { .size = sizeof(info) };
	json_t *list = json_array();
	uint64_t cursor = 0;

	while (tq_server_list(tq, queue, &cursor, &info, 1) > 0)
		json_array_append_new(list, json_of_server(&info, clocks));
	return list;
}

/* "http://a (1 of 4, longest held by 17-3)"; several at a limit share it. */
static int format_one(const struct tq_server_info *info, char *buf, size_t room)
{
	char held[TQ_ID_TEXT_MAX + 32] = "", id[TQ_ID_TEXT_MAX], share[TQ_SERVER_MAX + 48] = "";

	if (info->holder)
		snprintf(held, sizeof(held), ", longest held by %s",
			 tq_task_id_format(info->holder, id));
	if (info->limit[0] && strcmp(info->limit, info->name) != 0)
		snprintf(share, sizeof(share), ", %s %u of %u", info->limit, info->limit_used,
			 info->limit_slots);
	else if (info->limit[0])
		snprintf(share, sizeof(share), " of %u", info->limit_slots);
	return snprintf(buf, room, "%s (%u%s%s)", info->name, info->used, share, held);
}

void servers_format(struct tq *tq, const char *queue, char *buf, size_t room)
{
	struct tq_server_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned n = 0; tq_server_list(tq, queue, &cursor, &info, 1) > 0; n++) {
		char one[2 * TQ_SERVER_MAX + 128];
		const int length = format_one(&info, one, sizeof(one));

		if (n == NAMED_MAX || used + (size_t)length + 8 > room) {
			snprintf(buf + used, room - used, " ...");
			return;
		}
		used += (size_t)snprintf(buf + used, room - used, "%s%s", n ? ", " : "", one);
	}
}

void servers_print(struct tq *tq, const char *queue, FILE *out)
{
	struct tq_server_info info = { .size = sizeof(info) };
	uint64_t cursor = 0;

	while (tq_server_list(tq, queue, &cursor, &info, 1) > 0) {
		char one[2 * TQ_SERVER_MAX + 128];

		format_one(&info, one, sizeof(one));
		fputs("  server    ", out);
		text_put_safe(out, one);
		fprintf(out, "%s\n",
			info.flags & TQ_SERVER_LEAVING ? ", leaving"
			: info.flags & TQ_SERVER_FULL  ? ", full"
						       : "");
	}
}
