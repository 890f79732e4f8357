/*
 * monitor_atomic: linearizability on the fly.
 *
 * A monitor state, as words:
 *
 *     for each client   what it has open: 0 nothing, 1 a read, 2 a write;
 *                       the value of an open write some configuration still
 *                       has to let take effect
 *     for each configuration, ascending   the register's value; for each
 *                       client 0, or for a write that took effect 1, or for
 *                       a read the set of values it may return
 *
 * A call adds the operation to every configuration: a read may return the
 * value there is now, a write has not taken effect. An answer keeps the
 * configurations that allow it. Where one does not, its open writes take
 * effect in every order until it does, and each of them lets the open reads
 * see one more value. Letting writes take effect no earlier than an answer
 * asks for loses nothing: whatever can be reached by doing it earlier can be
 * reached from the configuration that waits, with at least as many values
 * for the open reads. So one configuration per choice of order is enough,
 * and with one writer there is one.
 *
 * Cost of a step: the configurations times the orders of open writes, once
 * for each (state, event).
 */
#include <stdlib.h>
#include <string.h>

#include "explore/monitor.h"

enum { IDLE, READING, WRITING };

uint32_t monitor_atomic_initial(struct monitor *m)
{
	m->nbuf = 0;
	bool ok = true;
	for (uint32_t c = 0; c < 2 * m->nclients; c++)
		ok = ok && monitor_push(m, 0);
	ok = ok && monitor_push(m, m->init);
	for (uint32_t c = 0; c < m->nclients; c++)
		ok = ok && monitor_push(m, 0);
	return ok ? seqtab_add(&m->states, m->buf, m->nbuf) : MONITOR_FAILED;
}

