/*
 * history_assertions: SOAR against CLMT as the number of operations grows, and
 * the greedy algorithm and the search beside them (cf. Fig. 7 of the paper,
 * which times whole model checks). One writer, one reader, half of the
 * operations writes; microseconds of CPU a history.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "lin/lin.h"

#define HISTORIES 64
#define MAX_OPS 60

struct sample {
	struct hop ops[MAX_OPS];
	uint32_t n, nevents;
};

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Writer 0 and reader 1 at random speeds; the last read wrong with `bad`. */
static void make(struct sample *s, struct rng *r, struct values *vs, uint32_t n, bool bad)
{
	val held = val_int(vs, 0), old = held;
	int state[2] = { 0 }, next = 0;
	uint32_t open[2] = { 0 };
	memset(s, 0, sizeof *s);
	while (s->n < n || state[0] || state[1]) {
		uint32_t p = rng_below(r, 2);
		if (state[p] == 0 && s->n < n) {
			s->ops[s->n] = (struct hop){ .call = s->nevents++, .ret = RANK_INF, .proc = p,
				                     .fn = p ? FN_READ : FN_WRITE, .a = val_int(vs, p ? 0 : ++next) };
			open[p] = s->n++;
			state[p] = 1;
		} else if (state[p] == 1) {
			struct hop *o = &s->ops[open[p]];
			if (p)
				o->b = held;
			else
				old = held, held = o->a;
			state[p] = 2;
		} else if (state[p] == 2) {
			s->ops[open[p]].ret = s->nevents++;
			state[p] = 0;
		}
	}
	(void)old;
	for (uint32_t i = s->n; bad && i-- > 0;)
		if (s->ops[i].fn == FN_READ && s->ops[i].b != val_int(vs, 0)) {
			s->ops[i].b = val_int(vs, 0); /* what was overwritten long ago */
			break;
		}
}

typedef enum lin_verdict (*engine)(const struct problem *, struct result *);

static double time_of(engine f, const struct sample *s, const struct values *vs, struct limits *lim, double budget)
{
	double start = now();
	uint32_t done = 0;
	for (uint32_t i = 0; i < HISTORIES && now() - start < budget; i++, done++) {
		struct problem p = { .ops = s[i].ops, .n = s[i].n, .nevents = s[i].nevents, .obj = OBJ_REGISTER,
			             .init = val_int((struct values *)(uintptr_t)vs, 0), .k = 1, .vals = vs, .lim = lim };
		struct result r;
		f(&p, &r);
		result_free(&r);
	}
	return (now() - start) / done * 1e6;
}

int main(void)
{
	static struct sample s[HISTORIES];
	static const engine engines[] = { lin_clmt, lin_soar, lin_search, lin_greedy };
	struct arena arena;
	struct values vs;
	struct limits lim = { 0 };
	struct rng r;
	arena_init(&arena, 0);
	values_init(&vs, &arena);
	for (int bad = 0; bad < 2; bad++) {
		bool give_up = false;
		printf("\n%s histories, one writer and one reader: microseconds of CPU a history\n\n", bad ? "violating" : "atomic");
		puts("| operations | clmt | soar | search | greedy |\n|---|---|---|---|---|");
		for (uint32_t n = 4; n <= MAX_OPS; n += n < 16 ? 2 : 22) {
			rng_seed(&r, n);
			for (int i = 0; i < HISTORIES; i++)
				make(&s[i], &r, &vs, n, bad);
			printf("| %u |", n);
			for (int e = 0; e < 4; e++) {
				if (e == 0 && give_up) {
					printf(" too long |");
					continue;
				}
				double t = time_of(engines[e], s, &vs, &lim, 2.0);
				printf(" %.1f |", t);
				give_up |= e == 0 && t > 20000;
				fflush(stdout);
			}
			puts("");
		}
	}
	values_free(&vs);
	arena_free(&arena);
	return 0;
}
