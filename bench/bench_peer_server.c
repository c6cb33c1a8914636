/* SPDX-License-Identifier: MIT */
/*
 * Peers with a server, started here: beanstalkd and Redis, on a socket in a directory of
 * their own, writing nothing to disk.
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
#define PIPELINED_BYTES 1024u /* of a payload: 64 KiB, of the 208 KiB that a socket holds */
#define TMP_BYTES 60
#define DIRECTORY_BYTES (TMP_BYTES + 32)
#define PATH_BYTES (DIRECTORY_BYTES + 8)
#define HEAD_BYTES 128

/* One for each peer: they take turns, and do not disturb each other while they wait. */
struct server {
	pid_t pid;
	FILE *in, *out; /* of one connection */
	char directory[DIRECTORY_BYTES];
	char path[PATH_BYTES];
	char *buffer;
	uint32_t bytes;
};

static struct server beanstalkd, redis, redis_pipelined;

static void make_directory(struct server *s)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(s->directory, sizeof(s->directory), "%.*s/taskq-bench.XXXXXX", TMP_BYTES,
		 tmp ? tmp : "/tmp");
	bench_must(mkdtemp(s->directory) ? 0 : -errno, "directory");
	snprintf(s->path, sizeof(s->path), "%s/socket", s->directory);
}

static void remove_directory(const struct server *s)
{
	unlink(s->path);
	rmdir(s->directory);
}

/* argv[0] is what the program thinks it is called. */
static void start(struct server *s, const char *program, char *const argv[])
{
	s->pid = fork();
	if (s->pid != 0)
		return;
	const int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(program, argv);
	_exit(127);
}

static bool is_gone(const struct server *s)
{
	return waitpid(s->pid, NULL, WNOHANG) != 0;
}

static void end(const struct server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

static bool connect_to(struct server *s)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", s->path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		return false;
	}
	s->in = fdopen(fd, "r");
	s->out = fdopen(dup(fd), "w");
	return true;
}

static const char *reach(struct server *s, uint32_t bytes)
{
	for (int i = 0; i < TRIES; i++) {
		if (connect_to(s)) {
			s->bytes = bytes + 2;
			s->buffer = malloc(s->bytes);
			return NULL;
		}
		if (is_gone(s)) {
			remove_directory(s);
			return "its program is not there";
		}
		bench_pause(TRY_US);
	}
	end(s);
	remove_directory(s);
	return "it does not answer";
}

static void stop(struct server *s)
{
	fclose(s->in);
	fclose(s->out);
	free(s->buffer);
	end(s);
	remove_directory(s);
}

/* The line that answers, of which the begin must be this. */
static void expect(struct server *s, const char *begin, char line[HEAD_BYTES])
{
	const bool right = fgets(line, HEAD_BYTES, s->in) &&
			   strncmp(line, begin, strlen(begin)) == 0;

	bench_must(right ? 0 : -EPROTO, begin);
}

static void read_payload(struct server *s, uint32_t bytes)
{
	bench_must(fread(s->buffer, bytes + 2, 1, s->in) == 1 ? 0 : -EPROTO, "payload");
}

typedef void send_one(struct server *s, const char *payload, uint32_t bytes);

/* Were there more in a pipeline, both sides would wait for each other with full sockets. */
static uint32_t pipeline_of(uint32_t bytes)
{
	return bytes <= PIPELINED_BYTES ? PEER_PIPELINE : 1;
}

static void fill(struct server *s, send_one *send, const char *answer, const char *payload,
		 uint32_t bytes, uint32_t count)
{
	const uint32_t most = pipeline_of(bytes);
	char line[HEAD_BYTES];

	for (uint32_t some; count > 0; count -= some) {
		some = count < most ? count : most;
		for (uint32_t i = 0; i < some; i++)
			send(s, payload, bytes);
		fflush(s->out);
		for (uint32_t i = 0; i < some; i++)
			expect(s, answer, line);
	}
}

/* beanstalkd */

static const char *open_beanstalkd(const struct peer_load *load)
{
	char address[PATH_BYTES + 8], largest[16];
	char *const argv[] = { "beanstalkd", "-l", address, "-z", largest, NULL };

	make_directory(&beanstalkd);
	snprintf(address, sizeof(address), "unix:%s", beanstalkd.path);
	snprintf(largest, sizeof(largest), "%u", load->bytes + 1);
	start(&beanstalkd, "beanstalkd", argv);
	return reach(&beanstalkd, load->bytes);
}

static void send_beanstalkd(struct server *s, const char *payload, uint32_t bytes)
{
	fprintf(s->out, "put %d 0 60 %u\r\n", BENCH_PRIORITIES - bench_priority(), bytes);
	fwrite(payload, bytes, 1, s->out);
	fputs("\r\n", s->out);
}

