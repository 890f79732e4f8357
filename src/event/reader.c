#include "event/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "event/input.h"
#include "event/itr.h"
#include "event/recpack.h"
#include "event/recstream.h"
#include "event/std.h"
#include "event/translate.h"

#define BATCH 4096
#define TEXT_SIZE ((size_t)256 << 10)
#define SYMBOLS_MAX ((size_t)64 << 20)
#define MAX_PROCESSES 4096
#define SLACK 16 /* readable bytes behind the text */

struct trace_reader {
	struct trace_input *in;
	const char *path;
	trace_msg_fn *fn;
	void *ctx;
	struct trace_names names;
	enum trace_format format;
	bool failed, damaged, done;
	uint64_t next_index, line, blocks;
	struct event *events; /* one batch */
	size_t events_cap;
	/* STD: the text read and not yet scanned; ITR: one payload */
	char *text;
	size_t pos, len;
	unsigned char *stored, *raw;
	size_t stored_cap, raw_cap;
	/* recordings */
	bool recording;
	struct recpack *pack;
	struct rec *recs;
	size_t recs_cap;
	uint64_t next_rec;    /* as blocks count them */
	uint64_t nrecs;
	struct recdec **streams; /* by process */
	uint32_t nstreams;
	uint32_t process;
	struct buf symbols;
	struct translate *events_of;
	enum lives lives;
	uint32_t wanted;      /* process */
	struct symtab symtab;
	char again[64];       /* a name the recording can be opened by again */
	FILE *spool;          /* its bytes, when they came from a pipe */
};

static void tell(struct trace_reader *r, struct trace_msg m)
{
	m.file = r->path;
	if (m.error)
		r->failed = true;
	r->done = true;
	if (r->fn)
		r->fn(r->ctx, &m);
}

static void tell_plain(struct trace_reader *r, bool error, const char *code,
                       const char *text, const char *hint)
{
	tell(r, (struct trace_msg){ .error = error, .code = code, .text = text,
	                            .hint = hint });
}

static void tell_damage(struct trace_reader *r, const char *what)
{
	char text[256];
	uint64_t n = r->recording ? r->nrecs : r->next_index - 1;
	r->damaged = true;
	snprintf(text, sizeof text, "%s; read up to there: %llu event%s", what,
	         (unsigned long long)n, n == 1 ? "" : "s");
	tell_plain(r, false, "damaged-trace", text,
	           "the verdict is about the part that could be read");
}

/* ---- opening ------------------------------------------------------------ */

/* Fills the text buffer up; keeps what has not been scanned. */
static void refill(struct trace_reader *r)
{
	if (r->pos) {
		memmove(r->text, r->text + r->pos, r->len - r->pos);
		r->len -= r->pos;
		r->pos = 0;
	}
	while (r->len < TEXT_SIZE) {
		size_t n = trace_input_read(r->in, r->text + r->len, TEXT_SIZE - r->len);
		if (!n)
			break;
		r->len += n;
	}
}

/* A recording is read more than once: one from a pipe is put aside first. */
static const char *spool(struct trace_reader *r)
{
	const char *why = NULL;
	FILE *f = tmpfile();
	if (!f)
		return "there is no room for a copy of what comes from the pipe";
	r->spool = f;
	while (r->len) {
		if (fwrite(r->text, 1, r->len, f) != r->len)
			return "there is no room for a copy of what comes from the pipe";
		r->len = r->pos = 0;
		refill(r);
	}
	if (fflush(f))
		return "there is no room for a copy of what comes from the pipe";
	trace_input_close(r->in);
	snprintf(r->again, sizeof r->again, "/proc/self/fd/%d", fileno(f));
	r->in = trace_input_open(r->again, &why);
	if (!r->in)
		return why;
	refill(r);
	r->pos = ITR_HEADER;
	return r->len >= ITR_HEADER ? NULL : "the copy of what came from the pipe is gone";
}

