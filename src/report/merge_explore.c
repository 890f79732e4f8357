/* merge_explore: shards of `intact explore` as one search: numbers add up, and what one of them found is what the search found. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"
#include "report/explore_int.h"
#include "report/merge.h"

/* What all shards must agree on. */
static const char *const fixed[] = { "program", "arguments", "strategy", "mode", "seed", "build_id", "asked" };

static bool same_search(struct merging *m)
{
	for (uint32_t i = 1; i < m->n; i++)
		for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
			if (!merge_same(m, &m->in[0], m->in[0].doc, &m->in[i], m->in[i].doc, fixed[k]))
				return false;
	return true;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add(struct explore_report *all, const struct explore_report *r, bool exhaustive)
{
	assert(r->shards && r->shard <= r->shards && !all->shards);
	all->schedules += r->schedules;
	all->cut += r->cut;
	all->points += r->points;
	/* each trace is in one part of an exhaustive search; others may have the same */
	all->traces = exhaustive ? all->traces + r->traces : larger(all->traces, r->traces);
	all->judged += r->judged;
	all->unjudged += r->unjudged;
	all->traces_full |= r->traces_full;
	all->exhausted &= r->exhausted;
	all->bounded |= r->bounded;
	all->awaits |= r->awaits;
	all->cancels |= r->cancels;
	all->pairs = larger(all->pairs, r->pairs);
	all->pairs_both = larger(all->pairs_both, r->pairs_both);
	all->threads = r->threads > all->threads ? r->threads : all->threads;
	if (!all->stopped)
		all->stopped = r->stopped;
}

/* The shard whose failure is the search's: of sampled schedules the one that comes first in the whole; 0-based, or n. */
static uint32_t first_failure(const struct explore_report *r, uint32_t n, bool exhaustive)
{
	uint32_t best = n;
	for (uint32_t k = 0; k < n; k++) {
		if (!r[k].failure && !r[k].races.len)
			continue;
		bool better = best == n || (!r[best].failure && r[k].failure);
		if (!better && !exhaustive && r[best].failure && r[k].failure)
			better = r[k].failure->schedule < r[best].failure->schedule;
		best = better ? k : best;
	}
	return best;
}

/* ---- what was found, in the words of the shard that found it ---- */

/* Two places of the same data, in either order. */
static bool same_race(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "accesses"), *y = json_object_get(b, "accesses"), *at[4];
	for (size_t i = 0; i < 2; i++) {
		at[i] = json_object_get(json_array_get(x, i), "at");
		at[2 + i] = json_object_get(json_array_get(y, i), "at");
	}
	return doc_is(a, "data", doc_text(b, "data")) && doc_number(a, "size") == doc_number(b, "size") &&
	       ((json_equal(at[0], at[2]) && json_equal(at[1], at[3])) || (json_equal(at[0], at[3]) && json_equal(at[1], at[2])));
}

struct findings {
	struct arena *arena;
	AVEC(const json_t *) list;
};

static void add_results(struct findings *f, const json_t *doc, bool failure)
{
	const json_t *r;
	size_t i;
	json_array_foreach(json_object_get(doc, "results"), i, r)
	{
		bool race = doc_is(r, "kind", "race"), there = false;
		for (uint32_t k = 0; race && k < f->list.len; k++)
			there |= doc_is(f->list.data[k], "kind", "race") && same_race(f->list.data[k], r);
		if (race ? !there : failure)
			avec_push(f->arena, &f->list, r);
	}
}

static void put_results(struct json_out *j, const struct findings *f, struct buf *out)
{
	assert(j->out == out);
	json_begin_array(j, "results");
	for (uint32_t i = 0; i < f->list.len; i++) {
		char *text = json_dumps(f->list.data[i], 0);
		json_line(j, 1);
		buf_str(json_value(j, NULL), text ? text : "null");
		out->failed |= !text;
		free(text);
	}
	json_end(j);
}

static const char *missing_text(struct arena *a, const struct merge_input **at, uint32_t shards)
{
	const char *list = "";
	for (uint32_t k = 0; k < shards; k++)
		if (!at[k])
			list = arena_printf(a, "%s%s%u", list, *list ? ", " : "", k + 1);
	return arena_printf(a, "part %s of %u is missing", list, shards);
}

/* As explore_json, with the results of the shards. */
static void put(const struct explore_report *all, const struct findings *found, struct buf *out)
{
	struct json_out w, *j = &w;
	json_out_init(j, out, false);
	explore_json_begin(j, explore_verdict(all), all->program, all->arguments, all->narguments);
	explore_json_search(j, all);
	json_line(j, 1);
	json_text_if(j, "why_fork", all->why_fork);
	json_line(j, 0);
	put_results(j, found, out);
	doc_end(j);
}

bool merge_explore(struct merging *m, struct buf *out)
{
	struct merge_shard *of = arena_array(m->arena, struct merge_shard, m->n);
	uint32_t missing = 0;
	for (uint32_t i = 0; i < m->n; i++)
		of[i] = (struct merge_shard){ (uint32_t)doc_number(m->in[i].doc, "shard"),
			                      (uint32_t)doc_number(m->in[i].doc, "shards") };
	if (of[0].shards > MERGE_MAX)
		return merge_wrong(m, &m->in[0], "too many shards");
	const struct merge_input **at = arena_array(m->arena, const struct merge_input *, of[0].shards + 1);
	if (!merge_order(m, of, at, &missing) || !same_search(m))
		return false;
	uint32_t shards = of[0].shards;
	struct explore_report *r = arena_array(m->arena, struct explore_report, shards), all;
	const json_t *arguments = json_object_get(m->in[0].doc, "arguments");
	explore_read(m->in[0].doc, m->arena, &all);
	bool exhaustive = !strcmp(all.strategy, "optimal DPOR");
	all = (struct explore_report){
		.program = all.program, .strategy = all.strategy, .mode = all.mode, .seed = all.seed, .exhausted = true
	};
	all.why_fork = json_string_value(json_object_get(m->in[0].doc, "why_fork"));
	all.narguments = (uint32_t)json_array_size(arguments);
	all.arguments = arena_array(m->arena, const char *, all.narguments + 1);
	for (uint32_t i = 0; i < all.narguments; i++)
		all.arguments[i] = json_string_value(json_array_get(arguments, i));
	for (uint32_t k = 0; k < shards; k++) {
		if (!at[k])
			continue;
		explore_read(at[k]->doc, m->arena, &r[k]);
		add(&all, &r[k], exhaustive);
		/* its share may be empty, when it was searched to the end */
		if (doc_is(at[k]->doc, "verdict", "unknown") && !r[k].exhausted && !all.stopped)
			all.stopped = arena_printf(m->arena, "part %u of %u is unknown", k + 1, shards);
	}
	uint32_t from = first_failure(r, shards, exhaustive);
	assert(from <= shards);
	struct findings found = { .arena = m->arena };
	if (from < shards) {
		all.failure = r[from].failure;
		all.races = r[from].races;
		all.replay = r[from].replay;
		add_results(&found, at[from]->doc, true);
	}
	for (uint32_t k = 0; k < shards; k++)
		if (at[k])
			add_results(&found, at[k]->doc, false);
	all.traces_full |= !exhaustive && shards > 1;
	all.exhausted &= !missing;
	if (missing)
		all.stopped = missing_text(m->arena, at, shards);
	put(&all, &found, out);
	return true;
}
