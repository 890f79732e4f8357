/*
 * net_read_pep: PEP's low-level nets (.ll_net), as mole and cunf read them.
 *
 *   file    = "PEP" type format { section }        FORMAT_N or FORMAT_N2
 *   section = "PL" { node } | "TR" { node }        places, transitions
 *           | "TP" { trans "<" place rest }        arcs that put
 *           | "PT" { place ">" trans rest }        arcs that take
 *           | "RA" { trans "<" place rest }        read arcs: take and put back
 *                                                  (place ">" trans as well)
 *           | other                                skipped to the next section
 *   node    = [ number ] string { attribute }      ids count on when left out
 *   rest    = { attribute }
 *   attribute = letters [ value ] | value          M1: initially marked;
 *   value   = string | number [ "@" number ]       w1: an arc's weight
 *
 * One item a line is usual and not required: an item ends where the next
 * one, or a section, begins; the newline decides that for nodes.
 */
#include <string.h>

#include "base/invariant.h"
#include "base/map.h"
#include "causal/net.h"

/* Number in the file -> id. Nodes mostly are numbered 1, 2, ... as they stand:
 * so are the first `straight` ones; the map has the others. */
struct numbers {
	struct map odd;
	uint32_t straight;
};

struct pep {
	const struct source *src;
	struct arena *a;
	struct diags *d;
	struct net_builder b;
	struct numbers place, trans;
	uint32_t at;
	bool ok;
};

#define ERRORS_MAX 20

static bool fail(struct pep *p, uint32_t from, uint32_t to, const char *what)
{
	struct span at = { from, to > from ? to : from + 1 };
	diag_error(p->d, "net-syntax", p->src, at, "%s", what);
	return p->ok = false;
}

static char peek(const struct pep *p)
{
	return p->at < p->src->len ? p->src->text[p->at] : 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}
static bool is_letter(char c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z');
}

static void blanks(struct pep *p, bool lines)
{
	for (; p->at < p->src->len; p->at++) {
		char c = peek(p);
		if (c == '%') /* a comment to the end of the line */
			while (p->at + 1 < p->src->len && p->src->text[p->at + 1] != '\n')
				p->at++;
		else if (c != ' ' && c != '\t' && c != '\r' && !(lines && c == '\n'))
			return;
	}
}

static bool number(struct pep *p, uint32_t *v)
{
	uint32_t from = p->at;
	uint64_t x = 0;
	for (; is_digit(peek(p)); p->at++) {
		x = x * 10 + (uint64_t)(peek(p) - '0');
		if (x > NET_MAX_NODES * UINT64_C(16))
			return fail(p, from, p->at + 1, "the number is too large");
	}
	*v = (uint32_t)x;
	return p->at > from || fail(p, from, from + 1, "expected a number");
}

/* A string up to its closing quote, on one line. */
static bool string(struct pep *p, const char **s)
{
	uint32_t from = p->at++;
	while (p->at < p->src->len && peek(p) != '"' && peek(p) != '\n')
		p->at++;
	if (peek(p) != '"')
		return fail(p, from, p->at, "the name is not closed: expected '\"' before the end of the line");
	if (memchr(p->src->text + from, 0, p->at - from))
		return fail(p, from, p->at, "the name holds a NUL byte");
	*s = arena_strndup(p->a, p->src->text + from + 1, p->at - from - 1);
	p->at++;
	return true;
}

/* Attributes to the end of the line; what M and w say. */
static bool attributes(struct pep *p, uint32_t *tokens, uint32_t *weight)
{
	const char *text;
	uint32_t v;
	for (;;) {
		blanks(p, false);
		char c = peek(p);
		if (p->at >= p->src->len || c == '\n')
			return true;
		uint32_t from = p->at;
		if (is_letter(c)) {
			p->at++;
			if (peek(p) == '"') {
				if (!string(p, &text))
					return false;
				continue;
			}
			if (!is_digit(peek(p)) && peek(p) != '-')
				continue;
			bool minus = peek(p) == '-';
			p->at += minus;
			if (!number(p, &v))
				return false;
			if (minus && (c == 'M' || c == 'w'))
				return fail(p, from, p->at, "a number of tokens cannot be negative");
			if (c == 'M')
				*tokens = v;
			if (c == 'w')
				*weight = v;
		} else if (is_digit(c) || c == '-') {
			p->at += c == '-';
			if (!number(p, &v))
				return false;
		} else if (c == '"') {
			if (!string(p, &text))
				return false;
		} else if (c == '@' || c == ',' || c == '.') {
			p->at++;
		} else {
			return fail(p, from, from + 1, "expected an attribute (a letter and a value) or the end of the line");
		}
	}
}