static bool start(struct trace_reader *r)
{
	refill(r);
	r->format = r->len >= 8 && !memcmp(r->text, ITR_MAGIC, 8) ? FORMAT_ITR : FORMAT_STD;
	if (names_add_safe(&r->names.ns[NS_LABEL], "", 0) != 0) {
		tell_plain(r, true, "memory", "out of memory", NULL);
		return false;
	}
	if (r->format == FORMAT_STD)
		return true;
	const char *why = r->len < ITR_HEADER
	                          ? "the trace ends inside its header"
	                          : itr_get_header((unsigned char *)r->text);
	if (why) {
		tell_plain(r, true, "bad-trace", why, NULL);
		return false;
	}
	r->pos = ITR_HEADER;
	r->recording = r->len > ITR_HEADER + 4 && r->text[ITR_HEADER + 4] == ITR_RECORDS;
	if (!r->recording || strcmp(r->path, "<stdin>"))
		return true;
	why = spool(r);
	if (why)
		tell_plain(r, true, "cannot-read", why, NULL);
	return !why;
}

struct trace_reader *trace_open(const char *path, trace_msg_fn *fn, void *ctx)
{
	struct trace_reader *r = calloc(1, sizeof *r);
	const char *why = "out of memory";
	if (!r) {
		struct trace_msg m = { .error = true, .code = "memory", .file = path,
			               .text = why };
		if (fn)
			fn(ctx, &m);
		return NULL;
	}
	r->path = strcmp(path, "-") ? path : "<stdin>";
	r->fn = fn;
	r->ctx = ctx;
	r->next_index = 1;
	trace_names_init(&r->names);
	buf_init(&r->symbols);
	r->text = calloc(1, TEXT_SIZE + SLACK);
	r->events = malloc(BATCH * sizeof *r->events);
	r->events_cap = BATCH;
	if (r->text && r->events)
		r->in = trace_input_open(path, &why);
	if (!r->in) {
		tell_plain(r, true, "cannot-read", why, NULL);
		trace_close(r);
		return NULL;
	}
	if (!start(r)) {
		trace_close(r);
		return NULL;
	}
	return r;
}

void trace_close(struct trace_reader *r)
{
	if (!r)
		return;
	trace_input_close(r->in);
	trace_names_free(&r->names);
	free(r->text);
	free(r->events);
	free(r->stored);
	free(r->raw);
	recpack_free(r->pack);
	for (uint32_t i = 0; i < r->nstreams; i++)
		recdec_free(r->streams[i]);
	free(r->streams);
	free(r->recs);
	buf_free(&r->symbols);
	translate_free(r->events_of);
	symtab_free(&r->symtab);
	if (r->spool)
		fclose(r->spool);
	free(r);
}

/* ---- STD ---------------------------------------------------------------- */

static void tell_line(struct trace_reader *r, const char *s, const char *end,
                      const struct std_error *e)
{
	tell(r, (struct trace_msg){
		.error = true, .code = e->code, .line = r->line,
		.col = (uint32_t)e->at + 1, .width = (uint32_t)e->width,
		.source = s, .source_len = (size_t)(end - s),
		.text = e->text, .hint = e->hint,
	});
}

/* The end of the line at pos, refilling as needed; NULL at the end of the
 * text or when a line is too long. */
static char *line_end(struct trace_reader *r)
{
	char *nl = memchr(r->text + r->pos, '\n', r->len - r->pos);
	if (nl)
		return nl;
	refill(r);
	nl = memchr(r->text + r->pos, '\n', r->len - r->pos);
	if (nl)
		return nl;
	if (r->pos == r->len)
		return NULL;
	if (r->len - r->pos > STD_LINE_MAX)
		return r->text + r->len;
	r->text[r->len] = '\n'; /* the last line need not have one */
	return r->text + r->len;
}

