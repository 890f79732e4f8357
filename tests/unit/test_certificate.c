/*
 * Certificates of random models: what is certified is true (the engines, which share no code with the checker), the checker and its twin
 * accept what is made, and of what is damaged - with checksums that fit - nothing is accepted that the twin refuses or that is not true.
 *
 * INTACT_SOAK, INTACT_SEED, INTACT_SOAK_PART: campaign.h. INTACT_DAMAGES: how often each section is damaged (6).
 */
#include "check.h"

#include <unistd.h>
#include <zstd.h>

#include "base/rng.h"
#include "campaign.h"
#include "certificate_twin.h"
#include "event/crc.h"
#include "explore/exact.h"
#include "explore/quiescence_search.h"
#include "explore/property_search.h"
#include "genmodel.h"
#include "gensync.h"
#include "lang/lang.h"

static struct {
	unsigned models, sections, serial, any_moment, refused, untold, violated, damaged, rejected, harmless, unreadable, too_much;
} n;

static char file[] = "/tmp/certificate.XXXXXX";

static void complain(uint64_t seed, const char *text, const char *what)
{
	printf("# seed %llu: %s\n# %s\n", (unsigned long long)seed, what, text);
	check_failed++;
}

/* ---- what is true ------------------------------------------------------------------------------ */

struct truth { /* 1 yes, 0 no, -1 not known */
	int atomic, faults, deadlock, way_out, property[IR_MAX_PROPERTIES];
};

static struct search_options options(void)
{
	return (struct search_options){ .symmetry = true, .max_states = 50000, .max_bytes = 256u << 20 };
}

static void find_truth(const struct ir *p, uint32_t block, bool serial, struct truth *t)
{
	struct search_options o = options();
	struct search_result r;
	struct property_answer found[IR_MAX_PROPERTIES];
	*t = (struct truth){ -1, -1, -1, -1, { 0 } };
	if (serial) {
		exact_run(p, block, &o, &r);
		t->atomic = r.verdict == SEARCH_HOLDS ? 1 : r.verdict == SEARCH_WRONG ? 0 : -1;
		search_result_free(&r);
		return;
	}
	enum quiescence_answer q = quiescence_search(p, &o, &r);
	t->way_out = q == QUIESCENCE_ALWAYS ? 1 : q == QUIESCENCE_LOST ? 0 : -1;
	search_result_free(&r);
	o.faults = true;
	search_run(p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &r);
	t->faults = r.verdict == SEARCH_HOLDS ? 1 : r.verdict == SEARCH_FAULT ? 0 : -1;
	search_result_free(&r);
	o.faults = false;
	o.deadlock = true;
	search_run(p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &r);
	t->deadlock = r.verdict == SEARCH_HOLDS ? 1 : r.verdict == SEARCH_DEADLOCK ? 0 : -1;
	search_result_free(&r);
	if (!p->nproperties)
		return;
	property_search(p, &o, found, &r);
	for (uint32_t i = 0; i < p->nproperties; i++) {
		bool never = found[i].answer == ANSWER_UNKNOWN && !r.limit; /* no run ends: it holds in each state that there is */
		t->property[i] = found[i].answer == ANSWER_HOLDS || never ? 1 : found[i].answer == ANSWER_VIOLATED ? 0 : -1;
		free(found[i].path);
	}
}

/* Is everything true that is claimed? */
static bool is_true(const struct ir *p, const struct cert_claim *q, const struct truth *t)
{
	bool ok = q->kind == CERT_SERIAL
	                  ? t->atomic != 0
	                  : (!q->faults || t->faults) && (!q->deadlock || t->deadlock) && (!q->way_out || t->way_out);
	for (uint32_t i = 0; i < p->nproperties; i++)
		ok = ok && !(q->properties >> i & 1 && t->property[i] == 0);
	return ok;
}

/* ---- files --------------------------------------------------------------------------------------- */

