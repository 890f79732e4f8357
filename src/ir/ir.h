/*
 * ir: THE seam. One program representation that every engine reads, and one
 * definition of a step.
 *
 * A program is a set of *templates* (the source's `thread` declarations) and
 * their *instances*. A template is a control-flow graph whose nodes are the
 * places where a thread can be between two steps. Taking a step from a node
 * runs the node's code: its one shared access (or block boundary, or all of a
 * `step { }`), then local computation, until the next node is reached.
 *
 * State: an array of 32-bit values,
 *     [ globals | frame of thread 0 | frame of thread 1 | ... ]
 * where a frame is [ node | slot 1 | slot 2 | ... ]. A step of a thread reads
 * and writes the globals and its own frame only, and apart from the auxiliary
 * slots of safe and regular variables no value names a thread: two threads of
 * one template are interchangeable. A lock is 0 or 1 in the globals, and the
 * holder has a 1 in a slot of its own frame.
 *
 * Slots that are dead at a node hold 0 there, so that states that differ only
 * in values that are never read are one state.
 *
 * All ids are 32-bit indices into the arrays below; IR_NONE is no id.
 * Everything is owned by the arena the program was built in and is read-only
 * afterwards: any number of threads may step the same program.
 */
#ifndef INTACT_IR_H
#define INTACT_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/source.h"

#define IR_NONE UINT32_MAX

/* Bounds that keep hostile models from eating the machine. */
#define IR_MAX_THREADS 100000u
#define IR_MAX_SLOTS   4096u /* of one frame */
#define IR_MAX_REGS    8192u /* slots and scratch of a template */
#define IR_MAX_GLOBALS (1u << 20)
#define IR_MAX_CODE    (1u << 22) /* instructions, after inlining */
#define IR_MAX_CHOICES 64u        /* in one step */
#define IR_FUEL        1000000u   /* instructions of one step */

/* ---- variables ---------------------------------------------------------- */

enum ir_var_kind { IRV_PLAIN, IRV_LOCK, IRV_SAFE, IRV_REGULAR };
enum ir_value_kind { IR_VALUE_BOOL, IR_VALUE_INT, IR_VALUE_ENUM, IR_VALUE_LOCK };

struct ir_enum {
	const char *name;
	const char **members;
	uint32_t n;
};

/* How an element is written, when its indices do not just follow the name: "pool[].next[]" and what each [] runs over. The
 * elements are numbered row by row. */
struct ir_shape {
	const char *pattern;
	uint32_t n;
	const uint32_t *dim;
};

struct ir_var {
	const char *name; /* "data", "R.field" */
	enum ir_var_kind kind;
	enum ir_value_kind value;
	uint32_t enum_id; /* IR_VALUE_ENUM */
	int32_t lo, hi;   /* declared range */
	uint32_t slot;    /* of element 0 in the globals */
	uint32_t len;     /* elements; 1 for a scalar */
	bool is_array;
	bool ghost;                   /* for specifications: no access to it is a step of its own */
	const struct ir_shape *shape; /* NULL: name, or name[i] */
	uint32_t object;              /* whose field it is */
	uint32_t refers1;             /* its values are references to cells of this pool: its number + 1; 0: they are none */
	uint32_t cell1;               /* it is a field of the cells of this pool, likewise */
	struct span span;
	/*
	 * IRV_SAFE, IRV_REGULAR: element i has further global slots from
	 * aux + i * aux_stride on: [0] how many writes are in progress; then
	 * for each thread that touches the variable (its place is rank[thread])
	 * a record of `aux_record` slots. Safe: the state of its read: 0 none,
	 * 1 reading, 2 reading and overlapped by a write. Regular: the value -
	 * lo + 1 of its write in progress (0: none), then the set of values its
	 * read may return, 31 bits per slot (all 0: no read in progress).
	 */
	uint32_t aux, aux_stride, aux_record;
	const uint32_t *rank; /* by thread; IR_NONE: does not touch it */
};

/* ---- code --------------------------------------------------------------- */

