/*
 * check_table: the table of blocks of `intact check`: what was decided, by
 * which argument, for how many threads, in what time; after it, per block,
 * what the argument depends on and why the cheaper ones did not suffice;
 * and, for what is not known, how far each engine got and what to change.
 */
#include "base/invariant.h"
#include "report/check_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { NOTES_SHOWN = 12 };

void check_paint(struct buf *out, bool on, const char *color, const char *text)
{
	if (on)
		buf_str(out, color);
	buf_str(out, text);
	if (on)
		buf_str(out, "\033[0m");
}

static const char *object_headline(const struct verdict *v)
{
	assert(v->object1 && v->condition && v->answer != ANSWER_UNKNOWN);
	static const char *const good[] = { "linearizable", "regular", "safe" };
	static const char *const bad[] = { "NOT LINEARIZABLE", "NOT REGULAR", "NOT SAFE" };
	int c = !strcmp(v->condition, "regular") ? 1 : !strcmp(v->condition, "safe") ? 2 : 0;
	return v->answer == ANSWER_HOLDS ? good[c] : bad[c];
}

static const char *property_headline(const struct verdict *v)
{
	assert(v->property1 && v->answer != ANSWER_UNKNOWN);
	return v->answer == ANSWER_HOLDS ? "holds" : v->problem == PROBLEM_REACH ? "OUT OF REACH" : "BROKEN";
}

/* The verdict in one or two words; a program is serializable, a block atomic. */
const char *check_headline(const struct verdict *v)
{
	assert(v->answer <= ANSWER_UNKNOWN);
	bool program = v->block == VERDICT_PROGRAM;
	if (v->answer == ANSWER_UNKNOWN)
		return "unknown";
	if (v->object1)
		return object_headline(v);
	if (v->property1)
		return property_headline(v);
	if (v->answer == ANSWER_HOLDS)
		return program ? "serializable" : "atomic";
	switch (v->problem) {
	case PROBLEM_FAULT:
		return "FAULT";
	case PROBLEM_DEADLOCK:
		return "DEADLOCK";
	case PROBLEM_STUCK:
		return "STUCK";
	case PROBLEM_ENDLESS:
		return "ENDLESS";
	case PROBLEM_COMMIT:
		return "NOT COMMIT-ATOMIC";
	case PROBLEM_QUIESCENCE:
		return "NO WAY OUT";
	default:
		return program ? "NOT SERIALIZABLE" : "NOT ATOMIC";
	}
}

const char *check_color(const struct verdict *v)
{
	return v->answer == ANSWER_HOLDS ? "\033[1;32m" : v->answer == ANSWER_VIOLATED ? "\033[1;31m" : "\033[1;33m";
}

enum { PROPERTY_SHOWN = 48 }; /* bytes of a condition in a table */

