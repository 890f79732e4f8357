/*
 * libc_missing: functions of the C library that emscripten 3.1's lacks (libc_missing.h).
 *
 * qsort_r is heapsort: no memory of its own, n log n at worst. Not stable, as the one of a C library need not be: callers that depend on
 * an order of equal elements compare something else last.
 */
#include <libc_missing.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *reallocarray(void *p, size_t n, size_t size)
{
	return size && n > SIZE_MAX / size ? NULL : realloc(p, n * size);
}

struct sorting {
	char *base;
	size_t size;
	int (*compare)(const void *, const void *, void *);
	void *arg;
};

static int order(const struct sorting *s, size_t a, size_t b)
{
	return s->compare(s->base + a * s->size, s->base + b * s->size, s->arg);
}

static void swap(const struct sorting *s, size_t a, size_t b)
{
	char *x = s->base + a * s->size, *y = s->base + b * s->size, t[64];
	for (size_t left = s->size, n; left; left -= n, x += n, y += n) {
		n = left < sizeof t ? left : sizeof t;
		memcpy(t, x, n);
		memcpy(x, y, n);
		memcpy(y, t, n);
	}
}

/* The element at `at` sinks until no child of it, below `n`, is greater. */
static void sink(const struct sorting *s, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && order(s, child, child + 1) < 0)
			child++;
		if (order(s, at, child) >= 0)
			return;
		swap(s, at, child);
	}
}

void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *), void *arg)
{
	struct sorting s = { base, size, compare, arg };
	for (size_t i = n / 2; i-- > 0;)
		sink(&s, i, n);
	for (size_t end = n; end-- > 1;) {
		swap(&s, 0, end);
		sink(&s, 0, end);
	}
}
