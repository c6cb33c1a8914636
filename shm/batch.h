/* SPDX-License-Identifier: MIT */
/*
 * Several journalled stores under one count: all entries are complete before any counts, and
 * all count before the first store (TX-1).  A third of the instructions of as many TQI_SETs.
 */
#ifndef TQI_SHM_BATCH_H
#define TQI_SHM_BATCH_H

#include "shm/tx.h"

/*
 * An operation over its declared maximum: NULL, and the transaction corrupt.  Of a plain one
 * (TX-8) `n` entries may be written and counted, and are forgotten.
 */
struct tqi_undo *tqi_undo_none(struct tqi_tx *tx, uint32_t n);

/* Room for `n` entries under one count; NULL (and the transaction corrupt): there is none. */
static inline struct tqi_undo *tqi_undo_room(struct tqi_tx *tx, uint32_t n)
{
	struct tqi_undo *room = &tx->journal[tx->undo_count];

	if (__builtin_expect(tx->undo_count + n > TQI_JOURNAL_MAX, 0))
		return tqi_undo_none(tx, n);
	if (!room)
		__builtin_unreachable(); /* so only of tqi_undo_none()'s answer it is asked */
	return room;
}

/*
 * Where up to `most` entries can be written whose number is not known yet; tqi_undo_room() for
 * those that there are, before they are counted, gives the same place.
 */
static inline struct tqi_undo *tqi_undo_room_most(struct tqi_tx *tx, uint32_t most)
{
	if (__builtin_expect(tx->undo_count + most <= TQI_JOURNAL_MAX, 1))
		return &tx->journal[tx->undo_count];
	if (tqi_tx_is_plain(tx))
		return tx->journal;
	tx->corrupt = true;
	return NULL;
}

/* The same fields as TQI_SET takes, and no others (TX-4). */
#define TQI_UNDO_CODE(field)                                                                       \
	_Generic((field), uint8_t                                                                  \
		 : TQI_UNDO_8, uint16_t                                                            \
		 : TQI_UNDO_16, uint32_t                                                           \
		 : TQI_UNDO_32, uint64_t                                                           \
		 : TQI_UNDO_64, int32_t                                                            \
		 : TQI_UNDO_32, int64_t                                                            \
		 : TQI_UNDO_64)

/* Of a pair (field, value). */
#define TQI_PAIR_FIELD(field, value) field
#define TQI_PAIR_VALUE(field, value) value
#define TQI_FIELD_AT(record, field)                                                                \
	((uint64_t)((const char *)&(record)->field - (const char *)(record)) << 8)
#define TQI_NOTE_FIELD(at, record, undo, field)                                                    \
	*(undo)++ = (struct tqi_undo){ (at) + TQI_FIELD_AT(record, field) +                        \
					       TQI_UNDO_CODE((record)->field),                     \
				       (uint64_t)(record)->field };
#define TQI_STORE_FIELD(record, field, value)                                                      \
	*(volatile __typeof__((record)->field) *)&(record)->field =                                \
		(__typeof__((record)->field))(value);
