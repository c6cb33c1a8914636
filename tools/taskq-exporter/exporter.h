/* SPDX-License-Identifier: MIT */
/* One run of taskq-exporter: what was asked for, and what requests share. */
#ifndef TASKQ_EXPORTER_EXPORTER_H
#define TASKQ_EXPORTER_EXPORTER_H

#include "cli.h"

#define LISTEN_DEFAULT "127.0.0.1"
#define PORT_DEFAULT 8275 /* T-A-S-K on a telephone; below it all are given to exporters */

enum {
	HOSTS_MAX = 16
};

struct options {
	struct cli cli; /* for messages and exit codes */
	const char *listen;
	const char *hosts[HOSTS_MAX]; /* names beside those that always are accepted */
	unsigned host_count;
	bool by_kind;
};

struct watch;

struct exporter {
	const struct options *options;
	const char *listen_name; /* without its port; an address or a name */
	struct watch *watch;
};

/* options.c: false, all of it reported, with cli.exit_code; or --help. */
bool options_read(struct options *options, int argc, char **argv);

#endif
