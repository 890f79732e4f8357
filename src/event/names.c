#include "event/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

#include "event/event.h"

_Static_assert(EVENT_KINDS == 8, "event_kind_name[] has a name for each");

const char *const event_kind_name[EVENT_KINDS] = {
	"r", "w", "acq", "rel", "fork", "join", "begin", "end",
};

#define ID_LIMIT UINT32_C(0x7FFFFFF0)

void trace_names_init(struct trace_names *t)
{
	memset(t, 0, sizeof *t);
	for (int i = 0; i < NS_COUNT; i++)
		map_init(&t->ns[i].by_addr);
}

void trace_names_free(struct trace_names *t)
{
	for (int i = 0; i < NS_COUNT; i++) {
		struct names *n = &t->ns[i];
		free(n->list);
		free(n->slots);
		free(n->text);
		map_free(&n->by_addr);
	}
	free(t->lines.runs);
	trace_names_init(t);
}

void lines_add(struct event_lines *l, uint64_t event, uint64_t line)
{
	assert(event > l->last);
	const struct line_run *r = l->n ? &l->runs[l->n - 1] : NULL;
	if (!r || line - r->line != event - r->event) {
		if (l->n == LINE_RUNS || !GROW(l->runs, l->cap, l->n + 1))
			return; /* last stays after it, so lines_of knows */
		l->runs[l->n++] = (struct line_run){ event, line };
	}
	l->last = event;
}

