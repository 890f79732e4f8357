/*
 * mutate_json: changes a document as a document, so that most mutants are JSON
 * still: a member removed, doubled or renamed, a value replaced by another of
 * the same document or by an awkward one, a number moved, an array reordered.
 * One mutation in four is of bytes.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "fuzz.h"

#define MAX_NODES 4096u

struct nodes { /* containers, and the value at a random place */
	json_t *in[MAX_NODES];
	uint32_t n;
};

static void collect(json_t *j, struct nodes *v, int depth)
{
	const char *key;
	size_t i;
	json_t *child;
	if (depth > 60 || v->n == MAX_NODES || !(json_is_object(j) || json_is_array(j)))
		return;
	v->in[v->n++] = j;
	json_object_foreach(j, key, child) collect(child, v, depth + 1);
	json_array_foreach(j, i, child) collect(child, v, depth + 1);
}

static size_t size_of(const json_t *j)
{
	return json_is_object(j) ? json_object_size(j) : json_array_size(j);
}

/* The k'th member or element, and its key. */
static json_t *nth(json_t *j, size_t k, const char **key)
{
	*key = NULL;
	if (json_is_array(j))
		return json_array_get(j, k);
	void *it = json_object_iter(j);
	while (it && k--)
		it = json_object_iter_next(j, it);
	*key = it ? json_object_iter_key(it) : NULL;
	return it ? json_object_iter_value(it) : NULL;
}

static json_t *awkward(struct rng *r)
{
	static const json_int_t numbers[] = { 0, 1, -1, 2, 255, 256, 65536, 2147483647, 4294967295, 4294967296, INT64_MAX, INT64_MIN };
	static const char *const texts[] = { "", "holds", "violated", "unknown", "a\nb", "<b>&\"'", "%s", "0", "\xc3\xa9\xe2\x86\x92" };
	switch (rng_below(r, 7)) {
	case 0: return json_null();
	case 1: return json_boolean(rng_below(r, 2));
	case 2: return json_array();
	case 3: return json_object();
	case 4: return json_real(0.5);
	case 5: return json_string(texts[rng_below(r, sizeof texts / sizeof *texts)]);
	default: return json_integer(numbers[rng_below(r, sizeof numbers / sizeof *numbers)]);
	}
}

static json_t *near(struct rng *r, const json_t *old)
{
	if (json_is_integer(old))
		return json_integer((json_int_t)((uint64_t)json_integer_value(old) + rng_below(r, 7) - 3u));
	if (json_is_boolean(old))
		return json_boolean(!json_is_true(old));
	return awkward(r);
}

static void change(struct rng *r, struct nodes *v)
{
	json_t *in = v->in[rng_below(r, v->n)], *from = v->in[rng_below(r, v->n)], *value;
	const char *key, *other;
	if (!size_of(in))
		return;
	size_t k = rng_below(r, (uint32_t)size_of(in));
	json_t *old = nth(in, k, &key);
	char *name = key ? strdup(key) : NULL;
	switch (rng_below(r, 6)) {
	case 0: /* removed */
		if (name)
			json_object_del(in, name);
		else
			json_array_remove(in, k);
		break;
	case 1: /* doubled, or moved */
		if (!name)
			json_array_insert_new(in, rng_below(r, (uint32_t)size_of(in) + 1), json_deep_copy(old));
		break;
	case 2: /* of elsewhere */
	case 3:
		value = size_of(from) ? nth(from, rng_below(r, (uint32_t)size_of(from)), &other) : NULL;
		value = value ? json_deep_copy(value) : awkward(r);
		if (name)
			json_object_set_new(in, name, value);
		else
			json_array_set_new(in, k, value);
		break;
	default:
		value = rng_below(r, 3) ? near(r, old) : awkward(r);
		if (name)
			json_object_set_new(in, name, value);
		else
			json_array_set_new(in, k, value);
	}
	free(name);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static struct nodes v;
	struct rng r;
	rng_seed(&r, seed);
	json_t *j = rng_below(&r, 4) ? json_loadb((const char *)data, size, 0, NULL) : NULL;
	if (!j)
		return LLVMFuzzerMutate(data, size, max);
	for (uint32_t times = 1 + rng_below(&r, 3); times; times--) {
		v.n = 0;
		collect(j, &v, 0);
		if (v.n)
			change(&r, &v);
	}
	size_t n = json_dumpb(j, NULL, 0, JSON_COMPACT);
	if (n && n <= max)
		json_dumpb(j, (char *)data, max, JSON_COMPACT);
	json_decref(j);
	return n && n <= max ? n : LLVMFuzzerMutate(data, size, max);
}
