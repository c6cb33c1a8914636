/* SPDX-License-Identifier: MIT */
/* Copies, and the journal of a transaction under way applied to them. */
#include "client/observe/moment.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shm/plant.h"

#define STILL_MAX                                                                                  \
	3 /* looks at one transaction under way: then its journal is applied to the copy */
#define MOVING_MAX 8 /* copies of what others keep changing: then the last one will do */

int tqi_peek(const struct tqi_segment *seg, uint64_t offset, void *buf, uint64_t bytes)
{
	unsigned char *to = buf;

	if (seg->overlay) {
		memcpy(buf, seg->base + offset, bytes);
		return 0;
	}
	while (bytes > 0) {
		ssize_t n = pread(seg->fd, to, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return TQ_ECORRUPT;
		to += n;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static int peek_word(const struct tqi_segment *seg, uint64_t at, uint64_t *ret_word)
{
	return tqi_peek(seg, seg->geometry.core + at, ret_word, sizeof(*ret_word));
}

int tqi_peek_version(const struct tqi_segment *seg, uint64_t *ret_version)
{
	return peek_word(seg, offsetof(struct tqi_core, version), ret_version);
}

/* How far the transaction under way is. */
struct progress {
	uint64_t closed, version;
	uint64_t undo; /* 0 its journal is empty */
};

/* `closed` first: if it was, the journal has only become shorter until its length is read. */
static int peek_progress(const struct tqi_segment *seg, struct progress *ret_progress)
{
	int r = peek_word(seg, offsetof(struct tqi_core, closed), &ret_progress->closed);

	if (r == 0)
		r = peek_word(seg, offsetof(struct tqi_core, undo), &ret_progress->undo);
	return r < 0 ? r : tqi_peek_version(seg, &ret_progress->version);
}

/* Put the old value of one journal entry into the copy of [offset, offset + bytes). */
static void undo_in_copy(const struct tqi_undo *u, uint64_t offset, unsigned char *copy,
			 uint64_t bytes)
{
	static const uint8_t widths[] = { 1, 2, 4, 8 };
	const unsigned char *old = (const unsigned char *)&u->old;
	uint32_t code = u->where & 0xff;
	uint64_t at = u->where >> 8, width = code <= TQI_UNDO_64 ? widths[code] : 4;

	if (code >= TQI_UNDO_TAG && code < TQI_UNDO_LENGTH) { /* of a heap, behind its key */
		at = (u[-1].where >> 8) + sizeof(uint64_t);
		width = sizeof(uint64_t);
	}
	for (uint64_t i = 0; i < width; i++)
		if (at + i >= offset && at + i < offset + bytes)
			copy[at + i - offset] = old[i];
}

/* RD-2, of a copy that was made after `first`; the journal is believed as a rescuer does. */
static int undo_all(const struct tqi_segment *seg, const struct progress *first, uint64_t offset,
		    void *copy, uint64_t bytes)
{
	struct tqi_undo journal[TQI_JOURNAL_MAX];
	struct tqi_core core = { .undo = 0 };
	struct progress last;
	int r = peek_word(seg, offsetof(struct tqi_core, undo), &core.undo);

	if (r == 0 && core.undo_count <= TQI_JOURNAL_MAX)
		r = tqi_peek(seg, seg->geometry.journal, journal,
			     core.undo_count * sizeof(journal[0]));
	if (r < 0 || (r = peek_progress(seg, &last)) < 0)
		return r;
	if (last.version != first->version || last.closed != first->closed ||
	    (last.closed == last.version && (core.undo != first->undo || last.undo != first->undo)))
		return -EAGAIN;
	tqi_store_relaxed64(&core.version, last.version);
	if (!tqi_undo_is_sane(seg, journal, &core))
		return TQ_ECORRUPT;
	for (uint32_t n = core.undo_count; n > 0; n--)
		undo_in_copy(&journal[n - 1], offset, copy, bytes);
	return 0;
}

/* A copy as of before the transaction of this version; *ret_is_over: of what it leaves. */
static int peek_before(const struct tqi_segment *seg, uint64_t version, uint64_t offset, void *copy,
		       uint64_t bytes, bool *ret_is_over)
{
	struct progress first;
	int r;

	if ((r = peek_progress(seg, &first)) < 0)
		return r;
	if (first.version != version)
		return -EAGAIN;
	*ret_is_over = first.closed == version && first.undo == 0;
	if ((r = tqi_peek(seg, offset, copy, bytes)) < 0)
		return r;
	return undo_all(seg, &first, offset, copy, bytes);
}

int tqi_peek_moment(const struct tqi_segment *seg, uint64_t offset, void *copy, uint64_t bytes,
		    struct tqi_moment *ret_moment)
{
	uint64_t before, after, last = 0;
	bool is_over = false;
	int r, still = 0;

	if (seg->overlay) {
		*ret_moment = (struct tqi_moment){ .inside = 0 };
		return tqi_peek(seg, offset, copy, bytes);
	}
	ret_moment->inside = ret_moment->state = TQI_MOMENT_MIXED;
	r = peek_word(seg, offsetof(struct tqi_core, undone), &ret_moment->undone);
	for (int i = 0; r == 0 && i < MOVING_MAX && still < STILL_MAX; i++, last = after) {
		if ((r = tqi_peek_version(seg, &before)) < 0 ||
		    (r = tqi_peek(seg, offset, copy, bytes)) < 0 ||
		    (r = tqi_peek_version(seg, &after)) < 0)
			return r;
		if (before == after && !(before & 1)) {
			ret_moment->inside = 0;
			ret_moment->state = before;
			return 0;
		}
		still = before == after && (!last || last == before) ? still + 1 : 0;
	}
	if (r == 0)
		r = still ? peek_before(seg, last, offset, copy, bytes, &is_over) : -EAGAIN;
	if (r == 0) {
		ret_moment->inside = is_over ? 0 : last;
		ret_moment->state = is_over ? last + 1 : last - 1;
	}
	return r == -EAGAIN ? 0 : r;
}

int tqi_peek_again(const struct tqi_segment *seg, const struct tqi_moment *moment, uint64_t offset,
		   void *copy, uint64_t bytes)
{
	bool is_over = false;
	int r = -EAGAIN;

	if (moment->inside == 0 || moment->inside == TQI_MOMENT_MIXED || TQI_PLANTED(raw_block))
		return tqi_peek(seg, offset, copy, bytes);
	for (int i = 0; i < MOVING_MAX && r == -EAGAIN && !is_over; i++)
		r = peek_before(seg, moment->inside, offset, copy, bytes, &is_over);
	return r == 0 && is_over ? -EAGAIN : r;
}

bool tqi_moment_holds(const struct tqi_segment *seg, const struct tqi_moment *first,
		      const struct tqi_moment *last)
{
	uint64_t undone;

	if (first->inside != last->inside)
		return false;
	return first->inside || (peek_word(seg, offsetof(struct tqi_core, undone), &undone) == 0 &&
				 undone == first->undone);
}
