/* SPDX-License-Identifier: MIT */
/* Wall-clock times of the command line. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "errors.h"
#include "format.h"
#include "parse.h"

#define SECOND_NS 1000000000ull
#define YEAR_FIRST 1970u
#define YEAR_LAST 2261u /* the last whole one that 63 bits of nanoseconds can say */

/* Where reading has come to; `bad` once something did not fit. */
struct scan {
	const char *at;
	bool bad;
};

static bool skip(struct scan *scan, char c)
{
	if (*scan->at != c)
		return false;
	scan->at++;
	return true;
}

static void expect(struct scan *scan, char c)
{
	scan->bad |= !skip(scan, c);
}

/* Exactly @digits of them, as a number from @least to @most. */
static unsigned number(struct scan *scan, unsigned digits, unsigned least, unsigned most)
{
	unsigned value = 0;

	for (; digits && *scan->at >= '0' && *scan->at <= '9'; digits--)
		value = 10 * value + (unsigned)(*scan->at++ - '0');
	scan->bad |= digits || value < least || value > most;
	return value;
}

static void read_date(struct scan *scan, struct tm *parts)
{
	parts->tm_year = (int)number(scan, 4, YEAR_FIRST, YEAR_LAST) - 1900;
	expect(scan, '-');
	parts->tm_mon = (int)number(scan, 2, 1, 12) - 1;
	expect(scan, '-');
	parts->tm_mday = (int)number(scan, 2, 1, 31);
}

/* HH:MM, and seconds with a fraction as far as they are there. */
static void read_clock(struct scan *scan, struct tm *parts, uint64_t *ret_ns)
{
	uint64_t weight = SECOND_NS / 10;

	parts->tm_hour = (int)number(scan, 2, 0, 23);
	expect(scan, ':');
	parts->tm_min = (int)number(scan, 2, 0, 59);
	if (skip(scan, ':'))
		parts->tm_sec = (int)number(scan, 2, 0, 59);
	*ret_ns = 0;
	if (!skip(scan, '.'))
		return;
	scan->bad |= *scan->at < '0' || *scan->at > '9';
	for (; *scan->at >= '0' && *scan->at <= '9'; scan->at++, weight /= 10)
		*ret_ns += (uint64_t)(*scan->at - '0') * weight;
}

/* Z, +01:00 or -05:30: true, and the seconds by which it is ahead of UTC. */
static bool read_offset(struct scan *scan, long *ret_s)
{
	const char sign = *scan->at;

	*ret_s = 0;
	if (skip(scan, 'Z') || skip(scan, 'z'))
		return true;
	if (!skip(scan, '+') && !skip(scan, '-'))
		return false;
	*ret_s = 3600l * number(scan, 2, 0, 23);
	expect(scan, ':');
	*ret_s += 60l * number(scan, 2, 0, 59);
	*ret_s = sign == '-' ? -*ret_s : *ret_s;
	return true;
}

static bool is_same(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday &&
	       a->tm_hour == b->tm_hour && a->tm_min == b->tm_min;
}

/* Local time that is there twice is the first one; one that is not there is -ENOENT. */
static int local_seconds(const struct tm *parts, time_t *ret_s)
{
	for (int dst = 1; dst >= 0; dst--) {
		struct tm tm = *parts;

		tm.tm_isdst = dst;
		*ret_s = mktime(&tm);
		if (tm.tm_isdst == dst && is_same(&tm, parts))
			return 0;
	}
	struct tm day = { .tm_year = parts->tm_year,
			  .tm_mon = parts->tm_mon,
			  .tm_mday = parts->tm_mday };

	timegm(&day);
	return day.tm_mday == parts->tm_mday ? -ENOENT : -EINVAL;
}

static int utc_seconds(const struct tm *parts, long ahead_s, time_t *ret_s)
{
	struct tm tm = *parts;

	*ret_s = timegm(&tm) - ahead_s;
	return is_same(&tm, parts) ? 0 : -EINVAL;
}

static int finish(const struct scan *scan, int r, time_t seconds, uint64_t ns, uint64_t *ret_ns)
{
	if (scan->bad || *scan->at)
		return -EINVAL;
	if (r < 0)
		return r;
	if (seconds < 0)
		return -ERANGE;
	*ret_ns = (uint64_t)seconds * SECOND_NS + ns;
	return 0;
}

/* The next such time: today, else tomorrow, or the day after a day that lacks it. */
static int parse_clock(struct scan *scan, uint64_t now_ns, uint64_t *ret_ns)
{
	const time_t now = (time_t)(now_ns / SECOND_NS);
	struct tm parts;
	uint64_t ns, at = 0;
	int r = -ENOENT;

	localtime_r(&now, &parts);
	parts.tm_sec = 0;
	read_clock(scan, &parts, &ns);
	for (int days = 0; days < 3; days++) {
		struct tm day = parts;
		time_t seconds = 0;

		day.tm_hour = 12;
		day.tm_mday += days;
		day.tm_isdst = -1;
		mktime(&day); /* only for the date */
		day.tm_hour = parts.tm_hour;
		day.tm_min = parts.tm_min;
		day.tm_sec = parts.tm_sec;
		r = local_seconds(&day, &seconds);
		r = finish(scan, r, seconds, ns, &at);
		if (r == 0 && at <= now_ns)
			continue;
		if (r != -ENOENT)
			break;
	}
	if (r == 0)
		*ret_ns = at;
	return r;
}

int parse_at(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	struct scan scan = { .at = text };
	struct tm parts = { .tm_isdst = -1 };
	time_t seconds = 0;
	uint64_t ns;
	long ahead;
	int r;

	if (strlen(text) > 2 && text[2] == ':')
		return parse_clock(&scan, now_ns, ret_ns);
	read_date(&scan, &parts);
	if (!skip(&scan, 'T') && !skip(&scan, 't'))
		expect(&scan, ' ');
	read_clock(&scan, &parts, &ns);
	if (scan.bad)
		return -EINVAL;
	if (read_offset(&scan, &ahead))
		r = utc_seconds(&parts, ahead, &seconds);
	else
		r = local_seconds(&parts, &seconds);
	return finish(&scan, r, seconds, ns, ret_ns);
}

bool option_at(const struct cli *cli, const char *arg, uint64_t *ret_ns)
{
	const int r = parse_at(arg, clocks_read().unix_now_ns, ret_ns);

	if (r == 0)
		return true;
	return refuse(cli, "--at", arg,
		      r == -ENOENT   ? "clocks are set forward over that time"
		      : r == -ERANGE ? "before 1970"
				     : "not a time",
		      FORM_AT);
}
