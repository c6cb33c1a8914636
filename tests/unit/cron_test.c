/* SPDX-License-Identifier: MIT */
/*
 * C1: cron expressions against brute force: minute by minute, with the C library's
 * local time, which reads zones by code of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "client/submit/tzif.h"
#include "scheduler/time/cron.h"
#include "tests/support/box.h"

#define DAY_S 86400
#define YEARS 2 /* of each zone, minute by minute */

static struct tqi_cron parse(const char *text)
{
	struct tqi_cron cron;
	char error[256];

	if (!tqi_cron_parse(text, &cron, error, sizeof(error)))
		fail_msg("%s: %s", text, error);
	return cron;
}

/* What the words of cron(5) say, of one broken-down time. */
static bool matches(const struct tqi_cron *c, const struct tm *tm)
{
	bool day = c->days >> tm->tm_mday & 1, weekday = c->weekdays >> tm->tm_wday & 1;

	return (c->minutes >> tm->tm_min & 1) && (c->hours >> tm->tm_hour & 1) &&
	       (c->months >> (tm->tm_mon + 1) & 1) && (c->any ? day && weekday : day || weekday);
}

/* Local time as a number that grows with it: civil minutes. */
static int64_t civil(const struct tm *tm)
{
	struct tm copy = *tm;

	copy.tm_isdst = 0;
	return timegm(&copy) / 60;
}

/*
 * All minutes from one time to another: an expression of fixed minutes and hours fires
 * where a local minute is shown for the first time, or is jumped over; another one
 * whenever its minute is shown.
 */
#define NEW_MAX 1500 /* a day was left out once */

struct brute {
	int64_t shown; /* latest local minute so far */
	int count;     /* of those that this minute shows, or jumps over, for the first time */
	struct tm minutes[NEW_MAX];
	struct tm now;
};

static void show(struct brute *b, time_t at)
{
	struct tm tm;

	localtime_r(&at, &tm);
	int64_t now = civil(&tm);

	b->now = tm;
	b->count = 0;
	if (b->shown == 0)
		b->shown = now - 1;
	for (; b->shown < now && b->count < NEW_MAX; b->shown++) {
		time_t local = (time_t)(b->shown + 1) * 60;

		gmtime_r(&local, &b->minutes[b->count++]);
	}
}

/* Of the first two fields, as they are written. */
static bool is_paced(const char *text)
{
	if (*text == '@')
		return strcmp(text, "@hourly") == 0;
	size_t minute = strcspn(text, " "), both = minute + 1 + strcspn(text + minute + 1, " ");

	return strcspn(text, "*/") < both;
}

static bool fires(const struct brute *b, const struct tqi_cron *cron, const char *text)
{
	if (is_paced(text))
		return matches(cron, &b->now);
	for (int i = 0; i < b->count; i++)
		if (matches(cron, &b->minutes[i]))
			return true;
	return false;
}

#define COMPARED_MAX 16

static void compare_all(const char *zone_name, const char *const *texts, size_t count, int64_t from,
			int64_t to)
{
	char name[TQI_ZONE_NAME_MAX + 1];
	struct tqi_cron crons[COMPARED_MAX];
	int64_t next[COMPARED_MAX];
	static struct brute brute;
	struct tqi_zone *zone;

	setenv("TZ", zone_name, 1);
	tzset();
	assert_int_equal(tqi_tzif_load(zone_name, from, &zone, name), 0);
	from -= from % 60;
	brute.shown = 0;
	for (time_t t = from - 2 * DAY_S; t <= from; t += 60)
		show(&brute, t);
	for (size_t i = 0; i < count; i++) {
		crons[i] = parse(texts[i]);
		next[i] = tqi_cron_next(&crons[i], zone, from);
	}
	for (int64_t t = from + 60; t <= to; t += 60) {
		show(&brute, t);
		for (size_t i = 0; i < count; i++) {
			bool now = fires(&brute, &crons[i], texts[i]);

			if (now != (next[i] == t))
				fail_msg("%s, \"%s\": at %lld %s, next is %lld", zone_name,
					 texts[i], (long long)t, now ? "fires" : "does not fire",
					 (long long)next[i]);
			if (now)
				next[i] = tqi_cron_next(&crons[i], zone, t);
		}
	}
	free(zone);
}

