/*
 * The core of exploration: each reduction on and off, one thread and two, in
 * memory and on disk, on random models; known counts; limits.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "campaign.h"
#include "check.h"
#include "explore/locks.h"
#include "explore/search_int.h"
#include "genmodel.h"
#include "lang/lang.h"

static void print_seeds(const struct campaign *c)
{
	printf("# seeds %llu..%llu, %d disagreements: ", (unsigned long long)c->seed,
	       (unsigned long long)c->seed + (unsigned long long)c->n - 1, check_failed);
}

/* ---- reductions and threads on random models ----------------------------- */

static struct {
	unsigned models, questions, hold, wrong, other, fault, with_movers, smaller, on_disk;
} count;

/* Once a model: what is wrong with one set of reductions is with many. */
static void complain(uint64_t seed, const char *text, const char *what, int mask)
{
	static uint64_t last = UINT64_MAX;
	check_failed++;
	if (seed == last)
		return;
	last = seed;
	printf("# seed %llu: %s (reductions %d)\n", (unsigned long long)seed, what, mask);
	for (const char *s = text; *s;) {
		const char *nl = strchr(s, '\n');
		int n = nl ? (int)(nl - s) : (int)strlen(s);
		printf("#   %.*s\n", n, s);
		s += nl ? n + 1 : n;
	}
}

struct outcome_at {
	uint32_t want, at;
	int32_t *next;
	uint32_t nstate;
	enum ir_result r;
	bool found;
};

static bool take(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                 const struct ir_effect *eff)
{
	struct outcome_at *o = arg;
	(void)ch;
	(void)eff;
	if (o->at++ != o->want)
		return true;
	o->found = true;
	o->r = r;
	memcpy(o->next, next, sizeof *next * o->nstate);
	return false;
}

/* The path can be taken, and ends in a fault when that is what was found. */
static bool replays(const struct ir *p, const struct search_result *r)
{
	int32_t *room = calloc((size_t)p->nstate * 3, sizeof *room), *state = room;
	int32_t *next = room + p->nstate, *scratch = next + p->nstate;
	bool ok = r->npath > 0;
	memcpy(state, p->init, sizeof *state * p->nstate);
	for (uint32_t i = 0; ok && i < r->npath; i++) {
		struct outcome_at o = { r->path[i].outcome, 0, next, p->nstate, IR_BLOCKED, false };
		ir_successors(p, state, r->path[i].thread, scratch, take, &o);
		bool last = i + 1 == r->npath;
		ok = o.found && o.r == (last && r->verdict == SEARCH_FAULT ? IR_FAULT : IR_OK);
		memcpy(state, next, sizeof *state * p->nstate);
	}
	if (ok && r->verdict == SEARCH_WRONG)
		ok = ir_quiescent(p, state);
	free(room);
	return ok;
}

static bool same_path(const struct search_result *a, const struct search_result *b)
{
	return a->npath == b->npath && (!a->npath || !memcmp(a->path, b->path, a->npath * sizeof *a->path));
}

static bool same_result(const struct search_result *a, const struct search_result *b)
{
	return a->verdict == b->verdict && a->states == b->states && a->transitions == b->transitions && a->depth == b->depth &&
	       same_path(a, b);
}

static void went_to_disk(void *arg, uint64_t states)
{
	(void)states;
	++*(unsigned *)arg;
}

