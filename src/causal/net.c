/*
 * net: building and checking. Rows are made by counting, then each is sorted
 * (unless the arcs came in order); a duplicate arc is found in the sorted
 * row. Linear, except for sorting rows.
 */
#include "causal/net.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

void net_builder_init(struct net_builder *b, struct arena *a)
{
	memset(b, 0, sizeof *b);
	b->arena = a;
	b->name = "net";
}

uint32_t net_add_place(struct net_builder *b, const char *name, bool marked)
{
	assert(b->places.len == b->marked.len && name);
	avec_push(b->arena, &b->places, name);
	avec_push(b->arena, &b->marked, (uint8_t)marked);
	return b->places.len - 1;
}

uint32_t net_add_trans(struct net_builder *b, const char *name, struct span at)
{
	assert(b->trans.len == b->trans_at.len && name);
	avec_push(b->arena, &b->trans, name);
	avec_push(b->arena, &b->trans_at, at);
	return b->trans.len - 1;
}

void net_add_take(struct net_builder *b, uint32_t trans, uint32_t place, struct span at)
{
	assert(trans < b->trans.len && place < b->places.len);
	struct net_arc arc = { trans, place, at };
	avec_push(b->arena, &b->take, arc);
}

void net_add_put(struct net_builder *b, uint32_t trans, uint32_t place, struct span at)
{
	assert(trans < b->trans.len && place < b->places.len);
	struct net_arc arc = { trans, place, at };
	avec_push(b->arena, &b->put, arc);
}

static int by_ends(const void *pa, const void *pb)
{
	const struct net_arc *a = pa, *b = pb;
	if (a->trans != b->trans)
		return a->trans < b->trans ? -1 : 1;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->at.start < b->at.start ? -1 : a->at.start > b->at.start;
}

/* Sorts the arcs, by transition and place; at[] is where each row ends. */
static struct net_arc *sort_arcs(struct net_builder *b, struct net_arc *arcs, uint32_t n, uint32_t *at)
{
	uint32_t k = 1;
	for (uint32_t i = 0; i < n; i++)
		at[arcs[i].trans + 1]++;
	for (uint32_t t = 0; t < b->trans.len; t++)
		at[t + 1] += at[t];
	while (k < n && by_ends(&arcs[k - 1], &arcs[k]) < 0)
		k++;
	if (k >= n)
		return arcs;
	struct net_arc *to = arena_array(b->arena, struct net_arc, (size_t)n);
	uint32_t *next = arena_array(b->arena, uint32_t, (size_t)b->trans.len + 1);
	memcpy(next, at, b->trans.len * sizeof *at);
	for (uint32_t i = 0; i < n; i++)
		to[next[arcs[i].trans]++] = arcs[i];
	for (uint32_t t = 0; t < b->trans.len; t++)
		if (at[t + 1] - at[t] > 1)
			qsort(to + at[t], at[t + 1] - at[t], sizeof *to, by_ends);
	return to;
}

/* Arcs to rows by transition; false when one appears twice. */
static bool rows(struct net_builder *b, struct net_arc *arcs, uint32_t n, bool take, uint32_t **at, uint32_t **to,
                 const struct source *src, struct diags *d)
{
	bool ok = true;
	*at = arena_array(b->arena, uint32_t, (size_t)b->trans.len + 1);
	*to = arena_array(b->arena, uint32_t, (size_t)n + 1);
	arcs = sort_arcs(b, arcs, n, *at);
	for (uint32_t i = 0; i < n; i++) {
		const struct net_arc *a = &arcs[i];
		(*to)[i] = a->place;
		if (!i || a[-1].trans != a->trans || a[-1].place != a->place)
			continue;
		diag_error(d, "net-arc-twice", src, a->at,
		           take ? "transition '%s' takes from place '%s' twice" : "transition '%s' puts on place '%s' twice",
		           b->trans.data[a->trans], b->places.data[a->place]);
		if (src)
			diag_note(d, src, a[-1].at, "the first arc is here");
		diag_hint(d, "nets must be 1-safe: no place ever holds two tokens");
		ok = false;
	}
	return ok;
}

static void consumers(struct net_builder *b, struct net *n)
{
	assert(n->nplaces == b->places.len && n->ntrans == b->trans.len);
	uint32_t arcs = n->pre_at[n->ntrans];
	n->use_at = arena_array(b->arena, uint32_t, (size_t)n->nplaces + 2);
	n->use = arena_array(b->arena, uint32_t, (size_t)arcs + 1);
	for (uint32_t i = 0; i < arcs; i++)
		n->use_at[n->pre[i] + 2]++;
	for (uint32_t p = 0; p < n->nplaces; p++)
		n->use_at[p + 2] += n->use_at[p + 1];
	for (uint32_t t = 0; t < n->ntrans; t++)
		for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
			n->use[n->use_at[n->pre[i] + 1]++] = t;
}

bool net_finish(struct net_builder *b, struct net *n, const struct source *src, struct diags *d)
{
	struct span none = { 0, 0 };
	memset(n, 0, sizeof *n);
	if (b->places.len > NET_MAX_NODES || b->trans.len > NET_MAX_NODES || b->take.len > NET_MAX_ARCS ||
	    b->put.len > NET_MAX_ARCS) {
		diag_error(d, "net-too-large", src, none, "the net has more than %u places or transitions, or more than %u arcs",
		           NET_MAX_NODES, NET_MAX_ARCS);
		return false;
	}
	n->name = b->name;
	n->nplaces = b->places.len;
	n->ntrans = b->trans.len;
	n->place_name = b->places.data;
	n->trans_name = b->trans.data;
	bool ok = rows(b, b->take.data, b->take.len, true, &n->pre_at, &n->pre, src, d);
	ok = rows(b, b->put.data, b->put.len, false, &n->post_at, &n->post, src, d) && ok;
	for (uint32_t t = 0; t < n->ntrans; t++) {
		if (net_npre(n, t) > NET_MAX_WIDTH) {
			diag_error(d, "net-too-large", src, b->trans_at.data[t],
			           "transition '%s' takes from %u places; at most %u are possible", b->trans.data[t],
			           net_npre(n, t), NET_MAX_WIDTH);
			ok = false;
		}
		if (net_npre(n, t))
			continue;
		diag_error(d, "net-no-input", src, b->trans_at.data[t],
		           "transition '%s' takes from no place, so it can fire forever", b->trans.data[t]);
		diag_hint(d, "give it a place to take from");
		ok = false;
	}
	n->init = arena_array(b->arena, uint32_t, (size_t)n->nplaces + 1);
	for (uint32_t p = 0; p < n->nplaces; p++)
		if (b->marked.data[p])
			n->init[n->ninit++] = p;
	consumers(b, n);
	return ok;
}

bool net_read(const struct source *src, struct arena *a, struct diags *d, struct net *n)
{
	uint32_t i = 0;
	if (src->len >= 3 && !memcmp(src->text, "\xEF\xBB\xBF", 3))
		i = 3;
	while (i < src->len && strchr(" \t\r\n", src->text[i]) && src->text[i])
		i++;
	if (i < src->len && src->text[i] == '<')
		return net_read_pnml(src, a, d, n);
	return net_read_pep(src, a, d, n);
}
