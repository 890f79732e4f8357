/*
 * intact/test.h: test a concurrent object: is each of its operations atomic?
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Intact authors. This one file may be copied into a project as it
 * is, so that the project builds where Intact is not installed.
 *
 *   static void *create(void)                   { return queue_new(); }
 *   static void destroy(void *q)                { queue_free(q); }
 *   static long put(void *q, const long *arg)   { queue_put(q, arg[0]); return INTACT_VOID; }
 *   static long take(void *q, const long *arg)
 *   {
 *           int value;
 *           return queue_take(q, &value) ? value : INTACT_EMPTY;
 *   }
 *
 *   static const struct intact_test queue = {
 *           .name = "queue",
 *           .create = create,
 *           .destroy = destroy,
 *           .operations = {
 *                   INTACT_OPERATION(put, .arg = { INTACT_UNIQUE }),
 *                   INTACT_OPERATION(take),
 *           },
 *   };
 *   INTACT_TEST_MAIN(queue)
 *
 * Compiled with `intact cc` and given to `intact explore`, it is executed in many small
 * scenarios under all or many schedules, and every result is compared with what the same
 * operations return one at a time. Compiled by itself it is a stress test with real threads
 * (`./test --help`). In both cases the specification is what the object does when one thread
 * uses it, unless `spec` or the functions `model` say otherwise.
 *
 * For C99 and later and C++14 and later, with gcc or clang. Needs only libc with POSIX threads.
 */
#ifndef INTACT_TEST_H
#define INTACT_TEST_H

#include <limits.h>

/* clang-format off */
/* Results that are no number. */
#define INTACT_VOID  (LONG_MIN + 1) /* nothing to return */
#define INTACT_EMPTY (LONG_MIN + 2) /* there was nothing to take */
#define INTACT_FULL  (LONG_MIN + 3) /* there was no room; the operation had no effect */

enum { INTACT_TEST_ARGUMENTS = 3, INTACT_TEST_OPERATIONS = 32, INTACT_TEST_CALLS = 16 };

/* How the argument of a call is chosen. */
struct intact_argument {
	int kind; /* 0: there is no argument */
	long lo, hi;
};
#define INTACT_RANGE(lo, hi) { 1, lo, hi }   /* one of lo..hi, both included */
#define INTACT_UNIQUE        { 2, 1, INT_MAX } /* 1, 2, 3, ...: no two calls of a scenario get the same */

enum {
	INTACT_BLOCKS = 1, /* the operation may wait for another one: a call that waits is pending, not wrong */
	INTACT_BOOLEAN = 2 /* the result is true or false */
};
/* Threads that may call an operation, numbered from 1. */
#define INTACT_THREAD(n)       (1u << ((n) - 1))
#define INTACT_THREADS_FROM(n) (~0u << ((n) - 1))

/* So that members that are left out are no warning in C++. */
#ifdef __cplusplus
#define INTACT_TEST_NONE {}
#else
#define INTACT_TEST_NONE
#endif

struct intact_operation {
	const char *name INTACT_TEST_NONE;
	long (*call)(void *object, const long *arg) INTACT_TEST_NONE;
	struct intact_argument arg[INTACT_TEST_ARGUMENTS] INTACT_TEST_NONE;
	unsigned flags INTACT_TEST_NONE;                               /* INTACT_BLOCKS, INTACT_BOOLEAN */
	unsigned threads INTACT_TEST_NONE;                             /* who calls it; 0: all threads */
	long (*model)(void *model, const long *arg) INTACT_TEST_NONE;  /* what it should do; see model_create */
	const char *as INTACT_TEST_NONE;                               /* its name in the specification; NULL: `name` */
};

struct intact_call {
	const char *name INTACT_TEST_NONE;
	long arg[INTACT_TEST_ARGUMENTS] INTACT_TEST_NONE;
};

