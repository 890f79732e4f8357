#include "base/invariant.h"
#include "project/project.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool trusted(const struct stat *file, const struct stat *here)
{
	return file->st_uid == geteuid() || file->st_uid == 0 || file->st_uid == here->st_uid;
}

bool project_find(char path[PATH_MAX], struct buf *err)
{
	char dir[PATH_MAX - 16], probe[PATH_MAX];
	struct stat here, st;
	if (!getcwd(dir, sizeof dir) || stat(".", &here))
		return false;
	if (!stat(PROJECT_FILE, &st) && !S_ISDIR(st.st_mode)) {
		strcpy(path, PROJECT_FILE);
		return true;
	}
	for (;;) {
		snprintf(probe, sizeof probe, "%s/.git", dir);
		char *slash = strrchr(dir, '/');
		if (!access(probe, F_OK) || !slash || !*dir)
			return false;
		*slash = 0;
		snprintf(path, PATH_MAX, "%s/%s", dir, PROJECT_FILE);
		if (stat(path, &st) || S_ISDIR(st.st_mode))
			continue;
		if (trusted(&st, &here))
			return true;
		buf_str(err, "intact: warning: '");
		buf_safe(err, path, strlen(path));
		buf_str(err, "' belongs to another user and is ignored\n");
		return false;
	}
}

bool project_read(struct project *p, const char *path, struct diags *d)
{
	assert(path && *path);
	struct why why;
	const char *slash = strrchr(path, '/');
	memset(p, 0, sizeof *p);
	if (strlen(path) >= sizeof p->dir || !source_read(&p->src, d->arena, path, &why)) {
		source_from_text(&p->src, d->arena, arena_strdup(d->arena, path), "", 0);
		diag_error(d, "project-syntax", &p->src, (struct span){ 0, 0 }, "cannot read the project file: %s",
		           strlen(path) >= sizeof p->dir ? "the path is too long" : why.text);
		return false;
	}
	if (slash)
		snprintf(p->dir, sizeof p->dir, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	return toml_read(&p->toml, &p->src, d);
}
