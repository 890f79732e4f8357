#include "judge/object_scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000 }; /* scenarios of a shape that are enumerated */

/* ---- slots: what one call can be ---- */

static bool may_call(const struct objtest_op *op, uint32_t thread)
{
	return !op->threads || op->threads >> (thread - 1) & 1;
}

static uint64_t values_of(const struct objtest_arg *a)
{
	return a->kind == OBJTEST_ARG_RANGE ? (uint64_t)a->hi - (uint64_t)a->lo + 1 : 1;
}

/* How many calls `thread` has to choose from; MOST + 1: more than that. */
static uint64_t choices(const struct objtest_about *a, uint32_t thread)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < a->nops; i++) {
		uint64_t n = may_call(&a->op[i], thread);
		for (uint32_t k = 0; k < OBJTEST_ARGS && n; k++) {
			uint64_t v = values_of(&a->op[i].arg[k]);
			n = !v || v > MOST || n * v > MOST ? MOST + 1 : n * v;
		}
		sum += n;
		if (sum > MOST)
			return MOST + 1;
	}
	return sum;
}

/* The call with this number among the choices of `thread`. */
static struct objtest_call choice(const struct objtest_about *a, uint32_t thread, uint64_t number)
{
	struct objtest_call c = { .thread = (uint8_t)thread, .part = OBJTEST_PARALLEL };
	for (uint32_t i = 0; i < a->nops; i++) {
		uint64_t n = may_call(&a->op[i], thread);
		for (uint32_t k = 0; k < OBJTEST_ARGS && n; k++)
			n *= values_of(&a->op[i].arg[k]);
		if (number >= n) {
			number -= n;
			continue;
		}
		c.op = (uint16_t)i;
		for (uint32_t k = OBJTEST_ARGS; k-- > 0;) {
			uint64_t v = values_of(&a->op[i].arg[k]);
			if (a->op[i].arg[k].kind == OBJTEST_ARG_RANGE)
				c.arg[k] = a->op[i].arg[k].lo + (int64_t)(number % v);
			number /= v;
		}
		return c;
	}
	return c;
}

/* Drawn: first the operation, so that one with many arguments is not preferred. */
static struct objtest_call draw(const struct objtest_about *a, uint32_t thread, struct rng *r)
{
	struct objtest_call c = { .thread = (uint8_t)thread, .part = OBJTEST_PARALLEL };
	uint32_t may[OBJTEST_OPS], n = 0;
	for (uint32_t i = 0; i < a->nops; i++)
		if (may_call(&a->op[i], thread))
			may[n++] = i;
	c.op = (uint16_t)(n ? may[rng_below(r, n)] : 0);
	for (uint32_t k = 0; k < OBJTEST_ARGS; k++) {
		const struct objtest_arg *g = &a->op[c.op].arg[k];
		uint64_t v = values_of(g);
		if (g->kind == OBJTEST_ARG_RANGE)
			c.arg[k] = (int64_t)((uint64_t)g->lo + (v ? rng_next(r) % v : rng_next(r)));
	}
	return c;
}

/* May threads t and u call the same operations? */
static bool alike(const struct objtest_about *a, uint32_t t, uint32_t u)
{
	for (uint32_t i = 0; i < a->nops; i++)
		if (may_call(&a->op[i], t) != may_call(&a->op[i], u))
			return false;
	return true;
}

/* ---- whole scenarios ---- */

/* The calls before and after around the parallel ones that are there, and values for unique arguments. */
static void finish(const struct objtest_about *a, struct objtest_scenario *s)
{
	struct objtest_scenario whole = { .nthreads = s->nthreads };
	int64_t next = 1;
	for (uint32_t i = 0; i < a->nbefore; i++) {
		whole.call[whole.ncalls++] = a->before[i];
		for (uint32_t k = 0; k < OBJTEST_ARGS; k++)
			if (a->op[a->before[i].op].arg[k].kind == OBJTEST_ARG_UNIQUE && a->before[i].arg[k] >= next)
				next = a->before[i].arg[k] + 1;
	}
	for (uint32_t i = 0; i < s->ncalls; i++) {
		struct objtest_call c = s->call[i];
		if (c.part != OBJTEST_PARALLEL)
			continue;
		for (uint32_t k = 0; k < OBJTEST_ARGS; k++)
			if (a->op[c.op].arg[k].kind == OBJTEST_ARG_UNIQUE)
				c.arg[k] = next++;
		whole.call[whole.ncalls++] = c;
	}
	for (uint32_t i = 0; i < a->nafter; i++)
		whole.call[whole.ncalls++] = a->after[i];
	*s = whole;
}

