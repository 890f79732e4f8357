/*
 * finding_text: one finding as a report in the sanitizers' grammar, with the
 * Atomizer's three places (entered, commits, violated), what the other thread
 * does, the locks, where the threads came from, and a sentence
 * (finding_words.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/finding.h"
#include "report/finding_int.h"
#include "report/finding_starts.h"

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

static void put_frame(struct writer *w, const struct src_frame *f, uint32_t no)
{
	buf_printf(w->out, "    #%u ", no);
	put_safe(w, frame_function(w->arena, f));
	buf_char(w->out, ' ');
	if (f->file) {
		put_safe(w, finding_file(w, f->file));
		if (f->line)
			buf_printf(w->out, ":%u", f->line);
		if (f->line && f->column)
			buf_printf(w->out, ":%u", f->column);
		buf_char(w->out, ' ');
	}
	const char *slash = strrchr(f->module, '/');
	buf_str(w->out, "(");
	put_safe(w, slash ? slash + 1 : f->module);
	buf_printf(w->out, "+0x%llx)\n", (unsigned long long)f->offset);
}

static bool same_place(const struct src_frame *a, const struct src_frame *b)
{
	return a->offset == b->offset && !strcmp(a->module, b->module) && a->line == b->line &&
	       !strcmp(a->function ? a->function : "", b->function ? b->function : "");
}

/* Frames that both stacks end with. */
static uint32_t common_tail(const struct stacks *a, const struct stacks *b)
{
	uint32_t n = 0;
	while (n < a->n && n < b->n && same_place(&a->v[a->n - 1 - n], &b->v[b->n - 1 - n]))
		n++;
	return n;
}

/* A stack; the end that it shares with one `above` (or NULL), when that is two
 * frames or more and not all of it, is not printed again. */
