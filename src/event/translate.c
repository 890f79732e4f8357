#include "base/grow.h"
#include "event/translate_int.h"

#include <stdlib.h>
#include <string.h>

void *tr_grow(struct translate *t, void *p, uint32_t *cap, uint32_t want, size_t elem)
{
	t->nomem |= !grow32(&p, cap, want + 1ull, elem, NULL, GROW_ZERO | GROW_EIGHTHS);
	return p;
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
	map_init(&t->shape_at);
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
		free(t->threads[i].site);
		free(t->threads[i].stack);
	}
	struct map *maps[] = { &t->lock_at, &t->lock_page, &t->stacks, &t->pc_at };
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		map_free(maps[i]);
	tr_free_cells(t);
	free(t->looked);
	free(t->look_slot);
	free(t->locks);
	free(t->stack_up);
	free(t->stack_pc);
	free(t->pcs);
	free(t->loc);
	free(t->out);
	free(t);
}

/* ---- the first reading -------------------------------------------------- */

struct translate_lock *tr_lock(struct translate *t, uint64_t addr)
{
	uint32_t i = map_get(&t->lock_at, addr);
	if (i != MAP_NONE)
		return &t->locks[i];
	i = t->nlocks;
	t->locks = tr_grow(t, t->locks, &t->locks_cap, i, sizeof *t->locks);
	if (t->nomem)
		return NULL;
	uint32_t head = map_get(&t->lock_page, addr >> 12);
	t->locks[i] = (struct translate_lock){ .addr = addr, .id = NAME_FULL, .next = head == MAP_NONE ? 0 : head };
	t->nomem |= !map_put(&t->lock_at, addr, i) || !map_put(&t->lock_page, addr >> 12, i);
	t->nlocks++;
	return &t->locks[i];
}

/* Threads get numbers in the order in which translate_put meets them. */
static uint32_t look_thread(struct translate *t, uint32_t slot, bool begins)
{
	if (!t->look_slot)
		t->look_slot = calloc(REC_SLOTS, sizeof *t->look_slot);
	if (!t->look_slot) {
		t->nomem = true;
		return 0;
	}
	if (!t->look_slot[slot] || begins) {
		t->looked = tr_grow(t, t->looked, &t->looked_cap, t->nlooked, sizeof *t->looked);
		if (t->nomem)
			return 0;
		t->look_slot[slot] = ++t->nlooked;
	}
	return t->look_slot[slot] - 1;
}

/* A record of thread `number`. */
static void look_one(struct translate *t, uint32_t number, struct rec r)
{
	unsigned kind = rec_kind(r);
	if (kind <= REC_ATOMIC_WRITE) {
		struct looked *l = &t->looked[number];
		tr_look_access(t, number, rec_addr(r), rec_arg(r));
		if (!rec_arg(r))
			return;
		if (!l->accesses || l->joined)
			tr_look_several(t, rec_addr(r));
		l->accesses += !l->joined;
		l->at = rec_addr(r);
	} else if (kind == REC_ACQUIRE && rec_arg(r) & REC_SHARED) {
		struct translate_lock *l = tr_lock(t, rec_addr(r));
		if (l)
			l->shared = true;
	} else if (kind == REC_JOIN && rec_addr(r) < REC_SLOTS && rec_addr(r) != rec_slot(r) && t->look_slot[rec_addr(r)]) {
		struct looked *l = &t->looked[t->look_slot[rec_addr(r)] - 1];
		if (l->accesses && !l->joined)
			tr_look_several(t, l->at);
		l->joined = true;
	} else if (kind == REC_MARK) {
		t->marks = true;
	}
}