static uint32_t room(const struct objtest_about *a)
{
	return OBJTEST_CALLS - a->nbefore - a->nafter;
}
_Static_assert(2 * OBJTEST_LISTED < OBJTEST_CALLS, "there is room for parallel calls");

static int compare_columns(const struct objtest_scenario *s, uint32_t each, uint32_t t, uint32_t u)
{
	for (uint32_t i = 0; i < each; i++) {
		const struct objtest_call *x = &s->call[(t - 1) * each + i], *y = &s->call[(u - 1) * each + i];
		if (x->op != y->op)
			return x->op < y->op ? -1 : 1;
		for (uint32_t k = 0; k < OBJTEST_ARGS; k++)
			if (x->arg[k] != y->arg[k])
				return x->arg[k] < y->arg[k] ? -1 : 1;
	}
	return 0;
}

/* Columns of threads that are alike ascend: of symmetric scenarios one is so. Before unique values are given. */
static bool is_canonical(const struct objtest_about *a, const struct objtest_scenario *s, uint32_t each)
{
	for (uint32_t t = 1; t < s->nthreads; t++)
		for (uint32_t u = t + 1; u <= s->nthreads; u++)
			if (alike(a, t, u)) {
				if (compare_columns(s, each, t, u) > 0)
					return false;
				break;
			}
	return true;
}

static void swap_columns(struct objtest_scenario *s, uint32_t each, uint32_t t, uint32_t u)
{
	for (uint32_t i = 0; i < each; i++) {
		struct objtest_call *x = &s->call[(t - 1) * each + i], *y = &s->call[(u - 1) * each + i], z = *x;
		*x = *y;
		*y = z;
		x->thread = (uint8_t)t;
		y->thread = (uint8_t)u;
	}
}

static void make_canonical(const struct objtest_about *a, struct objtest_scenario *s, uint32_t each)
{
	for (uint32_t t = 1; t < s->nthreads; t++)
		for (uint32_t u = t + 1; u <= s->nthreads; u++)
			if (alike(a, t, u) && compare_columns(s, each, t, u) > 0)
				swap_columns(s, each, t, u);
}

/* ---- enumeration ---- */

static bool step(struct scenario_source *s, struct scenario_shape shape)
{
	for (uint32_t i = shape.threads * shape.each; i-- > 0;) {
		if (++s->digit[i] < choices(s->about, i / shape.each + 1))
			return true;
		s->digit[i] = 0;
	}
	return false;
}

static void from_digits(const struct scenario_source *s, struct scenario_shape shape, struct objtest_scenario *out)
{
	*out = (struct objtest_scenario){ .nthreads = shape.threads };
	for (uint32_t t = 1; t <= shape.threads; t++)
		for (uint32_t i = 0; i < shape.each; i++) {
			out->call[out->ncalls] = choice(s->about, t, s->digit[out->ncalls]);
			out->ncalls++;
		}
}

static bool next_enumerated(struct scenario_source *s, struct objtest_scenario *out)
{
	while (s->at < s->nshapes) {
		struct scenario_shape shape = s->shape[s->at];
		bool more = true;
		if (!s->under_way) {
			memset(s->digit, 0, sizeof s->digit);
			s->under_way = true;
			for (uint32_t t = 1; t <= shape.threads; t++)
				more &= choices(s->about, t) > 0;
		} else {
			more = step(s, shape);
		}
		for (; more; more = step(s, shape)) {
			from_digits(s, shape, out);
			if (is_canonical(s->about, out, shape.each)) {
				finish(s->about, out);
				return true;
			}
		}
		s->under_way = false;
		s->at++;
	}
	return false;
}

uint32_t scenario_idle_thread(const struct objtest_about *a, struct scenario_shape shape)
{
	for (uint32_t t = 1; t <= shape.threads; t++)
		if (!choices(a, t))
			return t;
	return 0;
}

uint64_t scenario_count(const struct objtest_about *a, struct scenario_shape shape)
{
	uint64_t n = 1;
	for (uint32_t t = 1; t <= shape.threads; t++)
		for (uint32_t i = 0; i < shape.each; i++) {
			n *= choices(a, t);
			if (n > MOST)
				return 0;
		}
	return n;
}

/* ---- drawing ---- */

