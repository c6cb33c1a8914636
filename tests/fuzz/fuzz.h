/* SPDX-License-Identifier: MIT */
/*
 * What a fuzzer calls with bytes of anybody's making; every program of this folder has one.
 * It returns 0, and ends the program when something is not as it must be (tqt_require()).
 *
 * Built by clang's libFuzzer (`./run fuzz`), which makes up the bytes, or with fuzz_main.c,
 * which takes those of the files in corpus/ (every test run, by any compiler).
 */
#ifndef TQT_FUZZ_H
#define TQT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* A copy with a NUL behind it; freed by free(). */
char *fuzz_text(const uint8_t *bytes, size_t count);

#endif