struct intact_test {
	const char *name INTACT_TEST_NONE;
	void *(*create)(void) INTACT_TEST_NONE;          /* NULL: there is nothing to create; calls get a null pointer */
	void (*destroy)(void *object) INTACT_TEST_NONE;  /* NULL: nothing to do */
	/* What it should be. NULL: what the object does, or the model, when its operations are called one at a time;
	 * "queue", "stack", ...: an object of `intact history` (`intact explain objects`); "FILE.spec": a specification
	 * as for `intact history --spec`, relative to the working directory. */
	const char *spec INTACT_TEST_NONE;
	const char *initial INTACT_TEST_NONE;            /* of an object of `intact history`: its initial value; NULL: the usual one */
	/* NULL or "linearizable"; "sequential" (consistency: the order of each thread counts, not time); "quiescent" (calls count as
	 * ordered only if at a moment between them no call was under way; without `spec`); with `spec`: "regular" or "safe"
	 * (registers); "none": results are not judged, so that only failures, `validate` and `progress` count. */
	const char *condition INTACT_TEST_NONE;
	/* NULL; "obstruction-free": every call finishes when no other thread runs; "lock-free": besides, while threads run some call
	 * finishes. Judged by `intact explore`. */
	const char *progress INTACT_TEST_NONE;
	/* A sequential implementation: every operation has a `model`, which gets what model_create returns. */
	void *(*model_create)(void) INTACT_TEST_NONE;
	void (*model_destroy)(void *model) INTACT_TEST_NONE;
	/* Called when all calls have ended; it ends the program (assert, abort) when something is wrong. */
	void (*validate)(void *object) INTACT_TEST_NONE;
	struct intact_call before[INTACT_TEST_CALLS] INTACT_TEST_NONE; /* made by one thread before the others begin, */
	struct intact_call after[INTACT_TEST_CALLS] INTACT_TEST_NONE;  /* and after they have ended */
	struct intact_operation operations[INTACT_TEST_OPERATIONS] INTACT_TEST_NONE;
};

/* The operation `function` with its own name; then members of struct intact_operation. */
#define INTACT_OPERATION(function, ...) { .name = #function, .call = function, __VA_ARGS__ }

#ifdef __cplusplus
#define INTACT_TEST_C extern "C"
#else
#define INTACT_TEST_C
#endif

/* Once in a program: its main tests this object. `intact explore` knows it by the section. */
#define INTACT_TEST_MAIN(test)                                                                              \
	INTACT_TEST_C __attribute__((visibility("default"))) const struct intact_test *intact_test_object_2; \
	__attribute__((section("intact_test"), used)) const struct intact_test *intact_test_object_2 = &(test); \
	int main(int argc, char **argv)                                                                     \
	{                                                                                                   \
		return intact_test_stress(&(test), argc, argv);                                             \
	}
/* clang-format on */

/* ---- the stress test: real threads ------------------------------------------------------------------ */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_attribute)
#if __has_attribute(no_sanitize)
#define INTACT_TEST_FN __attribute__((unused, no_instrument_function, no_sanitize("thread"))) static
#endif
#endif
#ifndef INTACT_TEST_FN
#define INTACT_TEST_FN __attribute__((unused, no_instrument_function)) static
#endif

enum { INTACT_TEST_THREADS = 16, INTACT_TEST_ROUND = 64 };

struct intact_test_made { /* a call of a round */
	unsigned op, thread;
	long arg[INTACT_TEST_ARGUMENTS], result;
	unsigned long called, returned; /* by one clock */
};

struct intact_test_round {
	const struct intact_test *test;
	void *object;
	unsigned threads, each, ncalls;
	unsigned long clock, steps;              /* steps: of the search for an order */
	unsigned long before[INTACT_TEST_ROUND]; /* for each call, a bit for each that comes before it, by the condition */
	pthread_barrier_t start;
	struct intact_test_made call[INTACT_TEST_ROUND];
};

struct intact_test_thread {
	struct intact_test_round *round;
	unsigned number; /* from 1 */
};

