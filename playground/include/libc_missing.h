/* libc_missing.h: what the C library of emscripten 3.1 does not declare; given to every source by the build (-include). */
#ifndef INTACT_PLAYGROUND_LIBC_MISSING_H
#define INTACT_PLAYGROUND_LIBC_MISSING_H

#include <stddef.h>

void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *), void *arg);

#endif
