/*
 * ast: what the parsers make and the type checker completes.
 *
 * Plain structs in the front end's arena, linked by pointers; lists are
 * `next` chains in source order. Every node has its span. Fields under
 * "resolved" are filled by type.c; the formatter reads only the others.
 *
 * .sml files parse into the same tree: a thread is an A_THREAD, `begin S end`
 * is S_ATOMIC, and `sml` in the unit says that each statement is one step.
 */
#ifndef INTACT_LANG_AST_H
#define INTACT_LANG_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "ir/ir.h"

typedef uint32_t name_id; /* interned string; 0 = no name */

struct decl;
struct stmt;
struct expr;

/* ---- types -------------------------------------------------------------- */

/* TY_LOCK and those behind it are synchronisation objects: shared, without a value. */
enum type_kind {
	TY_NONE,
	TY_VOID,
	TY_BOOL,
	TY_INT,
	TY_ENUM,
	TY_STRUCT,
	TY_LOCK,
	TY_SEMAPHORE,
	TY_RWLOCK,
	TY_COND,
	TY_BARRIER,
	TY_ONCE,
	TY_CHAN,
};

/* What a call does when its name is a primitive's and no procedure's (type_sync.c). */
enum sync_op {
	SYNC_NONE,
	SYNC_WAIT, /* semaphore, cond (with a lock), barrier */
	SYNC_TRYWAIT,
	SYNC_POST,
	SYNC_SIGNAL,
	SYNC_BROADCAST,
	SYNC_READ, /* acquire_read, acquire_write */
	SYNC_WRITE,
	SYNC_ONCE, /* call_once(o, procedure) */
	SYNC_SEND,
	SYNC_RECV,
	SYNC_TRY_SEND,
	SYNC_TRY_RECV,
	SYNC_INSIDE, /* in conditions on states: inside(block), held(l) */
	SYNC_HELD,
	SYNC_LEAKED, /* leaked(pool) */
	SYNC_ALLOC,  /* of pools (type_pool.c) */
	SYNC_TRY_ALLOC,
	SYNC_FREE,
};

/* How a shared variable behaves when accesses overlap. */
enum var_class { VAR_PLAIN, VAR_SAFE, VAR_REGULAR };

struct type_ref { /* a type as written */
	enum type_kind kind;
	struct span span;
	bool ranged;          /* int[lo..hi] */
	struct expr *lo, *hi; /* constant expressions, when ranged */
	name_id name;         /* enum or struct name, or a bare type name */
	struct span name_span;
	struct decl *enum_def;   /* `enum name { ... }` written in place */
	struct decl *struct_def; /* `struct name { ... }` written in place */
	bool spurious;           /* `spurious cond` */
	bool wrap;               /* `wrap u8`: what is stored is taken modulo the number of values */
	struct span wrap_span;
	struct type_ref *of; /* TY_CHAN: what it carries */
	/* resolved: every type is a range of 32-bit values */
	int32_t min, max;
	struct decl *enum_decl;   /* TY_ENUM */
	struct decl *struct_decl; /* TY_STRUCT */
};

#define WRAP_MAX (1 << 28) /* values of a type that wraps: so that its arithmetic stays in 32 bits */

/* ---- expressions -------------------------------------------------------- */

enum expr_kind {
	E_ERROR,  /* where the parser gave up */
	E_INT,    /* value */
	E_BOOL,   /* value */
	E_NAME,   /* name */
	E_INDEX,  /* name[a] */
	E_PATH,   /* name.field, name[a].field[b], name[a][b]: args are its selectors */
	E_AT,     /* a selector of a path: [a] */
	E_FIELD,  /* a selector of a path: .name */
	E_LIST,   /* { args } in an initialiser */
	E_UNARY,  /* op a */
	E_BINARY, /* a op b; && and || too */
	E_COND,   /* a ? b : c */
	E_CALL,   /* name(args) */
	E_METHOD, /* name.method(args) */
	E_CAS,    /* cas(a, b, c): a is a name or an element */
	E_XCHG,   /* exchange(a, b) */
	E_FADD,   /* fetch_add(a, b) */
	E_DEREF,  /* the number of the cell that a is a reference to; made by type_pool.c */
	E_ANY,    /* any(bool), any(a..b), any(type) */
};

