/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>

void report(unsigned below, unsigned long sum)
{
	printf("the primes below %u add up to %lu\n", below, sum);
}
