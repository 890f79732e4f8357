/*
 * Recordings: packed in blocks and in streams, and read back, hostile bytes and records, the variables
 * of a translation against a naive twin that knows single bytes only, and
 * saved names.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/symtab.h"
#include "dynamic/replay.h"
#include "dynamic/serial.h"
#include "event/finding.h"
#include "event/order.h"
#include "event/record_pack.h"
#include "event/record_state.h"
#include "event/record_stream.h"
#include "event/translate.h"

static struct rec random_rec(struct rng *r, bool wild)
{
	unsigned kind = rng_below(r, REC_KINDS);
	if (kind == REC_TEXT)
		kind = REC_READ;
	uint64_t addr = rng_below(r, 4) ? 0x1000 + 8 * rng_below(r, 64) : rng_next(r);
	uint64_t pc = rng_below(r, 8) ? 0x5000 + rng_below(r, 32) : rng_next(r);
	if (kind == REC_FORGET && !wild)
		pc = rng_below(r, 256);
	if (kind == REC_POP && rng_below(r, 4))
		addr = rng_below(r, 8);
	if (kind == REC_CREATE && rng_below(r, 4))
		addr = (uint64_t)rng_below(r, 6) << 32 | rng_below(r, 100);
	return rec_make(kind, (unsigned)rng_next(r), addr,
	                wild && !rng_below(r, 50) ? rng_below(r, REC_SLOTS) : rng_below(r, 6), pc);
}

static size_t random_recs(struct rng *r, struct rec *out, size_t max, bool wild)
{
	size_t n = 0;
	while (n < max) {
		if (rng_below(r, 20) || max - n < 4) {
			out[n++] = random_rec(r, wild);
			continue;
		}
		size_t len = rng_below(r, 32);
		out[n++] = rec_make(REC_TEXT, rng_below(r, 3), len, 0, 0);
		for (size_t i = 0; i < (len + 15) / 16; i++)
			out[n++] = (struct rec){ rng_next(r), rng_next(r) };
	}
	return n;
}

static void test_packing(void)
{
	struct record_pack *p = record_pack_new(), *q = record_pack_new();
	struct rng r;
	static struct rec in[600], out[600];
	rng_seed(&r, 1);
	for (int round = 0; round < 300; round++) {
		struct buf b;
		buf_init(&b);
		size_t n = random_recs(&r, in, rng_below(&r, 500), true);
		record_pack_put(p, in, n, &b);
		memset(out, 0xee, sizeof out);
		CHECK(!record_pack_get(q, (const unsigned char *)buf_cstr(&b), b.len, n, out));
		CHECK(!memcmp(in, out, n * sizeof *in));
		/* one byte wrong: other records or none, never a crash */
		for (int k = 0; k < 20 && b.len; k++) {
			size_t at = rng_below(&r, (uint32_t)b.len);
			char was = b.data[at];
			b.data[at] = (char)rng_next(&r);
			record_pack_get(q, (const unsigned char *)b.data, b.len, n, out);
			record_pack_get(q, (const unsigned char *)b.data, rng_below(&r, (uint32_t)b.len + 1),
			            n, out);
			b.data[at] = was;
		}
		buf_free(&b);
	}
	record_pack_free(p);
	record_pack_free(q);
}

/* ---- streams ------------------------------------------------------------ */

enum { STREAM_SLOTS = 6, STREAM_BYTES = 1 << 20 };

struct stream {
	struct recenc enc;
	unsigned char bytes[STREAM_BYTES];
	size_t n, told;
};

/* What has not been told of a slot, as a row of a block. */
static unsigned char *put_span(struct stream *s, unsigned slot, unsigned char *out)
{
	out = put_varint(put_varint(out, slot << 1), s->n - s->told);
	memcpy(out, s->bytes + s->told, s->n - s->told);
	out += s->n - s->told;
	s->told = s->n;
	return out;
}

/* Records of several slots, each packed by itself, told of at random places,
 * in several blocks; read back they are the ones that went in, in the order
 * told. `places`: how many, above what a table holds, too. */
