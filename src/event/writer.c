#include "event/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "event/itr.h"
#include "event/std.h"

#define OUT_SIZE ((size_t)128 << 10)

struct trace_writer {
	FILE *f;
	bool owns_f;
	const char *error;
	struct writer_opts o;
	const struct trace_names *names;
	uint32_t named[NS_COUNT]; /* entries already in the file */
	uint64_t written;
	struct event *held; /* ITR: the block being filled */
	size_t nheld;
	struct buf raw, packed;
	ZSTD_CCtx *zstd;
	z_stream gz;
	bool gz_open;
	unsigned char *out;
	/* STD: threads, variables and locks under the names they get there */
	struct trace_names plain;
	uint32_t *plain_of[NS_LOCK + 1], plain_cap[NS_LOCK + 1]; /* id -> there + 1 */
};

static void fail(struct trace_writer *w, const char *why)
{
	if (!w->error)
		w->error = why;
}

static void emit(struct trace_writer *w, const void *p, size_t n)
{
	assert(w->f);
	if (!w->error && n && fwrite(p, 1, n, w->f) != n)
		fail(w, strerror(errno));
}

struct trace_writer *writer_open(const char *path, const struct writer_opts *o, const struct trace_names *names, struct why *why)
{
	struct trace_writer *w = calloc(1, sizeof *w);
	why_set(why, "out of memory");
	if (!w)
		return NULL;
	w->o = *o;
	w->names = names;
	trace_names_init(&w->plain);
	w->named[NS_LABEL] = 1; /* the empty label is everywhere */
	if (!w->o.block_events || w->o.block_events > 65536)
		w->o.block_events = 65536;
	buf_init(&w->raw);
	buf_init(&w->packed);
	w->out = malloc(OUT_SIZE);
	w->held = malloc(w->o.block_events * sizeof *w->held);
	bool ok = w->out && w->held;
	if (ok && o->codec == CODEC_ZSTD) {
		w->zstd = ZSTD_createCCtx();
		ok = w->zstd != NULL;
		if (ok)
			ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, o->level ? o->level : 3);
	}
	if (ok && o->codec == CODEC_GZIP) {
		w->gz_open = deflateInit2(&w->gz, o->level ? o->level : 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
		ok = w->gz_open;
	}
	if (ok) {
		w->owns_f = strcmp(path, "-") != 0;
		w->f = w->owns_f ? fopen(path, "wbe") : stdout;
		if (!w->f)
			why_set(why, "%s", strerror(errno));
	}
	if (!w->f) {
		writer_close(w, &(struct why){ "" });
		return NULL;
	}
	if (o->format == FORMAT_ITR) {
		unsigned char head[ITR_HEADER];
		itr_put_header(head);
		emit(w, head, sizeof head);
	}
	return w;
}

/* ---- STD ---------------------------------------------------------------- */