/*
 * Registers are the template's frame slots (1..nslots-1; 0 is the node) and,
 * above them, scratch that lives only within a step. In the operand columns
 * r = register, k = constant, rk = either (IMM_B / IMM_C say which).
 */
enum ir_op {
	IR_NOP,
	IR_STOP, /* a: node. The step ends here when it is not the first. */
	IR_MOV,  /* a:r = b:rk */
	IR_NEG,
	IR_NOT,
	IR_BITNOT,
	IR_BOOL, /* a:r = op b:rk; BOOL is != 0 */
	IR_ADD,
	IR_SUB,
	IR_MUL,
	IR_DIV,
	IR_MOD, /* a:r = b:rk op c:rk, checked */
	IR_SHL,
	IR_SHR,
	IR_AND,
	IR_OR,
	IR_XOR,
	IR_EQ,
	IR_NE,
	IR_LT,
	IR_LE,
	IR_GT,
	IR_GE,
	IR_RANGE, /* fault unless lo <= a:r <= hi (b:k, c:k); of an index when d is IR_RANGE_INDEX */
	IR_JMP,   /* a: target instruction */
	IR_JZ,    /* if !b:rk goto a */
	IR_JNZ,   /* if b:rk goto a */
	IR_LGET,  /* local array: a:r = reg[b + c:rk], length in d */
	IR_LSET,  /* reg[a + c:rk] = b:rk, length in d */
	IR_LZERO, /* reg[a .. a+d) = 0 */
	IR_LOAD,  /* a:r = var b [c:rk] */
	IR_STORE, /* var a [c:rk] = b:rk; range-checked */
	IR_CAS,   /* a:r = cas(var b [c:rk], reg d, reg e) */
	IR_XCHG,  /* a:r = exchange(var b [c:rk], reg d) */
	IR_FADD,  /* a:r = fetch_add(var b [c:rk], reg d) */
	IR_ACQ,   /* lock a [c:rk], the holder's slot is reg d + index */
	IR_REL,
	IR_RINV,
	IR_RRESP, /* safe/regular read: var b [c:rk]; RRESP a:r = it */
	IR_WINV,
	IR_WRESP,   /* write: var a [c:rk], value b:rk */
	IR_CHOOSE,  /* a:r = any value of b:k .. c:k */
	IR_ASSUME,  /* the whole step is not enabled unless b:rk */
	IR_STUCK,   /* the thread goes to node a forever unless b:rk */
	IR_ASSERT,  /* fault c:k (enum ir_fault) unless b:rk. IRF_RELEASE: of lock a; those of cells: of pool a */
	IR_ENTER,   /* block a */
	IR_EXIT,    /* block a */
	IR_COMMIT,  /* block a; the phase bit is reg b */
	IR_INVOKE,  /* operation a (ir_oper), its argument in reg b when c is 1 */
	IR_RESPOND, /* operation a; result b:rk */
	IR_OP_COUNT
};

/* `case IR_ADD ... IR_GE` and the like depend on this order. */
_Static_assert(IR_BOOL - IR_MOV == 4 && IR_ADD - IR_BOOL == 1 && IR_SHR - IR_ADD == 6, "unary operations, then checked arithmetic");
_Static_assert(IR_EQ - IR_SHR == 4 && IR_GE - IR_EQ == 5, "bitwise operations, then comparisons");

#define IR_RANGE_INDEX 1

#define IR_IMM_B 1u
#define IR_IMM_C 2u

_Static_assert(IR_OP_COUNT <= UINT8_MAX, "ir_ins.op is a byte");
struct ir_ins {
	uint8_t op, imm;
	int32_t a, b, c, d, e;
};

/* ---- nodes -------------------------------------------------------------- */

enum ir_node_kind {
	IRN_END,      /* the thread has finished */
	IRN_STUCK,    /* waits forever: a false local assume, an endless loop */
	IRN_START,    /* local computation before the first access, when it
	              * chooses or goes wrong; else it is in the initial state */
	IRN_ACCESS,   /* one access to a plain shared variable */
	IRN_LOCK,     /* acquire or release */
	IRN_REGISTER, /* invocation or response of a safe/regular access */
	IRN_STEP,     /* step { } or an SML statement: any accesses, one step */
	IRN_LOCAL,    /* SML: a statement without shared accesses */
	IRN_ENTER,
	IRN_EXIT, /* block boundaries */
	IRN_INVOKE,
	IRN_RESPOND, /* an operation's call and return */
	IRN_AWAIT,   /* assume(e) with one shared read: waits until it holds */
};

