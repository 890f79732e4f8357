/* say: see say.h. */
#include "txn/say.h"
#include "txn/keys.h"
#include "txn/members.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static const struct txn_history *th_of(const struct txn_check *c)
{
	return c->deps->th;
}

static void say_key(const struct txn_check *c, uint32_t key, struct buf *out)
{
	val_print(&th_of(c)->h->vals, th_of(c)->h->keys.data[key], out);
}

static void say_txn(const struct txn_check *c, uint32_t t, struct buf *out)
{
	txn_name(th_of(c), c->deps->txn[t], out);
}

/* The version of `key` that this transaction wrote, or DEPS_NONE. */
static uint32_t version_by(const struct deps *d, uint32_t t, uint32_t key)
{
	for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1]; i++)
		if (d->versions[d->writes[i]].key == key)
			return d->writes[i];
	return DEPS_NONE;
}

static bool is_append(const struct txn_check *c, uint32_t version)
{
	const struct dversion *v = &c->deps->versions[version];
	const struct txn_history *th = th_of(c);
	return v->t != DEPS_NONE && th->ops[th->txns[c->deps->txn[v->t]].first + v->po].kind == MOP_APPEND;
}

static void say_value(const struct txn_check *c, uint32_t version, struct buf *out)
{
	val_print(&th_of(c)->h->vals, c->deps->versions[version].v, out);
}

/* "wrote x = 3", "appended 3 to x" */
static void say_write(const struct txn_check *c, uint32_t t, uint32_t key, struct buf *out)
{
	uint32_t v = version_by(c->deps, t, key);
	const struct txn_member *e = members_of(th_of(c), key);
	if (v == DEPS_NONE)
		return;
	if (e) {
		buf_str(out, e->counter ? "incremented " : "added ");
		if (e->counter) {
			say_key(c, key, out);
			buf_str(out, " by ");
		}
		val_print(&th_of(c)->h->vals, e->v, out);
		if (!e->counter) {
			buf_str(out, " to ");
			say_key(c, key, out);
		}
		return;
	}
	buf_str(out, is_append(c, v) ? "appended " : "wrote ");
	if (!is_append(c, v)) {
		say_key(c, key, out);
		buf_str(out, " = ");
	}
	say_value(c, v, out);
	if (is_append(c, v)) {
		buf_str(out, " to ");
		say_key(c, key, out);
	}
}

/* ---- steps of a cycle ---------------------------------------------------------------------------- */

static void say_rw(const struct txn_check *c, const struct cycle_edge *e, struct buf *out)
{
	const struct dversion *v = &c->deps->versions[e->version];
	bool list = v->t != DEPS_NONE ? is_append(c, e->version) : is_append(c, version_by(c->deps, e->to, e->key));
	buf_str(out, " read ");
	say_key(c, e->key, out);
	const struct txn_member *m = members_of(th_of(c), e->key);
	if (m && !m->counter) {
		buf_str(out, v->t == DEPS_NONE ? " without " : " with ");
		val_print(&th_of(c)->h->vals, m->v, out);
	} else if (m) { /* nothing to say of one increment */
	} else if (v->t == DEPS_NONE) {
		buf_str(out, list ? " empty" : " in its initial state");
	} else {
		buf_str(out, list ? " up to " : " = ");
		say_value(c, e->version, out);
	}
	buf_str(out, ", before ");
	say_txn(c, e->to, out);
	buf_char(out, ' ');
	say_write(c, e->to, e->key, out);
}

