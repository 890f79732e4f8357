/*
 * cutoff: which of the events that are found are kept.
 *
 * An event is judged when it is found. Exact: if its (coloured) marking was
 * reached by an event that comes before it in the adequate order it is a cut-off,
 * is counted and forgotten; if it comes before the one known so far, that
 * one (still waiting, because what is found is larger than what is being
 * inserted) becomes a cut-off instead. So the full order is needed only for
 * two events of equal size and marking.
 *
 * Colours: the conditions carry them, and two markings are the same when place and
 * colours of all tokens are. That is the unfolding of the net in which every place
 * occurs once for each pair of colours and every transition once for each
 * colouring of its preset, without constructing that net: it is 1-safe when the
 * plain net is, and colours are determined by the events of a configuration, so
 * the theorem of Esparza, Römer and Vogler applies word by word. Hence a red event
 * r exists in the full unfolding iff one is found: take r with the least [r] in
 * the adequate order; if [r] - {r} had a cut-off e in it, with the earlier e' of
 * equal coloured marking, [e'] could be continued by what [r] has after [e], which
 * ends in an event that finds the same colours, is red, and has a lesser local
 * configuration. So no event before r is a cut-off, and r is found. Red events end
 * the search at once.
 *
 * Reduced: only red matters, and not every coloured marking. Two rules.
 *
 * Let S be what follows a configuration with plain marking M: a set of events that
 * can follow. Colours are a chain A < B < Y < red. What an event of S finds is a
 * maximum over tokens, and what it leaves is a monotone function of that (PLAIN: A
 * to A, B and Y to Y; INSIDE: A and B to B, Y to red; CHOOSE: B; a reading arc:
 * the maximum with what was there). Monotone functions on a chain commute with
 * maxima; so do their compositions; so the reddest colour in S is max-preserving
 * in the colouring g of the tokens of M: for g <= max(g1, ..., gk), k >= 1, if S
 * turns red from g it turns red from one of the gi. (*)
 *
 * Union: e is cut when the colours of its marking are, token by token, at most
 * the maximum of those of kept events e1, ..., ek, k >= 1, that have the same
 * plain marking and come before e. Neutral: when e takes and puts the same
 * places, [e] - {e} is one more configuration with the same plain marking that
 * comes before [e], and its colours count among the gi; it need not be local. An
 * event that raises no colour is then cut against its own past alone.
 *
 * Complete: let r be red with the least [r], and [r] - {r} have a cut e in it; S =
 * [r] - [e]. By (*) S turns red after one of the configurations Ci that e was cut
 * against, and Ci comes before [e]. The plain order is adequate, and plain
 * isomorphism is all it needs: Ci with the copy of S comes before [r], and holds a
 * red event, whose local configuration is a part of it and comes no later. That is
 * a red event before r. When some ei is itself cut later on, the argument goes on
 * from there: the order is well-founded. Every plain marking keeps its least
 * event, so an unsafe net is found as before.
 */
#include "base/invariant.h"
#include "causal/prefix.h"

#include <string.h>

static bool count_cutoff(struct prefix *p, uint32_t t, const uint32_t *pre)
{
	assert(t < p->net->ntrans);
	uint32_t n = net_npre(p->net, t);
	p->cutoffs++;
	p->cutoff_conditions += net_npost(p->net, t);
	/* Those that take and put the same places can be many (a thread that waits for
	 * each other one) and say little: only some of them. */
	if (p->cutoffs_kept >= (p->loop[t] ? p->opt.keep_cutoffs / 16 : p->opt.keep_cutoffs))
		return true;
	p->cutoffs_kept++;
	if (!PREFIX_RAW(p, p->cut, p->cap_cut, p->ncut + 1 + n))
		return false;
	p->cut[p->ncut] = n;
	memcpy(p->cut + p->ncut + 1, pre, n * sizeof *pre);
	p->ncut += 1 + n;
	return true;
}

static bool enqueue(struct prefix *p, uint32_t e)
{
	assert(e < p->nevents && p->cfg.events[e].size);
	struct uf_event *ev = &p->cfg.events[e];
	uint64_t cap = p->nbuckets;
	if (!PREFIX_ROOM(p, p->bucket, cap, (uint64_t)ev->size + 1))
		return false;
	p->nbuckets = (uint32_t)cap;
	ev->next = p->bucket[ev->size];
	p->bucket[ev->size] = e;
	return true;
}

/* The event being judged: transition t on chosen[], which is in the cut of the
 * current configuration; that is [the event] without it. */
struct found {
	uint32_t trans, size, depth;
	enum colour colour;
	bool warm; /* some token after it has a colour */
	uint64_t delta;
};

