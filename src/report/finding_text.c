/*
 * finding_text: results of `intact run`, as a document has them, as reports in the
 * sanitizers' grammar, with the Atomizer's three places (entered, commits,
 * violated), what the other thread does, the locks, where the threads came
 * from, and a sentence in words. Texts come from programs and files and go
 * through buf_safe.
 */
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"
#include "report/explore.h"
#include "report/finding.h"

#define BAR "==================\n"

static void put(struct buf *out, const char *s)
{
	buf_safe(out, s, strlen(s));
}

static void color(const struct finding_text_options *o, const char *code, struct buf *out)
{
	if (o->color)
		buf_printf(out, "\033[%sm", code);
}

/* ---- stacks ---- */

static const char *module_name(const struct src_frame *f)
{
	assert(f->module);
	const char *slash = strrchr(f->module, '/');
	return slash ? slash + 1 : f->module;
}

bool frame_nameless(const struct src_frame *f)
{
	const char *base = module_name(f);
	size_t n = strlen(base);
	return !f->function || (!strncmp(f->function, base, n) && !strncmp(f->function + n, "+0x", 3));
}

const char *frame_function(struct arena *a, const struct src_frame *f)
{
	if (f->function)
		return f->function;
	return arena_printf(a, "%s+0x%llx", module_name(f), (unsigned long long)f->offset);
}

static struct src_frame frame_of(const json_t *f)
{
	const char *function = doc_text(f, "function");
	return (struct src_frame){ .function = *function ? function : NULL,
		                   .module = doc_text(f, "module"),
		                   .offset = (uint64_t)doc_number(f, "offset") };
}

static void put_function(const struct src_frame *f, struct buf *out)
{
	struct arena a;
	arena_init(&a, 0);
	put(out, frame_function(&a, f));
	arena_free(&a);
}

static void put_frame(const json_t *frame, size_t no, struct buf *out)
{
	struct src_frame f = frame_of(frame);
	buf_printf(out, "    #%zu ", no);
	put_function(&f, out);
	buf_char(out, ' ');
	if (*doc_text(frame, "file")) {
		put(out, doc_text(frame, "file"));
		if (doc_number(frame, "line"))
			buf_printf(out, ":%lld", (long long)doc_number(frame, "line"));
		if (doc_number(frame, "column"))
			buf_printf(out, ":%lld", (long long)doc_number(frame, "column"));
		buf_char(out, ' ');
	}
	buf_str(out, "(");
	put(out, f.module);
	buf_printf(out, "+0x%llx)\n", (unsigned long long)f.offset);
}

/* Frames that both stacks end with. */
static size_t common_tail(const json_t *a, const json_t *b)
{
	size_t na = json_array_size(a), nb = json_array_size(b), n = 0;
	while (n < na && n < nb) {
		const json_t *x = json_array_get(a, na - 1 - n), *y = json_array_get(b, nb - 1 - n);
		if (doc_number(x, "offset") != doc_number(y, "offset") || strcmp(doc_text(x, "module"), doc_text(y, "module")) ||
		    doc_number(x, "line") != doc_number(y, "line") || strcmp(doc_text(x, "function"), doc_text(y, "function")))
			break;
		n++;
	}
	assert(n <= na && n <= nb);
	return n;
}

/* A stack; the end that it shares with one `above` (or NULL), when that is two
 * frames or more and not all of it, is not printed again. */
static void put_stack(const json_t *holder, const json_t *above, struct buf *out)
{
	const json_t *stack = json_object_get(holder, "stack");
	size_t n = json_array_size(stack), same = common_tail(stack, json_object_get(above, "stack"));
	size_t shown = same >= 2 && same < n ? n - same : n;
	for (size_t i = 0; i < shown; i++)
		put_frame(json_array_get(stack, i), i, out);
	if (shown < n) {
		struct src_frame next = frame_of(json_array_get(stack, shown));
		buf_printf(out, "    #%zu ... %zu frames as above, from ", shown, same);
		put_function(&next, out);
		buf_str(out, " on\n");
	}
	buf_str(out, "\n");
}

/* ---- one report ---- */

/* " (still holding M1 ('a'), M2 ('b'))". */
static void put_held(const json_t *access, struct buf *out)
{
	const json_t *held = json_object_get(access, "held"), *lock;
	size_t i;
	json_array_foreach(held, i, lock)
	{
		const char *name = json_is_string(lock) ? json_string_value(lock) : "";
		buf_str(out, i ? ", " : " (still holding ");
		put(out, name);
	}
	buf_str(out, json_array_size(held) ? ")" : "");
}

static void put_place(const char *title, const json_t *access, const json_t *above, struct buf *out)
{
	buf_printf(out, "  %s", title);
	put(out, doc_text(access, "what"));
	put_held(access, out);
	buf_str(out, ":\n");
	put_stack(access, above, out);
}

