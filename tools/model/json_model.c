/* SPDX-License-Identifier: MIT */
/* A look as a JSON object: what the programs' other JSON has, with rates beside it. */
#include "json.h"
#include "json_model.h"
#include "percentiles.h"
#include "process.h"

static json_t *json_of_rates(double submitted, double started, double done, double failed)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "submitted", submitted, "started", started, "done",
			 done, "failed", failed);
}

static json_t *json_of_lock(const struct tq_lock_holder *lock)
{
	const char state[2] = { (char)lock->state, '\0' };
	json_t *object = json_object();

	json_object_set_new(object, "held", json_boolean(lock->tid != 0));
	if (!lock->tid)
		return object;
	json_object_set_new(object, "pid", json_integer(lock->pid ? lock->pid : lock->tid));
	json_object_set_new(object, "tid", json_integer(lock->tid));
	if (lock->state)
		json_object_set_new(object, "state", json_string(state));
	json_object_set_new(object, "held_ns", json_u64(lock->held_ns));
	return object;
}

static json_t *json_of_troubles(const struct model *model)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < model->trouble_count; i++)
		json_array_append_new(list,
				      json_pack("{s:b, s:o}", "grave", model->troubles[i].is_grave,
						"text", json_text(model->troubles[i].text)));
	return list;
}

static json_t *json_of_queues(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model->now.queue_count; i++) {
		const struct queue_row *row = &model->now.queues[i];
		json_t *object = json_of_queue(&row->info);

		if (model->has_rates)
			json_object_set_new(object, "rates",
					    json_of_rates(row->submitted, row->started, row->done,
							  row->failed));
		if (i < model->latencies.count)
			json_add_times(object, &model->latencies.queues[i].times);
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *json_of_workers(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model->now.worker_count; i++) {
		const struct worker_row *row = &model->now.workers[i];
		json_t *object = json_of_worker(&row->info, &model->now.clocks);

		if (process_is_stopped(row->process))
			json_object_set_new(object, "stopped", json_true());
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *json_of_limits(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model->now.limit_count; i++)
		json_array_append_new(list, json_of_limit(&model->now.limits[i]));
	return list;
}

static json_t *json_of_all_rates(const struct model *model)
{
	const unsigned last = model->history - 1;

	return json_of_rates(model->series[SERIES_SUBMITTED][last],
			     model->series[SERIES_STARTED][last], model->series[SERIES_DONE][last],
			     model->series[SERIES_FAILED][last]);
}

json_t *json_of_model(const struct model *model)
{
	json_t *object = json_object();

	json_set_time(object, "time", &model->now.clocks, model->now.clocks.now_ns);
	json_object_set_new(object, "segment", json_of_segment(&model->now.segment));
	json_object_set_new(object, "lock", json_of_lock(&model->now.lock));
	json_object_set_new(object, "troubles", json_of_troubles(model));
	if (model->has_rates)
		json_object_set_new(object, "rates", json_of_all_rates(model));
	json_object_set_new(object, "queues", json_of_queues(model));
	json_object_set_new(object, "workers", json_of_workers(model));
	json_object_set_new(object, "limits", json_of_limits(model));
	return object;
}
