/*
 * test_cases: the test cases in a test binary: their names, and how one of them is run.
 *
 * The binary of a known framework is asked for its list: GoogleTest, Catch2, doctest; which one it is shows in its
 * symbols and texts. Of any other program the caller says how: a shell command that prints the names, one a line, and
 * the arguments with which the program runs the case {}.
 */
#ifndef INTACT_PROGRAM_TEST_CASES_H
#define INTACT_PROGRAM_TEST_CASES_H

#include "base/arena.h"
#include "base/console.h"

struct test_case {
	const char *name;
	char **argv; /* the program with its arguments, running this case alone */
};

struct test_cases {
	const char *framework; /* "GoogleTest", ...; NULL: as the caller said */
	uint32_t disabled;     /* cases that the framework would not run; they are left out */
	AVEC(struct test_case) list;
};

struct test_cases_ask {
	char **argv;             /* the program and the arguments that are always given */
	const char *list, *run;  /* the command, and the arguments with {}; both NULL: of a framework */
	const char *const *only; /* patterns (fnmatch); none: all cases */
	int nonly;
};

/* Fills in *out, in the order of the program. False after a message: the program cannot be asked, there is no case, a name
 * occurs twice, or a pattern matches none. Strings are the arena's. */
bool test_cases_list(struct cli *cli, const struct test_cases_ask *ask, struct arena *a, struct test_cases *out);

/* ---- for tests: the list that a program printed ---- */

enum test_framework { TEST_PLAIN, TEST_GOOGLETEST, TEST_CATCH2, TEST_CATCH2_OLD, TEST_DOCTEST };
/* NULL, or what is wrong with it. */
const char *test_cases_parse(enum test_framework f, const char *text, size_t n, struct arena *a, struct test_cases *out);

#endif
