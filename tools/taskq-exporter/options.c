/* SPDX-License-Identifier: MIT */
/* The command line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "exporter.h"
#include "host.h"
#include "long_options.h"
#include "parse.h"
#include "standard.h"

enum {
	KEY_JSON = 256,
	KEY_ALLOW_HOST,
	KEY_BY_KIND,
	KEY_FOREIGN,
	KEY_VERSION
};

static const struct option longs[] = {
	{ "segment", required_argument, NULL, 's' },
	{ "listen", required_argument, NULL, 'l' },
	{ "allow-host", required_argument, NULL, KEY_ALLOW_HOST },
	{ "by-kind", no_argument, NULL, KEY_BY_KIND },
	{ "json", no_argument, NULL, KEY_JSON },
	{ "foreign", no_argument, NULL, KEY_FOREIGN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, KEY_VERSION },
	{ NULL, 0, NULL, 0 },
};

static void help(void)
{
	printf("Usage: %s [OPTION]...\n"
	       "Metrics, JSON and a page of a taskq segment, over HTTP.\n\n"
	       "Options:\n"
	       "  -s, --segment NAME|PATH   the segment; TASKQ_SEGMENT, else \"default\"\n"
	       "  -l, --listen ADDR[:PORT]  where; default " LISTEN_DEFAULT
	       ":%d, port 0: any free one\n"
	       "      --allow-host NAME     accept requests to this name, too\n"
	       "      --by-kind             count each kind of a queue apart\n"
	       "      --json                print where it listens as a JSON object\n"
	       "      --foreign             accept a segment of another user, or open to others\n"
	       "  -h, --help                print this help\n"
	       "      --version             print the version\n"
	       "\nSIGTERM or Ctrl-C ends it.  Nobody is asked who they are: beyond this machine,\n"
	       "put a proxy before it that asks.\n",
	       program_invocation_short_name, PORT_DEFAULT);
}

static bool take_host(struct options *options, const char *arg)
{
	if (!host_name_ok(arg))
		return refuse(&options->cli, "--allow-host", arg, "not a name",
			      "a host's name without port, such as queue.example.org");
	if (options->host_count == HOSTS_MAX)
		return refuse(&options->cli, "--allow-host", arg, "too many", "at most 16");
	options->hosts[options->host_count++] = arg;
	return true;
}

static bool take_segment(struct options *options, const char *option, const char *arg)
{
	options->cli.segment = arg;
	return segment_name_ok(arg) ||
	       refuse(&options->cli, option, arg, "not a segment", FORM_SEGMENT);
}

static bool end(struct options *options)
{
	options->cli.exit_code = CLI_OK;
	return false;
}

static bool take(void *ctx, int key, const char *arg)
{
	struct options *options = ctx;

	switch (key) {
	case 's':
		return take_segment(options, "--segment", arg);
	case 'l':
		options->listen = arg;
		return true;
	case KEY_ALLOW_HOST:
		return take_host(options, arg);
	case KEY_BY_KIND:
		options->by_kind = true;
		return true;
	case KEY_JSON:
		options->cli.json = true;
		return true;
	case KEY_FOREIGN:
		options->cli.foreign = true;
		return true;
	case 'h':
		help();
		return end(options);
	default:
		printf("taskq-exporter %s\n", TQ_VERSION_STRING);
		return end(options);
	}
}

bool options_read(struct options *options, int argc, char **argv)
{
	options->cli.exit_code = CLI_USAGE;
	options->cli.segment = environment_or("TASKQ_SEGMENT", "default");
	options->listen = LISTEN_DEFAULT;
	return long_options_read(longs, "+:s:l:h", take, options, argc, argv) &&
	       take_segment(options, "TASKQ_SEGMENT", options->cli.segment);
}
