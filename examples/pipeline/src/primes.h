/* SPDX-License-Identifier: MIT */
/* Prime numbers. */
unsigned long sum_of_primes(unsigned below);
