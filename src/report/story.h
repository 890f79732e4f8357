/*
 * story: a counterexample for people: the run, replayed once, and its description.
 * Text (check_text.h) and JSON (check_json.h) are written from it, and `intact report`
 * rebuilds it from a saved document.
 *
 * As members of a result:
 *   "sentence": what went wrong, as text;
 *   "marks": [steps it speaks of, from 1];
 *   "waits": [{thread, text}] of a deadlock;
 *   "serial": {"end": the shared variables and the threads' locals at the end of the run,
 *     "ends": [the same at the end of serial orders, each once],
 *     "more": how many ends are not shown, "cut": true when they were not found out,
 *     "text": [sentences: how the run ends, and how serial orders do],
 *     "orders": [{"order": "1, 2", threads, schedule, steps, state}]}
 *
 * The orders are examples: the same blocks, each run in one piece, in the
 * order in which they were entered or left.
 */
#ifndef INTACT_REPORT_STORY_H
#define INTACT_REPORT_STORY_H

#include "base/json_out.h"
#include "report/causal_story.h"
#include "verdict/run.h"
#include "verdict/verdict.h"

struct story {
	struct run run;
	bool replayed;               /* else there is nothing but the verdict */
	bool *marks;                 /* steps that the sentence speaks of; NULL: no memory */
	struct buf sentence;         /* what went wrong; empty: nothing to say */
	struct buf ends;             /* how it ends and how serial orders do, a line each */
	struct run serial[2];        /* companions: blocks in the order they are entered, left */
	bool possible[2];            /* there is such a one */
	struct causal_story *causal; /* of a causal counterexample, or NULL */
};

/* The same for a run that is there already, and becomes the story's. */
void story_of_run(struct story *s, struct run *r, const struct verdict *v);
/* ... until it is taken back; frees the story. */
void story_give_back(struct story *s, struct run *r);
/* The companions alone, of s->run. */
void story_companions(struct story *s, const struct verdict *v);
/* One for each of n verdicts; NULL: no memory. */
struct story *stories_make(const struct ir *p, const struct verdict *v, uint32_t n);
void stories_free(struct story *s, uint32_t n);

/* PROBLEM_STUCK, PROBLEM_ENDLESS: which block does not finish alone, where it
 * is and why; a sentence. */
void story_halt(const struct ir *p, const struct verdict *v, struct buf *out);
/* The members above, of the object that is open. */
void story_json(const struct story *s, const struct verdict *v, struct json_out *j);

#endif
