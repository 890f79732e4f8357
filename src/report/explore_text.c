/*
 * explore_text: a result of `intact explore` for a terminal: what failed, the
 * interleaving as a table with a column for each thread, what waits for what,
 * and how much was looked at.
 */
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "report/explore.h"
#include "report/explore_object.h"

enum { SHOWN_HEAD = 24, SHOWN_TAIL = 160, SHOWN_AROUND = 12, MAX_LANES = 8, MIN_LANE = 12, MAX_LANE = 34 };

const char *explore_verdict(const struct explore_report *r)
{
	if (r->failure || r->races.len)
		return "violated";
	if (r->stopped)
		return "unknown";
	return r->schedules && r->cut < r->schedules ? "holds" : "unknown";
}

static void place(struct buf *b, const struct explore_place *p)
{
	if (p->function) {
		buf_safe(b, p->function, strlen(p->function));
		buf_char(b, ' ');
	}
	if (p->file) {
		buf_safe(b, p->file, strlen(p->file));
		buf_printf(b, ":%u", p->line);
	} else if (p->module) {
		buf_safe(b, p->module, strlen(p->module));
		buf_printf(b, "+0x%llx", (unsigned long long)p->offset);
	} else {
		buf_char(b, '?');
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void short_place(struct buf *b, const struct explore_place *p)
{
	if (p->file) {
		const char *name = base_name(p->file);
		buf_safe(b, name, strlen(name));
		buf_printf(b, ":%u", p->line);
	} else if (p->module) {
		const char *name = base_name(p->module);
		buf_safe(b, name, strlen(name));
		buf_printf(b, "+0x%llx", (unsigned long long)p->offset);
	}
	if (p->function) {
		buf_char(b, ' ');
		buf_safe(b, p->function, strlen(p->function));
	}
}

/* ---- the table ---- */

static void thread_title(struct buf *b, const struct explore_failure *f, uint32_t i)
{
	const char *name = i < f->threads.len ? f->threads.data[i].name : "?";
	if (i)
		buf_printf(b, "T%u ", i);
	buf_safe(b, name, strlen(name));
}

/* Text into a field of `width`, cut with dots if it is longer. */
static void field(struct buf *b, const char *text, unsigned width)
{
	assert(width >= 2);
	size_t n = strlen(text);
	if (n > width) {
		buf_safe(b, text, width - 2);
		buf_str(b, "..");
	} else {
		buf_safe(b, text, n);
		buf_repeat(b, ' ', width - n);
	}
}

struct lanes {
	uint32_t of[256];     /* the thread's column */
	uint32_t thread[256]; /* the column's thread */
	unsigned width[256];
	uint32_t n;
};

static void find_lanes(const struct explore_failure *f, struct lanes *l)
{
	bool used[256] = { false };
	memset(l, 0, sizeof *l);
	for (uint32_t i = 0; i < f->steps.len; i++)
		if (f->steps.data[i].thread < 256)
			used[f->steps.data[i].thread] = true;
	for (uint32_t i = 0; i < f->accesses.len; i++)
		if (f->accesses.data[i].thread < 256)
			used[f->accesses.data[i].thread] = true;
	for (uint32_t t = 0; t < 256; t++)
		if (used[t]) {
			l->thread[l->n] = t;
			l->of[t] = l->n++;
		}
	for (uint32_t c = 0; c < l->n; c++) {
		struct buf title;
		buf_init(&title);
		thread_title(&title, f, l->thread[c]);
		size_t w = title.len;
		buf_free(&title);
		for (uint32_t i = 0; i < f->steps.len; i++)
			if (f->steps.data[i].thread == l->thread[c] && strlen(f->steps.data[i].text) > w)
				w = strlen(f->steps.data[i].text);
		for (uint32_t i = 0; i < f->accesses.len; i++)
			if (f->accesses.data[i].thread == l->thread[c] && strlen(f->accesses.data[i].text) > w)
				w = strlen(f->accesses.data[i].text);
		l->width[c] = (unsigned)(w > MAX_LANE ? MAX_LANE : w < MIN_LANE ? MIN_LANE : w);
	}
	assert(l->n <= 256);
}

static void header(struct buf *b, const struct explore_failure *f, const struct lanes *l)
{
	buf_str(b, "  step  ");
	if (l->n > MAX_LANES) {
		field(b, "thread", 18);
		field(b, "operation", MAX_LANE);
	} else {
		for (uint32_t c = 0; c < l->n; c++) {
			struct buf title;
			buf_init(&title);
			thread_title(&title, f, l->thread[c]);
			field(b, buf_cstr(&title), l->width[c]);
			buf_str(b, "  ");
			buf_free(&title);
		}
	}
	buf_str(b, "place\n");
}

/* One line of the table; step 0: an access between two steps. */
static void row(struct buf *b, const struct explore_failure *f, const struct lanes *l, uint32_t step, bool preempts,
                uint32_t thread, const char *text, const struct explore_place *at)
{
	assert(text && at && (!step || step <= f->steps.len));
	if (step)
		buf_printf(b, "%c %4u  ", preempts ? '*' : ' ', step);
	else
		buf_repeat(b, ' ', 8);
	if (l->n > MAX_LANES) {
		struct buf title;
		buf_init(&title);
		thread_title(&title, f, thread);
		field(b, buf_cstr(&title), 16);
		buf_str(b, "  ");
		buf_free(&title);
		field(b, text, MAX_LANE - 2);
		buf_str(b, "  ");
	} else {
		for (uint32_t c = 0; c < l->n; c++) {
			field(b, l->thread[c] == thread ? text : "", l->width[c]);
			buf_str(b, "  ");
		}
	}
	short_place(b, at);
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
	buf_char(b, '\n');
}

static bool near(uint32_t i, uint32_t step)
{
	return step && i + 1 + SHOWN_AROUND >= step && i < step + SHOWN_AROUND;
}

/* Of a long schedule: the beginning, and what is around a conflict or a race. Other failures are what the end led to. */
static bool shown(const struct explore_failure *f, uint32_t i)
{
	uint32_t n = f->steps.len, tail = f->step || f->cycle.len ? SHOWN_AROUND : SHOWN_TAIL;
	bool any = n <= SHOWN_HEAD + SHOWN_TAIL || i < SHOWN_HEAD || i + tail >= n || near(i, f->step);
	for (uint32_t k = 0; k < f->cycle.len && !any; k++)
		any = near(i, f->cycle.data[k].step[0]) || near(i, f->cycle.data[k].step[1]);
	return any;
}

static void table(struct buf *b, const struct explore_failure *f)
{
	struct lanes l;
	find_lanes(f, &l);
	header(b, f, &l);
	uint32_t n = f->steps.len, omitted = 0, k = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct explore_step *s = &f->steps.data[i];
		if (!shown(f, i)) {
			omitted++;
			continue;
		}
		if (omitted)
			buf_printf(b, "     ...  %u step%s omitted; --json contains all\n", omitted, omitted == 1 ? "" : "s");
		omitted = 0;
		row(b, f, &l, i + 1, s->preempts, s->thread, s->text, &s->at);
		while (k < f->accesses.len && f->accesses.data[k].step <= i)
			k++;
		for (; k < f->accesses.len && f->accesses.data[k].step == i + 1; k++)
			row(b, f, &l, 0, false, f->accesses.data[k].thread, f->accesses.data[k].text, &f->accesses.data[k].at);
	}
	bool any = false;
	for (uint32_t i = 0; i < n; i++)
		any |= f->steps.data[i].preempts;
	if (any)
		buf_str(b, "* preemption: the interrupted thread could have continued\n");
}

/* ---- the failure ---- */

static void waits(struct buf *b, const struct explore_failure *f)
{
	bool any = false;
	for (uint32_t i = 0; i < f->threads.len; i++)
		any |= f->threads.data[i].waits != NULL;
	if (!any)
		return;
	buf_str(b, "At the end:\n");
	for (uint32_t i = 0; i < f->threads.len; i++) {
		const struct explore_thread *t = &f->threads.data[i];
		if (!t->waits)
			continue;
		buf_str(b, "  ");
		thread_title(b, f, i);
		buf_str(b, " waits at ");
		place(b, &t->at);
		buf_str(b, " for ");
		buf_safe(b, t->waits, strlen(t->waits));
		buf_char(b, '\n');
	}
}

static void cycle(struct buf *b, const struct explore_failure *f)
{
	if (!f->cycle.len)
		return;
	buf_str(b, "\nThe conflicts, in order:\n");
	for (uint32_t i = 0; i < f->cycle.len; i++) {
		const struct explore_link *l = &f->cycle.data[i];
		for (int k = 0; k < 2; k++) {
			buf_str(b, k ? "    -> " : "  ");
			if (l->step[k])
				buf_printf(b, "step %u: ", l->step[k]);
			buf_safe(b, l->what[k], strlen(l->what[k]));
			buf_str(b, " at ");
			place(b, &l->at[k]);
			buf_char(b, '\n');
		}
	}
}

static void blocks(struct buf *b, const struct explore_failure *f)
{
	assert(!f->blocks.len || f->blocks.data);
	if (f->blocks.len)
		buf_str(b, "\nData without a name:\n");
	for (uint32_t i = 0; i < f->blocks.len; i++) {
		const struct explore_block *x = &f->blocks.data[i];
		buf_str(b, "  ");
		buf_safe(b, x->name, strlen(x->name));
		if (x->offset)
			buf_printf(b, ": byte %llu of ", (unsigned long long)x->offset);
		else
			buf_str(b, ": the first of ");
		buf_printf(b, "%llu byte%s that ", (unsigned long long)x->size, x->size == 1 ? "" : "s");
		buf_printf(b, x->thread ? "T%u" : "main", x->thread);
		buf_str(b, " allocated at ");
		place(b, &x->at);
		buf_char(b, '\n');
	}
}

static void output(struct buf *b, const struct explore_failure *f)
{
	if (!f->output || !*f->output)
		return;
	buf_str(b, "\nOutput of this schedule:\n");
	for (const char *s = f->output; *s;) {
		size_t n = strcspn(s, "\n");
		buf_str(b, "  | ");
		buf_safe(b, s, n);
		buf_char(b, '\n');
		s += n + (s[n] != 0);
	}
	if (f->output_bytes > strlen(f->output))
		buf_printf(b, "  | ... (%llu bytes in all)\n", (unsigned long long)f->output_bytes);
}

static void schedule(struct buf *b, const struct explore_failure *f)
{
	buf_printf(b, "\nThe schedule (%u step%s, %u switch%s, %u of them %s):\n\n", f->steps.len, f->steps.len == 1 ? "" : "s",
	           f->switches, f->switches == 1 ? "" : "es", f->preemptions, f->preemptions == 1 ? "a preemption" : "preemptions");
	table(b, f);
}

static void failure_text(const struct explore_failure *f, const struct explore_object *o, struct buf *b, bool color)
{
	assert(f->title && f->sentence);
	buf_printf(b, "%s%s%s in schedule %llu: ", color ? "\033[1;31m" : "", f->title, color ? "\033[0m" : "",
	           (unsigned long long)f->schedule);
	buf_safe(b, f->sentence, strlen(f->sentence));
	buf_char(b, '\n');
	for (uint32_t i = 0; i < f->stack.len; i++) {
		buf_printf(b, "    #%u ", i);
		place(b, &f->stack.data[i]);
		buf_char(b, '\n');
	}
	for (int i = 0; i < 2; i++) {
		const char *more = i ? f->cause : f->gone;
		if (more) {
			buf_str(b, "  ");
			buf_safe(b, more, strlen(more));
			buf_char(b, '\n');
		}
	}
	if (o)
		explore_object_table(o, b);
	schedule(b, f);
	waits(b, f);
	cycle(b, f);
	blocks(b, f);
	output(b, f);
}

void explore_failure_text(const struct explore_failure *f, struct buf *b, bool color)
{
	failure_text(f, NULL, b, color);
}

static void race(struct buf *b, const struct explore_race *r, bool color)
{
	buf_printf(b, "%sdata race%s on ", color ? "\033[1;31m" : "", color ? "\033[0m" : "");
	buf_safe(b, r->what, strlen(r->what));
	buf_printf(b, " (%u byte%s; first seen in schedule %llu)\n", r->size, r->size == 1 ? "" : "s",
	           (unsigned long long)r->schedule);
	for (int i = 0; i < 2; i++) {
		char who[16];
		snprintf(who, sizeof who, r->thread[i] ? "T%u" : "main", r->thread[i]);
		buf_printf(b, "  %s%s by %s at ", r->atomic[i] ? "atomic " : "", r->write[i] ? "write" : "read", who);
		place(b, &r->at[i]);
		buf_char(b, '\n');
	}
}

/* ---- what was looked at ---- */

const char *const explore_memories[] = { "sc", "tso", "c11", NULL };

const char *const explore_memory_not_covered[] = {
	[EXPLORE_SC] = NULL,
	[EXPLORE_TSO] = "loads reordered with other loads or with later stores, stores reordered with stores, and stores that "
			"become visible to other "
			"threads at different times: ARM, POWER and C11 allow them",
	[EXPLORE_C11] = "loads reordered with later stores, seq_cst operations in another order than that of the schedule, and "
			"plain accesses that race: "
			"they read the newest value",
};

static void tso(struct buf *b, const struct explore_report *r)
{
	buf_printf(b, "memory: TSO, as on x86: each thread has a store buffer; %llu store%s went into one\n",
	           (unsigned long long)r->buffered, r->buffered == 1 ? "" : "s");
	if (r->buffers_full)
		buf_printf(b, "a store buffer was full: behaviour with more than %d stores in a buffer was not explored\n",
		           EXPLORE_STORES);
	if (r->object && strcmp(r->object->condition, "sequential") != 0)
		buf_str(b, "the stores of a call reach memory before it returns\n");
}

static void c11(struct buf *b, const struct explore_report *r)
{
	buf_printf(b, "memory: C11 (RC11): %llu atomic access%s did not take the newest store\n", (unsigned long long)r->buffered,
	           r->buffered == 1 ? "" : "es");
	if (r->buffers_full)
		buf_printf(b,
		           "%llu time%s choices were left out: an atomic was accessed with different sizes or with 16 bytes, or "
		           "had more "
		           "than 64 stores to choose from\n",
		           (unsigned long long)r->buffers_full, r->buffers_full == 1 ? "" : "s");
	if (r->object && strcmp(r->object->condition, "sequential") != 0)
		buf_str(b, "a call is before another one when its return happens before the other's first step\n");
	if (r->blocks)
		buf_str(b, "marked blocks are not judged under C11 memory\n");
}

static void memory(struct buf *b, const struct explore_report *r)
{
	if (r->memory == EXPLORE_TSO)
		tso(b, r);
	else
		c11(b, r);
	if (r->object && r->object->progress_left_out)
		buf_printf(b, "progress is not judged under %s\n", r->memory == EXPLORE_TSO ? "TSO" : "C11 memory");
	buf_printf(b, "not covered: %s\n", explore_memory_not_covered[r->memory]);
}

static void coverage(struct buf *b, const struct explore_report *r)
{
	buf_printf(b, "%llu schedule%s", (unsigned long long)r->schedules, r->schedules == 1 ? "" : "s");
	if (r->traces)
		buf_printf(b, ", %s%llu distinct", r->traces_full ? "at least " : "", (unsigned long long)r->traces);
	if (r->estimate_known && !r->exhausted && !r->failure)
		buf_printf(b, " (about %.0f %% of an estimated %.0f)", r->estimate_seen * 100, r->estimate_total);
	if (r->pairs)
		buf_printf(b, "; %llu of %llu conflicting pairs of places seen in both orders", (unsigned long long)r->pairs_both,
		           (unsigned long long)r->pairs);
	buf_printf(b, "; %s, seed %llu", r->strategy, (unsigned long long)r->seed);
	if (r->shards)
		buf_printf(b, ", part %u of %u", r->shard, r->shards);
	buf_char(b, '\n');
	if (r->memory)
		memory(b, r);
	if (r->awaits && r->exhausted)
		buf_printf(b,
		           "loops that repeat the same reads %d times or more are treated as waiting for a change; schedules in "
		           "which such a loop gives up later are omitted\n",
		           r->object ? EXPLORE_TEST_ROUNDS : 12);
	if (r->cancels && r->exhausted)
		buf_str(b, "threads were cancelled: not every order of a cancellation and of what the thread waits for was "
		           "explored\n");
	if (r->judged)
		buf_printf(b, "atomicity was judged in %llu trace%s\n", (unsigned long long)r->judged, r->judged == 1 ? "" : "s");
	if (r->unjudged)
		buf_printf(b, "%llu traces were too long for atomicity to be judged\n", (unsigned long long)r->unjudged);
	if (r->cut)
		buf_printf(b,
		           "%llu schedule%s cut off by the limit on steps (--max-steps): their later behaviour was not explored\n",
		           (unsigned long long)r->cut, r->cut == 1 ? " was" : "s were");
}

void explore_text(const struct explore_report *r, struct buf *out, bool color, unsigned columns)
{
	(void)columns;
	const struct explore_failure *f = r->failure;
	bool raced = f && !strcmp(f->kind, "race"); /* the races come first, then the schedule that shows one */
	if (f && !raced)
		failure_text(f, r->object, out, color);
	for (uint32_t i = 0; i < r->races.len; i++) {
		if (i || (f && !raced))
			buf_char(out, '\n');
		race(out, &r->races.data[i], color);
	}
	if (raced && r->object)
		explore_object_table(r->object, out);
	if (raced) {
		schedule(out, f);
		blocks(out, f);
	}
	if (r->failure || r->races.len)
		buf_char(out, '\n');
	else if (r->replayed && r->stopped)
		buf_str(out, "the schedule could not be followed\n");
	else if (r->replayed)
		buf_str(out, "no violation: the schedule was followed to its end\n");
	else if (r->object && r->schedules && r->cut < r->schedules)
		explore_object_holds(r, out);
	else if (!r->object && r->threads == 1 && r->schedules && !r->stopped)
		buf_str(out, "no violation found: the program never has a second thread, so there is nothing to interleave\n");
	else if (!r->schedules)
		buf_str(out, "unknown: no schedule came to its end\n");
	else if (r->cut >= r->schedules)
		buf_str(out, "unknown: every schedule was cut off\n");
	else if (r->shards && r->exhausted && !r->cut && !r->bounded)
		buf_printf(out, "no violation in part %u of %u: all %llu traces of this part explored\n", r->shard, r->shards,
		           (unsigned long long)r->traces);
	else if (r->exhausted && !r->cut && !r->bounded)
		buf_printf(out, "no violation: all %llu traces explored\n", (unsigned long long)r->traces);
	else
		buf_printf(out, "no violation found%s\n", r->bounded && r->exhausted ? " within the bound" : " (not exhaustive)");
	if (r->stopped)
		buf_printf(out, "%s%s\n", r->replayed ? "" : "the search ended early: ", r->stopped);
	if (r->object)
		explore_object_coverage(r, out);
	coverage(out, r);
	if (r->replay)
		buf_printf(out, "replay: %s\n", r->replay);
}

/* ---- findings of `intact run` that were explored ---- */

const char *explore_status_text(const struct explore_finding *f, struct arena *a)
{
	assert(f->status <= EXPLORE_CUT_SHORT && (f->status != EXPLORE_CUT_SHORT || f->told || f->why));
	if (f->told)
		return f->told;
	const char *all = f->exhausted ? arena_printf(a, "no schedule reaches it: all %llu traces explored",
	                                              (unsigned long long)f->schedules)
	                               : arena_printf(a, "not reached in %llu schedule%s", (unsigned long long)f->schedules,
	                                              f->schedules == 1 ? "" : "s");
	switch (f->status) {
	case EXPLORE_CONFIRMED:
		return arena_printf(a, "confirmed in schedule %llu", (unsigned long long)f->failure->schedule);
	case EXPLORE_NOT_REACHED:
		return all;
	default:
		return f->schedules ? arena_printf(a, "cut short: %s, then %s", all, f->why)
		                    : arena_printf(a, "not tried: %s", f->why);
	}
}

static void finding(struct buf *b, const struct explore_finding *f, struct arena *a, bool color)
{
	const char *status = explore_status_text(f, a);
	buf_str(b, color ? "\033[1m" : "");
	buf_safe(b, f->block, strlen(f->block));
	buf_str(b, color ? "\033[0m" : "");
	if (f->at.file) {
		buf_str(b, " (");
		buf_safe(b, f->at.file, strlen(f->at.file));
		buf_printf(b, ":%u)", f->at.line);
	}
	buf_str(b, ": ");
	buf_safe(b, status, strlen(status));
	buf_str(b, "\n  ");
	buf_safe(b, f->sentence, strlen(f->sentence));
	buf_char(b, '\n');
	if (f->aside)
		buf_printf(b, "  %llu schedule%s failed without entering the gap: `intact explore` without --confirm shows how\n",
		           (unsigned long long)f->aside, f->aside == 1 ? "" : "s");
	if (f->failure) {
		buf_char(b, '\n');
		explore_failure_text(f->failure, b, color);
	}
	if (f->replay)
		buf_printf(b, "replay: %s\n", f->replay);
}

void explore_confirmation_text(const struct explore_confirmation *c, struct arena *a, struct buf *b, bool color)
{
	uint32_t n[3] = { 0 };
	for (uint32_t i = 0; i < c->findings.len; i++) {
		n[c->findings.data[i].status]++;
		finding(b, &c->findings.data[i], a, color);
		buf_char(b, '\n');
	}
	buf_printf(b, "%u finding%s of ", c->findings.len, c->findings.len == 1 ? "" : "s");
	buf_safe(b, c->report, strlen(c->report));
	buf_printf(b, ": %u confirmed, %u not reached", n[EXPLORE_CONFIRMED], n[EXPLORE_NOT_REACHED]);
	if (n[EXPLORE_CUT_SHORT])
		buf_printf(b, ", %u cut short", n[EXPLORE_CUT_SHORT]);
	buf_printf(b, "; %s, seed %llu\n", c->strategy, (unsigned long long)c->seed);
}
