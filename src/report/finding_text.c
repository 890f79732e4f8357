/*
 * finding_text: one finding as a report in the sanitizers' grammar, with the
 * Atomizer's three places (entered, commits, violated), what the other thread
 * does, the locks, where the threads came from, and a sentence in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamic/reduction.h"
#include "report/finding_int.h"

#define BAR "==================\n"

/* A function that takes locks itself or in what it calls (a call or two down)
 * was written with them in mind. Farther up it merely uses what does, and is
 * listed, not reported, unless asked for. */
enum { NEAR = 2 };

static void color(struct writer *w, const char *code)
{
	if (w->o->color)
		buf_printf(w->out, "\033[%sm", code);
}

static void put_safe(struct writer *w, const char *s)
{
	buf_safe(w->out, s, strlen(s));
}

const char *finding_file(const struct writer *w, const char *file)
{
	const char *p = w->o->strip_path_prefix;
	if (!p || !*p)
		return file;
	const char *at = strstr(file, p);
	return at ? at + strlen(p) : file;
}

static void put_frames(struct writer *w, const struct src_frame *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct src_frame *f = &v[i];
		buf_printf(w->out, "    #%u ", i);
		put_safe(w, f->function ? f->function : "<null>");
		buf_str(w->out, " ");
		if (f->file) {
			put_safe(w, finding_file(w, f->file));
			buf_printf(w->out, ":%u", f->line);
			if (f->column)
				buf_printf(w->out, ":%u", f->column);
		} else {
			buf_str(w->out, "<null>");
		}
		const char *slash = strrchr(f->module, '/');
		buf_str(w->out, " (");
		put_safe(w, slash ? slash + 1 : f->module);
		buf_printf(w->out, "+0x%llx)\n", (unsigned long long)f->offset);
	}
	buf_str(w->out, "\n");
}

void finding_resolve(struct writer *w, struct stacks *s, const struct raw_stack *raw)
{
	s->n = symbols_stack(w->sym, raw, s->v, FINDING_MAX_FRAMES);
}

/* The pattern that hides it, counted when it is new; NULL: none does. */
static const struct pattern *suppressed(struct view *v, struct filter *f, struct shown *shown, struct arena *a)
{
	struct stacks *all[] = { &v->commit, &v->violation, &v->entered };
	for (uint32_t i = 0; i < f->suppressions.len; i++) {
		struct pattern *p = &f->suppressions.data[i];
		bool hit = pattern_matches(p->text, &v->entered.v[v->block]) ||
		           (v->f->name && glob_matches(p->text, v->f->name));
		if (!strcmp(p->kind, "atomicity"))
			for (int k = 0; k < 3; k++)
				for (uint32_t j = 0; !hit && j < all[k]->n; j++)
					hit = pattern_matches(p->text, &all[k]->v[j]);
		if (!hit)
			continue;
		for (uint32_t k = 0; k < shown->hidden.len; k++)
			if (!strcmp(shown->hidden.data[k], v->key))
				return p; /* counted already */
		avec_push(a, &shown->hidden, v->key);
		shown->suppressed++;
		p->hits++;
		return p;
	}
	return NULL;
}

static const char *place_key(struct writer *w, const struct stacks *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].file && !s->v[i].system)
			return arena_printf(w->arena, "%s:%u", s->v[i].file, s->v[i].line);
	return s->n ? arena_printf(w->arena, "%s+%llx", s->v[0].module,
	                           (unsigned long long)s->v[0].offset) : "";
}

/* The same block, commit and violation, however it was reached. */
static const char *key_of(struct writer *w, const struct view *v)
{
	return arena_printf(w->arena, "%s|%s|%s", v->name, place_key(w, &v->commit),
	                    place_key(w, &v->violation));
}

static bool said_before(struct writer *w, const struct view *v, struct shown *shown)
{
	const char *key = arena_printf(w->arena, "%s%s|%s", v->by ? "suppressed|" : "",
	                               v->f->name ? v->f->name : "", v->name);
	for (uint32_t i = 0; i < shown->keys.len; i++)
		if (!strcmp(shown->keys.data[i], key))
			return true;
	avec_push(w->arena, &shown->keys, key);
	return false;
}

/* Calls of the program's own between the block and a place inside it. */
static uint32_t depth_of(const struct view *v, const struct stacks *s)
{
	uint32_t around = v->entered.n - v->block, n = 0;
	for (uint32_t i = 0; i + around < s->n; i++)
		n += !s->v[i].system;
	return n;
}

/* ---- words ---- */