enum op {
	OP_NONE,
	OP_NEG,
	OP_NOT,
	OP_BITNOT,
	OP_PLUS, /* unary; OP_PLUS is `+e` */
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_SHL,
	OP_SHR,
	OP_AND,
	OP_OR,
	OP_XOR,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_LAND,
	OP_LOR,
};

struct expr {
	enum expr_kind kind;
	enum op op;
	struct span span;
	struct span op_span; /* the operator's own place; a call's or any's word */
	struct expr *next;   /* in an argument list */
	struct expr *a, *b, *c;
	struct expr *args;
	uint32_t nargs;
	int64_t value;
	name_id name, method;
	struct span name_span, method_span;
	struct type_ref *any_type; /* E_ANY with a type */
	bool parens;               /* written in parentheses */
	name_id designator;        /* .name = e in an initialiser */
	struct span designator_span;
	uint32_t height; /* of the tree; bounded, so recursion is safe */
	/* resolved */
	enum type_kind type;
	struct decl *enum_decl;
	struct decl *struct_decl;      /* TY_STRUCT */
	const struct decl *designated; /* the field that the designator names */
	struct decl *decl;             /* variable, constant, enumerator, procedure, method; the part of a struct that is meant */
	enum sync_op sync;             /* E_CALL */
	bool is_null;                  /* the reference to no cell */
	bool is_const;                 /* value holds it */
	bool shared;                   /* evaluating it touches shared state or calls */
};

/* A variable, an element or a field: something with a place. */
static inline bool is_place(const struct expr *e)
{
	return e->kind == E_NAME || e->kind == E_INDEX || e->kind == E_PATH;
}

/* ---- statements --------------------------------------------------------- */

enum stmt_kind {
	S_EMPTY,
	S_BLOCK,
	S_DECL,
	S_ASSIGN,
	S_EXPR,
	S_IF,
	S_WHILE,
	S_REPEAT,
	S_FOR,
	S_DO,
	S_SWITCH,
	S_CASE, /* in the body of an S_SWITCH only */
	S_BREAK,
	S_CONTINUE,
	S_RETURN,
	S_ACQUIRE,
	S_RELEASE,
	S_EITHER,
	S_ASSUME,
	S_ASSERT,
	S_SKIP,
	S_ATOMIC,
	S_COMMIT,
	S_STEP,
};

enum assign_form { ASSIGN_PLAIN, ASSIGN_OP, ASSIGN_INC, ASSIGN_DEC };

struct stmt {
	enum stmt_kind kind;
	struct span span; /* the whole statement */
	struct span head; /* its keyword or first token */
	uint32_t close;   /* offset of the closing brace, for S_BLOCK */
	struct stmt *next;
	struct stmt *body;   /* S_BLOCK, S_CASE: first; S_SWITCH: first S_CASE; loops, S_ATOMIC, S_STEP: the body */
	struct stmt *other;  /* else branch; S_EITHER: next alternatives chain */
	struct expr *target; /* S_ASSIGN: the left side; lock of acquire */
	struct expr *value;  /* condition, right side, count, returned value */
	enum assign_form form;
	enum op op;                  /* ASSIGN_OP */
	struct decl *decls;          /* S_DECL */
	struct stmt *init, *advance; /* S_FOR: chains of declarations or simple statements */
	struct span tail;            /* S_DO: its `while`; S_SWITCH: its `{` */
	struct expr *labels;         /* S_CASE: its values */
	bool is_default;             /* S_CASE: name_span is the word */
	name_id name;                /* S_ATOMIC */
	struct span name_span;
	/* for lowering */
	bool exhaustive;             /* S_SWITCH: every value of its type has a case */
	uint32_t block, block_tmpl1; /* S_ATOMIC: its block in template - 1 */
	bool told;                   /* a message about it was given */
};

