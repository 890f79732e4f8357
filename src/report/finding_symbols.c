/*
 * finding_symbols: addresses to functions, files and lines with libdw, inlined
 * functions included. C++ names are demangled by libstdc++ when it is there.
 *
 * Every address of a stack is a return address, so the instruction before it
 * is looked up.
 *
 * Each file has a session of libdwfl of its own, in which it lies where it was
 * linked for: so it is opened once however many processes load it, and wherever.
 * It is opened when the first address in it is asked for. The frames of an
 * address are kept.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "event/finding.h"
#include "report/finding.h"
#include "report/stripped_functions.h"
#include "report/symbol_files.h"

#define MAX_INLINED 32u /* calls inlined into each other */

struct symbols *symbols_open(struct arena *a)
{
	struct symbols *s = arena_new(a, struct symbols);
	s->arena = a;
	map_init(&s->known);
	return s;
}

void symbols_close(struct symbols *s)
{
	for (uint32_t i = 0; s && i < s->files.len; i++) {
		dwarf_functions_free(s->files.data[i]->dies);
		dwarf_fields_free(s->files.data[i]->fields);
		free(s->files.data[i]->functions.v);
		free(s->files.data[i]->data.v);
		symtab_free(&s->files.data[i]->effects);
		if (s->files.data[i]->dwfl)
			dwfl_end(s->files.data[i]->dwfl);
	}
	if (s && s->lib)
		dlclose(s->lib);
	if (s)
		map_free(&s->known);
}

static uint32_t file_of(struct symbols *s, const char *path)
{
	for (uint32_t i = 0; i < s->files.len; i++)
		if (!strcmp(s->files.data[i]->path, path))
			return i;
	struct symbol_file *f = arena_new(s->arena, struct symbol_file);
	f->path = arena_strdup(s->arena, path);
	avec_push(s->arena, &s->files, f);
	assert(s->files.len && !s->files.data[s->files.len - 1]->opened);
	return s->files.len - 1;
}

void symbols_use(struct symbols *s, const struct raw_report *r)
{
	s->report = r;
	s->of.len = 0;
	for (uint32_t i = 0; !r->saved && i < r->modules.len; i++)
		avec_push(s->arena, &s->of, file_of(s, r->modules.data[i].path));
	s->nmodules = s->of.len;
	assert(s->of.len == (r->saved ? 0 : r->modules.len));
}

void symbols_of(struct symbols *s, const struct raw_finding *f)
{
	assert(s->report);
	s->nmodules = f->modules < s->of.len ? f->modules : s->of.len;
	assert(s->nmodules <= s->of.len);
}

/* Of modules that were loaded to the same place one after the other the last. */
static struct symbol_spot spot_of(struct symbols *s, uint64_t addr)
{
	assert(s->nmodules <= s->of.len && (!s->nmodules || s->report));
	for (uint32_t i = s->nmodules; i; i--) {
		const struct raw_module *m = &s->report->modules.data[i - 1];
		if (addr >= m->lo && addr < m->hi)
			return (struct symbol_spot){ s->files.data[s->of.data[i - 1]], m, addr - m->base, s->of.data[i - 1] };
	}
	return (struct symbol_spot){ 0 };
}

static bool from_system(const char *file)
{
	return file && (!strncmp(file, "/usr/include/", 13) || !strncmp(file, "/usr/lib/", 9));
}

/* File names with . and .. taken out, as far as text tells. */
static const char *tidy(struct symbols *s, const char *file)
{
	char *out = arena_strdup(s->arena, file), *w = out;
	const char *r = file;
	while (*r) {
		if (!strncmp(r, "/./", 3)) {
			r += 2;
		} else if (!strncmp(r, "/../", 4)) {
			char *back = w;
			while (back > out && back[-1] != '/')
				back--;
			if (back <= out + 1 || !strncmp(back, "..", 2)) {
				*w++ = *r++;
				continue;
			}
			w = back - 1;
			r += 3;
		} else {
			*w++ = *r++;
		}
	}
	*w = 0;
	return out;
}

static void place(struct symbols *s, struct src_frame *f, const char *file, int line, int col)
{
	if (!file)
		return;
	f->file = tidy(s, file);
	f->line = line > 0 ? (uint32_t)line : 0;
	f->column = col > 0 ? (uint32_t)col : 0;
	f->system = from_system(f->file);
}

/* The line of an address. Code without one of its own (line 0) belongs to what
 * precedes it, if that is near. */
