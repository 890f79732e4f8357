/*
 * level: the isolation levels, defined once.
 *
 * A history of committed transactions gives, for each key, who wrote it, which write each read saw (wr), sometimes a part of the
 * order of the writes, and an order of transactions `so` that the level takes into account: none, the order inside each session
 * (strong session), or real time (strong). Reads of a transaction's own earlier writes are checked directly and are no part of wr.
 * Every level but the first asks that no read saw an aborted write (G1a) or one that its writer overwrote (G1b).
 *
 * A history satisfies a level when the writes of each key can be put into a total order `ww` (the initial version first, the
 * known part kept) such that what stands below holds. rw goes from a reader of a version to the writer of a later one
 * (not to itself); dep is so + wr + ww.
 *
 *   read-uncommitted   PL-1     so + ww has no cycle (G0)                                            Adya 1999, 4.4.1
 *   read-committed     PL-2     dep has no cycle (G1c)                                               Adya, 4.4.2
 *   cursor-stability   PL-CS    PL-2, and a transaction that read key x and then wrote it overwrote the version it had read:
 *                               no other write of x stands between the two (G-cursor)                Adya, 4.5.4
 *   monotonic-atomic-view       "read committed" of Biswas and Enea: there is a commit order, so + wr inside it, such that a read of
 *                               x from t1 behind a read from t2, which also wrote x, has t2 before t1   Biswas and Enea 2019, Fig. 2a
 *   monotonic-view     PL-2L    PL-2, and when a read misses a write of t2, no earlier operation of its transaction depends on
 *                               t2 (G-monotonic: dep* leads from t2 to that operation)               Adya, 4.5.1
 *   read-atomic        RA       commit order as above; t3 reads x from t1, t2 wrote x, t2 so or wr t3: t2 before t1   B&E, Fig. 2b; Cerone 2015
 *   update-atomic      UA       RA, and no two transactions write a key without one seeing the other:
 *                               dep has no cycle, nor has dep;rw one of length 1 (t2 dep t3 rw t2)    Bernardi and Gotsman 2016
 *   causal             CC       as RA, for t2 (so + wr)+ t3                                          B&E, Fig. 2c; Cerone 2015
 *   prefix             PC       as RA, for t2 before or equal some t4, t4 so or wr t3                 B&E, Fig. 2d; Cerone 2015
 *   consistent-view    PL-2+    no dep+;rw? leads from a transaction to itself (G1c, G-single). The same level is
 *                               parallel snapshot isolation: Cerone and Gotsman 2018, Theorem 10     Adya, 4.5.2
 *   snapshot-isolation PL-SI    dep;rw? has no cycle (G-SI; generalised: snapshots may be old)        Cerone and Gotsman 2018, Theorem 9
 *   update-serializable PL-3U   dep + rw among the transactions that write, and any one that only reads, has no cycle   Adya, 4.5.5
 *   serializable       PL-3     dep + rw has no cycle (G2); without predicates this is repeatable read (PL-2.99), too   Adya, 4.4.3
 *
 * `commit order` levels (monotonic-atomic-view, read-atomic, causal) have no ww: any order of the writes that the commit order
 * gives will do, and the known part of ww is inside the commit order.
 *
 * Equivalent forms that the engine decides, with a begin and an end for each transaction (begin before end):
 *   SER: one event each;  SI: so wr ww: end(a) -> begin(b), rw: begin(r) -> end(w);  PC: the same with ww: end(a) -> end(b).
 */
#ifndef INTACT_TXN_LEVEL_H
#define INTACT_TXN_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum txn_level {
	LEVEL_RU,
	LEVEL_RC,
	LEVEL_CS,
	LEVEL_MAV,
	LEVEL_MV,
	LEVEL_RA,
	LEVEL_UA,
	LEVEL_CC,
	LEVEL_PC,
	LEVEL_CV,
	LEVEL_SI,
	LEVEL_US,
	LEVEL_SER,
	LEVEL_COUNT
};
enum txn_order { ORDER_NONE, ORDER_SESSION, ORDER_REALTIME, ORDER_COUNT };

/* A level with the order of transactions that counts. */
struct isolation {
	uint8_t level; /* enum txn_level */
	uint8_t order; /* enum txn_order */
};

/* "snapshot-isolation", "strong-session-snapshot-isolation", "strict-serializable": as Elle spells it where it has a name. */
const char *isolation_name(struct isolation i);
/* The other names it goes by ("PL-SI, generalized-snapshot-isolation"), or NULL. */
const char *level_aliases(enum txn_level l);
/* By any of its names, `len` bytes. With `sessions`, names without an order mean Biswas and Enea's levels: session order counts, and
 * read-committed is their axiom. False: no such level. */
bool isolation_by_name(const char *s, size_t len, bool sessions, struct isolation *i);
/* Names in a row, ended by NULL, for messages. */
extern const char *const level_names[];

/* Does it exist? (update-serializable is defined without an order only.) */
bool isolation_exists(struct isolation i);
/* Does every history that satisfies a satisfy b? (Reflexive, transitive.) */
bool isolation_implies(struct isolation a, struct isolation b);

#endif
