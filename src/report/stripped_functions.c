/*
 * stripped_functions: see stripped_functions.h. The table is the one of the Linux Standard Base,
 * "The .eh_frame_hdr section", in the one encoding that linkers write: a count of four
 * bytes, then pairs of four-byte offsets from the section's start. The file is a foreign
 * one: sizes are checked.
 */
#include "report/stripped_functions.h"

#include <gelf.h>
#include <string.h>

enum { UDATA4 = 0x03, SDATA4_HERE = 0x1b, SDATA4_TABLE = 0x3b, HEAD = 12, PAIR = 8 };

static int32_t number(const unsigned char *p)
{
	int32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

/* A section by name, with its address as the module's. */
static Elf_Scn *section(Dwfl_Module *mod, const char *name, GElf_Shdr *at)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(mod, &bias);
	size_t names;
	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		const char *is = gelf_getshdr(s, at) ? elf_strptr(elf, names, at->sh_name) : NULL;
		if (is && !strcmp(is, name)) {
			at->sh_addr += bias;
			return s;
		}
	}
	return NULL;
}

uint64_t stripped_function(Dwfl_Module *mod, uint64_t pc)
{
	GElf_Shdr at;
	Elf_Scn *s = section(mod, ".eh_frame_hdr", &at);
	Elf_Data *d = s && at.sh_type != SHT_NOBITS ? elf_rawdata(s, NULL) : NULL;
	const unsigned char *p = d ? d->d_buf : NULL;
	if (!p || d->d_size < HEAD + PAIR || p[0] != 1 || p[1] != SDATA4_HERE || p[2] != UDATA4 || p[3] != SDATA4_TABLE)
		return 0;
	uint64_t n = (uint32_t)number(p + 8), low = 0;
	if (n > (d->d_size - HEAD) / PAIR)
		return 0;
	for (uint64_t high = n; low < high;) { /* the first that begins after it */
		uint64_t mid = (low + high) / 2;
		if (at.sh_addr + (uint64_t)(int64_t)number(p + HEAD + mid * PAIR) <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? at.sh_addr + (uint64_t)(int64_t)number(p + HEAD + (low - 1) * PAIR) : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool of_system(const char *path)
{
	return !strncmp(path, "/lib", 4) || !strncmp(path, "/usr/lib", 8);
}

bool stripped_in_libc(const struct src_frame *f)
{
	const char *base = base_name(f->module);
	return !strncmp(base, "libc.so", 7) || !strncmp(base, "libc-", 5) || !strncmp(base, "ld-linux", 8);
}

const char *stripped_name(struct arena *a, Dwfl_Module *mod, uint64_t pc, const struct src_frame *f)
{
	GElf_Shdr at;
	if (of_system(f->module))
		return NULL;
	if (section(mod, "intact_text", &at) && pc - at.sh_addr < at.sh_size)
		return "intact_thread_main";
	uint64_t start = stripped_function(mod, pc);
	struct src_frame first = *f;
	if (start && start <= pc)
		first.offset = f->offset - (pc - start);
	first.function = NULL;
	return frame_function(a, &first);
}