uint64_t lines_of(const struct event_lines *l, uint64_t event)
{
	assert(l->n <= l->cap);
	uint32_t lo = 0, hi = l->n;
	if (event > l->last)
		return 0;
	while (lo < hi) { /* the first run that begins after it */
		uint32_t mid = lo + (hi - lo) / 2;
		if (l->runs[mid].event <= event)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? l->runs[lo - 1].line + (event - l->runs[lo - 1].event) : 0;
}

static uint64_t mix(uint64_t x)
{
	x *= 0x9E3779B97F4A7C15u;
	return x ^ (x >> 32);
}

static uint32_t hash_long(const char *s, size_t len)
{
	uint64_t h = len;
	for (; len >= 8; s += 8, len -= 8) {
		uint64_t w;
		memcpy(&w, s, 8);
		h = mix(h ^ w);
	}
	uint64_t w = 0;
	memcpy(&w, s, len);
	h = mix(mix(h ^ w));
	return (uint32_t)h | 1; /* never 0: that marks short names */
}

static bool grow_slots(struct names *n)
{
	assert(!(n->nslots & (n->nslots - 1)));
	uint32_t cap = n->nslots ? n->nslots * 2 : 64;
	struct name_slot *slots = calloc(cap, sizeof *slots);
	if (!slots)
		return false;
	for (uint32_t i = 0; i < n->nslots; i++) {
		struct name_slot s = n->slots[i];
		if (!s.id1)
			continue;
		uint64_t h = s.hash ? s.hash : mix(s.word);
		uint32_t at = (uint32_t)h & (cap - 1);
		while (slots[at].id1)
			at = (at + 1) & (cap - 1);
		slots[at] = s;
	}
	free(n->slots);
	n->slots = slots;
	n->nslots = cap;
	return true;
}

static bool push(struct names *n, struct name_entry e)
{
	assert(n->len <= n->cap);
	if (n->len >= ID_LIMIT || !GROW_AS(GROW_EIGHTHS, NULL, n->list, n->cap, n->len + 1ull, 1))
		return false;
	n->list[n->len++] = e;
	return true;
}

/* Stores the entry and points the free slot `at` to it. */
static uint32_t enter(struct names *n, uint32_t at, struct name_entry e, uint32_t hash)
{
	assert(at < n->nslots && !n->slots[at].id1);
	if (!push(n, e))
		return NAME_FULL;
	n->slots[at] = (struct name_slot){ e.word, n->len, hash };
	n->used++;
	return n->len - 1;
}

static bool keep_text(struct names *n, const char *s, size_t len, uint64_t *at)
{
	if (!GROW_RAW(n->text, n->text_cap, n->text_len + len))
		return false;
	memcpy(n->text + n->text_len, s, len);
	*at = n->text_len;
	n->text_len += len;
	assert(n->text_len <= n->text_cap && *at + len == n->text_len);
	return true;
}

static uint32_t add_long(struct names *n, const char *s, size_t len)
{
	assert(len > 8 && n->used < n->nslots);
	uint32_t h = hash_long(s, len);
	uint32_t at = h & (n->nslots - 1);
	for (; n->slots[at].id1; at = (at + 1) & (n->nslots - 1)) {
		const struct name_slot *sl = &n->slots[at];
		if (sl->hash != h)
			continue;
		const struct name_entry *e = &n->list[sl->id1 - 1];
		if (e->len == len && !memcmp(n->text + e->word, s, len))
			return sl->id1 - 1;
	}
	struct name_entry e = { 0, (uint32_t)len, 0 };
	if (!keep_text(n, s, len, &e.word))
		return NAME_FULL;
	return enter(n, at, e, h);
}

static uint32_t add_word(struct names *n, uint64_t word, size_t len)
{
	assert(len <= 8 && n->used < n->nslots);
	uint32_t at = (uint32_t)mix(word) & (n->nslots - 1);
	for (; n->slots[at].id1; at = (at + 1) & (n->nslots - 1))
		if (n->slots[at].word == word && !n->slots[at].hash)
			return n->slots[at].id1 - 1;
	return enter(n, at, (struct name_entry){ word, (uint32_t)len, 0 }, 0);
}

static bool room(struct names *n)
{
	return n->used < n->nslots / 2 || grow_slots(n);
}

uint32_t names_add(struct names *n, const char *s, size_t len)
{
	if (n->used >= n->nslots / 2 && !grow_slots(n))
		return NAME_FULL;
	if (len > 8)
		return add_long(n, s, len);
	uint64_t word;
	memcpy(&word, s, 8);
	word = len == 8 ? word : word & ((UINT64_C(1) << (8 * len)) - 1);
	assert(len <= 8);
	return add_word(n, word, len);
}

uint32_t names_add_safe(struct names *n, const char *s, size_t len)
{
	if (!room(n))
		return NAME_FULL;
	if (len > 8)
		return add_long(n, s, len);
	uint64_t word = 0;
	memcpy(&word, s, len);
	return add_word(n, word, len);
}

bool names_append_addr(struct names *n, uint64_t addr)
{
	if (!push(n, (struct name_entry){ addr, 0, 1 }))
		return false;
	assert(n->len && n->list[n->len - 1].is_addr);
	return map_put(&n->by_addr, addr, n->len - 1);
}

uint32_t names_add_addr(struct names *n, uint64_t addr)
{
	uint32_t id = map_get(&n->by_addr, addr);
	if (id != MAP_NONE)
		return id;
	return names_append_addr(n, addr) ? n->len - 1 : NAME_FULL;
}

bool names_append(struct names *n, const char *s, size_t len)
{
	assert(n->len <= n->cap);
	uint32_t before = n->len;
	uint32_t id = names_add_safe(n, s, len);
	if (id == NAME_FULL)
		return false;
	if (id == before)
		return true;
	/* a double in the file: a second id with the same text */
	struct name_entry e = n->list[id];
	return push(n, e);
}

const char *names_text(const struct names *n, uint32_t id, char tmp[24], size_t *len)
{
	if (id >= n->len) {
		*len = (size_t)snprintf(tmp, 24, "#%u", id);
		return tmp;
	}
	const struct name_entry *e = &n->list[id];
	if (e->is_addr) {
		*len = (size_t)snprintf(tmp, 24, "0x%llx", (unsigned long long)e->word);
		return tmp;
	}
	*len = e->len;
	if (e->len > 8)
		return n->text + e->word;
	memcpy(tmp, &e->word, 8);
	tmp[e->len] = 0;
	return tmp;
}

void names_show(const struct names *n, uint32_t id, struct buf *out)
{
	char tmp[24];
	size_t len;
	const char *s = names_text(n, id, tmp, &len);
	buf_safe(out, s, len);
}

void loc_show(const struct trace_names *t, uint32_t loc, struct buf *out)
{
	if (loc == LOC_NONE)
		buf_char(out, '?');
	else if (loc & LOC_TEXT) {
		/* a stack is a text with one frame per line: show the innermost */
		char tmp[24];
		size_t len;
		const char *s = names_text(&t->ns[NS_LOC], loc & ~LOC_TEXT, tmp, &len);
		const char *nl = memchr(s, '\n', len);
		buf_safe(out, s, nl ? (size_t)(nl - s) : len);
	} else
		buf_printf(out, "%u", loc);
}
