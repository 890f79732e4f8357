/*
 * findings: which findings of a message are told, and as how many: those of one
 * block are one, what is far from its locks is only listed, and what patterns
 * name is left out. Each becomes a result (finding_json.c), from which the text
 * is made (finding_text.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "event/finding.h"
#include "report/finding_int.h"

/* A function that takes locks itself or in what it calls (a call or two down)
 * was written with them in mind. Farther up it merely uses what does, and is
 * listed, not reported, unless asked for. */
enum { NEAR = 2 };

const char *finding_file(const struct writer *w, const char *file)
{
	const char *p = w->o->strip_path_prefix;
	if (!p || !*p)
		return file;
	const char *at = strstr(file, p);
	return at ? at + strlen(p) : file;
}

void finding_resolve(struct writer *w, struct stacks *s, const struct raw_stack *raw)
{
	s->n = symbols_stack(w->sym, raw, s->v, FINDING_MAX_FRAMES);
	assert(s->n <= FINDING_MAX_FRAMES);
}

/* The pattern that hides it, counted when it is new; NULL: none does. */
static const struct pattern *suppressed(struct view *v, struct filter *f, struct shown *shown, struct arena *a)
{
	assert(v->block < v->entered.n || !v->entered.n);
	struct stacks *all[] = { &v->commit, &v->violation, &v->entered };
	for (uint32_t i = 0; i < f->suppressions.len; i++) {
		struct pattern *p = &f->suppressions.data[i];
		if (strcmp(p->kind, "atomicity") != 0 && strcmp(p->kind, "block") != 0)
			continue; /* of others: hazards.c */
		bool hit = pattern_matches(p->text, &v->entered.v[v->block]) || (v->f->name && glob_matches(p->text, v->f->name));
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
	return s->n ? arena_printf(w->arena, "%s+%llx", s->v[0].module, (unsigned long long)s->v[0].offset) : "";
}

/* The same block, commit and violation, however it was reached. */
static const char *key_of(struct writer *w, const struct view *v)
{
	assert(v->name);
	return arena_printf(w->arena, "%s|%s|%s", v->name, place_key(w, &v->commit), place_key(w, &v->violation));
}

/* Calls of the program's own between the block and a place inside it. Those without names
 * do not count: they may be how the system's headers spell a lock. */
static uint32_t depth_of(const struct view *v, const struct stacks *s)
{
	assert(v->block <= v->entered.n);
	uint32_t around = v->entered.n - v->block, n = 0;
	for (uint32_t i = 0; i + around < s->n; i++)
		n += !s->v[i].system && !frame_nameless(&s->v[i]);
	return n;
}

/* The block is a function inlined into the innermost one of its stack, and nothing but the
 * stack tells: there, the address of the other's entry follows the block's own address. */
static void add_inlined(struct writer *w, struct view *v)
{
	const struct raw_stack *raw = &v->f->entered;
	struct stacks *s = &v->entered;
	uint32_t i = raw->n && raw->pcs[0] & STACK_NAME ? 1 : 0;
	if (raw->n < i + 2 || !s->n || s->n == FINDING_MAX_FRAMES || s->v[0].file)
		return;
	if (!(raw->pcs[i + 1] & STACK_MARK) || (raw->pcs[i + 1] & STACK_PC) == raw->pcs[i])
		return;
	memmove(s->v + 1, s->v, s->n++ * sizeof *s->v);
	s->v[0].function = NULL;
	s->v[0].function = frame_function(w->arena, &s->v[0]);
	assert(s->n <= FINDING_MAX_FRAMES);
}

/* The finding with its places, or NULL if it is suppressed. */
static struct view *view_of(struct writer *w, struct raw_finding *raw, struct filter *f, struct shown *shown)
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
	uint32_t dc = depth_of(v, &v->commit), dv = depth_of(v, &v->violation);
	v->depth = dc > dv ? dc : dv;
	v->uses = raw->uses;
	if (!finding_judged(w, v))
		return NULL;
	v->by = suppressed(v, f, shown, w->arena);
	struct src_frame *b = &v->entered.v[v->block];
	if (!raw->name && b->decl && b->decl_file) { /* a function is entered at its top */
		b->file = b->decl_file;
		b->line = b->decl;
		b->column = 0;
	}
	assert(v->name && v->block <= v->entered.n);
	return v;
}