/* One section, as the checker reads it. */
static enum ctwin_answer by_checker(const struct ir *p, struct cert_claim *q)
{
	struct cert_reader r;
	struct cert_result out = { 0 };
	bool ok = cert_open(&r, file) && cert_claim_read(&r, q) && (q->block == VERDICT_PROGRAM || q->block < p->nblocks);
	if (ok)
		cert_check(&r, p, q, 1u << 30, &out);
	ok = ok && !out.wrong && !out.limit && cert_number(&r) == CERT_END && cert_complete(&r);
	bool limit = out.limit != NULL;
	cert_close(&r);
	return ok ? CTWIN_ACCEPTS : limit ? CTWIN_TOO_MUCH : CTWIN_REJECTS;
}

/* What is in the blocks of the file: its length; 0 when that is too long for this test. */
static size_t contents(unsigned char *to, size_t most)
{
	struct cert_reader r;
	size_t len = 0;
	if (!cert_open(&r, file))
		return 0;
	while (!r.ended && len < most && cert_bytes(&r, to + len, 1))
		len++;
	cert_close(&r);
	return len < most ? len : 0;
}

/* The file with these contents, its checksums right. */
static void pack(const unsigned char *data, size_t len)
{
	static unsigned char block[CERT_BLOCK + 8], packed[ZSTD_COMPRESSBOUND(CERT_BLOCK)];
	FILE *f = fopen(file, "wb");
	uint32_t sum = 0, number = 0;
	CHECK(f != NULL);
	fwrite(CERT_MAGIC, 1, sizeof CERT_MAGIC - 1, f);
	for (size_t at = 0, k = 1; k; at += k) {
		k = len - at < CERT_BLOCK ? len - at : CERT_BLOCK;
		memcpy(block, &number, 4);
		memcpy(block + 4, &sum, 4);
		memcpy(block + 8, data + at, k);
		sum = crc_of(block, k + 8);
		number++;
		uint32_t head[3] = { (uint32_t)k, k ? (uint32_t)ZSTD_compress(packed, sizeof packed, data + at, k, 1) : 0, sum };
		fwrite(head, 4, 3, f);
		fwrite(packed, 1, head[1], f);
	}
	fclose(f);
}

static enum ctwin_answer by_twin(const struct ir *p, const unsigned char *data, size_t len)
{
	struct cursor c = { data, data + len, false };
	struct cert_claim q = { .kind = (enum cert_kind)get_varint(&c), .block = VERDICT_PROGRAM };
	if (q.kind == CERT_PLAIN) {
		q.faults = get_varint(&c) == 1;
		q.deadlock = get_varint(&c) == 1;
		q.way_out = get_varint(&c) == 1;
		q.properties = (uint32_t)get_varint(&c);
	} else if (q.kind == CERT_SERIAL) {
		uint64_t b = get_varint(&c);
		q.block = b ? (uint32_t)b - 1 : VERDICT_PROGRAM;
		q.any_moment = get_varint(&c) == 1;
	} else {
		return CTWIN_REJECTS;
	}
	return c.bad ? CTWIN_REJECTS : ctwin_check(p, &q, &c);
}

/* ---- damage ------------------------------------------------------------------------------------------ */

static size_t damage(struct rng *r, unsigned char *data, size_t len)
{
	size_t at = rng_below(r, (uint32_t)len), k;
	switch (rng_below(r, 6)) {
	case 0: /* a number is a little other */
		data[at] = (unsigned char)((data[at] & 0x80) | ((data[at] + (rng_below(r, 2) ? 1 : 127)) & 0x7f));
		return len;
	case 1:
		data[at] = (unsigned char)rng_below(r, 256);
		return len;
	case 2: /* something is left out */
		k = 1 + rng_below(r, 8);
		k = k < len - at ? k : len - at;
		memmove(data + at, data + at + k, len - at - k);
		return len - k;
	case 3: /* claims, block and when effects are: at the beginning */
		at = rng_below(r, len < 8 ? (uint32_t)len : 8);
		data[at] = (unsigned char)rng_below(r, 3);
		return len;
	case 4: /* ranks and ends of rows: small numbers */
		for (k = 0; k < 50 && data[at] > 3; k++)
			at = rng_below(r, (uint32_t)len);
		data[at] = (unsigned char)rng_below(r, 4);
		return len;
	default: /* two bytes change places */
		k = rng_below(r, (uint32_t)len);
		data[at] ^= data[k];
		if (at != k) {
			data[k] ^= data[at];
			data[at] ^= data[k];
		} else {
			data[at] = 0;
		}
		return len;
	}
}

