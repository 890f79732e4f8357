/*
 * base/invariant.h: a broken invariant ends the process in builds with asserts and is not even evaluated in the others;
 * PARANOID is on in the build that asks for it alone; the program that every test of models loads is valid, and a state that
 * breaks an invariant is found out.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/invariant.h"
#include "ir/ir.h"
#include "lang/lang.h"

#include "check.h"

#ifdef NDEBUG
enum { ASSERTS = 0 };
#else
enum { ASSERTS = 1 };
#endif
#ifdef INTACT_PARANOID
enum { PARANOIA = 1 };
#else
enum { PARANOIA = 0 };
#endif

static int evaluated;

static bool yes(void)
{
	evaluated++;
	return true;
}

static void test_evaluated(void)
{
	assert(yes());
	CHECK_EQ(evaluated, ASSERTS);
	evaluated = 0;
	PARANOID(yes());
	CHECK_EQ(evaluated, PARANOIA);
}

static void broken(void)
{
	assert(1 + 1 == 3);
}

static void broken_paranoid(void)
{
	PARANOID(1 + 1 == 3);
}

static void broken_case(void)
{
	UNREACHABLE();
}

/* Does it end by SIGABRT? */
static bool aborts(void (*fn)(void))
{
	int status = 0;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		fn();
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_broken(void)
{
	CHECK_EQ(aborts(broken), ASSERTS);
	CHECK_EQ(aborts(broken_case), ASSERTS);
	CHECK_EQ(aborts(broken_paranoid), PARANOIA);
}

static void test_states(void)
{
	struct lang l;
	const char *text = "int[0..3] x; lock m; thread t * 2 { acquire(m); x = 1; release(m); }";
	lang_init(&l);
	CHECK(lang_load_text(&l, "m.atm", text, strlen(text), NULL));
	const struct ir *p = l.ir;
	int32_t *s = malloc(p->nstate * sizeof *s);
	memcpy(s, p->init, p->nstate * sizeof *s);
	CHECK(ir_state_valid(p, s));
	s[p->vars[0].slot] = 4; /* outside its range */
	CHECK(!ir_state_valid(p, s));
	memcpy(s, p->init, p->nstate * sizeof *s);
	for (uint32_t i = 0; i < p->nvars; i++)
		if (p->vars[i].kind == IRV_LOCK)
			s[p->vars[i].slot] = 1; /* taken, and nobody holds it */
	CHECK(!ir_state_valid(p, s));
	free(s);
	lang_free(&l);
}

int main(void)
{
	RUN(test_evaluated);
	RUN(test_broken);
	RUN(test_states);
	return check_done();
}
