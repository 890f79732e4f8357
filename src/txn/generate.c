/* generate: see generate.h. Cost: linear, but for reads of lists, which are told whole. */
#include "txn/generate.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/rng.h"

/* ---- what is planted ------------------------------------------------------------------------------- */

/* Transactions are separated by blanks: wx1 writes 1 to x, ax1 appends it, rx1 reads it, rx_ reads nil, rx12 reads [1 2] of a list; ! aborted. */
static const struct planted {
	const char *name, *level, *text;
} planted[] = {
	{ "G0", "read-uncommitted", "ax1ay1 ax2ay2 rx12ry21" },
	{ "G1a", "read-committed", "wx1! rx1" },
	{ "G1b", "read-committed", "wx1wx2 rx1" },
	{ "G1c", "read-committed", "wx1ry1 wy1rx1" },
	{ "garbage-read", "read-committed", "rx9 wy1" },
	{ "future-read", "read-committed", "rx1wx1" },
	{ "dirty-update", "read-committed", "ax1! ax2 rx12" },
	{ "duplicate-elements", "read-uncommitted", "ax1 rx11" },
	{ "incompatible-order", "read-committed", "ax1 ax2 rx12 rx21" },
	{ "internal", "cursor-stability", "wx1rx2 wx2" },
	{ "lost-update", "cursor-stability", "wx9 rx9wx1 rx9wx2" },
	{ "fractured-read", "monotonic-atomic-view", "wx1wy1 rx1ry_" },
	{ "G-monotonic", "monotonic-view", "wx1az1 az2wy1 rz12 ry1rx_" },
	{ "G-single", "causal", "wx1 rx1wy1 rx_ry1" },
	{ "long-fork", "prefix", "wx1 wy1 rx1ry_ rx_ry1" },
	{ "G-nonadjacent", "prefix", "wx1 rx1wz1 rz1ry_ wy1 ry1rx_" },
	{ "write-skew", "update-serializable", "rx_wy1 ry_wx1" },
	{ "G2-item", "update-serializable", "rx_wy1 ry_wz1 rz_wx1" },
};
#define PLANTED (sizeof planted / sizeof *planted)

const char *const txn_planted_names[] = {
	"G0",
	"G1a",
	"G1b",
	"G1c",
	"garbage-read",
	"future-read",
	"dirty-update",
	"duplicate-elements",
	"incompatible-order",
	"internal",
	"lost-update",
	"fractured-read",
	"G-monotonic",
	"G-single",
	"long-fork",
	"G-nonadjacent",
	"write-skew",
	"G2-item",
	NULL,
};
_Static_assert(sizeof txn_planted_names / sizeof *txn_planted_names == PLANTED + 1, "a name for each");

static const struct planted *find(const char *name)
{
	for (size_t i = 0; i < PLANTED; i++)
		if (!strcmp(planted[i].name, name))
			return &planted[i];
	return NULL;
}

const char *txn_planted_level(const char *anomaly)
{
	const struct planted *p = find(anomaly);
	return p ? p->level : NULL;
}

/* ---- parameters -------------------------------------------------------------------------------------- */

static bool anomaly_of(struct txn_workload *w, const char *s, size_t n, struct why *why)
{
	char name[40];
	snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), s);
	const struct planted *p = find(name);
	if (p) {
		w->anomaly = p->name;
		return true;
	}
	int near = nearest_name(name, txn_planted_names, (int)PLANTED);
	return why_set(why, "'%s' is no anomaly that can be planted%s%s%s", name, near >= 0 ? " (did you mean " : "",
	               near >= 0 ? txn_planted_names[near] : "", near >= 0 ? "?)" : "");
}

bool txn_workload_parse(struct txn_workload *w, const char *text, struct why *why)
{
	*w = (struct txn_workload){ .n = 1000, .sessions = 8, .ops = 4, .keys = 50, .reads = 50, .planted = 1, .seed = 1 };
	const struct {
		const char *name;
		uint32_t *to, least, most;
	} numbers[] = {
		{ "n", &w->n, 0, 100000000 },       { "sessions", &w->sessions, 1, 100000 }, { "ops", &w->ops, 1, 10000 },
		{ "keys", &w->keys, 1, 100000000 }, { "reads", &w->reads, 0, 100 },          { "aborts", &w->aborts, 0, 100 },
		{ "infos", &w->infos, 0, 100 },     { "planted", &w->planted, 1, 1000000 },
	};
	for (const char *p = text; *p; p += *p == ',') {
		size_t n = strcspn(p, ","), name = strcspn(p, "=,");
		const char *v = p[name] == '=' ? p + name + 1 : NULL;
		char *end = NULL;
		unsigned long long x = v && *v >= '0' && *v <= '9' ? strtoull(v, &end, 10) : 0;
		bool known = name == 5 && !memcmp(p, "lists", 5) && !v;
		w->lists |= known;
		if (v && name == 7 && !memcmp(p, "anomaly", 7)) {
			if (!anomaly_of(w, v, n - 8, why))
				return false;
			known = true;
		}
		if (name == 4 && !memcmp(p, "seed", 4) && end == p + n) {
			w->seed = x;
			known = true;
		}
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
			if (strlen(numbers[i].name) != name || memcmp(p, numbers[i].name, name))
				continue;
			if (end != p + n || x < numbers[i].least || x > numbers[i].most) {
				return why_set(why, "%s is a number from %u to %u", numbers[i].name, numbers[i].least,
				               numbers[i].most);
			}
			*numbers[i].to = (uint32_t)x;
			known = true;
		}
		if (!known) {
			return why_set(why,
			               "'%.*s' is no parameter of a workload: n, sessions, ops, keys, reads, aborts, infos, lists, "
			               "planted, "
			               "anomaly, seed",
			               (int)(n < 60 ? n : 60), p);
		}
		p += n;
	}
	return w->aborts + w->infos <= 100 || why_set(why, "aborts and infos are more than 100 percent together");
}