static uint32_t numbered(const struct numbers *m, uint32_t id)
{
	return id - 1 < m->straight ? id - 1 : map_get(&m->odd, id);
}

static bool number_is(struct numbers *m, uint32_t id, uint32_t k)
{
	if (id - 1 != k || k != m->straight)
		return map_put(&m->odd, id, k);
	m->straight++;
	return true;
}

static bool known(struct pep *p, const struct numbers *m, uint32_t id, uint32_t from, const char *what)
{
	struct span at = { from, p->at };
	if (numbered(m, id) == MAP_NONE)
		return true;
	diag_error(p->d, "net-node-twice", p->src, at, "duplicate %s number %u", what, id);
	return p->ok = false;
}

static bool node(struct pep *p, bool place)
{
	struct numbers *m = place ? &p->place : &p->trans;
	uint32_t from = p->at, id = (place ? p->b.places.len : p->b.trans.len) + 1;
	uint32_t tokens = 0, weight = 1;
	const char *name = NULL;
	if (is_digit(peek(p)) && !number(p, &id))
		return false;
	blanks(p, false);
	if (peek(p) == '"' && !string(p, &name))
		return false;
	struct span at = { from, p->at };
	if (!known(p, m, id, from, place ? "place" : "transition"))
		return false;
	if (!name || !*name)
		name = arena_printf(p->a, "%c%u", place ? 'p' : 't', id);
	if (!attributes(p, &tokens, &weight))
		return false;
	if (tokens > 1) {
		diag_error(p->d, "net-unsafe", p->src, at, "place '%s' holds %u tokens initially: the net is not 1-safe", name,
		           tokens);
		return p->ok = false;
	}
	uint32_t k = place ? net_add_place(&p->b, name, tokens == 1) : net_add_trans(&p->b, name, at);
	if (k >= NET_MAX_NODES)
		return fail(p, from, p->at, "too many places or transitions");
	return number_is(m, id, k) || fail(p, from, p->at, "out of memory");
}

static uint32_t endpoint(struct pep *p, const struct numbers *m, uint32_t id, uint32_t from, uint32_t to, const char *what)
{
	struct span at = { from, to };
	uint32_t k = numbered(m, id);
	if (k != MAP_NONE)
		return k;
	diag_error(p->d, "net-unknown-node", p->src, at, "there is no %s number %u", what, id);
	diag_hint(p->d, "declare it in the section PL or TR, before the arcs");
	p->ok = false;
	return NET_NONE;
}

enum arc_kind { ARC_PUT, ARC_TAKE, ARC_READ };

/* trans < place, or place > trans; the sign says which, the section which one is allowed. */
static bool arc(struct pep *p, enum arc_kind kind)
{
	uint32_t from = p->at, x, y, tokens = 0, weight = 1;
	if (!number(p, &x))
		return false;
	uint32_t first_end = p->at;
	blanks(p, false);
	bool less = peek(p) == '<';
	if ((!less && peek(p) != '>') || (kind == ARC_PUT && !less) || (kind == ARC_TAKE && less))
		return fail(p, p->at, p->at + 1,
		            kind == ARC_PUT ? "expected '<' between transition and place"
		                            : "expected '>' between place and transition");
	p->at++;
	blanks(p, false);
	uint32_t second = p->at;
	if (!number(p, &y))
		return false;
	struct span at = { from, p->at };
	uint32_t t = less ? endpoint(p, &p->trans, x, from, first_end, "transition")
	                  : endpoint(p, &p->trans, y, second, p->at, "transition");
	uint32_t s = less ? endpoint(p, &p->place, y, second, p->at, "place") : endpoint(p, &p->place, x, from, first_end, "place");
	if (t == NET_NONE || s == NET_NONE || !attributes(p, &tokens, &weight))
		return false;
	if (weight != 1)
		return fail(p, at.start, p->at, "an arc of a 1-safe net has weight 1");
	if (kind != ARC_TAKE)
		net_add_put(&p->b, t, s, at);
	if (kind != ARC_PUT)
		net_add_take(&p->b, t, s, at);
	return true;
}

