/*
 * dynamic: blocks and their findings without a program, what locks teach against
 * clocks joined entry by entry, and cycles of conflicts against the judge of
 * traces. The seed is printed; INTACT_SEED repeats a run, INTACT_SOAK makes it a
 * hundred times longer.
 */
#include "check.h"
#include "soak.h"

#include "base/rng.h"
#include "dynamic/facts.h"
#include "dynamic/findings.h"
#include "dynamic/reduction.h"
#include "trace_judge.h"

static uint64_t seed = 20040;
static unsigned rounds = 20000;

/* ---- blocks, end to end, without a program ---- */

static struct dynamic d;

static struct thread *new_thread(uint32_t uid)
{
	struct thread *t = calloc(1, sizeof *t);
	t->uid = t->tid = t->acc.tid = uid;
	t->acc.epoch = t->acc.first = 1;
	t->acc.live = 2;
	t->acc.cache = &t->cache;
	t->frames = calloc(16, sizeof *t->frames);
	t->top = t->frames;
	t->trail = red_ring(&d, uid);
	clock_reserve(&d.bump, &t->clock, uid + 1);
	red_tick(t);
	return t;
}

static void call(struct thread *t, uintptr_t pc)
{
	uintptr_t depth = (uintptr_t)(t->top - t->frames);
	*++t->top = (struct frame){ .pc = pc, .site = pc + 1, .sp = 0x8000 - depth * 64,
		.fn = pc, .log = t->nlog };
}

static void section(struct thread *t, uintptr_t lock, bool write, uintptr_t pc)
{
	call(t, pc);
	red_acquire(&d, t, lock, false, false, pc + 2);
	red_access(&d, t, 0x30000, 0xff, write, pc + 3, NULL);
	red_release(&d, t, lock, false, pc + 4);
	t->top--;
}

static void free_thread(struct thread *t)
{
	free(t->frames);
	free(t);
}

static void test_block(bool reader_only, bool evidence_first, unsigned want)
{
	CHECK(dynamic_init(&d));
	struct thread *a = new_thread(1), *b = new_thread(2);
	call(b, 0x500);
	if (evidence_first)
		section(b, 0x40, !reader_only, 0x700);
	call(a, 0x100);  /* the thread's function */
	call(a, 0x200);  /* the block */
	section(a, 0x40, false, 0x300);
	section(a, 0x40, true, 0x400);
	if (!evidence_first)
		section(b, 0x40, !reader_only, 0x700);
	unsigned ready = 0;
	for (uint32_t i = 1; i < d.nfindings; i++)
		ready += d.findings[i].ready;
	CHECK_EQ(ready, want);
	if (want) {
		uint64_t pcs[8];
		CHECK(stack_walk(&d.stacks, d.findings[1].entered, pcs, 8) > 0);
		CHECK_EQ(pcs[0], (int64_t)(0x200 | STACK_MARK));
		CHECK(!d.findings[1].confirmed);
	}
	free_thread(a);
	free_thread(b);
}

static void test_block_before(void) { test_block(false, true, 1); }
static void test_block_after(void) { test_block(false, false, 1); }
static void test_block_readers(void) { test_block(true, true, 0); }

static void test_block_confirmed(void)
{
	CHECK(dynamic_init(&d));
	struct thread *a = new_thread(1), *b = new_thread(2);
	call(b, 0x500);
	call(a, 0x100);
	call(a, 0x200);
	section(a, 0x40, false, 0x300);
	section(b, 0x40, true, 0x700);
	section(a, 0x40, true, 0x400);
	CHECK_EQ(d.nfindings, 2);
	CHECK(d.findings[1].ready && d.findings[1].confirmed);
	CHECK_EQ(d.findings[1].other, 2);
	free_thread(a);
	free_thread(b);
}

/* ---- what is known of variables: against lists of all that was done ---- */

enum { VARS = 6, SECTIONS = 5, ACTS = 6 };

struct act {
	unsigned var;
	bool write;
	uintptr_t pc;
};
struct acts { /* of a section */
	struct act v[ACTS];
	unsigned n;
};

static uintptr_t var_at(unsigned v)
{
	return 0x30000 + v * 4;
}

