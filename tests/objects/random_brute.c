/*
 * random_brute FIRST LAST: of each random object: its scenario, and whether every history of every schedule has a linearization.
 * All schedules: invocations, steps and returns in every order that the threads and the lock allow. All linearizations: every
 * order of the calls that agrees with the history. No reduction, no memory, nothing shared with Intact.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_object.h"

enum { CALLS = 4 };

static struct object o;
static struct state {
	int var[VARS], holder;    /* of the lock; -1: free */
	int at[4], step[4];       /* of each thread: its call; -1: not invoked, then how many steps are done */
	int acc[4];
	int result[4][4];
	int begun[4][4], ended[4][4], clock; /* times */
} s;

static bool executes(struct state *x, int thread, const struct step *p)
{
	int *acc = &x->acc[thread], *v = &x->var[p->var];
	switch (p->kind) {
	case LOAD: *acc = *v; break;
	case STORE: *v = p->value < 0 ? *acc : p->value; break;
	case ADD: *acc = (*v)++; break;
	case CAS:
		if (*v == *acc) {
			*v = p->value;
			*acc = 1;
		} else {
			*acc = 0;
		}
		break;
	case LOCK:
		if (x->holder >= 0)
			return false;
		x->holder = thread;
		break;
	case UNLOCK: x->holder = -1; break;
	}
	return true;
}

/* Is there an order of the remaining calls from these values on? */
static bool linearizes(const struct state *h, const int *var, const int *made)
{
	bool all = true;
	for (int t = 0; t < o.threads; t++) {
		if (made[t] == o.each)
			continue;
		all = false;
		bool first = true;
		for (int u = 0; u < o.threads; u++)
			for (int k = made[u]; k < o.each; k++)
				first &= (u == t && k == made[t]) || h->ended[u][k] > h->begun[t][made[t]];
		if (!first)
			continue;
		struct state x;
		memset(&x, 0, sizeof x);
		memcpy(x.var, var, sizeof x.var);
		x.holder = -1;
		const struct operation *p = &o.op[o.call[t][made[t]]];
		for (int i = 0; i < p->n; i++)
			executes(&x, t, &p->step[i]);
		if (x.acc[t] != h->result[t][made[t]])
			continue;
		int next[4];
		memcpy(next, made, sizeof next);
		next[t]++;
		if (linearizes(h, x.var, next))
			return true;
	}
	return all;
}

static bool search(void)
{
	bool any = false;
	for (int t = 0; t < o.threads; t++) {
		struct state saved = s;
		if (s.at[t] == o.each)
			continue;
		const struct operation *p = &o.op[o.call[t][s.at[t]]];
		any = true;
		if (s.step[t] < 0) {
			s.begun[t][s.at[t]] = s.clock++;
			s.acc[t] = 0;
			s.step[t] = 0;
		} else if (s.step[t] < p->n) {
			if (!executes(&s, t, &p->step[s.step[t]])) {
				s = saved;
				continue;
			}
			s.step[t]++;
		} else {
			s.result[t][s.at[t]] = s.acc[t];
			s.ended[t][s.at[t]++] = s.clock++;
			s.step[t] = -1;
		}
		bool ok = search();
		s = saved;
		if (!ok)
			return false;
	}
	if (any)
		return true;
	int var[VARS] = { 0 }, made[4] = { 0 };
	return linearizes(&s, var, made);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (uint64_t seed = strtoull(argv[1], NULL, 10); seed <= strtoull(argv[2], NULL, 10); seed++) {
		o = make_object(seed);
		memset(&s, 0, sizeof s);
		s.holder = -1;
		for (int t = 0; t < 4; t++)
			s.step[t] = -1;
		printf("%llu %s ", (unsigned long long)seed, search() ? "holds" : "violated");
		for (int t = 0; t < o.threads; t++)
			for (int k = 0; k < o.each; k++)
				printf("%s%c()", k ? " " : t ? " | " : "", "abc"[o.call[t][k]]);
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
