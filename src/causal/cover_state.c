#include "causal/cover_state.h"

#include <string.h>

#include "base/invariant.h"

bool cstate_enabled(const struct program *g, const uint32_t *cell, const struct action *a)
{
	assert(a->touch + a->ntouch <= g->ntouches);
	const struct touch *t = g->touches + a->touch;
	for (uint32_t i = 0; i < a->ntouch; i++)
		if (t[i].need != PROGRAM_ANY && cword_value(cell[t[i].cell]) != t[i].need)
			return false;
	return true;
}

unsigned cstate_inherit(const struct program *g, const uint32_t *cell, const struct action *a, unsigned in)
{
	assert(in <= TAINT_OTHER);
	const struct touch *t = g->touches + a->touch;
	for (uint32_t i = 0; i < a->ntouch; i++) {
		uint32_t c = cell[t[i].cell];
		in = taint_join(in, t[i].write ? cword_r(c) : cword_w(c));
	}
	return in;
}

void cstate_touch(const struct program *g, uint32_t *cell, const struct action *a, unsigned out)
{
	assert(out <= TAINT_OTHER);
	const struct touch *t = g->touches + a->touch;
	for (uint32_t i = 0; i < a->ntouch; i++) {
		uint32_t *c = &cell[t[i].cell], value = cword_value(*c);
		if (!t[i].write)
			*c = cword(value, cword_w(*c), taint_join(cword_r(*c), out));
		else
			*c = cword(t[i].put == PROGRAM_ANY ? value : t[i].put, out, out);
	}
}

static uint32_t group_at(const struct cstate *s, uint32_t code)
{
	uint32_t i = 0;
	while (i < s->ngroup && s->group[i].code < code)
		i++;
	return i;
}

void cstate_join(struct cstate *s, uint32_t spot, bool yellow)
{
	uint32_t code = spot * 2 + yellow, i = group_at(s, code);
	if (i < s->ngroup && s->group[i].code == code) {
		if (s->group[i].count != COVER_OMEGA)
			s->group[i].count++;
		return;
	}
	memmove(s->group + i + 1, s->group + i, (s->ngroup - i) * sizeof *s->group);
	s->group[i] = (struct cover_group){ code, 1 };
	s->ngroup++;
}

void cstate_leave(struct cstate *s, uint32_t spot, bool yellow)
{
	uint32_t i = group_at(s, spot * 2 + yellow);
	assert(i < s->ngroup && s->group[i].code == spot * 2 + yellow && s->group[i].count);
	if (s->group[i].count == COVER_OMEGA || --s->group[i].count)
		return;
	s->ngroup--;
	memmove(s->group + i, s->group + i + 1, (s->ngroup - i) * sizeof *s->group);
}

void cstate_promise(struct cstate *s, uint32_t spot)
{
	assert(s->nowner < COVER_MAX_OWNERS);
	s->owner[s->nowner++] = spot;
}

/* Renames the taints of all cells: to[] by old taint. */
static void rename_taints(const struct program *g, struct cstate *s, const unsigned to[16])
{
	for (uint32_t i = 0; i < g->ncells; i++) {
		uint32_t c = s->cell[i];
		if (c >> 16)
			s->cell[i] = cword(cword_value(c), to[cword_w(c)], to[cword_r(c)]);
	}
}

void cstate_keep(const struct program *g, struct cstate *s, uint32_t i)
{
	assert(i < s->nowner);
	unsigned to[16];
	for (unsigned k = 0; k < 16; k++)
		to[k] = k == i + 1 ? TAINT_OTHER : k > i + 1 && k != TAINT_OTHER ? k - 1 : k;
	rename_taints(g, s, to);
	s->nowner--;
	memmove(s->owner + i, s->owner + i + 1, (s->nowner - i) * sizeof *s->owner);
}

void cstate_sort(const struct program *g, struct cstate *s, uint32_t perm[COVER_MAX_OWNERS])
{
	unsigned to[16];
	bool moved = false;
	for (uint32_t i = 0; i < s->nowner; i++) {
		uint32_t k = i, spot = s->owner[i];
		for (; k > 0 && s->owner[k - 1] > spot; k--) {
			s->owner[k] = s->owner[k - 1];
			perm[k] = perm[k - 1];
			moved = true;
		}
		s->owner[k] = spot;
		perm[k] = i;
	}
	if (!moved)
		return;
	for (unsigned k = 0; k < 16; k++)
		to[k] = k;
	for (uint32_t i = 0; i < s->nowner; i++)
		to[perm[i] + 1] = i + 1;
	rename_taints(g, s, to);
}

void cover_first_spots(const struct program *g, uint32_t block, uint8_t *first)
{
	assert(block == COVER_ANY || block < g->ir->nblocks);
	bool more = true;
	memset(first, 0, g->nspots);
	for (uint32_t i = 0; i < g->nactions; i++) {
		const struct action *a = &g->actions[i];
		if (a->entered != IR_NONE && (block == COVER_ANY || a->entered == block))
			first[a->to] = 1;
	}
	while (more) {
		more = false;
		for (uint32_t i = 0; i < g->nactions; i++) {
			const struct action *a = &g->actions[i];
			if (!first[a->from] || first[a->to] || a->ntouch || a->exited != IR_NONE)
				continue;
			first[a->to] = 1;
			more = true;
		}
	}
}
