/* SPDX-License-Identifier: MIT */
/*
 * Cron expressions: five fields, or a word such as @daily, and the next time that one
 * means.  Pure: the zone is data (scheduler/time/zone.h).
 *
 * CR-1  One of fixed minutes and hours means times of the day: each local minute that
 *     matches fires once, at its first occurrence if clocks are set back over it, and at
 *     the jump if they are set forward over it.  One with * or a step in minute or hour
 *     means a pace: it fires whenever clocks show a minute that matches, twice if they
 *     are set back over it, and not if they are set forward over it.
 * CR-2  Day of month and day of week: when both say which, either will do; one that begins
 *     with * leaves it to the other.
 */
#ifndef TQI_SCHEDULER_TIME_CRON_H
#define TQI_SCHEDULER_TIME_CRON_H

#include "scheduler/time/zone.h"

#define TQI_CRON_MAX 255 /* bytes of an expression */

struct tqi_cron {
	uint64_t minutes; /* bit per value, in all of them */
	uint32_t hours;
	uint32_t days; /* from bit 1 */
	uint16_t months; /* from bit 1 */
	uint8_t weekdays; /* bit 0 Sunday */
	uint8_t any;	  /* TQI_CRON_ANY_* */
	uint8_t paced;	  /* 1: minute or hour has * or a step (CR-1) */
	uint8_t reserved0[3];
};

#define TQI_CRON_ANY_DAY (1u << 0)
#define TQI_CRON_ANY_WEEKDAY (1u << 1)

/*
 * Read one.  False: in `error` (of `room` bytes) what is wrong, naming the field and the
 * accepted form.
 */
bool tqi_cron_parse(const char *text, struct tqi_cron *ret_cron, char *error, uint32_t room);
/* Whether one that was stored can be what it says: it comes at all. */
bool tqi_cron_is_sound(const struct tqi_cron *cron);

/* The first time after `after_s`, in seconds since 1970; INT64_MAX not within 60 years. */
int64_t tqi_cron_next(const struct tqi_cron *cron, const struct tqi_zone *zone, int64_t after_s);

#endif
