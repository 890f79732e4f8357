/*
 * random_brute FIRST LAST: of each random object: its scenario, and whether every history of every schedule has an explanation:
 * three letters, h (holds) or v (violated), for linearizability, sequential and quiescent consistency.
 *
 * All schedules: invocations, steps and returns in every order that the threads, the lock and the semaphore allow. All explanations:
 * every order of the calls that agrees with the history. When calls wait forever, others that wait may be in the order, whatever
 * they would return, and each must have an order behind which it waits by itself (Line-Up). No reduction, no memory, nothing shared with Intact.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_object.h"

enum { NEVER = 1000, CONDITIONS = 3 };
enum condition { LINEARIZABLE, SEQUENTIAL, QUIESCENT };

static struct object o;
static struct state {
	int var[VARS], holder, semaphore; /* holder of the lock; -1: free */
	int at[4], step[4];               /* of each thread: its call; -1: not invoked, then how many steps are done */
	int acc[4];
	int result[4][4];
	int begun[4][4], ended[4][4], clock; /* times; NEVER */
} s;
static bool violated[CONDITIONS];

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
	case WAIT:
		if (!x->semaphore)
			return false;
		x->semaphore--;
		break;
	case POST: x->semaphore++; break;
	}
	return true;
}

/* The call alone, from these values on; false: it waits. */
static bool alone(struct state *x, int thread, int call)
{
	const struct operation *p = &o.op[o.call[thread][call]];
	x->acc[thread] = 0;
	x->holder = -1;
	for (int i = 0; i < p->n; i++)
		if (!executes(x, thread, &p->step[i]))
			return false;
	return true;
}

/* Was there a moment between these two times when no call was open? */
static bool quiet(const struct state *h, int from, int to)
{
	for (int now = from; now < to; now++) {
		bool open = false;
		for (int u = 0; u < o.threads; u++)
			for (int k = 0; k < o.each; k++)
				open |= h->begun[u][k] <= now && h->ended[u][k] > now;
		if (!open)
			return true;
	}
	return false;
}

/* Must call (u, k) come before (t, i)? */
static bool precedes(const struct state *h, enum condition c, int u, int k, int t, int i)
{
	switch (c) {
	case LINEARIZABLE: return h->ended[u][k] < h->begun[t][i];
	case SEQUENTIAL: return u == t && k < i;
	case QUIESCENT: return h->ended[u][k] < h->begun[t][i] && quiet(h, h->ended[u][k], h->begun[t][i]);
	}
	abort();
}

/* Is there an order of the remaining calls from the values of x on? With last: behind all that returned it waits by itself. */
static bool explained(const struct state *h, enum condition c, const struct state *x, const bool made[4][4], int last)
{
	bool all = true;
	for (int t = 0; t < o.threads; t++)
		for (int i = 0; i < o.each; i++)
			all &= made[t][i] || h->ended[t][i] == NEVER;
	struct state behind = *x;
	if (all && (last < 0 || !alone(&behind, last, h->at[last])))
		return true;
	for (int t = 0; t < o.threads; t++)
		for (int i = 0; i < o.each; i++) {
			bool waits = h->ended[t][i] == NEVER, first = !made[t][i] && h->begun[t][i] != NEVER && !(waits && t == last);
			for (int u = 0; u < o.threads; u++)
				for (int k = 0; k < o.each; k++)
					first &= made[u][k] || (u == t && k == i) || !precedes(h, c, u, k, t, i);
			struct state next = *x;
			if (!first || !alone(&next, t, i) || (!waits && next.acc[t] != h->result[t][i]))
				continue;
			bool now[4][4];
			memcpy(now, made, sizeof now);
			now[t][i] = true;
			if (explained(h, c, &next, (const bool(*)[4])now, last))
				return true;
		}
	return false;
}

static void judge(const struct state *h)
{
	const bool none[4][4] = { { false } };
	for (int c = 0; c < CONDITIONS; c++) {
		struct state x = { .holder = -1, .semaphore = o.semaphore };
		if (violated[c])
			continue;
		violated[c] = !explained(h, (enum condition)c, &x, none, -1);
		for (int t = 0; t < o.threads; t++)
			if (h->at[t] < o.each) /* it waits forever */
				violated[c] |= !explained(h, (enum condition)c, &x, none, t);
	}
}

static void search(void)
{
	bool any = false;
	for (int t = 0; t < o.threads && !(violated[0] && violated[1] && violated[2]); t++) {
		struct state saved = s;
		if (s.at[t] == o.each)
			continue;
		const struct operation *p = &o.op[o.call[t][s.at[t]]];
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
		any = true;
		search();
		s = saved;
	}
	if (!any && !(violated[0] && violated[1] && violated[2]))
		judge(&s);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (uint64_t seed = strtoull(argv[1], NULL, 10); seed <= strtoull(argv[2], NULL, 10); seed++) {
		o = make_object(seed);
		memset(&s, 0, sizeof s);
		memset(violated, 0, sizeof violated);
		s.holder = -1;
		s.semaphore = o.semaphore;
		for (int t = 0; t < 4; t++) {
			s.step[t] = -1;
			for (int i = 0; i < 4; i++)
				s.begun[t][i] = s.ended[t][i] = NEVER;
		}
		search();
		printf("%llu ", (unsigned long long)seed);
		for (int c = 0; c < CONDITIONS; c++)
			putchar(violated[c] ? 'v' : 'h');
		putchar(' ');
		for (int t = 0; t < o.threads; t++)
			for (int k = 0; k < o.each; k++)
				printf("%s%c()", k ? " " : t ? " | " : "", "abc"[o.call[t][k]]);
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
