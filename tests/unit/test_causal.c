/*
 * Causal atomicity: the abstraction of programs, their nets, and the cover
 * search, against the plainest judges there are. The argument is the folder of
 * examples; campaign.h says how many random programs.
 */
#include <dirent.h>

#include "campaign.h"
#include "causal/cover.h"
#include "marking.h"
#include "causal_gen.h"
#include "causal_naive.h"
#include "check.h"
#include "genmodel.h"
#include "lang/lang.h"

struct loaded {
	struct lang l;
	struct arena a;
	struct diags d;
	struct program g;
	bool ok;
};

static void load_text(struct loaded *x, const char *name, const char *text, size_t len,
                      const struct program_options *po)
{
	struct lang_options lo = { .sml = -1 };
	struct program_options none = { 0 };
	const char *limit;
	lang_init(&x->l);
	arena_init(&x->a, (size_t)1 << 30);
	diags_init(&x->d, &x->a);
	x->ok = lang_load_text(&x->l, name, text, len, &lo) &&
	        program_make(x->l.ir, po ? po : &none, &x->a, &x->d, &x->g, &limit) == PROGRAM_OK;
	if (!x->ok) {
		struct buf b;
		buf_init(&b);
		diags_render(&x->l.diags, &b, false);
		diags_render(&x->d, &b, false);
		printf("# %s\n%s\n", text, buf_cstr(&b));
		buf_free(&b);
	}
}

static void unload(struct loaded *x)
{
	lang_free(&x->l);
	arena_free(&x->a);
}

static void declared(const struct program *g, uint32_t *count)
{
	for (uint32_t t = 0; t < g->ir->ntemplates; t++)
		count[t] = g->ir->templates[t].count;
}

static enum cover_status cover(const struct program *g, uint32_t block, uint32_t owners,
                               const uint32_t *count, struct cover_result *r)
{
	struct cover_options o = { .block = block, .owners = owners, .count = count,
		                   .max_states = 1000000 };
	cover_run(g, &o, r);
	return r->status;
}

static void generate(struct buf *b, uint64_t seed, unsigned threads, unsigned size, bool loops,
                     const char **name)
{
	*name = seed % 2 ? "random.atm" : "random.sml";
	if (seed % 2)
		cgen_atm(b, seed, threads, size, loops);
	else
		cgen_sml_program(b, seed, threads, size, loops);
}

/* ---- cover against the coloured marking graph ---------------------------- */

static int compare_colours(uint64_t seed, struct loaded *x, uint32_t block)
{
	uint32_t count[8];
	struct cover_result r;
	declared(&x->g, count);
	int want = naive_red(&x->g, count, block, 60000, NULL);
	if (want < 0)
		return -1;
	enum cover_status got = cover(&x->g, block, 1, count, &r);
	CHECK(got == (want ? COVER_RED : COVER_SAFE));
	if (got != (want ? COVER_RED : COVER_SAFE))
		printf("# seed %llu block %u: naive %d, cover %d\n", (unsigned long long)seed, block, want, got);
	cover_result_free(&r);
	return want;
}

static void test_colours_random(void)
{
	struct campaign w = campaign(0, 250);
	int n = w.n, red = 0, safe = 0, skipped = 0;
	uint64_t seed = w.seed;
	for (int i = 0; i < n && !check_failed; i++, seed++) {
		struct buf b;
		struct loaded x;
		const char *name;
		buf_init(&b);
		generate(&b, seed, 2 + (unsigned)(seed / 2 % 3), 5, true, &name);
		load_text(&x, name, buf_cstr(&b), b.len, NULL);
		CHECK(x.ok);
		for (uint32_t k = 0; x.ok && k <= x.l.ir->nblocks; k++) {
			int got = compare_colours(seed, &x, k < x.l.ir->nblocks ? k : IR_NONE);
			red += got == 1;
			safe += got == 0;
			skipped += got < 0;
		}
		if (check_failed)
			printf("# seed %llu\n%s\n", (unsigned long long)seed, buf_cstr(&b));
		unload(&x);
		buf_free(&b);
	}
	printf("# cover and the marking graph, from seed %llu: %d programs: %d questions red, %d safe, %d too large; "
	       "%d disagreements\n", (unsigned long long)w.seed, n, red, safe, skipped, check_failed);
	CHECK(red > n / 4 && safe > n / 4);
}

