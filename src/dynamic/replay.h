/*
 * replay: the analyses of a running program, made again from its recording.
 *
 * Records (event/record.h) are the calls that the runtime made of reduction.h,
 * in their order. Repeating them on separate tables leads to the same locks,
 * stacks and findings, with the same numbers: the message at the end is the
 * one the program sent.
 *
 * Records are foreign input: a thread never heard of is made up, functions
 * beyond a bound are not entered, nothing is trusted. Memory: that of the
 * analyses (what the program touched), and a few kilobytes per thread.
 */
#ifndef INTACT_DYNAMIC_REPLAY_H
#define INTACT_DYNAMIC_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/record.h"

struct replay;

struct replay *replay_new(void);
void replay_free(struct replay *r);
/* False: out of memory; what was found up to there remains valid. */
bool replay_feed(struct replay *r, const struct rec *rec, size_t n);
/*
 * The records fed so far are those of a process up to the fork of this one:
 * its findings are its own, the threads but the one that forked are gone.
 */
void replay_forked(struct replay *r, uint32_t slot);
/* Did a record say that the process forks for the n'th time? Then feeding
 * stopped after it; *used tells how far. `slot`: the thread that did. */
bool replay_until_fork(struct replay *r, const struct rec *rec, size_t n, uint64_t fork, size_t *used, uint32_t *slot);
/* Appends the message for report/finding.h; tells whether it has findings. */
bool replay_message(struct replay *r, struct buf *out);
/* Memory for the program's data has ended: the findings are of a part. */
bool replay_degraded(const struct replay *r);

#endif
