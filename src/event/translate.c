#include "event/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

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

static void *grow(struct translate *t, void *p, uint32_t *cap, uint32_t want, size_t elem)
{
	if (want < *cap)
		return p;
	uint32_t n = *cap ? *cap : 64;
	while (n <= want)
		n *= 2;
	char *q = realloc(p, n * elem);
	if (!q) {
		t->nomem = true;
		return p;
	}
	memset(q + *cap * elem, 0, (n - *cap) * elem);
	*cap = n;
	return q;
}

struct translate *translate_new(struct trace_names *names, enum lives lives)
{
	struct translate *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->names = names;
	t->lives = lives;
	map_init(&t->page_at);
	map_init(&t->lock_at);
	map_init(&t->lock_page);
	map_init(&t->part);
	map_init(&t->part_var);
	map_init(&t->stacks);
	map_init(&t->pc_at);
	t->nlocks = t->nstacks = 1;
	return t;
}

void translate_free(struct translate *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < REC_SLOTS; i++) {
		free(t->threads[i].pcs);
		free(t->threads[i].stack);
	}
	for (uint32_t i = 0; i < t->npages; i++)
		free(t->pages[i]);
	struct map *maps[] = { &t->page_at, &t->lock_at, &t->lock_page, &t->part, &t->part_var,
		               &t->stacks, &t->pc_at };
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		map_free(maps[i]);
	free(t->pages);
	free(t->locks);
	free(t->stack_up);
	free(t->stack_pc);
	free(t->pcs);
	free(t->loc);
	free(t->out);
	free(t);
}

/* ---- memory ------------------------------------------------------------- */

static struct page *page_of(struct translate *t, uint64_t addr, bool make)
{
	uint32_t at = map_get(&t->page_at, addr >> 12);
	if (at != MAP_NONE || !make)
		return at == MAP_NONE ? NULL : t->pages[at];
	t->pages = grow(t, t->pages, &t->pages_cap, t->npages, sizeof *t->pages);
	struct page *p = t->nomem ? NULL : calloc(1, sizeof *p);
	if (!p || !map_put(&t->page_at, addr >> 12, t->npages)) {
		free(p);
		t->nomem = true;
		return NULL;
	}
	p->number = addr >> 12;
	t->pages[t->npages++] = p;
	return p;
}

/* The parts of a cell: bytes with equal numbers are always used together. */
static uint32_t refine(uint32_t parts, unsigned mask)
{
	uint32_t out = 0;
	unsigned old[8], in[8], now[8], n = 0;
	for (unsigned b = 0; b < 8; b++) {
		old[b] = parts >> 4 * b & 15;
		in[b] = mask >> b & 1;
		unsigned k = 0;
		while (k < b && (old[k] != old[b] || in[k] != in[b]))
			k++;
		now[b] = k < b ? now[k] : n++;
		out |= (uint32_t)now[b] << 4 * b;
	}
	return out;
}

static void look_access(struct translate *t, uint64_t addr, unsigned mask)
{
	struct page *p = page_of(t, addr, true);
	uint64_t cell = addr >> 3;
	if (!p || !mask)
		return;
	uint8_t *first = &p->mask[cell % PAGE];
	if (!*first)
		*first = (uint8_t)mask;
	if (*first == mask)
		return;
	uint32_t parts = map_get(&t->part, cell);
	parts = refine(parts == MAP_NONE ? refine(0, *first) : parts, mask);
	t->nomem |= !map_put(&t->part, cell, parts);
}

static struct lock *lock_of(struct translate *t, uint64_t addr)
{
	uint32_t i = map_get(&t->lock_at, addr);
	if (i != MAP_NONE)
		return &t->locks[i];
	i = t->nlocks;
	t->locks = grow(t, t->locks, &t->locks_cap, i, sizeof *t->locks);
	if (t->nomem)
		return NULL;
	uint32_t head = map_get(&t->lock_page, addr >> 12);
	t->locks[i] = (struct lock){ .addr = addr, .id = NAME_FULL,
		                     .next = head == MAP_NONE ? 0 : head };
	t->nomem |= !map_put(&t->lock_at, addr, i) || !map_put(&t->lock_page, addr >> 12, i);
	t->nlocks++;
	return &t->locks[i];
}

bool translate_look(struct translate *t, const struct rec *rec, size_t n)
{
	for (size_t i = 0; i < n && !t->nomem; i++) {
		unsigned kind = rec_kind(rec[i]);
		if (kind <= REC_ATOMIC_WRITE) {
			look_access(t, rec_addr(rec[i]), rec_arg(rec[i]));
		} else if (kind == REC_ACQUIRE && rec_arg(rec[i]) & REC_SHARED) {
			struct lock *l = lock_of(t, rec_addr(rec[i]));
			if (l)
				l->shared = true;
		} else if (kind == REC_TEXT) {
			i += rec_letters(rec[i]);
		}
	}
	return !t->nomem;
}

