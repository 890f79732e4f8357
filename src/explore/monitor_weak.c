/*
 * monitor_weak: regular and safe registers, any number of writers.
 *
 * Regular: a read returns the value of a write that was invoked before the
 * read returned and that no other write, wholly between the two, had
 * overwritten. Safe: a read that overlaps a write may return anything. With
 * one writer both are Lamport's; `intact history` uses the same definitions.
 *
 * A monitor state, as words:
 *
 *     for each client   what it has open: 0 nothing, 1 a read, 2 a write, 3 a
 *                       read that may return anything; the value of a write,
 *                       or the set a read may return
 *     the ended writes that can still be read, ascending: value, and the set
 *                       of open writes that began after it ended (two words
 *                       of bits): it is overwritten when one of them ends
 *
 * The initial value is a write that ended before everything. Of two ended
 * writes of one value the one that more open writes can overwrite is
 * forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "explore/monitor.h"

enum { IDLE, READING, WRITING, READING_ANY };

struct weak_live { /* an ended write */
	int32_t value;
	uint64_t after; /* open writes that began after it ended */
};

uint32_t monitor_weak_initial(struct monitor *m)
{
	bool ok = true;
	m->nbuf = 0;
	for (uint32_t c = 0; c < 2 * m->nclients; c++)
		ok = ok && monitor_push(m, 0);
	ok = ok && monitor_push(m, m->init) && monitor_push(m, 0) && monitor_push(m, 0);
	return ok ? seqtab_add(&m->states, m->buf, m->nbuf) : MONITOR_FAILED;
}

static int compare_live(const void *a, const void *b)
{
	const struct weak_live *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->after < y->after ? -1 : x->after > y->after;
}

static void push_live(struct monitor *m, struct weak_live *l, uint32_t n)
{
	qsort(l, n, sizeof *l, compare_live);
	for (uint32_t i = 0; i < n; i++) {
		bool drop = false;
		for (uint32_t j = 0; j < n && !drop; j++)
			drop = j != i && l[j].value == l[i].value &&
			       (l[j].after == l[i].after ? j < i : (l[j].after & ~l[i].after) == 0);
		if (drop)
			continue;
		monitor_push(m, l[i].value);
		monitor_push(m, (int32_t)(uint32_t)l[i].after);
		monitor_push(m, (int32_t)(uint32_t)(l[i].after >> 32));
	}
}

static uint32_t read_live(const int32_t *w, uint32_t len, struct weak_live *l)
{
	uint32_t n = len / 3;
	for (uint32_t i = 0; i < n; i++)
		l[i] = (struct weak_live){ w[3 * i], (uint32_t)w[3 * i + 1] | (uint64_t)(uint32_t)w[3 * i + 2] << 32 };
	return n;
}

static void call(struct monitor *m, int32_t *open, struct weak_live *l, uint32_t n, const int32_t *ev)
{
	uint32_t client = (uint32_t)ev[0], set = 0;
	bool overlapped = false;
	if (ev[1] == MONITOR_WRITE) {
		for (uint32_t c = 0; c < m->nclients; c++) {
			if (open[2 * c] == READING && m->kind == MONITOR_SAFE) {
				open[2 * c] = READING_ANY;
				open[2 * c + 1] = 0;
			} else if (open[2 * c] == READING) {
				open[2 * c + 1] = (int32_t)monitor_set_add(m, (uint32_t)open[2 * c + 1], ev[2]);
			}
		}
		for (uint32_t i = 0; i < n; i++)
			l[i].after |= 1ull << client;
		open[2 * client] = WRITING;
		open[2 * client + 1] = ev[2];
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		set = monitor_set_add(m, set, l[i].value);
	for (uint32_t c = 0; c < m->nclients; c++)
		if (open[2 * c] == WRITING) {
			overlapped = true;
			set = monitor_set_add(m, set, open[2 * c + 1]);
		}
	bool any = overlapped && m->kind == MONITOR_SAFE;
	open[2 * client] = any ? READING_ANY : READING;
	open[2 * client + 1] = any ? 0 : (int32_t)set;
}

/* False: no write can be what the read returned. */
static bool answer(const struct monitor *m, int32_t *open, struct weak_live *l, uint32_t *n, const int32_t *ev)
{
	uint32_t client = (uint32_t)ev[0], kept = 0;
	uint64_t bit = 1ull << client;
	if (open[2 * client] == READING && !monitor_set_has(m, (uint32_t)open[2 * client + 1], ev[2]))
		return false;
	if (open[2 * client] == WRITING) {
		for (uint32_t i = 0; i < *n; i++)
			if (!(l[i].after & bit))
				l[kept++] = l[i];
		l[kept++] = (struct weak_live){ open[2 * client + 1], 0 };
		*n = kept;
	}
	open[2 * client] = IDLE;
	open[2 * client + 1] = 0;
	return true;
}

uint32_t monitor_weak(struct monitor *m, uint32_t state, const int32_t *ev)
{
	uint32_t len, head = 2 * m->nclients;
	const int32_t *s = seqtab_get(&m->states, state, &len);
	int32_t open[2 * MONITOR_MAX_CLIENTS];
	struct weak_live *l = malloc((len / 3 + 2ull) * sizeof *l);
	if (!l)
		return MONITOR_FAILED;
	memcpy(open, s, head * sizeof *open);
	uint32_t n = read_live(s + head, len - head, l);
	bool right = true;
	if (ev[1] == MONITOR_RETURN)
		right = answer(m, open, l, &n, ev);
	else
		call(m, open, l, n, ev);
	m->nbuf = 0;
	monitor_push_all(m, open, head);
	push_live(m, l, n);
	free(l);
	if (m->failed)
		return MONITOR_FAILED;
	return right ? seqtab_add(&m->states, m->buf, m->nbuf) : MONITOR_DEAD;
}

void monitor_weak_rename(struct monitor *m, uint32_t state, const uint32_t *to)
{
	uint32_t len, nc = m->nclients, head = 2 * nc;
	const int32_t *s = seqtab_get(&m->states, state, &len);
	struct weak_live *l = malloc((len / 3 + 2ull) * sizeof *l);
	if (!l) {
		m->failed = true;
		return;
	}
	uint32_t n = read_live(s + head, len - head, l);
	if (monitor_push_all(m, s, head))
		for (uint32_t c = 0; c < nc; c++)
			memcpy(m->buf + 2 * to[c], s + 2 * c, 2 * sizeof *s);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t after = 0;
		for (uint32_t c = 0; c < nc; c++)
			after |= (l[i].after >> c & 1) << to[c];
		l[i].after = after;
	}
	push_live(m, l, n);
	free(l);
}