static void describe(struct prefix *p, uint32_t t, struct found *f)
{
	assert(t < p->net->ntrans);
	const struct config *c = &p->cfg;
	const struct net *n = p->net;
	enum colour in = COLOUR_A;
	*f = (struct found){ .trans = t, .size = (p->lazy ? c->events[p->current].size : c->ntrail) + 1 };
	for (uint32_t i = n->pre_at[t], k = 0; i < n->pre_at[t + 1]; i++, k++) {
		uint32_t b = p->chosen[k], d = c->events[c->conds[b].event].depth;
		f->depth = d > f->depth ? d : f->depth;
		f->delta -= config_token(c, n->pre[i], c->tint[b]);
		if (c->colours)
			in = colour_take(in, c->tint[b], c->colours->read[i]);
	}
	f->depth++;
	if (c->colours) {
		f->colour = colour_event((enum colour_role)c->colours->role[t], in);
		if (colour_red((enum colour_role)c->colours->role[t], in)) {
			f->colour = COLOUR_RED; /* leaves nothing: it is the end */
			return;
		}
	}
	for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++) {
		colours tint = config_put(c, i, p->chosen, f->colour);
		f->warm |= tint != 0;
		f->delta += config_token(c, n->post[i], tint);
	}
	assert(f->size && f->trans == t);
}

/* Makes an event of it. */
static bool accept(struct prefix *p, const struct found *f, uint64_t hash)
{
	if (!prefix_new_event(p, f->trans, p->chosen, net_npre(p->net, f->trans)))
		return false;
	struct uf_event *e = &p->cfg.events[p->nevents - 1];
	e->hash = hash;
	e->delta = f->delta;
	e->size = f->size;
	e->depth = f->depth;
	e->colour = (uint8_t)f->colour;
	e->warm = f->warm;
	p->kept++;
	assert(p->kept < p->nevents);
	return true;
}

/* Does the event being judged come before e? -1: memory. */
static int before(struct prefix *p, const struct found *f, uint32_t e)
{
	uint32_t size = p->cfg.events[e].size;
	int first = size == f->size ? config_before(&p->cfg, f->trans, f->depth, e) : f->size < size;
	if (first < 0)
		prefix_stop(p, "memory");
	return first;
}

static bool judge_exact(struct prefix *p, const struct found *f, uint64_t hash)
{
	uint32_t *slot = prefix_find(p, f->trans, f->colour, hash);
	if (!slot)
		return false;
	if (*slot) {
		struct uf_event *r = &p->cfg.events[*slot - 1];
		int first = before(p, f, *slot - 1);
		if (first < 0)
			return false;
		if (!first)
			return count_cutoff(p, f->trans, p->chosen);
		if (!count_cutoff(p, r->trans, p->cfg.pres + r->pre))
			return false;
		r->dead = 1;
		p->kept--;
	} else {
		p->ntable++;
	}
	if (!accept(p, f, hash))
		return false;
	*slot = p->nevents; /* id + 1 */
	return enqueue(p, p->nevents - 1);
}

/* ---- reduced ------------------------------------------------------------ */

/*
 * A token with colours as a number: its place and the pair. The coloured tokens
 * of an event's marking are a list of such numbers; those in A are left out.
 */
static inline uint32_t token(uint32_t place, colours tint)
{
	return place << 8 | tint;
}
static inline colours token_tint(uint32_t tok)
{
	return (colours)(tok & 255);
}

static bool push_token(struct prefix *p, uint64_t *n, uint32_t place, colours tint)
{
	assert(place < p->net->nplaces && *n <= p->cap_tokens);
	if (!tint)
		return true;
	if (!PREFIX_RAW(p, p->tokens, p->cap_tokens, *n + 1))
		return false;
	p->tokens[(*n)++] = token(place, tint);
	return true;
}

/* The coloured tokens of the event being judged, after those that are kept. */
static bool gather(struct prefix *p, const struct found *f, uint64_t *end)
{
	const struct config *c = &p->cfg;
	const struct net *net = p->net;
	*end = p->ntokens;
	for (uint32_t i = 0; i < c->ntrail; i++) {
		const struct uf_event *x = &c->events[c->trail[i]];
		if (!x->warm)
			continue;
		uint32_t n = net_npost(net, x->trans); /* chosen[] is taken as well */
		for (uint32_t b = x->post; b < x->post + n; b++)
			if (!c->taken[b] && !push_token(p, end, c->conds[b].place, c->tint[b]))
				return false;
	}
	for (uint32_t i = net->post_at[f->trans]; f->warm && i < net->post_at[f->trans + 1]; i++)
		if (!push_token(p, end, net->post[i], config_put(c, i, p->chosen, f->colour)))
			return false;
	assert(*end >= p->ntokens);
	return true;
}