static void streams_round(struct rng *r, struct stream *v, uint32_t places)
{
	static struct rec in[40000], out[40000 + STREAM_BYTES];
	static unsigned char block[STREAM_BYTES];
	unsigned char *end = block;
	struct recdec *d = recdec_new();
	size_t n = 0, got = 0, from = 0;
	for (unsigned i = 0; i < STREAM_SLOTS; i++) {
		recenc_restart(&v[i].enc);
		v[i].n = v[i].told = 0;
	}
	while (n < sizeof in / sizeof *in - 4) {
		unsigned slot = 1 + rng_below(r, STREAM_SLOTS - 1), run = 1 + rng_below(r, 40);
		struct stream *s = &v[slot];
		for (; run && n < sizeof in / sizeof *in - 4; run--) {
			struct rec rec = random_rec(r, false);
			bool leave = rec_kind(rec) == REC_POP && rng_below(r, 2);
			uint64_t pc = leave ? 0 : rng_below(r, 3) ? rng_below(r, places) * 4 : rec_pc(rec);
			rec = rec_make(rec_kind(rec), leave ? 0 : rec_arg(rec), rec_addr(rec), slot, pc);
			if (!rng_below(r, 30))
				s->bytes[s->n++] = RECORD_STREAM_PAD;
			unsigned char *at = s->bytes + s->n;
			if (n && !rng_below(r, 4)) /* as the record before */
				rec.a = (rec.a & ~REC_LOW) | rec_addr(in[n - 1]);
			if (rec_kind(rec) == REC_POP && !rec_arg(rec) && !rec_pc(rec)) {
				s->n += (size_t)(recenc_leave(at, rec_addr(rec)) - at);
				in[n++] = rec;
				continue;
			}
			s->n += (size_t)(recenc_put(&s->enc, at, rec_kind(rec), rec_arg(rec), rec_addr(rec),
			                            rec_pc(rec)) - at);
			CHECK(s->bytes + s->n - at <= RECORD_STREAM_ONE);
			if (rec_kind(rec) == REC_PUSH) /* names are wanted for these */
				CHECK(s->enc.nnews <= 2);
			s->enc.nnews = 0;
			in[n++] = rec;
		}
		end = put_span(s, slot, end);
		if (!rng_below(r, 10)) {
			struct rec plain[2] = { rec_make(REC_TEXT, 0, 3, 0, 0), { rng_next(r), 0 } };
			end = put_varint(put_varint(end, 1), 2);
			memcpy(end, plain, sizeof plain);
			end += sizeof plain;
			memcpy(&in[n], plain, sizeof plain);
			n += 2;
		}
		if (end - block > 1 << 14 || n >= sizeof in / sizeof *in - 4) {
			got = 0;
			CHECK(!recdec_block(d, block, (size_t)(end - block), out, &got));
			CHECK_EQ(got, n - from);
			CHECK(!memcmp(out, in + from, got * sizeof *in));
			CHECK(!rec_check(out, got));
			from = n;
			if (n < sizeof in / sizeof *in - 4)
				end = block;
		}
	}
	/* one byte wrong: other records or none, never a crash */
	for (int k = 0; k < 50; k++) {
		size_t at = rng_below(r, (uint32_t)(end - block));
		block[at] ^= (unsigned char)(1 + rng_below(r, 255));
		got = 0;
		recdec_block(d, block, (size_t)(end - block), out, &got);
	}
	recdec_free(d);
}

static void test_streams(void)
{
	struct stream *v = calloc(STREAM_SLOTS, sizeof *v);
	struct rng r;
	rng_seed(&r, 6);
	CHECK(v != NULL);
	for (int round = 0; v && round < 12; round++)
		streams_round(&r, v, round % 3 ? 64 : 60000);
	free(v);
}

