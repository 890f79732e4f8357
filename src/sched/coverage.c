/*
 * coverage: which traces were seen, and which pairs of places in which order.
 *
 * The hash of a trace is a hash of its happens-before: each event's hash is
 * made of its label, the hash of its thread's event before and the hashes of
 * the events it depends on; the trace's hash is the sum over threads of the
 * last one's. Equivalent runs have equal hashes, others differ except for
 * collisions (2^-64 per pair). (Except that a read of a thread and the flush of its own
 * store are ordered here and not in op.h: such traces may be counted twice. And a free
 * is ordered with frees of the same block only: where anything else in it comes after the free, the run fails.)
 *
 * For an object, operations are of three modes (op.h's classes): A and B, each
 * independent of its own mode and dependent with all others, and X, dependent
 * with all. So an object's state is the hash of its last X and the sums of the
 * A and the B since. Memory is an object for each 8-byte granule as long as
 * every access to it has the same address and size; a granule where they differ
 * is `mixed`, kept as eight objects, and the run is hashed again.
 *
 * Seen traces are a hash set of 62 bits and a count up to 3 (once and twice
 * are what Chao's and Good and Turing's estimates need). Of sampled runs the first HASH_ALL are all hashed, later ones one in HASH_ONE_IN, drawn by their
 * number: the estimates hold for a sample, and the count is a lower bound. It grows: the table of
 * size n is the words n to 2n of its memory. Traces are put in by the hundred: the
 * table is larger than caches are, and so the waits for its lines overlap.
 */
#include "base/invariant.h"
#include "sched/session.h"

enum { HASH_ALL = 1 << 16, HASH_ONE_IN = 8 };
enum { OBJECTS_MIN = 1024, SEEN_MIN = 4096, BATCH = 128, MEMO = 256, OBJECT_BIT = 62, WORDS_MAX = 64 };

struct coverage_object {
	uint64_t key; /* address or id; bit 63: a byte of a mixed granule */
	uint64_t x, a, b;
	uint64_t x_pc, r_pc; /* places of the last X and the last A */
	uint16_t x_thread, r_thread;
	uint32_t run; /* the entry is of this run, else it is empty except for mixed */
	uint8_t from; /* memory: address & 7 | size << 3 */
	bool mixed;
};
_Static_assert(sizeof(struct coverage_object) == 64 && SCHED_THREADS_MAX <= 1 << 16, "one line");

struct coverage_pair {
	uint64_t first, second; /* places, first <= second */
	uint32_t orders;
};

struct coverage {
	struct coverage_object *object;
	uint32_t objects, objects_max, n_objects, run;
	uint64_t *event;  /* hash of each event of the run */
	uint64_t *thread; /* by thread */
	uint64_t *seen;
	size_t seen_size, seen_max, n_seen, once, twice;
	uint64_t counted, skipped; /* runs; not hashed */
	uint64_t new[BATCH];       /* traces that are not put in yet */
	uint32_t n_new;
	struct coverage_pair *pair;
	uint32_t *pair_slot;
	uint32_t pairs_max, pair_slots, n_pairs, both;
	uint64_t last;
	struct {
		uint64_t before, after;
	} memo[MEMO], latest; /* ordered pairs that are known to be counted */
	bool seen_full, pairs_full, redo;
	bool asked; /* for a trace's hash: all are needed */
};

static size_t power_below(size_t n)
{
	size_t p = 1;
	while (p * 2 <= n)
		p *= 2;
	assert(!(p & (p - 1)));
	return p;
}

/* `room` bytes at most: an eighth for objects, an eighth for pairs, the rest
 * for traces. */
