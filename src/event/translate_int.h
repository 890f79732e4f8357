/*
 * translate_int: what the parts of the translation share (translate.h explains
 * it): translate.c has the records and threads, translate_cells.c accesses and
 * the memory they are to, translate_locks.c locks, translate_names.c names and
 * places.
 *
 * A function that runs out of memory sets `nomem`; the current records are then
 * dropped.
 */
#ifndef INTACT_EVENT_TRANSLATE_INT_H
#define INTACT_EVENT_TRANSLATE_INT_H

#include "base/map.h"
#include "event/translate.h"

enum { PAGE = 512, MARKS = 64, FRAMES = 64, MAX_STACKS = 1 << 20, NEAR_PAGES = 2048, HERES = 4096 };
#define SEVERAL UINT16_MAX
#define RENEWED (UINT32_C(1) << 31) /* in variables; no name has such an id */
#define UNKNOWN UINT32_MAX          /* a stack not asked for yet */
#define NO_SITE UINT64_MAX

/* 4 KiB of the program's memory, eight bytes per cell. `var` and `life` are there
 * when they are needed. */
struct page {
	uint64_t number;
	uint32_t *var;        /* 0: none yet; variable + 1, RENEWED: given back and
	                          not used since (LIVES_REUSED); of a split cell the
	                          index of its `splits` */
	uint16_t *life;       /* times its memory was given back; LIVES_NAMED */
	uint16_t shape[PAGE]; /* translate_cells.c */
	uint16_t owner[PAGE]; /* number of its only thread + 1; SEVERAL; 0: none */
};

/* The variables of a split cell, each at its first byte; as those of `var`. */
struct split {
	uint32_t var[8];
};

/* What the first reading learnt of a thread, by its number. */
struct looked {
	uint64_t accesses; /* up to when it was first waited for */
	uint64_t at;       /* where the last of them was to */
	bool joined;
};

struct shape;

struct translate_lock {
	uint64_t addr;
	uint32_t id, next;      /* next: of its page, 0: last */
	uint32_t holder, depth; /* thread + 1 */
	uint32_t life;
	uint32_t var; /* of a reader-writer lock, + 1 */
	bool shared;  /* some take it as readers */
	bool renewed, var_renewed;
};

struct translate_thread {
	bool known;
	uint32_t id;
	bool fresh; /* has no event yet, or none since it was forked */
	bool joined;
	uint64_t accesses, last; /* last: its last access before it was waited for */
	uint64_t *site;          /* of the functions it is in: where they return to */
	uint32_t *stack;         /* and the stack at each: of the caller's side */
	uint32_t depth, cap;
	uint32_t marks[MARKS]; /* depth at each */
	uint32_t nmarks;
	uint32_t holds; /* locks it has */
};

struct translate {
	struct trace_names *names;
	const struct symtab *symbols;
	struct map page_at, lock_at, lock_page; /* pages; locks by address, page */
	struct page **pages;
	uint32_t npages, pages_cap;
	struct near {
		uint64_t number;
		struct page *page;
	} near[NEAR_PAGES];    /* recently used pages */
	struct shape **shapes; /* [0]: of a cell that was not used */
	uint32_t nshapes, shapes_cap;
	struct map shape_at;
	struct split *splits; /* [0] unused */
	uint32_t nsplits, splits_cap;
	struct looked *looked; /* by number of the thread */
	uint32_t nlooked, looked_cap;
	uint32_t *look_slot;          /* number + 1 of the thread in a slot */
	bool marks;                   /* there are blocks */
	uint32_t open;                /* threads in a block, ended ones included */
	uint32_t nown;                /* numbers given to what one thread alone uses */
	struct translate_lock *locks; /* [0] unused */
	uint32_t nlocks, locks_cap;
	struct translate_thread threads[REC_SLOTS];
	uint32_t nslots;   /* those below may have been used */
	struct map stacks; /* stack << 32 | number of a counter -> stack */
	struct map pc_at;
	uint32_t *stack_up, *stack_pc; /* a stack: the one below it, its counter */
	uint64_t *pcs;
	uint32_t nstacks, stacks_cap, npcs, pcs_cap;
	uint32_t *loc; /* by stack: place + 1 */
	struct here {
		uint64_t pc;
		uint32_t below, loc;
	} here[HERES]; /* recently used places */
	struct event *out;
	size_t n, cap;
	uint64_t index;
	char label[REC_TEXT_MAX + 1];
	bool nomem;
	enum lives lives;
	enum leave leave;
	uint8_t flags; /* of the next event */
};

/* Makes element `want` of an array exist, zeroed. */
void *tr_grow(struct translate *t, void *p, uint32_t *cap, uint32_t want, size_t elem);
/* The lock at an address, made when new; NULL: out of memory. */
struct translate_lock *tr_lock(struct translate *t, uint64_t addr);

/* An event; where the thread is; its variable or lock is a new one when *renewed
 * says so. */
void tr_put(struct translate *t, struct translate_thread *th, unsigned kind, uint32_t target, uint32_t loc);
uint32_t tr_here(struct translate *t, const struct translate_thread *th, uint64_t pc);
void tr_first(struct translate *t, bool *renewed);

/* ---- translate_cells.c ---- */
/* The first reading: thread `number` accesses bytes `mask` of a cell; the cell is
 * taken for that of several; memory is given back. */
void tr_look_access(struct translate *t, uint32_t number, uint64_t addr, unsigned mask);
void tr_look_several(struct translate *t, uint64_t addr);
void tr_look_forget(struct translate *t, uint64_t addr, uint64_t size);
/* The second. */
void tr_access(struct translate *t, struct translate_thread *th, struct rec r);
void tr_forget_cells(struct translate *t, uint64_t addr, uint64_t size);
void tr_free_cells(struct translate *t);

/* ---- translate_locks.c ---- */
void tr_acquire(struct translate *t, struct translate_thread *th, struct rec r);
void tr_release(struct translate *t, struct translate_thread *th, struct rec r);
/* What a thread still has when it ends others can take. */
void tr_let_go(struct translate *t, struct translate_thread *th);
/* Another object lives there from now on, unless the old one is in use. */
void tr_renew(const struct translate *t, struct translate_lock *l);
void tr_forget(struct translate *t, uint64_t addr, uint64_t size);

/* ---- translate_names.c ---- */
uint32_t tr_name(struct translate *t, enum name_space ns, const char *what, uint64_t addr, uint32_t life);
uint32_t tr_push_stack(struct translate *t, uint32_t stack, uint64_t pc);
/* The place for a stack. */
uint32_t tr_loc(struct translate *t, uint32_t stack);

#endif