/* What is as expected costs a byte; bytes of hostile files are bounded. */
static void test_stream_bytes(void)
{
	struct stream *v = calloc(1, sizeof *v);
	struct rec out[64];
	size_t n = 0;
	struct recdec *d = recdec_new();
	recenc_restart(&v->enc);
	for (uint64_t i = 0; i < 40; i++) {
		unsigned char *at = v->bytes + v->n;
		size_t len = (size_t)(recenc_put(&v->enc, at, REC_WRITE, 0xff, 0x1000 + 8 * i, 0x400) - at);
		if (i > 2)
			CHECK_EQ(len, 1);
		v->n += len;
	}
	CHECK(!recdec_span(d, 3, v->bytes, v->n, out, &n));
	CHECK_EQ(n, 40);
	CHECK_EQ(rec_addr(out[39]), 0x1000 + 8 * 39);
	n = 0;
	CHECK(recdec_span(d, 0, v->bytes, 1, out, &n) != NULL);
	CHECK(recdec_span(d, REC_SLOTS, v->bytes, 1, out, &n) != NULL);
	static const unsigned char expected[] = { 0xe0 }, text[] = { REC_TEXT, 0, 2, 2, 0 };
	CHECK(recdec_span(d, 9, expected, 1, out, &n) != NULL); /* nothing is expected yet */
	CHECK(recdec_span(d, 9, text, sizeof text, out, &n) != NULL);
	static const unsigned char many[] = { 1, 0xff, 0xff, 0xff, 0xff, 0x7f };
	CHECK(recdec_block(d, many, sizeof many, out, &n) != NULL);
	static const unsigned char cut[] = { 3 << 1, 20, 0xe0 };
	CHECK(recdec_block(d, cut, sizeof cut, out, &n) != NULL);
	recdec_free(d);
	free(v);
}

static bool count_recs(void *ctx, const struct rec *rec, size_t n)
{
	struct replay *r = ctx;
	return replay_feed(r, rec, n);
}

/* Records that no program made: every reader of them gets through. */
static void test_hostile(void)
{
	struct rng r;
	static struct rec in[1200];
	rng_seed(&r, 2);
	for (int round = 0; round < 40; round++) {
		size_t n = random_recs(&r, in, 1000, round % 2);
		struct replay *rp = replay_new(), *again = replay_new();
		struct record_state *st = record_state_new();
		struct trace_names names;
		trace_names_init(&names);
		names_add_safe(&names.ns[NS_LABEL], "", 0);
		struct translate *t = translate_new(&names, LIVES_NAMED);
		CHECK(rp && again && st && t);
		CHECK(!rec_check(in, n));
		CHECK(replay_feed(rp, in, n));
		CHECK(record_state_note(st, in, n) && record_state_tell(st, count_recs, again));
		struct buf b;
		size_t count;
		buf_init(&b);
		replay_message(rp, &b);
		CHECK(b.len > 9 && !memcmp(b.data, FINDING_HEADER, 9));
		CHECK(translate_look(t, in, n) && translate_put(t, in, n, &count));
		buf_free(&b);
		translate_free(t);
		trace_names_free(&names);
		record_state_free(st);
		replay_free(rp);
		replay_free(again);
	}
}

/* ---- variables ---------------------------------------------------------- */

static void count_cycle(void *ctx, const struct cycle *c)
{
	(void)c;
	++*(uint32_t *)ctx;
}

/* Both algorithms; how many blocks violate. */
static uint32_t judge(struct event *ev, size_t n, const struct trace_names *names)
{
	uint32_t found = 0, twin = 0;
	struct order *o = order_new("test", true, NULL, NULL);
	struct serial *s = serial_new(&(struct serial_opts){ .found = count_cycle, .ctx = &found });
	struct graph *g = graph_new(&(struct serial_opts){ .found = count_cycle, .ctx = &twin });
	CHECK(order_check(o, ev, n, names) == n);
	CHECK(serial_feed(s, ev, n) == SERIAL_OK);
	CHECK(graph_feed(g, ev, n) == SERIAL_OK);
	CHECK_EQ(found, twin);
	serial_free(s);
	graph_free(g);
	order_free(o);
	return found;
}

