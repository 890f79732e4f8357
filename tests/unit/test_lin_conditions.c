/*
 * Weaker conditions against naive twins: regular and safe by their
 * definitions read by read, sequential consistency by every interleaving,
 * k-atomicity and staleness by trying. Planted violations: the right
 * operation is blamed. Corrupted orders and proofs: the verifier refuses.
 * INTACT_SOAK=1 runs a million histories.
 */
#include "lin_gen.h"

#include "check.h"
#include "lin/check.h"
#include "soak.h"

/* Reads return the value of some write or anything. */
static void random_register(struct gen *g, struct rng *r, uint32_t n, uint32_t procs, uint32_t nvalues)
{
	gen_times(g, r, n, procs, rng_below(r, 3) ? 0 : 20);
	g->p.obj = OBJ_REGISTER;
	g->p.init = num(g, 0);
	uint32_t m = 0;
	for (uint32_t i = 0; i < g->p.n; i++) {
		struct hop op = g->ops[i];
		op.fn = op.proc == 0 || (op.proc == 1 && nvalues > 2) ? FN_WRITE : FN_READ;
		op.a = op.b = num(g, (int)rng_below(r, nvalues));
		if (op.fn == FN_READ && op.ret == RANK_INF)
			continue;
		g->ops[m++] = op;
	}
	g->p.n = m;
}

/* Lamport's definitions, word by word. */
static bool naive_weak(const struct problem *p, bool safe)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct hop *r = &p->ops[i];
		if (r->fn != FN_READ)
			continue;
		bool ok = false, overlapped = false, none_before = true;
		for (uint32_t j = 0; j < p->n; j++) {
			const struct hop *w = &p->ops[j];
			if (w->fn != FN_WRITE)
				continue;
			overlapped |= w->call < r->ret && w->ret > r->call;
			none_before &= w->ret > r->call;
			bool between = false; /* a write wholly between w and r */
			for (uint32_t k = 0; k < p->n; k++)
				between |= p->ops[k].fn == FN_WRITE && w->ret < p->ops[k].call && p->ops[k].ret < r->call;
			ok |= w->a == r->b && w->call < r->ret && !between;
		}
		ok |= r->b == p->init && none_before;
		if (!ok && !(safe && overlapped))
			return false;
	}
	return true;
}

static void test_regular_and_safe(void)
{
	struct rng rng;
	struct gen g;
	uint32_t n = soak_rounds(20000, 1000000), differ = 0, count[2][2] = { { 0 } };
	rng_seed(&rng, soak_seed(201));
	gen_open(&g);
	for (uint32_t k = 0; k < n; k++) {
		random_register(&g, &rng, 2 + rng_below(&rng, 7), 2 + rng_below(&rng, 3), 2 + rng_below(&rng, 2));
		for (int safe = 0; safe < 2; safe++) {
			struct result r;
			struct why why;
			bool want = naive_weak(&g.p, safe);
			enum lin_verdict v = lin_weak(&g.p, &r, safe);
			bool ok = v == (want ? LIN_HOLDS : LIN_VIOLATED);
			ok &= v == LIN_HOLDS ? verify_reads_from(&g.p, r.order, safe, &why) == VERIFY_ACCEPTED
			                     : verify_read_impossible(&g.p, r.culprit, safe, &why) == VERIFY_ACCEPTED;
			count[safe][want]++;
			if (!ok && differ++ < 3) {
				gen_dump(&g);
				printf("# safe %d: %d, expected %d\n", safe, v, want);
			}
			result_free(&r);
		}
		struct result r; /* atomic implies regular */
		if (lin_search(&g.p, &r) == LIN_HOLDS && !naive_weak(&g.p, false))
			differ++;
		result_free(&r);
	}
	printf("# seed %llu: %u histories, %u regular, %u safe, %u disagreements\n", (unsigned long long)soak_seed(201), n,
	       count[0][1], count[1][1], differ);
	CHECK(count[0][0] > n / 10 && count[0][1] > n / 10 && count[1][1] > count[0][1]);
	CHECK_EQ(differ, 0);
	gen_close(&g);
}

/* ---- sequential ------------------------------------------------------------------ */

