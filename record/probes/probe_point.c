/*
 * Decodes the few instructions with which functions begin, by a table of opcodes. The search ends
 * at any other instruction and at the first branch, so every call executes all instructions before
 * its end. To ensure that a call executes them only once, the search looks for jumps in all bytes
 * of the function: any bytes that could be a jump to a place after the start count as a jump.
 */
#include "record/probes/probe_point.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"

enum {
	REACH_MOST = 64, /* bytes from the function's start */
};

/* The operands of an opcode, and what the opcode changes. */
enum form {
	FORM_NONE = 0,
	FORM_MODRM = 1 << 0,
	FORM_WRITES_REG = 1 << 1, /* the register in modrm.reg */
	FORM_WRITES_RM = 1 << 2,  /* the register in modrm.rm, if rm is a register */
	FORM_IMM8 = 1 << 3,
	FORM_IMM32 = 1 << 4, /* 16 bits with prefix 66, which is not decoded */
	FORM_GROUP = 1 << 5, /* modrm.reg 7 (cmp) changes nothing */
	FORM_TEST = 1 << 6,  /* modrm.reg 0 (test) only, changes nothing */
	FORM_STORE = 1 << 7, /* modrm.reg 0 (mov) only */
};

#define READS FORM_MODRM
#define TO_REG (FORM_MODRM | FORM_WRITES_REG)
#define TO_RM (FORM_MODRM | FORM_WRITES_RM)

static const uint8_t forms[256] = {
	[0x01] = TO_RM,
	[0x03] = TO_REG,
	[0x09] = TO_RM,
	[0x0b] = TO_REG,
	[0x21] = TO_RM,
	[0x23] = TO_REG,
	[0x29] = TO_RM,
	[0x2b] = TO_REG,
	[0x31] = TO_RM,
	[0x33] = TO_REG,
	[0x38] = READS,
	[0x39] = READS,
	[0x3a] = READS,
	[0x3b] = READS,
	[0x3c] = FORM_IMM8,
	[0x3d] = FORM_IMM32,
	[0x63] = TO_REG,
	[0x80] = TO_RM | FORM_GROUP | FORM_IMM8,
	[0x81] = TO_RM | FORM_GROUP | FORM_IMM32,
	[0x83] = TO_RM | FORM_GROUP | FORM_IMM8,
	[0x84] = READS,
	[0x85] = READS,
	[0x88] = TO_RM,
	[0x89] = TO_RM,
	[0x8a] = TO_REG,
	[0x8b] = TO_REG,
	[0x8d] = TO_REG,
	[0xa8] = FORM_IMM8,
	[0xa9] = FORM_IMM32,
	[0xc1] = TO_RM | FORM_IMM8,
	[0xc6] = TO_RM | FORM_STORE | FORM_IMM8,
	[0xc7] = TO_RM | FORM_STORE | FORM_IMM32,
	[0xd1] = TO_RM,
	[0xf6] = READS | FORM_TEST | FORM_IMM8,
	[0xf7] = READS | FORM_TEST | FORM_IMM32,
};

/* Opcodes after 0f. Instructions on vector registers change no other register. */
static const uint8_t forms_0f[256] = {
	[0x10] = READS,	 [0x11] = TO_RM,  [0x1f] = READS,  [0x28] = READS,  [0x29] = TO_RM,
	[0x57] = READS,	 [0x6e] = READS,  [0x6f] = READS,  [0xef] = READS,  [0xb6] = TO_REG,
	[0xb7] = TO_REG, [0xbe] = TO_REG, [0xbf] = TO_REG, [0x40] = TO_REG, [0x41] = TO_REG,
	[0x42] = TO_REG, [0x43] = TO_REG, [0x44] = TO_REG, [0x45] = TO_REG, [0x46] = TO_REG,
	[0x47] = TO_REG, [0x48] = TO_REG, [0x49] = TO_REG, [0x4a] = TO_REG, [0x4b] = TO_REG,
	[0x4c] = TO_REG, [0x4d] = TO_REG, [0x4e] = TO_REG, [0x4f] = TO_REG,
};

