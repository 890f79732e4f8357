#include "explore/object_step.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "explore/monitor.h"

static bool counts(const struct object_steps *s, uint32_t oper)
{
	return oper != IR_NONE && s->ir->opers[oper].object == s->object && ir_oper_counts(s->ir, oper);
}

/* ---- which steps are invisible to other threads ------------------------------------------------ */

/* By variable: 0 untouched, thread + 1 when one thread alone touches it, else
 * IR_NONE; a variable that no thread writes is as good as untouched. */
static uint32_t *owners(const struct ir *p)
{
	uint32_t *own = calloc(p->nvars + 1ull, sizeof *own);
	bool *written = calloc(p->nvars + 1ull, sizeof *written);
	for (uint32_t t = 0; own && written && t < p->ntemplates; t++) {
		const struct ir_template *tm = &p->templates[t];
		for (uint32_t n = tm->node; n < tm->node + tm->nnode; n++)
			for (uint32_t a = 0; a < p->nodes[n].naccess; a++) {
				const struct ir_access *ac = &p->accesses[p->nodes[n].access + a];
				uint32_t me = tm->count == 1 ? tm->first_thread + 1 : IR_NONE;
				own[ac->var] = own[ac->var] && own[ac->var] != me ? IR_NONE : me;
				written[ac->var] |= ac->mode != IRA_READ;
			}
	}
	for (uint32_t v = 0; own && written && v < p->nvars; v++)
		if (!written[v])
			own[v] = 0;
	free(written);
	return own;
}

static bool all_private(const struct ir *p, const uint32_t *own, const struct ir_node *n)
{
	for (uint32_t a = 0; a < n->naccess; a++)
		if (own[p->accesses[n->access + a].var] == IR_NONE)
			return false;
	return true;
}

static bool answers_read(const struct ir *p, const struct ir_node *n)
{
	return n->kind == IRN_REGISTER && n->naccess == 1 && p->accesses[n->access].mode == IRA_READ_RESP;
}

static enum object_class classify(const struct object_steps *s, const uint32_t *own, const struct ir_node *n)
{
	const struct ir *p = s->ir;
	if (n->kind == IRN_END || n->kind == IRN_STUCK)
		return OBJECT_END;
	if (!s->local)
		return OBJECT_REAL;
	switch (n->kind) {
	case IRN_INVOKE: {
		uint32_t i = n->ins;
		while (p->code[i].op != IR_INVOKE)
			i++;
		return counts(s, (uint32_t)p->code[i].a) ? OBJECT_INVOKE : OBJECT_LOCAL;
	}
	case IRN_RESPOND:
	case IRN_ENTER:
	case IRN_EXIT:
	case IRN_LOCAL:
	case IRN_START:
		return OBJECT_LOCAL;
	default:
		return answers_read(p, n) || all_private(p, own, n) ? OBJECT_LOCAL : OBJECT_REAL;
	}
}

/* ---- set up -------------------------------------------------------------------------- */

static bool make_kinds(struct object_steps *s)
{
	const struct ir *p = s->ir;
	s->kinds = calloc(p->nthreads + 1ull, sizeof *s->kinds);
	s->kind_of = calloc(p->nthreads + 1ull, sizeof *s->kind_of);
	if (!s->kinds || !s->kind_of)
		return false;
	for (uint32_t t = 0; t < p->nthreads; t++) {
		const struct ir_template *tm = &p->templates[p->threads[t].tmpl];
		if (t != tm->first_thread && !tm->names_threads) {
			s->kind_of[t] = s->kind_of[tm->first_thread];
			continue;
		}
		struct object_kind *k = &s->kinds[s->nkinds];
		k->tmpl = p->threads[t].tmpl;
		k->thread = t;
		vector_table_init(&k->frames, tm->nslots);
		map_init(&k->memo);
		s->kind_of[t] = s->nkinds++;
	}
	return true;
}

