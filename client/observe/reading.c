/* SPDX-License-Identifier: MIT */
/* Readings of the segment while it stands still, and of views. */
#include "client/observe/reading.h"

#include "client/observe/snapshot.h"

struct reading {
	tqi_reading *read;
	void *arg;
};

static void read_view(struct tqi_tx *tx, void *arg)
{
	const struct reading *reading = arg;

	reading->read(tx->seg, reading->arg);
}

/* VW-1, without a view: between two looks at one version nobody has stored anything. */
static bool read_present(const struct tqi_segment *seg, tqi_reading *read, void *arg)
{
	uint64_t before, after;

	if (tqi_peek_version(seg, &before) < 0 || before & 1)
		return false;
	read(seg, arg);
	return tqi_peek_version(seg, &after) == 0 && after == before;
}

enum tqi_view_answer tqi_read(struct tq *tq, tqi_reading *read, void *arg)
{
	struct reading reading = { read, arg };

	for (int i = 0; i < TQI_VIEW_TRIES; i++)
		if (read_present(&tq->seg, read, arg))
			return TQI_VIEW_WHOLE;
	const int r = tqi_view_ask(&tq->seg, tq, read_view, &reading);

	if (r == TQI_VIEW_WHOLE)
		return TQI_VIEW_WHOLE;
	read(&tq->seg, arg);
	return r == TQI_VIEW_CUT ? TQI_VIEW_CUT : TQI_VIEW_TORN;
}
