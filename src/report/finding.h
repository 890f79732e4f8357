/*
 * finding: what a watched program found, from its raw message to text.
 *
 * The message (runtime/report.c) holds addresses and the list of loaded
 * files. It comes from a program that may be broken, so it is parsed like any
 * foreign input: bounded, and nothing in it is trusted.
 *
 * finding_parse.c reads it, finding_symbols.c turns addresses into frames
 * (libdw), finding_filter.c decides what is shown (what is atomic,
 * suppressions), findings.c tells which findings there are, finding_json.c makes
 * them results of a document with the words of finding_words.c, and
 * finding_text.c makes of these a report in the sanitizers' grammar.
 */
#ifndef INTACT_REPORT_FINDING_H
#define INTACT_REPORT_FINDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json_out.h"
#include "base/map.h"
#include "base/symtab.h"
#include "event/finding.h"
#include "report/baseline.h"

enum { FINDING_MAX_FACTS = 64, FINDING_MAX_PARTS = 64, FINDING_MAX_PCS = 64, FINDING_MAX_FRAMES = 128, FINDING_MAX_LOCKS = 16 };

struct raw_module {
	uint64_t lo, hi, base;
	const char *path;
};

struct raw_stack {
	uint64_t *pcs;
	uint32_t n;
};

struct raw_lock {
	uint32_t id;
	uint64_t addr;
};

struct raw_locks {
	struct raw_lock *v;
	uint32_t n;
};

struct raw_thread {
	uint32_t uid, parent;
	struct raw_stack created;
};

/* A variable that a finding is about (dynamic/facts.h). */
struct raw_fact {
	uint64_t address;
	uint32_t size, shared, changed, section, span;
	uint32_t use[FACT_SIDES];
	uint64_t read[FACT_SIDES], write[FACT_SIDES];
};

/* What a thread did, of a finding that is not about a block (dynamic/hazards.h). */
struct raw_part {
	uint32_t op, uid, lock, size;
	uint64_t address;
	struct raw_stack stack;
	struct raw_locks locks;
};

/* The numbers are those of src/dynamic/reduction.h. */
struct raw_finding {
	uint64_t key, address, address2;
	uint32_t index; /* in the order in which they were met */
	uint32_t kind, confirmed, count, loop, commit_op, violation_op, thread, other;
	uint32_t lock, lock2, other_op, apart, uses;
	uint32_t inherited, came, known;  /* known: there are no other variables than `facts` */
	uint32_t crossed, bare, wrong;    /* as dynamic/reduction.h has them */
	uint32_t modules;                 /* of the report's, those told before it: what is loaded later is not meant */
	uint32_t made_first, made2_first; /* `made` is a first use, not an initialisation */
	const char *name;
	struct raw_stack entered, section, commit, violation, other_acquire, other_write;
	struct raw_stack made, made2; /* where the locks were; empty: unknown */
	struct raw_locks commit_locks, violation_locks, other_locks;
	AVEC(struct raw_thread) threads;
	AVEC(struct raw_fact) facts;
	AVEC(struct raw_part) parts;
};

/* What one process said, of one program that ran in it. */
struct raw_report {
	uint32_t pid;
	uint64_t image;
	bool final;                                    /* it came to its end */
	uint32_t lost, lost_modules;                   /* findings and modules beyond the limits */
	uint32_t lost_races, lost_order, lost_circles; /* accesses that were not followed; an order of threads was lost */
	AVEC(struct raw_module) modules;
	AVEC(struct raw_finding) findings;
	struct map by_key;          /* finding's key to its index */
	const struct symtab *saved; /* names of a recording; NULL: look them up */
};

struct raw_reports {                    /* zero: no process has reported yet */
	AVEC(struct raw_report *) list; /* as they spoke first */
	uint32_t lost;                  /* pieces of processes beyond the limit */
};

/* Adds a piece of a message to what its process said before. False when the
 * text is no such piece. Strings stay in `a`. */
bool raw_add(struct raw_reports *all, struct arena *a, const char *text, size_t len);
/* Is it a message of another version of Intact? */
bool raw_other_version(const char *text, size_t len);
/* Several pieces, one after the other. */
bool raw_add_all(struct raw_reports *all, struct arena *a, const char *text, size_t len);
void raw_free(struct raw_reports *all);