/* The records as events with new lives told in this way: how many violate. */
static uint32_t judge_lives(const struct rec *rec, size_t n, enum lives lives, size_t *count,
                            uint32_t *vars)
{
	struct trace_names names;
	trace_names_init(&names);
	names_add_safe(&names.ns[NS_LABEL], "", 0);
	struct translate *t = translate_new(&names, lives);
	CHECK(translate_look(t, rec, n));
	struct event *ev = translate_put(t, rec, n, count);
	CHECK(ev != NULL);
	uint32_t found = judge(ev, *count, &names);
	*vars = names.ns[NS_VAR].len + names.ns[NS_LOCK].len;
	translate_free(t);
	trace_names_free(&names);
	return found;
}

/* Each byte a variable, each life of it another: 16 bytes, two cells. */
static size_t bytewise(const struct rec *rec, size_t n, struct event *out)
{
	uint32_t life[16] = { 0 };
	size_t k = 0;
	for (size_t i = 0; i < n; i++) {
		struct event e = { .index = k + 1, .thread = rec_slot(rec[i]) - 1, .loc = LOC_NONE };
		unsigned kind = rec_kind(rec[i]);
		if (kind == REC_MARK || kind == REC_MARK_END) {
			e.kind = kind == REC_MARK ? EVENT_BEGIN : EVENT_END;
			out[k++] = e;
		} else if (kind == REC_FORGET) {
			for (unsigned b = 0; b < 16; b++)
				life[b] += b / 8 == rec_addr(rec[i]) / 8 % 2;
		}
		for (unsigned b = 0; kind <= REC_WRITE && b < 8; b++) {
			unsigned byte = (unsigned)(rec_addr(rec[i]) / 8 % 2) * 8 + b;
			if (!(rec_arg(rec[i]) >> b & 1))
				continue;
			e.kind = kind == REC_WRITE ? EVENT_WRITE : EVENT_READ;
			e.index = k + 1;
			e.target = life[byte] * 16 + byte;
			out[k++] = e;
		}
	}
	return k;
}

static void test_variables(void)
{
	static const unsigned masks[] = { 0xff, 0x0f, 0xf0, 0x01, 0x02, 0x80, 0x3c, 0x18 };
	struct rng r;
	uint32_t violated = 0;
	rng_seed(&r, 3);
	for (int round = 0; round < 6000; round++) {
		struct rec rec[40];
		static struct event naive[40 * 8];
		bool open[3] = { false };
		size_t n = 4 + rng_below(&r, 30), count;
		for (size_t i = 0; i < n; i++) {
			unsigned t = rng_below(&r, 3), what = rng_below(&r, 16);
			uint64_t addr = 0x10000 + 8 * rng_below(&r, 2);
			if (what < 3) {
				rec[i] = rec_make(open[t] ? REC_MARK_END : REC_MARK, 0, 0, t + 1, 0);
				open[t] = !open[t];
			} else if (what == 3 && !rng_below(&r, 3)) {
				rec[i] = rec_make(REC_FORGET, 0, addr, t + 1, 8);
			} else {
				rec[i] = rec_make(what % 2 ? REC_WRITE : REC_READ,
				                  masks[rng_below(&r, 8)], addr, t + 1, 0);
			}
		}
		static const struct trace_names none;
		size_t k = bytewise(rec, n, naive);
		uint32_t want = judge(naive, k, &none), vars;
		CHECK_EQ(judge_lives(rec, n, LIVES_NAMED, &count, &vars), want);
		CHECK_EQ(judge_lives(rec, n, LIVES_APART, &count, &vars), want);
		CHECK_EQ(judge_lives(rec, n, LIVES_REUSED, &count, &vars), want);
		CHECK(count <= k && vars <= 16);
		violated += want > 0;
	}
	CHECK(violated > 500);
}

/* Locks of which some are renewed, reader-writer locks too: reused ids lead to
 * the same verdicts, and no more names than addresses. */
