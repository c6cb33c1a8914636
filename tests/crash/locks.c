/* SPDX-License-Identifier: MIT */
/*
 * Operations on a mutex, stepped as a whole (tests/crash/step.h): what they change of the
 * thread's list of robust ones lies in no segment.  Linked by --wrap, in place of the C
 * library's; the library of this tree calls no other of them while it is stepped.
 */
#include <pthread.h>
#include <time.h>

#include "tests/crash/step.h"

#define WRAPPED(name, parameters, arguments)                                                       \
	int __real_##name parameters;                                                              \
	int __wrap_##name parameters;                                                              \
	int __wrap_##name parameters                                                               \
	{                                                                                          \
		struct tqt_stepper *stepper = tqt_step_closely();                                  \
		int r = __real_##name arguments;                                                   \
                                                                                                   \
		tqt_step_loosely(stepper);                                                         \
		return r;                                                                          \
	}

WRAPPED(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WRAPPED(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
WRAPPED(pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
WRAPPED(pthread_mutex_consistent, (pthread_mutex_t * mutex), (mutex))
WRAPPED(pthread_mutex_clocklock,
	(pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until),
	(mutex, clock, until))
