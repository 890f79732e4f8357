/*
 * lower: checked tree -> program.
 *
 * Procedures are inlined, expressions become instructions, and before every
 * shared access, block boundary, invocation or response an IR_STOP makes the
 * place a node. Registers are virtual here: locals and temporaries are given
 * numbers like a stack, arrays and pinned registers (a lock's holder bit, a
 * block's phase bit) numbers of their own; ir_finish keeps as slots of the
 * state only those that live across a node.
 *
 * Order of evaluation: left to right, the write last; `x += e` reads x
 * first. Local computation is placed after the access that it follows.
 */
#ifndef INTACT_LANG_LOWER_H
#define INTACT_LANG_LOWER_H

#include "base/diag.h"
#include "base/intern.h"
#include "base/invariant.h"
#include "ir/build.h"
#include "lang/ast.h"
#include "lang/lang.h"

/* The program, or NULL when something is wrong (then d says what). */
const struct ir *lower(struct unit *u, struct intern *names, struct arena *a, struct diags *d, const struct lang_options *o);

/* ---- within lower*.c ---------------------------------------------------- */

#define LOWER_INLINE_DEPTH 200
#define LOWER_DEPTH        4000 /* of the recursion below, all calls included */

struct val { /* an operand: a constant or a register */
	bool imm;
	int32_t v;
};

struct loop_ctx {
	uint32_t break_label, continue_label;
	/* was a block open when the loop or switch began? (`break` may leave a switch, `continue` the loop around it) */
	bool in_block, continue_in_block;
	struct loop_ctx *outer;
};

struct inline_ctx { /* a body being inlined: thread, procedure or method */
	struct decl *proc;
	struct span call;
	uint32_t end_label;
	uint32_t result; /* register; 0 none */
	bool in_block;   /* a block was open at the call */
	struct inline_ctx *outer;
	uint32_t depth;
};

struct binding { /* what a parameter passed by reference means in the call being lowered */
	struct decl *decl;
	struct val base; /* which element of it, over its first `given` dimensions */
	uint32_t given;
};

struct lower {
	struct unit *u;
	struct intern *names;
	struct arena *arena;
	struct diags *d;
	const struct lang_options *opts;
	struct ir_builder b;
	struct loop_ctx *loop;
	struct inline_ctx *inl;
	uint32_t in_step;          /* inside step { } or an SML statement */
	bool ignoring;             /* inside a block whose marks are as if absent */
	struct span stmt;          /* the statement being lowered */
	AVEC(uint32_t) local_reg;  /* by decl->id of locals: current register */
	AVEC(struct binding) refs; /* by decl->id of parameters passed by reference */
	uint32_t threads;          /* of the whole program */
	uint32_t enums1[3];        /* of waiting threads, of once, of cells: their ids + 1 */
	bool told_step;            /* not_in_step was reported */
	uint32_t depth;            /* of statements and expressions, through calls */
	bool failed;
};

/* lower.c */
void lower_enum(struct lower *l, struct decl *e); /* once; later calls do nothing */

/* lower_expr.c */
/* A node for an access to this variable, of the kind given unless it is one of a cell; and what precedes the access in its step. */
void stop_access(struct lower *l, const struct decl *d, enum ir_node_kind kind, struct val index, struct span at);
struct val lower_expr(struct lower *l, struct expr *e);
/* Into this register. */
void lower_into(struct lower *l, struct expr *e, uint32_t reg);
/* Jumps to a label when e's truth is `when`, falls through otherwise. */
void lower_branch(struct lower *l, struct expr *e, uint32_t to, bool when);
/* e converted for a variable of type `to`: a truth value for bool. */
struct val lower_converted(struct lower *l, struct expr *e, const struct type_ref *to);
/* The value of an operand in a register of its own type range. */
void store_local(struct lower *l, struct decl *d, struct val index, struct val v, struct span at);
/* What a place stands for: the variable that is stored (a parameter's, when it is a reference), and the index in it. */
struct decl *meant(struct lower *l, const struct decl *d);
struct val place_index(struct lower *l, struct expr *place);
void shared_store(struct lower *l, struct decl *d, struct val index, struct val v, struct span at);
struct val shared_load(struct lower *l, struct decl *d, struct val index, struct span at);
struct val local_load(struct lower *l, struct decl *d, struct val index, struct span at);
void lower_call(struct lower *l, struct expr *e, uint32_t dest);
/* How many shared accesses e makes at most; calls and registers count 2. */
uint32_t count_accesses(struct lower *l, const struct expr *e);
uint32_t declare_local(struct lower *l, struct decl *d);

