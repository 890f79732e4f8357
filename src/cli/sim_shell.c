/*
 * sim_shell: the interactive session. A prompt lists what each thread would
 * do next; a number takes that thread's step. Commands are read line by line
 * from standard input, so that a pipe can drive it; they are echoed then, so
 * that the transcript reads like a session.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/utf8.h"
#include "cli/sim_shell.h"
#include "verdict/replay.h"

#define LINE_MAX_LEN   65536
#define SHOWN_THREADS  24u
#define SHOWN_OUTCOMES 8u
#define SIM_MAX_LOCALS 64u

struct shell {
	struct sim *s;
	struct buf *out;
	const struct glyphs *g;
	bool over, tty;
	unsigned label; /* columns of the widest thread label */
};

static void flush(struct shell *sh)
{
	buf_flush(sh->out, stdout);
}

/* ---- what can happen next ----------------------------------------------- */

static void begin_entry(struct shell *sh, const char *number, uint32_t thread)
{
	assert(thread < sh->s->ir->nthreads);
	const struct run *r = &sh->s->run;
	uint32_t block = ir_block_of(r->ir, run_now(r), thread);
	struct buf b;
	buf_init(&b);
	if (number)
		buf_str(&b, number);
	else
		text_thread(r->ir, thread, &b);
	size_t used = utf8_columns(buf_cstr(&b), b.len);
	buf_printf(sh->out, "  %s", buf_cstr(&b));
	unsigned width = number && sh->label < 10 ? 10 : sh->label;
	buf_repeat(sh->out, ' ', used < width ? width - used : 0);
	buf_free(&b);
	if (!number && block != IR_NONE) {
		buf_str(sh->out, "  [");
		buf_safe(sh->out, r->ir->blocks[block].name, strlen(r->ir->blocks[block].name));
		buf_char(sh->out, ']');
	}
}

/* One outcome, by taking it and taking it back. */
static void list_outcome(struct shell *sh, uint32_t thread, const struct run_outcome *o, bool one_of)
{
	assert(thread < sh->s->ir->nthreads && o->npick <= IR_MAX_CHOICES);
	struct run *r = &sh->s->run;
	struct buf b;
	if (run_step(r, thread, o->pick, o->npick) > RUN_FAULT)
		return;
	uint32_t i = r->nsteps - 1;
	buf_init(&b);
	if (one_of) {
		buf_str(&b, "   ");
		schedule_text_step(r, i, &b);
		begin_entry(sh, buf_cstr(&b), thread);
	}
	buf_printf(sh->out, "  line %u  ", text_line(r->ir, r->steps[i].node));
	text_step(r, i, sh->g, sh->out);
	if (one_of) {
		buf_clear(&b);
		ir_print_node(r->ir, r->steps[i].next, &b);
		buf_printf(sh->out, "; then line %u: ", text_line(r->ir, r->steps[i].next));
		buf_safe(sh->out, buf_cstr(&b), b.len);
	}
	buf_char(sh->out, '\n');
	run_undo(r);
	buf_free(&b);
}

/* False when there is nothing to say of the thread. */
static bool list_thread(struct shell *sh, uint32_t thread)
{
	assert(thread < sh->s->ir->nthreads);
	struct run *r = &sh->s->run;
	struct run_outcome out[SHOWN_OUTCOMES];
	uint32_t n = run_outcomes(r, thread, out, SHOWN_OUTCOMES);
	if (n == 0) {
		begin_entry(sh, NULL, thread);
		buf_str(sh->out, "  ");
		text_wait(r, thread, sh->out);
		buf_char(sh->out, '\n');
		return false;
	}
	begin_entry(sh, NULL, thread);
	if (out[0].npick)
		buf_str(sh->out, "  has a choice:\n");
	for (uint32_t i = 0; i < n && i < SHOWN_OUTCOMES; i++)
		list_outcome(sh, thread, &out[i], out[0].npick > 0);
	if (n > SHOWN_OUTCOMES)
		buf_printf(sh->out, "     %s and more\n", sh->g->dots);
	return true;
}

static void list_next(struct shell *sh)
{
	struct run *r = &sh->s->run;
	uint32_t shown = 0, hidden = 0;
	if (run_faulted(r)) {
		buf_str(sh->out, "the run ended with a fault; u undoes the last step, q quits\n");
		return;
	}
	buf_printf(sh->out, "\nafter %u step%s: ", r->nsteps, r->nsteps == 1 ? "" : "s");
	sim_shared_text(&sh->s->run, sh->s->utf8, sh->out);
	buf_char(sh->out, '\n');
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		if (shown >= SHOWN_THREADS) {
			hidden += run_enabled(r, t);
			continue;
		}
		list_thread(sh, t);
		shown++;
	}
	if (r->ir->nthreads > SHOWN_THREADS)
		buf_printf(sh->out, "  %s %u more threads, %u of them can move\n", sh->g->dots, r->ir->nthreads - SHOWN_THREADS,
		           hidden);
	switch (sim_end_of(sh->s, END_SESSION)) {
	case END_FINISHED:
		buf_str(sh->out, "all threads have finished; u undoes the last step, q quits\n");
		break;
	case END_DEADLOCK:
		buf_str(sh->out, "no thread can move: a deadlock; u undoes the last step, q quits\n");
		break;
	default:
		break;
	}
}

