#include "event/itr.h"

#include <string.h>

#include "base/invariant.h"
#include "event/crc.h"
#include "base/varint.h"

_Static_assert(ITR_SYMBOLS <= UINT8_MAX && ITR_STREAMS <= UINT8_MAX && ITR_ZSTD <= UINT8_MAX, "bytes of a block's head");

static void put32(unsigned char *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

static void put64(unsigned char *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const unsigned char *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

uint32_t itr_crc(const void *data, size_t len)
{
	return crc_of(data, len);
}

void itr_put_header(unsigned char out[ITR_HEADER])
{
	memcpy(out, ITR_MAGIC, 8);
	put32(out + 8, ITR_VERSION);
	put32(out + 12, 0);
}

const char *itr_get_header(const unsigned char in[ITR_HEADER])
{
	if (memcmp(in, ITR_MAGIC, 8))
		return "this is not a trace written by intact";
	if (get32(in + 8) > ITR_VERSION)
		return "the trace was written by a newer intact: this one reads versions 1, 2 and 4";
	if (get32(in + 8) == 0 || get32(in + 8) == 3)
		return "the trace has an invalid version: its header is damaged";
	return NULL;
}

void itr_put_head(const struct itr_head *h, unsigned char out[ITR_HEAD])
{
	assert(h->type >= ITR_NAMES && h->type <= ITR_SYMBOLS && h->raw <= ITR_MAX_RAW && h->stored <= ITR_MAX_STORED);
	memset(out, 0, ITR_HEAD);
	put32(out, ITR_BLOCK_MAGIC);
	out[4] = h->type;
	out[5] = h->encoding;
	out[6] = h->compression;
	put32(out + 8, h->stored);
	put32(out + 12, h->raw);
	put64(out + 16, h->first);
	put32(out + 24, h->count);
	put32(out + 28, h->crc);
	put32(out + 32, h->process);
	put32(out + 36, itr_crc(out, 36));
}

bool itr_get_head(const unsigned char in[ITR_HEAD], struct itr_head *h)
{
	if (get32(in) != ITR_BLOCK_MAGIC || get32(in + 36) != itr_crc(in, 36))
		return false;
	*h = (struct itr_head){
		.type = in[4],
		.encoding = in[5],
		.compression = in[6],
		.stored = get32(in + 8),
		.raw = get32(in + 12),
		.first = get64(in + 16),
		.count = get32(in + 24),
		.crc = get32(in + 28),
		.process = get32(in + 32),
	};
	return h->type >= ITR_NAMES && h->type <= ITR_SYMBOLS &&
	       h->encoding <= (h->type == ITR_RECORDS ? ITR_STREAMS : ITR_PACKED) && h->compression <= ITR_ZSTD &&
	       h->raw <= ITR_MAX_RAW && h->stored <= ITR_MAX_STORED && h->count <= ITR_MAX_RAW &&
	       (h->compression || h->raw == h->stored);
}

/* ---- packing ------------------------------------------------------------ */

#define SAME_THREAD 0x10
#define NO_TARGET   0x20
#define NO_LOC      0x40
#define SAME_LOC    0x80
#define LOC_MEMORY  64 /* threads (modulo) whose last place is remembered */

static const uint8_t space_of[EVENT_KINDS] = {
	NS_VAR, NS_VAR, NS_LOCK, NS_LOCK, NS_THREAD, NS_THREAD, NS_LABEL, NS_LABEL,
};

_Static_assert(sizeof space_of == EVENT_KINDS && EVENT_KINDS <= 0x10, "a kind takes four bits, and names from one table");
struct deltas {
	uint32_t thread, target[NS_COUNT], loc[LOC_MEMORY];
};

static unsigned char *pack_one(unsigned char *p, const struct event *e, struct deltas *d)
{
	assert(e->kind < EVENT_KINDS);
	uint32_t *loc = &d->loc[e->thread % LOC_MEMORY];
	uint32_t *target = &d->target[space_of[e->kind]];
	bool bare = e->kind >= EVENT_BEGIN && !e->target;
	unsigned char *head = p++;
	*head = e->kind;
	if (e->thread == d->thread)
		*head |= SAME_THREAD;
	else
		p = put_varint(p, e->thread);
	d->thread = e->thread;
	if (bare) {
		*head |= NO_TARGET;
	} else {
		p = put_varint(p, zigzag(e->target, *target));
		*target = e->target;
	}
	if (e->loc == LOC_NONE) {
		*head |= NO_LOC;
	} else if (e->loc == *loc) {
		*head |= SAME_LOC;
	} else {
		p = put_varint(p, zigzag(e->loc, *loc));
		*loc = e->loc;
	}
	return p;
}

void itr_pack(const struct event *ev, size_t n, struct buf *out)
{
	struct deltas d = { 0 };
	unsigned char tmp[4096];
	unsigned char *p = tmp;
	for (size_t i = 0; i < n; i++) {
		if (p > tmp + sizeof tmp - 32) {
			buf_add(out, (char *)tmp, (size_t)(p - tmp));
			p = tmp;
		}
		p = pack_one(p, &ev[i], &d);
	}
	buf_add(out, (char *)tmp, (size_t)(p - tmp));
}

uint32_t itr_pack_names(const struct trace_names *t, uint32_t from[NS_COUNT], struct buf *out)
{
	uint32_t count = 0;
	for (unsigned s = 0; s < NS_COUNT; s++) {
		const struct names *n = &t->ns[s];
		for (; from[s] < n->len && out->len < ITR_MAX_RAW / 2; from[s]++, count++) {
			const struct name_entry *e = &n->list[from[s]];
			unsigned char head[16], *p = head;
			*p++ = (unsigned char)(s | (e->is_addr ? 0x80u : 0));
			p = put_varint(p, e->is_addr ? e->word : e->len);
			buf_add(out, (char *)head, (size_t)(p - head));
			if (e->is_addr)
				continue;
			char tmp[24];
			size_t len;
			const char *text = names_text(n, from[s], tmp, &len);
			buf_add(out, text, len);
		}
	}
	for (unsigned s = 0; s < NS_COUNT; s++)
		assert(from[s] <= t->ns[s].len);
	return count;
}

/* ---- unpacking ---------------------------------------------------------- */

static uint32_t get_near(struct cursor *c, uint32_t before)
{
	uint64_t z = get_varint(c);
	int64_t d = (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
	int64_t v = (int64_t)before + d;
	if (d > UINT32_MAX || d < -(int64_t)UINT32_MAX || v < 0 || v > UINT32_MAX) {
		c->bad = true;
		return 0;
	}
	return (uint32_t)v;
}

static const char *unpack_one(struct cursor *c, struct deltas *d, const struct trace_names *t, struct event *e)
{
	assert(c->p <= c->end);
	if (c->p == c->end)
		return "a block of events is shorter than its count";
	unsigned char head = *c->p++;
	e->kind = head & 0x0F;
	if (e->kind >= EVENT_KINDS)
		return "an event of an unknown kind";
	uint32_t *target = &d->target[space_of[e->kind]];
	if (!(head & SAME_THREAD)) {
		uint64_t v = get_varint(c);
		c->bad |= v > UINT32_MAX;
		d->thread = (uint32_t)v;
	}
	e->thread = d->thread;
	uint32_t *loc = &d->loc[e->thread % LOC_MEMORY];
	if (head & NO_TARGET)
		e->target = 0;
	else
		e->target = *target = get_near(c, *target);
	if (head & NO_LOC)
		e->loc = LOC_NONE;
	else if (head & SAME_LOC)
		e->loc = *loc;
	else
		e->loc = *loc = get_near(c, *loc);
	if (c->bad)
		return "a block of events is malformed";
	if (e->thread >= t->ns[NS_THREAD].len || e->target >= t->ns[space_of[e->kind]].len ||
	    ((head & NO_TARGET) && e->kind < EVENT_BEGIN) ||
	    (e->loc != LOC_NONE && (e->loc & LOC_TEXT) && (e->loc & ~LOC_TEXT) >= t->ns[NS_LOC].len))
		return "an event uses a name that the file does not list";
	return NULL;
}

/* Threads of FIXED events are small numbers; their names are T0, T1, ... */
static bool name_threads(struct names *n, uint32_t upto)
{
	while (n->len <= upto) {
		struct buf b;
		buf_init(&b);
		buf_printf(&b, "T%u", n->len);
		bool ok = names_append(n, buf_cstr(&b), b.len);
		buf_free(&b);
		if (!ok)
			return false;
	}
	assert(n->len > upto);
	return true;
}

static const char *unpack_fixed(const unsigned char *p, struct trace_names *t, struct event *e)
{
	e->kind = p[0];
	if (e->kind >= EVENT_KINDS)
		return "an event of an unknown kind";
	e->thread = (uint32_t)p[2] | (uint32_t)p[3] << 8;
	e->loc = get32(p + 4);
	uint64_t target = get64(p + 8);
	if (e->loc != LOC_NONE && (e->loc & LOC_TEXT) && (e->loc & ~LOC_TEXT) >= t->ns[NS_LOC].len)
		return "an event uses a name that the file does not list";
	if (!name_threads(&t->ns[NS_THREAD], e->thread))
		return "out of memory";
	uint8_t space = space_of[e->kind];
	if (space == NS_THREAD) {
		if (target > UINT16_MAX)
			return "an event names a thread above 65535";
		e->target = (uint32_t)target;
		return name_threads(&t->ns[NS_THREAD], e->target) ? NULL : "out of memory";
	}
	if (space == NS_LABEL) {
		e->target = (uint32_t)target;
		return target < t->ns[NS_LABEL].len ? NULL : "an event uses a name that the file does not list";
	}
	e->target = names_add_addr(&t->ns[space], target);
	return e->target == NAME_FULL ? "out of memory" : NULL;
}

const char *itr_unpack(const struct itr_head *h, const unsigned char *p, struct trace_names *t, struct event *out)
{
	assert(h->raw <= ITR_MAX_RAW);
	struct cursor c = { p, p + h->raw, false };
	struct deltas d = { 0 };
	if (h->encoding == ITR_FIXED && h->raw != (uint64_t)h->count * 16)
		return "a block of events is not as long as its count says";
	for (uint32_t i = 0; i < h->count; i++) {
		struct event *e = &out[i];
		e->index = h->first + i;
		e->line = 0;
		e->flags = 0;
		const char *why = h->encoding == ITR_FIXED ? unpack_fixed(p + (size_t)i * 16, t, e) : unpack_one(&c, &d, t, e);
		if (why)
			return why;
	}
	if (h->encoding == ITR_PACKED && c.p != c.end)
		return "a block of events is longer than its count";
	return NULL;
}

const char *itr_unpack_names(const struct itr_head *h, const unsigned char *p, struct trace_names *t)
{
	assert(h->raw <= ITR_MAX_RAW);
	struct cursor c = { p, p + h->raw, false };
	for (uint32_t i = 0; i < h->count; i++) {
		if (c.p == c.end)
			return "a block of names is shorter than its count";
		unsigned char head = *c.p++;
		unsigned space = head & 0x7F;
		uint64_t v = get_varint(&c);
		if (c.bad || space >= NS_COUNT)
			return "a block of names is malformed";
		struct names *n = &t->ns[space];
		if (head & 0x80) {
			if (!names_append_addr(n, v))
				return "out of memory";
			continue;
		}
		if (v > (uint64_t)(c.end - c.p) || v > NAMES_MAX_LEN)
			return "a block of names is malformed";
		if (!names_append(n, (const char *)c.p, (size_t)v))
			return "out of memory";
		c.p += v;
	}
	return c.p == c.end ? NULL : "a block of names is longer than its count";
}
