/*
 * graph: conflict serializability on the transaction graph itself, in the
 * manner of Velodrome (PLDI 2008): the twin that the clocks of serial.c are
 * compared with.
 *
 * Representation: a node for each transaction that may still matter, its out
 * edges as a list; an edge holds the link that made it (none for program
 * order). A link into an open block is tested by a breadth-first search from
 * the block to the link's source, so the cycles found are shortest ones.
 *
 * Garbage: a transaction that no open block reaches can never be on a cycle;
 * when the nodes have doubled, those not reached from open blocks are freed.
 * References hold a generation, so a freed node is recognised as such.
 *
 * Cost: a search over what the block reaches for every link; memory follows
 * the transactions that open blocks reach, so long blocks make it grow. What
 * is a link is worked out here again, not shared with serial.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "dynamic/serial.h"

#define SWEEP_MIN 1024
#define INNER_MAX 64

struct edge {
	uint32_t from, to, next;
	struct cycle_link link; /* from.event 0: program order */
};

struct graph_node {
	uint64_t stamp;
	uint32_t out, gen, via; /* via: edge of the search */
	uint32_t next_free;
	bool open, live, found;
};

/* An event with which later events may conflict, and its transaction. */
struct past {
	struct cycle_end end; /* event 0: none */
	uint32_t node, gen;
};

struct var {
	struct past write;
	struct past *reads; /* since the write, one a thread */
	uint32_t nreads, cap;
};

/* A nested begin. */
struct inner {
	uint64_t event;
	uint32_t loc, label;
};

struct graph_thread {
	uint32_t node, gen; /* the open block, or the last transaction */
	bool in_block;
	uint64_t block;
	uint32_t block_loc, block_label;
	struct past last, forked;
	struct inner *inner;        /* of the open block */
	uint32_t ninner, inner_cap; /* ninner may exceed INNER_MAX */
};

struct graph {
	struct serial_opts o;
	enum serial_end end;
	struct graph_node *nodes;
	struct edge *edges; /* [0] unused in both */
	uint32_t nnodes, nodes_cap, nodes_free, live, next_sweep;
	uint32_t nedges, edges_cap, edges_free;
	struct var *vars;
	struct past *locks;
	struct graph_thread *threads;
	uint32_t nvars, nlocks, nthreads;
	uint32_t *queue, queue_cap;
	uint64_t stamp;
	struct grow_budget memory;
};

/* Element `want` of an array exists, or the analysis ends. */
#define GRAPH_ROOM(g, p, n, want) (GROW_AS(GROW_ZERO, &(g)->memory, p, n, (want) + 1ull, 1) || ((g)->end = SERIAL_NOMEM, false))

/* ---- nodes and edges ---------------------------------------------------- */

/* Marks with a new stamp what is reached from the queue's first n nodes. */
static void reach(struct graph *g, uint32_t n)
{
	assert(n <= g->nnodes);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = g->nodes[g->queue[i]].out; e; e = g->edges[e].next) {
			struct graph_node *to = &g->nodes[g->edges[e].to];
			if (to->stamp == g->stamp)
				continue;
			to->stamp = g->stamp;
			to->via = e;
			g->queue[n++] = g->edges[e].to;
		}
}

static void sweep(struct graph *g)
{
	assert(g->live < g->nnodes);
	uint32_t n = 0;
	g->stamp++;
	for (uint32_t i = 1; i < g->nnodes; i++)
		if (g->nodes[i].live && g->nodes[i].open) {
			g->nodes[i].stamp = g->stamp;
			g->queue[n++] = i;
		}
	reach(g, n);
	for (uint32_t i = 1; i < g->nnodes; i++) {
		struct graph_node *d = &g->nodes[i];
		if (!d->live || d->stamp == g->stamp)
			continue;
		for (uint32_t e = d->out, next; e; e = next) {
			next = g->edges[e].next;
			g->edges[e].next = g->edges_free;
			g->edges_free = e;
		}
		d->live = false;
		d->gen++;
		d->next_free = g->nodes_free;
		g->nodes_free = i;
		g->live--;
	}
	g->next_sweep = g->live * 2 > SWEEP_MIN ? g->live * 2 : SWEEP_MIN;
}

static uint32_t node_new(struct graph *g)
{
	uint32_t id = g->nodes_free;
	if (id) {
		g->nodes_free = g->nodes[id].next_free;
	} else {
		id = g->nnodes;
		if (!GRAPH_ROOM(g, g->nodes, g->nodes_cap, id) || !GRAPH_ROOM(g, g->queue, g->queue_cap, id))
			return 0;
		g->nnodes++;
	}
	struct graph_node *d = &g->nodes[id];
	*d = (struct graph_node){ .gen = d->gen, .stamp = 0, .live = true };
	g->live++;
	assert(id && id < g->nnodes && g->nodes[id].live);
	return id;
}

