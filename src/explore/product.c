/*
 * product: see product.h.
 *
 * Edge lists lie in one array, each behind a header whose `global` is its
 * length. A script is a list of choices, interned as (rest, choice): before
 * the commit the choices the block has made, last one first; after it the
 * choices the shadow made beyond those, next one first.
 *
 * Merging (merge_local), and why it is sound. Entering a block touches
 * nothing shared; unless it is the commit action it changes only the
 * thread's own frame, so it commutes with every step of another thread and
 * may be delayed until the thread's next step: the two become one, and the
 * thread is outside until then. Leaving likewise commutes and, when the
 * block has committed, may be done at once behind the step before it. No
 * quiescent state disappears: both only lengthen the time spent outside.
 *
 * Pure iterations (drop_pure): a step that leads from outside into the block
 * and to exactly the frame it would have right after entering, with the
 * globals unchanged (a compare-and-swap that failed), is dropped: the thread
 * can do later from outside all it could do then.
 */
#include "explore/product.h"

#include <stdlib.h>
#include <string.h>

#define SHADOW_STEPS   1000000u /* of one serial run */
#define SHADOW_WATCH   64u      /* steps before looking for a cycle */
#define SHADOW_RESULTS 4096u

/* ---- tables ------------------------------------------------------------- */

static bool grow(void **data, uint32_t *cap, uint32_t need, size_t elem)
{
	if (need <= *cap)
		return true;
	uint32_t n = *cap ? *cap : 256;
	while (n < need) {
		if (n > UINT32_MAX / 2)
			return false;
		n *= 2;
	}
	void *p = realloc(*data, (size_t)n * elem);
	if (!p)
		return false;
	*data = p;
	*cap = n;
	return true;
}

static uint32_t script_push(struct product *x, uint32_t rest, uint32_t choice)
{
	int32_t v[2] = { (int32_t)rest, (int32_t)choice };
	return vectab_add(&x->scripts, v);
}

static uint32_t add_global(struct product *x, uint32_t g, uint32_t shadow)
{
	int32_t v[2] = { (int32_t)g, (int32_t)shadow };
	return vectab_add(&x->globals, v);
}

/* The frame with the slots that are dead at its node zeroed; the frame itself
 * unless the program keeps dead slots. */
static uint32_t canonical(struct product *x, struct prod_kind *k, uint32_t frame)
{
	const struct ir_node *n = &x->ir->nodes[vectab_get(&k->frames, frame)[0]];
	if (!n->ndead)
		return frame;
	int32_t *f = malloc(sizeof *f * k->frames.width);
	if (!f)
		return VECTAB_NONE;
	memcpy(f, vectab_get(&k->frames, frame), sizeof *f * k->frames.width);
	for (uint32_t i = 0; i < n->ndead; i++)
		f[x->ir->kills[n->dead + i]] = 0;
	uint32_t id = vectab_add(&k->frames, f);
	free(f);
	return id;
}

static uint32_t add_local(struct product *x, struct prod_kind *k, uint32_t frame, uint32_t shadow,
                          uint32_t script, uint8_t phase)
{
	int32_t v[4] = { (int32_t)frame, (int32_t)shadow, (int32_t)script, phase };
	uint32_t id = vectab_add(&k->locals, v);
	if (id == VECTAB_NONE || id < k->ninfo)
		return id;
	if (!grow((void **)&k->info, &k->cap, id + 1, sizeof *k->info))
		return VECTAB_NONE;
	uint32_t node = (uint32_t)vectab_get(&k->frames, frame)[0];
	uint32_t canon = canonical(x, k, frame);
	if (canon == VECTAB_NONE)
		return VECTAB_NONE;
	bool equal = x->mode == PROD_COMMIT && canon == canonical(x, k, shadow);
	k->info[id] = (struct prod_local){ frame, shadow, script, phase, product_marked(x, node),
		                           equal, canon };
	k->ninfo = id + 1;
	return id;
}

