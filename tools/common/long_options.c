/* SPDX-License-Identifier: MIT */
/* The command line of a program without verbs. */
#include "long_options.h"

#include <errno.h>
#include <string.h>

#include "errors.h"

/* getopt_long() takes any unambiguous beginning of a long option: whole names only, as
 * `taskq` has it, so that a later version may have an option of that name. */
static bool is_whole(const char *word, const struct option *row)
{
	return !row || (!strncmp(word, "--", 2) && strcspn(word + 2, "=") == strlen(row->name));
}

/* Whether a word is a known option with "=" behind it. */
static bool is_valued(const struct option *longs, const char *word)
{
	const size_t bytes = strcspn(word, "=");

	for (; word[bytes] && longs->name; longs++)
		if (!strncmp(word, "--", 2) && strlen(longs->name) + 2 == bytes &&
		    !strncmp(word + 2, longs->name, bytes - 2))
			return true;
	return false;
}

/* @before and @after the word, in the words of `taskq`. */
static bool refuse_usage(const char *before, const char *word, const char *after)
{
	complain("%s%s%s\nsee `%s --help`", before, word, after, program_invocation_short_name);
	return false;
}

bool long_options_read(const struct option *longs, const char *shorts, long_option_fn *take,
		       void *ctx, int argc, char **argv)
{
	int key, row = -1, at;

	opterr = 0;
	for (;; row = -1) {
		at = optind ? optind : 1;
		key = getopt_long(argc, argv, shorts, longs, &row);
		if (key == -1)
			break;
		if (key == ':')
			return refuse_usage("option ", argv[at], " needs an argument");
		if (key == '?' && is_valued(longs, argv[at]))
			return refuse_usage("option ", argv[at], " takes no argument");
		if (key == '?' || !is_whole(argv[at], row < 0 ? NULL : &longs[row]))
			return refuse_usage("unknown option ", argv[at], "");
		if (!take(ctx, key, optarg))
			return false;
	}
	if (optind < argc)
		return refuse_usage("\"", argv[optind], "\" is one operand too many");
	return true;
}
