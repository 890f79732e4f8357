/*
 * intact/annotate.h: say in the source what is meant to be atomic.
 *
 * SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The Intact authors. This one file may be copied into a project as it
 * is, so that the project builds where Intact is not installed.
 *
 *   void transfer(struct account *a, struct account *b, int n)
 *   {
 *           INTACT_ATOMIC("transfer");      until the end of this scope
 *           ...
 *   }
 *
 *   INTACT_BEGIN("move");  ...  INTACT_END();   any stretch of one thread
 *
 *   INTACT_ATOMIC_FUNCTION void f(void);        every call of f
 *
 * For C89 and later, and C++11 and later. In programs not compiled with `intact cc` all
 * of it is nothing: no code, no symbol, no library. INTACT_ATOMIC is a declaration either
 * way: in C89 it must be among the declarations of its block.
 */
#ifndef INTACT_ANNOTATE_H
#define INTACT_ANNOTATE_H

#ifdef __INTACT__

#ifdef __cplusplus
extern "C" {
#endif
void __intact_begin(const char *name);
void __intact_end(void);
#ifdef __cplusplus
}
#endif

#define INTACT_BEGIN(name)  __intact_begin(name)
#define INTACT_END()        __intact_end()
#define INTACT_PASTE2(a, b) a##b
#define INTACT_PASTE(a, b)  INTACT_PASTE2(a, b)

#ifdef __cplusplus
struct intact_scope {
	/* Begun in front of the constructor's call, so that the block is the
	 * function's around and not the constructor's. */
	explicit intact_scope(int)
	{
	}
	~intact_scope()
	{
		__intact_end();
	}
	intact_scope(const intact_scope &) = delete;
	intact_scope &operator=(const intact_scope &) = delete;
};
#define INTACT_ATOMIC(name) intact_scope INTACT_PASTE(intact_scope_, __LINE__)((__intact_begin(name), 0))
#else
__attribute__((no_instrument_function, unused)) static __inline__ void intact_scope_end(const char *const *name)
{
	(void)name;
	__intact_end();
}
#define INTACT_ATOMIC(name)                                                                              \
	__attribute__((cleanup(intact_scope_end), unused)) const char *const INTACT_PASTE(intact_scope_, \
	                                                                                  __LINE__) = (__intact_begin(name), name)
#endif

/* A section of the executable that the runtime knows. */
#define INTACT_ATOMIC_FUNCTION __attribute__((noinline, section("intact_atomic_fns")))

#else

#ifdef __cplusplus
#define INTACT_BEGIN(name)  static_cast<void>(0)
#define INTACT_END()        static_cast<void>(0)
#define INTACT_ATOMIC(name) static_assert(true, "")
#else
#define INTACT_BEGIN(name)  ((void)0)
#define INTACT_END()        ((void)0)
#define INTACT_ATOMIC(name) struct intact_no_scope
#endif
#define INTACT_ATOMIC_FUNCTION

#endif
#endif
