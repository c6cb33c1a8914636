/* SPDX-License-Identifier: MIT */
/* Tables of which the user chooses the columns: -o and -H. */
#include "tools/taskq/print/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "parse.h"
#include "tools/taskq/options/similar.h"

#define SECOND_NS 1000000000ull
#define FORM_COLUMNS "at most 64 columns"

_Static_assert(TABLE_COLUMNS_MAX == 64, "FORM_COLUMNS says so");

void column_none(const struct column_row *row)
{
	table_cell(row->table, "%s", row->exact ? "" : "-");
}

void column_text(const struct column_row *row, const char *text)
{
	if (*text)
		table_cell(row->table, "%s", text);
	else
		column_none(row);
}

void column_count(const struct column_row *row, uint64_t count)
{
	table_cell(row->table, "%llu", (unsigned long long)count);
}

void column_duration(const struct column_row *row, uint64_t ns)
{
	char text[FORMAT_MAX];

	if (row->exact) /* in seconds, as options read it */
		table_cell(row->table, "%llu.%09llu", (unsigned long long)(ns / SECOND_NS),
			   (unsigned long long)(ns % SECOND_NS));
	else
		table_cell(row->table, "%s", format_duration(ns, text));
}

void column_time(const struct column_row *row, uint64_t unix_ns)
{
	char text[FORMAT_MAX];

	table_cell(row->table, "%s",
		   row->exact ? format_utc(unix_ns, text) : format_local(unix_ns, text));
}

void column_add_word(char words[COLUMN_WORDS_MAX], const char *word)
{
	const size_t length = strlen(words);

	snprintf(words + length, COLUMN_WORDS_MAX - length, "%s%s", length ? "," : "", word);
}

static void column_size(const struct column_row *row, uint64_t bytes)
{
	char text[FORMAT_MAX];

	if (row->exact)
		column_count(row, bytes);
	else
		table_cell(row->table, "%s", format_size(bytes, text));
}

static void column_id(const struct column_row *row, uint64_t id)
{
	char text[TQ_ID_TEXT_MAX];

	column_text(row, tq_task_id_format(id, text));
}

const void *column_field(const struct column_row *row)
{
	return (const char *)row->of + row->column->offset;
}

/* A field of 64 bits, of which 0 says that there is none. */
static void put_quantity(const struct column_row *row, uint64_t value)
{
	if (value == 0 || value == TQ_UNLIMITED)
		column_none(row);
	else if (row->column->form == COLUMN_ID)
		column_id(row, value);
	else if (row->column->form == COLUMN_SIZE)
		column_size(row, value);
	else if (row->column->form == COLUMN_DURATION)
		column_duration(row, value);
	else
		column_time(row, clocks_unix_ns(row->clocks, value));
}

static void put_field(const struct column_row *row)
{
	const void *field = column_field(row);

	switch (row->column->form) {
	case COLUMN_TEXT:
		column_text(row, field);
		return;
	case COLUMN_INT:
		table_cell(row->table, "%d", *(const int32_t *)field);
		return;
	case COLUMN_COUNT32:
		column_count(row, *(const uint32_t *)field);
		return;
	case COLUMN_COUNT:
		column_count(row, *(const uint64_t *)field);
		return;
	default:
		put_quantity(row, *(const uint64_t *)field);
	}
}

bool column_is_figure(const struct column *column)
{
	return column->form != COLUMN_TEXT && column->form != COLUMN_ID &&
	       column->form != COLUMN_TIME && column->form != COLUMN_WORDS;
}

/* Who chooses. */
struct choice {
	struct cli *cli;
	struct columns *columns;
};

static void refuse_column(const struct cli *cli, const struct column *all, const char *option,
			  const char *name)
{
	struct similar similar = similar_to(name);
	char form[128];

	for (const struct column *column = all; column->name; column++)
		similar_try(&similar, column->name);
	snprintf(form, sizeof(form), "%s%s%s of those that `taskq %s -o help` lists",
		 similar.found ? "perhaps " : "", similar.found ? similar.found : "some",
		 similar.found ? ", or others" : "", cli->verb->name);
	refuse(cli, option, name, "no such column", form);
}

const struct column *columns_find(const struct cli *cli, const struct column *all,
				  const char *option, const char *name)
{
	for (const struct column *column = all; column->name; column++)
		if (!strcmp(column->name, name))
			return column;
	refuse_column(cli, all, option, name);
	return NULL;
}

static bool choose(void *ctx, const char *name)
{
	const struct choice *choice = ctx;
	struct columns *columns = choice->columns;
	const struct column *column = columns_find(choice->cli, columns->all, "--output", name);

	if (!column)
		return false;
	if (columns->count == TABLE_COLUMNS_MAX)
		return refuse(choice->cli, "--output", name, "one column too many", FORM_COLUMNS);
	columns->chosen[columns->count++] = column;
	return true;
}

bool columns_option(struct cli *cli, struct columns *columns, int key, const char *arg)
{
	struct choice choice = { cli, columns };

	switch (key) {
	case 'o':
		if (strcmp(arg, "help") != 0)
			return words_each(arg, choose, &choice);
		columns->asks_help = true;
		return true;
	case 'H':
		columns->table.plain = true;
		return true;
	default:
		return option_global(cli, NULL, key, arg);
	}
}

static void print_help(const struct columns *columns)
{
	for (const struct column *column = columns->all; column->name; column++)
		printf("%-16s %s\n", column->name, column->meaning);
}

bool columns_ready(struct cli *cli, struct columns *columns)
{
	struct choice choice = { cli, columns };

	if (columns->asks_help) {
		print_help(columns);
		cli->exit_code = CLI_OK;
		return false;
	}
	if (cli->json && (columns->count || columns->table.plain)) {
		cli->exit_code = usage(cli, "--json prints every field: leave -o and -H out");
		return false;
	}
	if (columns->count == 0 && columns->usual)
		words_each(columns->usual, choose, &choice);
	if (columns->count == 0 && columns->table.plain) {
		cli->exit_code = usage(cli, "-H is for a table: choose its columns with -o");
		return false;
	}
	for (unsigned i = 0; i < columns->count; i++)
		table_column(&columns->table, columns->chosen[i]->header,
			     column_is_figure(columns->chosen[i]));
	return true;
}

static void put_cell(const struct column_row *row)
{
	if (row->column->put)
		row->column->put(row);
	else
		put_field(row);
}

char *column_cell(const struct column *column, struct tq *tq, const struct clocks *clocks,
		  const void *of)
{
	struct table table = { .plain = true };
	const struct column_row row = { .table = &table,
					.exact = true,
					.tq = tq,
					.clocks = clocks,
					.of = of,
					.column = column };

	put_cell(&row);
	char *cell = table.cell_count ? table.cells[0] : NULL;

	free(table.cells);
	return cell;
}

void columns_row(struct columns *columns, struct tq *tq, const struct clocks *clocks,
		 const void *of)
{
	struct column_row row = {
		.table = &columns->table,
		.exact = columns->table.plain,
		.tq = tq,
		.clocks = clocks,
		.of = of,
	};

	for (unsigned i = 0; i < columns->count; i++) {
		row.column = columns->chosen[i];
		put_cell(&row);
	}
}
