/*
 * reader_itr: the blocks of Intact's own format (itr.h): heads, payloads, events,
 * and the records of a recording in their three encodings.
 *
 * Memory: one block, as stored, as it was, and as records (at most 2^20 of them,
 * 16 bytes each).
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "event/itr.h"
#include "event/reader_int.h"
#include "event/record_pack.h"
#include "event/record_stream.h"

#define SYMBOLS_MAX       ((size_t)64 << 20)
#define ITR_MAX_PROCESSES 4096

/* Takes n bytes; false when there are not so many. */
static bool take(struct trace_reader *r, void *to, size_t n)
{
	assert(r->pos <= r->len);
	char *out = to;
	while (n) {
		if (r->pos == r->len) {
			r->pos = r->len = 0;
			size_t got = trace_input_read(r->in, r->text, TEXT_SIZE);
			if (!got)
				return false;
			r->len = got;
		}
		size_t have = r->len - r->pos < n ? r->len - r->pos : n;
		memcpy(out, r->text + r->pos, have);
		r->pos += have;
		out += have;
		n -= have;
	}
	return true;
}

static bool at_end(struct trace_reader *r)
{
	if (r->pos < r->len)
		return false;
	r->pos = 0;
	r->len = trace_input_read(r->in, r->text, TEXT_SIZE);
	return r->len == 0;
}

static bool reserve(void **p, size_t *cap, size_t want, size_t elem)
{
	if (want <= *cap)
		return true;
	void *q = realloc(*p, want * elem);
	if (!q)
		return false;
	*p = q;
	*cap = want;
	return true;
}

/* Reads and checks one payload; NULL, or what is wrong with it. */
static const char *payload(struct trace_reader *r, const struct itr_head *h, const unsigned char **out)
{
	assert(h->stored <= ITR_MAX_STORED && h->raw <= ITR_MAX_RAW);
	void *stored = r->stored, *raw = r->raw;
	bool ok = reserve(&stored, &r->stored_cap, (size_t)h->stored + 1, 1);
	r->stored = stored;
	if (ok && h->compression == ITR_ZSTD) {
		ok = reserve(&raw, &r->raw_cap, (size_t)h->raw + 1, 1);
		r->raw = raw;
	}
	if (!ok)
		return "out of memory";
	if (!take(r, r->stored, h->stored))
		return "the file ends in the middle of a block";
	if (itr_crc(r->stored, h->stored) != h->crc)
		return "a block's checksum is wrong";
	*out = r->stored;
	if (h->compression == ITR_RAW)
		return NULL;
	size_t n = ZSTD_decompress(r->raw, h->raw, r->stored, h->stored);
	if (ZSTD_isError(n) || n != h->raw)
		return "a block does not decompress";
	*out = r->raw;
	return NULL;
}

/* What is known of the streams of a process; NULL without memory. */
static struct recdec *streams_of(struct trace_reader *r, uint32_t process)
{
	assert(process < ITR_MAX_PROCESSES);
	if (!GROW(r->streams, r->nstreams, process + 1ull))
		return NULL;
	if (!r->streams[process])
		r->streams[process] = recdec_new();
	return r->streams[process];
}

static const char *unpack_recs(struct trace_reader *r, const struct itr_head *h, const unsigned char *p, size_t *n)
{
	const char *why = NULL;
	if (h->encoding == ITR_STREAMS) {
		struct recdec *d = streams_of(r, h->process);
		size_t got = 0;
		why = d ? recdec_block(d, p, h->raw, r->recs, &got) : "out of memory";
		if (!why)
			why = rec_check(r->recs, got);
		*n = why ? 0 : got;
		return why;
	}
	if (!r->pack)
		r->pack = record_pack_new();
	if (!r->pack)
		return "out of memory";
	if (h->encoding == ITR_FIXED) {
		memcpy(r->recs, p, h->raw);
		why = rec_check(r->recs, h->count);
	} else {
		why = record_pack_get(r->pack, p, h->raw, h->count, r->recs);
	}
	*n = why ? 0 : h->count;
	return why;
}

