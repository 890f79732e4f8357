/*
 * issue: a document seen as a list of answers, whatever command made it.
 *
 * Each question that was asked is one issue: its name, its verdict and, when
 * it is violated, the rule, a title, a message, a place and the story as
 * steps of threads in order. SARIF, JUnit, GitHub's annotations and the text
 * are written from this list alone.
 *
 * Strings are the document's or the arena's and not escaped for anything.
 */
#ifndef INTACT_REPORT_ISSUE_H
#define INTACT_REPORT_ISSUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct place {
	const char *file;      /* NULL: nowhere */
	uint32_t line, column; /* 0: not known */
	const char *function;  /* NULL: not known */
};

struct flow_step {
	uint32_t flow; /* which thread: index into flows */
	struct place at;
	const char *text;
	uint32_t depth;      /* blocks around it */
	bool essential;      /* the explanation speaks of it */
	const json_t *state; /* object: variables after the step, or NULL */
};

struct frame_list { /* a call stack */
	const char *title;
	const json_t *frames;
};

struct issue {
	const char *name;        /* "worker.increment", "key x", ... */
	const char *subject;     /* the file it is about */
	const char *verdict;     /* "holds", "violated", "unknown" */
	const struct rule *rule; /* NULL unless violated */
	const char *title, *message;
	struct place at;
	char fingerprint[17];
	const char *suppressed; /* why it is not to be shown, or NULL */
	const char *skipped;    /* why there was nothing to judge, or NULL */
	const char *word;       /* what the verdict is called here, or NULL */
	const char *next;       /* the command to try, or NULL */
	AVEC(const char *) flows;
	AVEC(struct flow_step) steps; /* in execution order */
	AVEC(struct frame_list) stacks;
	const json_t *result; /* where it comes from */
};

struct rule {
	const char *id, *name, *level; /* level: "error", "warning", "note" */
	const char *brief, *help;
};
extern const struct rule issue_rules[]; /* ends with a NULL id */
const struct rule *issue_rule(const char *id);

struct issues {
	struct arena arena;
	AVEC(struct issue *) list;
	const char *kind, *verdict, *subject;
	bool failed;  /* the run itself: no answer is one */
	json_t *made; /* values that live as long as this */
};

void issues_init(struct issues *s, const json_t *doc);
/* The same, false when out of memory (issues_init aborts then); issues_free is due in any case. */
bool issues_try(struct issues *s, const json_t *doc);
void issues_free(struct issues *s);

/* ---- what the kinds share (issue_*.c) ---- */

struct issue *issue_new(struct issues *s, const json_t *result, const char *verdict);
/* The number of the flow of this name, made when it is new. */
uint32_t issue_flow(struct issues *s, struct issue *i, const char *name);
/* From what does not change when lines move. */
void issue_fingerprint(struct issue *i, const char *a, const char *b, const char *c);
/* "file.c:12" as a place; `file` without a line when it is not of that form
 * (a trace may number its places as it likes). */
struct place issue_place(struct issues *s, const char *text, const char *file);

void issues_of_check(struct issues *s, const json_t *doc);
void issues_of_sim(struct issues *s, const json_t *doc);
void issues_of_history(struct issues *s, const json_t *doc);
void issues_of_trace(struct issues *s, const json_t *doc);
void issues_of_run(struct issues *s, const json_t *doc);
void issues_of_diff(struct issues *s, const json_t *doc);
/* One finding of a run, in its document or in that of its recording. */
void issue_of_finding(struct issues *s, const json_t *finding, const char *subject);
void issues_of_explore(struct issues *s, const json_t *doc);
void issues_of_net(struct issues *s, const json_t *doc);
void issues_of_verify(struct issues *s, const json_t *doc);

#endif