static inline bool below(colours a, colours b)
{
	return colours_w(a) <= colours_w(b) && colours_r(a) <= colours_r(b);
}

/* The maximum of what is known of a place and this. */
static void raise(struct prefix *p, uint32_t place, colours tint)
{
	assert(place < p->net->nplaces);
	colours was = p->most[place];
	p->most[place] = colours_make(colour_join(colours_w(was), colours_w(tint)), colour_join(colours_r(was), colours_r(tint)));
}

static void raise_event(struct prefix *p, uint32_t e, bool clear)
{
	assert(e < p->nevents);
	const struct uf_tokens *k = &p->tokens_of[e];
	for (uint32_t i = 0; i < k->n; i++) {
		uint32_t tok = p->tokens[k->at + i];
		if (clear)
			p->most[tok >> 8] = 0;
		else
			raise(p, tok >> 8, token_tint(tok));
	}
}

static bool all_below(const struct prefix *p, uint64_t at, uint64_t end)
{
	assert(at <= end);
	for (; at < end; at++)
		if (!below(token_tint(p->tokens[at]), p->most[p->tokens[at] >> 8]))
			return false;
	return true;
}

/* e takes and puts the same places: raises `most` by what [e] - {e} has. The
 * tokens that e does not touch are below it as they are. */
static void raise_past(struct prefix *p, uint64_t at, uint64_t end, uint32_t t, bool clear)
{
	assert(at <= end && t < p->net->ntrans);
	const struct net *n = p->net;
	for (uint64_t i = at; i < end; i++) {
		if (clear)
			p->most[p->tokens[i] >> 8] = 0;
		else
			raise(p, p->tokens[i] >> 8, token_tint(p->tokens[i]));
	}
	for (uint32_t i = n->pre_at[t], k = 0; i < n->pre_at[t + 1]; i++, k++)
		p->most[n->pre[i]] = clear ? 0 : p->cfg.tint[p->chosen[k]];
}

/* Is the event being judged cut? Its tokens are tokens[ntokens .. end), the
 * kept events with the same plain marking begin with `first`. -1: memory. */
static int covered(struct prefix *p, const struct found *f, uint64_t end, uint32_t first)
{
	bool loop = p->loop[f->trans], some = loop;
	int rc = 0;
	if (loop)
		raise_past(p, p->ntokens, end, f->trans, false);
	for (uint32_t x = first; x; x = p->tokens_of[x - 1].same) {
		if (p->cfg.events[x - 1].dead)
			continue;
		int later = before(p, f, x - 1);
		if (later < 0)
			rc = -1;
		if (later)
			continue;
		some = true;
		raise_event(p, x - 1, false);
	}
	if (!rc)
		rc = some && all_below(p, p->ntokens, end);
	for (uint32_t x = first; x; x = p->tokens_of[x - 1].same)
		raise_event(p, x - 1, true);
	if (loop)
		raise_past(p, p->ntokens, end, f->trans, true);
	assert(rc >= -1 && rc <= 1);
	return rc;
}

/* The events of the class that come after the newest one, e, and are waiting:
 * are they cut by it and by smaller ones? */
static bool recheck(struct prefix *p, const struct found *f, uint32_t e)
{
	for (uint32_t x = p->tokens_of[e].same; x; x = p->tokens_of[x - 1].same) {
		struct uf_event *ev = &p->cfg.events[x - 1];
		if (ev->dead || ev->size < f->size)
			continue;
		int first = before(p, f, x - 1);
		if (first < 0)
			return false;
		if (!first)
			continue;
		raise_event(p, e, false);
		for (uint32_t y = p->tokens_of[e].same; y; y = p->tokens_of[y - 1].same)
			if (!p->cfg.events[y - 1].dead && p->cfg.events[y - 1].size < ev->size)
				raise_event(p, y - 1, false);
		const struct uf_tokens *k = &p->tokens_of[x - 1];
		if (all_below(p, k->at, k->at + k->n)) {
			ev->dead = 1;
			p->kept--;
			if (!count_cutoff(p, ev->trans, p->cfg.pres + ev->pre))
				return false;
		}
		for (uint32_t y = e + 1; y; y = p->tokens_of[y - 1].same)
			raise_event(p, y - 1, true);
	}
	return true;
}