/* `all`: every variable is written, so that none is only read. */
static struct acts acts_make(struct rng *r, uintptr_t pc, bool all)
{
	struct acts s = { .n = all ? VARS : (unsigned)rng_below(r, ACTS + 1) };
	for (unsigned i = 0; i < s.n; i++)
		s.v[i] = (struct act){ all ? i : (unsigned)rng_below(r, VARS), all || rng_below(r, 2), pc + 8 + i };
	return s;
}

static void acts_do(struct thread *t, const struct acts *s, uintptr_t pc)
{
	call(t, pc);
	red_acquire(&d, t, 0x40, false, false, pc + 2);
	for (unsigned i = 0; i < s->n; i++) {
		uintptr_t addr = var_at(s->v[i].var);
		unsigned mask = s->v[i].var % 2 ? 0xf0 : 0x0f;
		uint64_t need = s->v[i].write ? mask * 0x101 : mask << 8, key = CELL_KEY(t->acc.tid, t->acc.epoch);
		const uint64_t *c = shadow_cell(d.shadow.dir, addr);
		if (!c || (*c & (CELL_KEY_MASK | need)) != (key | need)) /* as the hooks do */
			red_access(&d, t, addr, mask, s->v[i].write, s->v[i].pc, NULL);
	}
	red_release(&d, t, 0x40, false, pc + 4);
	t->top--;
}

/* The uses of a variable in sections from..to-1, as one side of a gap has them. In one
 * section a read of what was written there shows nothing. */
static unsigned naive_use(const struct acts *s, unsigned from, unsigned to, unsigned var)
{
	unsigned use = 0;
	for (unsigned i = from; i < to; i++) {
		unsigned here = 0;
		for (unsigned k = 0; k < s[i].n; k++) {
			if (s[i].v[k].var != var || (!s[i].v[k].write && here))
				continue;
			if (s[i].v[k].write && !(use & FACT_READ))
				use |= FACT_BLIND;
			use |= s[i].v[k].write ? FACT_WRITE : FACT_READ;
			here = 1;
		}
	}
	return use;
}

static const struct fact *fact_of(const struct facts *x, unsigned var)
{
	for (uint32_t i = 0; x && i < x->n; i++)
		if (x->v[i].address == var_at(var))
			return &x->v[i];
	return NULL;
}

/* One block of several sections; the other thread's come before, between and after. */
static void facts_round(struct rng *r, unsigned *compared, unsigned *matched)
{
	struct acts mine[SECTIONS], others[SECTIONS * 2 + 1];
	unsigned n = 2 + (unsigned)rng_below(r, SECTIONS - 1), m = 0;
	CHECK(dynamic_init(&d));
	d.static_lo = 0x30000;
	d.static_hi = 0x31000;
	struct thread *a = new_thread(1), *b = new_thread(2);
	call(b, 0x500);
	others[m] = acts_make(r, 0x7000, true);
	acts_do(b, &others[m++], 0x7000);
	call(a, 0x100);
	call(a, 0x200);
	for (unsigned i = 0; i < n; i++) {
		mine[i] = acts_make(r, 0x1000 + i * 0x100, false);
		acts_do(a, &mine[i], 0x1000 + i * 0x100);
		if (i + 1 < n && rng_below(r, 2)) {
			others[m] = acts_make(r, 0x7000 + m * 0x100, false);
			acts_do(b, &others[m], 0x7000 + m * 0x100);
			m++;
		}
	}
	for (unsigned i = 0; i < SECTIONS; i++, m++) {
		others[m] = acts_make(r, 0x7000 + m * 0x100, false);
		acts_do(b, &others[m], 0x7000 + m * 0x100);
	}
	/* A gap after each but the last; those of the other thread's first function are judged, too. */
	unsigned g = 0;
	for (unsigned id = 1; id < d.nfindings; id++) {
		if (d.findings[id].uid != a->uid)
			continue;
		g++;
		const struct facts *x = d.findings[id].facts;
		CHECK(x && !x->cut);
		for (unsigned v = 0; v < VARS; v++) {
			unsigned before = naive_use(mine, 0, g, v), after = naive_use(mine, g, g + 1, v), any = 0, same = 0;
			const struct fact *f = fact_of(x, v);
			CHECK_EQ(f != NULL, (before | after) != 0);
			if (!f)
				continue;
			(*compared)++;
			CHECK_EQ(f->use[FACT_BEFORE], before);
			CHECK_EQ(f->use[FACT_AFTER], after);
			for (unsigned i = 0; i < m; i++)
				same |= f->use[FACT_OTHER] == naive_use(others, i, i + 1, v);
			CHECK(same || !f->use[FACT_OTHER] || !f->section); /* it is of one section, or of several before */
			for (unsigned i = 0; i < m; i++)
				any |= naive_use(others, i, i + 1, v);
			bool both = before & FACT_WRITE && after & FACT_WRITE;
			CHECK_EQ(f->use[FACT_OTHER] & ~any & (FACT_READ | FACT_WRITE), 0);
			/* What others do is seen, before and later, as long as the finding can become more. */
			if (any & FACT_WRITE && !both && x->best < 8)
				CHECK(f->use[FACT_OTHER] & FACT_WRITE);
			*matched += f->use[FACT_OTHER] != 0;
		}
	}
	CHECK_EQ(g, n - 1);
	free_thread(a);
	free_thread(b);
	dynamic_free(&d);
}

