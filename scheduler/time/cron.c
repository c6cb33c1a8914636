/* SPDX-License-Identifier: MIT */
/* The next time of a cron expression. */
#include "scheduler/time/cron.h"

#define DAY_S 86400
#define BACK_S 172800 /* 2 days: clocks are never set by more */
/* 60 years: 29 February on a given weekday is up to 40 years away. */
#define FAR_S (60 * INT64_C(366) * DAY_S)

/* The first matching minute of a day, from `minute` on; -1 none. */
static int32_t minute_of_day(const struct tqi_cron *cron, uint32_t minute)
{
	for (uint32_t hour = minute / 60; hour < 24; hour++) {
		uint32_t first = hour == minute / 60 ? minute % 60 : 0;
		uint64_t left = cron->minutes >> first;

		if ((cron->hours >> hour & 1) && left)
			return (int32_t)(hour * 60 + first + (uint32_t)__builtin_ctzll(left));
	}
	return -1;
}

static bool is_day(const struct tqi_cron *cron, const struct tqi_date *date, int64_t days)
{
	bool day = cron->days >> date->day & 1;
	bool weekday = cron->weekdays >> tqi_weekday_of(days) & 1;

	return cron->any ? day && weekday : day || weekday; /* CR-2 */
}

/* The first matching local minute, in minutes since 1970, of two and those between; -1 none. */
static int64_t next_local(const struct tqi_cron *cron, int64_t minute, int64_t last)
{
	int64_t days = minute / 1440;
	uint32_t of_day = (uint32_t)(minute % 1440);

	for (; days <= last / 1440; of_day = 0) {
		struct tqi_date date = tqi_date_of(days);

		if (!(cron->months >> date.month & 1)) {
			days = date.month == 12 ? tqi_days_of(date.year + 1, 1, 1)
						: tqi_days_of(date.year, date.month + 1, 1);
			continue;
		}
		int32_t found = is_day(cron, &date, days) ? minute_of_day(cron, of_day) : -1;

		if (found >= 0)
			return days * 1440 + found <= last ? days * 1440 + found : -1;
		days++;
	}
	return -1;
}

/* The latest local time that clocks have shown until `at_s`: what is before is over. */
static int64_t shown_until(const struct tqi_zone *zone, int64_t at_s)
{
	int64_t shown = INT64_MIN;

	for (int64_t t = at_s - BACK_S; t <= at_s;) {
		struct tqi_zone_span span = tqi_zone_at(zone, t);
		int64_t end = span.to_s <= at_s ? span.to_s - 1 : at_s;

		if (end + span.offset_s > shown)
			shown = end + span.offset_s;
		t = end + 1;
	}
	return shown;
}

/* When clocks first show this local time, or jump over it. */
static int64_t first_shown(const struct tqi_zone *zone, int64_t local_s)
{
	for (int64_t t = local_s - BACK_S;;) {
		struct tqi_zone_span span = tqi_zone_at(zone, t);

		if (span.to_s == INT64_MAX || span.to_s + span.offset_s > local_s) {
			int64_t at = local_s - span.offset_s;

			return at < span.from_s ? span.from_s : at;
		}
		t = span.to_s;
	}
}

/* Local seconds as a minute that begins then or later: none before 1970. */
static int64_t minute_from(int64_t local_s)
{
	return local_s <= 0 ? 0 : (local_s + 59) / 60;
}

/* Of times of the day (CR-1). */
static int64_t next_fixed(const struct tqi_cron *cron, const struct tqi_zone *zone, int64_t after_s)
{
	int64_t shown = shown_until(zone, after_s);
	int64_t first = minute_from(shown + 1),
		minute = next_local(cron, first, first + FAR_S / 60);

	return minute < 0 ? INT64_MAX : first_shown(zone, minute * 60);
}

/* Of a pace (CR-1): in each stretch of time with one offset, the minutes that it shows. */
static int64_t next_paced(const struct tqi_cron *cron, const struct tqi_zone *zone, int64_t after_s)
{
	int64_t end = after_s + FAR_S;

	for (int64_t t = after_s + 1; t < end;) {
		struct tqi_zone_span span = tqi_zone_at(zone, t);
		int64_t to = span.to_s < end ? span.to_s : end;
		int64_t minute = next_local(cron, minute_from(t + span.offset_s),
					    (to - 1 + span.offset_s) / 60);

		if (minute >= 0)
			return minute * 60 - span.offset_s;
		t = to;
	}
	return INT64_MAX;
}

int64_t tqi_cron_next(const struct tqi_cron *cron, const struct tqi_zone *zone, int64_t after_s)
{
	return cron->paced ? next_paced(cron, zone, after_s) : next_fixed(cron, zone, after_s);
}
