/* SPDX-License-Identifier: MIT */
/* Overlays filled by copies of one state. */
#include "client/observe/view.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "client/observe/moment.h"
#include "client/observe/snapshot.h"
#include "shm/heap.h"

#define GRAIN_SHIFT 7 /* of what is no record 128 bytes are copied: half of what a sift looks at */
#define GRAINS (TQI_VIEW_BYTES >> GRAIN_SHIFT)
#define KNOWN_SHIFT 15 /* places for what has been copied: at most three quarters are used */
#define KNOWN (1u << KNOWN_SHIFT)
#define CHECK_EVERY 32		/* copies that may be in vain before that is noticed */
#define LOOK_EVERY 64		/* references between two looks at the clock: some us */
#define HELD_WAIT_NS 5000000ull /* 5 ms for the lock: who has it longer stands still (RD-1) */
#define IS_RECORD 1ull		/* in a place, whose offset is even: this record, */
#define IS_BLOCK 2ull		/* this block, whole; neither: this grain */

_Static_assert(TQI_VIEW_RECORDS + 2 * GRAINS <= KNOWN / 4 * 3, "places are free");

enum mode {
	MODE_EXACT, /* all of one state */
	MODE_HELD,  /* the lock is held */
	MODE_TORN,  /* of whatever moment */
};

struct view {
	struct tqi_overlay overlay; /* first: found by it */
	const struct tqi_segment *of;
	struct tqi_segment seg; /* the private memory */
	struct tqi_tx tx;
	enum mode mode;
	bool has_begun; /* `moment` is that of all copies */
	bool is_torn;	/* VW-1 */
	bool is_late;	/* the hold has taken its time */
	bool is_cut;	/* VW-3 */
	struct tqi_moment moment;
	uint64_t until_ns;  /* MODE_HELD: no copies after */
	uint32_t unchecked; /* copies since `moment` was last seen to be the present */
	uint32_t references;
	uint32_t records;
	uint64_t bytes;
	uint32_t used_count;
	uint32_t used[KNOWN / 4 * 3]; /* places below that are not free */
	uint64_t known[KNOWN];	      /* what has been copied; 0 nothing */
};

/* Copying. */

/* Between two looks at one version nobody has stored anything. */
static bool is_present(struct view *v)
{
	uint64_t version;

	v->unchecked = 0;
	v->is_torn = tqi_peek_version(v->of, &version) < 0 || version != v->moment.state;
	return !v->is_torn;
}

/* VW-1.  False: it is of another state, or cannot be had. */
static bool copy_exact(struct view *v, uint64_t offset, void *to, uint64_t bytes)
{
	int r;

	if (!v->has_begun) {
		r = tqi_peek_moment(v->of, offset, to, bytes, &v->moment);
		v->has_begun = true;
		v->is_torn = v->moment.state == TQI_MOMENT_MIXED;
	} else if (v->moment.inside) {
		r = tqi_peek_again(v->of, &v->moment, offset, to, bytes);
		v->is_torn = r == -EAGAIN;
	} else {
		r = tqi_peek(v->of, offset, to, bytes);
		if (++v->unchecked == CHECK_EVERY)
			is_present(v);
	}
	return r == 0 && !v->is_torn;
}

static bool has_time(struct view *v)
{
	v->is_late = v->mode == MODE_HELD && v->of->ops->now(v->of->ops->ctx) > v->until_ns;
	return !v->is_late;
}

/* VW-3: whoever goes round in damaged links refers to records all the time. */
static bool may_refer(struct view *v)
{
	v->is_cut |= ++v->references > TQI_VIEW_REFERENCES;
	return !v->is_cut && (v->references % LOOK_EVERY || has_time(v));
}

static bool copy(struct view *v, uint64_t offset, uint64_t bytes)
{
	unsigned char *to = v->seg.base + offset;
	struct tqi_moment m;

	v->is_cut |= v->bytes + bytes > TQI_VIEW_BYTES;
	if (v->is_torn || v->is_late || v->is_cut)
		return false;
	v->bytes += bytes;
	if (v->mode == MODE_EXACT)
		return copy_exact(v, offset, to, bytes);
	if (v->mode == MODE_TORN)
		return tqi_peek_moment(v->of, offset, to, bytes, &m) == 0;
	return has_time(v) && tqi_peek(v->of, offset, to, bytes) == 0;
}

/* The place of an offset among those copied. */
static uint64_t *place_of(struct view *v, uint64_t what)
{
	uint32_t i = (uint32_t)(tqi_hash(1, what) >> (64 - KNOWN_SHIFT));

	while (v->known[i] && v->known[i] != what)
		i = (i + 1) % KNOWN;
	return &v->known[i];
}

static void note(struct view *v, uint64_t *place, uint64_t what)
{
	v->used[v->used_count++] = (uint32_t)(place - v->known);
	*place = what;
}

/* Grains from `first` on that have not been copied, up to `end`; they count as copied now. */
static uint64_t unknown_from(struct view *v, uint64_t first, uint64_t end)
{
	uint64_t at = first;

	for (uint64_t *place; at < end; at++) {
		const uint64_t what = (at + 1) << GRAIN_SHIFT;

		place = place_of(v, what);
		if (*place)
			break;
		note(v, place, what);
	}
	return at - first;
}