static void test_facts(void)
{
	struct rng r;
	unsigned compared = 0, matched = 0;
	rng_seed(&r, seed + 29);
	for (unsigned i = 0; i < rounds / 40; i++)
		facts_round(&r, &compared, &matched);
	printf("# %u variables of gaps, %u used by another thread\n", compared, matched);
	CHECK(matched > compared / 4);
}

/* A block that frees what it used: what is there afterwards is another object. */
static void test_facts_freed(void)
{
	CHECK(dynamic_init(&d));
	struct thread *a = new_thread(1), *b = new_thread(2);
	call(b, 0x500);
	section(b, 0x40, true, 0x700);
	call(a, 0x100);
	call(a, 0x200);
	section(a, 0x40, false, 0x300);
	red_forget(&d, a, 0x30000, 64);
	shadow_reset(&d.shadow, 0x30000, 64);
	section(a, 0x40, true, 0x400);
	const struct facts *x = d.findings[1].facts;
	CHECK(x && x->n == 1 && !x->v[0].use[FACT_BEFORE] && x->v[0].use[FACT_AFTER]);
	free_thread(a);
	free_thread(b);
	dynamic_free(&d);
}

/* ---- what locks teach: against clocks joined entry by entry ---- */

enum { TH = 4, LK = 3 };

struct naive {
	uint32_t clock[TH + 1][TH + 1];                 /* by thread */
	uint32_t wrote[LK][TH + 1], read[LK][TH + 1];   /* by lock */
	unsigned holds[TH + 1][LK], writer[LK], readers[LK]; /* holds: 1 read, 2 write */
};

static void naive_join(uint32_t *to, const uint32_t *from)
{
	for (unsigned i = 0; i <= TH; i++)
		if (to[i] < from[i])
			to[i] = from[i];
}

static void naive_step(struct naive *n, struct thread **th, unsigned t, unsigned l, bool read)
{
	uintptr_t addr = 0x5000 + 0x100 * l;
	if (n->holds[t][l]) {
		bool w = n->holds[t][l] == 2;
		naive_join(w ? n->wrote[l] : n->read[l], n->clock[t]);
		n->holds[t][l] = 0;
		n->writer[l] = w ? 0 : n->writer[l];
		n->readers[l] -= !w;
		red_release(&d, th[t], addr, false, 0x100);
	} else {
		if (n->writer[l] || (!read && n->readers[l]))
			return;
		naive_join(n->clock[t], n->wrote[l]);
		if (!read)
			naive_join(n->clock[t], n->read[l]);
		n->holds[t][l] = read ? 1 : 2;
		n->writer[l] = read ? 0 : t;
		n->readers[l] += read;
		red_acquire(&d, th[t], addr, read, false, 0x200);
	}
	n->clock[t][t] = th[t]->acc.epoch;
}

