/*
 * schedule: schedules as text.
 *
 *     schedule = item { ("," | white space) item }
 *     item     = thread { "." alternative } [ "*" times ]
 *     thread   = number | name | name "." index
 *
 * Numbers are from 1, as the table's heading shows them. A name alone denotes
 * the only thread of that name; of several, the index says which. `#` and
 * `//` begin a comment. A step with nondeterministic choices names the
 * alternative taken at each: 2.1.3 is thread 2 taking the first alternative
 * of its first choice and the third of its second.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "report/step_text.h"
#include "verdict/replay.h"
#include "verify/schedule.h"

#define MAX_ITEMS    10000000u
#define ARENA_BUDGET ((size_t)1 << 30)

void sched_init(struct schedule_list *s)
{
	memset(s, 0, sizeof *s);
	arena_init(&s->arena, ARENA_BUDGET);
	diags_init(&s->diags, &s->arena);
}

void sched_free(struct schedule_list *s)
{
	arena_free(&s->arena);
}

/* ---- reading ------------------------------------------------------------ */

struct schedule_parser {
	struct schedule_list *s;
	const struct ir *p;
	uint32_t at;
};

static char peek(const struct schedule_parser *r)
{
	assert(r->at <= r->s->src.len);
	return r->at < r->s->src.len ? r->s->src.text[r->at] : 0;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Where the text that belongs together with `from` ends. */
static struct span word_span(const struct schedule_parser *r, uint32_t from)
{
	assert(from <= r->s->src.len);
	uint32_t end = from;
	while (end < r->s->src.len && !isspace((unsigned char)r->s->src.text[end]) && r->s->src.text[end] != ',')
		end++;
	return (struct span){ from, end > from ? end : from + 1 };
}

static bool complain(struct schedule_parser *r, uint32_t from, const char *what)
{
	diag_error(&r->s->diags, "schedule", &r->s->src, word_span(r, from), "%s", what);
	diag_hint(&r->s->diags, "a step is a thread, with the alternative it takes where it has "
	                        "a choice: 2, 2.1, worker.2, worker.2.1; 2*5 takes five");
	return false;
}

static bool skip_blank(struct schedule_parser *r)
{
	for (;;) {
		char c = peek(r);
		const char *t = r->s->src.text + r->at;
		if (c == '#' || (c == '/' && t[1] == '/')) {
			while (r->at < r->s->src.len && peek(r) != '\n')
				r->at++;
		} else if (r->at < r->s->src.len && (isspace((unsigned char)c) || c == ',')) {
			r->at++;
		} else {
			return r->at < r->s->src.len;
		}
	}
}

/* A number from 1 on; 0 when there is none or it is too large. */
static uint32_t number(struct schedule_parser *r)
{
	uint64_t n = 0;
	while (isdigit((unsigned char)peek(r))) {
		if (n <= UINT32_MAX)
			n = n * 10 + (uint64_t)(peek(r) - '0');
		r->at++;
	}
	return n < UINT32_MAX ? (uint32_t)n : 0;
}

static bool unknown_name(struct schedule_parser *r, uint32_t from, const char *name)
{
	const char *names[64];
	int n = 0;
	for (uint32_t t = 0; t < r->p->ntemplates && n < 64; t++)
		names[n++] = r->p->templates[t].name;
	int best = nearest_name(name, names, n);
	diag_error(&r->s->diags, "schedule", &r->s->src, word_span(r, from), "the model has no thread '%s'", name);
	if (best >= 0)
		diag_hint(&r->s->diags, "did you mean '%s'?", names[best]);
	return false;
}

static bool thread_by_name(struct schedule_parser *r, uint32_t *thread)
{
	uint32_t from = r->at, t = 0;
	while (is_word(peek(r)))
		r->at++;
	const char *name = arena_strndup(&r->s->arena, r->s->src.text + from, r->at - from);
	while (t < r->p->ntemplates && strcmp(r->p->templates[t].name, name))
		t++;
	if (t == r->p->ntemplates)
		return unknown_name(r, from, name);
	const struct ir_template *tm = &r->p->templates[t];
	uint32_t index = 1;
	if (peek(r) == '.') {
		r->at++;
		index = number(r);
	} else if (tm->count > 1) {
		diag_error(&r->s->diags, "schedule", &r->s->src, word_span(r, from), "there are %u threads '%s'; add an index",
		           tm->count, name);
		diag_hint(&r->s->diags, "%s.1 to %s.%u", name, name, tm->count);
		return false;
	}
	if (index < 1 || index > tm->count) {
		diag_error(&r->s->diags, "schedule", &r->s->src, word_span(r, from), "there %s %u thread%s '%s'",
		           tm->count == 1 ? "is" : "are", tm->count, tm->count == 1 ? "" : "s", name);
		diag_hint(&r->s->diags, "a name is followed by the thread's index, then the alternative: %s.1.2", name);
		return false;
	}
	*thread = tm->first_thread + index - 1;
	assert(*thread < r->p->nthreads);
	return true;
}

static bool thread_by_number(struct schedule_parser *r, uint32_t *thread)
{
	uint32_t from = r->at, n = number(r);
	if (n >= 1 && n <= r->p->nthreads) {
		*thread = n - 1;
		return true;
	}
	diag_error(&r->s->diags, "schedule", r->s->brief ? NULL : &r->s->src, (struct span){ from, r->at },
	           "there is no thread %.*s", (int)(r->at - from), r->s->src.text + from);
	diag_hint(&r->s->diags, "the model's threads are 1 to %u", r->p->nthreads);
	return false;
}

static bool item(struct schedule_parser *r)
{
	struct sched_item it = { .pick = r->s->picks.len, .count = 1 };
	uint32_t from = r->at;
	bool ok = isdigit((unsigned char)peek(r)) ? thread_by_number(r, &it.thread)
	          : is_word(peek(r))              ? thread_by_name(r, &it.thread)
	                                          : complain(r, from, "expected a thread");
	if (!ok)
		return false;
	while (peek(r) == '.') {
		r->at++;
		uint32_t n = number(r);
		if (n < 1 || it.npick == IR_MAX_CHOICES)
			return complain(r, from, "expected the number of an alternative (from 1) after the '.'");
		avec_push(&r->s->arena, &r->s->picks, n - 1);
		it.npick++;
	}
	if (peek(r) == '*') {
		r->at++;
		it.count = number(r);
		if (it.count < 1 || it.count > MAX_ITEMS)
			return complain(r, from, "expected a repeat count (1 to 10000000) after the '*'");
	}
	if (r->at < r->s->src.len && !isspace((unsigned char)peek(r)) && peek(r) != ',' && peek(r) != '#')
		return complain(r, from, "this is not a step");
	it.span = (struct span){ from, r->at };
	assert(it.npick <= IR_MAX_CHOICES && it.pick + it.npick == r->s->picks.len);
	assert(it.thread < r->p->nthreads && it.count && it.span.start < it.span.end);
	avec_push(&r->s->arena, &r->s->items, it);
	return true;
}

static bool parse(struct schedule_list *s, const struct ir *p)
{
	struct schedule_parser r = { .s = s, .p = p };
	uint64_t total = 0;
	while (skip_blank(&r)) {
		if (!item(&r))
			return false;
		total += s->items.data[s->items.len - 1].count;
		assert(r.at <= s->src.len);
		if (total > MAX_ITEMS)
			return complain(&r, s->items.data[s->items.len - 1].span.start,
			                "the schedule has more than 10000000 steps");
	}
	if (s->items.len)
		return true;
	diag_error(&s->diags, "schedule", NULL, (struct span){ 0, 0 }, "%s: contains no step", s->src.name);
	return false;
}

static bool guarded(struct schedule_list *s, const struct ir *p, bool (*read)(struct schedule_list *, const char *),
                    const char *arg)
{
	assert(!s->items.len && !s->picks.len); /* a list is read once */
	jmp_buf oom;
	if (setjmp(oom)) {
		arena_free(&s->arena);
		sched_init(s);
		diag_error(&s->diags, "schedule", NULL, (struct span){ 0, 0 }, "out of memory while reading the schedule");
		return false;
	}
	s->arena.oom = &oom;
	bool ok = read(s, arg) && parse(s, p);
	s->arena.oom = NULL;
	assert(ok || s->diags.errors);
	return ok;
}

static bool read_file(struct schedule_list *s, const char *path)
{
	struct why why;
	if (source_read(&s->src, &s->arena, path, &why))
		return true;
	diag_error(&s->diags, "schedule", NULL, (struct span){ 0, 0 }, "cannot read the schedule '%s': %s", path, why.text);
	return false;
}

static bool read_text(struct schedule_list *s, const char *text)
{
	source_from_text(&s->src, &s->arena, s->src.name, text, strlen(text));
	return true;
}

bool sched_parse(struct schedule_list *s, const struct ir *p, const char *name, const char *text)
{
	assert(name && text);
	s->src.name = name;
	return guarded(s, p, read_text, text);
}

bool sched_read(struct schedule_list *s, const struct ir *p, const char *arg)
{
	struct stat st;
	if (arg[0] == '@')
		return guarded(s, p, read_file, arg + 1);
	bool plain = arg[strspn(arg, "0123456789.,* \t\n")] == 0;
	if (!plain && stat(arg, &st) == 0 && !S_ISDIR(st.st_mode))
		return guarded(s, p, read_file, arg);
	return sched_parse(s, p, "--schedule", arg);
}

/* ---- taking its steps --------------------------------------------------- */

static void note_enabled(struct schedule_list *s, struct run *r)
{
	struct buf b;
	uint32_t n = 0, shown = 0;
	buf_init(&b);
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		if (!run_enabled(r, t))
			continue;
		if (n++ >= 12)
			continue;
		buf_str(&b, shown++ ? ", " : "");
		text_who(r->ir, t, &b);
	}
	if (n > shown)
		buf_printf(&b, " and %u more", n - shown);
	diag_note(&s->diags, NULL, (struct span){ 0, 0 }, "%s%s", n ? "threads that can move here: " : "no thread can move here",
	          buf_cstr(&b));
	buf_free(&b);
}

