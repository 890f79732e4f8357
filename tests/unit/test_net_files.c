/*
 * net: nets counted by hand, the limits of an unfolding, readers and writers of
 * files, and damaged ones.
 */
#include "check.h"

#include "base/rng.h"
#include "causal/query.h"
#include "causal/unfold.h"
#include "net_gen.h"

/* ---- nets counted by hand ----------------------------------------------- */

/*
 * n threads: acquire a lock kept as two places (free, held) or see it held and
 * go round (fail), enter, update the one place `data`, leave, release; the
 * first thread's block is marked by two more steps, begin and end. Each of the
 * 5 n + 2 steps of the threads happens once (the releases are cut-offs), and
 * each thread may fail once while each other one holds the lock: n^2+4n+2.
 */
static void acquire(struct arena *a, uint32_t n, bool marked, struct net *net)
{
	static const char *const step[] = { "acq", "enter", "begin", "upd", "end", "leave", "rel" };
	struct net_builder b;
	struct diags d;
	net_builder_init(&b, a);
	diags_init(&d, a);
	uint32_t free_ = net_add_place(&b, "m.free", true), held = net_add_place(&b, "m.held", false);
	uint32_t data = net_add_place(&b, "data", true);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = net_add_place(&b, arena_printf(a, "w%u.start", i), true), at = first;
		for (int k = 0; k < 7; k++) {
			if ((k == 2 || k == 4) && !(marked && i == 0))
				continue;
			uint32_t t = net_add_trans(&b, arena_printf(a, "w%u.%s", i, step[k]), nowhere);
			uint32_t to = k == 6 ? first : net_add_place(&b, arena_printf(a, "w%u.%s.done", i, step[k]), false);
			net_add_take(&b, t, at, nowhere);
			net_add_put(&b, t, to, nowhere);
			if (k == 0 || k == 6) {
				net_add_take(&b, t, k ? held : free_, nowhere);
				net_add_put(&b, t, k ? free_ : held, nowhere);
			}
			if (k == 3) {
				net_add_take(&b, t, data, nowhere);
				net_add_put(&b, t, data, nowhere);
			}
			at = to;
		}
		uint32_t t = net_add_trans(&b, arena_printf(a, "w%u.fail", i), nowhere);
		net_add_take(&b, t, first, nowhere);
		net_add_put(&b, t, first, nowhere);
		net_add_take(&b, t, held, nowhere);
		net_add_put(&b, t, held, nowhere);
	}
	CHECK(net_finish(&b, net, NULL, &d));
}

static void test_acquire(void)
{
	static const uint32_t sizes[] = { 1, 4, 30, 100 };
	struct unfold_options opt = { 0 };
	for (int i = 0; i < 8; i++) {
		struct arena a;
		struct net n;
		struct prefix p;
		uint32_t k = sizes[i / 2];
		arena_init(&a, 0);
		acquire(&a, k, i & 1, &n);
		CHECK_EQ(unfold(&n, &opt, &p), UNFOLD_DONE);
		CHECK_EQ(p.kept + p.cutoffs, k * k + 4 * k + (i & 1 ? 2 : 0));
		CHECK_EQ(p.cutoffs, k * k);
		prefix_free(&p);
		arena_free(&a);
	}
}

static void test_limits(void)
{
	struct arena a;
	struct net n;
	struct prefix p;
	arena_init(&a, 0);
	acquire(&a, 60, true, &n);
	struct unfold_options events = { .max_events = 100 }, memory = { .max_bytes = 1 << 15 }, late = { .deadline = 1e-9 };
	CHECK_EQ(unfold(&n, &events, &p), UNFOLD_LIMIT);
	CHECK_STR(p.limit, "events");
	CHECK(p.kept + p.cutoffs <= 100);
	prefix_free(&p);
	CHECK_EQ(unfold(&n, &memory, &p), UNFOLD_LIMIT);
	CHECK_STR(p.limit, "memory");
	CHECK(p.memory.used <= 1 << 15);
	prefix_free(&p);
	CHECK_EQ(unfold(&n, &late, &p), UNFOLD_LIMIT);
	CHECK_STR(p.limit, "time");
	prefix_free(&p);
	arena_free(&a);
}

/* ---- reading and writing ------------------------------------------------ */

static bool read_text(struct arena *a, const char *text, size_t len, struct net *n, const char **code)
{
	struct source *src = arena_new(a, struct source);
	struct diags d;
	struct buf out;
	diags_init(&d, a);
	source_from_text(src, a, "net", arena_strndup(a, text, len), len);
	bool ok = net_read(src, a, &d, n);
	CHECK_EQ(ok, d.errors == 0);
	buf_init(&out);
	diags_render(&d, &out, false);
	buf_free(&out);
	*code = d.list.len > 1 ? d.list.data[1].code : "";
	return ok;
}

static void same_text(const struct net *x, const struct net *y)
{
	struct buf a, b;
	buf_init(&a);
	buf_init(&b);
	net_write_pep(x, &a);
	net_write_pep(y, &b);
	CHECK_STR(buf_cstr(&a), buf_cstr(&b));
	buf_free(&a);
	buf_free(&b);
}

