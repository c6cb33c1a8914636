/* SPDX-License-Identifier: MIT */
/* Handles before and after they have a segment. */
#include "client/operate/new_handle.h"

#include <stdlib.h>

#include "client/core/wipe.h"
#include "client/farm/handler.h"

struct tq *tqi_handle_make(void)
{
	struct tq *tq = calloc(1, sizeof(*tq));

	if (!tq)
		return NULL;
	tq->wipe = tqi_wipe_new();
	if (!tq->wipe || pthread_key_create(&tq->thread_key, tqi_self_free)) {
		tqi_wipe_free(tq->wipe);
		free(tq);
		return NULL;
	}
	tq->opened_ns = tqi_ops_linux.now(NULL);
	return tq;
}

void tqi_handle_unmake(struct tq *tq)
{
	tqi_handlers_free(tq->handlers);
	tqi_self_free(pthread_getspecific(tq->thread_key));
	pthread_key_delete(tq->thread_key);
	tqi_wipe_free(tq->wipe);
	free(tq);
}
