#include "explore/monitor.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

bool monitor_open(struct monitor *m, enum monitor_kind kind, uint32_t nclients, int32_t init)
{
	memset(m, 0, sizeof *m);
	m->kind = kind;
	m->nclients = nclients;
	m->init = init;
	vector_table_init(&m->events, 3);
	vector_table_init(&m->work, nclients + 1);
	seqtab_init(&m->states);
	seqtab_init(&m->sets);
	map_init(&m->memo);
	/* set 0 is the empty one */
	return nclients <= MONITOR_MAX_CLIENTS && seqtab_add(&m->sets, NULL, 0) == 0;
}

void monitor_close(struct monitor *m)
{
	vector_table_free(&m->events);
	vector_table_free(&m->work);
	seqtab_free(&m->states);
	seqtab_free(&m->sets);
	map_free(&m->memo);
	free(m->buf);
	memset(m, 0, sizeof *m);
}

uint64_t monitor_bytes(const struct monitor *m)
{
	return vector_table_bytes(&m->events) + vector_table_bytes(&m->work) + seqtab_bytes(&m->states) + seqtab_bytes(&m->sets) +
	       m->memo.cap * sizeof *m->memo.slots + m->cap_buf * 4ull;
}

/* ---- states being built, sets of values ---------------------------------------- */

bool monitor_push(struct monitor *m, int32_t word)
{
	if (!GROW_RAW(m->buf, m->cap_buf, m->nbuf + 1ull)) {
		m->failed = true;
		return false;
	}
	m->buf[m->nbuf++] = word;
	return true;
}

bool monitor_push_all(struct monitor *m, const int32_t *words, uint32_t n)
{
	bool ok = true;
	for (uint32_t i = 0; i < n && ok; i++)
		ok = monitor_push(m, words[i]);
	return ok;
}

bool monitor_set_has(const struct monitor *m, uint32_t set, int32_t value)
{
	uint32_t n;
	const int32_t *v = seqtab_get(&m->sets, set, &n);
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == value)
			return true;
	return false;
}

/* a is part of b */
bool monitor_set_within(const struct monitor *m, uint32_t a, uint32_t b)
{
	uint32_t na, nb, j = 0;
	const int32_t *va = seqtab_get(&m->sets, a, &na), *vb = seqtab_get(&m->sets, b, &nb);
	if (a == b)
		return true;
	for (uint32_t i = 0; i < na; i++, j++) {
		while (j < nb && vb[j] < va[i])
			j++;
		if (j == nb || vb[j] != va[i])
			return false;
	}
	return true;
}

uint32_t monitor_set_add(struct monitor *m, uint32_t set, int32_t value)
{
	if (monitor_set_has(m, set, value))
		return set;
	uint32_t n, k = 0;
	const int32_t *v = seqtab_get(&m->sets, set, &n);
	int32_t *w = malloc((n + 1ull) * sizeof *w);
	uint32_t id = SEQTAB_NONE;
	if (w) {
		while (k < n && v[k] < value)
			k++;
		if (k)
			memcpy(w, v, k * sizeof *w);
		w[k] = value;
		if (n > k)
			memcpy(w + k + 1, v + k, (n - k) * sizeof *w);
		id = seqtab_add(&m->sets, w, n + 1);
	}
	free(w);
	if (id == SEQTAB_NONE) {
		m->failed = true;
		return 0;
	}
	return id;
}

/* ---- the recorded history -------------------------------------------------------- */

/* A state is the list of the events so far. At the answer of a read the whole
 * of it is judged. */