enum ir_access_mode {
	IRA_READ = 1,
	IRA_WRITE = 2,
	IRA_RMW = 3, /* RMW = both */
	IRA_ACQUIRE = 4,
	IRA_RELEASE = 8,
	IRA_READ_INV = 16,
	IRA_READ_RESP = 32,
	IRA_WRITE_INV = 64,
	IRA_WRITE_RESP = 128,
};

struct ir_access { /* something a step may do to shared state */
	uint32_t var;
	uint32_t mode;  /* enum ir_access_mode */
	uint32_t index; /* the element when it is a constant, else IR_NONE */
	uint32_t ins;   /* the instruction */
};

/* Steps of wait, post, signal, ...: shown by their text, not by what they access. */
enum ir_primitive { IR_NO_PRIMITIVE, IR_PRIMITIVE, IR_PRIMITIVE_RESUMES /* the end of a wait */ };

struct ir_node {
	enum ir_node_kind kind;
	enum ir_primitive primitive;
	uint32_t ins;             /* its IR_STOP */
	struct span span;         /* the statement a step from here executes */
	uint32_t block;           /* the block a thread waiting here is inside of */
	uint32_t oper;            /* the innermost operation in progress (ir_oper) */
	uint32_t access, naccess; /* into ir.accesses: everything a step may do */
	uint32_t succ, nsucc;     /* into ir.succs: nodes a step may lead to */
	uint32_t kill, nkill;     /* into ir.kills: slots zeroed on arrival */
	uint32_t dead, ndead;     /* into ir.kills: all slots dead here */
	uint32_t scope;           /* named locals visible here (ir.scopes) */
};

struct ir_local { /* a named local of a scope */
	const char *name;
	enum ir_value_kind value;
	uint32_t enum_id;
	uint32_t slot; /* in the frame; IR_NONE: never lives across a step */
	uint32_t len;
	bool is_array;
	const struct ir_shape *shape;
	struct span span;
};

struct ir_scope {
	uint32_t parent;
	uint32_t local, nlocal; /* into ir.locals */
};

/* ---- templates, threads, blocks, objects -------------------------------- */

struct ir_slot {
	int32_t lo, hi; /* every value the slot can hold, 0 included */
	bool is_lock;   /* holder's bit of a lock: `var` and element */
	uint32_t var, elem;
};

struct ir_template {
	const char *name;
	struct span span;
	uint32_t count;    /* instances */
	uint32_t declared; /* as many as the text says */
	bool any_count;    /* --threads name=any was asked for */
	uint32_t first_thread;
	uint32_t node, nnode; /* into ir.nodes */
	uint32_t entry;       /* where its code begins (ir.init: where threads do) */
	uint32_t code, ncode; /* into ir.code */
	uint32_t nslots;      /* frame size, the node included */
	uint32_t nregs;       /* slots and scratch */
	uint32_t slot;        /* into ir.slots, nslots of them */
	bool names_threads;   /* uses safe/regular variables: not symmetric */
};

struct ir_thread {
	uint32_t tmpl;
	uint32_t index; /* from 1, among its template's */
	uint32_t frame; /* offset in the state */
};

struct ir_block {         /* an `atomic` statement of a template */
	const char *name; /* "update", or "atomic at line 12" */
	bool named;
	uint32_t tmpl;
	struct span span; /* the `atomic` keyword */
	bool has_commit;  /* a commit; is in it */
	uint32_t phase;   /* slot that is 1 after the commit; IR_NONE */
};

enum ir_spec { IR_SPEC_REGISTER };

struct ir_object {
	const char *name;
	enum ir_spec spec;
	enum ir_value_kind value;
	uint32_t enum_id;
	int32_t lo, hi, init;
	struct span span;
};

