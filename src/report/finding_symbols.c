/*
 * finding_symbols: addresses to functions, files and lines with libdw, inlined
 * functions included. C++ names are demangled by libstdc++ when it is there.
 *
 * Every address of a stack is a return address, so the instruction before it
 * is looked up.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamic/stack.h"
#include "report/finding.h"
#include "report/finding_dies.h"

#define MAX_INLINED 32u /* calls inlined into each other */

struct symbols {
	Dwfl *dwfl;
	struct arena *arena;
	const struct raw_report *report;
	struct dies *dies;
	char *(*demangle)(const char *, char *, size_t *, int *);
	void *lib;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static void load_demangler(struct symbols *s)
{
	s->lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (s->lib)
		*(void **)&s->demangle = dlsym(s->lib, "__cxa_demangle");
}

struct symbols *symbols_open(const struct raw_report *r, struct arena *a)
{
	struct symbols *s = arena_new(a, struct symbols);
	s->arena = a;
	s->report = r;
	if (r->saved)
		return s;
	s->dwfl = dwfl_begin(&callbacks);
	s->dies = dies_new();
	load_demangler(s);
	if (!s->dwfl)
		return s;
	dwfl_report_begin(s->dwfl);
	for (uint32_t i = 0; i < r->modules.len; i++) {
		const struct raw_module *m = &r->modules.data[i];
		if (m->path[0] == '/')
			dwfl_report_elf(s->dwfl, m->path, m->path, -1, m->base, true);
	}
	dwfl_report_end(s->dwfl, NULL, NULL);
	return s;
}

void symbols_close(struct symbols *s)
{
	dies_free(s->dies);
	if (s->dwfl)
		dwfl_end(s->dwfl);
	if (s->lib)
		dlclose(s->lib);
}

static const char *plain_name(struct symbols *s, const char *name)
{
	int status;
	if (!name || !s->demangle || strncmp(name, "_Z", 2))
		return name ? arena_strdup(s->arena, name) : NULL;
	char *out = s->demangle(name, NULL, NULL, &status);
	if (!out)
		return arena_strdup(s->arena, name);
	const char *kept = arena_strdup(s->arena, out);
	free(out);
	return kept;
}

static const char *die_name(struct symbols *s, Dwarf_Die *die)
{
	Dwarf_Attribute at;
	const char *name = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &at) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &at))
		name = dwarf_formstring(&at);
	if (!name && dwarf_attr_integrate(die, DW_AT_name, &at))
		name = dwarf_formstring(&at);
	return plain_name(s, name);
}

static bool from_system(const char *file)
{
	return file && (!strncmp(file, "/usr/include/", 13) ||
	                !strncmp(file, "/usr/lib/", 9));
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

static void place_of(struct symbols *s, struct src_frame *f, Dwfl_Module *mod, Dwarf_Die *cu,
                     uint64_t pc, Dwarf_Addr bias)
{
	int no = 0, col = 0;
	Dwarf_Line *line = cu ? dwarf_getsrc_die(cu, pc - bias) : NULL;
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
		const char *file = dwarf_decl_file(&origin);
		f->decl = (uint32_t)line;
		f->decl_file = file ? tidy(s, file) : NULL;
	}
}

static uint32_t at_saved(struct symbols *s, uint64_t pc, struct src_frame *out, uint32_t max)
{
	const struct symtab *t = s->report->saved;
	const struct sym_addr *a = symtab_addr(t, pc);
	uint32_t n = a ? a->n : 0;
	out[0] = (struct src_frame){ .module = "?", .offset = pc };
	for (uint32_t i = 0; i < n && i < max; i++) {
		const struct sym_frame *f = &t->frames[a->first + i];
		out[i] = (struct src_frame){ .function = f->function, .file = f->file,
			.line = f->line, .column = f->column, .decl = f->decl,
			.decl_file = f->decl_file, .module = f->module ? f->module : "?",
			.offset = f->offset, .system = f->system };
	}
	return n < 1 ? 1 : n < max ? n : max;
}

/* What is known of an address without its module's tables. */
static struct src_frame base_frame(const struct symbols *s, uint64_t pc)
{
	struct src_frame base = { .module = "?", .offset = pc };
	for (uint32_t i = 0; i < s->report->modules.len; i++) {
		const struct raw_module *m = &s->report->modules.data[i];
		if (pc >= m->lo && pc < m->hi) {
			base.module = m->path;
			base.offset = pc - m->base;
		}
	}
	return base;
}