void translate_symbols(struct translate *t, const struct symtab *s)
{
	t->symbols = s;
}

/* ---- names -------------------------------------------------------------- */

/* `what` and the variable's name or its address, `life` when it is not the
 * first there. */
static uint32_t add_name(struct translate *t, enum name_space ns, const char *what,
                         uint64_t addr, uint32_t life)
{
	struct names *n = &t->names->ns[ns];
	const struct sym_data *d = t->symbols ? symtab_data(t->symbols, addr) : NULL;
	struct buf b;
	bool ok;
	if (t->lives != LIVES_NAMED)
		life = 0;
	if (!d && !life && !*what) {
		ok = names_append_addr(n, addr);
	} else {
		buf_init(&b);
		buf_str(&b, what);
		if (d)
			buf_str(&b, d->name);
		else
			buf_printf(&b, "0x%llx", (unsigned long long)addr);
		if (d && addr != d->addr)
			buf_printf(&b, "+%llu", (unsigned long long)(addr - d->addr));
		if (life)
			buf_printf(&b, "#%u", life + 1);
		size_t len = b.len < NAME_MAX_LEN ? b.len : NAME_MAX_LEN;
		ok = names_append(n, buf_cstr(&b), len) && !b.failed;
		buf_free(&b);
	}
	t->nomem |= !ok;
	return ok ? n->len - 1 : 0;
}

static uint32_t push_stack(struct translate *t, uint32_t stack, uint64_t pc)
{
	uint32_t number = t->npcs, id = t->nstacks;
	if (id >= MAX_STACKS)
		return stack;
	if (!map_intern(&t->pc_at, pc, &number)) {
		t->nomem = true;
		return stack;
	}
	if (number == t->npcs) {
		t->pcs = grow(t, t->pcs, &t->pcs_cap, t->npcs, sizeof *t->pcs);
		if (t->nomem)
			return stack;
		t->pcs[t->npcs++] = pc;
	}
	if (!map_intern(&t->stacks, (uint64_t)stack << 32 | number, &id)) {
		t->nomem = true;
		return stack;
	}
	if (id < t->nstacks)
		return id;
	uint32_t cap = t->stacks_cap, cap2 = cap, cap3 = cap;
	t->stack_up = grow(t, t->stack_up, &cap, id, sizeof *t->stack_up);
	t->stack_pc = grow(t, t->stack_pc, &cap2, id, sizeof *t->stack_pc);
	t->loc = grow(t, t->loc, &cap3, id, sizeof *t->loc);
	if (t->nomem)
		return stack;
	t->stacks_cap = cap;
	t->stack_up[id] = stack;
	t->stack_pc[id] = number;
	t->nstacks++;
	return id;
}

static void show_pc(const struct translate *t, uint64_t pc, struct buf *b)
{
	const struct sym_addr *a = t->symbols ? symtab_addr(t->symbols, pc - 1) : NULL;
	bool any = false;
	for (uint32_t i = 0; a && i < a->n; i++) {
		const struct sym_frame *f = &t->symbols->frames[a->first + i];
		if (f->system || !f->file)
			continue;
		if (b->len)
			buf_char(b, '\n');
		const char *slash = strrchr(f->file, '/');
		buf_printf(b, "%s:%u %s", slash ? slash + 1 : f->file, f->line,
		           f->function ? f->function : "?");
		any = true;
	}
	if (!any && !a) {
		if (b->len)
			buf_char(b, '\n');
		buf_printf(b, "0x%llx", (unsigned long long)pc);
	}
}

/* The place for a stack, made into text when it is first needed. */
static uint32_t loc_of(struct translate *t, uint32_t stack)
{
	struct buf b;
	if (!stack || t->nomem)
		return LOC_NONE;
	if (t->loc[stack])
		return LOC_TEXT | (t->loc[stack] - 1);
	buf_init(&b);
	uint32_t s = stack;
	for (unsigned n = 0; s && n < FRAMES && b.len < NAME_MAX_LEN - 512; n++, s = t->stack_up[s])
		show_pc(t, t->pcs[t->stack_pc[s]], &b);
	uint32_t id = names_add_safe(&t->names->ns[NS_LOC], buf_cstr(&b),
	                             b.len < NAME_MAX_LEN ? b.len : NAME_MAX_LEN);
	buf_free(&b);
	if (id == NAME_FULL || id >= LOC_TEXT - 1)
		return LOC_NONE;
	t->loc[stack] = id + 1;
	return LOC_TEXT | id;
}

