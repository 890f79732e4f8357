/*
 * opts: command-line options from a table.
 *
 * One row an option: name, short name, kind, where the value goes, and the
 * line that --help prints. Long options take `--name=value` or `--name
 * value`, short ones `-j4` or `-j 4`; `--` ends them. An unknown option is
 * answered with the nearest known one. A file to write may be left out: what follows
 * `--json` is its file only when it looks like one (`-`, r.json), so that `--json model.atm` writes to
 * standard output and reads the model.
 */
#ifndef INTACT_BASE_OPTS_H
#define INTACT_BASE_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum opt_kind {
	OPT_FLAG,   /* bool *: set to true */
	OPT_STR,    /* const char **: the last one counts */
	OPT_LIST,   /* struct opt_list *: every one is kept */
	OPT_UINT,   /* uint64_t *: min..max */
	OPT_SIZE,   /* uint64_t *: bytes, with K, M, G, T */
	OPT_CHOICE, /* int *: index into choices */
	OPT_FILE,   /* const char **: a file to write; "-" when none is named */
	OPT_SEED,   /* uint64_t *: min..max; 1 when there is no `=N` */
	OPT_GROUP,  /* a heading in --help */
};

struct opt_list {
	const char **items; /* room for argc of them, given by the caller */
	int n;
};

struct opt {
	enum opt_kind kind;
	const char *name; /* without the dashes */
	char short_name;  /* 0: none */
	const char *arg;  /* what --help calls the value */
	void *target;
	const char *help;
	uint64_t min, max;          /* OPT_UINT, OPT_SIZE, OPT_SEED; max 0 = no bound */
	const char *const *choices; /* OPT_CHOICE, NULL-terminated */
};

/* May its value be left out? */
static inline bool opt_optional(const struct opt *t)
{
	return t->kind == OPT_FILE || t->kind == OPT_SEED;
}

struct opts {
	const struct opt *table; /* ends with a NULL help */
	const char **args;       /* what is not an option; room for argc */
	int nargs;
	bool help; /* --help or -h was given */
};

/* False when the line is wrong; `err` then holds one message. */
bool opts_parse(struct opts *o, int argc, char **argv, struct buf *err);
/* Would this value do for the option? It is stored nowhere; when not, `err` holds a message. */
bool opts_value_fits(const struct opt *t, const char *val, struct buf *err);
/* Of a line that ends with another program's: where that one's words begin, behind "--" or the options; argc: nowhere. */
int opts_first_word(const struct opt *table, int argc, char **argv);
/* The table as --help shows it. */
void opts_help(const struct opt *table, struct buf *out);

#endif
