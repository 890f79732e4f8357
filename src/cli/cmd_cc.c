/*
 * cmd_cc: `intact cc` and `intact c++`, wrappers around gcc and clang.
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
 * stands in front of the same functions) is refused with a reason.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/paths.h"

struct args {
	char **v;
	size_t n, cap;
};

static void add(struct args *a, const char *s)
{
	if (a->n + 1 >= a->cap) {
		a->cap = a->cap ? a->cap * 2 : 64;
		a->v = realloc(a->v, a->cap * sizeof *a->v);
		if (!a->v)
			abort();
	}
	a->v[a->n++] = strdup(s);
	a->v[a->n] = NULL;
}

static void addf(struct args *a, const char *fmt, const char *s)
{
	char line[PATH_MAX + 64];
	snprintf(line, sizeof line, fmt, s);
	add(a, line);
}

/* What a command line asks for. */
struct task {
	bool source, input;    /* something to compile; anything at all */
	bool no_link;          /* -c -S -E -M ... */
	bool shared, relocatable, is_static, no_lib;
	bool debug, off;       /* -g given; instrumentation refused */
	bool optimised;        /* -O1 and up: small functions are inlined */
	bool header, other;    /* inputs that are headers, and that are not */
	bool thread;           /* -fsanitize=thread given: that is our part */
	bool narrow;           /* -m32 and the like */
	unsigned sanitizers;   /* those of `foreign` that are asked for */
};

/* They stand in front of malloc and the threads' functions, as we do. */
static const char *const foreign[] = { "address", "hwaddress", "leak", "memory", "dataflow",
	"kernel-address", "kernel-hwaddress", "kernel-memory" };
enum { NFOREIGN = sizeof foreign / sizeof *foreign };

static bool ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n > m && !strcmp(s + n - m, suffix);
}

static bool is_source(const char *s)
{
	static const char *const suffixes[] = { ".c", ".i", ".cc", ".cp", ".cxx", ".cpp",
		".CPP", ".c++", ".C", ".ii", ".m", ".mm", NULL };
	for (int i = 0; suffixes[i]; i++)
		if (ends(s, suffixes[i]))
			return true;
	return false;
}

static bool is_header(const char *s)
{
	static const char *const suffixes[] = { ".h", ".H", ".hpp", ".HPP", ".hh", ".hp", ".hxx",
		".h++", ".tcc", NULL };
	for (int i = 0; suffixes[i]; i++)
		if (ends(s, suffixes[i]))
			return true;
	return false;
}

/* Options whose value is the next word. */
static bool takes_value(const char *s)
{
	static const char *const names[] = { "-o", "-I", "-L", "-D", "-U", "-l", "-include",
		"-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-isysroot",
		"-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor",
		"-Xclang", "-mllvm", "-T", "-u", "-z", "-arch", "-target", "--param",
		"-aux-info", "-dumpbase", "-wrapper", "-specs", "-B", "-framework",
		"-e", "-h", "-soname", NULL };
	for (int i = 0; names[i]; i++)
		if (!strcmp(s, names[i]))
			return true;
	return false;
}

static void look_at_file(struct task *t, const char *path, int depth);

/* A file, with the language that -x gave. */
static void look_at_input(struct task *t, const char *s, const char *lang)
{
	if (lang && !strcmp(lang, "none"))
		lang = NULL;
	bool assembler = lang && !strncmp(lang, "assembler", 9);
	bool header = lang ? ends(lang, "-header") : is_header(s);
	t->input = true;
	t->header |= header;
	t->other |= !header;
	/* Standard input without a language is C, and only to be preprocessed. */
	t->source |= lang ? !assembler : header || is_source(s) || !strcmp(s, "-");
}

/* The list of -fsanitize= or -fno-sanitize=. */
static void look_at_sanitizers(struct task *t, const char *list, bool on)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		bool all = n == 3 && !strncmp(list, "all", 3);
		if (all || (n == 6 && !strncmp(list, "thread", 6))) {
			t->thread = on;
			t->off = !on;
		}
		for (unsigned i = 0; i < NFOREIGN; i++)
			if (all || (n == strlen(foreign[i]) && !strncmp(list, foreign[i], n)))
				t->sanitizers = on ? t->sanitizers | 1u << i : t->sanitizers & ~(1u << i);
		list += n + (list[n] != 0);
	}
}

