/*
 * The isolation levels against their definitions (txn_twin.h): every level and every order of transactions, on random histories
 * of registers and lists with aborts, unknown fates, sessions and times. A level that holds implies the weaker ones. Larger histories that
 * need a search: the two ways of searching agree, and the checkers accept what each of them says.
 * INTACT_SOAK=1 runs a million histories.
 */
#include "check.h"
#include "soak.h"
#include "txn/decide.h"
#include "txn/read.h"
#include "txn_gen.h"
#include "verify/txn_order.h"
#include "verify/txn_refute.h"
#include "verify/txn_replay.h"

#define ALL_LEVELS ((int)LEVEL_COUNT * (int)ORDER_COUNT)

static uint64_t counts[LEVEL_COUNT][2];

/* The order that was found, followed by the checker of reports. */
static bool replays(const struct deps *d, const struct decision *x, struct arena *a)
{
	bool events = x->family != FAMILY_SER;
	int64_t list[2 * TWIN_TXNS];
	for (uint32_t i = 0; i < x->norder; i++) {
		int64_t t = d->txn[events ? x->order[i] / 2 : x->order[i]] + 1;
		list[i] = events && x->order[i] & 1 ? -t : t;
	}
	const char *wrong = txn_replay(d->th, x->level, d->init, list, x->norder, events, a);
	if (wrong)
		printf("# %s: %s\n", isolation_name(x->level), wrong);
	return !wrong;
}

/* The order of another level, checked against its definition. */
static bool explains(const struct txn_facts *f, const struct deps *d, const struct decision *x)
{
	int64_t list[TWIN_TXNS];
	bool too_long;
	for (uint32_t i = 0; i < x->norder; i++)
		list[i] = d->txn[x->order[i]] + 1;
	const char *wrong = txn_order_wrong(f, x->level, list, x->norder, &too_long);
	if (wrong || too_long)
		printf("# %s: %s\n", isolation_name(x->level), wrong ? wrong : "too long");
	return !wrong && !too_long;
}

static uint64_t refuted, by_search, direct;

/* What was found to be violated, refuted by the checker of reports. */
static bool refutes(struct txn_facts *f, const struct decision *x)
{
	const char *wrong = txn_direct_anomaly(f, (enum txn_level)x->level.level);
	direct += x->direct != NULL;
	if (!x->direct == !wrong && wrong)
		return true;
	wrong = x->direct || wrong   ? "a direct anomaly, or none"
	        : !x->proof          ? "there is no proof"
	        : x->proof->too_long ? "the proof is too long"
	                             : txn_refute(f, x->level, x->proof);
	refuted++;
	by_search += x->conflicts > 0;
	if (wrong)
		printf("# %s: %s\n", isolation_name(x->level), wrong);
	return !wrong;
}

/* The checkers accept nothing of a level that is the other way: not the proof of a stronger level, not an order at random. */
static bool fooled(struct txn_facts *f, const struct deps *d, bool got[LEVEL_COUNT][ORDER_COUNT],
                   struct txn_proof *proofs[LEVEL_COUNT][ORDER_COUNT], uint64_t seed)
{
	struct rng r;
	int64_t list[TWIN_TXNS];
	rng_seed(&r, seed);
	for (int a = 0; a < ALL_LEVELS; a++)
		for (int o = 0; o < ORDER_COUNT; o++) {
			struct isolation i = { (uint8_t)(a % LEVEL_COUNT), (uint8_t)o };
			struct txn_proof *p = proofs[a % LEVEL_COUNT][a / LEVEL_COUNT];
			for (int l = 0; p && l < LEVEL_COUNT; l++) {
				i.level = (uint8_t)l;
				if (isolation_exists(i) && got[l][o] && !txn_refute(f, i, p))
					return true;
			}
		}
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t k = rng_below(&r, i + 1);
		list[i] = list[k];
		list[k] = d->txn[i] + 1;
	}
	for (int a = 0; a < ALL_LEVELS; a++) {
		struct isolation i = { (uint8_t)(a % LEVEL_COUNT), (uint8_t)(a / LEVEL_COUNT) };
		bool too_long, run = i.level == LEVEL_SER || i.level == LEVEL_SI || i.level == LEVEL_PC;
		if (!run && isolation_exists(i) && !got[i.level][i.order] && !txn_direct_anomaly(f, (enum txn_level)i.level) &&
		    !txn_order_wrong(f, i, list, d->n, &too_long))
			return true;
	}
	return false;
}

