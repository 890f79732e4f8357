/*
 * objects: the table of objects, and the names that objects and operations have in files.
 */
#include <string.h>

#include "history/object.h"

static const struct object_type unknown;

#define NAME_OF(NAME, row, name, own) name,
const char *const object_names[] = { "guess", OBJECT_ROWS(NAME_OF) NULL };

#define ADDRESS_OF(NAME, row, name, own) [OBJ_##NAME] = &object_##row,
static const struct object_type *const types[OBJ_COUNT] = { [OBJ_GUESS] = &unknown, OBJECT_ROWS(ADDRESS_OF)[OBJ_USER] = &unknown };

#define OWN_END(NAME, row, name, own) [OBJ_##NAME] = (own) ? FN_##NAME##_LAST + 1 : FN_COUNT,
static const uint8_t own_end[OBJ_COUNT] = { OBJECT_ROWS(OWN_END) };

const struct object_type *object_type(enum object o)
{
	return types[o];
}

uint32_t object_own_end(enum object o)
{
	return own_end[o] ? own_end[o] : FN_COUNT;
}

/* Is the word one of the list? */
static bool listed(const char *list, const char *s, size_t len)
{
	while (list && *list) {
		size_t n = strcspn(list, " ");
		if (n == len && !memcmp(list, s, len))
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

enum object object_by_name(const char *s, size_t len)
{
	for (int o = OBJ_GUESS + 1; o < OBJ_USER; o++)
		if ((strlen(object_names[o]) == len && !memcmp(object_names[o], s, len)) || listed(types[o]->aliases, s, len))
			return (enum object)o;
	return OBJ_GUESS;
}

const struct object_operation *object_operation(enum object o, uint32_t fn)
{
	const struct object_operation *op = types[o]->ops;
	for (; op && op->fn; op++)
		if (op->fn == fn || (fn < 64 && op->also >> fn & 1))
			return op;
	return NULL;
}

/* ---- names of operations -------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t fn;
} names[] = {
	{ "read", FN_READ },
	{ "write", FN_WRITE },
	{ "cas", FN_CAS },
	{ "get", FN_READ },
	{ "put", FN_WRITE },
	{ "append", FN_APPEND },
	{ "enqueue", FN_ENQ },
	{ "dequeue", FN_DEQ },
	{ "enq", FN_ENQ },
	{ "deq", FN_DEQ },
	{ "push", FN_PUSH },
	{ "pop", FN_POP },
	{ "add", FN_ADD },
	{ "remove", FN_REMOVE },
	{ "contains", FN_CONTAINS },
	{ "insert", FN_INSERT },
	{ "poll", FN_POLL },
	{ "peek", FN_PEEK },
	{ "acquire", FN_ACQUIRE },
	{ "release", FN_RELEASE },
	{ "lock", FN_ACQUIRE },
	{ "unlock", FN_RELEASE },
	{ "inc", FN_ADD },
	{ "increment", FN_ADD },
	{ "dec", FN_DEC },
	{ "decrement", FN_DEC },
	{ "sub", FN_DEC },
	{ "r", FN_READ },
	{ "w", FN_WRITE },
	{ "load", FN_READ },
	{ "store", FN_WRITE },
	{ "set", FN_WRITE },
	{ "compare-and-set", FN_CAS },
	{ "compare-and-swap", FN_CAS },
	{ "delete", FN_REMOVE },
	{ "rem", FN_REMOVE },
	{ "member", FN_CONTAINS },
	{ "top", FN_PEEK },
	{ "front", FN_PEEK },
	{ "offer", FN_ENQ },
	{ "extract-min", FN_POLL },
	{ "delete-min", FN_POLL },
	{ "extract", FN_POLL },
};

/* The operation of its own that some object has under this code, or under this name. */
static const struct object_operation *own_op(uint32_t fn, const char *s, size_t len)
{
	for (int o = OBJ_GUESS + 1; o < OBJ_USER; o++)
		for (const struct object_operation *op = types[o]->ops; op->fn; op++)
			if (op->fn >= FN_COUNT && (s ? listed(op->name, s, len) || listed(op->words, s, len) : op->fn == fn))
				return op;
	return NULL;
}

enum fn fn_by_name(const char *s, size_t len)
{
	char low[24];
	if (len >= sizeof low)
		return FN_NONE;
	for (size_t i = 0; i < len; i++) {
		char c = s[i];
		low[i] = c == '_' ? '-' : (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	low[len] = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].name[0] == low[0] && !strcmp(names[i].name, low))
			return names[i].fn;
	const struct object_operation *own = len ? own_op(0, low, len) : NULL;
	return own ? (enum fn)own->fn : FN_NONE;
}

static const struct {
	const char *name;
	enum op_shape shape;
} fns[FN_COUNT] = {
	[FN_NONE] = { "?", OP_METHOD },      [FN_READ] = { "read", OP_READS },       [FN_WRITE] = { "write", OP_WRITES },
	[FN_CAS] = { "cas", OP_CAS },        [FN_APPEND] = { "append", OP_WRITES },  [FN_ADD] = { "add", OP_CHANGES },
	[FN_DEC] = { "dec", OP_COUNTS },     [FN_REMOVE] = { "remove", OP_CHANGES }, [FN_CONTAINS] = { "contains", OP_ASKS },
	[FN_ENQ] = { "enqueue", OP_WRITES }, [FN_DEQ] = { "dequeue", OP_TAKES },     [FN_PUSH] = { "push", OP_WRITES },
	[FN_POP] = { "pop", OP_TAKES },      [FN_PEEK] = { "peek", OP_PEEKS },       [FN_INSERT] = { "insert", OP_WRITES },
	[FN_POLL] = { "poll", OP_TAKES },    [FN_ACQUIRE] = { "acquire", OP_LOCKS }, [FN_RELEASE] = { "release", OP_LOCKS },
};

const char *fn_name(uint32_t f, enum object o)
{
	const struct object_operation *op = object_operation(o, f);
	if (op && op->fn == f && op->name)
		return op->name;
	op = f >= FN_COUNT ? own_op(f, NULL, 0) : NULL;
	return f < FN_COUNT ? fns[f].name : op ? op->name : "?";
}

enum op_shape fn_shape(uint32_t f)
{
	const struct object_operation *op = f >= FN_COUNT ? own_op(f, NULL, 0) : NULL;
	return f < FN_COUNT ? fns[f].shape : op ? op->shape : OP_METHOD;
}
