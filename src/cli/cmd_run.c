/*
 * cmd_run: `intact run -- PROGRAM ARGS`: starts a program built with `intact
 * cc`, listens for what it and its children find, and prints it at the end.
 * `intact symbolize` does the printing for programs run by themselves.
 *
 * The program's own behaviour is left alone: its descriptors, its output, its
 * exit status when nothing was found.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/outputs.h"
#include "cli/paths.h"
#include "cli/run_record.h"
#include "cli/run_report.h"
#include "report/doc.h"
#include "report/finding.h"

enum { MESSAGE_MAX = 256 << 10, MAX_MESSAGES = 4096 };

/* ---- INTACT_OPTIONS ---- */

/* The value of a key, the last one given; NULL when it is not there. */
static const char *option(struct arena *a, const char *name)
{
	const char *s = getenv("INTACT_OPTIONS"), *found = NULL;
	size_t n = strlen(name);
	while (s && *s) {
		size_t len = strcspn(s, ": \t\n");
		if (len > n && !strncmp(s, name, n) && s[n] == '=')
			found = arena_strndup(a, s + n + 1, len - n - 1);
		s += len + (s[len] != 0);
	}
	return found;
}

static bool option_on(struct arena *a, const char *name, bool otherwise)
{
	const char *v = option(a, name);
	return v ? !strcmp(v, "1") || !strcmp(v, "true") || !strcmp(v, "yes") : otherwise;
}

/* ---- settings shared by both commands ---- */

struct settings {
	struct arena arena;
	struct filter filter;
	struct text_options text;
	struct shown shown;
	const char *log_path;
	bool print_suppressions;
	struct finding_log log; /* for reports */
};

static bool read_settings(struct cli *cli, struct settings *s)
{
	struct arena *a = &s->arena;
	const char *v = option(a, "color");
	bool ok = true;
	filter_init(&s->filter, a);
	s->log_path = option(a, "log_path");
	if (!s->log_path)
		s->log_path = "stderr";
	s->text.color = v && !strcmp(v, "always") ? true
	                : v && !strcmp(v, "never") ? false
	                                           : cli->color_err && !strcmp(s->log_path, "stderr");
	s->text.strip_path_prefix = option(a, "strip_path_prefix");
	s->text.gen_suppressions = option_on(a, "gen_suppressions", false);
	s->text.strict = option_on(a, "strict", false);
	s->print_suppressions = option_on(a, "print_suppressions", true);
	if ((v = option(a, "spec")) && *v)
		ok &= filter_read_spec(&s->filter, v, &cli->err);
	for (v = option(a, "suppressions"); v && *v;) {
		size_t n = strcspn(v, ",");
		if (n)
			ok &= filter_read_suppressions(&s->filter, arena_strndup(a, v, n), &cli->err);
		v += n + (v[n] != 0);
	}
	return ok;
}

/* Where the report goes. A file that cannot be written falls back to stderr,
 * with the reason: a report is never lost silently. */
static void deliver(struct cli *cli, struct settings *s, struct buf *text, uint32_t pid)
{
	if (!text->len)
		return;
	if (!strcmp(s->log_path, "stdout")) {
		buf_add(&cli->out, text->data, text->len);
		return;
	}
	if (strcmp(s->log_path, "stderr") != 0) {
		const char *path = arena_printf(&s->arena, "%s.%u", s->log_path, pid);
		FILE *f = fopen(path, "w");
		bool ok = f && fwrite(text->data, 1, text->len, f) == text->len;
		int why = errno;
		if (f && fclose(f)) {
			ok = false;
			why = errno;
		}
		if (ok)
			return;
		buf_printf(&cli->err, "intact: cannot write the report to %s: %s\n", path,
		           strerror(why));
	}
	buf_add(&cli->err, text->data, text->len);
}

static void log_begin(struct settings *s)
{
	char *cwd = getcwd(NULL, 0);
	buf_init(&s->log.results);
	s->log.arena = &s->arena;
	s->log.root = cwd ? arena_strdup(&s->arena, cwd) : NULL;
	free(cwd);
	s->text.json = &s->log;
}

