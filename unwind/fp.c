/*
 * Frame-pointer steps in code without CFI: JIT code, interpreters, assembly. rbp need not be a
 * frame pointer in this code, so a step must find a possible return address.
 */
#include <string.h>
#include <sys/mman.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/lookup.h"
#include "unwind/walk.h"

/* Code outside all known mappings is assumed to call only code within this distance. */
#define JIT_SPAN_MAX ((uint64_t)1 << 32)

/* The assumed maximum length of a function without CFI. */
#define LEAF_SPAN_MAX 4096

/* The length of `ff /2` with this ModRM and SIB byte: 2 to 7 bytes. */
static size_t indirect_call_size(uint8_t modrm, uint8_t sib)
{
	unsigned int mod = modrm >> 6, rm = modrm & 7;
	size_t size = mod != 3 && rm == 4 ? 3 : 2;

	if (mod == 1)
		return size + 1;
	if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
		return size + 4;
	return size;
}

bool mt_fp_ends_in_call(const uint8_t code[MT_CALL_CODE])
{
	const uint8_t *end = code + MT_CALL_CODE;

	if (end[-5] == 0xe8)
		return true;
	for (size_t n = 2; n <= 7; n++) {
		if (end[-(long)n] == 0xff && (end[1 - (long)n] >> 3 & 7) == 2 &&
		    indirect_call_size(end[1 - (long)n], n > 2 ? end[2 - (long)n] : 0) == n)
			return true;
	}
	return false;
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
	       byte == 0x3e || byte == 0x26 || byte == 0x36 || byte == 0x64 || byte == 0x65 ||
	       (byte & 0xf0) == 0x40;
}

size_t mt_fp_call_size(const uint8_t *code, size_t n)
{
	size_t at = 0, size = 0;

	while (at < n && is_prefix(code[at]))
		at++;
	if (at < n && code[at] == 0xe8)
		size = at + 5;
	else if (at + 1 < n && code[at] == 0xff && (code[at + 1] >> 3 & 7) == 2)
		size = at + indirect_call_size(code[at + 1], at + 2 < n ? code[at + 2] : 0);
	return size <= n ? size : 0;
}

/* Result of checking a possible return address by its mapping and the code before it. */
enum return_kind {
	RETURN_NONE,	  /* not a return address: data of a file, or not after a call */
	RETURN_FILE,	  /* in code of a file, and after a call if the bytes are available */
	RETURN_ANONYMOUS, /* in memory without a file: may be JIT code */
	RETURN_UNMAPPED,  /* in no known mapping: may be JIT code, too */
};

static enum return_kind find_return(const struct mt_walk *walk, uint64_t pc)
{
	const struct mt_mapping *mapping = mt_image_map_find(walk->input->map, pc - 1);
	const uint8_t *code;

	if (!mapping)
		return RETURN_UNMAPPED;
	if (mapping->image->kind == MT_IMAGE_ANONYMOUS)
		return RETURN_ANONYMOUS;
	if (!(mapping->prot & PROT_EXEC))
		return RETURN_NONE;
	code = mt_lookup_code(walk->input->map, pc - MT_CALL_CODE, MT_CALL_CODE, false);
	return !code || mt_fp_ends_in_call(code) ? RETURN_FILE : RETURN_NONE;
}

/* The entry for an address in a table of checked addresses. *known: the entry is valid. */
static inline struct mt_seen_code *seen_code(const struct mt_walk *walk, struct mt_seen_code *table,
					     uint64_t pc, bool *known)
{
	uint64_t mixed = (pc ^ (uint64_t)walk->version << 32) * 0x9e3779b97f4a7c15u;
	struct mt_seen_code *seen = &table[mixed >> (64 - MT_SEEN_CODE_BITS)];

	*known = seen->pc == pc && seen->version == walk->version;
	return seen;
}

/* The same, through the table of addresses checked before. */
static enum return_kind return_kind(const struct mt_walk *walk, uint64_t pc)
{
	bool known;
	struct mt_seen_code *seen = seen_code(walk, walk->unwinder->returns, pc, &known);

	if (!known)
		*seen = (struct mt_seen_code){pc, walk->version, find_return(walk, pc)};
	return (enum return_kind)seen->kind;
}

bool mt_fp_is_return(const struct mt_walk *walk, uint64_t word)
{
	return mt_pc_plausible(word) && return_kind(walk, word) == RETURN_FILE;
}

/*
 * Checks a return address that may be in JIT code. The current protection of the memory is unknown,
 * because there are no records of mprotect(). So frame pointers must rise. If the return address is
 * outside all known mappings, pc must be near it and outside them, too.
 */
static inline bool jit_return(const struct mt_walk *walk, const struct mt_position *at,
			      const struct mt_position *next)
{
	return next->fp > at->fp && next->fp - at->fp <= MT_FP_SPAN_MAX &&
	       next->pc - walk->dump.start >= walk->dump.size;
}

static bool unmapped_return(const struct mt_walk *walk, const struct mt_position *at,
			    const struct mt_position *next)
{
	uint64_t distance = next->pc > at->pc ? next->pc - at->pc : at->pc - next->pc;

	return distance < JIT_SPAN_MAX && return_kind(walk, at->pc + 1) == RETURN_UNMAPPED;
}

static bool plausible_return(const struct mt_walk *walk, const struct mt_position *at,
			     const struct mt_position *next)
{
	enum return_kind kind;

	if (!mt_pc_plausible(next->pc))
		return false;
	kind = return_kind(walk, next->pc);
	if (kind == RETURN_NONE || kind == RETURN_FILE)
		return kind == RETURN_FILE;
	return jit_return(walk, at, next) &&
	       (kind == RETURN_ANONYMOUS || unmapped_return(walk, at, next));
}

