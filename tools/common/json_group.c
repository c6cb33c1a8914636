/* SPDX-License-Identifier: MIT */
/* A group as JSON. */
#include "json.h"

/* How many members are in each state, a key for each. */
static json_t *json_of_states(const struct tq_group_info *info)
{
	json_t *object = json_object();

	for (uint32_t s = TQ_BLOCKED; s < TQ_STATE_COUNT; s++)
		json_object_set_new(object, tq_task_state_name(s), json_u64(info->states[s]));
	return object;
}

json_t *json_of_group(const struct tq_group_info *info, const struct clocks *clocks)
{
	char id[TQ_ID_TEXT_MAX];
	json_t *object = json_pack("{s:s,s:s}", "id", tq_group_id_format(info->id, id), "state",
				   tq_group_state_name(info->state));

	if (info->label[0])
		json_object_set_new(object, "label", json_text(info->label));
	json_object_set_new(object, "cancelled",
			    json_boolean(info->flags & TQ_GROUP_INFO_CANCELLED));
	json_object_set_new(object, "members", json_u64(info->members));
	json_object_set_new(object, "unfinished", json_u64(info->unfinished));
	json_object_set_new(object, "states", json_of_states(info));
	if (info->completion) {
		json_object_set_new(object, "completion", json_id(info->completion));
		json_object_set_new(object, "when",
				    json_string(tq_group_condition_name(info->condition)));
	}
	if (info->culprit)
		json_object_set_new(object, "culprit", json_id(info->culprit));
	if (info->owner_pid)
		json_object_set_new(object, "owner_pid", json_u64(info->owner_pid));
	json_set_time(object, "created", clocks, info->created_ns);
	json_set_time(object, "ended", clocks, info->ended_ns);
	return object;
}
