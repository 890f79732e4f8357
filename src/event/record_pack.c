#include "event/record_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/map.h"
#include "base/varint.h"

#define SAME_SLOT 0x20
#define NEXT      0x40
#define ADDRESS   0x80
#define KIND      0x1f
#define BUCKETS   (RECORD_PACK_MAX * 2u)
#define LAST      64u /* threads (modulo) whose last place is remembered */

struct record_pack_place {
	uint64_t key; /* kind << 48 | counter */
	uint64_t addr, step;
	uint32_t next;   /* place that came after it; 0: unknown */
	uint32_t bucket; /* that finds it */
	uint8_t arg;
};

struct record_pack {
	struct record_pack_place *places; /* [0] precedes the first */
	uint32_t n;
	uint32_t *buckets; /* place, 0: free */
	uint32_t last[LAST];
	uint64_t addr, fresh; /* last of any place; last new counter */
	unsigned slot;
	unsigned char *bytes; /* what is being packed, before it goes out */
};

enum { ONE = 32, BYTES = 1 << 16 }; /* no record is longer than ONE */

struct record_pack *record_pack_new(void)
{
	struct record_pack *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->places = malloc((RECORD_PACK_MAX + 1) * sizeof *p->places);
	p->buckets = calloc(BUCKETS, sizeof *p->buckets);
	p->bytes = malloc(BYTES + REC_TEXT_MAX + 2 * ONE);
	if (p->places && p->buckets && p->bytes) {
		p->n = 1;
		return p;
	}
	record_pack_free(p);
	return NULL;
}

void record_pack_free(struct record_pack *p)
{
	if (!p)
		return;
	free(p->places);
	free(p->buckets);
	free(p->bytes);
	free(p);
}

static void restart(struct record_pack *p)
{
	assert(p->n <= RECORD_PACK_MAX + 1);
	for (uint32_t i = 1; i < p->n; i++)
		p->buckets[p->places[i].bucket] = 0;
	p->n = 1;
	p->places[0] = (struct record_pack_place){ 0 };
	memset(p->last, 0, sizeof p->last);
	p->addr = p->fresh = 0;
	p->slot = 0;
	assert(p->n == 1 && !p->slot);
}

static uint64_t key_of(struct rec r)
{
	return (uint64_t)rec_kind(r) << 48 | rec_pc(r);
}

static uint32_t place_add(struct record_pack *p, uint64_t key)
{
	assert(p->n <= RECORD_PACK_MAX);
	p->places[p->n] = (struct record_pack_place){ .key = key, .addr = p->addr };
	return p->n++;
}

/* The place of a key; 0 when it is new, then *bucket is where it goes. */
static uint32_t place_find(const struct record_pack *p, uint64_t key, uint32_t *bucket)
{
	uint32_t b = (uint32_t)hash64(key) % BUCKETS, id;
	while ((id = p->buckets[b]) && p->places[id].key != key)
		b = (b + 1) % BUCKETS;
	*bucket = b;
	assert(!id || (id < p->n && p->places[id].key == key));
	return id;
}

/* What holds after a record at place `id`: for the reader; put_one does the same. */
static void note(struct record_pack *p, uint32_t *last, uint32_t id, uint64_t addr, unsigned arg)
{
	assert(id < p->n && *last < p->n);
	struct record_pack_place *at = &p->places[id];
	p->places[*last].next = id;
	*last = id;
	at->step = addr - at->addr;
	at->addr = p->addr = addr;
	at->arg = (uint8_t)arg;
}

/* What changes with every record, apart from the tables: held in registers. */
struct packer {
	struct record_pack_place *places;
	unsigned char *s;
	uint64_t addr;
	unsigned slot;
};

/* A place that was not expected: its number, or all of it. */
static __attribute__((noinline)) uint32_t put_place(struct record_pack *p, struct packer *k, uint64_t key)
{
	uint32_t bucket, id = place_find(p, key, &bucket);
	if (id) {
		k->s = put_varint(k->s, id);
		return id;
	}
	*k->s++ = 0;
	k->s = put_varint(k->s, zigzag(key & REC_LOW, p->fresh));
	p->fresh = key & REC_LOW;
	p->addr = k->addr;
	id = place_add(p, key);
	p->places[id].bucket = bucket;
	p->buckets[bucket] = id;
	assert(id < p->n);
	return id;
}