static void edge_add(struct graph *g, uint32_t from, uint32_t to, const struct cycle_link *link)
{
	assert(from && from < g->nnodes && to && to < g->nnodes && g->nodes[from].live && g->nodes[to].live);
	for (uint32_t e = g->nodes[from].out; e; e = g->edges[e].next)
		if (g->edges[e].to == to)
			return;
	uint32_t id = g->edges_free;
	if (id) {
		g->edges_free = g->edges[id].next;
	} else {
		id = g->nedges;
		if (!GRAPH_ROOM(g, g->edges, g->edges_cap, id))
			return;
		g->nedges++;
	}
	struct edge *e = &g->edges[id];
	memset(e, 0, sizeof *e);
	e->from = from;
	e->to = to;
	e->next = g->nodes[from].out;
	if (link)
		e->link = *link;
	g->nodes[from].out = id;
}

/* ---- cycles ------------------------------------------------------------- */

/* The innermost nested block that holds both ends of the cycle. */
static void find_inner(const struct graph_thread *th, struct cycle *c)
{
	assert(!c->alone || c->links);
	uint32_t n = th->ninner < INNER_MAX ? th->ninner : INNER_MAX;
	while (c->alone && n--)
		if (th->inner[n].event < c->links[0].from.event) {
			c->inner = th->inner[n].event;
			c->inner_loc = th->inner[n].loc;
			c->inner_label = th->inner[n].label;
			return;
		}
}

static void nested(struct graph *g, const struct event *e)
{
	assert(e->flags & EVENT_INNER);
	struct graph_thread *th = &g->threads[e->thread];
	if (e->kind == EVENT_END && th->ninner)
		th->ninner--;
	if (e->kind != EVENT_BEGIN || !th->in_block)
		return;
	if (th->ninner < INNER_MAX) {
		if (!GRAPH_ROOM(g, th->inner, th->inner_cap, th->ninner))
			return;
		th->inner[th->ninner] = (struct inner){ e->index, e->loc, e->target };
	}
	th->ninner++;
}

/* The search has come from `block` to `source`: walks back, reports. */
static void report(struct graph *g, uint32_t block, uint32_t source, const struct cycle_link *last)
{
	assert(g->nodes[block].open && !g->nodes[block].found);
	uint32_t n = 1;
	struct cycle c = { .closing = last->to, .alone = true };
	g->nodes[block].found = true;
	if (!g->o.found)
		return;
	for (uint32_t at = source; at != block;) {
		const struct edge *e = &g->edges[g->nodes[at].via];
		n += e->link.from.event != 0;
		at = e->from;
	}
	struct cycle_link *links = malloc(n * sizeof *links);
	if (!links) {
		c.lost = true;
		g->o.found(g->o.ctx, &c);
		return;
	}
	uint32_t i = n;
	links[--i] = *last;
	for (uint32_t at = source; at != block;) {
		const struct edge *e = &g->edges[g->nodes[at].via];
		if (e->link.from.event)
			links[--i] = e->link;
		at = e->from;
	}
	for (i = 0; i + 1 < n; i++)
		if (links[i].to.event > links[i + 1].from.event)
			c.alone = false;
	c.links = links;
	c.n = n;
	find_inner(&g->threads[last->to.thread], &c);
	g->o.found(g->o.ctx, &c);
	free(links);
}

static bool alive(const struct graph *g, uint32_t node, uint32_t gen)
{
	assert(node < g->nnodes);
	return node && g->nodes[node].live && g->nodes[node].gen == gen;
}

static struct past past_of(const struct graph *g, const struct event *e)
{
	assert(e->thread < g->nthreads);
	const struct graph_thread *th = &g->threads[e->thread];
	struct past p = { .node = th->node, .gen = th->gen };
	p.end = (struct cycle_end){
		e->index, th->in_block ? th->block : 0, e->thread, e->target, e->loc, th->block_loc, th->block_label, 0, e->kind
	};
	return p;
}

/* A link from p to event e of the current transaction of its thread. */
static void link_in(struct graph *g, const struct past *p, const struct event *e)
{
	assert(!p->end.event || p->end.event < e->index); /* conflicts lead forward */
	struct graph_thread *th = &g->threads[e->thread];
	if (!p->end.event || p->end.thread == e->thread)
		return;
	if (!alive(g, p->node, p->gen))
		return;
	struct cycle_link link = { p->end, past_of(g, e).end };
	if (th->in_block && !g->nodes[th->node].found) {
		g->stamp++;
		g->nodes[th->node].stamp = g->stamp;
		g->queue[0] = th->node;
		reach(g, 1);
		if (g->nodes[p->node].stamp == g->stamp)
			report(g, th->node, p->node, &link);
	}
	edge_add(g, p->node, th->node, &link);
}

/* ---- events ------------------------------------------------------------- */

