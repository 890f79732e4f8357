#include "base/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool self_path(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool holds_runtime(const char *dir, char *out, size_t size)
{
	char file[PATH_MAX];
	snprintf(file, sizeof file, "%s/libintact_rt.a", dir);
	if (access(file, R_OK))
		return false;
	char *real = realpath(dir, NULL);
	if (!real)
		return false;
	snprintf(out, size, "%s", real);
	free(real);
	return true;
}

bool runtime_dir(char *out, size_t size)
{
	static const char *const near[] = { "/../../runtime", "/../lib/intact", "/../lib/x86_64-linux-gnu/intact",
		                            "/../lib64/intact", NULL };
	char self[PATH_MAX], dir[PATH_MAX + 64];
	const char *env = getenv("INTACT_RUNTIME_DIR");
	if (env && *env)
		return holds_runtime(env, out, size);
	if (!self_path(self, sizeof self))
		return false;
	*strrchr(self, '/') = 0;
	for (int i = 0; near[i]; i++) {
		snprintf(dir, sizeof dir, "%s%s", self, near[i]);
		if (holds_runtime(dir, out, size))
			return true;
	}
	return false;
}

bool only_here(const char *name)
{
	return !strchr(name, '/') && access(name, X_OK) == 0;
}

bool find_in_path(const char *name, char *out, size_t size)
{
	const char *path = getenv("PATH");
	if (strchr(name, '/')) {
		snprintf(out, size, "%s", name);
		return access(out, X_OK) == 0;
	}
	while (path && *path) {
		size_t n = strcspn(path, ":");
		snprintf(out, size, "%.*s/%s", (int)n, path, name);
		if (access(out, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}