static bool naive_sequential(const struct gen *g, uint32_t used, val held)
{
	bool done = true;
	for (uint32_t i = 0; i < g->p.n; i++)
		done &= used >> i & 1 || g->ops[i].ret == RANK_INF;
	if (done)
		return true;
	for (uint32_t i = 0; i < g->p.n; i++) {
		if (used >> i & 1)
			continue;
		bool first = true; /* of its process, those that never answered apart */
		for (uint32_t j = 0; j < i; j++)
			first &= g->ops[j].proc != g->ops[i].proc || used >> j & 1 || g->ops[j].ret == RANK_INF;
		if (!first)
			continue;
		const struct hop *o = &g->ops[i];
		if (o->fn == FN_READ ? o->b == held && naive_sequential(g, used | 1u << i, held)
		                     : naive_sequential(g, used | 1u << i, o->a))
			return true;
	}
	return false;
}

/* Is process q between two operations when operation i is invoked? */
static bool is_free(const struct gen *g, uint32_t q, uint32_t i)
{
	for (uint32_t j = 0; j < g->p.n; j++)
		if (j != i && g->ops[j].proc == q && g->ops[j].ret != RANK_INF && g->ops[j].call < g->ops[i].call &&
		    g->ops[j].ret > g->ops[i].call)
			return false;
	return true;
}

static void test_sequential(void)
{
	struct rng rng;
	struct gen g;
	uint32_t n = soak_rounds(3000, 1000000), differ = 0, good = 0, weaker = 0;
	rng_seed(&rng, soak_seed(202));
	gen_open(&g);
	for (uint32_t k = 0; k < n; k++) {
		random_register(&g, &rng, 2 + rng_below(&rng, 6), 2 + rng_below(&rng, 3), 2 + rng_below(&rng, 2));
		uint32_t procs = 2 + rng_below(&rng, 3);
		for (uint32_t i = 0; i < g.p.n; i++) /* some processes go on after one that never answered */
			if (g.ops[i].ret == RANK_INF && rng_below(&rng, 2)) {
				uint32_t q = rng_below(&rng, procs);
				g.ops[i].proc = is_free(&g, q, i) ? q : g.ops[i].proc;
			}
		struct result r, a;
		struct why why = { "" };
		bool want = naive_sequential(&g, 0, g.p.init);
		enum lin_verdict v = lin_sequential(&g.p, 0, 8, &r);
		bool ok = v == (want ? LIN_HOLDS : LIN_VIOLATED);
		ok &= v != LIN_HOLDS || verify_order_sequential(&g.p, r.order, r.norder, &why) == VERIFY_ACCEPTED;
		ok &= verify_no_sequential(&g.p, 1000000, &why) == (want ? VERIFY_REJECTED : VERIFY_ACCEPTED);
		bool atomic = lin_search(&g.p, &a) == LIN_HOLDS;
		ok &= !atomic || want;
		good += want;
		weaker += want && !atomic;
		if (!ok && differ++ < 3) {
			gen_dump(&g);
			printf("# %d, expected %d: %s\n", v, want, why.text);
		}
		result_free(&r);
		result_free(&a);
	}
	printf("# seed %llu: %u histories, %u sequential, %u of them not atomic, %u disagreements\n",
	       (unsigned long long)soak_seed(202), n, good, weaker, differ);
	CHECK(good > n / 10 && good < n && weaker > n / 50);
	CHECK_EQ(differ, 0);
	gen_close(&g);
}

/* ---- the least k and the least staleness -------------------------------------------- */

