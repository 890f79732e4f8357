/*
 * dump: the records of a recording as lines of text, for judges that share
 * nothing with the analyses (tests/programs/parts.py):
 *
 *   r PROCESS KIND ARG ADDRESS SLOT PC     numbers in hexadecimal
 *   t PROCESS ARG TEXT                     a text; control characters as '?'
 *
 * and behind them the names of addresses as base/symtab.h writes them.
 *
 *     dump FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event/itr.h"
#include "event/reader.h"
#include "event/record.h"

static void put_text(uint32_t process, struct rec r, const struct rec *letters)
{
	const unsigned char *s = (const unsigned char *)letters;
	printf("t %" PRIx32 " %x ", process, rec_arg(r));
	for (uint64_t i = 0; i < rec_addr(r); i++)
		putchar(s[i] < ' ' ? '?' : s[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct trace_reader *in = argc == 2 ? trace_open(argv[1], NULL, NULL) : NULL;
	struct rec *rec;
	uint32_t process;
	size_t n, len;
	if (!in || !trace_is_recording(in)) {
		fprintf(stderr, "dump: no recording\n");
		return 2;
	}
	while ((n = trace_next_recs(in, &rec, &process))) {
		process &= ~ITR_OPENING;
		for (size_t i = 0; i < n; i++) {
			if (rec_kind(rec[i]) == REC_TEXT) {
				put_text(process, rec[i], rec + i + 1);
				i += rec_letters(rec[i]);
				continue;
			}
			printf("r %" PRIx32 " %x %x %" PRIx64 " %x %" PRIx64 "\n", process, rec_kind(rec[i]),
			       rec_arg(rec[i]), rec_addr(rec[i]), rec_slot(rec[i]), rec_pc(rec[i]));
		}
	}
	bool bad = trace_failed(in);
	const char *names = trace_symbols(in, &len);
	fwrite(names, 1, len, stdout);
	trace_close(in);
	return bad || ferror(stdout);
}