bool product_init(struct product *x, const struct ir *ir, enum prod_mode mode, uint32_t block,
                  const struct labelling *lab)
{
	memset(x, 0, sizeof *x);
	x->ir = ir;
	x->mode = mode;
	x->block = block;
	x->lab = lab;
	x->kind_of = calloc(ir->nthreads + 1, sizeof *x->kind_of);
	x->kinds = calloc(ir->nthreads + 1, sizeof *x->kinds);
	uint32_t widest = ir->nglobals;
	for (uint32_t t = 0; t < ir->ntemplates; t++)
		if (ir->templates[t].nslots > widest)
			widest = ir->templates[t].nslots;
	x->scratch = calloc((size_t)widest + 1, 8 * sizeof *x->scratch);
	if (!x->kind_of || !x->kinds || !x->scratch)
		return false;
	for (uint32_t i = 0; i < ir->nthreads; i++) {
		uint32_t t = ir->threads[i].tmpl;
		const struct ir_template *tm = &ir->templates[t];
		if (!tm->names_threads && i != tm->first_thread) {
			x->kind_of[i] = x->kind_of[i - 1];
			continue;
		}
		struct prod_kind *k = &x->kinds[x->nkinds];
		k->tmpl = t;
		k->thread = i;
		vectab_init(&k->frames, tm->nslots);
		vectab_init(&k->locals, 4);
		map_init(&k->memo);
		x->kind_of[i] = x->nkinds++;
	}
	vectab_init(&x->plain_globals, ir->nglobals);
	vectab_init(&x->globals, 2);
	vectab_init(&x->scripts, 2);
	int32_t empty[2] = { -1, -1 };
	return vectab_add(&x->scripts, empty) == 0;
}

void product_free(struct product *x)
{
	for (uint32_t i = 0; i < x->nkinds; i++) {
		vectab_free(&x->kinds[i].frames);
		vectab_free(&x->kinds[i].locals);
		map_free(&x->kinds[i].memo);
		free(x->kinds[i].info);
		free(x->kinds[i].dense);
	}
	free(x->kinds);
	free(x->kind_of);
	vectab_free(&x->plain_globals);
	vectab_free(&x->globals);
	vectab_free(&x->scripts);
	free(x->edges);
	free(x->moves);
	free(x->scratch);
	memset(x, 0, sizeof *x);
}

uint32_t product_initial_global(struct product *x)
{
	uint32_t g = vectab_add(&x->plain_globals, x->ir->init);
	return add_global(x, g, g);
}

uint32_t product_initial_local(struct product *x, uint32_t thread)
{
	struct prod_kind *k = &x->kinds[x->kind_of[thread]];
	uint32_t f = vectab_add(&k->frames, x->ir->init + x->ir->threads[thread].frame);
	return add_local(x, k, f, x->mode == PROD_COMMIT ? f : 0, 0, 0);
}

uint64_t product_bytes(const struct product *x)
{
	uint64_t n = vectab_bytes(&x->plain_globals) + vectab_bytes(&x->globals) +
	             (uint64_t)x->cap_edges * sizeof *x->edges + (uint64_t)x->cap_moves * 4;
	for (uint32_t i = 0; i < x->nkinds; i++)
		n += vectab_bytes(&x->kinds[i].frames) + vectab_bytes(&x->kinds[i].locals) +
		     x->kinds[i].memo.cap * sizeof(struct map_slot) +
		     (uint64_t)x->kinds[i].cap * sizeof(struct prod_local) +
		     (uint64_t)x->kinds[i].dense_globals * x->kinds[i].dense_locals * 4;
	return n;
}

/* ---- the serial run on the shadow --------------------------------------- */

struct shadow_point { /* where a serial run is */
	uint32_t global, frame;
	uint32_t used;  /* choices of the script replayed so far */
	uint32_t extra; /* choices made beyond it, last first */
	uint32_t steps;
};

struct shadow_run {
	struct product *x;
	struct prod_kind *k;
	const uint32_t *script; /* to replay, in order */
	uint32_t nscript;
	struct shadow_point now;
	struct shadow_point *work, *done;
	uint32_t nwork, cap_work, ndone, cap_done;
	uint32_t flags;
	struct map seen;
};

static bool push(struct shadow_point **list, uint32_t *n, uint32_t *cap, struct shadow_point p)
{
	if (!grow((void **)list, cap, *n + 1, sizeof p))
		return false;
	(*list)[(*n)++] = p;
	return true;
}

