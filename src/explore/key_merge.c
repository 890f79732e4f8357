#include "explore/key_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "explore/state_run.h"

#define RUNS_MAX 24u /* runs of a sorter; more are merged into one */

/* ---- windows ------------------------------------------------------------ */

/* The keys of the present block up to `last`. */
static uint64_t up_to(const struct key_reader *r, const uint64_t *last)
{
	uint64_t low = r->at, high = r->n;
	while (low < high) { /* binary: the first key beyond */
		uint64_t mid = low + (high - low) / 2;
		if (state_run_compare(r->keys + mid * r->words, last, r->words) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low - r->at;
}

/* Each source has a block with something left in it, or has ended: then it leaves the list. */
static void refill(struct key_reader **live, uint32_t *n)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < *n; i++)
		if (live[i]->at < live[i]->n || key_reader_next(live[i]))
			live[kept++] = live[i];
	*n = kept;
}

struct window {
	uint64_t *keys, *room;
	uint64_t n;
	uint64_t *last;   /* the border */
	uint64_t *before; /* the last key of the window before; with `low` words equal keys may lie on both sides of a border */
	bool any;         /* there was one */
};

/* Moves what the sources have up to the border; how many sources had something. */
static uint32_t fill(struct window *w, struct key_reader **live, uint32_t n, uint32_t words)
{
	const uint64_t *border = NULL;
	uint32_t parts = 0;
	assert(n);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *last = live[i]->keys + (live[i]->n - 1) * words;
		if (!border || state_run_compare(last, border, words) < 0)
			border = last;
	}
	memcpy(w->last, border, words * sizeof *w->last);
	w->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t k = up_to(live[i], w->last);
		memcpy(w->keys + w->n * words, live[i]->keys + live[i]->at * words, k * words * sizeof *w->keys);
		w->n += k;
		live[i]->at += k;
		parts += k != 0;
	}
	return parts;
}

static uint64_t distinct(uint64_t *keys, uint64_t n, uint32_t words, uint32_t low)
{
	assert(low < words);
	uint64_t out = n != 0;
	if (words == 1) {
		for (uint64_t i = 1; i < n; i++) {
			keys[out] = keys[i];
			out += keys[i] != keys[out - 1];
		}
		return out;
	}
	for (uint64_t i = 1; i < n; i++) {
		if (!memcmp(keys + i * words + low, keys + (out - 1) * words + low, (words - low) * sizeof *keys))
			continue;
		memmove(keys + out++ * words, keys + i * words, words * sizeof *keys);
	}
	return out;
}

/* Without those that the reader has. */
static uint64_t unknown1(uint64_t *keys, uint64_t n, struct key_reader *r)
{
	uint64_t out = 0, i = 0;
	while (i < n && key_reader_seek(r, &keys[i])) {
		const uint64_t *known = r->keys, last = known[r->n - 1];
		uint64_t at = r->at;
		for (; i < n && keys[i] <= last; i++) {
			while (known[at] < keys[i])
				at++;
			uint64_t key = keys[i];
			keys[out] = key;
			out += known[at] != key;
		}
		r->at = at;
	}
	memmove(keys + out, keys + i, (n - i) * sizeof *keys);
	return out + (n - i);
}

static uint64_t unknown_wide(uint64_t *keys, uint64_t n, uint32_t words, uint32_t low, struct key_reader *r)
{
	uint64_t out = 0, i = 0;
	uint32_t k = words - low;
	assert(r->words == k);
	while (i < n && key_reader_seek(r, keys + i * words + low)) {
		const uint64_t *last = r->keys + (r->n - 1) * k;
		for (; i < n && state_run_compare(keys + i * words + low, last, k) <= 0; i++) {
			int order;
			while ((order = state_run_compare(r->keys + r->at * k, keys + i * words + low, k)) < 0)
				r->at++;
			if (order)
				memmove(keys + out++ * words, keys + i * words, words * sizeof *keys);
		}
	}
	memmove(keys + out * words, keys + i * words, (n - i) * words * sizeof *keys);
	return out + (n - i);
}

/* The first key again, when it was the last one of the window before: that has the lower words that count. */
static void drop_first(struct key_merge *m, struct window *w)
{
	size_t size = (m->words - m->low) * sizeof *w->keys;
	if (w->any && w->n && !memcmp(w->keys + m->low, w->before, size))
		memmove(w->keys, w->keys + m->words, --w->n * m->words * sizeof *w->keys);
	if (w->n)
		memcpy(w->before, w->keys + (w->n - 1) * m->words + m->low, size);
	w->any |= w->n != 0;
}

static bool one_window(struct key_merge *m, struct window *w, struct key_reader **live, uint32_t n)
{
	uint32_t parts = fill(w, live, n, m->words);
	if (parts > 1) {
		uint64_t *at = key_sort(w->keys, w->room, w->n, m->words);
		w->room = at == w->keys ? w->room : w->keys;
		w->keys = at;
	}
	w->n = distinct(w->keys, w->n, m->words, m->low);
	if (m->low)
		drop_first(m, w);
	for (uint32_t i = 0; i < m->nknown && w->n; i++)
		w->n = m->words == 1 ? unknown1(w->keys, w->n, &m->known[i])
		                     : unknown_wide(w->keys, w->n, m->words, m->low, &m->known[i]);
	return !scratch_trouble(m->s) && (!w->n || m->each(m->arg, w->keys, w->n));
}

