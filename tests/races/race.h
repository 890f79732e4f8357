/*
 * race: what the programs of this folder share. at(n) (tests/programs/sched.h) forces the order of their accesses
 * without being seen as synchronisation. FIX(...) is only in the repaired twin (-DFIXED), RACY(...) only in the other.
 */
#ifndef RACE_H
#define RACE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../programs/sched.h"

#ifdef FIXED
#define FIX(...)  __VA_ARGS__
#define RACY(...)
#else
#define FIX(...)
#define RACY(...) __VA_ARGS__
#endif

static void run2(void *(*a)(void *), void *(*b)(void *)) __attribute__((unused));
static void run2(void *(*a)(void *), void *(*b)(void *))
{
	pthread_t t, u;
	pthread_create(&t, NULL, a, NULL);
	pthread_create(&u, NULL, b, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
}

static void run3(void *(*a)(void *), void *(*b)(void *), void *(*c)(void *)) __attribute__((unused));
static void run3(void *(*a)(void *), void *(*b)(void *), void *(*c)(void *))
{
	pthread_t t, u, v;
	pthread_create(&t, NULL, a, NULL);
	pthread_create(&u, NULL, b, NULL);
	pthread_create(&v, NULL, c, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	pthread_join(v, NULL);
}

#endif
