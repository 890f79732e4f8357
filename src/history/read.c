/*
 * read: the driver over the formats, and matching responses to invocations.
 *
 * Every process has at most one open operation, so a table from process to
 * operation is all the state there is. Cost: one pass, no copy of the text.
 */
#include "base/grow.h"
#include "base/invariant.h"
#include "ir/seqspec.h"
#include "history/read.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(FORMAT_TXN_CSV == 10, "format_names[] has a name for each");

const char *const format_names[] = { "guess", "edn",   "json",       "csv",   "log",     "violin",
	                             "plume", "dbcop", "dbcop-json", "cobra", "txn-csv", NULL };

/* ---- messages ------------------------------------------------------------ */

static const char *line_start(const struct reader *r, const char *at)
{
	assert(at >= r->in.buf && at <= r->in.buf + r->in.end);
	while (at > r->in.buf && at[-1] != '\n')
		at--;
	assert(at >= r->in.buf);
	return at;
}

void reader_error(struct reader *r, const char *at, size_t len, const char *code, const char *fmt, ...)
{
	assert(r->in.pos <= r->in.end);
	const char *here = r->in.buf + r->in.pos;           /* r->line is the line of this byte */
	if (at < r->in.buf || at > r->in.buf + r->in.end) { /* a quoted field's text is a copy */
		at = here;
		len = 1;
	}
	const char *s = line_start(r, at), *e = at;
	while (*e && *e != '\n')
		e++;
	uint32_t line = r->line;
	for (const char *p = here; p < s; p++)
		line += *p == '\n';
	for (const char *p = s; p < here; p++)
		line -= *p == '\n';
	struct source *src = arena_new(r->h->arena, struct source);
	size_t n = (size_t)(e - s) < 4096 ? (size_t)(e - s) : 4096;
	size_t from = (size_t)(at - s) > n ? n : (size_t)(at - s);
	source_from_text(src, r->h->arena, r->in.name, arena_strndup(r->h->arena, s, n), n);
	src->line0 = line - 1;
	if (len > n - from)
		len = n - from;
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(r->d, code, src, (struct span){ (uint32_t)from, (uint32_t)(from + len) }, "%s", text);
}

struct source *history_line(struct history *h, uint32_t line)
{
	struct source *src = arena_new(h->arena, struct source);
	source_from_text(src, h->arena, h->name, "", 0);
	src->line0 = line ? line - 1 : 0;
	struct input in;
	bool again = h->name && h->name[0] != '<' && !h->text.len; /* what was a text, or came from a pipe, is kept */
	if (!line || !h->name ||
	    !(again ? input_open(&in, h->name) : input_open_text(&in, h->name, buf_cstr(&h->text), h->text.len)))
		return src;
	uint32_t at = 1;
	for (;;) {
		const char *s = in.buf + in.pos, *e = memchr(s, '\n', in.end - in.pos);
		if (!e && input_fill(&in))
			continue;
		if (at == line) {
			size_t n = e ? (size_t)(e - s) : in.end - in.pos;
			n = n < 4096 ? n : 4096;
			source_from_text(src, h->arena, h->name, arena_strndup(h->arena, s, n), n);
			src->line0 = line - 1;
			break;
		}
		if (!e)
			break;
		in.pos += (size_t)(e - s) + 1;
		at++;
	}
	input_close(&in);
	assert(src->nlines >= 1);
	return src;
}

#define KEPT_TEXT ((size_t)16 << 20)

/* ---- opening ------------------------------------------------------------- */

/* "# @object atomic-queue", or "[1] call add(1)" */
static bool looks_like_violin(const char *p)
{
	if (*p == '#')
		return strspn(p + 1, " \t") && !strncmp(p + 1 + strspn(p + 1, " \t"), "@object", 7);
	if (*p != '[')
		return false;
	p += 1 + strspn(p + 1, "0123456789");
	return p[0] == ']' && p[1] == ' ' && (!strncmp(p + 2, "call ", 5) || !strncmp(p + 2, "return", 6));
}

static enum format guess(const struct input *in)
{
	assert(in->pos <= in->end);
	const char *p = in->buf + in->pos;
	while (form_is_space(*p))
		p++;
	if (*p == ';' || (*p == '#' && p[1] != ' ' && p[1] != '\t' && p[1]))
		return FORMAT_EDN;
	if (looks_like_violin(p))
		return FORMAT_VIOLIN;
	const char *q = p;
	while (*q == '[' || *q == '(' || *q == '{' || form_is_space(*q))
		q++;
	if (q != p && *p != '#')
		return *q == '"' || (*q == '}' && *p != '(') ? FORMAT_JSON : FORMAT_EDN;
	/* a log says :invoke, or who wrote it, somewhere in its first lines */
	return strstr(p, ":invoke") || strstr(p, "jepsen.") ? FORMAT_LOG : FORMAT_CSV;
}

