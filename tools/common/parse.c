/* SPDX-License-Identifier: MIT */
/* Values of the command line: durations, sizes, counts, names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "parse.h"

struct unit {
	const char *name;
	uint64_t value;
};

static const struct unit duration_units[] = {
	{ "", 1000000000 },  { "ns", 1 },	   { "us", 1000 },	   { "ms", 1000000 },
	{ "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 }, { "d", 86400000000000 },
	{ NULL, 0 },
};

static const struct unit size_units[] = {
	{ "", 1 },	     { "B", 1 },	  { "K", 1ull << 10 }, { "k", 1ull << 10 },
	{ "M", 1ull << 20 }, { "G", 1ull << 30 }, { "T", 1ull << 40 }, { NULL, 0 },
};

/* Digits from *@at on; moves *@at behind them. */
static int read_digits(const char **at, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (**at < '0' || **at > '9')
		return -EINVAL;
	for (; **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value))
			return -ERANGE;
	*ret_value = value;
	return 0;
}

/* Behind a point, in millionths; digits beyond the sixth do not count. */
static int read_fraction(const char **at, uint64_t *ret_millionths)
{
	uint64_t weight = 1000000 / 10, value = 0;

	if (**at < '0' || **at > '9')
		return -EINVAL;
	for (; **at >= '0' && **at <= '9'; ++*at, weight /= 10)
		value += (uint64_t)(**at - '0') * weight;
	*ret_millionths = value;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

/* A number with a unit; the result fits int64_t, as TQ_FOREVER_NS must stay apart. */
static int parse_measure(const char *text, const struct unit *units, uint64_t *ret_value)
{
	uint64_t whole, millionths = 0, part, value;
	int r = read_digits(&text, &whole);

	if (r == 0 && *text == '.') {
		text++;
		r = read_fraction(&text, &millionths);
	}
	if (r < 0)
		return r;

	const struct unit *unit = find_unit(units, text);

	if (!unit)
		return -EINVAL;
	part = unit->value / 1000000 * millionths + unit->value % 1000000 * millionths / 1000000;
	if (__builtin_mul_overflow(whole, unit->value, &value) ||
	    __builtin_add_overflow(value, part, &value) || value > INT64_MAX)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int parse_duration(const char *text, uint64_t *ret_ns)
{
	return parse_measure(text, duration_units, ret_ns);
}

int parse_count(const char *text, uint64_t *ret_count)
{
	uint64_t count;
	const int r = read_digits(&text, &count);

	if (r < 0)
		return r;
	if (*text)
		return -EINVAL;
	*ret_count = count;
	return 0;
}

static const struct {
	const char *name;
	uint32_t scope;
} scopes[] = {
#define ROW(symbol, value, text) { text, value },
	TQ_UNIQUE_MAP(ROW)
#undef ROW
};

int parse_scope(const char *text, uint32_t *ret_scope)
{
	for (unsigned i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		if (strcmp(scopes[i].name, text) != 0)
			continue;
		*ret_scope = scopes[i].scope;
		return 0;
	}
	return -EINVAL;
}

const char *scope_name(uint32_t scope)
{
	for (unsigned i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (scopes[i].scope == scope)
			return scopes[i].name;
	return "";
}

bool key_ok(const char *text)
{
	return *text && strlen(text) <= TQ_KEY_MAX;
}

bool words_each(const char *list, bool (*take)(void *ctx, const char *word), void *ctx)
{
	char *save = NULL, *copy = strdup(list);
	bool ok = copy != NULL;

	if (list[strspn(list, ",")] == '\0')
		ok = take(ctx, "");
	for (char *at = copy ? strtok_r(copy, ",", &save) : NULL; at && ok;
	     at = strtok_r(NULL, ",", &save))
		ok = take(ctx, at);
	free(copy);
	return ok;
}

bool name_ok(const char *text)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	const size_t bytes = strlen(text);

	return bytes >= 1 && bytes <= TQ_NAME_MAX && strspn(text, allowed) == bytes;
}

bool segment_name_ok(const char *text)
{
	return text[0] == '/' ? text[1] != '\0' : name_ok(text);
}

/* A kind of value, as options take it. */
struct quantity {
	const char *what;
	const char *not_one;
	const struct unit *units; /* NULL: a whole number without */
	const char *such;
};

static const struct quantity durations = { "a duration", "not a duration", duration_units,
					   " (500ms, 10s, 5m, 2h, 1d; a bare number is seconds)" };
static const struct quantity sizes = { "a size", "not a size", size_units,
				       " (64K, 1M, 2G; a bare number is bytes)" };
static const struct quantity counts = { "a whole number", "not a number", NULL, "" };

enum {
	BOUND_MAX = 32,
	FORM_MAX = 192
};

/* A bound exactly, in the largest of its units. */
static const char *bound(const struct unit *units, uint64_t value, char buf[BOUND_MAX])
{
	const struct unit *best = NULL;

	for (const struct unit *unit = units; unit && unit->name && value; unit++)
		if (*unit->name && value % unit->value == 0 && (!best || unit->value > best->value))
			best = unit;
	snprintf(buf, BOUND_MAX, "%llu%s", (unsigned long long)(best ? value / best->value : value),
		 best ? best->name : "");
	return buf;
}

/* What is wrong with a value, in words. */
static const char *wrong(int r, const char *arg, const struct quantity *quantity)
{
	if (arg[0] == '-' && arg[1])
		return "negative";
	if (r < 0)
		return r == -ERANGE ? "too large" : quantity->not_one;
	return "too small";
}

/* @other: words that are taken in place of a quantity, ", or off"; "" none. */
static bool option_within(const struct cli *cli, const char *option, const char *arg,
			  const struct quantity *quantity, uint64_t least, uint64_t most,
			  const char *other, uint64_t *ret_value)
{
	char form[FORM_MAX], low[BOUND_MAX], high[BOUND_MAX];
	uint64_t value = 0;
	int r = quantity->units ? parse_measure(arg, quantity->units, &value)
				: parse_count(arg, &value);

	if (r == 0 && value > most)
		r = -ERANGE;
	if (r == 0 && value >= least) {
		*ret_value = value;
		return true;
	}
	snprintf(form, sizeof(form), "%s from %s to %s%s%s", quantity->what,
		 bound(quantity->units, least, low), bound(quantity->units, most, high),
		 quantity->such, other);
	return refuse(cli, option, arg, wrong(r, arg, quantity), form);
}

bool option_duration_from(const struct cli *cli, const char *option, const char *arg,
			  uint64_t least_ns, const char *other, uint64_t *ret_ns)
{
	return option_within(cli, option, arg, &durations, least_ns, DURATION_MOST_NS, other,
			     ret_ns);
}

bool option_duration(const struct cli *cli, const char *option, const char *arg, uint64_t *ret_ns)
{
	return option_duration_from(cli, option, arg, 0, "", ret_ns);
}

bool option_time_limit(const struct cli *cli, const char *option, const char *arg, uint64_t *ret_ns)
{
	return option_duration_from(cli, option, arg, 1, "", ret_ns);
}

bool option_backoff(const struct cli *cli, const char *arg, uint64_t *ret_ns, uint64_t *ret_cap_ns)
{
	const char *colon = strchr(arg, ':');
	char *first = strndup(arg, colon ? (size_t)(colon - arg) : strlen(arg));
	bool ok = first && option_time_limit(cli, "--backoff", first, ret_ns);

	free(first);
	if (ok && colon)
		ok = option_time_limit(cli, "--backoff", colon + 1, ret_cap_ns);
	if (ok && colon && *ret_cap_ns < *ret_ns)
		return refuse(cli, "--backoff", arg, "the cap is below the first wait",
			      "D:CAP with CAP at least D");
	return ok;
}

bool option_size(const struct cli *cli, const char *option, const char *arg, uint64_t least,
		 uint64_t most, uint64_t *ret_bytes)
{
	return option_within(cli, option, arg, &sizes, least, most, "", ret_bytes);
}

bool option_count_or(const struct cli *cli, const char *option, const char *arg, uint64_t least,
		     uint64_t most, const char *other, uint64_t *ret_count)
{
	return option_within(cli, option, arg, &counts, least, most, other, ret_count);
}

bool option_count(const struct cli *cli, const char *option, const char *arg, uint64_t least,
		  uint64_t most, uint64_t *ret_count)
{
	return option_count_or(cli, option, arg, least, most, "", ret_count);
}

bool option_priority(const struct cli *cli, const char *arg, int32_t *ret_priority)
{
	const int r = tq_priority_parse(arg, ret_priority);

	return r == 0 || refuse(cli, "--priority", arg,
				r == -ERANGE ? "out of range" : "not a priority", FORM_PRIORITY);
}

bool option_name(const struct cli *cli, const char *option, const char *arg, const char **ret_name)
{
	if (!name_ok(arg))
		return refuse(cli, option, arg, "not a name", FORM_NAME);
	*ret_name = arg;
	return true;
}

bool operands_ids(struct cli *cli, uint64_t **ret_ids)
{
	uint64_t *ids = calloc((size_t)cli->operand_count + 1, sizeof(*ids));
	bool ok = ids != NULL;

	cli->exit_code = cli->transparent ? CLI_SELF : CLI_USAGE;
	for (int i = 0; ids && i < cli->operand_count; i++)
		if (tq_task_id_parse(cli->operands[i], &ids[i]) < 0)
			ok = refuse(cli, "id", cli->operands[i], "not a task id", FORM_ID);
	if (!ok) {
		free(ids);
		return false;
	}
	*ret_ids = ids;
	return true;
}
