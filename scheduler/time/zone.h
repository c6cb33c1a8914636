/* SPDX-License-Identifier: MIT */
/*
 * A time zone as a schedule keeps it: what is known of its future, in one piece, so
 * that local times are computed without a file, a system call, or the C library's
 * time zone, of which a process has only one.  Filled by client/submit/tzif.c.
 *
 * First come the transitions that are listed one by one, ordered by time; from the last
 * one on the rule holds, if there is one.
 */
#ifndef TQI_SCHEDULER_TIME_ZONE_H
#define TQI_SCHEDULER_TIME_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#define TQI_ZONE_CHANGES_MAX 1024 /* more than any zone lists until 2100 */
#define TQI_ZONE_OFFSET_MAX 93600 /* 26 h: as RFC 8536 bounds it */
#define TQI_ZONE_TIME_MAX 604800  /* a week: of the time of a rule */
#define TQI_ZONE_AT_MAX (1ll << 59) /* about the age of the universe: where files begin */

/* When in a year a rule changes the clocks, by the local time before the change. */
struct tqi_zone_day {
	uint8_t form; /* 'J' day 1..365 without 29 February, 'n' day 0..365, 'M' month.week.day */
	uint8_t month; /* 1..12 */
	uint8_t week;  /* 1..5, 5 the last */
	uint8_t weekday; /* 0 Sunday */
	uint16_t day;
	uint16_t reserved0;
	int32_t time_s; /* of that day; may be before or after it */
};

struct tqi_zone_rule {
	int32_t standard_s; /* east of Greenwich */
	int32_t summer_s;
	uint32_t has_summer;
	struct tqi_zone_day summer;   /* from then on summer time */
	struct tqi_zone_day standard;
};

struct tqi_zone_change {
	int64_t at_s;
	int32_t offset_s; /* from then on */
	uint32_t reserved0;
};

struct tqi_zone {
	uint32_t count;	  /* of changes */
	int32_t offset_s; /* before the first of them */
	uint32_t has_rule;
	struct tqi_zone_rule rule;
	struct tqi_zone_change changes[];
};

static inline uint64_t tqi_zone_bytes(uint32_t count)
{
	return sizeof(struct tqi_zone) + (uint64_t)count * sizeof(struct tqi_zone_change);
}

/* Whether one of so many changes, from memory that anybody may have written, is one. */
bool tqi_zone_is_sound(const struct tqi_zone *zone, uint32_t count);

/* A stretch of time with one offset, [from_s, to_s). */
struct tqi_zone_span {
	int64_t from_s;
	int64_t to_s;
	int32_t offset_s;
};

/* The one around a time, in seconds since 1970. */
struct tqi_zone_span tqi_zone_at(const struct tqi_zone *zone, int64_t at_s);

/* Days from 1970-01-01 to a date; months from 1. */
int64_t tqi_days_of(int64_t year, uint32_t month, uint32_t day);
/* And back. */
struct tqi_date {
	int64_t year;
	uint32_t month;
	uint32_t day;
};
struct tqi_date tqi_date_of(int64_t days);
bool tqi_is_leap(int64_t year);
/* 0 Sunday. */
uint32_t tqi_weekday_of(int64_t days);

#endif