/* ---- the store ------------------------------------------------------------------------------------------ */

struct gen_op {
	uint32_t key;
	bool write;
	int64_t v;  /* what is written, or was read: 0 nil */
	uint32_t n; /* a list: how many elements were read */
};

struct gen_session {
	struct gen_op *ops;
	uint32_t nops;
	uint8_t phase; /* 0 idle, 1 invoked, 2 took effect (or not) */
	uint8_t fate;  /* 0 ok, 1 fail, 2 info */
	uint64_t process;
};

struct gen_list {
	int64_t *v;
	uint32_t n, cap;
};

struct generator {
	const struct txn_workload *w;
	struct rng r;
	struct buf *out;
	bool (*flush)(void *arg, struct buf *b);
	void *arg;
	struct gen_session *sessions;
	int64_t *reg;
	struct gen_list *lists;
	uint64_t index, processes;
	int64_t next;
	bool failed;
};

static void head(struct generator *g, uint64_t process, const char *type)
{
	buf_printf(g->out, "{:index %llu, :time %llu, :process %llu, :type :%s, :f :txn, :value [", (unsigned long long)g->index,
	           (unsigned long long)g->index, (unsigned long long)process, type);
	g->index++;
}

static void tail(struct generator *g)
{
	buf_str(g->out, "]}\n");
	if (g->out->len > 1 << 20)
		g->failed |= !g->flush(g->arg, g->out);
}

static void print_read(struct generator *g, const struct gen_op *o, bool answered)
{
	if (!g->w->lists && answered && o->v) {
		buf_printf(g->out, "[:r %u %lld]", o->key, (long long)o->v);
	} else if (g->w->lists && answered) {
		buf_printf(g->out, "[:r %u [", o->key);
		for (uint32_t i = 0; i < o->n; i++)
			buf_printf(g->out, i ? " %lld" : "%lld", (long long)g->lists[o->key].v[i]);
		buf_str(g->out, "]]");
	} else {
		buf_printf(g->out, "[:r %u nil]", o->key);
	}
}

static void print(struct generator *g, const struct gen_session *s, const char *type)
{
	head(g, s->process, type);
	for (uint32_t i = 0; i < s->nops; i++) {
		const struct gen_op *o = &s->ops[i];
		buf_str(g->out, i ? " " : "");
		if (o->write)
			buf_printf(g->out, "[:%s %u %lld]", g->w->lists ? "append" : "w", o->key, (long long)o->v);
		else
			print_read(g, o, !strcmp(type, "ok"));
	}
	tail(g);
}

static void invoke(struct generator *g, struct gen_session *s)
{
	const struct txn_workload *w = g->w;
	s->nops = 1 + rng_below(&g->r, w->ops);
	for (uint32_t i = 0; i < s->nops; i++) {
		bool write = rng_below(&g->r, 100) >= w->reads;
		s->ops[i] = (struct gen_op){ .key = rng_below(&g->r, w->keys), .write = write, .v = write ? g->next++ : 0 };
	}
	uint32_t fate = rng_below(&g->r, 100);
	s->fate = fate < w->aborts ? 1 : fate < w->aborts + w->infos ? 2 : 0;
	s->phase = 1;
	print(g, s, "invoke");
}

static void append(struct generator *g, uint32_t key, int64_t v)
{
	struct gen_list *l = &g->lists[key];
	if (l->n == l->cap) {
		uint32_t cap = l->cap ? 2 * l->cap : 16;
		int64_t *p = realloc(l->v, cap * sizeof *p);
		if (!p) {
			g->failed = true;
			return;
		}
		l->v = p;
		l->cap = cap;
	}
	l->v[l->n++] = v;
}

/* At one moment; what aborts, and half of what never answers, does nothing. */
static void take_effect(struct generator *g, struct gen_session *s)
{
	assert(s->phase == 1 && s->nops);
	s->phase = 2;
	if (s->fate == 1 || (s->fate == 2 && rng_below(&g->r, 2)))
		return;
	for (uint32_t i = 0; i < s->nops; i++) {
		struct gen_op *o = &s->ops[i];
		if (!o->write) {
			o->v = g->reg[o->key];
			o->n = g->lists[o->key].n;
		} else if (g->w->lists) {
			append(g, o->key, o->v);
		} else {
			g->reg[o->key] = o->v;
		}
	}
}

