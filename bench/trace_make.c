/*
 * trace_make: traces to measure with. Eight threads (or more), 64 locks, 100
 * variables under each (6,400 in all), two-phase locking: they are
 * serializable, so an analysis has to read them to the end.
 *
 *   short   begin, one or two locks, a few accesses, release, end
 *   early   several locks, released one by one while work goes on under the
 *           others, then some accesses to the thread's own variables
 *   long    dozens of locks taken one after the other, hundreds of accesses
 *   open    as short, but one thread is in a single block from start to end,
 *           which everybody's transactions come after
 *
 * usage: trace_make KIND EVENTS OUT [SEED] [THREADS]; OUT's name gives the
 * format as for `intact trace convert`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "event/names.h"
#include "event/writer.h"

#define LOCKS 64
#define VARS_PER_LOCK 100
#define OWN_VARS 10
#define MAX_THREADS 256
#define BATCH 4096

enum phase { IDLE, ACQUIRING, WORKING, RELEASING, OWN, ENDING };

struct thread {
	enum phase phase;
	uint32_t locks[LOCKS], nlocks, held; /* wanted, in order; held: how many */
	uint32_t work, own;
};

struct maker {
	struct rng r;
	uint32_t nthreads, kind;
	struct thread th[MAX_THREADS];
	bool taken[LOCKS];
	struct event out[BATCH];
	size_t n;
	uint64_t made, want;
	struct trace_writer *w;
};

static void put(struct maker *m, uint32_t t, enum event_kind kind, uint32_t target)
{
	m->out[m->n++] = (struct event){ .index = ++m->made, .thread = t, .target = target,
		.loc = (uint32_t)kind * 1000 + target % 500 + 1, .kind = (uint8_t)kind };
	if (m->n == BATCH) {
		writer_put(m->w, m->out, m->n);
		m->n = 0;
	}
}

static void plan(struct maker *m, struct thread *t)
{
	static const uint32_t locks[] = { 2, 5, 32, 2 }, work[] = { 8, 16, 300, 8 };
	uint32_t want = 1 + rng_below(&m->r, locks[m->kind]), at = 0, n = 0;
	/* in increasing order: no deadlock */
	for (; n < want; n++) {
		uint32_t room = LOCKS - at, left = want - n;
		uint32_t span = room / left;
		uint32_t l = at + rng_below(&m->r, span ? span : 1);
		if (l >= LOCKS)
			break;
		t->locks[n] = l;
		at = l + 1;
	}
	t->nlocks = n;
	t->held = 0;
	t->work = 1 + rng_below(&m->r, work[m->kind]);
	t->own = m->kind == 1 ? rng_below(&m->r, 6) : 0;
	t->phase = ACQUIRING;
}

static void access_var(struct maker *m, uint32_t t, uint32_t var)
{
	put(m, t, rng_below(&m->r, 3) ? EVENT_READ : EVENT_WRITE, var);
}

/* One step of thread t; false when it has to wait for a lock. */
static bool step(struct maker *m, uint32_t id)
{
	struct thread *t = &m->th[id];
	switch (t->phase) {
	case IDLE:
		plan(m, t);
		put(m, id, EVENT_BEGIN, 0);
		return true;
	case ACQUIRING: {
		uint32_t l = t->locks[t->held];
		if (m->taken[l])
			return false;
		m->taken[l] = true;
		put(m, id, EVENT_ACQ, l);
		if (++t->held == t->nlocks)
			t->phase = WORKING;
		return true;
	}
	case WORKING: {
		uint32_t l = t->locks[rng_below(&m->r, t->held)];
		access_var(m, id, l * VARS_PER_LOCK + rng_below(&m->r, VARS_PER_LOCK));
		if (--t->work == 0)
			t->phase = RELEASING;
		return true;
	}
	case RELEASING: {
		/* early: work on under what is left */
		if (m->kind == 1 && t->held < t->nlocks && t->held && rng_below(&m->r, 2)) {
			uint32_t l = t->locks[rng_below(&m->r, t->held)];
			access_var(m, id, l * VARS_PER_LOCK + rng_below(&m->r, VARS_PER_LOCK));
			return true;
		}
		uint32_t l = t->locks[--t->held];
		m->taken[l] = false;
		put(m, id, EVENT_REL, l);
		if (!t->held)
			t->phase = t->own ? OWN : ENDING;
		return true;
	}
	case OWN:
		access_var(m, id, LOCKS * VARS_PER_LOCK + id * OWN_VARS + rng_below(&m->r, OWN_VARS));
		if (--t->own == 0)
			t->phase = ENDING;
		return true;
	default:
		put(m, id, EVENT_END, 0);
		t->phase = IDLE;
		return true;
	}
}

static void run(struct maker *m)
{
	uint32_t first = 0;
	if (m->kind == 3) {
		/* thread 0 writes what every other thread then reads, and stays */
		put(m, 0, EVENT_BEGIN, 0);
		put(m, 0, EVENT_WRITE, LOCKS * VARS_PER_LOCK);
		first = 1;
		for (uint32_t t = 1; t < m->nthreads; t++)
			put(m, t, EVENT_READ, LOCKS * VARS_PER_LOCK);
	}
	while (m->made < m->want) {
		uint32_t id = first + rng_below(&m->r, m->nthreads - first);
		/* a thread runs a while before another does */
		for (uint32_t burst = 1 + rng_below(&m->r, 8); burst; burst--)
			if (m->made >= m->want || !step(m, id))
				break;
	}
	writer_put(m->w, m->out, m->n);
}

static void name(struct names *n, const char *prefix, uint32_t count)
{
	char s[16];
	for (uint32_t i = 0; i < count; i++)
		names_append(n, s, (size_t)snprintf(s, sizeof s, "%s%u", prefix, i));
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "short", "early", "long", "open" };
	static struct maker m;
	struct trace_names names;
	struct why why = { "" };
	if (argc < 4) {
		fputs("usage: trace_make short|early|long|open EVENTS OUT [SEED] [THREADS]\n", stderr);
		return 2;
	}
	while (m.kind < 4 && strcmp(kinds[m.kind], argv[1]))
		m.kind++;
	m.want = strtoull(argv[2], NULL, 10);
	m.nthreads = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 8;
	if (m.kind == 4 || m.nthreads < 2 || m.nthreads > MAX_THREADS)
		return 2;
	rng_seed(&m.r, argc > 4 ? strtoull(argv[4], NULL, 10) : 1);
	trace_names_init(&names);
	names_append(&names.ns[NS_LABEL], "", 0);
	name(&names.ns[NS_THREAD], "T", m.nthreads);
	name(&names.ns[NS_LOCK], "L", LOCKS);
	name(&names.ns[NS_VAR], "V", LOCKS * VARS_PER_LOCK + MAX_THREADS * OWN_VARS);
	bool std = strstr(argv[3], ".std") != NULL || !strcmp(argv[3], "-");
	struct writer_opts o = { .format = std ? FORMAT_STD : FORMAT_ITR,
		                 .codec = std ? CODEC_NONE : CODEC_ZSTD };
	m.w = writer_open(argv[3], &o, &names, &why);
	bool ok = m.w != NULL;
	if (ok) {
		run(&m);
		ok = writer_close(m.w, &why);
	}
	if (!ok)
		fprintf(stderr, "trace_make: %s: %s\n", argv[3], why.text);
	trace_names_free(&names);
	return ok ? 0 : 1;
}
