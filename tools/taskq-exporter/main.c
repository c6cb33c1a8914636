/* SPDX-License-Identifier: MIT */
/* taskq-exporter: metrics, JSON and a page of a segment, over HTTP. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "errors.h"
#include "json.h"
#include "listen.h"
#include "server.h"
#include "standard.h"
#include "watch.h"

static void announce(const struct options *options, const struct listener *listener)
{
	char url[ADDRESS_MAX + 32];

	listener_url(listener, url);
	if (options->cli.json)
		json_line(json_pack("{s:s, s:s, s:i}", "url", url, "address", listener->address,
				    "port", (int)listener->port));
	else
		printf("listening on %s\n", url);
	fflush(stdout);
	if (!listener->is_loopback)
		complain("%s can be reached from other machines, and nobody is asked who they are\n"
			 "put a proxy before it that asks, or listen on 127.0.0.1",
			 url);
}

/* In all threads: those of the server must not get them. */
static void block_signals(sigset_t *ends)
{
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(ends);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
}

static void wait_for_end(struct server *server, const sigset_t *ends)
{
	const struct timespec second = { 1, 0 };

	while (sigtimedwait(ends, NULL, &second) < 0) {
		connections_cut(&server->connections);
		watch_rest(server->exporter.watch);
	}
}

static int serve(const struct options *options, const struct listener *listener)
{
	struct server server = {
		.exporter = { options, listener->name, watch_new(options) },
	};
	sigset_t ends;

	block_signals(&ends);
	if (!server.exporter.watch || !server_start(&server, listener->fd)) {
		complain("cannot start: no memory, or no threads");
		return CLI_NOTHING;
	}
	announce(options, listener);
	wait_for_end(&server, &ends);
	server_stop(&server);
	watch_free(server.exporter.watch);
	return CLI_OK;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct listener listener = { 0 };
	int code;

	standard_fill();
	if (options_read(&options, argc, argv) && listener_open(&listener, &options))
		code = serve(&options, &listener);
	else
		code = options.cli.exit_code;
	return standard_close(&options.cli, code);
}