static void test_least_k_and_delta(void)
{
	struct rng rng;
	uint32_t differ = 0, n = soak_rounds(1500, 1000000), more = 0, stale = 0;
	rng_seed(&rng, soak_seed(203));
	for (uint32_t round = 0; round < n; round++) {
		struct gen g;
		gen_open(&g);
		random_register(&g, &rng, 3 + rng_below(&rng, 6), 2 + rng_below(&rng, 2), 2 + rng_below(&rng, 2));
		struct history h;
		history_init(&h, &g.arena, &g.lim);
		values_free(&h.vals);
		h.vals = g.vals;
		h.timed = true;
		for (uint32_t i = 0; i < g.p.n; i++) {
			*history_push(&h) = g.ops[i];
			h.tcall[i] = g.ops[i].call * 10;
			h.tret[i] = g.ops[i].ret == RANK_INF ? INT64_MAX : (int64_t)g.ops[i].ret * 10;
		}
		h.nevents = g.p.nevents;
		struct interpretation in = { .object = OBJ_REGISTER, .init = g.p.init };
		struct lin_check_options o = { .k = 1, .jobs = 1, .k_min = true };
		struct check c;
		CHECK(lin_check(&h, &in, &o, &c));
		uint32_t least = 0;
		for (uint32_t k = 1; k <= 10 && !least; k++) {
			struct problem p = g.p;
			struct result r;
			p.k = k;
			least = lin_brute(&p, &r) == LIN_HOLDS ? k : 0;
			result_free(&r);
		}
		bool ok = least ? c.verdict == LIN_HOLDS && c.k == least : c.verdict == LIN_VIOLATED;
		more += least > 1;
		check_free(&c, &h);
		o.k_min = false;
		o.delta = true;
		CHECK(lin_check(&h, &in, &o, &c));
		/* staleness by trying every amount on a copy */
		int64_t delta = -1;
		for (int64_t d = 0; d <= 200 && delta < 0; d++) {
			struct gen s;
			memcpy(&s, &g, sizeof s);
			s.p.ops = s.ops;
			uint32_t precede[GEN_MAX] = { 0 }; /* brute force on the precedence itself */
			for (uint32_t i = 0; i < g.p.n; i++)
				for (uint32_t j = 0; j < g.p.n; j++) {
					int64_t call = h.tcall[j] - (g.ops[j].fn == FN_READ ? d : 0);
					if (g.ops[i].ret != RANK_INF && h.tret[i] < call)
						precede[j] |= 1u << i;
				}
			uint32_t stack_used[16], next[16], depth = 0;
			val held[16];
			stack_used[0] = next[0] = 0;
			held[0] = g.p.init;
			while (delta < 0) {
				bool done = true;
				for (uint32_t i = 0; i < g.p.n; i++)
					done &= stack_used[depth] >> i & 1 || g.ops[i].ret == RANK_INF;
				if (done) {
					delta = d;
					break;
				}
				uint32_t i = next[depth]++;
				if (i >= g.p.n) {
					if (!depth)
						break;
					depth--;
					continue;
				}
				const struct hop *op = &g.ops[i];
				if (stack_used[depth] >> i & 1 || precede[i] & ~stack_used[depth] ||
				    (op->fn == FN_READ && op->b != held[depth]))
					continue;
				stack_used[depth + 1] = stack_used[depth] | 1u << i;
				held[depth + 1] = op->fn == FN_READ ? held[depth] : op->a;
				next[++depth] = 0;
			}
		}
		ok &= c.delta == delta;
		stale += delta > 0;
		if (!ok && differ++ < 3) {
			gen_dump(&g);
			printf("# least k %u; delta %lld, expected %lld\n", least, (long long)c.delta, (long long)delta);
		}
		check_free(&c, &h);
		g.vals = h.vals;
		memset(&h.vals, 0, sizeof h.vals);
		history_free(&h);
		gen_close(&g);
	}
	printf("# seed %llu: %u histories, k > 1 in %u, staleness > 0 in %u, %u disagreements\n",
	       (unsigned long long)soak_seed(203), n, more, stale, differ);
	CHECK(more > n / 20 && stale > n / 20);
	CHECK_EQ(differ, 0);
}

/* ---- the order up to the violation ------------------------------------------------------ */

/* The operations of one key that had begun before the culprit returned, in the
 * order given: legal, in real time, and all that had ended are there. */
static bool explains(const struct gen *g, const struct history *h, const uint32_t *order, uint32_t n, uint32_t culprit)
{
	uint32_t cut = h->ops[culprit].ret, key = h->ops[culprit].key, ended = 0, found = 0;
	val held = g->p.init;
	for (uint32_t i = 0; i < h->n; i++)
		ended += h->ops[i].key == key && h->ops[i].ret < cut;
	for (uint32_t i = 0; i < n; i++) {
		const struct hop *op = &h->ops[order[i]];
		if (op->key != key || op->call >= cut || (op->fn == FN_READ && (op->ret >= cut || op->b != held)))
			return false;
		held = op->fn == FN_WRITE ? op->a : held;
		found += op->ret < cut;
		for (uint32_t k = 0; k < i; k++)
			if (order[k] == order[i] || op->ret < h->ops[order[k]].call)
				return false;
	}
	return found == ended;
}