static void put_frames(struct writer *w, const struct stacks *s, uint32_t first, const struct stacks *above)
{
	uint32_t same = above ? common_tail(s, above) : 0, n = s->n;
	if (same >= 2 && same < s->n - first)
		n -= same;
	for (uint32_t i = first; i < n; i++)
		put_frame(w, &s->v[i], i - first);
	if (n < s->n) {
		buf_printf(w->out, "    #%u ... %u frames as above, from ", n - first, same);
		put_safe(w, frame_function(w->arena, &s->v[n]));
		buf_str(w->out, " on\n");
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

/* Calls of the program's own between the block and a place inside it. Those without names
 * do not count: they may be how the system's headers spell a lock. */
static uint32_t depth_of(const struct view *v, const struct stacks *s)
{
	uint32_t around = v->entered.n - v->block, n = 0;
	for (uint32_t i = 0; i + around < s->n; i++)
		n += !s->v[i].system && !frame_nameless(&s->v[i]);
	return n;
}

/* ---- the report ---- */

static void put_held(struct writer *w, const struct raw_locks *ls)
{
	if (!ls->n)
		return;
	buf_str(w->out, " (still holding ");
	for (uint32_t i = 0; i < ls->n; i++)
		buf_printf(w->out, "%sM%u", i ? ", " : "", ls->v[i].id);
	buf_str(w->out, ")");
}

static const char *other_thread(struct writer *w, const struct raw_finding *f)
{
	return f->other ? finding_thread(w, f->other) : "another thread";
}

/* Who it was is known, its place is not. */
static void put_other_nowhere(struct writer *w, const struct view *v)
{
	const struct raw_finding *f = v->f;
	if (f->violation_op == OP_JOIN && f->confirmed)
		buf_printf(w->out, "  Meanwhile %s ran; this block waited for its end.\n\n", other_thread(w, f));
	else if (f->kind == FIND_RACE || f->kind == FIND_MARKED)
		buf_printf(w->out, "  Meanwhile %s %s (the place was not recorded: it was the only user at that time).\n\n",
		           other_thread(w, f), finding_other(v));
}

static void put_other(struct writer *w, const struct view *v)
{
	const struct raw_finding *f = v->f;
	bool wrote = v->owrite.n != 0;
	if (!v->oacquire.n && !wrote) {
		put_other_nowhere(w, v);
		return;
	}
	const struct stacks *s = wrote ? &v->owrite : &v->oacquire;
	buf_printf(w->out, "  Meanwhile %s %s:\n", other_thread(w, f), finding_other(v));
	put_frames(w, s, 0, NULL);
	if (wrote && v->oacquire.n) {
		buf_str(w->out, "  having taken the lock at");
		put_held(w, &f->other_locks);
		buf_str(w->out, ":\n");
		put_frames(w, &v->oacquire, 0, s);
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
		put_frames(w, &s, 0, NULL);
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
	           f->confirmed ? "confirmed: another thread intervened in this run"
	           : v->explored && v->explored->failure ? "predicted, and confirmed by exploring: a schedule breaks it"
	           : f->apart   ? "predicted: two concurrent threads can violate it"
	                        : "predicted: another schedule can violate it");
	if (v->count > 1)
		buf_printf(w->out, "; seen %u times", v->count);
	buf_str(w->out, ").\n");
}

static void put_explored(struct writer *w, const struct explore_finding *x)
{
	buf_str(w->out, "  Explored: ");
	put_safe(w, explore_status_text(x, w->arena));
	buf_str(w->out, ".\n\n");
	if (x->failure)
		explore_failure_text(x->failure, w->out, w->o->color);
	if (x->replay) {
		buf_str(w->out, "Replay: ");
		put_safe(w, x->replay);
		buf_char(w->out, '\n');
	}
	if (x->failure)
		buf_char(w->out, '\n');
}

static void put_report(struct writer *w, const struct view *v, uint32_t pid)
{
	const struct raw_finding *f = v->f;
	buf_str(w->out, BAR);
	put_title(w, v, pid);
	buf_printf(w->out, "  Atomic block entered by %s:\n", finding_thread(w, f->thread));
	put_frames(w, &v->entered, v->block, NULL);
	buf_printf(w->out, "  Atomic block commits at %s", finding_commit(w, v));
	put_held(w, &f->commit_locks);
	buf_str(w->out, ":\n");
	put_frames(w, &v->commit, 0, &v->entered);
	buf_printf(w->out, "  Atomicity violation at %s", finding_violation(w, v));
	put_held(w, &f->violation_locks);
	buf_str(w->out, ":\n");
	put_frames(w, &v->violation, 0, &v->commit);
	put_other(w, v);
	finding_sentence(w, v);
	for (const struct view *m = v->more; m; m = m->more) {
		buf_str(w->out, "  Also b");
		finding_gap(w, m);
		buf_printf(w->out, "(%s%s).\n", finding_violation(w, m),
		           m->f->confirmed ? ", confirmed" : "");
	}
	buf_str(w->out, "\n");
	put_threads(w, f);
	if (v->explored)
		put_explored(w, v->explored);
	const struct src_frame *b = &v->entered.v[v->block];
	buf_str(w->out, "SUMMARY: Intact: atomicity violation ");
	if (b->file) {
		put_safe(w, finding_file(w, b->file));
		if (b->line)
			buf_printf(w->out, ":%u", b->line);
	} else {
		buf_str(w->out, "(");
		put_safe(w, frame_function(w->arena, &(struct src_frame){ .module = b->module, .offset = b->offset }));
		buf_str(w->out, ")");
	}
	buf_str(w->out, " in ");
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

/* The block is a function inlined into the innermost one of its stack, and nothing but the
 * stack tells: there, the address of the other's entry follows the block's own address. */
static void add_inlined(struct writer *w, struct view *v)
{
	const struct raw_stack *raw = &v->f->entered;
	struct stacks *s = &v->entered;
	if (raw->n < 2 || !s->n || s->n == FINDING_MAX_FRAMES || s->v[0].file)
		return;
	if (!(raw->pcs[1] & STACK_MARK) || (raw->pcs[1] & STACK_PC) == raw->pcs[0])
		return;
	memmove(s->v + 1, s->v, s->n++ * sizeof *s->v);
	s->v[0].function = NULL;
	s->v[0].function = frame_function(w->arena, &s->v[0]);
}

/* The finding with its places, or NULL if it is suppressed. */
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
		v->name = frame_function(w->arena, &v->entered.v[0]);
	else if (add_inlined(w, v), !finding_blame(v, f))
		return NULL;
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
	v->uses = raw->uses;
	return v;
}

/* How much a gap matters, by what the section after it does: one that writes has most
 * to lose; what is given back (a reference count) was only lent. */
static uint32_t weight(const struct view *v)
{
	return v->uses == USES_WRITE ? 2 : v->uses == USES_BACK ? 0 : 1;
}

/* Nearer to its locks first, then what was seen happening, then the gap after which
 * the function uses what it has read; of those the one that ends first in it, and last
 * those that the next turn of a loop makes. */
static bool speaks_for(const struct view *a, const struct view *b)
{
	bool far_a = a->depth > NEAR, far_b = b->depth > NEAR;
	if (far_a != far_b)
		return far_b;
	if (a->f->confirmed != b->f->confirmed)
		return a->f->confirmed;
	if (finding_round(a) != finding_round(b))
		return finding_round(b);
	if (weight(a) != weight(b))
		return weight(a) > weight(b);
	uint32_t la = finding_line(a), lb = finding_line(b);
	if (la && lb && la != lb)
		return la < lb;
	return a->depth < b->depth;
}

/* One place reached in several ways is one gap; the gaps of one block are one
 * finding. */
static bool merged(struct view **list, uint32_t n, struct view *v)
{
	for (uint32_t i = 0; i < n; i++) {
		struct view *head = list[i], *last = head;
		if (!head->by != !v->by || strcmp(head->name, v->name) != 0 ||
		    strcmp(head->f->name ? head->f->name : "", v->f->name ? v->f->name : "") != 0)
			continue;
		for (struct view *g = head; g; last = g, g = g->more) {
			if (strcmp(g->key, v->key) != 0)
				continue;
			uint32_t count = g->count + v->count, uses = g->uses > v->uses ? g->uses : v->uses;
			struct view *more = g->more;
			if (v->f->confirmed && !g->f->confirmed)
				*g = *v;
			g->more = more;
			g->count = count;
			g->uses = uses;
			return true;
		}
		last->more = v;
		return true;
	}
	return false;
}

/* The gap that speaks for the block comes first, the others as they were met. */
static struct view *lead(struct view *head)
{
	struct view *best = head, **at = &head;
	for (struct view *g = head->more; g; g = g->more)
		if (speaks_for(g, best))
			best = g;
	while (*at != best)
		at = &(*at)->more;
	*at = best->more;
	best->more = head;
	return best;
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

/* What came of exploring the next result; NULL: it was not explored. */
static const struct explore_finding *explored(const struct text_options *o)
{
	for (uint32_t i = 0; o->explored && i < o->explored->findings.len; i++)
		if (o->explored->findings.data[i].index == o->json->count)
			return &o->explored->findings.data[i];
	return NULL;
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
		struct view *v = lead(list[i]);
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
		v->explored = explored(o);
		if (o->json)
			finding_json(&w, v);
		if (v->by)
			continue;
		put_report(&w, v, r->pid);
		shown->count++;
		shown->confirmed += v->f->confirmed != 0;
		shown->reached += v->explored && v->explored->failure;
		shown->not_reached += v->explored && !v->explored->failure;
		shown->nameless += frame_nameless(b);
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
	if (shown->reached + shown->not_reached)
		buf_printf(out, "Intact: explored %u of them: %u confirmed, %u not reached\n", shown->reached + shown->not_reached,
		           shown->reached, shown->not_reached);
	if (shown->lost)
		buf_printf(out, "Intact: the list of findings was full: %u occurrence%s of others %s not recorded; fix "
		           "or mark as not-atomic the listed ones and run again\n", shown->lost,
		           shown->lost == 1 ? "" : "s", shown->lost == 1 ? "was" : "were");
	if (shown->unread)
		buf_printf(out, "Intact: %u message%s of the program could not be read: findings may be missing\n",
		           shown->unread, shown->unread == 1 ? "" : "s");
	if (shown->lost_modules)
		buf_printf(out, "Intact: %u loaded file%s beyond the limit: addresses in %s have no names\n",
		           shown->lost_modules, shown->lost_modules == 1 ? " is" : "s are",
		           shown->lost_modules == 1 ? "it" : "them");
	if (shown->nameless)
		buf_str(out, "Intact: functions without names are shown by file and offset: the program was "
		             "stripped, and its debug file was not found\n");
	if (shown->far.len && shown->count) {
		buf_printf(out, "Intact: %u more function%sthat acquire locks only through several levels of calls "
		           "release them in between (strict=1 reports them):\n",
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
