/* SPDX-License-Identifier: MIT */
/*
 * The process that follows a command's output from its first byte on, as `taskq run`, and
 * what the command has of it: its pipe for errors, its standard input.  They are opened by
 * its number below /proc, so the command reads and writes there itself, and whoever is slow
 * holds the other one back, as with any pipe.
 */
#ifndef TQI_CLIENT_FARM_READER_H
#define TQI_CLIENT_FARM_READER_H

#include "taskq/farm.h"

/* For standard error; -1: that goes where the output goes, as the reader has gone, or is
 * another user's, or it is no pipe. */
int tqi_reader_errors(const struct tq_exec *exec);
/* For standard input, if it is to be the reader's.  -errno. */
int tqi_reader_input(const struct tq_exec *exec);

#endif