static void look_at(struct task *t, const char *s, const char *value, const char **lang)
{
	if (s[0] != '-' || !s[1]) {
		look_at_input(t, s, *lang);
		return;
	}
	if (!strcmp(s, "-c") || !strcmp(s, "-S") || !strcmp(s, "-E") || !strcmp(s, "-M") ||
	    !strcmp(s, "-MM") || !strcmp(s, "-fsyntax-only") || !strcmp(s, "--precompile") ||
	    !strcmp(s, "-emit-ast"))
		t->no_link = true;
	else if (!strcmp(s, "-shared") || !strcmp(s, "--shared"))
		t->shared = true;
	else if (!strcmp(s, "-r") || !strcmp(s, "-Wl,-r") || !strcmp(s, "-Wl,--relocatable"))
		t->relocatable = true;
	else if (!strcmp(s, "-static") || !strcmp(s, "--static") || !strcmp(s, "-static-pie"))
		t->is_static = true;
	else if (!strcmp(s, "-nostdlib") || !strcmp(s, "-nodefaultlibs") || !strcmp(s, "-nolibc"))
		t->no_lib = true;
	else if (!strcmp(s, "-x"))
		*lang = value;
	else if (!strncmp(s, "-x", 2) && s[2])
		*lang = s + 2;
	else if (!strncmp(s, "-g", 2) && strcmp(s, "-g0") != 0)
		t->debug = true;
	else if (!strncmp(s, "-O", 2))
		t->optimised = strcmp(s, "-O0") != 0;
	else if (!strncmp(s, "-fsanitize=", 11))
		look_at_sanitizers(t, s + 11, true);
	else if (!strncmp(s, "-fno-sanitize=", 14))
		look_at_sanitizers(t, s + 14, false);
	else if (!strcmp(s, "-m32") || !strcmp(s, "-mx32") || !strcmp(s, "-m16"))
		t->narrow = true;
	else if (!strcmp(s, "-m64"))
		t->narrow = false;
	else if (!strncmp(s, "-l", 2))
		t->input = t->other = true;
}

static void look(struct task *t, char **v, int n, int depth)
{
	const char *lang = NULL;
	for (int i = 0; i < n; i++) {
		if (v[i][0] == '@' && depth < 8) {
			look_at_file(t, v[i] + 1, depth + 1);
			continue;
		}
		look_at(t, v[i], i + 1 < n ? v[i + 1] : NULL, &lang);
		if ((takes_value(v[i]) || !strcmp(v[i], "-x")) && i + 1 < n)
			i++;
	}
}

/* @file: words split at blanks, quotes and backslashes as the compilers do. */
static void look_at_file(struct task *t, const char *path, int depth)
{
	struct args a = { 0 };
	FILE *f = fopen(path, "r");
	if (!f)
		return; /* the compiler will say so */
	char word[PATH_MAX];
	size_t n = 0;
	int c, quote = 0;
	bool any = false;
	while ((c = getc(f)) != EOF) {
		if (!quote && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
			word[n] = 0;
			if (any)
				add(&a, word);
			n = 0;
			any = false;
			continue;
		}
		any = true;
		if (c == '\\') {
			c = getc(f);
			if (c == EOF)
				break;
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? 0 : c;
			continue;
		}
		if (n + 1 < sizeof word)
			word[n++] = (char)c;
	}
	word[n] = 0;
	if (any)
		add(&a, word);
	fclose(f);
	if (a.n)
		look(t, a.v, (int)a.n, depth);
	for (size_t i = 0; i < a.n; i++)
		free(a.v[i]);
	free(a.v);
}

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
		add(a, convert ? to_cxx(cc) : cc);
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
		add(a, w);
		if (word[0] != '-')
			name = a->v[a->n - 1];
	}
	if (!a->n)
		add(a, cxx ? "c++" : "cc");
	return name ? name : a->v[0];
}

/* ---- the object that tells the program where to find us ---- */

static bool write_all(int fd, const void *p, size_t n)
{
	return write(fd, p, n) == (ssize_t)n;
}

