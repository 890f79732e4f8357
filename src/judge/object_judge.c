#include "judge/object_judge.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "history/history.h"
#include "history/judged.h"
#include "history/object.h"
#include "judge/object_scenario.h"

/* ---- what is asked ---- */

static int name_index(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static bool wrong(struct buf *err, const struct objtest_about *a, const char *what, const char *name, const char *hint)
{
	buf_str(err, "intact: object test '");
	buf_safe(err, a->name, strlen(a->name));
	buf_printf(err, "': %s '", what);
	buf_safe(err, name, strlen(name));
	buf_printf(err, "'\nhint: %s\n", hint);
	return false;
}

static bool set_condition(struct object_judge *j, struct buf *err)
{
	static const char *const own[] = { "linearizable", "sequential", "quiescent", NULL };
	const char *name = j->about->condition;
	int i = name_index(own, name);
	if (!strcmp(name, "none"))
		return (!j->named && !j->about->has_model) ||
		       wrong(err, j->about, "a specification or a model is given, and the condition is", name,
		             "leave one of them out: with \"none\" results are compared with nothing");
	if (j->named) {
		int k = i == SEQ_LINEARIZABLE ? 0 : name_index(condition_names, name);
		if (k < 0)
			return wrong(err, j->about, "unknown condition", name,
			             "with a specification: linearizable, sequential, regular or safe");
		j->args.condition = k;
		return true;
	}
	if (i < 0)
		return wrong(err, j->about, "unknown condition", name,
		             "linearizable, sequential, quiescent or none; regular and safe need a specification (`spec`)");
	j->condition = (enum seq_condition)i;
	return true;
}

/* Operations that the built-in object does not have would be found out by the first history only. */
static bool operations_fit(const struct object_judge *j, struct buf *err)
{
	const struct objtest_about *a = j->about;
	for (uint32_t i = 0; i < a->nops && !j->args.spec; i++)
		if (!object_operation((enum object)j->args.object, fn_by_name(a->op[i].as, strlen(a->op[i].as))))
			return wrong(err, a, "the specification has no operation", a->op[i].as,
			             "`intact explain objects` shows its operations; `as` gives an operation another name there");
	return true;
}

static bool set_spec(struct object_judge *j, struct buf *err)
{
	const char *spec = j->about->spec;
	j->named = *spec != 0;
	if (!j->named)
		return true;
	j->args.nil = HISTORY_NIL_VALUE;
	j->args.pairs = HISTORY_PAIRS_NO;
	j->args.failed_cas = 1;
	j->args.format = FORMAT_OF_RECORDED;
	j->args.jobs = 1;
	if (strchr(spec, '.')) {
		j->args.spec = spec;
	} else {
		j->args.object = (int)object_by_name(spec, strlen(spec));
		j->args.init = *j->about->initial ? j->about->initial : NULL;
		if (!j->args.object)
			return wrong(err, j->about, "unknown specification", spec,
			             "`intact explain objects` lists the objects; a file's name has a dot (queue.spec)");
		if (object_type((enum object)j->args.object)->init == INIT_BOUND && !j->args.init)
			return wrong(err, j->about, "`initial` is missing for the specification", spec,
			             ".initial = \"4\": the room of a bounded queue; k of a relaxed object");
		if (!operations_fit(j, err))
			return false;
	}
	return true;
}

/* The order that `intact history` found, of one key or several. A line of the history is an event. */
static void keep_order(void *arg, const struct history *h, const struct check *c)
{
	struct object_judge *j = arg;
	const struct objtest_history *of = j->at_hand;
	uint64_t after[OBJTEST_CALLS] = { 0 }, begun = 0, all = 0;
	j->ordered = 0;
	if (c->verdict != LIN_HOLDS || j->args.condition != COND_ATOMIC)
		return;
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct result *r = &c->parts[i].r;
		uint64_t set = 0;
		for (uint32_t k = 0; k < r->norder; k++) {
			uint32_t line = r->order[k] < h->n ? h->ops[r->order[k]].line : 0;
			if (!line || line > of->nevents)
				return;
			uint32_t call = of->event[line - 1] / 2;
			after[call] |= set;
			set |= 1ull << call;
		}
		all |= set;
	}
	/* merged, with the order in time */
	uint64_t ended = 0;
	for (uint32_t i = 0; i < of->nevents; i++) {
		uint32_t call = of->event[i] / 2;
		if (of->event[i] & 1)
			ended |= 1ull << call;
		else
			after[call] |= ended;
	}
	while (begun != all) {
		uint32_t call = 0;
		while (call < OBJTEST_CALLS && (!(all >> call & 1) || begun >> call & 1 || after[call] & all & ~begun))
			call++;
		if (call == OBJTEST_CALLS)
			return;
		j->before[call] = begun;
		begun |= 1ull << call;
	}
	j->ordered = all;
}

