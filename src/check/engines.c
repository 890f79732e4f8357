#include "base/invariant.h"
#include "check/engine.h"

#include <string.h>

#define LADDER "auto"
#define EVERY  "all"

#define ENGINE_REFER(name) &engine_##name,
const struct check_engine *const engines[] = { ENGINE_ROWS(ENGINE_REFER) NULL };

enum { ENGINES = sizeof engines / sizeof *engines - 1 };
/* A question may be put to every engine, and to one of them again. */
_Static_assert(ENGINES + 1 <= VERDICT_ATTEMPTS, "a verdict has room for an attempt of each engine");
_Static_assert(ENGINES + 3 <= ENGINE_MAX_CHOICES, "--engine has room for each engine");

const struct check_engine *engine_find(const char *name)
{
	for (uint32_t i = 0; i < ENGINES; i++)
		if (!strcmp(engines[i]->about.name, name))
			return engines[i];
	return NULL;
}

bool engine_is_choice(const struct check_engine *e)
{
	assert(e->ladder == (e->ask != NULL));
	assert((e->about.question == ENGINE_CAUSALITY) == (e->ask_itself != NULL));
	return e->ladder || e->ask_itself;
}

void engine_names(enum engine_question q, const char *names[ENGINE_MAX_CHOICES])
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < ENGINES; i++)
		if (engines[i]->about.question == q)
			names[n++] = engines[i]->about.name;
	names[n] = NULL;
}

void engine_choices(const char *names[ENGINE_MAX_CHOICES])
{
	uint32_t n = 0;
	names[n++] = LADDER;
	for (uint32_t i = 0; i < ENGINES; i++)
		if (engine_is_choice(engines[i]))
			names[n++] = engines[i]->about.name;
	names[n++] = EVERY;
	names[n] = NULL;
}

bool engine_choose(const char *name, const struct check_engine **one, bool *all)
{
	*one = NULL;
	*all = !strcmp(name, EVERY);
	if (*all || !strcmp(name, LADDER))
		return true;
	const struct check_engine *e = engine_find(name);
	if (!e || !engine_is_choice(e))
		return false;
	*one = e;
	return true;
}

const char *engine_chosen(const struct check_engine *one, bool all)
{
	assert(!(one && all));
	return one ? one->about.name : all ? EVERY : LADDER;
}
