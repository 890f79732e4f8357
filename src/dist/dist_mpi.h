/* dist_mpi: the module's one function. The module is linked with nothing of intact: it has what this header and dist.h say. */
#ifndef INTACT_DIST_DIST_MPI_H
#define INTACT_DIST_DIST_MPI_H

#include "dist/dist.h"

#define DIST_MPI_NAME   "intact_dist_mpi_1" /* the number is raised when struct dist or this function changes */
#define DIST_MPI_SYMBOL intact_dist_mpi_1

typedef bool dist_mpi_fn(struct dist *d);

/* Starts MPI and fills *d. False: d->why says why. */
__attribute__((visibility("default"))) dist_mpi_fn DIST_MPI_SYMBOL;

#endif
