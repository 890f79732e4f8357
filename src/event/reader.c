#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "event/itr.h"
#include "event/reader_int.h"

#define SLACK 16 /* readable bytes after the text */

void reader_tell(struct trace_reader *r, struct trace_msg m)
{
	assert(m.text && (m.code || !m.error));
	m.file = r->path;
	if (m.error)
		r->failed = true;
	r->done = true;
	if (r->fn)
		r->fn(r->ctx, &m);
}

void reader_tell_plain(struct trace_reader *r, bool error, const char *code, const char *text, const char *hint)
{
	reader_tell(r, (struct trace_msg){ .error = error, .code = code, .text = text, .hint = hint });
}

void reader_tell_damage(struct trace_reader *r, const char *what)
{
	char text[256];
	uint64_t n = r->recording ? r->nrecs : r->next_index - 1;
	r->damaged = true;
	snprintf(text, sizeof text, "%s; read up to there: %llu event%s", what, (unsigned long long)n, n == 1 ? "" : "s");
	reader_tell_plain(r, false, "damaged-trace", text, "the verdict is about the part that could be read");
}

/* ---- opening ------------------------------------------------------------ */

void reader_refill(struct trace_reader *r)
{
	assert(r->pos <= r->len && r->len <= TEXT_SIZE);
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
static const char *spool(struct trace_reader *r, struct why *why)
{
	FILE *f = tmpfile();
	if (!f)
		return "cannot store a copy of the piped input";
	r->spool = f;
	while (r->len) {
		if (fwrite(r->text, 1, r->len, f) != r->len)
			return "cannot store a copy of the piped input";
		r->len = r->pos = 0;
		reader_refill(r);
	}
	if (fflush(f))
		return "cannot store a copy of the piped input";
	trace_input_close(r->in);
	snprintf(r->again, sizeof r->again, "/proc/self/fd/%d", fileno(f));
	r->in = trace_input_open(r->again, why);
	if (!r->in)
		return why->text;
	reader_refill(r);
	r->pos = ITR_HEADER;
	return r->len >= ITR_HEADER ? NULL : "the copy of the piped input is lost";
}

static bool start(struct trace_reader *r)
{
	reader_refill(r);
	r->format = r->len >= 8 && !memcmp(r->text, ITR_MAGIC, 8) ? FORMAT_ITR : FORMAT_STD;
	if (names_add_safe(&r->names.ns[NS_LABEL], "", 0) != 0) {
		reader_tell_plain(r, true, "memory", "out of memory", NULL);
		return false;
	}
	if (r->format == FORMAT_STD)
		return true;
	const char *why = r->len < ITR_HEADER ? "the trace ends inside its header" : itr_get_header((unsigned char *)r->text);
	if (why) {
		reader_tell_plain(r, true, "bad-trace", why, NULL);
		return false;
	}
	r->pos = ITR_HEADER;
	r->recording = r->len > ITR_HEADER + 4 && r->text[ITR_HEADER + 4] == ITR_RECORDS;
	if (!r->recording || strcmp(r->path, "<stdin>"))
		return true;
	struct why reason;
	why = spool(r, &reason);
	if (why)
		reader_tell_plain(r, true, "cannot-read", why, NULL);
	return !why;
}

struct trace_reader *trace_open(const char *path, trace_msg_fn *fn, void *ctx)
{
	struct trace_reader *r = calloc(1, sizeof *r);
	struct why why;
	why_set(&why, "out of memory");
	if (!r) {
		struct trace_msg m = { .error = true, .code = "memory", .file = path, .text = why.text };
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
	r->events = malloc(READER_BATCH * sizeof *r->events);
	r->events_cap = READER_BATCH;
	if (r->text && r->events)
		r->in = trace_input_open(path, &why);
	if (!r->in) {
		reader_tell_plain(r, true, "cannot-read", why.text, NULL);
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
	reader_release(r);
	buf_free(&r->symbols);
	symtab_free(&r->symtab);
	if (r->spool)
		fclose(r->spool);
	free(r);
}

/* ---- reading ------------------------------------------------------------ */

size_t trace_next(struct trace_reader *r, struct event **batch)
{
	assert(r->next_index >= 1);
	*batch = r->events;
	if (r->done)
		return 0;
	if (r->recording)
		return reader_next_recorded(r, batch);
	size_t n = r->format == FORMAT_STD ? reader_next_std(r) : reader_next_itr(r);
	*batch = r->events;
	if (!n && !r->done && trace_input_error(r->in))
		reader_tell_damage(r, trace_input_error(r->in));
	if (!n)
		r->done = true;
	return n;
}

void trace_lives(struct trace_reader *r, enum lives lives)
{
	r->lives = lives;
}

void trace_leave(struct trace_reader *r, enum leave leave)
{
	r->leave = leave;
}

uint64_t trace_count(const struct trace_reader *r)
{
	return r->next_index - 1;
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
	size_t n = r->done || !r->recording ? 0 : reader_next_itr(r);
	*batch = r->recs;
	assert(n <= r->recs_cap);
	*process = r->process;
	if (!n && !r->done && trace_input_error(r->in))
		reader_tell_damage(r, trace_input_error(r->in));
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