struct ir_oper { /* one call site of a method, after inlining */
	uint32_t object;
	uint32_t tmpl;
	const char *method;
	bool is_write;  /* of a register */
	uint32_t outer; /* the operation it runs inside of */
	uint32_t nargs;
	bool has_result;
	struct span span;
};

/* ---- properties --------------------------------------------------------- */

/*
 * What the source says of the states of the whole program: a condition on the globals and on how many threads are inside a
 * block. It is a tree of terms, not code: looking at it is no step and accesses nothing (property.c).
 */
enum ir_property_kind {
	IRP_ALWAYS,  /* it holds in every reachable state */
	IRP_FINALLY, /* ... in which all threads have finished */
	IRP_REACH,   /* from every reachable state, a state can be reached in which it holds */
};

enum ir_term_kind {
	IRT_CONST,  /* value */
	IRT_VAR,    /* element a (a term, or IR_NONE) of variable `value` */
	IRT_INDEX,  /* a, which must be 0 .. value-1 */
	IRT_OP,     /* op a, or a op b: IR_NEG .. IR_GE */
	IRT_AND,    /* a, and b when a holds */
	IRT_OR,     /* a, or b when a does not hold */
	IRT_COND,   /* a ? b : c */
	IRT_INSIDE, /* threads inside block `value` */
	IRT_LEAKED, /* live cells of pool `value` to which no chain of references from a shared variable leads */
};

struct ir_term {
	uint8_t kind, op;
	int32_t value;
	uint32_t a, b, c; /* terms with lower numbers */
};

#define IR_MAX_PROPERTIES 32u

/* A bounded heap: `ncells` cells, each fresh, live or freed. A reference is 0 (null) or the number of a cell, from 1. */
struct ir_pool {
	const char *name;
	uint32_t ncells;
	uint32_t state; /* the variable that says what each cell is (IR_CELL_FRESH ...) */
	struct span span;
};
enum { IR_CELL_FRESH, IR_CELL_LIVE, IR_CELL_FREED };

struct ir_property {
	enum ir_property_kind kind;
	bool implied;     /* by a pool: no cell leaks; no question where no run ends */
	const char *text; /* "always count <= 1" */
	struct span span; /* of the condition */
	uint32_t term;
};

struct ir {
	const struct source *src;
	bool sml;
	bool keep_dead;    /* dead locals keep their values */
	uint32_t alone1;   /* made with this block's marks alone: its number + 1; 0: with all marks */
	bool fixed_counts; /* its variables and code depend on the number of threads: no proof is for other numbers */
	struct ir_var *vars;
	struct ir_enum *enums;
	struct ir_template *templates;
	struct ir_thread *threads;
	struct ir_block *blocks;
	struct ir_object *objects;
	struct ir_oper *opers;
	struct ir_node *nodes;
	struct ir_ins *code;
	struct span *spans; /* one an instruction */
	struct ir_access *accesses;
	uint32_t *succs, *kills;
	struct ir_scope *scopes;
	struct ir_local *locals;
	struct ir_slot *slots;
	struct ir_property *properties;
	struct ir_term *terms;
	struct ir_pool *pools;
	uint32_t nproperties, nterms, npools;
	uint32_t nvars, nenums, ntemplates, nthreads, nblocks, nobjects, nopers;
	uint32_t nnodes, ncode, naccesses, nsuccs, nkills, nscopes, nlocals, nslots;
	uint32_t nglobals;   /* slots of the globals, auxiliary ones included */
	uint32_t nstate;     /* slots of a whole state */
	const int32_t *init; /* the initial state, nstate values */
};

/* ---- the semantics (step.c) --------------------------------------------- */

enum ir_result {
	IR_OK,      /* a step was taken */
	IR_BLOCKED, /* not enabled now: lock taken, assume false, finished */
	IR_FAULT,   /* the step goes wrong; see ir_effect.fault */
};

