/* SPDX-License-Identifier: MIT */
/* The gate: what a dump's tasks wait for until all of them are there. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "json.h"
#include "payload.h"
#include "tools/taskq/dump/load.h"

enum {
	LOADED_FIRST = 1024 /* room for tasks that are there, doubled as often as needed */
};

/* One at a time, for as long as this process lives: an abstract socket's name is taken. */
static bool lock(struct load *load)
{
	struct tq_segment_info info = { .size = sizeof(info) };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || tq_segment_info(load->cli->tq, &info) < 0)
		return load_failed(load, fd < 0 ? -errno : TQ_ECORRUPT, ABOUT_SEGMENT, "its lock");
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "taskq-load:%s:%llx",
		 load->name, (unsigned long long)info.created_unix_ns);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return true; /* open until the end */
	complain("load %s: another process loads it", load->path);
	load->cli->exit_code = CLI_UNFINISHED;
	return false;
}

/* 1 it is there already, 0 it is new. */
static int submit(struct load *load)
{
	static const char *const argv[] = { "true", NULL };
	const struct tq_exec exec = { .size = sizeof(exec), .argv = argv };
	char key[TQ_KEY_MAX + 1], label[TQ_LABEL_MAX + 1];
	struct tq_task_spec spec = { .size = sizeof(spec),
				     .queue = load->cli->queue,
				     .label = label,
				     .unique_key = key,
				     .unique_scope = TQ_UNIQUE_KEPT,
				     .flags = TQ_TASK_HOLD };
	void *payload;
	int r = command_encode(&exec, &payload, &spec.payload_bytes);

	if (r < 0)
		return r;
	snprintf(key, sizeof(key), "taskq-load-%s", load->name);
	snprintf(label, sizeof(label), "load of dump %s", load->name);
	spec.payload = payload;
	r = tq_submit(load->cli->tq, &spec, &load->gate);
	free(payload);
	return r;
}

static int by_sequence(const void *a, const void *b)
{
	const struct loaded *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Those with keys are found by these, but where they complete a group. */
static void take(struct load *load, uint64_t id)
{
	struct tq_task_info info = { .size = sizeof(info) };
	char key[LOAD_KEY_MAX];

	if (tq_task_info(load->cli->tq, id, &info) < 0)
		return;
	if (!info.unique_key[0] || info.completes) {
		load->loaded[load->loaded_count++] = (struct loaded){ info.sequence, id };
		return;
	}
	load_key(info.queue, info.unique_key, key);
	json_object_set_new(load->keyed, key, json_id(id));
}

/* What waits for the gate. */
static int find_loaded(struct load *load)
{
	struct tq_dependency_info *infos = NULL;
	uint32_t room = LOADED_FIRST;
	int n = (int)room;

	while (n >= 0 && (uint32_t)n == room) {
		room *= 2;
		free(infos);
		infos = calloc(room, sizeof(*infos));
		n = infos ? tq_task_dependants(load->cli->tq, load->gate, infos, room) : -ENOMEM;
	}
	load->loaded = n > 0 ? calloc((size_t)n, sizeof(*load->loaded)) : NULL;
	if (n > 0 && !load->loaded)
		n = -ENOMEM;
	for (int i = 0; i < n; i++)
		take(load, infos[i].id);
	free(infos);
	if (load->loaded)
		qsort(load->loaded, load->loaded_count, sizeof(*load->loaded), by_sequence);
	return n < 0 ? n : 0;
}

static bool refuse_again(struct load *load)
{
	char id[TQ_ID_TEXT_MAX];

	complain("load %s: it has been loaded, with %s\n`taskq forget %s` to load it once more",
		 load->path, tq_task_id_format(load->gate, id), id);
	load->cli->exit_code = CLI_NOTHING;
	return false;
}

bool load_gate_enter(struct load *load)
{
	struct tq_task_info info = { .size = sizeof(info) };
	int r = lock(load) ? 0 : -1;

	if (r < 0)
		return false;
	load->number = 0;
	r = submit(load);
	if (r >= 0)
		r = tq_task_info(load->cli->tq, load->gate, &info);
	if (r < 0)
		return load_failed(load, r, ABOUT_TASK, "a task");
	if (info.state >= TQ_DONE)
		return refuse_again(load);
	load->gate_ns = info.submitted_ns;
	r = find_loaded(load);
	return r == 0 || load_failed(load, r, ABOUT_TASK, "what is there of it");
}

bool load_gate_open(struct load *load)
{
	const int r = tq_task_steer(load->cli->tq, load->gate, TQ_TASK_ACTION_CANCEL);

	load->number = 0;
	return r >= 0 || r == TQ_ESTATE || load_failed(load, r, ABOUT_TASK, "their start");
}
