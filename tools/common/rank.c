/* SPDX-License-Identifier: MIT */
/* Orders as numbers, and filters. */
#include <ctype.h>
#include <string.h>

#include "rank.h"

enum {
	WORD_MAX = 128
};

struct rank rank_of_number(uint64_t number)
{
	return (struct rank){ .major = number };
}

struct rank rank_of_signed(int64_t number)
{
	return rank_of_number((uint64_t)number ^ (1ull << 63));
}

struct rank rank_of_real(double number)
{
	return rank_of_number((uint64_t)(number * 1000));
}

static uint64_t eight_bytes(const char **text)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++) {
		value = value << 8 | (unsigned char)tolower((unsigned char)**text);
		*text += **text != '\0';
	}
	return value;
}

struct rank rank_of_text(const char *text)
{
	struct rank rank;

	rank.major = eight_bytes(&text);
	rank.minor = eight_bytes(&text);
	return rank;
}

struct rank rank_reverse(struct rank rank)
{
	return (struct rank){ ~rank.major, ~rank.minor };
}

int rank_compare(const struct rank *a, const struct rank *b)
{
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	return a->minor == b->minor ? 0 : a->minor < b->minor ? -1 : 1;
}

static bool word_matches(const char *word, const char *const *texts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (strcasestr(texts[i], word))
			return true;
	return false;
}

bool words_match(const char *filter, const char *const *texts, unsigned count)
{
	for (;;) {
		char word[WORD_MAX];

		filter += strspn(filter, " ");
		const size_t bytes = strcspn(filter, " ");

		if (bytes == 0)
			return true;
		if (bytes >= sizeof(word))
			return false;
		memcpy(word, filter, bytes);
		word[bytes] = '\0';
		if (!word_matches(word, texts, count))
			return false;
		filter += bytes;
	}
}