/* ---- commands ----------------------------------------------------------- */

#define SHOWN_STEPS 24u /* one by one; more are shown as a table */

static void show_step(struct shell *sh, uint32_t i)
{
	assert(i < sh->s->run.nsteps);
	const struct run *r = &sh->s->run;
	buf_printf(sh->out, "step %u, ", i + 1);
	text_who(r->ir, r->steps[i].thread, sh->out);
	buf_str(sh->out, ": ");
	text_step(r, i, sh->g, sh->out);
	if (r->steps[i].nchange) {
		buf_str(sh->out, "  [");
		text_changes(r, i, sh->g, false, sh->out);
		buf_char(sh->out, ']');
	}
	buf_char(sh->out, '\n');
}

/* The steps after the first n. */
static void show_steps(struct shell *sh, uint32_t n)
{
	assert(n <= sh->s->run.nsteps);
	const struct run *r = &sh->s->run;
	if (r->nsteps - n > SHOWN_STEPS)
		sim_trace(sh->s, sh->out);
	for (uint32_t i = n; r->nsteps - n <= SHOWN_STEPS && i < r->nsteps; i++)
		show_step(sh, i);
	if (r->nsteps > n && run_faulted(r))
		sim_fault_text(&sh->s->run, sh->s->color, sh->out);
}

static void do_steps(struct shell *sh, const char *text)
{
	struct run *r = &sh->s->run;
	struct schedule_list sc;
	sched_init(&sc);
	sc.brief = !text[strcspn(text, ", \t")];
	uint32_t before = r->nsteps;
	bool ok = sched_parse(&sc, r->ir, "input", text) && sched_run(&sc, r);
	if (r->nsteps > before)
		sh->s->random = false;
	show_steps(sh, before);
	if (!ok) {
		sc.diags.errors = 0; /* no closing count for one line of input */
		diags_render(&sc.diags, sh->out, sh->s->color);
	}
	sched_free(&sc);
}

static void do_random(struct shell *sh, uint64_t n)
{
	struct run *r = &sh->s->run;
	uint32_t before = r->nsteps;
	enum run_status st = RUN_OK;
	while (n-- && st == RUN_OK)
		st = run_random(r, &sh->s->rng);
	show_steps(sh, before);
	if (r->nsteps == before)
		buf_str(sh->out, run_faulted(r) ? "the run ended with a fault\n" : "no thread can move\n");
}

static void do_undo(struct shell *sh, uint64_t n)
{
	struct run *r = &sh->s->run;
	uint32_t done = n < r->nsteps ? (uint32_t)n : r->nsteps;
	run_rewind(r, r->nsteps - done);
	sh->s->random = false;
	if (done)
		buf_printf(sh->out, "undid %u step%s\n", done, done == 1 ? "" : "s");
	else
		buf_str(sh->out, "no step to undo\n");
	assert(done <= n);
}

static void show_locals(struct shell *sh, uint32_t thread)
{
	assert(thread < sh->s->ir->nthreads);
	const struct run *r = &sh->s->run;
	uint32_t ids[SIM_MAX_LOCALS], n = text_visible(r, thread, ids, SIM_MAX_LOCALS);
	const int32_t *f = run_now(r) + r->ir->threads[thread].frame;
	for (uint32_t k = 0; k < n && k < SIM_MAX_LOCALS; k++) {
		const struct ir_local *l = &r->ir->locals[ids[k]];
		for (uint32_t i = 0; i < l->len; i++) {
			struct run_local v = { ids[k], i, f[l->slot + i] };
			buf_str(sh->out, k || i ? ", " : "  ");
			text_local(r->ir, &v, sh->out);
		}
	}
}

static void do_state(struct shell *sh)
{
	const struct run *r = &sh->s->run;
	buf_str(sh->out, "shared: ");
	sim_shared_text(&sh->s->run, sh->s->utf8, sh->out);
	buf_char(sh->out, '\n');
	for (uint32_t t = 0; t < r->ir->nthreads && t < 200; t++) {
		const struct ir_node *n = &r->ir->nodes[ir_node_of(r->ir, run_now(r), t)];
		begin_entry(sh, NULL, t);
		if (n->kind == IRN_END)
			buf_str(sh->out, "  has finished");
		else
			buf_printf(sh->out, "  at line %u", source_pos(r->ir->src, n->span.start).line);
		show_locals(sh, t);
		buf_char(sh->out, '\n');
	}
	buf_str(sh->out, ir_quiescent(r->ir, run_now(r)) ? "no thread is inside a block\n" : "");
}

static void do_save(struct shell *sh, const char *path)
{
	struct why why;
	if (!*path) {
		buf_str(sh->out, "w FILE: missing file name\n");
	} else if (sched_save(&sh->s->run, path, sh->s->path, &why)) {
		buf_str(sh->out, "saved to ");
		buf_safe(sh->out, path, strlen(path));
		buf_char(sh->out, '\n');
	} else {
		buf_str(sh->out, "cannot write ");
		buf_safe(sh->out, path, strlen(path));
		buf_printf(sh->out, ": %s\n", why.text);
	}
}

