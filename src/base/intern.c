#include "base/intern.h"

#include <string.h>

#include "base/invariant.h"

static uint32_t hash_bytes(const char *s, size_t len)
{
	uint64_t h = 0xCBF29CE484222325u;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001B3u;
	return (uint32_t)(h ^ (h >> 29));
}

struct intern_wanted {
	const struct intern *in;
	const char *s;
	size_t len;
	uint32_t hash;
};

static inline bool is_wanted(const void *ctx, uint32_t id)
{
	const struct intern_wanted *w = ctx;
	const struct interned *e = &w->in->strs.data[id];
	return e->hash == w->hash && e->len == w->len && !memcmp(e->str, w->s, w->len);
}

static inline uint32_t hash_of(const void *ctx, uint32_t id)
{
	return ((const struct intern *)ctx)->strs.data[id].hash;
}

static void rehash(struct intern *in, uint32_t cap)
{
	idtab_move(&in->ids, arena_array(in->arena, uint32_t, cap), cap, 0, in->strs.len, hash_of, in);
}

void intern_init(struct intern *in, struct arena *a)
{
	memset(in, 0, sizeof *in);
	in->arena = a;
	rehash(in, 256);
	intern_add(in, "", 0);
	assert(in->strs.len == 1 && !in->strs.data[0].len); /* id 0 */
}

uint32_t intern_add(struct intern *in, const char *s, size_t len)
{
	assert(len < UINT32_MAX);
	uint32_t h = hash_bytes(s, len);
	uint32_t *slot = idtab_at(&in->ids, h, is_wanted, &(struct intern_wanted){ in, s, len, h });
	if (*slot)
		return *slot - 1;
	struct interned e = { arena_strndup(in->arena, s, len), (uint32_t)len, h };
	avec_push(in->arena, &in->strs, e);
	*slot = in->strs.len;
	if (idtab_full(&in->ids, in->strs.len))
		rehash(in, in->ids.nslots * 2);
	return in->strs.len - 1;
}