const char *finding_lock(struct writer *w, uint32_t id, uint64_t addr)
{
	uint64_t off;
	const char *var = symbols_data(w->sym, addr, &off);
	if (var && off)
		return arena_printf(w->arena, "M%u ('%s'+%llu)", id, var, (unsigned long long)off);
	if (var)
		return arena_printf(w->arena, "M%u ('%s')", id, var);
	if (w->numbers)
		return arena_printf(w->arena, "M%u", id);
	return arena_printf(w->arena, "M%u (0x%llx)", id, (unsigned long long)addr);
}

/* The number of data that has no name. */
static uint32_t number_of(struct finding_log *log, uint64_t addr)
{
	for (uint32_t i = 0; i < log->unnamed.len; i++)
		if (log->unnamed.data[i] == addr)
			return i + 1;
	avec_push(log->arena, &log->unnamed, addr);
	return log->unnamed.len;
}

static const char *data_name(struct writer *w, uint64_t addr)
{
	uint64_t off;
	const char *var = symbols_data(w->sym, addr, &off);
	if (var && off)
		return arena_printf(w->arena, "'%s'+%llu", var, (unsigned long long)off);
	if (var)
		return arena_printf(w->arena, "'%s'", var);
	if (w->numbers)
		return arena_printf(w->arena, "data D%u", number_of(w->o->json, addr));
	return arena_printf(w->arena, "the data at 0x%llx", (unsigned long long)addr);
}

const char *finding_thread(struct writer *w, uint32_t uid)
{
	if (uid == RACE_SOMEONE)
		return "another thread";
	return uid == 1 ? "main thread" : arena_printf(w->arena, "thread T%u", uid - 1);
}

static const char *op_words(struct writer *w, const struct raw_finding *f, uint32_t op, uint32_t lock,
                            uint64_t addr)
{
	const char *how = f->kind == FIND_CYCLE ? "" : "unprotected ";
	switch (op) {
	case OP_RELEASE:
		return arena_printf(w->arena, "lock release of %s", finding_lock(w, lock, addr));
	case OP_ACQUIRE:
		return arena_printf(w->arena, "lock acquire of %s", finding_lock(w, lock, addr));
	case OP_WAIT:
		return arena_printf(w->arena, "condition wait with %s", finding_lock(w, lock, addr));
	case OP_ATOMIC:
		return arena_printf(w->arena, "atomic access to %s", data_name(w, addr));
	case OP_READ:
		return arena_printf(w->arena, "%sread of %s", how, data_name(w, addr));
	case OP_JOIN:
		return "join of a thread";
	case OP_ENTER:
		return "the start of a thread";
	default:
		return arena_printf(w->arena, "%swrite of %s", how, data_name(w, addr));
	}
}

const char *finding_commit(struct writer *w, const struct view *v)
{
	const struct raw_finding *f = v->f;
	return op_words(w, f, f->commit_op, f->lock2 ? f->lock2 : f->lock,
	                f->address2 ? f->address2 : f->address);
}

const char *finding_violation(struct writer *w, const struct view *v)
{
	return op_words(w, v->f, v->f->violation_op, v->f->lock, v->f->address);
}

const char *finding_other(const struct view *v)
{
	bool did = v->f->confirmed;
	if (!v->owrite.n)
		return did ? "took the lock" : "can take the lock";
	if (v->oacquire.n)
		return did ? "wrote under the lock" : "can write under the lock";
	switch (v->f->other_op) {
	case OP_READ:
		return did ? "read the same data" : "can read the same data";
	case OP_WRITE:
		return did ? "wrote the same data" : "can write the same data";
	case OP_ATOMIC:
		return did ? "changed the same data" : "can change the same data";
	default:
		return did ? "came in between" : "can access the same data";
	}
}

static void put_held(struct writer *w, const struct raw_locks *ls)
{
	if (!ls->n)
		return;
	buf_str(w->out, " (still holding ");
	for (uint32_t i = 0; i < ls->n; i++)
		buf_printf(w->out, "%sM%u", i ? ", " : "", ls->v[i].id);
	buf_str(w->out, ")");
}

/* The call made by the block on the way to a place: "get()"; NULL when the
 * block does it itself. */
static const char *callee(struct writer *w, const struct view *v, const struct stacks *s)
{
	uint32_t around = v->entered.n - v->block;
	if (s->n <= around)
		return NULL;
	const struct src_frame *f = &s->v[s->n - around - 1];
	/* A wrapper around the lock says less than the line that calls it. */
	if (!f->function || f->system || strstr(f->function, "lock") ||
	    strstr(f->function, "Lock") || strstr(f->function, "LOCK"))
		return NULL;
	size_t bare = strcspn(f->function, "(");
	return arena_printf(w->arena, "%.*s()", (int)bare, f->function);
}