/* The section in the file, damaged again and again. */
static void damage_it(const struct ir *p, struct rng *rng, uint64_t seed, const char *text)
{
	static unsigned char data[1u << 18], copy[1u << 18];
	const char *often = getenv("INTACT_DAMAGES");
	size_t len = contents(data, sizeof data);
	for (int i = 0; len && i < (often && *often ? atoi(often) : 6); i++) {
		struct cert_claim q;
		struct truth t;
		memcpy(copy, data, len);
		size_t now = damage(rng, copy, len);
		for (uint32_t more = rng_below(rng, 3); more && now; more--)
			now = damage(rng, copy, now);
		if (!now || (now == len && !memcmp(copy, data, len)))
			continue;
		pack(copy, now);
		n.damaged++;
		enum ctwin_answer a = by_checker(p, &q);
		n.rejected += a == CTWIN_REJECTS;
		if (a != CTWIN_ACCEPTS)
			continue;
		n.harmless++;
		enum ctwin_answer b = by_twin(p, copy, now);
		n.too_much += b == CTWIN_TOO_MUCH;
		if (b == CTWIN_REJECTS)
			complain(seed, text, "the twin rejects a damaged certificate that the checker accepts");
		find_truth(p, q.block, q.kind == CERT_SERIAL, &t);
		if (!is_true(p, &q, &t))
			complain(seed, text, "a damaged certificate is accepted, and what it claims is not true");
	}
}

/* ---- one question --------------------------------------------------------------------------------------- */

static void ask(const struct ir *p, struct cert_claim q, struct rng *rng, uint64_t seed, const char *text)
{
	static unsigned char data[1u << 18];
	struct cert_limits l = { 20000, 256u << 20, 0 };
	struct cert_writer w;
	struct cert_made made;
	struct truth t;
	struct cert_claim read;
	bool serial = q.kind == CERT_SERIAL;
	struct cert_search *s = cert_search_new(p, &q, &l, &made);
	find_truth(p, q.block, serial, &t);
	n.untold += serial ? t.atomic < 0 : t.faults < 0;
	if (!is_true(p, &q, &t) && !made.why)
		complain(seed, text, serial ? "it has a set, and is not atomic" : "it has a set, and what is claimed is not true");
	if (!serial && !made.why)
		for (uint32_t i = 0; i < p->nproperties; i++)
			if (t.property[i] == 1 && !(q.properties >> i & 1))
				complain(seed, text, "a condition holds and is not certified");
	if (!serial && !made.why &&
	    ((t.faults == 1 && !q.faults) || (t.deadlock == 1 && !q.deadlock && t.faults == 1) || (t.way_out == 1 && !q.way_out)))
		complain(seed, text, "something holds and is not certified");
	n.violated += made.why && serial && t.atomic == 0;
	n.refused += made.why && (!serial || t.atomic == 1);
	if (!made.why) {
		n.sections++;
		n.serial += serial;
		n.any_moment += q.any_moment;
		cert_create(&w, file);
		cert_search_write(s, &w);
		cert_put_number(&w, CERT_END);
		CHECK(cert_finish(&w));
		size_t len = contents(data, sizeof data);
		if (by_checker(p, &read) != CTWIN_ACCEPTS)
			complain(seed, text, "what was made is rejected");
		else if (read.kind != q.kind || read.faults != q.faults || read.deadlock != q.deadlock ||
		         read.way_out != q.way_out || read.properties != q.properties || read.block != q.block)
			complain(seed, text, "it is read as a certificate about something else");
		enum ctwin_answer a = len ? by_twin(p, data, len) : CTWIN_TOO_MUCH;
		n.too_much += a == CTWIN_TOO_MUCH;
		if (a == CTWIN_REJECTS)
			complain(seed, text, "the twin rejects what was made");
		damage_it(p, rng, seed, text);
	}
	cert_search_free(s);
}