static void compare(const char *zone_name, const char *text, int64_t from, int64_t to)
{
	compare_all(zone_name, &text, 1, from, to);
}

static int64_t year_s(int64_t year)
{
	return tqi_days_of(year, 1, 1) * DAY_S;
}

static const char *const zones[] = { "Europe/Berlin",	    "America/New_York",
				     "Australia/Lord_Howe", "Africa/Casablanca",
				     "Europe/Dublin",	    "America/St_Johns",
				     "Asia/Kathmandu",	    "UTC" };

static const char *const expressions[] = {
	"*/10 * * * *",	   "30 2 * * *",   "0 0 * * *",	 "15,45 1-3 * * sun",
	"0 12 1,15 * fri", "59 23 31 * *", "5 4 29 2 *", "0 */7 * 1-6/2 mon-fri",
	"1 1 * * 7",	   "@hourly",
};

static void test_c1_years(void **state)
{
	(void)state;
	for (size_t z = 0; z < sizeof(zones) / sizeof(zones[0]); z++)
		compare_all(zones[z], expressions, sizeof(expressions) / sizeof(expressions[0]),
			    year_s(2026) + 12345, year_s(2026 + YEARS));
}

/* Beyond what the files list: by the rule alone. */
static void test_c1_rule(void **state)
{
	(void)state;
	for (size_t z = 0; z < 4; z++)
		compare(zones[z], "*/30 0-4 * * *", year_s(2099), year_s(2100));
	compare("CET-1CEST,M3.5.0,M10.5.0/3", "*/30 * * * *", year_s(2030), year_s(2031));
	compare("XYZ3ABC,J60/1,300/4", "*/30 * * * *", year_s(2027), year_s(2028));
	compare("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "*/30 * * * *", year_s(2027), year_s(2028));
}

static void expect_times(const char *zone_name, const char *text, int64_t from, const int *minutes)
{
	const struct tqi_cron cron = parse(text);
	char name[TQI_ZONE_NAME_MAX + 1];
	struct tqi_zone *zone;
	int64_t at = from;

	assert_int_equal(tqi_tzif_load(zone_name, from, &zone, name), 0);
	for (; *minutes; minutes++) {
		at = tqi_cron_next(&cron, zone, at);
		assert_int_equal((at - from) / 60, *minutes);
	}
	free(zone);
}

/* New York, 2026: back at 06:00 UTC of 1 November, forward at 07:00 UTC of 8 March. */
static void a_pace_goes_on_through_the_doubled_hour(void **state)
{
	const char *zone = "America/New_York";
	int64_t back = tqi_days_of(2026, 11, 1) * DAY_S + 6 * 3600;
	int64_t forward = tqi_days_of(2026, 3, 8) * DAY_S + 7 * 3600;

	(void)state;
	expect_times(zone, "* * * * *", back - 120, (int[]){ 1, 2, 3, 4, 0 });
	expect_times(zone, "*/30 * * * *", back - 3600, (int[]){ 30, 60, 90, 120, 0 });
	expect_times(zone, "*/30 1 * * *", back - 3660, (int[]){ 1, 31, 61, 91, 1501, 0 });
	expect_times(zone, "30 1 * * *", back - 3600, (int[]){ 30, 30 + 1440 + 60, 0 });
	expect_times(zone, "30 * * * *", forward - 3600, (int[]){ 30, 90, 150, 0 });
	expect_times(zone, "30 2 * * *", forward - 3600, (int[]){ 60, 60 + 1440 - 30, 0 });
}

/* A day that the calendar of a place left out. */
static void test_c1_day_left_out(void **state)
{
	(void)state;
	compare("Pacific/Apia", "0 12 * * *", year_s(2011), year_s(2012));
	compare("Pacific/Apia", "*/30 * 30 12 *", year_s(2011), year_s(2012));
}

/* Offsets against the C library, at times of which no minute is special. */
static void test_c1_offsets(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (size_t z = 0; z < sizeof(zones) / sizeof(zones[0]); z++) {
		char name[TQI_ZONE_NAME_MAX + 1];
		struct tqi_zone *zone;

		setenv("TZ", zones[z], 1);
		tzset();
		assert_int_equal(tqi_tzif_load(zones[z], year_s(1990), &zone, name), 0);
		for (int i = 0; i < 20000; i++) {
			time_t at =
				(time_t)(year_s(1990) + (int64_t)(tqt_random(&random) %
								  (uint64_t)(150ll * 365 * DAY_S)));
			struct tqi_zone_span span = tqi_zone_at(zone, at);
			struct tm tm;

			localtime_r(&at, &tm);
			if (span.offset_s != tm.tm_gmtoff || at < span.from_s || at >= span.to_s)
				fail_msg("%s at %lld: %d, not %ld", zones[z], (long long)at,
					 span.offset_s, tm.tm_gmtoff);
		}
		free(zone);
	}
}

/* Random expressions, a few months each: C2 above all. */
static void random_field(uint64_t *random, uint32_t least, uint32_t most, char *to, size_t room)
{
	uint32_t span = most - least + 1, a = least + tqt_below(random, span);
	uint32_t b = a + tqt_below(random, most - a + 1);

	switch (tqt_below(random, 5)) {
	case 0:
		snprintf(to, room, "%u", a);
		break;
	case 1:
		snprintf(to, room, "%u-%u", a, b);
		break;
	case 2:
		snprintf(to, room, "%u-%u/%u,%u", a, b, 1 + tqt_below(random, 3), least);
		break;
	case 3:
		snprintf(to, room, "*/%u", 1 + tqt_below(random, most));
		break;
	default:
		snprintf(to, room, "*");
	}
}

static void test_c1_random(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 40; i++) {
		char f[5][32], text[200], error[256];
		struct tqi_cron cron;

		random_field(&random, 0, 59, f[0], sizeof(f[0]));
		random_field(&random, 0, 23, f[1], sizeof(f[1]));
		random_field(&random, 1, 31, f[2], sizeof(f[2]));
		random_field(&random, 1, 12, f[3], sizeof(f[3]));
		random_field(&random, 0, 7, f[4], sizeof(f[4]));
		snprintf(text, sizeof(text), "%s %s %s %s %s", f[0], f[1], f[2], f[3], f[4]);
		if (!tqi_cron_parse(text, &cron, error, sizeof(error)))
			continue; /* it never comes */
		int64_t from = year_s(2026) + tqt_below(&random, 8 * 365) * (int64_t)DAY_S;

		compare(zones[tqt_below(&random, 8)], text, from, from + 120 * DAY_S);
	}
}

