/* SPDX-License-Identifier: MIT */
/* Policies in words. */
#include "policy_text.h"

#include <stdbool.h>
#include <string.h>

#include "format.h"

#define NS_PER_MS 1000000ull

const char *const band_names[TQ_BANDS] = { "low", "normal", "high", "critical" };

static bool has_ageing(const struct tq_queue_info *info)
{
	for (unsigned b = 0; b < TQ_BANDS; b++)
		if (info->ageing[b])
			return true;
	return false;
}

static bool is_uniform(const struct tq_queue_info *info)
{
	for (unsigned b = 1; b < TQ_BANDS; b++)
		if (info->ageing[b] != info->ageing[0])
			return false;
	return true;
}

static bool has_bands(const struct tq_queue_info *info)
{
	return info->hybrid || info->edf || !is_uniform(info);
}

/* Whether what comes late enough never gets before a task. */
static bool is_bounded_by_age(const struct tq_queue_info *info)
{
	/* Turns know no age, and a deadline may be earlier however late it comes. */
	return !info->hybrid && !info->edf && !info->max_wait_ns;
}

static int64_t band_begin(const struct tq_queue_info *info, unsigned band)
{
	return band ? info->band_from[band - 1] : INT32_MIN;
}

static int64_t band_end(const struct tq_queue_info *info, unsigned band)
{
	return band < TQ_BANDS - 1 ? (int64_t)info->band_from[band] - 1 : INT32_MAX;
}

/* The priority that stands for a band. */
static int64_t band_priority(const struct tq_queue_info *info, unsigned band)
{
	static const int32_t named[TQ_BANDS] = { TQ_PRIORITY_LOW, TQ_PRIORITY_NORMAL,
						 TQ_PRIORITY_HIGH, TQ_PRIORITY_CRITICAL };
	const int64_t begin = band_begin(info, band), end = band_end(info, band);

	if (named[band] >= begin && named[band] <= end)
		return named[band];
	return band ? begin : end;
}

/* Against one band: none that comes after so long gets before it. */
static uint64_t against(const struct tq_queue_info *info, unsigned band, unsigned other)
{
	const uint64_t rate = info->ageing[band];
	const int64_t points = band_priority(info, other) - band_priority(info, band);

	if (points <= 0 && info->ageing[other] <= rate)
		return 0;
	if (rate == 0 || info->ageing[other] > rate)
		return TQ_UNLIMITED;
	/* Thousandths of a point a second are millionths a millisecond; ends of one count. */
	return ((uint64_t)points * 1000000 / rate + 1) * NS_PER_MS;
}

uint64_t policy_overtaken_ns(const struct tq_queue_info *info, unsigned band)
{
	uint64_t longest = 0;

	if (!is_bounded_by_age(info))
		return TQ_UNLIMITED;
	for (unsigned other = 0; other < TQ_BANDS; other++)
		if (other != band && against(info, band, other) > longest)
			longest = against(info, band, other);
	return longest;
}

void policy_text_short(const struct tq_queue_info *info, char *to, size_t room)
{
	const char *rule = info->edf ? "edf" : has_ageing(info) ? "ageing" : "strict";

	snprintf(to, room, "%s%s%s%s", info->fair ? "fair+" : "", rule,
		 info->hybrid ? "+hybrid" : "", info->max_wait_ns ? "+max-wait" : "");
}

static void print_rate(FILE *out, uint32_t rate)
{
	fprintf(out, rate % 1000 ? "%u.%03u" : "%u", rate / 1000, rate % 1000);
}

static void print_rule(const struct tq_queue_info *info, FILE *out)
{
	if (info->edf) {
		fputs("most urgent band first, and in it the earliest deadline; what has none "
		      "comes last, as submitted\n",
		      out);
		return;
	}
	if (!has_ageing(info)) {
		fputs("strict priority: the most urgent first, equal ones as submitted\n", out);
		return;
	}
	fputs("highest effective priority first, equal ones as submitted: priority + points for "
	      "each second since it became ready",
	      out);
	if (is_uniform(info)) {
		fputs(", ", out);
		print_rate(out, info->ageing[0]);
	}
	fputc('\n', out);
}

static void print_band(const struct tq_queue_info *info, unsigned band, FILE *out)
{
	fprintf(out, "  band      %-8s ", band_names[band]);
	if (band == 0)
		fprintf(out, "below %lld: ", (long long)band_end(info, band) + 1);
	else if (band == TQ_BANDS - 1)
		fprintf(out, "from %lld: ", (long long)band_begin(info, band));
	else
		fprintf(out, "%lld to %lld: ", (long long)band_begin(info, band),
			(long long)band_end(info, band));
	if (info->ageing[band]) {
		print_rate(out, info->ageing[band]);
		fputs(" points/s\n", out);
	} else {
		fputs(info->edf ? "by deadline\n" : "strict\n", out);
	}
}

static void print_bound(const struct tq_queue_info *info, unsigned band, FILE *out)
{
	const uint64_t ns = policy_overtaken_ns(info, band);
	char time[FORMAT_MAX];

	fprintf(out, "  bound     priority %lld: ", (long long)band_priority(info, band));
	if (ns == TQ_UNLIMITED)
		fprintf(out, "none, tasks of higher priority (up to %lld) always go first\n",
			(long long)band_priority(info, TQ_BANDS - 1));
	else
		fprintf(out,
			"tasks of higher priority (up to %lld) go first only if submitted within "
			"%s after it\n",
			(long long)band_priority(info, TQ_BANDS - 1), format_bound(ns, time));
}

static void print_hybrid(const struct tq_queue_info *info, FILE *out)
{
	fprintf(out,
		"  hybrid    after %u %s of other bands one of the least urgent band that "
		"has work\n",
		info->hybrid, format_plural(info->hybrid, "start", "starts"));
	fprintf(out,
		"  bound     of every %u starts one is of that band, its best: with N tasks "
		"before it there, a task starts within %u x (N + 1) starts\n",
		info->hybrid + 1, info->hybrid + 1);
}

static void print_max_wait(const struct tq_queue_info *info, FILE *out)
{
	char time[FORMAT_MAX];

	fprintf(out,
		"  max-wait  ready for %s is overdue; at most every second start is the longest "
		"overdue\n",
		format_duration(info->max_wait_ns, time));
	fprintf(out,
		"  bound     overdue, with N overdue ones that are older, a task starts within 2 x "
		"(N + 1) starts\n");
}

static void print_fair(FILE *out)
{
	fputs("  fair      the key that has had the least run time starts first; what follows "
	      "orders the tasks of one key\n"
	      "  bound     with N keys that have tasks, those of one take at most N times as long "
	      "as alone, plus the longest running task\n",
	      out);
}

void policy_text_print(const struct tq_queue_info *info, FILE *out)
{
	if (info->fair)
		print_fair(out);
	fputs("  order     ", out);
	print_rule(info, out);
	for (unsigned b = TQ_BANDS; has_bands(info) && b-- > 0;)
		print_band(info, b, out);
	if (info->hybrid)
		print_hybrid(info, out);
	if (info->max_wait_ns)
		print_max_wait(info, out);
	if (info->batch)
		fprintf(out,
			"  batch     a worker takes up to %u at a time; what comes later does not "
			"overtake these\n",
			info->batch);
	for (unsigned b = TQ_BANDS - 1; is_bounded_by_age(info) && b-- > 0;)
		print_bound(info, b, out);
}