bool run_report(struct cli *cli, const struct run_message *m, uint32_t n, struct buf *out,
                struct buf *results, struct run_shown *shown)
{
	struct settings s = { 0 };
	arena_init(&s.arena, 0);
	bool ok = read_settings(cli, &s);
	s.text.color = cli->color_out;
	if (results)
		log_begin(&s);
	for (uint32_t i = 0; i < n; i++) {
		struct raw_report r;
		if (!raw_parse(&r, &s.arena, m[i].text, m[i].len))
			continue;
		r.saved = m[i].symbols;
		findings_text(&r, &s.filter, &s.text, &s.arena, &s.shown, out);
	}
	findings_close(&s.filter, &s.shown, s.print_suppressions, out);
	*shown = (struct run_shown){ s.shown.count, s.shown.confirmed, s.shown.suppressed };
	if (results) {
		buf_add(results, buf_cstr(&s.log.results), s.log.results.len);
		buf_free(&s.log.results);
	}
	arena_free(&s.arena);
	return ok;
}

/* ---- symbolize ---- */

static int run_symbolize(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct settings s = { 0 };
	struct buf in, text;
	char block[65536];
	size_t n;
	if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")))
		return cli_help(cli, cmd, NULL);
	if (argc > 0)
		return cli_usage(cli, cmd, "takes no arguments");
	buf_init(&in);
	buf_init(&text);
	arena_init(&s.arena, 0);
	while ((n = fread(block, 1, sizeof block, stdin)) && in.len < 64u << 20)
		buf_add(&in, block, n);
	read_settings(cli, &s); /* a bad file is told of; the findings are shown */
	struct raw_report r;
	int rc = EXIT_HOLDS;
	if (raw_parse(&r, &s.arena, buf_cstr(&in), in.len)) {
		findings_text(&r, &s.filter, &s.text, &s.arena, &s.shown, &text);
		findings_close(&s.filter, &s.shown, s.print_suppressions, &text);
		deliver(cli, &s, &text, r.pid);
		rc = s.shown.count ? EXIT_VIOLATED : EXIT_HOLDS;
	} else {
		rc = cli_usage(cli, cmd, "standard input is no message of a watched program");
	}
	buf_free(&in);
	buf_free(&text);
	arena_free(&s.arena);
	return rc;
}

const struct cmd cmd_symbolize = {
	"symbolize", "print what a watched program found (it calls this itself)", "symbolize < MESSAGE",
	"Reads the message of a program built with `intact cc` from standard input\n"
	"and prints it as a report. Exit status 1 when something was shown.\n",
	NULL, run_symbolize,
};

/* ---- run ---- */

static struct {
	struct opt_list atomic, not_atomic, specs, suppressions;
	const char *infer, *log_path, *record;
	uint64_t exitcode, runs, keep;
	bool silent, gen, halt, loops, strict;
	struct outputs outputs;
} o;

static const struct opt table[] = {
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is atomic", 0, 0, NULL },
	{ OPT_LIST, "atomic", 0, "PATTERN", &o.atomic, "judge only these functions, as marked blocks", 0, 0, NULL },
	{ OPT_LIST, "not-atomic", 0, "PATTERN", &o.not_atomic, "these are not meant to be atomic", 0, 0, NULL },
	{ OPT_LIST, "spec", 0, "FILE", &o.specs, "read `atomic` and `not-atomic` lines", 0, 0, NULL },
	{ OPT_STR, "infer", 0, "FILE", &o.infer, "drop what is shown non-atomic; write the rest as a specification", 0, 0, NULL },
	{ OPT_UINT, "runs", 0, "N", &o.runs, "with --infer: run until nothing new is found, at most N times", 1, 1000, NULL },
	{ OPT_FLAG, "strict", 0, NULL, &o.strict, "report functions however far they are from their locks", 0, 0, NULL },
	{ OPT_FLAG, "loops", 0, NULL, &o.loops, "also report blocks that only repeat one section", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is shown", 0, 0, NULL },
	{ OPT_LIST, "suppressions", 0, "FILE", &o.suppressions, "leave out what `kind:PATTERN` lines name", 0, 0, NULL },
	{ OPT_FLAG, "gen-suppressions", 0, NULL, &o.gen, "end each report with a suppression for it", 0, 0, NULL },
	{ OPT_STR, "log-path", 0, "FILE", &o.log_path, "write reports to FILE.PID", 0, 0, NULL },
	{ OPT_FLAG, "halt-on-error", 0, NULL, &o.halt, "stop the program at the first finding", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Recording", 0, 0, NULL },
	{ OPT_STR, "record", 0, "FILE", &o.record, "also record what happens, for `intact trace`", 0, 0, NULL },
	{ OPT_SIZE, "keep-last", 0, "SIZE", &o.keep, "with --record: keep about the last SIZE bytes of it", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Other", 0, 0, NULL },
	{ OPT_UINT, "exitcode", 0, "N", &o.exitcode, "exit status when something is found (66; 0: the program's own)", 0, 255, NULL },
	OUTPUT_OPTIONS(&o.outputs),
	{ 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL },
};

struct message {
	char *text;
	size_t len;
	struct raw_report report;
};

struct listener {
	char dir[64], path[80];
	int fd;
	struct recording *rec;
	struct message *list;
	uint32_t n, lost;
};

static bool listen_begin(struct listener *l)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int room = 4 << 20;
	const char *tmp = "/tmp/intact-XXXXXX";
	snprintf(l->dir, sizeof l->dir, "%s", tmp);
	l->fd = -1;
	if (!mkdtemp(l->dir))
		return false;
	snprintf(l->path, sizeof l->path, "%s/findings", l->dir);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", l->path);
	l->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&at, sizeof at))
		return false;
	setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	return true;
}