void coverage_layout(struct sched *s, struct layout *l, size_t room)
{
	struct coverage *c = layout_take(l, 1, sizeof *c, true);
	size_t events = ((size_t)s->o.max_steps + 1) * sizeof *c->event;
	if (!l->fits || room < 2 * events + (1 << 18))
		return; /* too little: no coverage */
	room -= 2 * events;
	c->event = layout_take(l, (size_t)s->o.max_steps + 1, sizeof *c->event, false);
	c->thread = layout_take(l, s->o.max_threads, sizeof *c->thread, true);
	c->objects_max = (uint32_t)power_below(room / 8 / sizeof *c->object);
	c->objects = c->objects_max < OBJECTS_MIN ? c->objects_max : OBJECTS_MIN;
	c->object = layout_take(l, c->objects_max, sizeof *c->object, true);
	c->pairs_max = (uint32_t)(room / 16 / sizeof *c->pair);
	c->pairs_max = c->pairs_max < 1u << 20 ? c->pairs_max : 1u << 20;
	c->pair = layout_take(l, c->pairs_max, sizeof *c->pair, false);
	c->pair_slots = (uint32_t)power_below(room / 16 / sizeof *c->pair_slot);
	c->pair_slots = c->pair_slots < 1u << 21 ? c->pair_slots : 1u << 21;
	c->pair_slot = layout_take(l, c->pair_slots, sizeof *c->pair_slot, true);
	c->seen_max = power_below(room / 4 * 3 / 2 / sizeof *c->seen);
	c->seen_size = c->seen_max < SEEN_MIN ? c->seen_max : SEEN_MIN;
	c->seen = layout_take(l, 2 * c->seen_max, sizeof *c->seen, true);
	if (l->fits)
		s->cov = c;
}

/* --- objects -------------------------------------------------------------- */

static void objects_clear(struct coverage *c)
{
	for (uint32_t i = 0; i < c->objects; i++)
		c->object[i] = (struct coverage_object){ 0 };
	c->run = 1;
	c->n_objects = 0;
}

/* The entry of key; NULL when the table is full (the run is then not hashed). */
static uint32_t slot_of(const struct coverage *c, uint64_t key)
{
	assert(c->objects && !(c->objects & (c->objects - 1)));
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (c->objects - 1);
}

static struct coverage_object *object_of(struct coverage *c, uint64_t key)
{
	assert(c->run && c->n_objects <= c->objects);
	uint32_t mask = c->objects - 1, i = slot_of(c, key);
	for (;; i = (i + 1) & mask) {
		struct coverage_object *o = &c->object[i];
		if (o->key == key && o->run) {
			if (o->run != c->run) {
				o->run = c->run;
				o->x = o->a = o->b = 0;
				o->x_pc = o->r_pc = 0;
				o->from = 0;
			}
			return o;
		}
		if (!o->run) {
			if (++c->n_objects > c->objects / 2)
				return NULL;
			*o = (struct coverage_object){ .key = key, .run = c->run };
			return o;
		}
	}
}

/* --- pairs of places ------------------------------------------------------ */

static void pair_count(struct coverage *c, uint64_t before, uint64_t after)
{
	assert(c->n_pairs <= c->pairs_max && c->both <= c->n_pairs && !(c->pair_slots & (c->pair_slots - 1)));
	uint64_t first = before < after ? before : after, second = before < after ? after : before;
	uint32_t orders = before == after ? 3 : before < after ? 1 : 2;
	uint32_t mask = c->pair_slots - 1, i = (uint32_t)(sched_mix64(first * 31 + second) >> 32) & mask;
	for (;; i = (i + 1) & mask) {
		uint32_t p = c->pair_slot[i];
		if (!p) {
			if (c->n_pairs == c->pairs_max || c->n_pairs >= c->pair_slots / 2) {
				c->pairs_full = true;
				return;
			}
			c->pair[c->n_pairs] = (struct coverage_pair){ first, second, orders };
			c->pair_slot[i] = ++c->n_pairs;
			c->both += orders == 3;
			return;
		}
		struct coverage_pair *x = &c->pair[p - 1];
		if (x->first == first && x->second == second) {
			c->both += x->orders != 3 && (x->orders | orders) == 3;
			x->orders |= orders;
			return;
		}
	}
}

static inline bool is_new(const struct coverage *c, uint64_t before, uint64_t after)
{
	return ((c->latest.before ^ before) | (c->latest.after ^ after)) != 0;
}

