/*
 * fuzz_net: any bytes as a net, ll_net or PNML. What is read is written in both
 * forms and must come back the same; it is unfolded, exactly and reduced, which
 * must agree on 1-safety; a deadlock that is found must be one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "causal/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void bad(const char *what)
{
	fprintf(stderr, "fuzz_net: %s\n", what);
	abort();
}

static bool read_text(struct arena *a, const char *text, size_t len, struct net *n)
{
	struct source *src = arena_new(a, struct source);
	struct diags d;
	struct buf out;
	diags_init(&d, a);
	source_from_text(src, a, "net", text, len);
	bool ok = net_read(src, a, &d, n);
	if (ok != (d.errors == 0))
		bad("refused without an error, or the other way round");
	buf_init(&out);
	diags_render(&d, &out, false);
	buf_free(&out);
	return ok;
}

static void same_again(struct arena *a, const struct net *n)
{
	for (int form = 0; form < 2; form++) {
		struct buf text;
		struct net m;
		buf_init(&text);
		(form ? net_write_pnml : net_write_pep)(n, &text);
		char *copy = arena_strndup(a, buf_cstr(&text), text.len);
		if (!read_text(a, copy, text.len, &m) || m.nplaces != n->nplaces ||
		    m.ntrans != n->ntrans || m.ninit != n->ninit ||
		    memcmp(m.pre_at, n->pre_at, (n->ntrans + 1u) * sizeof *n->pre_at) ||
		    memcmp(m.pre, n->pre, n->pre_at[n->ntrans] * sizeof *n->pre) ||
		    memcmp(m.post, n->post, n->post_at[n->ntrans] * sizeof *n->post))
			bad("what is written is not what is read");
		buf_free(&text);
	}
}

static void check_dead(const struct net *n, const struct query_answer *a)
{
	uint8_t *have = calloc(n->nplaces + 1u, 1);
	for (uint32_t i = 0; i < a->nmarking; i++)
		have[a->marking[i]] = 1;
	for (uint32_t t = 0; t < n->ntrans; t++) {
		bool all = true;
		for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
			all &= have[n->pre[i]];
		if (all)
			bad("a transition is enabled at a deadlock");
	}
	free(have);
}

static void unfold_both(const struct net *n)
{
	struct unfold_options o = { .max_events = 3000, .max_bytes = 64 << 20, .keep_cutoffs = 100 };
	struct unfold_options reduced = o;
	struct prefix p, q;
	reduced.reduced = true;
	enum unfold_status st = unfold(n, &o, &p), rt = unfold(n, &reduced, &q);
	if (st != UNFOLD_LIMIT && rt != UNFOLD_LIMIT && st != rt)
		bad("exact and reduced disagree on 1-safety");
	if (st == UNFOLD_DONE) {
		struct query_answer a;
		prefix_deadlock(&p, &a);
		if (a.found == 1)
			check_dead(n, &a);
		answer_free(&a);
	}
	prefix_free(&p);
	prefix_free(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct net n;
	arena_init(&a, 0);
	char *text = arena_strndup(&a, (const char *)data, size);
	if (read_text(&a, text, size, &n)) {
		same_again(&a, &n);
		unfold_both(&n);
	}
	arena_free(&a);
	return 0;
}