static uint64_t hash_of(const struct objtest_scenario *s)
{
	uint64_t h = s->nthreads;
	for (uint32_t i = 0; i < s->ncalls; i++) {
		h = (h ^ s->call[i].op ^ (uint64_t)s->call[i].thread << 32) * 0x9e3779b97f4a7c15u;
		for (uint32_t k = 0; k < OBJTEST_ARGS; k++)
			h = (h ^ h >> 29 ^ (uint64_t)s->call[i].arg[k]) * 0xd1b54a32d192ed03u;
	}
	return h;
}

/* False: it was there already, or there is no memory to know. */
static bool remember(struct scenario_source *s, uint64_t h)
{
	for (uint32_t i = 0; i < s->nseen; i++)
		if (s->seen[i] == h)
			return false;
	if (s->nseen == s->cap_seen) {
		uint32_t cap = s->cap_seen ? s->cap_seen * 2 : 256;
		uint64_t *p = realloc(s->seen, cap * sizeof *p);
		if (!p)
			return true;
		s->seen = p;
		s->cap_seen = cap;
	}
	s->seen[s->nseen++] = h;
	return true;
}

/* Small shapes come first: what they show is easier to read. */
static bool next_drawn(struct scenario_source *s, struct objtest_scenario *out)
{
	while (s->given < s->limit) {
		uint64_t share = (s->limit + s->nshapes - 1) / s->nshapes;
		uint32_t at = (uint32_t)(s->given / share);
		struct scenario_shape shape = s->shape[at < s->nshapes ? at : s->nshapes - 1];
		for (uint32_t tries = 0; tries < 20; tries++) {
			*out = (struct objtest_scenario){ .nthreads = shape.threads };
			for (uint32_t t = 1; t <= shape.threads; t++)
				for (uint32_t i = 0; i < shape.each; i++)
					out->call[out->ncalls++] = draw(s->about, t, &s->rng);
			make_canonical(s->about, out, shape.each);
			if (remember(s, hash_of(out))) {
				finish(s->about, out);
				s->given++;
				return true;
			}
		}
		s->given++; /* there are few of this shape, and they were tried */
	}
	return false;
}

bool scenario_next(struct scenario_source *s, struct objtest_scenario *out)
{
	if (s->has_only) {
		*out = s->only;
		return s->given++ == 0;
	}
	return s->enumerate ? next_enumerated(s, out) : next_drawn(s, out);
}

void scenario_source_free(struct scenario_source *s)
{
	free(s->seen);
	s->seen = NULL;
	s->nseen = s->cap_seen = 0;
}

/* ---- text ---- */

static bool number_read(const char **p, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long n = **p >= '0' && **p <= '9' ? strtoul(*p, &end, 10) : 0;
	if (!n || n > max)
		return false;
	*p = end;
	*out = (uint32_t)n;
	return true;
}

bool scenario_shapes_read(struct scenario_source *s, const char *text, struct buf *err)
{
	const char *p = text;
	for (s->nshapes = 0; s->nshapes < SCENARIO_SHAPES; p++) {
		struct scenario_shape *x = &s->shape[s->nshapes];
		bool ok = number_read(&p, OBJTEST_THREADS, &x->threads) && *p++ == 'x' &&
		          number_read(&p, OBJTEST_CALLS, &x->each) && x->threads * x->each <= room(s->about) && (!*p || *p == ',');
		if (!ok) {
			buf_printf(err,
			           "--shape: expected THREADSxCALLS, such as 2x2,3x1, with at most %d threads and %u calls in all; "
			           "got '",
			           OBJTEST_THREADS, room(s->about));
			buf_safe(err, text, strlen(text));
			buf_str(err, "'");
			return false;
		}
		s->nshapes++;
		if (!*p)
			return true;
	}
	buf_printf(err, "--shape: more than %d shapes", SCENARIO_SHAPES);
	return false;
}

static uint32_t arguments(const struct objtest_op *op)
{
	uint32_t n = 0;
	while (n < OBJTEST_ARGS && op->arg[n].kind)
		n++;
	return n;
}

static bool text_error(struct buf *err, const char *text, const char *at, const char *what)
{
	buf_printf(err, "--scenario: %s\n  ", what);
	buf_safe(err, text, strlen(text));
	buf_str(err, "\n  ");
	buf_repeat(err, ' ', (size_t)(at - text));
	buf_char(err, '^');
	return false;
}

