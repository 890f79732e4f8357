/*
 * doctor_program: what a program's ELF file says. The runtime's names are in the dynamic symbols, so that a stripped program
 * is recognised, too. The file is a foreign one: libelf checks its sizes.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "project/doctor.h"

struct sections {
	bool symbols, info, lines, link, runtime;
};

static void look(Elf *elf, struct sections *s)
{
	size_t names;
	GElf_Shdr h;
	if (elf_getshdrstrndx(elf, &names))
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		const char *name = gelf_getshdr(scn, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
		if (!name)
			continue;
		s->symbols |= h.sh_type == SHT_SYMTAB;
		s->info |= !strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info");
		s->lines |= !strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line");
		s->link |= !strcmp(name, ".gnu_debuglink");
		if (h.sh_type != SHT_SYMTAB && h.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Sym sym;
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *of = elf_strptr(elf, h.sh_link, sym.st_name);
			s->runtime |= of && !strcmp(of, "__intact_tool") && sym.st_shndx != SHN_UNDEF;
		}
	}
}

void doctor_program(struct doctor *d, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	struct sections s = { 0 };
	if (fd < 0) {
		doctor_add(d, DOCTOR_BAD, NULL, path, "%s", strerror(errno));
	} else if (!elf || elf_kind(elf) != ELF_K_ELF) {
		doctor_add(d, DOCTOR_BAD, "name the program itself, not a script that starts it", path, "is not an ELF file");
	} else {
		look(elf, &s);
		doctor_add(d, s.runtime ? DOCTOR_OK : DOCTOR_BAD,
		           s.runtime ? NULL : "compile and link it with intact-cc or intact-c++", path, "%s",
		           s.runtime ? "is built with `intact cc`" : "is not built with `intact cc`");
		bool lines = (s.info && s.lines) || s.link;
		doctor_add(d, lines ? DOCTOR_OK : DOCTOR_NOTE, lines ? NULL : "compile with -g, link without -s, do not strip",
		           path, "%s",
		           s.info && s.lines ? "has debug information"
		           : s.link          ? "names a file with its debug information"
		           : s.symbols       ? "has no debug information: reports name functions, but no lines"
		                             : "is stripped: reports name few functions, and no lines");
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
}
