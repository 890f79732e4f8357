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

static void rehash(struct intern *in, uint32_t cap)
{
	assert(!(cap & (cap - 1)) && in->strs.len <= cap / 2);
	in->slots = arena_array(in->arena, uint32_t, cap);
	in->cap = cap;
	for (uint32_t id = 0; id < in->strs.len; id++) {
		uint32_t i = in->strs.data[id].hash & (cap - 1);
		while (in->slots[i])
			i = (i + 1) & (cap - 1);
		in->slots[i] = id + 1;
	}
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
	assert(len < UINT32_MAX && in->strs.len <= in->cap / 2);
	uint32_t h = hash_bytes(s, len);
	uint32_t i = h & (in->cap - 1);
	for (; in->slots[i]; i = (i + 1) & (in->cap - 1)) {
		const struct interned *e = &in->strs.data[in->slots[i] - 1];
		if (e->hash == h && e->len == len && !memcmp(e->str, s, len))
			return in->slots[i] - 1;
	}
	struct interned e = { arena_strndup(in->arena, s, len), (uint32_t)len, h };
	avec_push(in->arena, &in->strs, e);
	in->slots[i] = in->strs.len;
	uint32_t id = in->strs.len - 1;
	if (in->strs.len > in->cap / 2)
		rehash(in, in->cap * 2);
	assert(id < in->strs.len && in->strs.data[id].len == len);
	return id;
}
