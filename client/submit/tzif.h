/* SPDX-License-Identifier: MIT */
/*
 * Time zones from the system's files, as RFC 8536 describes them, and from POSIX strings
 * such as CET-1CEST,M3.5.0,M10.5.0/3.  Not through the C library: it knows one zone a
 * process, and a library does not set its host's.
 */
#ifndef TQI_CLIENT_SUBMIT_TZIF_H
#define TQI_CLIENT_SUBMIT_TZIF_H

#include "scheduler/time/zone.h"

#define TQI_ZONE_NAME_MAX 64

/*
 * The zone of that name (NULL: that of TZ, else the system's), from `now_s` on; freed by
 * free().  -ENOENT no such zone; -EINVAL not a zone's file; -ENOMEM, or what open() says.
 * `ret_name` gets its name.
 */
int tqi_tzif_load(const char *name, int64_t now_s, struct tqi_zone **ret_zone,
		  char ret_name[TQI_ZONE_NAME_MAX + 1]);
/* Of the bytes of a file. */
int tqi_tzif_decode(const unsigned char *bytes, uint64_t count, int64_t now_s,
		    struct tqi_zone **ret_zone);
/* A POSIX string. */
bool tqi_tzif_rule(const char *text, struct tqi_zone_rule *ret_rule);

#endif