/* ---- any number of threads ----------------------------------------------- */

/* Every template as often as a digit of `numbers` says, from 1. */
static int naive_numbers(const struct program *g, uint32_t block, uint32_t total)
{
	uint32_t nt = g->ir->ntemplates, count[8];
	bool unknown = false;
	for (uint32_t t = 0; t < nt; t++)
		count[t] = 1;
	for (;;) {
		uint32_t sum = 0, t = 0;
		for (uint32_t k = 0; k < nt; k++)
			sum += count[k];
		if (sum == total) {
			int r = naive_red(g, count, block, 60000, NULL);
			if (r == 1)
				return 1;
			unknown |= r < 0;
		}
		while (t < nt && ++count[t] > total)
			count[t++] = 1;
		if (t == nt)
			return unknown ? -1 : 0;
	}
}

static void any_one(struct loaded *x, uint32_t block, int *red, int *safe)
{
	uint32_t nt = x->g.ir->ntemplates, count[8], sum = 0;
	struct cover_result r;
	for (uint32_t t = 0; t < nt; t++)
		count[t] = COVER_ANY;
	enum cover_status got = cover(&x->g, block, 1, count, &r);
	if (got == COVER_SAFE) {
		++*safe;
		for (uint32_t n = nt; n <= (nt > 3 ? nt : 4); n++)
			CHECK(naive_numbers(&x->g, block, n) != 1);
	} else if (got == COVER_RED) {
		++*red;
		CHECK(r.smallest && r.path);
		for (uint32_t t = 0; t < nt; t++)
			sum += r.count[t];
		for (uint32_t n = nt; n <= sum && n <= 5; n++) {
			int want = naive_numbers(&x->g, block, n);
			CHECK(want < 0 || want == (n == sum));
		}
	}
	cover_result_free(&r);
}

static void test_any_random(void)
{
	struct campaign w = campaign(500000, 480);
	int n = w.n / 8, red = 0, safe = 0;
	uint64_t seed = w.seed * 2 + 1;
	for (int i = 0; i < n && !check_failed; i++, seed += 2) {
		struct buf b;
		struct loaded x;
		const char *name;
		buf_init(&b);
		generate(&b, seed, 1 + (unsigned)(seed / 2 % 2), 4, true, &name);
		load_text(&x, name, buf_cstr(&b), b.len, NULL);
		CHECK(x.ok);
		for (uint32_t k = 0; x.ok && k < x.l.ir->nblocks && !check_failed; k++)
			any_one(&x, k, &red, &safe);
		if (check_failed)
			printf("# seed %llu\n%s\n", (unsigned long long)seed, buf_cstr(&b));
		unload(&x);
		buf_free(&b);
	}
	printf("# any number of threads, from seed %llu: %d programs: %d blocks red, %d safe; %d disagreements\n",
	       (unsigned long long)w.seed * 2 + 1, n, red, safe, check_failed);
	CHECK(red > n / 4 && safe > n / 8);
}

/* ---- cycles of several blocks --------------------------------------------- */