INTACT_TEST_FN unsigned long intact_test_random(unsigned long *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

INTACT_TEST_FN void intact_test_make(struct intact_test_round *r, struct intact_test_made *c)
{
	c->called = __atomic_fetch_add(&r->clock, 1, __ATOMIC_SEQ_CST);
	c->result = r->test->operations[c->op].call(r->object, c->arg);
	c->returned = __atomic_fetch_add(&r->clock, 1, __ATOMIC_SEQ_CST);
	if (r->test->operations[c->op].flags & INTACT_BOOLEAN)
		c->result = c->result != 0;
}

INTACT_TEST_FN void *intact_test_thread_main(void *arg)
{
	struct intact_test_thread *t = (struct intact_test_thread *)arg;
	struct intact_test_round *r = t->round;
	pthread_barrier_wait(&r->start);
	for (unsigned i = 0; i < r->ncalls; i++)
		if (r->call[i].thread == t->number)
			intact_test_make(r, &r->call[i]);
	return NULL;
}

INTACT_TEST_FN unsigned intact_test_number(const struct intact_test *t, const char *name)
{
	unsigned i = 0;
	while (t->operations[i].call && strcmp(t->operations[i].name, name))
		i++;
	if (!t->operations[i].call) {
		fprintf(stderr, "%s: 'before' or 'after' names the operation '%s', which the object does not have\n", t->name,
		        name);
		exit(2);
	}
	return i;
}

/* Thread 0 makes the calls before and after. */
INTACT_TEST_FN void intact_test_list(struct intact_test_round *r, const struct intact_call *list)
{
	for (unsigned i = 0; i < INTACT_TEST_CALLS && list[i].name && r->ncalls < INTACT_TEST_ROUND; i++) {
		struct intact_test_made *c = &r->call[r->ncalls++];
		c->thread = 0;
		c->op = intact_test_number(r->test, list[i].name);
		memcpy(c->arg, list[i].arg, sizeof c->arg);
		intact_test_make(r, c);
	}
}

/* False: no operation is for this thread. */
INTACT_TEST_FN int intact_test_choose(struct intact_test_round *r, unsigned thread, unsigned long *seed, long *unique)
{
	unsigned may[INTACT_TEST_OPERATIONS], n = 0;
	for (unsigned i = 0; i < INTACT_TEST_OPERATIONS && r->test->operations[i].call; i++)
		if (!r->test->operations[i].threads || r->test->operations[i].threads >> (thread - 1) & 1)
			may[n++] = i;
	if (!n || r->ncalls == INTACT_TEST_ROUND)
		return 0;
	struct intact_test_made *c = &r->call[r->ncalls++];
	c->thread = thread;
	c->op = may[intact_test_random(seed) % n];
	for (unsigned k = 0; k < INTACT_TEST_ARGUMENTS; k++) {
		const struct intact_argument *a = &r->test->operations[c->op].arg[k];
		c->arg[k] = a->kind == 2   ? ++*unique
		            : a->kind == 1 ? a->lo + (long)(intact_test_random(seed) % ((unsigned long)(a->hi - a->lo) + 1))
		                           : 0;
	}
	return 1;
}

INTACT_TEST_FN void intact_test_round_run(struct intact_test_round *r, unsigned long *seed)
{
	pthread_t id[INTACT_TEST_THREADS];
	struct intact_test_thread t[INTACT_TEST_THREADS];
	const struct intact_test *test = r->test;
	long unique = 0;
	r->clock = r->ncalls = 0;
	r->object = test->create ? test->create() : NULL;
	for (unsigned i = 0; i < INTACT_TEST_CALLS && test->before[i].name; i++)
		for (unsigned k = 0; k < INTACT_TEST_ARGUMENTS; k++)
			unique = test->before[i].arg[k] > unique ? test->before[i].arg[k] : unique;
	intact_test_list(r, test->before);
	for (unsigned i = 0; i < r->threads; i++)
		for (unsigned k = 0; k < r->each; k++)
			intact_test_choose(r, i + 1, seed, &unique);
	pthread_barrier_init(&r->start, NULL, r->threads);
	for (unsigned i = 0; i < r->threads; i++) {
		t[i].round = r;
		t[i].number = i + 1;
		if (pthread_create(&id[i], NULL, intact_test_thread_main, &t[i])) {
			fprintf(stderr, "%s: cannot create a thread\n", test->name);
			exit(2);
		}
	}
	for (unsigned i = 0; i < r->threads; i++)
		pthread_join(id[i], NULL);
	pthread_barrier_destroy(&r->start);
	intact_test_list(r, test->after);
	if (test->validate)
		test->validate(r->object);
	if (test->destroy)
		test->destroy(r->object);
}

/* Is order[0..n) what the calls return one at a time? Executes all of them; the last result is compared. */
INTACT_TEST_FN int intact_test_explains(struct intact_test_round *r, const unsigned *order, unsigned n)
{
	const struct intact_test *t = r->test;
	void *object = t->model_create ? t->model_create() : t->create ? t->create() : NULL;
	long result = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct intact_test_made *c = &r->call[order[i]];
		const struct intact_operation *op = &t->operations[c->op];
		result = (t->model_create ? op->model : op->call)(object, c->arg);
		if (op->flags & INTACT_BOOLEAN)
			result = result != 0;
	}
	if (t->model_create ? t->model_destroy != NULL : t->destroy != NULL)
		(t->model_create ? t->model_destroy : t->destroy)(object);
	r->steps++;
	return result == r->call[order[n - 1]].result;
}