struct decoding {
	const uint8_t *code;
	size_t size, at;
	uint8_t rex;
	bool operand_16;
	uint32_t *written;
};

static bool take(struct decoding *d, uint8_t *byte)
{
	if (d->at >= d->size)
		return false;
	*byte = d->code[d->at++];
	return true;
}

static void write_register(struct decoding *d, unsigned number, bool extended)
{
	*d->written |= 1u << (number | (extended ? 8u : 0u));
}

/* Decodes modrm and the bytes that it requires. */
static bool take_modrm(struct decoding *d, uint8_t form, bool byte_wide)
{
	uint8_t modrm, sib, mod, rm, reg;
	bool writes;

	if (!take(d, &modrm))
		return false;
	mod = modrm >> 6;
	reg = modrm >> 3 & 7;
	rm = modrm & 7;
	if ((form & (FORM_TEST | FORM_STORE)) && reg)
		return false;
	/* without REX, the numbers 4 to 7 are ah to bh, which are parts of ax to bx */
	if (form & FORM_WRITES_REG)
		write_register(d, byte_wide && !d->rex ? reg & 3 : reg, d->rex & 4);
	writes = (form & FORM_WRITES_RM) && !((form & FORM_GROUP) && reg == 7);
	if (mod == 3) {
		if (writes)
			write_register(d, byte_wide && !d->rex ? rm & 3 : rm, d->rex & 1);
		return true;
	}
	*d->written |= writes ? MT_WRITTEN_MEMORY : 0;
	if (rm == 4) {
		if (!take(d, &sib))
			return false;
		d->at += !mod && (sib & 7) == 5 ? 4 : 0;
	} else if (!mod && rm == 5) {
		d->at += 4;
	}
	d->at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return true;
}

static bool take_operands(struct decoding *d, uint8_t form, bool byte_wide)
{
	if ((form & FORM_IMM32) && d->operand_16)
		return false;
	if ((form & FORM_MODRM) && !take_modrm(d, form, byte_wide))
		return false;
	d->at += form & FORM_IMM8 ? 1 : form & FORM_IMM32 ? 4 : 0;
	return d->at <= d->size;
}

static bool take_0f(struct decoding *d, const char **emulated)
{
	uint8_t opcode;

	if (!take(d, &opcode))
		return false;
	if (opcode >= 0x80 && opcode <= 0x8f && !d->operand_16) {
		*emulated = "jump";
		d->at += 4;
		return d->at <= d->size;
	}
	return forms_0f[opcode] && take_operands(d, forms_0f[opcode], false);
}

static bool is_byte_wide(uint8_t opcode)
{
	return opcode == 0x80 || opcode == 0x88 || opcode == 0x8a || opcode == 0xc6;
}

/* Decodes opcodes without a row: those with their operands in the opcode, jumps and calls. */
static bool take_plain(struct decoding *d, uint8_t opcode, const char **emulated)
{
	if (opcode >= 0x50 && opcode <= 0x57) {
		*emulated = d->operand_16 ? NULL : "push";
		write_register(d, MT_REGISTER_SP, false);
	} else if (opcode == 0x90 && !d->rex) {
		*emulated = "nop";
	} else if (opcode >= 0xb8 && opcode <= 0xbf && !d->operand_16) {
		write_register(d, opcode & 7, d->rex & 1);
		d->at += d->rex & 8 ? 8 : 4;
	} else if (((opcode >= 0x70 && opcode <= 0x7f) || opcode == 0xeb) && !d->operand_16) {
		*emulated = "jump";
		d->at += 1;
	} else if ((opcode == 0xe9 || opcode == 0xe8) && !d->operand_16) {
		*emulated = opcode == 0xe9 ? "jump" : "call";
		*d->written |= opcode == 0xe8 ? 1u << MT_REGISTER_SP | MT_WRITTEN_MEMORY : 0;
		d->at += 4;
	} else {
		return false;
	}
	return d->at <= d->size;
}