static void test_order_before(void)
{
	struct rng rng;
	uint32_t n = soak_rounds(3000, 100000), wrong = 0, orders = 0, violated = 0;
	rng_seed(&rng, soak_seed(206));
	for (uint32_t round = 0; round < n; round++) {
		struct gen g;
		gen_open(&g);
		random_register(&g, &rng, 3 + rng_below(&rng, 12), 2 + rng_below(&rng, 3), 2 + rng_below(&rng, 2));
		struct history h;
		history_init(&h, &g.arena, &g.lim);
		values_free(&h.vals);
		h.vals = g.vals;
		uint32_t nkeys = 1 + rng_below(&rng, 2);
		for (uint32_t k = 0; k < nkeys; k++)
			key_intern(&h, num(&g, (int)k));
		for (uint32_t i = 0; i < g.p.n; i++) {
			struct hop *op = history_push(&h);
			*op = g.ops[i];
			op->key = rng_below(&rng, nkeys);
		}
		h.nevents = g.p.nevents;
		struct interpretation in = { .object = OBJ_REGISTER, .init = g.p.init };
		struct check c;
		CHECK(lin_check(&h, &in, &(struct lin_check_options){ .k = 1, .jobs = 1 }, &c));
		for (uint32_t i = 0; i < c.nparts; i++) {
			uint32_t norder, *order = part_order(&h, &in, &c, &c.parts[i], &norder);
			bool bad = c.parts[i].r.verdict == LIN_VIOLATED;
			violated += bad;
			orders += order != NULL;
			wrong += (order != NULL) != bad || (order && !explains(&g, &h, order, norder, c.parts[i].r.culprit));
			free(order);
		}
		check_free(&c, &h);
		g.vals = h.vals;
		memset(&h.vals, 0, sizeof h.vals);
		history_free(&h);
		gen_close(&g);
	}
	printf("# seed %llu: %u histories, %u violated parts, %u with an order up to there, %u wrong\n",
	       (unsigned long long)soak_seed(206), n, violated, orders, wrong);
	CHECK(violated > n / 4);
	CHECK_EQ(wrong, 0);
}

/* ---- planted violations ----------------------------------------------------------------- */

#define BIG 400

/* An atomic history of one or many writers with distinct values, in which one
 * read is then made to return a value overwritten before it began. */
static uint32_t plant(struct gen *g, struct hop *ops, struct rng *r, bool many)
{
	uint32_t open[8], n = 0, rank = 0, procs = 8, overwritten[BIG], nover = 0;
	int next = 0;
	bool effect[BIG] = { false };
	val held = num(g, 0);
	for (uint32_t p = 0; p < procs; p++)
		open[p] = RANK_INF;
	uint32_t candidates[BIG], old[BIG], nc = 0, holder = RANK_INF;
	uint32_t begun_over[BIG];
	while (rank < 2 * BIG) {
		uint32_t p = rng_below(r, procs);
		if (open[p] == RANK_INF && n < BIG) {
			bool write = many ? rng_below(r, 3) == 0 : p == 0;
			ops[n] = (struct hop){ .call = rank++, .ret = RANK_INF, .proc = p,
				               .fn = write ? FN_WRITE : FN_READ, .a = write ? num(g, ++next) : VAL_NONE };
			begun_over[n] = nover;
			open[p] = n++;
		} else if (open[p] != RANK_INF && !effect[open[p]]) {
			uint32_t i = open[p];
			effect[i] = true;
			if (ops[i].fn == FN_WRITE) {
				held = ops[i].a;
				holder = i;
			} else {
				ops[i].b = held;
			}
		} else if (open[p] != RANK_INF) {
			uint32_t i = open[p];
			ops[i].ret = rank++;
			open[p] = RANK_INF;
			/* a write that ends while its value is held: all that ended before
			 * it began are overwritten for good */
			if (ops[i].fn == FN_WRITE && holder == i)
				for (uint32_t j = 0; j < i; j++)
					if (ops[j].fn == FN_WRITE && ops[j].ret < ops[i].call && nover < BIG)
						overwritten[nover++] = j;
			if (ops[i].fn == FN_READ && begun_over[i]) {
				candidates[nc] = i;
				old[nc++] = overwritten[rng_below(r, begun_over[i])];
			}
		} else if (n == BIG) {
			bool any = false;
			for (uint32_t q = 0; q < procs; q++)
				any |= open[q] != RANK_INF;
			if (!any)
				break;
		}
	}
	g->p.ops = ops;
	g->p.n = n;
	g->p.nevents = rank;
	g->p.obj = OBJ_REGISTER;
	g->p.init = num(g, 0);
	if (!nc)
		return RANK_INF;
	uint32_t k = rng_below(r, nc);
	ops[candidates[k]].b = ops[old[k]].a;
	return candidates[k];
}