static bool copy_grains(struct view *v, uint64_t offset, uint64_t bytes)
{
	const uint64_t end = (offset + bytes + (1u << GRAIN_SHIFT) - 1) >> GRAIN_SHIFT;

	if ((end << GRAIN_SHIFT) > v->of->geometry.max_bytes || bytes > TQI_VIEW_BYTES)
		return false;
	for (uint64_t at = offset >> GRAIN_SHIFT; at < end; at++) {
		uint64_t n = unknown_from(v, at, end);

		if (n && !copy(v, at << GRAIN_SHIFT, n << GRAIN_SHIFT))
			return false;
		at += n;
	}
	return true;
}

/* What the resolvers ask for. */

/* A word of a directory in the fixed part; 0 none. */
static uint32_t directory_word(struct view *v, uint64_t directory, uint32_t i)
{
	const uint64_t offset = directory + (uint64_t)i * sizeof(uint32_t);

	if (!copy_grains(v, offset, sizeof(uint32_t)))
		return 0;
	const uint32_t span = *(const uint32_t *)(const void *)(v->seg.base + offset);

	return span < v->of->geometry.span_count ? span : 0;
}

/* 0 it is not there. */
static uint64_t record_offset(struct view *v, uint32_t table, uint32_t index)
{
	const struct tqi_table_geometry *g = &v->of->geometry.tables[table];
	const uint64_t span =
		index && index < g->max ? directory_word(v, g->directory, index >> g->shift) : 0;

	return span ? (span << TQI_SPAN_SHIFT) +
			       (uint64_t)(index & ((1u << g->shift) - 1)) * g->record_bytes
		    : 0;
}

static bool ask_record(struct tqi_overlay *overlay, uint32_t table, uint32_t index,
		       uint64_t *ret_offset)
{
	struct view *v = (struct view *)(void *)overlay;
	const uint64_t offset = record_offset(v, table, index);
	uint64_t *place = offset ? place_of(v, offset | IS_RECORD) : NULL;

	*ret_offset = offset;
	if (!place || *place)
		return place && may_refer(v);
	v->is_cut |= v->records == TQI_VIEW_RECORDS;
	if (v->is_cut || !copy(v, offset, v->of->geometry.tables[table].record_bytes))
		return false;
	v->records++;
	note(v, place, offset | IS_RECORD);
	return true;
}

/* Bytes of the block that begins there; 0 none does. */
static uint64_t block_bytes(struct view *v, uint64_t offset)
{
	const uint64_t at =
		v->of->geometry.spans + (offset >> TQI_SPAN_SHIFT) * sizeof(struct tqi_span);
	const struct tqi_span *span = (const void *)(v->seg.base + at);

	if (!copy_grains(v, at, sizeof(*span)))
		return 0;
	if (span->use == TQI_SPAN_BLOCKS && span->class_ < TQI_SMALL_CLASSES)
		return 1ull << (TQI_UNIT_SHIFT + span->class_);
	return span->use == TQI_SPAN_RUN ? (uint64_t)span->next << TQI_SPAN_SHIFT : 0;
}

static bool copy_whole(struct view *v, uint64_t offset)
{
	const uint64_t what = offset | IS_BLOCK;

	if (*place_of(v, what))
		return true;
	const uint64_t bytes = block_bytes(v, offset);

	if (!bytes || !copy_grains(v, offset, bytes))
		return false;
	note(v, place_of(v, what), what);
	return true;
}

/* What lies behind the end of a block may be a record. */
static bool copy_part(struct view *v, uint64_t offset, uint64_t at, uint64_t bytes)
{
	const uint64_t all = block_bytes(v, offset);

	return at < all && copy_grains(v, offset + at, bytes < all - at ? bytes : all - at);
}

static bool ask_block(struct tqi_overlay *overlay, uint64_t offset, uint64_t at, uint64_t bytes)
{
	struct view *v = (struct view *)(void *)overlay;

	if (offset < v->of->geometry.fixed_bytes || offset >= v->of->geometry.max_bytes ||
	    !may_refer(v))
		return false;
	return bytes ? copy_part(v, offset, at, bytes) : copy_whole(v, offset);
}

static bool ask_position(struct tqi_overlay *overlay, uint32_t family, uint32_t index,
			 uint32_t *ret_place)
{
	struct view *v = (struct view *)(void *)overlay;
	const uint32_t span =
		directory_word(v, v->of->geometry.positions[family], index >> TQI_POSITIONS_SHIFT);
	const uint64_t word = (index & ((1u << TQI_POSITIONS_SHIFT) - 1)) * sizeof(uint32_t);

	/* The place is looked at before it is believed: it may be of any moment. */
	return index < v->of->geometry.positions_max[family] && span &&
	       tqi_peek(v->of, ((uint64_t)span << TQI_SPAN_SHIFT) + word, ret_place,
			sizeof(*ret_place)) == 0;
}