static const char *where(struct writer *w, const struct view *v, const struct stacks *s)
{
	const char *c = callee(w, v, s);
	uint32_t around = v->entered.n - v->block;
	if (c)
		return c;
	if (s->n >= around && around && s->v[s->n - around].file)
		return arena_printf(w->arena, "line %u", s->v[s->n - around].line);
	return "the first part";
}

/* Which call, or line, comes before the gap and which behind it. */
static void put_gap(struct writer *w, const struct view *v)
{
	const char *a = where(w, v, &v->commit), *b = where(w, v, &v->violation);
	if (!strcmp(a, b))
		buf_printf(w->out, "etween two times at %s ", a);
	else
		buf_printf(w->out, "etween %s and %s ", a, b);
}

void finding_sentence(struct writer *w, const struct view *v)
{
	const struct raw_finding *f = v->f;
	const char *other = f->other ? finding_thread(w, f->other) : "another thread";
	const char *can = f->confirmed ? "did (in this run)" : "can";
	buf_str(w->out, "  B");
	put_gap(w, v);
	if (f->violation_op == OP_ACQUIRE && f->commit_op == OP_RELEASE &&
	    (f->lock == f->lock2 || !f->lock2))
		buf_printf(w->out,
		           "the lock %s is released: %s %s take it and %s what the "
		           "first part relied on.\n",
		           finding_lock(w, f->lock, f->address), other, can,
		           f->confirmed && !v->owrite.n ? "see or change" : "change");
	else if (f->kind == FIND_RACE)
		buf_printf(w->out, "%s is not protected: %s %s write it, and the value written "
		           "here is computed from the old one.\n",
		           data_name(w, f->address), other, can);
	else if (f->kind == FIND_CYCLE)
		buf_printf(w->out, "%s came in: it followed the first and came before the second, so that no "
		           "order that runs the block in one piece gives the same.\n", other);
	else
		buf_printf(w->out, "the block has given up its protection: %s %s come in "
		           "between and see or change a half-done state.\n",
		           other, can);
	if (f->apart)
		buf_printf(w->out, "  These two threads never met: one was made after the other had been waited "
		           "for. Two that run at the same time can.\n");
}

/* ---- the report ---- */

static void put_other(struct writer *w, const struct view *v)
{
	const struct raw_finding *f = v->f;
	bool wrote = v->owrite.n != 0;
	if (!v->oacquire.n && !wrote)
		return;
	const struct stacks *s = wrote ? &v->owrite : &v->oacquire;
	buf_printf(w->out, "  Meanwhile %s %s:\n",
	           f->other ? finding_thread(w, f->other) : "another thread", finding_other(v));
	put_frames(w, s->v, s->n);
	if (wrote && v->oacquire.n) {
		buf_str(w->out, "  having taken the lock at");
		put_held(w, &f->other_locks);
		buf_str(w->out, ":\n");
		put_frames(w, v->oacquire.v, v->oacquire.n);
	}
}

static void put_threads(struct writer *w, const struct raw_finding *f)
{
	struct stacks s;
	for (uint32_t i = 0; i < f->threads.len; i++) {
		const struct raw_thread *t = &f->threads.data[i];
		bool again = false;
		for (uint32_t j = 0; j < i; j++)
			again |= f->threads.data[j].uid == t->uid;
		finding_resolve(w, &s, &t->created);
		if (again || !s.n)
			continue;
		buf_printf(w->out, "  Thread T%u created by %s at:\n", t->uid - 1,
		           finding_thread(w, t->parent));
		put_frames(w, s.v, s.n);
	}
}

static void put_title(struct writer *w, const struct view *v, uint32_t pid)
{
	const struct raw_finding *f = v->f;
	color(w, "1;31");
	buf_printf(w->out, "WARNING: Intact: atomicity violation (pid=%u)\n", pid);
	color(w, "0");
	buf_str(w->out, "  ");
	color(w, "1");
	if (f->name) {
		buf_str(w->out, "block '");
		put_safe(w, f->name);
		buf_str(w->out, "' in ");
	}
	put_safe(w, v->name);
	color(w, "0");
	buf_printf(w->out, " is not atomic (%s",
	           f->confirmed ? "confirmed: another thread came in between in this run"
	           : f->apart   ? "predicted: two threads at a time can break it"
	                        : "predicted: another schedule can break it");
	if (v->count > 1)
		buf_printf(w->out, "; seen %u times", v->count);
	buf_str(w->out, ").\n");
}

