/*
 * hazards: findings that are not about blocks (data races, what is wrong with locks; dynamic/hazards.h) as results
 * of a document: each has a kind and "accesses", what each thread did. The same places in other processes, or
 * reached by other calls, are one finding. The text of a result is made in finding_text.c.
 */
#include <string.h>

#include "base/invariant.h"
#include "event/finding.h"
#include "report/finding_int.h"

struct hazard_part_view {
	const struct raw_part *raw;
	struct stacks *stack;
	const char *place; /* "file:line" */
};

struct hazard_view {
	const struct raw_finding *f;
	struct raw_report *report;
	struct hazard_part_view *parts;
	const char *name, *key;
	uint32_t count;
	const struct pattern *by; /* suppressed by, or NULL */
	bool known;
	uint32_t known_line;
};

static const struct {
	const char *name, *kind; /* the suppression's kind, as ThreadSanitizer's are called */
	const char *title;
} words[FIND_KINDS] = {
	[FIND_DATA_RACE] = { "data race", "race", "data race" },
	[FIND_LOCK_ORDER] = { "lock order", "deadlock", "lock-order inversion (potential deadlock)" },
	[FIND_LOCK_DESTROYED] = { "destroyed lock", "mutex", "a lock is destroyed while it is held" },
	[FIND_UNLOCK_FOREIGN] = { "unlock by another thread", "mutex", "unlock by a thread that does not hold the lock" },
	[FIND_UNLOCK_UNLOCKED] = { "unlock of an unlocked lock", "mutex", "unlock of a lock that is not held" },
};

const char *hazard_kind(uint32_t kind)
{
	assert(kind >= FIND_HAZARD && kind < FIND_KINDS);
	return words[kind].name;
}

bool hazard_named(const char *kind)
{
	for (uint32_t i = FIND_HAZARD; i < FIND_KINDS; i++)
		if (words[i].name && !strcmp(words[i].name, kind))
			return true;
	return false;
}

/* The innermost frame of the program's own; NULL: there is no frame. */
static const struct src_frame *own_frame(const struct stacks *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].file && !s->v[i].system)
			return &s->v[i];
	return s->n ? &s->v[0] : NULL;
}