bool key_merge(struct key_merge *m)
{
	assert(m->low < m->words && m->each);
	struct key_reader **live = calloc(m->nsources + 1ull, sizeof *live);
	uint32_t n = m->nsources, turn = 0;
	size_t room = ((size_t)n * KEY_BLOCK + 1) * m->words * 8;
	size_t key = m->words * sizeof(uint64_t);
	struct window w = { malloc(room), malloc(room), 0, malloc(key), malloc(key), false };
	bool ok = (live && w.keys && w.room && w.last && w.before) || scratch_fail(m->s, SCRATCH_MEMORY, 0);
	for (uint32_t i = 0; ok && i < n; i++)
		live[i] = &m->source[i];
	m->bytes = 2 * room;
	while (ok) {
		refill(live, &n);
		if (!n || scratch_trouble(m->s))
			break;
		ok = one_window(m, &w, live, n) && !(m->stopping && ++turn % 64 == 0 && m->stopping(m->stop_arg));
	}
	free(w.keys);
	free(w.room);
	free(w.last);
	free(w.before);
	free(live);
	return ok && !scratch_trouble(m->s);
}

/* ---- sorting ------------------------------------------------------------ */

bool key_sorter_init(struct key_sorter *t, struct scratch *s, const struct key_layout *layout, uint64_t cap)
{
	*t = (struct key_sorter){ .s = s, .layout = layout, .words = key_layout_words(layout), .low = layout->low, .cap = cap };
	assert(cap);
	t->keys = malloc(cap * t->words * sizeof *t->keys);
	t->room = malloc(cap * t->words * sizeof *t->room);
	if (t->keys && t->room)
		return true;
	key_sorter_free(t);
	return scratch_fail(s, SCRATCH_MEMORY, 0);
}

void key_sorter_clear(struct key_sorter *t)
{
	for (uint32_t i = 0; i < t->nruns; i++)
		key_run_free(t->s, &t->runs[i]);
	t->nruns = 0;
	t->n = 0;
	t->sorted = false;
}

void key_sorter_free(struct key_sorter *t)
{
	key_sorter_clear(t);
	free(t->runs);
	free(t->keys);
	free(t->room);
	*t = (struct key_sorter){ 0 };
}

uint64_t key_sorter_bytes(const struct key_sorter *t)
{
	uint64_t n = 2 * t->cap * t->words * 8;
	for (uint32_t i = 0; i < t->nruns; i++)
		n += key_run_bytes(&t->runs[i]);
	return n;
}

static void sort_memory(struct key_sorter *t)
{
	uint64_t *at = key_sort(t->keys, t->room, t->n, t->words);
	if (at == t->room) {
		t->room = t->keys;
		t->keys = at;
	}
	t->n = distinct(t->keys, t->n, t->words, t->low);
}

static bool write_each(void *arg, const uint64_t *keys, uint64_t n)
{
	return key_writer_put(arg, keys, n);
}

/* All runs become one. */
static bool join_runs(struct key_sorter *t)
{
	struct key_reader *r = calloc(t->nruns, sizeof *r);
	struct key_writer w;
	struct key_run one;
	bool ok = (r || scratch_fail(t->s, SCRATCH_MEMORY, 0)) && key_writer_init(&w, t->s, t->layout);
	uint32_t n = 0;
	if (!ok) {
		free(r);
		return false;
	}
	while (ok && n < t->nruns)
		ok = key_reader_init(&r[n], t->s, &t->runs[n], t->layout) && ++n;
	struct key_merge m = {
		.s = t->s, .words = t->words, .low = t->low, .source = r, .nsources = n, .each = write_each, .arg = &w
	};
	ok = ok && key_merge(&m);
	for (uint32_t i = 0; i < n; i++)
		key_reader_free(&r[i]);
	free(r);
	if (!ok) {
		key_writer_cancel(&w);
		return false;
	}
	if (!key_writer_end(&w, &one))
		return false;
	assert(one.n && t->nruns > 1);
	for (uint32_t i = 0; i < t->nruns; i++)
		key_run_free(t->s, &t->runs[i]);
	t->runs[0] = one;
	t->nruns = 1;
	return true;
}

bool key_sorter_spill(struct key_sorter *t)
{
	struct key_writer w;
	struct key_run run;
	if (!t->n)
		return true;
	if (!t->sorted)
		sort_memory(t);
	if (!GROW(t->runs, t->cap_runs, t->nruns + 1ull))
		return scratch_fail(t->s, SCRATCH_MEMORY, 0);
	if (!key_writer_init(&w, t->s, t->layout))
		return false;
	if (!key_writer_put(&w, t->keys, t->n)) {
		key_writer_cancel(&w);
		return false;
	}
	if (!key_writer_end(&w, &run))
		return false;
	t->runs[t->nruns++] = run;
	t->n = 0;
	return t->nruns < RUNS_MAX || join_runs(t);
}

bool key_sorter_sort(struct key_sorter *t)
{
	if (!t->sorted)
		sort_memory(t);
	t->sorted = true;
	return !scratch_trouble(t->s);
}

bool key_sorter_read(struct key_sorter *t, struct key_reader *r, const struct key_layout *as)
{
	uint32_t n = 0;
	assert(t->sorted && (as == t->layout || !t->n));
	while (n < t->nruns && key_reader_init(&r[n], t->s, &t->runs[n], as))
		n++;
	if (n == t->nruns) {
		key_reader_array(&r[n], t->keys, t->n, as);
		return true;
	}
	while (n--)
		key_reader_free(&r[n]);
	return false;
}