/* A relocatable file with one read-only string, `__intact_tool`. */
static bool tool_object(char *path, const char *tool)
{
	static const char names[] = "\0.rodata\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";
	static const char strings[] = "\0__intact_tool";
	size_t len = strlen(tool) + 1, pad = (len + 7) & ~(size_t)7;
	Elf64_Sym sym[2] = { { 0 }, { .st_name = 1, .st_shndx = 1, .st_size = len,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) } };
	Elf64_Ehdr h = { .e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof h, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 6,
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
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_offset = sizeof h,
		  .sh_size = len, .sh_addralign = 1 },
		{ .sh_name = 9, .sh_type = SHT_SYMTAB, .sh_offset = at_sym, .sh_size = sizeof sym,
		  .sh_link = 3, .sh_info = 1, .sh_addralign = 8, .sh_entsize = sizeof *sym },
		{ .sh_name = 17, .sh_type = SHT_STRTAB, .sh_offset = at_str,
		  .sh_size = sizeof strings, .sh_addralign = 1 },
		{ .sh_name = 25, .sh_type = SHT_STRTAB, .sh_offset = at_names,
		  .sh_size = sizeof names, .sh_addralign = 1 },
		{ .sh_name = 35, .sh_type = SHT_PROGBITS, .sh_offset = end, .sh_addralign = 1 },
	};
	char zero[8] = { 0 };
	int fd = mkstemps(path, 2);
	if (fd < 0)
		return false;
	bool ok = write_all(fd, &h, sizeof h) && write_all(fd, tool, len) &&
	          write_all(fd, zero, pad - len) && write_all(fd, sym, sizeof sym) &&
	          write_all(fd, strings, sizeof strings) && write_all(fd, names, sizeof names) &&
	          write_all(fd, zero, h.e_shoff - end) && write_all(fd, s, sizeof s);
	close(fd);
	return ok;
}

/* ---- the line ---- */

static void add_compile(struct args *a, const struct task *t, bool clang, const char *dir)
{
	if (clang) {
		static const char *const words[] = { "-Xclang", "-fsanitize=thread", "-mllvm",
			"-tsan-instrument-read-before-write=1", "-mllvm",
			"-tsan-instrument-func-entry-exit=0", NULL };
		for (int i = 0; words[i]; i++)
			add(a, words[i]);
	} else {
		addf(a, "-specs=%s/intact.specs", dir);
		/* The library's small functions are not worth a frame once they
		 * are inlined; without optimisation they lie in between. */
		if (t->optimised)
			add(a, "-finstrument-functions-exclude-file-list=/usr/include/,/usr/lib/gcc/");
	}
	add(a, "-finstrument-functions");
	add(a, "-D__INTACT__=1");
	addf(a, "-I%s/include", dir);
	if (!t->debug)
		add(a, "-g");
}

static void add_link(struct args *a, const struct task *t, const char *dir, const char *tool)
{
	if (t->shared) {
		/* The runtime's names stay open until the executable is there. */
		add(a, "-Wl,-z,undefs");
		return;
	}
	add(a, tool);
	add(a, "-Wl,--whole-archive");
	addf(a, "%s/libintact_rt.a", dir);
	add(a, "-Wl,--no-whole-archive");
	addf(a, "-Wl,--dynamic-list=%s/intact.dynlist", dir);
	add(a, "-ldl");
	add(a, "-lpthread");
}

static _Noreturn void become(struct args *a)
{
	execvp(a->v[0], a->v);
	fprintf(stderr, "intact: cannot run the compiler '%s': %s\n"
	        "hint: INTACT_CC and INTACT_CXX choose it\n",
	        a->v[0], strerror(errno));
	_exit(127);
}

static volatile pid_t compiler;
static void forward(int sig)
{
	if (compiler > 0)
		kill(compiler, sig);
}

/* Waits for it, because a file of ours is to be removed then; a signal to us
 * is meant for it. */
static int spawn(struct args *a)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction act = { .sa_handler = forward, .sa_flags = SA_RESTART }, old[4];
	for (int i = 0; i < 4; i++) {
		sigaction(signals[i], &act, &old[i]);
		if (old[i].sa_handler == SIG_IGN)
			sigaction(signals[i], &old[i], NULL);
	}
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 4; i++)
			sigaction(signals[i], &old[i], NULL);
		become(a);
	}
	compiler = pid;
	int status = 1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	compiler = 0;
	if (pid < 0)
		return EXIT_INTERNAL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What cannot be; false after a message. */
static bool possible(struct cli *cli, const struct task *t, bool link, bool compile_any)
{
	for (unsigned i = 0; i < NFOREIGN; i++)
		if (t->sanitizers & 1u << i) {
			buf_printf(&cli->err, "intact: -fsanitize=%s and intact cannot be in one program: both stand "
			           "in front of the same functions of the C library\n"
			           "hint: build it twice, once with each\n", foreign[i]);
			return false;
		}
	if (t->narrow && (link || compile_any)) {
		buf_str(&cli->err, "intact: only 64-bit programs can be watched\nhint: compile without -m32\n");
		return false;
	}
	if (link && t->is_static) {
		buf_str(&cli->err, "intact: cannot watch a static executable: its C library "
		                   "leaves no way to stand in front of it\n"
		                   "hint: link without -static\n");
		return false;
	}
	return true;
}

