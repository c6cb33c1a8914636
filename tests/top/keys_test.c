/* SPDX-License-Identifier: MIT */
/* H8: each key once, and what comes of it. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "model_fixture.h" /* before cmocka.h, which has a macro fail() */

#include <cmocka.h>
#include <string.h>

static struct ui ui;
static struct model model;

static int begin(void **state)
{
	(void)state;
	memset(&ui, 0, sizeof(ui));
	fixture_model(&model);
	ui.table_lines = 5;
	ui.detail_lines = 5;
	fixture_update(&ui, &model);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ui_free(&ui);
	return 0;
}

static enum ui_outcome press(int key)
{
	const struct press press = { .key = key };
	const enum ui_outcome outcome = ui_press(&ui, &model, &press, 80);

	fixture_update(&ui, &model);
	return outcome;
}

static struct table_state *table(void)
{
	return &ui.tables[ui.view];
}

static void type(const char *text)
{
	for (; *text; text++)
		press(*text);
}

static void h8_views_by_key(void **state)
{
	(void)state;
	for (unsigned i = 0; i < VIEW_COUNT; i++) {
		assert_int_equal(press('1' + (int)i), UI_LOOK);
		assert_int_equal(ui.view, i);
	}
	press(PRESS_TAB);
	assert_int_equal(ui.view, 0);
	press(PRESS_BACKTAB);
	assert_int_equal(ui.view, VIEW_COUNT - 1);
}

static void h8_moves(void **state)
{
	static const struct {
		int key;
		uint32_t to;
	} moves[] = { { 'j', 1 },
		      { PRESS_DOWN, 2 },
		      { 'k', 1 },
		      { PRESS_UP, 0 },
		      { PRESS_PAGE_DOWN, 5 },
		      { PRESS_PAGE_UP, 0 },
		      { 'F' - '@', 5 },
		      { 'B' - '@', 0 },
		      { 'G', 8 },
		      { 'g', 0 },
		      { PRESS_END, 8 },
		      { PRESS_HOME, 0 },
		      { PRESS_WHEEL_DOWN, 3 },
		      { PRESS_WHEEL_UP, 0 },
		      { 'k', 0 } };

	(void)state;
	press('3');
	for (unsigned i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		press(moves[i].key);
		assert_int_equal(table()->cursor, moves[i].to);
	}
}

static void h8_sorts(void **state)
{
	(void)state;
	press('2');
	const unsigned first = table()->sort;

	press('>');
	assert_int_equal(table()->sort, first + 1);
	press('<');
	assert_int_equal(table()->sort, first);
	press(PRESS_F0 + 6);
	assert_int_equal(table()->sort, first + 1);
	const bool reverse = table()->reverse;

	press('I');
	assert_int_equal(table()->reverse, !reverse);
	press('l');
	assert_int_equal(table()->skip, 1);
	press('h');
	assert_int_equal(table()->skip, 0);
	press(PRESS_RIGHT);
	assert_int_equal(table()->skip, 1);
	press(PRESS_LEFT);
	assert_int_equal(table()->skip, 0);
}

static void h8_order_of_queues(void **state)
{
	(void)state;
	press('2'); /* most ready first */
	assert_int_equal(table()->order[0], 1);
	assert_int_equal(table()->order[3], 2);
	press('I');
	assert_int_equal(table()->order[0], 2);
}

static void h8_filters(void **state)
{
	static const int openers[] = { '/', PRESS_F0 + 3, PRESS_F0 + 4 };

	(void)state;
	press('2');
	for (unsigned i = 0; i < 3; i++) {
		press(openers[i]);
		assert_int_equal(ui.mode, MODE_FILTER);
		press(PRESS_ESCAPE);
		assert_int_equal(ui.mode, MODE_VIEW);
	}
	press('/');
	type("MAx");
	press(PRESS_BACKSPACE);
	assert_int_equal(table()->count, 2); /* images and mail */
	press(PRESS_ENTER);
	assert_string_equal(table()->filter, "MA");
	press('/');
	type("il");
	assert_int_equal(table()->count, 1);
	press('U' - '@');
	assert_int_equal(table()->count, 4);
	press(PRESS_ESCAPE);
	assert_string_equal(table()->filter, "MA");
	press(PRESS_ESCAPE);
	assert_int_equal(table()->count, 4);
}

