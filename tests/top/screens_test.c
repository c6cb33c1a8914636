/* SPDX-License-Identifier: MIT */
/*
 * H8: what stands on the screen, for models that are the same in every run.
 *
 *   screens_test DIR            compares with DIR/NAME.txt
 *   screens_test DIR --update   writes these files; look at what has changed
 *
 * A file has the text, a line of dashes, and a letter for the role of each cell.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "model_fixture.h" /* before cmocka.h, which has a macro fail() */

#include <cmocka.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *directory;
static bool is_update;

struct screen {
	struct ui ui;
	struct model model;
	struct cells cells;
};

static void begin(struct screen *s, unsigned view, int width, int height)
{
	memset(s, 0, sizeof(*s));
	fixture_model(&s->model);
	s->ui.view = view;
	assert_true(cells_resize(&s->cells, width, height));
}

static void press(struct screen *s, int key)
{
	const struct press press = { .key = key };

	fixture_update(&s->ui, &s->model);
	ui_press(&s->ui, &s->model, &press, s->cells.width);
	if (s->ui.detail.kind == DETAIL_HELP)
		detail_read(&s->ui.detail, &s->model, NULL);
}

static char *read_file(const char *path)
{
	char *text = calloc(1, 1 << 18);
	FILE *file = fopen(path, "r");

	if (file) {
		text[fread(text, 1, (1 << 18) - 1, file)] = '\0';
		fclose(file);
	}
	return text;
}

static void compare(const char *name, char *drawn)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.txt", directory, name);
	if (is_update) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(drawn, file);
		fclose(file);
	}
	char *wanted = read_file(path);

	if (strcmp(drawn, wanted) != 0)
		print_error("%s is drawn differently; now:\n%s", name, drawn);
	assert_string_equal(drawn, wanted);
	free(wanted);
	free(drawn);
}

static void end(struct screen *s, const char *name)
{
	char *drawn = NULL;
	size_t bytes;
	FILE *out = open_memstream(&drawn, &bytes);

	fixture_update(&s->ui, &s->model);
	frame_draw(&s->ui, &s->model, &s->cells, NULL, NULL);
	cells_dump(&s->cells, out);
	fputs("----------\n", out);
	cells_dump_roles(&s->cells, out);
	fclose(out);
	compare(name, drawn);
	ui_free(&s->ui);
	cells_free(&s->cells);
}

static void h8_views(void **state)
{
	static const int sizes[][2] = { { 80, 24 }, { 120, 40 }, { 200, 60 } };
	struct screen s;

	(void)state;
	for (unsigned view = 0; view < VIEW_COUNT; view++)
		for (unsigned i = 0; i < 3; i++) {
			char name[64];

			begin(&s, view, sizes[i][0], sizes[i][1]);
			snprintf(name, sizeof(name), "%s-%dx%d", views[view]->name, sizes[i][0],
				 sizes[i][1]);
			end(&s, name);
		}
}

static void h8_ascii(void **state)
{
	struct screen s;

	(void)state;
	begin(&s, NUMBER_view_overview, 80, 24);
	s.cells.ascii = true;
	end(&s, "ascii-overview");
	begin(&s, NUMBER_view_tasks, 80, 24);
	s.cells.ascii = true;
	end(&s, "ascii-tasks");
}

static void h8_sizes(void **state)
{
	static const int sizes[][2] = { { 1, 1 }, { 39, 24 }, { 80, 7 }, { 40, 8 }, { 81, 25 } };
	struct screen s;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		char name[64];

		begin(&s, NUMBER_view_overview, sizes[i][0], sizes[i][1]);
		snprintf(name, sizeof(name), "size-%dx%d", sizes[i][0], sizes[i][1]);
		end(&s, name);
	}
}