static bool judge_reduced(struct prefix *p, const struct found *f, uint64_t hash)
{
	uint64_t end;
	prefix_build(p);
	if (!gather(p, f, &end))
		return false;
	uint32_t *slot = prefix_find(p, f->trans, f->colour, hash);
	if (!slot)
		return false;
	int cut = covered(p, f, end, *slot);
	if (cut < 0)
		return false;
	if (cut)
		return count_cutoff(p, f->trans, p->chosen);
	if (!accept(p, f, hash))
		return false;
	uint32_t e = p->nevents - 1;
	if (!PREFIX_ROOM(p, p->tokens_of, p->cap_tokens_of, (uint64_t)e + 1))
		return false;
	p->tokens_of[e] = (struct uf_tokens){ p->ntokens, (uint32_t)(end - p->ntokens), *slot };
	p->ntokens = end;
	p->ntable += !*slot;
	*slot = e + 1;
	return recheck(p, f, e) && enqueue(p, e);
}

/* ---- both --------------------------------------------------------------- */

bool cutoff_judge(struct prefix *p, uint32_t t)
{
	assert(t < p->net->ntrans);
	struct found f;
	if (!prefix_in_time(p))
		return false;
	if (p->opt.max_events && p->kept + p->cutoffs >= p->opt.max_events)
		return prefix_stop(p, "events");
	describe(p, t, &f);
	uint64_t hash = (p->lazy ? p->cfg.events[p->current].hash : p->cfg.hash) + f.delta;
	if (f.colour == COLOUR_RED) {
		if (accept(p, &f, hash))
			p->red = p->nevents - 1;
		return false;
	}
	return (p->opt.reduced ? judge_reduced : judge_exact)(p, &f, hash);
}

bool cutoff_idle(const struct prefix *p, uint32_t t, uint32_t c)
{
	assert(t < p->net->ntrans && c < p->nconds);
	const struct net *n = p->net;
	if (!p->loop[t] || p->cfg.tint[c])
		return false;
	if (p->cfg.colours && p->cfg.colours->role[t] != ROLE_PLAIN)
		return false;
	for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
		if (p->tinted[n->pre[i]])
			return false;
	return true;
}

void cutoff_tinted(struct prefix *p, uint32_t place)
{
	assert(place < p->net->nplaces);
	const struct net *n = p->net;
	p->tinted[place] = 1;
	for (uint32_t u = n->use_at[place]; u < n->use_at[place + 1]; u++)
		for (uint32_t i = n->pre_at[n->use[u]]; p->loop[n->use[u]] && i < n->pre_at[n->use[u] + 1]; i++)
			p->stirred[n->pre[i]] = 1;
}

/* The rows of the net's `use` without the loops that cutoff_idle may pass over. */
static bool make_moves(struct prefix *p)
{
	const struct net *n = p->net;
	uint64_t cap = 0, cap2 = 0;
	if (!PREFIX_ROOM(p, p->move_at, cap, (uint64_t)n->nplaces + 1) ||
	    !PREFIX_RAW(p, p->move, cap2, (uint64_t)n->use_at[n->nplaces] + 1))
		return false;
	for (uint32_t q = 0, k = 0; q < n->nplaces; q++) {
		for (uint32_t u = n->use_at[q]; u < n->use_at[q + 1]; u++) {
			uint32_t t = n->use[u];
			bool plain = !p->cfg.colours || p->cfg.colours->role[t] == ROLE_PLAIN;
			if (!p->loop[t] || !plain)
				p->move[k++] = t;
		}
		p->move_at[q + 1] = k;
	}
	return true;
}

bool cutoff_start(struct prefix *p)
{
	const struct net *n = p->net;
	uint64_t cap = 0, cap2 = 0, cap3 = 0, cap4 = 0;
	if (!PREFIX_ROOM(p, p->loop, cap, (uint64_t)n->ntrans + 1))
		return false;
	for (uint32_t t = 0; t < n->ntrans; t++)
		p->loop[t] = net_npre(n, t) == net_npost(n, t) &&
		             !memcmp(n->pre + n->pre_at[t], n->post + n->post_at[t], net_npre(n, t) * sizeof *n->pre);
	return !p->opt.reduced || (PREFIX_ROOM(p, p->most, cap2, (uint64_t)n->nplaces + 1) &&
	                           PREFIX_ROOM(p, p->stirred, cap4, (uint64_t)n->nplaces + 1) &&
	                           PREFIX_ROOM(p, p->tinted, cap3, (uint64_t)n->nplaces + 1) &&
	                           PREFIX_ROOM(p, p->tokens_of, p->cap_tokens_of, 1) && make_moves(p));
}
