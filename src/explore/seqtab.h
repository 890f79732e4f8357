/*
 * seqtab: sequences of 32-bit values, of any length, to dense ids and back.
 *
 * They lie one behind the other in one array; start[id] says where. The hash
 * table holds ids. Grows by doubling, never shrinks; an id is valid for ever,
 * a pointer until the next insertion. (vectab is the same for one width.)
 */
#ifndef INTACT_EXPLORE_SEQTAB_H
#define INTACT_EXPLORE_SEQTAB_H

#include <stdbool.h>
#include <stdint.h>

#define SEQTAB_NONE UINT32_MAX

struct seqtab {
	int32_t *words;
	uint64_t nwords, cap_words;
	uint64_t *start; /* n + 1 of them */
	uint32_t n, cap;
	uint32_t *slots; /* id + 1; 0 free */
	uint32_t nslots;
};

void seqtab_init(struct seqtab *t);
void seqtab_free(struct seqtab *t);
/* The id of v, new or old; SEQTAB_NONE when memory ends. */
uint32_t seqtab_add(struct seqtab *t, const int32_t *v, uint32_t len);
static inline const int32_t *seqtab_get(const struct seqtab *t, uint32_t id, uint32_t *len)
{
	*len = (uint32_t)(t->start[id + 1] - t->start[id]);
	return t->words + t->start[id];
}
uint64_t seqtab_bytes(const struct seqtab *t);

#endif
