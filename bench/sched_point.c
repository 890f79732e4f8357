/*
 * sched_point: what the scheduler's room costs a point, without a program.
 *
 *   sched_point STRATEGY THREADS RUNS [coverage]
 *
 * Main creates the other threads; then each thread does 40 operations: lock,
 * read, write, unlock on one of 16 mutexes and words. Prints the points and the
 * CPU nanoseconds a point, the bench's own part (locks and their waiters)
 * included; `none` as the strategy runs the threads in turn without the room,
 * to be subtracted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sched/sched.h"

enum { OPS = 40, OBJECTS = 16, MAX = 512 };

static const struct {
	const char *name;
	int strategy;
} names[] = { { "none", -1 }, { "mix", SCHED_MIX }, { "random", SCHED_RANDOM }, { "pct", SCHED_PCT },
	      { "pos", SCHED_POS }, { "delay", SCHED_DELAY }, { "preempt", SCHED_PREEMPT }, { "dpor", SCHED_DPOR } };

static struct {
	uint32_t step, place; /* place: in the list of its mutex */
} thread[MAX];
static struct {
	bool held;
	uint32_t n, list[MAX];
} mutex[OBJECTS];
static uint32_t threads;
static struct sched *s;

static uint32_t group(uint32_t t, uint32_t step)
{
	return (t + step / 4) % OBJECTS;
}

/* Fills the next operation of t; false if it cannot be executed now. */
static bool operation(uint32_t t, struct sched_op *op)
{
	uint32_t step = thread[t].step;
	if (t == 0) {
		if (step < threads - 1) {
			*op = (struct sched_op){ .kind = SCHED_CREATE, .pc = 1 };
			return true;
		}
		step -= threads - 1;
	} else if (step-- == 0) {
		*op = (struct sched_op){ .kind = SCHED_START };
		return true;
	}
	uint32_t g = group(t, step);
	*op = (struct sched_op){ .pc = 0x1000 + step % 4 * 16, .a = 0x10000 + g * 64 };
	if (step == OPS) {
		op->kind = SCHED_EXIT;
		op->a = t;
		return true;
	}
	switch (step % 4) {
	case 0:
		op->kind = SCHED_LOCK;
		thread[t].place = mutex[g].n;
		mutex[g].list[mutex[g].n++] = t;
		return !mutex[g].held;
	case 1:
	case 2:
		op->kind = step % 4 == 1 ? SCHED_READ : SCHED_WRITE;
		op->a += 32;
		op->size = 4;
		return true;
	default:
		op->kind = SCHED_UNLOCK;
		return true;
	}
}

static void execute(uint32_t t, const struct sched_op *op)
{
	uint32_t g = (uint32_t)(op->a - 0x10000) / 64;
	thread[t].step++;
	if (op->kind == SCHED_LOCK) {
		mutex[g].held = true;
		uint32_t last = mutex[g].list[--mutex[g].n];
		mutex[g].list[thread[t].place] = last;
		thread[last].place = thread[t].place;
		for (uint32_t i = 0; s && i < mutex[g].n; i++)
			sched_disable(s, mutex[g].list[i]);
	} else if (op->kind == SCHED_UNLOCK) {
		mutex[g].held = false;
		for (uint32_t i = 0; s && i < mutex[g].n; i++)
			sched_enable(s, mutex[g].list[i]);
	} else if (op->kind == SCHED_CREATE && s) {
		uint32_t child = sched_thread(s, t, 0);
		thread[child].step = 0;
	}
}

static uint64_t run(void)
{
	struct sched_op pending[MAX];
	uint64_t points = 0;
	memset(thread, 0, sizeof thread);
	for (int i = 0; i < OBJECTS; i++)
		mutex[i].held = false, mutex[i].n = 0;
	sched_run_begin(s);
	uint32_t next = sched_point(s, 0, (operation(0, &pending[0]), &pending[0]), true);
	while (next < SCHED_STOP) {
		uint32_t t = next;
		points++;
		if (!pending[t].kind || (t && thread[t].step == 0))
			operation(t, &pending[t]); /* START */
		execute(t, &pending[t]);
		if (pending[t].kind == SCHED_EXIT) {
			next = sched_gone(s, t);
			continue;
		}
		bool on = operation(t, &pending[t]);
		next = sched_point(s, t, &pending[t], on);
	}
	return points;
}

static uint64_t run_bare(void)
{
	struct sched_op op;
	uint64_t points = 0;
	memset(thread, 0, sizeof thread);
	for (int i = 0; i < OBJECTS; i++)
		mutex[i].held = false, mutex[i].n = 0;
	for (uint32_t t = 0; t < threads; t++)
		do {
			operation(t, &op);
			execute(t, &op);
			points++;
		} while (op.kind != SCHED_EXIT);
	return points;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int g = -2;
	for (size_t i = 0; argc > 3 && i < sizeof names / sizeof *names; i++)
		if (!strcmp(argv[1], names[i].name))
			g = names[i].strategy;
	threads = argc > 3 ? (uint32_t)atoi(argv[2]) : 0;
	if (g < -1 || !threads || threads > MAX / 2) {
		fprintf(stderr, "usage: sched_point none|mix|random|pct|pos|delay|preempt|dpor THREADS RUNS [coverage]\n");
		return 2;
	}
	int runs = atoi(argv[3]);
	size_t bytes = (size_t)256 << 20;
	void *memory = aligned_alloc(64, bytes);
	if (g >= 0) {
		struct sched_options o = { .strategy = (enum sched_strategy)g, .seed = 1, .max_preemptions = -1,
			                   .no_coverage = argc < 5, .max_threads = 256, .max_steps = 50000 };
		s = sched_begin(memory, bytes, false, &o);
		if (!s)
			return 4;
		run();
		sched_run_end(s, SCHED_FINE);
	}
	double from = now();
	uint64_t points = 0;
	for (int i = 0; i < runs; i++) {
		points += s ? run() : run_bare();
		if (s && sched_run_end(s, SCHED_FINE) != SCHED_GO_ON)
			break;
	}
	double ns = now() - from;
	printf("%s threads %u points %llu ns/point %.1f\n", argv[1], threads, (unsigned long long)points,
	       ns / (double)points);
	free(memory);
	return 0;
}