/* ---- events ------------------------------------------------------------- */

static void put(struct translate *t, const struct thread *th, unsigned kind, uint32_t target,
                uint32_t loc)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 4096;
		struct event *v = realloc(t->out, cap * sizeof *v);
		if (!v) {
			t->nomem = true;
			return;
		}
		t->out = v;
		t->cap = cap;
	}
	t->out[t->n++] = (struct event){ .index = ++t->index, .thread = th->id, .target = target,
		                         .loc = loc, .kind = (uint8_t)kind,
		                         .flags = t->flags };
	t->flags = 0;
}

/* The next event is the first of a variable or lock, when *renewed says so. */
static void first_of(struct translate *t, bool *renewed)
{
	if (*renewed)
		t->flags = EVENT_FIRST;
	*renewed = false;
}

static void begin_thread(struct translate *t, struct thread *th, uint32_t number)
{
	struct buf b;
	buf_init(&b);
	if (number == 1)
		buf_str(&b, "main");
	else
		buf_printf(&b, "T%u", number - 1);
	t->nomem |= !names_append(&t->names->ns[NS_THREAD], buf_cstr(&b), b.len);
	buf_free(&b);
	th->id = t->names->ns[NS_THREAD].len - 1;
	th->known = true;
	th->depth = th->nmarks = th->holds = 0;
}

static struct thread *thread_of(struct translate *t, uint32_t slot)
{
	struct thread *th = &t->threads[slot];
	if (!th->known)
		begin_thread(t, th, t->names->ns[NS_THREAD].len + 1);
	return th;
}

static uint32_t here(struct translate *t, const struct thread *th, uint64_t pc)
{
	uint32_t below = th->depth ? th->stack[th->depth - 1] : 0;
	return pc ? loc_of(t, push_stack(t, below, pc)) : LOC_NONE;
}

static void pop(struct translate *t, struct thread *th, uint64_t keep)
{
	if (keep < th->depth)
		th->depth = (uint32_t)keep;
	while (th->nmarks && th->nmarks <= MARKS && th->marks[th->nmarks - 1] > th->depth) {
		th->nmarks--;
		put(t, th, EVENT_END, 0, LOC_NONE);
	}
}

static void push(struct translate *t, struct thread *th, struct rec r)
{
	pop(t, th, rec_keep(r));
	uint32_t below = th->depth ? th->stack[th->depth - 1] : 0;
	uint32_t cap = th->cap, cap2 = cap;
	if (th->depth >= 1 << 20)
		return;
	th->stack = grow(t, th->stack, &cap, th->depth, sizeof *th->stack);
	th->pcs = grow(t, th->pcs, &cap2, th->depth, sizeof *th->pcs);
	if (t->nomem)
		return;
	th->cap = cap;
	/* Where it was called from stands for the caller. */
	if (!(rec_arg(r) & REC_INLINED) && rec_pc(r) && th->depth)
		below = push_stack(t, below, rec_addr(r));
	th->pcs[th->depth] = rec_pc(r);
	th->stack[th->depth++] = below;
}

static void part_access(struct translate *t, const struct thread *th, unsigned kind,
                        const struct page *p, uint64_t cell, unsigned mask, uint32_t loc)
{
	uint32_t parts = map_get(&t->part, cell), done = 0;
	for (unsigned b = 0; b < 8; b++) {
		unsigned part = parts >> 4 * b & 15;
		if (!(mask >> b & 1) || done >> part & 1)
			continue;
		done |= 1u << part;
		uint64_t byte = cell << 3 | b;
		uint32_t var = map_get(&t->part_var, byte);
		bool renewed = var != MAP_NONE && var & RENEWED;
		if (var == MAP_NONE || !var) {
			var = add_name(t, NS_VAR, "", byte, p->life[cell % PAGE]) + 1;
			t->nomem |= !map_put(&t->part_var, byte, var);
		} else if (renewed) {
			var &= ~RENEWED;
			map_put(&t->part_var, byte, var);
		}
		first_of(t, &renewed);
		put(t, th, kind, var - 1, loc);
	}
}