static void pair_seen(struct coverage *c, uint64_t before, uint64_t after)
{
	c->latest.before = before;
	c->latest.after = after;
	uint32_t i = (uint32_t)((before * 31 + after) * 0x9e3779b97f4a7c15u >> 56);
	if (LIKELY(c->memo[i].before == before && c->memo[i].after == after))
		return;
	pair_count(c, before, after);
	c->memo[i].before = before;
	c->memo[i].after = after;
}
_Static_assert(MEMO == 256, "eight bits");

/* --- events --------------------------------------------------------------- */

enum mode { MODE_NONE, MODE_A, MODE_B, MODE_X };

static enum mode mode_of(const struct sched_op *op)
{
	switch (op->kind) {
	case SCHED_READ:
	case SCHED_LOAD:
	case SCHED_RDLOCK:
	case SCHED_TRYRD:
	case SCHED_RDUNLOCK:
	case SCHED_SEM_POST:
	case SCHED_COND_WAIT:
	case SCHED_FUTEX_WAIT:
		return MODE_A;
	case SCHED_SEM_VALUE:
		return MODE_B;
	case SCHED_COND_WAKE:
	case SCHED_FUTEX_WOKEN:
		return op->flags & (SCHED_TIMED | SCHED_SPURIOUS) ? MODE_A : MODE_NONE;
	case SCHED_BARRIER_ARRIVE:
		return op->flags & SCHED_COMMUTES ? MODE_A : MODE_X;
	case SCHED_ONCE:
		return op->flags & SCHED_PASSED ? MODE_A : MODE_X;
	case SCHED_NONE:
	case SCHED_START:
	case SCHED_CREATE:
	case SCHED_JOIN:
	case SCHED_FENCE:
	case SCHED_BUFFER:
	case SCHED_DRAIN:
	case SCHED_BARRIER_LEAVE:
	case SCHED_YIELD:
	case SCHED_SLEEP:
	case SCHED_CHOICE:
	case SCHED_INVOKE:
	case SCHED_PROCESS_EXIT:
		return MODE_NONE;
	default:
		return MODE_X;
	}
}

static bool is_memory(uint8_t kind)
{
	return (kind >= SCHED_READ && kind <= SCHED_RMW) || kind == SCHED_FUTEX_WAIT;
}

/* Places that give something back are no conflict worth counting. */
static bool counts_as_place(uint8_t kind)
{
	return kind != SCHED_UNLOCK && kind != SCHED_RDUNLOCK && kind != SCHED_WRUNLOCK && kind != SCHED_ONCE_END &&
	       kind != SCHED_EXIT;
}

/* wyhash's multiply and fold */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x2d358dccaa6c78a5u) * (b ^ 0x8bb84b93962eacc9u);
	return (uint64_t)(m >> 64) ^ (uint64_t)m;
}

static uint64_t combine(uint64_t h, uint64_t x)
{
	return fold(h, x) + 0x9e3779b97f4a7c15u;
}

/* What the event depends on at this object; 0 if nothing. */
static inline uint64_t depends(const struct coverage_object *o, enum mode m)
{
	return o->x + (m != MODE_A ? o->a * 0x9e3779b97f4a7c15u : 0) + (m != MODE_B ? o->b * 0xd1b54a32d192ed03u : 0);
}

static inline void leaves(struct coverage_object *o, enum mode m, uint64_t h)
{
	if (m == MODE_X) {
		o->x = h;
		o->a = o->b = 0;
	} else if (m == MODE_A)
		o->a += h;
	else
		o->b += h;
}

