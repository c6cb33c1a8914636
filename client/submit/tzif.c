/* SPDX-License-Identifier: MIT */
/* Finding and reading a zone's file. */
#include "client/submit/tzif.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY "/usr/share/zoneinfo/"
#define LOCAL "/etc/localtime"
#define FILE_MAX (256u << 10) /* the largest has 4 KiB */
#define HEADER_BYTES 44
#define TYPE_BYTES 6
#define TIME_BYTES 8
#define FOOTER_MAX 128

/* What a header says that follows. */
struct counts {
	uint32_t utc, standard, leap, times, types, chars;
};

static uint64_t read_big(const unsigned char *p, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

static bool read_header(const unsigned char *p, uint64_t left, struct counts *ret_counts)
{
	if (left < HEADER_BYTES || memcmp(p, "TZif", 4) != 0 || p[4] < '2')
		return false; /* the first version says nothing of the future */
	uint32_t *field[] = { &ret_counts->utc,	  &ret_counts->standard, &ret_counts->leap,
			      &ret_counts->times, &ret_counts->types,	 &ret_counts->chars };

	for (unsigned i = 0; i < 6; i++) {
		*field[i] = (uint32_t)read_big(p + 20 + 4 * i, 4);
		if (*field[i] > FILE_MAX)
			return false;
	}
	return true;
}

static uint64_t data_bytes(const struct counts *c, unsigned time_bytes)
{
	return (uint64_t)c->times * (time_bytes + 1) + (uint64_t)c->types * TYPE_BYTES + c->chars +
	       (uint64_t)c->leap * (time_bytes + 4) + c->standard + c->utc;
}

/* The block of 64-bit times. */
struct data {
	struct counts counts;
	const unsigned char *times;
	const unsigned char *which; /* type after each */
	const unsigned char *types;
	const unsigned char *footer;
	uint64_t footer_bytes;
};

static bool find_data(const unsigned char *bytes, uint64_t count, struct data *d)
{
	struct counts first;

	if (!read_header(bytes, count, &first))
		return false;
	uint64_t at = HEADER_BYTES + data_bytes(&first, 4);

	if (at > count || !read_header(bytes + at, count - at, &d->counts))
		return false;
	at += HEADER_BYTES;
	/* Without types there is no time; with leap seconds it is not the system's. */
	if (!d->counts.types || d->counts.leap || data_bytes(&d->counts, TIME_BYTES) > count - at)
		return false;
	d->times = bytes + at;
	d->which = d->times + (uint64_t)d->counts.times * TIME_BYTES;
	d->types = d->which + d->counts.times;
	d->footer = bytes + at + data_bytes(&d->counts, TIME_BYTES);
	d->footer_bytes = count - (uint64_t)(d->footer - bytes);
	return true;
}

static int64_t time_of(const struct data *d, uint32_t i)
{
	return (int64_t)read_big(d->times + (uint64_t)i * TIME_BYTES, TIME_BYTES);
}

/* Offset after a change. */
static bool offset_of(const struct data *d, uint32_t type, int32_t *ret_offset)
{
	if (type >= d->counts.types)
		return false;
	*ret_offset = (int32_t)read_big(d->types + (uint64_t)type * TYPE_BYTES, 4);
	return true;
}

static bool read_footer(const struct data *d, struct tqi_zone *zone)
{
	char text[FOOTER_MAX];
	uint64_t bytes = 0;

	if (d->footer_bytes < 2 || d->footer[0] != '\n')
		return false;
	while (1 + bytes < d->footer_bytes && bytes < sizeof(text) - 1 &&
	       d->footer[1 + bytes] != '\n')
		bytes++;
	memcpy(text, d->footer + 1, bytes);
	text[bytes] = '\0';
	if (!bytes)
		return true; /* nothing is known beyond the last change */
	zone->has_rule = 1;
	return tqi_tzif_rule(text, &zone->rule);
}

/* The changes that are still to come, and the one before. */
static bool fill(const struct data *d, uint32_t first, uint32_t count, struct tqi_zone *zone)
{
	zone->count = count;
	if (!offset_of(d, first ? d->which[first - 1] : 0, &zone->offset_s))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		zone->changes[i].at_s = time_of(d, first + i);
		if (!offset_of(d, d->which[first + i], &zone->changes[i].offset_s))
			return false;
	}
	return read_footer(d, zone) && tqi_zone_is_sound(zone, count);
}

int tqi_tzif_decode(const unsigned char *bytes, uint64_t count, int64_t now_s,
		    struct tqi_zone **ret_zone)
{
	uint32_t first = 0;
	struct data d;

