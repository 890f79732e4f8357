/* The table of engines: what src/check/engine.h and verdict/engine.h promise of every row. */
#include "check.h"

#include <string.h>

#include "check/check.h"

static void test_rows(void)
{
	bool beyond = false;
	uint32_t ladder = 0;
	for (const struct check_engine *const *e = engines; *e; e++) {
		const struct engine *a = &(*e)->about;
		CHECK(a->name && *a->name && strspn(a->name, "abcdefghijklmnopqrstuvwxyz") == strlen(a->name));
		CHECK(a->summary && strlen(a->summary) > 10 && strlen(a->summary) <= 100 && !strchr(a->summary, '\n'));
		CHECK(a->topic && *a->topic);
		CHECK(engine_find(a->name) == *e); /* no other row has the name */
		CHECK((*e)->ladder == ((*e)->ask != NULL));
		CHECK((a->question == ENGINE_CAUSALITY) == ((*e)->ask_itself != NULL));
		CHECK(!(*e)->ladder || !beyond); /* the ladder comes first */
		CHECK((*e)->ladder || (!(*e)->ask_part && !(*e)->first_states));
		CHECK(!(*e)->explores || !a->abstract);
		beyond |= !(*e)->ladder;
		ladder += (*e)->ladder;
	}
	CHECK(ladder >= 4 && ladder + 1 <= VERDICT_ATTEMPTS);
	CHECK(!engine_find("") && !engine_find("auto") && !engine_find("all"));
}

static void test_choices(void)
{
	const char *names[ENGINE_MAX_CHOICES];
	const struct check_engine *one;
	bool all;
	engine_choices(names);
	CHECK(!strcmp(names[0], "auto"));
	for (uint32_t i = 0; names[i]; i++) {
		CHECK(engine_choose(names[i], &one, &all));
		CHECK(all == !strcmp(names[i], "all") && (one != NULL) == (i && !all));
		CHECK(!one || one == engine_find(names[i]));
	}
	CHECK(!engine_choose("search", &one, &all) && !one); /* answers another question */
	CHECK(!engine_choose("", &one, &all) && !engine_choose("exactly", &one, &all));
	engine_names(ENGINE_OBJECTS, names);
	CHECK(!strcmp(names[0], "monitor")); /* the default of --assertion */
}

/* A model checked by the library alone. */
static void ask_library(const char *text, struct check_options o, enum check_status want, enum answer answer, const char *by)
{
	struct lang l;
	struct check_result r;
	struct arena a;
	struct diags d;
	arena_init(&a, 0);
	diags_init(&d, &a);
	lang_init(&l);
	o.search.symmetry = o.search.merge_local = o.search.drop_pure = o.search.transactions = true;
	CHECK(lang_load_text(&l, "model.atm", text, strlen(text), &(struct lang_options){ .sml = -1 }));
	CHECK(check_run(l.ir, &o, &d, &r) == want);
	if (want == CHECK_OK) {
		CHECK(r.n && r.v[0].answer == answer && !strcmp(r.v[0].engine->name, by));
		CHECK(r.causality == (o.engine && o.engine->ask_itself));
	} else {
		CHECK(!r.n);
	}
	check_result_free(&r);
	lang_free(&l);
	arena_free(&a);
}

static void test_library(void)
{
	static const char locked[] = "lock m; int c; thread w * 2 { atomic up { acquire(m); c = c + 1; release(m); } }";
	static const char racy[] = "int[0..3] c; thread w * 2 { atomic up { int[0..3] t = c; c = (t + 1) % 4; } }";
	ask_library(locked, (struct check_options){ 0 }, CHECK_OK, ANSWER_HOLDS, "reduction");
	ask_library(locked, (struct check_options){ .engine = &engine_cover }, CHECK_OK, ANSWER_HOLDS, "cover");
	ask_library(racy, (struct check_options){ 0 }, CHECK_OK, ANSWER_VIOLATED, "commit");
	ask_library(racy, (struct check_options){ .engine = &engine_exact }, CHECK_OK, ANSWER_VIOLATED, "exact");
	ask_library(racy, (struct check_options){ .engine = &engine_reduction }, CHECK_OK, ANSWER_UNKNOWN, "reduction");
	ask_library(racy, (struct check_options){ .block = "w.up" }, CHECK_OK, ANSWER_VIOLATED, "commit");
	ask_library(racy, (struct check_options){ .block = "w." }, CHECK_NO_BLOCK, ANSWER_UNKNOWN, NULL);
	/* a budget that is spent at once still names the engine that was to be asked */
	ask_library(racy, (struct check_options){ .engine = &engine_exact, .search.deadline = 0.001 }, CHECK_OK, ANSWER_UNKNOWN, "exact");
}

int main(void)
{
	RUN(test_rows);
	RUN(test_choices);
	RUN(test_library);
	return check_done();
}