/* A section's name at the beginning of a line, or 0 letters. */
static uint32_t section_name(const struct pep *p)
{
	uint32_t n = 0;
	while (p->at + n < p->src->len && is_upper(p->src->text[p->at + n]))
		n++;
	return n;
}

static void skip_line(struct pep *p)
{
	while (p->at < p->src->len && peek(p) != '\n')
		p->at++;
}

/* The items of a section; an error costs its line alone. */
static void section(struct pep *p, const char *name, uint32_t len)
{
	bool places = len == 2 && !memcmp(name, "PL", 2), trans = len == 2 && !memcmp(name, "TR", 2);
	bool put = len == 2 && !memcmp(name, "TP", 2), take = len == 2 && !memcmp(name, "PT", 2);
	bool ra = len == 2 && !memcmp(name, "RA", 2);
	for (;;) {
		blanks(p, true);
		if (p->at >= p->src->len || p->d->errors >= ERRORS_MAX)
			return;
		if (section_name(p))
			return;
		bool ok = true;
		if (places || trans) {
			ok = peek(p) == '"' || is_digit(peek(p))
			             ? node(p, places)
			             : fail(p, p->at, p->at + 1, "expected a place or transition: [NUMBER]\"NAME\"");
		} else if (put || take || ra) {
			ok = arc(p, put ? ARC_PUT : take ? ARC_TAKE : ARC_READ);
		} else {
			skip_line(p);
		}
		if (!ok)
			skip_line(p);
	}
}

static bool header(struct pep *p)
{
	uint32_t n;
	blanks(p, true);
	n = section_name(p);
	if (n != 3 || memcmp(p->src->text + p->at, "PEP", 3)) {
		fail(p, p->at, p->at + 1, "not a net: expected 'PEP' (ll_net) or '<' (PNML)");
		diag_hint(p->d, "for models (.atm, .sml), use 'intact check'");
		return false;
	}
	for (int line = 0; line < 3; line++) {
		uint32_t from = p->at;
		skip_line(p);
		if (line == 2 && (p->at - from < 8 || memcmp(p->src->text + from, "FORMAT_N", 8)))
			return fail(p, from, p->at, "expected FORMAT_N or FORMAT_N2 in the third line");
		blanks(p, true);
	}
	return true;
}

static bool read_file(struct pep *p, struct net *n) __attribute__((noinline));
static bool read_file(struct pep *p, struct net *n)
{
	const struct source *src = p->src;
	bool ok = header(p);
	while (ok && p->at < src->len && p->d->errors < ERRORS_MAX) {
		uint32_t len = section_name(p), at = p->at;
		if (!len) {
			fail(p, at, at + 1, "expected a section: PL, TR, TP or PT");
			break;
		}
		skip_line(p);
		section(p, src->text + at, len);
	}
	if (p->ok && !p->b.places.len)
		fail(p, src->len, src->len, "the net has no places: there is no section PL, or it is empty");
	return p->ok && net_finish(&p->b, n, src, p->d);
}

bool net_read_pep(const struct source *src, struct arena *a, struct diags *d, struct net *n)
{
	struct pep *p = arena_new(a, struct pep);
	jmp_buf *const outer = a->oom;
	jmp_buf here;
	*p = (struct pep){ .src = src, .a = a, .d = d, .ok = true };
	net_builder_init(&p->b, a);
	map_init(&p->place.odd);
	map_init(&p->trans.odd);
	volatile bool ok = false, ended = false;
	if (setjmp(here)) /* the maps are not the arena's: free them on the way out */
		ended = true;
	else {
		a->oom = &here;
		ok = read_file(p, n);
	}
	map_free(&p->place.odd);
	map_free(&p->trans.odd);
	a->oom = outer;
	if (ended && outer)
		longjmp(*outer, 1);
	assert(!ended);
	return ok;
}