/* ---- planting ----------------------------------------------------------------------------------------------- */

static bool is_list(const char *text, char key)
{
	for (; *text; text++)
		if (text[0] == 'a' && text[1] == key)
			return true;
	return false;
}

static void print_planted(struct generator *g, const char *s, size_t n, const char *text, uint32_t copy, bool invocation)
{
	for (size_t i = 0; i + 1 < n;) {
		char f = s[i], key = s[i + 1];
		size_t digits = strspn(s + i + 2, "0123456789");
		unsigned long long k = g->w->keys + 3ull * copy + (unsigned)(key - 'x');
		buf_str(g->out, i ? " " : "");
		if (f != 'r') {
			buf_printf(g->out, "[:%s %llu %.*s]", f == 'a' ? "append" : "w", k, (int)digits, s + i + 2);
		} else if (invocation || s[i + 2] == '_') {
			buf_printf(g->out, "[:r %llu nil]", k);
		} else if (!is_list(text, key)) {
			buf_printf(g->out, "[:r %llu %.*s]", k, (int)digits, s + i + 2);
		} else {
			buf_printf(g->out, "[:r %llu [", k);
			for (size_t d = 0; d < digits; d++)
				buf_printf(g->out, d ? " %c" : "%c", s[i + 2 + d]);
			buf_str(g->out, "]]");
		}
		i += 2 + digits + (s[i + 2] == '_');
	}
}

/* All invocations, or all answers. */
static void plant(struct generator *g, uint32_t copy, uint64_t process, bool invocations)
{
	const struct planted *p = find(g->w->anomaly);
	assert(p);
	for (const char *s = p->text; *s; process++) {
		size_t n = strcspn(s, " ");
		bool aborted = s[n - 1] == '!';
		head(g, process, invocations ? "invoke" : aborted ? "fail" : "ok");
		print_planted(g, s, n, p->text, copy, invocations);
		tail(g);
		s += n + (s[n] == ' ');
	}
	if (invocations)
		g->processes = process > g->processes ? process : g->processes;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* One step of one session; true: it invoked a transaction. */
static bool step(struct generator *g, bool more)
{
	struct gen_session *s = &g->sessions[rng_below(&g->r, g->w->sessions)];
	if (s->phase == 0 && more) {
		invoke(g, s);
		return true;
	}
	if (s->phase == 1) {
		take_effect(g, s);
	} else if (s->phase == 2) {
		print(g, s, s->fate == 1 ? "fail" : s->fate == 2 ? "info" : "ok");
		if (s->fate == 2)
			s->process = g->processes++; /* as Jepsen does: what did not answer may still be at work */
		s->phase = 0;
	}
	return false;
}

static bool busy(const struct generator *g)
{
	for (uint32_t i = 0; i < g->w->sessions; i++)
		if (g->sessions[i].phase)
			return true;
	return false;
}

static bool start(struct generator *g)
{
	const struct txn_workload *w = g->w;
	g->sessions = calloc(w->sessions, sizeof *g->sessions);
	g->reg = calloc(w->keys, sizeof *g->reg);
	g->lists = calloc(w->keys, sizeof *g->lists);
	for (uint32_t i = 0; g->sessions && i < w->sessions; i++) {
		g->sessions[i].process = i;
		g->sessions[i].ops = calloc(w->ops, sizeof *g->sessions[i].ops);
		g->failed |= !g->sessions[i].ops;
	}
	g->processes = w->sessions;
	g->next = 1;
	rng_seed(&g->r, w->seed);
	return g->sessions && g->reg && g->lists && !g->failed;
}

static void finish(struct generator *g)
{
	for (uint32_t i = 0; g->sessions && i < g->w->sessions; i++)
		free(g->sessions[i].ops);
	for (uint32_t i = 0; g->lists && i < g->w->keys; i++)
		free(g->lists[i].v);
	free(g->sessions);
	free(g->reg);
	free(g->lists);
}

bool txn_generate(const struct txn_workload *w, struct buf *out, bool (*flush)(void *arg, struct buf *b), void *arg)
{
	struct generator g = { .w = w, .out = out, .flush = flush, .arg = arg };
	uint32_t done = 0, copies = w->anomaly ? w->planted : 0, copy = 0;
	uint64_t process = 0;
	bool open = false, ok = start(&g);
	while (ok && !g.failed && (done < w->n || copy < copies || open || busy(&g))) {
		/* a plant takes some steps of the others, and the plants are spread over the whole */
		bool due = done >= w->n || (uint64_t)done * (copies + 1) >= (uint64_t)(copy + 1) * w->n;
		if (open && !rng_below(&g.r, 8)) {
			plant(&g, copy++, process, false);
			open = false;
		} else if (!open && copy < copies && due) {
			process = g.processes;
			plant(&g, copy, process, true);
			open = true;
		}
		done += step(&g, done < w->n);
	}
	finish(&g);
	return ok && !g.failed && flush(arg, out);
}
