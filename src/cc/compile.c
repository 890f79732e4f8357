/*
 * compile: see compile.h.
 *
 * Every argument is passed through. What is added depends on what the
 * command line does: sources are compiled with the compilers' own thread
 * instrumentation (asked of the compiler proper, not of the driver, so that
 * linking does not bring the sanitizer's library); executables are linked
 * with our runtime. Shared objects and archives are left without: the one
 * copy of the runtime is the executable's.
 *
 * Command lines that neither compile nor link (--version, -print-...) are not
 * touched at all. What cannot work (-static, -m32, another sanitizer that
 * interposes the same functions) is refused with a reason.
 */
#include "cc/compile.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/console.h"
#include "base/invariant.h"
#include "base/paths.h"
#include "cc/exec.h"
#include "cc/line.h"
#include "cc/units.h"
#include "version.h"

/* ---- which compiler ---- */

static bool says_clang(const char *cc)
{
	char line[PATH_MAX + 32], text[4096];
	snprintf(line, sizeof line, "%s --version 2>/dev/null", cc);
	FILE *p = popen(line, "r");
	if (!p)
		return false;
	size_t n = fread(text, 1, sizeof text - 1, p);
	text[n] = 0;
	pclose(p);
	return strstr(text, "clang") != NULL;
}

static bool is_clang(const char *cc)
{
	char real[PATH_MAX];
	const char *base = strrchr(cc, '/') ? strrchr(cc, '/') + 1 : cc;
	if (strstr(base, "clang"))
		return true;
	if (strstr(base, "gcc") || strstr(base, "g++"))
		return false;
	if (find_in_path(cc, real, sizeof real)) {
		char *resolved = realpath(real, NULL);
		const char *b = resolved && strrchr(resolved, '/') ? strrchr(resolved, '/') + 1 : "";
		bool clang = strstr(b, "clang") != NULL;
		bool gcc = strstr(b, "gcc") || strstr(b, "g++");
		free(resolved);
		if (clang || gcc)
			return clang;
	}
	return says_clang(cc);
}

/* gcc-12 -> g++-12, /opt/bin/clang -> /opt/bin/clang++ */
static char *to_cxx(const char *cc)
{
	static char out[PATH_MAX];
	const char *base = strrchr(cc, '/') ? strrchr(cc, '/') + 1 : cc;
	const char *at;
	if ((at = strstr(base, "clang")) && !strstr(base, "clang++"))
		snprintf(out, sizeof out, "%.*sclang++%s", (int)(at - cc), cc, at + 5);
	else if ((at = strstr(base, "gcc")))
		snprintf(out, sizeof out, "%.*sg++%s", (int)(at - cc), cc, at + 3);
	else if (!strcmp(base, "cc"))
		snprintf(out, sizeof out, "%.*sc++", (int)(base - cc), cc);
	else
		snprintf(out, sizeof out, "%s", cc);
	return out;
}

/* The words of the compiler, into `a`; returns the one that names it ("ccache
 * gcc-12 -m64": gcc-12). A path with blanks that exists is one word. */
static const char *choose(struct args *a, bool cxx)
{
	const char *cc = getenv("INTACT_CC"), *pp = getenv("INTACT_CXX");
	bool convert = cxx && !(pp && *pp);
	char real[PATH_MAX];
	if (cxx && !convert)
		cc = pp;
	else if (!cc || !*cc)
		cc = "cc";
	if (find_in_path(cc, real, sizeof real)) {
		args_add(a, convert ? to_cxx(cc) : cc);
		return a->v[0];
	}
	const char *name = NULL;
	for (const char *s = cc + strspn(cc, " \t"); *s; s += strspn(s, " \t")) {
		char word[PATH_MAX];
		size_t n = strcspn(s, " \t");
		snprintf(word, sizeof word, "%.*s", (int)(n < PATH_MAX - 1 ? n : PATH_MAX - 1), s);
		s += n;
		const char *w = convert && word[0] != '-' ? to_cxx(word) : word;
		if (strcmp(w, word) != 0)
			convert = false;
		args_add(a, w);
		if (word[0] != '-')
			name = a->v[a->n - 1];
	}
	if (!a->n)
		args_add(a, cxx ? "c++" : "cc");
	assert(a->n && a->v[0]);
	return name ? name : a->v[0];
}

/* ---- the object that tells the program where to find us ---- */