bool object_judge_init(struct object_judge *j, const struct objtest_about *about, char **argv, bool keeps_pipe, double stall,
                       uint64_t max_steps, bool happens, struct buf *err)
{
	memset(j, 0, sizeof *j);
	j->about = about;
	buf_init(&j->results);
	buf_init(&j->spoilt);
	buf_init(&j->error);
	buf_init(&j->reason);
	sequential_init(&j->sequential, argv, keeps_pipe, stall, max_steps, &j->error);
	if (!set_spec(j, err) || !set_condition(j, err))
		return false;
	if (happens && (j->named ? j->args.condition != COND_SEQUENTIAL : j->condition == SEQ_QUIESCENT))
		return wrong(err, about,
		             j->named ? "--memory=c11 cannot check in real time against"
		                      : "--memory=c11 cannot check the condition",
		             j->named ? about->spec : about->condition,
		             "under C11 memory calls are ordered by happens-before: compare with the object itself or with a "
		             "model, or use the "
		             "condition \"sequential\"");
	j->happens = happens;
	if (!j->named)
		return true;
	struct why why;
	const char *bad = history_args_wrong(&j->args, &why);
	if (bad)
		return wrong(err, about, bad, about->spec, "see `intact history --help`");
	j->sink = (struct history_sink){
		.results = &j->results, .err = &j->spoilt, .bad_only = true, .judged = keep_order, .judged_arg = j
	};
	j->run = history_run_new(&j->args, &j->sink);
	if (!j->run)
		buf_add(err, j->spoilt.data, j->spoilt.len);
	return j->run != NULL;
}

void object_judge_free(struct object_judge *j)
{
	sequential_free(&j->sequential);
	free(j->kept);
	history_run_free(j->run);
	buf_free(&j->results);
	buf_free(&j->spoilt);
	buf_free(&j->error);
	buf_free(&j->reason);
}

const char *object_judge_against(const struct object_judge *j, struct arena *a)
{
	if (j->args.spec)
		return arena_printf(a, "the specification in %s", j->args.spec);
	if (j->named)
		return arena_printf(a, "the built-in specification '%s'", object_names[j->args.object]);
	return j->about->has_model ? "the model, called by one thread at a time"
	                           : "the object itself, called by one thread at a time";
}

/* ---- is it a history? ---- */

static bool fits(const struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	uint8_t seen[OBJTEST_CALLS] = { 0 };
	uint32_t last[OBJTEST_THREADS + 1] = { 0 };
	uint64_t returned = 0;
	if (sc->ncalls > OBJTEST_CALLS || sc->nthreads > OBJTEST_THREADS || h->nevents > 2 * sc->ncalls)
		return false;
	if ((h->partial == OBJTEST_HAPPENS) != j->happens || h->partial > OBJTEST_HAPPENS)
		return false;
	for (uint32_t i = 0; i < sc->ncalls; i++)
		if (sc->call[i].op >= j->about->nops || sc->call[i].thread > sc->nthreads || h->state[i] > OBJTEST_RETURNED)
			return false;
	for (uint32_t i = 0; i < h->nevents; i++) {
		uint32_t c = h->event[i] / 2, thread;
		if (c >= sc->ncalls || seen[c] != (h->event[i] & 1))
			return false;
		thread = sc->call[c].thread;
		if (!(h->event[i] & 1) && last[thread] && seen[last[thread] - 1] != 2)
			return false; /* a second call while one is open */
		if (h->partial == OBJTEST_HAPPENS && !(h->event[i] & 1) && h->last_first[c] & ~returned)
			return false;
		returned |= h->event[i] & 1 ? 1ull << c : 0;
		last[thread] = c + 1;
		seen[c]++;
	}
	for (uint32_t i = 0; i < sc->ncalls; i++)
		if (seen[i] != (h->state[i] == OBJTEST_RETURNED ? 2 : h->state[i] == OBJTEST_CALLED))
			return false;
	return true;
}