static void listen_end(struct listener *l)
{
	if (l->fd >= 0)
		close(l->fd);
	unlink(l->path);
	rmdir(l->dir);
	for (uint32_t i = 0; i < l->n; i++)
		free(l->list[i].text);
	free(l->list);
}

/* One datagram; *fd gets the descriptor that came with it. */
static ssize_t receive(struct listener *l, char *block, int *fd)
{
	struct iovec v = { block, MESSAGE_MAX };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		            .msg_controllen = sizeof control };
	ssize_t n = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return n;
}

static void take_messages(struct listener *l)
{
	static char block[MESSAGE_MAX];
	for (;;) {
		int fd = -1;
		ssize_t n = receive(l, block, &fd);
		if (n <= 0)
			return;
		if (fd >= 0) {
			if (l->rec)
				recording_add(l->rec, fd);
			else
				close(fd);
			continue;
		}
		struct message *list = l->n < MAX_MESSAGES
		                               ? realloc(l->list, (l->n + 1) * sizeof *list)
		                               : NULL;
		char *text = list ? malloc((size_t)n) : NULL;
		if (list)
			l->list = list;
		if (!text) {
			l->lost++;
			continue;
		}
		memcpy(text, block, (size_t)n);
		l->list[l->n++] = (struct message){ .text = text, .len = (size_t)n };
	}
}

static volatile sig_atomic_t to_forward;
static void forward(int sig)
{
	to_forward = sig;
}

static int watch(struct listener *l, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
	struct sigaction sa = { .sa_handler = forward };
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGINT, SIG_IGN); /* the terminal sends it to the program too */
	signal(SIGQUIT, SIG_IGN);
	for (bool busy = false;;) {
		struct pollfd p[2] = { { l->fd, POLLIN, 0 }, { pidfd, POLLIN, 0 } };
		poll(p, 2, busy ? 0 : l->rec ? 1 : pidfd < 0 ? 50 : -1);
		if (to_forward) {
			kill(pid, to_forward);
			to_forward = 0;
		}
		take_messages(l);
		if (l->rec)
			busy = recording_drain(l->rec);
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
	}
	take_messages(l);
	if (pidfd >= 0)
		close(pidfd);
	return status;
}

static const char *environment(struct settings *s, const struct listener *l)
{
	const char *old = getenv("INTACT_OPTIONS");
	char self[PATH_MAX];
	self_path(self, sizeof self);
	return arena_printf(&s->arena, "%s%ssocket=%s:tool=%s%s%s%s", old ? old : "",
	                    old && *old ? ":" : "", l->path, self, o.halt ? ":halt_on_error=1" : "",
	                    o.loops ? ":report_loops=1" : "",
	                    l->rec ? arena_printf(&s->arena, ":record=-%d", (int)getpid()) : "");
}

/* ---- --atomic: functions of the program by name ---- */

static bool wanted(void *ctx, const char *function, const char *file, uint32_t line)
{
	struct filter *f = ctx;
	struct src_frame fr = { .function = function, .file = file, .line = line };
	for (uint32_t i = 0; i < f->atomic.len; i++)
		if (pattern_matches(f->atomic.data[i].text, &fr)) {
			f->atomic.data[i].hits++;
			return true;
		}
	return false;
}