bool object_steps_init(struct object_steps *s, const struct ir *p, uint32_t object, bool local)
{
	memset(s, 0, sizeof *s);
	s->ir = p;
	s->object = object;
	s->local = local;
	vector_table_init(&s->globals, p->nglobals);
	vector_table_init(&s->rels, 2);
	uint32_t *own = owners(p);
	s->cls = calloc(p->nnodes + 1ull, 1);
	bool ok = own && s->cls && make_kinds(s);
	for (uint32_t n = 0; ok && n < p->nnodes; n++)
		s->cls[n] = (uint8_t)classify(s, own, &p->nodes[n]);
	free(own);
	return ok;
}

void object_steps_free(struct object_steps *s)
{
	for (uint32_t k = 0; k < s->nkinds; k++) {
		vector_table_free(&s->kinds[k].frames);
		map_free(&s->kinds[k].memo);
	}
	for (uint32_t i = 0; i <= OBJECT_CHAIN; i++)
		free(s->level[i].g);
	vector_table_free(&s->globals);
	vector_table_free(&s->rels);
	free(s->cls);
	free(s->kinds);
	free(s->kind_of);
	free(s->edges);
	free(s->moves);
	free(s->events);
	memset(s, 0, sizeof *s);
}

uint64_t object_steps_bytes(const struct object_steps *s)
{
	uint64_t n = vector_table_bytes(&s->globals) + s->cap_edges * sizeof *s->edges + s->cap_moves * 4ull +
	             s->cap_events * sizeof *s->events;
	for (uint32_t k = 0; k < s->nkinds; k++)
		n += vector_table_bytes(&s->kinds[k].frames) + s->kinds[k].memo.cap * sizeof(struct map_slot);
	return n;
}

/* ---- chains ------------------------------------------------------------------------- */

/* Room for a state on the way, made when first needed. */
static bool level_room(struct object_steps *s, uint32_t i)
{
	uint32_t ng = s->ir->nglobals, nf = 0;
	for (uint32_t t = 0; t < s->ir->ntemplates; t++)
		nf = s->ir->templates[t].nslots > nf ? s->ir->templates[t].nslots : nf;
	if (s->level[i].g)
		return true;
	int32_t *p = malloc(((size_t)ng + nf + 1) * 2 * sizeof *p);
	if (!p)
		return false;
	s->level[i] = (struct object_level){ p, p + ng, p + ng + nf, p + 2 * (size_t)ng + nf };
	return true;
}

/* The chain so far as an edge. */
static void emit(struct object_steps *s, uint32_t at)
{
	struct object_edge e = { .move = s->nmoves, .nmoves = s->nway, .event = s->nevents, .nevents = s->nmet };
	e.global = vector_table_add(&s->globals, s->level[at].g);
	e.frame = vector_table_add(&s->kinds[s->kind].frames, s->level[at].f);
	if (e.global == VECTOR_TABLE_NONE || e.frame == VECTOR_TABLE_NONE || !GROW_RAW(s->edges, s->cap_edges, s->nedges + 1ull) ||
	    !GROW_RAW(s->moves, s->cap_moves, (uint64_t)s->nmoves + s->nway) ||
	    !GROW_RAW(s->events, s->cap_events, (uint64_t)s->nevents + s->nmet)) {
		s->failed = true;
		return;
	}
	s->edges[s->nedges++] = e;
	memcpy(s->moves + s->nmoves, s->way, s->nway * sizeof *s->way);
	s->nmoves += s->nway;
	if (s->nmet)
		memcpy(s->events + s->nevents, s->met, s->nmet * sizeof *s->met);
	s->nevents += s->nmet;
}

static void follow(struct object_steps *s, uint32_t at, bool must, bool called);

struct object_visit {
	struct object_steps *s;
	uint32_t at, outcome;
	enum object_class cls;
	bool must, called; /* called: the chain has a call without a visible step */
	bool went, faulted;
};