static void h8_details(void **state)
{
	static const enum detail_kind kinds[VIEW_COUNT] = { DETAIL_QUEUE, DETAIL_QUEUE,
							    DETAIL_TASK,  DETAIL_WORKER,
							    DETAIL_LIMIT, DETAIL_GROUP,
							    DETAIL_TASK };
	static const int leavers[] = { 'q',	      PRESS_ESCAPE, PRESS_ENTER, PRESS_BACKSPACE,
				       PRESS_F0 + 10, 'q',	    PRESS_ESCAPE };

	(void)state;
	for (unsigned i = 0; i < VIEW_COUNT; i++) {
		press('1' + (int)i);
		press(PRESS_ENTER);
		assert_int_equal(ui.detail.kind, kinds[i]);
		assert_int_equal(press(leavers[i]), UI_LOOK);
		assert_int_equal(ui.detail.kind, DETAIL_NONE);
	}
	press('3');
	press(PRESS_ENTER);
	press('f');
	assert_true(ui.detail.follow);
	press('k');
	assert_false(ui.detail.follow);
}

static void h8_others(void **state)
{
	(void)state;
	assert_int_equal(press(' '), UI_LOOK);
	assert_int_equal(press('L' - '@'), UI_LOOK);
	assert_int_equal(press(PRESS_F0 + 5), UI_LOOK);
	assert_int_equal(press(PRESS_RESIZE), UI_DRAW);
	assert_int_equal(press('~'), UI_NOTHING);
	press('z');
	assert_true(ui.is_frozen);
	press('z');
	assert_false(ui.is_frozen);
	press('?');
	assert_int_equal(ui.detail.kind, DETAIL_HELP);
	press('q');
	press(PRESS_F0 + 1);
	assert_int_equal(ui.detail.kind, DETAIL_HELP);
	press('q');
	assert_int_equal(press('q'), UI_QUIT);
	assert_int_equal(press(PRESS_F0 + 10), UI_QUIT);
}

static void h8_actions_ask(void **state)
{
	static const struct {
		int view, key, kind;
	} keys[] = { { '3', 'C', 'C' },		 { '3', 'R', 'R' }, { '3', 'H', 'H' },
		     { '3', PRESS_F0 + 9, 'C' }, { '2', 'P', 'P' }, { '1', 'P', 'P' },
		     { '4', 'T', 'T' },		 { '4', 'K', 'K' }, { '4', PRESS_F0 + 9, 'T' },
		     { '6', 'C', 'C' },		 { '6', 'S', 'S' }, { '6', PRESS_F0 + 9, 'C' } };

	(void)state;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		press(keys[i].view);
		assert_int_equal(press(keys[i].key), UI_DRAW);
		assert_int_equal(ui.mode, MODE_CONFIRM);
		assert_int_equal(ui.action.kind->key, keys[i].kind);
		assert_int_equal(press('x'), UI_DRAW); /* anything but yes is no */
		assert_int_equal(ui.mode, MODE_VIEW);
		press(keys[i].key);
		assert_int_equal(press('n'), UI_DRAW);
		press(keys[i].key);
		assert_int_equal(press('y'), UI_ACT);
		assert_int_equal(ui.mode, MODE_VIEW);
	}
}

/* In details it is done to what they are of, not to the line behind them. */
static void h8_actions_in_details(void **state)
{
	struct task_row other = model.tasks[3];

	(void)state;
	press('3');
	press(PRESS_ENTER);
	assert_int_equal(press('C'), UI_NOTHING); /* nothing has been read yet */
	detail_set_row(&ui.detail, SUBJECT_TASK, &other, sizeof(other));
	assert_int_equal(press('C'), UI_DRAW);
	assert_int_equal(ui.mode, MODE_CONFIRM);
	assert_int_equal(ui.action.id, other.info.id);
	press('n');
	assert_int_equal(press(PRESS_F0 + 8), UI_DRAW);
	assert_int_equal(ui.mode, MODE_PRIORITY);
	press(PRESS_ESCAPE);
	assert_int_equal(press('K'), UI_NOTHING);
	ui.read_only = true;
	press('C');
	assert_int_equal(ui.mode, MODE_VIEW);
	assert_true(ui.message_is_bad);
}

static void h8_lower_case_does_nothing(void **state)
{
	(void)state;
	press('3');
	for (int key = 'a'; key <= 'z'; key++) {
		if (key == 'q')
			continue;
		press(key);
		assert_int_equal(ui.mode, MODE_VIEW);
	}
}

static void h8_priority(void **state)
{
	static const int openers[] = { 'N', PRESS_F0 + 7, PRESS_F0 + 8 };

	(void)state;
	press('3');
	for (unsigned i = 0; i < 3; i++) {
		press(openers[i]);
		assert_int_equal(ui.mode, MODE_PRIORITY);
		press('U' - '@');
		type("high");
		assert_int_equal(press(PRESS_ENTER), UI_ACT);
		assert_int_equal(ui.action.priority, TQ_PRIORITY_HIGH);
	}
	press('N');
	type("x");
	assert_int_equal(press(PRESS_ENTER), UI_DRAW);
	assert_true(ui.message_is_bad);
	press('N');
	assert_int_equal(press(PRESS_ESCAPE), UI_DRAW);
}