static void put_other(const json_t *r, struct buf *out)
{
	const json_t *access = json_object_get(r, "other_access"), *acquire = json_object_get(r, "other_acquire");
	if (!access && !acquire) {
		if (*doc_text(r, "other_unplaced")) {
			buf_str(out, "  ");
			put(out, doc_text(r, "other_unplaced"));
			buf_str(out, "\n\n");
		}
		return;
	}
	buf_str(out, "  Meanwhile ");
	put(out, doc_text(r, "other"));
	buf_char(out, ' ');
	put(out, doc_text(r, "other_does"));
	buf_str(out, ":\n");
	put_stack(access ? access : acquire, NULL, out);
	if (access && acquire) {
		buf_str(out, "  having taken the lock at");
		put_held(acquire, out);
		buf_str(out, ":\n");
		put_stack(acquire, access, out);
	}
}

static void put_threads(const json_t *r, struct buf *out)
{
	const json_t *t;
	size_t i;
	json_array_foreach(json_object_get(r, "threads"), i, t)
	{
		const char *name = doc_text(t, "name");
		buf_str(out, "  Thread ");
		put(out, !strncmp(name, "thread ", 7) ? name + 7 : name);
		buf_str(out, " created by ");
		put(out, doc_text(t, "parent"));
		buf_str(out, " at:\n");
		put_stack(t, NULL, out);
	}
}

static void put_title(const json_t *r, uint32_t pid, const struct finding_text_options *o, struct buf *out)
{
	bool confirmed = json_is_true(json_object_get(r, "confirmed"));
	color(o, "1;31", out);
	buf_str(out, "WARNING: Intact: atomicity violation");
	if (pid)
		buf_printf(out, " (pid=%u)", pid);
	buf_char(out, '\n');
	color(o, "0", out);
	buf_str(out, "  ");
	color(o, "1", out);
	if (*doc_text(r, "mark")) {
		buf_str(out, "block '");
		put(out, doc_text(r, "mark"));
		buf_str(out, "' in ");
	}
	put(out, doc_text(r, "block"));
	color(o, "0", out);
	buf_printf(out, " is not atomic (%s",
	           confirmed ? "confirmed: another thread intervened in this run"
	           : json_object_get(json_object_get(r, "exploration"), "failure")
	                   ? "predicted, and confirmed by exploring: a schedule breaks it"
	           : json_is_true(json_object_get(r, "apart")) ? "predicted: two concurrent threads can violate it"
	                                                       : "predicted: another schedule can violate it");
	if (doc_number(r, "count") > 1)
		buf_printf(out, "; seen %lld times", (long long)doc_number(r, "count"));
	buf_str(out, ").\n");
}

static void put_explored(const json_t *x, const struct finding_text_options *o, struct buf *out)
{
	const json_t *failure = json_object_get(x, "failure");
	if (!x)
		return;
	buf_str(out, "  Explored: ");
	put(out, doc_text(x, "text"));
	buf_str(out, ".\n\n");
	if (failure) {
		struct explore_failure f;
		struct arena a;
		arena_init(&a, 0);
		explore_failure_read(failure, &a, &f);
		explore_failure_text(&f, out, o->color);
		arena_free(&a);
	}
	if (*doc_text(x, "replay")) {
		buf_str(out, "Replay: ");
		put(out, doc_text(x, "replay"));
		buf_char(out, '\n');
	}
	buf_str(out, failure ? "\n" : "");
}

/* Its lines, each after the indent. */
static void put_sentence(const char *s, struct buf *out)
{
	while (*s) {
		size_t n = strcspn(s, "\n");
		buf_str(out, "  ");
		buf_safe(out, s, n);
		buf_char(out, '\n');
		s += n;
		s += strspn(s, "\n ");
	}
}

/* Where an access is: the innermost function of the program's own. */
static void put_use(const json_t *use, struct buf *out)
{
	const json_t *stack = json_object_get(use, "stack"), *f, *at = json_array_get(stack, 0);
	size_t i;
	json_array_foreach(stack, i, f)
	{
		at = f;
		if (!json_is_true(json_object_get(f, "system")))
			break;
	}
	struct src_frame frame = frame_of(at);
	buf_str(out, "    ");
	put(out, doc_text(use, "when"));
	buf_str(out, ": ");
	put(out, doc_text(use, "what"));
	buf_str(out, " in ");
	put_function(&frame, out);
	if (*doc_text(at, "file")) {
		buf_char(out, ' ');
		put(out, doc_text(at, "file"));
		if (doc_number(at, "line"))
			buf_printf(out, ":%lld", (long long)doc_number(at, "line"));
	}
	buf_char(out, '\n');
}

/* The pattern, and the variables it is about. */
static void put_pattern(const json_t *r, struct buf *out)
{
	const json_t *v, *u;
	size_t i, k;
	if (!*doc_text(r, "pattern"))
		return;
	buf_str(out, "  Pattern: ");
	put(out, doc_text(r, "pattern"));
	json_array_foreach(json_object_get(r, "variables"), i, v)
	{
		buf_str(out, i ? " and " : " of ");
		put(out, doc_text(v, "name"));
	}
	buf_str(out, "\n");
	json_array_foreach(json_object_get(r, "variables"), i, v)
	{
		if (json_array_size(json_object_get(r, "variables")) > 1) {
			buf_str(out, "   ");
			put(out, doc_text(v, "name"));
			buf_str(out, ":\n");
		}
		json_array_foreach(json_object_get(v, "uses"), k, u) put_use(u, out);
	}
	buf_printf(out, "  Score %lld: ", (long long)doc_number(r, "score"));
	put(out, doc_text(r, "reasons"));
	buf_str(out, "\n");
}