static void access(struct translate *t, const struct thread *th, struct rec r)
{
	unsigned kind = rec_kind(r) & 1 ? EVENT_WRITE : EVENT_READ, mask = rec_arg(r);
	uint64_t cell = rec_addr(r) >> 3;
	struct page *p = page_of(t, rec_addr(r), true);
	if (!p || !mask)
		return;
	uint32_t loc = here(t, th, rec_pc(r)), *var = &p->var[cell % PAGE];
	if (!*var) {
		if (map_get(&t->part, cell) != MAP_NONE)
			*var = MIXED;
		else
			*var = add_name(t, NS_VAR, "", cell << 3 | (unsigned)__builtin_ctz(mask),
			                p->life[cell % PAGE]) + 1;
	}
	if (*var == MIXED) {
		part_access(t, th, kind, p, cell, mask, loc);
	} else {
		first_of(t, &p->renewed[cell % PAGE]);
		put(t, th, kind, *var - 1, loc);
	}
}

/* ---- locks -------------------------------------------------------------- */

static void lock_access(struct translate *t, const struct thread *th, struct lock *l,
                        unsigned kind, uint32_t loc)
{
	if (!l->var)
		l->var = add_name(t, NS_VAR, "lock:", l->addr, l->life) + 1;
	first_of(t, &l->var_renewed);
	put(t, th, kind, l->var - 1, loc);
}

static void acquire(struct translate *t, struct thread *th, struct rec r)
{
	struct lock *l = lock_of(t, rec_addr(r));
	uint32_t loc = here(t, th, rec_pc(r));
	if (!l || t->nomem)
		return;
	if (rec_arg(r) & REC_SHARED) {
		lock_access(t, th, l, EVENT_READ, loc);
		return;
	}
	if (l->id == NAME_FULL)
		l->id = add_name(t, NS_LOCK, "", l->addr, l->life);
	if (l->holder && l->holder != th->id + 1) {
		/* Its holder let go unseen. */
		struct thread gone = { .id = l->holder - 1 };
		for (; l->depth; l->depth--)
			put(t, &gone, EVENT_REL, l->id, LOC_NONE);
	}
	th->holds += !l->depth;
	l->holder = th->id + 1;
	l->depth++;
	first_of(t, &l->renewed);
	put(t, th, EVENT_ACQ, l->id, loc);
	if (l->shared)
		lock_access(t, th, l, EVENT_WRITE, loc);
}

static void release(struct translate *t, struct thread *th, struct rec r)
{
	struct lock *l = lock_of(t, rec_addr(r));
	uint32_t loc = here(t, th, rec_pc(r));
	if (!l || t->nomem)
		return;
	if (l->holder != th->id + 1) {
		if (l->shared)
			lock_access(t, th, l, EVENT_READ, loc);
		return;
	}
	uint32_t times = rec_arg(r) & REC_WAIT ? l->depth : 1;
	if (l->shared)
		lock_access(t, th, l, EVENT_WRITE, loc);
	for (; times; times--, l->depth--)
		put(t, th, EVENT_REL, l->id, loc);
	if (!l->depth) {
		l->holder = 0;
		th->holds -= th->holds > 0;
	}
}

/* What a thread still has when it ends (a robust mutex) others can take. */
static void let_go(struct translate *t, struct thread *th)
{
	for (uint32_t i = 1; th->holds && i < t->nlocks; i++) {
		struct lock *l = &t->locks[i];
		if (l->holder != th->id + 1)
			continue;
		for (; l->depth; l->depth--)
			put(t, th, EVENT_REL, l->id, LOC_NONE);
		l->holder = 0;
		th->holds--;
	}
	th->holds = 0;
}

/* Another object lives there from now on, unless the old one is in use. */
static void renew(const struct translate *t, struct lock *l)
{
	if (l->holder || (l->id == NAME_FULL && !l->var))
		return;
	if (t->lives == LIVES_REUSED) {
		l->renewed = l->id != NAME_FULL;
		l->var_renewed = l->var != 0;
		return;
	}
	l->id = NAME_FULL;
	l->var = 0;
	l->life++;
}

static void forget_parts(struct translate *t, uint64_t cell)
{
	for (unsigned b = 0; b < 8; b++) {
		uint32_t var = map_get(&t->part_var, cell << 3 | b);
		if (var != MAP_NONE && var)
			map_put(&t->part_var, cell << 3 | b, t->lives == LIVES_REUSED ? var | RENEWED : 0);
	}
}

static void forget_cells(struct translate *t, struct page *p, uint64_t from, uint64_t to)
{
	for (uint64_t cell = from; cell < to; cell++) {
		uint32_t *var = &p->var[cell % PAGE];
		if (!*var)
			continue;
		if (*var == MIXED)
			forget_parts(t, cell);
		if (t->lives == LIVES_REUSED) {
			p->renewed[cell % PAGE] = true;
			continue;
		}
		p->life[cell % PAGE]++;
		*var = 0;
	}
}

