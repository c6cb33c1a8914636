/* SPDX-License-Identifier: MIT */
/* taskq-top: watch a segment, and steer it. */
#include <locale.h>

#include "screen.h"
#include "signals.h"
#include "standard.h"
#include "top.h"

int main(int argc, char **argv)
{
	static struct top top; /* large: the history of its graphs */
	int code;

	standard_fill();
	setlocale(LC_CTYPE, "");
	if (!options_read(&top, argc, argv))
		return standard_close(&top.cli, top.cli.exit_code);
	top.cli.segment = top.model.segment = top.source.name;
	top.cells.ascii = screen_is_ascii();
	signals_setup();
	code = top.batch ? batch_run(&top) : live_run(&top);
	top_free(&top);
	return standard_close(&top.cli, code);
}
