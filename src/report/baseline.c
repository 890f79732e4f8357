#include "report/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/invariant.h"
#include "base/replace.h"
#include "base/source.h"

#define BASELINE_HEAD "{\"intact\": \"baseline\", \"version\": 1}"

/* ---- order ---- */

static int key_compare(const struct baseline_key *a, const struct baseline_key *b)
{
	const char *x[] = { a->function, a->mark, a->pattern, a->after, a->before };
	const char *y[] = { b->function, b->mark, b->pattern, b->after, b->before };
	int c = 0;
	for (unsigned i = 0; i < 5 && !c; i++)
		c = strcmp(x[i], y[i]);
	return c;
}

static int by_key(const void *a, const void *b)
{
	const struct baseline_entry *x = a, *y = b;
	int c = key_compare(&x->key, &y->key);
	return c ? c : x->line < y->line ? -1 : x->line > y->line;
}

/* Sorted, of equal ones the first. */
static uint32_t sort_entries(struct baseline_entry *v, uint32_t n)
{
	uint32_t kept = 0;
	if (n)
		qsort(v, n, sizeof *v, by_key);
	assert(!n || v);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || key_compare(&v[kept - 1].key, &v[i].key) != 0)
			v[kept++] = v[i];
	return kept;
}

struct baseline_entry *baseline_find(const struct baseline *b, const struct baseline_key *key)
{
	assert(key->function && key->mark && key->pattern && key->after && key->before);
	struct baseline_entry wanted = { .key = *key };
	uint32_t lo = 0, hi = b->list.len;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = key_compare(&b->list.data[mid].key, &wanted.key);
		if (!c)
			return &b->list.data[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

void baseline_learn(struct baseline *b, const struct baseline_key *key)
{
	assert(b->learn && *key->function);
	struct baseline_entry e = { .key = *key, .comment = "" };
	avec_push(b->arena, &b->learned, e);
}

/* ---- reading ---- */

struct baseline_parser {
	struct baseline *b;
	struct source src;
	struct diags d;
	uint32_t start, len; /* of the line */
};

static void wrong_at(struct baseline_parser *p, uint32_t at, uint32_t n, const char *text)
{
	assert(p->start + at + n <= p->src.len);
	struct span span = { p->start + at, p->start + at + n };
	diag_error(&p->d, "baseline-syntax", &p->src, span, "%s", text);
}

/* At the member of this name, or at the line. */
static void wrong_member(struct baseline_parser *p, const char *key, const char *text)
{
	const char *quoted = arena_printf(p->b->arena, "\"%s\"", key);
	const char *line = arena_strndup(p->b->arena, p->src.text + p->start, p->len), *at = strstr(line, quoted);
	if (at)
		wrong_at(p, (uint32_t)(at - line), (uint32_t)strlen(quoted), text);
	else
		wrong_at(p, 0, p->len, text);
}

/* The line as an object, or NULL after a message. */
static json_t *line_object(struct baseline_parser *p)
{
	json_error_t e;
	json_t *o = json_loadb(p->src.text + p->start, p->len, JSON_REJECT_DUPLICATES, &e);
	if (json_is_object(o))
		return o;
	if (o) {
		wrong_at(p, 0, p->len, "expected an object");
	} else {
		uint32_t at = e.position > 0 ? (uint32_t)e.position - 1 : 0;
		wrong_at(p, at < p->len ? at : p->len - 1, 1, arena_printf(p->b->arena, "not JSON: %s", e.text));
	}
	diag_hint(&p->d, "'intact run --learn FILE' writes baselines; an entry is one line");
	json_decref(o);
	return NULL;
}

static bool header(struct baseline_parser *p)
{
	json_t *o = json_loadb(p->src.text + p->start, p->len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *kind = json_object_get(o, "intact"), *version = json_object_get(o, "version");
	bool is = json_is_string(kind) && !strcmp(json_string_value(kind), "baseline"), ok = is && json_integer_value(version) == 1;
	if (!is) {
		wrong_at(p, 0, p->len, "not a baseline: expected " BASELINE_HEAD);
		diag_hint(&p->d, "'intact run --learn FILE' writes one; a result of --json is something else");
	} else if (!ok) {
		wrong_member(p, "version", "a version of baselines that this Intact does not read (it reads 1)");
	}
	json_decref(o);
	return ok;
}

/* A text; NULL after a message. */
static const char *text_member(struct baseline_parser *p, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	const char *s = v ? json_string_value(v) : "";
	if (!s || strlen(s) != (v ? json_string_length(v) : 0)) {
		wrong_member(p, key, arena_printf(p->b->arena, "'%s' is not a text", key));
		return NULL;
	}
	return arena_strdup(p->b->arena, s);
}

/* A list of calls, a line each; NULL after a message. */
static const char *calls_member(struct baseline_parser *p, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key), *c;
	const char *text = "";
	bool ok = !v || json_is_array(v);
	size_t i;
	json_array_foreach(v, i, c)
	{
		const char *s = json_string_value(c);
		ok = ok && s && *s && strlen(s) == json_string_length(c) && !strchr(s, '\n');
		if (ok)
			text = arena_printf(p->b->arena, "%s%s%s", text, i ? "\n" : "", s);
	}
	if (!ok)
		wrong_member(p, key, arena_printf(p->b->arena, "'%s' is not a list of functions", key));
	return ok ? text : NULL;
}

static void entry(struct baseline_parser *p, uint32_t line, const char *comment)
{
	static const char *const known[] = { "function", "mark", "pattern", "after", "before" };
	json_t *o = line_object(p), *v;
	const char *name;
	if (!o)
		return;
	json_object_foreach(o, name, v)
	{
		bool is = false;
		for (unsigned i = 0; i < 5; i++)
			is |= !strcmp(name, known[i]);
		if (is)
			continue;
		wrong_member(p, name, arena_printf(p->b->arena, "unknown member '%s'", name));
		int near = nearest_name(name, known, 5);
		if (near >= 0)
			diag_hint(&p->d, "did you mean '%s'?", known[near]);
		json_decref(o);
		return;
	}
	struct baseline_entry e = { .comment = comment, .line = line };
	bool ok = (e.key.function = text_member(p, o, "function")) && (e.key.mark = text_member(p, o, "mark")) &&
	          (e.key.pattern = text_member(p, o, "pattern")) && (e.key.after = calls_member(p, o, "after")) &&
	          (e.key.before = calls_member(p, o, "before"));
	if (ok && !*e.key.function)
		wrong_at(p, 0, p->len, "an entry without a 'function'");
	else if (ok)
		avec_push(p->b->arena, &p->b->list, e);
	json_decref(o);
}

static void lines(struct baseline_parser *p)
{
	struct arena *a = p->b->arena;
	const char *comment = "";
	bool headed = false;
	for (uint32_t l = 1; l <= p->src.nlines && p->d.errors < 20; l++) {
		size_t n;
		const char *s = source_line(&p->src, l, &n);
		size_t lead = 0;
		while (lead < n && (s[lead] == ' ' || s[lead] == '\t'))
			lead++;
		p->start = (uint32_t)(s - p->src.text + (ptrdiff_t)lead);
		p->len = (uint32_t)(n - lead);
		if (!p->len)
			continue;
		if (s[lead] == '#') {
			comment = arena_printf(a, "%s%.*s\n", comment, (int)p->len, s + lead);
			continue;
		}
		if (!headed) {
			if (!header(p))
				return;
			headed = true;
			continue;
		}
		if (p->b->list.len >= BASELINE_MAX_ENTRIES) {
			wrong_at(p, 0, p->len, "more than 100,000 entries");
			return;
		}
		entry(p, l, comment);
		comment = "";
	}
	if (!headed) {
		diag_error(&p->d, "baseline-syntax", &p->src, (struct span){ 0, 0 }, "not a baseline: expected " BASELINE_HEAD);
		diag_hint(&p->d, "'intact run --learn FILE' writes one");
	}
	p->b->tail = comment;
}

static bool missing_is_fine(const char *path, bool optional)
{
	struct stat st;
	return optional && (stat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode) && !st.st_size);
}

bool baseline_read(struct baseline *b, struct arena *a, const char *path, bool optional, struct buf *err, bool color)
{
	struct baseline_parser p = { .b = b };
	struct why why;
	*b = (struct baseline){ .arena = a, .path = arena_strdup(a, path) };
	if (missing_is_fine(path, optional)) {
		b->tail = "";
		return true;
	}
	bool read = source_read(&p.src, a, path, &why);
	if (!read || p.src.len > BASELINE_MAX_BYTES) {
		buf_str(err, "intact: cannot read the baseline '");
		buf_safe(err, path, strlen(path));
		buf_printf(err, "': %s\n", read ? "larger than 16 MiB" : why.text);
		buf_str(err, read ? "" : "hint: 'intact run --learn FILE ...' writes one\n");
		return false;
	}
	diags_init(&p.d, a);
	lines(&p);
	if (p.d.errors)
		diags_render(&p.d, err, color);
	b->list.len = sort_entries(b->list.data, b->list.len);
	assert(b->tail || p.d.errors);
	return !p.d.errors;
}

/* ---- writing ---- */

static void put_calls(struct json_out *j, const char *key, const char *calls)
{
	json_begin_array(j, key);
	while (*calls) {
		size_t n = strcspn(calls, "\n");
		json_text_n(j, NULL, calls, n);
		calls += n + (calls[n] != 0);
	}
	json_end(j);
}

static void put_key(struct json_out *j, const struct baseline_key *k)
{
	json_text(j, "function", k->function);
	json_text_if(j, "mark", *k->mark ? k->mark : NULL);
	json_text_if(j, "pattern", *k->pattern ? k->pattern : NULL);
	put_calls(j, "after", k->after);
	put_calls(j, "before", k->before);
}

static void put_file(const struct baseline *b, struct buf *out)
{
	assert(b->tail);
	buf_str(out, BASELINE_HEAD "\n");
	for (uint32_t i = 0; i < b->list.len; i++) {
		struct json_out j;
		buf_str(out, b->list.data[i].comment);
		json_out_init(&j, out, false);
		json_begin_object(&j, NULL);
		put_key(&j, &b->list.data[i].key);
		json_end(&j);
		json_out_end(&j);
		buf_char(out, '\n');
	}
	buf_str(out, b->tail);
}

/* One writer in this directory at a time: -1 when it cannot be opened (writing will say why), or a descriptor to close. */
static int lock_directory(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dir = !slash ? "." : slash == path ? "/" : arena_strndup(a, path, (size_t)(slash - path));
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

static bool replace(const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666); /* file_replace wants one */
	if (fd < 0)
		return false;
	close(fd);
	return file_replace(path, text);
}

bool baseline_save(const struct baseline *b, struct buf *err, bool color, uint32_t *added)
{
	struct baseline now;
	struct buf text;
	int lock = lock_directory(b->arena, b->path);
	bool ok = baseline_read(&now, b->arena, b->path, true, err, color);
	uint32_t before = now.list.len;
	buf_init(&text);
	for (uint32_t i = 0; ok && i < b->learned.len; i++)
		if (!baseline_find(&(struct baseline){ .list.data = now.list.data, .list.len = before }, &b->learned.data[i].key))
			avec_push(b->arena, &now.list, b->learned.data[i]);
	now.list.len = sort_entries(now.list.data, now.list.len);
	assert(now.list.len >= before);
	*added = now.list.len - before;
	if (ok) {
		put_file(&now, &text);
		if (text.failed || !replace(b->path, &text)) {
			buf_str(err, "intact: cannot write the baseline '");
			buf_safe(err, b->path, strlen(b->path));
			buf_printf(err, "': %s\n", text.failed ? "out of memory" : strerror(errno));
			ok = false;
		}
	}
	buf_free(&text);
	if (lock >= 0)
		close(lock);
	return ok;
}

/* ---- in reports ---- */

void baseline_name(const struct baseline_key *k, struct buf *out)
{
	buf_safe(out, k->function, strlen(k->function));
	if (*k->mark) {
		buf_str(out, ", block '");
		buf_safe(out, k->mark, strlen(k->mark));
		buf_str(out, "'");
	}
	if (*k->pattern) {
		buf_str(out, " (");
		buf_safe(out, k->pattern, strlen(k->pattern));
		buf_str(out, ")");
	}
}

void baseline_json(const struct baseline *b, uint32_t known, struct json_out *j)
{
	json_begin_object(j, "baseline");
	json_text(j, "file", b->path);
	json_uint(j, "entries", b->list.len);
	json_uint(j, "known", known);
	json_begin_array(j, "absent");
	for (uint32_t i = 0; i < b->list.len; i++) {
		if (b->list.data[i].hits)
			continue;
		json_begin_object(j, NULL);
		json_uint(j, "line", b->list.data[i].line);
		put_key(j, &b->list.data[i].key);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}
