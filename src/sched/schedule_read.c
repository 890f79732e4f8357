/*
 * schedule_read: a schedule file's text. See schedule.h for the format.
 *
 * One pass over the lines; the arrays are laid out beforehand from a count of
 * the lines by their first letter, so that nothing grows. Input is hostile:
 * every number is bounded where it is read, and nothing is believed that a
 * later line has to confirm.
 */
#include "base/invariant.h"
#include "sched/schedule.h"
#include "sched/session.h"

enum {
	LINE_MAX = 64 << 10,
	LISTS_MAX = 4096, /* arguments, environment, settings */
	MODULES_MAX = 1024,
	POINTS_MAX = 65536,
	STEPS_MAX = 10000000,
};

struct schedule_reader {
	struct schedule *f;
	const char *start, *at, *end; /* of the line */
	uint32_t line;
	char *strings, *strings_end; /* where strings go */
	struct schedule_error *error;
	uint32_t max_modules, max_points, max_threads, max_steps, max_lists;
	bool program, seed, ended;
};

static bool fail(struct schedule_reader *r, const char *from, const char *message, const char *hint)
{
	assert(from >= r->start && from <= r->end && message);
	uint32_t column = (uint32_t)(from - r->start) + 1, left = (uint32_t)(r->end - from);
	uint32_t n = 0;
	while (n < left && from[n] != ' ')
		n++;
	*r->error = (struct schedule_error){ r->line, column, n ? n : 1, message, hint };
	return false;
}

static void spaces(struct schedule_reader *r)
{
	assert(r->at >= r->start && r->at <= r->end);
	while (r->at < r->end && *r->at == ' ')
		r->at++;
}

static bool word(struct schedule_reader *r, const char *w)
{
	const char *p = r->at;
	spaces(r);
	const char *q = r->at;
	while (*w && q < r->end && *q == *w)
		q++, w++;
	if (*w || (q < r->end && *q != ' ')) {
		r->at = p;
		return false;
	}
	r->at = q;
	return true;
}

static bool at_end(struct schedule_reader *r)
{
	spaces(r);
	return r->at == r->end || fail(r, r->at, "unexpected text at the end of the line", NULL);
}