static inline void places(struct coverage *c, struct coverage_object *o, uint64_t pc, uint32_t thread, enum mode m)
{
	if (!pc)
		return;
	/* Who was before is a matter of chance: so that is no branch by itself. */
	if (UNLIKELY((o->x_pc != 0) & (o->x_thread != thread) & is_new(c, o->x_pc, pc)))
		pair_seen(c, o->x_pc, pc);
	if (m == MODE_X) {
		if (UNLIKELY((o->r_pc != 0) & (o->r_thread != thread) & is_new(c, o->r_pc, pc)))
			pair_seen(c, o->r_pc, pc);
		o->x_pc = pc;
		o->x_thread = (uint16_t)thread;
		o->r_pc = 0;
	} else {
		o->r_pc = pc;
		o->r_thread = (uint16_t)thread;
	}
}

/* The objects of an event: at most two, or those of its memory. Of memory only
 * changes of state from byte to byte count, so that it does not matter how it is
 * kept: mixed or not, equivalent runs have equal hashes. */
struct coverage_visit {
	struct coverage *c;
	const struct sched_event *e;
	uint32_t who; /* its thread; of a store buffer, the one that stores */
	uint64_t h, dep;
	bool write; /* second pass: leave the hash there */
	bool first; /* memory: no byte yet */
	bool full, many;
};

static void touch(struct coverage_visit *v, uint64_t key, enum mode m)
{
	struct coverage_object *o = object_of(v->c, key);
	if (!o) {
		v->full = true;
		return;
	}
	if (v->write) {
		if (!(key >> 63))
			places(v->c, o, counts_as_place(v->e->op.kind) ? v->e->op.pc : 0, v->who, m);
		leaves(o, m, v->h);
		return;
	}
	uint64_t dep = depends(o, m);
	if (!is_memory(v->e->op.kind) || key >> OBJECT_BIT == 1)
		v->h = combine(v->h, dep);
	else if (v->first)
		v->h = fold(v->h, v->e->op.a + dep);
	else if (dep != v->dep)
		v->h = combine(v->h, dep);
	v->dep = dep;
	v->first = false;
}

/* One granule of a memory access that covers bytes [from, to) of it. */
static void touch_granule(struct coverage_visit *v, uint64_t g, uint32_t from, uint32_t to, enum mode m)
{
	assert(from < to && to <= 8);
	struct coverage_object *o = object_of(v->c, g * 8);
	if (!o) {
		v->full = true;
		return;
	}
	uint32_t shape = from | to << 3;
	if (!o->mixed && o->from && o->from != shape) {
		o->mixed = v->c->redo = true;
	}
	o->from = (uint8_t)shape;
	if (!o->mixed) {
		touch(v, g * 8, m);
		return;
	}
	if (v->write)
		places(v->c, o, counts_as_place(v->e->op.kind) ? v->e->op.pc : 0, v->who, m);
	for (uint32_t i = from; i < to; i++)
		touch(v, (uint64_t)1 << 63 | (g * 8 + i), m);
}

static void visit(struct coverage_visit *v)
{
	const struct sched_op *op = &v->e->op;
	enum mode m = mode_of(op);
	if (is_memory(op->kind) && op->size) {
		uint64_t end = op->a + op->size, a = op->a;
		for (uint32_t i = 0; a < end && i < WORDS_MAX; i++) {
			uint64_t g = a >> 3, stop = (g + 1) * 8 < end ? (g + 1) * 8 : end;
			touch_granule(v, g, (uint32_t)(a & 7), (uint32_t)(stop - g * 8), m);
			a = stop;
		}
	} else if (m)
		touch(v, op->a | (uint64_t)1 << OBJECT_BIT, m);
	if (op->kind == SCHED_FUTEX_WAIT)
		touch(v, op->a | (uint64_t)1 << OBJECT_BIT, m);
	/* awaits on several objects depend on nearly everything: op.h */
	bool wakes = op->kind == SCHED_COND_WAKE || op->kind == SCHED_FUTEX_WOKEN;
	if (v->many && (m || wakes) && op->kind != SCHED_EXIT && op->kind != SCHED_TRYJOIN)
		touch(v, (uint64_t)1 << 61, op->flags & SCHED_MANY ? MODE_X : MODE_A);
	if (op->b && (op->kind == SCHED_COND_WAIT || op->kind == SCHED_COND_WAKE))
		touch(v, op->b | (uint64_t)1 << OBJECT_BIT, MODE_X);
}

