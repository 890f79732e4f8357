/*
 * The exhaustive search against a walk over all schedules: as many traces, each
 * once, the same final states, no blocked runs; random programs with every
 * primitive, and the benchmarks with published counts.
 */
#include "check.h"
#include "sched_brute.h"
#include "sched_gen.h"
#include "soak.h"

static void *memory;
static const size_t MEMORY = (size_t)192 << 20;

static struct sched *session(enum sched_strategy g, uint32_t steps, const struct sched_options *more)
{
	struct sched_options o = more ? *more : (struct sched_options){ .max_preemptions = -1 };
	o.strategy = g;
	o.max_steps = steps;
	o.max_threads = 32;
	struct sched *s = sched_begin(memory, MEMORY, false, &o);
	if (!s)
		abort();
	return s;
}

struct counted {
	uint64_t traces, twice, unknown, blocked, cut;
	struct hset seen, states, hashes;
	enum sched_verdict verdict;
};

/* Everything under DPOR; with the brute force at hand, against it. */
static void explore(struct counted *c, const struct twin_program *p, const struct brute *b,
                    const struct sched_options *more)
{
	struct driver d = { .p = p, .s = session(SCHED_DPOR, EV_MAX, more) };
	memset(c, 0, sizeof *c);
	do {
		enum sched_outcome out;
		c->verdict = drive(&d, &out);
		if (c->verdict == SCHED_NONDETERMINISTIC)
			break;
		if (out == SCHED_CUT)
			continue;
		c->traces++;
		if (!b)
			continue;
		struct digest x = driven_digest(&d), y = state_digest(p, &d.m);
		uint64_t h[2] = { sched_trace_hash(d.s), 1 };
		c->twice += !hset_add(&c->seen, x.h);
		c->unknown += !hset_has(&b->traces, x.h);
		hset_add(&c->states, y.h);
		hset_add(&c->hashes, h);
	} while (c->verdict == SCHED_GO_ON && (!b || c->traces <= b->traces.n * 2 + 1000));
	struct sched_stats st;
	sched_stats(d.s, &st);
	c->blocked = st.blocked;
	c->cut = st.cut;
}

static void counted_free(struct counted *c)
{
	hset_free(&c->seen);
	hset_free(&c->states);
	hset_free(&c->hashes);
}

static bool agrees(const struct twin_program *p, const struct brute *b, const char *what)
{
	struct counted c;
	explore(&c, p, b, NULL);
	bool ok = c.verdict == SCHED_EXHAUSTED && c.traces == b->traces.n && !c.twice && !c.unknown && !c.blocked &&
	          !c.cut && c.states.n == b->states.n && c.hashes.n == c.traces;
	if (!ok) {
		printf("# %s seed %llu: verdict %d, %llu traces of %zu (%llu twice, %llu unknown), %llu blocked, %llu cut, "
		       "%zu states of %zu, %zu hashes\n",
		       what, (unsigned long long)p->seed, c.verdict, (unsigned long long)c.traces, b->traces.n,
		       (unsigned long long)c.twice, (unsigned long long)c.unknown, (unsigned long long)c.blocked,
		       (unsigned long long)c.cut, c.states.n, b->states.n, c.hashes.n);
	}
	counted_free(&c);
	return ok;
}

/* --- random programs --------------------------------------------------------- */

/* The first argument: run that campaign alone. */
static const char *only;

static void campaign_of(const char *what, uint32_t mask, uint32_t sample, uint32_t whole)
{
	if (only && strcmp(only, what))
		return;
	uint32_t rounds = soak_rounds(sample, whole), bad = 0, judged = 0;
	uint64_t seed = soak_seed(soak_from(1)), traces = 0, schedules = 0, commuted = 0;
	for (uint32_t i = 0; i < rounds && bad < 5; i++) {
		struct twin_program p;
		struct brute b;
		gen_program(&p, seed + i, mask);
		brute_force(&b, &p, 20000, true);
		if (!b.over) {
			judged++;
			traces += b.traces.n;
			schedules += b.schedules;
			commuted += b.commuted;
			CHECK_EQ(b.invalid, 0);
			if (!agrees(&p, &b, what)) {
				bad++;
				print_program(&p);
			}
		}
		brute_free(&b);
	}
	CHECK_EQ(bad, 0);
	CHECK(judged > rounds / 3);
	printf("# %s: %u programs from seed %llu, %llu schedules, %llu traces, %llu independent pairs swapped\n", what,
	       judged, (unsigned long long)seed, (unsigned long long)schedules, (unsigned long long)traces,
	       (unsigned long long)commuted);
}

#define CAMPAIGN(name, mask, sample)                                           \
	static void test_random_##name(void) { campaign_of(#name, mask, sample, 20000); }
CAMPAIGN(memory, GEN_MEMORY, 400)
CAMPAIGN(mutex, GEN_MUTEX | GEN_MEMORY, 400)
CAMPAIGN(rwlock, GEN_RWLOCK | GEN_MEMORY, 400)
CAMPAIGN(semaphore, GEN_SEM | GEN_MEMORY, 400)
CAMPAIGN(condition, GEN_COND | GEN_MUTEX | GEN_MEMORY, 400)
CAMPAIGN(barrier, GEN_BARRIER | GEN_MEMORY, 400)
CAMPAIGN(threads, GEN_THREADS | GEN_MEMORY, 400)
CAMPAIGN(once, GEN_ONCE | GEN_MEMORY, 400)
CAMPAIGN(futex, GEN_FUTEX | GEN_MEMORY, 400)
CAMPAIGN(choice, GEN_CHOICE | GEN_MEMORY, 400)
CAMPAIGN(spin, GEN_SPIN | GEN_MEMORY, 400)
CAMPAIGN(exit, GEN_EXIT | GEN_MEMORY, 300)
CAMPAIGN(all, GEN_ALL, 1500)

int main(int argc, char **argv)
{
	only = argc > 1 ? argv[1] : NULL;
	memory = malloc(MEMORY);
	RUN(test_random_memory);
	RUN(test_random_mutex);
	RUN(test_random_rwlock);
	RUN(test_random_semaphore);
	RUN(test_random_condition);
	RUN(test_random_barrier);
	RUN(test_random_threads);
	RUN(test_random_once);
	RUN(test_random_futex);
	RUN(test_random_choice);
	RUN(test_random_spin);
	RUN(test_random_exit);
	RUN(test_random_all);
	free(memory);
	return check_done();
}
