/*
 * An image carried in several skeletons, each with the code sampled up to a time. The first one is
 * the image and lists the others. Their symbols are merged into one table; sections stay separate.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "symbols/elf/elf_private.h"

static bool same_segments(const struct mt_elf *a, const struct mt_elf *b)
{
	if (a->segments.count != b->segments.count)
		return false;
	for (size_t i = 0; i < a->segments.count; i++) {
		const struct mt_segment *x = &a->segments.items[i], *y = &b->segments.items[i];

		if (x->vaddr != y->vaddr || x->memory_size != y->memory_size ||
		    x->offset != y->offset || x->file_size != y->file_size || x->flags != y->flags)
			return false;
	}
	return true;
}

static bool same_image(const struct mt_elf *a, const struct mt_elf *b)
{
	struct mt_span id = mt_elf_build_id(a);

	return a->is_64 == b->is_64 && a->machine == b->machine && a->type == b->type &&
	       same_segments(a, b) && mt_elf_has_build_id(b, id.bytes, id.size);
}

/* Adds a piece to elf's list; drops a piece of another image. False out of memory. */
static bool add_piece(struct mt_elf *elf, struct mt_elf *piece)
{
	bool same = same_image(elf, piece), added = same && mt_array_append(&elf->further, piece);

	if (!added)
		mt_elf_destroy(piece);
	return added || !same;
}

struct mt_elf *mt_elf_piece(struct mt_elf *elf, size_t i)
{
	return i ? elf->further.items[i - 1] : elf;
}

/* ---- Symbols ---- */

/* One symbol table, merged from those of all pieces. */
struct joined {
	uint8_t *bytes, *strings;
	size_t count, size, each; /* size: bytes of the strings */
	struct mt_map64 known;	  /* hash of a symbol and its name -> its index */
};

static bool fits_joined(const struct mt_elf_symbol_table *table, const struct joined *joined)
{
	return table->count && table->names_size && joined->size + table->names_size <= UINT32_MAX;
}

/*
 * True if the symbol at `at` is already in the table: pieces share the symbols that relocations
 * name. `left` bounds the bytes read of names, because a hostile table may have one long name a
 * million times.
 */
static bool is_known(struct joined *joined, const uint8_t *at, size_t *left)
{
	const char *strings = (const char *)joined->strings, *name = strings + mt_get_le32(at);
	size_t length = strnlen(name, *left);
	const uint8_t *other;
	uint64_t key, i;

	*left -= length;
	if (!*left)
		return false;
	key = mt_hash_bytes(at + 4, joined->each - 4, mt_hash_bytes(name, length, 0));
	if (!mt_map64_get(&joined->known, key, &i)) {
		(void)mt_map64_put(&joined->known, key, joined->count);
		return false;
	}
	other = joined->bytes + i * joined->each;
	return !memcmp(at + 4, other + 4, joined->each - 4) &&
	       !strncmp(name, strings + mt_get_le32(other), length + 1);
}

/* Appends a table. Keeps all symbols of the first one, because relocations name them by number. */
static void append(struct joined *to, const struct mt_elf_symbol_table *table)
{
	bool first = !to->count, known;
	size_t before = to->size, left = table->names_size;

	memcpy(to->strings + before, table->names, table->names_size);
	to->size += table->names_size;
	for (size_t i = !first; i < table->count; i++) {
		uint8_t *at = to->bytes + to->count * to->each;
		uint32_t name;

		memcpy(at, table->bytes + i * table->stride, to->each);
		name = mt_get_le32(at);
		name = name < table->names_size ? name + (uint32_t)before : 0;
		mt_put_le32(at, name);
		known = is_known(to, at, &left);
		to->count += first || !known;
	}
}

/* Sums up the sizes of all pieces' tables. */
static struct joined measure(struct mt_elf *elf, bool dynamic)
{
	struct joined sum = {.each = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)};

	for (size_t i = 0; i < mt_elf_pieces(elf); i++) {
		const struct mt_elf_symbol_table *table =
			mt_elf_symbol_table(mt_elf_piece(elf, i), dynamic);

		if (!fits_joined(table, &sum))
			continue;
		sum.count += table->count;
		sum.size += table->names_size;
	}
	return sum;
}

/* Merges the tables of all pieces into one. */
static bool join_symbols(struct mt_elf *elf, bool dynamic)
{
	struct joined joined = measure(elf, dynamic);
	size_t strings_at = joined.count * joined.each;

	if (!joined.count)
		return true;
	joined.bytes = malloc(strings_at + joined.size);
	if (!joined.bytes)
		return false;
	joined.strings = joined.bytes + strings_at;
	joined.count = joined.size = 0;
	for (size_t i = 0; i < mt_elf_pieces(elf); i++) {
		const struct mt_elf_symbol_table *table = &mt_elf_piece(elf, i)->tables[dynamic];

		if (fits_joined(table, &joined))
			append(&joined, table);
	}
	mt_map64_deinit(&joined.known);
	elf->joined[dynamic] = joined.bytes;
	elf->tables[dynamic] = (struct mt_elf_symbol_table){
		.tried = true,
		.bytes = joined.bytes,
		.count = joined.count,
		.stride = joined.each,
		.names = (const char *)joined.strings,
		.names_size = joined.size,
	};
	return true;
}

/* ---- Opening ---- */

/* Opens the skeletons that are valid; returns the last error if none is. */
static struct mt_error *open_all(const struct mt_span *pieces, size_t count, const char *name,
				 struct mt_elf **elf)
{
	struct mt_error *err = NULL;

	for (size_t i = 0; i < count; i++) {
		struct mt_elf *piece = NULL;

		if (!pieces[i].bytes)
			continue;
		mt_error_destroy(err);
		err = mt_elf_open_skeleton(pieces[i].bytes, pieces[i].size, name, &piece);
		if (err && err->kind == MT_ERR_NOMEM)
			return err;
		if (piece && *elf && !add_piece(*elf, piece))
			return mt_error_nomem();
		if (!*elf)
			*elf = piece;
	}
	if (!*elf)
		return err ? err
			   : mt_error_create(MT_ERR_FORMAT,
					     "what the recording carries of it is damaged");
	mt_error_destroy(err);
	return NULL;
}

struct mt_error *mt_elf_open_pieces(const struct mt_span *pieces, size_t count, const char *name,
				    struct mt_elf **out)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *err = open_all(pieces, count, name, &elf);

	if (err)
		return err;
	if (elf->further.count && (!join_symbols(elf, false) || !join_symbols(elf, true)))
		return mt_error_nomem();
	*out = MT_TAKE(elf);
	return NULL;
}

/* ---- Lookups ---- */

size_t mt_elf_pieces(const struct mt_elf *elf)
{
	return elf->further.count + 1;
}

struct mt_span mt_elf_section_in(struct mt_elf *elf, size_t piece, const char *name)
{
	return mt_elf_own_section(mt_elf_piece(elf, piece), name);
}