static size_t next_std(struct trace_reader *r)
{
	size_t n = 0;
	while (n < BATCH) {
		char *nl = line_end(r);
		if (!nl)
			break;
		char *s = r->text + r->pos;
		struct std_error err;
		r->line++;
		if ((size_t)(nl - s) > STD_LINE_MAX) {
			err = (struct std_error){ 0, 1, "line-too-long",
				"a line of more than 16 KiB: this is not a trace", NULL };
			tell_line(r, s, s + 80, &err);
			break;
		}
		bool last = trace_input_error(r->in) && nl == r->text + r->len;
		struct event *e = &r->events[n];
		enum std_result rc = last ? STD_SKIP : std_scan(s, nl, &r->names, e, &err);
		if (rc == STD_BAD) {
			tell_line(r, s, nl, &err);
			break;
		}
		if (rc == STD_NOMEM) {
			tell_plain(r, true, "memory", "out of memory for names", NULL);
			break;
		}
		r->pos = (size_t)(nl - r->text) + 1;
		if (r->pos > r->len)
			r->pos = r->len;
		if (rc == STD_SKIP)
			continue;
		e->index = r->next_index++;
		e->line = r->line;
		e->flags = 0;
		n++;
	}
	return n;
}

/* ---- own format --------------------------------------------------------- */

