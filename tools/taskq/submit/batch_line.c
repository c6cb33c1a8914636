/* SPDX-License-Identifier: MIT */
/* One line of a batch: from a JSON object to a task. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "json.h"
#include "payload.h"
#include "tools/taskq/submit/batch_line.h"

/* Strings of an array, NULL-terminated; NULL when it is not one of strings. */
static const char **read_argv(const json_t *array)
{
	const size_t count = json_array_size(array);
	const char **argv = count ? calloc(count + 1, sizeof(*argv)) : NULL;

	for (size_t i = 0; argv && i < count; i++) {
		argv[i] = json_string_value(json_array_get(array, i));
		if (!argv[i]) {
			free(argv);
			return NULL;
		}
	}
	return argv;
}

/* An object's members as "NAME=value"; those of @defaults come first. */
static bool read_env(struct task_options *options, json_t *object,
		     const struct task_options *defaults)
{
	const size_t room = defaults->env_count + json_object_size(object) + 1;
	const char *name;
	json_t *value;

	options->env = calloc(room, sizeof(*options->env));
	options->env_copies = calloc(room, sizeof(*options->env_copies));
	if (!options->env || !options->env_copies)
		return false;
	for (unsigned i = 0; i < defaults->env_count; i++)
		options->env[options->env_count++] = defaults->env[i];
	json_object_foreach(object, name, value)
	{
		char **copy = &options->env_copies[options->env_copy_count];

		if (!json_is_string(value) || !*name || strchr(name, '=') ||
		    asprintf(copy, "%s=%s", name, json_string_value(value)) < 0)
			return false;
		options->env[options->env_count++] = *copy;
		options->env_copy_count++;
	}
	return true;
}

static bool read_path(struct batch_line *line, const char *name, char **ret_path,
		      const char *otherwise)
{
	const json_t *value = json_object_get(line->object, name);
	const char *path = value ? json_string_value(value) : otherwise;

	if (value && (!path || *path == '\0'))
		return batch_line_bad(line, "\"%s\" is not a path", name);
	if (!path)
		return true;
	*ret_path = path_absolute(path);
	return *ret_path || batch_line_bad(line, "\"%s\": %s", name, strerror(errno));
}

/* A flag of struct tq_exec: the line's word counts before the command line's. */
static bool read_flag(struct batch_line *line, const char *name, uint32_t flag, uint32_t *flags)
{
	const json_t *value = json_object_get(line->object, name);

	if (value && !json_is_boolean(value))
		return batch_line_bad(line, "\"%s\" is not true or false", name);
	if (value)
		*flags = json_is_true(value) ? *flags | flag : *flags & ~flag;
	return true;
}

/* In octal, as umask(1) has it. */
static bool read_umask(struct batch_line *line, uint32_t *umask)
{
	const json_t *value = json_object_get(line->object, "umask");
	const char *text = json_string_value(value);

	if (!value)
		return true;
	if (!text || !*text || strspn(text, "01234567") != strlen(text) || strlen(text) > 4 ||
	    strtoul(text, NULL, 8) > 0777)
		return batch_line_bad(line, "\"umask\" is not a mask such as \"0022\"");
	*umask = (uint32_t)strtoul(text, NULL, 8);
	return true;
}

static bool encode_command(struct batch_line *line, const struct task_options *options,
			   const char *const *argv)
{
	struct tq_exec exec;
	uint64_t bytes;

	task_options_exec(options, &exec);
	exec.argv = argv;

	const int r = command_encode(&exec, &line->payload, &bytes);

	if (r < 0)
		return batch_line_bad(line, "\"command\": %s", tq_strerror(r));
	line->spec.payload = line->payload;
	line->spec.payload_bytes = bytes;
	return true;
}