/* Same meaning. */
static void test_c1_forms(void **state)
{
	static const char *const same[][2] = {
		{ "@daily", "0 0 * * *" },
		{ "@midnight", "0 0 * * *" },
		{ "@weekly", "0 0 * * 7" },
		{ "@monthly", "0 0 1 * *" },
		{ "@yearly", "0 0 1 jan *" },
		{ "@annually", "0 0 1 1 *" },
		{ "@hourly", "0 * * * *" },
		{ "0 0 * * MON-Fri", "0 0 * * 1-5" },
		{ "0 0 * * fri-sun", "0 0 * * 0,5,6" },
		{ "0 0 * feb,DEC *", "0 0 * 2,12 *" },
		{ " 1\t2  3 4 5 ", "1 2 3 4 5" },
		{ "0-10/5 * * * *", "0,5,10 * * * *" },
		{ "*/30 0-23/1 * * *", "0-30/30 * * * *" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		struct tqi_cron a = parse(same[i][0]), b = parse(same[i][1]);

		assert_memory_equal(&a, &b, sizeof(a));
	}
}

static void test_c1_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "61 * * * *", "minute: 61 is out of range" },
		{ "* 24 * * *", "hour: 24 is out of range" },
		{ "* * 0 * *", "day of month: 0 is out of range" },
		{ "* * * 13 *", "month: 13 is out of range" },
		{ "* * * * 8", "day of week: 8 is out of range" },
		{ "* * 31 2 *", "never comes" },
		{ "* * 30,31 2 *", "never comes" },
		{ "* * 31 4,6,9,11 *", "never comes" },
		{ "* * * *", "fewer than five fields" },
		{ "* * * * * *", "more than five fields" },
		{ "", "fewer than five fields" },
		{ "@reboot", "no such word" },
		{ "@dailyx", "no such word" },
		{ "*/0 * * * *", "minute: a step of 0" },
		{ "*/99999999999 * * * *", "minute: the step is too large" },
		{ "5/2 * * * *", "minute: a step without a range" },
		{ "9-3 * * * *", "minute: a range that ends before it begins" },
		{ "1,,2 * * * *", "minute: not a number" },
		{ "1, * * * *", "minute: a value is missing" },
		{ "-1 * * * *", "minute: not a number" },
		{ "1- * * * *", "minute: a value is missing" },
		{ "x * * * *", "minute: not a number" },
		{ "* * * janx *", "month: no such name" },
		{ "* * * * funday", "day of week: no such name" },
		{ "99999999999999999999 * * * *", "minute" },
		{ "1;2 * * * *", "minute: something else follows" },
	};
	struct tqi_cron cron;
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(tqi_cron_parse(bad[i][0], &cron, error, sizeof(error)));
		if (!strstr(error, bad[i][1]) || !strstr(error, "give "))
			fail_msg("\"%s\": %s", bad[i][0], error);
	}
}