/* ---- as `intact history` reads it ---- */

/* Of an operation of a built-in object; OP_METHOD: of a specification in a file. */
static enum op_shape shape_of(const struct object_judge *j, const struct objtest_op *op)
{
	if (j->args.spec)
		return OP_METHOD;
	uint32_t fn = fn_by_name(op->as, strlen(op->as));
	const struct object_operation *o = object_operation((enum object)j->args.object, fn);
	return o ? o->shape : fn_shape(fn);
}

static bool is_boolean(const struct object_judge *j, const struct objtest_op *op)
{
	enum op_shape shape = shape_of(j, op);
	return op->flags & OBJTEST_BOOLEAN || shape == OP_CAS || shape == OP_CHANGES || shape == OP_ASKS || shape == OP_TRIES ||
	       shape == OP_OFFERS;
}

static void value_write(const struct object_judge *j, const struct objtest_op *op, int64_t v, struct buf *b)
{
	if (v == OBJTEST_RESULT_VOID || v == OBJTEST_RESULT_EMPTY)
		buf_str(b, "null");
	else if (is_boolean(j, op))
		buf_str(b, v ? "true" : "false");
	else
		buf_printf(b, "%" PRId64, v);
}

static void event_write(const struct object_judge *j, const struct objtest_call *c, bool returned, int64_t result, struct buf *b)
{
	const struct objtest_op *op = &j->about->op[c->op];
	bool keyed = !j->args.spec && j->args.object == OBJ_KV;
	uint32_t n = 0, from = keyed;
	while (n < OBJTEST_ARGS && op->arg[n].kind)
		n++;
	bool answers_full = result == OBJTEST_RESULT_FULL && shape_of(j, op) == OP_OFFERS;
	bool full = returned && result == OBJTEST_RESULT_FULL && !answers_full;
	struct json_out w, *o = &w;
	json_out_init(o, b, false);
	json_begin_object(o, NULL);
	json_uint(o, "process", c->thread);
	json_text(o, "type", !returned ? "invoke" : full ? "fail" : "ok");
	json_text(o, "f", op->as);
	if (keyed)
		json_int(o, "key", c->arg[0]);
	if (returned && answers_full) {
		json_bool(o, "value", false);
	} else if (returned && !full) {
		value_write(j, op, result, json_value(o, "value"));
	} else if (n <= from) {
		buf_str(json_value(o, "value"), "null");
	} else if (n == from + 1) {
		json_int(o, "value", c->arg[from]);
	} else {
		json_begin_array(o, "value");
		for (uint32_t k = from; k < n; k++)
			json_int(o, NULL, c->arg[k]);
		json_end(o);
	}
	json_end(o);
	buf_char(b, '\n');
}

static val value_made(const struct object_judge *j, const struct objtest_op *op, int64_t v, struct values *vs)
{
	if (v == OBJTEST_RESULT_VOID || v == OBJTEST_RESULT_EMPTY)
		return VAL_NIL;
	return is_boolean(j, op) ? val_bool(v != 0) : val_int(vs, v);
}

static val arguments_made(const struct objtest_op *op, const struct objtest_call *c, uint32_t from, struct values *vs)
{
	val v[OBJTEST_ARGS];
	uint32_t n = 0;
	while (from + n < OBJTEST_ARGS && op->arg[from + n].kind) {
		v[n] = val_int(vs, c->arg[from + n]);
		n++;
	}
	return n == 0 ? VAL_NIL : n == 1 ? v[0] : val_list(vs, VK_LIST, v, n);
}

/* The history at hand without a text in between, which took ten times as long: what the lines of event_write are read as. False: an operation is
 * unknown, and a message is wanted. */
