/*
 * campaign: how many random programs, and which. INTACT_SOAK=N asks for N of
 * them instead of the sample, INTACT_SEED=S begins S - 1 later, and
 * INTACT_SOAK_PART=k/n takes the k-th of n parts (from 0), so that several
 * processes share a campaign: together they judge what one would.
 */
#ifndef INTACT_TESTS_CAMPAIGN_H
#define INTACT_TESTS_CAMPAIGN_H

#include "soak.h"

struct campaign {
	uint64_t seed; /* of the first program */
	int n;         /* programs, with seed, seed + 1, ... */
};

/* `base` keeps the seeds of different tests apart. */
static inline struct campaign campaign(uint64_t base, int sample)
{
	const char *soak = getenv("INTACT_SOAK"), *seed = getenv("INTACT_SEED");
	uint64_t n = (uint64_t)sample, k, parts;
	soak_part(&k, &parts);
	if (soak && *soak)
		n = strtoull(soak, NULL, 10);
	uint64_t from = n * k / parts, to = n * (k + 1) / parts;
	return (struct campaign){ base + from + (seed && *seed ? strtoull(seed, NULL, 10) : 1),
		                  (int)(to - from) };
}

#endif
