#include "dist/dist_open.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/paths.h"
#include "dist/dist_mpi.h"

static const struct {
	const char *name, *file, *package;
} libraries[] = {
	[DIST_OPENMPI] = { "Open MPI", "intact-openmpi.so", "libopenmpi-dev" },
	[DIST_MPICH] = { "MPICH", "intact-mpich.so", "libmpich-dev" },
};

/* A number in the environment; 0: there is none. */
static uint32_t number(const char *name)
{
	const char *v = getenv(name);
	unsigned long n = v && *v >= '0' && *v <= '9' ? strtoul(v, NULL, 10) : 0;
	return n < UINT32_MAX ? (uint32_t)n : 0;
}

/* Slurm sets PMIX_RANK or PMI_RANK for every program that srun starts, with MPI or without. */
static uint32_t slurm_tasks(void)
{
	uint32_t step = number("SLURM_STEP_NUM_TASKS");
	return step ? step : number("SLURM_NTASKS");
}

struct dist_launch dist_launched(void)
{
	struct dist_launch l = { DIST_NO_MPI, 0 };
	if (getenv("OMPI_COMM_WORLD_SIZE"))
		l = (struct dist_launch){ DIST_OPENMPI, number("OMPI_COMM_WORLD_SIZE") };
	else if (getenv("PMI_SIZE"))
		l = (struct dist_launch){ DIST_MPICH, number("PMI_SIZE") };
	else if (getenv("PMIX_RANK"))
		l = (struct dist_launch){ DIST_OPENMPI, slurm_tasks() };
	else if (getenv("PMI_RANK"))
		l = (struct dist_launch){ DIST_MPICH, slurm_tasks() };
	return l.ranks == 1 ? (struct dist_launch){ DIST_NO_MPI, 1 } : l;
}

/* Where the module may be, from this executable; false when it is nowhere. */
static bool find(const char *file, char *out, size_t size)
{
	static const char *const near[] = { "/../dist/mpi", "/../lib/intact", "/../lib/x86_64-linux-gnu/intact",
		                            "/../lib64/intact" };
	const char *dir = getenv("INTACT_MPI_DIR");
	char self[PATH_MAX];
	if (dir && *dir) {
		snprintf(out, size, "%s/%s", dir, file);
		return !access(out, R_OK);
	}
	if (!self_path(self, sizeof self))
		return false;
	*strrchr(self, '/') = 0;
	for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
		snprintf(out, size, "%s%s/%s", self, near[i], file);
		if (!access(out, R_OK))
			return true;
	}
	return false;
}

bool dist_open(struct dist_launch l, struct dist *d, struct why *why)
{
	assert(l.mpi != DIST_NO_MPI);
	const char *name = libraries[l.mpi].name;
	char path[PATH_MAX + 64];
	if (!find(libraries[l.mpi].file, path, sizeof path))
		return why_set(why,
		               "started by an MPI launcher (%s), but %s is not there: install %s and build intact with "
		               "-Dmpi=enabled, or start it without the launcher",
		               name, libraries[l.mpi].file, libraries[l.mpi].package);
	/* global: Open MPI loads parts of its own that look for its symbols */
	void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!module)
		return why_set(why, "started by an MPI launcher (%s), but its library cannot be loaded: %s; is %s installed?", name,
		               dlerror(), libraries[l.mpi].package);
	dist_mpi_fn *start;
	void *symbol = dlsym(module, DIST_MPI_NAME);
	memcpy(&start, &symbol, sizeof start);
	if (!symbol)
		return why_set(why, "%s belongs to another version of intact", path);
	if (!start(d))
		return why_set(why, "%s does not start: %s", name, d->why.text);
	assert(d->n && d->rank < d->n && d->here);
	return true;
}