/* The same on disk, from some state on, with so little room that there are many runs. */
static void compare_disk(const struct ir *p, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                         struct search_options o, const struct search_result *r, uint64_t seed, const char *text, int mask)
{
	static int dir = -1;
	if (dir < 0)
		dir = open(access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", O_RDONLY | O_DIRECTORY);
	uint64_t random = seed * 16 + (uint64_t)mask;
	struct disk_place place = { .dir = dir, .from = random % 5 ? 1 + random % 97 : 1, .keys = random % 3 ? 1 + random % 11 : 300,
		                    .begun = went_to_disk, .arg = &count.on_disk };
	struct search_result there;
	o.disk = &place;
	o.jobs = 1 + (uint32_t)random % 2;
	search_run(p, mode, block, lab, &o, &there);
	if (!same_result(r, &there))
		complain(seed, text, "on disk it is different", mask);
	search_result_free(&there);
}

/* One question under every set of reductions, with one thread and with two. */
static void compare(const struct ir *p, enum prod_mode mode, uint32_t block,
                    const struct labelling *lab, bool faults, uint64_t seed, const char *text)
{
	struct search_result first = { 0 };
	count.questions++;
	for (int mask = 0; mask < 16; mask++) {
		struct search_options o = { .symmetry = mask & 1, .merge_local = (mask & 2) != 0,
			                    .drop_pure = (mask & 4) != 0, .transactions = (mask & 8) != 0,
			                    .faults = faults };
		struct search_result r, two;
		search_run(p, mode, block, lab, &o, &r);
		o.jobs = 2;
		o.jobs_from = o.chunk = 1; /* so that they really share the little there is */
		search_run(p, mode, block, lab, &o, &two);
		compare_disk(p, mode, block, lab, o, &r, seed, text, mask);
		if (!same_result(&r, &two))
			complain(seed, text, "two threads differ from one", mask);
		if (r.verdict == SEARCH_LIMIT)
			complain(seed, text, "a limit", mask);
		if (r.verdict != SEARCH_HOLDS && block == PROD_BLOCK_ALL && !replays(p, &r))
			complain(seed, text, "the path does not replay", mask);
		search_result_free(&two);
		if (!mask) {
			first = r;
			count.hold += r.verdict == SEARCH_HOLDS;
			count.wrong += r.verdict == SEARCH_WRONG;
			count.fault += r.verdict == SEARCH_FAULT;
			count.other += r.verdict > SEARCH_FAULT;
			continue;
		}
		if ((r.verdict == SEARCH_HOLDS) != (first.verdict == SEARCH_HOLDS))
			complain(seed, text, "a reduction changes the verdict", mask);
		if (r.verdict == SEARCH_HOLDS && r.states > first.states)
			complain(seed, text, "a reduction adds states", mask);
		count.smaller += mask == 8 && r.verdict == SEARCH_HOLDS && r.states < first.states;
		search_result_free(&r);
	}
	search_result_free(&first);
}

static void compare_labelled(const struct ir *p, uint32_t block, uint64_t seed, const char *text)
{
	struct labelling lab = { calloc(p->nsuccs + 1, 1), calloc(p->nblocks + 1, sizeof(bool)) };
	struct rng r;
	rng_seed(&r, seed);
	for (int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < p->nsuccs; i++)
			lab.edge[i] = k && rng_below(&r, 4) == 0;
		for (uint32_t i = 0; i < p->nblocks; i++)
			lab.at_entry[i] = k && rng_below(&r, 6) == 0;
		compare(p, PROD_COMMIT, block, &lab, false, seed, text);
	}
	free(lab.edge);
	free(lab.at_entry);
}

static bool anywhere(const void *arg, uint32_t node)
{
	(void)arg;
	(void)node;
	return true;
}

static void compare_model(uint64_t seed)
{
	struct buf b;
	struct lang l;
	struct locks locks;
	struct lang_options o = { .sml = 0 };
	buf_init(&b);
	gen_model_of(&b, seed, seed % 5 == 0, seed % 3 == 0, seed % 4 != 0);
	if (seed % 7 == 0) /* something that may fail */
		buf_str(&b, "thread watch { assert(x0 != 2 || x1 != 1); }\n");
	lang_init(&l);
	count.models++;
	if (!lang_load_text(&l, "random.atm", b.data, b.len, &o)) {
		complain(seed, b.data, "does not load", 0);
	} else {
		if (locks_init(&locks, l.ir, anywhere, NULL))
			count.with_movers += locks.nmovers > 0;
		locks_free(&locks);
		compare(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, true, seed, b.data);
		compare_labelled(l.ir, PROD_BLOCK_ALL, seed, b.data);
		if (l.ir->nblocks > 1)
			compare_labelled(l.ir, (uint32_t)(seed % l.ir->nblocks), seed, b.data);
	}
	lang_free(&l);
	buf_free(&b);
}

static void test_random_models(void)
{
	struct campaign c = campaign(0, 120);
	compare_model(377); /* a block that commits by a try in vain */
	for (int i = 0; i < c.n && check_failed < 3; i++)
		compare_model(c.seed + (uint64_t)i);
	print_seeds(&c);
	printf("%u models (%u with movers), %u questions, each under 16 sets of reductions with one thread and "
	       "with two: %u hold, %u wrong, %u faults, %u other; transactions alone made %u smaller\n",
	       count.models, count.with_movers, count.questions, count.hold, count.wrong, count.fault,
	       count.other, count.smaller);
	CHECK(count.hold > count.questions / 5);
	CHECK(count.wrong > count.questions / 20);
	CHECK(count.on_disk > count.questions * 8);
	CHECK(count.with_movers > count.models / 2);
	CHECK(count.smaller > count.questions / 20);
}