	if (!find_data(bytes, count, &d))
		return -EINVAL;
	while (first < d.counts.times && time_of(&d, first) <= now_s)
		first++;
	first = first ? first - 1 : 0;
	uint32_t changes = d.counts.times - first;

	if (changes > TQI_ZONE_CHANGES_MAX)
		return -EINVAL;
	struct tqi_zone *zone = calloc(1, tqi_zone_bytes(changes));

	if (!zone)
		return -ENOMEM;
	if (!fill(&d, first, changes, zone)) {
		free(zone);
		return -EINVAL;
	}
	*ret_zone = zone;
	return 0;
}

static int read_all(int fd, unsigned char *bytes, uint64_t *ret_count)
{
	*ret_count = 0;
	while (*ret_count < FILE_MAX) {
		ssize_t n = read(fd, bytes + *ret_count, FILE_MAX - *ret_count);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		*ret_count += n > 0 ? (uint64_t)n : 0;
	}
	return -EINVAL;
}

static int load_file(const char *path, int64_t now_s, struct tqi_zone **ret_zone)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char *bytes = fd < 0 ? NULL : malloc(FILE_MAX);
	uint64_t count;
	int r = fd < 0 ? -errno : bytes ? 0 : -ENOMEM;

	if (r == 0)
		r = read_all(fd, bytes, &count);
	if (r == 0)
		r = tqi_tzif_decode(bytes, count, now_s, ret_zone);
	free(bytes);
	if (fd >= 0)
		close(fd);
	return r == -EISDIR || r == -ENOTDIR ? -ENOENT : r;
}

static int load_rule(const char *text, struct tqi_zone **ret_zone)
{
	struct tqi_zone_rule rule;

	if (!tqi_tzif_rule(text, &rule))
		return -ENOENT;
	*ret_zone = calloc(1, tqi_zone_bytes(0));
	if (!*ret_zone)
		return -ENOMEM;
	(*ret_zone)->has_rule = 1;
	(*ret_zone)->rule = rule;
	(*ret_zone)->offset_s = rule.standard_s;
	return 0;
}

/* A name below the directory, and nothing else. */
static bool is_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._+-/";

	return *name && *name != '/' && !strstr(name, "..") &&
	       strspn(name, allowed) == strlen(name);
}

static int load_named(const char *name, int64_t now_s, struct tqi_zone **ret_zone)
{
	char path[sizeof(DIRECTORY) + TQI_ZONE_NAME_MAX];
	int r = -ENOENT;

	if (is_name(name)) {
		snprintf(path, sizeof(path), DIRECTORY "%s", name);
		r = load_file(path, now_s, ret_zone);
	}
	if (r == -ENOENT && strcmp(name, "UTC") == 0)
		return load_rule("UTC0", ret_zone); /* also where no zones are installed */
	return r == -ENOENT ? load_rule(name, ret_zone) : r;
}

static void set_name(char to[TQI_ZONE_NAME_MAX + 1], const char *name)
{
	snprintf(to, TQI_ZONE_NAME_MAX + 1, "%s", name);
}

/* The name that the system's link to a zone says, for people. */
static void name_local(char name[TQI_ZONE_NAME_MAX + 1])
{
	char target[256];
	ssize_t n = readlink(LOCAL, target, sizeof(target) - 1);
	const char *found;

	set_name(name, "localtime");
	if (n <= 0)
		return;
	target[n] = '\0';
	found = strstr(target, "zoneinfo/");
	if (found && strlen(found + 9) <= TQI_ZONE_NAME_MAX)
		set_name(name, found + 9);
}

static int load_local(int64_t now_s, struct tqi_zone **ret_zone, char name[TQI_ZONE_NAME_MAX + 1])
{
	int r = load_file(LOCAL, now_s, ret_zone);

	name_local(name);
	if (r != -ENOENT)
		return r;
	set_name(name, "UTC"); /* as the C library has it */
	return load_named("UTC", now_s, ret_zone);
}

int tqi_tzif_load(const char *name, int64_t now_s, struct tqi_zone **ret_zone,
		  char ret_name[TQI_ZONE_NAME_MAX + 1])
{
	if (!name && !(name = secure_getenv("TZ")))
		return load_local(now_s, ret_zone, ret_name);
	name += *name == ':';
	if (!*name)
		name = "UTC";
	if (strlen(name) > TQI_ZONE_NAME_MAX)
		return -ENOENT;
	set_name(ret_name, name);
	return load_named(name, now_s, ret_zone);
}
