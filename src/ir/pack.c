/*
 * pack: a state in as few bits as the ranges of its slots need, in order,
 * without gaps. A slot with one possible value takes none.
 */
#include <string.h>

#include "base/invariant.h"
#include "ir/ir.h"

static uint8_t bits_for(int64_t lo, int64_t hi)
{
	assert(lo <= hi && hi - lo <= UINT32_MAX);
	uint64_t span = (uint64_t)(hi - lo);
	return span ? (uint8_t)(64 - __builtin_clzll(span)) : 0;
}

static void set_slot(struct ir_packing *k, uint32_t i, int32_t lo, int32_t hi)
{
	assert(i < k->nstate);
	k->base[i] = lo;
	k->width[i] = bits_for(lo, hi);
	assert(k->width[i] <= 32);
	k->nbits += k->width[i];
}

/* Auxiliary slots of a safe or regular variable (ir.h has the layout). */
static void pack_register(struct ir_packing *k, const struct ir *p, const struct ir_var *v)
{
	assert(v->aux_record >= 1 && v->aux + v->len * v->aux_stride <= p->nglobals);
	uint32_t n = v->aux_stride ? (v->aux_stride - 1) / v->aux_record : 0;
	int32_t values = v->hi - v->lo + 1;
	(void)p;
	for (uint32_t e = 0; e < v->len; e++) {
		uint32_t at = v->aux + e * v->aux_stride;
		set_slot(k, at, 0, (int32_t)n);
		for (uint32_t t = 0; t < n; t++) {
			uint32_t rec = at + 1 + t * v->aux_record;
			if (v->kind == IRV_SAFE) {
				set_slot(k, rec, 0, 2);
				continue;
			}
			set_slot(k, rec, 0, values);
			for (uint32_t w = 1; w < v->aux_record; w++) {
				int32_t left = values - (int32_t)(w - 1) * 31;
				set_slot(k, rec + w, 0, left >= 31 ? INT32_MAX : (int32_t)((1u << left) - 1));
			}
		}
	}
}

void ir_packing_init(struct ir_packing *k, const struct ir *p, struct arena *a)
{
	memset(k, 0, sizeof *k);
	k->nstate = p->nstate;
	k->width = arena_array(a, uint8_t, p->nstate);
	k->base = arena_array(a, int32_t, p->nstate);
	for (uint32_t i = 0; i < p->nvars; i++) {
		const struct ir_var *v = &p->vars[i];
		for (uint32_t j = 0; j < v->len; j++)
			set_slot(k, v->slot + j, v->lo, v->hi);
		if (v->kind == IRV_SAFE || v->kind == IRV_REGULAR)
			pack_register(k, p, v);
	}
	for (uint32_t i = 0; i < p->nthreads; i++) {
		const struct ir_template *t = &p->templates[p->threads[i].tmpl];
		for (uint32_t j = 0; j < t->nslots; j++) {
			const struct ir_slot *s = &p->slots[t->slot + j];
			set_slot(k, p->threads[i].frame + j, s->lo, s->hi);
		}
	}
	k->nbytes = (k->nbits + 7) / 8;
	assert(k->nbytes <= k->nstate * sizeof(int32_t));
}

void ir_pack(const struct ir_packing *k, const int32_t *state, uint8_t *bytes)
{
	uint64_t acc = 0;
	unsigned have = 0;
	for (uint32_t i = 0; i < k->nstate; i++) {
		assert(!((uint64_t)((uint32_t)state[i] - (uint32_t)k->base[i]) >> k->width[i])); /* within its range */
		acc |= (uint64_t)((uint32_t)state[i] - (uint32_t)k->base[i]) << have;
		have += k->width[i];
		assert(have < 8 + 32);
		while (have >= 8) {
			*bytes++ = (uint8_t)acc;
			acc >>= 8;
			have -= 8;
		}
	}
	assert(have < 8 && (acc >> have) == 0);
	if (have)
		*bytes = (uint8_t)acc;
}

void ir_unpack(const struct ir_packing *k, const uint8_t *bytes, int32_t *state)
{
	uint64_t acc = 0;
	unsigned have = 0;
	for (uint32_t i = 0; i < k->nstate; i++) {
		unsigned w = k->width[i];
		while (have < w) {
			acc |= (uint64_t)*bytes++ << have;
			have += 8;
		}
		uint32_t v = w ? (uint32_t)(acc & (((uint64_t)1 << w) - 1)) : 0;
		state[i] = (int32_t)((int64_t)k->base[i] + v);
		acc >>= w;
		have -= w;
		assert(have < 8);
	}
}
