/*
 * translate_int: what the parts of the translation share (translate.h explains
 * it): translate.c has the records, accesses and threads, translate_locks.c locks
 * and memory that is given back, translate_names.c names and places.
 *
 * Whoever runs out of memory sets `nomem`; the records in hand are then given up.
 */
#ifndef INTACT_EVENT_TRANSLATE_INT_H
#define INTACT_EVENT_TRANSLATE_INT_H

#include "base/map.h"
#include "event/translate.h"

enum { PAGE = 512, MARKS = 64, FRAMES = 64, MAX_STACKS = 1 << 20 };
#define MIXED UINT32_MAX
#define RENEWED (UINT32_C(1) << 31) /* in part_var; no name has such an id */

/* 4 KiB of the program's memory, eight bytes a cell. */
struct page {
	uint64_t number;
	uint8_t mask[PAGE];    /* bytes of the first access; 0: none */
	uint32_t var[PAGE];    /* 0: none yet; id + 1; MIXED: several, see `part` */
	uint16_t life[PAGE];   /* times its memory was given back */
	bool renewed[PAGE];    /* and not used since; LIVES_REUSED */
};

struct lock {
	uint64_t addr;
	uint32_t id, next;     /* next: of its page, 0: last */
	uint32_t holder, depth; /* thread + 1 */
	uint32_t life;
	uint32_t var;          /* of a reader-writer lock, + 1 */
	bool shared;           /* some take it as readers */
	bool renewed, var_renewed;
};

struct thread {
	bool known;
	uint32_t id;
	uint64_t *pcs;         /* of the functions it is in */
	uint32_t *stack;       /* and the stack at each: of the caller's side */
	uint32_t depth, cap;
	uint32_t marks[MARKS]; /* depth at each */
	uint32_t nmarks;
	uint32_t holds;        /* locks it has */
};

struct translate {
	struct trace_names *names;
	const struct symtab *symbols;
	struct map page_at, lock_at, lock_page; /* pages; locks by address, page */
	struct page **pages;
	uint32_t npages, pages_cap;
	struct map part;       /* cell -> parts (8 numbers of 4 bits) */
	struct map part_var;   /* first byte of a part -> variable + 1 */
	struct lock *locks;    /* [0] unused */
	uint32_t nlocks, locks_cap;
	struct thread threads[REC_SLOTS];
	uint32_t nslots;       /* those below may have been used */
	struct map stacks;     /* stack << 32 | number of a counter -> stack */
	struct map pc_at;
	uint32_t *stack_up, *stack_pc; /* a stack: the one below it, its counter */
	uint64_t *pcs;
	uint32_t nstacks, stacks_cap, npcs, pcs_cap;
	uint32_t *loc;         /* by stack: place + 1 */
	struct event *out;
	size_t n, cap;
	uint64_t index;
	char label[REC_TEXT_MAX + 1];
	bool nomem;
	enum lives lives;
	uint8_t flags;         /* of the next event */
};

/* Makes element `want` of an array exist, zeroed. */
void *tr_grow(struct translate *t, void *p, uint32_t *cap, uint32_t want, size_t elem);
/* The page of an address, made when asked for; NULL: none. */
struct page *tr_page(struct translate *t, uint64_t addr, bool make);
/* The lock at an address, made when new; NULL: out of memory. */
struct lock *tr_lock(struct translate *t, uint64_t addr);

/* An event; where the thread is; its variable or lock is a new one when *renewed
 * says so. */
void tr_put(struct translate *t, const struct thread *th, unsigned kind, uint32_t target,
            uint32_t loc);
uint32_t tr_here(struct translate *t, const struct thread *th, uint64_t pc);
void tr_first(struct translate *t, bool *renewed);

/* ---- translate_locks.c ---- */
void tr_acquire(struct translate *t, struct thread *th, struct rec r);
void tr_release(struct translate *t, struct thread *th, struct rec r);
/* What a thread still has when it ends others can take. */
void tr_let_go(struct translate *t, struct thread *th);
/* Another object lives there from now on, unless the old one is in use. */
void tr_renew(const struct translate *t, struct lock *l);
void tr_forget(struct translate *t, uint64_t addr, uint64_t size);

/* ---- translate_names.c ---- */
uint32_t tr_name(struct translate *t, enum name_space ns, const char *what, uint64_t addr,
                 uint32_t life);
uint32_t tr_push_stack(struct translate *t, uint32_t stack, uint64_t pc);
/* The place for a stack. */
uint32_t tr_loc(struct translate *t, uint32_t stack);

#endif
