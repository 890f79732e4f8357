/*
 * units: see units.h.
 */
#include "cc/units.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/invariant.h"
#include "cc/effects.h"
#include "cc/leaf.h"
#include "cc/exec.h"

static bool starts(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

/* What asks for something between source and object, or for a language. */
static bool in_between(const char *s)
{
	static const char *const whole[] = { "-S",
		                             "-E",
		                             "-M",
		                             "-MM",
		                             "-P",
		                             "-",
		                             "-###",
		                             "-v",
		                             "--verbose",
		                             "--coverage",
		                             "-coverage",
		                             "-Xclang",
		                             "-Xpreprocessor",
		                             "-Xarch_host",
		                             "-arch",
		                             "-cc1",
		                             "-cc1as",
		                             NULL };
	static const char *const first[] = { "@",
		                             "-x",
		                             "-fsyntax-only",
		                             "--precompile",
		                             "-emit-",
		                             "--analyze",
		                             "-flto",
		                             "-save-temps",
		                             "--save-temps",
		                             "-fembed-bitcode",
		                             "-gsplit-dwarf",
		                             "-fmodule",
		                             "-ftime-trace",
		                             "-ftime-report",
		                             "-fprofile",
		                             "-fcs-profile",
		                             "-fcoverage",
		                             "-ftest-coverage",
		                             "-fauto-profile",
		                             "-fmemory-profile",
		                             "-fplugin",
		                             "-fpass-plugin",
		                             "-fno-integrated-as",
		                             "-fno-integrated-cc1",
		                             "-fsave-optimization",
		                             "-fopenmp-targets",
		                             "-foffload",
		                             "-fcrash-diagnostics",
		                             "-fproc-stat-report",
		                             "-fthinlto",
		                             "-Wp,-M",
		                             "-MJ",
		                             "-gen-",
		                             "--cuda",
		                             "--offload",
		                             "-dumpbase",
		                             "-wrapper",
		                             "-include-pch",
		                             NULL };
	for (int i = 0; whole[i]; i++)
		if (!strcmp(s, whole[i]))
			return true;
	for (int i = 0; first[i]; i++)
		if (starts(s, first[i]))
			return true;
	return false;
}

/* -MD and those that belong to it; *value: the next word does too. */
static bool is_dependency(const char *s, bool *value)
{
	*value = !strcmp(s, "-MF") || !strcmp(s, "-MT") || !strcmp(s, "-MQ");
	return starts(s, "-M") || !strcmp(s, "--write-dependencies") || !strcmp(s, "--write-user-dependencies");
}

bool units_possible(const struct task *t, int argc, char **argv, bool link)
{
	bool dependencies = false, werror = false, value;
	int sources = 0;
	if (!t->optimised || t->header || t->relocatable || (!link && !t->no_link))
		return false;
	for (int i = 0; i < argc; i++) {
		if (in_between(argv[i]))
			return false;
		dependencies |= is_dependency(argv[i], &value);
		werror |= starts(argv[i], "-Werror");
		sources += argv[i][0] != '-' && line_is_source(argv[i]);
		if (line_takes_value(argv[i]))
			i++;
	}
	/* A line that also links is split: its flags are for both halves, and
	 * each half would complain about the other's. */
	return sources && !(link && (dependencies || werror));
}

/* ---- one source ---- */

/* a/b.c: b.o; b.o: b.d */
static void with_suffix(char *out, size_t size, const char *path, const char *suffix, bool here)
{
	assert(size && *suffix == '.');
	const char *slash = strrchr(path, '/'), *from = here && slash ? slash + 1 : path;
	const char *dot = strrchr(from, '.');
	if (dot && strchr(dot, '/'))
		dot = NULL;
	snprintf(out, size, "%.*s%s", dot ? (int)(dot - from) : (int)strlen(from), from, suffix);
}

struct cc_unit {
	const char *source, *object;
	const struct args *compiler;
	int argc;
	char **argv;
	bool link;
};

/* The line's flags alone. Inputs, -o and -c go; dependencies are the first
 * step's, the assembler's flags the second's. */
static void add_flags(struct args *a, const struct cc_unit *u, bool second)
{
	assert(u->compiler->n && u->argc > 0);
	for (size_t i = 0; i < u->compiler->n; i++)
		args_add(a, u->compiler->v[i]);
	for (int i = 0; i < u->argc; i++) {
		const char *s = u->argv[i];
		bool value, dependency = is_dependency(s, &value);
		bool two = line_takes_value(s) && i + 1 < u->argc;
		bool assembler = starts(s, "-Wa,") || !strcmp(s, "-Xassembler");
		bool linker = starts(s, "-l") || starts(s, "-Wl,") || !strcmp(s, "-Xlinker");
		bool drop = s[0] != '-' || !strcmp(s, "-c") || starts(s, "-o") || (second ? dependency : assembler) ||
		            (u->link && linker);
		if (!drop) {
			args_add(a, s);
			if (two)
				args_add(a, u->argv[i + 1]);
		}
		i += two;
	}
	if (second || u->link)
		args_add(a, "-Wno-unused-command-line-argument");
}

/* -MD without a file or a target means the object's, which this step does
 * not know. */
static void add_dependencies(struct args *a, const struct cc_unit *u)
{
	assert(u->object);
	bool any = false, file = false, target = false, value;
	char name[PATH_MAX];
	for (int i = 0; i < u->argc; i++) {
		const char *s = u->argv[i];
		any |= !strcmp(s, "-MD") || !strcmp(s, "-MMD") || starts(s, "--write-");
		file |= starts(s, "-MF");
		target |= starts(s, "-MT") || starts(s, "-MQ");
		is_dependency(s, &value);
		i += value;
	}
	if (any && !file) {
		with_suffix(name, sizeof name, u->object, ".d", false);
		args_add(a, "-MF");
		args_add(a, name);
	}
	if (any && !target) {
		args_add(a, "-MQ");
		args_add(a, u->object);
	}
}

static bool read_file(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "r");
	char part[1 << 16];
	size_t n;
	if (!f)
		return false;
	while (b->len <= LEAF_TEXT_MAX && (n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(b, part, n);
	bool ok = !ferror(f) && !b->failed && b->data;
	fclose(f);
	return ok;
}

static bool thin(const char *path)
{
	struct buf text, out;
	struct leaf_count count;
	buf_init(&text);
	buf_init(&out);
	bool ok = read_file(path, &text) && leaf_rewrite(text.data, text.len, &out, &count);
	size_t before = out.len;
	ok = ok && effects_append(text.data, text.len, &out);
	if (ok && (count.leaves || out.len > before)) {
		FILE *f = fopen(path, "w");
		ok = f && buf_flush(&out, f);
		if (f && fclose(f))
			ok = false;
	}
	buf_free(&text);
	buf_free(&out);
	return ok;
}

/* Runs one step; 0, 1 or the signal's. */
static int step(struct args *a, int err)
{
	assert(a->n);
	int rc = cc_spawn(a, err);
	args_free(a);
	return rc > 128 ? rc : rc != 0;
}

static int both_steps(const struct cc_unit *u, const char *code, int err)
{
	assert(u->source && u->object && *code);
	struct args a = { 0 };
	add_flags(&a, u, false);
	add_dependencies(&a, u);
	static const char *const first[] = { "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o" };
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		args_add(&a, first[i]);
	args_add(&a, code);
	args_add(&a, u->source);
	if (isatty(STDERR_FILENO))
		args_add(&a, "-fcolor-diagnostics");
	int rc = step(&a, err);
	if (rc)
		return rc;
	if (!thin(code))
		return 1;
	add_flags(&a, u, true);
	static const char *const second[] = { "-c", "-x", "ir" };
	for (size_t i = 0; i < sizeof second / sizeof *second; i++)
		args_add(&a, second[i]);
	args_add(&a, code);
	args_add(&a, "-o");
	args_add(&a, u->object);
	return step(&a, err);
}

/* The messages that both steps left. */
static void show_messages(int fd)
{
	char part[4096];
	ssize_t n;
	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, part, sizeof part)) > 0)
		fwrite(part, 1, (size_t)n, stderr);
	fflush(stderr);
}

