/*
 * finding_parse: the raw messages, piece by piece and line by line, added up for
 * each process. Unknown lines are skipped so that an older tool reads a newer
 * runtime. Lists are bounded; what does not fit is counted (`lost`), never
 * ignored silently.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "event/finding.h"
#include "report/finding.h"

enum { MAX_MODULES = 1 << 17, MAX_FINDINGS = 1 << 20, MAX_PROCESSES = 1 << 16 };

struct parse_line {
	const char *p, *end;
};

static const char *word(struct parse_line *l, size_t *len)
{
	assert(l->p <= l->end);
	while (l->p < l->end && *l->p == ' ')
		l->p++;
	const char *s = l->p;
	while (l->p < l->end && *l->p != ' ')
		l->p++;
	*len = (size_t)(l->p - s);
	assert(l->p <= l->end && s + *len == l->p);
	return s;
}

static uint64_t number(struct parse_line *l, int base)
{
	size_t n;
	char tmp[32];
	const char *s = word(l, &n);
	if (n >= sizeof tmp)
		n = sizeof tmp - 1;
	memcpy(tmp, s, n);
	tmp[n] = 0;
	return strtoull(tmp, NULL, base);
}

static bool is(const char *s, size_t n, const char *name)
{
	return strlen(name) == n && !memcmp(s, name, n);
}

static struct raw_stack read_stack(struct parse_line *l, struct arena *a)
{
	struct raw_stack st = { arena_array(a, uint64_t, FINDING_MAX_PCS), 0 };
	while (l->p < l->end && st.n < FINDING_MAX_PCS)
		st.pcs[st.n++] = number(l, 16);
	assert(st.n <= FINDING_MAX_PCS);
	return st;
}

static struct raw_locks read_locks(struct parse_line *l, struct arena *a)
{
	struct raw_locks ls = { arena_array(a, struct raw_lock, FINDING_MAX_LOCKS), 0 };
	while (l->p < l->end && ls.n < FINDING_MAX_LOCKS) {
		size_t n;
		const char *s = word(l, &n), *colon = memchr(s, ':', n);
		char tmp[64];
		if (!colon || n >= sizeof tmp)
			continue;
		memcpy(tmp, s, n);
		tmp[n] = 0;
		ls.v[ls.n].id = (uint32_t)strtoul(tmp, NULL, 10);
		ls.v[ls.n++].addr = strtoull(tmp + (colon - s) + 1, NULL, 16);
	}
	assert(ls.n <= FINDING_MAX_LOCKS);
	return ls;
}

static const char *const part_ops[] = PART_OP_NAMES;
static const char *const kinds[] = FINDING_KIND_NAMES, *const ops[] = FINDING_OP_NAMES, *const uses[] = FINDING_USE_NAMES;

/* The number of a name; false when there is no such name. */
static bool name_number(struct parse_line *l, const char *const *names, uint32_t many, uint32_t *out)
{
	assert(many);
	size_t n;
	const char *s = word(l, &n);
	for (uint32_t i = 0; i < many; i++)
		if (is(s, n, names[i])) {
			*out = i;
			return true;
		}
	return false;
}

static bool set_field(struct raw_finding *f, struct parse_line *l)
{
	size_t n;
	const char *s = word(l, &n);
	static const struct {
		const char *name;
		size_t at;
	} fields[] = {
#define FIELD(x) { #x, offsetof(struct raw_finding, x) }
		FIELD(confirmed), FIELD(count),   FIELD(loop),       FIELD(thread),      FIELD(other),     FIELD(lock),
		FIELD(lock2),     FIELD(apart),   FIELD(made_first), FIELD(made2_first), FIELD(inherited), FIELD(came),
		FIELD(known),     FIELD(crossed), FIELD(bare),       FIELD(wrong),
	};
	if (is(s, n, "address"))
		f->address = number(l, 16);
	else if (is(s, n, "address2"))
		f->address2 = number(l, 16);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (is(s, n, fields[i].name)) {
			uint32_t v = (uint32_t)number(l, 10);
			memcpy((char *)f + fields[i].at, &v, sizeof v);
			return true;
		}
	return is(s, n, "kind")           ? name_number(l, kinds, FIND_KINDS, &f->kind)
	       : is(s, n, "commit_op")    ? name_number(l, ops, OP_KINDS, &f->commit_op)
	       : is(s, n, "violation_op") ? name_number(l, ops, OP_KINDS, &f->violation_op)
	       : is(s, n, "uses")         ? name_number(l, uses, USES_KINDS, &f->uses)
	       : is(s, n, "other_op")     ? name_number(l, ops, OP_KINDS, &f->other_op)
	                                  : true;
}

