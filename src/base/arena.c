#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define CHUNK_MIN ((size_t)64 << 10)
#define CHUNK_MAX ((size_t)16 << 20)
#define ALIGN     16u

struct arena_chunk {
	struct arena_chunk *prev;
	size_t size;
};
#define HEADER ((sizeof(struct arena_chunk) + ALIGN - 1) & ~(size_t)(ALIGN - 1))

void arena_init(struct arena *a, size_t budget)
{
	memset(a, 0, sizeof *a);
	a->chunk_size = CHUNK_MIN;
	a->budget = budget;
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c = a->chunks;
	while (c) {
		struct arena_chunk *prev = c->prev;
		free(c);
		c = prev;
	}
	arena_init(a, a->budget);
}

static _Noreturn void out_of_memory(struct arena *a)
{
	if (a->oom)
		longjmp(*a->oom, 1);
	abort();
}

static void add_chunk(struct arena *a, size_t need)
{
	size_t size = a->chunk_size;
	if (need > SIZE_MAX / 2)
		out_of_memory(a);
	if (size < need + HEADER)
		size = need + HEADER;
	if (a->budget && (size > a->budget || a->used > a->budget - size)) {
		size = need + HEADER; /* the last bit of a budget, exactly */
		if (size > a->budget || a->used > a->budget - size)
			out_of_memory(a);
	}
	assert(size >= need + HEADER);
	struct arena_chunk *c = malloc(size);
	if (!c)
		out_of_memory(a);
	c->prev = a->chunks;
	c->size = size;
	a->chunks = c;
	a->used += size;
	a->next = (char *)c + HEADER;
	a->end = (char *)c + size;
	assert((size_t)(a->end - a->next) >= need && (!a->budget || a->used <= a->budget));
	if (a->chunk_size < CHUNK_MAX)
		a->chunk_size *= 2;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX - ALIGN)
		out_of_memory(a);
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if ((size_t)(a->end - a->next) < size || !a->next)
		add_chunk(a, size);
	void *p = a->next;
	assert((uintptr_t)p % ALIGN == 0 && (size_t)(a->end - a->next) >= size);
	a->next += size;
	return p;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		out_of_memory(a);
	void *p = arena_alloc(a, n * size);
	memset(p, 0, n * size);
	return p;
}

void *arena_grow(struct arena *a, void *data, uint32_t len, uint32_t *cap, size_t elem)
{
	assert(len <= *cap && elem);
	if (*cap > UINT32_MAX / 2)
		out_of_memory(a);
	uint32_t ncap = *cap ? *cap * 2 : 8;
	if (elem && ncap > SIZE_MAX / elem)
		out_of_memory(a);
	void *p = arena_alloc(a, ncap * elem);
	if (len)
		memcpy(p, data, len * elem);
	assert(ncap > len);
	*cap = ncap;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);
	memcpy(p, s, len);
	p[len] = 0;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, ap2;
	va_start(ap, fmt);
	va_copy(ap2, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	char *p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap2);
	va_end(ap2);
	return p;
}
