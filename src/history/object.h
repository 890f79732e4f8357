/*
 * object: what a history can be about. An object is a row: its name, its operations with the shapes of their arguments
 * and answers, how it starts, its sequential specification, and what algorithms may know of it.
 *
 * To add one: write object_NAME.c with its specification and `const struct object_type object_NAME`, list the file in
 * meson.build, and add a row to OBJECT_ROWS. Readers, interpretation, --object and its help, `intact explain objects`, the choice
 * of algorithms and the monitor read the row; docs/history.md has a line for it, which a test compares. The independent
 * checker (verdict/verify_history.c) names the objects that it has own code for, and judges all others by the
 * specification alone: a mistake in a row's traits is not repeated there.
 *
 * Operations have function codes: those that objects share are in `enum fn`; a row's own ones follow FN_COUNT, and
 * so do the methods of a user's specification (user.h), which has the codes to itself then.
 */
#ifndef INTACT_HISTORY_OBJECT_H
#define INTACT_HISTORY_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ROW(enumerator, row, name, number of operations of its own) */
#define OBJECT_ROWS(ROW)                                      \
	ROW(REGISTER, register, "register", 0)                \
	ROW(CAS_REGISTER, cas_register, "cas-register", 0)    \
	ROW(COUNTER, counter, "counter", 0)                   \
	ROW(MUTEX, mutex, "mutex", 0)                         \
	ROW(SET, set, "set", 0)                               \
	ROW(QUEUE, queue, "queue", 0)                         \
	ROW(STACK, stack, "stack", 0)                         \
	ROW(PQUEUE, pqueue, "priority-queue", 0)              \
	ROW(KV, kv, "kv", 0)                                  \
	ROW(LIST, list, "append-list", 0)                     \
	ROW(SEMAPHORE, semaphore, "semaphore", 1)             \
	ROW(DEQUE, deque, "deque", 4)                         \
	ROW(BOUNDED_QUEUE, bounded_queue, "bounded-queue", 1) \
	ROW(RELAXED_QUEUE, relaxed_queue, "relaxed-queue", 2) \
	ROW(RELAXED_STACK, relaxed_stack, "relaxed-stack", 2) \
	ROW(RELAXED_PQUEUE, relaxed_pqueue, "relaxed-priority-queue", 2)

#define OBJECT_ENUMERATOR(NAME, row, name, own) OBJ_##NAME,
#define OBJECT_OWN_CODES(NAME, row, name, own)  FN_##NAME##_FIRST, FN_##NAME##_LAST = FN_##NAME##_FIRST + (own)-1,

enum object { OBJ_GUESS, OBJECT_ROWS(OBJECT_ENUMERATOR) OBJ_USER, OBJ_COUNT };

enum fn {
	FN_NONE,
	FN_READ,
	FN_WRITE,
	FN_CAS,
	FN_APPEND,
	FN_ADD,
	FN_DEC,
	FN_REMOVE,
	FN_CONTAINS,
	FN_ENQ,
	FN_DEQ,
	FN_PUSH,
	FN_POP,
	FN_PEEK,
	FN_INSERT,
	FN_POLL,
	FN_ACQUIRE,
	FN_RELEASE,
	FN_COUNT,
	FN_BEFORE_OWN = FN_COUNT - 1,
	OBJECT_ROWS(OBJECT_OWN_CODES) FN_OWN_END
};
#define FN_BIT(f) (UINT64_C(1) << FN_##f)
_Static_assert(FN_OWN_END <= 64, "sets of functions are 64-bit words");

/* What an operation is given and answers; an operation that never answered says what stands in brackets. */
enum op_shape {
	OP_READS,   /* answers the value, or all elements, as the object starts [nothing] */
	OP_PEEKS,   /* answers a value or nil: empty [nothing] */
	OP_TAKES,   /* the same, and the value is gone [may have taken any] */
	OP_WRITES,  /* is given a value [may have happened] */
	OP_OFFERS,  /* is given a value, answers false: there was no room; else it was put in [may have happened] */
	OP_CAS,     /* is given [from to], answers true or false [may have happened] */
	OP_COUNTS,  /* is given a number, 1 when there is none [may have happened] */
	OP_CHANGES, /* is given an element, answers true when that changed something, or nothing [may have happened] */
	OP_ASKS,    /* is given an element, answers true or false [nothing] */
	OP_LOCKS,   /* is given nothing; false: it did not happen [may have happened] */
	OP_TRIES,   /* is given nothing, answers true or false: it could not [may have happened] */
	OP_METHOD,  /* of a user's specification, which says the rest */
};

struct object_operation {
	uint8_t fn;
	enum op_shape shape;
	uint64_t also;     /* functions that mean this one here: FN_BIT(PUSH) | ... */
	const char *name;  /* as it is printed, NULL: as the function is; needed for an operation of its own */
	const char *words; /* other names of an operation of its own, separated by spaces; or NULL */
};

/* How it starts, and what --init may be. */
enum object_init { INIT_ANY, INIT_NUMBER, INIT_COUNT, INIT_HELD, INIT_LIST, INIT_SET, INIT_BOUND /* has no usual one */ };
enum { INIT_MOST_BOUND = 1000000000 };

enum object_trait {
	OBJECT_VALUE = 1,    /* reads tell the one value that a write leaves: registers and maps of them */
	OBJECT_APPENDS = 2,  /* appends make its value longer: later reads tell the order */
	OBJECT_ELEMENTS = 4, /* operations on different elements are independent */
	OBJECT_CHOOSES =
		8, /* what an operation does is not settled by the state before it: an answer that comes later tells states apart */
};

/* Which direct algorithm knows it (lin/check.c). */
enum object_direct { DIRECT_NONE, DIRECT_QUEUE, DIRECT_STACK, DIRECT_PQUEUE, DIRECT_SET };

struct spec;

struct object_type {
	const char *aliases;                /* other names in files, separated by spaces; or NULL */
	const char *operations;             /* for help */
	const struct object_operation *ops; /* ended by fn 0 */
	enum object_init init;
	uint32_t start; /* INIT_COUNT: the number unless told otherwise */
	unsigned traits;
	enum object_direct direct;
	const char *first; /* of a direct elimination: which end is taken off */
	uint8_t recorded;  /* enum intact_object (intact/history.h); 0: the recorder does not know it */
	const struct spec *spec;
};

#define OBJECT_EXTERN(NAME, row, name, own) extern const struct object_type object_##row;
OBJECT_ROWS(OBJECT_EXTERN)

extern const char *const object_names[]; /* by enum object, NULL-terminated; object_names[OBJ_GUESS] is "guess" */
/* The row; one without operations for OBJ_GUESS and OBJ_USER. */
const struct object_type *object_type(enum object o);
static inline bool object_has(enum object o, enum object_trait t)
{
	return (object_type(o)->traits & t) != 0;
}
/* OBJ_GUESS when no object has this name. */
enum object object_by_name(const char *s, size_t len);
/* The operation that a function means for the object, or NULL. */
const struct object_operation *object_operation(enum object o, uint32_t fn);
/* Operations of its own have the codes from FN_COUNT to below this. */
uint32_t object_own_end(enum object o);

/* fn_by_name knows the usual synonyms; FN_NONE when it does not. */
enum fn fn_by_name(const char *s, size_t len);
const char *fn_name(uint32_t f, enum object o);
/* The shape that a function has for most objects; that of an operation of an object's own. */
enum op_shape fn_shape(uint32_t f);
static inline bool shape_sees(enum op_shape s)
{
	return s == OP_READS || s == OP_PEEKS || s == OP_TAKES;
}

#endif
