/*
 * claim_list: what a saved result claims, with the checker's answer to each claim, for `intact verify` and the
 * other ways to it.
 *
 * Claims are kept as JSON for the document (docs/json.md, kind "verify") that every report is made of, the text
 * with them. The verdict is that of the claims: violated when one is rejected,
 * unknown when one could not be decided or has nothing to check (unchecked), else holds.
 */
#ifndef INTACT_REPORT_CLAIM_LIST_H
#define INTACT_REPORT_CLAIM_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"

#define CLAIM_LIST_LISTED 100000u /* claims that the document lists, as the schema allows */

enum claim_answer { CLAIM_ACCEPTED, CLAIM_REJECTED, CLAIM_UNKNOWN, CLAIM_UNCHECKED };

struct claim {
	const char *name;    /* "worker.increment", "finding 3", a file */
	const char *claimed; /* "holds", "violated", ...; NULL: nothing about that */
	enum claim_answer answer;
	const char *why;      /* NULL: nothing to add */
	uint32_t line;        /* of the model; 0: none */
	uint32_t link;        /* of the cycle, from 1; 0: none */
	const char *schedule; /* of the run that refutes it, or NULL */
	uint64_t states;      /* visited for it; 0: none */
};

struct claim_list {
	struct buf *err;     /* what is wrong with the input */
	bool color;          /* ... in colours */
	const char *file;    /* the result */
	const char *of;      /* its kind: "check", "trace", "history", "certificate" */
	const char *subject; /* the model, trace or history it is about; NULL: not known */
	struct buf list;     /* the claims as JSON ... */
	struct json_out j;   /* ... by this */
	uint32_t n[4];       /* by answer */
	uint32_t listed;
};

/* How a verification ended. */
enum claim_status {
	CLAIM_HOLDS,    /* everything is accepted */
	CLAIM_VIOLATED, /* something is rejected or missing */
	CLAIM_INPUT,    /* something could not be read: `err` says what */
	CLAIM_OPEN,     /* something is unknown or unchecked */
	CLAIM_INTERNAL,
};

void claim_list_init(struct claim_list *l, struct buf *err, const char *file, const char *of);
void claim_list_free(struct claim_list *l);
void claim_list_add(struct claim_list *l, const struct claim *c);
/* The status of what was added. */
int claim_list_code(const struct claim_list *l);
/* The document (kind "verify") of what was kept. False: there is none, of what could not be read. */
bool claim_list_document(const struct claim_list *l, int status, struct buf *doc);
/* Such a document as text: one line per claim, and how many. */
void claim_list_text(const json_t *doc, struct buf *out);

#endif
