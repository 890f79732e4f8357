/*
 * symbol_files: the files of a program: opened once, their symbols sorted by address, the names in their debugging
 * information. For finding_symbols.c, which makes frames and stacks of them.
 */
#ifndef INTACT_REPORT_SYMBOL_FILES_H
#define INTACT_REPORT_SYMBOL_FILES_H

#include <elfutils/libdwfl.h>

#include "base/map.h"
#include "event/finding.h"
#include "report/dwarf_fields.h"
#include "report/dwarf_functions.h"
#include "report/finding.h"

struct symbol_name { /* a symbol */
	uint64_t lo, hi;
	const char *text;
};

struct symbol_names { /* by lo */
	struct symbol_name *v;
	uint32_t n, cap;
};

struct symbol_file {
	const char *path;
	bool opened;
	Dwfl *dwfl;
	Dwfl_Module *mod; /* NULL: it cannot be read */
	struct dwarf_functions *dies;
	struct dwarf_fields *fields; /* NULL: not asked for yet */
	bool listed;                 /* the two below are there */
	struct symbol_names functions, data;
	bool asked;            /* for what the compiler wrote of its code */
	struct symtab effects; /* empty: nothing is known */
};

struct symbol_frames { /* of an address */
	struct src_frame *v;
	uint32_t n;
};

/* Where an address lies: in a file, at what offset; of what is loaded. */
struct symbol_spot {
	struct symbol_file *file; /* NULL: nowhere */
	const struct raw_module *module;
	uint64_t at;
	uint32_t index; /* of the file */
};

struct symbols {
	struct arena *arena;
	const struct raw_report *report;
	AVEC(struct symbol_file *) files;
	AVEC(uint32_t) of; /* the report's modules: index of their file */
	uint32_t nmodules; /* of these, those that are meant */
	AVEC(struct symbol_frames) kept;
	struct map known; /* file << 48 | offset: its frames */
	char *(*demangle)(const char *, char *, size_t *, int *);
	void *lib;
};

/* NULL: it cannot be read. */
Dwfl_Module *symbol_file_open(struct symbols *s, struct symbol_file *f);
/* The function, the datum that an offset of the file lies in, or NULL. */
const struct symbol_name *symbol_function_at(struct symbols *s, struct symbol_file *f, uint64_t at);
const struct symbol_name *symbol_data_at(struct symbols *s, struct symbol_file *f, uint64_t at);
/* The text of the section that `intact cc` writes (cc/effects.h), or NULL; *len bytes. */
const char *symbol_effects_text(struct symbols *s, struct symbol_file *f, size_t *len);
/* The same, read. */
const struct symtab *symbol_effects(struct symbols *s, struct symbol_file *f);
/* A copy of the name, demangled; NULL for NULL. */
const char *symbol_plain_name(struct symbols *s, const char *name);
const char *symbol_die_name(struct symbols *s, Dwarf_Die *die);
const char *symbol_decl_file(Dwarf_Die *die); /* where the function is declared */

#endif
