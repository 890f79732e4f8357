#include "event/record_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

struct record_stream_slot {
	struct rec_place *places;
	uint32_t n, cap, last;
	uint64_t addr, fresh;
};

struct recdec {
	struct record_stream_slot *slots;
	uint32_t nslots;
};

static const char MALFORMED[] = "a block of records is malformed";

struct recdec *recdec_new(void)
{
	return calloc(1, sizeof(struct recdec));
}

void recdec_free(struct recdec *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->nslots; i++)
		free(d->slots[i].places);
	free(d->slots);
	free(d);
}

static void restart(struct record_stream_slot *s)
{
	assert(s->cap);
	s->places[0] = (struct rec_place){ .key = UINT64_MAX };
	s->n = 1;
	s->last = 0;
	s->addr = s->fresh = 0;
}

static struct record_stream_slot *slot_of(struct recdec *d, unsigned slot)
{
	if (!GROW(d->slots, d->nslots, slot + 1ull))
		return NULL;
	struct record_stream_slot *s = &d->slots[slot];
	if (!s->places) {
		s->places = malloc(64 * sizeof *s->places);
		if (!s->places)
			return NULL;
		s->cap = 64;
		restart(s);
	}
	assert(slot < d->nslots && s->n && s->last < s->n);
	return s;
}

/* A new place; 0 when it cannot be. */
static uint32_t place_add(struct record_stream_slot *s, uint64_t key)
{
	assert(s->n && s->n <= RECORD_STREAM_PLACES);
	if (s->n == RECORD_STREAM_PLACES || !GROW_RAW(s->places, s->cap, s->n + 1ull))
		return 0;
	s->places[s->n] = (struct rec_place){ .key = key, .addr = s->addr };
	return s->n++;
}

/* The place of a record whose head said that it is not the expected one. */
static uint64_t get_place(struct record_stream_slot *s, struct cursor *c, unsigned kind)
{
	uint64_t id = get_varint(c);
	if (id || kind >= REC_KINDS)
		return id;
	s->fresh = unzigzag(get_varint(c), s->fresh) & REC_LOW;
	return place_add(s, (uint64_t)kind << 48 | s->fresh);
}

/* The address of a record at the expected place. */
static uint64_t get_address(const struct record_stream_slot *s, struct cursor *c, unsigned head, const struct rec_place *at)
{
	uint64_t z = 0;
	if (head & RECORD_STREAM_ADDRESS)
		return at->addr + at->step;
	if (head & RECORD_STREAM_GAP)
		return s->addr + (uint64_t)(int64_t)at->gap;
	if (head & RECORD_STREAM_SAME)
		return s->addr;
	for (unsigned i = 0, n = recenc_length(head & RECORD_STREAM_SIZE); i < n; i++)
		z |= (uint64_t)get_byte(c) << 8 * i;
	uint64_t step = unzigzag(z, 0);
	return at->addr + (head & RECORD_STREAM_EIGHTH ? step * 8 : step);
}

static bool get_one(struct record_stream_slot *s, struct cursor *c, unsigned slot, unsigned head, struct rec *out)
{
	assert(s->last < s->n);
	unsigned kind = head & RECORD_STREAM_KIND;
	struct rec_place *at = &s->places[s->places[s->last].next];
	uint64_t addr;
	if (head & RECORD_STREAM_NEXT) {
		if (at == s->places)
			return false;
		kind = (unsigned)(at->key >> 48);
		addr = get_address(s, c, head, at);
	} else {
		uint64_t id = get_place(s, c, kind);
		if (c->bad || !id || id >= s->n || s->places[id].key >> 48 != kind)
			return false;
		s->places[s->last].next = (uint16_t)id;
		at = &s->places[id];
		addr = head & RECORD_STREAM_ADDRESS ? at->addr + at->step : unzigzag(get_varint(c), at->addr);
	}
	if (!(head & RECORD_STREAM_ARG))
		at->arg = (uint8_t)get_byte(c);
	if (c->bad || addr > REC_LOW)
		return false;
	at->step = addr - at->addr;
	at->gap = (int32_t)(addr - s->addr);
	at->addr = s->addr = addr;
	s->last = (uint32_t)(at - s->places);
	*out = rec_make(kind, at->arg, addr, slot, at->key & REC_LOW);
	return true;
}

/* Functions are left. */
static bool get_leave(struct cursor *c, unsigned slot, struct rec *out)
{
	uint64_t keep = get_varint(c);
	*out = rec_make(REC_POP, 0, keep, slot, 0);
	return !c->bad && keep <= REC_LOW;
}

const char *recdec_span(struct recdec *d, unsigned slot, const unsigned char *p, size_t len, struct rec *out, size_t *n)
{
	struct cursor c = { p, p + len, false };
	struct record_stream_slot *s = slot && slot < REC_SLOTS ? slot_of(d, slot) : NULL;
	if (!s)
		return slot && slot < REC_SLOTS ? "out of memory" : "a record of an impossible thread";
	while (c.p < c.end) {
		unsigned head = *c.p++;
		if (head == RECORD_STREAM_PAD)
			continue;
		if (head == RECORD_STREAM_RESTART)
			restart(s);
		else if (head == RECORD_STREAM_LEAVE ? !get_leave(&c, slot, &out[(*n)++])
		                                     : !get_one(s, &c, slot, head, &out[(*n)++]))
			return MALFORMED;
		else if (rec_kind(out[*n - 1]) == REC_TEXT)
			return MALFORMED; /* its letters have no place here */
	}
	return NULL;
}

/* Records as they are; their sense is the caller's to check (rec_check). */
static const char *get_plain(struct cursor *c, struct rec *out, size_t *n)
{
	uint64_t count = get_varint(c);
	if (c->bad || count > (uint64_t)(c->end - c->p) / sizeof *out)
		return MALFORMED;
	memcpy(out + *n, c->p, count * sizeof *out);
	c->p += count * sizeof *out;
	*n += count;
	assert(c->p <= c->end);
	return NULL;
}

const char *recdec_block(struct recdec *d, const unsigned char *p, size_t len, struct rec *out, size_t *n)
{
	struct cursor c = { p, p + len, false };
	const char *why = NULL;
	while (c.p < c.end && !why) {
		uint64_t what = get_varint(&c);
		if (what == 1) {
			why = get_plain(&c, out, n);
			continue;
		}
		uint64_t bytes = get_varint(&c);
		if (c.bad || what & 1 || what >> 1 >= REC_SLOTS || bytes > (uint64_t)(c.end - c.p))
			return MALFORMED;
		why = recdec_span(d, (unsigned)(what >> 1), c.p, bytes, out, n);
		c.p += bytes;
	}
	assert(why || c.p == c.end);
	return why;
}
