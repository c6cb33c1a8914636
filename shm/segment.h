/* SPDX-License-Identifier: MIT */
/* A process's view of a segment: create, attach, detach. */
#ifndef TQI_SHM_SEGMENT_H
#define TQI_SHM_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/layout.h"
#include "shm/ops.h"

#define TQI_PATH_MAX 256
#define TQI_SPIN_NS 3000ull /* a hold or two; to sleep and be woken costs as much at least */

struct tqi_overlay;

/* Private to the process; nothing of it is in the segment. */
struct tqi_segment {
	unsigned char *base; /* max_bytes mapped, once, for the life of the handle */
	const struct tqi_ops *ops;
	const struct tqi_schema *schema;
	struct tqi_geometry geometry;
	int fd;
	bool readonly;
	uint32_t spin; /* pauses that its lock is waited for before a sleep; 0 it is not */
	dev_t dev; /* of the file: tells it from a successor under the same name */
	ino_t ino;
	char path[TQI_PATH_MAX];
	struct tqi_overlay *overlay; /* of which this is the memory (shm/overlay.h); NULL of none */
};

struct tqi_segment_config {
	uint64_t max_bytes; /* 0 = min(1 GiB, half of the tmpfs) */
	uint64_t tasks_max; /* 0 = max_bytes / 256 */
	uint64_t ring_entries; /* 0 = no ring */
	uint32_t mode;	    /* 0 = 0600 */
	/* Fills the schema's root before the segment gets its name. */
	void (*init)(struct tqi_segment *seg, void *arg);
	void *init_arg;
};

/* Name or absolute path to path; -EINVAL for a bad name. */
int tqi_segment_path(const char *name, char path[TQI_PATH_MAX]);

/* Make a complete segment under `path`; -EEXIST when the name is taken. */
int tqi_segment_create(const char *path, const struct tqi_schema *schema,
		       const struct tqi_segment_config *config);

/* Attach; checks everything it will rely on.  `foreign`: see TQ_OPEN_FOREIGN. */
int tqi_segment_attach(const char *path, const struct tqi_schema *schema, bool readonly,
		       bool foreign, struct tqi_segment *ret_seg);
/* The same for an open file that was `path` and has no name any more; takes the descriptor. */
int tqi_segment_attach_orphan(int fd, const char *path, const struct tqi_schema *schema,
			      struct tqi_segment *ret_seg);
void tqi_segment_detach(struct tqi_segment *seg);

/* Whether the name still leads to this segment. */
bool tqi_segment_is_named(const struct tqi_segment *seg);

static inline struct tqi_header *tqi_segment_header(const struct tqi_segment *seg)
{
	return (struct tqi_header *)(void *)seg->base;
}

static inline struct tqi_core *tqi_segment_core(const struct tqi_segment *seg)
{
	return (struct tqi_core *)(void *)(seg->base + seg->geometry.core);
}

static inline struct tqi_undo *tqi_segment_journal(const struct tqi_segment *seg)
{
	return (struct tqi_undo *)(void *)(seg->base + seg->geometry.journal);
}

static inline void *tqi_segment_root(const struct tqi_segment *seg)
{
	return seg->base + seg->geometry.root;
}

#endif
