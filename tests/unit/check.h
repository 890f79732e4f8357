/*
 * check: the unit tests' harness. A test is a function; main lists them; the
 * output is TAP, so every function counts as one test in the summary.
 *
 *   static void test_push(void) { CHECK(1 + 1 == 2); CHECK_EQ(f(3), 9); }
 *   int main(void) { RUN(test_push); return check_done(); }
 */
#ifndef INTACT_TESTS_CHECK_H
#define INTACT_TESTS_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failed, check_count, check_bad;

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);    \
			check_failed++;                                        \
		}                                                              \
	} while (0)

#define CHECK_EQ(a, b)                                                         \
	do {                                                                   \
		long long check_a = (long long)(a), check_b = (long long)(b);  \
		if (check_a != check_b) {                                      \
			printf("# %s:%d: %s is %lld, expected %lld\n",         \
			       __FILE__, __LINE__, #a, check_a, check_b);      \
			check_failed++;                                        \
		}                                                              \
	} while (0)

#define CHECK_STR(a, b)                                                        \
	do {                                                                   \
		const char *check_s = (a), *check_t = (b);                     \
		if (strcmp(check_s, check_t)) {                                \
			printf("# %s:%d: %s is \"%s\", expected \"%s\"\n",     \
			       __FILE__, __LINE__, #a, check_s, check_t);      \
			check_failed++;                                        \
		}                                                              \
	} while (0)

#define RUN(test)                                                              \
	do {                                                                   \
		check_failed = 0;                                              \
		test();                                                        \
		check_count++;                                                 \
		check_bad += check_failed != 0;                                \
		printf("%s %d - %s\n", check_failed ? "not ok" : "ok",         \
		       check_count, #test);                                    \
		fflush(stdout);                                                \
	} while (0)

static inline int check_done(void)
{
	printf("1..%d\n", check_count);
	return check_bad != 0;
}

#endif
