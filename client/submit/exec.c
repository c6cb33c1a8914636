/* SPDX-License-Identifier: MIT */
/*
 * The payload of kind "exec":
 *
 *   header, then NUL-terminated strings: argv, env, [cwd], [output path], [reader in hex],
 *   [its descriptor in hex]
 *
 * Whoever may submit may run commands; still, damaged bytes must not crash a
 * worker, so the strings are counted and the last one's end checked before use.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/options.h"
#include "client/submit/exec.h"
#include "client/submit/spec.h"

#define MAGIC 0x31637865u /* "exc1" */
#define HAS_CWD (1u << 0)
#define HAS_OUTPUT (1u << 1)
#define HAS_READER (1u << 2)
#define ALLOWS_LEFTOVERS (1u << 3)
#define APPENDS (1u << 4)
#define HAS_UMASK (1u << 5)
#define UMASK_SHIFT 16 /* its nine bits stand above the flags */
#define UMASK_MAX 0777u
#define HAS_READER_FD (1u << 6)
#define READS_INPUT (1u << 7)
#define KNOWN_FLAGS                                                                                \
	(HAS_CWD | HAS_OUTPUT | HAS_READER | HAS_READER_FD | READS_INPUT | ALLOWS_LEFTOVERS |      \
	 APPENDS | HAS_UMASK | UMASK_MAX << UMASK_SHIFT)
#define READER_ROOM (2 * sizeof(uint64_t) + 1)

struct header {
	uint32_t magic;
	uint32_t flags;
	uint32_t argc;
	uint32_t envc;
};

static uint32_t count_strings(const char *const *list, uint64_t *bytes)
{
	uint32_t count = 0;

	for (; list && list[count]; count++)
		*bytes += strlen(list[count]) + 1;
	return count;
}

static char *append(char *to, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(to, text, n);
	return to + n;
}

static char *append_list(char *to, const char *const *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to = append(to, list[i]);
	return to;
}

static bool env_is_valid(const char *const *env)
{
	for (; env && *env; env++)
		if (**env == '=' || !strchr(*env, '='))
			return false;
	return true;
}

static bool flags_are_valid(const struct tq_exec *e)
{
	const uint32_t known = TQ_EXEC_LEFTOVERS | TQ_EXEC_APPEND | TQ_EXEC_UMASK |
			       TQ_EXEC_READER_FD | TQ_EXEC_READER_INPUT;

	if (e->reserved0 || (e->flags & ~known) ||
	    ((e->flags & TQ_EXEC_READER_INPUT) && !e->reader) ||
	    ((e->flags & TQ_EXEC_READER_FD) ? !e->reader || e->reader_fd > INT32_MAX
					    : e->reader_fd))
		return false;
	return e->umask <= (e->flags & TQ_EXEC_UMASK ? UMASK_MAX : 0);
}

static uint32_t flags_out(const struct tq_exec *e)
{
	return (e->flags & TQ_EXEC_LEFTOVERS ? ALLOWS_LEFTOVERS : 0) |
	       (e->flags & TQ_EXEC_APPEND ? APPENDS : 0) |
	       (e->flags & TQ_EXEC_READER_FD ? HAS_READER_FD : 0) |
	       (e->flags & TQ_EXEC_READER_INPUT ? READS_INPUT : 0) |
	       (e->flags & TQ_EXEC_UMASK ? HAS_UMASK | e->umask << UMASK_SHIFT : 0);
}

static void flags_in(uint32_t flags, struct tq_exec *ret_exec)
{
	ret_exec->flags = (flags & ALLOWS_LEFTOVERS ? TQ_EXEC_LEFTOVERS : 0) |
			  (flags & APPENDS ? TQ_EXEC_APPEND : 0) |
			  (flags & HAS_READER_FD ? TQ_EXEC_READER_FD : 0) |
			  (flags & READS_INPUT ? TQ_EXEC_READER_INPUT : 0) |
			  (flags & HAS_UMASK ? TQ_EXEC_UMASK : 0);
	ret_exec->umask = flags & HAS_UMASK ? flags >> UMASK_SHIFT : 0;
}

