/* SPDX-License-Identifier: MIT */
/* taskq-top on a terminal: keys, signals and time, in one loop. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "screen.h"
#include "top.h"

#define PASS_NS 8000000ull   /* of each look for the order of the tasks, at most ... */
#define PASS_SHARE 10	     /* ... this part of the time between two */
#define HURRY_NS 30000000ull /* between two pieces of the first pass, which somebody waits for */

struct live {
	struct top *top;
	sigset_t signals, before;
	int signal_fd;
	uint64_t next_ns; /* when to look again */
	uint64_t looks;
	int width; /* of the screen */
	bool quit;
	int end_signal; /* that asks us to end; 0 none */
};

static uint64_t now_ns(void)
{
	return clocks_read().now_ns;
}

static uint64_t pass_ns(const struct live *live)
{
	const uint64_t share_ns = live->top->model.delay_ns / PASS_SHARE;

	return share_ns < PASS_NS ? share_ns : PASS_NS;
}

static bool is_hurried(const struct live *live)
{
	const struct pass *pass = &live->top->model.pass;

	return views[live->top->ui.view]->table == &tasks_table && !pass->is_complete &&
	       pass->left > 0;
}

static void draw(struct live *live)
{
	struct top *top = live->top;
	int width, height;

	screen_size(&width, &height);
	live->width = width;
	if (width != top->cells.width || height != top->cells.height)
		(void)cells_resize(&top->cells, width, height);
	top_draw(top);
	screen_show(&top->cells);
}

static void look(struct live *live)
{
	top_look(live->top, pass_ns(live));
	live->next_ns = now_ns() + live->top->model.delay_ns;
}

static void act(struct live *live)
{
	struct top *top = live->top;
	char said[ACT_TEXT_MAX];
	const bool done = act_run(&top->source, &top->ui.action, said);

	ui_message(&top->ui, !done, now_ns(), said);
	look(live);
}

/* Nobody has read the question yet: keys that came with the one that led to it answer nothing. */
static void ask(struct live *live)
{
	draw(live);
	screen_drop_presses();
}

static void take_keys(struct live *live)
{
	struct press press;

	while (!live->quit && screen_press(&press)) {
		const bool has_asked = ui_asks(&live->top->ui);

		switch (ui_press(&live->top->ui, &live->top->model, &press, live->width)) {
		case UI_QUIT:
			live->quit = true;
			break;
		case UI_ACT:
			act(live);
			break;
		case UI_LOOK:
			look(live);
			top_draw(live->top); /* the next key is meant for what is there now */
			break;
		default:
			break;
		}
		if (!has_asked && ui_asks(&live->top->ui))
			ask(live);
	}
	if (!live->quit)
		draw(live);
}

/* Ctrl-Z: the terminal is the shell's until we go on. */
static void stop(struct live *live)
{
	sigset_t stop_set;

	screen_end();
	sigemptyset(&stop_set);
	sigaddset(&stop_set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop_set, NULL); /* stops here */
	sigprocmask(SIG_BLOCK, &stop_set, NULL);
	(void)screen_begin();
	look(live);
	draw(live);
}

static void take_signal(struct live *live)
{
	struct signalfd_siginfo info;

	if (read(live->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGWINCH:
		draw(live);
		return;
	case SIGTSTP:
		stop(live);
		return;
	case SIGINT:
		live->quit = true;
		return;
	default:
		live->quit = true;
		live->end_signal = (int)info.ssi_signo;
	}
}

static void take_time(struct live *live)
{
	struct top *top = live->top;

	look(live);
	draw(live);
	live->quit |= top->looks && ++live->looks >= top->looks;
}

/* A piece of the first pass between two looks. */
static void hurry(struct live *live)
{
	if (pass_step(&live->top->model.pass, live->top->source.tq, PASS_NS) == 0)
		table_update(&tasks_table, &live->top->ui.tables[live->top->ui.view],
			     &live->top->model);
	draw(live);
}

static void wait_for_something(struct live *live)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = live->signal_fd, .events = POLLIN } };
	const uint64_t now = now_ns();
	uint64_t wait_ns = live->next_ns > now ? live->next_ns - now : 0;

	if (is_hurried(live) && wait_ns > HURRY_NS)
		wait_ns = HURRY_NS;
	const struct timespec wait = { (time_t)(wait_ns / 1000000000),
				       (long)(wait_ns % 1000000000) };

	if (ppoll(fds, 2, &wait, NULL) < 0 && errno != EINTR)
		live->quit = true;
	if (fds[1].revents)
		take_signal(live);
	if (fds[0].revents & ~POLLIN) /* the terminal is gone, whoever ignores SIGHUP */
		live->quit = true;
	else if (fds[0].revents)
		take_keys(live);
	if (live->quit)
		return;
	if (now_ns() >= live->next_ns)
		take_time(live);
	else if (is_hurried(live))
		hurry(live);
}

static void block_signals(struct live *live)
{
	static const int numbers[] = { SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	sigemptyset(&live->signals);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&live->signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &live->signals, &live->before);
	live->signal_fd = signalfd(-1, &live->signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Ends as the signal would have ended us, but with the terminal as it was. */
static void end_by(struct live *live)
{
	signal(live->end_signal, SIG_DFL);
	raise(live->end_signal);
	sigprocmask(SIG_SETMASK, &live->before, NULL);
}

static int refuse_terminal(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		complain("standard input and output are no terminal\n"
			 "`taskq-top -b` prints without one");
	else
		complain("the type of this terminal is not known, or it cannot place its cursor\n"
			 "set TERM to one that is, such as xterm, or print: `taskq-top -b`");
	return CLI_USAGE;
}

int live_run(struct top *top)
{
	struct live live = { .top = top };

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return refuse_terminal();
	block_signals(&live);
	if (live.signal_fd < 0 || !screen_begin()) {
		sigprocmask(SIG_SETMASK, &live.before, NULL);
		return refuse_terminal();
	}
	top->cells.ascii = screen_is_ascii();
	take_time(&live);
	while (!live.quit)
		wait_for_something(&live);
	screen_end();
	if (live.end_signal)
		end_by(&live);
	return CLI_OK;
}