/* One outcome of a serial step: consistent with the script, or not taken. */
static bool shadow_outcome(void *arg, enum ir_result r, const int32_t *g, const int32_t *f,
                           const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct shadow_run *s = arg;
	struct shadow_point p = s->now;
	if (r == IR_FAULT) {
		s->flags |= eff->fault == IRF_LIMIT ? PRODF_LIMIT : PRODF_SHADOW_FAULT;
		return true;
	}
	for (uint32_t i = 0; i < ch->n; i++) {
		if (p.used < s->nscript) {
			uint32_t want = s->script[p.used++];
			if (want < ch->size[i] && want != ch->pick[i])
				return true;
		} else {
			p.extra = script_push(s->x, p.extra, ch->pick[i]);
		}
	}
	p.global = vectab_add(&s->x->plain_globals, g);
	p.frame = vectab_add(&s->k->frames, f);
	p.steps++;
	if (p.global == VECTAB_NONE || p.frame == VECTAB_NONE || p.extra == VECTAB_NONE) {
		s->x->out_of_memory = true;
		return false;
	}
	bool inside = product_marked(s->x, (uint32_t)f[0]);
	if (!(inside ? push(&s->work, &s->nwork, &s->cap_work, p)
	             : push(&s->done, &s->ndone, &s->cap_done, p)))
		s->x->out_of_memory = true;
	return true;
}

/* Seen before on this run? Then going on leads round in a circle. */
static bool seen_before(struct shadow_run *s, const struct shadow_point *p)
{
	uint64_t key = hash64((uint64_t)p->global << 32 | p->frame) ^
	               hash64((uint64_t)p->used << 32 | p->extra);
	uint32_t fresh = p->steps, v = fresh;
	if (!map_intern(&s->seen, key, &v))
		s->x->out_of_memory = true;
	return v != fresh;
}

/*
 * Runs thread-serially from (global, frame) until outside, replaying the
 * script. Results in s->done; s->flags says what else was met. The caller
 * frees work and done.
 */
static void shadow_run(struct shadow_run *s, uint32_t global, uint32_t frame)
{
	struct product *x = s->x;
	const struct ir *p = x->ir;
	int32_t *gout = x->scratch, *fout = gout + p->nglobals + 1;
	int32_t *g = malloc(sizeof *g * ((size_t)p->nglobals + s->k->frames.width + 1));
	int32_t *f = g ? g + p->nglobals : NULL;
	struct shadow_point first = { global, frame, 0, 0, 0 };
	bool circle = false;
	map_init(&s->seen);
	if (!g || !push(&s->work, &s->nwork, &s->cap_work, first)) {
		x->out_of_memory = true;
		free(g);
		return;
	}
	while (s->nwork && !x->out_of_memory) {
		s->now = s->work[--s->nwork];
		if (s->now.steps > SHADOW_STEPS || s->ndone > SHADOW_RESULTS) {
			s->flags |= PRODF_LIMIT;
			break;
		}
		if (s->now.steps > SHADOW_WATCH && seen_before(s, &s->now)) {
			circle = true;
			continue;
		}
		/* copies: the tables may move while outcomes are added */
		memcpy(g, vectab_get(&x->plain_globals, s->now.global), p->nglobals * sizeof *g);
		memcpy(f, vectab_get(&s->k->frames, s->now.frame), s->k->frames.width * sizeof *f);
		if (!ir_each(p, s->k->thread, g, f, gout, fout, shadow_outcome, s))
			s->flags |= PRODF_SHADOW_STUCK;
	}
	if (circle && !s->ndone && !s->flags)
		s->flags |= PRODF_SHADOW_ENDLESS;
	map_free(&s->seen);
	free(g);
}

/* ---- one step ----------------------------------------------------------- */

struct outcome { /* an edge being built */
	uint32_t global, local, flags;
	uint32_t moves[4], nmoves;
};

struct computing {
	struct product *x;
	struct prod_kind *k;
	uint32_t shadow_global;
	struct prod_local from;
	uint32_t from_node;
	uint32_t number; /* of the outcome of ir_each */
	struct outcome *out;
	uint32_t nout, cap_out;
};

static void emit(struct computing *c, uint32_t global, uint32_t local, uint32_t flags)
{
	if (global == VECTAB_NONE || local == VECTAB_NONE ||
	    !grow((void **)&c->out, &c->cap_out, c->nout + 1, sizeof *c->out)) {
		c->x->out_of_memory = true;
		return;
	}
	c->out[c->nout++] = (struct outcome){ global, local, flags, { c->number }, 1 };
}

