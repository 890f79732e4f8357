/*
 * vector_table: vectors of 32-bit values to dense ids and back.
 *
 * All vectors of a table have the same width. They lie one after the other in
 * one array; the hash table holds ids. Grows by doubling; an
 * id is valid until the table is truncated below it, a pointer until the next insertion.
 */
#ifndef INTACT_EXPLORE_VECTOR_TABLE_H
#define INTACT_EXPLORE_VECTOR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"

#define VECTOR_TABLE_NONE UINT32_MAX

struct vector_table {
	uint32_t width;
	uint32_t n, cap;
	int32_t *data;
	struct idtab ids;
};

void vector_table_init(struct vector_table *t, uint32_t width);
void vector_table_free(struct vector_table *t);
/* The id of v, new or old; VECTOR_TABLE_NONE when out of memory. */
uint32_t vector_table_add(struct vector_table *t, const int32_t *v);
static inline const int32_t *vector_table_get(const struct vector_table *t, uint32_t id)
{
	assert(id < t->n);
	return t->data + (uint64_t)id * t->width;
}
/* Forgets the vectors from id n on. Costs what adding the others again costs. */
void vector_table_truncate(struct vector_table *t, uint32_t n);
uint64_t vector_table_bytes(const struct vector_table *t);

#endif