/* ---- known counts --------------------------------------------------------- */

static void load(struct lang *l, const char *text)
{
	struct lang_options o = { .sml = 0 };
	lang_init(l);
	CHECK(lang_load_text(l, "a.atm", text, strlen(text), &o));
}

static uint64_t states_of(const char *text, enum prod_mode mode, struct search_options o)
{
	struct lang l;
	struct search_result r;
	load(&l, text);
	search_run(l.ir, mode, PROD_BLOCK_ALL, NULL, &o, &r);
	CHECK_EQ(r.verdict, SEARCH_HOLDS);
	uint64_t states = r.states;
	search_result_free(&r);
	lang_free(&l);
	return states;
}

#define ACQUIRE(n) \
	"bool m; int[0..3] data;\n" \
	"thread w * " #n " { while (true) { atomic { while (!cas(m, false, true)) { }\n" \
	"  data = (data + 1) % 4; m = false; commit; } } }\n"
#define TRANSACTION(n) \
	"bool m; int[0..3] data;\n" \
	"proc take() { while (!cas(m, false, true)) { } }\n" \
	"thread w * " #n " { while (true) { atomic {\n" \
	"  while (true) { take(); int[0..3] t = data; m = false; int[0..3] f = (t + 1) % 4;\n" \
	"    take(); if (t == data) { data = f; commit; m = false; break; } m = false; } } } }\n"

static void test_counts(void)
{
	struct search_options none = { 0 }, sorted = { .symmetry = true, .merge_local = true,
		                                       .drop_pure = true };
	struct search_options all = sorted;
	all.transactions = true;
	/* n threads, a third of a choice each but for the owner: n 3^(n-1) 12 + 3^n 4 */
	CHECK_EQ(states_of(ACQUIRE(9), PROD_COMMIT, none), 9 * 6561 * 12 + 19683 * 4);
	none.jobs = 3;
	CHECK_EQ(states_of(ACQUIRE(9), PROD_COMMIT, none), 9 * 6561 * 12 + 19683 * 4);
	CHECK_EQ(states_of(ACQUIRE(7), PROD_COMMIT, sorted), 16);
	CHECK_EQ(states_of(ACQUIRE(500), PROD_COMMIT, sorted), 16); /* a tree */
	CHECK_EQ(states_of(ACQUIRE(500), PROD_COMMIT, all), 4);
	CHECK_EQ(states_of(TRANSACTION(8), PROD_COMMIT, sorted), 31080);
	CHECK_EQ(states_of(TRANSACTION(8), PROD_COMMIT, all), 4488);
	sorted.jobs = 2;
	CHECK_EQ(states_of(TRANSACTION(8), PROD_COMMIT, sorted), 31080);
}

/* ---- locks ---------------------------------------------------------------- */

static uint32_t movers_of(const char *text)
{
	struct lang l;
	struct locks k;
	load(&l, text);
	CHECK(locks_init(&k, l.ir, anywhere, NULL));
	uint32_t n = k.nmovers;
	locks_free(&k);
	lang_free(&l);
	return n;
}

