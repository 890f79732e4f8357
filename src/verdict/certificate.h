/*
 * certificate: a proof, as a file, that a model's blocks are atomic or that its states are fine, and the checker of it.
 *
 * A section of a certificate is a set of *rows* about one question. The checker reads the set, then looks at each row once:
 * the first row is in the set, every successor of a row by a step of the model (ir.h: ir_each, the one semantics) is in
 * the set, and no row shows what was claimed to be absent. By induction over the steps of a run, every run of the model
 * stays within the set, so what is claimed holds for as many threads as the certificate names. Nothing else is believed:
 * not how the set was found, not that its rows are reachable, not the checksums, not the commit points.
 *
 * Plain sections. A row is a state. Claims: no step has a fault; in no state all threads wait and some have not finished
 * (no deadlock); a condition `always` holds in each row; `finally` in each row in which all threads have finished; and for
 * `can always reach` and for the way out of all blocks each row has a *rank*: 0 where the goal holds (or a step has a
 * fault, what comes after which does not matter), else some successor's rank is lower. Ranks are finite, so from each row
 * a way of lower and lower ranks leads to the goal. That some run ends is not claimed: `finally` says nothing of the others.
 *
 * Serial sections. A row is a state and a set of *shadows*: states of serial executions, with a mark for each thread whose
 * present block has taken effect in it. What is proved is atomicity as docs/language.md defines it, not that commit
 * points fit: each shadow of a row is a serial execution of the blocks and outside steps of every run that leads to the row:
 *
 *   a step outside all blocks   is taken by every shadow, each way that leaves the thread where it is left in the run
 *   a block is entered          changes no shadow: there the thread is still before the block
 *   a step inside               changes none either
 *   a block takes effect        in a shadow: the thread runs alone from before its block to after it, each way; allowed at
 *                               any moment from entering to leaving, and once
 *   a block is left             keeps the shadows in which it has taken effect and has left the thread where the run does
 *   all threads are outside     the state itself must be one of its shadows; then it is kept alone (all that follows begins
 *                               after all that was, so the serial executions of both, one after the other, are one)
 *
 * So when the set is closed, each run that ends with all threads outside blocks ends in a state to which a serial
 * execution of the same blocks and steps leads, each block between its entry and its exit. When a block takes effect is told by
 * the section: where its marks or the edges named commit points say, else as it is left; or with `any_moment` at every moment
 * that can matter (before a step outside that touches something, before a block is left), in every order. A wrong commit
 * point can lose shadows and so a proof, but cannot make a wrong one: every shadow is a serial execution wherever
 * effects are put. Runs that are explained only by causes, with outside steps or blocks in another order than the
 * order of time, have no such proof: no certificate is made for them (docs/certificates.md).
 *
 * Reductions: one, that identical threads may be exchanged. No value of a state names a thread except the records of safe and
 * regular variables (ir.h), so a permutation of the threads of one template without such variables maps steps
 * to steps, blocks to blocks and shadows along; rows are closed up to it: a successor is looked up with the threads of a template in
 * the order of their values, and one of threads that are equal is looked at. Slots that are dead at a node are 0 (ir_clear_dead). The
 * engines' other reductions are not used.
 *
 * Rows are made of numbers of tables that the section brings: globals, and frames for each kind of thread (a template; each
 * thread alone when it uses safe or regular variables). A row is [globals, frame of each thread], then for each shadow
 * [globals, frame of each thread * 2 + 1 when its block has taken effect].
 *
 * The file: "intact-certificate 1", a line end, then blocks of at most CERT_BLOCK bytes, compressed by zstd, each with its length and a
 * checksum of all blocks so far; an empty block at the end. Inside: the hash of the model's text, the numbers of threads, then sections: kind,
 * claims, tables (differences to the row before), rows in ascending order (what they have in common with the row before, and the rest). Another model,
 * another version, a file cut short, blocks or rows in another order and flipped bits are refused; and what passes is checked by its meaning.
 *
 * Trusted: certificate_space.c, certificate_check.c, certificate_read.c and this file (under 800 lines), ir/, the front end, zstd. Not trusted:
 * certificate_make.c, which finds sets with the same rules, and who calls it.
 *
 * Cost of a check: the file once; each step of each (globals, frame) once by the interpreter, then table look-ups. Memory: the rows of one
 * section, 4 bytes a number and up to 16 a row, its tables and what is known of its steps; bounded by max_bytes (then: unknown).
 */
#ifndef INTACT_VERDICT_CERTIFICATE_H
#define INTACT_VERDICT_CERTIFICATE_H

#include <stdio.h>

#include "base/map.h"
#include "base/seqtab.h"
#include "base/varint.h"
#include "verdict/verdict.h"

#define CERT_MAGIC   "intact-certificate 1\n"
#define CERT_BLOCK   (1u << 20)
#define CERT_HEAD    12u     /* bytes of a block's head: its length, that of what is compressed, a checksum */
#define CERT_SHADOWS 4096u   /* of one row */
#define CERT_ALONE   200000u /* states of one block that runs alone */
#define CERT_RANKS   (IR_MAX_PROPERTIES + 1)

enum cert_kind { CERT_END, CERT_PLAIN, CERT_SERIAL };

struct cert_claim { /* what a section is about */
	enum cert_kind kind;
	/* CERT_PLAIN */
	bool faults, deadlock, way_out;
	uint32_t properties; /* a bit for each condition on states */
	/* CERT_SERIAL */
	uint32_t block; /* the one whose marks count, or VERDICT_PROGRAM */
	bool any_moment;
	uint8_t *edge, *entry; /* by ir.succs, by block: commit points; zeroes with any_moment */
};

