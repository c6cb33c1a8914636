/* SPDX-License-Identifier: MIT */
/* What strikes the processes of a storm, and when. */
#ifndef STORM_WEATHER_H
#define STORM_WEATHER_H

#include "cast.h"

/*
 * Kill, stop and replace for `storm->run_ns`; less when the ledger has a fault.
 * Returns how long it was.
 */
uint64_t weather(struct cast *c);

#endif
