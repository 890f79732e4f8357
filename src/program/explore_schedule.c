#include "program/explore_schedule.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "base/paths.h"
#include "report/explore.h"
#include "sched/schedule.h"

enum { MAX_FILE = 256 << 20, MAX_ATOMIC = 256 };
#define APART (1ull << 40) /* modules of a file lie so far apart */

/* ---- build ids ---- */

static bool note_id(const unsigned char *p, size_t n, char *out, size_t room)
{
	assert(room >= 3);
	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= n;) {
		Elf64_Nhdr h;
		memcpy(&h, p + at, sizeof h);
		size_t name = at + sizeof h, desc = name + ((h.n_namesz + 3u) & ~3u), end = desc + ((h.n_descsz + 3u) & ~3u);
		if (end > n || end < at)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && !memcmp(p + name, "GNU", 4)) {
			size_t k = h.n_descsz * 2 < room ? h.n_descsz : (room - 1) / 2;
			assert(2 * k < room);
			for (size_t i = 0; i < k; i++)
				snprintf(out + 2 * i, 3, "%02x", p[desc + i]);
			return true;
		}
		at = end;
	}
	return false;
}

void explore_build_id(const char *path, char *out, size_t room)
{
	assert(room >= 3);
	Elf64_Ehdr e;
	unsigned char note[4096];
	FILE *f = fopen(path, "rb");
	*out = 0;
	if (!f)
		return;
	bool ok = fread(&e, sizeof e, 1, f) == 1 && !memcmp(e.e_ident, ELFMAG, SELFMAG) && e.e_phnum < 1000;
	for (unsigned i = 0; ok && i < e.e_phnum && !*out; i++) {
		Elf64_Phdr p;
		if (fseek(f, (long)(e.e_phoff + i * sizeof p), SEEK_SET) || fread(&p, sizeof p, 1, f) != 1)
			break;
		if (p.p_type != PT_NOTE || fseek(f, (long)p.p_offset, SEEK_SET))
			continue;
		size_t n = fread(note, 1, p.p_filesz < sizeof note ? p.p_filesz : sizeof note, f);
		note_id(note, n, out, room);
	}
	fclose(f);
}

/* ---- writing ---- */

const char *explore_replay_line(struct arena *a, const char *file)
{
	struct buf b;
	buf_init(&b);
	buf_str(&b, "intact explore --replay ");
	bool plain = *file && file[strcspn(file, " \t'\"\\$`&|;<>()*?!~#\n")] == 0;
	if (!plain)
		buf_char(&b, '\'');
	for (const char *s = file; *s; s++)
		if (*s == '\'')
			buf_str(&b, "'\\''");
		else
			buf_char(&b, *s);
	if (!plain)
		buf_char(&b, '\'');
	const char *line = arena_strdup(a, buf_cstr(&b));
	buf_free(&b);
	return line;
}

static void place_of(const struct control *c, uint64_t pc, struct schedule_place *out)
{
	*out = (struct schedule_place){ SCHEDULE_NOWHERE, 0 };
	for (uint32_t i = 0; pc && i < c->nmodules; i++)
		if (pc >= c->modules[i].lo && pc < c->modules[i].hi)
			*out = (struct schedule_place){ i, pc - c->modules[i].base };
	assert(out->module == SCHEDULE_NOWHERE || out->module < c->nmodules);
}

static bool write_file(struct cli *cli, const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(text, 1, n, f) == n;
	int why = errno;
	if (f && fclose(f)) {
		ok = false;
		why = errno;
	}
	if (!ok)
		buf_printf(&cli->err, "intact: cannot write '%s': %s\n", path, strerror(why));
	return ok;
}

