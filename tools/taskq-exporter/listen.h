/* SPDX-License-Identifier: MIT */
/* The socket that requests come to. */
#ifndef TASKQ_EXPORTER_LISTEN_H
#define TASKQ_EXPORTER_LISTEN_H

#include "exporter.h"

enum {
	ADDRESS_MAX = 256
};

struct listener {
	int fd;
	char name[ADDRESS_MAX];	   /* as it was asked for, without port */
	char address[ADDRESS_MAX]; /* numeric */
	unsigned port;
	bool is_v6, is_loopback;
};

/* Listens where options->listen says.  False, reported, with cli.exit_code. */
bool listener_open(struct listener *listener, struct options *options);

/* "http://127.0.0.1:8275/" */
const char *listener_url(const struct listener *listener, char buf[ADDRESS_MAX + 32]);

#endif