static void h8_read_only(void **state)
{
	static const char keys[] = "CRHN";

	(void)state;
	ui.read_only = true;
	press('3');
	for (unsigned i = 0; keys[i]; i++) {
		press(keys[i]);
		assert_int_equal(ui.mode, MODE_VIEW);
		assert_true(ui.message_is_bad);
	}
}

/* The trace goes on at its end, and stands still for who has gone up. */
static void h8_trace_follows(void **state)
{
	(void)state;
	press('7');
	assert_int_equal(table()->cursor, 6);
	press('k');
	assert_true(table()->is_paused);
	model.recorder.shown_count = 6; /* as if one had come since */
	fixture_update(&ui, &model);
	assert_int_equal(table()->cursor, 5);
	press('k');
	model.recorder.shown_count = 7;
	fixture_update(&ui, &model);
	assert_int_equal(table()->cursor, 4);
	press('F');
	assert_false(table()->is_paused);
	assert_int_equal(table()->cursor, 6);
	press('g');
	assert_int_equal(table()->cursor, 0);
	press('G');
	assert_false(table()->is_paused);
}

/* It has one order, and a gap is no task. */
static void h8_trace_has_one_order(void **state)
{
	(void)state;
	press('7');
	assert_int_equal(press('>'), UI_NOTHING);
	assert_int_equal(press(PRESS_F0 + 6), UI_NOTHING);
	press('I');
	assert_false(table()->reverse);
	press('g');
	for (int i = 0; i < 3; i++)
		press('j');
	press(PRESS_ENTER);
	assert_int_equal(ui.detail.kind, DETAIL_NONE);
	press('j');
	press(PRESS_ENTER);
	assert_int_equal(ui.detail.kind, DETAIL_TASK);
	assert_int_equal(ui.detail.id, model.recorder.entries[4].task);
}

/* The cursor goes with its row only when told to. */
static void h8_follows(void **state)
{
	(void)state;
	press('2');
	press('j');
	assert_int_equal(table()->order[table()->cursor], 0);
	press('I');
	assert_int_equal(table()->cursor, 1);
	assert_int_equal(table()->order[1], 3);
	press('F');
	press('I');
	assert_int_equal(table()->order[table()->cursor], 3);
	assert_int_equal(table()->cursor, 2);
	press('F');
	press('I');
	assert_int_equal(table()->cursor, 2);
}

static void h8_mouse(void **state)
{
	struct press click = { .key = PRESS_CLICK, .x = 14, .y = 1 };

	(void)state;
	assert_int_equal(ui_press(&ui, &model, &click, 80), UI_LOOK);
	assert_int_equal(ui.view, NUMBER_view_queues);
	fixture_update(&ui, &model);
	ui.table_y = 3;
	click = (struct press){ .key = PRESS_CLICK, .x = 5, .y = 6 };
	ui_press(&ui, &model, &click, 80);
	assert_int_equal(table()->cursor, 2);
	click.y = 3; /* header of the first column */
	ui_press(&ui, &model, &click, 80);
	assert_int_equal(table()->sort, 0);
	click = (struct press){ .key = PRESS_DOUBLE_CLICK, .x = 5, .y = 4 };
	ui_press(&ui, &model, &click, 80);
	assert_int_equal(ui.detail.kind, DETAIL_QUEUE);
	click = (struct press){ .key = PRESS_CLICK, .x = 5, .y = 20 };
	assert_int_equal(ui_press(&ui, &model, &click, 80), UI_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define KEYS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		KEYS_TEST(h8_views_by_key),
		KEYS_TEST(h8_moves),
		KEYS_TEST(h8_sorts),
		KEYS_TEST(h8_order_of_queues),
		KEYS_TEST(h8_filters),
		KEYS_TEST(h8_details),
		KEYS_TEST(h8_others),
		KEYS_TEST(h8_actions_ask),
		KEYS_TEST(h8_actions_in_details),
		KEYS_TEST(h8_lower_case_does_nothing),
		KEYS_TEST(h8_priority),
		KEYS_TEST(h8_read_only),
		KEYS_TEST(h8_trace_follows),
		KEYS_TEST(h8_trace_has_one_order),
		KEYS_TEST(h8_follows),
		KEYS_TEST(h8_mouse),
#undef KEYS_TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
