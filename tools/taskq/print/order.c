/* SPDX-License-Identifier: MIT */
/* Tasks in an order: by submission, or by any of their columns. */
#include "tools/taskq/print/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "submitted.h"

enum {
	ROOM = 65536,		/* tasks in order at a time: 2 MiB; a look through a million takes
				   a tenth of a second */
	ROOM_COLUMN = 1 << 20,	/* by a column: 32 MiB and its cells; such a look takes seconds */
	CHUNK = 256,		/* tasks read at a time */
};

/* Under way. */
struct pass {
	const struct order *order;
	struct picks picks;
	struct submitted submitted; /* .until holds of all passes, whatever they go by */
	bool newest;		    /* the last of the order are picked, and shown from the end */
};

/* Tasks that are listed behind the last one that was shown, as many as were of use lately:
 * where records are in the order that is asked for, all but the first. */
struct ahead {
	uint32_t most, count, at;
	struct tq_task_info one;
	struct tq_task_info infos[CHUNK];
};

/* The number that a cell shows; one that shows none stands behind all others. */
static struct rank rank_of_cell(const char *cell, bool reverse)
{
	char *end;
	struct rank rank = { .major = !*cell };
	int64_t number = strtoll(cell, &end, 10);

	if (*end == '.') /* seconds, and nine digits of nanoseconds */
		number = number * 1000000000 + strtoll(end + 1, NULL, 10);
	rank.minor = rank_of_signed(number).major;
	if (reverse)
		rank.minor = ~rank.minor;
	return rank;
}

static bool take_by_column(struct pass *pass, const struct tq_task_info *info)
{
	const struct order *order = pass->order;
	const bool reverse = order->reverse;
	struct pick pick = { .sequence = reverse ? ~info->sequence : info->sequence,
			     .id = info->id };
	char *cell = column_cell(order->column, order->cli->tq, order->clocks, info);

	if (!cell)
		return false;
	if (pass->picks.by_text && *cell) {
		pick.text = cell;
		return picks_take(&pass->picks, pick);
	}
	if (!pass->picks.by_text)
		pick.rank = rank_of_cell(cell, reverse);
	free(cell);
	return picks_take(&pass->picks, pick);
}

/* By submission, where only the task itself says whether it is wanted. */
static bool take_by_sequence(struct pass *pass, const struct tq_task_info *info)
{
	const uint64_t sequence = pass->submitted.newest_first ? ~info->sequence : info->sequence;

	return picks_take(&pass->picks, (struct pick){ .rank = rank_of_number(sequence),
						       .sequence = sequence,
						       .id = info->id });
}

static bool take(struct pass *pass, const struct tq_task_info *info, uint64_t until)
{
	if (until && info->sequence > until)
		return true;
	if (!until && info->sequence > pass->submitted.until)
		pass->submitted.until = info->sequence;
	return pass->order->column ? take_by_column(pass, info) : take_by_sequence(pass, info);
}

static int pick_infos(struct pass *pass)
{
	const struct order *order = pass->order;
	struct tq_task_info *infos = calloc(CHUNK, sizeof(*infos));
	const uint64_t until = pass->submitted.until;
	bool at_end = false;
	uint64_t cursor = 0;
	int n = infos ? 0 : -ENOMEM;

	while (n >= 0 && !at_end) {
		n = filter_list(order->cli, order->filter, &cursor, infos, CHUNK, &at_end);
		for (int i = 0; i < n; i++)
			if (!take(pass, &infos[i], until))
				n = -ENOMEM;
	}
	free(infos);
	return n < 0 ? n : 0;
}

static int pick(struct pass *pass)
{
	const struct order *order = pass->order;
	const int r = order->column || order->filter->group
			      ? pick_infos(pass)
			      : submitted_pick(&pass->submitted, &pass->picks);

	picks_sort(&pass->picks);
	return r;
}

/* As it is by now, if it is there and still wanted. */
static bool read_one(const struct order *order, uint64_t id, struct tq_task_info *ret_info)
{
	const struct filter_options *f = order->filter;

	ret_info->size = sizeof(*ret_info);
	return tq_task_info(order->cli->tq, id, ret_info) == 0 &&
	       (!f->group || ret_info->group == f->group) &&
	       submitted_matches(&f->filter, ret_info->state, ret_info->queue, ret_info->kind,
				 ret_info->label);
}

/* Reads those that are listed behind @id. */
static void read_ahead(struct ahead *ahead, const struct order *order, uint64_t id)
{
	struct filter_options behind = *order->filter;
	uint64_t cursor = 0;
	bool at_end;

	behind.filter.after = id;
	const int n = filter_list(order->cli, &behind, &cursor, ahead->infos, ahead->most, &at_end);

	ahead->count = n > 0 ? (uint32_t)n : 0;
	ahead->at = 0;
}

/* NULL: it is not there, or not wanted any more. */
static const struct tq_task_info *read_next(struct ahead *ahead, const struct order *order,
					    uint64_t id)
{
	const bool is_next = ahead->at < ahead->count && ahead->infos[ahead->at].id == id;
	const struct tq_task_info *info = is_next ? &ahead->infos[ahead->at++] : NULL;

	if (!info && read_one(order, id, &ahead->one))
		info = &ahead->one;
	if (ahead->at < ahead->count && is_next)
		return info;
	if (is_next)
		ahead->one = *info; /* where it is now, others come */
	ahead->most = !is_next ? 1 : 2 * ahead->most < CHUNK ? 2 * ahead->most : CHUNK;
	read_ahead(ahead, order, id);
	return info ? &ahead->one : NULL;
}

static int show_picks(const struct pass *pass, order_fn *show, void *ctx, bool *ret_go_on)
{
	const struct picks *picks = &pass->picks;
	struct ahead *ahead = calloc(1, sizeof(*ahead));

	*ret_go_on = ahead != NULL;
	for (uint32_t i = 0; *ret_go_on && i < picks->count; i++) {
		const bool from_end = pass->newest && !pass->order->reverse;
		const struct tq_task_info *info = read_next(
			ahead, pass->order, picks->all[from_end ? picks->count - 1 - i : i].id);

		*ret_go_on = !info || show(ctx, info);
	}
	free(ahead);
	return ahead ? 0 : -ENOMEM;
}

static struct pass begin(const struct order *order)
{
	const bool all = order->most == UINT64_MAX;
	struct pass pass = { .order = order, .newest = !order->column && !all };

	pass.submitted.tq = order->cli->tq;
	pass.submitted.filter = &order->filter->filter;
	pass.submitted.newest_first = order->reverse || pass.newest;
	pass.picks.by_text = order->column && !column_is_figure(order->column);
	pass.picks.reverse = order->reverse;
	pass.picks.most = order->column ? ROOM_COLUMN : ROOM;
	if (!all)
		pass.picks.most = order->most < UINT32_MAX ? (uint32_t)order->most : UINT32_MAX;
	return pass;
}

int order_each(const struct order *order, order_fn *show, void *ctx)
{
	struct pass pass = begin(order);
	bool go_on = true;
	int r;

	do {
		r = pick(&pass);
		if (r == 0)
			r = show_picks(&pass, show, ctx, &go_on);
	} while (r == 0 && go_on && order->most == UINT64_MAX && picks_go_on(&pass.picks));
	picks_free(&pass.picks);
	return r;
}
