/* SPDX-License-Identifier: MIT */
/*
 * An attempt that is a command: this program again, --attempt LEDGER SLOT SEED.  It knows
 * its task by the environment that the library gives to commands.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define LIFE_NS (12 * MS) /* the longest of most commands and their children ... */
#define OLD_CHILD_NS (120 * MS) /* ... and of some children */

/* What is left of the group when its leader ends is killed; before that it runs on. */
static void fork_child(struct ledger *l, struct chance *chance)
{
	if (fork() != 0)
		return;
	ledger_guest(l, who_am_i());
	player_work(chance_below(chance, chance_percent(chance, 20) ? OLD_CHILD_NS : LIFE_NS));
	_exit(0);
}

static int end(struct ledger *l, uint32_t slot, struct chance *chance, uint64_t self)
{
	uint32_t said = chance_percent(chance, 80) ? SAID_DONE : SAID_FAIL;

	printf("%u\n", slot);
	if (fflush(stdout) == EOF) /* its worker was killed: nobody hears it, and it goes, too */
		return EXIT_PLANNED;
	ledger_say(l, slot, said, self);
	return said == SAID_DONE ? 0 : EXIT_PLANNED;
}

int command_main(int argc, char **argv)
{
	const char *id_text = getenv("TASKQ_ID"), *attempt = getenv("TASKQ_ATTEMPT");
	struct chance chance = { .state = argc > 4 ? strtoull(argv[4], NULL, 10) : 0 };
	uint32_t slot = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	uint64_t self = who_am_i(), id;
	int fd;

	if (argc < 5 || !id_text || !attempt || tq_task_id_parse(id_text, &id) < 0)
		return 2;
	struct ledger *l = ledger_attach(argv[2], &fd);

	if (!l) /* the storm is over, or gone */
		return 3;
	chance.state ^= self;
	signal(SIGPIPE, SIG_IGN);
	ledger_begin(l, slot, id, (uint32_t)strtoul(attempt, NULL, 10), self);
	ledger_lock(l, fd, slot);
	ledger_guest(l, self);
	if (chance_percent(&chance, 50))
		fork_child(l, &chance);
	player_work(chance_below(&chance, LIFE_NS));
	return end(l, slot, &chance, self);
}
