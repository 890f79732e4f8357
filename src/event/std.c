#include "event/std.h"

#include <string.h>

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static enum std_result bad(struct std_error *err, size_t at, size_t width, const char *code, const char *text, const char *hint)
{
	*err = (struct std_error){ at, width ? width : 1, code, text, hint };
	return STD_BAD;
}

/* The kind called s[0..len), or -1. The long words are what people write. */
static int kind_of(const char *s, size_t len)
{
	static const struct {
		const char *word;
		int kind;
	} more[] = {
		{ "read", EVENT_READ },   { "write", EVENT_WRITE }, { "acquire", EVENT_ACQ },
		{ "release", EVENT_REL }, { "lock", EVENT_ACQ },    { "unlock", EVENT_REL },
	};
	for (int k = 0; k < EVENT_KINDS; k++)
		if (strlen(event_kind_name[k]) == len && !memcmp(event_kind_name[k], s, len))
			return k;
	for (size_t k = 0; k < sizeof more / sizeof *more; k++)
		if (strlen(more[k].word) == len && !memcmp(more[k].word, s, len))
			return more[k].kind;
	return -1;
}

static const enum name_space space_of[EVENT_KINDS] = {
	NS_VAR, NS_VAR, NS_LOCK, NS_LOCK, NS_THREAD, NS_THREAD, NS_LABEL, NS_LABEL,
};

/* A place: a small number is itself, anything else goes to the table. */
static bool scan_loc(const char *s, const char *end, struct trace_names *t, uint32_t *loc)
{
	uint64_t v = 0;
	const char *p = s;
	while (p < end && (unsigned)(*p - '0') < 10 && v < LOC_TEXT)
		v = v * 10 + (unsigned)(*p++ - '0');
	if (p == end && v < LOC_TEXT && p > s && (*s != '0' || p == s + 1)) {
		*loc = (uint32_t)v;
		return true;
	}
	if (s == end) {
		*loc = LOC_NONE;
		return true;
	}
	uint32_t id = names_add(&t->ns[NS_LOC], s, (size_t)(end - s));
	*loc = LOC_TEXT | id;
	return id != NAME_FULL;
}

/*
 * The slow road: spaces, missing fields, long words, and all errors. The fast
 * one below gives up on anything it does not expect.
 */
static enum std_result scan_slow(const char *line, const char *eol, struct trace_names *t, struct event *ev, struct std_error *err)
{
	const char *s = line, *end = eol;
	while (end > s && blank(end[-1]))
		end--;
	while (s < end && blank(*s))
		s++;
	if (s == end || *s == '#')
		return STD_SKIP;
	if (memchr(s, 0, (size_t)(end - s)))
		return bad(err, 0, 1, "not-a-trace", "this is not a text trace: the line holds a NUL byte",
		           "expected lines such as T1|w(x)|12, or a file written by intact");

	/* thread */
	const char *bar = memchr(s, '|', (size_t)(end - s));
	if (!bar)
		return bad(err, (size_t)(s - line), (size_t)(end - s), "no-operation",
		           "expected '|' and an operation after the thread",
		           "a line is thread|op(target)|place, for example T1|w(x)|12");
	const char *te = bar;
	while (te > s && blank(te[-1]))
		te--;
	if (te == s)
		return bad(err, (size_t)(bar - line), 1, "no-thread", "expected a thread's name before '|'", NULL);
	if (te - s > NAMES_MAX_LEN)
		return bad(err, (size_t)(s - line), (size_t)(te - s), "name-too-long", "a name of more than 4096 bytes", NULL);

	/* operation */
	const char *o = bar + 1;
	while (o < end && blank(*o))
		o++;
	const char *oe = o;
	while (oe < end && *oe != '(' && *oe != '|' && !blank(*oe))
		oe++;
	if (oe - o == 5 && !memcmp(o, "dummy", 5))
		return STD_SKIP;
	int kind = kind_of(o, (size_t)(oe - o));
	if (kind < 0)
		return bad(err, (size_t)(o - line), (size_t)(oe - o), "unknown-operation", "unknown operation",
		           "expected r, w, acq, rel, fork, join, begin or end");
	ev->kind = (uint8_t)kind;
	const char *p = oe, *a = oe, *ae = oe;
	while (p < end && blank(*p))
		p++;
	if (p < end && *p == '(') {
		const char *next = memchr(p, '|', (size_t)(end - p));
		const char *close = next ? next : end;
		while (close > p && blank(close[-1]))
			close--;
		if (close[-1] != ')')
			return bad(err, (size_t)(p - line), (size_t)(close - p), "no-parenthesis", "expected ')' after the target",
			           NULL);
		a = p + 1;
		ae = close - 1;
		p = next ? next : end;
	}
	while (a < ae && blank(*a))
		a++;
	while (ae > a && blank(ae[-1]))
		ae--;
	if (a == ae && kind < EVENT_BEGIN)
		return bad(err, (size_t)(o - line), (size_t)(oe - o), "no-target", "this operation needs a target in parentheses",
		           "for example w(x), acq(m) or fork(T2)");
	if (ae - a > NAMES_MAX_LEN)
		return bad(err, (size_t)(a - line), (size_t)(ae - a), "name-too-long", "a name of more than 4096 bytes", NULL);
	if (p < end && *p != '|')
		return bad(err, (size_t)(p - line), (size_t)(end - p), "trailing-text", "expected '|' and the place", NULL);
	if (p < end)
		p++;
	while (p < end && blank(*p))
		p++;
	const char *extra = memchr(p, '|', (size_t)(end - p));
	if (extra)
		return bad(err, (size_t)(extra - line), (size_t)(end - extra), "trailing-text",
		           "a line has three fields; here is a fourth", NULL);
	if (end - p > NAMES_MAX_LEN)
		return bad(err, (size_t)(p - line), (size_t)(end - p), "name-too-long", "a name of more than 4096 bytes", NULL);

