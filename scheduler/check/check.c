/* SPDX-License-Identifier: MIT */
/* The order of a check. */
#include "scheduler/check/check.h"

#include "scheduler/check/check_state.h"
#include "shm/plant.h"

uint32_t tqi_check(struct tqi_tx *tx, void *scratch, tqi_check_finding *finding, void *arg)
{
	struct tqi_check c;

	tqi_check_begin(&c, tx, scratch);
	c.finding = finding;
	c.arg = arg;
	if (tqi_root(tx)->flags & TQI_ROOT_REPAIR && !TQI_PLANTED(blind_check))
		tqi_check_fault(&c, "root: a repair was begun and has not ended");
	if (tx->core->undo)
		tqi_check_fault(&c, "journal: its length is %llx, and it cannot be believed",
				(unsigned long long)tx->core->undo);
	if (tqi_load_relaxed64(&tx->core->ring_shown) > tx->core->ring_head)
		tqi_check_fault(&c, "ring: %llu entries are shown, %llu were written",
				(unsigned long long)tqi_load_relaxed64(&tx->core->ring_shown),
				(unsigned long long)tx->core->ring_head);
	tqi_check_tables(&c);
	tqi_check_names(&c);
	tqi_check_queues(&c);
	tqi_check_streams(&c);
	tqi_check_tasks(&c);
	tqi_check_keys(&c);
	tqi_check_limits(&c);
	tqi_check_fair(&c);
	tqi_check_workers(&c);
	tqi_check_servers(&c);
	tqi_check_sleepers(&c);
	tqi_check_asleep(&c);
	tqi_check_room(&c);
	tqi_check_behalf(&c);
	tqi_check_inherit(&c);
	tqi_check_commands(&c);
	tqi_check_groups(&c);
	tqi_check_called(&c);
	tqi_check_lists(&c);
	tqi_check_schedules(&c);
	tqi_check_users(&c);
	tqi_check_gauges(&c);
	tqi_check_depths(&c);
	tqi_check_memory(&c);
	if (tx->corrupt)
		tqi_check_fault(&c, "a reference out of range was met");
	tx->corrupt = false;
	return c.faults;
}
