/*
 * The isolation levels against their definitions (txn_twin.h): every level and every order of transactions, on random histories
 * of registers and lists with aborts, unknown fates, sessions and times. A level that holds implies the weaker ones.
 * INTACT_SOAK=1 runs a million histories.
 */
#include "check.h"
#include "soak.h"
#include "txn/decide.h"
#include "txn_gen.h"
#include "verify/txn_replay.h"

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
	gen_txn(&h, seed);
	arena_init(&arena, 0);
	arena_init(&keep, 0);
	history_init(&base, &arena, &lim);
	txn_history_init(&th, &base);
	diags_init(&diags, &arena);
	ok = gen_txn_history(&h, &th) && deps_build(&d, &th, VAL_NONE, &arena, &diags);
	CHECK(ok);
	d.no_clocks = seed % 4 == 0;
	bool odd = d.nanomalies[ANOMALY_INCOMPATIBLE] || d.nanomalies[ANOMALY_DUPLICATE];
	for (int o = 0; o < ORDER_COUNT && ok; o++) {
		unsigned want = twin_judge(&h, (enum txn_order)o);
		for (int l = 0; l < LEVEL_COUNT; l++) {
			struct isolation i = { (uint8_t)l, (uint8_t)o };
			struct decision x;
			if (!isolation_exists(i) || (odd && l == LEVEL_RU))
				continue;
			txn_decide(&d, i, 0, &keep, &lim, &x);
			got[l][o] = x.verdict == TXN_HOLDS;
			counts[l][got[l][o]]++;
			bool runs = l == LEVEL_SER || l == LEVEL_SI || (l == LEVEL_PC && !twin_reads_own_list(&h));
			if (runs && got[l][o] && !replays(&d, &x, &keep))
				ok = false;
			int run = l == LEVEL_SER || l == LEVEL_SI || l == LEVEL_PC ? twin_run(&h, (enum level)l, (enum txn_order)o) : -1;
			if (x.verdict == TXN_UNDECIDED || got[l][o] != (want >> l & 1) || (run >= 0 && run != got[l][o])) {
				printf("# seed %llu: %s %s, by definition %s, run %d\n", (unsigned long long)seed, isolation_name(i),
				       x.verdict == TXN_HOLDS ? "holds" : x.verdict == TXN_VIOLATED ? "is violated" : x.limit, want >> l & 1 ? "holds" : "is violated", run);
				ok = false;
			}
		}
	}
	for (int a = 0; a < LEVEL_COUNT * ORDER_COUNT && ok && !odd; a++)
		for (int b = 0; b < LEVEL_COUNT * ORDER_COUNT; b++) {
			struct isolation x = { (uint8_t)(a % LEVEL_COUNT), (uint8_t)(a / LEVEL_COUNT) }, y = { (uint8_t)(b % LEVEL_COUNT), (uint8_t)(b / LEVEL_COUNT) };
			if (!isolation_exists(x) || !isolation_exists(y) || !isolation_implies(x, y))
				continue;
			if (got[x.level][x.order] && !got[y.level][y.order]) {
				printf("# seed %llu: %s holds, %s does not\n", (unsigned long long)seed, isolation_name(x), isolation_name(y));
				ok = false;
			}
		}
	if (!ok)
		gen_txn_print(&h);
	txn_history_free(&th);
	history_free(&base);
	arena_free(&arena);
	arena_free(&keep);
	return ok;
}

static void test_definitions(void)
{
	uint32_t n = soak_rounds(8000, 1000000), bad = 0;
	uint64_t seed = soak_seed(soak_from(1));
	for (uint32_t i = 0; i < n && bad < 3; i++)
		bad += !same(seed + i);
	CHECK_EQ(bad, 0);
	printf("# %u histories from seed %llu\n", n, (unsigned long long)seed);
	for (int l = 0; l < LEVEL_COUNT; l++) {
		printf("# %-22s holds %llu, violated %llu\n", level_names[l], (unsigned long long)counts[l][1], (unsigned long long)counts[l][0]);
		CHECK(counts[l][0] && counts[l][1]);
	}
}

int main(void)
{
	RUN(test_definitions);
	return check_done();
}
