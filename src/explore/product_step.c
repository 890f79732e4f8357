/*
 * product_step: see product.h. One step and, when it commits, the serial run
 * of its block on the shadow (Section 4 of the paper).
 *
 * A script is a list of choices, interned as (rest, choice, of): before the
 * commit the choices the block has made, last one first; after it the
 * choices the shadow made beyond those, next one first.
 *
 * After the commit a state is dropped when the block chooses otherwise than its shadow has guessed. That is right only where another
 * guess stays: every run must keep one. `of` says of how many outcomes the choice was when the shadows have made it in each of these ways; it is 0
 * when some of them came to no end (an `assume` that fails there, a loop). A choice of the block of another number of
 * outcomes (it was read from a safe variable that is being written, and was not serially; another branch was taken) is no such choice, either: from
 * then on nothing is dropped. By induction: all guesses that are kept have begun with the same choices; the next one is of as many
 * outcomes, each of which is that of a guess, or nothing is compared.
 */
#include "explore/product_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"

#define SHADOW_STEPS   1000000u /* of one serial run */
#define SHADOW_WATCH   64u      /* steps before looking for a cycle */
#define SHADOW_RESULTS 4096u

static uint32_t script_push(struct product *x, uint32_t rest, uint32_t choice, uint32_t of)
{
	if (rest >= x->scripts.n)
		return VECTOR_TABLE_NONE;
	int32_t v[3] = { (int32_t)rest, (int32_t)choice, (int32_t)of };
	return vector_table_add(&x->scripts, v);
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
	assert(*n <= *cap);
	if (!GROW(*list, *cap, *n + 1ull))
		return false;
	(*list)[(*n)++] = p;
	return true;
}

/* One outcome of a serial step: consistent with the script, or not taken. */
static bool shadow_outcome(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                           const struct ir_effect *eff)
{
	assert(r == IR_OK || r == IR_FAULT);
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
			p.extra = script_push(s->x, p.extra, ch->pick[i], ch->size[i]);
		}
	}
	p.global = vector_table_add(&s->x->plain_globals, g);
	p.frame = vector_table_add(&s->k->frames, f);
	p.steps++;
	assert(p.used <= s->nscript);
	if (p.global == VECTOR_TABLE_NONE || p.frame == VECTOR_TABLE_NONE || p.extra == VECTOR_TABLE_NONE) {
		s->x->out_of_memory = true;
		return false;
	}
	bool inside = product_marked(s->x, (uint32_t)f[0]);
	if (!(inside ? push(&s->work, &s->nwork, &s->cap_work, p) : push(&s->done, &s->ndone, &s->cap_done, p)))
		s->x->out_of_memory = true;
	return true;
}

/* Seen before on this run? Then going on leads round in a circle. */
static bool seen_before(struct shadow_run *s, const struct shadow_point *p)
{
	uint64_t key = hash64((uint64_t)p->global << 32 | p->frame) ^ hash64((uint64_t)p->used << 32 | p->extra);
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
	assert(global < s->x->plain_globals.n && frame < s->k->frames.n && !s->nwork && !s->ndone);
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
		assert(s->ndone || s->flags || x->out_of_memory); /* a run ends, or something is said of it */
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
		memcpy(g, vector_table_get(&x->plain_globals, s->now.global), p->nglobals * sizeof *g);
		memcpy(f, vector_table_get(&s->k->frames, s->now.frame), s->k->frames.width * sizeof *f);
		if (!ir_each(p, s->k->thread, g, f, gout, fout, shadow_outcome, s))
			s->flags |= PRODF_SHADOW_STUCK;
	}
	if (!s->ndone && !s->flags) /* or it cannot make the choices that the block has made */
		s->flags |= circle ? PRODF_SHADOW_ENDLESS : PRODF_SHADOW_STUCK;
	map_free(&s->seen);
	free(g);
}

/* ---- one step ----------------------------------------------------------- */

static void emit(struct computing *c, uint32_t global, uint32_t local, uint32_t flags)
{
	if (global == VECTOR_TABLE_NONE || local == VECTOR_TABLE_NONE || !GROW(c->out, c->cap_out, c->nout + 1ull) ||
	    !GROW(c->chain, c->cap_chain, c->nchain + 1ull)) {
		c->x->out_of_memory = true;
		return;
	}
	assert(global < c->x->globals.n && local < c->k->ninfo);
	c->chain[c->nchain] = (struct chain){ c->before, c->number };
	c->out[c->nout++] = (struct product_outcome){ global, local, flags, c->nchain++, c->nbefore + 1, GLUE_NOTHING, false };
}