/* A block of records, into r->recs. */
static const char *records(struct trace_reader *r, const struct itr_head *h, const unsigned char *p, size_t *n)
{
	void *recs = r->recs;
	bool streams = h->encoding == ITR_STREAMS;
	if (streams ? h->raw > RECORD_STREAM_BLOCK || h->count != 1 || h->process >= ITR_MAX_PROCESSES
	            : h->count > RECORD_PACK_MAX * 4)
		return "a block of records is too long";
	if (h->encoding == ITR_FIXED && (h->raw != (uint64_t)h->count * sizeof *r->recs))
		return "a block of records is not as long as its count says";
	bool ok = reserve(&recs, &r->recs_cap, (size_t)(streams ? h->raw : h->count) + 1, sizeof *r->recs);
	r->recs = recs;
	if (!ok)
		return "out of memory";
	if (!(h->process & ITR_OPENING)) {
		if (r->next_rec && h->first != r->next_rec)
			return "records are missing between two blocks";
		r->next_rec = h->first + h->count;
	}
	const char *why = unpack_recs(r, h, p, n);
	r->nrecs += *n;
	r->process = h->process;
	return why;
}

/* One block; *n gets the events or records it held. NULL, or what is wrong. */
static const char *next_block(struct trace_reader *r, size_t *n)
{
	unsigned char head[ITR_HEAD];
	struct itr_head h;
	const unsigned char *p = NULL;
	if (!take(r, head, sizeof head))
		return "the file ends in the middle of a block";
	if (!itr_get_head(head, &h))
		return "a block's head is damaged";
	const char *why = payload(r, &h, &p);
	if (why)
		return why;
	r->blocks++;
	if (h.type == ITR_NAMES)
		return itr_unpack_names(&h, p, &r->names);
	if (h.type == ITR_END) {
		r->done = true;
		return h.first == (r->recording ? (r->next_rec ? r->next_rec : 1) : r->next_index) - 1
		               ? NULL
		               : "events are missing: the count in the end block does not match";
	}
	if (h.type == ITR_SYMBOLS && r->symbols.len < SYMBOLS_MAX)
		buf_add(&r->symbols, (const char *)p, h.raw);
	if ((h.type == ITR_RECORDS || h.type == ITR_EVENTS) != 0 && (h.type == ITR_RECORDS) != r->recording)
		return "a trace contains either events or records, not both";
	if (h.type == ITR_RECORDS)
		return records(r, &h, p, n);
	if (h.type != ITR_EVENTS)
		return NULL;
	if (h.first != r->next_index)
		return "events are missing between two blocks";
	void *ev = r->events;
	bool ok = reserve(&ev, &r->events_cap, h.count, sizeof *r->events);
	r->events = ev;
	if (!ok)
		return "out of memory";
	why = itr_unpack(&h, p, &r->names, r->events);
	if (why)
		return why;
	*n = h.count;
	r->next_index += h.count;
	return NULL;
}

size_t reader_next_itr(struct trace_reader *r)
{
	size_t n = 0;
	while (!n && !r->done) {
		if (at_end(r)) {
			reader_tell_damage(r, "the trace has no end block: the recording was cut off");
			break;
		}
		const char *why = next_block(r, &n);
		if (why && !strcmp(why, "out of memory"))
			reader_tell_plain(r, true, "memory", why, NULL);
		else if (why)
			reader_tell_damage(r, why);
	}
	return n;
}

void reader_release(struct trace_reader *r)
{
	free(r->stored);
	free(r->raw);
	record_pack_free(r->pack);
	for (uint32_t i = 0; i < r->nstreams; i++)
		recdec_free(r->streams[i]);
	free(r->streams);
	free(r->recs);
	translate_free(r->events_of);
	r->stored = r->raw = NULL;
	r->pack = NULL;
	r->streams = NULL;
	r->recs = NULL;
	r->events_of = NULL;
	r->stored_cap = r->raw_cap = r->recs_cap = r->ntodo = 0;
	r->nstreams = 0;
}