static void put_report(struct writer *w, const struct view *v, uint32_t pid)
{
	const struct raw_finding *f = v->f;
	buf_str(w->out, BAR);
	put_title(w, v, pid);
	buf_printf(w->out, "  Atomic block entered by %s:\n", finding_thread(w, f->thread));
	put_frames(w, v->entered.v + v->block, v->entered.n - v->block);
	buf_printf(w->out, "  Atomic block commits at %s", finding_commit(w, v));
	put_held(w, &f->commit_locks);
	buf_str(w->out, ":\n");
	put_frames(w, v->commit.v, v->commit.n);
	buf_printf(w->out, "  Atomicity violation at %s", finding_violation(w, v));
	put_held(w, &f->violation_locks);
	buf_str(w->out, ":\n");
	put_frames(w, v->violation.v, v->violation.n);
	put_other(w, v);
	finding_sentence(w, v);
	for (const struct view *m = v->more; m; m = m->more) {
		buf_str(w->out, "  Also b");
		put_gap(w, m);
		buf_printf(w->out, "(%s%s).\n", finding_violation(w, m),
		           m->f->confirmed ? ", confirmed" : "");
	}
	buf_str(w->out, "\n");
	put_threads(w, f);
	const struct src_frame *b = &v->entered.v[v->block];
	buf_str(w->out, "SUMMARY: Intact: atomicity violation ");
	put_safe(w, b->file ? finding_file(w, b->file) : "<null>");
	buf_printf(w->out, ":%u in ", b->line);
	put_safe(w, v->name);
	buf_str(w->out, "\n");
	if (w->o->gen_suppressions) {
		buf_str(w->out, "Suppression: block:");
		size_t bare = strcspn(v->name, "(");
		buf_safe(w->out, v->name, bare);
		buf_str(w->out, "\n");
	}
	buf_str(w->out, BAR);
}

/* The finding with its places, or NULL when nobody wants to hear of it. */
static struct view *view_of(struct writer *w, struct raw_finding *raw, struct filter *f,
                            struct shown *shown)
{
	struct view *v = arena_new(w->arena, struct view);
	symbols_of(w->sym, raw);
	v->f = raw;
	v->count = raw->count;
	finding_resolve(w, &v->entered, &raw->entered);
	finding_resolve(w, &v->commit, &raw->commit);
	finding_resolve(w, &v->violation, &raw->violation);
	if (!v->entered.n || finding_about_counters(w, raw))
		return NULL;
	if (raw->kind == FIND_MARKED || raw->kind == FIND_CYCLE)
		v->name = v->entered.v[0].function ? v->entered.v[0].function : "<null>";
	else if (!finding_blame(v, f)) {
		shown->nameless += finding_nameless(&v->entered);
		return NULL;
	}
	v->key = key_of(w, v);
	v->by = suppressed(v, f, shown, w->arena);
	if (v->by && !w->o->json)
		return NULL;
	struct src_frame *b = &v->entered.v[v->block];
	if (!raw->name && b->decl && b->decl_file) { /* a function is entered at its top */
		b->file = b->decl_file;
		b->line = b->decl;
		b->column = 0;
	}
	uint32_t dc = depth_of(v, &v->commit), dv = depth_of(v, &v->violation);
	v->depth = dc > dv ? dc : dv;
	return v;
}

/* Nearer to its locks first, then what was seen happening. */
static bool speaks_for(const struct view *a, const struct view *b)
{
	bool far_a = a->depth > NEAR, far_b = b->depth > NEAR;
	if (far_a != far_b)
		return far_b;
	if (a->f->confirmed != b->f->confirmed)
		return a->f->confirmed;
	return a->depth < b->depth;
}

/* One place reached in several ways is one gap; the gaps of one block are one
 * finding, told by the plainest of them. */
static bool merged(struct view **list, uint32_t n, struct view *v)
{
	for (uint32_t i = 0; i < n; i++) {
		struct view *head = list[i];
		if (!head->by != !v->by || strcmp(head->name, v->name) != 0 ||
		    strcmp(head->f->name ? head->f->name : "", v->f->name ? v->f->name : "") != 0)
			continue;
		for (struct view *g = head; g; g = g->more) {
			if (strcmp(g->key, v->key) != 0)
				continue;
			uint32_t count = g->count + v->count;
			struct view *more = g->more;
			if (v->f->confirmed && !g->f->confirmed)
				*g = *v;
			g->more = more;
			g->count = count;
			return true;
		}
		if (speaks_for(v, head)) {
			v->more = head;
			list[i] = v;
		} else {
			v->more = head->more;
			head->more = v;
		}
		return true;
	}
	return false;
}

