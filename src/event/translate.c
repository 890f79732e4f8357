#include "event/translate_int.h"

#include <stdlib.h>
#include <string.h>

void *tr_grow(struct translate *t, void *p, uint32_t *cap, uint32_t want, size_t elem)
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
	for (uint32_t i = 0; i < t->nslots; i++) {
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

struct page *tr_page(struct translate *t, uint64_t addr, bool make)
{
	uint32_t at = map_get(&t->page_at, addr >> 12);
	if (at != MAP_NONE || !make)
		return at == MAP_NONE ? NULL : t->pages[at];
	t->pages = tr_grow(t, t->pages, &t->pages_cap, t->npages, sizeof *t->pages);
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
	struct page *p = tr_page(t, addr, true);
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

struct lock *tr_lock(struct translate *t, uint64_t addr)
{
	uint32_t i = map_get(&t->lock_at, addr);
	if (i != MAP_NONE)
		return &t->locks[i];
	i = t->nlocks;
	t->locks = tr_grow(t, t->locks, &t->locks_cap, i, sizeof *t->locks);
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
			struct lock *l = tr_lock(t, rec_addr(rec[i]));
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

/* ---- events ------------------------------------------------------------- */

void tr_put(struct translate *t, const struct thread *th, unsigned kind, uint32_t target,
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
void tr_first(struct translate *t, bool *renewed)
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
	if (slot >= t->nslots)
		t->nslots = slot + 1;
	if (!th->known)
		begin_thread(t, th, t->names->ns[NS_THREAD].len + 1);
	return th;
}

uint32_t tr_here(struct translate *t, const struct thread *th, uint64_t pc)
{
	uint32_t below = th->depth ? th->stack[th->depth - 1] : 0;
	return pc ? tr_loc(t, tr_push_stack(t, below, pc)) : LOC_NONE;
}

static void pop(struct translate *t, struct thread *th, uint64_t keep)
{
	if (keep < th->depth)
		th->depth = (uint32_t)keep;
	while (th->nmarks && th->nmarks <= MARKS && th->marks[th->nmarks - 1] > th->depth) {
		th->nmarks--;
		tr_put(t, th, EVENT_END, 0, LOC_NONE);
	}
}

static void push(struct translate *t, struct thread *th, struct rec r)
{
	pop(t, th, rec_keep(r));
	uint32_t below = th->depth ? th->stack[th->depth - 1] : 0;
	uint32_t cap = th->cap, cap2 = cap;
	if (th->depth >= 1 << 20)
		return;
	th->stack = tr_grow(t, th->stack, &cap, th->depth, sizeof *th->stack);
	th->pcs = tr_grow(t, th->pcs, &cap2, th->depth, sizeof *th->pcs);
	if (t->nomem)
		return;
	th->cap = cap;
	/* Where it was called from stands for the caller. */
	if (!(rec_arg(r) & REC_INLINED) && rec_pc(r) && th->depth)
		below = tr_push_stack(t, below, rec_addr(r));
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
			var = tr_name(t, NS_VAR, "", byte, p->life[cell % PAGE]) + 1;
			t->nomem |= !map_put(&t->part_var, byte, var);
		} else if (renewed) {
			var &= ~RENEWED;
			map_put(&t->part_var, byte, var);
		}
		tr_first(t, &renewed);
		tr_put(t, th, kind, var - 1, loc);
	}
}

static void access(struct translate *t, const struct thread *th, struct rec r)
{
	unsigned kind = rec_kind(r) & 1 ? EVENT_WRITE : EVENT_READ, mask = rec_arg(r);
	uint64_t cell = rec_addr(r) >> 3;
	struct page *p = tr_page(t, rec_addr(r), true);
	if (!p || !mask)
		return;
	uint32_t loc = tr_here(t, th, rec_pc(r)), *var = &p->var[cell % PAGE];
	if (!*var) {
		if (map_get(&t->part, cell) != MAP_NONE)
			*var = MIXED;
		else
			*var = tr_name(t, NS_VAR, "", cell << 3 | (unsigned)__builtin_ctz(mask),
			                p->life[cell % PAGE]) + 1;
	}
	if (*var == MIXED) {
		part_access(t, th, kind, p, cell, mask, loc);
	} else {
		tr_first(t, &p->renewed[cell % PAGE]);
		tr_put(t, th, kind, *var - 1, loc);
	}
}

/* ---- records ------------------------------------------------------------ */

static void create(struct translate *t, struct rec r)
{
	uint32_t slot = (uint32_t)(rec_addr(r) >> 32) & (REC_SLOTS - 1);
	struct thread *by = rec_slot(r) && rec_slot(r) != slot ? thread_of(t, rec_slot(r)) : NULL;
	if (slot >= t->nslots)
		t->nslots = slot + 1;
	begin_thread(t, &t->threads[slot], (uint32_t)rec_addr(r));
	if (by)
		tr_put(t, by, EVENT_FORK, t->threads[slot].id, tr_here(t, by, rec_pc(r)));
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
	tr_put(t, th, EVENT_BEGIN, label, tr_here(t, th, rec_pc(r)));
}

static void one(struct translate *t, struct rec r)
{
	unsigned kind = rec_kind(r);
	struct thread *th = rec_slot(r) ? thread_of(t, rec_slot(r)) : NULL;
	if (kind == REC_CREATE)
		create(t, r);
	else if (kind == REC_FORGET)
		tr_forget(t, rec_addr(r), rec_pc(r));
	else if (kind == REC_RENEW && map_get(&t->lock_at, rec_addr(r)) != MAP_NONE)
		tr_renew(t, tr_lock(t, rec_addr(r)));
	else if (!th)
		return;
	else if (kind <= REC_ATOMIC_WRITE)
		access(t, th, r);
	else if (kind == REC_ACQUIRE)
		tr_acquire(t, th, r);
	else if (kind == REC_RELEASE)
		tr_release(t, th, r);
	else if (kind == REC_END)
		tr_let_go(t, th);
	else if (kind == REC_PUSH)
		push(t, th, r);
	else if (kind == REC_POP)
		pop(t, th, rec_addr(r));
	else if (kind == REC_MARK)
		mark(t, th, r);
	else if (kind == REC_MARK_END && th->nmarks) {
		th->nmarks--;
		tr_put(t, th, EVENT_END, 0, LOC_NONE);
	} else if (kind == REC_JOIN && rec_addr(r) < REC_SLOTS && t->threads[rec_addr(r)].known &&
	           &t->threads[rec_addr(r)] != th) {
		tr_put(t, th, EVENT_JOIN, t->threads[rec_addr(r)].id, LOC_NONE);
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
