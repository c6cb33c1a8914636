/* SPDX-License-Identifier: MIT */
/* An entry of the flight recorder as a line. */
#include "json.h"
#include "tools/taskq/trace/trace.h"
#include "trace_text.h"

void trace_print(const struct cli *cli, const struct tq_trace_entry *e, const struct clocks *clocks)
{
	char text[TRACE_TEXT_MAX], time[FORMAT_MAX], id[TQ_ID_TEXT_MAX];

	if (cli->json) {
		json_line(json_of_trace_entry(e, clocks));
		return;
	}
	printf("%s %8u %8s  %s\n", trace_moment(e, clocks, time), e->pid,
	       tq_task_id_format(e->task, id), trace_text(e, text));
}
