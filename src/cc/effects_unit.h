/*
 * effects_unit: one translation unit while effects.c reads it: instructions, values, places (effects.h has what for and how).
 * Ids are indices into the arrays of the unit; instructions, operands and edges are those of the function that is being
 * read, and values carry a stamp that says for which function they hold.
 */
#ifndef INTACT_CC_EFFECTS_UNIT_H
#define INTACT_CC_EFFECTS_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "cc/effects.h"
#include "cc/text.h"

enum { EFFECTS_NONE = UINT32_MAX, EFFECTS_WORDS = EFFECTS_CALLS / 64 };

enum effects_kind {
	I_OTHER,
	I_LOAD,
	I_STORE,
	I_ADD,
	I_SUB,
	I_OR,
	I_AND,
	I_XOR,
	I_MUL,
	I_CAST,
	I_GEP,
	I_CALL,
	I_ALLOCA,
	I_PHI,
	I_END
};

struct effects_ins {
	uint8_t kind;
	uint32_t result;     /* a value, or NONE */
	uint32_t op0, nops;  /* in `ops`: the values it uses; of a load the address, of a store value and address */
	uint32_t block, dbg; /* dbg: number of the location, 0: none */
	uint32_t call;       /* of a call: its number in the function, or NONE */
	uint64_t number;     /* of a load or store: that of the address */
};

struct effects_value { /* what a name is in the function being read */
	uint32_t fn;   /* stamp */
	uint32_t def;  /* instruction, or NONE */
	uint32_t uses;
	uint32_t stores, only; /* of a local variable: stores to it, one of these */
	bool pieces;           /* parts of it have addresses */
	bool local, escapes;   /* a local variable; its address is used for more than loads and stores */
	uint32_t base;         /* a pointer into this local variable, or NONE */
	uint64_t number;
	uint64_t calls[EFFECTS_WORDS];
	uint32_t block; /* of a label: its number, or NONE */
};

struct effects_place {
	uint32_t line, column, scope, file; /* scope: another entry; file: an entry with a path */
	const char *path;
};

struct effects_edge {
	uint32_t from, to;
};

struct effects_unit {
	struct arena arena;
	struct intern names;
	AVEC(struct effects_value) values;
	AVEC(struct effects_place) places;
	AVEC(struct effects_ins) ins;
	AVEC(uint32_t) ops;
	AVEC(struct effects_edge) edges;
	uint32_t fn, nblocks, ncalls, memory;
	uint32_t call_ins[EFFECTS_CALLS];
	uint32_t file; /* of the last line written */
	uint32_t npairs;
	struct buf *out;
};

/* ---- effects_read.c: lines into instructions and places ---- */

/* The number of the block of this label, a new one at its first use. */
uint32_t effects_block_at(struct effects_unit *u, struct text_span name);
/* Adds the instruction of a line of `block` to the function that is being read. */
void effects_read_instruction(struct effects_unit *u, struct text_span l, uint32_t block);
/* A line that begins with '!': what it says of files, scopes and locations. */
void effects_read_metadata(struct effects_unit *u, struct text_span l);

/* The local variable that the value is the address of, or lies in; EFFECTS_NONE: none. */
uint32_t effects_local_at(const struct effects_unit *u, uint32_t value);
/* A load or store of a local variable. */
bool effects_is_local(const struct effects_unit *u, const struct effects_ins *i);

/* ---- what is found in the function that was read, as lines ---- */

/* effects_updates.c: its updates */
void effects_updates(struct effects_unit *u);
/* effects_calls.c: dependences and joins of its calls; nothing beyond the limits of effects.h */
void effects_relations(struct effects_unit *u);
/* effects.c: a line about two locations; none when they are unknown or in different files */
void effects_put_places(struct effects_unit *u, uint32_t a, uint32_t b, char kind);

#endif
