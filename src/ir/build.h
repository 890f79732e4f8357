/*
 * build: making a program, template by template.
 *
 * The front end emits instructions with virtual registers and labels and
 * marks nodes with IR_STOP; ir_template_end runs the passes over the finished
 * template:
 *   1. labels     jump targets become instruction numbers
 *   2. endless    empty endless loops become IRN_STUCK
 *   3. reach      nodes that cannot be reached are dropped
 *   4. live       which registers live across which nodes
 *   5. slots      those become frame slots, the rest scratch
 *   6. footprint  accesses and successors of each node
 * and ir_finish lays out the state and validates the whole.
 */
#ifndef INTACT_IR_BUILD_H
#define INTACT_IR_BUILD_H

#include "ir/ir.h"

/* Virtual registers: 1.. like a stack; arrays and pinned ones apart. */
#define VREG_ARRAY  (1u << 20)
#define VREG_PINNED (1u << 21)

struct vreg_info {
	int32_t lo, hi; /* values it holds across steps, 0 included */
	bool named;     /* a local of the source */
	bool used;
	uint32_t var, elem; /* pinned: of which lock */
	bool is_lock;
	uint32_t final; /* register after renaming */
};
typedef AVEC(struct vreg_info) vreg_vec;

struct ir_inside { /* the scope that contains an instruction */
	uint32_t block, oper;
};

struct build_local { /* named local with its virtual register */
	struct ir_local l;
	uint32_t vreg;
};

struct ir_builder {
	struct arena *arena;
	bool keep_dead, fixed_counts;
	uint32_t alone1; /* see struct ir */
	AVEC(struct ir_var) vars;
	AVEC(struct ir_enum) enums;
	AVEC(struct ir_template) templates;
	AVEC(struct ir_block) blocks;
	AVEC(struct ir_object) objects;
	AVEC(struct ir_oper) opers;
	AVEC(struct ir_node) nodes;
	AVEC(struct ir_ins) code;
	AVEC(struct span) spans;
	AVEC(struct ir_inside) inside; /* by instruction */
	AVEC(struct ir_access) accesses;
	AVEC(uint32_t) succs;
	AVEC(uint32_t) kills;
	AVEC(struct ir_scope) scopes;
	AVEC(struct build_local) locals;
	AVEC(struct ir_slot) slots;
	AVEC(struct ir_property) properties;
	AVEC(struct ir_term) terms;
	AVEC(struct ir_pool) pools;
	/* the template being built */
	uint32_t tmpl, code0, node0, block0, scope0, local0;
	AVEC(uint32_t) labels; /* label -> instruction, IR_NONE unplaced */
	vreg_vec stack_regs, array_regs, pinned_regs;
	uint32_t top;                /* first free stack register */
	uint32_t scope, block, oper; /* what the next instruction is inside of */
	const char *error;           /* a bound was exceeded */
	struct span error_at;
};

void ir_builder_init(struct ir_builder *b, struct arena *a, bool keep_dead);

/* ---- a template --------------------------------------------------------- */

/* Starts one: code, nodes, registers and labels are its own from here on. */
uint32_t ir_template_begin(struct ir_builder *b, const char *name, struct span span, uint32_t count);
/* Runs the passes. False when a bound is exceeded (b->error says). */
bool ir_template_end(struct ir_builder *b);

uint32_t ir_label(struct ir_builder *b);
void ir_place(struct ir_builder *b, uint32_t label);
/* Appends an instruction; its number. Jumps name labels. */
uint32_t ir_emit(struct ir_builder *b, struct ir_ins ins, struct span at);
/* Makes a node and its IR_STOP; the node's id. */
uint32_t ir_stop(struct ir_builder *b, struct ir_node node, struct span at);
/* A node without a place in the code: IRN_STUCK. */
uint32_t ir_stuck_node(struct ir_builder *b, struct ir_node node);

/* A register from the stack; free them by setting b->top back. */
uint32_t ir_reg(struct ir_builder *b, int32_t lo, int32_t hi, bool named);
uint32_t ir_array_reg(struct ir_builder *b, uint32_t len, int32_t lo, int32_t hi);
/* The holder's bits of lock `var` (one an element). */
uint32_t ir_lock_reg(struct ir_builder *b, uint32_t var);
uint32_t ir_pinned_reg(struct ir_builder *b);

/* ---- operands (operands.c) ---------------------------------------------------- */

/* Runs of consecutive registers an instruction reads and writes; those that are pinned are not among them. */
struct ir_uses {
	struct {
		uint32_t reg, n;
	} read[4], write[2];
	uint32_t nread, nwrite;
	bool partial; /* the write does not overwrite all of it (LSET) */
};
struct ir_uses ir_ins_uses(const struct ir_ins *i);

enum { IR_COLUMNS = 5 };
/* The columns of `i` that name registers, pinned ones too; returns how many. */
uint32_t ir_ins_registers(struct ir_ins *i, int32_t *reg[IR_COLUMNS]);
static inline bool ir_is_jump(uint8_t op)
{
	return op == IR_JMP || op == IR_JZ || op == IR_JNZ;
}

/* ---- the passes (live.c, footprint.c) ---------------------------------------- */

void ir_pass_endless(struct ir_builder *b);
void ir_pass_reach(struct ir_builder *b);
void ir_pass_live(struct ir_builder *b); /* live, slots, kills */
void ir_pass_footprint(struct ir_builder *b);

/* ---- the whole ---------------------------------------------------------- */

/* Threads, layout of globals and frames, the initial state. `init` has the
 * initial values of all variables' elements in order. NULL: b->error. */
const struct ir *ir_finish(struct ir_builder *b, const struct source *src, bool sml, const int32_t *init);

#endif