static bool opened(struct reader *r, enum format f)
{
	r->line = 1;
	r->h->name = arena_strdup(r->h->arena, r->in.name);
	r->h->show_line = history_line;
	if (r->in.end < 4096)
		input_fill(&r->in);
	if (r->in.error) {
		diag_error(r->d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", r->in.name, r->in.error);
		return false;
	}
	if (r->in.end >= 3 && !memcmp(r->in.buf, "\xEF\xBB\xBF", 3))
		r->in.pos = 3; /* a byte order mark */
	r->format = f == FORMAT_GUESS ? guess(&r->in) : f;
	r->h->format = format_names[r->format];
	assert(r->format > FORMAT_GUESS && r->format <= FORMAT_TXN_CSV);
	return true;
}

bool reader_open(struct reader *r, struct history *h, const char *path, enum format f, struct diags *d)
{
	memset(r, 0, sizeof *r);
	map_init(&r->called);
	map_init(&r->passed);
	r->h = h;
	r->d = d;
	struct stat st;
	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode) && (f == FORMAT_GUESS || f == FORMAT_COBRA))
		return (r->directory = true) && input_open_text(&r->in, path, "", 0) && opened(r, FORMAT_COBRA);
	if (input_open(&r->in, path)) {
		if (!strcmp(path, "-"))
			input_keep(&r->in, &h->text, KEPT_TEXT);
		return opened(r, f);
	}
	diag_error(d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", path, r->in.error);
	if (r->in.hint)
		diag_hint(d, "%s", r->in.hint);
	return false;
}

bool reader_open_text(struct reader *r, struct history *h, const char *name, const char *text, size_t len, enum format f,
                      struct diags *d)
{
	assert(name && text);
	memset(r, 0, sizeof *r);
	map_init(&r->called);
	map_init(&r->passed);
	r->h = h;
	r->d = d;
	if (!input_open_text(&r->in, name, text, len))
		return false;
	input_keep(&r->in, &h->text, KEPT_TEXT);
	return opened(r, f);
}

void reader_close(struct reader *r)
{
	map_free(&r->called);
	map_free(&r->passed);
	input_close(&r->in);
}

/* ---- records ------------------------------------------------------------- */

static enum form_status next_line(struct reader *r, struct read_rec *rec, size_t *used, uint32_t *nl)
{
	assert(r->in.pos <= r->in.end);
	char *s = r->in.buf + r->in.pos, *e = memchr(s, '\n', r->in.end - r->in.pos);
	if (!e && !r->in.eof)
		return FORM_MORE;
	bool ended = !e;
	if (ended)
		e = r->in.buf + r->in.end;
	*used = (size_t)(e - s) + !ended;
	*nl = !ended;
	rec->line = r->line;
	*e = 0; /* so that scanners stop here */
	enum form_status st = (r->format == FORMAT_CSV ? rec_csv : r->format == FORMAT_LOG ? rec_log : rec_violin)(r, s, e, rec);
	if (!ended)
		*e = '\n';
	return st;
}

static bool check_rec(struct reader *r, const struct read_rec *rec)
{
	assert(rec->kind != REC_SKIP);
	const char *missing = !rec->has_proc && rec->kind != REC_OP ? "process"
	                      : rec->fn == FN_NONE && !rec->fname   ? "operation (f)"
	                                                            : NULL;
	if (missing) {
		reader_error(r, rec->start, 1, "bad-record", "the record has no %s", missing);
		diag_hint(r->d, "a record looks like {:process 0, :type :invoke, :f :write, :value 3}, or the same in JSON");
		return false;
	}
	if (rec->fn != FN_NONE)
		return true;
	reader_error(r, rec->fname, rec->fname_len, "unknown-operation", "'%.*s' is not a known operation",
	             (int)(rec->fname_len > 60 ? 60 : rec->fname_len), rec->fname);
	if (rec->fname_len == 3 && !memcmp(rec->fname, "txn", 3)) {
		diag_hint(r->d,
		          "transactions are judged as a whole: intact history FILE, intact verify REPORT; --verify and convert are "
		          "about objects; --follow --level=NAME when they are not recognised");
		return false;
	}
	if (r->h->user) {
		struct buf names;
		buf_init(&names);
		for (uint32_t i = 0; i < r->h->user->nmethods && i < 30; i++)
			buf_printf(&names, " %s", r->h->user->methods[i].name);
		diag_hint(r->d, "the specification has:%s", buf_cstr(&names));
		buf_free(&names);
		return false;
	}
	diag_hint(r->d, "known: read write cas append add inc dec remove contains enqueue dequeue "
	                "push pop peek insert poll acquire release get put");
	return false;
}

