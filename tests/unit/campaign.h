/*
 * campaign: which seeds of a random campaign this process tries.
 *
 * INTACT_SOAK=N    so many seeds in place of the sample of `make test`
 * INTACT_SEED=S    from this one on (1)
 * INTACT_SOAK_PART=k/n  of these the k-th of n equal parts, k from 0 on: n
 *                  processes share a campaign
 *
 * A campaign breaks off after three complaints; what it prints at the end then
 * says how far it came.
 */
#ifndef INTACT_TESTS_CAMPAIGN_H
#define INTACT_TESTS_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct campaign {
	uint64_t first, n;    /* seeds first .. first + n - 1 */
	uint64_t part, parts;
	uint64_t tried;
	int failed_before;
};

static inline struct campaign campaign_of(uint64_t sample)
{
	const char *n = getenv("INTACT_SOAK"), *seed = getenv("INTACT_SEED");
	const char *part = getenv("INTACT_SOAK_PART"), *slash = part ? strchr(part, '/') : NULL;
	struct campaign c = { 1, sample, 0, 1, 0, check_failed };
	if (n)
		c.n = strtoull(n, NULL, 10);
	if (seed)
		c.first = strtoull(seed, NULL, 10);
	if (slash) {
		c.part = strtoull(part, NULL, 10);
		c.parts = strtoull(slash + 1, NULL, 10);
	}
	if (!c.parts || c.part >= c.parts || (part && !slash)) {
		printf("# INTACT_SOAK_PART=%s is no k/n with k < n\n", part);
		check_failed++;
		c.n = 0;
		c.parts = 1;
	}
	return c;
}

/* The next seed of this part, counting i up; false at the end. */
static inline bool campaign_next(struct campaign *c, uint64_t *i, uint64_t *seed)
{
	uint64_t from = c->n / c->parts * c->part, to = c->n / c->parts * (c->part + 1);
	if (*i < from)
		*i = from;
	if (*i >= (c->part + 1 == c->parts ? c->n : to) || check_failed - c->failed_before >= 3)
		return false;
	*seed = c->first + (*i)++;
	c->tried++;
	return true;
}

/* "seeds 1..20000, part 0/2, 10000 tried, 0 disagreements: " */
static inline void campaign_print(const struct campaign *c)
{
	printf("# seeds %llu..%llu", (unsigned long long)c->first,
	       (unsigned long long)(c->first + c->n - 1));
	if (c->parts > 1)
		printf(", part %llu/%llu", (unsigned long long)c->part, (unsigned long long)c->parts);
	printf(", %llu tried, %d disagreements: ", (unsigned long long)c->tried,
	       (int)check_failed - c->failed_before);
}

#endif