static void test_cycles_random(void)
{
	struct campaign w = campaign(2000000, 300);
	int n = w.n, cyclic = 0, acyclic = 0, skipped = 0, only = 0;
	uint64_t seed = w.seed;
	for (int i = 0; i < n && !check_failed; i++, seed++) {
		struct buf b;
		struct loaded x;
		struct cover_result r, one;
		const char *name;
		uint32_t count[8];
		buf_init(&b);
		if (seed % 4 == 0) {
			name = "random.sml";
			cgen_crossed(&b, seed);
		} else {
			generate(&b, seed, 2 + (unsigned)(seed / 2 % 3), seed % 3 ? 2 : 3, false, &name);
		}
		load_text(&x, name, buf_cstr(&b), b.len, NULL);
		CHECK(x.ok);
		declared(&x.g, count);
		int want = naive_cycle(&x.g, count, 40000);
		enum cover_status got = cover(&x.g, COVER_ANY, COVER_MAX_OWNERS, count, &r);
		enum cover_status atomic = cover(&x.g, COVER_ANY, 1, count, &one);
		CHECK(want < 0 || got == (want ? COVER_RED : COVER_SAFE));
		CHECK(atomic != COVER_RED || got == COVER_RED); /* a broken block is a cycle */
		cyclic += want == 1;
		acyclic += want == 0;
		skipped += want < 0;
		only += want == 1 && atomic == COVER_SAFE; /* as Fig. 1 */
		if (check_failed)
			printf("# seed %llu: naive %d, cover %d\n%s\n", (unsigned long long)seed, want, got,
			       buf_cstr(&b));
		cover_result_free(&r);
		cover_result_free(&one);
		unload(&x);
		buf_free(&b);
	}
	printf("# cycles, from seed %llu: %d programs: %d with a cycle (%d of several blocks only), %d without, "
	       "%d too large; %d disagreements\n", (unsigned long long)w.seed, n, cyclic, only, acyclic, skipped, check_failed);
	CHECK(cyclic > n / 8 && acyclic > n / 8 && (n < 200 || only > n / 100));
}

/* ---- nets ----------------------------------------------------------------- */

static void test_nets_random(void)
{
	struct campaign w = campaign(3000000, 200);
	int n = w.n / 2, compared = 0;
	uint64_t seed = w.seed;
	for (int i = 0; i < n && !check_failed; i++, seed++) {
		struct buf b;
		struct loaded x;
		struct colour_net net;
		struct markings m;
		const char *name, *limit;
		uint32_t count[8];
		uint64_t want = 0;
		buf_init(&b);
		generate(&b, seed, 2 + (unsigned)(seed / 2 % 2), 4, true, &name);
		load_text(&x, name, buf_cstr(&b), b.len, NULL);
		CHECK(x.ok && program_net(&x.g, NULL, 0, IR_NONE, &x.a, &x.d, &net, &limit));
		declared(&x.g, count);
		/* no block has this number: nothing is chosen, colours stay A */
		int r = naive_red(&x.g, count, IR_NONE - 1, 20000, &want);
		markings_explore(&net.net, 100000, 0, 0, true, &m);
		CHECK_EQ(m.unsafe, NET_NONE);
		if (r == 0 && !m.limit) {
			CHECK_EQ(m.n, want);
			compared++;
		}
		if (check_failed)
			printf("# seed %llu\n%s\n", (unsigned long long)seed, buf_cstr(&b));
		markings_free(&m);
		unload(&x);
		buf_free(&b);
	}
	printf("# markings of nets, from seed %llu: %d nets, %d compared, %d disagreements\n",
	       (unsigned long long)w.seed, n, compared, check_failed);
	CHECK(compared > n / 2);
}

/* ---- every concrete step has its action ------------------------------------ */

struct walk {
	struct loaded *x;
	uint8_t *may; /* thread x spot: the thread may be there */
};

/* Do the known values of a spot agree with a concrete frame? */
static bool agrees(const struct program *g, uint32_t spot, const int32_t *frame)
{
	const struct spot *s = &g->spots[spot];
	if (s->node != (uint32_t)frame[0])
		return false;
	for (uint32_t i = 1; i < g->ir->templates[s->tmpl].nslots; i++)
		if (g->values[s->value + i].known && g->values[s->value + i].value != frame[i])
			return false;
	return true;
}

static uint32_t cell_of_event(const struct program *g, const struct ir_event *e)
{
	return g->cell_at[e->var] + (g->one_cell[e->var] ? 0 : e->elem);
}

