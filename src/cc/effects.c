/*
 * effects: see effects.h. A function is read into instructions (effects_read.c), then its updates and its calls are looked at.
 */
#include "cc/effects.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/symtab.h"
#include "cc/effects_unit.h"

/* The entry with the path of a location; 0: unknown. */
static uint32_t file_of(const struct effects_unit *u, uint32_t dbg)
{
	uint32_t scope = dbg < u->places.len ? u->places.data[dbg].scope : 0;
	uint32_t file = scope < u->places.len ? u->places.data[scope].file : 0;
	return file < u->places.len && u->places.data[file].path ? file : 0;
}

void effects_put_places(struct effects_unit *u, uint32_t a, uint32_t b, char kind)
{
	assert(kind);
	uint32_t file = file_of(u, a);
	if (!file || file_of(u, b) != file || !u->places.data[a].line || !u->places.data[b].line)
		return;
	if (file != u->file)
		symtab_put_file(u->out, u->places.data[file].path);
	u->file = file;
	const struct effects_place *x = &u->places.data[a], *y = &u->places.data[b];
	symtab_put_use(
		u->out,
		&(struct sym_use){ .line = x->line, .column = x->column, .line2 = y->line, .column2 = y->column, .kind = kind });
}

static void begin_function(struct effects_unit *u)
{
	u->fn++;
	u->ins.len = u->ops.len = u->edges.len = 0;
	u->nblocks = 1;
	u->ncalls = u->memory = u->npairs = 0;
}

static void read_function(struct effects_unit *u, const char *p, const char *end)
{
	uint32_t block = 0;
	begin_function(u);
	assert(!u->ins.len && u->nblocks == 1);
	for (const char *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct text_span l = { p, nl ? nl : end };
		next = nl ? nl + 1 : end;
		if (*p == '}')
			break;
		while (l.s < l.end && *l.s == ' ')
			l.s++;
		if (l.s == l.end || *l.s == '#' || *l.s == ';')
			continue;
		const char *q = skip_name(l.s, l.end);
		if (l.s == p && q > l.s && q < l.end && *q == ':') {
			char *name = arena_printf(&u->arena, "%%%.*s", (int)(q - l.s), l.s);
			block = effects_block_at(u, (struct text_span){ name, name + strlen(name) });
		} else if (l.s > p) {
			effects_read_instruction(u, l, block);
		}
	}
	assert(block < u->nblocks);
	effects_updates(u);
	effects_relations(u);
}

static void read_unit(struct effects_unit *u, const char *text, size_t len)
{
	const char *end = text + len;
	for (int pass = 0; pass < 2; pass++) /* locations come last */
		for (const char *p = text, *next; p < end; p = next) {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			struct text_span l = { p, nl ? nl : end };
			next = nl ? nl + 1 : end;
			if (pass == 0 && *p == '!')
				effects_read_metadata(u, l);
			else if (pass == 1 && span_starts(l, "define ") && l.end[-1] == '{')
				read_function(u, next, end);
		}
}

bool effects_list(const char *text, size_t len, struct buf *out)
{
	struct effects_unit *u = calloc(1, sizeof *u);
	if (!u)
		return false;
	jmp_buf oom;
	arena_init(&u->arena, 0);
	u->arena.oom = &oom;
	u->out = out;
	if (setjmp(oom)) {
		out->failed = true;
	} else {
		intern_init(&u->names, &u->arena);
		read_unit(u, text, len);
	}
	arena_free(&u->arena);
	free(u);
	return !out->failed;
}

bool effects_append(const char *text, size_t len, struct buf *out)
{
	struct buf lines;
	buf_init(&lines);
	bool ok = effects_list(text, len, &lines);
	if (ok && lines.len)
		buf_str(out, "module asm \".pushsection " EFFECTS_SECTION ",\\22\\22,@progbits\"\n");
	for (size_t at = 0; ok && at < lines.len;) { /* a line each: tabs and its end are escaped twice */
		const char *nl = memchr(lines.data + at, '\n', lines.len - at);
		size_t n = nl ? (size_t)(nl - (lines.data + at)) : lines.len - at;
		buf_str(out, "module asm \".ascii \\22");
		for (size_t k = 0; k < n; k++)
			if (lines.data[at + k] == '\t')
				buf_str(out, "\\5Ct");
			else
				buf_char(out, lines.data[at + k]);
		buf_str(out, "\\5Cn\\22\"\n");
		at += n + 1;
	}
	if (ok && lines.len)
		buf_str(out, "module asm \".popsection\"\n");
	buf_free(&lines);
	return ok && !out->failed;
}
