/*
 * finding_blame: which function a finding is about, and whether it is
 * reported.
 */
#include <string.h>

#include "report/finding_int.h"

static bool listed(struct filter *f, const struct src_frame *frame, bool atomic)
{
	uint32_t n = atomic ? f->atomic.len : f->not_atomic.len;
	struct pattern *p = atomic ? f->atomic.data : f->not_atomic.data;
	for (uint32_t i = 0; i < n; i++)
		if (pattern_matches(p[i].text, frame)) {
			p[i].hits++;
			return true;
		}
	return false;
}

/* The innermost function that is meant to be atomic: not one of the system's
 * headers, not excluded. Main and the thread's first function are never the innermost of several. */
bool finding_blame(struct view *v, struct filter *f)
{
	uint32_t last = v->entered.n;
	while (last && v->entered.v[last - 1].system)
		last--;
	if (last > 1 && v->entered.v[last - 2].pointer)
		last--; /* a trampoline in front of the thread's first function */
	bool only = f->atomic.len != 0;
	for (uint32_t i = 0; i < v->entered.n; i++) {
		const struct src_frame *fr = &v->entered.v[i];
		if (fr->system || !fr->function || listed(f, fr, false))
			continue;
		if (only ? !listed(f, fr, true) : i >= last)
			continue;
		v->first_function = !only && (i + 1 == last || !strcmp(fr->function, "main"));
		v->block = i;
		v->name = fr->function;
		return true;
	}
	return false;
}

bool symbol_is_counter(const char *name)
{
	static const char *const names[] = { "__llvm_gcov", "__llvm_gcda", "__llvm_prf", "__profc_", "__gcov" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Is it about what a compiler counts for coverage or profiles? */
bool finding_about_counters(struct writer *w, const struct raw_finding *f)
{
	uint64_t off;
	const char *var = f->address ? symbols_data(w->sym, f->address, &off) : NULL;
	return var && symbol_is_counter(var);
}
