#include "program/explore_gaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"
#include "report/finding.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Its number; false: too many, or its name is too long. */
static bool module_of(struct explore_gaps *g, const char *name, uint32_t *out)
{
	for (*out = 0; *out < g->nmodules; ++*out)
		if (!strcmp(g->module[*out], name))
			return true;
	if (g->nmodules == CONTROL_GAP_MODULES || !*name || strlen(name) >= CONTROL_PATH)
		return false;
	snprintf(g->module[g->nmodules++], CONTROL_PATH, "%s", name);
	assert(*out < g->nmodules && g->nmodules <= CONTROL_GAP_MODULES);
	return true;
}

/* ---- from a report ---- */

/* The innermost frame of a place of the finding. */
static struct control_gap_place innermost(struct explore_gaps *g, const json_t *finding, const char *member)
{
	const json_t *f = json_array_get(json_object_get(json_object_get(finding, member), "stack"), 0);
	struct control_gap_place p = { 0, (uint64_t)doc_number(f, "offset") };
	if (!f || !module_of(g, doc_text(f, "module"), &p.module))
		p.offset = 0;
	return p;
}

struct wanted {
	const char *function, *file;
	size_t bare; /* letters without the parameters */
	bool seen;   /* there is such a function, if only inlined */
};

static bool is_wanted(void *ctx, const char *function, const char *file, uint32_t line, bool there)
{
	struct wanted *w = ctx;
	(void)line;
	bool same = function && (!strcmp(function, w->function) || (w->bare && !strncmp(function, w->function, w->bare) &&
	                                                            (!function[w->bare] || function[w->bare] == '(')));
	if (!same || (file && *w->file && strcmp(base_name(file), base_name(w->file)) != 0))
		return false;
	w->seen = true;
	return there;
}

/* Where the function begins in the program: by its name, which also finds its other copies. False: it is not
 * there. */
static bool find_function(struct explore_gaps *g, struct control_gap *gap, const char *function, const char *file,
                          const char *program, struct arena *a)
{
	struct wanted w = { function, file, strcspn(function, "("), false };
	uint64_t at[CONTROL_GAP_FNS];
	uint32_t module;
	if (!module_of(g, base_name(program), &module))
		return false;
	uint32_t n = symbols_functions(a, program, is_wanted, &w, at, CONTROL_GAP_FNS);
	assert(n <= CONTROL_GAP_FNS && module < g->nmodules);
	for (uint32_t i = 0; i < n; i++)
		gap->fn[i] = (struct control_gap_place){ module, at[i] };
	return w.seen;
}

const char *gaps_add(struct explore_gaps *g, const json_t *finding, const char *program, struct arena *a)
{
	struct control_gap gap = { .any_cycle = 0 };
	const json_t *frame = json_array_get(json_object_get(json_object_get(finding, "entered"), "stack"), 0);
	const char *block = doc_text(finding, "block"), *mark = doc_text(finding, "mark");
	if (g->n == CONTROL_GAPS)
		return arena_printf(a, "more than %d findings are not explored at once", CONTROL_GAPS);
	gap.entered = innermost(g, finding, "entered");
	gap.commit = innermost(g, finding, "commit");
	gap.violation = innermost(g, finding, "violation");
	gap.until = innermost(g, finding, json_object_get(finding, "other_acquire") ? "other_acquire" : "other_access");
	gap.any_cycle = *mark != 0;
	if (!gap.entered.offset || !gap.commit.offset || !gap.violation.offset)
		return "the report has no places for it";
	bool own = !strcmp(doc_text(frame, "module"), base_name(program));
	const char *file = doc_text(frame, "file");
	if (!own && !strstr(doc_text(frame, "module"), ".so")) /* a library's may be loaded, another program's cannot */
		return arena_printf(a, "'%s' is a function of %s", block, doc_text(frame, "module"));
	if (!*mark && own && *file && !find_function(g, &gap, block, file, program, a))
		return arena_printf(a, "there is no function '%s' in %s", block, base_name(program));
	g->name[g->n] = arena_strdup(a, block);
	g->gap[g->n++] = gap;
	assert(g->n <= CONTROL_GAPS && gap.entered.module <= g->nmodules);
	return NULL;
}

/* ---- in a schedule file ---- */

static const char *const names[] = { "gap entered", "gap commit", "gap violation", "gap until" };
_Static_assert(sizeof names / sizeof *names == 4, "member() has one of each");

static struct control_gap_place *member(struct control_gap *gap, unsigned i)
{
	struct control_gap_place *all[] = { &gap->entered, &gap->commit, &gap->violation, &gap->until };
	assert(i < sizeof all / sizeof *all);
	return all[i];
}

static const char *place_text(const struct explore_gaps *g, const struct control_gap_place *p, struct arena *a)
{
	return arena_printf(a, "0x%llx %s", (unsigned long long)p->offset, p->module < g->nmodules ? g->module[p->module] : "?");
}

uint32_t gaps_write(const struct explore_gaps *g, struct arena *a, struct schedule_pair *out, uint32_t max)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->n && n + CONTROL_GAP_FNS + 6 <= max; i++) {
		struct control_gap gap = g->gap[i];
		out[n++] = (struct schedule_pair){ "gap", gap.any_cycle ? "any" : g->lock_order ? "locks" : "data" };
		for (int k = 0; k < CONTROL_GAP_FNS; k++)
			if (gap.fn[k].offset)
				out[n++] = (struct schedule_pair){ "gap function", place_text(g, &gap.fn[k], a) };
		for (unsigned k = 0; k < 4; k++)
			if (member(&gap, k)->offset)
				out[n++] = (struct schedule_pair){ names[k], place_text(g, member(&gap, k), a) };
	}
	assert(n <= max);
	return n;
}

static bool read_place(struct explore_gaps *g, const char *text, struct control_gap_place *p)
{
	char *end;
	p->offset = strtoull(text, &end, 16);
	return end > text && *end == ' ' && module_of(g, end + 1, &p->module);
}

bool gaps_read(struct explore_gaps *g, const struct schedule_pair *in, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strncmp(in[i].name, "gap", 3) != 0)
			continue;
		if (!strcmp(in[i].name, "gap")) {
			if (g->n == CONTROL_GAPS)
				return false;
			g->lock_order |= !strcmp(in[i].value, "locks");
			g->gap[g->n++] = (struct control_gap){ .any_cycle = !strcmp(in[i].value, "any") };
			continue;
		}
		struct control_gap *gap = g->n ? &g->gap[g->n - 1] : NULL;
		struct control_gap_place *p = NULL;
		for (unsigned k = 0; gap && k < 4; k++)
			if (!strcmp(in[i].name, names[k]))
				p = member(gap, k);
		for (int k = 0; gap && !strcmp(in[i].name, "gap function") && k < CONTROL_GAP_FNS && !p; k++)
			p = gap->fn[k].offset ? NULL : &gap->fn[k];
		if (!p || !read_place(g, in[i].value, p))
			return false;
	}
	assert(g->n <= CONTROL_GAPS && g->nmodules <= CONTROL_GAP_MODULES);
	return true;
}
