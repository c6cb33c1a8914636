/* SPDX-License-Identifier: MIT */
/*
 * Peers with a server, started here for one table: beanstalkd and Redis, on a socket in a
 * directory of their own, writing nothing to disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_peer.h"

#define TRIES 2000 /* of a millisecond, until the server answers */
#define TRY_US 1000
#define PIPELINE 64u
#define PIPELINED_BYTES 1024u /* of a payload: 64 KiB, of the 208 KiB that a socket holds */
#define PATH_BYTES 100
#define HEAD_BYTES 128

static struct {
	pid_t pid;
	FILE *in, *out; /* of one connection */
	char path[PATH_BYTES];
	char *buffer;
	uint32_t bytes;
} server;

/* argv[0] is what the program thinks it is called. */
static void start(const char *program, char *const argv[])
{
	const char *tmp = getenv("TMPDIR");

	snprintf(server.path, sizeof(server.path), "%.60s/taskq-bench.%d.sock", tmp ? tmp : "/tmp",
		 (int)getpid());
	unlink(server.path);
	server.pid = fork();
	if (server.pid != 0)
		return;
	const int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(program, argv);
	_exit(127);
}

static bool is_gone(void)
{
	return waitpid(server.pid, NULL, WNOHANG) != 0;
}

static const char *reach(uint32_t bytes)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", server.path);
	for (int i = 0; i < TRIES; i++) {
		const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0) {
			server.in = fdopen(fd, "r");
			server.out = fdopen(dup(fd), "w");
			server.bytes = bytes + 2;
			server.buffer = malloc(server.bytes);
			return NULL;
		}
		close(fd);
		if (is_gone())
			return "its program is not there";
		bench_pause(TRY_US);
	}
	kill(server.pid, SIGKILL);
	waitpid(server.pid, NULL, 0);
	return "it does not answer";
}

static void stop(void)
{
	fclose(server.in);
	fclose(server.out);
	free(server.buffer);
	kill(server.pid, SIGKILL);
	waitpid(server.pid, NULL, 0);
	unlink(server.path);
}

/* The line that answers, of which the begin must be this. */
static void expect(const char *begin, char line[HEAD_BYTES])
{
	const bool right = fgets(line, HEAD_BYTES, server.in) &&
			   strncmp(line, begin, strlen(begin)) == 0;

	bench_must(right ? 0 : -EPROTO, begin);
}

static void read_payload(uint32_t bytes)
{
	bench_must(fread(server.buffer, bytes + 2, 1, server.in) == 1 ? 0 : -EPROTO, "payload");
}

/* beanstalkd */

static const char *open_beanstalkd(uint32_t depth, uint32_t bytes)
{
	char address[PATH_BYTES + 8], largest[16];
	char *const argv[] = { "beanstalkd", "-l", address, "-z", largest, NULL };
	const char *tmp = getenv("TMPDIR");

	(void)depth;
	snprintf(address, sizeof(address), "unix:%.60s/taskq-bench.%d.sock", tmp ? tmp : "/tmp",
		 (int)getpid());
	snprintf(largest, sizeof(largest), "%u", bytes + 1);
	start("beanstalkd", argv);
	return reach(bytes);
}

static void put_beanstalkd(const char *payload, uint32_t bytes)
{
	char line[HEAD_BYTES];

	fprintf(server.out, "put %d 0 60 %u\r\n", BENCH_PRIORITIES - bench_priority(), bytes);
	fwrite(payload, bytes, 1, server.out);
	fputs("\r\n", server.out);
	fflush(server.out);
	expect("INSERTED", line);
}

static void live_beanstalkd(const char *payload, uint32_t bytes, uint32_t count)
{
	char line[HEAD_BYTES];

	for (uint32_t i = 0; i < count; i++) {
		put_beanstalkd(payload, bytes);
		fputs("reserve\r\n", server.out);
		fflush(server.out);
		expect("RESERVED ", line);
		read_payload(bytes);
		fprintf(server.out, "delete %llu\r\n", strtoull(line + 9, NULL, 10));
		fflush(server.out);
		expect("DELETED", line);
	}
}

const struct peer bench_peer_beanstalkd = { "beanstalkd",
					    "unix socket, no log file, one connection",
					    "crash safety without -b, results",
					    open_beanstalkd,
					    put_beanstalkd,
					    live_beanstalkd,
					    stop };

/* Redis */

static const char *open_redis(uint32_t depth, uint32_t bytes)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_BYTES];
	char *const argv[] = { "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
			       "--appendonly", "no",	 NULL };

	(void)depth;
	snprintf(path, sizeof(path), "%.60s/taskq-bench.%d.sock", tmp ? tmp : "/tmp",
		 (int)getpid());
	start("redis-check-rdb", argv); /* the same program: Debian's package of tools has it */
	return reach(bytes);
}

static void send_push(const char *payload, uint32_t bytes)
{
	fprintf(server.out, "*3\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n$%u\r\n", bytes);
	fwrite(payload, bytes, 1, server.out);
	fputs("\r\n", server.out);
}

static void put_redis(const char *payload, uint32_t bytes)
{
	char line[HEAD_BYTES];

	send_push(payload, bytes);
	fflush(server.out);
	expect(":", line);
}

static void live_redis_by(const char *payload, uint32_t bytes, uint32_t count)
{
	char line[HEAD_BYTES];

	for (uint32_t i = 0; i < count; i++)
		send_push(payload, bytes);
	fflush(server.out);
	for (uint32_t i = 0; i < count; i++)
		expect(":", line);
	for (uint32_t i = 0; i < count; i++)
		fputs("*2\r\n$4\r\nLPOP\r\n$1\r\nq\r\n", server.out);
	fflush(server.out);
	for (uint32_t i = 0; i < count; i++) {
		expect("$", line);
		read_payload(bytes);
	}
}

static void live_redis(const char *payload, uint32_t bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		live_redis_by(payload, bytes, 1);
}

/* Were there more in it, both sides would wait for each other with their sockets full. */
static const char *open_redis_pipelined(uint32_t depth, uint32_t bytes)
{
	return bytes > PIPELINED_BYTES ? "64 of that size fill the socket"
				       : open_redis(depth, bytes);
}

static void live_redis_pipelined(const char *payload, uint32_t bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i += PIPELINE)
		live_redis_by(payload, bytes, PIPELINE < count - i ? PIPELINE : count - i);
}

const struct peer bench_peer_redis = { "Redis list, one by one",
				       "unix socket, no save, no append-only file, RPUSH and LPOP",
				       "leases, crash safety, priorities, results",
				       open_redis,
				       put_redis,
				       live_redis,
				       stop };
const struct peer bench_peer_redis_pipelined = { "Redis list, 64 pipelined",
						 "the same, 64 commands a write",
						 "the same; and 64 are lost with a worker",
						 open_redis_pipelined,
						 put_redis,
						 live_redis_pipelined,
						 stop };