static int by_index(const void *a, const void *b)
{
	const struct raw_finding *x = *(struct raw_finding *const *)a, *y = *(struct raw_finding *const *)b;
	return x->index != y->index ? x->index < y->index ? -1 : 1 : x < y ? -1 : x > y;
}

/* As they were met, however they came to be told. */
static struct raw_finding **in_order(struct raw_report *r, struct arena *a)
{
	struct raw_finding **v = arena_array(a, struct raw_finding *, r->findings.len + 1);
	for (uint32_t i = 0; i < r->findings.len; i++)
		v[i] = &r->findings.data[i];
	qsort(v, r->findings.len, sizeof *v, by_index);
	return v;
}

void findings_text(struct raw_report *r, struct filter *f, const struct text_options *o,
                   struct arena *a, struct shown *shown, struct buf *out)
{
	struct writer w = { out, o, o->symbols, a, false };
	symbols_use(w.sym, r);
	shown->lost += r->lost;
	shown->lost_modules += r->lost_modules;
	struct view **list = arena_array(a, struct view *, r->findings.len + 1);
	struct raw_finding **met = in_order(r, a);
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->findings.len; i++) {
		if (o->progress)
			o->progress(o->arg, i, r->findings.len);
		struct view *v = view_of(&w, met[i], f, shown);
		if (v && !merged(list, n, v))
			list[n++] = v;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct view *v = list[i];
		if (said_before(&w, v, shown))
			continue;
		const struct src_frame *b = &v->entered.v[v->block];
		if (!v->by && v->depth > NEAR && !o->strict && v->f->kind < FIND_MARKED && !f->atomic.len) {
			avec_push(a, &shown->far, arena_printf(a, "%s (%s:%u)", v->name,
			                                       b->file ? finding_file(&w, b->file) : "?", b->line));
			continue;
		}
		symbols_of(w.sym, v->f);
		finding_resolve(&w, &v->oacquire, &v->f->other_acquire);
		finding_resolve(&w, &v->owrite, &v->f->other_write);
		if (o->json)
			finding_json(&w, v);
		if (v->by)
			continue;
		put_report(&w, v, r->pid);
		shown->count++;
		shown->confirmed += v->f->confirmed != 0;
		avec_push(a, &shown->names, v->name);
	}
}

void findings_close(const struct filter *f, const struct shown *shown, bool print_suppressions,
                    struct buf *out)
{
	uint32_t n = f->suppressions.len;
	if (shown->count)
		buf_printf(out, "Intact: reported %u warning%s (%u confirmed)\n", shown->count,
		           shown->count == 1 ? "" : "s", shown->confirmed);
	if (shown->lost)
		buf_printf(out, "Intact: the list of findings was full: %u occurrence%s of others %s not kept; fix or "
		           "mark as not-atomic what is listed and run again\n", shown->lost,
		           shown->lost == 1 ? "" : "s", shown->lost == 1 ? "was" : "were");
	if (shown->unread)
		buf_printf(out, "Intact: %u message%s of the program could not be read: findings may be missing\n",
		           shown->unread, shown->unread == 1 ? "" : "s");
	if (shown->lost_modules)
		buf_printf(out, "Intact: %u loaded file%s beyond the limit: addresses in %s have no names\n",
		           shown->lost_modules, shown->lost_modules == 1 ? " is" : "s are",
		           shown->lost_modules == 1 ? "it" : "them");
	if (shown->nameless)
		buf_printf(out, "Intact: %u finding%s cannot be shown: no function of the program has a name "
		           "(was it linked with -s, or stripped?)\n", shown->nameless,
		           shown->nameless == 1 ? "" : "s");
	if (shown->far.len && shown->count) {
		buf_printf(out, "Intact: %u more function%s, far from the locks they take through "
		           "others, gave them up in between (strict=1 reports them):\n",
		           shown->far.len, shown->far.len == 1 ? "" : "s");
		for (uint32_t i = 0; i < shown->far.len; i++)
			buf_printf(out, "  %s\n", shown->far.data[i]);
	}
	if (!n || !print_suppressions)
		return;
	if (shown->suppressed) {
		buf_printf(out, "Intact: matched suppressions (%u findings):\n", shown->suppressed);
		for (uint32_t i = 0; i < n; i++) {
			const struct pattern *p = &f->suppressions.data[i];
			if (p->hits)
				buf_printf(out, "%8u %s:%s\n", p->hits, p->kind, p->text);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct pattern *p = &f->suppressions.data[i];
		if (!p->hits)
			buf_printf(out, "Intact: %s:%u: warning: suppression %s:%s matched nothing\n",
			           p->source, p->line, p->kind, p->text);
	}
}