static bool history_made(void *arg, struct history *h)
{
	struct object_judge *j = arg;
	bool keyed = !j->args.spec && j->args.object == OBJ_KV;
	uint32_t at[OBJTEST_CALLS];
	for (uint32_t i = 0; i < j->at_hand->nevents; i++) {
		uint32_t call = j->at_hand->event[i] / 2;
		const struct objtest_call *c = &j->scenario.call[call];
		const struct objtest_op *op = &j->about->op[c->op];
		int64_t result = j->at_hand->result[call];
		if (!(j->at_hand->event[i] & 1)) {
			uint32_t fn = history_fn(h, op->as, strlen(op->as));
			struct hop *o = fn == FN_NONE ? NULL : history_push(h);
			if (!o)
				return false;
			at[call] = h->n - 1;
			*o = (struct hop){ .call = h->nevents++, .ret = RANK_INF, .b = VAL_NONE, .line = i + 1, .fn = (uint8_t)fn };
			o->a = arguments_made(op, c, keyed, &h->vals);
			o->proc = proc_intern(h, val_int(&h->vals, c->thread));
			o->key = keyed ? key_intern(h, val_int(&h->vals, c->arg[0])) : 0;
			continue;
		}
		struct hop *o = &h->ops[at[call]];
		bool full = result == OBJTEST_RESULT_FULL, answers = full && shape_of(j, op) == OP_OFFERS;
		o->ret = h->nevents++;
		o->flags = full && !answers ? HF_FAILED : 0;
		o->b = answers ? VAL_FALSE : full ? arguments_made(op, c, keyed, &h->vals) : value_made(j, op, result, &h->vals);
	}
	h->format = "calls";
	return true;
}

/* "pop -> 1 by process 1 (line 3)": the lines are of a text that is not shown. */
static void sentence_write(const char *s, struct buf *out)
{
	while (*s) {
		if (!strncmp(s, " (line ", 7) && strchr(s, ')')) {
			s = strchr(s, ')') + 1;
		} else if (!strncmp(s, "process ", 8) && s[8] >= '0' && s[8] <= '9') {
			s += 8;
			buf_str(out, *s == '0' ? "main" : "T");
			s += *s == '0';
		} else {
			buf_char(out, *s++);
		}
	}
}

static void reason_of_results(struct object_judge *j)
{
	json_t *doc = json_loadb(buf_cstr(&j->results), j->results.len, JSON_DECODE_ANY, NULL), *part;
	size_t i;
	json_array_foreach(json_object_get(doc, "parts"), i, part)
	{
		const char *s = json_string_value(json_object_get(part, "sentence"));
		if (s && !j->reason.len)
			sentence_write(s, &j->reason);
	}
	json_decref(doc);
	if (!j->reason.len)
		buf_str(&j->reason, "no order of the calls gives these results");
}

static enum seq_verdict ask_history(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	struct buf text;
	bool any = false;
	for (uint32_t i = 0; i < sc->ncalls; i++)
		any |= h->state[i] == OBJTEST_RETURNED &&
		       (h->result[i] != OBJTEST_RESULT_FULL || shape_of(j, &j->about->op[sc->call[i].op]) == OP_OFFERS);
	if (!any)
		return SEQ_EXPLAINED; /* nothing has happened */
	buf_clear(&j->results);
	buf_clear(&j->spoilt);
	int rc = history_judge_made(j->run, "history", history_made, j);
	if (rc == EXIT_USAGE) { /* what is wrong with it is said of a text */
		buf_init(&text);
		for (uint32_t i = 0; i < h->nevents; i++) {
			uint32_t c = h->event[i] / 2;
			event_write(j, &sc->call[c], h->event[i] & 1, h->result[c], &text);
		}
		buf_clear(&j->spoilt);
		rc = history_judge_text(j->run, "history", buf_cstr(&text), text.len);
		buf_free(&text);
	}
	if (rc == EXIT_HOLDS)
		return SEQ_EXPLAINED;
	if (rc == EXIT_VIOLATED) {
		reason_of_results(j);
		return SEQ_NOT_EXPLAINED;
	}
	if (rc == EXIT_USAGE && !j->error.len)
		buf_add(&j->error, j->spoilt.data, j->spoilt.len);
	return SEQ_UNKNOWN;
}

/* ---- reasons ---- */

static void call_write(const struct object_judge *j, const struct objtest_call *c, struct buf *out)
{
	scenario_call_write(j->about, c, out);
	if (c->thread)
		buf_printf(out, " of T%u", c->thread);
	else
		buf_str(out, " of main");
}

