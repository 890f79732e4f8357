/*
 * rows: lists of words, each kept once and named by a number.
 *
 * Representation: one pool, where each begins, and a hash map with chains. A set of all zeroes is
 * empty. Cost: a hash of the words and a comparison.
 */
#ifndef INTACT_VERDICT_ROWS_H
#define INTACT_VERDICT_ROWS_H

#include "base/map.h"

struct rows {
	int32_t *pool;
	uint64_t npool, cap_pool;
	uint64_t *start; /* n + 1 of them */
	uint32_t *next;  /* of the same hash, or MAP_NONE */
	uint32_t n, cap_start, cap_next;
	struct map index;
};

uint64_t row_hash(const int32_t *v, uint64_t len);
/* Valid until the next row is added. */
const int32_t *row(const struct rows *r, uint32_t id, uint32_t *len);
/* Its number, or MAP_NONE. */
uint32_t row_find(const struct rows *r, const int32_t *v, uint32_t len, uint64_t hash);
/* Its number, new or old; MAP_NONE when out of memory. */
uint32_t row_add(struct rows *r, const int32_t *v, uint32_t len);
uint64_t rows_bytes(const struct rows *r);
void rows_free(struct rows *r);

#endif
