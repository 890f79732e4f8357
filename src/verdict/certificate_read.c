/* certificate_read: the blocks of a certificate; see certificate.h. What is wrong is kept, and nothing but zeroes is read after that. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "event/crc.h"
#include "verdict/certificate.h"

#define DAMAGED "the file is damaged: "

void cert_wrong(struct cert_reader *r, const char *why)
{
	if (!r->error)
		r->error = why;
	r->at = r->len = 0;
	r->ended = true;
}

bool cert_open(struct cert_reader *r, const char *path)
{
	char magic[sizeof CERT_MAGIC] = { 0 };
	*r = (struct cert_reader){ .f = fopen(path, "rb") };
	if (!r->f)
		return false;
	r->packed = malloc(CERT_HEAD + ZSTD_COMPRESSBOUND(CERT_BLOCK));
	r->block = malloc(CERT_BLOCK);
	if (!r->packed || !r->block) {
		cert_wrong(r, "out of memory");
		return false;
	}
	size_t n = fread(magic, 1, sizeof CERT_MAGIC - 1, r->f);
	bool some = n > 19 && !memcmp(magic, CERT_MAGIC, 19);
	r->foreign = n != sizeof CERT_MAGIC - 1 || strcmp(magic, CERT_MAGIC) != 0;
	if (r->foreign)
		cert_wrong(r, some ? "the certificate is of another version" : "the file is no certificate");
	return !r->error;
}

void cert_close(struct cert_reader *r)
{
	if (r->f)
		fclose(r->f);
	free(r->packed);
	free(r->block);
	memset(r, 0, sizeof *r);
}

static uint32_t word(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The next block. Its checksum is of its head, with the checksum of the block before in the place of its own, and of what is compressed. */
static bool next_block(struct cert_reader *r)
{
	if (r->ended)
		return false;
	if (fread(r->packed, 1, CERT_HEAD, r->f) != CERT_HEAD) {
		cert_wrong(r, DAMAGED "it ends too early");
		return false;
	}
	uint32_t len = word(r->packed), packed = word(r->packed + 4), sum = word(r->packed + 8);
	if (len > CERT_BLOCK || packed > ZSTD_COMPRESSBOUND(CERT_BLOCK) || (!len && packed)) {
		cert_wrong(r, DAMAGED "a block has an impossible length");
		return false;
	}
	if (fread(r->packed + CERT_HEAD, 1, packed, r->f) != packed) {
		cert_wrong(r, DAMAGED "it ends too early");
		return false;
	}
	for (int i = 0; i < 4; i++)
		r->packed[8 + i] = (unsigned char)(r->sum >> 8 * i);
	r->sum = sum;
	if (crc_of(r->packed, CERT_HEAD + packed) != sum) {
		cert_wrong(r, DAMAGED "a checksum does not match");
		return false;
	}
	if (len && ZSTD_decompress(r->block, CERT_BLOCK, r->packed + CERT_HEAD, packed) != len) {
		cert_wrong(r, DAMAGED "a block cannot be decompressed");
		return false;
	}
	r->at = 0;
	r->len = len;
	r->ended = !len;
	return len > 0;
}

/* Is there a byte to read? */
static bool more(struct cert_reader *r)
{
	if (r->at == r->len && !next_block(r))
		cert_wrong(r, DAMAGED "its contents end too early");
	return !r->error;
}

bool cert_bytes(struct cert_reader *r, void *to, size_t n)
{
	memset(to, 0, n);
	for (size_t done = 0; done < n;) {
		if (!more(r))
			return false;
		size_t k = r->len - r->at < n - done ? r->len - r->at : n - done;
		memcpy((char *)to + done, r->block + r->at, k);
		r->at += k;
		done += k;
	}
	return true;
}

uint64_t cert_number(struct cert_reader *r)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!more(r))
			return 0;
		unsigned char b = r->block[r->at++];
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	cert_wrong(r, DAMAGED "a number is too long");
	return 0;
}

bool cert_text(struct cert_reader *r, char *to, size_t n)
{
	uint64_t len = cert_number(r);
	*to = 0;
	if (len >= n) {
		cert_wrong(r, DAMAGED "a name is too long");
		return false;
	}
	to[len] = 0;
	return cert_bytes(r, to, len) && strlen(to) == len;
}

bool cert_complete(struct cert_reader *r)
{
	if (!r->error && r->at == r->len && !next_block(r) && !r->error && fgetc(r->f) != EOF)
		cert_wrong(r, DAMAGED "something follows its end");
	if (!r->error && r->at != r->len)
		cert_wrong(r, DAMAGED "something follows its last section");
	return !r->error;
}
