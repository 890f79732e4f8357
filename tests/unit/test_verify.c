/*
 * verify_anew against the exact engine, which shares no code with it: on random models, on those
 * that synchronise and those whose blocks wait, for the program and for each block alone. What it
 * accepts is atomic, what it refuses is not, and the run it refuses has no serial explanation.
 *
 * INTACT_SOAK, INTACT_SEED, INTACT_SOAK_PART: campaign.h.
 */
#include "check.h"

#include "campaign.h"
#include "explore/exact.h"
#include "genmodel.h"
#include "gensync.h"
#include "lang/lang.h"
#include "verdict/replay.h"
#include "verdict/verify_anew.h"

static struct {
	unsigned models, questions, accepted, refused, open, limit, unasked;
} count;

static void complain(uint64_t seed, const char *text, const char *what)
{
	printf("# seed %llu: %s\n# %s\n", (unsigned long long)seed, what, text);
	check_failed++;
}

static enum search_verdict exact(const struct ir *p, uint32_t block)
{
	struct search_options o = { .symmetry = true, .merge_local = true, .drop_pure = true, .max_states = 50000,
		                    .max_bytes = 256u << 20 };
	struct search_result e;
	exact_run(p, block, &o, &e);
	enum search_verdict v = e.verdict;
	search_result_free(&e);
	return v;
}

static void ask(const struct ir *p, uint32_t block, uint64_t seed, const char *text)
{
	struct verify_anew v = { .max_states = 50000 };
	verify_anew(&v, p, block);
	enum search_verdict e = v.answer == VERIFY_OPEN || v.answer == VERIFY_LIMIT ? SEARCH_HOLDS : exact(p, block);
	count.questions++;
	count.accepted += v.answer == VERIFY_EXPLAINED;
	count.refused += v.answer == VERIFY_UNEXPLAINED;
	count.open += v.answer == VERIFY_OPEN;
	count.limit += v.answer == VERIFY_LIMIT;
	count.unasked += e != SEARCH_HOLDS && e != SEARCH_WRONG;
	if ((v.answer == VERIFY_LIMIT) != (v.limit != NULL))
		complain(seed, text, "a limit without a name, or a name without a limit");
	if (v.answer == VERIFY_EXPLAINED && e == SEARCH_WRONG)
		complain(seed, text, "accepted, and exact has a counterexample");
	if (v.answer == VERIFY_UNEXPLAINED) {
		struct run r;
		if (e == SEARCH_HOLDS)
			complain(seed, text, "refused, and exact says atomic");
		if (!run_init(&r, p) || !replay(&r, v.path, v.npath) || verify_run(&r, block) != VERIFY_UNEXPLAINED)
			complain(seed, text, "the run that is refused cannot be replayed, or is explained");
		run_free(&r);
	}
	free(v.path);
}

static void compare_model(uint64_t seed)
{
	struct buf b;
	struct lang l;
	struct lang_options o = { .sml = 0 };
	buf_init(&b);
	if (seed % 3 == 0)
		gen_sync(&b, seed);
	else if (seed % 3 == 1)
		gen_scattered(&b, seed, seed % 2);
	else
		gen_model(&b, seed, seed % 4 == 0, seed % 5 == 0);
	lang_init(&l);
	count.models++;
	if (!lang_load_text(&l, "random.atm", b.data, b.len, &o)) {
		complain(seed, b.data, "does not load");
	} else {
		ask(l.ir, VERDICT_PROGRAM, seed, b.data);
		for (uint32_t i = 0; i < l.ir->nblocks && l.ir->nblocks > 1; i++)
			ask(l.ir, i, seed, b.data);
	}
	lang_free(&l);
	buf_free(&b);
}

static void test_random_models(void)
{
	struct campaign c = campaign(900000, 300);
	for (int i = 0; i < c.n && check_failed < 3; i++)
		compare_model(c.seed + (uint64_t)i);
	printf("# seeds %llu..%llu: %u models, %u questions: %u accepted, %u refused, %u open, %u beyond its limits; "
	       "%u of them beyond those of exact\n", (unsigned long long)c.seed,
	       (unsigned long long)(c.seed + (uint64_t)c.n - 1), count.models, count.questions, count.accepted,
	       count.refused, count.open, count.limit, count.unasked);
	CHECK(count.accepted > count.questions / 5);
	CHECK(count.refused > count.questions / 10);
	CHECK(count.open + count.limit < count.questions / 2);
}

static void test_limit_is_named(void)
{
	static const char text[] = "int[0..3] x; thread t * 3 { while (true) { atomic b { x = (x + 1) % 4; } } }";
	struct lang l;
	struct lang_options o = { .sml = 0 };
	struct verify_anew v = { .max_states = 10 };
	lang_init(&l);
	CHECK(lang_load_text(&l, "limit.atm", text, sizeof text - 1, &o));
	verify_anew(&v, l.ir, VERDICT_PROGRAM);
	CHECK(v.answer == VERIFY_LIMIT && v.limit && !strcmp(v.limit, "states"));
	v.max_states = 1000000;
	verify_anew(&v, l.ir, VERDICT_PROGRAM);
	CHECK(v.answer == VERIFY_UNEXPLAINED && v.npath > 0);
	free(v.path);
	lang_free(&l);
}

int main(void)
{
	RUN(test_limit_is_named);
	RUN(test_random_models);
	return check_done();
}
