/* SPDX-License-Identifier: MIT */
/* Looks at the segment. */
#include "watch.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>

#include "format.h"
#include "json_model.h"
#include "json.h"

#define FRESH_NS 500000000ull	/* so long a look is good for all */
#define REST_NS 60000000000ull /* so long after the last one the segment is let go */

static const char *const metrics_types[METRICS_FORMS] = {
	"text/plain; version=0.0.4; charset=utf-8",
	"application/openmetrics-text; version=1.0.0; charset=utf-8",
};

struct watch {
	const struct options *options;
	pthread_mutex_t mutex; /* of what stands below */
	struct source source;
	struct model model;
	uint64_t looked_ns;
	struct body *overview; /* of that look; NULL nobody has asked for it */
	pthread_mutex_t metrics_mutex;
	struct body *metrics[METRICS_FORMS];
	uint64_t metrics_ns[METRICS_FORMS];
};

struct watch *watch_new(const struct options *options)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->options = options;
	watch->source =
		(struct source){ .name = options->cli.segment, .foreign = options->cli.foreign };
	watch->model.segment = options->cli.segment;
	pthread_mutex_init(&watch->mutex, NULL);
	pthread_mutex_init(&watch->metrics_mutex, NULL);
	return watch;
}

void watch_free(struct watch *watch)
{
	for (unsigned form = 0; form < METRICS_FORMS; form++)
		body_drop(watch->metrics[form]);
	body_drop(watch->overview);
	model_free(&watch->model);
	source_close(&watch->source);
	free(watch);
}

static bool is_fresh(uint64_t at_ns)
{
	return at_ns && clocks_read().now_ns - at_ns < FRESH_NS;
}

/* Under the mutex. */
static void look(struct watch *watch)
{
	const struct tq *before = watch->source.tq;
	struct model *model = &watch->model;
	struct sample sample = { 0 };

	if (is_fresh(watch->looked_ns))
		return;
	sample_take(&watch->source, SAMPLE_LIMITS | SAMPLE_HOLDER, &sample);
	model_update(model, &sample);
	if (watch->source.tq != before)
		model_forget(model);
	if (watch->source.tq && !model->now.error)
		latencies_update(&model->latencies, watch->source.tq, &model->now, 0);
	if (watch->model.now.removed)
		source_close(&watch->source);
	watch->looked_ns = watch->model.now.clocks.now_ns;
	body_drop(watch->overview);
	watch->overview = NULL;
}

static bool is_gone(const struct watch *watch)
{
	return watch->model.now.error || watch->model.now.removed;
}

struct answer watch_overview(struct watch *watch)
{
	struct answer answer;

	pthread_mutex_lock(&watch->mutex);
	look(watch);
	if (is_gone(watch)) {
		answer = answer_error(MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "%s",
				      watch->model.troubles[0].text);
	} else if (watch->overview) {
		answer = (struct answer){ .status = MHD_HTTP_OK,
					  .type = TYPE_JSON,
					  .body = body_share(watch->overview) };
	} else {
		answer = answer_json(MHD_HTTP_OK, json_of_model(&watch->model));
		watch->overview = body_share(answer.body);
	}
	pthread_mutex_unlock(&watch->mutex);
	return answer;
}

struct answer watch_health(struct watch *watch)
{
	struct answer answer;

	pthread_mutex_lock(&watch->mutex);
	look(watch);
	answer = watch->model.is_blocked ? answer_text(MHD_HTTP_SERVICE_UNAVAILABLE, "%s",
						       watch->model.troubles[0].text)
					 : answer_text(MHD_HTTP_OK, "ok");
	pthread_mutex_unlock(&watch->mutex);
	return answer;
}

static int open_segment(const struct options *options, struct tq **ret_tq)
{
	const struct tq_open_opts opts = {
		.size = sizeof(opts),
		.flags = TQ_OPEN_READONLY | (options->cli.foreign ? TQ_OPEN_FOREIGN : 0),
	};

	return tq_open(options->cli.segment, &opts, ret_tq);
}

static struct body *metrics_of(const struct options *options, enum metrics_form form)
{
	struct tq *tq = NULL;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	if (open_segment(options, &tq) < 0)
		tq = NULL; /* what is written then says so */
	metrics_write(out, tq, form, options->by_kind);
	tq_close(tq);
	fclose(out);
	return body_new(text, bytes);
}

struct answer watch_metrics(struct watch *watch, enum metrics_form form)
{
	struct answer answer = { .status = MHD_HTTP_OK, .type = metrics_types[form] };

	pthread_mutex_lock(&watch->metrics_mutex);
	if (!is_fresh(watch->metrics_ns[form])) {
		body_drop(watch->metrics[form]);
		watch->metrics[form] = metrics_of(watch->options, form);
		watch->metrics_ns[form] = clocks_read().now_ns;
	}
	answer.body = body_share(watch->metrics[form]);
	pthread_mutex_unlock(&watch->metrics_mutex);
	return answer;
}

void watch_rest(struct watch *watch)
{
	pthread_mutex_lock(&watch->mutex);
	if (watch->source.tq && clocks_read().now_ns - watch->looked_ns > REST_NS)
		source_close(&watch->source);
	pthread_mutex_unlock(&watch->mutex);
}

struct tq *watch_open(const struct options *options, struct answer *ret_answer)
{
	struct tq *tq;
	const int r = open_segment(options, &tq);

	if (r == 0)
		return tq;
	*ret_answer = answer_error(MHD_HTTP_SERVICE_UNAVAILABLE, "/healthz says more",
				   "segment \"%s\": %s", options->cli.segment,
				   error_text(r, ABOUT_SEGMENT));
	return NULL;
}