/* Decodes prefixes: operand size, repetition, and the segment of stack protectors. */
static bool take_prefixes(struct decoding *d, uint8_t *opcode)
{
	do {
		if (d->at > 3 || !take(d, opcode))
			return false;
		d->operand_16 |= *opcode == 0x66;
	} while (*opcode == 0x66 || *opcode == 0xf2 || *opcode == 0xf3 || *opcode == 0x64);
	if (*opcode >= 0x40 && *opcode <= 0x4f) {
		d->rex = *opcode;
		return take(d, opcode);
	}
	return true;
}

size_t mt_probe_instruction(const uint8_t *code, size_t size, uint32_t *written,
			    const char **emulated)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct decoding d = {.code = code, .size = size, .written = written};
	uint8_t opcode;
	bool known;

	*written = 0;
	*emulated = NULL;
	if (size >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		return sizeof(endbr64);
	if (!take_prefixes(&d, &opcode))
		return 0;
	if (opcode == 0x0f)
		known = take_0f(&d, emulated);
	else if (forms[opcode])
		known = take_operands(&d, forms[opcode], is_byte_wide(opcode));
	else
		known = take_plain(&d, opcode, emulated);
	return known ? d.at : 0;
}

/* Returns the target of a jump at `at`, as an offset in the function. False if there is no jump. */
static bool jump_target(const uint8_t *code, size_t size, size_t at, int64_t *target)
{
	uint8_t opcode = code[at];

	if ((opcode >= 0x70 && opcode <= 0x7f) || opcode == 0xeb ||
	    (opcode >= 0xe0 && opcode <= 0xe3)) {
		*target = (int64_t)at + 2 + (at + 1 < size ? (int8_t)code[at + 1] : 0);
		return at + 2 <= size;
	}
	if (opcode == 0xe9 && at + 5 <= size) {
		*target = (int64_t)at + 5 + (int32_t)mt_get_le32(code + at + 1);
		return true;
	}
	if (opcode == 0x0f && at + 6 <= size && code[at + 1] >= 0x80 && code[at + 1] <= 0x8f) {
		*target = (int64_t)at + 6 + (int32_t)mt_get_le32(code + at + 2);
		return true;
	}
	return false;
}

/* Returns true if no jump of the function can lead to an offset after the start, up to `offset`. */
static bool is_passed_once(const uint8_t *code, size_t size, size_t offset)
{
	for (size_t at = 0; at < size; at++) {
		int64_t target;

		if (jump_target(code, size, at, &target) && target > 0 && target <= (int64_t)offset)
			return false;
		/* jmp *%reg and jmp *table(,%reg,8) can lead anywhere */
		if (code[at] == 0xff && at + 1 < size &&
		    ((code[at + 1] & 0xf8) == 0xe0 || code[at + 1] == 0x24))
			return false;
	}
	return true;
}

struct mt_probe_point mt_probe_point_choose(const uint8_t *code, size_t size, uint32_t needed)
{
	struct mt_probe_point start = {0};
	const char *emulated;
	uint32_t written;
	size_t length;

	for (size_t at = 0; at < size && at < REACH_MOST; at += length) {
		length = mt_probe_instruction(code + at, size - at, &written, &emulated);
		if (!length)
			return start;
		if (emulated && (!at || is_passed_once(code, size, at)))
			return (struct mt_probe_point){at, emulated};
		if (emulated || (written & needed))
			return start;
	}
	return start;
}

uint32_t mt_probe_needed(const char *definition)
{
	static const char *const names[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
	uint32_t needed =
		strstr(definition, "$stack") ? 1u << MT_REGISTER_SP | MT_WRITTEN_MEMORY : 0;

	needed |= strchr(definition, '(') ? MT_WRITTEN_MEMORY : 0;

	for (const char *at = definition; (at = strchr(at, '%')); at++) {
		for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
			needed |= !strncmp(at + 1, names[i], 2) ? 1u << i : 0;
		if (at[1] == 'r' && isdigit((unsigned char)at[2]))
			needed |= 1u << (strtoul(at + 2, NULL, 10) & 15);
	}
	return needed;
}
