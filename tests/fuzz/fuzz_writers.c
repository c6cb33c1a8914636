/* SPDX-License-Identifier: MIT */
/* fault.D4: damage that nobody has noticed crashes and hangs nobody who works there. */
#include "tests/fuzz/fuzz_image.h"

static void work(const struct tqt_scene *s)
{
	const struct tq_task_spec spec = { .size = sizeof(spec), .kind = "k", .group = s->group };
	struct tq_claim claim = { .size = sizeof(claim) };
	uint64_t id;

	(void)!tq_submit(s->tq, &spec, &id);
	for (int i = 0; i < 3; i++)
		if (tq_claim(s->worker, 0, &claim) == 0)
			(void)!tq_complete(s->worker, &claim, NULL, 0);
	for (int i = 0; i < TQT_SCENE_TASKS; i += 2)
		(void)!tq_task_steer(s->tq, s->ids[i], TQ_TASK_ACTION_CANCEL);
	(void)!tq_group_seal(s->tq, s->group);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const struct fuzz_image *image = fuzz_image_damaged(bytes, count);

	work(&image->scene);
	tqt_scene_look(&image->scene);
	return 0;
}