enum ir_fault {
	IRF_NONE,
	IRF_RANGE,    /* value outside the declared range */
	IRF_OVERFLOW, /* arithmetic leaves 32 bits */
	IRF_DIVISION, /* by zero */
	IRF_SHIFT,    /* count negative or over 31 */
	IRF_INDEX,    /* outside the array */
	IRF_RELEASE,  /* of a lock the thread does not hold */
	IRF_ASSERT,
	IRF_COMMIT,      /* second commit of one block */
	IRF_NULL,        /* the null reference is followed */
	IRF_FREED,       /* a reference to a cell that was freed is followed */
	IRF_DOUBLE_FREE, /* a cell is freed that is not live */
	IRF_EXHAUSTED,   /* alloc, and all cells of the pool are live */
	IRF_LIMIT,       /* IR_FUEL or IR_MAX_CHOICES reached: nothing is known */
};

/* The nondeterministic choices of one step: which values were taken, and out
 * of how many. All outcomes are enumerated like an odometer:
 *     struct ir_choices ch = { 0 };
 *     do { r = ir_exec(..., &ch, ...); } while (ir_choices_next(&ch));
 */
struct ir_choices {
	uint32_t n;     /* choices met */
	uint32_t fixed; /* of which this many are prescribed by pick[] */
	uint32_t pick[IR_MAX_CHOICES];
	uint32_t size[IR_MAX_CHOICES];
};

/* What happened: recorded when asked for, for reports and monitors. */
struct ir_event {
	uint32_t mode; /* enum ir_access_mode */
	uint32_t var, elem;
	int32_t before, after;
	uint32_t ins;
};
#define IR_MAX_EVENTS 256u

struct ir_effect {
	enum ir_fault fault;
	uint32_t fault_ins;                  /* where; its place is ir.spans[fault_ins] */
	int32_t fault_value;                 /* the value that did not fit, the index, ... */
	uint32_t entered, exited, committed; /* block ids or IR_NONE */
	uint32_t invoked, responded;         /* ir_oper ids or IR_NONE */
	int32_t arg, result;                 /* of the operation */
	bool stuck;                          /* the thread arrived at an IRN_STUCK node */
	/* set by the caller: where to record accesses, or NULL */
	struct ir_event *events;
	uint32_t nevents; /* recorded; at most IR_MAX_EVENTS are */
};

/*
 * One step of `thread` on globals g and frame f (both in place; on IR_BLOCKED
 * and IR_FAULT their content is unspecified, so step a copy). `ch` says which
 * outcome; NULL when the caller knows there is no choice (then the first is
 * taken). `eff` may be NULL. Allocates nothing.
 */
enum ir_result ir_exec(const struct ir *p, uint32_t thread, int32_t *g, int32_t *f, struct ir_choices *ch, struct ir_effect *eff);

/* The next outcome of the same step; false when all have been seen. */
bool ir_choices_next(struct ir_choices *ch);

/*
 * The same on a whole state: `out` (nstate values) becomes the successor of
 * `state` by a step of `thread`. out == state is allowed.
 */
enum ir_result ir_step(const struct ir *p, const int32_t *state, uint32_t thread, struct ir_choices *ch, int32_t *out,
                       struct ir_effect *eff);

/*
 * An outcome that ends in IRN_STUCK after a choice represents a choice that
 * `assume` forbade: it counts only when no other outcome of the step is
 * enabled. Every enumeration of successors uses ir_each: calls `visit` for
 * each outcome that counts, in order, until it returns false. Returns how
 * many there were.
 */
typedef bool ir_each_fn(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                        const struct ir_effect *eff);
/* On globals and a frame; gout and fout are room for a successor's. */
uint32_t ir_each(const struct ir *p, uint32_t thread, const int32_t *g, const int32_t *f, int32_t *gout, int32_t *fout,
                 ir_each_fn *visit, void *arg);

/* On a whole state; `scratch` has room for nstate values. */
typedef bool ir_visit_fn(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                         const struct ir_effect *eff);
uint32_t ir_successors(const struct ir *p, const int32_t *state, uint32_t thread, int32_t *scratch, ir_visit_fn *visit, void *arg);