static bool same(uint64_t seed)
{
	struct twin h;
	struct arena arena, keep;
	struct limits lim = { 0 };
	struct history base;
	struct txn_history th;
	struct deps d;
	struct diags diags;
	bool ok = true, got[LEVEL_COUNT][ORDER_COUNT] = { { false } };
	struct txn_proof *proofs[LEVEL_COUNT][ORDER_COUNT] = { { NULL } };
	gen_txn(&h, seed);
	arena_init(&arena, 0);
	arena_init(&keep, 0);
	history_init(&base, &arena, &lim);
	txn_history_init(&th, &base);
	diags_init(&diags, &arena);
	ok = gen_txn_history(&h, &th) && deps_build(&d, &th, VAL_NONE, &arena, &diags);
	CHECK(ok);
	d.no_clocks = seed % 4 == 0;
	bool thorough = seed % 3 == 0, contrary = seed % 5 < 2;
	struct txn_facts *facts = txn_facts_new(&th, d.init, &arena);
	bool odd = d.nanomalies[ANOMALY_INCOMPATIBLE] || d.nanomalies[ANOMALY_DUPLICATE];
	for (int o = 0; o < ORDER_COUNT && ok; o++) {
		unsigned want = twin_judge(&h, (enum txn_order)o);
		for (int l = 0; l < LEVEL_COUNT; l++) {
			struct isolation i = { (uint8_t)l, (uint8_t)o };
			struct decision x;
			if (!isolation_exists(i) || (odd && l == LEVEL_RU))
				continue;
			txn_decide(&d, i, (struct txn_decide_options){ .prove = true, .thorough = thorough, .contrary = contrary },
			           &keep, &lim, &x);
			got[l][o] = x.verdict == TXN_HOLDS;
			proofs[l][o] = x.verdict == TXN_VIOLATED ? x.proof : NULL;
			counts[l][got[l][o]]++;
			bool runs = l == LEVEL_SER || l == LEVEL_SI || (l == LEVEL_PC && !twin_reads_own_list(&h));
			if (runs && got[l][o] && !replays(&d, &x, &keep))
				ok = false;
			if (got[l][o] && l != LEVEL_SER && l != LEVEL_SI && l != LEVEL_PC && !explains(facts, &d, &x)) {
				printf("# seed %llu\n", (unsigned long long)seed);
				ok = false;
			}
			if (x.verdict == TXN_VIOLATED && !refutes(facts, &x)) {
				printf("# seed %llu\n", (unsigned long long)seed);
				ok = false;
			}
			int run = l == LEVEL_SER || l == LEVEL_SI || l == LEVEL_PC
			                  ? twin_run(&h, (enum txn_level)l, (enum txn_order)o)
			                  : -1;
			if (x.verdict == TXN_UNDECIDED || got[l][o] != (want >> l & 1) || (run >= 0 && run != got[l][o])) {
				printf("# seed %llu: %s %s, by definition %s, run %d\n", (unsigned long long)seed,
				       isolation_name(i),
				       x.verdict == TXN_HOLDS      ? "holds"
				       : x.verdict == TXN_VIOLATED ? "is violated"
				                                   : x.limit,
				       want >> l & 1 ? "holds" : "is violated", run);
				ok = false;
			}
		}
	}
	if (ok && !odd && fooled(facts, &d, got, proofs, seed)) {
		printf("# seed %llu: a checker accepts what is wrong\n", (unsigned long long)seed);
		ok = false;
	}
	for (int a = 0; a < ALL_LEVELS && ok && !odd; a++)
		for (int b = 0; b < ALL_LEVELS; b++) {
			struct isolation x = { (uint8_t)(a % LEVEL_COUNT), (uint8_t)(a / LEVEL_COUNT) },
					 y = { (uint8_t)(b % LEVEL_COUNT), (uint8_t)(b / LEVEL_COUNT) };
			if (!isolation_exists(x) || !isolation_exists(y) || !isolation_implies(x, y))
				continue;
			if (got[x.level][x.order] && !got[y.level][y.order]) {
				printf("# seed %llu: %s holds, %s does not\n", (unsigned long long)seed, isolation_name(x),
				       isolation_name(y));
				ok = false;
			}
		}
	if (!ok)
		gen_txn_print(&h);
	txn_facts_free(facts);
	txn_history_free(&th);
	history_free(&base);
	arena_free(&arena);
	arena_free(&keep);
	return ok;
}

