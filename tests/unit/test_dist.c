/*
 * Ranks: messages and phases between ranks that are threads, against what each rank knows must arrive; batches of states
 * written and read; and searches that ranks share (search_dist.h) against the search alone: random models under random sets of
 * reductions, two to four ranks, one thread or two in each, messages of a few states that are delayed at random; limits.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/rng.h"
#include "campaign.h"
#include "check.h"
#include "check/serve.h"
#include "dist/dist_threads.h"
#include "explore/key_code.h"
#include "explore/key_merge.h"
#include "explore/search_dist.h"
#include "explore/state_run.h"
#include "genmodel.h"
#include "lang/lang.h"

#define RANKS 5u

/* ---- messages and phases ------------------------------------------------------ */

struct talker {
	pthread_t thread;
	struct dist d;
	uint64_t seed;
	unsigned wrong, taken;
};

#define PHASES 6u
#define MOST   40u

/* How many messages rank `from` sends to `to` in a phase: known to both. */
static uint32_t messages(uint64_t seed, uint32_t phase, uint32_t from, uint32_t to)
{
	struct rng r;
	rng_seed(&r, seed + phase * 10007ull + from * 101 + to);
	return rng_below(&r, MOST);
}

static bool take_what_came(struct talker *t, uint32_t phase, uint32_t *next)
{
	uint32_t from, what[3];
	unsigned char *bytes;
	size_t n;
	bool came = false;
	while (dist_take(&t->d, &from, &bytes, &n)) {
		bool ok = n >= 1 + sizeof what && bytes[0] == 9;
		memcpy(what, bytes + 1, ok ? sizeof what : 0);
		/* of this phase, from whom it says, in order, and long as it was */
		t->wrong += !ok || what[0] != phase || what[1] != next[from]++ || n != 1 + sizeof what + what[2];
		t->taken++;
		came = true;
		free(bytes);
	}
	return came;
}

static void *talk(void *arg)
{
	struct talker *t = arg;
	struct dist *d = &t->d;
	struct rng r;
	rng_seed(&r, t->seed + d->rank);
	for (uint32_t phase = 0; phase < PHASES; phase++) {
		uint32_t next[RANKS] = { 0 }, sent[RANKS] = { 0 }, idle = 0;
		bool more = true;
		while (more) {
			more = false;
			for (uint32_t to = 0; to < d->n; to++) {
				if (to == d->rank || sent[to] == messages(t->seed, phase, d->rank, to))
					continue;
				uint32_t what[3] = { phase, sent[to]++, rng_below(&r, 200) };
				unsigned char *bytes = calloc(1, 1 + sizeof what + what[2]);
				bytes[0] = 9;
				memcpy(bytes + 1, what, sizeof what);
				t->wrong += !dist_put(d, to, bytes, 1 + sizeof what + what[2]);
				more = true;
			}
			if (rng_below(&r, 3) == 0)
				take_what_came(t, phase, next);
		}
		dist_end(d);
		while (!dist_ended(d)) {
			idle = take_what_came(t, phase, next) ? 0 : idle % 31;
			dist_pause(&idle);
		}
		take_what_came(t, phase, next);
		for (uint32_t from = 0; from < d->n; from++)
			t->wrong += from != d->rank && next[from] != messages(t->seed, phase, from, d->rank);
		uint64_t v[2] = { d->rank + 1, phase };
		t->wrong += !dist_sum(d, v, 2) || v[0] != d->n * (d->n + 1) / 2 || v[1] != (uint64_t)phase * d->n;
		unsigned char *all, mine[RANKS];
		uint64_t lengths[RANKS], at = 0;
		memset(mine, (int)d->rank, sizeof mine);
		t->wrong += !dist_gather(d, mine, d->rank, &all, lengths); /* rank 0 has nothing to say */
		for (uint32_t i = 0; i < d->n; at += lengths[i++])
			for (uint64_t k = 0; k < lengths[i]; k++)
				t->wrong += lengths[i] != i || all[at + k] != i;
		free(all);
	}
	dist_close(d);
	return NULL;
}

static void test_messages(void)
{
	for (uint32_t n = 1; n <= RANKS; n++)
		for (uint32_t delay = 1; delay <= 9; delay += 4) {
			struct dist_threads *t = dist_threads_new(n, delay);
			struct talker who[RANKS] = { 0 };
			for (uint32_t i = 0; i < n; i++) {
				who[i].seed = n * 100 + delay;
				dist_threads_join(t, i, &who[i].d);
				CHECK(!pthread_create(&who[i].thread, NULL, talk, &who[i]));
			}
			for (uint32_t i = 0; i < n; i++) {
				pthread_join(who[i].thread, NULL);
				CHECK_EQ(who[i].wrong, 0);
				CHECK(n == 1 ? !who[i].taken : who[i].taken > PHASES * (n - 1) * MOST / 4);
			}
			dist_threads_free(t);
		}
}