bool explore_save(struct cli *cli, const char *path, const struct explore_ask *ask, const struct explore_got *got)
{
	assert(got->failed);
	const struct control *c = got->failed;
	char(*ids)[128] = calloc(CONTROL_MODULES, sizeof *ids);
	struct schedule_module *modules = calloc(CONTROL_MODULES, sizeof *modules);
	struct schedule_place *points = calloc(CONTROL_PLACES, sizeof *points);
	struct schedule_place *places = calloc(CONTROL_STEPS, sizeof *places);
	struct schedule_pair *settings = calloc(GAPS_SETTINGS + MAX_ATOMIC + 2, sizeof *settings);
	struct arena a;
	arena_init(&a, 0);
	struct schedule s = { .program = ask->argv[0],
		              .mode = got->mode == CONTROL_FORK ? "fork" : "fibers",
		              .arguments = (const char **)ask->argv + 1,
		              .seed = ask->seed,
		              .modules = modules,
		              .n_modules = c->nmodules,
		              .points = points,
		              .n_points = c->nplaces,
		              .origins = (struct sched_origin *)c->origins,
		              .n_threads = c->norigins,
		              .steps = (struct sched_event *)c->events,
		              .n_steps = c->nevents,
		              .places = places,
		              .settings = settings };
	bool ok = ids && modules && points && places && settings;
	for (uint32_t i = 0; ok && i < ask->natomic && i < MAX_ATOMIC; i++)
		settings[s.n_settings++] = (struct schedule_pair){ "atomic", ask->atomic[i] };
	if (ok && ask->memory)
		settings[s.n_settings++] = (struct schedule_pair){ "memory", explore_memories[ask->memory] };
	if (ok && ask->scenario)
		settings[s.n_settings++] = (struct schedule_pair){ "scenario", ask->scenario };
	if (ok && ask->gaps)
		s.n_settings += gaps_write(ask->gaps, &a, settings + s.n_settings, GAPS_SETTINGS);
	while (s.arguments[s.n_arguments])
		s.n_arguments++;
	for (uint32_t i = 0; ok && i < c->nmodules; i++) {
		explore_build_id(c->modules[i].path, ids[i], sizeof ids[i]);
		modules[i] = (struct schedule_module){ c->modules[i].path, ids[i], c->modules[i].base, c->modules[i].hi };
	}
	for (uint32_t i = 0; ok && i < c->nplaces; i++)
		place_of(c, c->places[i], &points[i]);
	for (uint32_t i = 0; ok && i < c->nevents; i++)
		place_of(c, c->events[i].op.pc, &places[i]);
	size_t n = ok ? schedule_write(&s, NULL, 0) : 0;
	char *text = ok ? malloc(n + 1) : NULL;
	if (text) {
		schedule_write(&s, text, n + 1);
		ok = write_file(cli, path, text, n);
	} else {
		buf_str(&cli->err, "intact: out of memory\n");
		ok = false;
	}
	free(text);
	free(settings);
	arena_free(&a);
	free(places);
	free(points);
	free(modules);
	free(ids);
	return ok;
}

/* ---- reading ---- */

static char *read_file(struct cli *cli, const char *path, size_t *n)
{
	struct stat st;
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	if (!f || fstat(fileno(f), &st) || !S_ISREG(st.st_mode)) {
		buf_printf(&cli->err, "intact: cannot read '%s': %s\n", path, f ? "not a file" : strerror(errno));
	} else if (st.st_size > MAX_FILE) {
		buf_printf(&cli->err, "intact: '%s' is too large for a schedule\n", path);
	} else if ((text = malloc((size_t)st.st_size + 1))) {
		*n = fread(text, 1, (size_t)st.st_size, f);
		text[*n] = 0;
	}
	if (f)
		fclose(f);
	return text;
}

