#include "report/trace_stats.h"

#include <stdlib.h>

#include "base/invariant.h"

/* ---- the busiest -------------------------------------------------------- */

struct stats_rank {
	uint64_t key;
	uint32_t id;
};

/* The `top` largest keys among n uses, largest first, into r; their number. */
static uint32_t rank(const struct stats_use *u, size_t n, bool sum, struct stats_rank *r, uint32_t top)
{
	assert(top);
	uint32_t have = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t key = u[i].a + (sum ? u[i].b : 0);
		if (!key || (have == top && r[have - 1].key >= key))
			continue;
		uint32_t at = have < top ? have++ : have - 1;
		while (at && r[at - 1].key < key) {
			r[at] = r[at - 1];
			at--;
		}
		r[at] = (struct stats_rank){ key, (uint32_t)i };
	}
	assert(have <= top && (have < 2 || r[0].key >= r[have - 1].key));
	return have;
}

static void name_col(const struct names *n, uint32_t id, struct buf *out)
{
	size_t from = out->len;
	names_show(n, id, out);
	size_t w = out->len - from;
	buf_repeat(out, ' ', w < 24 ? 24 - w : 1);
}

void stats_text(const struct trace_stats *s, const struct trace_names *t, uint32_t top, struct buf *out)
{
	buf_printf(out, "events     %llu\n", (ull)s->events);
	for (int k = 0; k < EVENT_KINDS; k++)
		if (s->kinds[k])
			buf_printf(out, "  %-8s %12llu  %5.1f %%\n", event_kind_name[k], (ull)s->kinds[k],
			           100.0 * (double)s->kinds[k] / (double)s->events);
	buf_printf(out, "threads    %u\n", s->used_threads);
	buf_printf(out, "variables  %u (%u used by several threads)\n", s->used_vars, s->shared_vars);
	buf_printf(out, "locks      %u (%llu acquires of a lock already held)\n", s->used_locks, (ull)s->reentrant);
	buf_printf(out, "blocks     %llu outermost, %llu nested in them (at most %u deep), %llu open at the end\n", (ull)s->blocks,
	           (ull)s->nested, s->deepest, (ull)s->open);
	if (s->blocks > s->open) {
		buf_printf(out, "           %.1f events on average, the longest %llu (thread ",
		           (double)s->in_blocks / (double)(s->blocks - s->open), (ull)s->longest);
		names_show(&t->ns[NS_THREAD], s->longest_thread, out);
		buf_str(out, ")\n");
	}
	struct stats_rank *r = calloc(top + 1, sizeof *r);
	if (!r) {
		out->failed = true;
		return;
	}
	uint32_t n = rank(s->vars, s->nvars, true, r, top);
	if (n)
		buf_str(out, "\nvariable                        reads       writes  threads\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct stats_use *u = &s->vars[r[i].id];
		name_col(&t->ns[NS_VAR], r[i].id, out);
		buf_printf(out, "%13llu%13llu  %s\n", (ull)u->a, (ull)u->b, u->threads == 1 ? "one" : "several");
	}
	n = rank(s->locks, s->nlocks, false, r, top);
	if (n)
		buf_str(out, "\nlock                         acquires    handovers  threads\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct stats_use *u = &s->locks[r[i].id];
		name_col(&t->ns[NS_LOCK], r[i].id, out);
		buf_printf(out, "%13llu%13llu  %s\n", (ull)u->a, (ull)u->b, u->threads == 1 ? "one" : "several");
	}
	free(r);
	buf_str(out, "\nthread                         events       blocks\n");
	for (uint32_t i = 0, shown = 0; i < s->nthreads; i++) {
		if (!s->threads[i].events)
			continue;
		if (shown++ == top) {
			buf_printf(out, "... and %u more\n", s->used_threads - top);
			break;
		}
		name_col(&t->ns[NS_THREAD], i, out);
		buf_printf(out, "%13llu%13llu\n", (ull)s->threads[i].events, (ull)s->threads[i].blocks);
	}
}

/* ---- JSON --------------------------------------------------------------- */

static void json_name(const struct names *n, uint32_t id, struct json_out *j)
{
	char tmp[24];
	size_t len;
	const char *s = names_text(n, id, tmp, &len);
	json_text_n(j, "name", s, len);
}

static void json_uses(const char *key, const struct stats_use *u, size_t n, bool vars, const struct names *names, uint32_t top,
                      struct json_out *j)
{
	struct stats_rank *r = calloc(top + 1, sizeof *r);
	uint32_t have = r ? rank(u, n, vars, r, top) : 0;
	j->out->failed |= !r;
	json_begin_array(j, key);
	for (uint32_t i = 0; i < have; i++) {
		const struct stats_use *x = &u[r[i].id];
		json_begin_object(j, NULL);
		json_name(names, r[i].id, j);
		json_uint(j, vars ? "reads" : "acquires", x->a);
		json_uint(j, vars ? "writes" : "handovers", x->b);
		json_bool(j, "shared", x->threads == 2);
		json_end(j);
	}
	json_end(j);
	free(r);
}

void stats_json(const struct trace_stats *s, const struct trace_names *t, uint32_t top, const char *key, struct json_out *j)
{
	json_begin_object(j, key);
	json_uint(j, "events", s->events);
	json_begin_object(j, "kinds");
	for (int k = 0; k < EVENT_KINDS; k++)
		json_uint(j, event_kind_name[k], s->kinds[k]);
	json_end(j);
	json_uint(j, "threads", s->used_threads);
	json_uint(j, "variables", s->used_vars);
	json_uint(j, "shared_variables", s->shared_vars);
	json_uint(j, "locks", s->used_locks);
	json_uint(j, "reentrant_acquires", s->reentrant);
	json_begin_object(j, "blocks");
	json_uint(j, "outermost", s->blocks);
	json_uint(j, "nested", s->nested);
	json_uint(j, "deepest", s->deepest);
	json_uint(j, "open_at_end", s->open);
	json_uint(j, "events_in_ended_blocks", s->in_blocks);
	json_uint(j, "longest", s->longest);
	json_end(j);
	json_uses("hot_variables", s->vars, s->nvars, true, &t->ns[NS_VAR], top, j);
	json_uses("hot_locks", s->locks, s->nlocks, false, &t->ns[NS_LOCK], top, j);
	json_begin_array(j, "by_thread");
	for (uint32_t i = 0, shown = 0; i < s->nthreads && shown < top; i++) {
		if (!s->threads[i].events)
			continue;
		shown++;
		json_begin_object(j, NULL);
		json_name(&t->ns[NS_THREAD], i, j);
		json_uint(j, "events", s->threads[i].events);
		json_uint(j, "blocks", s->threads[i].blocks);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}
