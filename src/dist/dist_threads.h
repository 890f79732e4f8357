/*
 * dist_threads: ranks that are threads of one process; the twin of dist_mpi.c for tests.
 *
 * Each rank has a queue under a lock. A number that the test gives delays messages at random: a queue hands out nothing for
 * a few calls, so that what may arrive late does, while messages of one rank stay in order.
 */
#ifndef INTACT_DIST_DIST_THREADS_H
#define INTACT_DIST_DIST_THREADS_H

#include "dist/dist.h"

struct dist_threads;

/* Ranks 0 to n - 1; delay: of so many calls of take about one hands something out (1: each). NULL: out of memory. */
struct dist_threads *dist_threads_new(uint32_t n, uint32_t delay);
/* For the thread that is this rank. dist_close ends its part. */
void dist_threads_join(struct dist_threads *t, uint32_t rank, struct dist *d);
/* When all ranks have closed. */
void dist_threads_free(struct dist_threads *t);

#endif
