/*
 * proof: why no order of the writes satisfies a level, in steps that `intact verify` checks one by one.
 *
 * A proof is a list of clauses over statements "version a of a key comes before version b". Each clause is
 *   a cycle:  transactions that come before each other in a circle that the level forbids. Its steps are given by the history (session,
 *             real time, wr) or follow from a statement (ww: a before b; rw: a was read, and a before b). Not all of its
 *             statements are true;
 *   learned:  a clause that follows from those before it by unit propagation.
 * The clauses together have no solution, by unit propagation alone. What saturation derives is such a cycle each: "b comes before r,
 * which read a, so b comes before a" is the cycle r rw b ... r.
 *
 * The types are shared with the checker of reports; the functions are the engine's. Steps name transactions of the history, from 0.
 */
#ifndef INTACT_TXN_PROOF_H
#define INTACT_TXN_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define PROOF_INITIAL UINT32_MAX /* the initial version, where a version is named by its writer */

enum proof_kind { PROOF_SESSION, PROOF_REALTIME, PROOF_WR, PROOF_WW, PROOF_RW };

struct proof_step {
	uint32_t from, to;
	uint32_t key;     /* wr ww rw */
	uint32_t version; /* rw: whose version `from` read */
	uint8_t kind;     /* enum proof_kind */
};

/* a's version of the key comes before b's. */
struct proof_fact {
	uint32_t key, a, b;
};

struct proof_clause {
	uint32_t first, n; /* a slice of `steps`, or of `facts` */
	bool learned;
};

struct txn_proof {
	AVEC(struct proof_step) steps;
	AVEC(struct proof_fact) facts;
	AVEC(struct proof_clause) clauses;
	bool too_long; /* it was given up: what is there proves nothing */
};

/* ---- inside the room: making one ---------------------------------------------------------------------- */

struct txn_graph;
struct prover;

#define PROOF_MAX_STEPS 4000000u

/* A prover on the graph, whose edges it may refer to; what is kept is in `keep`. Scratch memory is the graph's arena's. */
struct prover *prover_new(struct txn_proof *p, struct txn_graph *g, struct arena *keep);

/* A cycle is given step by step: edges of the graph, or of what was chosen. What the derived ones among them follow from is put in front of it. */
void prover_begin(struct prover *p);
void prover_edge(struct prover *p, uint32_t edge);
/* a before b, versions (deps.h) of one key: as a step, and why it is certain by the graph's clocks when it is. */
void prover_ww(struct prover *p, uint32_t a, uint32_t b);
void prover_certain(struct prover *p, uint32_t a, uint32_t b);
/* The transaction read a's version, and b comes behind it. */
void prover_rw(struct prover *p, uint32_t reader, uint32_t a, uint32_t b);
/* A step that the history gives: from, to are transactions (deps.h). */
void prover_given(struct prover *p, enum proof_kind kind, uint32_t from, uint32_t to, uint32_t key);
void prover_end(struct prover *p);
/* A learned clause: literals one by one. */
void prover_learn(struct prover *p, uint32_t a, uint32_t b);
void prover_learned(struct prover *p);

/* The graph has a cycle of these edges. */
void prover_cycle(struct prover *p, const uint32_t *edges, uint32_t n);

#endif