static void reason_of_waiting(struct object_judge *j, const struct objtest_scenario *sc, uint32_t call)
{
	struct buf *b = &j->reason;
	call_write(j, &sc->call[call], b);
	buf_str(b, " waits forever, although it would return: in every order of the calls that returned, one at a time, it goes on "
	           "when it is made after them");
}

static void reason_of_orders(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h,
                             const struct seq_reason *w)
{
	struct buf *b = &j->reason;
	buf_str(b, "no order of the calls, made one at a time, gives these results");
	if (w->n) {
		buf_str(b, "; the longest that agrees is ");
		for (uint32_t i = 0; i < w->n; i++) {
			const struct objtest_call *c = &sc->call[w->order[i]];
			buf_str(b, i ? ", " : "");
			call_write(j, c, b);
			buf_str(b, " -> ");
			if (h->state[w->order[i]] == OBJTEST_RETURNED)
				scenario_result_write(j->about, c, h->result[w->order[i]], b);
			else
				buf_str(b, "?");
		}
	}
	for (uint32_t c = 0, any = 0; c < sc->ncalls; c++) {
		if (!(w->next >> c & 1))
			continue;
		buf_str(b, any++ ? ", and " : w->n ? "; then " : ": ");
		call_write(j, &sc->call[c], b);
		if (w->waits[c]) {
			buf_str(b, w->waits[c] == 2 ? " would crash" : " would wait");
		} else {
			buf_str(b, " would return ");
			scenario_result_write(j->about, &sc->call[c], w->result[c], b);
		}
		buf_str(b, ", not ");
		scenario_result_write(j->about, &sc->call[c], h->result[c], b);
	}
}

/* ---- orders that are kept ---- */

static uint32_t slot_of_results(const struct objtest_scenario *sc, const struct objtest_history *h)
{
	uint64_t x = 0x9e3779b97f4a7c15u;
	for (uint32_t c = 0; c < sc->ncalls; c++)
		x = (x ^ (uint64_t)h->result[c] ^ (uint64_t)h->state[c] << 60) * 0xd1b54a32d192ed03u + (x >> 32);
	return (uint32_t)(x >> 40) & (JUDGE_ORDERS - 1);
}

static bool same_results(const struct judge_order *k, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	bool same = true;
	for (uint32_t c = 0; c < sc->ncalls && same; c++)
		same = k->state[c] == h->state[c] && k->result[c] == h->result[c];
	return same;
}

/* Orders of another scenario are no use. */
static void about(struct object_judge *j, const struct objtest_scenario *sc)
{
	if (j->kept && !memcmp(&j->scenario, sc, sizeof *sc))
		return;
	j->scenario = *sc;
	j->nkept = 0;
	j->nscenarios++;
	if (!j->kept)
		j->kept = calloc(JUDGE_ORDERS, sizeof *j->kept);
}

/* Is the order of a history that ended the calls `ended[c]` before c began? */
static bool agrees(const struct judge_order *k, uint32_t ncalls, const uint64_t *ended)
{
	bool ok = true;
	for (uint32_t c = 0; c < ncalls && ok; c++)
		ok = !(k->ordered >> c & 1) || !(ended[c] & k->ordered & ~k->before[c]);
	return ok;
}

static const struct judge_order *find_order(const struct object_judge *j, const struct objtest_scenario *sc,
                                            const struct objtest_history *h)
{
	uint64_t ended[OBJTEST_CALLS] = { 0 }, so_far = 0;
	for (uint32_t i = 0; i < h->nevents; i++) {
		if (h->event[i] & 1)
			so_far |= 1ull << h->event[i] / 2;
		else
			ended[h->event[i] / 2] = so_far;
	}
	for (uint32_t i = slot_of_results(sc, h); j->kept && j->kept[i].scenario == j->nscenarios; i = (i + 1) & (JUDGE_ORDERS - 1))
		if (same_results(&j->kept[i], sc, h) && agrees(&j->kept[i], sc->ncalls, ended))
			return &j->kept[i];
	return NULL;
}

