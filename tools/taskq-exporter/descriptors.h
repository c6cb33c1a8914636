/* SPDX-License-Identifier: MIT */
/* How many connections the descriptors of this process are enough for. */
#ifndef TASKQ_EXPORTER_DESCRIPTORS_H
#define TASKQ_EXPORTER_DESCRIPTORS_H

/*
 * Raises the limit of descriptors as far as @connections need it and the system allows.
 * Returns how many connections there may be: those that leave enough to look at the
 * segment, and never none.
 */
unsigned descriptors_for(unsigned connections, unsigned threads);

#endif