static void put_summary(const json_t *r, const char *title, const json_t *block, struct buf *out)
{
	buf_str(out, "SUMMARY: Intact: ");
	put(out, title);
	buf_char(out, ' ');
	if (*doc_text(block, "file")) {
		put(out, doc_text(block, "file"));
		if (doc_number(block, "line"))
			buf_printf(out, ":%lld", (long long)doc_number(block, "line"));
	} else {
		struct src_frame f = frame_of(block);
		f.function = NULL;
		buf_str(out, "(");
		put_function(&f, out);
		buf_str(out, ")");
	}
	buf_str(out, " in ");
	put(out, doc_text(r, "block"));
	buf_str(out, "\n");
}

/* The innermost frame of the program's own. */
static const json_t *own_frame(const json_t *stack)
{
	const json_t *f;
	size_t i;
	json_array_foreach(stack, i, f) if (*doc_text(f, "file") && !json_is_true(json_object_get(f, "system"))) return f;
	return json_array_get(stack, 0);
}

static void put_suppression(const json_t *r, const struct finding_text_options *o, struct buf *out)
{
	if (!o->gen_suppressions)
		return;
	buf_str(out, "Suppression: ");
	put(out, doc_text(r, "suppression"));
	buf_str(out, "\n");
}

/* A finding that is not about a block: what each thread did. */
static void report_hazard(const json_t *r, uint32_t pid, const struct finding_text_options *o, struct buf *out)
{
	const json_t *accesses = json_object_get(r, "accesses"), *x, *held, *lock;
	size_t i, k;
	buf_str(out, BAR);
	color(o, "1;31", out);
	buf_str(out, "WARNING: Intact: ");
	put(out, doc_text(r, "title"));
	if (pid)
		buf_printf(out, " (pid=%u)", pid);
	color(o, "0", out);
	if (doc_number(r, "count") > 1)
		buf_printf(out, ", seen %lld times", (long long)doc_number(r, "count"));
	buf_char(out, '\n');
	json_array_foreach(accesses, i, x)
	{
		buf_str(out, "  ");
		put(out, doc_text(x, "thread"));
		buf_str(out, ": ");
		put(out, doc_text(x, "what"));
		held = json_object_get(x, "held");
		json_array_foreach(held, k, lock)
		{
			buf_str(out, k ? ", " : ", holding ");
			put(out, json_is_string(lock) ? json_string_value(lock) : "");
		}
		buf_str(out, ":\n");
		put_stack(x, NULL, out);
	}
	put_sentence(doc_text(r, "sentence"), out);
	buf_str(out, "\n");
	put_threads(r, out);
	put_summary(r, doc_text(r, "kind"), own_frame(json_object_get(json_array_get(accesses, 0), "stack")), out);
	put_suppression(r, o, out);
	buf_str(out, BAR);
}

static void report(const json_t *r, uint32_t pid, const struct finding_text_options *o, struct buf *out)
{
	const json_t *entered = json_object_get(r, "entered"), *commit = json_object_get(r, "commit"), *also;
	size_t i;
	buf_str(out, BAR);
	put_title(r, pid, o, out);
	buf_str(out, "  Atomic block entered by ");
	put(out, doc_text(r, "thread"));
	buf_str(out, ":\n");
	put_stack(entered, NULL, out);
	put_place("Atomic block commits at ", commit, entered, out);
	put_place("Atomicity violation at ", json_object_get(r, "violation"), commit, out);
	put_other(r, out);
	put_sentence(doc_text(r, "sentence"), out);
	json_array_foreach(json_object_get(r, "also"), i, also)
		put_sentence(json_is_string(also) ? json_string_value(also) : "", out);
	put_pattern(r, out);
	buf_str(out, "\n");
	put_threads(r, out);
	put_explored(json_object_get(r, "exploration"), o, out);
	put_summary(r, "atomicity violation", json_array_get(json_object_get(entered, "stack"), 0), out);
	put_suppression(r, o, out);
	buf_str(out, BAR);
}

void findings_text(const json_t *run, const struct finding_text_options *o, struct buf *out)
{
	const json_t *r, *line;
	size_t i;
	json_array_foreach(json_object_get(run, "results"), i, r) if (!json_object_get(r, "suppressed") &&
	                                                              !json_object_get(r, "baseline"))(
		json_object_get(r, "accesses") ? report_hazard : report)(r, o->pids ? o->pids[i] : (uint32_t)doc_number(r, "pid"),
	                                                                 o, out);
	json_array_foreach(json_object_get(run, "summary"), i, line) if (json_is_string(line))
	{
		put(out, json_string_value(line));
		buf_char(out, '\n');
	}
}
