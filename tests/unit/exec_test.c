/* SPDX-License-Identifier: MIT */
/* Payloads of kind "exec": round trip, limits, hostile bytes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "taskq/taskq.h"

static const char *const argv[] = { "sh", "-c", "echo", "", NULL };
static const char *const env[] = { "A=1", "B=", NULL };
static const struct tq_exec full = {
	.size = sizeof(full),
	.argv = argv,
	.env = env,
	.cwd = "/tmp",
	.output_path = "out",
	.reader = 0xfedcba9876543210,
	.flags = TQ_EXEC_LEFTOVERS | TQ_EXEC_APPEND | TQ_EXEC_UMASK | TQ_EXEC_READER_FD |
		 TQ_EXEC_READER_INPUT,
	.umask = 0727,
	.reader_fd = INT32_MAX,
};

static void f1_round_trip(void **state)
{
	char payload[256];
	uint64_t bytes = 0;
	struct tq_exec *exec;

	(void)state;
	assert_int_equal(tq_exec_encode(&full, NULL, 0, &bytes), -ENOBUFS);
	assert_true(bytes > 0 && bytes < sizeof(payload));
	assert_int_equal(tq_exec_encode(&full, payload, bytes - 1, &bytes), -ENOBUFS);
	assert_int_equal(tq_exec_encode(&full, payload, bytes, &bytes), 0);
	assert_int_equal(tq_exec_decode(payload, bytes, &exec), 0);
	for (int i = 0; i < 4; i++)
		assert_string_equal(exec->argv[i], argv[i]);
	assert_null(exec->argv[4]);
	assert_string_equal(exec->env[0], "A=1");
	assert_string_equal(exec->env[1], "B=");
	assert_null(exec->env[2]);
	assert_string_equal(exec->cwd, "/tmp");
	assert_string_equal(exec->output_path, "out");
	assert_true(exec->reader == full.reader);
	assert_int_equal(exec->flags, full.flags);
	assert_int_equal(exec->umask, 0727);
	assert_int_equal(exec->reader_fd, INT32_MAX);
	free(exec);
}

static void f1_bad_commands_are_refused(void **state)
{
	const char *const none[] = { NULL }, *const empty[] = { "", NULL };
	const char *const no_value[] = { "NAME", NULL }, *const no_name[] = { "=x", NULL };
	struct tq_exec exec = { .size = sizeof(exec) };
	uint64_t bytes;

	(void)state;
	assert_int_equal(tq_exec_encode(NULL, NULL, 0, &bytes), -EINVAL);
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec = full;
	exec.umask = 01000;
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec.umask = 0777;
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -ENOBUFS);
	exec.flags = full.flags;
	exec.reader = 0; /* whose descriptor? */
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec.reader = 1;
	exec.flags = TQ_EXEC_APPEND | TQ_EXEC_READER_FD; /* and a mask that would not count */
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec = (struct tq_exec){ .size = sizeof(exec), .flags = 1u << 5, .argv = argv };
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec.flags = TQ_EXEC_READER_INPUT; /* whose? */
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec = (struct tq_exec){ .size = sizeof(exec) };
	exec.argv = none;
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec.argv = empty;
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec.argv = argv;
	exec.env = no_value;
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec.env = no_name;
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
	exec.env = NULL;
	exec.cwd = "";
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -EINVAL);
}

static void f1_too_large(void **state)
{
	char *text = malloc(TQ_PAYLOAD_MAX + 1);
	const char *large[] = { text, NULL };
	const struct tq_exec exec = { .size = sizeof(exec), .argv = large };
	uint64_t bytes;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', TQ_PAYLOAD_MAX);
	text[TQ_PAYLOAD_MAX] = '\0';
	assert_int_equal(tq_exec_encode(&exec, NULL, 0, &bytes), -E2BIG);
	free(text);
}

/* In memory of its exact size, so that a sanitizer sees every byte read too much. */
static void decode_copy(const char *payload, uint64_t bytes)
{
	char *copy = malloc(bytes ? bytes : 1);
	struct tq_exec *exec = NULL;

	assert_non_null(copy);
	memcpy(copy, payload, bytes);
	if (tq_exec_decode(copy, bytes, &exec) == 0) {
		assert_non_null(exec->argv[0]);
		for (int i = 0; exec->argv[i]; i++)
			assert_true(strlen(exec->argv[i]) < bytes);
		for (int i = 0; exec->env[i]; i++)
			assert_true(strlen(exec->env[i]) < bytes);
		free(exec);
	}
	free(copy);
}

static void i4_hostile_bytes(void **state)
{
	char payload[256], damaged[256];
	uint64_t bytes, seed = 1;

	(void)state;
	assert_int_equal(tq_exec_encode(&full, payload, sizeof(payload), &bytes), 0);
	for (uint64_t n = 0; n < bytes; n++)
		decode_copy(payload, n);
	for (int i = 0; i < 20000; i++) {
		memcpy(damaged, payload, bytes);
		for (int k = 0; k < 3; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			damaged[(seed >> 33) % bytes] = (char)(seed >> 25);
		}
		decode_copy(damaged, bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f1_round_trip),
		cmocka_unit_test(f1_bad_commands_are_refused),
		cmocka_unit_test(f1_too_large),
		cmocka_unit_test(i4_hostile_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
