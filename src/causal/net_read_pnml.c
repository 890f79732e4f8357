/*
 * net_read_pnml: place/transition nets in PNML (ISO/IEC 15909-2), by a small
 * scanner of our own.
 *
 * The scanner knows start tags with attributes, end tags, text, comments,
 * CDATA, processing instructions and the five entities and character
 * references. It knows no DTD: a declaration of one is refused, so that no
 * entity can grow. Elements nest at most DEPTH_MAX deep; element names are
 * matched without their namespace prefix.
 *
 * Read: place, transition, arc (source, target), their ids, name/text,
 * initialMarking/text (0 or 1; "Default,1" of older files too),
 * inscription/text (must be 1); pages are flattened; graphics and
 * toolspecific parts are skipped. Refused: nets that are not place/transition
 * (by a colour, a time or an inhibitor or reset arc), a second net,
 * reference nodes.
 *
 * Nodes are entered as they come; arcs wait until the end, because they may
 * stand before their nodes.
 *
 * Why not expat: the scanner is 180 lines, the handlers that expat needs would be about 80, with the bounds
 * (no DTD, depth, length of texts, NUL bytes) still to be kept in them; and programs that link the library would need
 * expat for this one format.
 */
#include <string.h>

#include "base/intern.h"
#include "base/invariant.h"
#include "causal/net.h"

enum { DEPTH_MAX = 64, ERRORS_MAX = 20 };

enum elem { E_OTHER, E_NET, E_PLACE, E_TRANS, E_ARC, E_NAME, E_MARKING, E_INSCRIPTION, E_TEXT, E_SKIP };

struct open_elem {
	enum elem kind;
	struct span name;
};

struct pnml_arc {
	uint32_t from, to; /* interned ids */
	struct span at;
};

struct node_of {
	uint32_t node; /* place or transition, + 1; 0 = none */
	bool place;
};

struct pnml {
	const struct source *src;
	struct arena *a;
	struct diags *d;
	struct net_builder b;
	struct intern ids;
	AVEC(struct node_of) nodes; /* by interned id */
	AVEC(struct pnml_arc) arcs;
	struct open_elem stack[DEPTH_MAX];
	uint32_t depth, skip; /* skip: depth of the part being skipped, or 0 */
	uint32_t at, nets;
	uint32_t place, trans; /* the one being read, or NET_NONE */
	struct buf *text;
	bool ok;
};

static bool fail(struct pnml *p, struct span at, const char *code, const char *fmt, const char *arg)
{
	if (at.end <= at.start)
		at.end = at.start + 1;
	diag_error(p->d, code, p->src, at, fmt, arg);
	return p->ok = false;
}

static char peek(const struct pnml *p)
{
	return p->at < p->src->len ? p->src->text[p->at] : 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool starts(const struct pnml *p, const char *s)
{
	size_t n = strlen(s);
	return p->src->len - p->at >= n && !memcmp(p->src->text + p->at, s, n);
}

/* Moves after the next `s`; false at the end of the file. */
static bool skip_past(struct pnml *p, const char *s, const char *what)
{
	struct span at = { p->at, p->at + 1 };
	for (; p->at < p->src->len; p->at++)
		if (starts(p, s)) {
			p->at += (uint32_t)strlen(s);
			return true;
		}
	return fail(p, at, "net-syntax", "%s is not closed", what);
}

/* ---- text --------------------------------------------------------------- */

static void put_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_char(out, (char)c);
	} else if (c < 0x800) {
		buf_char(out, (char)(0xC0 | c >> 6));
		buf_char(out, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		buf_char(out, (char)(0xE0 | c >> 12));
		buf_char(out, (char)(0x80 | (c >> 6 & 63)));
		buf_char(out, (char)(0x80 | (c & 63)));
	} else {
		buf_char(out, (char)(0xF0 | c >> 18));
		buf_char(out, (char)(0x80 | (c >> 12 & 63)));
		buf_char(out, (char)(0x80 | (c >> 6 & 63)));
		buf_char(out, (char)(0x80 | (c & 63)));
	}
}

