/* search_dist_int: what search_dist.c (states) and search_question.c (how ranks come together) share. */
#ifndef INTACT_EXPLORE_SEARCH_DIST_INT_H
#define INTACT_EXPLORE_SEARCH_DIST_INT_H

#include "explore/product_agree.h"
#include "explore/search_dist.h"

enum {             /* what the states of a message are */
       LIST_FOUND, /* successors: perhaps new, then of the next level */
       LIST_KNOWN, /* states of some level */
       LIST_LEVEL, /* of these, those to be expanded in the present level */
       LIST_NEXT,  /* and those of the next */
};

struct arrived { /* a message that waits to be taken in */
	struct arrived *next;
	unsigned char *bytes;
	size_t n;
};

struct dist_search {
	struct dist *d;
	struct search_ranks *ranks;
	pthread_mutex_t net; /* for d and the queue */
	struct arrived *first, **last;
	uint64_t arrived_bytes;
	uint32_t batch;    /* states of a message at most */
	struct level held; /* states that wait for ids */
	struct product_mark mark;
	uint32_t empty;                      /* agreements in a row in which there was nothing to agree on */
	uint64_t states, transitions, bytes; /* of all ranks, at the end of the last level */
};

/* s->dist, without workers. */
bool dist_search_new(struct search *s);
/* All states of all ranks go to their owners, with fields so wide; `level` and s->next as well. The memory that is missing on
 * some rank is a limit of its search. False: a rank is lost. No thread works, and s->lock is not held. */
bool dist_distribute(struct search *s, const uint8_t *bits, struct level *level);

#endif