	ev->thread = names_add(&t->ns[NS_THREAD], s, (size_t)(te - s));
	ev->target = names_add(&t->ns[space_of[kind]], a, (size_t)(ae - a));
	if (ev->thread == NAME_FULL || ev->target == NAME_FULL || !scan_loc(p, end, t, &ev->loc))
		return STD_NOMEM;
	return STD_EVENT;
}

/* The word in front of '(' as a number, for one comparison. */
static int fast_kind(const char *s, size_t len)
{
	switch (len) {
	case 1:
		return *s == 'r' ? EVENT_READ : *s == 'w' ? EVENT_WRITE : -1;
	case 3:
		return !memcmp(s, "acq", 3) ? EVENT_ACQ : !memcmp(s, "rel", 3) ? EVENT_REL : -1;
	default:
		return -1;
	}
}

/* thread '|' (r|w|acq|rel) '(' name ')' '|' number, no spaces: nearly all
 * lines of nearly all traces. */
enum std_result std_scan(const char *s, const char *end, struct trace_names *t, struct event *ev, struct std_error *err)
{
	const char *p = s;
	while (*p != '|' && (unsigned char)*p > ' ')
		p++;
	size_t tl = (size_t)(p - s);
	if (*p != '|' || !tl || *s == '#' || tl > 64)
		return scan_slow(s, end, t, ev, err);
	const char *o = ++p;
	while ((unsigned)(*p - 'a') < 26)
		p++;
	int kind = *p == '(' ? fast_kind(o, (size_t)(p - o)) : -1;
	const char *a = p + 1;
	if (kind < 0)
		return scan_slow(s, end, t, ev, err);
	p = a;
	while (*p != '|' && (unsigned char)*p > ' ')
		p++;
	if (*p != '|' || p - a < 2 || p - a > 256 || p[-1] != ')')
		return scan_slow(s, end, t, ev, err);
	size_t al = (size_t)(p - a) - 1;
	const char *l = ++p;
	uint32_t v = 0;
	while ((unsigned)(*p - '0') < 10)
		v = v * 10 + (unsigned)(*p++ - '0');
	if (p != end || p == l || p - l > 9 || (*l == '0' && p - l > 1))
		return scan_slow(s, end, t, ev, err);
	ev->kind = (uint8_t)kind;
	ev->loc = v;
	ev->thread = names_add(&t->ns[NS_THREAD], s, tl);
	ev->target = names_add(&t->ns[kind < EVENT_ACQ ? NS_VAR : NS_LOCK], a, al);
	return ev->thread == NAME_FULL || ev->target == NAME_FULL ? STD_NOMEM : STD_EVENT;
}

/* A name between the format's own signs. */
void std_name(const struct names *n, uint32_t id, struct buf *out)
{
	char tmp[24];
	size_t len;
	const char *s = names_text(n, id, tmp, &len);
	size_t from = out->len;
	const char *nl = memchr(s, '\n', len); /* a stack: its innermost frame */
	buf_add(out, s, nl ? (size_t)(nl - s) : len);
	for (size_t i = from; i < out->len; i++)
		if ((unsigned char)out->data[i] <= ' ' || out->data[i] == '|')
			out->data[i] = '_';
	/* a thread that starts with '#' would read back as a comment */
	if (n->len && out->len > from && out->data[from] == '#' && (from == 0 || out->data[from - 1] == '\n'))
		out->data[from] = '_';
	if (out->len == from)
		buf_char(out, '_');
}

void std_print(const struct event *ev, const struct trace_names *t, bool numeric, struct buf *out)
{
	std_name(&t->ns[NS_THREAD], ev->thread, out);
	buf_char(out, '|');
	buf_str(out, event_kind_name[ev->kind]);
	if (ev->kind < EVENT_BEGIN || ev->target) {
		buf_char(out, '(');
		std_name(&t->ns[space_of[ev->kind]], ev->target, out);
		buf_char(out, ')');
	}
	buf_char(out, '|');
	if (ev->loc == LOC_NONE) {
		if (numeric)
			buf_char(out, '0');
	} else if (!(ev->loc & LOC_TEXT)) {
		buf_printf(out, "%u", ev->loc);
	} else if (numeric) {
		buf_printf(out, "%u", ev->loc & ~LOC_TEXT);
	} else {
		std_name(&t->ns[NS_LOC], ev->loc & ~LOC_TEXT, out);
	}
	buf_char(out, '\n');
}
