/*
 * ledger: what a saved result claims, with the checker's answer to each claim, for `intact verify` and the
 * other ways to it.
 *
 * A claim is told as a line of text as it comes in, and kept as JSON for the document (docs/json.md, kind
 * "verify") that every report is made of. The verdict is that of the claims: violated when one is rejected,
 * unknown when one could not be decided or has nothing to check (unchecked), else holds.
 */
#ifndef INTACT_VERIFY_LEDGER_H
#define INTACT_VERIFY_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"

#define LEDGER_LISTED 100000u /* claims that the document lists, as the schema allows */

enum ledger_answer { LEDGER_ACCEPTED, LEDGER_REJECTED, LEDGER_UNKNOWN, LEDGER_UNCHECKED };

struct claim {
	const char *name;      /* "worker.increment", "finding 3", a file */
	const char *claimed;   /* "holds", "violated", ...; NULL: nothing about that */
	enum ledger_answer answer;
	const char *why;       /* NULL: nothing to add */
	uint32_t line;         /* of the model; 0: none */
	uint32_t link;         /* of the cycle, from 1; 0: none */
	const char *schedule;  /* of the run that refutes it, or NULL */
	uint64_t states;       /* gone through for it; 0: none */
};

struct ledger {
	struct buf *text;      /* a line a claim; NULL: nowhere */
	struct buf *err;       /* what is wrong with the input */
	bool color;            /* ... in colours */
	bool keep;             /* there will be a document */
	const char *file;      /* the result */
	const char *of;        /* its kind: "check", "trace", "history" */
	const char *subject;   /* the model, trace or history it is about; NULL: not known */
	bool brief;            /* what is accepted has no line of text */
	bool silent;           /* no text at all */
	struct buf list;       /* the claims as JSON ... */
	struct json_out j;     /* ... by this */
	uint32_t n[4];         /* by answer */
	uint32_t listed;
};

/* How a verification ended. */
enum ledger_status {
	LEDGER_HOLDS,    /* everything is accepted */
	LEDGER_VIOLATED, /* something is rejected or missing */
	LEDGER_INPUT,    /* something could not be read: `err` says what */
	LEDGER_OPEN,     /* something is unknown or unchecked */
	LEDGER_INTERNAL,
};

/* Nothing is told or kept until text and keep are set; err must be. */
void ledger_init(struct ledger *l, struct buf *err, const char *file, const char *of);
void ledger_free(struct ledger *l);
void ledger_add(struct ledger *l, const struct claim *c);
/* The status of what was added. */
int ledger_code(const struct ledger *l);
/* Where text goes. NULL: nowhere. */
struct buf *ledger_text(struct ledger *l);
/* The document (kind "verify") of what was kept. False: there is none, of what could not be read. */
bool ledger_document(const struct ledger *l, int status, struct buf *doc);

#endif