/* lower_pool.c */
/* Among the pools of the model, in the order of the text. */
uint32_t pool_number(const struct lower *l, const struct decl *pool);
/* The variable that says what each cell is; the pool is added to the program. */
struct ir_var pool_cells(struct lower *l, struct decl *pool);
/* The pool of whose cells this is a field, or NULL. */
const struct decl *pool_of(const struct decl *d);
/* Within the step of an access to element `index` of a field: a fault unless the cell is live. */
void check_cell(struct lower *l, const struct decl *d, struct val index, struct span at);
void lower_deref(struct lower *l, struct expr *e, uint32_t dest);
void lower_pool_call(struct lower *l, struct expr *e, uint32_t dest);

/* lower_property.c */
/* The conditions on all states, when all threads are lowered. */
void lower_properties(struct lower *l);
/* Of the template that was just ended: steps that access ghosts. */
void lower_ghost_steps(struct lower *l);

/* lower_control.c */
void lower_for(struct lower *l, struct stmt *s);
void lower_do(struct lower *l, struct stmt *s);
void lower_switch(struct lower *l, struct stmt *s);

/* lower_sized.c */
/* What is stored of v in a variable of this type, which wraps. */
struct val lower_wrapped(struct lower *l, struct val v, const struct type_ref *ty, struct span at);
/* fetch_add on such a variable. */
void lower_wrapping_add(struct lower *l, struct decl *d, struct val index, struct val by, uint32_t dest, struct span at);

/* lower_struct.c */
/* How an element of the variable is written, when not as name[i]; `prefix` is what precedes its name, or NULL. */
const struct ir_shape *part_shape(struct lower *l, const struct decl *d, const char *prefix);
/* A local that is a struct or an array of several dimensions: declared, and given its initial values. */
void lower_shaped_local(struct lower *l, struct decl *d);
/* to = from, both whole structs: element by element as they lie in memory, each read and then written. */
void lower_struct_copy(struct lower *l, struct expr *to, struct expr *from, struct span at);
/* The values of all elements of a whole struct, read in that order. */
struct val *lower_struct_values(struct lower *l, struct expr *from);
/* Which of the channels of its variable. */
struct val chan_number(struct lower *l, struct expr *place);
/* An argument passed by reference, evaluated; then the parameter means it. */
struct binding lower_reference(struct lower *l, struct expr *arg);
void bind_reference(struct lower *l, struct decl *param, struct binding b);
/* A parameter or local of struct type, declared with these values. */
void bind_struct(struct lower *l, struct decl *d, const struct val *values, struct span at);

/* lower_chan.c */
/* The variable that says how many values are in a chan; `values` is the one that holds them. */
struct ir_var chan_used(struct lower *l, const struct decl *d, const struct ir_var *values);
void lower_chan(struct lower *l, struct expr *e, uint32_t dest);

/* lower_sync.c */
/* A semaphore, rwlock, cond, barrier or once as a plain variable; `v` has its name and place. Pushes initial values. */
struct ir_var sync_var(struct lower *l, struct decl *d, struct ir_var v);
int32_t sync_initial(const struct decl *d, const struct expr *init);
/* At the start of a thread: it holds no rwlock. */
void sync_begin_thread(struct lower *l);
void lower_sync(struct lower *l, struct expr *e, uint32_t dest);
void lower_release_rwlock(struct lower *l, struct stmt *s);

/* lower_stmt.c */
/* False, after one message, when the recursion is too deep; else pair with
 * l->depth--. */
bool lower_nest(struct lower *l, struct span at);
/* Notes on the calls that are being inlined. */
void note_calls(struct lower *l);
/* Something that takes time is in a step { } through a call. */
void not_in_step(struct lower *l, struct span at, const char *what);
void lower_stmt(struct lower *l, struct stmt *s);
/* A local is declared and gets its initial values; `all` is the statement that does it. */
void lower_local(struct lower *l, struct decl *d, struct span all);
void jmp(struct lower *l, uint32_t label, struct span at);
/* Falls through when the condition of s holds, else goes to `no`. */
void lower_test(struct lower *l, struct stmt *s, uint32_t no);
void lower_loop_body(struct lower *l, struct stmt *s, uint32_t again, uint32_t end);
/* The statements of a list, in a scope of their own. */
void lower_list(struct lower *l, struct stmt *first);
/* A node of this kind at the present place, unless inside a step. */
void stop(struct lower *l, enum ir_node_kind kind);

static inline struct val imm(int64_t v)
{
	assert(v >= INT32_MIN && v <= INT32_MAX);
	return (struct val){ true, (int32_t)v };
}
static inline struct val reg(uint32_t r)
{
	assert(r);
	return (struct val){ false, (int32_t)r };
}

/* Instructions with val operands. */
void emit2(struct lower *l, enum ir_op op, uint32_t a, struct val b, struct span at);
void emit3(struct lower *l, enum ir_op op, uint32_t a, struct val b, struct val c, struct span at);

#endif
