/*
 * decide_int: what the files of decide.h share: one question, and how a cycle is told and named.
 */
#ifndef INTACT_TXN_DECIDE_INT_H
#define INTACT_TXN_DECIDE_INT_H

#include <assert.h>

#include "base/map.h"
#include "txn/decide.h"

/* One question: scratch memory is freed with it, also when it runs out. */
struct question {
	const struct deps *d;
	struct isolation level;
	struct arena scratch, *keep;
	struct limits *lim;
	struct map pairs;
	struct decision *out;
	struct txn_decide_options opts;
};

static inline const struct txn *txn_of(const struct deps *d, uint32_t t)
{
	assert(t < d->n);
	return &d->th->txns[d->txn[t]];
}

#define REASON_DEPTH 3   /* reasons of reasons */
#define REASON_EDGES 400 /* edges told altogether */

struct teller {
	struct question *q;
	const struct txn_graph *g;
	uint32_t told;
};

/* The steps of a path, or of a cycle, of these edges of the graph, in q->keep; derived ones with their reasons down to `depth`. */
struct cycle_edge *decide_tell(struct teller *w, const uint32_t *edges, uint32_t n, bool cycle, int depth, uint32_t *count);
/* What Adya, Elle and others call a cycle of these edges. */
enum anomaly_kind decide_name(const struct deps *d, enum txn_level level, const struct cycle_edge *c, uint32_t n);
/* A prover on the graph, or NULL when none is asked for. */
struct prover *decide_prover(struct question *q, struct txn_graph *g);
/* The graph has a cycle: the answer. */
void decide_violated(struct question *q, struct txn_graph *g);

#endif