static void h8_questions(void **state)
{
	struct screen s;

	(void)state;
	begin(&s, NUMBER_view_tasks, 80, 24);
	press(&s, 'j');
	press(&s, 'C');
	end(&s, "ask-cancel");
	begin(&s, NUMBER_view_tasks, 80, 24);
	press(&s, 'N');
	end(&s, "ask-priority");
	begin(&s, NUMBER_view_workers, 80, 24);
	press(&s, 'j');
	press(&s, 'K');
	end(&s, "ask-kill");
	begin(&s, NUMBER_view_groups, 80, 24);
	press(&s, 'j');
	press(&s, 'C');
	end(&s, "ask-cancel-group");
	begin(&s, NUMBER_view_groups, 80, 24);
	press(&s, 'S');
	end(&s, "ask-seal");
	begin(&s, NUMBER_view_queues, 80, 24);
	press(&s, '/');
	press(&s, 'm');
	press(&s, 'a');
	end(&s, "filter-typed");
	begin(&s, NUMBER_view_queues, 80, 24);
	s.ui.read_only = true;
	press(&s, 'P');
	end(&s, "read-only");
	begin(&s, NUMBER_view_overview, 80, 24);
	press(&s, '?');
	end(&s, "help");
}

static void h8_tables(void **state)
{
	struct screen s;

	(void)state;
	begin(&s, NUMBER_view_queues, 80, 24);
	press(&s, '>');
	press(&s, 'I');
	end(&s, "queues-sorted-otherwise");
	begin(&s, NUMBER_view_queues, 80, 24);
	for (int i = 0; i < 9; i++)
		press(&s, 'l');
	end(&s, "queues-columns-right");
	begin(&s, NUMBER_view_queues, 80, 24);
	snprintf(s.ui.tables[NUMBER_view_queues].filter, FILTER_MAX, "no such");
	end(&s, "nothing-matches");
	begin(&s, NUMBER_view_tasks, 80, 24);
	s.model.pass.is_complete = false;
	s.model.pass.looked = 370;
	s.model.pass.left = 630;
	end(&s, "tasks-scanning");
	begin(&s, NUMBER_view_tasks, 80, 24);
	s.model.pass.is_complete = false;
	s.model.pass.left = 630;
	s.model.pass.pick_count = 0;
	snprintf(s.ui.tables[NUMBER_view_tasks].filter, FILTER_MAX, "no such");
	end(&s, "tasks-none-yet");
	begin(&s, NUMBER_view_trace, 40, 12);
	end(&s, "Trace-40x12");
	begin(&s, NUMBER_view_overview, 80, 24);
	s.model.has_rates = false;
	end(&s, "overview-no-rates");
	begin(&s, NUMBER_view_trace, 80, 24);
	press(&s, 'k');
	end(&s, "trace-paused");
	begin(&s, NUMBER_view_trace, 80, 24);
	s.model.recorder = (struct recorder){ .error = -ENODATA };
	end(&s, "trace-off");
}

/* H8: what is wrong, in plain words. */
static void h8_troubles(void **state)
{
	static const struct {
		const char *name;
		int error;
		bool removed;
		struct tq_lock_holder lock;
	} cases[] = {
		{ "no-segment", -ENOENT, false, { 0 } },
		{ "cut-off", TQ_ECORRUPT, false, { 0 } },
		{ "incompatible", TQ_ELAYOUT, false, { 0 } },
		{ "not-ours", -EPERM, false, { 0 } },
		{ "no-memory", -ENOMEM, false, { 0 } },
		{ "no-descriptors", -EMFILE, false, { 0 } },
		{ "removed", 0, true, { 0 } },
		{ "lock-stopped",
		  0,
		  false,
		  { .tid = 123, .pid = 123, .state = 'T', .held_ns = 8000000000 } },
		{ "lock-stuck",
		  0,
		  false,
		  { .tid = 124, .pid = 123, .state = 'R', .held_ns = 8000000000 } },
	};
	struct screen s;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[64];

		begin(&s, NUMBER_view_overview, 100, 24);
		s.model.now.error = cases[i].error;
		s.model.now.removed = cases[i].removed;
		s.model.now.lock = cases[i].lock;
		trouble_find(&s.model, &s.model.now);
		snprintf(name, sizeof(name), "trouble-%s", cases[i].name);
		end(&s, name);
	}
}