static void set_stack(struct raw_finding *f, struct parse_line *l, struct arena *a)
{
	size_t n;
	const char *s = word(l, &n);
	struct raw_stack st = read_stack(l, a);
	if (is(s, n, "entered"))
		f->entered = st;
	else if (is(s, n, "section"))
		f->section = st;
	else if (is(s, n, "commit"))
		f->commit = st;
	else if (is(s, n, "violation"))
		f->violation = st;
	else if (is(s, n, "other_acquire"))
		f->other_acquire = st;
	else if (is(s, n, "other_write"))
		f->other_write = st;
	else if (is(s, n, "made"))
		f->made = st;
	else if (is(s, n, "made2"))
		f->made2 = st;
	else if (is(s, n, "created") && f->threads.len)
		f->threads.data[f->threads.len - 1].created = st;
	else if (is(s, n, "part") && f->parts.len)
		f->parts.data[f->parts.len - 1].stack = st;
}

static void set_locks(struct raw_finding *f, struct parse_line *l, struct arena *a)
{
	size_t n;
	const char *s = word(l, &n);
	struct raw_locks ls = read_locks(l, a);
	if (is(s, n, "commit"))
		f->commit_locks = ls;
	else if (is(s, n, "violation"))
		f->violation_locks = ls;
	else if (is(s, n, "other"))
		f->other_locks = ls;
	else if (is(s, n, "part") && f->parts.len)
		f->parts.data[f->parts.len - 1].locks = ls;
}

static struct raw_fact read_fact(struct parse_line *l)
{
	struct raw_fact f = { .address = number(l, 16) };
	f.size = (uint32_t)number(l, 10);
	f.shared = (uint32_t)number(l, 10);
	f.changed = (uint32_t)number(l, 10);
	f.section = (uint32_t)number(l, 10);
	f.span = (uint32_t)number(l, 10);
	for (unsigned i = 0; i < FACT_SIDES; i++) {
		f.use[i] = (uint32_t)number(l, 10);
		f.read[i] = number(l, 16);
		f.write[i] = number(l, 16);
	}
	return f;
}

static bool add_part(struct raw_finding *f, struct parse_line *l, struct arena *a)
{
	struct raw_part p = { 0 };
	if (!name_number(l, part_ops, PART_OPS, &p.op))
		return false;
	p.uid = (uint32_t)number(l, 10);
	p.lock = (uint32_t)number(l, 10);
	p.address = number(l, 16);
	p.size = (uint32_t)number(l, 10);
	if (f->parts.len < FINDING_MAX_PARTS)
		avec_push(a, &f->parts, p);
	return true;
}

/* False: an unknown kind or operation. */
static bool in_finding(struct raw_finding *f, const char *s, size_t n, struct parse_line *l, struct arena *a)
{
	if (is(s, n, "set")) {
		return set_field(f, l);
	} else if (is(s, n, "part")) {
		return add_part(f, l, a);
	} else if (is(s, n, "stack")) {
		set_stack(f, l, a);
	} else if (is(s, n, "locks")) {
		set_locks(f, l, a);
	} else if (is(s, n, "name") && l->p < l->end) {
		f->name = arena_strndup(a, l->p + 1, (size_t)(l->end - l->p - 1));
	} else if (is(s, n, "fact") && f->facts.len < FINDING_MAX_FACTS) {
		avec_push(a, &f->facts, read_fact(l));
	} else if (is(s, n, "thread") && f->threads.len < 16) {
		struct raw_thread t = { .uid = (uint32_t)number(l, 10) };
		t.parent = (uint32_t)number(l, 10);
		avec_push(a, &f->threads, t);
	}
	return true;
}

static void add_module(struct raw_report *r, struct arena *a, struct parse_line *l)
{
	struct raw_module m = { .lo = number(l, 16) };
	m.hi = number(l, 16);
	m.base = number(l, 16);
	if (l->p >= l->end)
		return;
	if (r->modules.len >= MAX_MODULES) {
		r->lost_modules++;
		return;
	}
	m.path = arena_strndup(a, l->p + 1, (size_t)(l->end - l->p - 1));
	avec_push(a, &r->modules, m);
	assert(r->modules.len <= MAX_MODULES);
}

/* The finding of this key, empty: what was said of it before no longer counts. */
static struct raw_finding *renew(struct raw_report *r, struct arena *a, struct parse_line *l)
{
	uint64_t key = number(l, 16);
	uint32_t at = map_get(&r->by_key, key);
	if (at == MAP_NONE) {
		at = r->findings.len;
		if (at >= MAX_FINDINGS || !map_put(&r->by_key, key, at)) {
			r->lost++;
			return NULL;
		}
		avec_push(a, &r->findings, (struct raw_finding){ 0 });
	}
	r->findings.data[at] = (struct raw_finding){ .key = key, .index = (uint32_t)number(l, 10), .modules = r->modules.len };
	assert(at < r->findings.len);
	return &r->findings.data[at];
}