static void stream(struct trace_writer *w, const char *p, size_t n, bool last)
{
	if (w->o.codec == CODEC_NONE) {
		emit(w, p, n);
	} else if (w->o.codec == CODEC_ZSTD) {
		ZSTD_inBuffer in = { p, n, 0 };
		size_t left;
		do {
			ZSTD_outBuffer out = { w->out, OUT_SIZE, 0 };
			left = ZSTD_compressStream2(w->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
			if (ZSTD_isError(left)) {
				fail(w, "zstd failed");
				return;
			}
			emit(w, w->out, out.pos);
		} while (last ? left != 0 : in.pos < in.size);
	} else {
		w->gz.next_in = (unsigned char *)(uintptr_t)p;
		w->gz.avail_in = (uInt)n;
		int rc;
		do {
			w->gz.next_out = w->out;
			w->gz.avail_out = (uInt)OUT_SIZE;
			rc = deflate(&w->gz, last ? Z_FINISH : Z_NO_FLUSH);
			emit(w, w->out, OUT_SIZE - w->gz.avail_out);
		} while (last ? rc == Z_OK : w->gz.avail_in > 0);
	}
}

/* A name no other has there: the text of several may be the same. */
static uint32_t plain_new(struct trace_writer *w, enum name_space ns, uint32_t id)
{
	assert(ns <= NS_LOCK);
	struct names *to = &w->plain.ns[ns];
	struct buf b;
	buf_init(&b);
	std_name(&w->names->ns[ns], id, &b);
	uint32_t at, len = to->len;
	while ((at = names_add_safe(to, buf_cstr(&b), b.len)) != NAME_FULL && at < len)
		buf_printf(&b, "~%u", id);
	if (at == NAME_FULL || b.failed)
		fail(w, "out of memory");
	buf_free(&b);
	return at;
}

static uint32_t plain_id(struct trace_writer *w, enum name_space ns, uint32_t id)
{
	assert(ns <= NS_LOCK);
	if (w->error || !GROW(w->plain_of[ns], w->plain_cap[ns], id + 1ull)) {
		fail(w, "out of memory");
		return 0;
	}
	uint32_t *of = &w->plain_of[ns][id];
	if (!*of)
		*of = plain_new(w, ns, id) + 1;
	return *of - 1;
}

/* Labels and places are only shown: theirs may be the same. */
static void put_std(struct trace_writer *w, const struct event *ev, size_t n)
{
	static const uint8_t space[EVENT_BEGIN] = { NS_VAR, NS_VAR, NS_LOCK, NS_LOCK, NS_THREAD, NS_THREAD };
	w->plain.ns[NS_LABEL] = w->names->ns[NS_LABEL]; /* lent */
	w->plain.ns[NS_LOC] = w->names->ns[NS_LOC];
	for (size_t i = 0; i < n && !w->error; i++) {
		struct event e = ev[i];
		e.thread = plain_id(w, NS_THREAD, e.thread);
		if (e.kind < EVENT_BEGIN)
			e.target = plain_id(w, space[e.kind], e.target);
		std_print(&e, &w->plain, w->o.numeric, &w->raw);
		if (w->raw.len > OUT_SIZE) {
			stream(w, w->raw.data, w->raw.len, false);
			buf_clear(&w->raw);
		}
	}
}

/* ---- own format --------------------------------------------------------- */

/* Writes w->raw as one block, compressed when that is wanted and helps. */
static void put_block(struct trace_writer *w, struct itr_head h)
{
	assert(h.type >= ITR_NAMES && h.type <= ITR_SYMBOLS);
	const char *p = buf_cstr(&w->raw);
	h.raw = h.stored = (uint32_t)w->raw.len;
	if (w->raw.failed)
		fail(w, "out of memory");
	if (w->o.codec == CODEC_ZSTD && h.raw > 64) {
		size_t bound = ZSTD_compressBound(h.raw);
		buf_clear(&w->packed);
		buf_repeat(&w->packed, 0, bound);
		if (w->packed.failed) {
			fail(w, "out of memory");
			return;
		}
		size_t n = ZSTD_compress2(w->zstd, w->packed.data, bound, p, h.raw);
		if (!ZSTD_isError(n) && n < h.raw) {
			p = w->packed.data;
			h.stored = (uint32_t)n;
			h.compression = ITR_ZSTD;
		}
	}
	unsigned char head[ITR_HEAD];
	h.crc = itr_crc(p, h.stored);
	itr_put_head(&h, head);
	emit(w, head, sizeof head);
	emit(w, p, h.stored);
	buf_clear(&w->raw);
}

static void put_names(struct trace_writer *w)
{
	for (;;) {
		uint32_t n = itr_pack_names(w->names, w->named, &w->raw);
		if (!n || w->error)
			return;
		put_block(w, (struct itr_head){ .type = ITR_NAMES, .count = n });
	}
}

/* 16 bytes per event, as a recorder without a library would write them. */
static void pack_fixed(struct trace_writer *w)
{
	assert(w->o.fixed);
	for (size_t i = 0; i < w->nheld; i++) {
		const struct event *e = &w->held[i];
		unsigned char rec[16] = { e->kind, 0, (unsigned char)e->thread, (unsigned char)(e->thread >> 8) };
		uint64_t target = e->target;
		const struct names *n = &w->names->ns[e->kind <= EVENT_WRITE ? NS_VAR : NS_LOCK];
		if (e->kind <= EVENT_REL && e->target < n->len && n->list[e->target].is_addr)
			target = n->list[e->target].word;
		for (int b = 0; b < 4; b++)
			rec[4 + b] = (unsigned char)(e->loc >> (8 * b));
		for (int b = 0; b < 8; b++)
			rec[8 + b] = (unsigned char)(target >> (8 * b));
		buf_add(&w->raw, (char *)rec, sizeof rec);
	}
}

static void put_events(struct trace_writer *w)
{
	assert(w->nheld <= w->o.block_events);
	if (!w->nheld)
		return;
	struct itr_head h = { .type = ITR_EVENTS, .encoding = ITR_PACKED, .first = w->written + 1, .count = (uint32_t)w->nheld };
	if (w->o.fixed) {
		h.encoding = ITR_FIXED;
		pack_fixed(w);
	} else {
		put_names(w);
		itr_pack(w->held, w->nheld, &w->raw);
	}
	put_block(w, h);
	w->written += w->nheld;
	w->nheld = 0;
}

bool writer_put(struct trace_writer *w, const struct event *ev, size_t n)
{
	assert(!n || ev);
	if (w->o.format == FORMAT_STD) {
		put_std(w, ev, n);
		return !w->error;
	}
	while (n && !w->error) {
		size_t k = w->o.block_events - w->nheld;
		if (k > n)
			k = n;
		memcpy(w->held + w->nheld, ev, k * sizeof *ev);
		w->nheld += k;
		ev += k;
		n -= k;
		if (w->nheld == w->o.block_events)
			put_events(w);
	}
	return !w->error;
}

bool writer_close(struct trace_writer *w, struct why *why)
{
	if (w->f && w->o.format == FORMAT_STD) {
		stream(w, buf_cstr(&w->raw), w->raw.len, true);
		if (w->raw.failed)
			fail(w, "out of memory");
	} else if (w->f) {
		put_events(w);
		put_block(w, (struct itr_head){ .type = ITR_END, .first = w->written });
	}
	if (w->f && (w->owns_f ? fclose(w->f) : fflush(w->f)) != 0)
		fail(w, strerror(errno));
	bool ok = !w->error;
	if (!ok)
		why_set(why, "%s", w->error);
	ZSTD_freeCCtx(w->zstd);
	if (w->gz_open)
		deflateEnd(&w->gz);
	buf_free(&w->raw);
	buf_free(&w->packed);
	free(w->held);
	free(w->out);
	memset(&w->plain.ns[NS_LABEL], 0, 2 * sizeof w->plain.ns[0]); /* they were lent */
	trace_names_free(&w->plain);
	for (int i = 0; i <= NS_LOCK; i++)
		free(w->plain_of[i]);
	free(w);
	return ok;
}
