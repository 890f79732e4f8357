/*
 * inline_atomics: see inline_atomics.h. Each function of the symbol table is decoded from its beginning
 * (instruction.h); the runtime has a section of its own. The file is a foreign one: sizes are checked.
 */
#include "program/inline_atomics.h"
#include "program/instruction.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "report/finding.h"

enum { SHOWN = 3, MAX_PLACES = 4096 };

struct inline_scan {
	Elf *elf;
	uint64_t runtime_lo, runtime_hi;
	uint64_t at[MAX_PLACES]; /* behind the instruction, as a return address would be */
	uint32_t n;
};

static void find_runtime(struct inline_scan *s)
{
	size_t names;
	GElf_Shdr h;
	if (elf_getshdrstrndx(s->elf, &names))
		return;
	for (Elf_Scn *x = NULL; (x = elf_nextscn(s->elf, x));) {
		const char *name = gelf_getshdr(x, &h) ? elf_strptr(s->elf, names, h.sh_name) : NULL;
		if (name && !strcmp(name, "intact_text")) {
			s->runtime_lo = h.sh_addr;
			s->runtime_hi = h.sh_addr + h.sh_size;
		}
	}
}

static void scan_function(struct inline_scan *s, const GElf_Sym *f)
{
	GElf_Shdr h;
	Elf_Scn *x = elf_getscn(s->elf, f->st_shndx);
	if (!x || !gelf_getshdr(x, &h) || h.sh_type == SHT_NOBITS || !(h.sh_flags & SHF_EXECINSTR))
		return;
	if (f->st_value >= s->runtime_lo && f->st_value < s->runtime_hi)
		return;
	Elf_Data *d = elf_rawdata(x, NULL);
	uint64_t from = f->st_value - h.sh_addr;
	if (!d || from > d->d_size || f->st_size > d->d_size - from)
		return;
	const uint8_t *code = (const uint8_t *)d->d_buf + from;
	for (uint64_t i = 0; i < f->st_size && s->n < MAX_PLACES;) {
		struct instruction in = instruction_at(code + i, f->st_size - i);
		if (!in.length)
			return;
		i += in.length;
		if (in.atomic)
			s->at[s->n++] = f->st_value + i;
	}
}

static void scan_symbols(struct inline_scan *s)
{
	GElf_Shdr h;
	GElf_Sym f;
	for (Elf_Scn *x = NULL; (x = elf_nextscn(s->elf, x));) {
		Elf_Data *d;
		if (!gelf_getshdr(x, &h) || h.sh_type != SHT_SYMTAB || !h.sh_entsize || !(d = elf_getdata(x, NULL)))
			continue;
		for (int i = 0; gelf_getsym(d, i, &f); i++)
			if (GELF_ST_TYPE(f.st_info) == STT_FUNC && f.st_size && f.st_shndx != SHN_UNDEF &&
			    f.st_shndx < SHN_LORESERVE)
				scan_function(s, &f);
	}
}

/* "FUNCTION FILE:LINE" of the innermost frame, once each; false: the same as the one before. */
static const char *place_text(struct arena *a, struct symbols *symbols, uint64_t at)
{
	struct src_frame f[16];
	struct raw_stack st = { &at, 1 };
	uint32_t n = symbols_stack(symbols, &st, f, 16);
	if (!n)
		return arena_printf(a, "0x%llx", (unsigned long long)at);
	if (!f[0].file)
		return frame_function(a, &f[0]);
	return arena_printf(a, "%s %s:%u", f[0].function ? f[0].function : "?", f[0].file, f[0].line);
}

static void say(const struct inline_scan *s, const char *path, struct buf *err)
{
	struct arena a;
	const char *told[SHOWN];
	uint32_t ntold = 0, i = 0;
	arena_init(&a, 0);
	struct raw_report raw = { 0 };
	struct raw_module module = { 0, UINT64_MAX, 0, path };
	avec_push(&a, &raw.modules, module);
	struct symbols *symbols = symbols_open(&a);
	symbols_use(symbols, &raw);
	buf_str(err,
	        "intact: warning: these atomic instructions are not scheduling points, because they are in inline assembly or were "
	        "compiled without `intact cc`:\n");
	for (; i < s->n && ntold < SHOWN; i++) {
		const char *text = place_text(&a, symbols, s->at[i]);
		bool known = false;
		for (uint32_t k = 0; k < ntold; k++)
			known |= !strcmp(told[k], text);
		if (known)
			continue;
		told[ntold++] = text;
		buf_str(err, "  ");
		buf_safe(err, text, strlen(text));
		buf_char(err, '\n');
	}
	if (i < s->n)
		buf_printf(err, "  ... and %u more\n", s->n - i);
	buf_str(err, "hint: <stdatomic.h>, std::atomic and the __atomic and __sync built-in functions are scheduling points\n");
	symbols_close(symbols);
	arena_free(&a);
}

void inline_atomics_warn(const char *program, struct buf *err)
{
	char found[PATH_MAX], path[PATH_MAX];
	struct inline_scan s = { 0 };
	if (!find_in_path(program, found, sizeof found) || !realpath(found, path)) /* of symbols, modules have whole paths */
		return;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	s.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	GElf_Ehdr e;
	if (s.elf && gelf_getehdr(s.elf, &e) && e.e_machine == EM_X86_64) {
		find_runtime(&s);
		if (s.runtime_hi) /* otherwise it has no runtime, which is said elsewhere */
			scan_symbols(&s);
	}
	elf_end(s.elf);
	close(fd);
	if (s.n)
		say(&s, path, err);
}