static uint64_t hash_event(struct sched *s, uint32_t i, struct coverage_visit *v)
{
	assert(i < s->n && s->ev[i].thread < s->n_ids && s->ev[i].op.kind < SCHED_KINDS);
	assert(s->ev[i].choice < s->ev[i].choices || !s->ev[i].choices);
	struct coverage *c = s->cov;
	const struct sched_event *e = &s->ev[i];
	const struct sched_op *op = &e->op;
	uint64_t h = c->thread[e->thread] + ((uint64_t)op->kind << 48 ^ (uint64_t)e->thread << 32 ^ op->size);
	if (!is_memory(op->kind))
		h = combine(h, op->kind == SCHED_CREATE ? 0 : op->a);
	if (e->choices)
		h = combine(h, (uint64_t)e->choice << 8 | e->choices);
	bool sem = op->kind >= SCHED_SEM_WAIT && op->kind <= SCHED_SEM_VALUE;
	if (!sem && op->kind != SCHED_INIT && e->value != NONE)
		h = combine(h, c->event[e->value]);
	if (op->kind == SCHED_JOIN && op->a < s->n_ids)
		h = combine(h, c->thread[op->a]);
	uint32_t who = s->th[e->thread].agent ? s->th[e->thread].parent : e->thread;
	*v = (struct coverage_visit){ .c = c, .e = e, .who = who, .h = h, .first = true, .many = s->has_many };
	visit(v);
	h = v->h;
	v->write = true;
	visit(v);
	if (op->kind == SCHED_PROCESS_EXIT) /* after everything */
		for (uint32_t t = 0; t < s->n_ids; t++)
			h += t == e->thread || !c->thread[t] ? 0 : sched_mix64(c->thread[t] + t);
	c->thread[e->thread] = c->event[i] = h;
	if (op->kind == SCHED_BARRIER_ARRIVE && e->result & SCHED_RES_OPENED && op->flags & SCHED_COMMUTES) {
		struct coverage_object *o = object_of(c, op->a | (uint64_t)1 << OBJECT_BIT);
		c->event[i] = o->x = combine(o->x, o->a);
		o->a = 0;
	}
	return h;
}

/* The usual event, quickly: memory in one granule that is not mixed, or a lock. Tables: of
 * kinds, so that there are few branches, and in registers, which the compiler cannot know. */
enum { MODES = 3, MEMORY = 4, COUNTS = 8 };
static const uint8_t simple[SCHED_KINDS] = {
	[SCHED_READ] = MODE_A | MEMORY | COUNTS,
	[SCHED_LOAD] = MODE_A | MEMORY | COUNTS,
	[SCHED_WRITE] = MODE_X | MEMORY | COUNTS,
	[SCHED_STORE] = MODE_X | MEMORY | COUNTS,
	[SCHED_FLUSH] = 0, /* it has a cause */
	[SCHED_RMW] = MODE_X | MEMORY | COUNTS,
	[SCHED_LOCK] = MODE_X | COUNTS,
	[SCHED_TRYLOCK] = MODE_X | COUNTS,
	[SCHED_UNLOCK] = MODE_X,
	[SCHED_RDLOCK] = MODE_A | COUNTS,
	[SCHED_WRLOCK] = MODE_X | COUNTS,
	[SCHED_TRYRD] = MODE_A | COUNTS,
	[SCHED_TRYWR] = MODE_X | COUNTS,
	[SCHED_RDUNLOCK] = MODE_A,
	[SCHED_WRUNLOCK] = MODE_X,
};
struct quick {
	struct coverage_object *table;
	uint64_t *thread, *event;
	uint32_t run;
};