static void test_planted(void)
{
	struct rng rng;
	struct gen g;
	static struct hop ops[BIG];
	uint32_t planted = 0, right = 0, named = 0;
	rng_seed(&rng, 204);
	gen_open(&g);
	while (planted < 1000) {
		bool many = planted & 1;
		uint32_t i = plant(&g, ops, &rng, many);
		if (i == RANK_INF)
			continue;
		struct result r;
		enum lin_verdict v = lin_atomic(&g.p, ALG_AUTO, &r);
		bool in_proof = false;
		for (uint32_t k = 0; k < r.nops; k++)
			in_proof |= r.ops[k] == i;
		planted++;
		right += v == LIN_VIOLATED && r.culprit == i && gen_verify(&g.p, &r);
		named += in_proof;
		result_free(&r);
	}
	printf("# seed 204: %u planted, %u blamed, %u named in the proof\n", planted, right, named);
	CHECK_EQ(right, 1000);
	CHECK_EQ(named, 1000);
	gen_close(&g);
}

/* ---- the verifier refuses ------------------------------------------------------------------ */

static void test_corrupted(void)
{
	struct rng rng;
	struct gen g;
	static struct hop ops[BIG];
	struct why why;
	uint32_t orders = 0, refused = 0, proofs = 0, proof_refused = 0;
	rng_seed(&rng, 205);
	gen_open(&g);
	for (uint32_t k = 0; k < 400; k++) {
		uint32_t i = plant(&g, ops, &rng, k & 1);
		struct result r, s;
		if (i == RANK_INF)
			continue;
		CHECK_EQ(lin_atomic(&g.p, ALG_AUTO, &r), LIN_VIOLATED);
		/* the proof about another read, or with its operations exchanged */
		uint32_t bad[8];
		uint32_t n = r.nops < 8 ? r.nops : 8;
		memcpy(bad, r.ops, n * sizeof *bad);
		uint32_t x = bad[n - 1];
		bad[n - 1] = bad[0];
		bad[0] = x;
		if (n > 1 && bad[0] != bad[n - 1]) {
			proofs++;
			proof_refused += verify_violation(&g.p, r.proof, bad, n, r.culprit, 1000, &why) == VERIFY_REJECTED;
		}
		bad[0] = g.p.n;
		CHECK_EQ(verify_violation(&g.p, r.proof, bad, n, r.culprit, 1000, &why), VERIFY_REJECTED);
		/* a good history: mend it, take its order, spoil the order */
		result_free(&r);
		ops[i].fn = FN_WRITE;
		ops[i].a = num(&g, 100000 + (int)k);
		if (lin_atomic(&g.p, ALG_AUTO, &s) == LIN_HOLDS) {
			CHECK_EQ(verify_order(&g.p, s.order, s.norder, &why), VERIFY_ACCEPTED);
			uint32_t a = rng_below(&rng, s.norder), saved = s.order[a];
			s.order[a] = s.order[(a + 1) % s.norder]; /* one twice, one missing */
			CHECK_EQ(verify_order(&g.p, s.order, s.norder, &why), VERIFY_REJECTED);
			s.order[a] = saved;
			CHECK_EQ(verify_order(&g.p, s.order, s.norder - 1, &why), VERIFY_REJECTED);
			/* an operation moved far to the front breaks real time or legality */
			uint32_t last = s.order[s.norder - 1];
			memmove(s.order + 1, s.order, (s.norder - 1) * sizeof *s.order);
			s.order[0] = last;
			orders++;
			refused += verify_order(&g.p, s.order, s.norder, &why) == VERIFY_REJECTED;
		}
		result_free(&s);
	}
	printf("# seed 205: %u of %u spoiled orders, %u of %u spoiled proofs refused\n", refused, orders,
	       proof_refused, proofs);
	CHECK(orders > 50 && proofs > 50);
	CHECK_EQ(refused, orders);
	CHECK_EQ(proof_refused, proofs);
	gen_close(&g);
}

int main(void)
{
	RUN(test_regular_and_safe);
	RUN(test_sequential);
	RUN(test_least_k_and_delta);
	RUN(test_order_before);
	RUN(test_planted);
	RUN(test_corrupted);
	return check_done();
}
