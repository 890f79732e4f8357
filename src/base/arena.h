/*
 * Arena: memory for one phase, freed all at once.
 *
 * Representation: a chain of chunks, each twice the one before (64 KiB to
 * 16 MiB); allocation bumps a pointer. Nothing is freed singly. Cost: a few
 * instructions an allocation.
 *
 * Running out (the machine's memory or the arena's budget) does not return:
 * it jumps to the arena's `oom` target, which the phase's entry point sets
 * with ARENA_CATCH and turns into a status. A phase that keeps all it owns in
 * its arena therefore leaks nothing when it is cut short.
 */
#ifndef INTACT_BASE_ARENA_H
#define INTACT_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
	char *next, *end; /* the free part of the newest chunk */
	struct arena_chunk *chunks;
	size_t chunk_size;   /* of the next chunk */
	size_t used, budget; /* bytes taken from malloc; 0 = no budget */
	jmp_buf *oom;        /* where to continue when out of memory; NULL aborts */
};

/* An empty arena; `budget` bounds what it takes from malloc (0: unbounded). */
void arena_init(struct arena *a, size_t budget);
/* Frees everything; the arena is empty and usable again. */
void arena_free(struct arena *a);

/* `size` bytes, aligned for any object, uninitialised. Never NULL. */
void *arena_alloc(struct arena *a, size_t size);
/* `n` objects of `size` bytes, zeroed; the product is checked. */
void *arena_calloc(struct arena *a, size_t n, size_t size);
/* A copy of `len` bytes followed by a NUL. */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_strdup(struct arena *a, const char *s);
/* A formatted string, owned by the arena. */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(a, T)      ((T *)arena_calloc((a), 1, sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_calloc((a), (n), sizeof(T)))

/*
 * A growable array inside an arena. Growing copies to a new place twice as
 * large, so the old one is lost until the arena is freed: at most as much
 * again as the final size.
 */
#define AVEC(T)                    \
	struct {                   \
		T *data;           \
		uint32_t len, cap; \
	}

void *arena_grow(struct arena *a, void *data, uint32_t len, uint32_t *cap, size_t elem);

#define avec_push(a, v, x)                                                                                                        \
	((v)->len == (v)->cap ? (void)((v)->data = arena_grow((a), (v)->data, (v)->len, &(v)->cap, sizeof *(v)->data)) : (void)0, \
	 (void)((v)->data[(v)->len++] = (x)))

#endif