static bool read_command(struct batch_line *line, const struct task_options *defaults)
{
	const char **argv = read_argv(json_object_get(line->object, "command"));
	json_t *env = json_object_get(line->object, "env");
	struct task_options options;
	bool ok;

	if (!argv)
		return batch_line_bad(
			line, "\"command\" is not an array of strings, such as [\"ls\",\"-l\"]");
	task_options_init(&options);
	options.exec_flags = defaults->exec_flags;
	ok = read_flag(line, "append", TQ_EXEC_APPEND, &options.exec_flags) &&
	     read_flag(line, "allow_leftovers", TQ_EXEC_LEFTOVERS, &options.exec_flags) &&
	     read_umask(line, &options.umask) &&
	     read_path(line, "cwd", &options.cwd, defaults->cwd ? defaults->cwd : "") &&
	     read_path(line, "output", &options.output, defaults->output);
	if (ok && ((env && !json_is_object(env)) || !read_env(&options, env, defaults)))
		ok = batch_line_bad(line, "\"env\" is not an object of strings");
	ok = ok && encode_command(line, &options, argv);
	task_options_free(&options);
	free(argv);
	return ok;
}

static bool read_base64(struct batch_line *line, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t bytes;

	line->payload = text ? base64_decode(text, &bytes) : NULL;
	if (!line->payload)
		return batch_line_bad(line, "\"payload_base64\" is not base64");
	line->spec.payload = line->payload;
	line->spec.payload_bytes = bytes;
	return true;
}

static bool read_payload(struct batch_line *line, const struct task_options *defaults)
{
	const json_t *text = json_object_get(line->object, "payload");
	const json_t *base64 = json_object_get(line->object, "payload_base64");
	const bool is_exec = !line->spec.kind || !strcmp(line->spec.kind, "exec");
	const bool has_command = json_object_get(line->object, "command") != NULL;

	if (has_command + (text != NULL) + (base64 != NULL) > 1)
		return batch_line_bad(
			line, "more than one of \"command\", \"payload\", \"payload_base64\"");
	if (has_command && !is_exec)
		return batch_line_bad(line, "\"command\" is for kind \"exec\" only");
	if (base64)
		return read_base64(line, base64);
	if (is_exec)
		return read_command(line, defaults);
	if (text && !json_is_string(text))
		return batch_line_bad(line, "\"payload\" is not a string");
	line->spec.payload = json_string_value(text);
	line->spec.payload_bytes = json_string_length(text);
	return true;
}

bool batch_line_read(struct batch_line *line, const char *text, size_t bytes,
		     const struct task_options *defaults)
{
	json_error_t error;
	json_t *object = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);

	if (object)
		return batch_line_take(line, object, defaults);
	*line = (struct batch_line){ .object = NULL };
	return batch_line_bad(line, "not a JSON object: %s", json_error_reason(&error));
}

bool batch_line_take(struct batch_line *line, json_t *object, const struct task_options *defaults)
{
	const char *name;
	json_t *value;

	*line = (struct batch_line){ .spec = defaults->spec, .object = object };
	if (!json_is_object(object))
		return batch_line_bad(line, "not a JSON object: another value");
	json_object_foreach(line->object, name,
			    value) if (!batch_line_field(line, name, value)) return false;
	if (line->spec.unique_scope && !line->spec.unique_key)
		return batch_line_bad(line, "\"unique_scope\" is for a \"unique\" key");
	if (line->spec.at_ns && line->spec.delay_ns)
		return batch_line_bad(line, "\"at\" and \"delay_ns\" exclude each other");
	if (!read_payload(line, defaults))
		return false;
	return line->spec.payload_bytes <= TQ_PAYLOAD_MAX ||
	       batch_line_bad(line, "the payload has %llu bytes, the limit is %u",
			      (unsigned long long)line->spec.payload_bytes, TQ_PAYLOAD_MAX);
}

void batch_line_free(struct batch_line *line)
{
	json_decref(line->object);
	free(line->payload);
	line->object = NULL;
	line->payload = NULL;
}
