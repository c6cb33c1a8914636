/* SPDX-License-Identifier: MIT */
#include "primes.h"
#include "report.h"

int main(void)
{
	report(1000, sum_of_primes(1000));
	return 0;
}
