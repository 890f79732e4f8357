/* finding_int: what findings.c, finding_words.c and finding_json.c share. */
#ifndef INTACT_REPORT_FINDING_INT_H
#define INTACT_REPORT_FINDING_INT_H

#include "report/explore.h"
#include "report/finding.h"

struct stacks {
	struct src_frame v[FINDING_MAX_FRAMES];
	uint32_t n;
};

/* What a gap means for variables (finding_pattern.c); LABEL_NONE: it was asked for, and no pattern is. */
enum label {
	LABEL_NONE,
	LABEL_LOST_UPDATE,
	LABEL_WRONG_LOCK,
	LABEL_CHECK_THEN_ACT,
	LABEL_BROKEN_INVARIANT,
	LABEL_TORN_READ,
	LABEL_STALE_VALUE,
	LABEL_INTERMEDIATE,
	LABEL_UNKNOWN,
	LABEL_BUSY_GAP,
	LABEL_DELIBERATE_RELEASE,
	LABEL_HAND_OVER,
	LABEL_SPLIT_COUNTERS,
	LABEL_ONE_THREAD_ROLE,
	LABEL_SEPARATE_DATA,
	LABEL_KINDS
};
_Static_assert((int)LABEL_KINDS <= (int)FINDING_LABELS, "each is counted");

struct judged {
	enum label label;
	uint32_t tier, score; /* tier 1 is shown by default */
	const struct raw_fact *fact, *second;
	const char *reasons; /* of the score */
};

/* One finding with its places known. */
struct view {
	const struct raw_finding *f;
	struct raw_report *report;
	struct judged judged;
	struct stacks entered, section, commit, violation, oacquire, owrite;
	uint32_t block; /* index into entered: who is to blame */
	const char *name, *key;
	uint32_t count;                         /* with those merged into it */
	uint32_t met;                           /* the order in which they were met */
	bool first_function;                    /* the block is main, or what a thread begins with */
	uint32_t depth;                         /* calls between the block and its locks */
	uint32_t uses;                          /* of it and those merged into it, the highest */
	struct view *more;                      /* other gaps of the same block */
	const struct pattern *by;               /* suppressed by, or NULL */
	bool known;                             /* it is in the baseline, or was learned */
	uint32_t known_line;                    /* ... there; 0: learned now */
	const struct explore_finding *explored; /* what came of it, or NULL */
};

struct writer {
	const struct text_options *o;
	struct symbols *sym;
	struct arena *arena;
	const struct baseline *baseline; /* or NULL */
};

/* A file as the report names it. */
const char *finding_file(const struct writer *w, const char *file);
void finding_resolve(struct writer *w, struct stacks *s, const struct raw_stack *raw);
const char *finding_thread(struct writer *w, uint32_t uid);
/* A lock of finding f by its name: the variable, or where it was made. */
const char *finding_lock(struct writer *w, const struct raw_finding *f, uint32_t id, uint64_t addr);
/* "lock release of M1 ('lock')" */
const char *finding_commit(struct writer *w, const struct view *v);
const char *finding_violation(struct writer *w, const struct view *v);
/* Data by its variable, or a number. */
const char *finding_data(struct writer *w, uint64_t addr);
/* What the other thread does: "can write under the lock". */
const char *finding_other(const struct view *v);
/* "etween line 3 and line 5 ": which call, or line, comes before the gap and which
 * after it. */
void finding_gap(struct writer *w, const struct view *v, struct buf *out);
/* The line of the block itself on the way to a place; NULL: not known. */
const struct src_frame *finding_in_block(const struct view *v, const struct stacks *s);
/* The line of the block at which a gap ends; 0: unknown. */
uint32_t finding_line(const struct view *v);
/* Does the block come to the second place by going back, as a loop does? */
bool finding_round(const struct view *v);
/* The sentence, with its indent and line end. */
void finding_sentence(struct writer *w, const struct view *v, struct buf *out);

/* One result into w->o->json. */
void finding_json(struct writer *w, const struct view *v, uint32_t pid);

/* The member "stack". */
void finding_frames(struct writer *w, const struct src_frame *v, uint32_t n);

/* The members "threads", "suppressed" and "baseline". */
void finding_threads_json(struct writer *w, const struct raw_finding *f);
void finding_hidden_json(struct writer *w, const struct pattern *by, bool known, uint32_t known_line);

/* ---- hazards.c ---- */
/* A finding that is not about a block, into shown->hazards. */
void hazard_take(struct writer *w, struct raw_finding *raw, struct raw_report *r, struct filter *f, struct shown *shown);
/* What of them is shown into w->o->json. */
void hazards_rank(struct writer *w, const struct filter *f, struct shown *shown);
/* "data race" */
const char *hazard_kind(uint32_t kind);

/* ---- finding_pattern.c ---- */
/* Fills in v->judged, the rest being there. False: it is none; a thread's first function, or a check without the lock,
 * is one only when it has one of few patterns. */
bool finding_judged(struct writer *w, struct view *v);
/* Its members of a result. */
void finding_judged_json(struct writer *w, const struct view *v);
const char *label_name(enum label l);

/* ---- finding_blame.c ---- */
/* The innermost function that is meant to be atomic, into v, or main or the thread's first function when no other
 * contains it; false: none is. */
bool finding_blame(struct view *v, struct filter *f);
/* Is it about what a compiler counts for coverage or profiles? */
bool finding_about_counters(struct writer *w, const struct raw_finding *f);

#endif