static const char *blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* NAME(ARGUMENT, ...) at *p, which moves behind it. NULL, or what is wrong there. Thread 0: main. */
static const char *call_read(const struct objtest_about *a, const char **p, uint32_t thread, uint8_t part, struct objtest_call *c)
{
	size_t n = strcspn(*p, "(|)[] \t");
	*c = (struct objtest_call){ .thread = (uint8_t)thread, .part = part };
	while (c->op < a->nops && (strlen(a->op[c->op].name) != n || memcmp(a->op[c->op].name, *p, n) != 0))
		c->op++;
	if (c->op == a->nops)
		return "the object has no such operation";
	if (thread && !may_call(&a->op[c->op], thread))
		return "this operation is not for this thread";
	*p = blanks(*p + n);
	if (**p != '(')
		return "expected ( and the arguments";
	*p = blanks(*p + 1);
	for (uint32_t k = 0; k < arguments(&a->op[c->op]); k++) {
		char *end;
		if (k && **p != ',')
			return "expected , and another argument";
		*p = blanks(*p + (k > 0));
		c->arg[k] = strtoll(*p, &end, 10);
		if (end == *p)
			return "expected a number";
		*p = blanks(end);
	}
	if (**p != ')')
		return "expected )";
	*p = blanks(*p + 1);
	return NULL;
}

/* [CALL ...], main's, at *p; NULL, or what is wrong there. */
static const char *main_read(const struct objtest_about *a, const char **p, uint8_t part, struct objtest_scenario *out)
{
	for (*p = blanks(*p + 1); **p != ']'; out->ncalls++) {
		if (out->ncalls == OBJTEST_CALLS)
			return "too many calls";
		const char *wrong = **p ? call_read(a, p, 0, part, &out->call[out->ncalls]) : "expected ]";
		if (wrong)
			return wrong;
	}
	*p = blanks(*p + 1);
	return NULL;
}

static void add_listed(struct objtest_scenario *s, const struct objtest_call *list, uint32_t n)
{
	for (uint32_t i = 0; i < n && s->ncalls < OBJTEST_CALLS; i++)
		s->call[s->ncalls++] = list[i];
}

bool scenario_read(const struct objtest_about *a, const char *text, struct objtest_scenario *out, struct buf *err)
{
	const char *p = blanks(text), *wrong = NULL;
	uint32_t parallel = 0;
	*out = (struct objtest_scenario){ .nthreads = 1 };
	if (*p == '[')
		wrong = main_read(a, &p, OBJTEST_BEFORE, out);
	else
		add_listed(out, a->before, a->nbefore);
	while (!wrong && *p && *p != '[') {
		if (*p == '|') {
			if (out->nthreads == OBJTEST_THREADS) {
				wrong = "too many threads";
			} else {
				out->nthreads++;
				p = blanks(p + 1);
			}
		} else if (out->ncalls == OBJTEST_CALLS) {
			wrong = "too many calls";
		} else {
			wrong = call_read(a, &p, out->nthreads, OBJTEST_PARALLEL, &out->call[out->ncalls++]);
			parallel++;
		}
	}
	if (!wrong && !parallel)
		wrong = "expected a call, such as push(1)";
	if (!wrong && *p == '[')
		wrong = main_read(a, &p, OBJTEST_AFTER, out);
	else if (!wrong && out->ncalls + a->nafter > OBJTEST_CALLS)
		wrong = "too many calls";
	else if (!wrong)
		add_listed(out, a->after, a->nafter);
	if (!wrong && *p)
		wrong = "expected the end";
	return wrong ? text_error(err, text, p, wrong) : true;
}

void scenario_call_write(const struct objtest_about *a, const struct objtest_call *c, struct buf *out)
{
	const struct objtest_op *op = &a->op[c->op];
	buf_safe(out, op->name, strlen(op->name));
	buf_char(out, '(');
	for (uint32_t k = 0; k < arguments(op); k++)
		buf_printf(out, "%s%" PRId64, k ? ", " : "", c->arg[k]);
	buf_char(out, ')');
}

void scenario_result_write(const struct objtest_about *a, const struct objtest_call *c, int64_t result, struct buf *out)
{
	if (result == OBJTEST_RESULT_VOID)
		buf_str(out, "done");
	else if (result == OBJTEST_RESULT_EMPTY)
		buf_str(out, "empty");
	else if (result == OBJTEST_RESULT_FULL)
		buf_str(out, "full");
	else if (a->op[c->op].flags & OBJTEST_BOOLEAN)
		buf_str(out, result ? "true" : "false");
	else
		buf_printf(out, "%" PRId64, result);
}