/* ---- batches of states ----------------------------------------------------------- */

static void test_codes(void)
{
	struct rng r;
	rng_seed(&r, 7);
	for (int turn = 0; turn < 400; turn++) {
		uint32_t words = 1 + rng_below(&r, turn % 10 ? 4 : 18);
		uint64_t n = rng_below(&r, turn % 3 ? 30 : 900);
		uint64_t *keys = calloc(n * words + 1, 8), *room = calloc(n * words + 1, 8), *back = calloc(n * words + 1, 8);
		for (uint64_t i = 0; i < n * words; i++)
			keys[i] = rng_below(&r, 3) ? rng_below(&r, 50) : rng_next(&r) >> rng_below(&r, 64);
		for (uint64_t i = 0; i < n; i++)
			keys[i * words] += !keys[i * words]; /* word 0 of a state is never 0 */
		uint64_t *sorted = key_sort(keys, room, n, words), distinct = key_code_distinct(sorted, n, words), twin = 0;
		for (uint64_t i = 0; i < distinct; i++)
			twin += i && state_run_compare(sorted + (i - 1) * words, sorted + i * words, words) >= 0;
		CHECK_EQ(twin, 0);
		size_t most = key_code_room(distinct, words);
		unsigned char *bytes = malloc(most);
		size_t length = (size_t)(key_code_write(bytes, sorted, distinct, words) - bytes);
		CHECK(length <= most);
		CHECK_EQ(key_code_read(bytes, length, words, back, distinct), distinct);
		CHECK(!memcmp(back, sorted, distinct * words * 8));
		/* one too many, one byte short, bytes of anything: refused or read, never beyond the room */
		if (distinct) {
			CHECK_EQ(key_code_read(bytes, length, words, back, distinct - 1), UINT64_MAX);
			CHECK(key_code_read(bytes, length - 1, words, back, distinct) != distinct);
		}
		for (size_t i = 0; i < length; i++)
			bytes[i] = (unsigned char)rng_next(&r);
		uint64_t got = key_code_read(bytes, length, words, back, distinct);
		CHECK(got == UINT64_MAX || got <= distinct);
		free(bytes);
		free(keys);
		free(room);
		free(back);
	}
}

/* ---- searches -------------------------------------------------------------------- */

static void *serve(void *arg)
{
	struct dist *d = arg;
	CHECK(check_serve(d));
	dist_close(d);
	return NULL;
}

struct group { /* ranks that are threads; this thread is rank 0 */
	struct dist_threads *t;
	struct dist d[RANKS];
	pthread_t thread[RANKS];
	uint32_t n;
};

static void group_begin(struct group *g, uint32_t n, uint32_t delay)
{
	g->n = n;
	g->t = dist_threads_new(n, delay);
	for (uint32_t i = 0; i < n; i++) {
		dist_threads_join(g->t, i, &g->d[i]);
		if (i)
			CHECK(!pthread_create(&g->thread[i], NULL, serve, &g->d[i]));
	}
}

static void group_end(struct group *g)
{
	check_serve_end(&g->d[0]);
	dist_close(&g->d[0]);
	for (uint32_t i = 1; i < g->n; i++)
		pthread_join(g->thread[i], NULL);
	dist_threads_free(g->t);
}

static bool same_result(const struct search_result *a, const struct search_result *b)
{
	return a->verdict == b->verdict && a->states == b->states && a->transitions == b->transitions && a->depth == b->depth &&
	       a->npath == b->npath && (!a->npath || !memcmp(a->path, b->path, a->npath * sizeof *a->path));
}

static struct {
	unsigned questions, shared, hold, wrong, other;
	uint64_t agreements, layouts, states;
} count;