/* Takes n bytes; false when there are not so many. */
static bool take(struct trace_reader *r, void *to, size_t n)
{
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
static const char *payload(struct trace_reader *r, const struct itr_head *h,
                           const unsigned char **out)
{
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
	if (process >= r->nstreams) {
		uint32_t n = r->nstreams ? r->nstreams : 4;
		while (n <= process)
			n *= 2;
		struct recdec **v = realloc(r->streams, n * sizeof(struct recdec *));
		if (!v)
			return NULL;
		memset(v + r->nstreams, 0, (n - r->nstreams) * sizeof(struct recdec *));
		r->streams = v;
		r->nstreams = n;
	}
	if (!r->streams[process])
		r->streams[process] = recdec_new();
	return r->streams[process];
}

static const char *unpack_recs(struct trace_reader *r, const struct itr_head *h,
                               const unsigned char *p, size_t *n)
{
	const char *why = NULL;
	if (h->encoding == ITR_STREAMS) {
		struct recdec *d = streams_of(r, h->process);
		size_t got = 0;
		why = d ? recdec_block(d, p, h->raw, r->recs, &got) : "out of memory";
		*n = why ? 0 : got;
		return why ? why : rec_check(r->recs, got);
	}
	if (!r->pack)
		r->pack = recpack_new();
	if (!r->pack)
		return "out of memory";
	if (h->encoding == ITR_FIXED) {
		memcpy(r->recs, p, h->raw);
		why = rec_check(r->recs, h->count);
	} else {
		why = recpack_get(r->pack, p, h->raw, h->count, r->recs);
	}
	*n = why ? 0 : h->count;
	return why;
}

/* A block of records, into r->recs. */
static const char *records(struct trace_reader *r, const struct itr_head *h,
                           const unsigned char *p, size_t *n)
{
	void *recs = r->recs;
	bool streams = h->encoding == ITR_STREAMS;
	if (streams ? h->raw > RECSTREAM_BLOCK || h->count != 1 || h->process >= MAX_PROCESSES
	            : h->count > RECPACK_MAX * 4)
		return "a block of records is too long";
	if (h->encoding == ITR_FIXED && (h->raw != (uint64_t)h->count * sizeof *r->recs))
		return "a block of records is not as long as its count says";
	bool ok = reserve(&recs, &r->recs_cap, (size_t)(streams ? h->raw : h->count) + 1,
	                  sizeof *r->recs);
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
		               : "events are missing: the end block counts others";
	}
	if (h.type == ITR_SYMBOLS && r->symbols.len < SYMBOLS_MAX)
		buf_add(&r->symbols, (const char *)p, h.raw);
	if ((h.type == ITR_RECORDS || h.type == ITR_EVENTS) != 0 &&
	    (h.type == ITR_RECORDS) != r->recording)
		return "a trace holds either events or records";
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

static size_t next_itr(struct trace_reader *r)
{
	size_t n = 0;
	while (!n && !r->done) {
		if (at_end(r)) {
			tell_damage(r, "the trace has no end block: the recording was cut off");
			break;
		}
		const char *why = next_block(r, &n);
		if (why && !strcmp(why, "out of memory"))
			tell_plain(r, true, "memory", why, NULL);
		else if (why)
			tell_damage(r, why);
	}
	return n;
}

/* ------------------------------------------------------------------------- */

/* A first reading of a recording: which bytes go together, what has names. */
static bool look_ahead(struct trace_reader *r)
{
	struct trace_reader *in = trace_open(trace_reopen(r), NULL, NULL);
	struct rec *recs;
	uint32_t process;
	size_t n, len = 0;
	bool ok = in != NULL;
	r->events_of = translate_new(&r->names, r->lives);
	while (ok && r->events_of && (n = trace_next_recs(in, &recs, &process)))
		if ((process & ~ITR_OPENING) == r->wanted)
			ok = translate_look(r->events_of, recs, n);
	const char *text = in ? trace_symbols(in, &len) : NULL;
	ok = ok && r->events_of && symtab_read(&r->symtab, text, len);
	if (ok && len)
		translate_symbols(r->events_of, &r->symtab);
	trace_close(in);
	return ok;
}

/* The records of one process, as events. */
static size_t next_recorded(struct trace_reader *r, struct event **batch)
{
	struct rec *recs;
	uint32_t process;
	size_t n, count = 0;
	if (!r->events_of && !look_ahead(r)) {
		tell_plain(r, true, "memory", "out of memory", NULL);
		return 0;
	}
	while (!count && (n = trace_next_recs(r, &recs, &process))) {
		if ((process & ~ITR_OPENING) != r->wanted)
			continue;
		*batch = translate_put(r->events_of, recs, n, &count);
		if (!*batch) {
			tell_plain(r, true, "memory", "out of memory", NULL);
			return 0;
		}
	}
	r->next_index += count;
	return count;
}

size_t trace_next(struct trace_reader *r, struct event **batch)
{
	*batch = r->events;
	if (r->done)
		return 0;
	if (r->recording)
		return next_recorded(r, batch);
	size_t n = r->format == FORMAT_STD ? next_std(r) : next_itr(r);
	*batch = r->events;
	if (!n && !r->done && trace_input_error(r->in))
		tell_damage(r, trace_input_error(r->in));
	if (!n)
		r->done = true;
	return n;
}

void trace_lives(struct trace_reader *r, enum lives lives)
{
	r->lives = lives;
}

void trace_process(struct trace_reader *r, uint32_t process)
{
	r->wanted = process;
}

const char *trace_reopen(const struct trace_reader *r)
{
	return r->spool ? r->again : r->path;
}

bool trace_is_recording(const struct trace_reader *r)
{
	return r->recording;
}

size_t trace_next_recs(struct trace_reader *r, struct rec **batch, uint32_t *process)
{
	size_t n = r->done || !r->recording ? 0 : next_itr(r);
	*batch = r->recs;
	*process = r->process;
	if (!n && !r->done && trace_input_error(r->in))
		tell_damage(r, trace_input_error(r->in));
	if (!n)
		r->done = true;
	return n;
}

const char *trace_symbols(const struct trace_reader *r, size_t *len)
{
	*len = r->symbols.len;
	return buf_cstr(&r->symbols);
}

bool trace_failed(const struct trace_reader *r)
{
	return r->failed;
}

bool trace_damaged(const struct trace_reader *r)
{
	return r->damaged;
}

const struct trace_names *trace_reader_names(const struct trace_reader *r)
{
	return &r->names;
}

enum trace_format trace_reader_format(const struct trace_reader *r)
{
	return r->format;
}

const char *trace_reader_codec(const struct trace_reader *r)
{
	return trace_input_codec(r->in);
}