static void test_definitions(void)
{
	/* histories that were judged wrongly once */
	static const uint64_t known[] = { 352, 500, 575, 526606, 544782, 551417 };
	uint32_t n = soak_rounds(8000, 1000000), bad = 0;
	uint64_t seed = soak_seed(soak_from(1));
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		bad += !same(known[i]);
	for (uint32_t i = 0; i < n && bad < 3; i++)
		bad += !same(seed + i);
	CHECK_EQ(bad, 0);
	printf("# %llu violations refuted by cycles, %llu of them by clauses; %llu direct anomalies\n", (unsigned long long)refuted,
	       (unsigned long long)by_search, (unsigned long long)direct);
	CHECK(refuted && by_search && direct);
	printf("# %u histories from seed %llu\n", n, (unsigned long long)seed);
	for (int l = 0; l < LEVEL_COUNT; l++) {
		printf("# %-22s holds %llu, violated %llu\n", level_names[l], (unsigned long long)counts[l][1],
		       (unsigned long long)counts[l][0]);
		CHECK(counts[l][0] && counts[l][1]);
	}
}

/* ---- searches ------------------------------------------------------------------------------ */

#define MOST_TXNS 96

/* A serial run that mostly writes, in which some reads saw a version that was overwritten, or the next one but a few. As text. */
static size_t overwritten(uint64_t seed, char *text, size_t size)
{
	struct rng r;
	rng_seed(&r, seed);
	uint32_t n = 8 + rng_below(&r, MOST_TXNS - 8), keys = 2 + rng_below(&r, 8), ops = 1 + rng_below(&r, 4);
	uint32_t reads = 10 + rng_below(&r, 25), odd = rng_below(&r, 40), sessions = 1 + rng_below(&r, 8), next = 1, at = 0;
	uint32_t last[16] = { 0 }, old[16][8] = { { 0 } };
	for (uint32_t t = 0; t < n; t++) {
		bool used[16] = { false };
		at += (uint32_t)snprintf(text + at, size - at, "{:process %u :type :ok :f :txn :value [", rng_below(&r, sessions));
		for (uint32_t i = 0; i < ops; i++) {
			uint32_t k = rng_below(&r, keys), v;
			if (used[k])
				continue;
			used[k] = true;
			if (rng_below(&r, 100) < reads) {
				v = rng_below(&r, 100) < odd ? old[k][rng_below(&r, 8)] : last[k];
				at += (uint32_t)snprintf(text + at, size - at, v ? "[:r %u %u]" : "[:r %u nil]", k, v);
			} else {
				old[k][rng_below(&r, 8)] = last[k];
				last[k] = next++;
				at += (uint32_t)snprintf(text + at, size - at, "[:w %u %u]", k, last[k]);
			}
		}
		at += (uint32_t)snprintf(text + at, size - at, "]}\n");
	}
	return at;
}

static uint64_t searched[2][2]; /* by verdict: decided by a search, with conflicts */