/* The frames at one address, innermost first: inlined ones, then the real. */
static uint32_t at_address(struct symbols *s, uint64_t pc, struct src_frame *out, uint32_t max)
{
	if (s->report->saved)
		return at_saved(s, pc, out, max);
	Dwfl_Module *mod = s->dwfl ? dwfl_addrmodule(s->dwfl, pc) : NULL;
	struct src_frame base = base_frame(s, pc);
	out[0] = base;
	if (!mod)
		return 1;
	Dwarf_Addr bias;
	Dwarf_Die *cu, scopes[MAX_INLINED];
	uint32_t n = dies_around(s->dies, mod, pc, &cu, &bias, scopes, MAX_INLINED), got = 0;
	place_of(s, &out[0], mod, cu, pc, bias);
	for (uint32_t i = 0; i < n && got < max; i++) {
		out[got].function = die_name(s, &scopes[i]);
		declared(s, &out[got], &scopes[i]);
		got++;
		if (i + 1 == n || got == max)
			break;
		/* Where the inlined function was called is the next frame's place. */
		Dwarf_Attribute at;
		Dwarf_Word call_file = 0, call_line = 0, call_col = 0;
		Dwarf_Files *files;
		if (dwarf_attr(&scopes[i], DW_AT_call_file, &at))
			dwarf_formudata(&at, &call_file);
		if (dwarf_attr(&scopes[i], DW_AT_call_line, &at))
			dwarf_formudata(&at, &call_line);
		if (dwarf_attr(&scopes[i], DW_AT_call_column, &at))
			dwarf_formudata(&at, &call_col);
		out[got] = base;
		if (!dwarf_getsrcfiles(cu, &files, NULL))
			place(s, &out[got], dwarf_filesrc(files, call_file, NULL, NULL),
			      (int)call_line, (int)call_col);
	}
	if (got)
		return got;
	out[0].function = plain_name(s, dwfl_module_addrname(mod, pc));
	return 1;
}

static bool is_start(const struct src_frame *f)
{
	if (f->function && !strcmp(f->function, "start_thread"))
		return strstr(f->module, "libc.so") || strstr(f->module, "libpthread");
	return f->function && (!strcmp(f->function, "intact_thread_main") ||
	                       !strcmp(f->function, "intact_c11_main") ||
	                       !strcmp(f->function, "intact_run_once") ||
	                       !strncmp(f->function, "__libc_start", 12) ||
	                       !strcmp(f->function, "call_init") ||
	                       !strcmp(f->function, "execute_native_thread_routine"));
}

/* Two addresses in one function, split or cloned parts included. */
static bool same_function(struct symbols *s, uint64_t a, uint64_t b)
{
	GElf_Sym sym;
	GElf_Off oa, ob;
	if (s->report->saved) {
		const struct sym_addr *x = symtab_addr(s->report->saved, a);
		const struct sym_addr *y = symtab_addr(s->report->saved, b);
		if (!x || !y || !x->start || !y->start)
			return false;
		if (!x->symbol || !y->symbol)
			return x->symbol == y->symbol;
		size_t lx = strcspn(x->symbol, "."), ly = strcspn(y->symbol, ".");
		return x->start == y->start || (lx == ly && !strncmp(x->symbol, y->symbol, lx));
	}
	Dwfl_Module *ma = s->dwfl ? dwfl_addrmodule(s->dwfl, a) : NULL;
	Dwfl_Module *mb = s->dwfl ? dwfl_addrmodule(s->dwfl, b) : NULL;
	if (!ma || ma != mb)
		return false;
	const char *na = dwfl_module_addrinfo(ma, a, &oa, &sym, NULL, NULL, NULL);
	const char *nb = dwfl_module_addrinfo(mb, b, &ob, &sym, NULL, NULL, NULL);
	if (!na || !nb)
		return na == nb;
	size_t la = strcspn(na, "."), lb = strcspn(nb, ".");
	return a - oa == b - ob || (la == lb && !strncmp(na, nb, la));
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
	return n - first;
}

uint32_t symbols_stack(struct symbols *s, const struct raw_stack *st, struct src_frame *out,
                       uint32_t max)
{
	uint32_t n = 0;
	uint64_t below = 0;
	for (uint32_t i = 0; i < st->n && n < max; i++) {
		uint64_t pc = (st->pcs[i] & STACK_PC) - 1;
		bool mark = (st->pcs[i] & STACK_MARK) != 0;
		if (mark && below && same_function(s, pc, below))
			continue;
		if (n && st->pcs[i] & STACK_THROUGH)
			out[n - 1].pointer = true;
		uint32_t got = at_address(s, pc, out + n, max - n);
		if (n && is_start(&out[n]))
			break;
		n += got;
		below = pc;
		if (out[n - 1].function && !strcmp(out[n - 1].function, "main"))
			break;
	}
	uint32_t kept = n;
	while (kept && (out[kept - 1].system || !out[kept - 1].function))
		kept--;
	return kept ? trim(out, n) : n;
}

const char *symbols_data(struct symbols *s, uint64_t addr, uint64_t *off)
{
	Dwfl_Module *mod = s->dwfl ? dwfl_addrmodule(s->dwfl, addr) : NULL;
	GElf_Sym sym;
	GElf_Off at = 0;
	if (s->report->saved) {
		const struct sym_data *d = symtab_data(s->report->saved, addr);
		*off = d ? addr - d->addr : 0;
		return d ? d->name : NULL;
	}
	if (!mod)
		return NULL;
	const char *name = dwfl_module_addrinfo(mod, addr, &at, &sym, NULL, NULL, NULL);
	if (!name || GELF_ST_TYPE(sym.st_info) != STT_OBJECT || at >= sym.st_size)
		return NULL;
	*off = at;
	return plain_name(s, name);
}

