/*
 * run_settings: see run_settings.h. A report is never lost silently: a file
 * that cannot be written falls back to standard error, with the reason.
 */
#include "program/run_settings.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/paths.h"
#include "program/run_report.h"

const char *settings_option(struct settings *t, const char *name)
{
	assert(*name && !strchr(name, '='));
	const char *s = t->options, *found = NULL;
	size_t n = strlen(name);
	while (s && *s) {
		size_t len = strcspn(s, ": \t\n");
		if (len > n && !strncmp(s, name, n) && s[n] == '=')
			found = arena_strndup(&t->arena, s + n + 1, len - n - 1);
		s += len + (s[len] != 0);
	}
	return found;
}

static const struct {
	const char *name;
	unsigned what;
} looked_for[] = { { "atomicity", FINDING_ATOMICITY }, { "races", FINDING_RACES }, { "locks", FINDING_LOCKS } };

bool settings_only(struct settings *s, const char *list, struct buf *err)
{
	unsigned only = 0;
	while (*list) {
		size_t n = strcspn(list, ",");
		unsigned one = 0;
		for (unsigned i = 0; i < sizeof looked_for / sizeof *looked_for; i++)
			if (n == strlen(looked_for[i].name) && !strncmp(list, looked_for[i].name, n))
				one = looked_for[i].what;
		if (!one) {
			buf_str(err, "intact: only: '");
			buf_safe(err, list, n);
			buf_str(err, "' is not one of atomicity, races, locks\n");
			return false;
		}
		only |= one;
		list += n + (list[n] == ',');
	}
	s->text.no = only ? ~only : 0;
	return true;
}

static bool option_on(struct settings *s, const char *name, bool otherwise)
{
	const char *v = settings_option(s, name);
	return v ? !strcmp(v, "1") || !strcmp(v, "true") || !strcmp(v, "yes") : otherwise;
}

/* Looking up names can take its time: a line on a terminal, gone in the end. */
static void looking_up(void *arg, uint32_t done, uint32_t of)
{
	assert(of && done <= of);
	struct settings *s = arg;
	double now = clock_seconds();
	if (s->asked <= 0)
		s->asked = now;
	if (now - s->asked < 0.4 || now - s->said < 0.2)
		return;
	s->said = now;
	fprintf(stderr, "\rintact: looking up names: finding %u of %u\033[K", done + 1, of);
}

/* Files are named relative to where the program is run from. */
static void log_begin(struct settings *s)
{
	char *cwd = getcwd(NULL, 0);
	finding_log_init(&s->log, &s->arena, cwd ? arena_strdup(&s->arena, cwd) : NULL);
	free(cwd);
	s->text.json = &s->log;
}

/* Fills in what `options` (as INTACT_OPTIONS; NULL: nothing) says; `s` is zero except
 * for its arena. False when a file it names cannot be read (err says so). `color`:
 * standard error shows colours. */
static bool settings_read(struct settings *s, const char *options, struct buf *err, bool color)
{
	assert(!s->symbols && !s->options && !s->log_path); /* zero except for its arena */
	struct arena *a = &s->arena;
	s->options = options;
	const char *v = settings_option(s, "color");
	bool ok = true;
	log_begin(s);
	filter_init(&s->filter, a);
	s->symbols = s->text.symbols = symbols_open(a);
	s->log_path = settings_option(s, "log_path");
	if (!s->log_path)
		s->log_path = "stderr";
	s->text.color = v && !strcmp(v, "always")  ? true
	                : v && !strcmp(v, "never") ? false
	                                           : color && !strcmp(s->log_path, "stderr");
	s->text.strip_path_prefix = settings_option(s, "strip_path_prefix");
	s->text.gen_suppressions = option_on(s, "gen_suppressions", false);
	s->text.strict = option_on(s, "strict", false);
	s->text.all = option_on(s, "all", false);
	if ((v = settings_option(s, "top")))
		s->text.top = (uint32_t)strtoul(v, NULL, 10);
	if ((v = settings_option(s, "only")))
		ok &= settings_only(s, v, err);
	s->print_suppressions = option_on(s, "print_suppressions", true);
	if ((v = settings_option(s, "spec")) && *v)
		ok &= filter_read_spec(&s->filter, v, err);
	for (v = settings_option(s, "suppressions"); v && *v;) {
		size_t n = strcspn(v, ",");
		if (n)
			ok &= filter_read_suppressions(&s->filter, arena_strndup(a, v, n), err);
		v += n + (v[n] != 0);
	}
	assert(s->symbols && s->log_path && s->text.symbols == s->symbols);
	return ok;
}

bool settings_of_command(struct settings *s, struct cli *cli)
{
	if (isatty(STDERR_FILENO)) {
		s->text.progress = looking_up;
		s->text.arg = s;
	}
	return settings_read(s, getenv("INTACT_OPTIONS"), &cli->err, cli->color_err);
}

bool settings_baseline(struct settings *s, const char *path, bool learn, bool accept, struct buf *err, bool color)
{
	struct baseline *b = arena_new(&s->arena, struct baseline);
	if (!baseline_read(b, &s->arena, path, learn, err, color))
		return false;
	b->learn = learn;
	b->accept = accept;
	s->filter.baseline = b;
	return true;
}

