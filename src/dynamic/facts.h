/*
 * facts: which variables a finding is about.
 *
 * A gap in a lock's protection matters for a variable that the block uses on one side
 * of the gap or on both, and that another thread uses under the lock. For each such
 * variable (a range of bytes) a fact has what the block does to it before the gap (in
 * all its sections so far) and after it (in the section that follows), and what a
 * section of another thread does, with the places. Which pattern that makes is decided
 * where lines and names are known: report/finding_pattern.c.
 *
 * Facts are made when the section after the gap ends, from the thread's ring (trail.h),
 * of the first executions of the gap, then each time that their number has doubled, and
 * of those that another thread came into. They are compared with the sections of other
 * threads that are kept, and from then on with every section of another thread under the
 * lock that touches one of the words (`watched`). All that is said of another thread's use
 * of one variable is of one section of one thread that can meet the block (interferes,
 * findings.c).
 *
 * Kept are the first sections of each evidence that a lock has (lock.h), those before the
 * lock is known for a gap: KEPT_ENTRIES accesses at most, of KEPT_SECTIONS sections, and of
 * KEPT_LOCKS locks. (Other threads' rings are not looked at: how far a thread has got is as chance has it,
 * and a recording must say what the run said.) When a section of the evidence passed that
 * was neither kept nor looked at, what was found is not all there is, until the next
 * one has passed under the eyes of the finding.
 *
 * `cut`: there was more than fits, or the sections are no longer in the ring. Then,
 * and when other sections may have read data unseen, what is not known here proves
 * nothing: facts_known.
 *
 * Cost: a comparison for each section of a lock that no gap is known of.
 */
#ifndef INTACT_DYNAMIC_FACTS_H
#define INTACT_DYNAMIC_FACTS_H

#include "dynamic/reduction.h"

enum { FACTS_MAX = 24 };
enum { KEPT_LOCKS = 1 << 14, KEPT_ENTRIES = 8, KEPT_SECTIONS = 8 };
/* `kept` of an evidence: so many sections; or all there were, and no more; or there were
 * others, but one has been looked at since the last gap was found; or there were others. */
enum { KEPT_FULL = UINT16_MAX - 2, KEPT_SEEN, KEPT_MISSED };

/* Sections of one evidence. */
struct kept_sections {
	uint32_t n;                  /* entries */
	uint8_t first[KEPT_ENTRIES]; /* of an entry: it is the first of its section */
	struct trail_entry e[KEPT_ENTRIES];
};

struct fact {
	uint64_t address;
	uint32_t size;
	uint8_t use[FACT_SIDES]; /* FACT_READ ... */
	bool shared, changed;    /* by several threads; by another, in the gap */
	bool dead;               /* the memory was given back */
	bool watched;
	uint32_t uid, section;                         /* of the other thread; facts of one section have the same number */
	uint32_t span;                                 /* accesses of that section */
	uintptr_t read[FACT_SIDES], write[FACT_SIDES]; /* places; 0: none */
};

struct facts {
	struct fact v[FACTS_MAX];
	uint32_t n;
	uint32_t best; /* weight of the heaviest */
	uint32_t seq;  /* of the lock, in the execution they are of */
	uint32_t seen; /* executions */
	uint32_t came; /* of these, looked at because another thread came */
	bool cut;
	bool fresh;   /* since they were sent */
	bool dropped; /* data that only its thread used was not kept */
	bool bare;    /* what is before the gap is a read without locks, which counts too */
};

/* The section after the gap of a finding ends, its lock still held. */
void facts_look(struct dynamic *d, struct thread *t, struct lock *l, const struct held *section);
/* A section of thread t ends: it is evidence `at` of its lock, whose spin is held. Needed unless no gap of the
 * lock is known and `kept` is KEPT_MISSED. */
void facts_section(struct dynamic *d, struct thread *t, struct lock *l, uint32_t at, const struct held *section);
/* Code or data is somewhere else from now on: what is kept has the old addresses. */
void facts_drop(struct dynamic *d);
/* Code or data at lo to hi is `delta` away from now on. */
void facts_move(struct facts *x, uintptr_t lo, uintptr_t hi, uintptr_t delta);
/* Is what the facts do not have not there? */
bool facts_known(const struct dynamic *d, const struct finding *f);

#endif
