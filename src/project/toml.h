/*
 * toml: the part of TOML 1.0 that a project file needs: comments, [tables] and [dotted.tables], bare, quoted and dotted
 * keys, strings on one line ("..." with escapes, '...'), integers, booleans, and arrays of strings, over several lines
 * and with a comma at the end. Floats, dates, inline tables, tables in arrays and strings of several lines are reported as not
 * supported, each by name. A key or a table that is defined twice is an error, as TOML has it.
 *
 * Representation: the entries in the order of the file, with the spans of their parts for messages. Bounds: TOML_MAX_BYTES,
 * TOML_MAX_ENTRIES, TOML_MAX_ITEMS; no recursion. Cost: linear, but for looking for duplicates (entries squared, few).
 */
#ifndef INTACT_PROJECT_TOML_H
#define INTACT_PROJECT_TOML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

enum {
	TOML_MAX_BYTES = 1 << 20,
	TOML_MAX_ENTRIES = 2000,
	TOML_MAX_ITEMS = 10000, /* of one array */
};

enum toml_kind { TOML_STRING, TOML_INTEGER, TOML_BOOLEAN, TOML_ARRAY };

struct toml_item {
	const char *text;
	struct span at;
};

struct toml_entry {
	const char *table; /* "" before the first heading; parts joined by dots */
	const char *key;
	struct span table_at, key_at, at; /* at: the value */
	enum toml_kind kind;
	const char *text;             /* TOML_STRING */
	int64_t number;               /* TOML_INTEGER */
	bool truth;                   /* TOML_BOOLEAN */
	AVEC(struct toml_item) items; /* TOML_ARRAY: strings */
};

struct toml_table {
	const char *name;
	struct span at;
};

struct toml {
	AVEC(struct toml_entry) entries;
	AVEC(struct toml_table) tables; /* the headings */
};

/* Reads a text; false when it has errors, which are in `d`. All memory is d's arena. */
bool toml_read(struct toml *t, const struct source *src, struct diags *d);

#endif