/* ---- saving, for recordings ---- */

/* The start of the symbol an address lies in: modules told apart by it too. */
static const char *symbol_at(struct symbols *s, uint64_t pc, uint64_t *start)
{
	Dwfl_Module *mod = s->dwfl ? dwfl_addrmodule(s->dwfl, pc) : NULL;
	GElf_Sym sym;
	GElf_Off off = 0;
	Dwarf_Addr low = 0;
	*start = 0;
	if (!mod)
		return NULL;
	const char *name = dwfl_module_addrinfo(mod, pc, &off, &sym, NULL, NULL, NULL);
	dwfl_module_info(mod, NULL, &low, NULL, NULL, NULL, NULL, NULL);
	*start = name ? pc - off : low;
	return name;
}

static int save_module(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr start, void *arg)
{
	void **ctx = arg;
	struct symbols *s = ctx[0];
	int n = dwfl_module_getsymtab(mod);
	(void)user;
	(void)name;
	(void)start;
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *text = dwfl_module_getsym_info(mod, i, &sym, &at, NULL, NULL, NULL);
		if (text && *text && GELF_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_size &&
		    sym.st_shndx != SHN_UNDEF)
			symtab_put_data(ctx[1], &(struct sym_data){ at, sym.st_size,
			                                            plain_name(s, text) });
	}
	return DWARF_CB_OK;
}

void symbols_save(struct raw_report *r, struct arena *a, const uint64_t *pcs, uint32_t n,
                  struct buf *out)
{
	struct symbols *s = symbols_open(r, a);
	struct src_frame f[FINDING_MAX_FRAMES];
	for (uint32_t i = 0; i < n; i++) {
		uint64_t pc = pcs[i] - 1, start;
		const char *symbol = symbol_at(s, pc, &start);
		/* How threads start is never shown: no need to unpack libc's tables. */
		f[0] = base_frame(s, pc);
		f[0].function = symbol;
		uint32_t k = is_start(&f[0]) ? 1 : at_address(s, pc, f, FINDING_MAX_FRAMES);
		symtab_put_addr(out, pc, start, symbol);
		for (uint32_t j = 0; j < k; j++)
			symtab_put_frame(out, &(struct sym_frame){
				.function = f[j].function, .file = f[j].file,
				.decl_file = f[j].decl_file, .module = f[j].module, .line = f[j].line,
				.column = f[j].column, .decl = f[j].decl, .offset = f[j].offset,
				.system = f[j].system });
	}
	if (s->dwfl) {
		void *ctx[2] = { s, out };
		dwfl_getmodules(s->dwfl, save_module, ctx, 0);
	}
	symbols_close(s);
}

/* ---- finding functions by name, for --atomic ---- */

struct search {
	struct symbols s;
	bool (*match)(void *, const char *, const char *, uint32_t, bool);
	void *ctx;
	uint64_t *out;
	uint32_t n, max;
	Dwarf_Addr bias;
};

/* Where a function is entered; one in several pieces begins with the first. */
static bool entry_of(Dwarf_Die *die, Dwarf_Addr *at)
{
	Dwarf_Addr base, end;
	return !dwarf_entrypc(die, at) || !dwarf_lowpc(die, at) || dwarf_ranges(die, 0, &base, at, &end) > 0;
}

static int see_function(Dwarf_Die *die, void *arg)
{
	struct search *q = arg;
	Dwarf_Addr low = 0;
	int line = 0;
	bool there = entry_of(die, &low);
	if (q->n == q->max || (!there && !dwarf_func_inline(die)))
		return DWARF_CB_OK;
	dwarf_decl_line(die, &line);
	if (q->match(q->ctx, die_name(&q->s, die), dwarf_decl_file(die), (uint32_t)line, there) && there)
		q->out[q->n++] = low + q->bias;
	return DWARF_CB_OK;
}

uint32_t symbols_functions(struct arena *a, const char *path,
                           bool (*match)(void *, const char *, const char *, uint32_t, bool),
                           void *ctx, uint64_t *out, uint32_t max)
{
	struct search q = { .match = match, .ctx = ctx, .out = out, .max = max };
	q.s.arena = a;
	load_demangler(&q.s);
	Dwfl *dwfl = dwfl_begin(&callbacks);
	if (dwfl) {
		dwfl_report_begin(dwfl);
		Dwfl_Module *mod = dwfl_report_elf(dwfl, path, path, -1, 0, true);
		dwfl_report_end(dwfl, NULL, NULL);
		Dwarf_Die *cu = NULL;
		Dwarf_Addr bias;
		while (mod && (cu = dwfl_module_nextcu(mod, cu, &bias))) {
			q.bias = bias;
			dwarf_getfuncs(cu, see_function, &q, 0);
		}
		dwfl_end(dwfl);
	}
	if (q.s.lib)
		dlclose(q.s.lib);
	return q.n;
}