static void emit_end(struct computing *c, uint32_t flags)
{
	emit(c, 0, 0, flags);
}

/* Does the labelling put a commit on the step from node to node? */
static bool labelled(const struct product *x, uint32_t from, uint32_t to)
{
	const struct ir_node *n = &x->ir->nodes[from];
	if (!x->lab)
		return false;
	for (uint32_t i = 0; i < n->nsucc; i++)
		if (x->ir->succs[n->succ + i] == to)
			return x->lab->edge[n->succ + i];
	return false;
}

static bool commits(const struct computing *c, bool was_in, bool now_in, uint32_t to,
                    const struct ir_effect *eff)
{
	const struct product *x = c->x;
	if (!was_in && !now_in)
		return true; /* a single action */
	uint32_t block = x->ir->nodes[was_in ? c->from_node : to].block;
	bool marked = x->ir->blocks[block].has_commit;
	if (!was_in)
		return marked ? eff->committed == block : x->lab && x->lab->at_entry[block];
	if (c->from.phase)
		return false;
	if (!now_in)
		return true; /* commits as it leaves */
	return marked ? eff->committed == block : labelled(x, c->from_node, to);
}

/* The script in order of the choices: what was made before and in this step. */
static uint32_t *whole_script(struct product *x, uint32_t before, const struct ir_choices *ch,
                              uint32_t *n)
{
	uint32_t len = 0;
	for (uint32_t s = before; s; s = (uint32_t)vectab_get(&x->scripts, s)[0])
		len++;
	uint32_t *list = malloc(sizeof *list * (len + ch->n + 1));
	*n = len + ch->n;
	if (!list)
		return NULL;
	for (uint32_t s = before, i = len; s; s = (uint32_t)vectab_get(&x->scripts, s)[0])
		list[--i] = (uint32_t)vectab_get(&x->scripts, s)[1];
	memcpy(list + len, ch->pick, ch->n * sizeof *list);
	return list;
}

/* extra is last first; after the commit the next one must be first */
static uint32_t reversed(struct product *x, uint32_t script)
{
	uint32_t out = 0;
	while (script && out != VECTAB_NONE) {
		const int32_t *v = vectab_get(&x->scripts, script);
		uint32_t rest = (uint32_t)v[0];
		out = script_push(x, out, (uint32_t)v[1]);
		script = rest;
	}
	return out;
}

/* [commit] and [shadow]: one edge for each way the serial run can end. */
static void commit_outcomes(struct computing *c, uint32_t g, uint32_t f, bool was_in, bool now_in,
                            const struct ir_choices *ch)
{
	struct product *x = c->x;
	struct shadow_run s = { .x = x, .k = c->k };
	uint32_t *script = whole_script(x, was_in ? c->from.script : 0, ch, &s.nscript);
	s.script = script;
	if (!script) {
		x->out_of_memory = true;
		return;
	}
	shadow_run(&s, c->shadow_global, c->from.shadow);
	for (uint32_t i = 0; i < s.ndone && !x->out_of_memory; i++) {
		uint32_t rest = now_in ? reversed(x, s.done[i].extra) : 0;
		emit(c, add_global(x, g, s.done[i].global),
		     add_local(x, c->k, f, s.done[i].frame, rest, now_in ? 1 : 0), PRODF_COMMIT);
	}
	if (s.flags)
		emit_end(c, s.flags);
	free(script);
	free(s.work);
	free(s.done);
}

/* Choices made after the commit must be those the shadow has guessed. */
static bool follow_script(struct computing *c, const struct ir_choices *ch, uint32_t *script)
{
	for (uint32_t i = 0; i < ch->n && *script; i++) {
		const int32_t *v = vectab_get(&c->x->scripts, *script);
		if ((uint32_t)v[1] != ch->pick[i])
			return false;
		*script = (uint32_t)v[0];
	}
	return true;
}