/* The touches of a concrete step, ascending by cell. */
static uint32_t touches_of(const struct program *g, const struct ir_effect *eff, struct touch *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < eff->nevents; i++) {
		const struct ir_event *e = &eff->events[i];
		uint32_t cell = cell_of_event(g, e), k = 0;
		const struct program_cell *c = &g->cells[cell];
		bool reads = (e->mode & (IRA_READ | IRA_ACQUIRE | IRA_RELEASE)) != 0;
		bool writes = !(e->mode & IRA_READ_INV) && !(e->mode & IRA_READ_RESP) && e->mode != IRA_READ;
		while (k < n && out[k].cell < cell)
			k++;
		if (k == n || out[k].cell != cell) {
			memmove(out + k + 1, out + k, (n - k) * sizeof *out);
			out[k] = (struct touch){ cell, PROGRAM_ANY, PROGRAM_ANY, false };
			n++;
			if (c->nvalues && reads)
				out[k].need = (uint32_t)(e->before - c->lo);
		} else if (c->nvalues && reads && !out[k].write && out[k].need == PROGRAM_ANY) {
			out[k].need = (uint32_t)(e->before - c->lo);
		}
		if (writes) {
			out[k].write = true;
			if (c->nvalues)
				out[k].put = (uint32_t)(e->after - c->lo);
		}
	}
	return n;
}

/* Moves the thread's set of spots by a concrete step; false: no action fits. */
static bool follow(struct walk *w, uint32_t thread, const struct ir_effect *eff, const int32_t *frame)
{
	const struct program *g = &w->x->g;
	struct touch want[IR_MAX_EVENTS + 1];
	uint32_t n = touches_of(g, eff, want);
	uint8_t *may = w->may + (size_t)thread * g->nspots, *next = calloc(g->nspots, 1);
	bool any = false;
	for (uint32_t i = 0; i < g->nactions; i++) {
		const struct action *a = &g->actions[i];
		bool fits = may[a->from] && a->ntouch == n && a->entered == eff->entered &&
		            a->exited == eff->exited && agrees(g, a->to, frame);
		for (uint32_t k = 0; k < n && fits; k++) {
			const struct touch *t = &g->touches[a->touch + k];
			fits = t->cell == want[k].cell && t->write == want[k].write &&
			       t->need == want[k].need && t->put == want[k].put;
		}
		if (fits)
			next[a->to] = 1;
		any |= fits;
	}
	memcpy(may, next, g->nspots);
	free(next);
	return any;
}

struct pick_step {
	struct walk *w;
	uint32_t target, at, thread;
	int32_t *out;
	bool ok, taken;
};

static bool pick_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                      const struct ir_effect *eff)
{
	struct pick_step *p = arg;
	(void)ch;
	(void)eff;
	if (r != IR_OK)
		return true;
	if (p->at++ != p->target)
		return true;
	memcpy(p->out, next, p->w->x->l.ir->nstate * sizeof *next);
	p->taken = true;
	return true;
}