static void keep_explanation(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	if (!j->kept || j->nkept >= JUDGE_ORDERS / 2)
		return;
	uint32_t i = slot_of_results(sc, h);
	while (j->kept[i].scenario == j->nscenarios)
		i = (i + 1) & (JUDGE_ORDERS - 1);
	struct judge_order *k = &j->kept[i];
	k->scenario = j->nscenarios;
	memcpy(k->state, h->state, sizeof k->state);
	memcpy(k->result, h->result, sizeof k->result);
	k->ordered = j->ordered;
	memcpy(k->before, j->before, sizeof k->before);
	j->nkept++;
}

/* ---- one history, and all histories of a trace ---- */

static enum seq_verdict judge_one(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	struct seq_reason why = { .waiting = OBJTEST_CALLS };
	enum seq_verdict v;
	about(j, sc);
	const struct judge_order *kept = h->partial == OBJTEST_HAPPENS || h->stuck ? NULL : find_order(j, sc, h);
	if (kept) {
		j->ordered = kept->ordered;
		memcpy(j->before, kept->before, sizeof j->before);
		return SEQ_EXPLAINED;
	}
	j->at_hand = h;
	j->ordered = 0;
	j->asked++;
	buf_clear(&j->reason);
	if (j->named) {
		v = ask_history(j, sc, h);
		if (v == SEQ_EXPLAINED)
			v = sequential_waits(&j->sequential, sc, h,
			                     j->args.condition == COND_SEQUENTIAL ? SEQ_SEQUENTIAL : SEQ_LINEARIZABLE, &why);
	} else {
		v = sequential_explain(&j->sequential, sc, h, j->condition, &why);
		j->ordered = v == SEQ_EXPLAINED && j->condition == SEQ_LINEARIZABLE ? why.ordered : 0;
		memcpy(j->before, why.before, sizeof j->before);
	}
	if (h->stuck)
		j->ordered = 0; /* what waits depends on more */
	if (j->ordered && h->partial != OBJTEST_HAPPENS)
		keep_explanation(j, sc, h);
	if (v == SEQ_NOT_EXPLAINED && why.waiting < OBJTEST_CALLS) {
		buf_clear(&j->reason);
		reason_of_waiting(j, sc, why.waiting);
	} else if (v == SEQ_NOT_EXPLAINED && !j->reason.len) {
		reason_of_orders(j, sc, h, &why);
	}
	j->unknown += v == SEQ_UNKNOWN;
	return v;
}

/* Orders of the first and last steps of calls that agree with happens-before. */
struct orders {
	struct object_judge *j;
	const struct objtest_scenario *sc;
	const struct objtest_history *h;
	struct objtest_history made;
	uint64_t parallel, one_step, late; /* late: calls that wait before their first step */
	uint32_t first[OBJTEST_CALLS], last[OBJTEST_CALLS];
	uint64_t tried;
	enum seq_verdict verdict;
};
enum { MAX_ORDERS = 100000 };

static void put(struct orders *o, uint32_t call, unsigned returned)
{
	o->made.step[o->made.nevents] = returned ? o->last[call] : o->first[call];
	o->made.event[o->made.nevents++] = (uint8_t)(2 * call + returned);
}

/* The order is whole: false when it has no explanation. */
static bool judge_order(struct orders *o)
{
	uint32_t n = o->made.nevents;
	bool ok = true;
	for (uint32_t c = 0; c < o->sc->ncalls; c++)
		if (o->late >> c & 1)
			put(o, c, 0);
	for (uint32_t i = 0; i < o->h->nevents; i++) {
		uint32_t c = o->h->event[i] / 2;
		if (o->sc->call[c].part == OBJTEST_AFTER)
			put(o, c, o->h->event[i] & 1);
	}
	enum seq_verdict v = judge_one(o->j, o->sc, &o->made);
	if (v == SEQ_UNKNOWN)
		o->verdict = v;
	ok = v != SEQ_NOT_EXPLAINED;
	if (ok)
		o->made.nevents = n;
	return ok;
}

/*
 * A call that can end does so at once, unless its last step is its first: that only adds to the calls that it ended
 * before. So what is left to choose is which call begins.
 */