/* False: it is not such a one (or the objects do not fit: seen by hash_event). */
static inline bool hash_simple(struct coverage *c, const struct quick *q, const struct sched_event *e, uint32_t i)
{
	const struct sched_op *op = &e->op;
	uint32_t how = simple[op->kind], shape = 0;
	enum mode m = (enum mode)(how & MODES);
	uint64_t key = op->a | (uint64_t)1 << OBJECT_BIT;
	if (how & MEMORY) {
		uint32_t from = (uint32_t)op->a & 7, to = from + op->size;
		if (UNLIKELY(to > 8 || !op->size))
			return false;
		key = op->a & ~(uint64_t)7;
		shape = from | to << 3;
	} else if (!how)
		return false;
	struct coverage_object *o = &q->table[slot_of(c, key)];
	if (UNLIKELY((o->key != key) | (o->run != q->run)) && !(o = object_of(c, key)))
		return false;
	if (UNLIKELY(o->from != shape)) {
		if (o->from)
			o->mixed = c->redo = true;
		o->from = (uint8_t)shape;
	}
	if (UNLIKELY(o->mixed | e->choices))
		return false;
	uint32_t t = e->thread;
	uint64_t label = (uint64_t)op->kind << 48 ^ (uint64_t)t << 32 ^ op->size;
	uint64_t h = q->thread[t] + label;
	h = shape ? fold(h, op->a + depends(o, m)) : combine(combine(h, op->a), depends(o, m));
	if (how & COUNTS)
		places(c, o, op->pc, t, m);
	leaves(o, m, h);
	q->thread[t] = q->event[i] = h;
	return true;
}

/* 0: the objects do not fit. */
static uint64_t hash_run(struct sched *s)
{
	struct coverage *c = s->cov;
	if (++c->run == 0 || c->n_objects > c->objects / 4)
		objects_clear(c);
	c->redo = false;
	for (uint32_t t = 0; t < s->n_ids; t++)
		c->thread[t] = 0;
	struct coverage_visit v = { .full = false };
	const struct quick q = { c->object, c->thread, c->event, c->run };
	const struct sched_event *ev = s->ev;
	bool many = s->has_many;
	for (uint32_t i = 0, n = s->n; i < n; i++) {
		if (LIKELY(!many && hash_simple(c, &q, &ev[i], i)))
			continue;
		hash_event(s, i, &v);
		if (v.full)
			return 0;
	}
	uint64_t sum = s->n ? 1 : 2;
	for (uint32_t t = 0; t < s->n_ids; t++)
		sum += c->thread[t] ? sched_mix64(c->thread[t] ^ t) : 0;
	return sum ? sum : 1;
}

/* Where the trace is, or may be put. */
static uint64_t *seen_at(const struct coverage *c, uint64_t h)
{
	assert(h);
	uint64_t *table = c->seen + c->seen_size, key = h & ~(uint64_t)3;
	size_t mask = c->seen_size - 1, i = (size_t)(h >> 20) & mask;
	while (table[i] && (table[i] & ~(uint64_t)3) != key)
		i = (i + 1) & mask;
	return &table[i];
}

static SCHED_NOINLINE void seen_grow(struct coverage *c)
{
	size_t old = c->seen_size;
	c->seen_size *= 2;
	for (size_t i = old; i < 2 * old; i++)
		if (c->seen[i])
			*seen_at(c, c->seen[i]) = c->seen[i];
}

static void seen_put(struct coverage *c, uint64_t h)
{
	uint64_t *at = seen_at(c, h), x = *at, n = x & 3;
	if (!x && c->n_seen >= c->seen_size / 4 * 3) { /* it could not grow */
		c->seen_full = true;
	} else if (!x) {
		*at = h | 1;
		c->n_seen++;
		c->once++;
		if (c->n_seen >= c->seen_size / 2 && c->seen_size < c->seen_max)
			seen_grow(c);
	} else {
		c->once -= n == 1;
		c->twice = c->twice + (n == 1) - (n == 2);
		*at = x + (n < 3);
	}
}

static SCHED_NOINLINE void seen_put_all(struct coverage *c)
{
	for (uint32_t i = 0; i < c->n_new; i++)
		__builtin_prefetch(&c->seen[c->seen_size + ((size_t)(c->new[i] >> 20) & (c->seen_size - 1))], 1);
	for (uint32_t i = 0; i < c->n_new; i++)
		seen_put(c, c->new[i]);
	c->n_new = 0;
}