static void ask_block(const struct ir *p, uint32_t block, struct rng *rng, uint64_t seed, const char *text)
{
	struct cert_claim q = { .kind = CERT_SERIAL, .block = block, .any_moment = true };
	ask(p, q, rng, seed, text);
	q.any_moment = false;
	q.edge = calloc(p->nsuccs + 1ull, 1);
	q.entry = calloc(p->nblocks + 1ull, 1);
	ask(p, q, rng, seed, text); /* at exits */
	for (uint32_t i = 0; i < p->nsuccs; i++)
		q.edge[i] = rng_below(rng, 4) == 0;
	for (uint32_t i = 0; i < p->nblocks; i++)
		q.entry[i] = rng_below(rng, 4) == 0;
	ask(p, q, rng, seed, text); /* wherever: may lose the proof, must not make a wrong one */
	free(q.edge);
	free(q.entry);
}

static void one_model(uint64_t seed)
{
	struct buf b;
	struct lang l, alone;
	struct lang_options o = { .sml = 0 };
	struct rng rng;
	rng_seed(&rng, seed);
	buf_init(&b);
	if (seed % 7 == 5)
		gen_heap(&b, seed);
	else if (seed % 3 == 0)
		gen_sync(&b, seed);
	else if (seed % 3 == 1)
		gen_scattered(&b, seed, seed % 2);
	else
		gen_model(&b, seed, seed % 4 == 0, seed % 5 == 0);
	if (seed % 7 == 5 || (seed % 3 && strstr(buf_cstr(&b), "x1")))
		gen_conditions(&b, seed, seed % 7 == 5);
	lang_init(&l);
	n.models++;
	if (!lang_load_text(&l, "random.atm", b.data, b.len, &o)) {
		complain(seed, b.data, "does not load");
	} else {
		struct cert_claim q = { .kind = CERT_PLAIN,
			                .faults = true,
			                .deadlock = true,
			                .way_out = l.ir->nblocks > 0,
			                .block = VERDICT_PROGRAM,
			                .properties = l.ir->nproperties ? (1u << l.ir->nproperties) - 1 : 0 };
		ask(l.ir, q, &rng, seed, b.data);
		ask_block(l.ir, VERDICT_PROGRAM, &rng, seed, b.data);
		for (uint32_t i = 0; i < l.ir->nblocks && l.ir->nblocks > 1; i++) {
			lang_init(&alone);
			if (lang_load_again(&alone, l.ir, i, NULL))
				ask_block(alone.ir, i, &rng, seed, b.data);
			lang_free(&alone);
		}
	}
	lang_free(&l);
	buf_free(&b);
}

static void test_random_models(void)
{
	struct campaign c = campaign(7100000, 150);
	int fd = mkstemp(file);
	CHECK(fd >= 0);
	close(fd);
	for (int i = 0; i < c.n && check_failed < 3; i++)
		one_model(c.seed + (uint64_t)i);
	unlink(file);
	printf("# seeds %llu..%llu: %u models, %u certificates (%u of blocks, %u of them at every moment), %u of what is violated "
	       "refused, "
	       "%u of what holds, %u with an answer that is not known\n",
	       (unsigned long long)c.seed, (unsigned long long)(c.seed + (uint64_t)c.n - 1), n.models, n.sections, n.serial,
	       n.any_moment, n.violated, n.refused, n.untold);
	printf("# %u damaged: %u rejected, %u harmless; %u too large for the twin\n", n.damaged, n.rejected, n.harmless,
	       n.too_much);
	CHECK(n.sections > n.models && n.serial > n.models / 2 && n.any_moment > n.models / 5);
	CHECK(n.violated > n.models / 4);
	CHECK(n.damaged > n.sections && n.rejected > n.damaged / 2);
	CHECK(n.too_much < n.sections / 4);
}

int main(void)
{
	RUN(test_random_models);
	return check_done();
}