static bool step_outcome(void *arg, enum ir_result r, const int32_t *g, const int32_t *f,
                         const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct computing *c = arg;
	struct product *x = c->x;
	if (r == IR_FAULT) {
		emit_end(c, eff->fault == IRF_LIMIT ? PRODF_LIMIT : PRODF_FAULT);
		c->number++;
		return true;
	}
	uint32_t gid = vectab_add(&x->plain_globals, g), fid = vectab_add(&c->k->frames, f);
	if (gid == VECTAB_NONE || fid == VECTAB_NONE) {
		x->out_of_memory = true;
		return false;
	}
	if (x->mode == PROD_STANDARD) {
		emit(c, add_global(x, gid, gid), add_local(x, c->k, fid, 0, 0, 0), 0);
		c->number++;
		return true;
	}
	bool was_in = c->from.inside, now_in = product_marked(x, (uint32_t)f[0]);
	if (commits(c, was_in, now_in, (uint32_t)f[0], eff)) {
		commit_outcomes(c, gid, fid, was_in, now_in, ch);
	} else {
		uint32_t script = was_in ? c->from.script : 0;
		bool agrees = true;
		if (c->from.phase)
			agrees = follow_script(c, ch, &script);
		else
			for (uint32_t i = 0; i < ch->n; i++)
				script = script_push(x, script, ch->pick[i]);
		if (agrees)
			emit(c, add_global(x, gid, c->shadow_global),
			     add_local(x, c->k, fid, c->from.shadow, now_in ? script : 0,
			               now_in ? c->from.phase : 0),
			     0);
	}
	c->number++;
	return !x->out_of_memory;
}

/* All outcomes of one step from (global, local), appended to c->out. */
static void one_step(struct computing *c, uint32_t global, uint32_t local)
{
	struct product *x = c->x;
	const struct ir *p = x->ir;
	const int32_t *pair = vectab_get(&x->globals, global);
	uint32_t plain = (uint32_t)pair[0];
	c->shadow_global = (uint32_t)pair[1];
	c->from = c->k->info[local];
	c->number = 0;
	size_t ng = p->nglobals, nf = c->k->frames.width;
	int32_t *room = malloc(sizeof *room * 2 * (ng + nf + 1));
	if (!room) {
		x->out_of_memory = true;
		return;
	}
	int32_t *g = room, *f = g + ng, *gout = f + nf, *fout = gout + ng;
	memcpy(g, vectab_get(&x->plain_globals, plain), ng * sizeof *g);
	memcpy(f, vectab_get(&c->k->frames, c->from.frame), nf * sizeof *f);
	c->from_node = (uint32_t)f[0];
	ir_each(p, c->k->thread, g, f, gout, fout, step_outcome, c);
	free(room);
}

/* ---- merging ------------------------------------------------------------ */

static uint32_t node_of(const struct prod_kind *k, uint32_t local)
{
	return (uint32_t)vectab_get(&k->frames, k->info[local].frame)[0];
}

/* May the step from here be glued to the one before? Leaving a block that
 * has committed, or that does not count. */
static bool leaves_quietly(const struct product *x, const struct prod_kind *k, uint32_t local)
{
	const struct ir_node *n = &x->ir->nodes[node_of(k, local)];
	if (n->kind != IRN_EXIT)
		return false;
	return x->mode == PROD_STANDARD || k->info[local].phase == 1;
}

/* Appends what the step from the i-th outcome gives, and drops that one. */
static void glue(struct computing *c, uint32_t i)
{
	struct outcome first = c->out[i];
	uint32_t from = c->nout;
	one_step(c, first.global, first.local);
	for (uint32_t k = from; k < c->nout; k++) {
		struct outcome *o = &c->out[k];
		memmove(o->moves + first.nmoves, o->moves, o->nmoves * sizeof *o->moves);
		memcpy(o->moves, first.moves, first.nmoves * sizeof *o->moves);
		o->nmoves += first.nmoves;
		o->flags |= first.flags;
	}
	memmove(&c->out[i], &c->out[i + 1], (c->nout - i - 1) * sizeof *c->out);
	c->nout--;
}

/* Outside at an entry that does not commit: entering waits for the next step. */
static void merge_entry(struct computing *c, uint32_t global, uint32_t local)
{
	struct product *x = c->x;
	if (x->ir->nodes[node_of(c->k, local)].kind != IRN_ENTER || c->nout != 1 ||
	    c->out[0].flags)
		return;
	uint32_t inside = c->out[0].local;
	glue(c, 0);
	for (uint32_t i = 0; x->drop_pure && i < c->nout;) {
		if (!c->out[i].flags && c->out[i].local == inside && c->out[i].global == global) {
			memmove(&c->out[i], &c->out[i + 1], (c->nout - i - 1) * sizeof *c->out);
			c->nout--;
		} else {
			i++;
		}
	}
}