bool settings_learned(const struct settings *s, struct buf *err, bool color)
{
	const struct baseline *b = s->filter.baseline;
	uint32_t added = 0, n = s->shown.refused.len;
	assert(b && b->learn);
	if (!baseline_save(b, err, color, &added))
		return false;
	buf_str(err, "intact: ");
	buf_safe(err, b->path, strlen(b->path));
	buf_printf(err, ": learned %u gap%s", added, added == 1 ? "" : "s");
	if (n)
		buf_printf(err, "; %u finding%s shown by default %s not learned (--accept learns them, too):", n, n == 1 ? "" : "s",
		           n == 1 ? "was" : "were");
	buf_char(err, '\n');
	for (uint32_t i = 0; i < n; i++) {
		buf_str(err, "  ");
		buf_safe(err, s->shown.refused.data[i], strlen(s->shown.refused.data[i]));
		buf_char(err, '\n');
	}
	return true;
}

void settings_free(struct settings *s)
{
	symbols_close(s->symbols);
	finding_log_free(&s->log);
	arena_free(&s->arena);
}

bool settings_cut(const struct settings *s)
{
	return s->shown.lost || s->shown.lost_modules || s->shown.unread;
}

/* Where the report goes. A file that cannot be written falls back to stderr,
 * with the reason: a report is never lost silently. */
void settings_deliver(struct cli *cli, struct settings *s, struct buf *text, uint32_t pid)
{
	assert(s->log_path); /* after settings_read() */
	if (s->said > 0)
		fputs("\r\033[K", stderr);
	s->said = 0;
	if (!text->len)
		return;
	if (!strcmp(s->log_path, "stdout")) {
		buf_add(&cli->out, text->data, text->len);
		return;
	}
	if (strcmp(s->log_path, "stderr") != 0) {
		const char *path = arena_printf(&s->arena, "%s.%u", s->log_path, pid);
		void (*old)(int) = signal(SIGXFSZ, SIG_IGN); /* a limit is an error like others */
		FILE *f = fopen(path, "w");
		bool ok = f && fwrite(text->data, 1, text->len, f) == text->len;
		int why = errno;
		if (f && fclose(f)) {
			ok = false;
			why = errno;
		}
		signal(SIGXFSZ, old);
		if (ok)
			return;
		buf_printf(&cli->err, "intact: cannot write the report to %s: %s\n", path, strerror(why));
	}
	buf_add(&cli->err, text->data, text->len);
}

bool run_report(const struct run_reporting *how, const struct run_message *m, uint32_t n, struct buf *results, struct buf *summary,
                struct run_shown *shown)
{
	assert(!n || m);
	assert(how->err && results && summary);
	struct settings s = { 0 };
	arena_init(&s.arena, 0);
	if (how->progress) {
		s.text.progress = looking_up;
		s.text.arg = &s;
	}
	bool ok = settings_read(&s, how->options, how->err, false);
	s.log.recorded = true;
	s.text.all |= how->all;
	ok &= !how->baseline || settings_baseline(&s, how->baseline, false, false, how->err, how->color);
	for (uint32_t i = 0; i < n; i++) {
		struct raw_reports all = { 0 };
		if (!raw_add_all(&all, &s.arena, m[i].text, m[i].len))
			continue;
		for (uint32_t k = 0; k < all.list.len; k++) {
			all.list.data[k]->saved = m[i].symbols;
			findings_add(all.list.data[k], &s.filter, &s.text, &s.arena, &s.shown);
		}
		raw_free(&all);
	}
	findings_rank(&s.filter, &s.text, &s.arena, &s.shown);
	findings_close(&s.filter, &s.shown, s.print_suppressions, &s.log);
	*shown = (struct run_shown){ s.shown.count, s.shown.confirmed, s.shown.suppressed, s.shown.known, settings_cut(&s) };
	buf_add(results, buf_cstr(&s.log.results), s.log.results.len);
	buf_add(summary, buf_cstr(&s.log.summary), s.log.summary.len);
	results->failed |= s.log.results.failed | s.log.summary.failed;
	settings_free(&s);
	return ok;
}

enum { MAX_FUNCTIONS = 2048 };

bool atomic_functions_set(struct arena *a, const char *program,
                          bool (*match)(void *ctx, const char *function, const char *file, uint32_t line, bool there), void *ctx)
{
	static uint64_t at[MAX_FUNCTIONS];
	char path[PATH_MAX];
	struct buf list;
	if (!find_in_path(program, path, sizeof path))
		return false;
	uint32_t n = symbols_functions(a, path, match, ctx, at, MAX_FUNCTIONS);
	assert(n <= MAX_FUNCTIONS);
	buf_init(&list);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&list, "%s%llx", i ? "," : "", (unsigned long long)at[i]);
	setenv("INTACT_ATOMIC_FUNCTIONS", buf_cstr(&list), 1);
	buf_free(&list);
	return true;
}