static inline void trace_seen(struct coverage *c, uint64_t h)
{
	c->counted++;
	c->new[c->n_new++] = h >> 2 ? h & ~(uint64_t)3 : 4;
	if (c->n_new == BATCH)
		seen_put_all(c);
}

void coverage_run(struct sched *s, bool complete)
{
	assert(s->cov && !s->in_run);
	struct coverage *c = s->cov;
	bool sampled = s->o.strategy == SCHED_MIX || s->o.strategy == SCHED_RANDOM || s->o.strategy == SCHED_PCT ||
	               s->o.strategy == SCHED_POS;
	/* not by the number itself: the mix takes turns by it */
	if (sampled && s->st.runs > HASH_ALL && !c->asked && sched_mix64(s->st.runs) % HASH_ONE_IN) {
		c->last = 0;
		c->skipped++;
		return;
	}
	c->last = hash_run(s);
	while (!c->last && c->objects < c->objects_max) {
		c->objects *= 2;
		objects_clear(c);
		c->last = hash_run(s);
	}
	if (c->redo && c->last)
		c->last = hash_run(s); /* mixed granules are known now */
	if (complete && c->last)
		trace_seen(c, c->last);
	else if (!c->last)
		c->seen_full = true;
}

void coverage_forget(struct sched *s)
{
	struct coverage *c = s->cov;
	__builtin_memset(c->seen, 0, 2 * c->seen_size * sizeof *c->seen);
	c->n_new = 0;
	c->n_seen = c->once = c->twice = 0;
	c->counted = c->skipped = 0;
	c->seen_full = false;
}

/* --- statistics ----------------------------------------------------------- */

static void estimate(const struct sched *s, const struct coverage *c, struct sched_stats *out)
{
	enum sched_strategy g = s->o.strategy;
	if (s->exhausted) {
		out->estimate_known = true;
		out->estimate_total = (double)(g == SCHED_DPOR || !c ? out->complete : c->n_seen);
		out->estimate_seen = 1;
	} else if (g == SCHED_DPOR || g == SCHED_ALL || g == SCHED_DELAY || g == SCHED_PREEMPT) {
		double seen = g == SCHED_DPOR ? dpor_seen(s) : bounded_seen(s);
		out->estimate_known = seen > 0 && out->complete > 10;
		out->estimate_seen = seen;
		out->estimate_total = seen > 0 ? (double)out->complete / seen : 0;
	} else if (c && c->counted) {
		/* Chao1, bias-corrected; Good and Turing's coverage */
		double f1 = (double)c->once, f2 = (double)c->twice;
		out->estimate_known = !c->seen_full && out->complete > 10;
		out->estimate_total = (double)c->n_seen + f1 * (f1 - 1) / (2 * (f2 + 1));
		out->estimate_seen = 1 - f1 / (double)c->counted;
	}
}

void sched_stats(const struct sched *s, struct sched_stats *out)
{
	struct coverage *c = s->cov;
	*out = s->st;
	if (c) {
		seen_put_all(c);
		out->traces = c->n_seen;
		out->seen_once = c->once;
		out->seen_twice = c->twice;
		out->traces_full = c->seen_full || c->skipped;
		out->pairs = c->n_pairs;
		out->pairs_both = c->both;
		out->pairs_full = c->pairs_full;
	}
	estimate(s, c, out);
}

uint64_t sched_trace_hash(const struct sched *s)
{
	if (!s->cov)
		return 0;
	s->cov->asked = true;
	return s->cov->last;
}

void sched_pair(const struct sched *s, uint64_t i, uint64_t *first, uint64_t *second, uint32_t *orders)
{
	SCHED_ASSERT(s->cov && i < s->cov->n_pairs);
	const struct coverage_pair *p = &s->cov->pair[i];
	*first = p->first;
	*second = p->second;
	*orders = p->orders;
}
