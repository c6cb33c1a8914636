/* SPDX-License-Identifier: MIT */
/* Records of schedules: found, and what is in their blocks. */
#include "scheduler/time/schedule.h"

#include <errno.h>

int tqi_schedule_find(struct tqi_tx *tx, uint64_t id, uint32_t *ret_index)
{
	uint32_t index = tqi_id_index(id);

	if (index == 0 || index >= tx->core->tables[TQI_SCHEDULES].count)
		return -ENOENT;
	const struct tqi_schedule *s = tqi_schedule_at(tx, index);

	if (tqi_id_generation(id) > s->generation || tqi_id_generation(id) == 0)
		return -ENOENT;
	if (tqi_id_generation(id) < s->generation)
		return TQ_EGONE;
	if (!(s->flags & TQI_SCHEDULE_LIVE))
		return -ENOENT;
	*ret_index = index;
	return 0;
}

struct tqi_schedule_parts tqi_schedule_parts(const struct tqi_schedule *s)
{
	struct tqi_schedule_parts p = { .label = s->payload_bytes };

	p.key = p.label + s->label_bytes + 1;
	p.fair = p.key + s->key_bytes + 1;
	p.limits = p.fair + s->fair_bytes + 1;
	p.cron_text = p.limits + s->limit_bytes;
	p.zone_name = p.cron_text + s->cron_bytes + 1;
	p.cron = p.bytes = p.zone_name + s->zone_bytes + 1;
	if (s->every_ns)
		return p;
	p.cron = (p.cron + 7) & ~7ull;
	p.bytes = p.cron + sizeof(struct tqi_cron) + tqi_zone_bytes(s->zone_changes);
	return p;
}
