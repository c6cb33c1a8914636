/* SPDX-License-Identifier: MIT */
#include "primes.h"

static int is_prime(unsigned n)
{
	for (unsigned d = 2; d * d <= n; d++)
		if (n % d == 0)
			return 0;
	return n > 1;
}

unsigned long sum_of_primes(unsigned below)
{
	unsigned long sum = 0;

	for (unsigned n = 0; n < below; n++)
		if (is_prime(n))
			sum += n;
	return sum;
}