static inline struct packer put_one(struct record_pack *p, struct packer k, struct rec r)
{
	unsigned char *head = k.s++;
	unsigned kind = rec_kind(r), arg = rec_arg(r), slot = rec_slot(r), flags = SAME_SLOT;
	uint64_t key = key_of(r), addr = rec_addr(r);
	uint32_t *last = &p->last[slot % LAST], before = *last, id = k.places[before].next;
	if (slot != k.slot) {
		flags = 0;
		k.s = put_varint(k.s, k.slot = slot);
	}
	if (id && k.places[id].key == key) {
		flags |= NEXT;
	} else {
		struct packer now = k; /* its address goes no further than this */
		id = put_place(p, &now, key);
		k.s = now.s;
		k.places[before].next = id;
	}
	struct record_pack_place *at = &k.places[id];
	uint64_t was = at->addr;
	if (addr == ((was + at->step) & REC_LOW) && at->arg == arg) {
		flags |= ADDRESS;
	} else {
		k.s = put_varint(k.s, zigzag(addr, was));
		*k.s++ = (unsigned char)arg;
		at->arg = (uint8_t)arg;
	}
	*head = (unsigned char)(kind | flags);
	*last = id;
	at->step = addr - was;
	at->addr = k.addr = addr;
	return k;
}

size_t record_pack_put(struct record_pack *p, const struct rec *r, size_t n, struct buf *out)
{
	size_t i = 0;
	restart(p);
	struct packer k = { .places = p->places, .s = p->bytes };
	while (i < n) {
		struct rec now = r[i];
		uint64_t letters = rec_kind(now) == REC_TEXT ? rec_letters(now) : 0;
		if (letters > n - i - 1 || letters > REC_TEXT_MAX / 16)
			break;
		if (k.s > p->bytes + BYTES) {
			buf_add(out, (char *)p->bytes, (size_t)(k.s - p->bytes));
			k.s = p->bytes;
		}
		k = put_one(p, k, now);
		i++;
		if (letters) {
			memcpy(k.s, &r[i], letters * sizeof *r);
			k.s += letters * sizeof *r;
			i += letters;
		}
	}
	buf_add(out, (char *)p->bytes, (size_t)(k.s - p->bytes));
	assert(i <= n && k.s <= p->bytes + BYTES);
	return i;
}

/* ---- reading ------------------------------------------------------------ */

static bool get_one(struct record_pack *p, struct cursor *c, struct rec *out)
{
	assert(c->p <= c->end);
	unsigned head = get_byte(c), kind = head & KIND;
	if (!(head & SAME_SLOT))
		p->slot = (unsigned)get_varint(c) & 0xffff;
	uint32_t *last = &p->last[p->slot % LAST];
	uint64_t id = p->places[*last].next;
	if (!(head & NEXT)) {
		id = get_varint(c);
		if (!id) {
			p->fresh = unzigzag(get_varint(c), p->fresh) & REC_LOW;
			id = place_add(p, (uint64_t)kind << 48 | p->fresh);
			p->places[id].bucket = 0;
		}
	}
	if (c->bad || !id || id >= p->n || p->places[id].key >> 48 != kind)
		return false;
	struct record_pack_place *at = &p->places[id];
	uint64_t addr = (at->addr + at->step) & REC_LOW;
	unsigned arg = at->arg;
	if (!(head & ADDRESS)) {
		addr = unzigzag(get_varint(c), at->addr) & REC_LOW;
		arg = get_byte(c);
	}
	*out = rec_make(kind, arg, addr, p->slot, at->key & REC_LOW);
	note(p, last, (uint32_t)id, addr, arg);
	return !c->bad;
}

const char *rec_check(const struct rec *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned kind = rec_kind(r[i]);
		if (kind >= REC_KINDS)
			return "a record of an unknown kind";
		if (rec_slot(r[i]) >= REC_SLOTS)
			return "a record of an impossible thread";
		if (kind == REC_TEXT) {
			if (rec_addr(r[i]) > REC_TEXT_MAX || rec_letters(r[i]) > n - 1 - i)
				return "a text that is longer than its block";
			i += rec_letters(r[i]);
		}
	}
	return NULL;
}

const char *record_pack_get(struct record_pack *p, const unsigned char *s, size_t len, size_t n, struct rec *out)
{
	struct cursor c = { s, s + len, false };
	if (n > RECORD_PACK_MAX)
		return "a block of records is too long";
	restart(p);
	for (size_t i = 0; i < n;) {
		struct rec *now = &out[i++];
		if (!get_one(p, &c, now))
			return "a block of records is malformed";
		uint64_t k = rec_kind(*now) == REC_TEXT ? rec_letters(*now) : 0;
		if (k > n - i || k * sizeof *out > (size_t)(c.end - c.p))
			return "a block of records is malformed";
		memcpy(&out[i], c.p, k * sizeof *out);
		c.p += k * sizeof *out;
		i += k;
	}
	if (c.p != c.end)
		return "a block of records is longer than its count";
	return rec_check(out, n);
}
