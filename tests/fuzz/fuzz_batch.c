/* SPDX-License-Identifier: MIT */
/* Lines of `submit --batch`: each is a task that the library takes, or says why it is none. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/scene.h"
#include "tools/taskq/submit/batch_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct task_options defaults;
	struct batch_line line;
	char *text = fuzz_text(bytes, count);

	task_options_init(&defaults);
	if (!batch_line_read(&line, text, count, &defaults))
		tqt_require(*line.error);
	batch_line_free(&line);
	task_options_free(&defaults);
	free(text);
	return 0;
}
