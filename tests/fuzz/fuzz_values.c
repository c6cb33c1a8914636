/* SPDX-License-Identifier: MIT */
/* Values of the command line and of the interface's texts, and what is printed of any bytes. */
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"
#include "text.h"

#define NOW_NS UINT64_C(1800000000000000000) /* 2027 */

/* An id that can be read is printed so that it can be read again, as the same. */
static void ids(const char *text)
{
	char again[64];
	uint64_t id, same;

	if (tq_task_id_parse(text, &id) == 0)
		tqt_require(tq_task_id_parse(tq_task_id_format(id, again), &same) == 0 &&
			    same == id);
	if (tq_group_id_parse(text, &id) == 0)
		tqt_require(tq_group_id_parse(tq_group_id_format(id, again), &same) == 0 &&
			    same == id);
	if (tq_schedule_id_parse(text, &id) == 0)
		tqt_require(tq_schedule_id_parse(tq_schedule_id_format(id, again), &same) == 0 &&
			    same == id);
}

static void values(const char *text)
{
	uint64_t value;
	uint32_t scope;
	int32_t priority;

	(void)!tq_priority_parse(text, &priority);
	(void)!parse_duration(text, &value);
	if (parse_at(text, NOW_NS, &value) == 0)
		tqt_require(value <= INT64_MAX);
	(void)!parse_count(text, &value);
	if (parse_scope(text, &scope) == 0)
		tqt_require(strcmp(scope_name(scope), text) == 0);
	(void)!(name_ok(text) + key_ok(text) + segment_name_ok(text));
}

/* Nothing that a terminal would obey. */
static void printed(const char *text)
{
	char *safe = text_safe_copy(text, 0);

	tqt_require(safe);
	for (const char *at = safe; *at; at++)
		tqt_require((unsigned char)*at >= ' ' && *at != '\x7f');
	free(safe);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	char *text = fuzz_text(bytes, count);
	char *exact = text_exact_copy(text, count);

	tqt_require(exact);
	ids(text);
	values(text);
	printed(text);
	free(exact);
	free(text);
	return 0;
}