static void note_event(struct object_steps *s, enum monitor_event what, int32_t value)
{
	uint32_t rel = vector_table_add(&s->rels, (int32_t[]){ (int32_t)what, value });
	s->failed |= rel == VECTOR_TABLE_NONE;
	s->met[s->nmet++] = (struct object_event){ rel, s->nway - 1 };
}

static bool visit(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                  const struct ir_effect *eff)
{
	struct object_visit *v = arg;
	struct object_steps *s = v->s;
	const struct ir *p = s->ir;
	uint32_t outcome = v->outcome++, nmet = s->nmet;
	(void)ch;
	if (r != IR_OK) {
		s->limit |= eff->fault == IRF_LIMIT;
		v->faulted = true;
		return !s->limit;
	}
	v->went = true;
	if (!level_room(s, v->at + 1)) {
		s->failed = true;
		return false;
	}
	memcpy(s->level[v->at + 1].g, g, p->nglobals * sizeof *g);
	memcpy(s->level[v->at + 1].f, f, p->templates[s->kinds[s->kind].tmpl].nslots * sizeof *f);
	s->way[s->nway++] = outcome;
	bool responded = counts(s, eff->responded);
	bool invoked = counts(s, eff->invoked);
	if (responded)
		note_event(s, MONITOR_RETURN, p->opers[eff->responded].is_write ? 0 : eff->result);
	if (invoked)
		note_event(s, p->opers[eff->invoked].is_write ? MONITOR_WRITE : MONITOR_READ,
		           p->opers[eff->invoked].is_write ? eff->arg : 0);
	bool called = (v->called || invoked) && v->cls != OBJECT_REAL && !responded;
	follow(s, v->at + 1, called && s->local, called);
	s->nway--;
	s->nmet = nmet;
	return !s->failed && !s->limit;
}

/* From level `at`: the chain goes on while it must (nothing visible happened
 * since a call) or while the next step is local. */
static void follow(struct object_steps *s, uint32_t at, bool must, bool called)
{
	const struct object_kind *k = &s->kinds[s->kind];
	enum object_class cls = s->cls[s->level[at].f[0]];
	bool first = at == 0;
	if (s->failed || s->limit)
		return;
	if (!first && (cls == OBJECT_END || at == OBJECT_CHAIN - 1 || (!must && cls != OBJECT_LOCAL))) {
		emit(s, at);
		return;
	}
	if (cls == OBJECT_END)
		return;
	struct object_visit v = { .s = s, .at = at, .cls = cls, .must = must, .called = called };
	ir_each(s->ir, k->thread, s->level[at].g, s->level[at].f, s->level[at].gout, s->level[at].fout, visit, &v);
	/* a thread that cannot go on by itself has still come this far */
	if (!first && !must && (v.faulted || !v.went) && !s->failed && !s->limit)
		emit(s, at);
}

const struct object_edge *object_steps_of(struct object_steps *s, uint32_t kind, uint32_t global, uint32_t frame, uint32_t *n)
{
	struct object_kind *k = &s->kinds[kind];
	uint64_t key = (uint64_t)global << 32 | frame;
	uint32_t head = map_get(&k->memo, key);
	if (head == MAP_NONE) {
		head = s->nedges;
		if (!level_room(s, 0) || !GROW_RAW(s->edges, s->cap_edges, s->nedges + 1ull)) {
			s->failed = true;
			*n = 0;
			return NULL;
		}
		s->edges[s->nedges++] = (struct object_edge){ 0 };
		memcpy(s->level[0].g, vector_table_get(&s->globals, global), s->ir->nglobals * sizeof(int32_t));
		memcpy(s->level[0].f, vector_table_get(&k->frames, frame), s->ir->templates[k->tmpl].nslots * sizeof(int32_t));
		s->kind = kind;
		s->nway = s->nmet = 0;
		follow(s, 0, false, false);
		s->edges[head].global = s->nedges - head - 1;
		if (!map_put(&k->memo, key, head))
			s->failed = true;
	}
	*n = s->edges[head].global;
	return s->edges + head + 1;
}