static Dwarf_Line *line_at(Dwarf_Die *cu, Dwarf_Addr pc)
{
	Dwarf_Line *line = dwarf_getsrc_die(cu, pc);
	Dwarf_Lines *all;
	size_t n, i;
	int no = 0;
	Dwarf_Addr from;
	if (!line || dwarf_lineno(line, &no) || no || dwarf_getsrclines(cu, &all, &n))
		return line;
	for (i = 0; i < n && dwarf_onesrcline(all, i) != line; i++)
		;
	while (i-- > 0) {
		Dwarf_Line *before = dwarf_onesrcline(all, i);
		bool end = true;
		if (!before || dwarf_lineendsequence(before, &end) || end || dwarf_lineaddr(before, &from) || pc - from > 64)
			break;
		if (!dwarf_lineno(before, &no) && no)
			return before;
	}
	return line;
}

static void place_of(struct symbols *s, struct src_frame *f, Dwfl_Module *mod, Dwarf_Die *cu, uint64_t pc, Dwarf_Addr bias)
{
	int no = 0, col = 0;
	Dwarf_Line *line = cu ? line_at(cu, pc - bias) : NULL;
	if (line) {
		dwarf_lineno(line, &no);
		dwarf_linecol(line, &col);
		place(s, f, dwarf_linesrc(line, NULL, NULL), no, col);
		return;
	}
	Dwfl_Line *l = dwfl_module_getsrc(mod, pc);
	if (l)
		place(s, f, dwfl_lineinfo(l, NULL, &no, &col, NULL, NULL), no, col);
}

static void declared(struct symbols *s, struct src_frame *f, Dwarf_Die *die)
{
	Dwarf_Die origin = *die;
	Dwarf_Attribute at;
	int line;
	while (dwarf_attr(&origin, DW_AT_abstract_origin, &at) && dwarf_formref_die(&at, &origin))
		;
	if (dwarf_decl_line(&origin, &line) == 0 && line > 0) {
		const char *file = symbol_decl_file(&origin);
		f->decl = (uint32_t)line;
		f->decl_file = file ? tidy(s, file) : NULL;
	}
}

static uint32_t at_saved(struct symbols *s, uint64_t pc, struct src_frame *out, uint32_t max)
{
	assert(max && s->report->saved);
	const struct symtab *t = s->report->saved;
	const struct sym_addr *a = symtab_addr(t, pc);
	uint32_t n = a ? a->n : 0;
	out[0] = (struct src_frame){ .module = "?", .offset = pc };
	for (uint32_t i = 0; i < n && i < max; i++) {
		const struct sym_frame *f = &t->frames[a->first + i];
		out[i] = (struct src_frame){ .function = f->function,
			                     .file = f->file,
			                     .line = f->line,
			                     .column = f->column,
			                     .decl = f->decl,
			                     .decl_file = f->decl_file,
			                     .module = f->module ? f->module : "?",
			                     .offset = f->offset,
			                     .system = f->system };
	}
	return n < 1 ? 1 : n < max ? n : max;
}

/* What is known of an address without its module's tables. */
static struct src_frame base_frame(const struct symbol_spot *at, uint64_t pc)
{
	return (struct src_frame){ .module = at->module ? at->file->path : "?", .offset = at->module ? at->at : pc };
}

/* Where the inlined function was called is the next frame's place. */
static void called(struct symbols *s, struct src_frame *f, Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Attribute at;
	Dwarf_Word file = 0, line = 0, col = 0;
	Dwarf_Files *files;
	if (dwarf_attr(inlined, DW_AT_call_file, &at))
		dwarf_formudata(&at, &file);
	if (dwarf_attr(inlined, DW_AT_call_line, &at))
		dwarf_formudata(&at, &line);
	if (dwarf_attr(inlined, DW_AT_call_column, &at))
		dwarf_formudata(&at, &col);
	if (!dwarf_getsrcfiles(cu, &files, NULL))
		place(s, f, dwarf_filesrc(files, file, NULL, NULL), (int)line, (int)col);
}