static void compare(struct group *g, const struct ir *p, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                    struct rng *r, uint64_t seed, const char *text)
{
	uint32_t mask = rng_below(r, 32);
	struct search_options o = { .symmetry = mask & 1,
		                    .merge_local = mask >> 1 & 1,
		                    .drop_pure = mask >> 2 & 1,
		                    .transactions = mask >> 3 & 1,
		                    .deadlock = mask >> 4,
		                    .faults = mode == PROD_STANDARD };
	struct search_ranks ranks = { .dist = &g->d[0],
		                      .from = 1 + rng_below(r, rng_below(r, 2) ? 5 : 200),
		                      .batch = rng_below(r, 2) ? 1 + rng_below(r, 9) : 300 };
	struct search_result alone, there;
	search_run(p, mode, block, lab, &o, &alone);
	o.ranks = &ranks;
	o.jobs = 1 + rng_below(r, 2);
	o.jobs_from = o.chunk = 1 + rng_below(r, 3);
	search_run(p, mode, block, lab, &o, &there);
	if (!same_result(&alone, &there)) {
		check_failed++;
		printf("# seed %llu, %u ranks from %u, batches of %u, -j%u, reductions %u: verdict %d, %d; states %llu, %llu; "
		       "transitions %llu, %llu; "
		       "depth %u, %u; limit %s; %s\n%s\n",
		       (unsigned long long)seed, g->n, (unsigned)ranks.from, ranks.batch, o.jobs, mask, alone.verdict,
		       there.verdict, (unsigned long long)alone.states, (unsigned long long)there.states,
		       (unsigned long long)alone.transitions, (unsigned long long)there.transitions, alone.depth, there.depth,
		       there.limit ? there.limit : "none", ranks.why.text, text);
	}
	count.questions++;
	count.shared += ranks.shared;
	count.agreements += ranks.agreements;
	count.layouts += ranks.layouts;
	count.states += ranks.states;
	count.hold += alone.verdict == SEARCH_HOLDS;
	count.wrong += alone.verdict == SEARCH_WRONG;
	count.other += alone.verdict > SEARCH_WRONG;
	search_result_free(&alone);
	search_result_free(&there);
}

static void compare_model(struct group *g, uint64_t seed)
{
	struct buf b;
	struct lang l, alone;
	struct rng r;
	struct lang_options o = { .sml = 0 };
	rng_seed(&r, seed);
	buf_init(&b);
	gen_model_of(&b, seed, seed % 5 == 0, seed % 3 == 0, seed % 4 != 0);
	if (seed % 7 == 0) /* something that may fail */
		buf_str(&b, "thread watch { assert(x0 != 2 || x1 != 1); }\n");
	lang_init(&l);
	lang_init(&alone);
	CHECK(lang_load_text(&l, "random.atm", b.data, b.len, &o));
	struct labelling lab = { calloc(l.ir->nsuccs + 1, 1), calloc(l.ir->nblocks + 1, sizeof(bool)) };
	for (uint32_t i = 0; i < l.ir->nsuccs; i++)
		lab.edge[i] = rng_below(&r, 4) == 0;
	for (int turn = 0; turn < 2; turn++) {
		compare(g, l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &r, seed, b.data);
		compare(g, l.ir, PROD_COMMIT, PROD_BLOCK_ALL, NULL, &r, seed, b.data);
		compare(g, l.ir, PROD_COMMIT, PROD_BLOCK_ALL, &lab, &r, seed, b.data);
	}
	/* a program that was made with the marks of one block alone, and with other numbers of threads */
	if (l.ir->nblocks > 1 && lang_load_again(&alone, l.ir, (uint32_t)(seed % l.ir->nblocks), NULL))
		compare(g, alone.ir, PROD_COMMIT, (uint32_t)(seed % l.ir->nblocks), NULL, &r, seed, b.data);
	lang_free(&alone);
	lang_init(&alone);
	uint32_t *counts = calloc(l.ir->ntemplates, sizeof *counts);
	for (uint32_t t = 0; t < l.ir->ntemplates; t++)
		counts[t] = 1 + rng_below(&r, 2);
	if (lang_load_again(&alone, l.ir, IR_NONE, counts))
		compare(g, alone.ir, PROD_COMMIT, PROD_BLOCK_ALL, NULL, &r, seed, b.data);
	free(counts);
	free(lab.edge);
	free(lab.at_entry);
	lang_free(&alone);
	lang_free(&l);
	buf_free(&b);
}