static void note_alternatives(struct schedule_list *s, struct run *r, uint32_t thread)
{
	assert(thread < r->ir->nthreads);
	struct run_outcome out[8];
	uint32_t n = run_outcomes(r, thread, out, 8);
	assert(n < UINT32_MAX);
	struct buf b;
	buf_init(&b);
	for (uint32_t i = 0; i < n && i < 8; i++) {
		buf_clear(&b);
		if (run_step(r, thread, out[i].pick, out[i].npick) > RUN_FAULT)
			continue;
		schedule_text_step(r, r->nsteps - 1, &b);
		buf_str(&b, "  ");
		text_step(r, r->nsteps - 1, glyphs_for(false), &b);
		run_undo(r);
		diag_note(&s->diags, NULL, (struct span){ 0, 0 }, "%s", buf_cstr(&b));
	}
	if (n > 8)
		diag_note(&s->diags, NULL, (struct span){ 0, 0 }, "... and more");
	buf_free(&b);
}

static void refuse(struct schedule_list *s, struct run *r, const struct sched_item *it, uint32_t position, enum run_status why)
{
	assert(why > RUN_FAULT && why != RUN_NO_THREAD);
	assert(position >= 1);
	struct buf b;
	buf_init(&b);
	text_who(r->ir, it->thread, &b);
	switch (why) {
	case RUN_FINISHED:
	case RUN_BLOCKED:
	case RUN_STUCK:
		buf_str(&b, " cannot move: it ");
		text_wait(r, it->thread, &b);
		break;
	case RUN_PICKS:
		buf_str(&b, it->npick ? " has one more choice here: add the alternative it takes"
		                      : " has a choice here: add the alternative it takes");
		break;
	case RUN_NO_PICK:
		buf_str(&b, run_outcomes(r, it->thread, NULL, 0) ? " has no such alternative here" : " cannot move here");
		break;
	case RUN_FORBIDDEN:
		buf_str(&b, " cannot take this alternative: an assume forbids it");
		break;
	case RUN_OVER:
		buf_printf(&b, " cannot move: the run ended with a fault at position %u", position - 1);
		break;
	default:
		buf_str(&b, " cannot be recorded: out of memory");
	}
	if (s->brief)
		diag_error(&s->diags, "schedule", NULL, it->span, "%s", buf_cstr(&b));
	else
		diag_error(&s->diags, "schedule", &s->src, it->span, "position %u: %s", position, buf_cstr(&b));
	buf_free(&b);
	if (why == RUN_PICKS || why == RUN_NO_PICK || why == RUN_FORBIDDEN)
		note_alternatives(s, r, it->thread);
	else if (why != RUN_OVER && why != RUN_MEMORY)
		note_enabled(s, r);
}

