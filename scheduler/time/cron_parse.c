/* SPDX-License-Identifier: MIT */
/* Reading cron expressions. */
#include <stdio.h>
#include <string.h>

#include "scheduler/time/cron.h"

#define FIELDS 5
#define WORD_MAX 16

/* What a field may hold. */
struct field {
	const char *name;
	const char *form;
	uint32_t least;
	uint32_t most;
	const char *names; /* three letters each, from `least` on; NULL none */
};

static const struct field fields[FIELDS] = {
	{ "minute", "0 to 59", 0, 59, NULL },
	{ "hour", "0 to 23", 0, 23, NULL },
	{ "day of month", "1 to 31", 1, 31, NULL },
	{ "month", "1 to 12, or jan to dec", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec" },
	{ "day of week", "0 to 7 (0 and 7 are Sunday), or sun to sat", 0, 7,
	  "sunmontuewedthufrisat" },
};

static const struct {
	const char *word;
	const char *fields;
} words[] = {
	{ "@hourly", "0 * * * *" },   { "@daily", "0 0 * * *" },   { "@midnight", "0 0 * * *" },
	{ "@weekly", "0 0 * * 0" },   { "@monthly", "0 0 1 * *" }, { "@yearly", "0 0 1 1 *" },
	{ "@annually", "0 0 1 1 *" },
};

struct reader {
	const char *at;
	const struct field *field;
	char *error;
	uint32_t room;
	bool failed;
	bool paced; /* a field so far has * or a step */
};

/* The first thing that is wrong counts. */
static void fail(struct reader *r, const char *wrong)
{
	if (!r->failed)
		snprintf(r->error, r->room,
			 "%s: %s; give %s, ranges such as 1-5, lists such as 1,3 and steps such as "
			 "*/2",
			 r->field->name, wrong, r->field->form);
	r->failed = true;
}

static bool skip(struct reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static uint32_t read_number(struct reader *r)
{
	uint32_t value = 0;

	for (; is_digit(*r->at); r->at++)
		value = value < 1000 ? value * 10 + (uint32_t)(*r->at - '0') : value;
	return value;
}

static uint32_t read_name(struct reader *r)
{
	const char *names = r->field->names;
	uint32_t letters = 0;

	while (is_letter(r->at[letters]))
		letters++;
	for (uint32_t i = 0; names && letters == 3 && names[3 * i]; i++) {
		if (lower(r->at[0]) != names[3 * i] || lower(r->at[1]) != names[3 * i + 1] ||
		    lower(r->at[2]) != names[3 * i + 2])
			continue;
		r->at += 3;
		return r->field->least + i;
	}
	fail(r, names ? "no such name" : "not a number");
	return 0;
}

static uint32_t read_value(struct reader *r)
{
	char wrong[WORD_MAX + 24];

	if (is_letter(*r->at))
		return read_name(r);
	if (!is_digit(*r->at)) {
		fail(r, *r->at && *r->at != ' ' && *r->at != '\t' ? "not a number"
								  : "a value is missing");
		return 0;
	}
	uint32_t value = read_number(r);

	if (value < r->field->least || value > r->field->most) {
		snprintf(wrong, sizeof(wrong), "%u is out of range", value);
		fail(r, wrong);
	}
	return value;
}

static uint32_t read_step(struct reader *r)
{
	if (!skip(r, '/'))
		return 1;
	if (!is_digit(*r->at)) {
		fail(r, "a step is not a number");
		return 1;
	}
	uint32_t step = read_number(r);

	if (step == 0 || step > r->field->most) {
		fail(r, step ? "the step is too large" : "a step of 0");
		return 1;
	}
	r->paced = true;
	return step;
}

/* "*", "3", "1-5", the first and the last with a step. */
static uint64_t read_item(struct reader *r)
{
	uint32_t from = r->field->least, to = r->field->most;
	bool is_range = true;
	uint64_t bits = 0;

	if (skip(r, '*')) {
		r->paced = true;
	} else {
		from = to = read_value(r);
		is_range = skip(r, '-');
		if (is_range)
			to = read_value(r);
		if (to == 0 && r->field->most == 7 && from > 0)
			to = 7; /* fri-sun */
	}
	if (to < from)
		fail(r, "a range that ends before it begins");
	if (*r->at == '/' && !is_range)
		fail(r, "a step without a range or *");
	uint32_t step = read_step(r);

	for (uint32_t value = from; value <= to && !r->failed; value += step)
		bits |= 1ull << value;
	return bits;
}

static uint64_t read_field(struct reader *r, const struct field *field, bool *ret_any)
{
	uint64_t bits = 0;

	r->field = field;
	while (skip(r, ' ') || skip(r, '\t'))
		;
	*ret_any = *r->at == '*';
	do
		bits |= read_item(r);
	while (!r->failed && skip(r, ','));
	if (!r->failed && *r->at && *r->at != ' ' && *r->at != '\t')
		fail(r, "something else follows");
	return bits;
}

bool tqi_cron_is_sound(const struct tqi_cron *cron)
{
	static const uint8_t longest[] = { 0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	if (!cron->minutes || cron->minutes >> 60 || !cron->hours || cron->hours >> 24 ||
	    !cron->months || (cron->months & 1) || cron->months >> 13 || (cron->days & 1) ||
	    cron->weekdays >> 7 || cron->any > (TQI_CRON_ANY_DAY | TQI_CRON_ANY_WEEKDAY) ||
	    cron->paced > 1)
		return false;
	if (!cron->weekdays || !cron->any)
		return cron->weekdays; /* either will do, and a weekday comes */
	for (uint32_t m = 1; m <= 12; m++)
		if ((cron->months >> m & 1) && (cron->days & ((2ull << longest[m]) - 2)))
			return true;
	return false;
}

static const char *spell_out(const char *text)
{
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, text) == 0)
			return words[i].fields;
	return NULL;
}

static bool refuse(char *error, uint32_t room, const char *wrong)
{
	snprintf(error, room,
		 "%s; give minute, hour, day of month, month and day of week, or @hourly, @daily, "
		 "@midnight, @weekly, @monthly, @yearly, @annually",
		 wrong);
	return false;
}

static uint32_t count_fields(const char *text)
{
	uint32_t n = 0;

	for (bool inside = false; *text; text++) {
		bool blank = *text == ' ' || *text == '\t';

		n += !blank && !inside;
		inside = !blank;
	}
	return n;
}

static bool read_fields(const char *text, struct tqi_cron *cron, char *error, uint32_t room)
{
	struct reader r = { .at = text, .error = error, .room = room };
	bool ignored, any_day, any_weekday;

	memset(cron, 0, sizeof(*cron));
	cron->minutes = read_field(&r, &fields[0], &ignored);
	cron->hours = (uint32_t)read_field(&r, &fields[1], &ignored);
	cron->paced = r.paced;
	cron->days = (uint32_t)read_field(&r, &fields[2], &any_day);
	cron->months = (uint16_t)read_field(&r, &fields[3], &ignored);
	uint64_t weekdays = read_field(&r, &fields[4], &any_weekday);

	cron->weekdays = (uint8_t)((weekdays | weekdays >> 7) & 0x7f);
	cron->any = (uint8_t)((any_day ? TQI_CRON_ANY_DAY : 0) |
			      (any_weekday ? TQI_CRON_ANY_WEEKDAY : 0));
	return !r.failed;
}

bool tqi_cron_parse(const char *text, struct tqi_cron *ret_cron, char *error, uint32_t room)
{
	struct tqi_cron cron;

	if (strnlen(text, TQI_CRON_MAX + 1) > TQI_CRON_MAX)
		return refuse(error, room, "more than 255 bytes");
	if (*text == '@' && !(text = spell_out(text)))
		return refuse(error, room, "no such word");
	if (count_fields(text) != FIELDS)
		return refuse(error, room,
			      count_fields(text) < FIELDS ? "fewer than five fields"
							  : "more than five fields");
	if (!read_fields(text, &cron, error, room))
		return false;
	if (!tqi_cron_is_sound(&cron)) {
		snprintf(error, room,
			 "it never comes: no such month has such a day; give a day of month that "
			 "one of the months has");
		return false;
	}
	*ret_cron = cron;
	return true;
}
