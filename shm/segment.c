/* SPDX-License-Identifier: MIT */
/*
 * Creation publishes complete segments only: O_TMPFILE, fill, linkat.  A killed
 * creator leaves nothing, of two the loser gets -EEXIST.
 */
#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "shm/lock.h"
#include "taskq/error.h"

#define SHM_DIR "/dev/shm"
#define DEFAULT_BYTES (1ull << 30)
#define BYTES_PER_TASK 256 /* the record alone: more tasks never fit */

static bool name_is_valid(const char *name)
{
	size_t n =
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	return n >= 1 && n <= TQ_NAME_MAX && name[n] == '\0';
}

int tqi_segment_path(const char *name, char path[TQI_PATH_MAX])
{
	int n;

	if (name[0] == '/')
		n = snprintf(path, TQI_PATH_MAX, "%s", name);
	else if (name_is_valid(name))
		n = snprintf(path, TQI_PATH_MAX, SHM_DIR "/taskq.%u.%s", (unsigned)geteuid(), name);
	else
		return -EINVAL;
	return n < TQI_PATH_MAX ? 0 : -ENAMETOOLONG;
}

static uint64_t namespace_inode(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* 0; -ENOSYS there is no /proc; else what keeps a file from being read, as -EMFILE. */
static int read_boot_id(char id[40])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(id, 0, 40);
	if (fd < 0)
		return errno == ENOENT ? -ENOSYS : -errno;
	const bool whole = read(fd, id, 36) == 36;

	close(fd);
	return whole ? 0 : -ENOSYS;
}