/* "T1 read x = 1, which T2 ..." without a full stop. */
static void say_step(const struct txn_check *c, const struct cycle_edge *e, struct buf *out)
{
	say_txn(c, e->from, out);
	switch ((enum edge_kind)e->kind) {
	case EDGE_SESSION:
		buf_str(out, " came before ");
		say_txn(c, e->to, out);
		buf_str(out, " in its session");
		break;
	case EDGE_REALTIME:
		buf_str(out, " had ended before ");
		say_txn(c, e->to, out);
		buf_str(out, " began");
		break;
	case EDGE_WR:
		buf_char(out, ' ');
		say_write(c, e->from, e->key, out);
		buf_str(out, ", and ");
		say_txn(c, e->to, out);
		buf_str(out, members_of(th_of(c), e->key) ? " saw it" : " read it");
		break;
	case EDGE_WW:
		buf_char(out, ' ');
		say_write(c, e->from, e->key, out);
		buf_str(out, " before ");
		say_txn(c, e->to, out);
		buf_char(out, ' ');
		say_write(c, e->to, e->key, out);
		break;
	case EDGE_RW:
		say_rw(c, e, out);
		break;
	case EDGE_INSIDE:
		break;
	}
}

static void say_because(const struct txn_check *c, const struct cycle_edge *e, struct buf *out)
{
	if (e->why == WHY_MISSED) {
		buf_str(out, " (in any order: ");
		say_txn(c, e->reader, out);
		buf_str(out, " comes after ");
		say_txn(c, e->from, out);
		buf_str(out, " and read ");
		say_txn(c, e->to, out);
		buf_str(out, "'s value)");
	} else if (e->why == WHY_AFTER && e->kind == EDGE_WW) {
		buf_str(out, " (");
		say_txn(c, e->from, out);
		buf_str(out, " began before ");
		say_txn(c, e->to, out);
		buf_str(out, " ended, and two transactions that write a key do not overlap)");
	} else if (e->why == WHY_CERTAIN) {
		buf_str(out, " (it comes before it)");
	}
}

#define STEPS_SHOWN 40u

static void say_steps(const struct txn_check *c, const struct cycle_edge *e, uint32_t n, unsigned indent, struct buf *out)
{
	for (uint32_t i = 0; i < n; i++) {
		if (n > STEPS_SHOWN && i == STEPS_SHOWN / 2) {
			buf_repeat(out, ' ', indent);
			buf_printf(out, "- ... (%u more steps; --json has all)\n", n - STEPS_SHOWN);
			i = n - STEPS_SHOWN / 2;
		}
		buf_repeat(out, ' ', indent);
		buf_str(out, "- ");
		say_step(c, &e[i], out);
		say_because(c, &e[i], out);
		buf_str(out, e[i].nbecause ? ":\n" : ";\n");
		if (e[i].nbecause)
			say_steps(c, e[i].because, e[i].nbecause, indent + 4, out);
	}
}

/* ---- direct anomalies ------------------------------------------------------------------------------ */

static void say_direct(const struct txn_check *c, const struct anomaly *a, struct buf *out)
{
	const struct txn_history *th = th_of(c);
	const struct mop *m = &th->ops[th->txns[a->txn].first + a->op];
	struct buf op, other;
	buf_init(&op);
	buf_init(&other);
	mop_print(th, m, &op);
	if (a->other != DEPS_NONE)
		txn_print(th, a->other, &other);
	txn_print(th, a->txn, out);
	buf_printf(out, ": %s ", buf_cstr(&op));
	struct buf v;
	buf_init(&v);
	const struct txn_member *member = members_of(th, m->key);
	if (a->v != VAL_NONE)
		val_print(&th->h->vals, member ? member->v : a->v, &v);
	switch ((enum anomaly_kind)a->kind) {
	case ANOMALY_INTERNAL:
		buf_str(out, "contradicts what the same transaction did before");
		break;
	case ANOMALY_G1A:
		buf_printf(out, "saw %s, written by %s, which aborted", buf_cstr(&v), buf_cstr(&other));
		break;
	case ANOMALY_G1B:
		buf_printf(out, "saw %s, which its writer %s itself overwrote", buf_cstr(&v), buf_cstr(&other));
		break;
	case ANOMALY_GARBAGE:
		if (members_counter(th, m->key))
			buf_printf(out, "saw %s, which no increments add up to", buf_cstr(&v));
		else
			buf_printf(out, "saw %s, which no transaction wrote", buf_cstr(&v));
		break;
	case ANOMALY_FUTURE:
		buf_printf(out, "saw %s, which the same transaction wrote only later", buf_cstr(&v));
		break;
	case ANOMALY_DIRTY_UPDATE:
		buf_printf(out, "shows that %s, which committed, built on %s of a transaction that aborted", buf_cstr(&other),
		           buf_cstr(&v));
		break;
	case ANOMALY_DUPLICATE:
		buf_printf(out, "saw %s twice", buf_cstr(&v));
		break;
	case ANOMALY_INCOMPATIBLE:
		buf_printf(out, "and ");
		mop_print(th, &th->ops[th->txns[a->other].first + a->other_op], out);
		buf_printf(out, " of %s: neither is a beginning of the other", buf_cstr(&other));
		break;
	default:
		break;
	}
	buf_free(&v);
	buf_free(&op);
	buf_free(&other);
}