static void test_locks(void)
{
	/* cas, read, write, reset */
	CHECK_EQ(movers_of(ACQUIRE(2)), 4);
	CHECK_EQ(movers_of("bool m; int x; thread w * 2 { while (exchange(m, true)) { } x = x + 1; m = false; }"), 4);
	CHECK_EQ(movers_of("lock l; int x; thread w * 2 { acquire(l); x = x + 1; release(l); }"), 4);
	/* failing has an effect: a try-lock; tries that are counted */
	CHECK_EQ(movers_of("bool m; int x; thread w * 2 { if (cas(m, false, true)) { x = x + 1; m = false; } }"), 0);
	CHECK_EQ(movers_of("bool m; int x; thread w * 2 { int k = 0; while (!cas(m, false, true)) { k = (k + 1) % 9; }"
	                   " x = x + k; m = false; }"), 0);
	/* somebody looks at it, or resets it without holding it */
	CHECK_EQ(movers_of("bool m; int x; thread w * 2 { while (!cas(m, false, true)) { } x = x + 1; m = false; }"
	                   "thread z * 2 { assert(!m || m); }"), 0);
	CHECK_EQ(movers_of("bool m; int x; thread w * 2 { while (!cas(m, false, true)) { } x = x + 1; m = false; }"
	                   "thread z * 2 { m = false; }"), 0);
	/* held on one path only */
	CHECK_EQ(movers_of("bool m; bool c; int x; thread w * 2 { if (c) { while (!cas(m, false, true)) { } }"
	                   " x = x + 1; c = true; m = false; }"), 0);
	/* taken to begin with */
	CHECK_EQ(movers_of("bool m = true; int x; thread w * 2 { while (!cas(m, false, true)) { } x = x + 1; m = false; }"), 0);
	/* a variable that is not always protected: cas and reset only */
	CHECK_EQ(movers_of("bool m; int x; thread w * 2 { while (!cas(m, false, true)) { } x = x + 1; m = false; x = 0; }"), 2);
	/* different locks for the same variable */
	CHECK_EQ(movers_of("bool m; bool k; int x; thread w * 2 { while (!cas(m, false, true)) { } x = 1; m = false; }"
	                   "thread z * 2 { while (!cas(k, false, true)) { } x = 2; k = false; }"), 4);
	/* a flag that all set and nobody reads; one that is read; one that is set and reset */
	CHECK_EQ(movers_of("bool f; thread w * 2 { f = true; }"), 1);
	CHECK_EQ(movers_of("bool f; thread w * 2 { f = true; } thread z * 2 { assert(f || !f); }"), 0);
	CHECK_EQ(movers_of("bool f; thread w * 2 { f = true; f = false; }"), 0);
	/* one thread's own variable, and one that nobody writes */
	CHECK_EQ(movers_of("int x; int y; int c = 3; thread w { x = x + 1; y = c; } thread z * 2 { y = c; }"), 4);
}

/* ---- limits --------------------------------------------------------------- */

static void test_limits(void)
{
	struct lang l;
	struct search_result r, two;
	load(&l, "int x; thread w * 3 { while (true) { atomic { x = x + 1; } } }");
	struct search_options o = { .max_states = 30000 }, p;
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &r);
	o.jobs = 2;
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &two);
	CHECK_EQ(r.verdict, SEARCH_LIMIT);
	CHECK_STR(r.limit, "states");
	CHECK(r.states > 30000 && r.states < 60000);
	CHECK_EQ(two.verdict, SEARCH_LIMIT); /* and exactly as much was covered */
	CHECK_EQ(two.states, r.states);
	CHECK_EQ(two.transitions, r.transitions);
	CHECK_EQ(two.depth, r.depth);
	for (uint32_t jobs = 1; jobs <= 2; jobs++) {
		struct timespec t;
		p = (struct search_options){ .max_bytes = 24 << 20, .jobs = jobs };
		search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &p, &r);
		CHECK_EQ(r.verdict, SEARCH_LIMIT);
		CHECK_STR(r.limit, "memory");
		CHECK(r.bytes < 60 << 20);
		clock_gettime(CLOCK_MONOTONIC, &t);
		p = (struct search_options){ .deadline = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + 0.15,
			                     .jobs = jobs };
		search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &p, &r);
		CHECK_EQ(r.verdict, SEARCH_LIMIT);
		CHECK_STR(r.limit, "time");
	}
	lang_free(&l);
}

/* The second search, which finds the way to a violation, keeps to the limits
 * too; given anew here, as if the first had spent them. */
static void test_limits_of_tracing(void)
{
	struct lang l;
	load(&l, "int x; thread w * 3 { int i = 0; while (i < 9) { atomic { x = x + 1; } i = i + 1; } assert(x != 27); }");
	for (uint32_t jobs = 1; jobs <= 2; jobs++) {
		struct search_options o = { .faults = true, .symmetry = true, .jobs = jobs, .jobs_from = 1 };
		struct search_result found, r;
		search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &found);
		CHECK_EQ(found.verdict, SEARCH_FAULT);
		CHECK(found.npath > 27 && replays(l.ir, &found));
		search_result_free(&found);
		struct search_options spent[] = { o, o, o };
		static const char *const limit[] = { "time", "states", "memory" };
		spent[0].deadline = 1e-9;
		spent[1].max_states = 100;
		spent[2].max_bytes = 1000;
		for (int i = 0; i < 3; i++) {
			r = (struct search_result){ .verdict = SEARCH_FAULT };
			search_trace(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &spent[i], false, &r);
			CHECK_EQ(r.verdict, SEARCH_LIMIT);
			CHECK_STR(r.limit, limit[i]);
			CHECK(!r.path && !r.npath && r.states);
		}
	}
	lang_free(&l);
}

int main(void)
{
	RUN(test_counts);
	RUN(test_locks);
	RUN(test_limits);
	RUN(test_limits_of_tracing);
	RUN(test_random_models);
	return check_done();
}