static void test_round_trip(void)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct rng r;
		struct arena a;
		struct net n, again;
		struct buf out;
		const char *code;
		rng_seed(&r, seed);
		arena_init(&a, 0);
		buf_init(&out);
		if (random_net(&r, &a, true, &n)) {
			net_write_pep(&n, &out);
			CHECK(read_text(&a, buf_cstr(&out), out.len, &again, &code));
			same_text(&n, &again);
			buf_clear(&out);
			n.place_name[0] = "a<b & \"c\"";
			net_write_pnml(&n, &out);
			CHECK(read_text(&a, buf_cstr(&out), out.len, &again, &code));
			CHECK_STR(again.place_name[0], n.place_name[0]);
			same_text(&n, &again);
		}
		buf_free(&out);
		arena_free(&a);
	}
}

#define PEP "PEP\nPTNet\nFORMAT_N\n"
#define XML "<pnml><net id='n' type='t'>"

static void test_bad_input(void)
{
	static const struct { const char *text, *code; } bad[] = {
		{ "", "net-syntax" },
		{ "PEP\n", "net-syntax" },
		{ PEP, "net-syntax" },
		{ PEP "PL\n\"a\n", "net-syntax" },
		{ PEP "PL\n\"a\"M2\n", "net-unsafe" },
		{ PEP "PL\n99999999999999999999\"a\"\n", "net-syntax" },
		{ PEP "PL\n1\"a\"M1\n1\"b\"\n", "net-node-twice" },
		{ PEP "PL\n\"a\"M1\nTR\n\"t\"\nTP\n1<1\n", "net-no-input" },
		{ PEP "PL\n\"a\"M1\nTR\n\"t\"\nPT\n1>2\n", "net-unknown-node" },
		{ PEP "PL\n\"a\"M1\nTR\n\"t\"\nPT\n1<1\n", "net-syntax" },
		{ PEP "PL\n\"a\"M1\nTR\n\"t\"\nPT\n1>1\n1>1\n", "net-arc-twice" },
		{ PEP "PL\n\"a\"M1\nTR\n\"t\"\nPT\n1>1w2\n", "net-syntax" },
		{ "<", "net-syntax" },
		{ "<pnml>", "net-syntax" },
		{ "<pnml></pnml>", "net-syntax" },
		{ "<!DOCTYPE x [<!ENTITY a 'b'>]><pnml/>", "net-unsupported" },
		{ XML "<place id='a'></net></pnml>", "net-syntax" },
		{ XML "<place id='a'/><place id='a'/></net></pnml>", "net-node-twice" },
		{ XML "<place id='a'/><arc source='a' target='b'/></net></pnml>", "net-unknown-node" },
		{ XML "<place id='a'/><place id='b'/><arc source='a' target='b'/></net></pnml>", "net-syntax" },
		{ XML "<place id='a'><initialMarking><text>2</text></initialMarking></place></net></pnml>", "net-unsafe" },
		{ XML "<place id='&bogus;'/></net></pnml>", "net-syntax" },
		{ XML "<place id='a'/><transition id='t'/></net></pnml>", "net-no-input" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct arena a;
		struct net n;
		const char *code;
		arena_init(&a, 0);
		CHECK(!read_text(&a, bad[i].text, strlen(bad[i].text), &n, &code));
		CHECK_STR(code, bad[i].code);
		arena_free(&a);
	}
}

/* Damaged files: no crash, and what is accepted is a net that unfolds. */
static void test_damaged(void)
{
	struct arena a;
	struct net n;
	struct buf text[2];
	arena_init(&a, 0);
	acquire(&a, 2, true, &n);
	for (int i = 0; i < 2; i++)
		buf_init(&text[i]);
	net_write_pep(&n, &text[0]);
	net_write_pnml(&n, &text[1]);
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct rng r;
		struct arena b;
		struct net m;
		struct prefix p;
		struct unfold_options opt = { .max_events = 1000 };
		const char *code;
		const struct buf *from = &text[seed & 1];
		rng_seed(&r, seed);
		arena_init(&b, 0);
		char *s = arena_strndup(&b, buf_cstr(from), from->len);
		size_t len = rng_below(&r, 3) ? from->len : rng_below(&r, (uint32_t)from->len);
		for (uint32_t k = rng_below(&r, 4); k > 0 && len; k--)
			s[rng_below(&r, (uint32_t)len)] = rng_below(&r, 2)
				? "<>\"&;/0129\nMPT"[rng_below(&r, 14)] : (char)rng_below(&r, 256);
		if (read_text(&b, s, len, &m, &code)) {
			unfold(&m, &opt, &p);
			prefix_free(&p);
		}
		arena_free(&b);
	}
	for (int i = 0; i < 2; i++)
		buf_free(&text[i]);
	arena_free(&a);
}

int main(void)
{
	RUN(test_acquire);
	RUN(test_limits);
	RUN(test_round_trip);
	RUN(test_bad_input);
	RUN(test_damaged);
	return check_done();
}
