/* SPDX-License-Identifier: MIT */
/* What the program prints. */
void report(unsigned below, unsigned long sum);
