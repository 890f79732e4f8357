/* transactions_text: see transactions_text.h. The command and `intact report` print the same: both have the document alone. */
#include "report/transactions_text.h"

#include <string.h>

#include "base/arena.h"
#include "report/doc.h"

enum { HOLDS, VIOLATED, UNKNOWN };

struct telling {
	const json_t *levels;
	struct arena a;
	bool color;
	struct buf *out;
};

static int verdict_of(const json_t *o)
{
	return doc_is(o, "verdict", "holds") ? HOLDS : doc_is(o, "verdict", "violated") ? VIOLATED : UNKNOWN;
}

/* `word`, in the colour of the verdict. */
static void colored(struct telling *t, int verdict, const char *word)
{
	static const char *const code[] = { "\033[1;32m", "\033[1;31m", "\033[1;33m" };
	buf_printf(t->out, "%s%s%s", t->color ? code[verdict] : "", word, t->color ? "\033[0m" : "");
}

static const char *text_of(struct telling *t, const json_t *o, const char *key)
{
	const char *s = doc_safe(&t->a, o, key);
	return s ? s : "";
}

static bool is_true(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static const char *plural(json_int_t n)
{
	return n == 1 ? "" : "s";
}

static void head(struct telling *t, const json_t *r)
{
	struct buf *out = t->out;
	const json_t *counts = json_object_get(r, "counts");
	json_int_t n = doc_number(r, "transactions"), processes = doc_number(r, "processes"), keys = doc_number(counts, "keys"),
		   reads = doc_number(counts, "reads"), writes = doc_number(counts, "writes"),
		   appends = doc_number(counts, "appends");
	buf_str(out, text_of(t, r, "file"));
	buf_printf(out, ": %lld transaction%s", (long long)n, plural(n));
	if (processes)
		buf_printf(out, " by %lld process%s", (long long)processes, processes == 1 ? "" : "es");
	buf_printf(out, " (%s)", text_of(t, r, "format"));
	if (counts) /* not in results of the first versions */
		buf_printf(out,
		           ": %lld committed, %lld aborted, %lld of unknown fate; %lld key%s; %lld read%s, %lld write%s, %lld "
		           "append%s",
		           (long long)doc_number(counts, "committed"), (long long)doc_number(r, "failed"),
		           (long long)doc_number(r, "pending"), (long long)keys, plural(keys), (long long)reads, plural(reads),
		           (long long)writes, plural(writes), (long long)appends, plural(appends));
	json_int_t adds = doc_number(counts, "adds"), increments = doc_number(counts, "increments");
	if (adds)
		buf_printf(out, ", %lld element%s added", (long long)adds, plural(adds));
	if (increments)
		buf_printf(out, ", %lld increment%s", (long long)increments, plural(increments));
	buf_char(out, '\n');
	if (json_object_get(r, "version_order"))
		buf_printf(out, "writes of a key are taken to be in the order of %s\n",
		           doc_is(r, "version_order", "session")    ? "each session"
		           : doc_is(r, "version_order", "realtime") ? "real time"
		                                                    : "their commits as recorded");
	if (json_object_get(r, "init_text"))
		buf_printf(out, "registers are initially %s%s\n", text_of(t, r, "init_text"),
		           json_array_size(json_object_get(r, "guessed")) ? " (guessed)" : "");
	if (json_object_get(r, "followed"))
		buf_printf(out, "violated with line %lld; the lines before it violate nothing that was asked for\n",
		           (long long)doc_number(r, "followed"));
}

static const json_t *level_named(const struct telling *t, const json_t *name)
{
	const json_t *l;
	size_t i;
	json_array_foreach(t->levels, i, l)
	{
		if (json_is_string(name) && doc_is(l, "level", json_string_value(name)))
			return l;
	}
	return NULL;
}

static void end_row(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_char(out, '\n');
}

enum { LEVEL_WIDTH = 24, ORDER_WIDTH = 17 };

/* A row for each level, a column for each order; a mark where the verdict changes. */
static void lattice(struct telling *t, const json_t *rows)
{
	static const char *const heads[] = { "alone", "strong-session", "strong (real time)" };
	static const char *const words[] = { "holds", "VIOLATED", "unknown" };
	struct buf *out = t->out;
	size_t r, o, columns = json_array_size(json_array_get(rows, 0));
	buf_printf(out, "%-*s", LEVEL_WIDTH, "level");
	for (o = 0; o < columns && o < sizeof heads / sizeof *heads; o++)
		buf_printf(out, "%-*s", ORDER_WIDTH, heads[o]);
	end_row(out);
	const json_t *row, *name;
	json_array_foreach(rows, r, row)
	{
		const char *level = text_of(t, level_named(t, json_array_get(row, 0)), "level");
		buf_printf(out, "%-*s", LEVEL_WIDTH, level);
		json_array_foreach(row, o, name)
		{
			const json_t *l = level_named(t, name);
			if (!l || o >= sizeof heads / sizeof *heads)
				continue;
			bool edge = is_true(l, "strongest") || is_true(l, "weakest");
			const char *word = words[verdict_of(l)];
			colored(t, verdict_of(l), word);
			buf_str(out, edge ? " *" : "");
			if (o + 1 < columns)
				buf_repeat(out, ' ', ORDER_WIDTH - strlen(word) - (edge ? 2 : 0));
		}
		end_row(out);
	}
	buf_str(out, "* the strongest that hold, the weakest that are violated\n");
}

#define ORDER_SHOWN 1000u

/* "T1 T2", or with begins and ends ">T1 >T2 <T1 <T2", a transaction that is alone as "T3". */
static void order(struct telling *t, const json_t *l)
{
	const json_t *events = json_object_get(l, "events"), *seq = events ? events : json_object_get(l, "order");
	if (!seq)
		return;
	struct buf *out = t->out;
	size_t n = json_array_size(seq);
	buf_str(out, events ? "  begins and ends in this order:" : "  in this order:");
	for (size_t i = 0; i < n && i < ORDER_SHOWN; i++) {
		long long x = json_integer_value(json_array_get(seq, i));
		bool whole = events && x > 0 && json_integer_value(json_array_get(seq, i + 1)) == -x;
		buf_printf(out, " %sT%lld", !events || whole ? "" : x < 0 ? "<" : ">", x < 0 ? -x : x);
		i += whole;
	}
	if (n > ORDER_SHOWN)
		buf_printf(out, " ... (%zu more; --json has all)", n - ORDER_SHOWN);
	buf_char(out, '\n');
}

/* The reason as it is in the document, which may have been written by anybody. */
static void reason(struct telling *t, const json_t *o)
{
	const char *s = doc_text(o, "sentence");
	for (const char *line = s, *end; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		buf_safe(t->out, line, (size_t)(end - line));
		buf_char(t->out, '\n');
	}
}

static const char *const verdict_words[] = { "HOLDS", "VIOLATED", "UNKNOWN" };

static const char counter_reads[] =
	": several choices of increments explain what a counter was read as, and the one that was tried does not fit";

/* others: levels of which the same is true. */
static void level(struct telling *t, const json_t *l, uint32_t others)
{
	struct buf *out = t->out;
	int v = verdict_of(l);
	colored(t, v, verdict_words[v]);
	buf_printf(out, ": %s", text_of(t, l, "level"));
	if (json_object_get(l, "aliases"))
		buf_printf(out, " (%s)", text_of(t, l, "aliases"));
	if (v == VIOLATED)
		buf_printf(out, ": %s%s%s", text_of(t, l, "anomaly"), json_object_get(l, "with") ? "-" : "", text_of(t, l, "with"));
	if (others)
		buf_printf(out, " and %u other%s", others, others == 1 ? "" : "s");
	if (json_object_get(l, "ambiguous"))
		buf_printf(out, ": %s", text_of(t, l, "ambiguous"));
	else if (v == UNKNOWN && doc_is(l, "limit", "counter-reads"))
		buf_str(out, counter_reads);
	else if (v == UNKNOWN)
		buf_printf(out, ": the limit on %s was reached", text_of(t, l, "limit"));
	buf_char(out, '\n');
	if (v == VIOLATED)
		reason(t, l);
	else if (v == HOLDS)
		order(t, l);
}

/* Each level that was asked for; of all levels, those where the verdict changes and those that are open. */
static void levels(struct telling *t, bool all)
{
	const json_t *l;
	size_t i;
	uint32_t open = 0, told = 0; /* levels that are undecided for the same reason are told together */
	json_array_foreach(t->levels, i, l) open += json_object_get(l, "ambiguous") != NULL;
	json_array_foreach(t->levels, i, l)
	{
		bool ambiguous = json_object_get(l, "ambiguous") != NULL;
		if ((all && !is_true(l, "strongest") && !is_true(l, "weakest") && !is_true(l, "undecided")) ||
		    (ambiguous && told++))
			continue;
		level(t, l, ambiguous ? open - 1 : 0);
	}
}

static void keys(struct telling *t, const json_t *k)
{
	struct buf *out = t->out;
	int v = verdict_of(k);
	json_int_t n = doc_number(k, "judged");
	colored(t, v, verdict_words[v]);
	buf_str(out, ": linearizable keys");
	if (v == HOLDS)
		buf_printf(out, ": %s %lld key%s, alone\n", n == 1 ? "the" : "each of", (long long)n, plural(n));
	else if (v == UNKNOWN && doc_is(k, "limit", "ambiguous"))
		buf_str(out, ": a value that was read has several possible origins\n");
	else if (v == UNKNOWN && doc_is(k, "limit", "counter-reads"))
		buf_printf(out, "%s\n", counter_reads);
	else if (v == UNKNOWN)
		buf_printf(out, ": the limit on %s was reached\n", text_of(t, k, "limit"));
	else {
		buf_printf(out, ": key %s alone is not: %s\n", text_of(t, k, "key_text"), text_of(t, k, "anomaly"));
		reason(t, k);
	}
}

void transactions_text(const json_t *result, bool color, struct buf *out)
{
	struct telling t = { .levels = json_object_get(result, "levels"), .color = color, .out = out };
	const json_t *rows = json_object_get(result, "lattice"), *k = json_object_get(result, "keys");
	arena_init(&t.a, 0);
	head(&t, result);
	if (rows)
		lattice(&t, rows);
	levels(&t, rows != NULL);
	if (k)
		keys(&t, k);
	arena_free(&t.a);
}