bool translate_look(struct translate *t, const struct rec *rec, size_t n)
{
	for (size_t i = 0; i < n && !t->nomem; i++) {
		unsigned kind = rec_kind(rec[i]), slot = rec_slot(rec[i]);
		if (kind == REC_TEXT) {
			i += rec_letters(rec[i]);
			continue;
		}
		uint32_t number = slot ? look_thread(t, slot, false) : 0;
		if (t->nomem)
			break;
		if (kind == REC_CREATE)
			look_thread(t, (uint32_t)(rec_addr(rec[i]) >> 32) & (REC_SLOTS - 1), true);
		else if (kind == REC_FORGET)
			tr_look_forget(t, rec_addr(rec[i]), rec_pc(rec[i]));
		else if (slot)
			look_one(t, number, rec[i]);
	}
	return !t->nomem;
}

void translate_leave(struct translate *t, enum leave leave)
{
	t->leave = leave;
}

uint64_t translate_index(const struct translate *t)
{
	return t->index;
}

void translate_symbols(struct translate *t, const struct symtab *s)
{
	t->symbols = s;
}

/* ---- events ------------------------------------------------------------- */

void tr_put(struct translate *t, struct translate_thread *th, unsigned kind, uint32_t target, uint32_t loc)
{
	if (!GROW_RAW(t->out, t->cap, t->n + 1)) {
		t->nomem = true;
		return;
	}
	t->out[t->n++] = (struct event){
		.index = ++t->index, .thread = th->id, .target = target, .loc = loc, .kind = (uint8_t)kind, .flags = t->flags
	};
	t->flags = 0;
	th->fresh = false;
}

/* The next event is the first of a variable or lock, when *renewed says so. */
void tr_first(struct translate *t, bool *renewed)
{
	if (*renewed)
		t->flags = EVENT_FIRST;
	*renewed = false;
}

static void begin_thread(struct translate *t, struct translate_thread *th, uint32_t number)
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
	th->known = th->fresh = true;
	th->joined = false;
	th->depth = th->nmarks = th->holds = 0;
	th->accesses = th->last = 0;
	if (th->id < t->nlooked && t->looked[th->id].joined)
		th->last = t->looked[th->id].accesses;
}

static struct translate_thread *thread_of(struct translate *t, uint32_t slot)
{
	struct translate_thread *th = &t->threads[slot];
	if (slot >= t->nslots)
		t->nslots = slot + 1;
	if (!th->known)
		begin_thread(t, th, t->names->ns[NS_THREAD].len + 1);
	return th;
}

/* The stack that what the thread does now is on top of. */
static uint32_t stack_below(struct translate *t, const struct translate_thread *th)
{
	uint32_t known = th->depth;
	while (known && th->stack[known - 1] == UNKNOWN)
		known--;
	uint32_t below = known ? th->stack[known - 1] : 0;
	for (; known < th->depth; known++) {
		if (th->site[known] != NO_SITE)
			below = tr_push_stack(t, below, th->site[known]);
		th->stack[known] = below;
	}
	return below;
}

uint32_t tr_here(struct translate *t, const struct translate_thread *th, uint64_t pc)
{
	if (!pc)
		return LOC_NONE;
	uint32_t below = stack_below(t, th);
	uint64_t key = (pc ^ (uint64_t)below << 32) * 0x9e3779b97f4a7c15ull;
	struct here *h = &t->here[(key >> 40) % HERES];
	if (h->pc != pc || h->below != below)
		*h = (struct here){ pc, below, tr_loc(t, tr_push_stack(t, below, pc)) };
	return h->loc;
}

static void end_block(struct translate *t, struct translate_thread *th)
{
	t->open -= !--th->nmarks;
	tr_put(t, th, EVENT_END, 0, LOC_NONE);
}

static void pop(struct translate *t, struct translate_thread *th, uint64_t keep)
{
	if (keep < th->depth)
		th->depth = (uint32_t)keep;
	while (th->nmarks && th->nmarks <= MARKS && th->marks[th->nmarks - 1] > th->depth)
		end_block(t, th);
}

