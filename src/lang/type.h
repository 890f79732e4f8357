/*
 * type: names to declarations, types, constants, and what needs no execution
 * to be known as wrong.
 *
 * Scopes are one array from name to its innermost declaration, with an undo
 * list: entering a scope remembers its length, leaving restores. Linear in
 * the program. After it, every expression has its type and declaration.
 */
#ifndef INTACT_LANG_TYPE_H
#define INTACT_LANG_TYPE_H

#include "base/diag.h"
#include "base/intern.h"
#include "lang/ast.h"

/* Completes the tree; what is wrong goes to d. */
void type_check(struct unit *u, struct intern *names, struct arena *a, struct diags *d);

/* ---- within type*.c ----------------------------------------------------- */

struct call_edge {
	struct decl *from, *to;
	struct span at;
	uint32_t next; /* of the same caller; 0 ends */
};

struct shadowed { /* what a name meant outside the scope */
	name_id name;
	uint32_t old_depth;
	struct decl *old;
};

struct checker {
	struct unit *u;
	const struct source *src;
	struct intern *names;
	struct arena *arena;
	struct diags *d;
	struct decl **bound; /* by name: what it means here */
	uint32_t *bound_depth;
	AVEC(struct shadowed) undo;
	uint32_t depth;    /* of the scope */
	struct decl *proc; /* whose body is checked: procedure, method or thread */
	struct decl *object;
	uint32_t loops;               /* loops around */
	uint32_t switches;            /* switches around, inside the innermost loop */
	uint32_t steps;               /* step { } around */
	uint32_t atomics;             /* atomic blocks around, in this body */
	AVEC(struct call_edge) calls; /* index 0 unused */
	AVEC(struct decl *) locals;   /* every local, for the unused warning */
	uint32_t parts;               /* of all variables of struct type */
	uint32_t properties;          /* checked so far */
	bool ghosts;                  /* a ghost may be named here */
	const struct decl *property;  /* whose condition is checked, or NULL */
	bool whole_arrays;            /* the place that is checked may be an array: it is passed by reference */
};

void scope_open(struct checker *c, uint32_t *mark);
void scope_close(struct checker *c, uint32_t mark);
/* Declares d here; a second declaration in the same scope is an error. */
void scope_declare(struct checker *c, struct decl *d);
/* What a name means, or NULL after a message with the nearest name. `what`
 * says what was looked for ("variable"). */
struct decl *scope_find(struct checker *c, name_id name, struct span at, const char *what);

/* The variable that d is, or is a part of. */
static inline struct decl *whole_of(struct decl *d)
{
	return d->whole ? d->whole : d;
}

static inline bool is_sync(enum type_kind k)
{
	return k >= TY_LOCK;
}

const char *name_of(const struct checker *c, name_id n);
/* "int", "bool", "enum color", for messages. */
const char *type_text(struct checker *c, enum type_kind k, const struct decl *en);

/* Applies op; false when the result is a fault or leaves 32 bits. */
bool const_fold(enum op op, int64_t a, int64_t b, int64_t *out);
/* The value of a constant, once; false after a message. */
bool const_resolve(struct checker *c, struct decl *d, struct span use);
/* The names of an enum that is defined where it is used. */
void declare_type(struct checker *c, struct type_ref *ty);

void check_range(struct checker *c, struct type_ref *ty);
void check_type_ref(struct checker *c, struct type_ref *ty);
/* Resolves and types e; any value type is fine. */
void check_expr(struct checker *c, struct expr *e);
/* ... and it must be usable as a number or truth value. */
void check_value(struct checker *c, struct expr *e, const char *what);
/* ... and fit a variable of this type. */
void check_fits(struct checker *c, struct expr *e, const struct type_ref *to, const char *what);
/* ... and be constant: the value, or false after a message. */
bool check_const(struct checker *c, struct expr *e, const char *what, int64_t *value);
void check_stmt(struct checker *c, struct stmt *s);
/* ... as the body of a loop. */
void check_loop_body(struct checker *c, struct stmt *body);
/* type_control.c */
void check_for(struct checker *c, struct stmt *s);
void check_switch(struct checker *c, struct stmt *s);
/* type_sync.c */
/* Is this the type of a variable? Then it is resolved: semaphore, rwlock, cond, barrier, once, unless the model declares
 * the name. */