static void name_functions(struct cli *cli, struct settings *s, const char *program)
{
	static uint64_t at[2048];
	char path[PATH_MAX];
	struct buf list;
	if (!s->filter.atomic.len || !find_in_path(program, path, sizeof path))
		return;
	uint32_t n = symbols_functions(&s->arena, path, wanted, &s->filter, at, 2048);
	buf_init(&list);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&list, "%s%llx", i ? "," : "", (unsigned long long)at[i]);
	setenv("INTACT_ATOMIC_FUNCTIONS", buf_cstr(&list), 1);
	buf_free(&list);
	for (uint32_t i = 0; i < s->filter.atomic.len; i++)
		if (!s->filter.atomic.data[i].hits)
			buf_printf(&cli->err, "intact: warning: --atomic '%s' names no function of %s\n",
			           s->filter.atomic.data[i].text, program);
}

/* ---- one run ---- */

static void show(struct cli *cli, struct settings *s, struct listener *l)
{
	struct buf text;
	uint32_t pid = 0;
	buf_init(&text);
	for (uint32_t i = 0; i < l->n; i++)
		if (!raw_parse(&l->list[i].report, &s->arena, l->list[i].text, l->list[i].len))
			l->lost++;
	/* A process's last word says all it said before, with final counts. */
	for (int last = 1; last >= 0; last--)
		for (uint32_t i = 0; i < l->n; i++)
			if (l->list[i].report.final == (last != 0)) {
				findings_text(&l->list[i].report, &s->filter, &s->text, &s->arena,
				              &s->shown, &text);
				pid = l->list[i].report.pid;
			}
	if (l->lost)
		buf_printf(&text, "Intact: %u messages were lost or unreadable\n", l->lost);
	findings_close(&s->filter, &s->shown, s->print_suppressions, &text);
	deliver(cli, s, &text, pid);
	buf_free(&text);
}