static uint32_t look_up(struct symbols *s, const struct symbol_spot *at, uint64_t pc, struct src_frame *out, uint32_t max)
{
	assert(max);
	Dwfl_Module *mod = at->file ? symbol_file_open(s, at->file) : NULL;
	struct src_frame base = base_frame(at, pc);
	out[0] = base;
	if (!mod)
		return 1;
	Dwarf_Addr bias;
	Dwarf_Die *cu, scopes[MAX_INLINED];
	uint32_t n = dwarf_functions_around(at->file->dies, mod, at->at, &cu, &bias, scopes, MAX_INLINED), got = 0;
	place_of(s, &out[0], mod, cu, at->at, bias);
	for (uint32_t i = 0; i < n && got < max; i++) {
		out[got].function = symbol_die_name(s, &scopes[i]);
		declared(s, &out[got], &scopes[i]);
		got++;
		if (i + 1 == n || got == max)
			break;
		out[got] = base;
		called(s, &out[got], cu, &scopes[i]);
	}
	if (got)
		return got;
	const struct symbol_name *name = symbol_function_at(s, at->file, at->at);
	out[0].function = name ? symbol_plain_name(s, name->text) : stripped_name(s->arena, mod, at->at, &base);
	return 1;
}

/* Code that belongs to no line (compilers say 0) is at its function's. */
static void line_of_function(struct src_frame *f)
{
	if (f->line || !f->decl || !f->decl_file)
		return;
	f->file = f->decl_file;
	f->line = f->decl;
	f->column = 0;
}

/* The frames at one address, innermost first: inlined ones, then the real. */
static uint32_t at_address(struct symbols *s, uint64_t pc, struct src_frame *out, uint32_t max)
{
	assert(max && s->report);
	if (s->report->saved)
		return at_saved(s, pc, out, max);
	struct symbol_spot at = spot_of(s, pc);
	if (!at.file)
		return look_up(s, &at, pc, out, max);
	uint64_t key = (uint64_t)at.index << 48 ^ at.at;
	uint32_t k = map_get(&s->known, key);
	if (k == MAP_NONE) {
		struct src_frame v[MAX_INLINED];
		struct symbol_frames f = { NULL, look_up(s, &at, pc, v, MAX_INLINED) };
		for (uint32_t i = 0; i < f.n; i++)
			line_of_function(&v[i]);
		f.v = arena_array(s->arena, struct src_frame, f.n);
		memcpy(f.v, v, f.n * sizeof *v);
		k = s->kept.len;
		avec_push(s->arena, &s->kept, f);
		map_put(&s->known, key, k);
	}
	const struct symbol_frames *f = &s->kept.data[k];
	uint32_t n = f->n < max ? f->n : max;
	memcpy(out, f->v, n * sizeof *out);
	return n;
}

static bool is_start(const struct src_frame *f)
{
	if (f->function && !strcmp(f->function, "start_thread"))
		return strstr(f->module, "libc.so") || strstr(f->module, "libpthread");
	return f->function && (!strcmp(f->function, "intact_thread_main") || !strcmp(f->function, "intact_c11_main") ||
	                       !strcmp(f->function, "intact_run_once") || !strncmp(f->function, "__libc_start", 12) ||
	                       !strcmp(f->function, "call_init") || !strcmp(f->function, "execute_native_thread_routine") ||
	                       !strcmp(f->function, "x_thread_main") || !strcmp(f->function, "x_once")); /* explored */
}

/* Two addresses in one function, split or cloned parts included. */
static bool same_function(struct symbols *s, uint64_t a, uint64_t b)
{
	if (s->report->saved) {
		const struct sym_addr *x = symtab_addr(s->report->saved, a);
		const struct sym_addr *y = symtab_addr(s->report->saved, b);
		if (!x || !y || !x->start || !y->start)
			return false;
		if (!x->symbol || !y->symbol)
			return x->symbol == y->symbol && x->start == y->start;
		size_t lx = strcspn(x->symbol, "."), ly = strcspn(y->symbol, ".");
		return x->start == y->start || (lx == ly && !strncmp(x->symbol, y->symbol, lx));
	}
	struct symbol_spot sa = spot_of(s, a), sb = spot_of(s, b);
	if (!sa.file || sa.module != sb.module || !symbol_file_open(s, sa.file))
		return false;
	const struct symbol_name *na = symbol_function_at(s, sa.file, sa.at), *nb = symbol_function_at(s, sb.file, sb.at);
	if (!na && !nb)
		return stripped_function(sa.file->mod, sa.at) == stripped_function(sb.file->mod, sb.at);
	if (!na || !nb)
		return false;
	size_t la = strcspn(na->text, "."), lb = strcspn(nb->text, ".");
	return na->lo == nb->lo || (la == lb && !strncmp(na->text, nb->text, la));
}

/* The system's frames say nothing: at the inner end they are how a lock is
 * spelt (lock_guard, __gthread_mutex_lock), at the outer how a thread starts. */