int tq_exec_encode(const struct tq_exec *exec, void *buf, uint64_t room, uint64_t *ret_bytes)
{
	struct tq_exec e;
	int r = exec ? tqi_options_in(&e, sizeof(e), sizeof(e), exec) : -EINVAL;

	if (r < 0)
		return r;
	if (!ret_bytes || !e.argv || !e.argv[0] || !*e.argv[0] || !env_is_valid(e.env) ||
	    (e.cwd && !*e.cwd) || (e.output_path && !*e.output_path) || !flags_are_valid(&e))
		return -EINVAL;
	uint64_t bytes = sizeof(struct header);
	char reader[READER_ROOM], reader_fd[READER_ROOM];
	const struct header h = {
		.magic = MAGIC,
		.flags = (e.cwd ? HAS_CWD : 0) | (e.output_path ? HAS_OUTPUT : 0) |
			 (e.reader ? HAS_READER : 0) | flags_out(&e),
		.argc = count_strings(e.argv, &bytes),
		.envc = count_strings(e.env, &bytes),
	};

	bytes += e.cwd ? strlen(e.cwd) + 1 : 0;
	bytes += e.output_path ? strlen(e.output_path) + 1 : 0;
	bytes += e.reader ? (uint64_t)snprintf(reader, sizeof(reader), "%" PRIx64, e.reader) + 1
			  : 0;
	if (h.flags & HAS_READER_FD)
		bytes += (uint64_t)snprintf(reader_fd, sizeof(reader_fd), "%x", e.reader_fd) + 1;
	if (bytes > TQ_PAYLOAD_MAX)
		return -E2BIG;
	*ret_bytes = bytes;
	if (!buf || room < bytes)
		return -ENOBUFS;
	char *to = (char *)buf + sizeof(h);

	memcpy(buf, &h, sizeof(h));
	to = append_list(to, e.argv, h.argc);
	to = append_list(to, e.env, h.envc);
	if (e.cwd)
		to = append(to, e.cwd);
	if (e.output_path)
		to = append(to, e.output_path);
	if (e.reader)
		to = append(to, reader);
	if (h.flags & HAS_READER_FD)
		append(to, reader_fd);
	return 0;
}

/* The strings of a payload, one after the other. */
struct reader {
	const char *at;
	const char *end;
};

static const char *next_string(struct reader *reader)
{
	const char *text = reader->at;
	const char *nul = memchr(text, '\0', (size_t)(reader->end - text));

	if (nul)
		reader->at = nul + 1;
	return nul ? text : NULL;
}

static bool read_list(struct reader *reader, const char **list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		list[i] = next_string(reader);
		if (!list[i])
			return false;
	}
	list[count] = NULL;
	return true;
}

static bool read_hex(struct reader *reader, uint64_t *ret_number)
{
	const char *text = next_string(reader);
	char *end;

	if (!text || strspn(text, "0123456789abcdef") == 0)
		return false;
	*ret_number = strtoull(text, &end, 16);
	return *end == '\0';
}

/* What stands behind the two lists. */
static bool read_rest(struct reader *reader, uint32_t flags, struct tq_exec *exec)
{
	uint64_t fd = 0;

	exec->size = sizeof(*exec);
	flags_in(flags, exec);
	if ((flags & HAS_CWD) && !(exec->cwd = next_string(reader)))
		return false;
	if ((flags & HAS_OUTPUT) && !(exec->output_path = next_string(reader)))
		return false;
	if ((flags & HAS_READER) && (!read_hex(reader, &exec->reader) || !exec->reader))
		return false;
	if ((flags & HAS_READER_FD) && !read_hex(reader, &fd))
		return false;
	exec->reader_fd = (uint32_t)fd;
	return reader->at == reader->end && fd <= INT32_MAX && flags_are_valid(exec);
}

static bool read_all(struct reader *reader, const struct header *h, const char **strings,
		     struct tq_exec *exec)
{
	if (!read_list(reader, strings, h->argc) ||
	    !read_list(reader, strings + h->argc + 1, h->envc))
		return false;
	exec->argv = strings;
	exec->env = strings + h->argc + 1;
	return read_rest(reader, h->flags, exec) && *exec->argv[0] && env_is_valid(exec->env);
}

/* Every string has at least its NUL: counts beyond the bytes are lies. */
static bool begin(const void *payload, uint64_t bytes, struct header *ret_h,
		  struct reader *ret_reader)
{
	if (!payload || bytes < sizeof(*ret_h) || bytes > TQ_PAYLOAD_MAX)
		return false;
	memcpy(ret_h, payload, sizeof(*ret_h));
	*ret_reader = (struct reader){ (const char *)payload + sizeof(*ret_h),
				       (const char *)payload + bytes };
	return ret_h->magic == MAGIC && !(ret_h->flags & ~KNOWN_FLAGS) && ret_h->argc &&
	       (uint64_t)ret_h->argc + ret_h->envc <= bytes;
}