static void property_name(const char *text, struct buf *out)
{
	size_t n = strlen(text), shown = n;
	if (n > PROPERTY_SHOWN) {
		shown = PROPERTY_SHOWN - 3;
		while (shown && ((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--; /* not within a character */
	}
	buf_safe(out, text, shown);
	if (shown < n)
		buf_str(out, "...");
}

/* The question about faults has no block and is not about serializability. */
static void row_name(const struct ir *p, const struct verdict *v, struct buf *out)
{
	assert(v->object1 <= p->nobjects);
	if (v->object1) {
		buf_str(out, "object ");
		buf_safe(out, p->objects[v->object1 - 1].name, strlen(p->objects[v->object1 - 1].name));
	} else if (v->property1) {
		property_name(p->properties[v->property1 - 1].text, out);
	} else if (v->engine->question == ENGINE_FAULTS)
		buf_str(out, "faults");
	else
		check_text_name(p, v->block, out);
}

/* ---- cells -------------------------------------------------------------- */

enum { COL_NAME, COL_LINE, COL_VERDICT, COL_BY, COL_THREADS, COL_TIME, COLS };

static void say_time(double s, struct buf *out)
{
	if (s < 0.001)
		buf_str(out, "<1 ms");
	else if (s < 1)
		buf_printf(out, "%.0f ms", s * 1000);
	else
		buf_printf(out, "%.1f s", s);
}

/* "any", "any worker, 1 stranger", "3" */
static void say_threads(const struct ir *p, const struct verdict *v, struct buf *out)
{
	assert(v->scope <= SCOPE_ANY);
	if (v->answer == ANSWER_UNKNOWN)
		return;
	if (v->answer == ANSWER_VIOLATED || v->scope == SCOPE_DECLARED) {
		buf_printf(out, "%u", p->nthreads);
		return;
	}
	buf_str(out, "any");
	bool first = true;
	for (uint32_t t = 0; t < p->ntemplates && v->scope == SCOPE_ANY_OF; t++) {
		const struct ir_template *tm = &p->templates[t];
		if (tm->count == 1 && !tm->any_count)
			continue;
		buf_str(out, first ? " " : ", ");
		buf_safe(out, tm->name, strlen(tm->name));
		first = false;
	}
}

static void cell(const struct ir *p, const struct verdict *v, int col, struct buf *out)
{
	assert(col >= COL_NAME && col < COLS);
	switch (col) {
	case COL_NAME:
		row_name(p, v, out);
		break;
	case COL_LINE:
		if (v->object1)
			buf_printf(out, "%4u", source_pos(p->src, p->objects[v->object1 - 1].span.start).line);
		else if (v->property1)
			buf_printf(out, "%4u", source_pos(p->src, p->properties[v->property1 - 1].span.start).line);
		else if (v->block != VERDICT_PROGRAM)
			buf_printf(out, "%4u", source_pos(p->src, p->blocks[v->block].span.start).line);
		break;
	case COL_VERDICT:
		buf_str(out, check_headline(v));
		break;
	case COL_BY:
		buf_str(out, v->answer == ANSWER_UNKNOWN ? "-" : v->engine->name);
		break;
	case COL_THREADS:
		say_threads(p, v, out);
		break;
	default:
		say_time(v->seconds, out);
		break;
	}
}

/* ---- the table ---------------------------------------------------------- */

static void row_stats(const struct verdict *v, size_t indent, struct buf *out)
{
	buf_repeat(out, ' ', indent + 2);
	buf_printf(out, "%llu states, %llu transitions, %.1f MiB, %.3f s\n", (unsigned long long)v->states,
	           (unsigned long long)v->transitions, (double)v->bytes / 1048576.0, v->seconds);
}

static void rows(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out)
{
	assert(p && o);
	static const char *const heads[COLS] = { "thread.block", "line", "verdict", "by", "threads", "time" };
	int cols = n && v[0].seconds < 0 ? COL_TIME : COLS; /* of a saved result no times are known */
	size_t width[COLS], len;
	struct buf text;
	buf_init(&text);
	for (int c = 0; c < cols; c++) {
		width[c] = strlen(heads[c]);
		for (uint32_t i = 0; i < n; i++) {
			buf_clear(&text);
			cell(p, &v[i], c, &text);
			len = utf8_columns(buf_cstr(&text), text.len);
			width[c] = len > width[c] ? len : width[c];
		}
	}
	for (uint32_t i = 0; i <= n; i++) { /* the headings first */
		for (int c = 0; c < cols; c++) {
			buf_clear(&text);
			if (i)
				cell(p, &v[i - 1], c, &text);
			else
				buf_str(&text, heads[c]);
			if (c)
				buf_str(out, "  ");
			if (i && c == COL_VERDICT)
				check_paint(out, o->color, check_color(&v[i - 1]), buf_cstr(&text));
			else
				buf_add(out, buf_cstr(&text), text.len);
			if (c + 1 < cols)
				buf_repeat(out, ' ', width[c] - utf8_columns(buf_cstr(&text), text.len));
		}
		while (out->len && out->data[out->len - 1] == ' ') /* where the last column is empty */
			out->data[--out->len] = 0;
		buf_char(out, '\n');
		if (i && o->stats)
			row_stats(&v[i - 1], width[COL_NAME], out);
	}
	buf_free(&text);
}

/* ---- after the table --------------------------------------------------- */

/* Starts a note: "worker.update: ". */
static void note(const struct ir *p, const struct verdict *v, struct buf *out)
{
	row_name(p, v, out);
	buf_str(out, ": ");
}

static void say_attempt(const struct attempt *a, struct buf *out)
{
	assert(a->engine);
	if (a->answer == ANSWER_HOLDS)
		buf_str(out, "proves it");
	else if (a->why)
		buf_str(out, a->why);
	else if (a->limit)
		buf_printf(out, "the limit on %s was reached after %llu states", a->limit, (unsigned long long)a->states);
	else
		buf_str(out, "no answer");
}

/* Did an engine that forgets data run out, so that forgetting more may help it? */
static bool causal_ran_out(const struct verdict *v)
{
	for (uint32_t i = 0; i < v->nattempts; i++)
		if (v->attempts[i].engine->abstract && v->attempts[i].limit && v->attempts[i].states)
			return true;
	return false;
}

/* The variable with the most values of those whose values causality keeps. */
static const struct ir_var *kept_variable(const struct ir *p)
{
	const struct ir_var *k = NULL;
	for (uint32_t i = 0; i < p->nvars; i++)
		if (p->vars[i].kind == IRV_PLAIN && (int64_t)p->vars[i].hi - p->vars[i].lo <= 3 &&
		    (!k || p->vars[i].hi - p->vars[i].lo > k->hi - k->lo))
			k = &p->vars[i];
	return k;
}

/* What would make an unknown question smaller. */
static void advise(const struct ir *p, const struct verdict *v, struct buf *out)
{
	assert(v->limit);
	const struct ir_template *most = NULL;
	const struct ir_var *wide = NULL, *kept = causal_ran_out(v) ? kept_variable(p) : NULL;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count > 2 && (!most || p->templates[t].count > most->count))
			most = &p->templates[t];
	for (uint32_t i = 0; i < p->nvars; i++)
		if ((int64_t)p->vars[i].hi - p->vars[i].lo > 3 &&
		    (!wide || (int64_t)p->vars[i].hi - p->vars[i].lo > (int64_t)wide->hi - wide->lo))
			wide = &p->vars[i];
	buf_str(out, "  try ");
	if (most) {
		buf_str(out, "fewer threads (--threads ");
		buf_safe(out, most->name, strlen(most->name));
		buf_printf(out, "=%u), ", most->count > 4 ? most->count / 2 : most->count - 1);
	}
	if (wide) {
		buf_str(out, "a smaller range for ");
		buf_safe(out, wide->name, strlen(wide->name));
		buf_printf(out, " (it has %llu values), ", (unsigned long long)((int64_t)wide->hi - wide->lo + 1));
	}
	if (kept) {
		buf_str(out, "forgetting a variable (--abstract ");
		buf_safe(out, kept->name, strlen(kept->name));
		buf_str(out, "), ");
	}
	buf_printf(out, "%sa larger limit (--%s)\n", most || wide || kept ? "or " : "",
	           !v->limit || !strcmp(v->limit, "states") ? "max-states"
	           : !strcmp(v->limit, "memory")            ? "max-memory"
	           : !strcmp(v->limit, "disk")              ? "disk-size"
	                                                    : "timeout");
}

/* What is not known: what each engine said, how far it got, what to change. */
static void say_unknown(const struct ir *p, const struct verdict *v, struct buf *out)
{
	assert(v->answer == ANSWER_UNKNOWN);
	note(p, v, out);
	buf_str(out, v->reason ? v->reason : v->nattempts == 1 ? "not decided" : "no engine could decide");
	if (v->limit && !v->nattempts && v->states)
		buf_printf(out, ": the limit on %s was reached after %llu states", v->limit, (unsigned long long)v->states);
	buf_char(out, '\n');
	for (uint32_t i = 0; i < v->nattempts; i++) {
		buf_printf(out, "  %s: ", v->attempts[i].engine->name);
		say_attempt(&v->attempts[i], out);
		buf_char(out, '\n');
	}
	if (v->limit && strcmp(v->limit, "ranks") != 0) /* a rank was lost: no option helps */
		advise(p, v, out);
}

/* What a proof rests on, and why it was not a cheaper one. */
static void say_proof(const struct ir *p, const struct verdict *v, struct buf *out)
{
	assert(v->answer == ANSWER_HOLDS);
	if (v->block == VERDICT_PROGRAM)
		return; /* its blocks say it */
	if (v->commits) {
		note(p, v, out);
		buf_printf(out, "%s\n", v->commits);
	}
	for (uint32_t i = 0; i < v->nattempts; i++) {
		if (v->attempts[i].answer == ANSWER_HOLDS)
			continue;
		note(p, v, out);
		buf_printf(out, "not by %s: ", v->attempts[i].engine->name);
		say_attempt(&v->attempts[i], out);
		buf_char(out, '\n');
	}
}

/* A violation that the causal engine had suspected. */
static void say_suspicion(const struct ir *p, const struct verdict *v, struct buf *out)
{
	for (uint32_t i = 0; i < v->nattempts; i++) {
		const struct attempt *a = &v->attempts[i];
		if (a->answer != ANSWER_VIOLATED || !a->why)
			continue;
		note(p, v, out);
		buf_printf(out, "%s: %s\n", a->engine->name, a->why);
	}
}

static void notes(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out)
{
	uint32_t shown = 0, left = 0;
	const char *locks = NULL;
	struct buf text;
	buf_init(&text);
	for (uint32_t i = 0; i < n; i++) {
		size_t before = text.len;
		locks = v[i].notes ? v[i].notes : locks;
		if (o->max_rows && shown >= NOTES_SHOWN && v[i].block != VERDICT_PROGRAM) {
			left += v[i].answer != ANSWER_VIOLATED;
			continue;
		}
		if (v[i].answer == ANSWER_UNKNOWN)
			say_unknown(p, &v[i], &text);
		else if (v[i].answer == ANSWER_HOLDS)
			say_proof(p, &v[i], &text);
		else
			say_suspicion(p, &v[i], &text);
		shown += text.len != before;
	}
	if (left)
		buf_printf(&text, "... and %u more blocks (--full shows them all)\n", left);
	if (locks)
		buf_printf(&text, "%s\n", locks);
	if (text.len) {
		buf_char(out, '\n');
		buf_add(out, buf_cstr(&text), text.len);
	}
	buf_free(&text);
}

void check_table(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out)
{
	rows(p, v, n, o, out);
	notes(p, v, n, o, out);
}

/* ---- all engines side by side ------------------------------------------- */

static const char *word(const struct attempt *a)
{
	return a->answer == ANSWER_HOLDS      ? "yes"
	       : a->answer == ANSWER_VIOLATED ? a->engine->abstract ? "suspects" : "VIOLATED"
	       : a->limit                     ? "limit"
	                                      : "no proof";
}

static const struct verdict *widest(const struct verdict *v, uint32_t n)
{
	const struct verdict *w = NULL;
	for (uint32_t i = 0; i < n; i++)
		if (v[i].nattempts && (!w || v[i].nattempts > w->nattempts))
			w = &v[i];
	return w;
}

static bool same_why(const struct attempt *a, const struct attempt *b)
{
	return a->why && b->why && !strcmp(a->why, b->why);
}

void check_matrix(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out)
{
	assert(!n || v);
	const struct verdict *heads = widest(v, n);
	size_t width = strlen("thread.block");
	struct buf text;
	buf_init(&text);
	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&text);
		row_name(p, &v[i], &text);
		size_t len = utf8_columns(buf_cstr(&text), text.len);
		width = len > width ? len : width;
	}
	buf_printf(out, "%-*s  line  %-16s", (int)width, "thread.block", "verdict");
	for (uint32_t k = 0; heads && k < heads->nattempts; k++)
		buf_printf(out, "  %-*s", k + 1 < heads->nattempts ? 9 : 0, heads->attempts[k].engine->name);
	buf_char(out, '\n');
	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&text);
		row_name(p, &v[i], &text);
		buf_add(out, buf_cstr(&text), text.len);
		buf_repeat(out, ' ', width - utf8_columns(buf_cstr(&text), text.len) + 2);
		buf_clear(&text);
		cell(p, &v[i], COL_LINE, &text);
		buf_printf(out, "%4s  ", buf_cstr(&text));
		check_paint(out, o->color, check_color(&v[i]), check_headline(&v[i]));
		buf_repeat(out, ' ', 16 - strlen(check_headline(&v[i])));
		for (uint32_t k = 0; k < v[i].nattempts; k++)
			buf_printf(out, "  %-*s", k + 1 < v[i].nattempts ? 9 : 0, word(&v[i].attempts[k]));
		buf_char(out, '\n');
	}
	buf_clear(&text);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < v[i].nattempts; k++) {
			const struct attempt *a = &v[i].attempts[k];
			if (a->answer == ANSWER_HOLDS || !(a->why || a->answer == ANSWER_UNKNOWN))
				continue;
			if (v[i].block == VERDICT_PROGRAM && p->nblocks == 1 && i && same_why(a, &v[i - 1].attempts[k]))
				continue;
			note(p, &v[i], &text);
			buf_printf(&text, "%s: ", a->engine->name);
			say_attempt(a, &text);
			buf_char(&text, '\n');
		}
	if (text.len)
		buf_char(out, '\n');
	buf_add(out, buf_cstr(&text), text.len);
	buf_free(&text);
}