enum { INTACT_TEST_STEPS = 200000 };

/* Was there a moment between these two when no call was under way? */
INTACT_TEST_FN int intact_test_quiet(const struct intact_test_round *r, unsigned long from, unsigned long to)
{
	for (unsigned long at = from; at < to; at++) {
		int open = 0;
		for (unsigned i = 0; i < r->ncalls && !open; i++)
			open = r->call[i].called <= at && r->call[i].returned > at;
		if (!open)
			return 1;
	}
	return 0;
}

INTACT_TEST_FN void intact_test_order(struct intact_test_round *r)
{
	const char *condition = r->test->condition ? r->test->condition : "";
	int sequential = !strcmp(condition, "sequential"), quiescent = !strcmp(condition, "quiescent");
	for (unsigned i = 0; i < r->ncalls; i++) {
		const struct intact_test_made *c = &r->call[i];
		r->before[i] = 0;
		for (unsigned k = 0; k < r->ncalls; k++) {
			const struct intact_test_made *d = &r->call[k];
			int is = d->returned < c->called;
			if (is && sequential)
				is = c->thread == d->thread || !c->thread || !d->thread;
			if (is && quiescent)
				is = intact_test_quiet(r, d->returned, c->called);
			r->before[i] |= (unsigned long)is << k;
		}
	}
}

/* Depth first: the next call is one before which no other has to come. 1: there is an order, 0: none, -1: too long. */
INTACT_TEST_FN int intact_test_search(struct intact_test_round *r, unsigned *order, unsigned n, unsigned long made)
{
	if (n == r->ncalls)
		return 1;
	for (unsigned i = 0; i < r->ncalls; i++) {
		if (made >> i & 1 || r->before[i] & ~made)
			continue;
		if (r->steps > INTACT_TEST_STEPS)
			return -1;
		order[n] = i;
		if (intact_test_explains(r, order, n + 1)) {
			int found = intact_test_search(r, order, n + 1, made | 1ul << i);
			if (found)
				return found;
		}
	}
	return 0;
}

INTACT_TEST_FN void intact_test_print_value(FILE *f, long v)
{
	if (v == INTACT_VOID || v == INTACT_EMPTY)
		fprintf(f, v == INTACT_EMPTY ? "empty" : "done");
	else if (v == INTACT_FULL)
		fprintf(f, "full");
	else
		fprintf(f, "%ld", v);
}

INTACT_TEST_FN void intact_test_print_call(FILE *f, const struct intact_test *t, const struct intact_test_made *c)
{
	const struct intact_operation *op = &t->operations[c->op];
	fprintf(f, "%s(", op->name);
	for (unsigned k = 0; k < INTACT_TEST_ARGUMENTS && op->arg[k].kind; k++)
		fprintf(f, "%s%ld", k ? ", " : "", c->arg[k]);
	fprintf(f, ")");
}

INTACT_TEST_FN void intact_test_show(FILE *f, const struct intact_test_round *r)
{
	for (unsigned long at = 0; at < r->clock; at++)
		for (unsigned i = 0; i < r->ncalls; i++) {
			const struct intact_test_made *c = &r->call[i];
			if (c->called != at && c->returned != at)
				continue;
			fprintf(f, c->thread ? "  T%u  " : "  main  ", c->thread);
			intact_test_print_call(f, r->test, c);
			if (c->returned == at) {
				fprintf(f, " returns ");
				intact_test_print_value(f, c->result);
			}
			fprintf(f, "\n");
		}
}

/* An event as `intact history` reads it; every round is a key, that is, an object of its own. */
/* Is the result of the operation true or false? Operations of built-in objects need not say so. */
INTACT_TEST_FN int intact_test_boolean(const struct intact_test *t, const struct intact_operation *op)
{
	const char *name = op->as ? op->as : op->name;
	if (op->flags & INTACT_BOOLEAN || strchr(t->spec, '.'))
		return (op->flags & INTACT_BOOLEAN) != 0;
	return !strcmp(t->spec, "set") || strstr(name, "cas") == name || strstr(name, "try") == name;
}

INTACT_TEST_FN void intact_test_arguments(FILE *f, const struct intact_operation *op, const long *arg, unsigned from)
{
	unsigned n = 0;
	while (n < INTACT_TEST_ARGUMENTS && op->arg[n].kind)
		n++;
	if (n <= from) {
		fprintf(f, "null");
		return;
	}
	fprintf(f, n > from + 1 ? "[%ld" : "%ld", arg[from]);
	for (unsigned k = from + 1; k < n; k++)
		fprintf(f, ",%ld", arg[k]);
	fprintf(f, n > from + 1 ? "]" : "");
}