/* number := digits | 0x hexdigits, at most max */
static bool number(struct schedule_reader *r, uint64_t max, uint64_t *x)
{
	spaces(r);
	const char *from = r->at;
	bool hex = r->end - r->at > 2 && r->at[0] == '0' && r->at[1] == 'x';
	uint64_t v = 0, base = hex ? 16 : 10;
	r->at += hex ? 2 : 0;
	const char *digits = r->at;
	for (; r->at < r->end; r->at++) {
		char c = *r->at;
		uint64_t d = c >= '0' && c <= '9'          ? (uint64_t)(c - '0')
		             : hex && c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
		                                           : 99;
		if (d == 99)
			break;
		if (v > (UINT64_MAX - d) / base)
			return fail(r, from, "number too large", NULL);
		v = v * base + d;
	}
	if (r->at == digits)
		return fail(r, from, "expected a number", NULL);
	if (v > max)
		return fail(r, from, "number out of range", NULL);
	*x = v;
	return true;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* string := " characters with \" \\ \n \t \xNN " */
static bool string(struct schedule_reader *r, const char **s)
{
	assert(r->strings <= r->strings_end);
	spaces(r);
	const char *from = r->at;
	if (r->at == r->end || *r->at != '"')
		return fail(r, from, "expected a string in double quotes", NULL);
	char *out = r->strings;
	*s = out;
	for (r->at++; r->at < r->end && *r->at != '"'; r->at++) {
		char c = *r->at;
		if (c == '\\') {
			char e = ++r->at < r->end ? *r->at : 0;
			int a, b;
			if (e == 'n' || e == 't' || e == '"' || e == '\\')
				c = e == 'n' ? '\n' : e == 't' ? '\t' : e;
			else if (e == 'x' && r->end - r->at > 2 && (a = hex_digit(r->at[1])) >= 0 &&
			         (b = hex_digit(r->at[2])) >= 0 && (a || b)) {
				c = (char)(a * 16 + b);
				r->at += 2;
			} else
				return fail(r, r->at - 1, "unknown escape in a string", "use \\\" \\\\ \\n \\t or \\xNN");
		}
		if (r->strings_end - out < 2)
			return fail(r, from, "file too large", NULL);
		*out++ = c;
	}
	if (r->at == r->end)
		return fail(r, from, "string without its closing quote", NULL);
	r->at++;
	*out++ = 0;
	r->strings = out;
	return true;
}

/* place := - | module + offset */
static bool place(struct schedule_reader *r, struct schedule_place *p)
{
	spaces(r);
	const char *from = r->at;
	uint64_t m, offset;
	if (r->at < r->end && *r->at == '-') {
		r->at++;
		*p = (struct schedule_place){ SCHEDULE_NOWHERE, 0 };
		return true;
	}
	if (!number(r, UINT32_MAX, &m))
		return false;
	if (m >= r->f->n_modules)
		return fail(r, from, "no such module", "modules are declared before they are used");
	if (r->at == r->end || *r->at != '+')
		return fail(r, r->at, "expected '+' and an offset", "a place is MODULE+OFFSET, or - for none");
	r->at++;
	if (!number(r, UINT64_MAX, &offset))
		return false;
	*p = (struct schedule_place){ (uint32_t)m, offset };
	return true;
}

static bool in_list(struct schedule_reader *r, const char **list, uint32_t *n)
{
	if (*n >= r->max_lists)
		return fail(r, r->start, "too many of these lines", NULL);
	return string(r, &list[(*n)++]) && at_end(r);
}

static bool read_module(struct schedule_reader *r)
{
	struct schedule *f = r->f;
	const char *from = r->at;
	uint64_t i;
	if (!number(r, MODULES_MAX, &i))
		return false;
	if (i != f->n_modules || i >= r->max_modules)
		return fail(r, from + 1, "modules are numbered 0, 1, 2, ...", NULL);
	struct schedule_module *m = &f->modules[i];
	*m = (struct schedule_module){ .build_id = "" };
	if (!string(r, &m->name))
		return false;
	if (word(r, "build-id")) {
		spaces(r);
		m->build_id = r->strings;
		while (r->at < r->end && hex_digit(*r->at) >= 0 && r->strings < r->strings_end - 1)
			*r->strings++ = *r->at++;
		if (m->build_id == r->strings)
			return fail(r, r->at, "expected a build id in hexadecimal", NULL);
		*r->strings++ = 0;
	}
	f->n_modules++;
	return at_end(r);
}

static bool read_thread(struct schedule_reader *r)
{
	struct schedule *f = r->f;
	const char *from = r->at;
	uint64_t t, parent, child;
	if (!number(r, SCHED_THREADS_MAX - 1, &t))
		return false;
	if (t != f->n_threads || t >= r->max_threads)
		return fail(r, from + 1, "threads are numbered 1, 2, 3, ...", "thread 0 is main and has no line");
	if (!word(r, "parent") || !number(r, t - 1, &parent))
		return r->error->message ? false : fail(r, r->at, "expected 'parent' and an earlier thread", NULL);
	if (!word(r, "child") || !number(r, SCHED_THREADS_MAX, &child))
		return r->error->message ? false : fail(r, r->at, "expected 'child' and a number", NULL);
	f->origins[f->n_threads++] = (struct sched_origin){ (uint32_t)parent, (uint32_t)child };
	return at_end(r);
}

static bool read_step(struct schedule_reader *r)
{
	struct schedule *f = r->f;
	if (f->n_steps >= r->max_steps)
		return fail(r, r->start, "too many steps", "at most 10,000,000");
	assert(f->n_threads >= 1 && f->n_threads <= r->max_threads);
	struct sched_event *e = &f->steps[f->n_steps];
	struct schedule_place *p = &f->places[f->n_steps];
	uint64_t t, c, n;
	const char *from = r->at + 1;
	*e = (struct sched_event){ .value = NONE };
	if (!number(r, SCHED_THREADS_MAX - 1, &t))
		return false;
	if (t >= f->n_threads)
		return fail(r, from, "no such thread", "threads are declared before the steps");
	e->thread = (uint32_t)t;
	spaces(r);
	const char *kind = r->at;
	while (r->at < r->end && *r->at != ' ')
		r->at++;
	e->op.kind = sched_kind_of(kind, (uint32_t)(r->at - kind));
	if (e->op.kind == SCHED_NONE || e->op.kind >= SCHED_KINDS)
		return fail(r, kind, "unknown operation", NULL);
	if (!place(r, p))
		return false;
	if (word(r, "choice")) {
		if (!number(r, SCHED_CHOICES_MAX - 1, &c))
			return false;
		if (r->at == r->end || *r->at != '/')
			return fail(r, r->at, "expected '/' and the number of alternatives", NULL);
		r->at++;
		const char *of = r->at;
		if (!number(r, SCHED_CHOICES_MAX, &n))
			return false;
		if (c >= n)
			return fail(r, of, "a choice is less than the number of alternatives", NULL);
		e->choice = (uint8_t)c;
		e->choices = (uint8_t)n;
	}
	f->n_steps++;
	return at_end(r);
}

static bool read_end(struct schedule_reader *r)
{
	const char *from = r->at + 1;
	uint64_t n;
	if (!number(r, STEPS_MAX, &n))
		return false;
	if (n != r->f->n_steps)
		return fail(r, from, "the number of steps is not what the file has", "the file was changed or cut");
	r->ended = true;
	return at_end(r);
}

static bool read_mode(struct schedule_reader *r)
{
	spaces(r);
	r->f->mode = r->strings;
	const char *from = r->at;
	while (r->at < r->end && ((*r->at >= 'a' && *r->at <= 'z') || *r->at == '-') && r->strings < r->strings_end - 1)
		*r->strings++ = *r->at++;
	*r->strings++ = 0;
	return (r->at > from || fail(r, from, "expected a word", NULL)) && at_end(r);
}

static bool read_line(struct schedule_reader *r)
{
	struct schedule *f = r->f;
	r->at = r->start;
	if (r->line == 1) {
		uint64_t version;
		const char *from = r->start;
		if (!word(r, "intact-schedule"))
			return fail(r, from, "not a schedule file", "it begins with 'intact-schedule 1'");
		return number(r, UINT64_MAX, &version) &&
		       (version == 1 || fail(r, from + 16, "unknown version of the format", "this reads version 1")) && at_end(r);
	}
	if (r->at == r->end)
		return true; /* empty */
	if (r->ended)
		return fail(r, r->start, "text after 'end'", NULL);
	if (word(r, "step"))
		return read_step(r);
	if (f->n_steps && !word(r, "end"))
		return fail(r, r->start, "expected 'step' or 'end'", "everything else comes before the steps");
	r->at = r->start;
	if (word(r, "end"))
		return read_end(r);
	if (word(r, "program")) {
		if (r->program)
			return fail(r, r->start, "a second 'program'", NULL);
		r->program = true;
		return string(r, &f->program) && at_end(r);
	}
	if (word(r, "argument"))
		return in_list(r, f->arguments, &f->n_arguments);
	if (word(r, "environment"))
		return in_list(r, f->environment, &f->n_environment);
	if (word(r, "mode"))
		return read_mode(r);
	if (word(r, "seed")) {
		if (r->seed)
			return fail(r, r->start, "a second 'seed'", NULL);
		r->seed = true;
		return number(r, UINT64_MAX, &f->seed) && at_end(r);
	}
	if (word(r, "setting")) {
		if (f->n_settings >= r->max_lists)
			return fail(r, r->start, "too many of these lines", NULL);
		struct schedule_pair *p = &f->settings[f->n_settings++];
		return string(r, &p->name) && string(r, &p->value) && at_end(r);
	}
	if (word(r, "module"))
		return read_module(r);
	if (word(r, "point")) {
		if (f->n_points >= r->max_points)
			return fail(r, r->start, "too many points", "at most 65,536");
		return place(r, &f->points[f->n_points++]) && at_end(r);
	}
	if (word(r, "thread"))
		return read_thread(r);
	return fail(r, r->start, "unknown line", NULL);
}

/* Lines that begin with this letter and the next: an upper bound on a kind. */
static uint32_t count(const char *text, size_t len, const char *two, uint32_t max)
{
	uint32_t n = 0;
	for (size_t i = 0; i + 1 < len && n < max; i++)
		n += (i == 0 || text[i - 1] == '\n') && text[i] == two[0] && text[i + 1] == two[1];
	return n;
}

size_t schedule_memory(size_t len)
{
	/* the shortest step is "step 0 lock -\n"; a thread "thread 1 parent 0 child 0\n" */
	return len / 13 * (sizeof(struct sched_event) + sizeof(struct schedule_place)) +
	       len / 8 * (sizeof(struct schedule_module) + sizeof(struct schedule_pair) + 2 * sizeof(char *)) + len * 2 + 65536;
}

static bool lay_out(struct schedule_reader *r, const char *text, size_t len, void *memory, size_t bytes)
{
	struct schedule *f = r->f;
	struct layout l = { .at = memory, .end = (char *)memory + bytes, .fits = true };
	r->max_steps = count(text, len, "st", STEPS_MAX);
	r->max_threads = count(text, len, "th", SCHED_THREADS_MAX) + 1;
	r->max_modules = count(text, len, "mo", MODULES_MAX);
	r->max_points = count(text, len, "po", POINTS_MAX);
	r->max_lists = count(text, len, "ar", LISTS_MAX) + count(text, len, "en", LISTS_MAX) + count(text, len, "se", LISTS_MAX);
	r->max_lists = r->max_lists < LISTS_MAX ? r->max_lists : LISTS_MAX;
	f->steps = layout_take(&l, r->max_steps, sizeof *f->steps, false);
	f->places = layout_take(&l, r->max_steps, sizeof *f->places, false);
	f->origins = layout_take(&l, r->max_threads, sizeof *f->origins, true);
	f->modules = layout_take(&l, r->max_modules, sizeof *f->modules, false);
	f->points = layout_take(&l, r->max_points, sizeof *f->points, false);
	f->arguments = layout_take(&l, r->max_lists, sizeof *f->arguments, false);
	f->environment = layout_take(&l, r->max_lists, sizeof *f->environment, false);
	f->settings = layout_take(&l, r->max_lists, sizeof *f->settings, false);
	r->strings = layout_take(&l, len + 64, 1, false);
	r->strings_end = r->strings + len + 64;
	f->n_threads = 1;
	return l.fits;
}

bool schedule_read(struct schedule *f, const char *text, size_t len, void *memory, size_t bytes, struct schedule_error *error)
{
	struct schedule_reader r = { .f = f, .error = error, .start = text, .end = text, .line = 1 };
	*f = (struct schedule){ .program = "", .mode = "" };
	*error = (struct schedule_error){ 0 };
	if (!lay_out(&r, text, len, memory, bytes))
		return fail(&r, text, "file too large", NULL);
	const char *p = text, *stop = text + len;
	for (r.line = 1; p < stop; r.line++) {
		const char *e = p;
		while (e < stop && *e != '\n' && *e && e - p < LINE_MAX)
			e++;
		r.start = p;
		r.end = e;
		if (e < stop && !*e)
			return fail(&r, e, "NUL byte in a text file", NULL);
		if (e < stop && *e != '\n')
			return fail(&r, p, "line too long", "at most 64 KiB");
		if (!read_line(&r))
			return false;
		p = e + 1;
	}
	r.start = r.end = stop;
	if (r.line == 1)
		return fail(&r, stop, "empty file", "a schedule begins with 'intact-schedule 1'");
	if (!r.ended)
		return fail(&r, stop, "no 'end' line", "the file was cut");
	return true;
}

void schedule_resolve(struct schedule *f)
{
	for (uint32_t i = 0; i < f->n_steps; i++) {
		struct schedule_place p = f->places[i];
		assert(p.module == SCHEDULE_NOWHERE || p.module < f->n_modules);
		f->steps[i].op.pc = p.module == SCHEDULE_NOWHERE ? 0 : f->modules[p.module].from + p.offset;
	}
}