static void test_learning(void)
{
	CHECK(dynamic_init(&d));
	struct thread *th[TH + 1] = { NULL };
	struct naive n = { .writer = { 0 } };
	struct rng r;
	rng_seed(&r, seed + 7);
	for (unsigned t = 1; t <= TH; t++) {
		th[t] = new_thread(t);
		n.clock[t][t] = th[t]->acc.epoch;
	}
	for (unsigned i = 0; i < rounds; i++) {
		unsigned t = 1 + (unsigned)rng_below(&r, TH);
		naive_step(&n, th, t, (unsigned)rng_below(&r, LK), rng_below(&r, 2));
		for (unsigned k = 1; k <= TH; k++)
			CHECK_EQ(k < th[t]->clock.n ? th[t]->clock.e[k] : 0, n.clock[t][k]);
	}
	for (unsigned t = 1; t <= TH; t++)
		free_thread(th[t]);
}

/* ---- conflict cycles: against the judge of traces, on random ones ---- */

struct driven {
	struct thread *th[GEN_THREADS];
	uint32_t open[GEN_THREADS][RED_MARKS], depth[GEN_THREADS]; /* begins */
	bool cycle[GEN_MAX];   /* by begin */
	bool fast;             /* settle accesses as the hooks do */
	struct event seen[GEN_MAX]; /* without those settled: as in a recording */
	uint32_t nseen, seen_at[GEN_MAX]; /* by event */
};

static struct thread *drive_thread(struct driven *v, uint32_t id, uint32_t parent)
{
	struct thread *t = calloc(1, sizeof *t);
	t->frames = calloc(4, sizeof *t->frames);
	t->limit = t->frames + 2;
	red_thread_begin(&d, t, parent ? v->th[parent - 1] : NULL, id + 1, id + 1, 1, 0x10);
	t->acc.live = 3;
	v->th[id] = t;
	return t;
}

/* Two variables share a cell, as four bytes each. False: settled. */
static bool drive_access(const struct driven *v, struct thread *t, uint32_t var, bool write,
                         uintptr_t pc)
{
	uintptr_t addr = 0x70000 + var / 2 * 8 + var % 2 * 4;
	unsigned mask = var % 2 ? 0xf0 : 0x0f;
	uint64_t need = write ? mask * 0x101 : mask << 8, key = CELL_KEY(t->acc.tid, t->acc.epoch);
	uint64_t *c = shadow_cell(d.shadow.dir, addr);
	if (c && v->fast) {
		if ((*c & (CELL_KEY_MASK | need)) == (key | need) || red_own(t, key, c, need, write, addr, pc))
			return false;
		if (!write && *c >> CELL_TAG == CELL_READ && (*c & need) == need &&
		    (!(uint32_t)c[SHADOW_SECOND] || (uint32_t)c[SHADOW_SECOND] == t->acc.all) &&
		    !d.reach.open)
			return false;
	}
	red_access(&d, t, addr, mask, write, pc, NULL);
	return true;
}

static void drive(struct driven *v, const struct event *ev, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct event *e = &ev[i];
		uint32_t id = e->thread;
		struct thread *t = v->th[id] ? v->th[id] : drive_thread(v, id, 0);
		uintptr_t pc = 0x1000 + i, lock = 0x80000 + e->target * 64;
		v->seen_at[i] = v->nseen;
		v->seen[v->nseen++] = *e;
		if (e->kind <= EVENT_WRITE) {
			if (!drive_access(v, t, e->target, e->kind == EVENT_WRITE, pc) && d.reach.open)
				v->nseen--;
		} else if (e->kind == EVENT_ACQ) {
			red_acquire(&d, t, lock, false, false, pc);
		} else if (e->kind == EVENT_REL) {
			red_release(&d, t, lock, false, pc);
		} else if (e->kind == EVENT_FORK) {
			drive_thread(v, e->target, id + 1);
		} else if (e->kind == EVENT_JOIN) {
			if (v->th[e->target])
				red_join(&d, t, v->th[e->target], pc);
		} else if (e->kind == EVENT_BEGIN) {
			v->open[id][v->depth[id]++] = i;
			red_mark_begin(&d, t, "block", pc);
		} else {
			v->depth[id]--;
			red_mark_end(t);
		}
		for (uint32_t k = 0; k < t->nmarks; k++)
			v->cycle[v->open[id][k]] |= t->marks[k].cycle;
	}
}

/* Is the block that begins with event `begin` violated; when nested: alone, as
 * if there were no other blocks? */
