/*
 * instruction: lengths of encodings that GNU objdump has disassembled, which of them are atomic accesses, and that bytes of
 * any kind give a length within what there is.
 */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "program/instruction.h"

static const struct {
	const char *bytes, *text;
	uint32_t n;
	bool atomic;
} known[] = {
	{ "\x55", "push %rbp", 1, false },
	{ "\x48\x89\xe5", "mov %rsp,%rbp", 3, false },
	{ "\x48\x8b\x45\xf0", "mov -0x10(%rbp),%rax", 4, false },
	{ "\x83\x45\xec\x01", "addl $1,-0x14(%rbp)", 4, false },
	{ "\x66\xb8\x34\x12", "mov $0x1234,%ax", 4, false },
	{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", "movabs", 10, false },
	{ "\xb8\x01\x00\x00\x00", "mov $1,%eax", 5, false },
	{ "\xe8\x00\x00\x00\x00", "call", 5, false },
	{ "\x66\xe8\x00\x00\x00\x00", "data16 call", 6, false },
	{ "\x0f\x84\x00\x01\x00\x00", "je", 6, false },
	{ "\x74\x05", "je", 2, false },
	{ "\xf6\x45\xff\x01", "testb $1,-1(%rbp)", 4, false },
	{ "\xf7\xd8", "neg %eax", 2, false },
	{ "\xf7\xc7\x01\x00\x00\x00", "test $1,%edi", 6, false },
	{ "\xc8\x10\x00\x00", "enter", 4, false },
	{ "\xc2\x08\x00", "ret $8", 3, false },
	{ "\xf3\x0f\x1e\xfa", "endbr64", 4, false },
	{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "nopw", 10, false },
	{ "\x8b\x04\x25\x10\x00\x00\x00", "mov 0x10,%eax", 7, false },
	{ "\x8b\x05\x10\x00\x00\x00", "mov 0x10(%rip),%eax", 6, false },
	{ "\x0f\xba\xe8\x05", "bts $5,%eax", 4, false },
	{ "\x66\x0f\x3a\x0f\xc1\x08", "palignr", 6, false },
	{ "\x66\x0f\x38\x00\xc1", "pshufb", 5, false },
	{ "\xc5\xf8\x77", "vzeroupper", 3, false },
	{ "\xc4\xe3\x7d\x39\xc1\x01", "vextracti128", 6, false },
	{ "\xc5\xf9\x70\xc0\x4e", "vpshufd", 5, false },
	{ "\x62\xf1\x7c\x48\x10\x07", "vmovups (%rdi),%zmm0", 6, false },
	{ "\xdd\x45\xf0", "fldl -0x10(%rbp)", 3, false },
	{ "\x87\xc3", "xchg %eax,%ebx", 2, false },
	{ "\x48\x87\x07", "xchg %rax,(%rdi)", 3, true },
	{ "\x86\x07", "xchg %al,(%rdi)", 2, true },
	{ "\xf0\x0f\xb1\x17", "lock cmpxchg %edx,(%rdi)", 4, true },
	{ "\xf0\x41\x0f\xb1\x14\x24", "lock cmpxchg %edx,(%r12)", 6, true },
	{ "\xf0\x48\x0f\xc1\x07", "lock xadd %rax,(%rdi)", 5, true },
	{ "\xf0\x83\x05\x10\x00\x00\x00\x01", "lock addl $1,0x10(%rip)", 8, true },
	{ "\xf0\x48\x0f\xc7\x0f", "lock cmpxchg16b (%rdi)", 5, true },
	{ "\xf0\x48\x83\x0c\x24\x00", "lock orq $0,(%rsp): a fence", 6, false },
	{ "\x06", "not of 64-bit mode", 0, false },
	{ "\x8f\xe8\x78\xc2\xec\x0e", "XOP", 0, false },
};

static void test_known(void)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		uint8_t code[16] = { 0 };
		memcpy(code, known[i].bytes, known[i].n ? known[i].n : strlen(known[i].bytes));
		struct instruction in = instruction_at(code, sizeof code);
		if (in.length != known[i].n || in.atomic != known[i].atomic)
			printf("# %s\n", known[i].text);
		CHECK_EQ(in.length, known[i].n);
		CHECK_EQ(in.atomic, known[i].atomic);
		for (uint32_t n = 0; n < known[i].n; n++)
			CHECK_EQ(instruction_at(code, n).length, 0);
	}
}

static void test_any_bytes(void)
{
	struct rng r;
	rng_seed(&r, 1);
	for (int i = 0; i < 200000; i++) {
		uint8_t code[20];
		size_t n = rng_below(&r, sizeof code + 1);
		for (size_t k = 0; k < n; k++)
			code[k] = (uint8_t)rng_below(&r, 256);
		CHECK(instruction_at(code, n).length <= (n < 15 ? n : 15));
	}
}

int main(void)
{
	RUN(test_known);
	RUN(test_any_bytes);
	return check_done();
}
