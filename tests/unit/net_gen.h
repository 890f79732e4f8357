/*
 * net_gen: random nets for the tests of net and unfold.
 */
#ifndef INTACT_TESTS_NET_GEN_H
#define INTACT_TESTS_NET_GEN_H

#include "base/rng.h"
#include "causal/net.h"

static const struct span nowhere = { 0, 0 };

/* State machines that move together: 1-safe by construction; with `wild`
 * some arcs go anywhere, and the net often is not. */
static inline bool random_net(struct rng *r, struct arena *a, bool wild, struct net *n)
{
	struct net_builder b;
	struct diags d;
	uint32_t k = 2 + rng_below(r, 4), s = 2 + rng_below(r, 3), nt = 4 + rng_below(r, 10);
	net_builder_init(&b, a);
	diags_init(&d, a);
	for (uint32_t i = 0; i < k * s; i++)
		net_add_place(&b, arena_printf(a, "p%u", i), i % s == 0);
	for (uint32_t t = 0; t < nt; t++) {
		uint32_t who = 1u << rng_below(r, k); /* one machine alone, or two or three together */
		for (uint32_t more = rng_below(r, 3); more > 0; more--)
			who |= 1u << rng_below(r, k);
		net_add_trans(&b, arena_printf(a, "t%u", t), nowhere);
		for (uint32_t c = 0; c < k; c++) {
			if (!(who >> c & 1))
				continue;
			net_add_take(&b, t, c * s + rng_below(r, s), nowhere);
			if (!wild || rng_below(r, 3))
				net_add_put(&b, t, c * s + rng_below(r, s), nowhere);
			else if (c == 0)
				net_add_put(&b, t, (k - 1) * s + rng_below(r, s), nowhere);
		}
	}
	return net_finish(&b, n, NULL, &d);
}

#endif