static bool judged(const struct event *ev, uint32_t n, uint32_t begin)
{
	struct event alone[GEN_MAX];
	bool out[GEN_MAX];
	uint32_t m = 0, at = 0, depth = 0;
	bool inside = false;
	struct judge j;
	for (uint32_t i = 0; i < begin; i++)
		if (ev[i].thread == ev[begin].thread && ev[i].kind >= EVENT_BEGIN)
			depth = ev[i].kind == EVENT_BEGIN ? depth + 1 : depth - 1;
	if (!depth) {
		judge_init(&j, ev, n);
		violating(&j, out);
		return out[begin];
	}
	for (uint32_t i = 0; i < n; i++) {
		bool mine = ev[i].thread == ev[begin].thread;
		if (!mine && ev[i].kind >= EVENT_BEGIN)
			alone[m] = (struct event){ .thread = ev[i].thread, .kind = EVENT_READ,
				                   .target = 1000 + i }; /* an event like any */
		else
			alone[m] = ev[i];
		if (i == begin)
			at = m, inside = true, depth = 1;
		else if (mine && ev[i].kind == EVENT_BEGIN) {
			depth += inside;
			continue;
		} else if (mine && ev[i].kind == EVENT_END) {
			if (!inside || --depth)
				continue;
			inside = false;
		}
		m++;
	}
	judge_init(&j, alone, m);
	violating(&j, out);
	return out[at];
}

static void print_drive(const struct gen *g, const struct driven *v, uint32_t begin, bool want)
{
	printf("# the block begun at event %u %s; %s\n", begin + 1,
	       want ? "is on a cycle: missed" : "is on none: made up", v->fast ? "fast" : "slow");
	for (uint32_t i = 0; i < g->n; i++)
		printf("# %2u T%u %s(%u)\n", i + 1, g->ev[i].thread,
		       event_kind_name[g->ev[i].kind], g->ev[i].target);
}

static void drive_free(struct driven *v)
{
	for (uint32_t i = 0; i < GEN_THREADS; i++)
		if (v->th[i])
			free_thread(v->th[i]);
	for (uint32_t i = 1; i < d.nfindings; i++) /* what is confirmed is ready */
		CHECK(!d.findings[i].confirmed || d.findings[i].ready);
	dynamic_free(&d);
}

static void test_cycles(void)
{
	struct rng r;
	unsigned traces = rounds / 4, blocks = 0, violated = 0, missed = 0, made_up = 0;
	rng_seed(&r, seed + 11);
	for (unsigned n = 0; n < traces; n++) {
		struct gen g;
		struct driven v = { .fast = rng_below(&r, 2) };
		gen_trace(&r, &g, 40);
		CHECK(dynamic_init(&d));
		drive(&v, g.ev, g.n);
		bool any = false, serial = true, all[GEN_MAX];
		struct judge j;
		judge_init(&j, g.ev, g.n);
		violating(&j, all);
		for (uint32_t i = 0; i < g.n; i++) {
			if (g.ev[i].kind != EVENT_BEGIN)
				continue;
			bool want = judged(v.seen, v.nseen, v.seen_at[i]);
			blocks++;
			any |= v.cycle[i];
			serial &= !all[i];
			violated += want;
			missed += want && !v.cycle[i];
			made_up += !want && v.cycle[i];
			if (want != v.cycle[i] && missed + made_up == 1)
				print_drive(&g, &v, i, want);
		}
		CHECK_EQ(any, !serial); /* whatever was settled */
		drive_free(&v);
	}
	printf("# %u traces, %u blocks, %u on cycles, %u missed, %u made up\n", traces, blocks,
	       violated, missed, made_up);
	CHECK(violated > traces / 10);
	CHECK_EQ(missed, 0);
	CHECK_EQ(made_up, 0);
}

int main(void)
{
	seed = soak_seed(soak_from(seed));
	rounds = soak_rounds(rounds, 100 * rounds);
	printf("# seed %" PRIu64 "\n", seed);
	RUN(test_block_before);
	RUN(test_block_after);
	RUN(test_block_readers);
	RUN(test_block_confirmed);
	RUN(test_facts);
	RUN(test_facts_freed);
	RUN(test_learning);
	RUN(test_cycles);
	return check_done();
}