/* One who is only seen with the lock has done nothing wrong. */
static void h8_lock_in_use(void **state)
{
	struct model model;
	struct sample before = { 0 };

	(void)state;
	fixture_model(&model);
	model.now.lock =
		(struct tq_lock_holder){ .tid = 5, .pid = 5, .state = 'R', .held_ns = 9000000000 };
	trouble_find(&model, &before);
	for (unsigned i = 0; i < model.trouble_count; i++)
		assert_null(strstr(model.troubles[i].text, "lock held"));
}

static void h8_detail_of_task(void **state)
{
	struct task_facts facts = { .command = "mail -s 'your order' a@example.org",
				    .history_count = 1,
				    .history = { { .started_ns = 1000000000,
						   .ended_ns = 3000000000,
						   .number = 1,
						   .worker = 2,
						   .worker_pid = 4001,
						   .cause = TQ_CAUSE_EXIT,
						   .cause_arg = 3 } } };
	struct screen s;

	(void)state;
	begin(&s, NUMBER_view_tasks, 80, 24);
	facts.clocks = s.model.now.clocks;
	facts.info = s.model.tasks[7].info;
	s.ui.detail.kind = DETAIL_TASK;
	s.ui.detail.id = facts.info.id;
	detail_task_lines(&s.ui.detail.lines, &facts);
	end(&s, "detail-task");
}

/* Sentences are broken at words, what has none at the edge; nothing is left out. */
static void h8_detail_is_wrapped(void **state)
{
	struct screen s;

	(void)state;
	for (unsigned first = 0; first < 4; first += 3) {
		begin(&s, NUMBER_view_tasks, 80, 24);
		s.cells.height = 11;
		s.ui.detail = (struct detail){ .kind = DETAIL_TASK, .id = 1 << 24, .first = first };
		struct lines *lines = &s.ui.detail.lines;

		lines_add(lines, ROLE_WARN, "blocked",
			  "waits for the 3 tasks that it comes after, of which the first has not "
			  "been claimed because its queue has been paused since 11:58:00");
		lines_add(lines, ROLE_STRONG, "command", "%0150d \x1b[2J 写真写真写真", 7);
		lines_add(lines, ROLE_TEXT, "", "%079d", 1);
		lines_add(lines, ROLE_TEXT, "", "%079d and no more", 2);
		lines_add(lines, ROLE_TEXT, "queue", "mail");
		assert_int_equal(lines_rows(lines, &s.cells), 9);
		end(&s, first ? "detail-wrapped-scrolled" : "detail-wrapped");
	}
}

static void h8_tail(void **state)
{
	static char text[] = "first\nloading 10 %\rloading 99 %\r\nred \x1b[31m ink\nlast";
	struct tail tail = { .text = text, .bytes = sizeof(text) - 1 };
	struct lines lines = { 0 };

	(void)state;
	tail_lines(&tail, &lines);
	assert_int_equal(lines.count, 4);
	assert_string_equal(lines.at[1].value, "loading 99 %");
	assert_string_equal(lines.at[3].value, "last");
	lines_free(&lines);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(h8_views),
		cmocka_unit_test(h8_ascii),
		cmocka_unit_test(h8_sizes),
		cmocka_unit_test(h8_questions),
		cmocka_unit_test(h8_tables),
		cmocka_unit_test(h8_troubles),
		cmocka_unit_test(h8_lock_in_use),
		cmocka_unit_test(h8_detail_of_task),
		cmocka_unit_test(h8_detail_is_wrapped),
		cmocka_unit_test(h8_tail),
	};

	if (argc < 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
		return 77;
	directory = argv[1];
	is_update = argc > 2 && !strcmp(argv[2], "--update");
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