static int run_once(struct cli *cli, struct settings *s, char **argv)
{
	struct listener l = { 0 };
	if (!listen_begin(&l)) {
		buf_printf(&cli->err, "intact: cannot listen for findings in %s: %s\n", l.dir,
		           strerror(errno));
		listen_end(&l);
		return EXIT_USAGE;
	}
	const char *why;
	if (o.record && !(l.rec = recording_begin(o.record, o.keep, &why))) {
		buf_printf(&cli->err, "intact: cannot record to '%s': %s\n", o.record, why);
		listen_end(&l);
		return EXIT_USAGE;
	}
	const char *env = environment(s, &l);
	buf_flush(&cli->err, stderr);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("INTACT_OPTIONS", env, 1);
		signal(SIGPIPE, SIG_DFL);
		execvp(argv[0], argv);
		fprintf(stderr, "intact: cannot run '%s': %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	int status = pid < 0 ? 0 : watch(&l, pid);
	if (l.rec)
		recording_end(l.rec, &cli->err, false);
	if (!o.silent)
		show(cli, s, &l);
	listen_end(&l);
	if (pid < 0) {
		buf_printf(&cli->err, "intact: cannot start a process: %s\n", strerror(errno));
		return EXIT_INTERNAL;
	}
	if (WIFSIGNALED(status))
		buf_printf(&cli->err, "intact: the program was ended by signal %d (%s)\n",
		           WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- reports ---- */

static int write_reports(struct cli *cli, const struct cmd *cmd, struct settings *s, const char *program, int rc)
{
	struct buf doc;
	if (!outputs_wanted(&o.outputs))
		return rc;
	buf_init(&doc);
	buf_char(&doc, '{');
	doc_begin(&doc, "run");
	buf_printf(&doc, ", \"verdict\": \"%s\", \"program\": ", s->shown.count ? "violated" : "holds");
	buf_json(&doc, program, strlen(program));
	buf_printf(&doc, ",\n\"findings\": %u, \"confirmed\": %u, \"suppressed\": %u, \"results\": [\n", s->shown.count,
	           s->shown.confirmed, s->shown.suppressed);
	buf_add(&doc, buf_cstr(&s->log.results), s->log.results.len);
	buf_char(&doc, ']');
	finding_sources(&s->log, &doc);
	buf_str(&doc, "}\n");
	int failed = outputs_write(cli, cmd, &o.outputs, &doc, EXIT_HOLDS);
	buf_free(&doc);
	return failed ? failed : rc;
}

/* ---- --infer ---- */

static bool write_spec(struct cli *cli, struct settings *s)
{
	FILE *f = fopen(o.infer, "w");
	if (!f) {
		buf_printf(&cli->err, "intact: cannot write '%s': %s\n", o.infer, strerror(errno));
		return false;
	}
	fputs("# What is not atomic, as seen by intact run --infer. Every other function\n"
	      "# that takes a lock was atomic in the runs so far.\n", f);
	for (uint32_t i = 0; i < s->filter.atomic.len; i++)
		fprintf(f, "atomic %s\n", s->filter.atomic.data[i].text);
	for (uint32_t i = 0; i < s->filter.not_atomic.len; i++)
		fprintf(f, "not-atomic %s\n", s->filter.not_atomic.data[i].text);
	bool ok = !ferror(f);
	return !fclose(f) && ok;
}

static int infer(struct cli *cli, struct settings *s, char **argv)
{
	int rc = 0;
	uint32_t total = 0;
	if (access(o.infer, F_OK) == 0 && !filter_read_spec(&s->filter, o.infer, &cli->err))
		return EXIT_USAGE;
	for (uint64_t i = 0; i < o.runs; i++) {
		uint32_t before = s->shown.names.len;
		rc = run_once(cli, s, argv);
		uint32_t fresh = 0;
		for (uint32_t k = before; k < s->shown.names.len; k++) {
			const char *name = s->shown.names.data[k];
			struct src_frame fr = { .function = name };
			bool known = false;
			for (uint32_t j = 0; j < s->filter.not_atomic.len; j++)
				known |= pattern_matches(s->filter.not_atomic.data[j].text, &fr);
			if (known)
				continue;
			struct pattern p = { .text = arena_printf(&s->arena, "%.*s",
			                                          (int)strcspn(name, "("), name) };
			avec_push(&s->arena, &s->filter.not_atomic, p);
			fresh++;
		}
		total += fresh;
		if (!fresh)
			break;
	}
	if (!write_spec(cli, s))
		return EXIT_USAGE;
	buf_printf(&cli->err, "intact: %u function%s dropped; %s lists what is not atomic\n", total,
	           total == 1 ? "" : "s", o.infer);
	return rc;
}

/* ---- the command ---- */

/* Where the program's own words begin. */
static int first_word(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (argv[i][0] != '-')
			return i;
		for (const struct opt *t = table; t->help; t++)
			if (t->name && !strcmp(argv[i] + (argv[i][1] == '-' ? 2 : 1), t->name) &&
			    t->kind != OPT_FLAG && t->kind != OPT_GROUP) {
				i++;
				break;
			}
	}
	return argc;
}

static void add_patterns(struct settings *s, const struct opt_list *l, bool atomic)
{
	for (int i = 0; i < l->n; i++) {
		struct pattern p = { .text = l->items[i] };
		if (atomic)
			avec_push(&s->arena, &s->filter.atomic, p);
		else
			avec_push(&s->arena, &s->filter.not_atomic, p);
	}
}

static bool gather(struct cli *cli, struct settings *s)
{
	bool ok = read_settings(cli, s);
	add_patterns(s, &o.atomic, true);
	add_patterns(s, &o.not_atomic, false);
	for (int i = 0; i < o.specs.n; i++)
		ok &= filter_read_spec(&s->filter, o.specs.items[i], &cli->err);
	for (int i = 0; i < o.suppressions.n; i++)
		ok &= filter_read_suppressions(&s->filter, o.suppressions.items[i], &cli->err);
	s->text.gen_suppressions |= o.gen;
	s->text.strict |= o.strict;
	if (o.log_path)
		s->log_path = o.log_path;
	if (strcmp(s->log_path, "stderr") != 0)
		s->text.color = false;
	return ok;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int at = first_word(argc, argv), own = at;
	if (own > 0 && own <= argc && !strcmp(argv[own - 1], "--"))
		own--;
	const char **room = calloc((size_t)argc * 5 + 5, sizeof *room);
	if (!room)
		return EXIT_INTERNAL;
	memset(&o, 0, sizeof o);
	o.runs = 1;
	o.exitcode = 1000;
	o.atomic.items = room;
	o.not_atomic.items = room + argc;
	o.specs.items = room + 2 * argc;
	o.suppressions.items = room + 3 * argc;
	struct opts opts = { .table = table, .args = room + 4 * argc };
	struct buf err;
	buf_init(&err);
	int rc;
	if (!opts_parse(&opts, own, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (opts.help) {
		rc = cli_help(cli, cmd, table);
	} else if (at >= argc) {
		rc = cli_usage(cli, cmd, "which program?");
	} else if (o.record && o.infer) {
		rc = cli_usage(cli, cmd, "--record and --infer do not go together");
	} else if (o.keep && !o.record) {
		rc = cli_usage(cli, cmd, "--keep-last goes with --record");
	} else if (outputs_wrong(&o.outputs)) {
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&o.outputs));
	} else {
		struct settings s = { 0 };
		arena_init(&s.arena, 0);
		if (!gather(cli, &s)) {
			rc = EXIT_USAGE;
		} else {
			buf_init(&s.log.results);
			if (outputs_wanted(&o.outputs))
				log_begin(&s);
			name_functions(cli, &s, argv[at]);
			rc = o.infer ? infer(cli, &s, argv + at) : run_once(cli, &s, argv + at);
			const char *v = option(&s.arena, "exitcode");
			uint64_t code = o.exitcode < 1000 ? o.exitcode : v ? strtoull(v, NULL, 10) : 66;
			if (s.shown.count && code && !o.infer)
				rc = (int)code;
			rc = write_reports(cli, cmd, &s, argv[at], rc);
			buf_free(&s.log.results);
		}
		arena_free(&s.arena);
	}
	buf_free(&err);
	free(room);
	return rc;
}

/* The program's exit status is its own. */
static const char *record_options(struct arena *a)
{
	const char *old = getenv("INTACT_OPTIONS");
	return arena_printf(a, "%s%sexitcode=0", old ? old : "", old && *old ? ":" : "");
}

static int run_record(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct record_opts {
		const char *file;
		uint64_t keep;
	} r = { "intact.trace", 0 };
	const struct opt own[] = {
		{ OPT_STR, "output", 'o', "FILE", &r.file, "where to (default: intact.trace)", 0, 0, NULL },
		{ OPT_SIZE, "keep-last", 0, "SIZE", &r.keep, "keep about the last SIZE bytes of it", 0, 0, NULL },
		{ 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL },
	};
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct opts opts = { .table = own, .args = args };
	struct buf err;
	int at = 0, rc;
	while (at < argc && argv[at][0] == '-' && strcmp(argv[at], "--") != 0) {
		bool value = !strcmp(argv[at], "-o") || !strcmp(argv[at], "--output") ||
		             !strcmp(argv[at], "--keep-last");
		at += value ? 2 : 1;
	}
	int words = at < argc ? at : argc;
	if (at < argc && !strcmp(argv[at], "--"))
		at++;
	buf_init(&err);
	if (!args) {
		rc = EXIT_INTERNAL;
	} else if (!opts_parse(&opts, words, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (opts.help) {
		rc = cli_help(cli, cmd, own);
	} else if (at >= argc) {
		rc = cli_usage(cli, cmd, "which program?");
	} else {
		struct settings s = { 0 };
		arena_init(&s.arena, 0);
		memset(&o, 0, sizeof o);
		o.record = r.file;
		o.keep = r.keep;
		o.silent = true;
		setenv("INTACT_OPTIONS", record_options(&s.arena), 1);
		rc = read_settings(cli, &s) ? run_once(cli, &s, argv + at) : EXIT_USAGE;
		arena_free(&s.arena);
	}
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_record = {
	"record", "record what a program built with `intact cc` does",
	"record [-o FILE] [--keep-last SIZE] [--] PROGRAM [ARGUMENTS]",
	"Runs the program and records its accesses, locks, threads and calls, with their\n"
	"names, into one compressed file for `intact trace`. Nothing is reported now: the\n"
	"exit status is the program's. `intact run --record FILE` does both.\n\n"
	"When the program is killed the file holds all it did. With --keep-last a long run\n"
	"leaves its last part only.\n",
	NULL, run_record,
};

const struct cmd cmd_run = {
	"run", "watch a program built with `intact cc`", "run [OPTIONS] [--] PROGRAM [ARGUMENTS]",
	"Runs the program and reports functions that are not atomic: a lock is given\n"
	"up in the middle, or shared data is used without one, so that another thread\n"
	"can come in between. By default every function that takes a lock, itself or\n"
	"in what it calls, is expected to be atomic, except main and thread functions.\n\n"
	"A PATTERN is a function name with * and ?, a file, or file:line.\n"
	"INTACT_OPTIONS=help=1 PROGRAM lists what can be set without `intact run`.\n\n"
	"Exit status: 66 when something is found (see --exitcode), else the program's.\n",
	table, run,
};