void txn_say_reason(const struct txn_check *c, const struct decision *d, struct buf *out)
{
	if (d->direct) {
		buf_str(out, "  ");
		say_direct(c, d->direct, out);
		buf_str(out, ".\n");
		return;
	}
	if (!d->ncycle) {
		buf_printf(out,
		           "  No order of the writes explains what was read: %u pairs of writes are open, and every choice leads "
		           "to a cycle (%llu conflicts).\n",
		           d->pairs, (unsigned long long)d->conflicts);
		return;
	}
	buf_str(out, "  Let\n");
	for (uint32_t i = 0; i < d->ncycle && i < 20; i++) {
		bool twin = false;
		for (uint32_t k = 0; k < i; k++)
			twin |= d->cycle[k].from == d->cycle[i].from;
		if (twin)
			continue;
		buf_str(out, "    ");
		txn_print(th_of(c), c->deps->txn[d->cycle[i].from], out);
		buf_str(out, " = ");
		txn_print_ops(th_of(c), c->deps->txn[d->cycle[i].from], out);
		buf_char(out, '\n');
	}
	buf_str(out, "  Then\n");
	say_steps(c, d->cycle, d->ncycle, 4, out);
	buf_str(out, "  so ");
	say_txn(c, d->cycle[0].from, out);
	buf_str(out, " would have to come before itself.\n");
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static struct isolation nth(uint32_t k)
{
	return (struct isolation){ (uint8_t)(k % LEVEL_COUNT), (uint8_t)(k / LEVEL_COUNT) };
}

/* Undecided, since it is not known which transaction a value is from: so are all levels, and it is told once. */
static bool ambiguous(const struct txn_answer *a)
{
	return a->asked && a->decided && a->d.verdict == TXN_UNDECIDED && !strcmp(a->d.limit, "ambiguous");
}

/* The same of the keys, each alone: steps are told of the history that has nothing but the key. */
static void keys_reason(const struct txn_keys *k, struct buf *out)
{
	struct txn_check alone = { .deps = &k->deps };
	txn_say_reason(&alone, &k->why, out);
}

static const char *const json_words[] = { "holds", "violated", "unknown" };
static const char *const kind_words[] = { "inside", "session", "realtime", "wr", "ww", "rw" };

static void json_steps(const struct txn_check *c, struct json_out *j, const char *name, const struct cycle_edge *e, uint32_t n)
{
	json_begin_array(j, name);
	for (uint32_t i = 0; i < n; i++) {
		struct buf text;
		buf_init(&text);
		say_step(c, &e[i], &text);
		say_because(c, &e[i], &text);
		json_begin_object(j, NULL);
		json_uint(j, "from", c->deps->txn[e[i].from] + 1);
		json_uint(j, "to", c->deps->txn[e[i].to] + 1);
		json_text(j, "kind", kind_words[e[i].kind]);
		if (e[i].kind >= EDGE_WR)
			val_json(&th_of(c)->h->vals, th_of(c)->h->keys.data[e[i].key], json_value(j, "key"));
		json_text_buf(j, "text", &text);
		if (e[i].nbecause)
			json_steps(c, j, "because", e[i].because, e[i].nbecause);
		json_end(j);
		buf_free(&text);
	}
	json_end(j);
}

/* The transactions that a reason names. */
static void json_transactions(const struct txn_check *c, struct json_out *j, const struct decision *d)
{
	json_begin_array(j, "transactions");
	for (uint32_t i = 0; i < d->ncycle; i++) {
		uint32_t t = c->deps->txn[d->cycle[i].from];
		const struct txn *x = &th_of(c)->txns[t];
		struct buf ops;
		buf_init(&ops);
		txn_print_ops(th_of(c), t, &ops);
		json_begin_object(j, NULL);
		json_uint(j, "transaction", t + 1);
		if (x->session < th_of(c)->h->procs.len)
			val_json(&th_of(c)->h->vals, th_of(c)->h->procs.data[x->session], json_value(j, "process"));
		json_uint(j, "line", x->line);
		json_text_buf(j, "operations", &ops);
		json_end(j);
		buf_free(&ops);
	}
	json_end(j);
}

static void json_order(const struct txn_check *c, struct json_out *j, const struct decision *d)
{
	bool events = d->family == FAMILY_SI || d->family == FAMILY_PC;
	json_begin_array(j, events ? "events" : "order");
	for (uint32_t i = 0; i < d->norder; i++) {
		int64_t t = (int64_t)c->deps->txn[events ? d->order[i] / 2 : d->order[i]] + 1;
		json_int(j, NULL, events && d->order[i] & 1 ? -t : t);
	}
	json_end(j);
}

/* Clauses as arrays of numbers: ["wr", from, to, key] and ["rw", from, to, key, version] of a cycle, [key, a, b] of what was learned. */
static void json_proof(struct json_out *j, const struct txn_proof *p)
{
	static const char *const words[] = { "session", "realtime", "wr", "ww", "rw" };
	json_begin_array(j, "proof");
	for (uint32_t i = 0; i < p->clauses.len; i++) {
		const struct proof_clause *c = &p->clauses.data[i];
		json_begin_object(j, NULL);
		json_begin_array(j, c->learned ? "clause" : "cycle");
		for (uint32_t k = 0; k < c->n; k++) {
			json_begin_array(j, NULL);
			if (c->learned) {
				const struct proof_fact *x = &p->facts.data[c->first + k];
				json_uint(j, NULL, x->key + 1);
				json_uint(j, NULL, x->a + 1);
				json_uint(j, NULL, x->b + 1);
			} else {
				const struct proof_step *x = &p->steps.data[c->first + k];
				json_text(j, NULL, words[x->kind]);
				json_uint(j, NULL, x->from + 1);
				json_uint(j, NULL, x->to + 1);
				if (x->kind >= PROOF_WR)
					json_uint(j, NULL, x->key + 1);
				if (x->kind == PROOF_RW)
					json_uint(j, NULL, x->version == PROOF_INITIAL ? 0 : x->version + 1);
			}
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

/* What the value is, and who read it. */
static void json_ambiguous(const struct txn_check *c, struct json_out *j)
{
	struct buf text;
	buf_init(&text);
	buf_str(&text, c->deps->ambiguous.other == DEPS_NONE ? "a value that was read may be the initial one or a transaction's: "
	                                                     : "a value that was read has several writers: ");
	txn_print(th_of(c), c->deps->ambiguous.txn, &text);
	buf_char(&text, ' ');
	mop_print(th_of(c), &th_of(c)->ops[th_of(c)->txns[c->deps->ambiguous.txn].first + c->deps->ambiguous.op], &text);
	json_text_buf(j, "ambiguous", &text);
	buf_free(&text);
}

/* The orders that a cycle is made of besides dependencies: as Elle appends them to an anomaly's name. */
static const char *cycle_with(const struct decision *d)
{
	bool session = false, time = false;
	for (uint32_t k = 0; k < d->ncycle; k++) {
		session |= d->cycle[k].kind == EDGE_SESSION;
		time |= d->cycle[k].kind == EDGE_REALTIME;
	}
	return time ? "realtime" : session ? "process" : NULL;
}

static void json_level(const struct txn_check *c, struct json_out *j, struct isolation i, bool witness)
{
	const struct txn_answer *a = &c->answers[i.level][i.order], *why = txn_check_reason(c, i);
	json_begin_object(j, NULL);
	json_text(j, "level", isolation_name(i));
	json_text_if(j, "aliases", level_aliases((enum txn_level)i.level));
	json_text(j, "verdict", json_words[a->d.verdict]);
	json_flag(j, "strongest", c->all && txn_check_strongest(c, i));
	json_flag(j, "weakest", c->all && txn_check_weakest(c, i));
	if (a->implied_by >= 0)
		json_text(j, "by", isolation_name(why->d.level));
	if (a->d.verdict == TXN_UNDECIDED)
		json_text(j, "limit", a->d.limit);
	if (a->decided && a->d.verdict == TXN_UNDECIDED)
		json_flag(j, "undecided", true);
	if (ambiguous(a))
		json_ambiguous(c, j);
	if (a->decided && a->d.pairs) {
		json_uint(j, "pairs", a->d.pairs);
		json_uint(j, "conflicts", a->d.conflicts);
	}
	if (a->d.verdict == TXN_VIOLATED) {
		json_text(j, "anomaly", anomaly_names[a->d.name]);
		json_text_if(j, "with", cycle_with(&a->d));
		bool told = !c->all || txn_check_weakest(c, i);
		struct buf sentence;
		buf_init(&sentence);
		if (told) {
			txn_say_reason(c, &a->d, &sentence);
			json_text_buf(j, "sentence", &sentence);
		}
		if (told && a->d.ncycle) {
			json_transactions(c, j, &a->d);
			json_steps(c, j, "cycle", a->d.cycle, a->d.ncycle);
		}
		if (told && a->d.proof && !a->d.proof->too_long && witness)
			json_proof(j, a->d.proof);
		buf_free(&sentence);
	}
	if (a->d.verdict == TXN_HOLDS && witness && (!c->all || txn_check_strongest(c, i)))
		json_order(c, j, &why->d);
	json_end(j);
}

static void json_keys(const struct txn_check *c, struct json_out *j)
{
	const struct txn_keys *k = c->keys;
	json_begin_object(j, "keys");
	json_text(j, "verdict", json_words[k->verdict]);
	json_uint(j, "judged", k->njudged);
	if (k->verdict == TXN_UNDECIDED)
		json_text(j, "limit", k->limit);
	if (k->verdict == TXN_VIOLATED) {
		struct buf sentence;
		buf_init(&sentence);
		keys_reason(k, &sentence);
		val_json(&th_of(c)->h->vals, th_of(c)->h->keys.data[k->key], json_value(j, "key"));
		json_text(j, "anomaly", anomaly_names[k->why.name]);
		json_text_buf(j, "sentence", &sentence);
		buf_clear(&sentence);
		say_key(c, k->key, &sentence);
		json_text_buf(j, "key_text", &sentence);
		buf_free(&sentence);
	}
	json_end(j);
}

static void json_counts(const struct txn_history *th, struct json_out *j)
{
	json_begin_object(j, "counts");
	json_uint(j, "committed", th->ncommitted);
	json_uint(j, "keys", th->members ? th->members->first : th->h->keys.len);
	json_uint(j, "reads", th->reads);
	json_uint(j, "writes", th->writes);
	json_uint(j, "appends", th->appends);
	if (th->adds)
		json_uint(j, "adds", th->adds);
	if (th->incs)
		json_uint(j, "increments", th->incs);
	json_end(j);
}

/* A row for each level, from the strongest, with the names under which `levels` has it: alone, with the order of sessions, with real
 * time; null where there is no such level. */
static void json_lattice(const struct txn_check *c, struct json_out *j)
{
	static const uint8_t rows[] = { LEVEL_SER, LEVEL_US, LEVEL_SI,  LEVEL_PC, LEVEL_CV, LEVEL_CC, LEVEL_UA,
		                        LEVEL_RA,  LEVEL_MV, LEVEL_MAV, LEVEL_CS, LEVEL_RC, LEVEL_RU };
	_Static_assert(sizeof rows == LEVEL_COUNT, "a row for each level");
	json_begin_array(j, "lattice");
	for (uint32_t r = 0; r < sizeof rows; r++) {
		json_begin_array(j, NULL);
		for (unsigned o = 0; o <= c->most; o++) {
			struct isolation i = { rows[r], (uint8_t)o };
			if (isolation_exists(i))
				json_text(j, NULL, isolation_name(i));
			else
				buf_str(json_value(j, NULL), "null");
		}
		json_end(j);
	}
	json_end(j);
}

void txn_say_json(const struct txn_check *c, bool witness, struct buf *out)
{
	const struct txn_history *th = th_of(c);
	struct json_out j;
	uint32_t line = 0;
	struct buf sentence;
	json_out_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_text(&j, "file", th->h->name);
	json_text(&j, "format", th->h->format);
	json_text(&j, "verdict", json_words[c->verdict]);
	json_uint(&j, "transactions", th->n);
	json_uint(&j, "processes", th->h->procs.len);
	json_uint(&j, "operations", th->members ? th->members->ntold : th->nops);
	json_uint(&j, "failed", th->naborted);
	json_uint(&j, "pending", th->nunknown);
	json_counts(th, &j);
	if (c->followed)
		json_uint(&j, "followed", c->followed);
	if (th->version_order)
		json_text(&j, "version_order", version_order_names[th->version_order]);
	val_json(&th->h->vals, c->deps->init, json_value(&j, "init"));
	if (c->deps->init != VAL_NIL) {
		buf_init(&sentence);
		val_print(&th->h->vals, c->deps->init, &sentence);
		json_text_buf(&j, "init_text", &sentence);
		buf_free(&sentence);
	}
	if (c->deps->init_guessed) {
		json_begin_array(&j, "guessed");
		json_text(&j, NULL, "init");
		json_end(&j);
	}
	buf_init(&sentence);
	for (uint32_t k = 0; k < (uint32_t)LEVEL_COUNT * ORDER_COUNT; k++) {
		const struct txn_answer *a = &c->answers[nth(k).level][nth(k).order];
		if (!a->asked || a->d.verdict != TXN_VIOLATED || (c->all && !txn_check_weakest(c, nth(k))))
			continue;
		buf_printf(&sentence, "%s is violated (%s):\n", isolation_name(nth(k)), anomaly_names[a->d.name]);
		txn_say_reason(c, &a->d, &sentence);
		if (!line && a->d.direct)
			line = th->txns[a->d.direct->txn].line;
		else if (!line && a->d.ncycle)
			line = th->txns[c->deps->txn[a->d.cycle[0].from]].line;
	}
	if (sentence.len)
		json_text_buf(&j, "sentence", &sentence);
	buf_free(&sentence);
	if (line)
		json_uint(&j, "line", line);
	json_begin_array(&j, "levels");
	for (uint32_t k = (uint32_t)LEVEL_COUNT * ORDER_COUNT; k-- > 0;)
		if (c->answers[nth(k).level][nth(k).order].asked)
			json_level(c, &j, nth(k), witness);
	json_end(&j);
	if (c->all)
		json_lattice(c, &j);
	if (c->keys)
		json_keys(c, &j);
	json_end(&j);
	json_out_end(&j);
}
