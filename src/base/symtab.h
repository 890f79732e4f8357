/*
 * symtab: names for addresses, saved as text and read back: functions with their
 * places for program counters (inlined ones too), variables for data.
 *
 * Lines, fields separated by tabs (they contain no other control character):
 *   a ADDRESS START SYMBOL    a program counter, and the symbol it lies in
 *   f FUNCTION FILE LINE COLUMN DECL DECL_FILE MODULE OFFSET SYSTEM   its frames,
 *                             innermost first; "-" where nothing is known
 *   d ADDRESS SIZE NAME       a variable
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

struct symtab {
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

#endif
