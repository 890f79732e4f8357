/*
 * Certificates of random models: what is certified is true (the engines, which share no code with the checker), the checker and its twin
 * accept what is made, and of what is damaged - with checksums that fit - nothing is accepted that the twin refuses or that is not true.
 *
 * Files that are corrupted without that - flipped bits, cuts, parts that are left out, exchanged or of another file - are rejected, each of them.
 *
 * INTACT_SOAK, INTACT_SEED, INTACT_SOAK_PART: campaign.h. INTACT_DAMAGES: how often each section is damaged (6). INTACT_CORRUPTED: how many files
 * are corrupted (500).
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

/* A file of our own by that name. */
static int open_file(void)
{
	memcpy(strrchr(file, '.'), ".XXXXXX", 7);
	int fd = mkstemp(file);
	if (fd >= 0)
		close(fd);
	return fd;
}

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
	static unsigned char packed[CERT_HEAD + ZSTD_COMPRESSBOUND(CERT_BLOCK)];
	FILE *f = fopen(file, "wb");
	uint32_t sum = 0;
	CHECK(f != NULL);
	fwrite(CERT_MAGIC, 1, sizeof CERT_MAGIC - 1, f);
	for (size_t at = 0, k = 1; k; at += k) {
		k = len - at < CERT_BLOCK ? len - at : CERT_BLOCK;
		size_t size = k ? ZSTD_compress(packed + CERT_HEAD, sizeof packed - CERT_HEAD, data + at, k, 1) : 0;
		uint32_t head[3] = { (uint32_t)k, (uint32_t)size, sum };
		memcpy(packed, head, sizeof head);
		sum = crc_of(packed, CERT_HEAD + size);
		memcpy(packed + 8, &sum, sizeof sum);
		fwrite(packed, 1, CERT_HEAD + size, f);
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
	CHECK(open_file() >= 0);
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

/* ---- corrupted files ---------------------------------------------------------------------------------------- */

struct whole_file {
	unsigned char *data;
	size_t len;
};

static size_t corrupt(struct rng *r, const struct whole_file *f, const struct whole_file *other, unsigned char *to, unsigned *kind)
{
	size_t len = f->len, at = rng_below(r, (uint32_t)len), k = 1 + rng_below(r, 40), from = rng_below(r, (uint32_t)len);
	memcpy(to, f->data, len);
	switch (*kind = rng_below(r, 6)) {
	case 0:
		for (k = 1 + rng_below(r, 2) * rng_below(r, 8); k; k--)
			to[rng_below(r, (uint32_t)len)] ^= (unsigned char)(1u << rng_below(r, 8));
		return len;
	case 1:
		return at;
	case 2: /* left out */
		k = k < len - at ? k : len - at;
		memmove(to + at, to + at + k, len - at - k);
		return len - k;
	case 3: /* exchanged */
		k = k < len - at ? k : len - at;
		k = k < len - from ? k : len - from;
		memcpy(to + at, f->data + from, k);
		memcpy(to + from, f->data + at, k);
		return len;
	case 4: /* appended */
		for (size_t i = 0; i < k; i++)
			to[len + i] = (unsigned char)rng_below(r, 256);
		return len + k;
	default: /* the rest of another file */
		if (at < other->len)
			memcpy(to + at, other->data + at, other->len - at);
		return at < other->len ? other->len : at;
	}
}

static void test_corrupted_files(void)
{
	static const char *const texts[] = {
		"int[0..3] x; bool l; lock m; thread w * 2 { atomic { acquire(m); x = x % 3 + 1; release(m); } } thread r { atomic "
		"{ l = x > 2; } } always x <= 3;",
		"int[0..9] x; thread a * 3 { atomic { int[0..9] v = x; x = (v + 1) % 10; } } can always reach x == 1;",
		"int[0..3] x, y; thread a * 2 { step { x = (x + 1) % 4; } step { y = (y + x) % 4; } } thread b { atomic { x = 0; } "
		"}",
	};
	enum { FILES = 6, MOST = 1 << 16 };
	struct whole_file files[FILES] = { 0 };
	struct lang l[3];
	struct cert_claim q;
	const char *often = getenv("INTACT_CORRUPTED");
	unsigned count = often && *often ? (unsigned)atoi(often) : 500, done = 0, kinds[6] = { 0 }, kind, nfiles = 0;
	const struct ir *about[FILES];
	struct rng rng;
	rng_seed(&rng, 22);
	int fd = open_file();
	CHECK(fd >= 0);
	for (unsigned i = 0; i < 3; i++) {
		lang_init(&l[i]);
		CHECK(lang_load_text(&l[i], "own.atm", texts[i], strlen(texts[i]), &(struct lang_options){ .sml = 0 }));
		for (int serial = 0; serial < 2 && l[i].ir; serial++) {
			struct cert_limits limits = { 100000, 256u << 20, 0 };
			struct cert_made made;
			struct cert_writer w;
			q = (struct cert_claim){ .kind = serial ? CERT_SERIAL : CERT_PLAIN,
				                 .block = VERDICT_PROGRAM,
				                 .any_moment = true,
				                 .faults = true,
				                 .deadlock = true,
				                 .way_out = true,
				                 .properties = l[i].ir->nproperties ? 1 : 0 };
			if (serial)
				q = (struct cert_claim){ .kind = CERT_SERIAL, .block = VERDICT_PROGRAM, .any_moment = true };
			struct cert_search *s = cert_search_new(l[i].ir, &q, &limits, &made);
			if (!made.why) {
				struct whole_file *f = &files[nfiles];
				CHECK(cert_create(&w, file));
				cert_search_write(s, &w);
				cert_put_number(&w, CERT_END);
				CHECK(cert_finish(&w) && by_checker(l[i].ir, &q) == CTWIN_ACCEPTS);
				FILE *in = fopen(file, "rb");
				f->data = malloc(MOST);
				f->len = fread(f->data, 1, MOST, in);
				fclose(in);
				about[nfiles++] = l[i].ir;
			}
			cert_search_free(s);
		}
	}
	CHECK(nfiles >= 4);
	unsigned char *to = malloc(MOST * 2);
	while (nfiles >= 4 && done < count && !check_failed) {
		unsigned k = rng_below(&rng, nfiles);
		size_t len = corrupt(&rng, &files[k], &files[rng_below(&rng, nfiles)], to, &kind);
		if (len == files[k].len && !memcmp(to, files[k].data, len))
			continue;
		FILE *out = fopen(file, "wb");
		fwrite(to, 1, len, out);
		fclose(out);
		done++;
		kinds[kind]++;
		bool same = false; /* by chance a whole file of another question about the same program */
		for (unsigned i = 0; i < nfiles; i++)
			same |= about[i] == about[k] && len == files[i].len && !memcmp(to, files[i].data, len);
		if (!same && by_checker(about[k], &q) != CTWIN_REJECTS) {
			printf("# accepted: file %u, change %u, %zu bytes of %zu\n", k, kind, len, files[k].len);
			check_failed++;
		}
	}
	printf("# %u corrupted files rejected: %u flipped, %u cut, %u left out, %u exchanged, %u appended, %u of two\n", done,
	       kinds[0], kinds[1], kinds[2], kinds[3], kinds[4], kinds[5]);
	CHECK_EQ(done, count);
	for (unsigned i = 0; i < nfiles; i++)
		free(files[i].data);
	for (unsigned i = 0; i < 3; i++)
		lang_free(&l[i]);
	free(to);
	unlink(file);
}

int main(void)
{
	RUN(test_corrupted_files);
	RUN(test_random_models);
	return check_done();
}