/* ---- declarations ------------------------------------------------------- */

enum decl_kind {
	D_VAR,
	D_CONST,
	D_ENUM,
	D_ENUMERATOR,
	D_STRUCT, /* fields */
	D_PROC,
	D_THREAD,
	D_OBJECT,
	D_PROPERTY, /* init: a condition on all states */
};

struct decl {
	enum decl_kind kind;
	struct span span;
	name_id name;
	struct span name_span;
	struct decl *next; /* in its list */
	/* D_VAR (also fields, parameters, locals) */
	struct type_ref *type; /* shared by the declarators of one statement */
	enum var_class var_class;
	struct span class_span;
	bool is_array;
	struct expr *length; /* of each dimension */
	struct expr *init;   /* first of the brace list when init_list */
	bool init_list;
	bool is_shared, is_param, is_field;
	bool is_member;                 /* a field of a struct's declaration */
	bool is_ref;                    /* a parameter passed by reference */
	bool is_ghost;                  /* `ghost`: for specifications only */
	bool is_thread_local;           /* declared at the top level, and each thread has its own */
	bool first_of_group;            /* the declarator that carries the type */
	enum ir_property_kind property; /* D_PROPERTY */
	/* D_ENUM that is a pool: length, fields (as of a struct), and ... */
	bool is_pool, leaked; /* leaked: a condition asks about its leaks */
	struct decl *cells;   /* ... the array of its cells */
	struct decl *pool;    /* of that array: the pool */
	/* D_CONST: init. D_ENUM: members */
	struct decl *members; /* enumerators; object: fields then methods */
	/* D_PROC and methods */
	struct decl *params;
	uint32_t nparams;
	struct type_ref *result; /* NULL: `proc` */
	struct stmt *body;       /* D_THREAD too */
	/* D_THREAD */
	struct expr *count; /* NULL: one */
	/* D_OBJECT */
	name_id spec;          /* register */
	struct span spec_span; /* the opening brace when there is none */
	bool no_spec;          /* it is a specification itself (lang/spec.h) */
	struct type_ref *spec_type;
	struct decl *fields, *methods;
	/* resolved */
	struct decl *owner; /* the object of a field or method */
	int64_t value;      /* constant, enumerator, thread count */
	uint32_t array_len; /* 1 for a scalar; all dimensions, those of the structs around it too */
	uint32_t ndims;     /* likewise */
	uint32_t own_dims;  /* those after its own name: the last ones */
	const uint32_t *dims;
	struct decl *parts;       /* of a variable of struct type: one for each field; what has none is stored as a variable */
	struct decl *whole;       /* of a part: the variable */
	const struct decl *field; /* of a part: the field of its struct */
	struct decl *up;          /* of a part: what it is a part of */
	const char *full;         /* of a part: "pool.next", else NULL */
	const char *pattern;      /* "pool[].next[]" where the indices do not just follow the name, else NULL */
	struct part_init *inits;  /* of struct types and several dimensions, in the order of the text */
	bool has_sync;            /* D_STRUCT: a synchronisation object is in it */
	bool declared;            /* D_STRUCT: its name is known */
	uint32_t id;              /* of the lowered variable, object, template */
	uint32_t reads, writes;   /* uses, for the unused warning */
	uint32_t hold;            /* rwlock: the registers that say how the thread being lowered holds it */
	uint32_t used;            /* chan: the variable that says how many values are in it; pool: what each cell is */
	uint8_t mark;             /* visiting state for recursion, const cycles */
};

struct part_init { /* an initial value of a part's element */
	struct decl *part;
	uint32_t elem;
	struct expr *value;
	struct part_init *next;
};

struct unit {
	const struct source *src;
	bool sml;
	struct decl *decls;  /* everything at top level, in order */
	bool refs_to_locals; /* a local is passed by reference: a call can change it */
};

#endif
