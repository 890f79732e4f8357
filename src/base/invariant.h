/*
 * invariant: what must hold whatever the input: a failure is a bug of Intact, never a user's mistake.
 *
 *   assert(e)     O(1), or no more than the work beside it; on with -Db_ndebug=false (what `make test` builds with clang
 *                 and with the sanitizers), gone from a plain build
 *   PARANOID(e)   walks a whole structure (x_valid()); on with -Dparanoid=true (the build with the sanitizers)
 *   UNREACHABLE() an enumeration's value that no case has
 *
 * Files that are compiled into the guest (`sched`, parts of `dynamic`, `runtime`) use this header too: there a failure is
 * reported by a raw write and ends the process (runtime/assert.c), because libc's assert allocates, locks and can be
 * interposed.
 */
#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

/* The expression is compiled in every build, and used in none that leaves it out. */
#define INVARIANT_OFF(e) ((void)(0 && (e)))

#ifdef NDEBUG
#undef assert
#define assert(e) INVARIANT_OFF(e)
#elif defined(INTACT_GUEST)
_Noreturn void rt_assert_failed(const char *expression, const char *file, unsigned line);
#define assert(e) ((e) ? (void)0 : rt_assert_failed(#e, __FILE__, __LINE__))
#else
#include <assert.h>
#endif

#ifdef INTACT_PARANOID
#define PARANOID(e) assert(e)
#else
#define PARANOID(e) INVARIANT_OFF(e)
#endif

#define UNREACHABLE() assert(0 && "reached")

#endif
