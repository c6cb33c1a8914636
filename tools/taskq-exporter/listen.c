/* SPDX-License-Identifier: MIT */
/* The socket that requests come to. */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "errors.h"
#include "parse.h"

#define FORM_LISTEN "an address or a name, and a port, such as 127.0.0.1:8275 or [::1]:8275"

enum {
	BACKLOG = 256
};

static bool refuse_listen(struct options *options, const char *wrong)
{
	options->cli.exit_code = CLI_USAGE;
	return refuse(&options->cli, "--listen", options->listen, wrong, FORM_LISTEN);
}

static bool read_port(const char *text, unsigned *ret_port)
{
	uint64_t port;

	if (*text == '\0')
		return true;
	if (*text != ':' || parse_count(text + 1, &port) < 0 || port > UINT16_MAX)
		return false;
	*ret_port = (unsigned)port;
	return true;
}

/* "ADDR", "ADDR:PORT", "[ADDR]", "[ADDR]:PORT"; an address of IPv6 without port also bare. */
static bool read_listen(struct listener *listener, struct options *options)
{
	const char *arg = options->listen, *colon = strchr(arg, ':');
	const bool in_brackets = *arg == '[';
	const bool is_bare_v6 = !in_brackets && colon && strchr(colon + 1, ':');
	const char *name = arg + in_brackets;
	const size_t bytes = is_bare_v6 ? strlen(name) : strcspn(name, in_brackets ? "]" : ":");

	listener->port = PORT_DEFAULT;
	if (bytes == 0 || bytes >= sizeof(listener->name) || (in_brackets && name[bytes] != ']'))
		return refuse_listen(options, "not an address");
	memcpy(listener->name, name, bytes);
	listener->name[bytes] = '\0';
	return read_port(name + bytes + in_brackets, &listener->port) ||
	       refuse_listen(options, "not a port");
}

static int open_at(const struct addrinfo *at)
{
	const int on = 1;
	const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* Connections of an exporter that has just ended are in nobody's way. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	const int error = errno;

	close(fd);
	return -error;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* What it has become: the port may have been 0, the name one of several. */
static void learn(struct listener *listener)
{
	struct sockaddr_storage address;
	socklen_t bytes = sizeof(address);
	char port[8] = "";

	if (getsockname(listener->fd, (struct sockaddr *)&address, &bytes) < 0)
		return;
	getnameinfo((struct sockaddr *)&address, bytes, listener->address,
		    sizeof(listener->address), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	sscanf(port, "%u", &listener->port);
	listener->is_v6 = address.ss_family == AF_INET6;
	listener->is_loopback = is_loopback(&address);
}

bool listener_open(struct listener *listener, struct options *options)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	char port[8];

	if (!read_listen(listener, options))
		return false;
	snprintf(port, sizeof(port), "%u", listener->port);
	if (getaddrinfo(listener->name, port, &hints, &found) != 0)
		return refuse_listen(options, "not an address of this machine");
	listener->fd = open_at(found);
	freeaddrinfo(found);
	if (listener->fd >= 0) {
		learn(listener);
		return true;
	}
	complain("cannot listen on %s: %s\n%s", options->listen, strerror(-listener->fd),
		 listener->fd == -EADDRINUSE
			 ? "give another port, or 0 for any that is free: --listen"
			 : "give an address of this machine: --listen");
	options->cli.exit_code = CLI_NOTHING;
	return false;
}

const char *listener_url(const struct listener *listener, char buf[ADDRESS_MAX + 32])
{
	snprintf(buf, ADDRESS_MAX + 32, listener->is_v6 ? "http://[%s]:%u/" : "http://%s:%u/",
		 listener->address, listener->port);
	return buf;
}