#define TQI_EACH_1(what, pair) what(pair)
#define TQI_EACH_2(what, pair, ...) what(pair) TQI_EACH_1(what, __VA_ARGS__)
#define TQI_EACH_3(what, pair, ...) what(pair) TQI_EACH_2(what, __VA_ARGS__)
#define TQI_EACH_4(what, pair, ...) what(pair) TQI_EACH_3(what, __VA_ARGS__)
#define TQI_EACH_5(what, pair, ...) what(pair) TQI_EACH_4(what, __VA_ARGS__)
#define TQI_EACH_6(what, pair, ...) what(pair) TQI_EACH_5(what, __VA_ARGS__)
#define TQI_EACH_7(what, pair, ...) what(pair) TQI_EACH_6(what, __VA_ARGS__)
#define TQI_EACH_8(what, pair, ...) what(pair) TQI_EACH_7(what, __VA_ARGS__)
#define TQI_EACH_9(what, pair, ...) what(pair) TQI_EACH_8(what, __VA_ARGS__)
#define TQI_EACH_10(what, pair, ...) what(pair) TQI_EACH_9(what, __VA_ARGS__)
#define TQI_EACH_11(what, pair, ...) what(pair) TQI_EACH_10(what, __VA_ARGS__)
#define TQI_EACH_12(what, pair, ...) what(pair) TQI_EACH_11(what, __VA_ARGS__)
#define TQI_EACH_13(what, pair, ...) what(pair) TQI_EACH_12(what, __VA_ARGS__)
#define TQI_EACH_14(what, pair, ...) what(pair) TQI_EACH_13(what, __VA_ARGS__)
#define TQI_EACH_15(what, pair, ...) what(pair) TQI_EACH_14(what, __VA_ARGS__)
#define TQI_PICK_16TH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, it, ...) it
#define TQI_PAIRS(...)                                                                             \
	TQI_PICK_16TH(__VA_ARGS__, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TQI_EACH(what, ...)                                                                        \
	TQI_PICK_16TH(__VA_ARGS__, TQI_EACH_15, TQI_EACH_14, TQI_EACH_13, TQI_EACH_12,             \
		      TQI_EACH_11, TQI_EACH_10, TQI_EACH_9, TQI_EACH_8, TQI_EACH_7, TQI_EACH_6,    \
		      TQI_EACH_5, TQI_EACH_4, TQI_EACH_3, TQI_EACH_2, TQI_EACH_1, )                \
	(what, __VA_ARGS__)
#define TQI_NOTE_PAIR(pair) TQI_NOTE_FIELD(tqi_at_, tqi_record_, tqi_undo_, TQI_PAIR_FIELD pair)
#define TQI_STORE_PAIR(pair) TQI_STORE_FIELD(tqi_record_, TQI_PAIR_FIELD pair, TQI_PAIR_VALUE pair)

/* An entry more of a batch over several records: tqi_undo_room(), these, tqi_undo_count(). */
#define TQI_NOTE(tx, undo, field)                                                                  \
	(*(undo)++ = (struct tqi_undo){ tqi_offset((tx), &(field)) << 8 | TQI_UNDO_CODE(field),    \
					(uint64_t)(field) })
/* A store that a counted batch allows. */
#define TQI_PUT(field, value) (*(volatile __typeof__(field) *)&(field) = (__typeof__(field))(value))

/*
 * Up to fifteen fields of one record, journalled under one count, then stored to in this
 * order; a value may be of what the stores before it have left:
 *
 *	TQI_SETS(tx, task, (attempt, a), (attempts, task->attempts + 1));
 */
#define TQI_SETS(tx, record, ...)                                                                  \
	do {                                                                                       \
		__typeof__(record) tqi_record_ = (record);                                         \
		const uint64_t tqi_at_ = tqi_offset((tx), tqi_record_) << 8;                       \
		const uint32_t tqi_pairs_ = TQI_PAIRS(__VA_ARGS__);                                \
		struct tqi_undo *tqi_undo_ = tqi_undo_room((tx), tqi_pairs_);                      \
                                                                                                   \
		if (!tqi_undo_)                                                                    \
			break;                                                                     \
		TQI_EACH(TQI_NOTE_PAIR, __VA_ARGS__)                                               \
		if (!TQI_PLANTED(late_batch))                                                      \
			tqi_undo_count((tx), tqi_pairs_ - TQI_PLANTED(short_batch));               \
		TQI_EACH(TQI_STORE_PAIR, __VA_ARGS__)                                              \
		if (TQI_PLANTED(late_batch))                                                       \
			tqi_undo_count((tx), tqi_pairs_);                                          \
	} while (0)

#define TQI_IF_COUNT(when, record, field, value) +((when) ? 1u : 0u)
#define TQI_IF_NOTE(when, record, field, value)                                                    \
	if (when) {                                                                                \
		TQI_NOTE_FIELD(tqi_offset(tqi_tx_, record) << 8, record, tqi_undo_, field)         \
	}
#define TQI_IF_STORE(when, record, field, value)                                                   \
	if (when) {                                                                                \
		TQI_STORE_FIELD(record, field, value)                                              \
	}
#define TQI_COUNT_ONE(one) TQI_IF_COUNT one
#define TQI_NOTE_ONE(one) TQI_IF_NOTE one
#define TQI_STORE_ONE(one) TQI_IF_STORE one

/*
 * The same of several records, each field under a condition, which no other's store may change:
 *
 *	TQI_SETS_IF(tx, (ends, stream, ended[0], stream->ended[0] + 1),
 *		    (true, task, state, (uint8_t)to));
 */
#define TQI_SETS_IF(tx, ...)                                                                       \
	do {                                                                                       \
		struct tqi_tx *tqi_tx_ = (tx);                                                     \
		const uint32_t tqi_fields_ = TQI_EACH(TQI_COUNT_ONE, __VA_ARGS__);                 \
		struct tqi_undo *tqi_undo_ = tqi_undo_room(tqi_tx_, tqi_fields_);                  \
                                                                                                   \
		if (!tqi_undo_)                                                                    \
			break;                                                                     \
		TQI_EACH(TQI_NOTE_ONE, __VA_ARGS__)                                                \
		if (!TQI_PLANTED(late_batch))                                                      \
			tqi_undo_count(tqi_tx_, tqi_fields_ - TQI_PLANTED(short_batch));           \
		TQI_EACH(TQI_STORE_ONE, __VA_ARGS__)                                               \
		if (TQI_PLANTED(late_batch))                                                       \
			tqi_undo_count(tqi_tx_, tqi_fields_);                                      \
	} while (0)

#endif
