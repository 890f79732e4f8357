/* symbol_files: see symbol_files.h. */
#include "report/symbol_files.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/stripped_functions.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* Demangles C++ names from here on, when libstdc++ is there. */
static void symbol_demangler(struct symbols *s)
{
	s->lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (s->lib)
		*(void **)&s->demangle = dlsym(s->lib, "__cxa_demangle");
}

Dwfl_Module *symbol_file_open(struct symbols *s, struct symbol_file *f)
{
	if (f->opened)
		return f->mod;
	f->opened = true;
	if (f->path[0] != '/' || !(f->dwfl = dwfl_begin(&callbacks)))
		return NULL;
	if (!s->lib)
		symbol_demangler(s);
	f->dies = dwarf_functions_new();
	dwfl_report_begin(f->dwfl);
	f->mod = dwfl_report_elf(f->dwfl, f->path, f->path, -1, 0, true);
	dwfl_report_end(f->dwfl, NULL, NULL);
	return f->mod;
}

const char *symbol_effects_text(struct symbols *s, struct symbol_file *f, size_t *len)
{
	GElf_Addr bias;
	size_t names;
	Elf *elf = symbol_file_open(s, f) ? dwfl_module_getelf(f->mod, &bias) : NULL;
	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr h;
		const char *name = gelf_getshdr(scn, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
		if (!name || strcmp(name, ".intact_effects") || h.sh_type != SHT_PROGBITS || h.sh_flags & SHF_COMPRESSED)
			continue;
		Elf_Data *data = elf_rawdata(scn, NULL);
		if (data && data->d_buf) {
			*len = data->d_size;
			return data->d_buf;
		}
	}
	return NULL;
}

const struct symtab *symbol_effects(struct symbols *s, struct symbol_file *f)
{
	size_t len = 0;
	if (!f->asked) {
		const char *text = symbol_effects_text(s, f, &len);
		f->asked = true;
		if (!symtab_read(&f->effects, text ? text : "", text ? len : 0))
			memset(&f->effects, 0, sizeof f->effects);
	}
	return &f->effects;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol_name *x = a, *y = b;
	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->hi != y->hi ? x->hi < y->hi ? -1 : 1 : strcmp(x->text, y->text);
}

/* The symbols, sorted: libdwfl looks through all of them each time. */
static void list_symbols(struct symbol_file *f)
{
	int n = dwfl_module_getsymtab(f->mod);
	f->listed = true;
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *text = dwfl_module_getsym_info(f->mod, i, &sym, &at, NULL, NULL, NULL);
		int type = GELF_ST_TYPE(sym.st_info);
		struct symbol_names *l = type == STT_OBJECT ? &f->data : &f->functions;
		if (!text || !*text || sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS ||
		    (type != STT_OBJECT && type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
			continue;
		if (GROW(l->v, l->cap, l->n + 1ull))
			l->v[l->n++] = (struct symbol_name){ at, at + sym.st_size, text };
	}
	if (f->functions.n)
		qsort(f->functions.v, f->functions.n, sizeof *f->functions.v, by_address);
	if (f->data.n)
		qsort(f->data.v, f->data.n, sizeof *f->data.v, by_address);
}

/* The symbol that an address lies in; one without a size holds what follows it,
 * if nothing else does. */
static const struct symbol_name *name_at(const struct symbol_names *l, uint64_t at)
{
	uint32_t lo = 0, hi = l->n;
	const struct symbol_name *open = NULL;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (l->v[mid].lo <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	bool ended = false; /* a sized one lies between */
	for (uint32_t back = 0; lo-- > 0 && back < 32; back++) {
		if (at < l->v[lo].hi)
			return &l->v[lo];
		if (l->v[lo].lo < l->v[lo].hi)
			ended = true;
		else if (!open && !ended)
			open = &l->v[lo];
	}
	return open;
}

const struct symbol_name *symbol_function_at(struct symbols *s, struct symbol_file *f, uint64_t at)
{
	if (!symbol_file_open(s, f))
		return NULL;
	if (!f->listed)
		list_symbols(f);
	const struct symbol_name *name = name_at(&f->functions, at);
	if (name && name->lo == name->hi && stripped_function(f->mod, at) > name->lo)
		return NULL; /* of another function, whose name was taken away */
	return name;
}

const struct symbol_name *symbol_data_at(struct symbols *s, struct symbol_file *f, uint64_t at)
{
	if (!symbol_file_open(s, f))
		return NULL;
	if (!f->listed)
		list_symbols(f);
	const struct symbol_name *name = name_at(&f->data, at);
	return name && at < name->hi ? name : NULL;
}

const char *symbol_plain_name(struct symbols *s, const char *name)
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

const char *symbol_die_name(struct symbols *s, Dwarf_Die *die)
{
	Dwarf_Attribute at;
	const char *name = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &at) || dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &at))
		name = dwarf_formstring(&at);
	if (!name && dwarf_attr_integrate(die, DW_AT_name, &at))
		name = dwarf_formstring(&at);
	return symbol_plain_name(s, name);
}

/* The file of a function's declaration. libdw takes the number 0 for none, as it was
 * up to DWARF 4; since then it is the unit's own file. */
const char *symbol_decl_file(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute at;
	Dwarf_Word no = 1;
	Dwarf_Die cu;
	Dwarf_Half version = 0;
	Dwarf_Files *files;
	if (file || !dwarf_attr_integrate(die, DW_AT_decl_file, &at) || dwarf_formudata(&at, &no) || no ||
	    !dwarf_diecu(die, &cu, NULL, NULL) || dwarf_cu_info(cu.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    version < 5 || dwarf_getsrcfiles(&cu, &files, NULL))
		return file;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

/* ---- finding functions by name, for --atomic ---- */

struct symbol_search {
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
	struct symbol_search *q = arg;
	Dwarf_Addr low = 0;
	int line = 0;
	bool there = entry_of(die, &low);
	if (q->n == q->max || (!there && !dwarf_func_inline(die)))
		return DWARF_CB_OK;
	dwarf_decl_line(die, &line);
	if (q->match(q->ctx, symbol_die_name(&q->s, die), symbol_decl_file(die), (uint32_t)line, there) && there)
		q->out[q->n++] = low + q->bias;
	return DWARF_CB_OK;
}

uint32_t symbols_functions(struct arena *a, const char *path, bool (*match)(void *, const char *, const char *, uint32_t, bool),
                           void *ctx, uint64_t *out, uint32_t max)
{
	struct symbol_search q = { .match = match, .ctx = ctx, .out = out, .max = max };
	q.s.arena = a;
	symbol_demangler(&q.s);
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