static void push(struct translate *t, struct translate_thread *th, struct rec r)
{
	pop(t, th, rec_keep(r));
	uint32_t cap = th->cap, cap2 = cap;
	if (th->depth >= 1 << 20)
		return;
	th->stack = tr_grow(t, th->stack, &cap, th->depth, sizeof *th->stack);
	th->site = tr_grow(t, th->site, &cap2, th->depth, sizeof *th->site);
	if (t->nomem)
		return;
	th->cap = cap;
	/* The call site represents the caller. */
	bool called = !(rec_arg(r) & REC_INLINED) && rec_pc(r) && th->depth;
	th->site[th->depth] = called ? rec_addr(r) : NO_SITE;
	th->stack[th->depth++] = UNKNOWN;
}

/* ---- records ------------------------------------------------------------ */

static void create(struct translate *t, struct rec r)
{
	uint32_t slot = (uint32_t)(rec_addr(r) >> 32) & (REC_SLOTS - 1);
	struct translate_thread *by = rec_slot(r) && rec_slot(r) != slot ? thread_of(t, rec_slot(r)) : NULL;
	if (slot >= t->nslots)
		t->nslots = slot + 1;
	begin_thread(t, &t->threads[slot], (uint32_t)rec_addr(r));
	if (by)
		tr_put(t, by, EVENT_FORK, t->threads[slot].id, tr_here(t, by, rec_pc(r)));
}

static void mark(struct translate *t, struct translate_thread *th, struct rec r)
{
	uint32_t label = 0;
	if (rec_arg(r) & REC_NAMED) {
		label = names_add_safe(&t->names->ns[NS_LABEL], t->label, strlen(t->label));
		t->nomem |= label == NAME_FULL;
	}
	if (th->nmarks < MARKS)
		th->marks[th->nmarks] = th->depth;
	t->open += !th->nmarks++;
	tr_put(t, th, EVENT_BEGIN, label, tr_here(t, th, rec_pc(r)));
}

static void one(struct translate *t, struct rec r)
{
	unsigned kind = rec_kind(r);
	struct translate_thread *th = rec_slot(r) ? thread_of(t, rec_slot(r)) : NULL;
	if (kind == REC_CREATE)
		create(t, r);
	else if (kind == REC_FORGET)
		tr_forget(t, rec_addr(r), rec_pc(r));
	else if (kind == REC_RENEW && map_get(&t->lock_at, rec_addr(r)) != MAP_NONE)
		tr_renew(t, tr_lock(t, rec_addr(r)));
	else if (!th)
		return;
	else if (kind <= REC_ATOMIC_WRITE)
		tr_access(t, th, r);
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
	else if (kind == REC_MARK_END && th->nmarks)
		end_block(t, th);
	else if (kind == REC_JOIN && rec_addr(r) < REC_SLOTS && t->threads[rec_addr(r)].known && &t->threads[rec_addr(r)] != th) {
		tr_put(t, th, EVENT_JOIN, t->threads[rec_addr(r)].id, rec_pc(r) ? tr_here(t, th, rec_pc(r)) : LOC_NONE);
		t->threads[rec_addr(r)].joined = true;
	}
}

struct event *translate_some(struct translate *t, const struct rec *rec, size_t n, size_t max, size_t *used, size_t *count)
{
	size_t i = 0;
	t->n = 0;
	for (; i < n && t->n < max && !t->nomem; i++) {
		if (rec_kind(rec[i]) == REC_TEXT) {
			size_t len = rec_addr(rec[i]);
			memcpy(t->label, &rec[i + 1], len);
			t->label[len] = 0;
			i += rec_letters(rec[i]);
		} else {
			one(t, rec[i]);
		}
	}
	*used = i;
	*count = t->n;
	if (!t->out && !t->nomem)
		t->out = malloc(sizeof *t->out);
	return t->nomem ? NULL : t->out;
}

struct event *translate_put(struct translate *t, const struct rec *rec, size_t n, size_t *count)
{
	size_t used;
	return translate_some(t, rec, n, SIZE_MAX, &used, count);
}
