/* SPDX-License-Identifier: MIT */
/* What readers of the segment find, held against the ledger. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storm.h"

#define RESULT_ROOM (64u << 10)

bool outcome_see(struct player *p, const struct tq_task_info *info, uint32_t *ret_slot)
{
	uint32_t slot = paper_label_slot(info->label);

	if (info->schedule)
		return false; /* a run of a schedule is in no ledger */
	if (slot >= p->ledger->tasks) {
		ledger_fault(p->ledger, FAULT_GHOST, UINT32_MAX, "id %llx, label '%.40s'",
			     (unsigned long long)info->id, info->label);
		return false;
	}
	uint64_t id = p->ledger->task[slot].id;

	if (id && id != info->id)
		ledger_fault(p->ledger, FAULT_GHOST, slot, "there is another, id %llx",
			     (unsigned long long)info->id);
	ledger_seen(p->ledger, slot, info->id);
	*ret_slot = slot;
	if (info->state >= TQ_DONE)
		ledger_outcome(p->ledger, slot, info->state);
	return info->state >= TQ_DONE;
}

/* Of a command: a line with its slot; else a paper. */
static bool is_of(const char *buf, uint64_t bytes, uint32_t slot, bool command)
{
	uint32_t of;

	if (!command)
		return bytes == 0 || (paper_read(buf, bytes, &of) && of == slot);
	return (uint32_t)strtoul(buf, NULL, 10) == slot && buf[bytes - 1] == '\n';
}

void outcome_check_result(struct player *p, uint32_t slot, const struct tq_task_info *info)
{
	bool command = strcmp(info->kind, "exec") == 0;
	uint64_t bytes;

	if (info->state != TQ_DONE || (info->flags & TQ_INFO_CUT) || info->result_bytes == 0)
		return;
	char *buf = calloc(1, RESULT_ROOM + 1);
	int r = buf ? tq_task_result(p->tq, info->id, buf, RESULT_ROOM, &bytes) : -ENOMEM;

	if (r < 0)
		player_accepts(p, "tq_task_result", r);
	else if (bytes != info->result_bytes || !is_of(buf, bytes, slot, command))
		ledger_fault(p->ledger, FAULT_MIXED, slot, "its result of %llu bytes",
			     (unsigned long long)bytes);
	free(buf);
}

void outcome_forget(struct player *p, uint32_t slot, uint64_t id)
{
	ledger_ask(p->ledger, slot, ASKED_FORGET);
	player_accepts(p, "tq_task_steer forget", tq_task_steer(p->tq, id, TQ_TASK_ACTION_FORGET));
}