bool sched_run(struct schedule_list *s, struct run *r)
{
	uint32_t position = 0;
	for (uint32_t i = 0; i < s->items.len; i++) {
		const struct sched_item *it = &s->items.data[i];
		assert(it->thread < r->ir->nthreads && it->pick + it->npick <= s->picks.len);
		for (uint32_t k = 0; k < it->count; k++) {
			position++;
			const uint32_t *picks = it->npick ? s->picks.data + it->pick : NULL;
			enum run_status st = run_step(r, it->thread, picks, it->npick);
			assert(st > RUN_FAULT || r->nsteps);
			/* the first alternative of a step that has one only */
			if (st == RUN_NO_PICK && it->npick == 1 && picks[0] == 0)
				st = run_step(r, it->thread, NULL, 0);
			if (st <= RUN_FAULT)
				continue;
			refuse(s, r, it, position, st);
			return false;
		}
	}
	assert(position >= s->items.len);
	return true;
}

/* ---- writing ------------------------------------------------------------ */

bool sched_save(const struct run *r, const char *path, const char *model, struct why *why)
{
	struct buf b;
	FILE *f = fopen(path, "w");
	if (!f)
		return why_set(why, "%s", strerror(errno));
	buf_init(&b);
	buf_str(&b, "# schedule of ");
	buf_safe(&b, model, strlen(model));
	buf_printf(&b, ", %u steps\n", r->nsteps);
	for (uint32_t i = 0; i < r->nsteps; i++) {
		schedule_text_step(r, i, &b);
		buf_char(&b, i % 20 == 19 || i + 1 == r->nsteps ? '\n' : ',');
	}
	bool ok = buf_flush(&b, f);
	assert(!ok || !b.len);
	if (fclose(f) != 0)
		ok = false;
	if (!ok)
		why_set(why, "the file could not be written");
	buf_free(&b);
	return ok;
}