/* A view. */

/* OV-2: a directory of positions as far as there are records. */
static bool copy_positions(struct view *v, uint32_t family)
{
	const uint32_t table = v->seg.schema->family_table[family];
	uint32_t count = tqi_segment_core(&v->seg)->tables[table].count;

	if (count > v->of->geometry.positions_max[family])
		count = v->of->geometry.positions_max[family];
	return count <= 1 ||
	       copy_grains(v, v->of->geometry.positions[family],
			   ((uint64_t)((count - 1) >> TQI_POSITIONS_SHIFT) + 1) * sizeof(uint32_t));
}

/* OV-3. */
static void take_no_memory(struct tqi_core *core)
{
	core->spans_free = 0;
	memset(core->class_head, 0, sizeof(core->class_head));
	for (uint32_t t = 0; t < TQI_TABLES_MAX; t++)
		core->tables[t].free = 0;
}

static bool begin(struct view *v, enum mode mode)
{
	const struct tqi_geometry *g = &v->of->geometry;

	v->mode = mode;
	v->has_begun = v->is_torn = v->is_late = v->is_cut = false;
	v->unchecked = v->references = v->records = 0;
	v->bytes = 0;
	while (v->used_count > 0)
		v->known[v->used[--v->used_count]] = 0;
	if (!copy(v, g->core, sizeof(struct tqi_core)) ||
	    !copy(v, g->root, v->seg.schema->root_bytes))
		return false;
	for (uint32_t f = 0; f < v->seg.schema->family_count; f++)
		if (!copy_positions(v, f))
			return false;
	take_no_memory(tqi_segment_core(&v->seg));
	tqi_tx_view(&v->tx, &v->seg);
	tqi_tx_begin(&v->tx, v->of->ops->now(v->of->ops->ctx));
	return true;
}

/* False: another try may do better. */
static bool try(struct view *v, enum mode mode, tqi_view_question *question, void *arg,
		int *ret_answer)
{
	const bool has_begun = begin(v, mode);

	if (has_begun)
		question(&v->tx, arg);
	*ret_answer = has_begun && !v->tx.corrupt && !v->is_cut ? TQI_VIEW_WHOLE : TQI_VIEW_CUT;
	if (mode == MODE_EXACT && !v->is_torn && !v->moment.inside)
		is_present(v);
	return !v->is_torn && !v->is_late;
}

static bool try_held(struct view *v, struct tq *tq, tqi_view_question *question, void *arg,
		     int *ret_answer)
{
	struct tqi_self *self = tqi_self(tq);

	if (!self || tqi_lock(&tq->seg, &self->thread, HELD_WAIT_NS) < 0)
		return false;
	v->until_ns = v->of->ops->now(v->of->ops->ctx) + TQI_VIEW_HELD_NS;
	const bool done = try(v, MODE_HELD, question, arg, ret_answer);

	tqi_unlock(&tq->seg);
	return done;
}

static int ask(struct view *v, struct tq *tq, tqi_view_question *question, void *arg)
{
	int answer;

	for (int i = 0; i < TQI_VIEW_TRIES; i++)
		if (try(v, MODE_EXACT, question, arg, &answer))
			return answer;
	if (tq && !tq->seg.readonly && try_held(v, tq, question, arg, &answer))
		return answer;
	try(v, MODE_TORN, question, arg, &answer);
	return TQI_VIEW_TORN;
}

/* OV-1. */
static void lay_out(struct view *v, const struct tqi_segment *seg, void *memory)
{
	v->of = seg;
	v->overlay = (struct tqi_overlay){ seg, ask_record, ask_block, ask_position };
	v->seg = *seg;
	v->seg.base = memory;
	v->seg.overlay = &v->overlay;
	v->seg.geometry.fixed_bytes = UINT64_MAX;
	for (uint32_t t = 0; t < TQI_TABLES_MAX; t++)
		v->seg.geometry.tables[t].max = 0;
}

static int ask_new(const struct tqi_segment *seg, struct tq *tq, tqi_view_question *question,
		   void *arg)
{
	void *memory = tqi_map_private(seg->geometry.max_bytes);
	struct view *v = memory ? tqi_map_private(sizeof(*v)) : NULL;
	int r = -ENOMEM;

	if (v) {
		lay_out(v, seg, memory);
		r = ask(v, tq, question, arg);
		munmap(v, sizeof(*v));
	}
	if (memory)
		munmap(memory, seg->geometry.max_bytes);
	return r;
}

/* Of a view that is there already. */
static int ask_inside(struct tqi_overlay *overlay, tqi_view_question *question, void *arg)
{
	struct view *v = (struct view *)(void *)overlay;

	question(&v->tx, arg);
	return v->tx.corrupt ? TQI_VIEW_CUT : TQI_VIEW_WHOLE;
}

int tqi_view_ask(const struct tqi_segment *seg, struct tq *tq, tqi_view_question *question,
		 void *arg)
{
	return seg->overlay ? ask_inside(seg->overlay, question, arg)
			    : ask_new(seg, tq, question, arg);
}