/* What must always be reachable: conditions on states by number, IR_NONE for the way out (at most CERT_RANKS); their number. A row has a rank for each. */
uint32_t cert_goals(const struct ir *p, const struct cert_claim *q, uint32_t *goals);

/* ---- certificate_space.c: rows and their successors -------------------------------------- */

struct cert_move { /* an outcome of a thread's step; the first of a list has their number in g */
	uint32_t g, f;
	bool fault, committed;
};

struct cert_words {
	int32_t *v;
	uint64_t n, cap;
};

struct cert_space {
	const struct ir *p;
	const struct cert_claim *q;
	uint32_t nkinds, *kind_of, *thread_of; /* by thread; by kind */
	struct seqtab globals, *frames;        /* frames by kind */
	struct map *steps, *runs;              /* by kind: globals and frame -> its list */
	struct cert_move *moves;
	uint32_t nmoves, cap_moves;
	struct cert_words ends;                 /* lists of what blocks alone come to: their number, then globals and frames */
	struct cert_words now, next, set, more; /* rows; shadows being made */
	int32_t *room;                          /* values of globals, frames, a state */
	uint32_t kind, thread;                  /* whose step is being worked out */
	bool fault;                             /* met by cert_expand: a step goes wrong, */
	uint32_t moved;                         /* so many outcomes, */
	bool unexplained;                       /* a state that is none of its shadows */
	bool nonsense;                          /* values that no state has together */
	const char *limit;                      /* reached: nothing is known */
};

bool cert_space_init(struct cert_space *s, const struct ir *p, const struct cert_claim *q);
void cert_space_free(struct cert_space *s);
uint64_t cert_space_bytes(const struct cert_space *s);
/* Are these values that the frame of a thread of this kind can have? */
bool cert_frame_valid(const struct cert_space *s, uint32_t kind, const int32_t *f);
/* The first row, in s->next. */
bool cert_first(struct cert_space *s);
/* Is this a row of numbers that the tables have? */
bool cert_row_valid(const struct cert_space *s, const int32_t *row, uint32_t n);
/* Takes it as s->now. */
void cert_load(struct cert_space *s, const int32_t *row, uint32_t n);
/* Each successor of s->now, in s->next, until `visit` returns false. What was met is in s->fault, moved, unexplained, nonsense, limit. */
typedef bool cert_visit(void *arg);
void cert_expand(struct cert_space *s, cert_visit *visit, void *arg);
/* The state of s->now, good until the next call of anything here. */
const int32_t *cert_state(struct cert_space *s);

/* ---- certificate_read.c: the file ----------------------------------------------------------- */

struct cert_reader {
	FILE *f;
	unsigned char *packed, *block;
	size_t at, len; /* in the block */
	uint32_t sum;
	bool ended;
	const char *error; /* what is wrong with the file; set once */
	bool foreign;      /* it is no certificate, or of another version */
};

bool cert_open(struct cert_reader *r, const char *path); /* false: errno or r->error says why */
void cert_close(struct cert_reader *r);
/* The file is refused for this reason, unless it is for another; nothing but zeroes is read from then on. */
void cert_wrong(struct cert_reader *r, const char *why);
uint64_t cert_number(struct cert_reader *r);
bool cert_bytes(struct cert_reader *r, void *to, size_t n);
/* A text of at most n - 1 bytes. */
bool cert_text(struct cert_reader *r, char *to, size_t n);
/* After the last section: is there nothing more? */
bool cert_complete(struct cert_reader *r);

/* ---- certificate_check.c ------------------------------------------------------------------------ */

struct cert_result {
	const char *wrong; /* what is wrong with the section; NULL: nothing */
	const char *limit; /* a limit that was reached; then nothing is known */
	uint64_t states;
	uint64_t bytes; /* of memory, at most */
};

/* What the next section is about; the commit points are read by cert_check. False: none follows, or see r->error. */
bool cert_claim_read(struct cert_reader *r, struct cert_claim *q);
/* The rest of the section, about the program `p` (of one block alone: with its marks only). */
void cert_check(struct cert_reader *r, const struct ir *p, struct cert_claim *q, uint64_t max_bytes, struct cert_result *out);

/* ---- certificate_make.c ---------------------------------------------------------------------- */

struct cert_writer {
	FILE *f;
	unsigned char *block, *packed;
	size_t len;
	uint32_t sum;
	bool failed;
};

bool cert_create(struct cert_writer *w, const char *path);
void cert_put_number(struct cert_writer *w, uint64_t v);
void cert_put_text(struct cert_writer *w, const char *s);
/* Ends the file; false when something could not be written. */
bool cert_finish(struct cert_writer *w);

struct cert_limits {
	uint64_t max_states, max_bytes; /* 0: none */
	double deadline;
};

#define CERT_UNEXPLAINED "some runs have no explanation that keeps to the order of time"

struct cert_made {
	const char *why; /* no set: a limit, or what was found; NULL: there is one */
	uint64_t states, steps;
};

/* Looks for the set of a question. CERT_PLAIN: `q` has what is wanted, and gets what holds. */
struct cert_search;
struct cert_search *cert_search_new(const struct ir *p, struct cert_claim *q, const struct cert_limits *l, struct cert_made *made);
/* Writes the section. */
void cert_search_write(struct cert_search *x, struct cert_writer *w);
void cert_search_free(struct cert_search *x);

#endif