static bool write_all(int fd, const void *p, size_t n)
{
	return write(fd, p, n) == (ssize_t)n;
}

/* A relocatable file with one read-only string, `__intact_tool`. */
static bool tool_object(char *path, size_t size, const char *tool)
{
	static const char names[] = "\0.rodata\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";
	static const char strings[] = "\0__intact_tool";
	size_t len = strlen(tool) + 1, pad = (len + 7) & ~(size_t)7;
	assert(len > 1 && pad % 8 == 0 && pad >= len);
	Elf64_Sym sym[2] = { { 0 },
		             { .st_name = 1, .st_shndx = 1, .st_size = len, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) } };
	Elf64_Ehdr h = { .e_type = ET_REL,
		         .e_machine = EM_X86_64,
		         .e_version = EV_CURRENT,
		         .e_ehsize = sizeof h,
		         .e_shentsize = sizeof(Elf64_Shdr),
		         .e_shnum = 6,
		         .e_shstrndx = 4 };
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	size_t at_sym = sizeof h + pad, at_str = at_sym + sizeof sym;
	size_t at_names = at_str + sizeof strings, end = at_names + sizeof names;
	h.e_shoff = (end + 7) & ~(size_t)7;
	Elf64_Shdr s[6] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC,
		  .sh_offset = sizeof h,
		  .sh_size = len,
		  .sh_addralign = 1 },
		{ .sh_name = 9,
		  .sh_type = SHT_SYMTAB,
		  .sh_offset = at_sym,
		  .sh_size = sizeof sym,
		  .sh_link = 3,
		  .sh_info = 1,
		  .sh_addralign = 8,
		  .sh_entsize = sizeof *sym },
		{ .sh_name = 17, .sh_type = SHT_STRTAB, .sh_offset = at_str, .sh_size = sizeof strings, .sh_addralign = 1 },
		{ .sh_name = 25, .sh_type = SHT_STRTAB, .sh_offset = at_names, .sh_size = sizeof names, .sh_addralign = 1 },
		{ .sh_name = 35, .sh_type = SHT_PROGBITS, .sh_offset = end, .sh_addralign = 1 },
	};
	char zero[8] = { 0 };
	int fd = cc_temp(path, size, ".o");
	if (fd < 0)
		return false;
	bool ok = write_all(fd, &h, sizeof h) && write_all(fd, tool, len) && write_all(fd, zero, pad - len) &&
	          write_all(fd, sym, sizeof sym) && write_all(fd, strings, sizeof strings) && write_all(fd, names, sizeof names) &&
	          write_all(fd, zero, h.e_shoff - end) && write_all(fd, s, sizeof s);
	close(fd);
	return ok;
}

/* ---- the line ---- */

static void add_compile(struct args *a, const struct task *t, bool clang, const char *dir)
{
	if (clang) {
		static const char *const words[] = { "-Xclang", "-fsanitize=thread",
			                             "-mllvm",  "-tsan-instrument-read-before-write=1",
			                             "-mllvm",  "-tsan-instrument-func-entry-exit=0",
			                             NULL };
		for (int i = 0; words[i]; i++)
			args_add(a, words[i]);
	} else {
		args_addf(a, "-specs=%s/intact.specs", dir);
		/* The library's small functions are not worth a frame once they
		 * are inlined; without optimisation they lie in between. */
		if (t->optimised)
			args_add(a, "-finstrument-functions-exclude-file-list=/usr/include/,/usr/lib/gcc/");
	}
	args_add(a, "-finstrument-functions");
	args_add(a, "-D__INTACT__=1");
	args_addf(a, "-I%s/include", dir);
	if (!t->debug)
		args_add(a, "-g");
}

static void add_link(struct args *a, const struct task *t, const char *dir, const char *tool)
{
	assert(t->shared || tool);
	if (t->shared) {
		/* The runtime's names stay open until the executable is there. */
		args_add(a, "-Wl,-z,undefs");
		return;
	}
	args_add(a, tool);
	args_add(a, "-Wl,--whole-archive");
	args_addf(a, "%s/libintact_rt.a", dir);
	args_add(a, "-Wl,--no-whole-archive");
	args_addf(a, "-Wl,--dynamic-list=%s/intact.dynlist", dir);
	args_add(a, "-ldl");
	args_add(a, "-lpthread");
}

