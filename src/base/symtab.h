/*
 * symtab: names for addresses, saved as text and read back: functions with their
 * places for program counters (inlined ones too), variables for data.
 *
 * Lines, fields separated by tabs (they contain no other control character):
 *   a ADDRESS START SYMBOL    a program counter, and the symbol it lies in
 *   f FUNCTION FILE LINE COLUMN DECL DECL_FILE MODULE OFFSET SYSTEM   its frames,
 *                             innermost first; "-" where nothing is known
 *   d ADDRESS SIZE NAME       a variable
 *   w FILE                    what follows is of this source file
 *   u LINE COLUMN LINE COLUMN KIND   what the compiler knows of two places (cc/effects.h): SYM_COMMUTES ...
 * Numbers are hexadecimal. Unknown lines are ignored.
 *
 * Representation: sorted arrays over one copy of the text. Look-ups are binary
 * searches.
 */
#ifndef INTACT_BASE_SYMTAB_H
#define INTACT_BASE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* NULL or 0 where nothing is known. */
struct sym_frame {
	const char *function, *file, *decl_file, *module;
	uint32_t line, column, decl;
	uint64_t offset;
	bool system;
};

struct sym_addr {
	uint64_t addr, start;
	const char *symbol;
	uint32_t first, n; /* frames */
};

struct sym_data {
	uint64_t addr, size;
	const char *name;
};

enum {
	/* Of an update, by the places of its load and its store. */
	SYM_COMMUTES = 'c', /* the order of such updates does not matter, and the value is not used */
	SYM_INDEX = 'i',    /* the value is used as an index or address */
	SYM_USED = 'v',     /* it may be used otherwise, or the order may matter */
	/* Of two calls. */
	SYM_DEPENDS = 'd', /* the second depends on the first */
	SYM_JOINS = 'j',   /* results of both meet */
	SYM_UNKNOWN = 0    /* nothing is said, or different things (templates) */
};

struct sym_use {
	const char *file;
	uint32_t line, column, line2, column2;
	char kind;
};

struct symtab {
	struct sym_use *uses;
	uint32_t nuses;
	char *text;
	struct sym_addr *addrs;
	struct sym_frame *frames;
	struct sym_data *data;
	uint32_t naddrs, nframes, ndata;
};

/* Reads a text (foreign: whatever is malformed is left out). False without
 * memory. An empty text gives an empty table. */
bool symtab_read(struct symtab *t, const char *text, size_t len);
void symtab_free(struct symtab *t);
const struct sym_addr *symtab_addr(const struct symtab *t, uint64_t addr);
/* The variable that holds this address. */
const struct sym_data *symtab_data(const struct symtab *t, uint64_t addr);

void symtab_put_addr(struct buf *out, uint64_t addr, uint64_t start, const char *symbol);
void symtab_put_frame(struct buf *out, const struct sym_frame *f);
void symtab_put_data(struct buf *out, const struct sym_data *d);
void symtab_put_file(struct buf *out, const char *file);
/* Its file is the last that was put. */
void symtab_put_use(struct buf *out, const struct sym_use *u);
/* The update that ends at the second place, whose load's place it gets; SYM_UNKNOWN: none is known. */
char symtab_update(const struct symtab *t, const char *file, uint32_t line2, uint32_t column2, uint32_t *line, uint32_t *column);
/* What is known of two calls: SYM_DEPENDS, SYM_JOINS or SYM_UNKNOWN. */
char symtab_calls(const struct symtab *t, const struct sym_use *pair);

#endif