/* ---- symbols ---- */

struct src_frame {
	const char *function; /* demangled; NULL: unknown */
	const char *file;     /* NULL: unknown */
	uint32_t line, column;
	uint32_t decl; /* line of the function itself; 0: unknown */
	const char *decl_file;
	const char *module;
	uint64_t offset;
	bool system;  /* from the system's headers, or our runtime */
	bool pointer; /* called through a pointer, as the first thing its thread did */
};

/* Is its function called by file and offset? */
bool frame_nameless(const struct src_frame *f);
/* The frame's function, or its file and offset. */
const char *frame_function(struct arena *a, const struct src_frame *f);

/*
 * The names of addresses. Each file is opened once, when an address in it is
 * first asked for, regardless of the load address; answers are kept.
 */
struct symbols;
struct symbols *symbols_open(struct arena *a);
void symbols_close(struct symbols *s);
/* The addresses asked for from here on are this process's. */
void symbols_use(struct symbols *s, const struct raw_report *r);
/* They are of a finding: modules that were told of later are not meant. */
void symbols_of(struct symbols *s, const struct raw_finding *f);
/* The frames of a stack, inlined ones included, outermost dropped at main or
 * the thread's start. Returns how many of at most `max`. */
uint32_t symbols_stack(struct symbols *s, const struct raw_stack *st, struct src_frame *out, uint32_t max);
/* The variable that holds this address, or NULL. `*off` is the place in it. */
const char *symbols_data(struct symbols *s, uint64_t addr, uint64_t *off);
/* The part of a variable that is there, "table[3].next"; "table+28" when its type is not known, as in a recording; or NULL. */
const char *symbols_datum(struct symbols *s, uint64_t addr);
/* What the compiler said of an update, by the places of its read and its write: SYM_COMMUTES ... (base/symtab.h).
 * *looked, unless unknown: the read is another one, before the update. */
char symbols_update(struct symbols *s, uint64_t read, uint64_t write, bool *looked);
/* What it said of two calls, the places of two frames; `pc` is an address in the same file. */
char symbols_calls(struct symbols *s, uint64_t pc, const struct src_frame *a, const struct src_frame *b);
/* Offsets of all functions of a file whose names or places match. Asked about
 * functions that are only inlined, too: `there` is false, they have no offset. */
uint32_t symbols_functions(struct arena *a, const char *path,
                           bool (*match)(void *ctx, const char *function, const char *file, uint32_t line, bool there), void *ctx,
                           uint64_t *out, uint32_t max);

/*
 * Saves what symbols_stack and symbols_data need for these program counters
 * (each as it appears in a stack) and for the data of the modules, as the
 * text of base/symtab.h.
 */
void symbols_save(struct symbols *s, struct raw_report *r, const uint64_t *pcs, uint32_t n, struct buf *out);

/* ---- what is shown ---- */

/* Is it the kind (in a document) of a finding about data or locks, not about a block? */
bool hazard_named(const char *kind);

struct pattern {
	const char *text, *kind; /* kind: of a suppression; NULL otherwise */
	const char *source;      /* file and line it came from */
	uint32_t line, hits;
	bool inlined; /* it names a function that is only inlined */
};

struct filter {
	AVEC(struct pattern) atomic, not_atomic, suppressions;
	struct baseline *baseline; /* known findings; NULL: none are */
	struct arena *arena;
};

void filter_init(struct filter *f, struct arena *a);
/* Reads a specification (`atomic PATTERN`, `not-atomic PATTERN`) or a
 * suppression file (`kind:PATTERN`). False with a message in `err`. */
bool filter_read_spec(struct filter *f, const char *path, struct buf *err);
bool filter_read_suppressions(struct filter *f, const char *path, struct buf *err);
/* Does a pattern name this place? By function (globs), file, or file:line. */
bool pattern_matches(const char *pattern, const struct src_frame *frame);
bool glob_matches(const char *pattern, const char *text);
/* What a compiler counts for coverage or profiles: every thread adds to it without a lock, as it need not be exact. */
bool symbol_is_counter(const char *name);

/* ---- results ---- */