static void test_renewed_locks(void)
{
	struct rng r;
	uint32_t violated = 0;
	rng_seed(&r, 5);
	for (int round = 0; round < 3000; round++) {
		struct rec rec[60];
		bool open[3] = { false };
		uint32_t holder[2] = { 0 }, readers[2] = { 0 }, vars, all;
		size_t n = 0, want = 6 + rng_below(&r, 50), count;
		while (n < want) {
			unsigned t = rng_below(&r, 3), what = rng_below(&r, 16), l = rng_below(&r, 2);
			uint64_t addr = 0x20000 + 64 * l;
			if (what < 4) {
				rec[n++] = rec_make(open[t] ? REC_MARK_END : REC_MARK, 0, 0, t + 1, 0);
				open[t] = !open[t];
			} else if (what == 4 && !holder[l] && !readers[l]) {
				rec[n++] = rec_make(rng_below(&r, 2) ? REC_RENEW : REC_FORGET, 0, addr, t + 1, 8);
			} else if (what < 8 && !holder[l] && !(readers[l] >> t & 1) && rng_below(&r, 4) == 0) {
				rec[n++] = rec_make(REC_ACQUIRE, REC_SHARED, addr, t + 1, 0);
				readers[l] |= 1u << t;
			} else if (readers[l] >> t & 1) {
				rec[n++] = rec_make(REC_RELEASE, 0, addr, t + 1, 0);
				readers[l] &= ~(1u << t);
			} else if (holder[l] == t + 1) {
				rec[n++] = rec_make(REC_RELEASE, 0, addr, t + 1, 0);
				holder[l] = 0;
			} else if (!holder[l] && !readers[l]) {
				rec[n++] = rec_make(REC_ACQUIRE, 0, addr, t + 1, 0);
				holder[l] = t + 1;
			}
		}
		uint32_t a = judge_lives(rec, n, LIVES_NAMED, &count, &all);
		CHECK_EQ(judge_lives(rec, n, LIVES_REUSED, &count, &vars), a);
		CHECK(vars <= 4 && vars <= all);
		violated += a > 0;
	}
	CHECK(violated > 200);
}

static void test_names(void)
{
	struct symtab t;
	struct buf b;
	buf_init(&b);
	symtab_put_addr(&b, 0x1234, 0x1200, "f");
	symtab_put_frame(&b, &(struct sym_frame){ .function = "inner", .file = "a.c", .line = 7, .offset = 0x34 });
	symtab_put_frame(&b, &(struct sym_frame){ .function = "f\tx\n", .line = 9, .system = true });
	symtab_put_addr(&b, 0x1000, 0, NULL);
	symtab_put_data(&b, &(struct sym_data){ 0x4000, 16, "balance" });
	symtab_put_data(&b, &(struct sym_data){ 0x3000, 0x2000, "all" });
	CHECK(symtab_read(&t, b.data, b.len));
	const struct sym_addr *a = symtab_addr(&t, 0x1234);
	CHECK(a && a->n == 2 && a->start == 0x1200 && !strcmp(a->symbol, "f"));
	CHECK_STR(t.frames[a->first].function, "inner");
	CHECK_EQ(t.frames[a->first].line, 7);
	CHECK_STR(t.frames[a->first + 1].function, "f?x?");
	CHECK(t.frames[a->first + 1].system && !t.frames[a->first + 1].file);
	CHECK(symtab_addr(&t, 0x1000) && !symtab_addr(&t, 0x1000)->n && !symtab_addr(&t, 0x1001));
	CHECK_STR(symtab_data(&t, 0x400f)->name, "balance");
	CHECK_STR(symtab_data(&t, 0x4010)->name, "all");
	CHECK(!symtab_data(&t, 0x5000) && !symtab_data(&t, 0x2fff));
	symtab_free(&t);
	/* any bytes at all */
	struct rng r;
	rng_seed(&r, 4);
	for (int round = 0; round < 2000; round++) {
		char text[64];
		size_t n = rng_below(&r, sizeof text);
		for (size_t i = 0; i < n; i++)
			text[i] = "afd\t\n-01xyz"[rng_below(&r, 11)];
		CHECK(symtab_read(&t, text, n));
		symtab_data(&t, rng_below(&r, 64));
		symtab_addr(&t, rng_below(&r, 64));
		symtab_free(&t);
	}
	buf_free(&b);
}

int main(void)
{
	RUN(test_packing);
	RUN(test_streams);
	RUN(test_stream_bytes);
	RUN(test_hostile);
	RUN(test_variables);
	RUN(test_renewed_locks);
	RUN(test_names);
	return check_done();
}
