/*
 * query: questions to a finished prefix, answered on the prefix alone.
 */
#ifndef INTACT_CAUSAL_QUERY_H
#define INTACT_CAUSAL_QUERY_H

#include "causal/unfold.h"

struct query_answer {
	int found;                   /* 1 yes, 0 no, -1 a limit */
	const char *limit;           /* "memory" or "time" */
	uint32_t *marking, nmarking; /* when found: the places that hold a token, ascending */
	uint32_t *run, nrun;         /* transitions that lead there, one after the other */
	uint32_t rounds;             /* times the solver was asked */
	uint64_t conflicts;          /* of the solver */
};

/* Is there a reachable marking with a token on each of the places (distinct)? */
void prefix_cover(struct prefix *p, const uint32_t *places, uint32_t n, struct query_answer *a);
/* Is there a reachable marking that enables nothing? Fast when the prefix was
 * made with keep_cutoffs. */
void prefix_deadlock(struct prefix *p, struct query_answer *a);
void answer_free(struct query_answer *a);

#endif
