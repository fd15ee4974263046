/*
 * Decodes a function from its start to the end of its symbol. If bytes are missing, decoding
 * resumes at the next block that may be carried, even if that block begins inside an instruction.
 */
#include "report/names/function_code.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "report/stacks/frames.h"
#include "symbols/carried/code_blocks.h"
#include "symbols/images/disasm.h"
#include "symbols/images/image.h"
#include "symbols/names/symbolize.h"

enum {
	INSTRUCTION_MOST = 15,
	FUNCTION_MOST = 1 << 20, /* bytes */
	UNSIZED_MOST = 4096,	 /* bytes of a function whose symbol has no size */
};

struct mt_function_code {
	struct mt_image_set *images;
	mt_function_namer *name;
	void *naming; /* first argument of name */
	struct mt_disasm *disasm;
};

struct mt_function_code *mt_function_code_create(struct mt_image_set *images,
						 mt_function_namer *name, void *naming)
{
	struct mt_function_code *code = mt_alloc(1, sizeof(*code));

	code->images = images;
	code->name = name;
	code->naming = naming;
	code->disasm = mt_disasm_create();
	return code;
}

void mt_function_code_destroy(struct mt_function_code *code)
{
	if (!code)
		return;
	mt_disasm_destroy(code->disasm);
	free(code);
}

/* ---- Where a function ends ---- */

static bool is_code(const struct mt_elf_symbol *symbol)
{
	return symbol->section != SHN_UNDEF &&
	       (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
		symbol->type == STT_NOTYPE);
}

/*
 * The end of the function at `start`, by its symbol. If the symbol has no size, the function ends
 * at the next symbol, or after UNSIZED_MOST bytes.
 */
static uint64_t end_of(struct mt_elf *symbols, uint64_t start)
{
	uint64_t size = 0, next = start + UNSIZED_MOST;
	struct mt_elf_symbol symbol;

	for (int dynamic = 0; dynamic < 2; dynamic++) {
		size_t count = mt_elf_symbol_count(symbols, dynamic);

		for (size_t i = 0; i < count; i++) {
			if (!mt_elf_symbol(symbols, dynamic, i, &symbol) || !is_code(&symbol))
				continue;
			if (symbol.value == start && symbol.size > size)
				size = symbol.size;
			if (symbol.value > start && symbol.value < next)
				next = symbol.value;
		}
	}
	size = size ? size : next - start;
	return start + (size < FUNCTION_MOST ? size : FUNCTION_MOST);
}

/* ---- Decoding ---- */

/* The text of an instruction; a call shows the name of the function: "call    0x401136 <grow>". */
static char *text_of(const struct mt_function_code *code, const struct mt_image *image,
		     const struct mt_insn_text *insn, uint64_t start, uint64_t offset)
{
	const struct mt_frame_key key = {.image = image->id,
					 .offset = insn->target - start + offset};
	const struct mt_symbol *symbol = insn->target ? code->name(code->naming, &key) : NULL;

	while (symbol && symbol->inlined)
		symbol++;
	if (symbol && symbol->resolved && !symbol->offset)
		return mt_format("%s <%s>", insn->text, symbol->name);
	return mt_copy_string(insn->text);
}

/* Prints the instruction at an address. False if bytes are missing, or are not an instruction. */
static bool print_at(const struct mt_function_code *code, struct mt_image *image, bool att,
		     uint64_t at, struct mt_insn_text *out)
{
	for (size_t n = INSTRUCTION_MOST; n; n--) {
		const uint8_t *bytes = mt_image_code(image, at, n, true);

		if (bytes)
			return mt_disasm_print(code->disasm, att, at, bytes, n, out);
	}
	return false;
}

static void decode(const struct mt_function_code *code, struct mt_image *image, uint64_t offset,
		   bool att, struct mt_code_text *out)
{
	uint64_t end = end_of(mt_image_symbols_elf(image), out->start);

	for (uint64_t at = out->start; at < end;) {
		struct mt_insn_text insn;
		struct mt_code_line *line;

		if (!print_at(code, image, att, at, &insn)) {
			at = (at | (MT_CODE_BLOCK - 1)) + 1;
			continue;
		}
		mt_array_grow((void **)&out->lines, &out->capacity, out->count + 1,
			      sizeof(*out->lines));
		line = &out->lines[out->count++];
		*line = (struct mt_code_line){
			.at = at - out->start,
			.size = insn.size,
			.is_syscall = insn.is_syscall,
			.text = text_of(code, image, &insn, out->start, offset),
		};
		at += insn.size;
	}
}

/* ---- Sources of bytes ---- */

static const char *where_from(const struct mt_image *image)
{
	if (image->carried)
		return image->code ? "the file with its build id"
				   : "the recording; the first instruction of a piece may be cut";
	return image->found_at ? image->found_at : image->identity.path;
}

static const char *why_none(struct mt_image *image)
{
	if (!image || image->kind == MT_IMAGE_ANONYMOUS)
		return "generated at run time, in no file";
	if (image->kind == MT_IMAGE_KERNEL)
		return "the kernel's, in no file here";
	if (!mt_image_elf(image))
		return image->missing ? image->missing : "no file with the recorded build id";
	if (mt_elf_machine(image->elf) != EM_X86_64 || !mt_elf_is_64(image->elf))
		return "not x86-64";
	return NULL;
}

static void read_code(void *context, uint32_t id, uint64_t offset, bool att,
		      struct mt_code_text *out)
{
	struct mt_function_code *code = context;
	struct mt_image *image =
		id == MT_FRAME_NO_IMAGE ? NULL : mt_image_set_get(code->images, id);

	*out = (struct mt_code_text){.why = why_none(image)};
	if (!out->why && !mt_elf_offset_to_vaddr(image->elf, offset, &out->start))
		out->why = "not in the file's segments";
	if (out->why)
		return;
	decode(code, image, offset, att, out);
	out->from = where_from(image);
	if (!out->count)
		out->why = mt_disasm_problem(code->disasm);
	if (!out->count && !out->why)
		out->why = image->carried ? "the recording carries no code of it, and no file with "
					    "its build id is at hand"
					  : "the file has no code of it";
}

struct mt_code_reader mt_function_code_reader(struct mt_function_code *code)
{
	return (struct mt_code_reader){.context = code, .read = read_code};
}
