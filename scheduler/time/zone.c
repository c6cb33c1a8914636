/* SPDX-License-Identifier: MIT */
/* Local time. */
#include "scheduler/time/zone.h"

#define DAY_S 86400
#define YEAR_BEFORE 400 /* years before 1970 that days are counted from: no negative ones */
#define DAYS_400 146097 /* days of 400 years */

bool tqi_is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days of the months before, in a year that begins in March: February is the last. */
static int64_t days_before_month(uint32_t from_march)
{
	return (153 * (int64_t)from_march + 2) / 5;
}

int64_t tqi_days_of(int64_t year, uint32_t month, uint32_t day)
{
	int64_t y = year - (month <= 2) + YEAR_BEFORE;
	uint32_t from_march = month > 2 ? month - 3 : month + 9;

	/* 719,468: days from 0000-03-01 to 1970-01-01. */
	return 365 * y + y / 4 - y / 100 + y / 400 + days_before_month(from_march) + day - 1 -
	       719468 - DAYS_400;
}

struct tqi_date tqi_date_of(int64_t days)
{
	int64_t since = days + 719468 + DAYS_400;
	int64_t era = since / DAYS_400, of_era = since % DAYS_400;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint32_t from_march = (uint32_t)((5 * of_year + 2) / 153);
	uint32_t month = from_march < 10 ? from_march + 3 : from_march - 9;

	return (struct tqi_date){ .year = era * 400 + year - YEAR_BEFORE + (month <= 2),
				  .month = month,
				  .day = (uint32_t)(of_year - days_before_month(from_march)) + 1 };
}

uint32_t tqi_weekday_of(int64_t days)
{
	return (uint32_t)(((days + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
}

/* The given week's weekday of a month; the fifth is the last. */
static int64_t days_of_week(int64_t year, const struct tqi_zone_day *day)
{
	int64_t first = tqi_days_of(year, day->month, 1);
	int64_t next = day->month == 12 ? tqi_days_of(year + 1, 1, 1)
					: tqi_days_of(year, day->month + 1u, 1);
	int64_t days =
		first + (day->weekday + 7u - tqi_weekday_of(first)) % 7 + 7 * (day->week - 1);

	return days >= next ? days - 7 : days;
}

static int64_t days_of_rule(int64_t year, const struct tqi_zone_day *day)
{
	int64_t first = tqi_days_of(year, 1, 1);

	if (day->form == 'M')
		return days_of_week(year, day);
	if (day->form == 'J') /* 29 February has no number */
		return first + day->day - 1 + (tqi_is_leap(year) && day->day >= 60);
	return first + day->day;
}

/* Put `from`, from which `offset` holds, where it belongs around `at`. */
static void narrow(struct tqi_zone_span *span, int64_t at, int64_t from, int32_t offset)
{
	if (from > at) {
		if (from < span->to_s)
			span->to_s = from;
	} else if (from >= span->from_s) {
		span->from_s = from;
		span->offset_s = offset;
	}
}

static struct tqi_zone_span by_rule(const struct tqi_zone_rule *rule, int64_t at)
{
	struct tqi_zone_span span = { INT64_MIN, INT64_MAX, rule->standard_s };
	int64_t year = tqi_date_of(at / DAY_S).year;

	if (!rule->has_summer)
		return span;
	for (int64_t y = year - 1; y <= year + 1; y++) {
		narrow(&span, at,
		       days_of_rule(y, &rule->summer) * DAY_S + rule->summer.time_s -
			       rule->standard_s,
		       rule->summer_s);
		narrow(&span, at,
		       days_of_rule(y, &rule->standard) * DAY_S + rule->standard.time_s -
			       rule->summer_s,
		       rule->standard_s);
	}
	return span;
}

/* How many of the changes are not after `at`. */
static uint32_t count_until(const struct tqi_zone *zone, int64_t at)
{
	uint32_t low = 0, high = zone->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (zone->changes[middle].at_s <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct tqi_zone_span tqi_zone_at(const struct tqi_zone *zone, int64_t at)
{
	uint32_t n = count_until(zone, at);
	struct tqi_zone_span span = {
		.from_s = n ? zone->changes[n - 1].at_s : INT64_MIN,
		.to_s = n < zone->count ? zone->changes[n].at_s : INT64_MAX,
		.offset_s = n ? zone->changes[n - 1].offset_s : zone->offset_s,
	};

	if (n < zone->count || !zone->has_rule)
		return span;
	int64_t first = span.from_s;

	span = by_rule(&zone->rule, at);
	if (span.from_s < first)
		span.from_s = first;
	return span;
}

static bool is_offset(int32_t s)
{
	return s >= -TQI_ZONE_OFFSET_MAX && s <= TQI_ZONE_OFFSET_MAX;
}

static bool is_day(const struct tqi_zone_day *day)
{
	if (day->time_s < -TQI_ZONE_TIME_MAX || day->time_s > TQI_ZONE_TIME_MAX)
		return false;
	if (day->form == 'M')
		return day->month >= 1 && day->month <= 12 && day->week >= 1 && day->week <= 5 &&
		       day->weekday <= 6;
	return (day->form == 'J' || day->form == 'n') && day->day >= (day->form == 'J') &&
	       day->day <= 365;
}

static bool is_rule(const struct tqi_zone_rule *rule)
{
	return is_offset(rule->standard_s) &&
	       (!rule->has_summer ||
		(is_offset(rule->summer_s) && is_day(&rule->summer) && is_day(&rule->standard)));
}

bool tqi_zone_is_sound(const struct tqi_zone *zone, uint32_t count)
{
	if (zone->count != count || count > TQI_ZONE_CHANGES_MAX || !is_offset(zone->offset_s) ||
	    (zone->has_rule && !is_rule(&zone->rule)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!is_offset(zone->changes[i].offset_s) ||
		    zone->changes[i].at_s < -TQI_ZONE_AT_MAX ||
		    zone->changes[i].at_s > TQI_ZONE_AT_MAX ||
		    (i && zone->changes[i].at_s <= zone->changes[i - 1].at_s))
			return false;
	return true;
}