static uint32_t trim(struct src_frame *v, uint32_t n)
{
	uint32_t first = 0;
	while (n && (v[n - 1].system || !v[n - 1].function))
		n--;
	while (first < n && v[first].system)
		first++;
	memmove(v, v + first, (n - first) * sizeof *v);
	assert(first <= n);
	return n - first;
}

/* A function's entry, marked: not in what seems to be inlined there (see
 * dynamic/stack.h). Keeps the outermost of the `n` frames of the address. */
static uint32_t entry_only(struct src_frame *v, uint32_t n)
{
	if (n > 1) {
		v[0] = v[n - 1];
		if (v[0].decl && v[0].decl_file) {
			v[0].file = v[0].decl_file;
			v[0].line = v[0].decl;
			v[0].column = 0;
		}
	}
	return n ? 1 : 0;
}

/* Drops the frames inside that of the function `named` (NULL: not known). */
static uint32_t from_named(struct src_frame *v, uint32_t n, const char *named)
{
	for (uint32_t i = 1; named && i < n; i++)
		if (v[i].function && !strcmp(v[i].function, named) && strcmp(v[0].function ? v[0].function : "", named)) {
			memmove(v, v + i, (n - i) * sizeof *v);
			return n - i;
		}
	return n;
}

/* What the first entry says the function is, if it is such a one (STACK_NAME); NULL: not. */
static const char *name_of(struct symbols *s, const struct raw_stack *st, struct src_frame *out, uint32_t max)
{
	if (!st->n || !(st->pcs[0] & STACK_NAME))
		return NULL;
	uint32_t n = at_address(s, (st->pcs[0] & STACK_PC) - 1, out, max);
	return n ? out[n - 1].function : NULL;
}

uint32_t symbols_stack(struct symbols *s, const struct raw_stack *st, struct src_frame *out, uint32_t max)
{
	assert(max && s->report);
	uint32_t n = 0, first = st->n && st->pcs[0] & STACK_NAME;
	uint64_t below = 0;
	const char *named = name_of(s, st, out, max);
	for (uint32_t i = first; i < st->n && n < max; i++) {
		uint64_t pc = (st->pcs[i] & STACK_PC) - 1;
		bool mark = (st->pcs[i] & STACK_MARK) != 0;
		if (mark && below && same_function(s, pc, below))
			continue;
		if (n && st->pcs[i] & STACK_THROUGH)
			out[n - 1].pointer = true;
		uint32_t got = at_address(s, pc, out + n, max - n);
		if (mark)
			got = entry_only(out + n, got);
		if (i == first)
			got = from_named(out, got, named);
		if (n && is_start(&out[n]))
			break;
		n += got;
		below = pc;
		if (out[n - 1].function && !strcmp(out[n - 1].function, "main"))
			break;
	}
	while (n > 1 && stripped_in_libc(&out[n - 1])) /* nothing of the program is around it */
		n--;
	uint32_t kept = n;
	while (kept && (out[kept - 1].system || !out[kept - 1].function))
		kept--;
	return kept ? trim(out, n) : n;
}

/* What is known of the code that an address is of. */
static const struct symtab *effects_of(struct symbols *s, uint64_t pc)
{
	if (s->report->saved)
		return s->report->saved;
	struct symbol_spot at = spot_of(s, pc);
	return at.file ? symbol_effects(s, at.file) : NULL;
}

char symbols_update(struct symbols *s, uint64_t read, uint64_t write, bool *looked)
{
	struct src_frame r[FINDING_MAX_FRAMES], w[FINDING_MAX_FRAMES];
	const struct symtab *t = effects_of(s, (write & STACK_PC) - 1);
	uint32_t line = 0, column = 0;
	assert(looked);
	if (!t || !t->nuses || !at_address(s, (read & STACK_PC) - 1, r, FINDING_MAX_FRAMES) ||
	    !at_address(s, (write & STACK_PC) - 1, w, FINDING_MAX_FRAMES) || !w[0].file || !r[0].file)
		return SYM_UNKNOWN;
	char kind = symtab_update(t, w[0].file, w[0].line, w[0].column, &line, &column);
	*looked = kind != SYM_UNKNOWN && (r[0].line != line || r[0].column != column || strcmp(r[0].file, w[0].file) != 0);
	return kind;
}

