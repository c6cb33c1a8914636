/* SPDX-License-Identifier: MIT */
/* Families of metrics and their samples as text, in one of the two formats. */
#include "metrics_text.h"

#include <string.h>

#include "text.h"

#define SECOND_NS 1000000000ull

enum {
	SECONDS_MAX = 32 /* bytes of a number of seconds */
};

/* log2 of the bounds in ns: each octave from 65 us to 69 s, each second one from 4 us and
 * up to 3 days. */
static const uint8_t bound_shifts[METRIC_BOUNDS] = {
	12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
	29, 30, 31, 32, 33, 34, 35, 36, 38, 40, 42, 44, 46, 48,
};

static const char *suffix_of(const struct metric *metric)
{
	switch (metric->type) {
	case METRIC_COUNTER:
		return "_total";
	case METRIC_INFO:
		return "_info";
	default:
		return "";
	}
}

/* The older format knows no "info", and names a family as its samples. */
static const char *type_of(const struct metrics_to *to, const struct metric *metric)
{
	static const char *const names[] = { "gauge", "counter", "histogram", "info" };

	return to->form == METRICS_TEXT && metric->type == METRIC_INFO ? "gauge"
								       : names[metric->type];
}

void metric_begin(const struct metrics_to *to, const struct metric *metric)
{
	const char *suffix = to->form == METRICS_TEXT ? suffix_of(metric) : "";

	fprintf(to->out, "# HELP %s%s %s.\n", metric->name, suffix, metric->help);
	fprintf(to->out, "# TYPE %s%s %s\n", metric->name, suffix, type_of(to, metric));
	if (metric->unit && to->form == METRICS_OPEN)
		fprintf(to->out, "# UNIT %s %s\n", metric->name, metric->unit);
}

/* One that is no UTF-8, of a damaged segment, would make readers refuse all of it. */
static void put_label(FILE *out, const char *text)
{
	for (size_t left = strlen(text), width; left > 0; text += width, left -= width) {
		width = text_char(text, left);
		if (width == 0) {
			fputs("\xef\xbf\xbd", out);
			width = 1;
		} else if (*text == '\n') {
			fputs("\\n", out);
		} else {
			if (*text == '"' || *text == '\\')
				putc('\\', out);
			fwrite(text, 1, width, out);
		}
	}
}

/* The name with its labels, @bound being one more: "le". */
static void put_name(const struct metrics_to *to, const struct metric *metric, const char *suffix,
		     const struct metric_label *labels, const char *bound)
{
	char before = '{';

	fprintf(to->out, "%s%s", metric->name, suffix);
	for (; labels && labels->name; labels++, before = ',') {
		fprintf(to->out, "%c%s=\"", before, labels->name);
		put_label(to->out, labels->value);
		putc('"', to->out);
	}
	if (bound) {
		fprintf(to->out, "%cle=\"%s\"", before, bound);
		before = ',';
	}
	fputs(before == ',' ? "} " : " ", to->out);
}

/* Exact, without zeros at the end but one: OpenMetrics wants "1.0". */
static const char *seconds(uint64_t ns, char buf[SECONDS_MAX])
{
	int bytes = snprintf(buf, SECONDS_MAX, "%llu.%09llu", (unsigned long long)(ns / SECOND_NS),
			     (unsigned long long)(ns % SECOND_NS));

	while (buf[bytes - 1] == '0' && buf[bytes - 2] != '.')
		buf[--bytes] = '\0';
	return buf;
}

void metric_value(const struct metrics_to *to, const struct metric *metric,
		  const struct metric_label *labels, uint64_t value)
{
	put_name(to, metric, suffix_of(metric), labels, NULL);
	fprintf(to->out, "%llu\n", (unsigned long long)value);
}

void metric_ns(const struct metrics_to *to, const struct metric *metric,
	       const struct metric_label *labels, uint64_t ns)
{
	char text[SECONDS_MAX];

	put_name(to, metric, suffix_of(metric), labels, NULL);
	fprintf(to->out, "%s\n", seconds(ns, text));
}

void metric_only(const struct metrics_to *to, const struct metric *metric, uint64_t value)
{
	metric_begin(to, metric);
	metric_value(to, metric, NULL, value);
}

void metric_histogram_fill(struct metric_histogram *to, const struct tq_histogram *from)
{
	uint32_t bucket = 0;
	uint64_t count = 0;

	for (unsigned i = 0; i < METRIC_BOUNDS; i++) {
		for (; tq_histogram_bound(bucket) < 1ull << bound_shifts[i]; bucket++)
			count += from->buckets[bucket];
		to->up_to[i] = count;
	}
	for (; bucket < TQ_HISTOGRAM_BUCKETS; bucket++)
		count += from->buckets[bucket];
	to->count = count; /* not the one that was read, perhaps a moment earlier */
	to->sum_ns = from->sum_ns;
}

static void put_bucket(const struct metrics_to *to, const struct metric *metric,
		       const struct metric_label *labels, const char *bound, uint64_t count)
{
	put_name(to, metric, "_bucket", labels, bound);
	fprintf(to->out, "%llu\n", (unsigned long long)count);
}

/* A bucket of ours ends below its bound, one of theirs at it: a nanosecond less. */
void metric_histogram(const struct metrics_to *to, const struct metric *metric,
		      const struct metric_label *labels, const struct metric_histogram *histogram)
{
	char text[SECONDS_MAX];

	for (unsigned i = 0; i < METRIC_BOUNDS; i++)
		put_bucket(to, metric, labels, seconds((1ull << bound_shifts[i]) - 1, text),
			   histogram->up_to[i]);
	put_bucket(to, metric, labels, "+Inf", histogram->count);
	put_name(to, metric, "_sum", labels, NULL);
	fprintf(to->out, "%s\n", seconds(histogram->sum_ns, text));
	put_name(to, metric, "_count", labels, NULL);
	fprintf(to->out, "%llu\n", (unsigned long long)histogram->count);
}

void metrics_end(const struct metrics_to *to)
{
	if (to->form == METRICS_OPEN)
		fputs("# EOF\n", to->out);
}