INTACT_TEST_FN void intact_test_event(FILE *f, const struct intact_test *t, const struct intact_test_made *c, unsigned long round,
                                      int returned)
{
	const struct intact_operation *op = &t->operations[c->op];
	/* Of a bounded queue it is an answer; elsewhere nothing happened. Keys of a map are keys in their round. */
	int full = returned && c->result == INTACT_FULL, answers = full && !strcmp(t->spec, "bounded-queue");
	int keyed = !strcmp(t->spec, "kv");
	fprintf(f, "{\"process\":%u,\"type\":\"%s\",\"f\":\"%s\",", c->thread,
	        !returned          ? "invoke"
	        : full && !answers ? "fail"
	                           : "ok",
	        op->as ? op->as : op->name);
	if (keyed)
		fprintf(f, "\"key\":\"round %lu, %ld\",\"value\":", round, c->arg[0]);
	else
		fprintf(f, "\"key\":%lu,\"value\":", round);
	if (!returned || (full && !answers))
		intact_test_arguments(f, op, c->arg, (unsigned)keyed);
	else if (answers)
		fprintf(f, "false");
	else if (c->result == INTACT_VOID || c->result == INTACT_EMPTY)
		fprintf(f, "null");
	else if (intact_test_boolean(t, op))
		fprintf(f, c->result ? "true" : "false");
	else
		fprintf(f, "%ld", c->result);
	fprintf(f, "}\n");
}

INTACT_TEST_FN void intact_test_write(FILE *f, const struct intact_test_round *r, unsigned long round)
{
	for (unsigned long at = 0; at < r->clock; at++)
		for (unsigned i = 0; i < r->ncalls; i++)
			if (r->call[i].called == at || r->call[i].returned == at)
				intact_test_event(f, r->test, &r->call[i], round, r->call[i].returned == at);
}

/* Becomes `intact history`; returns when it cannot. */
INTACT_TEST_FN int intact_test_hand_over(const struct intact_test *t, const char *path)
{
	const char *tool = getenv("INTACT"), *argv[14];
	int n = 0, file = strchr(t->spec, '.') != NULL;
	argv[n++] = tool ? tool : "intact";
	argv[n++] = "history";
	argv[n++] = "--pairs=no";
	argv[n++] = "--format=json";
	argv[n++] = "--failed-cas=unequal";
	argv[n++] = file ? "--spec" : "--object";
	argv[n++] = t->spec;
	if (t->initial && !file) {
		argv[n++] = "--init";
		argv[n++] = t->initial;
	}
	if (t->condition && strcmp(t->condition, "linearizable")) {
		argv[n++] = "--condition";
		argv[n++] = t->condition;
	}
	argv[n++] = path;
	argv[n] = NULL;
	fflush(stdout);
	execvp(argv[0], (char **)argv);
	fprintf(stderr, "%s: `intact` is not found; the history is in %s. Check it with\n ", t->name, path);
	for (int i = 0; i < n; i++)
		fprintf(stderr, " %s", argv[i]);
	fprintf(stderr, "\n");
	return 3;
}

INTACT_TEST_FN int intact_test_usage(const struct intact_test *t, const char *program, int status)
{
	fprintf(status ? stderr : stdout,
	        "usage: %s [--rounds N] [--threads N] [--operations N] [--seed N] [--history FILE]\n"
	        "A stress test of the object '%s' with real threads: N rounds (1000), in each of which N threads (3)\n"
	        "make N calls each (4) at the same time on a new object. `intact explore %s` tries schedules instead.\n"
	        "Exit status: 0 every round is explained, 1 one is not, 2 wrong usage, 3 unknown.\n",
	        program, t->name, program);
	return status;
}

/* The condition as an adjective. NULL: there is none of this name. */
INTACT_TEST_FN const char *intact_test_word(const struct intact_test *t, int large)
{
	const char *c = t->condition ? t->condition : "linearizable";
	if (!strcmp(c, "linearizable"))
		return large ? "LINEARIZABLE" : c;
	if (!strcmp(c, "sequential"))
		return large ? "SEQUENTIALLY CONSISTENT" : "sequentially consistent";
	if (!strcmp(c, "quiescent") && !t->spec)
		return large ? "QUIESCENTLY CONSISTENT" : "quiescently consistent";
	if (t->spec && (!strcmp(c, "regular") || !strcmp(c, "safe")))
		return c;
	return strcmp(c, "none") || t->spec || t->model_create ? NULL : c;
}