/* The file of tool_object, where temporary files go. */
static char *tool_path(void)
{
	const char *tmp = getenv("TMPDIR");
	static char path[PATH_MAX];
	if (!tmp || !*tmp || access(tmp, W_OK) || strlen(tmp) > PATH_MAX - 64)
		tmp = "/tmp";
	snprintf(path, sizeof path, "%s/intact-tool-XXXXXX.o", tmp);
	return path;
}

static void show_line(const struct args *a)
{
	const char *verbose = getenv("INTACT_CC_VERBOSE");
	if (!verbose || !*verbose)
		return;
	for (size_t i = 0; i < a->n; i++)
		fprintf(stderr, "%s%s", i ? " " : "intact: ", a->v[i]);
	fputc('\n', stderr);
}

static int compile(struct cli *cli, const struct cmd *cmd, int argc, char **argv, bool cxx)
{
	struct task t = { 0 };
	struct args a = { 0 };
	char dir[PATH_MAX], self[PATH_MAX];
	if (argc == 1 && !strcmp(argv[0], "--help"))
		return cli_help(cli, cmd, NULL);
	look(&t, argv, argc, 0);
	if (t.header && !t.other)
		t.no_link = true; /* to be precompiled */
	bool clang = is_clang(choose(&a, cxx));
	bool link = t.input && !t.no_link && !t.relocatable && !t.no_lib;
	bool compile_any = t.source && !t.off;
	if ((link || compile_any) && !runtime_dir(dir, sizeof dir)) {
		buf_str(&cli->err, "intact: the runtime (libintact_rt.a) was not found beside "
		                   "this program\nhint: INTACT_RUNTIME_DIR says where it is\n");
		return EXIT_USAGE;
	}
	if (!possible(cli, &t, link, compile_any))
		return EXIT_USAGE;
	if (compile_any)
		add_compile(&a, &t, clang, dir);
	else if (link && !clang && !t.off) /* what -flto compiles only now */
		addf(&a, "-specs=%s/intact.specs", dir);
	for (int i = 0; i < argc; i++)
		add(&a, argv[i]);
	if (t.thread) /* asked of the compiler proper; the driver would bring its library */
		add(&a, "-fno-sanitize=thread");
	bool object = false;
	char *tool = tool_path();
	if (link) {
		self_path(self, sizeof self);
		object = !t.shared && tool_object(tool, self);
		if (!t.shared && !object) {
			buf_printf(&cli->err, "intact: cannot write %s: %s\n", tool, strerror(errno));
			return EXIT_USAGE;
		}
		add(&a, "-x"); /* a language set before does not mean our objects */
		add(&a, "none");
		add_link(&a, &t, dir, tool);
	}
	show_line(&a);
	fflush(NULL);
	if (!cli->keeps_pipe)
		signal(SIGPIPE, SIG_DFL);
	if (!object)
		become(&a);
	int rc = spawn(&a);
	unlink(tool);
	for (size_t i = 0; i < a.n; i++)
		free(a.v[i]);
	free(a.v);
	return rc;
}

static int run_cc(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	return compile(cli, cmd, argc, argv, false);
}

static int run_cxx(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	return compile(cli, cmd, argc, argv, true);
}

#define ABOUT                                                                  \
	"Compiles and links like the compiler it wraps, with every flag passed\n" \
	"through, so that the program can be watched for atomicity violations\n" \
	"while it runs. Also as `intact-cc` and `intact-c++`:\n\n"             \
	"  CC=intact-cc CXX=intact-c++ ./configure && make\n\n"                \
	"INTACT_CC and INTACT_CXX choose the compiler (gcc or clang, any version\n" \
	"that knows -fsanitize=thread; default cc and c++). INTACT_CC_VERBOSE=1\n" \
	"prints the command line that is run.\n"

const struct cmd cmd_cc = {
	"cc", "compile C for watching (wraps gcc or clang)", "cc [COMPILER ARGUMENTS]", ABOUT,
	NULL, run_cc,
};
const struct cmd cmd_cxx = {
	"c++", "compile C++ for watching (wraps g++ or clang++)",
	"c++ [COMPILER ARGUMENTS]", ABOUT, NULL, run_cxx,
};
