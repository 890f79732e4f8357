/*
 * instruction: see instruction.h. Opcode maps of Intel's manual, volume 2, appendix A:
 * prefixes, an opcode of one to three bytes (or a VEX or EVEX prefix that names its
 * map), ModRM with SIB and displacement, an immediate.
 */
#include "program/instruction.h"

#include "base/invariant.h"

struct instruction_bytes {
	const uint8_t *p;
	size_t n, at;
	bool lock, wide, upper, small, address32; /* prefixes: lock, REX.W, REX.B, 66, 67 */
	bool short_read;
};

enum imm {
	NO_IMM,
	IMM8,
	IMM16,
	IMM32 /* 16 with prefix 66 */,
	IMM_MOV /* 64 with REX.W */,
	IMM_ENTER,
	IMM_ADDRESS,
	IMM_TEST8,
	IMM_TEST32,
	BAD
};

static uint8_t next(struct instruction_bytes *d)
{
	if (d->at >= d->n) {
		d->short_read = true;
		return 0;
	}
	return d->p[d->at++];
}

/* One-byte opcodes: has it ModRM, and what immediate? */
static enum imm one_byte(uint8_t op, bool *modrm)
{
	*modrm = false;
	if (op < 0x40) {
		*modrm = (op & 7) < 4;
		return (op & 7) < 4 ? NO_IMM : (op & 7) == 4 ? IMM8 : (op & 7) == 5 ? IMM32 : BAD;
	}
	switch (op) {
	case 0x63:
	case 0x84 ... 0x8f:
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf:
	case 0xfe ... 0xff:
		*modrm = true;
		return NO_IMM;
	case 0x69:
	case 0x81:
	case 0xc7:
		*modrm = true;
		return IMM32;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		*modrm = true;
		return IMM8;
	case 0xf6:
	case 0xf7:
		*modrm = true;
		return op == 0xf6 ? IMM_TEST8 : IMM_TEST32;
	case 0x6a:
	case 0x70 ... 0x7f:
	case 0xa8:
	case 0xb0 ... 0xb7:
	case 0xcd:
	case 0xe0 ... 0xe7:
	case 0xeb:
		return IMM8;
	case 0x68:
	case 0xa9:
		return IMM32;
	case 0xe8 ... 0xe9:
		return IMM32;
	case 0xb8 ... 0xbf:
		return IMM_MOV;
	case 0xa0 ... 0xa3:
		return IMM_ADDRESS;
	case 0xc2:
	case 0xca:
		return IMM16;
	case 0xc8:
		return IMM_ENTER;
	case 0x60 ... 0x62:
	case 0x82:
	case 0x9a:
	case 0xc4 ... 0xc5:
	case 0xce:
	case 0xd4 ... 0xd6:
	case 0xea:
		return BAD;
	default: /* 50-5f, 6c-6f, 90-9f, a4-a7, aa-af, c3, c9, cb, cc, cf, d7, ec-ef, f1, f4, f5, f8-fd */
		return NO_IMM;
	}
}

/* Opcodes behind 0f, and of the first map of VEX. */
static enum imm two_byte(uint8_t op, bool *modrm)
{
	*modrm = true;
	switch (op) {
	case 0x05 ... 0x09:
	case 0x0b:
	case 0x30 ... 0x37:
	case 0x77:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		*modrm = false;
		return NO_IMM;
	case 0x80 ... 0x8f:
		*modrm = false;
		return IMM32;
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return IMM8;
	default:
		return NO_IMM;
	}
}

/* ModRM and what follows it: is the operand in memory, and not on the stack? */
static bool operand(struct instruction_bytes *d, uint8_t *reg)
{
	uint8_t modrm = next(d), mod = modrm >> 6, rm = modrm & 7;
	bool stack = false;
	uint32_t skip = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	*reg = modrm >> 3 & 7;
	if (mod == 3)
		return false;
	if (rm == 4) {
		uint8_t sib = next(d);
		stack = sib == 0x24 && !d->upper; /* rsp, no index */
		if (mod == 0 && (sib & 7) == 5)
			skip = 4;
	} else if (mod == 0 && rm == 5) {
		skip = 4;
	}
	while (skip--)
		next(d);
	return !stack;
}

static uint32_t immediate(const struct instruction_bytes *d, enum imm imm, uint8_t reg)
{
	uint32_t word = d->small ? 2 : 4;
	switch (imm) {
	case IMM8:
		return 1;
	case IMM16:
		return 2;
	case IMM32:
		return word;
	case IMM_MOV:
		return d->wide ? 8 : word;
	case IMM_ENTER:
		return 3;
	case IMM_ADDRESS:
		return d->address32 ? 4 : 8;
	case IMM_TEST8:
		return reg < 2;
	case IMM_TEST32:
		return reg < 2 ? word : 0;
	default:
		return 0;
	}
}

/* Behind the byte that begins a VEX (c5, c4) or EVEX (62) prefix: the opcode's map. */
static unsigned vex_map(struct instruction_bytes *d, uint8_t first)
{
	uint8_t b = next(d);
	if (first == 0xc5)
		return 1;
	next(d);
	if (first == 0x62)
		next(d);
	return first == 0x62 ? b & 7 : b & 31;
}

static uint8_t prefixes(struct instruction_bytes *d)
{
	for (;;) {
		uint8_t b = next(d);
		switch (b) {
		case 0xf0:
			d->lock = true;
			break;
		case 0x66:
			d->small = true;
			break;
		case 0x67:
			d->address32 = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf2:
		case 0xf3:
			break;
		default:
			if ((b & 0xf0) != 0x40)
				return b;
			d->wide = b & 8;
			d->upper = b & 1;
			return next(d);
		}
		if (d->short_read)
			return 0;
	}
}

struct instruction instruction_at(const uint8_t *code, size_t n)
{
	struct instruction_bytes d = { .p = code, .n = n < 15 ? n : 15 };
	bool modrm = false, memory = false;
	uint8_t reg = 0, op = prefixes(&d);
	enum imm imm;
	unsigned map = 0;
	bool vex = op == 0xc4 || op == 0xc5 || op == 0x62;
	if (vex) {
		map = vex_map(&d, op);
		op = next(&d);
	} else if (op == 0x0f) {
		op = next(&d);
		map = op == 0x38 ? 2 : op == 0x3a ? 3 : 1;
		if (map > 1)
			op = next(&d);
	}
	if (map == 0) {
		imm = one_byte(op, &modrm);
	} else if (map == 1) {
		imm = two_byte(op, &modrm);
	} else {
		modrm = true;
		imm = map == 3 ? IMM8 : NO_IMM;
	}
	if (modrm)
		memory = operand(&d, &reg);
	if (map == 1 && (op & 0xf0) == 0x80 && !vex)
		d.small = false; /* a jump's distance */
	if (map == 0 && (op == 0xe8 || op == 0xe9))
		d.small = false;
	for (uint32_t k = immediate(&d, imm, reg); k && !d.short_read; k--)
		next(&d);
	bool xop = map == 0 && op == 0x8f && reg; /* of AMD processors that are no longer made */
	if (d.short_read || imm == BAD || map > 6 || xop)
		return (struct instruction){ 0, false };
	assert(d.at >= 1 && d.at <= 15);
	bool exchange = map == 0 && (op == 0x86 || op == 0x87);
	return (struct instruction){ (uint32_t)d.at, memory && (d.lock || exchange) };
}
