/* SPDX-License-Identifier: MIT */
/* What all parts of a rebuild use. */
#include "scheduler/rebuild/rebuild_state.h"

#include "scheduler/graph/edge.h"
#include "scheduler/order/lane.h"

bool tqi_rebuild_block(struct tqi_check *c, uint32_t *block, uint64_t bytes)
{
	if (*block && !tqi_check_block(c, *block, bytes, "", 0, ""))
		*block = 0;
	return *block != 0;
}

/* Unless it is told, into the list of its task. */
void tqi_rebuild_edge_list(struct tqi_check *c, uint32_t e)
{
	struct tqi_edge *edge = tqi_edge_at(c->tx, e);

	edge->quiet = edge->quiet != 0;
	if (edge->told != TQI_EDGE_TOLD)
		tqi_edge_link(c->tx, e);
}