static const char *place_of(struct writer *w, const struct stacks *s)
{
	const struct src_frame *f = own_frame(s);
	assert(s->n <= FINDING_MAX_FRAMES && (f || !s->n));
	if (!f)
		return "";
	return f->file ? arena_printf(w->arena, "%s:%u", f->file, f->line)
	               : arena_printf(w->arena, "%s+%llx", f->module, (unsigned long long)f->offset);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The kind and the places, in whatever order they were met. */
static const char *key_of(struct writer *w, const struct hazard_view *v)
{
	uint32_t n = v->f->parts.len;
	const char **places = arena_array(w->arena, const char *, n + 1), *key = hazard_kind(v->f->kind);
	for (uint32_t i = 0; i < n; i++)
		places[i] = v->parts[i].place;
	for (uint32_t i = 1; i < n; i++) /* few */
		for (uint32_t k = i; k && by_text(&places[k - 1], &places[k]) > 0; k--) {
			const char *t = places[k];
			places[k] = places[k - 1];
			places[k - 1] = t;
		}
	for (uint32_t i = 0; i < n; i++)
		key = arena_printf(w->arena, "%s|%s", key, places[i]);
	return key;
}

/* The pattern that hides it, counted; NULL: none does. */
static const struct pattern *suppressed(const struct hazard_view *v, struct filter *f)
{
	for (uint32_t i = 0; i < f->suppressions.len; i++) {
		struct pattern *p = &f->suppressions.data[i];
		if (strcmp(p->kind, words[v->f->kind].kind) != 0)
			continue;
		for (uint32_t k = 0; k < v->f->parts.len; k++)
			for (uint32_t j = 0; j < v->parts[k].stack->n; j++)
				if (pattern_matches(p->text, &v->parts[k].stack->v[j])) {
					p->hits++;
					return p;
				}
	}
	return NULL;
}

void hazard_take(struct writer *w, struct raw_finding *raw, struct raw_report *r, struct filter *f, struct shown *shown)
{
	assert(raw->kind >= FIND_HAZARD && raw->kind < FIND_KINDS);
	struct hazard_view *v = arena_new(w->arena, struct hazard_view);
	uint32_t n = raw->parts.len;
	if (!n)
		return;
	symbols_of(w->sym, raw);
	*v = (struct hazard_view){ .f = raw, .report = r, .count = raw->count };
	v->parts = arena_array(w->arena, struct hazard_part_view, n);
	for (uint32_t i = 0; i < n; i++) {
		v->parts[i].raw = &raw->parts.data[i];
		v->parts[i].stack = arena_new(w->arena, struct stacks);
		finding_resolve(w, v->parts[i].stack, &raw->parts.data[i].stack);
		v->parts[i].place = place_of(w, v->parts[i].stack);
	}
	const struct src_frame *at = own_frame(v->parts[0].stack);
	v->name = at ? frame_function(w->arena, at) : "a function without a name";
	v->key = key_of(w, v);
	for (uint32_t i = 0; i < shown->hazards.len; i++)
		if (!strcmp(shown->hazards.data[i]->key, v->key)) {
			shown->hazards.data[i]->count += v->count;
			return;
		}
	v->by = suppressed(v, f);
	avec_push(w->arena, &shown->hazards, v);
}

/* ---- words ---- */

static const char *what(struct writer *w, const struct raw_finding *f, const struct raw_part *p)
{
	static const char *const data[] = { [PART_READ] = "read",
		                            [PART_WRITE] = "write",
		                            [PART_ATOMIC_READ] = "atomic read",
		                            [PART_ATOMIC_WRITE] = "atomic write" };
	const char *lock = p->lock ? finding_lock(w, f, p->lock, p->address) : "";
	assert(p->op < PART_OPS);
	switch (p->op) {
	case PART_HOLD:
		return arena_printf(w->arena, "lock acquire of %s, which it still holds", lock);
	case PART_ACQUIRE:
		return arena_printf(w->arena, "lock acquire of %s", lock);
	case PART_RELEASE:
		return arena_printf(w->arena, "lock release of %s", lock);
	case PART_DESTROY:
		return arena_printf(w->arena, "destruction of %s", lock);
	case PART_FREE:
		return arena_printf(w->arena, "free of the memory that %s is in", finding_data(w, p->address));
	default:
		return arena_printf(w->arena, "%s of %s (%u byte%s)", data[p->op], finding_data(w, p->address), p->size,
		                    p->size == 1 ? "" : "s");
	}
}

static const char *race_sentence(struct writer *w, const struct hazard_view *v)
{
	assert(v->f->parts.len == 2);
	const struct raw_part *a = v->parts[0].raw, *b = v->parts[1].raw;
	const char *locks = !a->locks.n && !b->locks.n ? "Neither holds a lock."
	                    : a->locks.n && b->locks.n ? "They hold different locks, or only one of them for writing."
	                                               : "Only one of them holds a lock.";
	bool atomic = a->op == PART_ATOMIC_READ || a->op == PART_ATOMIC_WRITE || b->op == PART_ATOMIC_READ ||
	              b->op == PART_ATOMIC_WRITE;
	return arena_printf(w->arena,
	                    "Nothing in this run orders the two accesses of %s by %s and %s: they can happen at the same "
	                    "time. %s",
	                    finding_data(w, a->address), finding_thread(w, a->uid), finding_thread(w, b->uid),
	                    atomic ? "One of them is no atomic operation." : locks);
}

static const char *sentence(struct writer *w, const struct hazard_view *v)
{
	const struct raw_part *p = v->parts[0].raw;
	const char *lock = p->lock ? finding_lock(w, v->f, p->lock, p->address) : "the lock";
	switch (v->f->kind) {
	case FIND_DATA_RACE:
		return v->f->parts.len == 2 ? race_sentence(w, v) : "";
	case FIND_LOCK_ORDER:
		return "Each of these threads takes the lock that the next one holds: when all of them hold their first lock, none "
		       "gets its second (deadlock).";
	case FIND_LOCK_DESTROYED:
		return arena_printf(w->arena, "A thread holds %s: what it protects is protected no longer.", lock);
	case FIND_UNLOCK_FOREIGN:
		return arena_printf(w->arena, "%s is held by another thread, whose critical section is open from here on.", lock);
	default:
		return arena_printf(w->arena, "%s is not held by any thread here.", lock);
	}
}

/* ---- a result ---- */

static void access_json(struct writer *w, const struct hazard_view *v, const struct hazard_part_view *p)
{
	struct json_out *j = &w->o->json->j;
	json_line(j, 2);
	json_begin_object(j, NULL);
	json_text(j, "what", what(w, v->f, p->raw));
	json_text(j, "thread", finding_thread(w, p->raw->uid));
	json_begin_array(j, "held");
	for (uint32_t i = 0; i < p->raw->locks.n; i++)
		json_text(j, NULL, finding_lock(w, v->f, p->raw->locks.v[i].id, p->raw->locks.v[i].addr));
	json_end(j);
	finding_frames(w, p->stack->v, p->stack->n);
	json_end(j);
}

static const char *suppression(struct writer *w, const struct hazard_view *v)
{
	return arena_printf(w->arena, "%s:%.*s", words[v->f->kind].kind, (int)strcspn(v->name, "("), v->name);
}

static void hazard_json(struct writer *w, const struct hazard_view *v)
{
	const struct raw_finding *f = v->f;
	assert(v->name && f->parts.len && f->parts.len <= FINDING_MAX_PARTS);
	struct json_out *j = &w->o->json->j;
	if (w->o->json->results.len)
		json_line(j, 0);
	json_begin_object(j, NULL);
	json_text(j, "kind", hazard_kind(f->kind));
	json_text(j, "title", words[f->kind].title);
	json_text(j, "block", v->name);
	if (w->o->json->recorded)
		json_uint(j, "pid", v->report->pid);
	json_text(j, "verdict", "violated");
	json_bool(j, "confirmed", f->kind != FIND_LOCK_ORDER);
	json_uint(j, "count", v->count);
	json_text(j, "thread", finding_thread(w, f->parts.data[0].uid));
	json_text(j, "other", f->parts.len > 1 ? finding_thread(w, f->parts.data[f->parts.len - 1].uid) : "no thread");
	json_begin_array(j, "accesses");
	for (uint32_t i = 0; i < f->parts.len; i++)
		access_json(w, v, &v->parts[i]);
	json_end(j);
	json_line(j, 2);
	json_text(j, "sentence", sentence(w, v));
	finding_threads_json(w, f);
	json_line(j, 2);
	json_text(j, "suppression", suppression(w, v));
	finding_hidden_json(w, v->by, v->known, v->known_line);
	json_end(j);
	w->o->json->count++;
}

/* ---- which are shown ---- */

/* The function of each side: what does not change when lines do. */
static void look_up(struct writer *w, struct hazard_view *v, const struct filter *f)
{
	struct baseline *b = f->baseline;
	assert(b && v->f->parts.len && !v->by);
	const struct src_frame *other = own_frame(v->parts[v->f->parts.len - 1].stack);
	struct baseline_key key = { .function = v->name, .mark = "", .pattern = hazard_kind(v->f->kind), .after = "" };
	key.before = other ? frame_function(w->arena, other) : "";
	struct baseline_entry *e = baseline_find(b, &key);
	v->known = e != NULL;
	if (e) {
		e->hits++;
		v->known_line = e->line;
	} else if (b->learn && b->accept) {
		baseline_learn(b, &key);
		v->known = true;
	}
}

void hazards_rank(struct writer *w, const struct filter *f, struct shown *shown)
{
	for (uint32_t i = 0; i < shown->hazards.len; i++) {
		struct hazard_view *v = shown->hazards.data[i];
		symbols_use(w->sym, v->report);
		symbols_of(w->sym, v->f);
		if (f->baseline && !v->by)
			look_up(w, v, f);
		if (w->o->top && shown->count >= w->o->top && !v->by && !v->known && !w->o->all) {
			shown->hazards_rest++;
			continue;
		}
		hazard_json(w, v);
		avec_push(w->arena, &w->o->json->pids, v->report->pid);
		if (v->by) {
			shown->suppressed++;
		} else if (v->known) {
			shown->known++;
		} else {
			shown->count++;
			shown->confirmed += v->f->kind != FIND_LOCK_ORDER;
			if (f->baseline && f->baseline->learn)
				avec_push(w->arena, &shown->refused,
				          arena_printf(w->arena, "%s (%s)", v->name, hazard_kind(v->f->kind)));
		}
	}
	shown->hazards.len = 0;
}
