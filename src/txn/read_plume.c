/*
 * read_plume: the text format of Plume, PolySI and AWDIT.
 *
 *   line := (r|w) ( key , value , session , transaction )
 *
 * Lines of one transaction (its number in its session's lines) stand together or not; a session's transactions come in the order
 * of their first lines. Transaction -1: the operation belongs to an aborted one. Keys are 0 at first.
 */
#include <string.h>

#include "txn/read.h"

struct plume_op {
	int64_t part[4];
	bool write;
	uint32_t txn, order;
};

/* One line; false after an error. */
static bool line(struct reader *r, const char *s, const char *e, struct plume_op *op)
{
	const char *p = s + strspn(s, " \t");
	op->write = *p == 'w';
	bool ok = (*p == 'r' || *p == 'w') && p[1] == '(';
	p += ok ? 2 : 0;
	for (int i = 0; ok && i < 4; i++) {
		struct form f = { .p = p + strspn(p, " \t"), .end = e, .last = true };
		ok = form_int(&f, &op->part[i]) == FORM_OK;
		p = f.p + strspn(f.p, " \t");
		ok = ok && *p == (i < 3 ? ',' : ')');
		p += ok;
	}
	if (ok && !p[strspn(p, " \t\r")])
		return true;
	reader_error(r, ok || p > e ? s : p, 1, "bad-record", "expected r(key,value,session,transaction) or w(...)");
	diag_hint(r->d, "all four are whole numbers; transaction -1 is an aborted one");
	return false;
}

/* Transactions are found by (session, number); aborted operations are one aborted transaction each. */
static bool add(struct txn_history *th, struct map *numbers, struct map *known, struct plume_op *op, uint32_t at)
{
	uint32_t session = txn_session(th, val_int(&th->h->vals, op->part[2])), number = (uint32_t)numbers->len;
	if (!map_intern(numbers, (uint64_t)op->part[3], &number))
		return false;
	uint64_t id = (uint64_t)session << 32 | number;
	uint32_t t = op->part[3] == -1 ? MAP_NONE : map_get(known, id);
	if (t == MAP_NONE) {
		struct txn *x = txn_push(th);
		if (!x)
			return false;
		t = th->n - 1;
		x->line = at;
		x->call = t;
		x->session = session;
		x->status = op->part[3] == -1 ? TXN_ABORTED : TXN_COMMITTED;
		x->ret = x->status == TXN_COMMITTED ? t : RANK_INF;
		if (op->part[3] != -1 && !map_put(known, id, t))
			return false;
	}
	op->txn = t;
	th->txns[t].nops++;
	return true;
}

/* The operations in the order of their transactions. */
static bool place(struct txn_history *th, const struct plume_op *ops, uint32_t n)
{
	uint32_t at = 0;
	for (uint32_t t = 0; t < th->n; t++) {
		th->txns[t].first = at;
		at += th->txns[t].nops;
		th->txns[t].nops = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!txn_push_op(th, MOP_READ, 0, VAL_NIL))
			return false;
	for (uint32_t i = 0; i < n; i++) {
		struct txn *t = &th->txns[ops[i].txn];
		val v = val_int(&th->h->vals, ops[i].part[1]);
		th->ops[t->first + t->nops++] = (struct mop){
			.key = key_intern(th->h, val_int(&th->h->vals, ops[i].part[0])),
			.v = t->status == TXN_ABORTED && !ops[i].write ? VAL_NONE : v,
			.kind = ops[i].write ? MOP_WRITE : MOP_READ,
		};
	}
	return true;
}

bool txn_read_plume(struct txn_history *th, struct reader *r)
{
	AVEC(struct plume_op) ops = { 0 };
	struct map numbers, known;
	bool ok = true;
	map_init(&numbers);
	map_init(&known);
	th->realtime = false;
	struct txn_line l;
	while (ok && txn_line_begin(r, &l, &ok)) {
		struct plume_op op = { 0 };
		bool blank = !l.start[strspn(l.start, " \t\r")];
		ok = blank || line(r, l.start, l.end, &op);
		if (ok && !blank) {
			ok = add(th, &numbers, &known, &op, r->line);
			avec_push(th->h->arena, &ops, op);
		}
		txn_line_end(r, &l);
		ok = ok && ((ops.len & 0xFFFF) || !lim_spent(th->h->lim));
	}
	map_free(&numbers);
	map_free(&known);
	return ok && place(th, ops.data, ops.len);
}