/* How much a gap matters, by what the section after it does: one that writes has most
 * to lose; what is given back (a reference count) was only lent. */
static uint32_t weight(const struct view *v)
{
	return v->uses == USES_WRITE ? 2 : v->uses == USES_BACK ? 0 : 1;
}

/* Nearer to its locks first, then what is shown by default, then what was seen happening, then the
 * pattern that ranks higher and the gap after which the function uses what it has read; of those the one
 * that ends first in it, and last those that the next turn of a loop makes. */
static bool speaks_for(const struct view *a, const struct view *b)
{
	bool far_a = a->depth > NEAR, far_b = b->depth > NEAR;
	if (far_a != far_b)
		return far_b;
	if (a->judged.tier != b->judged.tier)
		return a->judged.tier < b->judged.tier;
	if (a->f->confirmed != b->f->confirmed)
		return a->f->confirmed;
	if (finding_round(a) != finding_round(b))
		return finding_round(b);
	if (a->judged.label != b->judged.label)
		return a->judged.label < b->judged.label;
	if (weight(a) != weight(b))
		return weight(a) > weight(b);
	uint32_t la = finding_line(a), lb = finding_line(b);
	if (la && lb && la != lb)
		return la < lb;
	return a->depth < b->depth;
}

/* Of two occurrences of one gap: is this one the better to show? */
static bool shows_more(const struct view *v, const struct view *than)
{
	if (v->f->confirmed != than->f->confirmed)
		return v->f->confirmed;
	return v->judged.tier != than->judged.tier ? v->judged.tier < than->judged.tier : v->judged.score > than->judged.score;
}

/* One place reached in several ways is one gap; the gaps of one block are one
 * finding, over all processes. */
static void merge(struct shown *shown, struct view *v, struct arena *a)
{
	assert(!v->more);
	for (uint32_t i = 0; i < shown->blocks.len; i++) {
		struct view *head = shown->blocks.data[i], *last = head;
		if (!head->by != !v->by || strcmp(head->name, v->name) != 0 ||
		    strcmp(head->f->name ? head->f->name : "", v->f->name ? v->f->name : "") != 0)
			continue;
		for (struct view *g = head; g; last = g, g = g->more) {
			if (strcmp(g->key, v->key) != 0)
				continue;
			uint32_t count = g->count + v->count, uses = g->uses > v->uses ? g->uses : v->uses;
			struct view *more = g->more;
			if (shows_more(v, g))
				*g = *v;
			g->more = more;
			g->count = count;
			g->uses = uses;
			return;
		}
		last->more = v;
		return;
	}
	avec_push(a, &shown->blocks, v);
}

struct ranking {
	const struct filter *f;
	const struct text_options *o;
	struct shown *shown;
	struct arena *a;
};

/* What was asked for is shown whatever it looks like. */
static bool asked(const struct view *v, const struct filter *f)
{
	return v->f->kind >= FIND_MARKED || f->atomic.len || v->f->loop;
}

/* Only listed, unless it was asked for. */
static bool is_far(const struct view *v, const struct ranking *r)
{
	return v->depth > NEAR && !r->o->strict && v->f->kind < FIND_MARKED && !r->f->atomic.len;
}

static bool would_show(const struct view *v, const struct ranking *r, bool all)
{
	return !is_far(v, r) && (asked(v, r->f) || all || v->judged.tier <= 1);
}

/* The calls of the program's own from the block to a place in it, the outermost first, a line each. */
static const char *calls(const struct view *v, const struct stacks *s, struct arena *a)
{
	assert(v->block <= v->entered.n);
	uint32_t around = v->entered.n - v->block;
	const char *text = "";
	for (uint32_t i = s->n > around ? s->n - around : 0; i-- > 0;)
		if (!s->v[i].system && !frame_nameless(&s->v[i]))
			text = arena_printf(a, "%s%s%s", text, *text ? "\n" : "", s->v[i].function);
	return text;
}