/* A new transaction of the thread, after its last one. */
static void start(struct graph *g, struct graph_thread *th)
{
	if (g->live >= g->next_sweep)
		sweep(g);
	uint32_t before = alive(g, th->node, th->gen) ? th->node : 0;
	uint32_t id = node_new(g);
	if (!id)
		return;
	if (before)
		edge_add(g, before, id, NULL);
	th->node = id;
	th->gen = g->nodes[id].gen;
	assert(th->node && th->node < g->nnodes);
}

/* The variable is another from here on: its memory was given back. */
static void var_renew(struct var *v, const struct event *e)
{
	if (!(e->flags & EVENT_FIRST))
		return;
	v->nreads = 0;
	v->write = (struct past){ 0 };
}

static void do_read(struct graph *g, const struct event *e)
{
	assert(e->kind == EVENT_READ && e->target < g->nvars);
	struct var *v = &g->vars[e->target];
	var_renew(v, e);
	uint32_t i = 0;
	while (i < v->nreads && v->reads[i].end.thread != e->thread)
		i++;
	if (i == v->nreads) {
		link_in(g, &v->write, e);
		if (!GRAPH_ROOM(g, v->reads, v->cap, i))
			return;
		v->nreads++;
	}
	v->reads[i] = past_of(g, e);
}

static void do_write(struct graph *g, const struct event *e)
{
	assert(e->kind == EVENT_WRITE && e->target < g->nvars);
	struct var *v = &g->vars[e->target];
	bool mine = false;
	var_renew(v, e);
	for (uint32_t i = 0; i < v->nreads; i++) {
		mine |= v->reads[i].end.thread == e->thread;
		link_in(g, &v->reads[i], e);
	}
	if (!mine)
		link_in(g, &v->write, e);
	v->nreads = 0;
	v->write = past_of(g, e);
}

static void do_event(struct graph *g, const struct event *e)
{
	assert(e->thread < g->nthreads && e->kind < EVENT_KINDS);
	struct graph_thread *th = &g->threads[e->thread];
	if (e->kind == EVENT_BEGIN) {
		start(g, th);
		if (g->end)
			return;
		g->nodes[th->node].open = true;
		th->in_block = true;
		th->ninner = 0;
		th->block = e->index;
		th->block_loc = e->loc;
		th->block_label = e->target;
	} else if (!th->in_block) {
		start(g, th);
		if (g->end)
			return;
	}
	if (th->forked.end.event) {
		struct past f = th->forked;
		th->forked.end.event = 0;
		link_in(g, &f, e);
	}
	switch (e->kind) {
	case EVENT_READ:
		do_read(g, e);
		break;
	case EVENT_WRITE:
		do_write(g, e);
		break;
	case EVENT_ACQ:
		if (e->flags & EVENT_FIRST)
			g->locks[e->target] = (struct past){ 0 };
		link_in(g, &g->locks[e->target], e);
		break;
	case EVENT_REL:
		g->locks[e->target] = past_of(g, e);
		break;
	case EVENT_FORK:
		g->threads[e->target].forked = past_of(g, e);
		break;
	case EVENT_JOIN:
		link_in(g, &g->threads[e->target].last, e);
		break;
	default:
		break;
	}
	th->last = past_of(g, e);
	if (e->kind == EVENT_END && th->in_block) {
		g->nodes[th->node].open = false;
		th->in_block = false;
		th->block_loc = th->block_label = 0;
	}
}

static bool need(struct graph *g, const struct event *e)
{
	if (!GRAPH_ROOM(g, g->threads, g->nthreads, e->thread))
		return false;
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
		return GRAPH_ROOM(g, g->vars, g->nvars, e->target);
	case EVENT_ACQ:
	case EVENT_REL:
		return GRAPH_ROOM(g, g->locks, g->nlocks, e->target);
	case EVENT_FORK:
	case EVENT_JOIN:
		return GRAPH_ROOM(g, g->threads, g->nthreads, e->target);
	default:
		return true;
	}
}

enum serial_end graph_feed(struct graph *g, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n && !g->end; i++)
		if (!need(g, &ev[i]))
			break;
		else if (ev[i].flags & EVENT_INNER)
			nested(g, &ev[i]);
		else
			do_event(g, &ev[i]);
	return g->end;
}

/* ------------------------------------------------------------------------- */

struct graph *graph_new(const struct serial_opts *o)
{
	assert(o->found);
	struct graph *g = calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->o = *o;
	g->memory.max = o->budget;
	g->nnodes = g->nedges = 1;
	g->next_sweep = SWEEP_MIN;
	return g;
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->nvars; i++)
		free(g->vars[i].reads);
	for (uint32_t i = 0; i < g->nthreads; i++)
		free(g->threads[i].inner);
	free(g->vars);
	free(g->nodes);
	free(g->edges);
	free(g->locks);
	free(g->threads);
	free(g->queue);
	free(g);
}