/* The order or the proof of a decision is accepted. */
static bool accepted(struct txn_facts *f, const struct deps *d, const struct decision *x, struct arena *a)
{
	bool events = x->family != FAMILY_SER;
	int64_t list[2 * MOST_TXNS];
	if (x->verdict == TXN_VIOLATED)
		return x->direct || (x->proof && !x->proof->too_long && !txn_refute(f, x->level, x->proof));
	for (uint32_t i = 0; i < x->norder; i++) {
		int64_t t = d->txn[events ? x->order[i] / 2 : x->order[i]] + 1;
		list[i] = events && x->order[i] & 1 ? -t : t;
	}
	return x->verdict == TXN_HOLDS && !txn_replay(d->th, x->level, d->init, list, x->norder, events, a);
}

static bool searches_agree(uint64_t seed)
{
	static const uint8_t levels[] = { LEVEL_SER, LEVEL_SI, LEVEL_PC };
	static char text[MOST_TXNS * 120];
	struct arena arena;
	struct limits lim = { 0 };
	struct history h;
	struct txn_history th;
	struct diags diags;
	struct reader reader;
	struct deps d;
	arena_init(&arena, 0);
	history_init(&h, &arena, &lim);
	diags_init(&diags, &arena);
	txn_history_init(&th, &h);
	bool ok = reader_open_text(&reader, &h, "<text>", text, overwritten(seed, text, sizeof text), FORMAT_GUESS, &diags) &&
	          txn_sniff(&reader) && txn_read(&th, &reader) && deps_build(&d, &th, VAL_NONE, &arena, &diags);
	CHECK(ok);
	struct txn_facts *facts = txn_facts_new(&th, d.init, &arena);
	d.no_clocks = seed % 4 == 0;
	for (int i = 0; i < 6 && ok; i++) {
		struct isolation level = { levels[i % 3], i < 3 ? ORDER_NONE : ORDER_SESSION };
		struct decision x, y;
		txn_decide(&d, level, (struct txn_decide_options){ .prove = true }, &arena, &lim, &x);
		txn_decide(&d, level, (struct txn_decide_options){ .prove = true, .thorough = true, .contrary = seed % 5 > 0 },
		           &arena, &lim, &y);
		searched[0][x.verdict == TXN_VIOLATED] += x.conflicts > 0;
		searched[1][y.verdict == TXN_VIOLATED] += y.conflicts > 0;
		ok = x.verdict == y.verdict && accepted(facts, &d, &x, &arena) && accepted(facts, &d, &y, &arena);
		if (!ok)
			printf("# seed %llu, %s: %d, thorough %d; accepted %d %d\n%s", (unsigned long long)seed,
			       isolation_name(level), x.verdict, y.verdict, accepted(facts, &d, &x, &arena),
			       accepted(facts, &d, &y, &arena), text);
	}
	txn_facts_free(facts);
	reader_close(&reader);
	txn_history_free(&th);
	history_free(&h);
	arena_free(&arena);
	return ok;
}

static void test_searches(void)
{
	uint32_t n = soak_rounds(3000, 200000), bad = 0;
	uint64_t seed = soak_seed(soak_from(1));
	for (uint32_t i = 0; i < n && bad < 3; i++)
		bad += !searches_agree(seed + i);
	CHECK_EQ(bad, 0);
	for (int i = 0; i < 2; i++) {
		printf("# %s search, with conflicts: %llu hold, %llu violated\n", i ? "thorough" : "quick",
		       (unsigned long long)searched[i][0], (unsigned long long)searched[i][1]);
		CHECK(searched[i][0] + searched[i][1]);
	}
}

/* ---- damaged texts ------------------------------------------------------------------------- */