static bool is_client(const struct reader *r, val proc)
{
	enum value_kind k = val_kind(&r->h->vals, proc);
	if (k != VK_STR)
		return k == VK_INT || k == VK_NUM;
	const char *s = r->h->vals.tab.data[proc].text; /* a keyword, in JSON */
	return strcmp(s, "nemesis") && strcmp(s, ":nemesis");
}

int reader_next(struct reader *r, struct read_rec *rec)
{
	for (;;) {
		memset(rec, 0, sizeof *rec);
		rec->in = rec->out = rec->ok = VAL_NONE;
		size_t used = 0;
		uint32_t newlines = 0;
		bool end = r->in.eof && r->in.pos >= r->in.end;
		enum form_status st = FORM_OK;
		if (!end || r->in_array)
			st = r->format == FORMAT_CSV || r->format == FORMAT_LOG || r->format == FORMAT_VIOLIN
			             ? next_line(r, rec, &used, &newlines)
			             : rec_form(r, rec, &used, &newlines);
		if (st == FORM_MORE) {
			input_fill(&r->in);
			if (r->in.error) {
				diag_error(r->d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", r->in.name, r->in.error);
				return -1;
			}
			continue;
		}
		if (st == FORM_BAD)
			return -1;
		if (rec->kind != REC_SKIP && rec->has_proc && !is_client(r, rec->proc)) {
			r->h->nskipped++; /* the nemesis */
			rec->kind = REC_SKIP;
		} else if (rec->kind == REC_SKIP && rec->start && r->format != FORMAT_LOG) {
			if (r->format != FORMAT_CSV) {
				reader_error(r, rec->start, 1, "bad-record",
				             "the record has neither a :type nor call and return times");
				diag_hint(r->d,
				          "an event has a :type (invoke, ok, fail or info), a whole operation Call and Return");
				return -1;
			}
		}
		if (rec->kind != REC_SKIP && !check_rec(r, rec))
			return -1;
		r->in.pos += used;
		r->line += newlines;
		if (rec->kind != REC_SKIP)
			return 1;
		if (end && !used)
			return 0;
	}
}

/* ---- history building ---------------------------------------------------- */

struct builder {
	struct reader r;
	const struct read_options *o;
	uint32_t *open; /* by process: operation + 1 */
	uint32_t nopen;
	uint32_t small[256]; /* process ids of small numbers + 1 */
	int64_t last_time;
	bool any_time;
	bool whole, events; /* which kinds of records there were */
};

static uint32_t proc_of(struct builder *b, val name)
{
	uint32_t id = val_is_small(name) ? (uint32_t)val_small(name) : 256;
	if (id < 256 && b->small[id])
		return b->small[id] - 1;
	uint32_t p = proc_intern(b->r.h, name);
	if (id < 256)
		b->small[id] = p + 1;
	if (!GROW(b->open, b->nopen, p + 1ull))
		longjmp(*b->r.h->arena->oom, 1);
	assert(p < b->nopen);
	return p;
}

static uint32_t key_of(struct history *h, const struct read_rec *rec)
{
	if (rec->has_key) {
		if (!h->keys.len && h->n > 1)
			key_intern(h, VAL_NIL); /* operations before had none */
		return key_intern(h, rec->key);
	}
	return h->keys.len ? key_intern(h, VAL_NIL) : 0;
}

static void note_line(struct history *h, struct diags *d, uint32_t line, const char *text)
{
	diag_note(d, history_line(h, line), (struct span){ 0, 0 }, "%s", text);
}

/* A process by its name, for a message. */
static const char *process(struct builder *b, uint32_t p)
{
	assert(p < b->r.h->procs.len);
	struct buf text;
	buf_init(&text);
	buf_str(&text, "process ");
	val_print(&b->r.h->vals, b->r.h->procs.data[p], &text);
	const char *s = arena_strdup(b->r.h->arena, buf_cstr(&text));
	buf_free(&text);
	return s;
}

#define HINT_TWO_OPEN "an operation without a response is ended by :info; its process may then continue"

static bool check_time(struct builder *b, const struct read_rec *rec)
{
	if (!rec->has_time || b->o->order != ORDER_STRICT)
		return true;
	if (b->any_time && rec->time < b->last_time) {
		reader_error(&b->r, rec->start, rec->len, "time-backwards", "time goes backwards: %lld after %lld",
		             (long long)rec->time, (long long)b->last_time);
		diag_hint(b->r.d, "--order=lines uses the line order, --order=time sorts by the times");
		return false;
	}
	b->any_time = true;
	b->last_time = rec->time;
	return true;
}

static bool on_invoke(struct builder *b, const struct read_rec *rec, uint32_t p)
{
	assert(p < b->nopen && rec->kind == REC_INVOKE);
	struct history *h = b->r.h;
	if (b->open[p]) {
		reader_error(&b->r, rec->start, rec->len, "two-open-operations",
		             "%s invokes an operation while its previous one is open", process(b, p));
		note_line(h, b->r.d, h->ops[b->open[p] - 1].line, "it was invoked here");
		diag_hint(b->r.d, HINT_TWO_OPEN);
		return false;
	}
	struct hop *op = history_push(h);
	if (!op)
		return false;
	op->call = h->nevents++;
	op->ret = RANK_INF;
	op->a = rec->in;
	op->b = VAL_NONE;
	op->proc = p;
	op->key = key_of(h, rec);
	op->line = rec->line;
	op->fn = (uint8_t)rec->fn;
	if (h->timed) {
		h->tcall[h->n - 1] = rec->time;
		h->tret[h->n - 1] = INT64_MAX;
	}
	b->open[p] = h->n;
	assert(b->open[p] && b->open[p] <= h->n);
	return true;
}

static bool on_response(struct builder *b, const struct read_rec *rec, uint32_t p)
{
	assert(p < b->nopen && rec->kind > REC_INVOKE && rec->kind < REC_OP);
	struct history *h = b->r.h;
	if (!b->open[p]) {
		reader_error(&b->r, rec->start, rec->len, "response-without-invocation", "a response, but %s has no open operation",
		             process(b, p));
		diag_hint(b->r.d, "the invocation comes first, and each is answered once%s",
		          rec->has_time ? "; --order=time sorts by the times" : "");
		return false;
	}
	uint32_t id = b->open[p] - 1;
	struct hop *op = &h->ops[id];
	if (op->fn != rec->fn) {
		reader_error(&b->r, rec->start, rec->len, "response-mismatch",
		             "a response to %s, but the open operation of %s is %s", fn_name(rec->fn, OBJ_GUESS), process(b, p),
		             fn_name(op->fn, OBJ_GUESS));
		note_line(h, b->r.d, op->line, "it was invoked here");
		diag_hint(b->r.d, "a response repeats the :f of its invocation");
		return false;
	}
	b->open[p] = 0;
	if (rec->kind == REC_INFO)
		return true; /* may or may not have happened: stays open forever */
	op->ret = h->nevents++;
	op->b = rec->in;
	if (rec->kind == REC_FAIL)
		op->flags |= HF_FAILED;
	if (h->timed)
		h->tret[id] = rec->time;
	return true;
}

static bool on_operation(struct builder *b, const struct read_rec *rec)
{
	assert(rec->kind == REC_OP);
	struct history *h = b->r.h;
	h->timed = true;
	if (rec->has_ret && rec->ret < rec->call) {
		reader_error(&b->r, rec->start, rec->len, "time-backwards",
		             "the operation returns at %lld, before its call at %lld", (long long)rec->ret, (long long)rec->call);
		diag_hint(b->r.d,
		          "the call time must precede the return time; an operation that never returned has no return time");
		return false;
	}
	struct hop *op = history_push(h);
	if (!op)
		return false;
	uint32_t id = h->n - 1;
	val none = rec->has_proc ? rec->proc : val_int(&h->vals, (int64_t)id);
	op->ret = rec->has_ret ? 0 : RANK_INF;
	op->a = rec->in;
	op->b = rec->out;
	op->proc = rec->has_proc ? proc_of(b, none) : proc_intern(h, none);
	op->key = key_of(h, rec);
	op->line = rec->line;
	op->fn = (uint8_t)rec->fn;
	op->flags = rec->failed ? HF_FAILED : 0;
	h->tcall[id] = rec->call;
	h->tret[id] = rec->has_ret ? rec->ret : INT64_MAX;
	return true;
}

/* Whole operations carry their own times: a process must not overlap itself. */
static bool check_overlap(struct builder *b)
{
	struct history *h = b->r.h;
	uint32_t *last = calloc(h->procs.len + 1, sizeof *last);
	bool ok = last != NULL;
	for (uint32_t i = 0; ok && i < h->n; i++) {
		uint32_t p = h->ops[i].proc, prev = last[p];
		/* one that never answered has crashed: its name may be used again */
		if (prev && h->ops[prev - 1].ret != RANK_INF && h->tret[prev - 1] > h->tcall[i]) {
			diag_error(b->r.d, "two-open-operations", history_line(h, h->ops[i].line), (struct span){ 0, 0 },
			           "%s invokes an operation while its previous one is open", process(b, p));
			note_line(h, b->r.d, h->ops[prev - 1].line, "the other one");
			diag_hint(b->r.d,
			          "%lld is before %lld, when the other one returns: operations that overlap need different clients",
			          (long long)h->tcall[i], (long long)h->tret[prev - 1]);
			ok = false;
		}
		last[p] = i + 1;
	}
	free(last);
	return ok;
}

/* Whole operations and events have no order among each other. */
static bool one_kind(struct builder *b, const struct read_rec *rec)
{
	assert(rec->kind != REC_SKIP);
	*(rec->kind == REC_OP ? &b->whole : &b->events) = true;
	if (!b->whole || !b->events)
		return true;
	reader_error(&b->r, rec->start, rec->len, "mixed-records", "whole operations and events in one history");
	diag_hint(b->r.d, "either every record has call and return times, or every one a type (invoke, ok, fail, info)");
	return false;
}

static bool build(struct builder *b)
{
	struct history *h = b->r.h;
	struct read_rec rec;
	int more;
	h->timed = b->o->keep_times || b->o->order == ORDER_TIME;
	while ((more = reader_next(&b->r, &rec)) > 0) {
		bool ok;
		if (!one_kind(b, &rec))
			return false;
		if (rec.kind == REC_OP) {
			ok = on_operation(b, &rec);
		} else {
			if (h->timed && !rec.has_time && (b->o->order == ORDER_TIME || b->any_time)) {
				reader_error(&b->r, rec.start, rec.len, "no-time", "the record has no time");
				diag_hint(b->r.d, "either all records have times or none; --order=lines ignores them");
				return false;
			}
			uint32_t p = proc_of(b, rec.proc);
			ok = check_time(b, &rec) && (rec.kind == REC_INVOKE ? on_invoke(b, &rec, p) : on_response(b, &rec, p));
		}
		if (!ok || ((h->n & 0xFFFF) == 0 && lim_spent(h->lim)))
			return false;
	}
	if (more < 0)
		return false;
	if (!h->n && !h->nskipped && !b->r.ended) { /* [] and a lone nemesis are fine */
		diag_error(b->r.d, "empty-history", NULL, (struct span){ 0, 0 }, "%s: contains no operation%s%s%s", b->r.in.name,
		           b->r.in.end ? " (read as " : ": it is empty", b->r.in.end ? h->format : "", b->r.in.end ? ")" : "");
		diag_hint(b->r.d, b->r.in.end ? "--format=NAME sets the format" : "an empty history is written []");
		return false;
	}
	if (b->whole || b->o->order == ORDER_TIME) {
		bool ok = history_rank(h) && (!b->whole || check_overlap(b));
		if (b->o->drop_times)
			history_drop_times(h);
		return ok;
	}
	if (b->o->keep_times && !b->any_time) /* no times in the file: count events */
		for (uint32_t i = 0; i < h->n; i++) {
			h->tcall[i] = h->ops[i].call;
			h->tret[i] = h->ops[i].ret == RANK_INF ? INT64_MAX : h->ops[i].ret;
		}
	return true;
}

bool history_read_opened(struct reader *r, const struct read_options *o)
{
	assert(r->format > FORMAT_GUESS);
	struct builder b = { .r = *r, .o = o }; /* not in the arena: when that is full, the reader must still be closed */
	bool ok = build(&b);
	reader_close(&b.r);
	free(b.open);
	return ok;
}

bool history_read(struct history *h, const char *path, const struct read_options *o, struct diags *d)
{
	struct reader r;
	if (reader_open(&r, h, path, o->format, d))
		return history_read_opened(&r, o);
	reader_close(&r);
	return false;
}

bool history_read_text(struct history *h, const char *name, const char *text, size_t len, const struct read_options *o,
                       struct diags *d)
{
	struct reader r;
	if (reader_open_text(&r, h, name, text, len, o->format, d))
		return history_read_opened(&r, o);
	reader_close(&r);
	return false;
}