static int compile_unit(const struct cc_unit *u)
{
	assert(line_is_source(u->source));
	char code[PATH_MAX], messages[PATH_MAX];
	int rc = 1, fd = cc_temp(code, sizeof code, ".ll");
	if (fd < 0)
		return 1;
	close(fd);
	int err = cc_temp(messages, sizeof messages, ".txt");
	if (err >= 0) {
		unlink(messages);
		rc = both_steps(u, code, err);
		if (!rc)
			show_messages(err);
		close(err);
	}
	unlink(code);
	return rc;
}

/* ---- the line ---- */

static const char *output_of(int argc, char **argv)
{
	const char *o = NULL;
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "-o"))
			o = i + 1 < argc ? argv[i + 1] : NULL;
		else if (starts(argv[i], "-o"))
			o = argv[i] + 2;
		if (line_takes_value(argv[i]))
			i++;
	}
	return o;
}

int units_compile(struct units *u, const struct args *compiler, int argc, char **argv, bool link)
{
	assert(compiler->n && argc > 0);
	const char *out = output_of(argc, argv);
	for (int i = 0; i < argc; i++) {
		char object[PATH_MAX];
		bool source = argv[i][0] != '-' && line_is_source(argv[i]);
		if (source && link) {
			int fd = cc_temp(object, sizeof object, ".o");
			if (fd < 0)
				return 1;
			close(fd);
			args_add(&u->temps, object);
		} else if (source && out) {
			snprintf(object, sizeof object, "%s", out);
		} else if (source) {
			with_suffix(object, sizeof object, argv[i], ".o", true);
		}
		args_add(&u->line, source ? object : argv[i]);
		if (source) {
			struct cc_unit one = { argv[i], object, compiler, argc, argv, link };
			int rc = compile_unit(&one);
			if (rc)
				return rc;
		} else if (line_takes_value(argv[i]) && i + 1 < argc) {
			args_add(&u->line, argv[++i]);
		}
	}
	return 0;
}

void units_free(struct units *u)
{
	for (size_t i = 0; i < u->temps.n; i++)
		unlink(u->temps.v[i]);
	args_free(&u->temps);
	args_free(&u->line);
	assert(!u->temps.n && !u->line.n);
}
