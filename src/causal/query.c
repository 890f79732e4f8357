/*
 * query: questions to a finished prefix. A set of conditions that are pairwise
 * concurrent is part of the cut of a configuration, so a marking that covers
 * some places is a choice of conditions that the trail of config.h can hold
 * all at once.
 */
#include "causal/prefix.h"

static int cover_from(struct prefix *p, const uint32_t *places, uint32_t n)
{
	struct config *c = &p->cfg;
	if (!n)
		return prefix_keep_marking(p) ? 1 : -1;
	for (uint32_t b = 0; b < p->nconds; b++) {
		if (!prefix_in_time(p))
			return -1;
		uint32_t len = c->ntrail;
		if (c->conds[b].place != places[0] || c->taken[b] ||
		    !config_add(c, c->conds[b].event))
			continue;
		c->taken[b] = 1;
		int found = cover_from(p, places + 1, n - 1);
		c->taken[b] = 0;
		config_undo(c, len);
		if (found)
			return found;
	}
	return 0;
}

int prefix_cover(struct prefix *p, const uint32_t *places, uint32_t n)
{
	return cover_from(p, places, n);
}
