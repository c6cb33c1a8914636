/* SPDX-License-Identifier: MIT */
/* Quantities as people read them. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format.h"

#define SECOND_NS 1000000000ull

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct clocks clocks_read(void)
{
	return (struct clocks){ clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME) };
}

uint64_t clocks_unix_ns(const struct clocks *clocks, uint64_t at_ns)
{
	return clocks->unix_now_ns + at_ns - clocks->now_ns; /* wraps back when in the past */
}

uint64_t ns_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

const char *format_plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

char *format_duration(uint64_t ns, char buf[FORMAT_MAX])
{
	const uint64_t s = ns / SECOND_NS;
	const unsigned long long ms = ns / 1000000;

	if (ns > 0 && ms < 10)
		snprintf(buf, FORMAT_MAX, "%.2gms", (double)ns / 1e6);
	else if (s < 1)
		snprintf(buf, FORMAT_MAX, "%llums", ms);
	else if (s < 10)
		snprintf(buf, FORMAT_MAX, "%llu.%llus", ms / 1000, ms % 1000 / 100);
	else if (s < 60)
		snprintf(buf, FORMAT_MAX, "%llus", ms / 1000);
	else if (s < 3600)
		snprintf(buf, FORMAT_MAX, "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(buf, FORMAT_MAX, "%uh%02um", (unsigned)(s / 3600),
			 (unsigned)(s / 60 % 60));
	else
		snprintf(buf, FORMAT_MAX, "%llud%02uh", (unsigned long long)(s / 86400),
			 (unsigned)(s / 3600 % 24));
	return buf;
}

/* What format_duration() prints of @ns is a multiple of this. */
static uint64_t granularity(uint64_t ns)
{
	static const struct {
		uint64_t below_ns, step_ns;
	} steps[] = {
		{ SECOND_NS / 100, SECOND_NS / 10000 }, /* 10ms in steps of 0.1ms */
		{ SECOND_NS, SECOND_NS / 1000 },	{ 10 * SECOND_NS, SECOND_NS / 10 },
		{ 3600 * SECOND_NS, SECOND_NS },	{ 86400 * SECOND_NS, 60 * SECOND_NS },
	};

	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (ns < steps[i].below_ns)
			return steps[i].step_ns;
	return 3600 * SECOND_NS;
}

char *format_bound(uint64_t ns, char buf[FORMAT_MAX])
{
	const uint64_t step = granularity(ns);

	return format_duration((ns + step - 1) / step * step, buf);
}

char *format_size(uint64_t bytes, char buf[FORMAT_MAX])
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes;
	int unit = -1;

	for (; value >= 1024 && unit < 5; unit++)
		value /= 1024;
	if (unit < 0)
		snprintf(buf, FORMAT_MAX, "%llu", (unsigned long long)bytes);
	else if (value < 10 && value - (double)(unsigned)value >= 0.05)
		snprintf(buf, FORMAT_MAX, "%.1f%c", value, units[unit]);
	else
		snprintf(buf, FORMAT_MAX, "%.0f%c", value, units[unit]);
	return buf;
}

static size_t format_seconds(const struct tm *parts, uint64_t unix_ns, char buf[FORMAT_MAX])
{
	char seconds[32];

	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", parts);
	return (size_t)snprintf(buf, FORMAT_MAX, "%s.%03u", seconds,
				(unsigned)(unix_ns % SECOND_NS / 1000000));
}

char *format_utc(uint64_t unix_ns, char buf[FORMAT_MAX])
{
	const time_t seconds = (time_t)(unix_ns / SECOND_NS);
	struct tm parts;

	gmtime_r(&seconds, &parts);

	const size_t at = format_seconds(&parts, unix_ns, buf);

	snprintf(buf + at, FORMAT_MAX - at, "Z");
	return buf;
}

char *format_local(uint64_t unix_ns, char buf[FORMAT_MAX])
{
	const time_t seconds = (time_t)(unix_ns / SECOND_NS);
	struct tm parts;
	long minutes;

	localtime_r(&seconds, &parts);
	minutes = parts.tm_gmtoff / 60;

	const size_t at = format_seconds(&parts, unix_ns, buf);

	snprintf(buf + at, FORMAT_MAX - at, "%c%02ld:%02ld", minutes < 0 ? '-' : '+',
		 (minutes < 0 ? -minutes : minutes) / 60, (minutes < 0 ? -minutes : minutes) % 60);
	return buf;
}

char *format_moment(const struct clocks *clocks, uint64_t at_ns, char buf[FORMAT_MAX])
{
	const bool is_ahead = at_ns > clocks->now_ns;
	const uint64_t ns = is_ahead ? at_ns - clocks->now_ns : clocks->now_ns - at_ns;
	char age[FORMAT_MAX];
	const size_t at = strlen(format_local(clocks_unix_ns(clocks, at_ns), buf));

	snprintf(buf + at, FORMAT_MAX - at, is_ahead ? " (in %s)" : " (%s ago)",
		 format_duration(ns, age));
	return buf;
}