/* fallocate undoes its work on a signal: again until it is done. */
static int reserve(int fd, uint64_t offset, uint64_t bytes)
{
	while (fallocate(fd, 0, (off_t)offset, (off_t)bytes) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int map(struct tqi_segment *seg)
{
	int prot = PROT_READ | (seg->readonly ? 0 : PROT_WRITE);
	void *base =
		mmap(NULL, seg->geometry.max_bytes, prot, MAP_SHARED | MAP_NORESERVE, seg->fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	seg->base = base;
	madvise(base, seg->geometry.max_bytes,
		MADV_DONTDUMP); /* a dump would delay the death notice */
	return 0;
}

static void init_spans(struct tqi_segment *seg)
{
	const struct tqi_geometry *g = &seg->geometry;
	struct tqi_span *spans = (struct tqi_span *)(void *)(seg->base + g->spans);
	uint32_t fixed_extents = (uint32_t)(g->fixed_bytes >> TQI_EXTENT_SHIFT);

	for (uint32_t s = 0; s < g->fixed_bytes >> TQI_SPAN_SHIFT; s++)
		spans[s].use = TQI_SPAN_FIXED;
	memset(seg->base + g->extents, TQI_EXTENT_HERE, fixed_extents);
	tqi_segment_core(seg)->extents_reserved = fixed_extents;
	for (uint32_t t = 0; t < TQI_TABLES_MAX; t++)
		tqi_segment_core(seg)->tables[t].count = 1; /* index 0 is none */
	tqi_segment_core(seg)->mended = 1; /* a handle that has seen nothing says 0 */
}

static int init_header(struct tqi_segment *seg, const struct tqi_sizes *sizes)
{
	struct tqi_header *h = tqi_segment_header(seg);
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	h->layout_version = TQI_LAYOUT_VERSION;
	h->fingerprint = tqi_fingerprint(seg->schema);
	if (getrandom(&h->creation_id, sizeof(h->creation_id), 0) < 0)
		h->creation_id = (uint64_t)ts.tv_nsec; /* only tells segments apart */
	h->max_bytes = sizes->max_bytes;
	h->tasks_max = sizes->tasks_max;
	h->ring_entries = sizes->ring_entries;
	h->pid_namespace = namespace_inode("/proc/self/ns/pid");
	h->time_namespace = namespace_inode("/proc/self/ns/time");
	h->created_unix_ns = (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
	h->creator_uid = geteuid();
	return read_boot_id(h->boot_id);
}

/* Size by default: what the tmpfs can bear. */
static int default_bytes(int fd, uint64_t *max_bytes)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_type != TMPFS_MAGIC)
		return -EOPNOTSUPP;
	if (*max_bytes == 0) {
		uint64_t half = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize / 2;

		/* A tmpfs without a limit says 0 blocks. */
		*max_bytes = half && half < DEFAULT_BYTES ? half : DEFAULT_BYTES;
		if (*max_bytes < TQI_SEGMENT_BYTES_MIN)
			*max_bytes = TQI_SEGMENT_BYTES_MIN;
	}
	*max_bytes &= ~(uint64_t)(TQI_EXTENT_BYTES - 1);
	return 0;
}

/* Over that limit ftruncate() is answered by a signal that kills. */
static int check_file_limit(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
			       limit.rlim_cur < bytes
		       ? -EFBIG
		       : 0;
}

static int publish(int fd, const char *path)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int fill(struct tqi_segment *seg, const struct tqi_segment_config *config,
		const struct tqi_sizes *sizes)
{
	int r = tqi_lock_init(&tqi_segment_core(seg)->lock);

	if (r < 0)
		return r;
	init_spans(seg);
	r = init_header(seg, sizes);
	if (r < 0)
		return r;
	config->init(seg, config->init_arg);
	__atomic_store_n(&tqi_segment_header(seg)->magic, TQI_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

static int create_file(struct tqi_segment *seg, const char *path,
		       const struct tqi_segment_config *config)
{
	struct tqi_sizes sizes = { .max_bytes = config->max_bytes,
				   .tasks_max = config->tasks_max,
				   .ring_entries = config->ring_entries };
	int r = default_bytes(seg->fd, &sizes.max_bytes);

	if (!sizes.tasks_max)
		sizes.tasks_max = sizes.max_bytes / BYTES_PER_TASK;
	if (sizes.tasks_max > TQI_INDEX_MASK)
		sizes.tasks_max = TQI_INDEX_MASK;
	if (r == 0)
		r = tqi_geometry_compute(seg->schema, &sizes, &seg->geometry);
	if (r == 0)
		r = check_file_limit(sizes.max_bytes);
	/* fchmod, because the umask cut the mode of open(). */
	if (r == 0 && (fchmod(seg->fd, config->mode ? config->mode : 0600) < 0 ||
		       ftruncate(seg->fd, (off_t)sizes.max_bytes) < 0))
		r = -errno;
	if (r == 0)
		r = reserve(seg->fd, 0, seg->geometry.fixed_bytes);
	if (r == 0)
		r = map(seg);
	if (r < 0)
		return r;
	r = fill(seg, config, &sizes);
	if (r == 0)
		r = publish(seg->fd, path);
	munmap(seg->base, seg->geometry.max_bytes);
	return r;
}

int tqi_segment_create(const char *path, const struct tqi_schema *schema,
		       const struct tqi_segment_config *config)
{
	struct tqi_segment seg = { .schema = schema };
	char dir[TQI_PATH_MAX];

	snprintf(dir, sizeof(dir), "%s", path);
	char *slash = strrchr(dir, '/');

	if (!slash)
		return -EINVAL;
	slash[slash == dir] = '\0'; /* keep the root's own slash */
	seg.fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (seg.fd < 0)
		return -errno;
	int r = create_file(&seg, path, config);

	close(seg.fd);
	return r;
}

/* I6: one segment, one trust domain. */
static int check_owner(const struct stat *st, bool foreign)
{
	if (!S_ISREG(st->st_mode))
		return TQ_ELAYOUT;
	if (foreign)
		return 0;
	return (st->st_uid != geteuid() && st->st_uid != 0) || (st->st_mode & S_IRWXO) ? -EPERM : 0;
}

static int check_place(const struct tqi_header *h)
{
	uint64_t pid_ns = namespace_inode("/proc/self/ns/pid");
	uint64_t time_ns = namespace_inode("/proc/self/ns/time");
	bool same = h->pid_namespace == pid_ns && h->time_namespace == time_ns;

	return same ? 0 : TQ_ENAMESPACE;
}

static int check_header(struct tqi_segment *seg, const struct tqi_header *h, const struct stat *st)
{
	const struct tqi_sizes sizes = { h->max_bytes, h->tasks_max, h->ring_entries };
	char boot_id[40];

	if (h->magic != TQI_MAGIC || h->layout_version != TQI_LAYOUT_VERSION ||
	    h->fingerprint != tqi_fingerprint(seg->schema))
		return TQ_ELAYOUT;
	int r = read_boot_id(boot_id);

	if (r < 0)
		return r;
	if (memcmp(boot_id, h->boot_id, sizeof(boot_id)) != 0)
		return TQ_ELAYOUT;
	if ((uint64_t)st->st_size != h->max_bytes ||
	    tqi_geometry_compute(seg->schema, &sizes, &seg->geometry) < 0)
		return TQ_ECORRUPT;
	/* Who has a name again, or is found without one, is the one that was removed. */
	if (tqi_load_acquire32(&h->destroyed) && st->st_nlink)
		return -ENOENT;
	return seg->readonly ? 0 : check_place(h);
}

static int attach_file(struct tqi_segment *seg, bool foreign)
{
	struct tqi_header header;
	struct stat st;

	if (fstat(seg->fd, &st) < 0)
		return -errno;
	int r = check_owner(&st, foreign);

	if (r < 0)
		return r;
	/* Copied, not mapped: a truncated file raises SIGBUS through a mapping. */
	if (pread(seg->fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return TQ_ELAYOUT;
	r = check_header(seg, &header, &st);
	if (r < 0)
		return r;
	seg->dev = st.st_dev;
	seg->ino = st.st_ino;
	r = map(seg);
	if (r < 0 || seg->readonly)
		return r;
	/* Fault the hot pages in before the first lock, not under it. */
	madvise(seg->base, seg->geometry.scratch, MADV_POPULATE_WRITE);
	seg->spin = seg->ops->pauses(seg->ops->ctx, TQI_SPIN_NS);
	return 0;
}

static int attach_open(struct tqi_segment *seg, const char *path, bool foreign,
		       struct tqi_segment *ret_seg)
{
	snprintf(seg->path, sizeof(seg->path), "%s", path);
	int r = attach_file(seg, foreign);

	if (r < 0)
		close(seg->fd);
	else
		*ret_seg = *seg;
	return r;
}

int tqi_segment_attach(const char *path, const struct tqi_schema *schema, bool readonly,
		       bool foreign, struct tqi_segment *ret_seg)
{
	struct tqi_segment seg = { .schema = schema, .ops = &tqi_ops_linux, .readonly = readonly };

	/* O_NONBLOCK: a FIFO of that name must not hang us. */
	seg.fd = open(path, (readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (seg.fd < 0)
		return errno == EISDIR || errno == ELOOP || errno == ENXIO ? TQ_ELAYOUT : -errno;
	return attach_open(&seg, path, foreign, ret_seg);
}

int tqi_segment_attach_orphan(int fd, const char *path, const struct tqi_schema *schema,
			      struct tqi_segment *ret_seg)
{
	struct tqi_segment seg = { .schema = schema, .ops = &tqi_ops_linux, .fd = fd };

	return attach_open(&seg, path, false, ret_seg);
}

void tqi_segment_detach(struct tqi_segment *seg)
{
	munmap(seg->base, seg->geometry.max_bytes);
	close(seg->fd);
}

bool tqi_segment_is_named(const struct tqi_segment *seg)
{
	struct stat st;

	return stat(seg->path, &st) == 0 && st.st_dev == seg->dev && st.st_ino == seg->ino;
}
