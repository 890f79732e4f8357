/*
 * bench_step: how fast ir_step is, on models given as arguments.
 *
 * A random walk would measure the generator; instead every state of a queue,
 * filled by short walks, is stepped by every thread, round-robin, which is
 * what a model checker does. Reported: steps per second of CPU time and
 * nanoseconds a step, blocked attempts counted apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "lang/lang.h"

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long budget = getenv("BENCH_STEPS") ? atol(getenv("BENCH_STEPS")) : 20000000;
	printf("%-28s %8s %14s %10s\n", "model", "threads", "steps/s", "ns/step");
	for (int a = 1; a < argc; a++) {
		struct lang l;
		struct lang_options o = { .sml = -1 };
		lang_init(&l);
		if (!lang_load(&l, argv[a], &o)) {
			fprintf(stderr, "%s: cannot load\n", argv[a]);
			return 1;
		}
		const struct ir *p = l.ir;
		enum { QUEUE = 1024 };
		int32_t *states = malloc(sizeof(int32_t) * p->nstate * (QUEUE + 1));
		int32_t *out = states + (size_t)p->nstate * QUEUE;
		struct rng r;
		rng_seed(&r, 42);
		for (int i = 0; i < QUEUE; i++) {
			int32_t *s = states + (size_t)i * p->nstate;
			memcpy(s, i % 16 ? s - p->nstate : p->init, sizeof(int32_t) * p->nstate);
			for (int k = 0; k < 2; k++) {
				uint32_t t = rng_below(&r, p->nthreads);
				if (ir_step(p, s, t, NULL, out, NULL) == IR_OK)
					memcpy(s, out, sizeof(int32_t) * p->nstate);
			}
		}
		long taken = 0, tried = 0;
		double t0 = cpu();
		while (tried < budget)
			for (int i = 0; i < QUEUE; i++)
				for (uint32_t t = 0; t < p->nthreads; t++, tried++)
					taken += ir_step(p, states + (size_t)i * p->nstate, t, NULL,
					                 out, NULL) == IR_OK;
		double sec = cpu() - t0;
		const char *name = strrchr(argv[a], '/');
		printf("%-28s %8u %14.0f %10.1f\n", name ? name + 1 : argv[a], p->nthreads,
		       (double)taken / sec, 1e9 * sec / (double)tried);
		free(states);
		lang_free(&l);
	}
	return 0;
}