static void recount(struct raw_report *r, struct parse_line *l)
{
	uint32_t at = map_get(&r->by_key, number(l, 16));
	if (at == MAP_NONE)
		return;
	r->findings.data[at].count = (uint32_t)number(l, 10);
	r->findings.data[at].came = (uint32_t)number(l, 10);
}

static void take_lost(struct raw_report *r, struct parse_line *l)
{
	size_t n;
	const char *what = word(l, &n);
	uint32_t many = (uint32_t)number(l, 10);
	/* The program's own count, told again each time: the highest is the last. */
	if (is(what, n, "modules") && many > r->lost_modules)
		r->lost_modules = many;
	else if (is(what, n, "findings") && many > r->lost)
		r->lost = many;
	else if (is(what, n, "hazards"))
		r->lost += many;
	else if (is(what, n, "races"))
		r->lost_races = many;
	else if (is(what, n, "order"))
		r->lost_order = many;
	else if (is(what, n, "circles"))
		r->lost_circles = many;
}

/* Who speaks: the lines after the first. */
static bool header(const char *text, size_t len, uint32_t *pid, uint64_t *image)
{
	const char *p = text, *end = text + len;
	*pid = 0;
	*image = 0;
	if (len < sizeof FINDING_HEADER - 1 || memcmp(text, FINDING_HEADER, sizeof FINDING_HEADER - 1))
		return false;
	for (unsigned i = 0; i < 4 && p < end; i++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct parse_line l = { p, nl ? nl : end };
		size_t n;
		const char *s = word(&l, &n);
		if (is(s, n, "pid"))
			*pid = (uint32_t)number(&l, 10);
		else if (is(s, n, "image"))
			*image = number(&l, 16);
		p = nl ? nl + 1 : end;
	}
	return true;
}

static bool add_text(struct raw_report *r, struct arena *a, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	struct raw_finding *f = NULL;
	bool ok = true;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct parse_line l = { p, nl ? nl : end };
		size_t n;
		const char *s = word(&l, &n);
		p = nl ? nl + 1 : end;
		if (is(s, n, "final"))
			r->final |= number(&l, 10) != 0;
		else if (is(s, n, "module"))
			add_module(r, a, &l);
		else if (is(s, n, "finding"))
			f = renew(r, a, &l);
		else if (is(s, n, "count"))
			recount(r, &l);
		else if (is(s, n, "lost"))
			take_lost(r, &l);
		else if (is(s, n, "end"))
			f = NULL;
		else if (f)
			ok &= in_finding(f, s, n, &l, a);
	}
	return ok;
}

bool raw_add(struct raw_reports *all, struct arena *a, const char *text, size_t len)
{
	uint32_t pid;
	uint64_t image;
	if (!header(text, len, &pid, &image))
		return false;
	struct raw_report *r = NULL;
	for (uint32_t i = all->list.len; i && !r; i--) /* who spoke last speaks again */
		if (all->list.data[i - 1]->pid == pid && all->list.data[i - 1]->image == image)
			r = all->list.data[i - 1];
	if (!r) {
		if (all->list.len >= MAX_PROCESSES) {
			all->lost++;
			return true;
		}
		r = arena_new(a, struct raw_report);
		r->pid = pid;
		r->image = image;
		map_init(&r->by_key);
		avec_push(a, &all->list, r);
	}
	return add_text(r, a, text, len);
}

bool raw_other_version(const char *text, size_t len)
{
	return len >= sizeof FINDING_HEADER - 1 && !memcmp(text, FINDING_MESSAGE, sizeof FINDING_MESSAGE - 1) &&
	       memcmp(text, FINDING_HEADER, sizeof FINDING_HEADER - 1) != 0;
}

bool raw_add_all(struct raw_reports *all, struct arena *a, const char *text, size_t len)
{
	static const char start[] = "\n" FINDING_HEADER;
	const char *end = text + len;
	bool ok = len != 0;
	while (ok && text < end) {
		const char *next = memmem(text, (size_t)(end - text), start, sizeof start - 1);
		const char *stop = next ? next + 1 : end;
		ok = raw_add(all, a, text, (size_t)(stop - text));
		text = stop;
	}
	assert(!ok || text == end);
	return ok;
}

void raw_free(struct raw_reports *all)
{
	for (uint32_t i = 0; i < all->list.len; i++)
		map_free(&all->list.data[i]->by_key);
	all->list.len = 0;
}
