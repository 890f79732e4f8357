/*
 * findings: the table of what was found, merged, and its evidence.
 *
 * A finding's key is the block, the stack of the commit and the stack of the violation;
 * meeting it again counts. All else a finding says is of one occurrence: while it waits for
 * evidence, of the latest; when it is ready, of the one that the evidence was found for;
 * when a cycle is seen, of the one with the cycle, whole. (What is done after the gap,
 * `uses`, is that of all of them: it orders findings and is not reported. What the other
 * thread does is of one section or access of one thread: of the one on the cycle, or of the
 * evidence.)
 *
 * Entries are never removed; the table is bounded, and when it is full nothing
 * new is kept, but counted (`nlost`).
 */
#ifndef INTACT_DYNAMIC_FINDINGS_H
#define INTACT_DYNAMIC_FINDINGS_H

#include "dynamic/reduction.h"

/* Merges `f` (its key set) into the table; its index, 0 when full. */
uint32_t finding_merge(struct dynamic *d, const struct finding *f);
/* Looks for evidence that is already there. */
void finding_judge(struct dynamic *d, struct thread *t, uint32_t index);
/* What this thread's section on a lock showed; completes findings that
 * waited for it. `h` is the section that ends, `held` the locks still held. */
void evidence_add(struct dynamic *d, struct thread *t, struct lock *l, const struct held *h, uint32_t held);
/* Would that be nothing new? */
bool evidence_known(const struct thread *t, const struct lock *l, const struct held *h, uint32_t held);
/* It happened: a cycle through the block, in this occurrence, by way of its
 * `other`. */
void finding_confirm(struct dynamic *d, uint32_t index, const struct finding *seen);
/* The section after the gap has ended, and what it wrote. */
void finding_wrote(struct dynamic *d, struct thread *t, uint32_t index, const struct held *h, enum uses uses);
/* Thread t writes, at this stack, racing data that a finding was about when it was made; by now it may be about other data. */
void finding_writer(struct dynamic *d, const struct thread *t, uint32_t index, uint64_t address, uint32_t stack);
/* Did thread t, with what it does since its epoch `from`, come after that access in
 * every schedule: because it made that thread later, or has waited for its end? */
bool finding_cannot_meet(const struct dynamic *d, const struct thread *t, uint32_t from, const struct race_access *a);
/* The section after an unsettled finding's gap is known: it gives `token` back, or,
 * 0, is a section like others. */
void finding_settle(struct dynamic *d, struct thread *t, uint32_t index, uint32_t token);
/* Is it to be told of, now or, `final`, if nothing more happens? */
bool finding_counts(const struct finding *f, bool final);
/* Can the thread of this evidence intervene? `t` has just shown one of the two. */
bool finding_interferes(struct dynamic *d, const struct thread *t, const struct finding *f, const struct evidence *e);
/* A finding is complete. */
void finding_ready(struct dynamic *d, struct finding *f, const struct evidence *e);

#endif
