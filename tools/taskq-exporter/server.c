/* SPDX-License-Identifier: MIT */
/* The HTTP server: what holds for every request, whatever its path. */
#include "server.h"

#include <string.h>
#include <strings.h>

#include "descriptors.h"
#include "host.h"
#include "routes.h"

enum {
	THREADS = 4,	       /* a long list holds up nobody else */
	CONNECTIONS_MAX = 512, /* if there are descriptors; a quarter of them in each thread */
	ADDRESS_SHARE = 2,     /* so many hold all of them: one client leaves room for others */
	CONNECTION_BYTES = 16 << 10, /* of a request's head */
	IDLE_SECONDS = 10
};

static void add_headers(struct MHD_Response *response, const struct answer *answer)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	if (answer->policy[0]) {
		MHD_add_response_header(response, "Content-Security-Policy", answer->policy);
		MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	}
	for (unsigned i = 0; i < HEADERS_MAX && answer->headers[i].name; i++)
		MHD_add_response_header(response, answer->headers[i].name,
					answer->headers[i].value);
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

/* Takes the answer over.  MHD_NO closes the connection. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, const struct answer *answer)
{
	struct MHD_Response *response;
	enum MHD_Result result;
	char *text;
	size_t bytes;

	if (!answer->body)
		return MHD_NO;
	text = body_text(answer->body, &bytes);
	response = MHD_create_response_from_buffer_with_free_callback_cls(bytes, text, body_drop,
									  answer->body);
	if (!response) {
		body_drop(answer->body);
		return MHD_NO;
	}
	add_headers(response, answer);
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static bool has_body(struct MHD_Connection *connection)
{
	const char *bytes = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (bytes && strcmp(bytes, "0") != 0) ||
	       MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* The headers that say whom a request is to. */
struct hosts {
	const char *value;
	unsigned count;
};

static enum MHD_Result count_host(void *ctx, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	struct hosts *hosts = ctx;

	(void)kind;
	if (strcasecmp(name, MHD_HTTP_HEADER_HOST) != 0)
		return MHD_YES;
	hosts->value = value ? value : "";
	hosts->count++;
	return MHD_YES;
}

/* What a target is taken for ends at a NUL: it would be another one than was written. */
static bool has_nul;

static void *note_target(void *cls, const char *target, struct MHD_Connection *connection)
{
	(void)cls;
	(void)connection;
	return strstr(target, "%00") ? &has_nul : NULL;
}

/* What is wrong with how a request is written, or with whom it is to; false: nothing.
 * @authority: of its target; NULL it has none. */
static bool refuse_target(const struct request *request, const char *authority, bool with_nul,
			  struct answer *ret_answer)
{
	struct hosts hosts = { NULL, 0 };

	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, count_host, &hosts);
	if (with_nul)
		*ret_answer = route_error(request->path, MHD_HTTP_BAD_REQUEST, "leave it out",
					  "there is a NUL in what is asked for");
	else if (hosts.count > 1)
		*ret_answer = route_error(request->path, MHD_HTTP_BAD_REQUEST, "give one",
					  "a request has one header Host");
	else if (!host_is_allowed(request->exporter, authority ? authority : hosts.value))
		*ret_answer = route_error(request->path, MHD_HTTP_FORBIDDEN,
					  "ask by address or as localhost, or let the exporter "
					  "accept the name: --allow-host NAME",
					  "requests to that name are not answered");
	else
		return false;
	return true;
}

/* What is wrong with a request that no path should see; false: nothing. */
static bool refuse_request(const struct request *request, const char *method,
			   struct answer *ret_answer)
{
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		*ret_answer = route_error(request->path, MHD_HTTP_METHOD_NOT_ALLOWED,
					  "only GET and HEAD: `taskq` changes things",
					  "nothing can be changed here");
	else if (has_body(request->connection))
		*ret_answer = route_error(request->path, MHD_HTTP_BAD_REQUEST, "leave it out",
					  "a request here has no body");
	else
		return false;
	return true;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_bytes, void **seen)
{
	const struct server *server = cls;
	static int mark; /* its address says: the head was seen */
	char authority[AUTHORITY_MAX];
	const char *path = host_of_target(url, authority);
	const struct request request = { &server->exporter, connection, path ? path : url };
	struct answer answer;

	(void)version;
	(void)upload;
	(void)upload_bytes;
	/* Nobody waits for a body that is not wanted; else the connection can be used again. */
	if (refuse_target(&request, path ? authority : NULL, *seen == &has_nul, &answer) ||
	    refuse_request(&request, method, &answer))
		return send_answer(connection, &answer);
	if (!*seen) {
		*seen = &mark;
		return MHD_YES;
	}
	answer = route(&request);
	if (body_is_too_much(answer.body)) {
		body_drop(answer.body);
		answer = route_error(request.path, MHD_HTTP_SERVICE_UNAVAILABLE,
				     "ask again later, or for less",
				     "too many large answers wait to be read by who asked");
	}
	return send_answer(connection, &answer);
}

bool server_start(struct server *server, int fd)
{
	const unsigned connections = descriptors_for(CONNECTIONS_MAX, THREADS);

	pthread_mutex_init(&server->connections.mutex, NULL);
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, handle, server,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
		MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_URI_LOG_CALLBACK, note_target,
		NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION, connections_note,
		&server->connections, MHD_OPTION_NOTIFY_COMPLETED, connections_answered,
		&server->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		connections / ADDRESS_SHARE, MHD_OPTION_END);
	return server->daemon != NULL;
}

void server_stop(struct server *server)
{
	MHD_stop_daemon(server->daemon);
}