/* The node a thread is at, and whether it is inside a block there. */
static inline uint32_t ir_node_of(const struct ir *p, const int32_t *state, uint32_t thread)
{
	return (uint32_t)state[p->threads[thread].frame];
}
static inline uint32_t ir_block_of(const struct ir *p, const int32_t *state, uint32_t thread)
{
	return p->nodes[ir_node_of(p, state, thread)].block;
}
/* Is the operation one of its object's history? What an object's operation
 * calls on the same object is part of the implementation. */
static inline bool ir_oper_counts(const struct ir *p, uint32_t oper)
{
	for (uint32_t o = p->opers[oper].outer; o != IR_NONE; o = p->opers[o].outer)
		if (p->opers[o].object == p->opers[oper].object)
			return false;
	return true;
}
/* No thread is inside a block. */
bool ir_quiescent(const struct ir *p, const int32_t *state);
/* Zeroes slots that are dead where their threads are (no-op unless the
 * program was lowered with dead slots kept). */
void ir_clear_dead(const struct ir *p, int32_t *state);

/* ---- properties (property.c) -------------------------------------------- */

/* "always", "finally", "reach" */
const char *ir_property_word(enum ir_property_kind k);
/* Have all threads finished? */
bool ir_all_finished(const struct ir *p, const int32_t *state);
/* The value of its condition in a state; IRF_NONE, or how looking at it goes wrong (then it does not hold). */
enum ir_fault ir_property_look(const struct ir *p, uint32_t property, const int32_t *state, int32_t *value);
/* The same of one of its terms. */
enum ir_fault ir_term_look(const struct ir *p, uint32_t term, const int32_t *state, int32_t *value);
/* Does the condition hold there? */
bool ir_property_holds(const struct ir *p, uint32_t property, const int32_t *state);
/* Is this state alone a violation (IRP_ALWAYS, IRP_FINALLY)? */
bool ir_property_broken(const struct ir *p, uint32_t property, const int32_t *state);

/* ---- passes, validator, printer ----------------------------------------- */

/*
 * Checks every invariant stated in this file. Returns NULL when the program
 * is well-formed, else a sentence saying what is wrong (owned by `a`).
 */
const char *ir_validate(const struct ir *p, struct arena *a);
/* For PARANOID: each value of the state is in its range, each thread at a node of its template, and each lock that is
 * taken is held by one thread. */
bool ir_state_valid(const struct ir *p, const int32_t *state);
bool ir_frame_valid(const struct ir *p, uint32_t thread, const int32_t *f);
/* For values from a file, so that they can be stepped: is each of the globals, the records of safe and regular variables included, in its range? */
bool ir_globals_valid(const struct ir *p, const int32_t *g);
/* Can these globals and this frame of the thread (both valid) be of one state, as a step takes for granted? Locks that the thread holds are
 * taken; what it has begun of safe and regular accesses is in progress. */
bool ir_frame_fits(const struct ir *p, uint32_t thread, const int32_t *g, const int32_t *f);

/* The program as text: variables, templates, nodes with their accesses,
 * successors and code. `intact check --dump=ir`. */
void ir_print(const struct ir *p, struct buf *out);
/* One value of a variable or local as the source would write it. */
void ir_print_value(const struct ir *p, enum ir_value_kind kind, uint32_t enum_id, int32_t value, struct buf *out);
/* "data", "slot[3]", "pool[1].next[0]": an element of a variable; `any` is between the brackets when elem is IR_NONE. */
void ir_print_element(const struct ir_var *v, uint32_t elem, const char *any, struct buf *out);
void ir_print_local(const struct ir_local *l, uint32_t elem, struct buf *out);
/* "worker 2", or "worker" when there is one of them. */
void ir_print_thread(const struct ir *p, uint32_t thread, struct buf *out);
const char *ir_mode_name(uint32_t mode); /* enum ir_access_mode: "read", "begin-read"; words joined by dashes */
/* What a step from this node does, from the source text: "data = data + 1",
 * preceded by what of it this step is: "read data". */
void ir_print_node(const struct ir *p, uint32_t node, struct buf *out);
/* The name of a fault kind, and a sentence for a fault that happened. */
const char *ir_fault_name(enum ir_fault f);
void ir_print_fault(const struct ir *p, const struct ir_effect *eff, struct buf *out);

#endif
