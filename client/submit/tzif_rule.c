/* SPDX-License-Identifier: MIT */
/* Rules of time zones as POSIX writes them: CET-1CEST,M3.5.0,M10.5.0/3. */
#include "client/submit/tzif.h"

#define HOUR_S 3600
#define CHANGE_S (2 * HOUR_S) /* 02:00, where a rule says no time */

static bool is_between(char c, char least, char most)
{
	return c >= least && c <= most;
}

static bool skip(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* Three letters or more, or anything in angle brackets. */
static bool skip_name(const char **at)
{
	const char *from = *at;

	if (skip(at, '<')) {
		while (**at && **at != '>')
			++*at;
		return skip(at, '>');
	}
	while (is_between(**at, 'a', 'z') || is_between(**at, 'A', 'Z'))
		++*at;
	return *at - from >= 3;
}

static bool read_number(const char **at, uint32_t least, uint32_t most, uint32_t *ret_value)
{
	uint32_t value = 0;

	if (!is_between(**at, '0', '9'))
		return false;
	for (; is_between(**at, '0', '9') && value <= most; ++*at)
		value = value * 10 + (uint32_t)(**at - '0');
	*ret_value = value;
	return value >= least && value <= most;
}

/* [+-]H[H[H]][:MM[:SS]] */
static bool read_time(const char **at, uint32_t hours_max, int32_t *ret_s)
{
	bool negative = skip(at, '-');
	uint32_t hours, minutes = 0, seconds = 0;

	if (!negative)
		skip(at, '+');
	if (!read_number(at, 0, hours_max, &hours) ||
	    (skip(at, ':') && (!read_number(at, 0, 59, &minutes) ||
			       (skip(at, ':') && !read_number(at, 0, 59, &seconds)))))
		return false;
	*ret_s = (int32_t)(hours * HOUR_S + minutes * 60 + seconds);
	if (negative)
		*ret_s = -*ret_s;
	return true;
}

static bool read_week(const char **at, struct tqi_zone_day *day)
{
	uint32_t month, week, weekday;

	if (!read_number(at, 1, 12, &month) || !skip(at, '.') || !read_number(at, 1, 5, &week) ||
	    !skip(at, '.') || !read_number(at, 0, 6, &weekday))
		return false;
	day->form = 'M';
	day->month = (uint8_t)month;
	day->week = (uint8_t)week;
	day->weekday = (uint8_t)weekday;
	return true;
}

static bool read_day(const char **at, struct tqi_zone_day *day)
{
	uint32_t number;

	*day = (struct tqi_zone_day){ .time_s = CHANGE_S };
	if (!skip(at, ','))
		return false;
	if (skip(at, 'M')) {
		if (!read_week(at, day))
			return false;
	} else {
		day->form = skip(at, 'J') ? 'J' : 'n';
		if (!read_number(at, day->form == 'J', 365, &number))
			return false;
		day->day = (uint16_t)number;
	}
	return !skip(at, '/') || read_time(at, 167, &day->time_s);
}

bool tqi_tzif_rule(const char *text, struct tqi_zone_rule *ret_rule)
{
	struct tqi_zone_rule rule = { 0 };
	int32_t west;

	if (!skip_name(&text) || !read_time(&text, 24, &west))
		return false;
	rule.standard_s = -west;
	if (*text) {
		rule.has_summer = 1;
		rule.summer_s = rule.standard_s + HOUR_S;
		if (!skip_name(&text))
			return false;
		if (*text != ',') {
			if (!read_time(&text, 24, &west))
				return false;
			rule.summer_s = -west;
		}
		if (!read_day(&text, &rule.summer) || !read_day(&text, &rule.standard) || *text)
			return false;
	}
	*ret_rule = rule;
	return true;
}