static int compare_rows(const void *a, const void *b, void *width)
{
	const int32_t *x = a, *y = b;
	for (uint32_t i = 0; i < *(uint32_t *)width; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Does b allow everything that a does? */
static bool dominated(const struct monitor *m, const int32_t *open, const int32_t *a, const int32_t *b)
{
	if (a[0] != b[0])
		return false;
	for (uint32_t c = 0; c < m->nclients; c++) {
		int32_t x = a[c + 1], y = b[c + 1];
		if (x == y)
			continue;
		if (open[2 * c] != READING || !monitor_set_within(m, (uint32_t)x, (uint32_t)y))
			return false;
	}
	return true;
}

/* The state that m->buf holds, its configurations sorted, without dominated
 * ones and unneeded values. */
static uint32_t finish(struct monitor *m)
{
	uint32_t nc = m->nclients, head = 2 * nc, width = nc + 1, kept = 0;
	uint32_t n = (m->nbuf - head) / width;
	int32_t *open = m->buf, *rows = m->buf + head;
	if (!n)
		return MONITOR_DEAD;
	bool *drop = calloc(n, sizeof *drop);
	if (!drop)
		return MONITOR_FAILED;
	qsort_r(rows, n, width * sizeof *rows, compare_rows, &width);
	for (uint32_t i = 0; i < n; i++) {
		const int32_t *a = rows + (size_t)i * width;
		drop[i] = i && !compare_rows(a - width, a, &width);
		for (uint32_t j = 0; j < n && !drop[i]; j++) {
			const int32_t *b = rows + (size_t)j * width;
			drop[i] = dominated(m, open, a, b) && compare_rows(a, b, &width);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (!drop[i])
			memmove(rows + (size_t)kept++ * width, rows + (size_t)i * width, width * sizeof *rows);
	free(drop);
	for (uint32_t c = 0; c < nc; c++) {
		bool needed = false;
		for (uint32_t i = 0; i < kept; i++)
			needed |= open[2 * c] == WRITING && !rows[(size_t)i * width + c + 1];
		if (!needed)
			open[2 * c + 1] = 0;
	}
	return seqtab_add(&m->states, m->buf, head + kept * width);
}

/* Lets an open write take effect in `row`. */
static void take_effect(struct monitor *m, const int32_t *open, int32_t *row, uint32_t client)
{
	row[0] = open[2 * client + 1];
	row[client + 1] = 1;
	for (uint32_t c = 0; c < m->nclients; c++)
		if (open[2 * c] == READING)
			row[c + 1] = (int32_t)monitor_set_add(m, (uint32_t)row[c + 1], row[0]);
}

/* Does the configuration allow the answer? */
static bool allows(const struct monitor *m, const int32_t *open, const int32_t *row, const int32_t *ev)
{
	uint32_t c = (uint32_t)ev[0];
	return open[2 * c] == READING ? monitor_set_has(m, (uint32_t)row[c + 1], ev[2]) : row[c + 1] == 1;
}

static uint32_t answer(struct monitor *m, const int32_t *open, const int32_t *rows, uint32_t n, const int32_t *ev)
{
	uint32_t nc = m->nclients, width = nc + 1, client = (uint32_t)ev[0];
	int32_t row[MONITOR_MAX_CLIENTS + 1];
	vector_table_free(&m->work); /* frees memory, keeps the width */
	for (uint32_t i = 0; i < n; i++)
		m->failed |= vector_table_add(&m->work, rows + (size_t)i * width) == VECTOR_TABLE_NONE;
	for (uint32_t i = 0; i < m->work.n && !m->failed; i++) {
		memcpy(row, vector_table_get(&m->work, i), width * sizeof *row);
		if (allows(m, open, row, ev)) {
			row[client + 1] = 0;
			monitor_push_all(m, row, width);
			continue;
		}
		for (uint32_t c = 0; c < nc; c++) {
			if (open[2 * c] != WRITING || row[c + 1])
				continue;
			int32_t next[MONITOR_MAX_CLIENTS + 1];
			memcpy(next, row, width * sizeof *row);
			take_effect(m, open, next, c);
			m->failed |= vector_table_add(&m->work, next) == VECTOR_TABLE_NONE;
		}
	}
	m->buf[2 * client] = IDLE; /* only now: `open` may be this */
	m->buf[2 * client + 1] = 0;
	return m->failed ? MONITOR_FAILED : finish(m);
}

uint32_t monitor_atomic(struct monitor *m, uint32_t state, const int32_t *ev)
{
	uint32_t len, nc = m->nclients, head = 2 * nc, width = nc + 1, client = (uint32_t)ev[0];
	/* a copy: the table may move while sets and states are added */
	const int32_t *stored = seqtab_get(&m->states, state, &len);
	int32_t *s = malloc((len + 1ull) * sizeof *s);
	if (!s)
		return MONITOR_FAILED;
	memcpy(s, stored, len * sizeof *s);
	uint32_t n = (len - head) / width, to;
	m->nbuf = 0;
	if (ev[1] == MONITOR_RETURN) {
		monitor_push_all(m, s, head);
		to = m->failed ? MONITOR_FAILED : answer(m, s, s + head, n, ev);
	} else {
		s[2 * client] = ev[1] == MONITOR_WRITE ? WRITING : READING;
		s[2 * client + 1] = ev[1] == MONITOR_WRITE ? ev[2] : 0;
		for (uint32_t i = 0; i < n; i++) {
			int32_t *row = s + head + (size_t)i * width;
			row[client + 1] = ev[1] == MONITOR_WRITE ? 0 : (int32_t)monitor_set_add(m, 0, row[0]);
		}
		monitor_push_all(m, s, len);
		to = m->failed ? MONITOR_FAILED : finish(m);
	}
	free(s);
	return to;
}

void monitor_atomic_rename(struct monitor *m, uint32_t state, const uint32_t *to)
{
	uint32_t len, nc = m->nclients, head = 2 * nc, width = nc + 1;
	const int32_t *s = seqtab_get(&m->states, state, &len);
	if (!monitor_push_all(m, s, len))
		return;
	for (uint32_t c = 0; c < nc; c++) {
		memcpy(m->buf + 2 * to[c], s + 2 * c, 2 * sizeof *s);
		for (uint32_t at = head; at < len; at += width)
			m->buf[at + 1 + to[c]] = s[at + 1 + c];
	}
	qsort_r(m->buf + head, (len - head) / width, width * sizeof *m->buf, compare_rows, &width);
}