static void test_random_models(void)
{
	struct campaign c = campaign(0,
	                             4); /* a deep search (seed 5) takes a minute: its ranks meet at each of thousands of levels */
	for (int i = 0; i < c.n && check_failed < 3;) {
		struct group g;
		group_begin(&g, 2 + (uint32_t)(i / 5) % 3, 1 + (uint32_t)(i / 5) % 4);
		for (int k = 0; k < 5 && i < c.n && check_failed < 3; k++, i++)
			compare_model(&g, c.seed + (uint64_t)i);
		group_end(&g);
	}
	printf("# seeds %llu..: %u questions, %u searches shared, %u hold, %u wrong, %u other; %llu states sent, ids agreed %llu "
	       "times, wider fields "
	       "%llu times\n",
	       (unsigned long long)c.seed, count.questions, count.shared, count.hold, count.wrong, count.other,
	       (unsigned long long)count.states, (unsigned long long)count.agreements, (unsigned long long)count.layouts);
	CHECK(count.shared > count.questions / 2);
	CHECK(count.hold > count.questions / 5);
	CHECK(count.wrong > count.questions / 20);
	CHECK(count.agreements > count.shared);
	CHECK(count.layouts > count.shared / 4);
	CHECK(count.states > count.shared);
}

static void load(struct lang *l, const char *text)
{
	struct lang_options o = { .sml = 0 };
	lang_init(l);
	CHECK(lang_load_text(l, "a.atm", text, strlen(text), &o));
}

/* States of one word, of two, and of many, which the store keeps as trees. */
static void test_wide_states(void)
{
	static const struct {
		const char *text;
		bool symmetry;
	} models[] = {
		{ "bool m; int[0..3] data; thread w * 7 { while (true) { atomic { while (!cas(m, false, true)) { } data = (data + "
		  "1) % 4; "
		  "m = false; commit; } } }",
		  false },
		{ "int[0..2] x; thread w * 14 { int[0..99] t = 5; while (true) { t = (t + x * 7) % 50; x = (x + 1) % 3; } }",
		  true },
		{ "int[0..1] x; thread w * 200 { int[0..2] t; t = x; x = 1 - x; x = t % 2; }", true },
	};
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		for (uint32_t n = 2; n <= 3; n++) {
			struct lang l;
			struct group g;
			struct search_result alone, there;
			struct search_ranks ranks = { .dist = &g.d[0], .from = 10, .batch = n == 2 ? 0 : 50 };
			struct search_options o = { .symmetry = models[i].symmetry, .max_states = 20000 };
			load(&l, models[i].text);
			group_begin(&g, n, n);
			search_run(l.ir, PROD_COMMIT, PROD_BLOCK_ALL, NULL, &o, &alone);
			o.ranks = &ranks;
			o.jobs = 2;
			search_run(l.ir, PROD_COMMIT, PROD_BLOCK_ALL, NULL, &o, &there);
			CHECK(same_result(&alone, &there));
			CHECK_EQ(ranks.shared, 1);
			printf("# %llu states, %llu sent in %llu bytes\n", (unsigned long long)there.states,
			       (unsigned long long)ranks.states, (unsigned long long)ranks.bytes);
			CHECK(there.states > 1000 && ranks.states > 100);
			search_result_free(&alone);
			search_result_free(&there);
			group_end(&g);
			lang_free(&l);
		}
}

/* Limits are decided together, whichever rank comes to one; the ranks serve on. */
static void test_limits(void)
{
	struct lang l;
	struct group g;
	struct search_result r, two;
	load(&l, "int x; thread w * 3 { while (true) { atomic { x = x + 1; } } }");
	group_begin(&g, 3, 2);
	struct search_ranks ranks = { .dist = &g.d[0], .from = 100 };
	struct search_options o = { .max_states = 30000 };
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &r);
	o.ranks = &ranks;
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &two);
	CHECK_EQ(two.verdict, SEARCH_LIMIT);
	CHECK_STR(two.limit, "states");
	CHECK(same_result(&r, &two));
	o = (struct search_options){ .ranks = &ranks, .max_bytes = 6 << 20 };
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &two);
	CHECK_EQ(two.verdict, SEARCH_LIMIT);
	CHECK_STR(two.limit, "memory");
	o = (struct search_options){ .ranks = &ranks, .deadline = clock_seconds() + 0.3, .jobs = 2 };
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &two);
	CHECK_EQ(two.verdict, SEARCH_LIMIT);
	CHECK_STR(two.limit, "time");
	CHECK_EQ(ranks.shared, 3);
	o = (struct search_options){ .ranks = &ranks, .max_states = 30000 };
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &two);
	CHECK(same_result(&r, &two));
	group_end(&g);
	lang_free(&l);
}

int main(void)
{
	RUN(test_messages);
	RUN(test_codes);
	RUN(test_wide_states);
	RUN(test_limits);
	RUN(test_random_models);
	return check_done();
}
