/* SPDX-License-Identifier: MIT */
/* The fields of records, as the lists say. */
#include "scheduler/record/fields.h"

#define FIELD(field, sort)                                                                         \
	{ offsetof(this_record, field), sizeof(((this_record *)0)->field), TQI_SORT_##sort },
#define CASE(list, type, FIELDS)                                                                   \
	case list: {                                                                               \
		typedef struct type this_record;                                                   \
		static const struct tqi_field fields[] = { FIELDS(FIELD) };                        \
                                                                                                   \
		*ret_count = sizeof(fields) / sizeof(fields[0]);                                   \
		return fields;                                                                     \
	}

const struct tqi_field *tqi_fields_of(uint32_t list, uint32_t *ret_count)
{
	switch (list) {
		TQI_FIELDS_EACH(CASE)
	default:
		*ret_count = 0;
		return NULL;
	}
}