/* Is the gap known? If not, it may be learned; what is shown by default is learned only when that was asked for. */
static void look_up(struct view *v, const struct ranking *r)
{
	assert(r->f->baseline && !v->by && v->name);
	const char *label = label_name(v->judged.label);
	struct baseline *b = r->f->baseline;
	struct baseline_key key = { .function = v->name, .mark = v->f->name ? v->f->name : "", .pattern = label ? label : "" };
	key.after = calls(v, &v->commit, r->a);
	key.before = calls(v, &v->violation, r->a);
	struct baseline_entry *e = baseline_find(b, &key);
	v->known = e != NULL;
	if (e) {
		e->hits++;
		v->known_line = e->line;
	} else if (b->learn && !is_far(v, r) && (b->accept || !would_show(v, r, false))) {
		baseline_learn(b, &key);
		v->known = true;
	}
}

/* With a baseline: what is shown and new first, then what is shown and known. */
static unsigned news(const struct view *v, const struct ranking *r)
{
	return !r->f->baseline || !would_show(v, r, r->o->all) ? 2 : v->known;
}

/* The gap that speaks for the block comes first, the others as they were met. */
static struct view *lead(struct view *head, const struct ranking *r)
{
	struct view *best = head, **at = &head;
	for (struct view *g = head->more; g; g = g->more)
		if (news(g, r) != news(best, r) ? news(g, r) < news(best, r) : speaks_for(g, best))
			best = g;
	while (*at != best)
		at = &(*at)->more;
	*at = best->more;
	best->more = head;
	assert(best->more == head || best == head);
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

void findings_add(struct raw_report *r, struct filter *f, const struct text_options *o, struct arena *a, struct shown *shown)
{
	assert(o->json && o->symbols);
	struct writer w = { o, o->symbols, a, f->baseline };
	symbols_use(w.sym, r);
	shown->lost += r->lost;
	shown->lost_modules += r->lost_modules;
	shown->lost_races |= r->lost_races != 0;
	shown->lost_order |= r->lost_order != 0;
	shown->lost_circles |= r->lost_circles != 0;
	struct raw_finding **met = in_order(r, a);
	for (uint32_t i = 0; i < r->findings.len; i++) {
		if (o->progress)
			o->progress(o->arg, i, r->findings.len);
		if (met[i]->kind >= FIND_HAZARD && !(o->no & (met[i]->kind == FIND_DATA_RACE ? FINDING_RACES : FINDING_LOCKS)))
			hazard_take(&w, met[i], r, f, shown);
		if (met[i]->kind >= FIND_HAZARD || o->no & FINDING_ATOMICITY)
			continue;
		struct view *v = view_of(&w, met[i], f, shown);
		if (!v)
			continue;
		v->report = r;
		merge(shown, v, a);
	}
}

/* ---- which are shown, in which order ---- */

static int by_rank(const void *a, const void *b)
{
	const struct view *x = *(struct view *const *)a, *y = *(struct view *const *)b;
	if (x->judged.tier != y->judged.tier)
		return x->judged.tier < y->judged.tier ? -1 : 1;
	if (x->judged.score != y->judged.score)
		return x->judged.score > y->judged.score ? -1 : 1;
	return x->met < y->met ? -1 : x->met > y->met;
}

/* It is not shown: its label is counted, and it is listed in documents. */
static void leave_out(struct writer *w, const struct view *v, struct shown *shown)
{
	const struct src_frame *b = &v->entered.v[v->block];
	struct finding_rest rest = { v->name,  label_name(v->judged.label), b->file ? finding_file(w, b->file) : NULL, b->line,
		                     v->count, v->f->confirmed != 0 };
	avec_push(w->arena, &w->o->json->rest, rest);
	shown->rest[v->judged.label]++;
}

/* "transfer (lost update), bank.c:41": shown, and to be learned only when that is asked for. */
static void refuse(struct writer *w, const struct view *v, struct shown *shown)
{
	const struct src_frame *b = &v->entered.v[v->block];
	const char *label = label_name(v->judged.label);
	const char *text = label ? arena_printf(w->arena, "%s (%s)", v->name, label) : v->name;
	if (b->file)
		text = arena_printf(w->arena, "%s, %s:%u", text, finding_file(w, b->file), b->line);
	avec_push(w->arena, &shown->refused, text);
}

static void tell(struct writer *w, struct view *v, const struct filter *f, struct shown *shown)
{
	symbols_use(w->sym, v->report);
	symbols_of(w->sym, v->f);
	finding_resolve(w, &v->oacquire, &v->f->other_acquire);
	finding_resolve(w, &v->owrite, &v->f->other_write);
	v->explored = explored(w->o);
	finding_json(w, v, v->report->pid);
	avec_push(w->arena, &w->o->json->pids, v->report->pid);
	if (v->by)
		return;
	avec_push(w->arena, &shown->names, v->name);
	if (v->known) {
		shown->known++;
		return;
	}
	if (f->baseline && f->baseline->learn)
		refuse(w, v, shown);
	shown->count++;
	shown->confirmed += v->f->confirmed != 0;
	shown->reached += v->explored && v->explored->failure;
	shown->not_reached += v->explored && !v->explored->failure;
	shown->nameless += frame_nameless(&v->entered.v[v->block]);
}

void findings_rank(const struct filter *f, const struct text_options *o, struct arena *a, struct shown *shown)
{
	struct writer w = { o, o->symbols, a, f->baseline };
	struct ranking r = { f, o, shown, a };
	uint32_t n = shown->blocks.len;
	for (uint32_t i = 0; i < n; i++) {
		for (struct view *g = shown->blocks.data[i]; f->baseline && g && !g->by; g = g->more)
			look_up(g, &r);
		shown->blocks.data[i] = lead(shown->blocks.data[i], &r);
		shown->blocks.data[i]->met = i;
	}
	if (n)
		qsort(shown->blocks.data, n, sizeof *shown->blocks.data, by_rank);
	for (uint32_t i = 0; i < n; i++) {
		struct view *v = shown->blocks.data[i];
		const struct src_frame *b = &v->entered.v[v->block];
		bool beyond = o->top && shown->count >= o->top && !asked(v, f) && !o->all && !v->known;
		if (!v->by && is_far(v, &r))
			avec_push(a, &shown->far,
			          arena_printf(a, "%s (%s:%u)", v->name, b->file ? finding_file(&w, b->file) : "?", b->line));
		else if (!v->by && (beyond || !would_show(v, &r, o->all)))
			leave_out(&w, v, shown);
		else
			tell(&w, v, f, shown);
	}
	shown->blocks.len = 0;
	hazards_rank(&w, f, shown);
}

/* ---- what there is to say in the end ---- */

static void suppressions(const struct filter *f, const struct shown *shown, struct buf *out)
{
	if (shown->suppressed) {
		buf_printf(out, "Intact: matched suppressions (%u findings):\n", shown->suppressed);
		for (uint32_t i = 0; i < f->suppressions.len; i++) {
			const struct pattern *p = &f->suppressions.data[i];
			if (p->hits)
				buf_printf(out, "%8u %s:%s\n", p->hits, p->kind, p->text);
		}
	}
	for (uint32_t i = 0; i < f->suppressions.len; i++) {
		const struct pattern *p = &f->suppressions.data[i];
		if (!p->hits)
			buf_printf(out, "Intact: %s:%u: warning: suppression %s:%s matched nothing\n", p->source, p->line, p->kind,
			           p->text);
	}
}

/* "Intact: 3 more functions are not shown: 2 split counters, 1 busy gap (--all shows them)" */
static void rest_line(const struct shown *shown, struct buf *out)
{
	uint32_t n = 0, said = 0;
	for (uint32_t i = 0; i < LABEL_KINDS; i++)
		n += shown->rest[i];
	if (!n)
		return;
	buf_printf(out, "Intact: %u %sfunction%s not shown: ", n, shown->count ? "more " : "", n == 1 ? " is" : "s are");
	for (uint32_t i = 0; i < LABEL_KINDS; i++)
		if (shown->rest[i])
			buf_printf(out, "%s%u %s", said++ ? ", " : "", shown->rest[i], label_name(i));
	buf_str(out, " (--all shows them)\n");
}

enum { ABSENT_LISTED = 20 };

/* How many findings the baseline holds, and which of its entries did not occur. */
static void baseline_lines(const struct baseline *b, const struct shown *shown, struct buf *out)
{
	uint32_t absent = 0;
	if (shown->known) {
		buf_printf(out, "Intact: %u known finding%s not reported (baseline ", shown->known,
		           shown->known == 1 ? " is" : "s are");
		buf_safe(out, b->path, strlen(b->path));
		buf_str(out, ")\n");
	}
	for (uint32_t i = 0; i < b->list.len; i++) {
		if (b->list.data[i].hits || absent++ >= ABSENT_LISTED)
			continue;
		buf_str(out, "Intact: ");
		buf_safe(out, b->path, strlen(b->path));
		buf_printf(out, ":%u: note: ", b->list.data[i].line);
		baseline_name(&b->list.data[i].key, out);
		buf_str(out, " did not occur in this run\n");
	}
	if (absent > ABSENT_LISTED)
		buf_printf(out, "Intact: %u more entries of the baseline did not occur in this run\n", absent - ABSENT_LISTED);
}

void findings_close(const struct filter *f, const struct shown *shown, bool print_suppressions, struct finding_log *log)
{
	struct buf *out = &log->summary;
	buf_clear(out);
	if (shown->count)
		buf_printf(out, "Intact: reported %u warning%s (%u confirmed)\n", shown->count, shown->count == 1 ? "" : "s",
		           shown->confirmed);
	rest_line(shown, out);
	if (shown->hazards_rest)
		buf_printf(out, "Intact: %u more finding%s about races and locks %s not shown (--all shows them)\n",
		           shown->hazards_rest, shown->hazards_rest == 1 ? "" : "s", shown->hazards_rest == 1 ? "is" : "are");
	if (shown->lost_order)
		buf_str(out, "Intact: too many locks and atomics to track: data races were reported only up to that point\n");
	if (shown->lost_circles)
		buf_str(out, "Intact: too many orders of locks: not all circles were looked for\n");
	if (shown->lost_races)
		buf_str(out, "Intact: out of memory: not all accesses were followed, and data races may be missing\n");
	if (f->baseline)
		baseline_lines(f->baseline, shown, out);
	if (shown->reached + shown->not_reached)
		buf_printf(out, "Intact: explored %u of them: %u confirmed, %u not reached\n", shown->reached + shown->not_reached,
		           shown->reached, shown->not_reached);
	if (shown->lost)
		buf_printf(out,
		           "Intact: the list of findings was full: %u occurrence%s of others %s not recorded; fix "
		           "or mark as not-atomic the listed ones and run again\n",
		           shown->lost, shown->lost == 1 ? "" : "s", shown->lost == 1 ? "was" : "were");
	if (shown->unread)
		buf_printf(out, "Intact: %u message%s of the program could not be read: findings may be missing\n", shown->unread,
		           shown->unread == 1 ? "" : "s");
	if (shown->lost_modules)
		buf_printf(out, "Intact: %u loaded file%s beyond the limit: addresses in %s have no names\n", shown->lost_modules,
		           shown->lost_modules == 1 ? " is" : "s are", shown->lost_modules == 1 ? "it" : "them");
	if (shown->nameless)
		buf_str(out, "Intact: functions without names are shown by file and offset: the program was "
		             "stripped, and its debug file was not found\n");
	if (shown->far.len && shown->count) {
		buf_printf(out,
		           "Intact: %u more function%s that acquire locks only through several levels of calls "
		           "release them in between (strict=1 reports them):\n",
		           shown->far.len, shown->far.len == 1 ? "" : "s");
		for (uint32_t i = 0; i < shown->far.len; i++)
			buf_printf(out, "  %s\n", shown->far.data[i]);
	}
	if (f->suppressions.len && print_suppressions)
		suppressions(f, shown, out);
}

void findings_tell(struct finding_log *log, const struct text_options *o, struct buf *out)
{
	assert(log->told <= log->pids.len && log->told_bytes <= log->results.len);
	struct finding_text_options how = { .color = o->color,
		                            .gen_suppressions = o->gen_suppressions,
		                            .pids = log->pids.data ? log->pids.data + log->told : NULL };
	struct buf text, fresh = { 0 };
	struct json_out j;
	if (log->results.len > log->told_bytes) {
		size_t from = log->told_bytes + (log->told_bytes > 0); /* after the comma */
		fresh = (struct buf){ .data = log->results.data + from, .len = log->results.len - from };
	}
	buf_init(&text);
	json_out_init(&j, &text, false);
	json_begin_object(&j, NULL);
	json_begin_array(&j, "results");
	json_items(&j, &fresh);
	json_end(&j);
	finding_summary(&log->summary, &j);
	json_end(&j);
	json_t *doc = json_loadb(buf_cstr(&text), text.len, 0, NULL);
	if (doc)
		findings_text(doc, &how, out);
	out->failed |= !doc;
	json_decref(doc);
	buf_free(&text);
	log->told_bytes = log->results.len;
	log->told = log->pids.len;
}
