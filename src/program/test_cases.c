#include "program/test_cases.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/paths.h"

enum { MAX_CASES = 10000, MAX_NAME = 4096, MAX_LIST = 8 << 20, LIST_SECONDS = 60, MAX_WORDS = 64 };

static const struct {
	const char *name;
	const char *marks[3]; /* in the file: symbols or texts */
	const char *list[4];  /* arguments */
} frameworks[] = {
	[TEST_GOOGLETEST] = { "GoogleTest", { "gtest_list_tests", "InitGoogleTest" }, { "--gtest_list_tests" } },
	[TEST_CATCH2_OLD] = { "Catch2", { "list-test-names-only" }, { "--list-test-names-only" } },
	[TEST_CATCH2] = { "Catch2", { "_ZN5Catch7Session", "Catch2 v" }, { "--list-tests", "--verbosity", "quiet" } },
	[TEST_DOCTEST] = { "doctest", { "list-test-cases" }, { "--list-test-cases", "--no-version=true" } },
};
static const enum test_framework order[] = { TEST_GOOGLETEST, TEST_CATCH2_OLD, TEST_CATCH2, TEST_DOCTEST };

/* ---- which framework ---- */

static bool has_text(const char *text, size_t n, const char *word)
{
	return memmem(text, n, word, strlen(word)) != NULL;
}

/* TEST_PLAIN: none that is known. */
static enum test_framework framework_of(const char *program)
{
	enum test_framework f = TEST_PLAIN;
	char path[PATH_MAX];
	struct stat st;
	int fd = find_in_path(program, path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		if (fd >= 0)
			close(fd);
		return f;
	}
	size_t n = (size_t)st.st_size;
	char *text = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED)
		return f;
	for (size_t i = 0; i < sizeof order / sizeof *order && !f; i++)
		for (size_t k = 0; k < 3 && frameworks[order[i]].marks[k] && !f; k++)
			if (has_text(text, n, frameworks[order[i]].marks[k]))
				f = order[i];
	munmap(text, n);
	return f;
}