INTACT_TEST_FN int intact_test_rounds(struct intact_test_round *r, unsigned long rounds, unsigned long seed, const char *path,
                                      FILE *f)
{
	const struct intact_test *t = r->test;
	int judged = !t->condition || strcmp(t->condition, "none");
	unsigned long unknown = 0, state = seed * 2654435761ul + 88172645463325252ul;
	unsigned order[INTACT_TEST_ROUND];
	for (unsigned long i = 0; i < rounds; i++) {
		intact_test_round_run(r, &state);
		if (f)
			intact_test_write(f, r, i);
		r->steps = 0;
		if (t->spec || !judged)
			continue;
		intact_test_order(r);
		int found = intact_test_search(r, order, 0, 0);
		unknown += found < 0;
		if (!found) {
			printf("%s: NOT %s in round %lu: no order of these calls, one at a time, gives these results\n", t->name,
			       intact_test_word(t, 1), i + 1);
			intact_test_show(stdout, r);
			return 1;
		}
	}
	if (f && fclose(f)) {
		fprintf(stderr, "%s: cannot write '%s'\n", t->name, path);
		return 2;
	}
	printf("%s: %lu rounds of %u threads with %u calls each, seed %lu\n", t->name, rounds, r->threads, r->each, seed);
	if (t->spec)
		return intact_test_hand_over(t, path);
	if (unknown)
		printf("%s: unknown: %lu rounds have too many orders\n", t->name, unknown);
	else if (!judged)
		printf("%s: no round has failed; results are not judged\n", t->name);
	else
		printf("%s: every round is %s\n", t->name, intact_test_word(t, 0));
	return unknown ? 3 : 0;
}

INTACT_TEST_FN int intact_test_stress(const struct intact_test *t, int argc, char **argv)
{
	static struct intact_test_round r;
	unsigned long number[4] = { 1000, 3, 4, 1 }, most[4] = { ULONG_MAX, INTACT_TEST_THREADS - 1, INTACT_TEST_ROUND, ULONG_MAX };
	static const char *const names[] = { "--rounds", "--threads", "--operations", "--seed", "--history" };
	const char *path = NULL;
	char temporary[] = "/tmp/intact-history-XXXXXX";
	FILE *f = NULL;
	for (int i = 1; i < argc; i++) {
		int k = 0;
		char *end;
		while (k < 5 && strcmp(argv[i], names[k]))
			k++;
		if (k == 5 || i + 1 == argc)
			return intact_test_usage(t, argv[0], strcmp(argv[i], "--help") ? 2 : 0);
		path = k == 4 ? argv[++i] : path;
		if (k == 4)
			continue;
		number[k] = strtoul(argv[++i], &end, 10);
		if (*end || end == argv[i] || !number[k] || number[k] > most[k])
			return intact_test_usage(t, argv[0], 2);
	}
	for (unsigned i = 0; i < INTACT_TEST_OPERATIONS && t->operations[i].call; i++)
		if (t->operations[i].flags & INTACT_BLOCKS) {
			fprintf(stderr,
			        "%s: the operation '%s' may wait, so that a stress test might not end: use `intact explore`\n",
			        t->name, t->operations[i].name);
			return 2;
		}
	if (!intact_test_word(t, 0)) {
		fprintf(stderr, "%s: the condition '%s' is unknown, or not for this specification\n", t->name,
		        t->condition ? t->condition : "");
		return 2;
	}
	r.test = t;
	r.threads = (unsigned)number[1];
	r.each = (unsigned)number[2];
	if (r.threads * r.each + 2 * INTACT_TEST_CALLS > INTACT_TEST_ROUND) {
		fprintf(stderr, "%s: more than %d calls in a round\n", t->name, INTACT_TEST_ROUND - 2 * INTACT_TEST_CALLS);
		return 2;
	}
	if (t->spec && !path) {
		int fd = mkstemp(temporary);
		f = fd < 0 ? NULL : fdopen(fd, "w");
		path = temporary;
	} else if (path) {
		f = fopen(path, "w");
	}
	if (path && !f) {
		fprintf(stderr, "%s: cannot write '%s'\n", t->name, path);
		return 2;
	}
	return intact_test_rounds(&r, number[0], number[3], path, f);
}

#endif