/* What can be looked for. */
enum { FINDING_ATOMICITY = 1, FINDING_RACES = 2, FINDING_LOCKS = 4 };

struct text_options {
	bool color, gen_suppressions, strict;
	bool all;     /* what is not shown by default, too */
	unsigned no;  /* FINDING_*: these are not wanted */
	uint32_t top; /* so many at most; 0: no limit */
	const char *strip_path_prefix;
	struct finding_log *json;                    /* where results go */
	const struct explore_confirmation *explored; /* what came of exploring them; NULL: they were not */
	struct symbols *symbols;
	void (*progress)(void *arg, uint32_t done, uint32_t of); /* or NULL */
	void *arg;
};

struct finding_rest {                     /* a finding that is not shown */
	const char *block, *label, *file; /* file may be NULL */
	uint32_t line, count;
	bool confirmed;
};

struct finding_line { /* a source line that a finding speaks of */
	const char *path, *name;
	uint32_t line;
};

/* Findings as members of a document's "results" (docs/json.md), and the
 * source lines they speak of. */
struct finding_log {
	struct buf results; /* separated by commas */
	struct json_out j;  /* into results */
	struct buf summary; /* the closing lines */
	size_t told_bytes;  /* of results, by findings_tell */
	uint32_t told;      /* ... and how many that are */
	uint32_t count;     /* of results */
	const char *root;   /* files below it are named relative to it */
	struct arena *arena;
	AVEC(struct finding_line) lines;
	AVEC(struct finding_rest) rest;
	AVEC(uint64_t) unnamed; /* addresses of data without a name, as they came up */
	AVEC(uint32_t) pids;    /* of each result, the process that told it */
	bool recorded;          /* these are the same every time: the results have them */
};
/* The member "sources", from the files themselves. */
void finding_sources(const struct finding_log *log, struct json_out *j);

struct view;
struct hazard_view;
enum { FINDING_LABELS = 32 };

struct shown {                      /* what was found, over all processes */
	AVEC(struct view *) blocks; /* each with its gaps, until they are ranked */
	AVEC(struct hazard_view *) hazards;
	uint32_t hazards_rest; /* beyond --top */
	bool lost_races, lost_order, lost_circles;
	uint32_t rest[FINDING_LABELS]; /* not shown, by label */
	AVEC(const char *) hidden;
	uint32_t count, suppressed, confirmed;
	uint32_t known;                /* in the baseline */
	AVEC(const char *) refused;    /* shown, and not learned */
	uint32_t reached, not_reached; /* by exploring */
	uint32_t nameless;             /* shown by file and offset: the symbols were taken away */
	uint32_t lost, lost_modules;   /* beyond the limits: cut */
	uint32_t unread;               /* pieces of messages that could not be read */
	AVEC(const char *) far;        /* blocks far from their locks: only listed */
	AVEC(const char *) names;      /* blocks found wanting, for --infer */
};

/* Every finding of a process that passes the filter, into `shown`. The report stays where it is until
 * findings_rank. */
void findings_add(struct raw_report *r, struct filter *f, const struct text_options *o, struct arena *a, struct shown *shown);
/* All of them, those of one function as one: what is shown into o->json, the first in rank first. */
void findings_rank(const struct filter *f, const struct text_options *o, struct arena *a, struct shown *shown);
/* The closing lines (how many, suppressions that matched or never did) into log->summary. */
void findings_close(const struct filter *f, const struct shown *shown, bool print_suppressions, struct finding_log *log);
void finding_log_init(struct finding_log *log, struct arena *a, const char *root);
void finding_log_free(struct finding_log *log);
/* The member "not_shown". */
void finding_not_shown(const struct finding_log *log, struct json_out *j);
/* The member "summary". */
void finding_summary(const struct buf *summary, struct json_out *j);

/* ---- text ---- */

struct finding_text_options {
	bool color, gen_suppressions;
	const uint32_t *pids; /* of each result; NULL: those that the results have, if any */
};
/* The members "results" and "summary" (the closing lines) of a document of `intact run`, or of the "run" of a
 * recording. */
void findings_text(const json_t *run, const struct finding_text_options *o, struct buf *out);
/* The results since the last call, and the closing lines. */
void findings_tell(struct finding_log *log, const struct text_options *o, struct buf *out);

#endif