/* A random run of `steps` steps, followed in the abstraction. */
static void walk_randomly(struct loaded *x, struct rng *rng, int steps)
{
	const struct ir *p = x->l.ir;
	struct walk w = { x, calloc((size_t)p->nthreads * x->g.nspots + 1, 1) };
	int32_t *state = malloc(sizeof *state * p->nstate * 3), *next = state + p->nstate;
	int32_t *scratch = next + p->nstate;
	struct ir_event events[IR_MAX_EVENTS];
	memcpy(state, p->init, sizeof *state * p->nstate);
	for (uint32_t t = 0; t < p->nthreads; t++)
		w.may[(size_t)t * x->g.nspots + x->g.start[p->threads[t].tmpl]] = 1;
	for (int i = 0; i < steps && !check_failed; i++) {
		uint32_t t = rng_below(rng, p->nthreads);
		struct pick_step k = { .w = &w, .target = rng_below(rng, 3), .out = next };
		ir_successors(p, state, t, scratch, pick_step, &k);
		if (!k.taken)
			continue;
		/* once more, to see the events of this outcome */
		struct ir_choices ch = { 0 };
		struct ir_effect eff = { .events = events };
		bool found = false;
		do {
			found = ir_step(p, state, t, &ch, scratch, &eff) == IR_OK &&
			        !memcmp(scratch, next, sizeof *next * p->nstate);
		} while (!found && ir_choices_next(&ch));
		CHECK(found && eff.nevents < IR_MAX_EVENTS);
		CHECK(follow(&w, t, &eff, next + p->threads[t].frame));
		if (check_failed)
			printf("# step %d, thread %u, node %u\n", i, t, ir_node_of(p, state, t));
		memcpy(state, next, sizeof *state * p->nstate);
	}
	free(w.may);
	free(state);
}

static void test_abstraction_random(void)
{
	struct campaign w = campaign(4000000, 250);
	int n = w.n;
	uint64_t seed = w.seed;
	for (int i = 0; i < n && !check_failed; i++, seed++) {
		struct buf b;
		struct loaded x;
		struct rng rng;
		const char *name;
		buf_init(&b);
		if (seed % 5 == 0) {
			name = "random.atm";
			gen_model(&b, seed, true, true);
		} else {
			generate(&b, seed, 2 + (unsigned)(seed / 2 % 3), 8, true, &name);
		}
		load_text(&x, name, buf_cstr(&b), b.len, NULL);
		CHECK(x.ok);
		rng_seed(&rng, seed);
		for (int k = 0; x.ok && k < 6; k++)
			walk_randomly(&x, &rng, 60);
		if (check_failed)
			printf("# seed %llu\n%s\n", (unsigned long long)seed, buf_cstr(&b));
		unload(&x);
		buf_free(&b);
	}
	printf("# steps and actions, from seed %llu: %d programs, 6 runs of up to 60 steps each, %d disagreements\n",
	       (unsigned long long)w.seed, n, check_failed);
}

/* The examples have what the generators have not: arrays, enums, slow registers,
 * objects, choices. */
static void walk_example(const char *dir, const char *file)
{
	char path[512];
	struct lang_options lo = { .sml = -1 };
	struct program_options po = { 0 };
	struct loaded x;
	struct rng rng;
	const char *limit;
	snprintf(path, sizeof path, "%s/%s", dir, file);
	lang_init(&x.l);
	arena_init(&x.a, (size_t)1 << 30);
	diags_init(&x.d, &x.a);
	x.ok = lang_load(&x.l, path, &lo) &&
	       program_make(x.l.ir, &po, &x.a, &x.d, &x.g, &limit) == PROGRAM_OK;
	CHECK(x.ok);
	rng_seed(&rng, 7);
	for (int k = 0; x.ok && k < 20; k++)
		walk_randomly(&x, &rng, 300);
	if (check_failed)
		printf("# %s\n", path);
	unload(&x);
}

static const char *examples;

static void test_abstraction_examples(void)
{
	DIR *d = opendir(examples);
	int n = 0;
	CHECK(d != NULL);
	for (struct dirent *e; d && (e = readdir(d));) {
		size_t len = strlen(e->d_name);
		if (len < 4 || (strcmp(e->d_name + len - 4, ".atm") && strcmp(e->d_name + len - 4, ".sml")))
			continue;
		walk_example(examples, e->d_name);
		n++;
	}
	if (d)
		closedir(d);
	printf("# %d examples\n", n);
	CHECK(n > 30);
}

int main(int argc, char **argv)
{
	examples = argc > 1 ? argv[1] : "examples";
	RUN(test_colours_random);
	RUN(test_any_random);
	RUN(test_cycles_random);
	RUN(test_nets_random);
	RUN(test_abstraction_random);
	RUN(test_abstraction_examples);
	return check_done();
}