/* A text of each format with up to three bytes changed or gone; its length. */
static size_t damaged(uint64_t seed, char *text)
{
	static const char edn[] = "{:process 0, :type :invoke, :f :txn, :value [[:r x nil] [:append y 1]]}\n"
				  "{:process 0, :type :ok, :f :txn, :value [[:r x [1 2]] [:append y 1]]}\n"
				  "{:process :nemesis, :type :info, :f :start, :value {:a [1 2]}}\n"
				  "{:process 1, :type :info, :f :txn, :value [[:append x 1] [:append x 2]]}\n";
	static const char json[] =
		"[{\"process\": 0, \"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"w\", \"x\", 1], [\"r\", \"y\", null]]},\n"
		"{\"process\": 1, \"type\": \"fail\", \"f\": \"txn\", \"value\": [[\"w\", \"y\", 1], [\"r\", \"x\", 1]]}]\n";
	static const char csv[] = "session,txn,op,key,value,status,call,return\n0,1,w,x,1,ok,1,4\n0,1,append,y,1\n"
				  "1,2,r,x,1,info,2,3\n2,3,r,y,[1],ok,5,6\n";
	static const char dbcop[] = "[[{\"events\": [{\"Read\": {\"variable\": 0, \"version\": null}}, [\"w\", 1, 1]], "
				    "\"committed\": true}], [{\"events\": [[\"r\", 1, 1]], \"committed\": false}]]";
	static const char sets[] =
		"{:process 0, :type :ok, :f :txn, :value [[:add x 1] [:inc y 2] [:r x #{1 2}] [:inc y -1] [:r y 2]]}\n"
		"{:process 1, :type :ok, :f :txn, :value [[:add x 2] [:inc y 2] [:r x [1 2]] [:r y 4]]}\n";
	static const char *const texts[] = { sets, edn,  json, "w(1,1,0,0)\nr(2,0,0,0)\nw(2,1,1,1)\nr(1,0,1,1)\nw(3,9,2,-1)\n",
		                             csv,  dbcop };
	struct rng r;
	rng_seed(&r, seed);
	const char *from = texts[rng_below(&r, 6)];
	size_t len = strlen(from);
	memcpy(text, from, len + 1);
	for (uint32_t k = rng_below(&r, 4); k-- > 0;) {
		static const char bytes[] = "[]{}()\"':,; \n-#rw0129\\nil\xff";
		size_t at = rng_below(&r, (uint32_t)len);
		if (rng_below(&r, 2)) {
			text[at] = bytes[rng_below(&r, sizeof bytes - 1)];
		} else {
			memmove(text + at, text + at + 1, len - at);
			len--;
		}
	}
	return len;
}

/* Whatever is in damaged texts, reading ends with a history or an error, and what was read can be judged. */
static void test_damage(void)
{
	static char text[512];
	static uint32_t read, refused;
	uint32_t n = soak_rounds(20000, 2000000);
	for (uint32_t i = 0; i < n; i++) {
		struct arena arena;
		jmp_buf oom;
		struct limits lim = { 0 };
		struct history h;
		struct txn_history th;
		struct diags d;
		struct reader reader;
		arena_init(&arena, (size_t)64 << 20);
		arena.oom = &oom;
		if (setjmp(oom)) {
			CHECK_EQ(i, n); /* out of memory */
			continue;
		}
		history_init(&h, &arena, &lim);
		diags_init(&d, &arena);
		txn_history_init(&th, &h);
		if (reader_open_text(&reader, &h, "<text>", text, damaged(soak_seed(7000) + i, text), FORMAT_GUESS, &d) &&
		    txn_sniff(&reader)) {
			struct deps deps;
			if (txn_read(&th, &reader) && deps_build(&deps, &th, VAL_NONE, &arena, &d)) {
				for (uint8_t l = 0; l < LEVEL_COUNT; l++) {
					struct decision x;
					txn_decide(&deps, (struct isolation){ l, ORDER_NONE },
					           (struct txn_decide_options){ .prove = true }, &arena, &lim, &x);
				}
				read++;
			} else {
				CHECK(d.errors);
				refused++;
			}
		}
		reader_close(&reader);
		txn_history_free(&th);
		history_free(&h);
		arena_free(&arena);
	}
	CHECK(read > n / 10 && refused > n / 10);
}

int main(void)
{
	RUN(test_definitions);
	RUN(test_searches);
	RUN(test_damage);
	return check_done();
}