static void forget_page(struct translate *t, struct page *p, uint64_t from, uint64_t to)
{
	uint64_t lo = p->number * PAGE, hi = lo + PAGE;
	forget_cells(t, p, from > lo ? from : lo, to < hi ? to : hi);
}

static void forget(struct translate *t, uint64_t addr, uint64_t size)
{
	uint64_t from = (addr + 7) >> 3, to = (addr + size) >> 3;
	if (to <= from)
		return;
	uint64_t first = from / PAGE, last = (to - 1) / PAGE;
	if (last - first >= t->npages) {
		for (uint32_t i = 0; i < t->npages; i++)
			if (t->pages[i]->number >= first && t->pages[i]->number <= last)
				forget_page(t, t->pages[i], from, to);
	} else {
		for (uint64_t n = first; n <= last; n++) {
			struct page *p = page_of(t, n << 12, false);
			if (p)
				forget_page(t, p, from, to);
		}
	}
	if (last - first >= t->nlocks) {
		for (uint32_t i = 1; i < t->nlocks; i++)
			if (t->locks[i].addr - addr < size)
				renew(t, &t->locks[i]);
		return;
	}
	for (uint64_t n = first; n <= last; n++) {
		uint32_t i = map_get(&t->lock_page, n);
		for (; i != MAP_NONE && i; i = t->locks[i].next)
			if (t->locks[i].addr - addr < size)
				renew(t, &t->locks[i]);
	}
}

/* ---- records ------------------------------------------------------------ */

static void create(struct translate *t, struct rec r)
{
	uint32_t slot = (uint32_t)(rec_addr(r) >> 32) & (REC_SLOTS - 1);
	struct thread *by = rec_slot(r) && rec_slot(r) != slot ? thread_of(t, rec_slot(r)) : NULL;
	begin_thread(t, &t->threads[slot], (uint32_t)rec_addr(r));
	if (by)
		put(t, by, EVENT_FORK, t->threads[slot].id, here(t, by, rec_pc(r)));
}

static void mark(struct translate *t, struct thread *th, struct rec r)
{
	uint32_t label = 0;
	if (rec_arg(r) & REC_NAMED) {
		label = names_add_safe(&t->names->ns[NS_LABEL], t->label, strlen(t->label));
		t->nomem |= label == NAME_FULL;
	}
	if (th->nmarks < MARKS)
		th->marks[th->nmarks] = th->depth;
	th->nmarks++;
	put(t, th, EVENT_BEGIN, label, here(t, th, rec_pc(r)));
}

static void one(struct translate *t, struct rec r)
{
	unsigned kind = rec_kind(r);
	struct thread *th = rec_slot(r) ? thread_of(t, rec_slot(r)) : NULL;
	if (kind == REC_CREATE)
		create(t, r);
	else if (kind == REC_FORGET)
		forget(t, rec_addr(r), rec_pc(r));
	else if (kind == REC_RENEW && map_get(&t->lock_at, rec_addr(r)) != MAP_NONE)
		renew(t, lock_of(t, rec_addr(r)));
	else if (!th)
		return;
	else if (kind <= REC_ATOMIC_WRITE)
		access(t, th, r);
	else if (kind == REC_ACQUIRE)
		acquire(t, th, r);
	else if (kind == REC_RELEASE)
		release(t, th, r);
	else if (kind == REC_END)
		let_go(t, th);
	else if (kind == REC_PUSH)
		push(t, th, r);
	else if (kind == REC_POP)
		pop(t, th, rec_addr(r));
	else if (kind == REC_MARK)
		mark(t, th, r);
	else if (kind == REC_MARK_END && th->nmarks) {
		th->nmarks--;
		put(t, th, EVENT_END, 0, LOC_NONE);
	} else if (kind == REC_JOIN && rec_addr(r) < REC_SLOTS && t->threads[rec_addr(r)].known &&
	           &t->threads[rec_addr(r)] != th) {
		put(t, th, EVENT_JOIN, t->threads[rec_addr(r)].id, LOC_NONE);
	}
}

struct event *translate_put(struct translate *t, const struct rec *rec, size_t n, size_t *count)
{
	t->n = 0;
	for (size_t i = 0; i < n && !t->nomem; i++) {
		if (rec_kind(rec[i]) == REC_TEXT) {
			size_t len = rec_addr(rec[i]);
			memcpy(t->label, &rec[i + 1], len);
			t->label[len] = 0;
			i += rec_letters(rec[i]);
		} else {
			one(t, rec[i]);
		}
	}
	*count = t->n;
	if (!t->out && !t->nomem)
		t->out = malloc(sizeof *t->out);
	return t->nomem ? NULL : t->out;
}
