/*
 * counters: see counters.h. By the names of the symbol table; a stripped program has none. The file is a foreign one: libelf checks
 * its sizes.
 */
#include "program/counters.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/paths.h"
#include "report/finding.h"

static void add(struct counter_range *out, uint32_t *n, uint32_t max, uint64_t lo, uint64_t hi)
{
	for (uint32_t i = 0; i < *n; i++)
		if (lo <= out[i].hi && hi >= out[i].lo) {
			out[i].lo = lo < out[i].lo ? lo : out[i].lo;
			out[i].hi = hi > out[i].hi ? hi : out[i].hi;
			return;
		}
	if (*n < max)
		out[(*n)++] = (struct counter_range){ lo, hi };
}

static uint32_t scan(Elf *elf, struct counter_range *out, uint32_t max)
{
	uint32_t n = 0;
	GElf_Shdr h;
	GElf_Sym f;
	for (Elf_Scn *x = NULL; (x = elf_nextscn(elf, x));) {
		Elf_Data *d;
		if (!gelf_getshdr(x, &h) || h.sh_type != SHT_SYMTAB || !h.sh_entsize || !(d = elf_getdata(x, NULL)))
			continue;
		for (int i = 0; gelf_getsym(d, i, &f); i++) {
			if (GELF_ST_TYPE(f.st_info) != STT_OBJECT || !f.st_size || f.st_size > UINT32_MAX)
				continue;
			const char *name = elf_strptr(elf, h.sh_link, f.st_name);
			if (name && symbol_is_counter(name))
				add(out, &n, max, f.st_value, f.st_value + f.st_size);
		}
	}
	return n;
}

uint32_t counters_of(const char *program, struct counter_range *out, uint32_t max)
{
	char path[PATH_MAX];
	uint32_t n = 0;
	int fd = find_in_path(program, path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		n = scan(elf, out, max);
	elf_end(elf);
	close(fd);
	assert(n <= max);
	return n;
}
