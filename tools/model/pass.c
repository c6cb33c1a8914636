/* SPDX-License-Identifier: MIT */
/* Tasks in an order, a few milliseconds at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "pass.h"

enum {
	CHUNK = 256 /* records between two looks at the clock: about 50 us */
};

static void begin(struct pass *pass)
{
	pass->cursor = pass->looked = pass->left = pass->matched = 0;
	picks_clear(&pass->found);
}

void pass_forget(struct pass *pass)
{
	begin(pass);
	pass->pick_count = 0;
	pass->matches = 0;
	pass->is_complete = false;
}

void pass_free(struct pass *pass)
{
	picks_free(&pass->found);
	free(pass->picks);
	free(pass->briefs);
	*pass = (struct pass){ 0 };
}

static bool allocate(struct pass *pass)
{
	if (pass->picks)
		return true;
	pass->found.most = PICKS_MAX;
	pass->picks = calloc(PICKS_MAX, sizeof(*pass->picks));
	pass->briefs = calloc(CHUNK, sizeof(*pass->briefs));
	if (pass->picks && pass->briefs)
		return true;
	pass_free(pass);
	return false;
}

bool pass_set(struct pass *pass, pass_rank_fn *rank, bool reverse, const char *filter)
{
	if (!allocate(pass))
		return false;
	if (pass->rank == rank && pass->reverse == reverse && !strcmp(pass->filter, filter))
		return true;
	pass_forget(pass);
	pass->rank = rank;
	pass->reverse = reverse;
	strncpy(pass->filter, filter, FILTER_MAX - 1);
	return true;
}

static bool matches(const struct pass *pass, const struct tq_task_brief *brief)
{
	char id[TQ_ID_TEXT_MAX];
	const char *const texts[] = { tq_task_id_format(brief->id, id),
				      tq_task_state_name(brief->state), brief->queue, brief->kind,
				      brief->label };

	return !pass->filter[0] ||
	       words_match(pass->filter, texts, sizeof(texts) / sizeof(texts[0]));
}

static bool consider(struct pass *pass, const struct tq_task_brief *brief)
{
	struct pick pick = { .rank = pass->rank(brief),
			     .sequence = brief->sequence,
			     .id = brief->id };

	if (pass->reverse) {
		pick.rank = rank_reverse(pick.rank);
		pick.sequence = ~pick.sequence;
	}
	pass->matched++;
	return picks_take(&pass->found, pick);
}

/* What has been found so far becomes what is shown. */
static void publish(struct pass *pass)
{
	struct picks shown = pass->found;

	shown.all = pass->picks;
	if (shown.count)
		memcpy(shown.all, pass->found.all, shown.count * sizeof(*shown.all));
	picks_sort(&shown);
	pass->pick_count = shown.count;
	pass->matches = pass->matched;
}

static int look(struct pass *pass, struct tq *tq)
{
	const uint64_t before = pass->cursor;
	int n;

	pass->briefs[0].size = sizeof(pass->briefs[0]);
	n = tq_task_scan(tq, pass->filter[0] ? TQ_SCAN_LABELS : 0, &pass->cursor, &pass->left,
			 pass->briefs, CHUNK);
	for (int i = 0; i < n; i++)
		if (matches(pass, &pass->briefs[i]) && !consider(pass, &pass->briefs[i]))
			return -ENOMEM;
	pass->looked += pass->cursor - before;
	return n < 0 ? n : 0;
}

int pass_step(struct pass *pass, struct tq *tq, uint64_t budget_ns)
{
	const uint64_t began_ns = clocks_read().now_ns;
	int r;

	if (!pass->picks)
		return -ENOMEM;
	if (pass->left == 0)
		begin(pass);
	do
		r = look(pass, tq);
	while (r == 0 && pass->left > 0 && clocks_read().now_ns - began_ns < budget_ns);
	if (r < 0) {
		pass_forget(pass);
		return r;
	}
	if (pass->left == 0 || !pass->is_complete)
		publish(pass);
	pass->is_complete |= pass->left == 0;
	return 0;
}

unsigned pass_percent(const struct pass *pass)
{
	const uint64_t all = pass->looked + pass->left;

	return pass->left == 0 ? 100 : (unsigned)(pass->looked * 100 / all);
}

uint32_t pass_find(const struct pass *pass, uint64_t id)
{
	uint32_t at = 0;

	while (at < pass->pick_count && pass->picks[at].id != id)
		at++;
	return at;
}