bool check_sync_type(struct checker *c, struct type_ref *ty);
/* Is the call one of a primitive? Then it is checked: wait, post, ..., unless the model declares the name. */
bool check_sync_call(struct checker *c, struct expr *e);
/* "lock", "semaphore", ...; and with its article. */
const char *sync_word(enum type_kind k);
const char *sync_a_word(enum type_kind k);
/* What is done with it: "use acquire(l) and release(l)". */
void sync_hint(struct checker *c, enum type_kind k);
/* The types and the calls of synchronisation objects that are words unless declared, from 0; NULL after the last. */
const char *sync_type_word(uint32_t i);
const char *sync_call_word(uint32_t i);
/* type_sized.c */
/* Is it the name of a sized integer (u8, i8, u16, i16), and of nothing that the model declares? Then it is resolved. */
bool check_sized_type(struct checker *c, struct type_ref *ty);
/* May values of this type wrap? Reports it when they may not. */
void check_wrap(struct checker *c, struct type_ref *ty);
/* The names, from 0; NULL after the last. */
const char *sized_word(uint32_t i);
/* type_property.c */
void check_property(struct checker *c, struct decl *d);
/* Is it a call that only conditions have: inside(block)? Then it is checked. */
bool check_property_call(struct checker *c, struct expr *e);
/* A place in a ghost is named where the program would depend on it: reported. */
void check_ghost_use(struct checker *c, struct expr *e);
/* Is e a place in a ghost? */
bool is_ghost_place(const struct checker *c, const struct expr *e);
/* Is the variable a ghost that cannot be one, or local to threads in a way that it cannot? */
void check_qualified_var(struct checker *c, struct decl *d);
/* type_pool.c */
bool is_reference(const struct expr *e);
/* How many cells it has: before types are resolved. */
void check_pool_size(struct checker *c, struct decl *pool);
void check_pool(struct checker *c, struct decl *pool);
/* Is it `null`, and of nothing that the model declares? */
bool check_null(struct checker *c, struct expr *e);
/* False, after a message: a reference is stored where none belongs, or something else where one does. */
bool check_reference_fits(struct checker *c, struct expr *e, const struct type_ref *to, const char *what);
void check_reference_operands(struct checker *c, struct expr *e);
/* The selector sel of the place e follows the reference in d: e becomes a place in the cells, which are returned. NULL after a
 * message. */
struct decl *check_follow(struct checker *c, struct expr *e, struct expr *sel, struct decl *d);
/* Is it alloc, try_alloc, free or leaked? Then it is checked. */
bool check_pool_call(struct checker *c, struct expr *e);
const char *pool_call_word(uint32_t i);
/* type_struct.c */
/* The name of a variable or of a part of one: "pool.next". */
const char *var_name(const struct checker *c, const struct decl *d);
/* The fields of a struct, once, and of those inside it. */
void check_struct(struct checker *c, struct decl *s, uint32_t depth);
void check_dims(struct checker *c, struct decl *d);
/* The parts and initial values of a struct, or those of an array of several dimensions. */
void check_shaped_var(struct checker *c, struct decl *d);
/* e must be a whole struct of this type that can be copied: false after a message. */
bool check_struct_value(struct checker *c, struct expr *e, const struct decl *of, const char *to);
/* e is passed by reference for this parameter. */
void check_ref_arg(struct checker *c, struct expr *e, const struct decl *param);
/* Resolves e, a place in the variable d; `arrays`: it may be an array. */
void check_var_place(struct checker *c, struct expr *e, struct decl *d, bool arrays);
void report_no_field(struct checker *c, const struct decl *s, name_id name, struct span at);
/* type_stmt.c: one initial value of a shared variable; the type of a safe or regular one. */
void check_init_value(struct checker *c, struct decl *d, struct expr *e);
void check_class(struct checker *c, const struct decl *d);
/* A variable's type, size and initial values; default_value is what it has without them. */
void check_var(struct checker *c, struct decl *d);
int64_t default_value(const struct type_ref *ty);
/* Can control reach the end of s? Warns of what it cannot reach. */
bool falls_through(struct checker *c, struct stmt *s);
/* ... of this list of statements? */
bool list_falls_through(struct checker *c, struct stmt *first);
bool switch_falls_through(struct checker *c, struct stmt *s);
/* Is there a jump of this kind (S_BREAK, S_CONTINUE) out of the list, to the loop or switch around it? */
bool list_jumps(const struct stmt *first, enum stmt_kind kind);

#endif