char symbols_calls(struct symbols *s, uint64_t pc, const struct src_frame *a, const struct src_frame *b)
{
	const struct symtab *t = effects_of(s, (pc & STACK_PC) - 1);
	if (!t || !t->nuses || !a->file || !b->file || strcmp(a->file, b->file) != 0)
		return SYM_UNKNOWN;
	return symtab_calls(t, &(struct sym_use){ a->file, a->line, a->column, b->line, b->column, 0 });
}

const char *symbols_data(struct symbols *s, uint64_t addr, uint64_t *off)
{
	assert(s->report && off);
	if (s->report->saved) {
		const struct sym_data *d = symtab_data(s->report->saved, addr);
		*off = d ? addr - d->addr : 0;
		return d ? d->name : NULL;
	}
	struct symbol_spot in = spot_of(s, addr);
	const struct symbol_name *name = in.file ? symbol_data_at(s, in.file, in.at) : NULL;
	if (!name)
		return NULL;
	*off = in.at - name->lo;
	return symbol_plain_name(s, name->text);
}

const char *symbols_datum(struct symbols *s, uint64_t addr)
{
	uint64_t off;
	const char *name = symbols_data(s, addr, &off);
	if (!name || s->report->saved)
		return name && off ? arena_printf(s->arena, "%s+%llu", name, (unsigned long long)off) : name;
	struct symbol_spot in = spot_of(s, addr);
	if (!in.file->fields)
		in.file->fields = dwarf_fields_new();
	struct buf path;
	buf_init(&path);
	if (dwarf_fields_path(in.file->fields, in.file->mod, in.at - off, off, &path))
		name = arena_printf(s->arena, "%s%s", name, buf_cstr(&path));
	else if (off)
		name = arena_printf(s->arena, "%s+%llu", name, (unsigned long long)off);
	buf_free(&path);
	return name;
}

/* ---- saving, for recordings ---- */

/* The start of the symbol an address lies in: it distinguishes modules too. */
static const char *symbol_at(struct symbols *s, const struct symbol_spot *at, uint64_t *start)
{
	assert(!at->file || at->module);
	*start = 0;
	if (!at->file || !symbol_file_open(s, at->file))
		return NULL;
	const struct symbol_name *name = symbol_function_at(s, at->file, at->at);
	uint64_t from = name ? name->lo : stripped_function(at->file->mod, at->at);
	*start = from ? at->module->base + from : at->module->lo;
	return name ? name->text : NULL;
}

static void save_data(struct symbols *s, Dwfl_Module *mod, uint64_t base, struct buf *out)
{
	int n = dwfl_module_getsymtab(mod);
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *text = dwfl_module_getsym_info(mod, i, &sym, &at, NULL, NULL, NULL);
		if (text && *text && GELF_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_size && sym.st_shndx != SHN_UNDEF)
			symtab_put_data(out, &(struct sym_data){ at + base, sym.st_size, symbol_plain_name(s, text) });
	}
}

void symbols_save(struct symbols *s, struct raw_report *r, const uint64_t *pcs, uint32_t n, struct buf *out)
{
	struct src_frame f[FINDING_MAX_FRAMES];
	symbols_use(s, r);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t pc = pcs[i] - 1, start;
		struct symbol_spot at = spot_of(s, pc);
		const char *symbol = symbol_at(s, &at, &start);
		/* How threads start is never shown: no need to unpack libc's tables. */
		f[0] = base_frame(&at, pc);
		f[0].function = symbol;
		uint32_t k = is_start(&f[0]) ? 1 : at_address(s, pc, f, FINDING_MAX_FRAMES);
		symtab_put_addr(out, pc, start, symbol);
		for (uint32_t j = 0; j < k; j++)
			symtab_put_frame(out, &(struct sym_frame){ .function = f[j].function,
			                                           .file = f[j].file,
			                                           .decl_file = f[j].decl_file,
			                                           .module = f[j].module,
			                                           .line = f[j].line,
			                                           .column = f[j].column,
			                                           .decl = f[j].decl,
			                                           .offset = f[j].offset,
			                                           .system = f[j].system });
	}
	for (uint32_t i = 0; i < s->of.len; i++) {
		struct symbol_file *file = s->files.data[s->of.data[i]];
		Dwfl_Module *mod = symbol_file_open(s, file);
		size_t len = 0;
		const char *effects = symbol_effects_text(s, file, &len);
		if (mod)
			save_data(s, mod, r->modules.data[i].base, out);
		if (effects && len && effects[len - 1] == '\n')
			buf_add(out, effects, len);
	}
}
