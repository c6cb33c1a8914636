/* SPDX-License-Identifier: MIT */
/* The line of `map`. */
#include "tools/taskq/run/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define DRAW_NS 100000000ull /* 100 ms: faster than anybody reads */
#define NS_PER_S 1000000000ull
#define ERASE "\r\033[K"

enum {
	BAR_CELLS = 20,
	LINE_MAX_BYTES = 200,
	COLUMNS_DEFAULT = 80
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void put(const char *text, size_t bytes)
{
	const ssize_t n = write(STDERR_FILENO, text, bytes);

	(void)n; /* a terminal that has gone is no failure of what is run */
}

void progress_init(struct progress *progress, bool wanted)
{
	const char *terminal = getenv("TERM");

	progress->is_on = wanted && isatty(STDERR_FILENO) && terminal && *terminal &&
			  strcmp(terminal, "dumb") != 0 &&
			  mtx_init(&progress->lock, mtx_plain) == thrd_success;
	progress->begun_ns = now_ns();
}

static void hide(struct progress *progress)
{
	if (progress->is_shown)
		put(ERASE, strlen(ERASE));
	progress->is_shown = false;
}

void progress_pause(struct progress *progress)
{
	if (!progress->is_on)
		return;
	mtx_lock(&progress->lock);
	hide(progress);
}

void progress_go_on(struct progress *progress)
{
	if (progress->is_on)
		mtx_unlock(&progress->lock);
}

static size_t columns(void)
{
	struct winsize size = { .ws_col = 0 };

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

/* What is left takes as long as what has ended, each. */
static int format_left(const struct progress *p, uint64_t total, char *to, size_t room)
{
	if (!p->ended || p->ended >= total)
		return 0;
	const double each = (double)(now_ns() - p->begun_ns) / (double)p->ended;
	const uint64_t left_s = (uint64_t)(each * (double)(total - p->ended) / (double)NS_PER_S);

	return snprintf(to, room, ", %llu:%02llu left", (unsigned long long)(left_s / 60),
			(unsigned long long)(left_s % 60));
}

/* While input comes nobody knows how much it will be. */
static void format_line(const struct progress *p, unsigned waiting, bool more, char *to,
			size_t room)
{
	const uint64_t total = p->ended + waiting;
	const int full = total ? (int)(p->ended * BAR_CELLS / total) : 0;
	int n;

	if (more)
		n = snprintf(to, room, "%llu ended, %u to come and more",
			     (unsigned long long)p->ended, waiting);
	else
		n = snprintf(to, room, "[%.*s%*s] %llu of %llu", full, "####################",
			     BAR_CELLS - full, "", (unsigned long long)p->ended,
			     (unsigned long long)total);
	if (p->failed)
		n += snprintf(to + n, room - (size_t)n, ", %llu failed",
			      (unsigned long long)p->failed);
	if (!more)
		format_left(p, total, to + n, room - (size_t)n);
}

void progress_draw(struct progress *progress, unsigned waiting, bool more)
{
	char line[sizeof(ERASE) + LINE_MAX_BYTES] = ERASE;
	char *text = line + strlen(ERASE);

	if (!progress->is_on || now_ns() < progress->next_ns)
		return;
	mtx_lock(&progress->lock);
	if (!progress->is_inside_line) {
		const size_t most = columns() - 1;

		format_line(progress, waiting, more, text, LINE_MAX_BYTES);
		put(line, strlen(ERASE) + strnlen(text, most));
		progress->is_shown = true;
		progress->next_ns = now_ns() + DRAW_NS;
	}
	mtx_unlock(&progress->lock);
}

void progress_end(struct progress *progress)
{
	progress_pause(progress);
	progress_go_on(progress);
}