static void emit_end(struct computing *c, uint32_t flags)
{
	assert(flags & ~(uint32_t)PRODF_COMMIT);
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

static bool commits(const struct computing *c, bool was_in, bool now_in, uint32_t to, const struct ir_effect *eff)
{
	const struct product *x = c->x;
	if (!was_in && !now_in)
		return true; /* a single action */
	uint32_t block = x->ir->nodes[was_in ? c->from_node : to].block;
	assert(block < x->ir->nblocks);
	bool marked = x->ir->blocks[block].has_commit;
	if (!was_in)
		return marked ? eff->committed == block : x->lab && x->lab->at_entry[block];
	if (c->from.phase)
		return false;
	if (!now_in)
		return true;                     /* commits at its exit */
	assert(x->ir->nodes[to].block == block); /* blocks that count do not nest */
	return marked ? eff->committed == block : labelled(x, c->from_node, to);
}

/* The script in order of the choices: what was made before and in this step. */
static uint32_t *whole_script(struct product *x, uint32_t before, const struct ir_choices *ch, uint32_t *n)
{
	assert(before < x->scripts.n && ch->n <= IR_MAX_CHOICES);
	uint32_t len = 0;
	for (uint32_t s = before; s; s = (uint32_t)vector_table_get(&x->scripts, s)[0])
		len++;
	uint32_t *list = malloc(sizeof *list * (len + ch->n + 1));
	*n = len + ch->n;
	if (!list)
		return NULL;
	for (uint32_t s = before, i = len; s; s = (uint32_t)vector_table_get(&x->scripts, s)[0])
		list[--i] = (uint32_t)vector_table_get(&x->scripts, s)[1];
	memcpy(list + len, ch->pick, ch->n * sizeof *list);
	return list;
}

/* How many ways each choice of the guesses was made in: (the choices before it, how many outcomes it has) -> number. */
static bool count_guesses(struct product *x, const struct shadow_run *s, struct map *ways)
{
	assert(!ways->len);
	struct map seen;
	bool ok = true;
	map_init(&seen);
	for (uint32_t i = 0; i < s->ndone && ok; i++)
		for (uint32_t at = s->done[i].extra; at && ok;) {
			const int32_t *v = vector_table_get(&x->scripts, at);
			uint64_t key = (uint64_t)(uint32_t)v[0] << 32 | (uint32_t)v[2];
			if (map_get(&seen, at) != MAP_NONE)
				break; /* and so was all before it */
			uint32_t n = map_get(ways, key);
			ok = map_put(&seen, at, 0) && map_put(ways, key, n == MAP_NONE ? 1 : n + 1);
			at = (uint32_t)v[0];
		}
	map_free(&seen);
	return ok;
}

/* extra is last first; after the commit the next one must be first */
static uint32_t reversed(struct product *x, uint32_t script, const struct map *ways)
{
	assert(script < x->scripts.n);
	uint32_t out = 0;
	while (script && out != VECTOR_TABLE_NONE) {
		const int32_t *v = vector_table_get(&x->scripts, script);
		uint32_t rest = (uint32_t)v[0], of = (uint32_t)v[2];
		bool all = map_get(ways, (uint64_t)rest << 32 | of) == of;
		out = script_push(x, out, (uint32_t)v[1], all ? of : 0);
		script = rest;
	}
	return out;
}

/* [commit] and [shadow]: one edge for each way the serial run can end. */
static void commit_outcomes(struct computing *c, uint32_t g, uint32_t f, bool was_in, bool now_in, const struct ir_choices *ch)
{
	assert(c->x->mode == PROD_COMMIT);
	struct product *x = c->x;
	struct shadow_run s = { .x = x, .k = c->k };
	uint32_t *script = whole_script(x, was_in ? c->from.script : 0, ch, &s.nscript);
	s.script = script;
	if (!script) {
		x->out_of_memory = true;
		return;
	}
	struct map ways;
	map_init(&ways);
	shadow_run(&s, c->shadow_global, c->from.shadow);
	if (now_in && !count_guesses(x, &s, &ways))
		x->out_of_memory = true;
	for (uint32_t i = 0; i < s.ndone && !x->out_of_memory; i++) {
		uint32_t rest = now_in ? reversed(x, s.done[i].extra, &ways) : 0;
		emit(c, product_add_global(x, g, s.done[i].global),
		     product_add_local(x, c->k, f, s.done[i].frame, rest, now_in ? 1 : 0), PRODF_COMMIT);
	}
	if (s.flags)
		emit_end(c, s.flags);
	map_free(&ways);
	free(script);
	free(s.work);
	free(s.done);
}

/* Choices made after the commit must be those the shadow has guessed. */
static bool follow_script(struct computing *c, const struct ir_choices *ch, uint32_t *script)
{
	for (uint32_t i = 0; i < ch->n && *script; i++) {
		const int32_t *v = vector_table_get(&c->x->scripts, *script);
		if ((uint32_t)v[2] != ch->size[i]) {
			*script = 0; /* another choice than was guessed: see the head */
			return true;
		}
		if ((uint32_t)v[1] != ch->pick[i])
			return false;
		*script = (uint32_t)v[0];
	}
	return true;
}

static bool step_outcome(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                         const struct ir_effect *eff)
{
	assert(r != IR_BLOCKED);
	struct computing *c = arg;
	struct product *x = c->x;
	if (r == IR_FAULT) {
		emit_end(c, eff->fault == IRF_LIMIT ? PRODF_LIMIT : PRODF_FAULT);
		c->number++;
		return true;
	}
	uint32_t gid = vector_table_add(&x->plain_globals, g), fid = vector_table_add(&c->k->frames, f);
	if (gid == VECTOR_TABLE_NONE || fid == VECTOR_TABLE_NONE) {
		x->out_of_memory = true;
		return false;
	}
	if (x->mode == PROD_STANDARD) {
		emit(c, product_add_global(x, gid, gid), product_add_local(x, c->k, fid, 0, 0, 0), 0);
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
				script = script_push(x, script, ch->pick[i], 0);
		if (agrees)
			emit(c, product_add_global(x, gid, c->shadow_global),
			     product_add_local(x, c->k, fid, c->from.shadow, now_in ? script : 0, now_in ? c->from.phase : 0), 0);
	}
	c->number++;
	return !x->out_of_memory;
}

void product_one_step(struct computing *c, uint32_t global, uint32_t local)
{
	assert(global < c->x->globals.n && local < c->k->ninfo);
	struct product *x = c->x;
	const struct ir *p = x->ir;
	const int32_t *pair = vector_table_get(&x->globals, global);
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
	memcpy(g, vector_table_get(&x->plain_globals, plain), ng * sizeof *g);
	memcpy(f, vector_table_get(&c->k->frames, c->from.frame), nf * sizeof *f);
	c->from_node = (uint32_t)f[0];
	ir_each(p, c->k->thread, g, f, gout, fout, step_outcome, c);
	free(room);
}