static bool final_flags(uint32_t flags)
{
	return flags & ~(uint32_t)PRODF_COMMIT;
}

static void merge_exits(struct computing *c)
{
	for (uint32_t i = 0; i < c->nout && !c->x->out_of_memory;) {
		if (!final_flags(c->out[i].flags) && c->out[i].nmoves < 3 &&
		    leaves_quietly(c->x, c->k, c->out[i].local))
			glue(c, i);
		else
			i++;
	}
}

/* ---- memo --------------------------------------------------------------- */

static uint32_t save(struct product *x, const struct computing *c)
{
	uint32_t at = x->nedges;
	if (!grow((void **)&x->edges, &x->cap_edges, at + c->nout + 1, sizeof *x->edges))
		return PROD_NONE;
	x->edges[at] = (struct prod_edge){ .global = c->nout };
	for (uint32_t i = 0; i < c->nout; i++) {
		const struct outcome *o = &c->out[i];
		if (!grow((void **)&x->moves, &x->cap_moves, x->nmoves + o->nmoves, sizeof *x->moves))
			return PROD_NONE;
		memcpy(x->moves + x->nmoves, o->moves, o->nmoves * sizeof *o->moves);
		x->edges[at + 1 + i] =
			(struct prod_edge){ o->global, o->local, o->flags, x->nmoves, o->nmoves };
		x->nmoves += o->nmoves;
	}
	x->nedges = at + 1 + c->nout;
	return at;
}

#define DENSE_MAX (1u << 24) /* entries of a dense table */

/* Makes the dense table cover these ids, when that is not too large. */
static bool dense_covers(struct prod_kind *k, uint32_t global, uint32_t local)
{
	if (global < k->dense_globals && local < k->dense_locals)
		return true;
	uint64_t ng = k->dense_globals ? k->dense_globals : 16, nl = k->dense_locals ? k->dense_locals : 16;
	while (ng <= global)
		ng *= 2;
	while (nl <= local)
		nl *= 2;
	if (ng * nl > DENSE_MAX)
		return false;
	uint32_t *t = calloc(ng * nl, sizeof *t);
	if (!t)
		return false;
	for (uint64_t g = 0; g < k->dense_globals; g++)
		memcpy(t + g * nl, k->dense + g * k->dense_locals, k->dense_locals * sizeof *t);
	free(k->dense);
	k->dense = t;
	k->dense_globals = (uint32_t)ng;
	k->dense_locals = (uint32_t)nl;
	return true;
}

static uint32_t compute(struct product *x, struct prod_kind *k, uint32_t global, uint32_t local)
{
	struct computing c = { .x = x, .k = k };
	one_step(&c, global, local);
	if (x->merge_local && !x->out_of_memory) {
		merge_entry(&c, global, local);
		merge_exits(&c);
	}
	uint32_t at = x->out_of_memory ? PROD_NONE : save(x, &c);
	free(c.out);
	x->computed++;
	if (at == PROD_NONE) {
		x->out_of_memory = true;
	} else if (dense_covers(k, global, local)) {
		k->dense[(uint64_t)global * k->dense_locals + local] = at + 1;
	} else if (!map_put(&k->memo, (uint64_t)global << 32 | local, at)) {
		x->out_of_memory = true;
	}
	return at;
}

const struct prod_edge *product_step_slow(struct product *x, uint32_t kind, uint32_t global,
                                          uint32_t local, uint32_t *n)
{
	struct prod_kind *k = &x->kinds[kind];
	uint32_t at = MAP_NONE;
	if (global < k->dense_globals && local < k->dense_locals)
		at = k->dense[(uint64_t)global * k->dense_locals + local] - 1;
	else if (k->memo.len)
		at = map_get(&k->memo, (uint64_t)global << 32 | local);
	if (at == MAP_NONE)
		at = compute(x, k, global, local);
	if (x->out_of_memory) {
		*n = 0;
		return NULL;
	}
	*n = x->edges[at].global;
	return &x->edges[at + 1];
}