static void test_c1_zones_refused(void **state)
{
	static const char *const bad[] = { "Mars/Olympus",   "../../etc/passwd",
					   "/etc/localtime", "Europe",
					   "tzdata.zi",	     "XY3",
					   "CET-1CEST",	     "CET-1CEST,M3.6.0,M10.5.0" };
	char name[TQI_ZONE_NAME_MAX + 1];
	struct tqi_zone *zone;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(tqi_tzif_load(bad[i], 0, &zone, name) < 0);
}

/* No bytes make the reader read what is not there. */
static void test_c1_damaged_file(void **state)
{
	unsigned char bytes[8192], copy[8192];
	FILE *file = fopen("/usr/share/zoneinfo/Europe/Berlin", "rb");
	uint64_t random = 3;

	(void)state;
	assert_non_null(file);
	size_t count = fread(bytes, 1, sizeof(bytes), file);

	fclose(file);
	for (int i = 0; i < 20000; i++) {
		struct tqi_zone *zone = NULL;
		size_t cut = tqt_below(&random, 2) ? count : tqt_below(&random, (uint32_t)count);
		unsigned char *exact = malloc(cut + 1);

		memcpy(copy, bytes, count);
		for (uint32_t n = tqt_below(&random, 4); n; n--)
			copy[tqt_below(&random, (uint32_t)count)] =
				(unsigned char)tqt_random(&random);
		assert_non_null(exact);
		memcpy(exact, copy, cut);
		if (tqi_tzif_decode(exact, cut, 0, &zone) == 0)
			(void)tqi_zone_at(zone, 1800000000);
		free(zone);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c1_forms),
		cmocka_unit_test(test_c1_refused),
		cmocka_unit_test(test_c1_zones_refused),
		cmocka_unit_test(test_c1_offsets),
		{ "fault.T1: a pace goes on through the doubled hour",
		  a_pace_goes_on_through_the_doubled_hour, NULL, NULL, NULL },
		cmocka_unit_test(test_c1_damaged_file),
		cmocka_unit_test(test_c1_day_left_out),
		cmocka_unit_test(test_c1_rule),
		cmocka_unit_test(test_c1_random),
		cmocka_unit_test(test_c1_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
