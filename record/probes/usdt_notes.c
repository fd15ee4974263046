/*
 * Parses notes of type 3 of "stapsdt": address, base and semaphore as u64, then three strings. The
 * addresses are correct if .stapsdt.base is at the address `base`; prelinking moves that section.
 * Arguments are GNU as operands with a leading size; see systemtap's UserSpaceProbeImplementation.
 */
#include "record/probes/usdt_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cursor.h"
#include "symbols/elf/elf.h"

enum {
	NOTE_TYPE = 3,
};

static void skip_padding(struct mt_cursor *c, const uint8_t *start)
{
	size_t pad = -(size_t)(c->pos - start) & 3, left = mt_cursor_left(c);

	mt_cursor_bytes(c, pad < left ? pad : left);
}

static bool read_note(struct mt_cursor body, uint64_t real_base, struct mt_usdt_note *out)
{
	uint64_t address = mt_cursor_u64(&body), base = mt_cursor_u64(&body),
		 semaphore = mt_cursor_u64(&body);
	uint64_t moved = base && real_base ? real_base - base : 0;

	out->provider = mt_cursor_cstring(&body);
	out->name = mt_cursor_cstring(&body);
	out->arguments = mt_cursor_cstring(&body);
	out->address = address + moved;
	out->semaphore = semaphore ? semaphore + moved : 0;
	return !body.bad && *out->provider && *out->name;
}

bool mt_usdt_notes_read(const struct mt_span *notes, uint64_t base,
			bool (*each)(void *context, const struct mt_usdt_note *note), void *context)
{
	struct mt_cursor c = mt_cursor_init(notes->bytes, notes->size);

	while (mt_cursor_left(&c)) {
		uint32_t name_size = mt_cursor_u32(&c), size = mt_cursor_u32(&c),
			 type = mt_cursor_u32(&c);
		const uint8_t *name = mt_cursor_bytes(&c, name_size);
		struct mt_cursor body;
		struct mt_usdt_note note;

		skip_padding(&c, notes->bytes);
		body = mt_cursor_sub(&c, size);
		skip_padding(&c, notes->bytes);
		if (name && type == NOTE_TYPE && name_size == sizeof("stapsdt") &&
		    !memcmp(name, "stapsdt", sizeof("stapsdt")) && read_note(body, base, &note) &&
		    !each(context, &note))
			return false;
	}
	return true;
}

bool mt_usdt_notes_each(struct mt_elf *elf,
			bool (*each)(void *context, const struct mt_usdt_note *note), void *context)
{
	struct mt_span notes = mt_elf_section(elf, ".note.stapsdt");
	struct mt_elf_section_info base = {0};
	size_t index = mt_elf_find_section(elf, ".stapsdt.base");

	if (index)
		(void)mt_elf_section_info(elf, index, &base);
	return mt_usdt_notes_read(&notes, base.vaddr, each, context);
}

/* The kernel's name of a register, and the names of its parts. */
static const char *const registers[][5] = {
	{"ax", "rax", "eax", "ax", "al"},	{"bx", "rbx", "ebx", "bx", "bl"},
	{"cx", "rcx", "ecx", "cx", "cl"},	{"dx", "rdx", "edx", "dx", "dl"},
	{"si", "rsi", "esi", "si", "sil"},	{"di", "rdi", "edi", "di", "dil"},
	{"bp", "rbp", "ebp", "bp", "bpl"},	{"sp", "rsp", "esp", "sp", "spl"},
	{"r8", "r8", "r8d", "r8w", "r8b"},	{"r9", "r9", "r9d", "r9w", "r9b"},
	{"r10", "r10", "r10d", "r10w", "r10b"}, {"r11", "r11", "r11d", "r11w", "r11b"},
	{"r12", "r12", "r12d", "r12w", "r12b"}, {"r13", "r13", "r13d", "r13w", "r13b"},
	{"r14", "r14", "r14d", "r14w", "r14b"}, {"r15", "r15", "r15d", "r15w", "r15b"},
	{"ip", "rip", "eip", "ip", "ip"},	{"flags", "flags", "flags", "flags", "flags"},
};

const char *mt_usdt_register(const char *name)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++) {
		for (size_t k = 1; k < 5; k++) {
			if (!strcmp(registers[i][k], name))
				return registers[i][0];
		}
	}
	return NULL;
}

/* Converts "-16(%rbp)" or "(%rax)" to the kernel's form. False for other operands. */
static bool get_memory(const char *operand, char *fetch, size_t size)
{
	char *end, name[8];
	long long offset = *operand == '(' ? 0 : strtoll(operand, &end, 0);
	const char *at = *operand == '(' ? operand : end, *known;
	int used = 0;

	if (sscanf(at, "(%%%7[a-z0-9])%n", name, &used) != 1 || !used || at[used])
		return false;
	known = mt_usdt_register(name);
	if (!known || !strcmp(known, "ip"))
		return false;
	snprintf(fetch, size, "%+lld(%%%s)", offset, known);
	return true;
}

static void get_fetch(const char *operand, char *fetch, size_t size)
{
	const char *known = *operand == '%' ? mt_usdt_register(operand + 1) : NULL;
	char *end;
	long long value;

	*fetch = '\0';
	if (known) {
		snprintf(fetch, size, "%%%s", known);
	} else if (*operand == '$') {
		value = strtoll(operand + 1, &end, 0);
		if (!*end && end != operand + 1)
			snprintf(fetch, size, "\\%lld", value);
	} else {
		get_memory(operand, fetch, size);
	}
}

/* Parses the size before the '@'. A minus sign means a signed type; 'f' means not an integer. */
static const char *get_type(const char *text, char type[4])
{
	static const char *const types[2][9] = {
		{[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"},
		{[1] = "s8", [2] = "s16", [4] = "s32", [8] = "s64"},
	};
	const char *at = strchr(text, '@');
	bool is_signed = *text == '-';
	const char *known = "u64";

	if (at) {
		int size = text[is_signed];

		if (at != text + is_signed + 1 || size < '1' || size > '8' ||
		    !types[is_signed][size - '0'])
			return NULL;
		known = types[is_signed][size - '0'];
	}
	snprintf(type, 4, "%s", known);
	return at ? at + 1 : text;
}

bool mt_usdt_argument_get(const char *arguments, unsigned i, struct mt_usdt_argument *out)
{
	const char *operand;
	size_t length;

	for (;; arguments += strcspn(arguments, " ")) {
		arguments += strspn(arguments, " ");
		if (!*arguments)
			return false;
		if (!i--)
			break;
	}
	length = strcspn(arguments, " ");
	*out = (struct mt_usdt_argument){.type = "u64"};
	snprintf(out->text, sizeof(out->text), "%.*s", (int)(length < 64 ? length : 63), arguments);
	operand = length < sizeof(out->text) ? get_type(out->text, out->type) : NULL;
	if (operand)
		get_fetch(operand, out->fetch, sizeof(out->fetch));
	return true;
}