static bool extend(struct orders *o, uint64_t begun, uint64_t ended)
{
	const struct objtest_history *h = o->h;
	uint32_t n = o->made.nevents;
	bool ok = true, more = true;
	while (more) {
		more = false;
		for (uint32_t c = 0; c < o->sc->ncalls; c++)
			if ((o->parallel & begun & ~ended) >> c & 1 && h->state[c] == OBJTEST_RETURNED &&
			    !(h->first_last[c] & ~begun) && !(h->last_last[c] & ~ended)) {
				put(o, c, 1);
				ended |= 1ull << c;
				more = true;
			}
	}
	bool any = false;
	for (uint32_t c = 0; c < o->sc->ncalls && ok; c++) {
		uint64_t bit = 1ull << c;
		bool at_once = o->one_step & bit;
		if (!(o->parallel & bit) || begun & bit || h->first_first[c] & ~begun || h->last_first[c] & ~ended)
			continue;
		if (at_once && (h->first_last[c] & ~(begun | bit) || h->last_last[c] & ~ended))
			continue;
		any = true;
		uint32_t k = o->made.nevents;
		put(o, c, 0);
		if (at_once)
			put(o, c, 1);
		ok = extend(o, begun | bit, at_once ? ended | bit : ended);
		if (ok)
			o->made.nevents = k;
	}
	if (!any && ++o->tried > MAX_ORDERS)
		o->verdict = SEQ_UNKNOWN;
	else if (!any)
		ok = judge_order(o);
	if (ok)
		o->made.nevents = n;
	return ok;
}

static enum seq_verdict judge_all(struct object_judge *j, const struct objtest_scenario *sc, struct objtest_history *h)
{
	struct orders *o = calloc(1, sizeof *o);
	if (!o)
		return SEQ_UNKNOWN;
	o->j = j;
	o->sc = sc;
	o->h = h;
	o->made = *h;
	o->made.nevents = 0;
	for (uint32_t c = 0; c < sc->ncalls; c++)
		o->first[c] = o->last[c] = OBJTEST_NO_STEP;
	for (uint32_t i = 0; i < h->nevents; i++)
		(h->event[i] & 1 ? o->last : o->first)[h->event[i] / 2] = h->step[i];
	for (uint32_t i = 0; i < h->nevents; i++) {
		uint32_t c = h->event[i] / 2;
		if (sc->call[c].part == OBJTEST_BEFORE)
			put(o, c, h->event[i] & 1);
	}
	for (uint32_t c = 0; c < sc->ncalls; c++) {
		uint64_t bit = 1ull << c;
		if (sc->call[c].part != OBJTEST_PARALLEL || h->state[c] == OBJTEST_NOT_CALLED)
			continue;
		if (o->first[c] == OBJTEST_NO_STEP)
			o->late |= bit;
		else
			o->parallel |= bit;
		o->one_step |= o->first[c] == o->last[c] ? bit : 0;
	}
	/* steps of main's calls are not events: what happens before is about the others */
	bool ok = extend(o, 0, 0);
	enum seq_verdict v = !ok ? SEQ_NOT_EXPLAINED : o->verdict;
	if (!ok)
		*h = o->made;
	if (v != SEQ_EXPLAINED)
		j->ordered = 0; /* else it is that of the last one */
	free(o);
	return v;
}

enum seq_verdict object_judge(struct object_judge *j, const struct objtest_scenario *given, struct objtest_history *block)
{
	struct objtest_scenario sc = *given;
	struct objtest_history h = *block;
	if (!fits(j, &sc, &h)) {
		if (!j->error.len)
			buf_str(&j->error, "intact: the program damaged the record of its calls\n");
		return SEQ_UNKNOWN;
	}
	if (h.partial == OBJTEST_HAPPENS)
		return judge_one(j, &sc, &h);
	/* sets of calls of the parallel part: others are before or after by themselves */
	uint64_t parallel = 0;
	for (uint32_t c = 0; c < sc.ncalls; c++)
		if (sc.call[c].part == OBJTEST_PARALLEL)
			parallel |= 1ull << c;
	for (uint32_t c = 0; c < sc.ncalls; c++) {
		h.first_first[c] &= parallel;
		h.last_first[c] &= parallel;
		h.first_last[c] &= parallel;
		h.last_last[c] &= parallel;
	}
	if (!h.partial)
		return judge_one(j, &sc, &h);
	enum seq_verdict v = judge_all(j, &sc, &h);
	if (v == SEQ_NOT_EXPLAINED)
		*block = h;
	return v;
}