/* "&#9;": the code point, or 0 if invalid. */
static uint32_t char_ref(const char *s, size_t n)
{
	uint32_t base = n && s[0] == 'x' ? 16 : 10, v = 0;
	size_t i = base == 16;
	if (i == n)
		return 0;
	for (; i < n; i++) {
		char c = s[i];
		uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
		                 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
		                                        : 99;
		if (digit >= base)
			return 0;
		v = v * base + digit;
		if (v > 0x10FFFF)
			return 0;
	}
	return v >= 0xD800 && v < 0xE000 ? 0 : v;
}

/* One reference at p->at ("&lt;") to the text. */
static bool entity(struct pnml *p)
{
	static const struct {
		const char *name;
		char c;
	} known[] = {
		{ "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' },
	};
	for (size_t i = 0; i < 5; i++)
		if (starts(p, known[i].name)) {
			buf_char(p->text, known[i].c);
			p->at += (uint32_t)strlen(known[i].name);
			return true;
		}
	uint32_t end = p->at + 1;
	while (end < p->src->len && end < p->at + 12 && p->src->text[end] != ';')
		end++;
	uint32_t c = starts(p, "&#") ? char_ref(p->src->text + p->at + 2, end - p->at - 2) : 0;
	if (!c || end >= p->src->len || p->src->text[end] != ';') {
		struct span at = { p->at, end };
		return fail(p, at, "net-syntax", "unknown reference after '&'%s", "");
	}
	put_utf8(p->text, c);
	p->at = end + 1;
	return true;
}

static bool one_char(struct pnml *p)
{
	if (peek(p) == '&')
		return entity(p);
	if (!peek(p)) {
		struct span at = { p->at, p->at + 1 };
		return fail(p, at, "net-syntax", "a NUL byte%s", "");
	}
	buf_char(p->text, peek(p));
	p->at++;
	return true;
}

/* ---- tags --------------------------------------------------------------- */

static struct span name_span(struct pnml *p)
{
	struct span s = { p->at, p->at };
	while (p->at < p->src->len && !is_space(peek(p)) && !strchr("<>/=\"'&", peek(p)))
		p->at++;
	s.end = p->at;
	return s;
}

/* Without a namespace prefix. */
static bool is_named(const struct pnml *p, struct span s, const char *name)
{
	const char *t = p->src->text + s.start;
	size_t n = s.end - s.start;
	const char *colon = memchr(t, ':', n);
	if (colon) {
		n -= (size_t)(colon + 1 - t);
		t = colon + 1;
	}
	return n == strlen(name) && !memcmp(t, name, n);
}

static enum elem kind_of(const struct pnml *p, struct span s)
{
	static const struct {
		const char *name;
		enum elem kind;
	} table[] = {
		{ "net", E_NET },
		{ "place", E_PLACE },
		{ "transition", E_TRANS },
		{ "arc", E_ARC },
		{ "name", E_NAME },
		{ "initialMarking", E_MARKING },
		{ "inscription", E_INSCRIPTION },
		{ "text", E_TEXT },
		{ "value", E_TEXT },
		{ "graphics", E_SKIP },
		{ "toolspecific", E_SKIP },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (is_named(p, s, table[i].name))
			return table[i].kind;
	return E_OTHER;
}

struct tag_attrs {
	uint32_t id, source, target; /* interned; 0 = absent */
	bool odd_arc;                /* type="inhibitor" and the like */
	bool odd_value;              /* the same of value="..." (in <type> of an arc) */
	bool coloured;               /* the type of a net that is not place/transition */
};

static bool plain_arc(const char *s)
{
	return !strcmp(s, "normal") || !strcmp(s, "regular");
}

/* .../symmetricnet, .../highlevelnet, .../pt-hlpng: nets whose tokens have colours. */
static bool coloured_type(const char *s)
{
	return strstr(s, "symmetricnet") || strstr(s, "highlevelnet") || strstr(s, "hlpng");
}

static bool attribute(struct pnml *p, struct tag_attrs *at)
{
	struct span name = name_span(p);
	while (is_space(peek(p)))
		p->at++;
	if (name.end == name.start || peek(p) != '=') {
		struct span here = { p->at, p->at + 1 };
		return fail(p, here, "net-syntax", "expected an attribute NAME=\"VALUE\", '>' or '/>'%s", "");
	}
	p->at++;
	while (is_space(peek(p)))
		p->at++;
	char quote = peek(p);
	struct span open = { p->at, p->at + 1 };
	if (quote != '"' && quote != '\'')
		return fail(p, open, "net-syntax", "expected a quoted value%s", "");
	p->at++;
	buf_clear(p->text);
	while (p->at < p->src->len && peek(p) != quote && peek(p) != '<')
		if (!one_char(p))
			return false;
	if (peek(p) != quote)
		return fail(p, open, "net-syntax", "the value is not closed%s", "");
	p->at++;
	uint32_t *into = is_named(p, name, "id")       ? &at->id
	                 : is_named(p, name, "source") ? &at->source
	                 : is_named(p, name, "target") ? &at->target
	                                               : NULL;
	if (into)
		*into = intern_add(&p->ids, buf_cstr(p->text), p->text->len);
	else if (is_named(p, name, "value"))
		at->odd_value = !plain_arc(buf_cstr(p->text));
	else if (is_named(p, name, "type")) {
		at->odd_arc = !plain_arc(buf_cstr(p->text));
		at->coloured = coloured_type(buf_cstr(p->text));
	}
	return true;
}

static bool enter_node(struct pnml *p, enum elem kind, const struct tag_attrs *at, struct span tag)
{
	struct node_of none = { 0, false };
	if (!at->id)
		return fail(p, tag, "net-syntax", "a %s needs an id", kind == E_PLACE ? "place" : "transition");
	while (p->nodes.len <= at->id)
		avec_push(p->a, &p->nodes, none);
	const char *id = intern_str(&p->ids, at->id);
	if (p->nodes.data[at->id].node)
		return fail(p, tag, "net-node-twice", "duplicate node id '%s'", id);
	uint32_t k = kind == E_PLACE ? (p->place = net_add_place(&p->b, id, false)) : (p->trans = net_add_trans(&p->b, id, tag));
	if (k >= NET_MAX_NODES)
		return fail(p, tag, "net-too-large", "too many places or transitions%s", "");
	p->nodes.data[at->id] = (struct node_of){ k + 1, kind == E_PLACE };
	return true;
}

/* An arc that is not plain: by its attribute, by a <type value="..."> or <arctype>
 * in it, or by its name (inhibitorArc, transportArc and whatever else there is). */
static bool odd_arc(const struct pnml *p, enum elem kind, const struct tag_attrs *at, struct span tag, bool in_arc)
{
	uint32_t n = tag.end - tag.start;
	if (kind == E_ARC)
		return at->odd_arc;
	return (in_arc && is_named(p, tag, "type") && at->odd_value) || (in_arc && is_named(p, tag, "arctype")) ||
	       (n > 3 && !memcmp(p->src->text + tag.end - 3, "Arc", 3));
}

static bool enter(struct pnml *p, enum elem kind, const struct tag_attrs *at, struct span tag)
{
	if (is_named(p, tag, "referencePlace") || is_named(p, tag, "referenceTransition"))
		return fail(p, tag, "net-unsupported", "reference nodes are not supported%s", "");
	if (is_named(p, tag, "hlinitialMarking") || is_named(p, tag, "hlinscription") || is_named(p, tag, "declaration") ||
	    (kind == E_NET && at->coloured))
		return fail(p, tag, "net-unsupported", "coloured nets are not supported, only place/transition nets%s", "");
	if (kind == E_NET && p->nets++)
		return fail(p, tag, "net-unsupported", "a second net in the same file%s", "");
	if (kind == E_PLACE || kind == E_TRANS)
		return enter_node(p, kind, at, tag);
	bool in_arc = p->depth && p->stack[p->depth - 1].kind == E_ARC;
	if (odd_arc(p, kind, at, tag, in_arc))
		return fail(p, tag, "net-unsupported", "only plain arcs are supported (no inhibitor, read or reset arcs)%s", "");
	if (kind != E_ARC)
		return true;
	if (!at->source || !at->target)
		return fail(p, tag, "net-syntax", "an arc needs a source and a target%s", "");
	struct pnml_arc arc = { at->source, at->target, tag };
	avec_push(p->a, &p->arcs, arc);
	return true;
}

static bool start_tag(struct pnml *p)
{
	struct tag_attrs at = { 0 };
	p->at++;
	struct span name = name_span(p);
	if (name.end == name.start)
		return fail(p, name, "net-syntax", "expected an element name after '<'%s", "");
	for (;;) {
		while (is_space(peek(p)))
			p->at++;
		if (peek(p) == '>' || starts(p, "/>"))
			break;
		if (p->at >= p->src->len)
			return fail(p, name, "net-syntax", "the tag is not closed%s", "");
		if (!attribute(p, &at))
			return false;
	}
	enum elem kind = kind_of(p, name);
	bool empty = peek(p) == '/';
	p->at += empty ? 2 : 1;
	buf_clear(p->text);
	if (!p->skip && !enter(p, kind, &at, name))
		return false;
	if (empty) {
		if (kind == E_PLACE || kind == E_TRANS)
			p->place = p->trans = NET_NONE;
		return true;
	}
	if (p->depth == DEPTH_MAX)
		return fail(p, name, "net-syntax", "elements are nested too deeply%s", "");
	p->stack[p->depth++] = (struct open_elem){ kind, name };
	if (kind == E_SKIP && !p->skip)
		p->skip = p->depth;
	return true;
}

/* The text of a <text> just closed, by its parent element. */
static bool leave_text(struct pnml *p, struct span at)
{
	const char *s = buf_cstr(p->text);
	enum elem in = p->depth ? p->stack[p->depth - 1].kind : E_OTHER;
	enum elem of = p->depth > 1 ? p->stack[p->depth - 2].kind : E_OTHER;
	while (is_space(*s))
		s++;
	size_t n = strlen(s);
	while (n && is_space(s[n - 1]))
		n--;
	if (in == E_NAME && n && of == E_PLACE && p->place != NET_NONE)
		p->b.places.data[p->place] = arena_strndup(p->a, s, n);
	if (in == E_NAME && n && of == E_TRANS && p->trans != NET_NONE)
		p->b.trans.data[p->trans] = arena_strndup(p->a, s, n);
	if ((in != E_MARKING || of != E_PLACE) && (in != E_INSCRIPTION || of != E_ARC))
		return true;
	if (n > 8 && !memcmp(s, "Default,", 8)) { /* PIPE */
		s += 8;
		n -= 8;
	}
	while (n > 1 && *s == '0') {
		s++;
		n--;
	}
	bool one = n == 1 && *s == '1', zero = n == 1 && *s == '0';
	if (in == E_INSCRIPTION)
		return one || fail(p, at, "net-unsafe", "an arc of a 1-safe net has weight 1, not '%s'",
		                   arena_strndup(p->a, s, n < 40 ? n : 40));
	if (!one && !zero)
		return fail(p, at, "net-unsafe", "a place of a 1-safe net holds 0 or 1 tokens, not '%s'",
		            arena_strndup(p->a, s, n < 40 ? n : 40));
	if (p->place != NET_NONE)
		p->b.marked.data[p->place] = one;
	return true;
}

static bool end_tag(struct pnml *p)
{
	p->at += 2;
	struct span name = name_span(p);
	while (is_space(peek(p)))
		p->at++;
	if (peek(p) != '>')
		return fail(p, name, "net-syntax", "the end tag is not closed%s", "");
	p->at++;
	if (!p->depth)
		return fail(p, name, "net-syntax", "end tag without a start tag%s", "");
	struct open_elem top = p->stack[--p->depth];
	size_t n = top.name.end - top.name.start;
	if (name.end - name.start != n || memcmp(p->src->text + name.start, p->src->text + top.name.start, n)) {
		fail(p, name, "net-syntax", "the end tag does not match: expected '</%s>'",
		     arena_strndup(p->a, p->src->text + top.name.start, n));
		diag_note(p->d, p->src, top.name, "the element begins here");
		return false;
	}
	if (p->skip) {
		if (p->depth < p->skip)
			p->skip = 0;
		return true;
	}
	if (top.kind == E_PLACE || top.kind == E_TRANS)
		p->place = p->trans = NET_NONE;
	return top.kind != E_TEXT || leave_text(p, name);
}

static bool cdata(struct pnml *p)
{
	uint32_t from = p->at + 9;
	p->at = from;
	if (!skip_past(p, "]]>", "the CDATA section"))
		return false;
	for (uint32_t i = from; i < p->at - 3; i++)
		buf_char(p->text, p->src->text[i] ? p->src->text[i] : ' ');
	return true;
}

static bool markup(struct pnml *p)
{
	struct span at = { p->at, p->at + 2 };
	if (starts(p, "<!--"))
		return skip_past(p, "-->", "the comment");
	if (starts(p, "<![CDATA["))
		return cdata(p);
	if (starts(p, "<?"))
		return skip_past(p, "?>", "the processing instruction");
	if (starts(p, "<!"))
		return fail(p, at, "net-unsupported", "document type declarations are not supported%s", "");
	return starts(p, "</") ? end_tag(p) : start_tag(p);
}

/* ---- arcs, at the end --------------------------------------------------- */

static struct node_of node_by_id(const struct pnml *p, uint32_t id)
{
	struct node_of none = { 0, false };
	return id < p->nodes.len ? p->nodes.data[id] : none;
}

static void link_arcs(struct pnml *p)
{
	for (uint32_t i = 0; i < p->arcs.len && p->d->errors < ERRORS_MAX; i++) {
		const struct pnml_arc *arc = &p->arcs.data[i];
		struct node_of from = node_by_id(p, arc->from), to = node_by_id(p, arc->to);
		if (!from.node || !to.node)
			fail(p, arc->at, "net-unknown-node", "there is no place or transition with id '%s'",
			     intern_str(&p->ids, from.node ? arc->to : arc->from));
		else if (from.place == to.place)
			fail(p, arc->at, "net-syntax", "the arc joins two %s", from.place ? "places" : "transitions");
		else if (from.place)
			net_add_take(&p->b, to.node - 1, from.node - 1, arc->at);
		else
			net_add_put(&p->b, from.node - 1, to.node - 1, arc->at);
	}
}

static bool read_file(struct pnml *p, struct net *n) __attribute__((noinline));
static bool read_file(struct pnml *p, struct net *n)
{
	bool ok = true;
	if (starts(p, "\xEF\xBB\xBF"))
		p->at = 3;
	while (ok && p->at < p->src->len)
		ok = peek(p) == '<' ? markup(p) : one_char(p);
	if (ok && p->depth)
		ok = fail(p, p->stack[p->depth - 1].name, "net-syntax", "the element is not closed%s", "");
	struct span end = { p->src->len, p->src->len };
	if (ok && !p->nets)
		ok = fail(p, end, "net-syntax", "there is no <net> in the file%s", "");
	if (ok && !p->b.places.len)
		ok = fail(p, end, "net-syntax", "the net has no places%s", "");
	if (ok)
		link_arcs(p);
	return p->ok && net_finish(&p->b, n, p->src, p->d);
}

bool net_read_pnml(const struct source *src, struct arena *a, struct diags *d, struct net *n)
{
	struct pnml *p = arena_new(a, struct pnml);
	struct buf text;
	jmp_buf *const outer = a->oom;
	jmp_buf here;
	p->src = src;
	p->a = a;
	p->d = d;
	p->ok = true;
	p->place = p->trans = NET_NONE;
	p->text = &text;
	buf_init(&text);
	volatile bool ok = false, ended = false;
	if (setjmp(here)) { /* the text is not the arena's: free it on the way out */
		ended = true;
	} else {
		a->oom = &here;
		net_builder_init(&p->b, a);
		intern_init(&p->ids, a);
		ok = read_file(p, n);
		if (ok && text.failed) {
			struct span top = { 0, 1 };
			ok = fail(p, top, "net-memory", "out of memory while reading the net%s", "");
		}
	}
	buf_free(&text);
	a->oom = outer;
	if (ended && outer)
		longjmp(*outer, 1);
	assert(!ended);
	return ok;
}
