/*
 * operands: which columns of an instruction are registers, and what it does to them, from one table by operation. The rest
 * of the columns are constants or ids (ir.h has the list).
 */
#include "base/invariant.h"
#include "ir/build.h"

/*
 * A letter for each of a, b, c, d, e: w written, r read, k read unless it is a constant (IMM_B, IMM_C), W and R the same of the
 * d registers from there on, p pinned (the bit of a lock's holder, the phase of a block: neither live nor dead), i read when c is 1.
 */
/* clang-format off */
static const char *const operands[IR_OP_COUNT] = {
	[IR_NOP] = "", [IR_STOP] = "", [IR_JMP] = "", [IR_ENTER] = "", [IR_EXIT] = "",
	[IR_MOV ... IR_BOOL] = "wk", [IR_ADD ... IR_GE] = "wkk",
	[IR_RANGE] = "r", [IR_CHOOSE] = "w",
	[IR_JZ] = "-k", [IR_JNZ] = "-k", [IR_ASSUME] = "-k", [IR_STUCK] = "-k", [IR_ASSERT] = "-k", [IR_RESPOND] = "-k",
	[IR_LGET] = "wRk", [IR_LSET] = "Wkk", [IR_LZERO] = "W",
	[IR_LOAD] = "w-k", [IR_STORE] = "-kk", [IR_CAS] = "w-krr", [IR_XCHG] = "w-kr", [IR_FADD] = "w-kr",
	[IR_ACQ] = "--kp", [IR_REL] = "--kp",
	[IR_RINV] = "--k", [IR_RRESP] = "w-k", [IR_WINV] = "-kk", [IR_WRESP] = "-kk",
	[IR_COMMIT] = "-p", [IR_INVOKE] = "-i",
};
/* clang-format on */

static bool is_register(const struct ir_ins *i, uint32_t column, char operand)
{
	switch (operand) {
	case '-':
		return false;
	case 'k':
		return !(i->imm & (column == 1 ? IR_IMM_B : IR_IMM_C));
	case 'i':
		return i->c != 0;
	default:
		return true;
	}
}

uint32_t ir_ins_registers(struct ir_ins *i, int32_t *reg[IR_COLUMNS])
{
	assert(i->op < IR_OP_COUNT && operands[i->op]);
	int32_t *column[IR_COLUMNS] = { &i->a, &i->b, &i->c, &i->d, &i->e };
	const char *operand = operands[i->op];
	uint32_t n = 0;
	for (uint32_t k = 0; operand[k]; k++)
		if (is_register(i, k, operand[k]))
			reg[n++] = column[k];
	return n;
}

struct ir_uses ir_ins_uses(const struct ir_ins *i)
{
	assert(i->op < IR_OP_COUNT && operands[i->op]);
	struct ir_uses u = { .partial = i->op == IR_LSET };
	const int32_t column[IR_COLUMNS] = { i->a, i->b, i->c, i->d, i->e };
	const char *operand = operands[i->op];
	for (uint32_t k = 0; operand[k]; k++) {
		bool many = operand[k] == 'W' || operand[k] == 'R', write = operand[k] == 'w' || operand[k] == 'W';
		if (operand[k] == 'p' || !is_register(i, k, operand[k]))
			continue;
		uint32_t reg = (uint32_t)column[k], n = many ? (uint32_t)i->d : 1;
		assert(n >= 1 && u.nwrite < 2 && u.nread < 4);
		if (write) {
			u.write[u.nwrite].reg = reg;
			u.write[u.nwrite++].n = n;
		} else {
			u.read[u.nread].reg = reg;
			u.read[u.nread++].n = n;
		}
	}
	return u;
}
