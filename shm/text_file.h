/* SPDX-License-Identifier: MIT */
/* Small files of text, those below /proc and /sys above all. */
#ifndef TQI_SHM_TEXT_FILE_H
#define TQI_SHM_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The first room - 1 bytes of a file, with a NUL behind them; false: it says nothing. */
bool tqi_read_text(const char *path, char *buf, size_t room);

#endif
