#include "project/init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"

const char *const build_systems[] = { "auto", "cmake", "meson", "autotools", "make", NULL };

static const char project_file[] = "# Options of Intact for this project (docs/project.md); the command line overrides them.\n"
				   "\n"
				   "# Functions that must be atomic. With this line only these are judged.\n"
				   "# atomic = [\"transfer\", \"queue_*\"]\n"
				   "\n"
				   "# Findings that are intended: `intact run --gen-suppressions` prints the lines.\n"
				   "suppressions = [\"intact.supp\"]\n"
				   "# Known findings: `intact run --learn intact.baseline --accept ...` writes the file.\n"
				   "# baseline = \"intact.baseline\"\n"
				   "\n"
				   "[run]\n"
				   "# strict = true\n"
				   "\n"
				   "[explore]\n"
				   "# schedules = 20000\n";

static const char suppressions_file[] =
	"# Findings of `intact run` that are intended, one `kind:PATTERN` a line, each with the reason:\n"
	"#   block:cache_lookup\n";

#define PRESET                                                                                                             \
	"    {\n      \"name\": \"intact\",\n      \"displayName\": \"Watched by Intact\",\n      \"binaryDir\": "         \
	"\"${sourceDir}/build-intact\",\n      \"cacheVariables\": {\n        \"CMAKE_BUILD_TYPE\": \"RelWithDebInfo\",\n" \
	"        \"CMAKE_C_COMPILER\": \"intact-cc\",\n        \"CMAKE_CXX_COMPILER\": \"intact-c++\"\n      }\n    }\n"

static const char presets[] =
	"{\n  \"version\": 3,\n  \"configurePresets\": [\n" PRESET "  ],\n"
	"  \"buildPresets\": [{\"name\": \"intact\", \"configurePreset\": \"intact\"}],\n"
	"  \"testPresets\": [{\"name\": \"intact\", \"configurePreset\": \"intact\", \"output\": {\"outputOnFailure\": true}}]\n"
	"}\n";

static const char machine_file[] = "# meson setup build-intact --native-file intact.ini\n"
				   "[binaries]\n"
				   "c = 'intact-cc'\n"
				   "cpp = 'intact-c++'\n"
				   "\n"
				   "[built-in options]\n"
				   "buildtype = 'debugoptimized'\n";

static bool there(const char *dir, const char *name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static bool has_text(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX], line[4096];
	bool found = false;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, text);
	if (f)
		fclose(f);
	return found;
}

/* Does a makefile have this target, at the beginning of a line? */
static bool has_target(const char *dir, const char *name, const char *target)
{
	char path[PATH_MAX], line[4096];
	size_t n = strlen(target);
	bool found = false;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof line, f))
		found = !strncmp(line, target, n) && (line[n] == ':' || line[n] == ' ');
	if (f)
		fclose(f);
	return found;
}

static void add_file(struct init_plan *p, const char *dir, const char *name, const char *text)
{
	assert(name && text);
	assert(p->nfiles < (int)(sizeof p->files / sizeof *p->files));
	p->files[p->nfiles++] = (struct init_file){ .name = name, .text = text, .exists = there(dir, name) };
}

static void plan_cmake(struct init_plan *p, const char *dir)
{
	add_file(p, dir, "CMakePresets.json", presets);
	if (p->files[p->nfiles - 1].exists && !has_text(dir, "CMakePresets.json", "intact-cc"))
		p->files[p->nfiles - 1].instead =
			"add to \"configurePresets\", and presets of this name to \"buildPresets\" and \"testPresets\":\n" PRESET;
	p->commands[0] = "cmake --preset intact";
	p->commands[1] = "cmake --build --preset intact";
	p->commands[2] = "ctest --preset intact";
}

static void plan_make(struct init_plan *p, const char *dir, struct arena *a)
{
	const char *target = has_target(dir, p->found, "test") ? "test" : has_target(dir, p->found, "check") ? "check" : NULL;
	p->commands[0] = "make clean";
	p->commands[1] = arena_printf(a, "make CC=intact-cc CXX=intact-c++%s%s", target ? " " : "", target ? target : "");
	p->commands[2] = target ? NULL : "intact run ./PROGRAM";
}

bool init_look(struct init_plan *p, enum build_system asked, const char *dir, struct arena *a)
{
	static const struct {
		const char *file;
		enum build_system system;
	} tells[] = {
		{ "CMakeLists.txt", BUILD_CMAKE },   { "meson.build", BUILD_MESON },   { "configure.ac", BUILD_AUTOTOOLS },
		{ "configure.in", BUILD_AUTOTOOLS }, { "configure", BUILD_AUTOTOOLS }, { "GNUmakefile", BUILD_MAKE },
		{ "Makefile", BUILD_MAKE },          { "makefile", BUILD_MAKE },
	};
	memset(p, 0, sizeof *p);
	for (size_t i = 0; i < sizeof tells / sizeof *tells && !p->found; i++)
		if ((asked == BUILD_AUTO || asked == tells[i].system) && there(dir, tells[i].file)) {
			p->found = tells[i].file;
			p->system = tells[i].system;
		}
	if (!p->found)
		return false;
	add_file(p, dir, "intact.toml", project_file);
	add_file(p, dir, "intact.supp", suppressions_file);
	if (p->system == BUILD_CMAKE) {
		plan_cmake(p, dir);
	} else if (p->system == BUILD_MESON) {
		add_file(p, dir, "intact.ini", machine_file);
		p->commands[0] = "meson setup build-intact --native-file intact.ini";
		p->commands[1] = "meson test -C build-intact --print-errorlogs";
	} else if (p->system == BUILD_AUTOTOOLS) {
		p->commands[0] = there(dir, "configure") ? "mkdir build-intact && cd build-intact"
		                                         : "autoreconf -i && mkdir build-intact && cd build-intact";
		p->commands[1] = "../configure CC=intact-cc CXX=intact-c++ CFLAGS='-g -O1' CXXFLAGS='-g -O1'";
		p->commands[2] = "make check";
	} else {
		plan_make(p, dir, a);
	}
	return true;
}

bool init_write(struct init_plan *p, const char *dir, struct buf *err)
{
	assert(p->nfiles >= 0 && p->nfiles <= 4);
	for (int i = 0; i < p->nfiles; i++) {
		struct init_file *f = &p->files[i];
		char path[PATH_MAX];
		if (f->exists)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, f->name);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno == EEXIST) {
			f->exists = true;
			continue;
		}
		size_t n = strlen(f->text);
		bool ok = fd >= 0 && write(fd, f->text, n) == (ssize_t)n;
		if (!ok) {
			buf_str(err, "cannot write '");
			buf_safe(err, path, strlen(path));
			buf_printf(err, "': %s", strerror(errno));
		}
		if (fd >= 0)
			close(fd);
		if (!ok)
			return false;
	}
	return true;
}