static void show_error(struct cli *cli, const char *path, const char *text, const struct schedule_error *e)
{
	const char *line = text;
	for (uint32_t i = 1; i < e->line && line; i++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	buf_printf(&cli->err, "%s:%u:%u: error: %s\n", path, e->line, e->column, e->message);
	if (line) {
		size_t n = strcspn(line, "\n");
		buf_str(&cli->err, "  ");
		buf_safe(&cli->err, line, n < 200 ? n : 200);
		buf_str(&cli->err, "\n  ");
		buf_repeat(&cli->err, ' ', e->column && e->column < 200 ? e->column - 1 : 0);
		buf_repeat(&cli->err, '^', e->length && e->length < 200 ? e->length : 1);
		buf_char(&cli->err, '\n');
	}
	if (e->hint)
		buf_printf(&cli->err, "hint: %s\n", e->hint);
}

/* As a block of another process whose modules lie APART. */
static bool to_control(struct cli *cli, struct schedule *s, struct control *c)
{
	if (s->n_modules > CONTROL_MODULES || s->n_points > CONTROL_PLACES || s->n_threads > CONTROL_THREADS ||
	    s->n_steps > CONTROL_STEPS) {
		buf_str(&cli->err, "intact: the schedule has more steps, threads or places than can be replayed\n");
		return false;
	}
	c->nmodules = s->n_modules;
	assert(!s->n_modules || s->modules);
	for (uint32_t i = 0; i < s->n_modules; i++) {
		s->modules[i].from = (i + 1) * APART;
		c->modules[i].lo = c->modules[i].base = (i + 1) * APART;
		c->modules[i].hi = (i + 2) * APART;
		snprintf(c->modules[i].path, CONTROL_PATH, "%s", s->modules[i].name);
	}
	schedule_resolve(s);
	c->nplaces = s->n_points;
	for (uint32_t i = 0; i < s->n_points; i++)
		c->places[i] = s->points[i].module < s->n_modules ? s->modules[s->points[i].module].from + s->points[i].offset : 0;
	c->norigins = s->n_threads;
	memcpy(c->origins, s->origins, s->n_threads * sizeof *s->origins);
	c->nevents = s->n_steps;
	memcpy(c->events, s->steps, s->n_steps * sizeof *s->steps);
	assert(c->nevents <= CONTROL_STEPS && c->nmodules <= CONTROL_MODULES);
	return true;
}

bool explore_load(struct cli *cli, const char *path, struct explore_file *f)
{
	struct schedule s;
	struct schedule_error e;
	size_t n = 0;
	memset(f, 0, sizeof *f);
	char *text = f->text = read_file(cli, path, &n);
	if (!text)
		return false;
	size_t room = schedule_memory(n);
	f->memory = malloc(room);
	f->c = calloc(1, sizeof *f->c);
	if (!f->memory || !f->c) {
		buf_str(&cli->err, "intact: out of memory\n");
		return false;
	}
	if (!schedule_read(&s, text, n, f->memory, room, &e)) {
		show_error(cli, path, text, &e);
		return false;
	}
	f->seed = s.seed;
	f->argv = calloc(s.n_arguments + 2, sizeof *f->argv);
	if (!f->argv)
		return false;
	f->argv[0] = (char *)(uintptr_t)s.program;
	for (uint32_t i = 0; i < s.n_arguments; i++)
		f->argv[i + 1] = (char *)(uintptr_t)s.arguments[i];
	if (!to_control(cli, &s, f->c))
		return false;
	f->atomic = calloc(s.n_settings + 1, sizeof *f->atomic);
	if (!f->atomic)
		return false;
	for (uint32_t i = 0; i < s.n_settings; i++)
		if (!strcmp(s.settings[i].name, "atomic"))
			f->atomic[f->natomic++] = s.settings[i].value;
		else if (!strcmp(s.settings[i].name, "scenario"))
			f->scenario = s.settings[i].value;
		else if (!strcmp(s.settings[i].name, "memory")) {
			f->memory_model = CONTROL_SC;
			while (explore_memories[f->memory_model] &&
			       strcmp(explore_memories[f->memory_model], s.settings[i].value) != 0)
				f->memory_model++;
			if (!explore_memories[f->memory_model]) {
				buf_printf(&cli->err,
				           "intact: '%s': setting \"memory\" is neither \"sc\" nor \"tso\" nor \"c11\"\n", path);
				return false;
			}
		}
	if (!gaps_read(&f->gaps, s.settings, s.n_settings)) {
		buf_printf(&cli->err, "intact: '%s': a setting of the functions that are judged ('gap ...') cannot be read\n",
		           path);
		return false;
	}
	if (s.n_modules)
		snprintf(f->c->text, CONTROL_TEXT, "%s", s.modules[0].build_id);
	assert(f->c && f->argv && f->argv[0]);
	return true;
}

bool explore_same_build(struct cli *cli, struct explore_file *f, const char *program)
{
	assert(f->c);
	char path[PATH_MAX], id[128];
	if (!find_in_path(program, path, sizeof path))
		return true; /* said when it is started */
	explore_build_id(path, id, sizeof id);
	if (!*f->c->text || !strcmp(id, f->c->text))
		return true;
	if (f->c->nplaces || f->gaps.n) {
		buf_printf(&cli->err,
		           "intact: '%s' was rebuilt after the schedule was saved (build id %.16s, then %.16s), and the "
		           "schedule needs places of the old one\nhint: explore it again\n",
		           program, f->c->text, id);
		return false;
	}
	buf_printf(&cli->err, "intact: warning: '%s' was rebuilt after the schedule was saved: places are not compared\n", program);
	f->c->nmodules = 0;
	for (uint32_t i = 0; i < f->c->nevents; i++)
		f->c->events[i].op.pc = 0;
	return true;
}

void explore_file_free(struct explore_file *f)
{
	free(f->argv);
	free(f->atomic);
	free(f->c);
	free(f->memory);
	free(f->text);
	memset(f, 0, sizeof *f);
}
