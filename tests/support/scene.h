/* SPDX-License-Identifier: MIT */
/* A segment with one of everything, and observers that look at all of it. */
#ifndef TQT_SCENE_H
#define TQT_SCENE_H

#include "taskq/taskq.h"

#define TQT_SCENE_TASKS 10

struct tqt_scene {
	char name[TQ_NAME_MAX + 1];
	struct tq *tq;
	struct tq_worker *worker;
	uint64_t ids[TQT_SCENE_TASKS];
	uint64_t group;
	uint64_t schedule;
	uint64_t command;
};

/* Ends the program with the condition when it does not hold; also where cmocka is not. */
#define tqt_require(condition)                                                                     \
	((condition) ? (void)0 : tqt_require_failed(#condition, __FILE__, __LINE__))
_Noreturn void tqt_require_failed(const char *condition, const char *file, int line);

/* `name` goes into the segment's name, with the process's id. */
void tqt_scene_open(struct tqt_scene *scene, const char *name);
void tqt_scene_close(struct tqt_scene *scene);

/* Everything that takes no lock, over all that is there; it ends, whatever is damaged. */
void tqt_scene_look(const struct tqt_scene *scene);

#endif
