#include "dist/dist_threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/rng.h"

struct posted {
	struct posted *next;
	uint32_t from;
	size_t n;
	unsigned char *bytes;
};

struct post { /* of a rank */
	struct posted *first, **last;
	struct rng rng;
};

struct dist_threads {
	uint32_t n, delay;
	pthread_mutex_t lock;
	pthread_cond_t met;
	struct post *post;
	/* collective calls */
	uint32_t arrived;
	uint64_t meeting;
	uint64_t *sums;
	uint32_t cap_sums;
	const void **given;
	uint64_t *lengths;
};

static bool put(struct dist *d, uint32_t to, unsigned char *bytes, size_t n)
{
	struct dist_threads *t = d->state;
	assert(to < t->n && to != d->rank && n);
	struct posted *p = malloc(sizeof *p);
	if (!p) {
		free(bytes);
		return false;
	}
	*p = (struct posted){ .from = d->rank, .n = n, .bytes = bytes };
	pthread_mutex_lock(&t->lock);
	*t->post[to].last = p;
	t->post[to].last = &p->next;
	pthread_mutex_unlock(&t->lock);
	return true;
}

static bool take(struct dist *d, uint32_t *from, unsigned char **bytes, size_t *n)
{
	struct dist_threads *t = d->state;
	struct post *mine = &t->post[d->rank];
	if (t->delay > 1 && rng_below(&mine->rng, t->delay))
		return false;
	pthread_mutex_lock(&t->lock);
	struct posted *p = mine->first;
	if (p) {
		mine->first = p->next;
		if (!mine->first)
			mine->last = &mine->first;
	}
	pthread_mutex_unlock(&t->lock);
	if (!p)
		return false;
	assert(p->n && p->from < t->n);
	*from = p->from;
	*bytes = p->bytes;
	*n = p->n;
	free(p);
	return true;
}

/* Waits for all ranks; the lock is held. */
static void meet(struct dist_threads *t)
{
	uint64_t meeting = t->meeting;
	assert(t->arrived < t->n);
	if (++t->arrived == t->n) {
		t->arrived = 0;
		t->meeting++;
		pthread_cond_broadcast(&t->met);
	}
	while (t->meeting == meeting)
		pthread_cond_wait(&t->met, &t->lock);
}

static bool sum(struct dist *d, uint64_t *v, uint32_t n)
{
	struct dist_threads *t = d->state;
	pthread_mutex_lock(&t->lock);
	bool ok = GROW(t->sums, t->cap_sums, n + 1ull);
	for (uint32_t i = 0; ok && i < n; i++)
		t->sums[i] += v[i];
	meet(t);
	if (ok)
		memcpy(v, t->sums, n * sizeof *v);
	meet(t);
	for (uint32_t i = 0; ok && i < n; i++)
		t->sums[i] = 0;
	meet(t);
	pthread_mutex_unlock(&t->lock);
	return ok;
}

static bool gather(struct dist *d, const void *mine, size_t n, unsigned char **all, uint64_t *lengths)
{
	struct dist_threads *t = d->state;
	uint64_t whole = 0;
	pthread_mutex_lock(&t->lock);
	assert(!n || mine);
	t->given[d->rank] = mine;
	t->lengths[d->rank] = n;
	meet(t);
	memcpy(lengths, t->lengths, t->n * sizeof *lengths);
	for (uint32_t i = 0; i < t->n; i++)
		whole += lengths[i];
	*all = malloc(whole + 1);
	uint64_t at = 0;
	for (uint32_t i = 0; *all && i < t->n; at += lengths[i++])
		if (lengths[i])
			memcpy(*all + at, t->given[i], lengths[i]);
	meet(t);
	pthread_mutex_unlock(&t->lock);
	return *all != NULL;
}

static uint64_t waiting(const struct dist *d)
{
	(void)d;
	return 0;
}

static void close_rank(struct dist *d)
{
	struct dist_threads *t = d->state;
	pthread_mutex_lock(&t->lock);
	meet(t);
	pthread_mutex_unlock(&t->lock);
}

static const struct dist_ops threads_ops = { put, take, sum, gather, waiting, close_rank };

struct dist_threads *dist_threads_new(uint32_t n, uint32_t delay)
{
	assert(n);
	struct dist_threads *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->n = n;
	t->delay = delay;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->met, NULL);
	t->post = calloc(n, sizeof *t->post);
	t->given = calloc(n, sizeof *t->given);
	t->lengths = calloc(n, sizeof *t->lengths);
	for (uint32_t i = 0; t->post && i < n; i++) {
		t->post[i].last = &t->post[i].first;
		rng_seed(&t->post[i].rng, delay * 1000ull + i);
	}
	if (t->post && t->given && t->lengths)
		return t;
	dist_threads_free(t);
	return NULL;
}

void dist_threads_join(struct dist_threads *t, uint32_t rank, struct dist *d)
{
	assert(rank < t->n);
	*d = (struct dist){ .rank = rank, .n = t->n, .here = t->n, .ops = &threads_ops, .state = t };
	snprintf(d->name, sizeof d->name, "threads");
}

void dist_threads_free(struct dist_threads *t)
{
	for (uint32_t i = 0; t->post && i < t->n; i++)
		while (t->post[i].first) {
			struct posted *p = t->post[i].first;
			t->post[i].first = p->next;
			free(p->bytes);
			free(p);
		}
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->met);
	free(t->post);
	free(t->given);
	free(t->lengths);
	free(t->sums);
	free(t);
}