enum prologue {
	AT_ENTRY,   /* before `push %rbp`, or at `ret`: the return address is on top of the stack */
	AFTER_PUSH, /* before `mov %rsp, %rbp`: the saved frame pointer is on top */
	IN_BODY,
};

/* What the code at a sampled pc shows about the frame. */
enum place_kind {
	PLACE_UNKNOWN, /* the bytes are not available: mostly JIT code */
	PLACE_ENTRY,
	PLACE_PUSHED,
	PLACE_OTHER,
};

static bool code_is(const struct mt_walk *walk, uint64_t pc, const char *bytes, size_t n)
{
	const uint8_t *code = mt_lookup_code(walk->input->map, pc, n, false);

	return code && !memcmp(code, bytes, n);
}

static enum place_kind find_place(const struct mt_walk *walk, uint64_t pc)
{
	if (!mt_lookup_code(walk->input->map, pc, 1, false))
		return PLACE_UNKNOWN;
	if (code_is(walk, pc, "\x55", 1) || code_is(walk, pc, "\xf3\x0f\x1e\xfa\x55", 5) ||
	    code_is(walk, pc, "\xc3", 1))
		return PLACE_ENTRY;
	if (code_is(walk, pc - 1, "\x55\x48\x89\xe5", 4) ||
	    code_is(walk, pc - 1, "\x55\x48\x8b\xec", 4))
		return PLACE_PUSHED;
	return PLACE_OTHER;
}

/* The same, through the table of addresses checked before. */
static enum place_kind place_kind(const struct mt_walk *walk, uint64_t pc)
{
	bool known;
	struct mt_seen_code *seen = seen_code(walk, walk->unwinder->places, pc, &known);

	if (!known)
		*seen = (struct mt_seen_code){pc, walk->version, find_place(walk, pc)};
	return (enum place_kind)seen->kind;
}

/*
 * Distance from pc back to the target of the direct call before the return address at `slot`; huge
 * if there is no direct call.
 */
static uint64_t distance_called(const struct mt_walk *walk, uint64_t pc, uint64_t slot)
{
	const uint8_t *code;
	uint64_t back, target;

	if (!mt_dump_read(&walk->dump, slot, &back))
		return UINT64_MAX;
	code = mt_lookup_code(walk->input->map, back - 5, 5, false);
	if (!code || code[0] != 0xe8)
		return UINT64_MAX;
	target = back + (uint64_t)(int64_t)(int32_t)mt_get_le32(code + 1);
	return pc - target;
}

/*
 * True in a leaf function without a frame: on top of the stack is the return address of a direct
 * call to an address shortly before pc, and nearer to pc than the target of the call that the frame
 * pointer leads to. (If both targets are equal, the word is left over, and pc is in a function with
 * a frame.)
 */
static bool in_leaf(const struct mt_walk *walk, const struct mt_position *at)
{
	uint64_t distance = distance_called(walk, at->pc, at->sp);

	return distance < LEAF_SPAN_MAX && distance < distance_called(walk, at->pc, at->fp + 8);
}

static enum prologue find_prologue(const struct mt_walk *walk, const struct mt_position *at)
{
	enum place_kind kind = place_kind(walk, at->pc);

	if (kind == PLACE_ENTRY || in_leaf(walk, at))
		return AT_ENTRY;
	return kind == PLACE_PUSHED ? AFTER_PUSH : IN_BODY;
}

static inline bool body_step(const struct mt_walk *walk, const struct mt_position *at,
			     struct mt_position *next)
{
	const struct mt_dump *dump = &walk->dump;
	uint64_t offset = at->fp - dump->start;

	if (at->fp < at->sp || at->fp & 7 || dump->size < 16 || offset > dump->size - 16)
		return false;
	next->fp = mt_get_le64(dump->bytes + offset);
	next->sp = at->fp + 16;
	return mt_dump_read(dump, at->fp + 8, &next->pc);
}

static bool prologue_step(const struct mt_walk *walk, const struct mt_position *at,
			  enum prologue prologue, struct mt_position *next)
{
	uint64_t slot = at->sp + (prologue == AFTER_PUSH ? 8 : 0);

	next->fp = at->fp;
	if (prologue == AFTER_PUSH && !mt_dump_read(&walk->dump, at->sp, &next->fp))
		return false;
	next->sp = slot + 8;
	return mt_dump_read(&walk->dump, slot, &next->pc);
}

/* Most return addresses into code without CFI occur repeatedly, so the cache has most of them. */
bool mt_fp_step_seen(const struct mt_walk *walk, struct mt_position *at)
{
	const struct mt_seen_code *seen;
	struct mt_position next;
	bool known;

	if (!body_step(walk, at, &next))
		return false;
	seen = seen_code(walk, walk->unwinder->returns, next.pc, &known);
	if (!known || (seen->kind != RETURN_FILE &&
		       (seen->kind != RETURN_ANONYMOUS || !jit_return(walk, at, &next))))
		return false;
	*at = next;
	return true;
}

bool mt_fp_step(const struct mt_walk *walk, const struct mt_position *at, bool call_return,
		struct mt_position *next)
{
	enum prologue prologue = call_return ? IN_BODY : find_prologue(walk, at);

	if (prologue != IN_BODY && prologue_step(walk, at, prologue, next) &&
	    plausible_return(walk, at, next))
		return true;
	return body_step(walk, at, next) && plausible_return(walk, at, next);
}
