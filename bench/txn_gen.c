/*
 * txn_gen: histories of transactions for benchmarks: a serial or snapshot-isolated run of a store, told as Jepsen's EDN or as
 * Plume's text.
 *
 *   txn_gen [--n=N] [--sessions=K] [--ops=M] [--keys=X] [--reads=PERCENT] [--zipf] [--lists] [--si] [--plume] [--completions] [--seed=S]
 *
 * Transactions of different sessions overlap: each takes its snapshot when it is invoked or later, and commits before it returns. Serial: all at one
 * moment between the two.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

struct op {
	uint32_t key;
	int64_t v;
	bool write;
};

struct session {
	struct op *ops;
	uint32_t nops, started, phase; /* 0 idle, 1 invoked, 2 has its snapshot, 3 committed */
	uint64_t begin;
};

static uint64_t number(const char *arg, const char *name, uint64_t was)
{
	size_t n = strlen(name);
	return !strncmp(arg, name, n) && arg[n] == '=' ? strtoull(arg + n + 1, NULL, 10) : was;
}

static double *zipf_table(uint32_t keys)
{
	double *t = calloc(keys, sizeof *t), sum = 0;
	for (uint32_t i = 0; i < keys; i++)
		t[i] = sum += 1.0 / pow(i + 1, 0.99);
	for (uint32_t i = 0; i < keys; i++)
		t[i] /= sum;
	return t;
}

static uint32_t pick(struct rng *r, uint32_t keys, const double *zipf)
{
	if (!zipf)
		return rng_below(r, keys);
	double x = (double)(rng_next(r) >> 11) / 9007199254740992.0;
	uint32_t lo = 0, hi = keys - 1;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (zipf[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Versions of a key, for snapshots: the last few are enough, as snapshots are young. */
struct version {
	int64_t v;
	uint64_t at;
};
#define KEPT 64
struct key {
	struct version last[KEPT];
	uint32_t n;
	int64_t *list;
	uint32_t len, cap;
};

static const struct version *seen(const struct key *k, uint64_t at)
{
	for (uint32_t i = k->n; i-- > 0 && k->n - i <= KEPT;)
		if (k->last[i % KEPT].at <= at)
			return &k->last[i % KEPT];
	return NULL;
}

static void print_ops(const struct session *s, uint32_t p, bool lists, bool done, const struct key *keys)
{
	printf("{:process %u, :type :%s, :f :txn, :value [", p, done ? "ok" : "invoke");
	for (uint32_t i = 0; i < s->nops; i++) {
		const struct op *o = &s->ops[i];
		printf("%s[:%s %u ", i ? " " : "", !o->write ? "r" : lists ? "append" : "w", o->key);
		if (o->write) {
			printf("%lld]", (long long)o->v);
		} else if (!done || (!lists && !o->v)) {
			printf("nil]");
		} else if (!lists) {
			printf("%lld]", (long long)o->v);
		} else {
			for (int64_t k = 0; k < o->v; k++)
				printf("%s%lld", k ? " " : "[", (long long)keys[o->key].list[k]);
			printf(o->v ? "]]" : "[]]");
		}
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	uint64_t n = 10000, sessions = 25, ops = 8, nkeys = 10000, reads = 30, seed = 1;
	bool zipf = false, lists = false, si = false, plume = false, completions = false;
	for (int i = 1; i < argc; i++) {
		n = number(argv[i], "--n", n);
		sessions = number(argv[i], "--sessions", sessions);
		ops = number(argv[i], "--ops", ops);
		nkeys = number(argv[i], "--keys", nkeys);
		reads = number(argv[i], "--reads", reads);
		seed = number(argv[i], "--seed", seed);
		zipf |= !strcmp(argv[i], "--zipf");
		lists |= !strcmp(argv[i], "--lists");
		si |= !strcmp(argv[i], "--si");
		plume |= !strcmp(argv[i], "--plume");
		completions |= !strcmp(argv[i], "--completions");
	}
	struct rng r;
	rng_seed(&r, seed);
	double *table = zipf ? zipf_table((uint32_t)nkeys) : NULL;
	struct key *keys = calloc(nkeys, sizeof *keys);
	struct session *s = calloc(sessions, sizeof *s);
	uint64_t *written = calloc(nkeys, sizeof *written); /* when it was committed last */
	int64_t next = 1;
	uint64_t now = 1, started = 0, done = 0;
	if (!keys || !s || !written || (zipf && !table))
		return 1;
	for (uint64_t i = 0; i < sessions; i++)
		s[i].ops = calloc(ops, sizeof *s[i].ops);
	while (done < n) {
		uint32_t p = rng_below(&r, (uint32_t)sessions);
		struct session *x = &s[p];
		if (x->phase == 0 && started < n) {
			x->nops = (uint32_t)ops;
			for (uint32_t i = 0; i < x->nops; i++)
				x->ops[i] = (struct op){ pick(&r, (uint32_t)nkeys, table), 0, rng_below(&r, 100) >= reads };
			for (uint32_t i = 0; i < x->nops; i++)
				if (x->ops[i].write)
					x->ops[i].v = next++;
			if (!plume && !completions)
				print_ops(x, p, lists, false, keys);
			x->phase = 1;
			x->started = (uint32_t)started++;
		} else if (x->phase == 1) {
			x->begin = now;
			x->phase = 2;
			if (si && rng_below(&r, 2))
				continue;
		}
		if (x->phase == 2) {
			bool conflict = false;
			for (uint32_t i = 0; i < x->nops; i++)
				conflict |= x->ops[i].write && written[x->ops[i].key] > x->begin;
			if (conflict) /* first committer wins: it starts again */
				x->begin = now;
			now++;
			for (uint32_t i = 0; i < x->nops; i++) {
				struct op *o = &x->ops[i];
				struct key *k = &keys[o->key];
				if (o->write) {
					written[o->key] = now;
					k->last[k->n++ % KEPT] = (struct version){ o->v, now };
					if (lists) {
						if (k->len == k->cap) {
							k->cap = k->cap ? 2 * k->cap : 16;
							k->list = realloc(k->list, k->cap * sizeof *k->list);
							if (!k->list)
								return 1;
						}
						k->list[k->len++] = o->v;
					}
					continue;
				}
				bool own = false;
				for (uint32_t j = 0; j < i; j++)
					own |= x->ops[j].write && x->ops[j].key == o->key;
				const struct version *v = seen(k, own ? now : x->begin);
				o->v = v ? v->v : 0;
				if (lists) { /* how long the list was */
					uint32_t len = k->len;
					while (len && (!v || k->list[len - 1] != v->v))
						len--;
					o->v = len;
				}
			}
			x->phase = 3;
			if (rng_below(&r, 2))
				continue;
		}
		if (x->phase == 3) {
			for (uint32_t i = 0; i < x->nops && plume; i++)
				printf("%c(%u,%lld,%u,%u)\n", x->ops[i].write ? 'w' : 'r', x->ops[i].key, (long long)x->ops[i].v, p,
				       x->started);
			if (!plume)
				print_ops(x, p, lists, true, keys);
			x->phase = 0;
			done++;
		}
	}
	for (uint64_t i = 0; i < sessions; i++)
		free(s[i].ops);
	for (uint64_t i = 0; i < nkeys; i++)
		free(keys[i].list);
	free(table);
	free(keys);
	free(s);
	free(written);
	return 0;
}