static void fill_beanstalkd(const char *payload, uint32_t bytes, uint32_t count)
{
	fill(&beanstalkd, send_beanstalkd, "INSERTED", payload, bytes, count);
}

static void put_beanstalkd(const char *payload, uint32_t bytes)
{
	fill_beanstalkd(payload, bytes, 1);
}

static void take_beanstalkd(uint32_t bytes)
{
	char line[HEAD_BYTES];

	fputs("reserve\r\n", beanstalkd.out);
	fflush(beanstalkd.out);
	expect(&beanstalkd, "RESERVED ", line);
	read_payload(&beanstalkd, bytes);
	fprintf(beanstalkd.out, "delete %llu\r\n", strtoull(line + 9, NULL, 10));
	fflush(beanstalkd.out);
	expect(&beanstalkd, "DELETED", line);
}

static void close_beanstalkd(void)
{
	stop(&beanstalkd);
}

const struct peer bench_peer_beanstalkd = { .name = "beanstalkd",
					    .settings = "unix socket, no log file, one connection; "
							"put, reserve, delete",
					    .lacks = "crash safety without -b, results",
					    .open = open_beanstalkd,
					    .fill = fill_beanstalkd,
					    .put = put_beanstalkd,
					    .take = take_beanstalkd,
					    .close = close_beanstalkd };

/* Redis */

static const char *open_server(struct server *s, const struct peer_load *load)
{
	char path[PATH_BYTES];
	char *const argv[] = { "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
			       "--appendonly", "no",	 NULL };

	make_directory(s);
	snprintf(path, sizeof(path), "%s", s->path);
	start(s, "redis-check-rdb", argv); /* the same program: Debian's package of tools has it */
	return reach(s, load->bytes);
}

static void send_push(struct server *s, const char *payload, uint32_t bytes)
{
	fprintf(s->out, "*3\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n$%u\r\n", bytes);
	fwrite(payload, bytes, 1, s->out);
	fputs("\r\n", s->out);
}

static void pop(struct server *s, uint32_t bytes, uint32_t count)
{
	char line[HEAD_BYTES];

	for (uint32_t i = 0; i < count; i++)
		fputs("*2\r\n$4\r\nLPOP\r\n$1\r\nq\r\n", s->out);
	fflush(s->out);
	for (uint32_t i = 0; i < count; i++) {
		expect(s, "$", line);
		read_payload(s, bytes);
	}
}

static const char *open_redis(const struct peer_load *load)
{
	return open_server(&redis, load);
}

static void fill_redis(const char *payload, uint32_t bytes, uint32_t count)
{
	fill(&redis, send_push, ":", payload, bytes, count);
}

static void put_redis(const char *payload, uint32_t bytes)
{
	fill_redis(payload, bytes, 1);
}

static void take_redis(uint32_t bytes)
{
	pop(&redis, bytes, 1);
}

static void close_redis(void)
{
	stop(&redis);
}

static const char *open_redis_pipelined(const struct peer_load *load)
{
	return pipeline_of(load->bytes) == 1 ? "64 of that size fill the socket"
					     : open_server(&redis_pipelined, load);
}

static void fill_redis_pipelined(const char *payload, uint32_t bytes, uint32_t count)
{
	fill(&redis_pipelined, send_push, ":", payload, bytes, count);
}

static void live_redis_pipelined(const char *payload, uint32_t bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i += PEER_PIPELINE) {
		const uint32_t some = PEER_PIPELINE < count - i ? PEER_PIPELINE : count - i;

		fill_redis_pipelined(payload, bytes, some);
		pop(&redis_pipelined, bytes, some);
	}
}

static void close_redis_pipelined(void)
{
	stop(&redis_pipelined);
}

const struct peer bench_peer_redis = { .name = "Redis list, one by one",
				       .settings = "unix socket, no save, no append-only file; "
						   "RPUSH, LPOP",
				       .lacks = "leases, crash safety, priorities, results",
				       .open = open_redis,
				       .fill = fill_redis,
				       .put = put_redis,
				       .take = take_redis,
				       .close = close_redis };
const struct peer bench_peer_redis_pipelined = { .name = "Redis list, 64 pipelined",
						 .settings = "the same, 64 commands a write",
						 .lacks = "the same; and 64 are lost with a worker",
						 .open = open_redis_pipelined,
						 .fill = fill_redis_pipelined,
						 .live = live_redis_pipelined,
						 .close = close_redis_pipelined,
						 .lives_min = PEER_PIPELINE };
