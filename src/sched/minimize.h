/*
 * minimize: a failing schedule with fewest preemptions, then fewest steps, then
 * fewest switches. No callbacks: it proposes, the caller runs it and reports
 * the result.
 *
 *   m = minimize_begin(memory, bytes, failing events, n, budget);
 *   while (minimize_next(m, s)) {        prepares s (any session with the
 *           run the program under s;     strategy SCHED_GUIDE) for one run
 *           minimize_result(m, s, the same bug was found);
 *   }
 *   minimize_best(m, &n)                 the best failing run's events
 *
 * Representation: a schedule is a list of segments (thread, number of that
 * thread's operations done when the segment ends) and the choices by thread and
 * operation. A guided run follows it where it can: a segment whose thread
 * cannot run is left for later, what is left over is run without preemption.
 * Proposals: extend a segment over the thread's next one or to where the thread
 * waits or ends, drop a segment (its work comes at the end, if the bug lets it), move one, and
 * pairs of these when there are few. Accepted when the bug is still there and
 * the run *measured* is smaller, so the result is always a schedule that was
 * executed. Greedy until nothing helps: a local minimum.
 */
#ifndef INTACT_SCHED_MINIMIZE_H
#define INTACT_SCHED_MINIMIZE_H

#include "sched/sched.h"

struct minimize;

size_t minimize_memory(uint32_t events);
/* NULL: memory too small. budget: proposals at most (0: 10,000). The events
 * are copied. */
struct minimize *minimize_begin(void *memory, size_t bytes, const struct sched_event *e, uint32_t n, uint32_t budget);
/* False when there is nothing left to try. */
bool minimize_next(struct minimize *m, struct sched *s);
/* After the run, before sched_run_end's next run begins. */
void minimize_result(struct minimize *m, const struct sched *s, bool failed);
const struct sched_event *minimize_best(const struct minimize *m, uint32_t *n);
uint32_t minimize_preemptions(const struct minimize *m);
uint32_t minimize_tried(const struct minimize *m);

#endif