/* INTACT_CC_HOOKS: the hooks of every function. */
static bool all_hooks(void)
{
	const char *hooks = getenv("INTACT_CC_HOOKS");
	return hooks && !strcmp(hooks, "all");
}

/* What cannot be; false after a message. */
static bool possible(struct buf *err, const struct task *t, bool link, bool compile_any)
{
	const char *hooks = getenv("INTACT_CC_HOOKS");
	if (hooks && *hooks && !all_hooks()) {
		buf_str(err, "intact: INTACT_CC_HOOKS takes 'all', not '");
		buf_safe(err, hooks, strlen(hooks));
		buf_str(err, "'\nhint: without it, clang's small inlined functions have no hooks\n");
		return false;
	}
	for (unsigned i = 0; i < NFOREIGN; i++)
		if (t->sanitizers & 1u << i) {
			buf_printf(err,
			           "intact: -fsanitize=%s and intact cannot be combined in one program: both "
			           "intercept the same C library functions\n"
			           "hint: build it twice, once with each\n",
			           foreign_sanitizers[i]);
			return false;
		}
	if (t->narrow && (link || compile_any)) {
		buf_str(err, "intact: only 64-bit programs can be watched\nhint: compile without -m32\n");
		return false;
	}
	if (link && t->is_static) {
		buf_str(err, "intact: cannot watch a static executable: the functions of its C library cannot be intercepted\n"
		             "hint: link without -static\n");
		return false;
	}
	return true;
}

/* Runs a line that links, with what the program needs of us added. */
static int link_line(struct buf *err, const struct task *t, struct args *a, const char *dir)
{
	assert(!t->no_link && a->n);
	char tool[PATH_MAX], self[PATH_MAX];
	self_path(self, sizeof self);
	if (!t->shared && !tool_object(tool, sizeof tool, self)) {
		buf_printf(err, "intact: cannot write %s: %s\n", tool, strerror(errno));
		return EXIT_USAGE;
	}
	args_add(a, "-x"); /* a language set before does not mean our objects */
	args_add(a, "none");
	add_link(a, t, dir, tool);
	int rc = cc_spawn(a, -1);
	if (!t->shared)
		unlink(tool);
	return rc;
}

int cc_compile(int argc, char **argv, bool cxx, bool keeps_pipe, struct buf *err)
{
	assert(argc >= 0 && err);
	struct task t = { 0 };
	struct args a = { 0 };
	struct units units = { 0 };
	char dir[PATH_MAX];
	task_look(&t, argv, argc);
	if (t.header && !t.other)
		t.no_link = true; /* to be precompiled */
	bool clang = is_clang(choose(&a, cxx)), launcher = a.n > 1;
	bool link = t.input && !t.no_link && !t.relocatable && !t.no_lib;
	bool compile_any = t.source && !t.off;
	if ((link || compile_any) && !runtime_dir(dir, sizeof dir)) {
		buf_str(err, INTACT_WATCHES ? "intact: the runtime (libintact_rt.a) was not found beside "
		                              "this program\nhint: set INTACT_RUNTIME_DIR to its directory\n"
		                            : "intact: programs cannot be watched on this machine (" INTACT_MACHINE
		                              "): the runtime needs x86-64 and glibc\n");
		return EXIT_USAGE;
	}
	if (!possible(err, &t, link, compile_any))
		return EXIT_USAGE;
	if (!keeps_pipe)
		signal(SIGPIPE, SIG_DFL);
	if (compile_any)
		add_compile(&a, &t, clang, dir);
	else if (link && !clang && !t.off) /* what -flto compiles only now */
		args_addf(&a, "-specs=%s/intact.specs", dir);
	int rc = 1;
	if (compile_any && clang && !launcher && !all_hooks() && units_possible(&t, argc, argv, link))
		rc = units_compile(&units, &a, argc, argv, link);
	if (rc == 1 || (rc == 0 && link)) {
		bool split = rc == 0;
		for (int i = 0; i < (split ? (int)units.line.n : argc); i++)
			args_add(&a, split ? units.line.v[i] : argv[i]);
		if (split)
			args_add(&a, "-Wno-unused-command-line-argument");
		if (t.thread) /* asked of the compiler proper; the driver would bring its library */
			args_add(&a, "-fno-sanitize=thread");
		if (!link)
			cc_become(&a);
		rc = link_line(err, &t, &a, dir);
	}
	units_free(&units);
	args_free(&a);
	return rc;
}