bool tqi_exec_is_valid(const void *payload, uint64_t bytes)
{
	struct tq_exec rest = { .size = 0 };
	struct reader reader;
	struct header h;

	if (!begin(payload, bytes, &h, &reader))
		return false;
	for (uint32_t i = 0; i < h.argc + h.envc; i++) {
		const char *const text[] = { next_string(&reader), NULL };

		if (!text[0] || (i == 0 && !*text[0]) || (i >= h.argc && !env_is_valid(text)))
			return false;
	}
	return read_rest(&reader, h.flags, &rest);
}

int tq_exec_decode(const void *payload, uint64_t bytes, struct tq_exec **ret_exec)
{
	if (!payload)
		return -EINVAL;
	struct reader reader;
	struct header h;

	if (!ret_exec || !begin(payload, bytes, &h, &reader))
		return -EINVAL;
	uint64_t strings = (uint64_t)h.argc + h.envc + 2;
	struct tq_exec *exec = calloc(1, sizeof(*exec) + strings * sizeof(char *));

	if (!exec)
		return -ENOMEM;
	if (!read_all(&reader, &h, (const char **)(void *)(exec + 1), exec)) {
		free(exec);
		return -EINVAL;
	}
	*ret_exec = exec;
	return 0;
}

/* What a %c of an output path stands for; NULL nothing: it stands for itself. */
static const char *meaning_of(char c, const char *id, const char *attempt)
{
	return c == 'i' ? id : c == 'a' ? attempt : c == '%' ? "%" : NULL;
}

/* Into room for the longest meaning at each percent sign. */
static void expand(char *to, const char *pattern, const char *id, const char *attempt)
{
	for (; *pattern; pattern++) {
		const char *meaning = *pattern == '%' ? meaning_of(pattern[1], id, attempt) : NULL;

		if (meaning) {
			to = stpcpy(to, meaning);
			pattern++;
		} else {
			*to++ = *pattern;
		}
	}
	*to = '\0';
}

int tq_exec_output_path(const struct tq_exec *exec, uint64_t id, uint32_t attempt, char **ret_path)
{
	char id_text[TQ_ID_TEXT_MAX], attempt_text[16];

	if (!exec || !ret_path)
		return -EINVAL;
	if (!exec->output_path)
		return -ENODATA;
	size_t room = strlen(exec->output_path) + 1;

	for (const char *at = exec->output_path; (at = strchr(at, '%')) != NULL; at++)
		room += sizeof(id_text);
	char *path = malloc(room);

	if (!path)
		return -ENOMEM;
	snprintf(attempt_text, sizeof(attempt_text), "%u", attempt);
	expand(path, exec->output_path, tq_task_id_format(id, id_text), attempt_text);
	*ret_path = path;
	return 0;
}

/* Most commands are smaller than this: no memory is asked for. */
#define SMALL_BYTES 1024

static int submit_encoded(struct tq *tq, const struct tq_exec *exec, struct tq_task_spec *spec,
			  uint64_t *ret_id)
{
	char small[SMALL_BYTES];
	char *large = NULL;
	int r = tq_exec_encode(exec, small, sizeof(small), &spec->payload_bytes);

	if (r == -ENOBUFS) {
		large = malloc(spec->payload_bytes);
		r = large ? tq_exec_encode(exec, large, spec->payload_bytes, &spec->payload_bytes)
			  : -ENOMEM;
	}
	spec->payload = large ? large : small;
	if (r == 0)
		r = tq_submit(tq, spec, ret_id);
	free(large);
	return r;
}

int tq_submit_exec(struct tq *tq, const char *const *argv, const struct tq_task_spec *spec,
		   uint64_t *ret_id)
{
	if (!tq || !argv)
		return -EINVAL;
	const struct tq_exec exec = { .size = sizeof(exec), .argv = argv };
	struct tq_task_spec s;
	int r = tqi_options_in(&s, sizeof(s), sizeof(s), spec);

	if (r < 0)
		return r;
	if (s.payload || s.payload_bytes || !tqi_spec_is_exec(&s))
		return -EINVAL;
	s.size = sizeof(s);
	return submit_encoded(tq, &exec, &s, ret_id);
}