static void help(struct shell *sh)
{
	buf_str(sh->out, "  2          take a step of thread 2 (or of worker.2); 2.1 takes its first alternative\n"
	                 "  1,1,2      several steps; 2*5 takes five\n"
	                 "  r [N]      N random steps (1)\n"
	                 "  u [N]      undo the last N steps (1)\n"
	                 "  s          the state: shared variables and every thread's locals\n"
	                 "  t          the run so far as a table\n"
	                 "  p          its schedule\n"
	                 "  w FILE     save the schedule; intact sim MODEL --schedule @FILE replays it\n"
	                 "  q          quit\n"
	                 "An empty line lists the possible steps again.\n");
}

/* A count after a one-letter command; 1 when there is none. */
static bool count_of(const char *rest, uint64_t *n)
{
	char *end;
	*n = 1;
	if (!*rest)
		return true;
	*n = strtoull(rest, &end, 10);
	return isdigit((unsigned char)*rest) && !*end && *n >= 1 && *n <= 10000000;
}

/* The command's letter, when the line is one; its argument into *rest. */
static char letter_of(char *line, char **rest)
{
	static const struct {
		const char *word;
		char letter;
	} words[] = {
		{ "undo", 'u' }, { "random", 'r' }, { "state", 's' }, { "table", 't' }, { "print", 'p' }, { "write", 'w' },
		{ "save", 'w' }, { "quit", 'q' },   { "exit", 'q' },  { "help", '?' },  { "h", '?' },
	};
	size_t n = strcspn(line, " \t");
	*rest = line + n + strspn(line + n, " \t");
	if (n == 1 && strchr("urstpwq?", line[0]))
		return line[0];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i].word) == n && !memcmp(words[i].word, line, n))
			return words[i].letter;
	return 0;
}

static bool is_thread_name(const struct shell *sh, const char *line)
{
	size_t n = strcspn(line, ". \t,*");
	for (uint32_t t = 0; t < sh->s->ir->ntemplates; t++)
		if (strlen(sh->s->ir->templates[t].name) == n && !memcmp(sh->s->ir->templates[t].name, line, n))
			return true;
	return false;
}

static void command(struct shell *sh, char *line)
{
	assert(!sh->over);
	char *rest;
	uint64_t n = 1;
	char c = is_thread_name(sh, line) ? 0 : letter_of(line, &rest);
	if ((c == 'u' || c == 'r') && !count_of(rest, &n)) {
		buf_printf(sh->out, "%c N: N is a number from 1 to 10000000\n", c);
		return;
	}
	switch (c) {
	case 'u':
		do_undo(sh, n);
		break;
	case 'r':
		do_random(sh, n);
		break;
	case 's':
		do_state(sh);
		return;
	case 't':
		sim_trace(sh->s, sh->out);
		return;
	case 'p':
		schedule_text(&sh->s->run, sh->out);
		buf_char(sh->out, '\n');
		return;
	case 'w':
		do_save(sh, rest);
		return;
	case 'q':
		sh->over = true;
		return;
	case '?':
		help(sh);
		return;
	default:
		if (*line)
			do_steps(sh, line);
	}
	list_next(sh);
}

static void read_commands(struct shell *sh, char *line)
{
	while (!sh->over) {
		buf_str(sh->out, "> ");
		flush(sh);
		if (!fgets(line, LINE_MAX_LEN, stdin)) {
			buf_char(sh->out, '\n');
			return;
		}
		size_t n = strlen(line);
		bool whole = n && line[n - 1] == '\n';
		while (n && isspace((unsigned char)line[n - 1]))
			line[--n] = 0;
		if (!sh->tty) {
			buf_safe(sh->out, line, n);
			buf_char(sh->out, '\n');
		}
		if (!whole && n > LINE_MAX_LEN - 8) {
			int c;
			while ((c = getchar()) != EOF && c != '\n')
				;
			buf_str(sh->out, "the line is too long\n");
			continue;
		}
		command(sh, line + strspn(line, " \t"));
	}
}

void sim_shell(struct sim *s, struct cli *cli)
{
	assert(s->interactive && s->run.ir == s->ir);
	struct shell sh = { .s = s, .out = &cli->out, .g = glyphs_for(s->utf8), .tty = isatty(0) };
	char *line = malloc(LINE_MAX_LEN);
	struct buf b;
	if (!line)
		return;
	buf_flush(&cli->err, stderr);
	buf_init(&b);
	for (uint32_t t = 0; t < s->ir->nthreads && t < SHOWN_THREADS; t++) {
		buf_clear(&b);
		text_thread(s->ir, t, &b);
		size_t w = utf8_columns(buf_cstr(&b), b.len);
		sh.label = w > sh.label && w <= 40 ? (unsigned)w : sh.label;
	}
	buf_free(&b);
	buf_str(sh.out, "Give the number of the thread that takes the next step; ? lists the commands.\n");
	list_next(&sh);
	read_commands(&sh, line);
	free(line);
}