static void write_part(const struct objtest_about *a, const struct objtest_scenario *s, unsigned part, uint32_t thread,
                       struct buf *out)
{
	bool any = false;
	for (uint32_t i = 0; i < s->ncalls; i++)
		if (s->call[i].part == part && s->call[i].thread == thread) {
			buf_str(out, any ? " " : "");
			scenario_call_write(a, &s->call[i], out);
			any = true;
		}
}

void scenario_write(const struct objtest_about *a, const struct objtest_scenario *s, struct buf *out)
{
	if (a->nbefore) {
		buf_char(out, '[');
		write_part(a, s, OBJTEST_BEFORE, 0, out);
		buf_str(out, "] ");
	}
	for (uint32_t t = 1; t <= s->nthreads; t++) {
		buf_str(out, t > 1 ? " | " : "");
		write_part(a, s, OBJTEST_PARALLEL, t, out);
	}
	if (a->nafter) {
		buf_str(out, " [");
		write_part(a, s, OBJTEST_AFTER, 0, out);
		buf_char(out, ']');
	}
}

/* ---- smaller ones ---- */

/* Without the calls that `without` names; threads that have none left are gone, if that changes no other thread's role. */
static void drop(const struct objtest_about *a, const struct objtest_scenario *s, uint64_t without, struct objtest_scenario *out)
{
	uint32_t number[OBJTEST_THREADS + 1] = { 0 }, n = 0;
	bool same = true;
	for (uint32_t t = 1; t <= s->nthreads; t++) {
		bool any = false;
		for (uint32_t i = 0; i < s->ncalls; i++)
			any |= s->call[i].part == OBJTEST_PARALLEL && s->call[i].thread == t && !(without >> i & 1);
		number[t] = any ? ++n : 0;
		same &= !any || alike(a, t, n);
	}
	*out = (struct objtest_scenario){ .nthreads = same ? n : s->nthreads };
	for (uint32_t i = 0; i < s->ncalls; i++)
		if (!(without >> i & 1)) {
			out->call[out->ncalls] = s->call[i];
			if (same && s->call[i].part == OBJTEST_PARALLEL)
				out->call[out->ncalls].thread = (uint8_t)number[s->call[i].thread];
			out->ncalls++;
		}
}

static uint64_t calls_of(const struct objtest_scenario *s, uint32_t thread)
{
	uint64_t set = 0;
	for (uint32_t i = 0; i < s->ncalls; i++)
		if (s->call[i].part == OBJTEST_PARALLEL && s->call[i].thread == thread)
			set |= 1ull << i;
	return set;
}

bool scenario_smaller(const struct objtest_about *a, const struct objtest_scenario *s, uint32_t nth, struct objtest_scenario *out)
{
	uint64_t parallel = 0;
	for (uint32_t t = 1; t <= s->nthreads; t++)
		parallel |= calls_of(s, t);
	for (uint32_t t = 1; t <= s->nthreads; t++) {
		uint64_t without = calls_of(s, t);
		if (without && without != parallel && nth-- == 0) {
			drop(a, s, without, out);
			return true;
		}
	}
	/* calls, the last first; main's, too */
	for (uint32_t i = s->ncalls; i-- > 0;)
		if (parallel != 1ull << i && nth-- == 0) {
			drop(a, s, 1ull << i, out);
			return true;
		}
	for (uint32_t i = 0; i < s->ncalls; i++)
		for (uint32_t k = 0; k < OBJTEST_ARGS; k++) {
			const struct objtest_arg *g = &a->op[s->call[i].op].arg[k];
			if (g->kind != OBJTEST_ARG_RANGE || s->call[i].part != OBJTEST_PARALLEL || s->call[i].arg[k] <= g->lo)
				continue;
			if (nth-- == 0) {
				*out = *s;
				out->call[i].arg[k] = g->lo;
				return true;
			}
		}
	return false;
}

bool scenario_renumber(const struct objtest_about *a, const struct objtest_scenario *s, struct objtest_scenario *out)
{
	int64_t next = 1;
	bool changed = false;
	*out = *s;
	for (uint32_t i = 0; i < s->ncalls; i++)
		for (uint32_t k = 0; k < OBJTEST_ARGS; k++)
			if (a->op[s->call[i].op].arg[k].kind == OBJTEST_ARG_UNIQUE) {
				changed |= out->call[i].arg[k] != next;
				out->call[i].arg[k] = next++;
			}
	return changed;
}