static uint32_t monitor_record(struct monitor *m, uint32_t state, const int32_t *ev, uint32_t event)
{
	uint32_t len, n = 0, *open;
	const int32_t *old = seqtab_get(&m->states, state, &len);
	struct monitor_op *ops = calloc(len + 1ull, sizeof *ops);
	open = calloc(m->nclients + 1ull, sizeof *open);
	m->nbuf = 0;
	bool ok = ops && open && monitor_push_all(m, old, len) && monitor_push(m, (int32_t)event);
	for (uint32_t i = 0; ok && i <= len; i++) {
		const int32_t *e = vector_table_get(&m->events, (uint32_t)m->buf[i]);
		uint32_t c = (uint32_t)e[0];
		if (e[1] != MONITOR_RETURN) {
			open[c] = n;
			ops[n++] = (struct monitor_op){ .client = c,
				                        .is_write = e[1] == MONITOR_WRITE,
				                        .open = true,
				                        .value = e[2],
				                        .call = i,
				                        .ret = UINT32_MAX };
			continue;
		}
		struct monitor_op *o = &ops[open[c]];
		o->ret = i;
		o->open = false;
		if (!o->is_write)
			o->value = e[2];
	}
	bool right = true;
	if (ok && ev[1] == MONITOR_RETURN && !ops[open[ev[0]]].is_write) {
		m->judged++;
		right = m->judge(m->judge_arg, ops, n, len + 1);
	}
	free(ops);
	free(open);
	if (!ok)
		return MONITOR_FAILED;
	return right ? seqtab_add(&m->states, m->buf, m->nbuf) : MONITOR_DEAD;
}

/* ---- all kinds --------------------------------------------------------------------- */

uint32_t monitor_initial(struct monitor *m)
{
	switch (m->kind) {
	case MONITOR_ATOMIC:
		return monitor_atomic_initial(m);
	case MONITOR_RECORD:
		return seqtab_add(&m->states, NULL, 0);
	default:
		return monitor_weak_initial(m);
	}
}

uint32_t monitor_event(struct monitor *m, uint32_t client, enum monitor_event what, int32_t value)
{
	uint32_t id = vector_table_add(&m->events, (int32_t[]){ (int32_t)client, (int32_t)what, value });
	m->failed |= id == VECTOR_TABLE_NONE;
	return id;
}

uint32_t monitor_step_slow(struct monitor *m, uint32_t state, uint32_t event)
{
	int32_t ev[3];
	memcpy(ev, vector_table_get(&m->events, event), sizeof ev);
	uint32_t to = m->kind == MONITOR_ATOMIC   ? monitor_atomic(m, state, ev)
	              : m->kind == MONITOR_RECORD ? monitor_record(m, state, ev, event)
	                                          : monitor_weak(m, state, ev);
	if (m->failed || to == MONITOR_FAILED)
		return MONITOR_FAILED;
	if (!map_put(&m->memo, (uint64_t)state << 32 | event, to))
		return MONITOR_FAILED;
	return to;
}

uint32_t monitor_rename(struct monitor *m, uint32_t state, const uint32_t *to)
{
	m->nbuf = 0;
	if (m->kind == MONITOR_ATOMIC)
		monitor_atomic_rename(m, state, to);
	else
		monitor_weak_rename(m, state, to);
	return m->failed ? MONITOR_FAILED : seqtab_add(&m->states, m->buf, m->nbuf);
}

uint32_t monitor_client_hash(struct monitor *m, uint32_t state, uint32_t client)
{
	uint32_t len, nc = m->nclients;
	const int32_t *s = seqtab_get(&m->states, state, &len);
	uint64_t h = hash64((uint64_t)(uint32_t)s[2 * client] << 32 | (uint32_t)s[2 * client + 1]);
	for (uint32_t at = 2 * nc; m->kind == MONITOR_ATOMIC && at < len; at += nc + 1)
		h += hash64((uint64_t)(uint32_t)s[at] << 32 | (uint32_t)s[at + 1 + client]);
	for (uint32_t at = 2 * nc; m->kind != MONITOR_ATOMIC && at < len; at += 3)
		h += hash64((uint64_t)(uint32_t)s[at] << 1 | ((uint32_t)s[at + 1 + client / 32] >> client % 32 & 1));
	return (uint32_t)(h ^ h >> 32);
}
