/* SPDX-License-Identifier: MIT */
/* What the parts of the comparison share. */
#ifndef TQT_COMPARE_PARTS_H
#define TQT_COMPARE_PARTS_H

#include "tests/property/compare.h"

/* False; the text is kept. */
bool differ(struct comparison *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One value; the text names record and field. */
bool same(struct comparison *c, const char *record, uint32_t index, const char *field,
	  uint64_t core, uint64_t model);
#define SAME(core, model, field)                                                                   \
	same(c, record, index, #field, (uint64_t)(core)->field, (uint64_t)(model)->field)

/* compare_group.c: a task's dependencies and membership; all groups; questions about these. */
bool compare_after(struct comparison *c, uint32_t task);
bool compare_member(struct comparison *c, uint32_t task);
bool compare_groups(struct comparison *c);
bool compare_did_after(struct comparison *c, enum model_unit unit, uint32_t dependency);
bool compare_did_group(struct comparison *c, enum model_unit unit, uint32_t index, uint32_t left);

#endif