/* ---- asking ---- */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static _Noreturn void become_lister(char **argv, int out)
{
	int null = open("/dev/null", O_RDONLY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null >= 0)
		dup2(null, 0);
	dup2(out, 1);
	setenv("INTACT_OPTIONS", "atexit_report=0:exitcode=0", 1); /* it is only asked */
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	fprintf(stderr, "intact: cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* What the command prints, and how it ended. NULL, or why there is nothing to use. */
static const char *output_of(char **argv, struct buf *out, int *status)
{
	int fd[2];
	if (pipe2(fd, O_CLOEXEC))
		return "cannot create a pipe";
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		become_lister(argv, fd[1]);
	close(fd[1]);
	const char *why = pid < 0 ? "cannot start a process" : NULL;
	double until = now() + (double)LIST_SECONDS;
	while (!why) {
		char some[4096];
		struct pollfd p = { fd[0], POLLIN, 0 };
		double left = until - now();
		int any = left > 0 ? poll(&p, 1, (int)(left * 1000) + 1) : 0;
		ssize_t n = any > 0 ? read(fd[0], some, sizeof some) : any;
		if (n < 0 && errno == EINTR)
			continue;
		if (!any)
			why = "it did not end within a minute";
		else if (n > 0 && out->len + (size_t)n > MAX_LIST)
			why = "it printed more than 8 MB";
		else if (n > 0)
			buf_add(out, some, (size_t)n);
		else
			break;
	}
	if (pid > 0 && why)
		kill(pid, SIGKILL);
	close(fd[0]);
	while (pid > 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return why;
}

/* ---- the list ---- */

static const char *add_case(struct arena *a, struct test_cases *out, const char *prefix, const char *name, size_t n)
{
	assert(n);
	if (n > MAX_NAME)
		return "a name has more than 4,096 characters";
	if (out->list.len >= MAX_CASES)
		return "there are more than 10,000 cases";
	struct test_case c = { .name = arena_printf(a, "%s%.*s", prefix, (int)n, name) };
	avec_push(a, &out->list, c);
	return NULL;
}

/* DISABLED_ at the beginning of the suite's or the test's name, behind the instantiation's. */
static bool is_disabled(const char *suite, const char *test, size_t n)
{
	const char *slash = strchr(suite, '/');
	return !strncmp(suite, "DISABLED_", 9) || (slash && !strncmp(slash + 1, "DISABLED_", 9)) ||
	       (n >= 9 && !strncmp(test, "DISABLED_", 9));
}

/* "Suite." and, indented below it, "Test"; behind "  # " comes a comment. Other lines are the program's. */
static const char *add_googletest(struct arena *a, struct test_cases *out, const char **suite, const char *line, size_t n)
{
	const char *comment = memmem(line, n, "  # ", 4);
	bool indented = n > 2 && line[0] == ' ' && line[1] == ' ' && line[2] != ' ';
	n = comment ? (size_t)(comment - line) : n;
	while (n && line[n - 1] == ' ')
		n--;
	if (!indented) {
		if (n > MAX_NAME)
			return "a name has more than 4,096 characters";
		*suite = n > 1 && line[n - 1] == '.' && !memchr(line, ' ', n) ? arena_strndup(a, line, n) : NULL;
		return NULL;
	}
	if (!*suite || n < 3 || memchr(line + 2, ' ', n - 2))
		return NULL;
	if (is_disabled(*suite, line + 2, n - 2)) {
		out->disabled++;
		return NULL;
	}
	return add_case(a, out, *suite, line + 2, n - 2);
}

static const char *add_line(enum test_framework f, struct arena *a, struct test_cases *out, const char **suite, const char *line,
                            size_t n)
{
	while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	if (memchr(line, 0, n))
		return "a name contains a zero byte";
	if (f == TEST_GOOGLETEST)
		return add_googletest(a, out, suite, line, n);
	while (n && (*line == ' ' || *line == '\t'))
		line++, n--;
	if (f == TEST_DOCTEST && (!strncmp(line, "[doctest]", n < 9 ? n : 9) || (n > 8 && !strncmp(line, "========", 8))))
		return NULL;
	if ((f == TEST_CATCH2 || f == TEST_CATCH2_OLD) && n > 2 && line[0] == '"' && line[1] == '#' && line[n - 1] == '"')
		line++, n -= 2; /* so that it is no comment */
	return n ? add_case(a, out, "", line, n) : NULL;
}

const char *test_cases_parse(enum test_framework f, const char *text, size_t n, struct arena *a, struct test_cases *out)
{
	const char *suite = NULL, *bad = NULL;
	for (size_t i = 0; i < n && !bad;) {
		const char *end = memchr(text + i, '\n', n - i);
		size_t len = end ? (size_t)(end - text) - i : n - i;
		if (len)
			bad = add_line(f, a, out, &suite, text + i, len);
		i += len + 1;
	}
	return bad;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* A name that occurs twice; NULL: none. */
static const char *repeated(const struct test_cases *t, struct arena *a)
{
	const char **all = arena_alloc(a, (t->list.len + 1) * sizeof *all);
	for (uint32_t i = 0; i < t->list.len; i++)
		all[i] = t->list.data[i].name;
	qsort(all, t->list.len, sizeof *all, by_name);
	for (uint32_t i = 1; i < t->list.len; i++)
		if (!strcmp(all[i], all[i - 1]))
			return all[i];
	return NULL;
}

/* ---- running one ---- */

static size_t words_of(char *const *argv)
{
	size_t n = 0;
	while (argv[n])
		n++;
	return n;
}

/* Room for `more` words behind those of the program. */
static char **argv_with(struct arena *a, char *const *argv, size_t more, size_t *n)
{
	*n = words_of(argv);
	char **all = arena_alloc(a, (*n + more + 1) * sizeof *all);
	memcpy(all, argv, *n * sizeof *all);
	memset(all + *n, 0, (more + 1) * sizeof *all);
	return all;
}

/* With a backslash before each of these characters. */
static const char *escaped(struct arena *a, const char *name, const char *special)
{
	struct buf b;
	buf_init(&b);
	for (const char *s = name; *s; s++) {
		if (strchr(special, *s))
			buf_char(&b, '\\');
		buf_char(&b, *s);
	}
	const char *text = arena_strdup(a, buf_cstr(&b));
	buf_free(&b);
	return text;
}

static char *one_word(struct arena *a, enum test_framework f, const char *name)
{
	switch (f) {
	case TEST_GOOGLETEST:
		return (char *)(uintptr_t)arena_printf(a, "--gtest_filter=%s", name);
	case TEST_DOCTEST:
		return (char *)(uintptr_t)arena_printf(a, "--test-case=%s", escaped(a, name, ",\\"));
	default: /* Catch2: a test specification */
		return (char *)(uintptr_t)escaped(a, name, ",[]\\*\"");
	}
}

/* A word of --case-run, with the name in the place of {}. */
static char *filled_in(struct arena *a, const char *word, size_t n, const char *name)
{
	const char *at = memmem(word, n, "{}", 2);
	if (!at)
		return arena_strndup(a, word, n);
	return (char *)(uintptr_t)arena_printf(a, "%.*s%s%.*s", (int)(at - word), word, name, (int)(n - (size_t)(at - word) - 2),
	                                       at + 2);
}

static void set_argv(const struct test_cases_ask *ask, enum test_framework f, struct arena *a, struct test_case *c)
{
	size_t n;
	c->argv = argv_with(a, ask->argv, f == TEST_PLAIN ? MAX_WORDS : 1, &n);
	if (f != TEST_PLAIN) {
		c->argv[n] = one_word(a, f, c->name);
		return;
	}
	size_t most = n + MAX_WORDS;
	for (const char *s = ask->run; *(s += strspn(s, " \t\n")) && n < most; s += strcspn(s, " \t\n"))
		c->argv[n++] = filled_in(a, s, strcspn(s, " \t\n"), c->name);
}

/* ---- all of it ---- */

/* Only those that a pattern names; each pattern must name one. */
static bool keep_only(struct cli *cli, const struct test_cases_ask *ask, struct test_cases *t)
{
	uint32_t n = 0, all = t->list.len;
	for (int k = 0; k < ask->nonly; k++) {
		bool any = false;
		for (uint32_t i = 0; i < all && !any; i++)
			any = !fnmatch(ask->only[k], t->list.data[i].name, 0);
		if (any)
			continue;
		buf_str(&cli->err, "intact: --case '");
		buf_safe(&cli->err, ask->only[k], strlen(ask->only[k]));
		buf_printf(&cli->err, "' matches none of the %u cases\nhint: --list-cases prints them; the first is '", all);
		buf_safe(&cli->err, t->list.data[0].name, strlen(t->list.data[0].name));
		buf_str(&cli->err, "'\n");
		return false;
	}
	for (uint32_t i = 0; i < all && ask->nonly; i++)
		for (int k = 0; k < ask->nonly; k++)
			if (!fnmatch(ask->only[k], t->list.data[i].name, 0)) {
				t->list.data[n++] = t->list.data[i];
				break;
			}
	t->list.len = ask->nonly ? n : all;
	return true;
}

static bool complain(struct cli *cli, const char *what, const char *program, const char *why, const char *name)
{
	buf_printf(&cli->err, "intact: %s '", what);
	buf_safe(&cli->err, program, strlen(program));
	buf_printf(&cli->err, "'%s%s", *why == '\n' ? "" : ": ", why);
	if (name) {
		buf_str(&cli->err, " '");
		buf_safe(&cli->err, name, strlen(name));
		buf_char(&cli->err, '\'');
	}
	buf_char(&cli->err, '\n');
	return false;
}

bool test_cases_list(struct cli *cli, const struct test_cases_ask *ask, struct arena *a, struct test_cases *out)
{
	assert(ask->argv && ask->argv[0] && !ask->list == !ask->run);
	char *shell[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)ask->list, NULL };
	char **argv = shell;
	const char *what = ask->list ? ask->list : ask->argv[0], *bad;
	char path[PATH_MAX];
	*out = (struct test_cases){ 0 };
	if (!find_in_path(ask->argv[0], path, sizeof path))
		return complain(cli, "cannot run", ask->argv[0], "no such program", NULL);
	enum test_framework f = ask->list ? TEST_PLAIN : framework_of(ask->argv[0]);
	if (!ask->list) {
		if (!f)
			return complain(
				cli, "no test framework was recognised in", ask->argv[0],
				"\nhint: GoogleTest, Catch2 and doctest are; for another program --case-list 'COMMAND' prints "
				"the names of its cases, and --case-run 'ARGUMENTS {}' says how it runs one",
				NULL);
		size_t n;
		argv = argv_with(a, ask->argv, 4, &n);
		for (int i = 0; i < 4 && frameworks[f].list[i]; i++)
			argv[n++] = (char *)(uintptr_t)frameworks[f].list[i];
		out->framework = frameworks[f].name;
	}
	struct buf text;
	int status = 0;
	buf_init(&text);
	bad = output_of(argv, &text, &status);
	/* Catch2's exit status may be the number of cases */
	if (!bad && !(WIFEXITED(status) && (f == TEST_CATCH2_OLD || f == TEST_CATCH2 || !WEXITSTATUS(status))))
		bad = WIFSIGNALED(status) ? arena_printf(a, "signal %d ended it", WTERMSIG(status))
		                          : arena_printf(a, "exit status %d", WEXITSTATUS(status));
	if (!bad)
		bad = test_cases_parse(f, text.data, text.len, a, out);
	if (!bad && !out->list.len)
		bad = out->disabled ? "all cases are disabled" : "it lists none";
	buf_free(&text);
	if (bad)
		return complain(cli, "cannot get the list of test cases from", what, bad, NULL);
	bad = repeated(out, a);
	if (bad)
		return complain(cli, "in the list of test cases from", what, "this name occurs twice:", bad);
	if (!keep_only(cli, ask, out))
		return false;
	for (uint32_t i = 0; i < out->list.len; i++)
		set_argv(ask, f, a, &out->list.data[i]);
	assert(out->list.len);
	return true;
}
