/*
 * dist_open: was this process started by an MPI launcher, and if so, the module for it.
 *
 * The module is a file beside the runtime's: intact-openmpi.so or intact-mpich.so, in the build tree src/dist/mpi/, installed
 * lib/intact/; INTACT_MPI_DIR names another directory. It is loaded only under a launcher, so the program itself needs no MPI.
 */
#ifndef INTACT_DIST_DIST_OPEN_H
#define INTACT_DIST_DIST_OPEN_H

#include "base/buf.h"
#include "dist/dist.h"

enum dist_mpi { DIST_NO_MPI, DIST_OPENMPI, DIST_MPICH };

struct dist_launch {
	enum dist_mpi mpi;
	uint32_t ranks; /* 0: the launcher does not say */
};

/* What the environment says. One rank is no launch. */
struct dist_launch dist_launched(void);
/* Loads the module and starts MPI. False: `why` has a sentence for the user. */
bool dist_open(struct dist_launch l, struct dist *d, struct why *why);

#endif
