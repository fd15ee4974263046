/*
 * Symbols and relocations for a skeleton. Symbols are sorted by address, which makes neighbours
 * alike and so compresses better; those at one address keep their order, since it may decide which
 * of them gives the name.
 *
 * A batch is made twice or more often, out of a file that others may write to meanwhile: whatever
 * it says the second time, as many bytes are written as were measured.
 */
#include "symbols/skeleton_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "symbols/address_sort.h"
#include "symbols/elf_private.h"
#include "symbols/function_symbol.h"
#include "symbols/plt.h"
#include "symbols/skeleton.h"

/*
 * The section of a symbol that claims one which is not there; none of a skeleton's has that number.
 */
#define NO_SECTION 0xfef0
#define BATCH_MAX 24576		       /* symbols: with their names some three MiB */
#define NAMES_MAX ((size_t)64 << 20)   /* bytes of theirs, which no real file has */
#define NAME_STEP ((size_t)256)	       /* bytes of a name that are looked at in one go */
#define NAME_GAP ((size_t)4096)	       /* between names that are looked at together */
#define KNOWN_MAX 131072	       /* symbols of the other table that are remembered */
#define PIECE ((size_t)128 << 10)      /* bytes that are asked for at a time */
#define RELOCATIONS ((size_t)16 << 10) /* bytes of them */
#define WINDOW ((size_t)2048)	       /* symbols that are asked for at a time */
#define LENGTH_MAX UINT16_MAX	       /* of a name: what is as long is looked at again */

struct symbol {
	uint64_t value, size;
	uint32_t index;	 /* the old one */
	uint32_t name;	 /* where it stands in the file's strings, then among the batch's */
	uint32_t length; /* of the name */
	uint16_t section;
	uint8_t info, visibility;
};

/* The symbols of [from, to) that are kept. */
struct mt_skeleton_batch {
	MT_ARRAY(struct symbol) symbols;
	MT_ARRAY(struct mt_addressed) order;
	MT_ARRAY(char) names; /* each with its NUL */
	bool named;	      /* these are there */
	size_t from, to;
	size_t kept; /* symbols of the table before these */
};

static void batch_destroy(struct mt_skeleton_batch *batch)
{
	if (!batch)
		return;
	mt_array_deinit(&batch->symbols);
	mt_array_deinit(&batch->order);
	mt_array_deinit(&batch->names);
	free(batch);
}

static void drop_batch(struct mt_skeleton_table *table)
{
	batch_destroy(table->batch);
	table->batch = NULL;
}

void mt_skeleton_table_deinit(struct mt_skeleton_table *table)
{
	drop_batch(table);
	mt_array_deinit(&table->relocated);
	mt_array_deinit(&table->numbers);
	mt_array_deinit(&table->resolvers);
	mt_array_deinit(&table->marks);
	mt_array_deinit(&table->copied);
	mt_array_deinit(&table->copies);
	free(table->entries);
	free(table->names);
	mt_array_deinit(&table->kept);
	mt_array_deinit(&table->lengths);
	mt_array_deinit(&table->ends);
}

static void need(const struct mt_skeleton_input *input, const void *bytes, size_t size)
{
	if (input && size)
		input->need(input->context, bytes, size);
}

/* ---- Relocations ---- */

struct relocation {
	uint8_t *bytes; /* all of it */
	uint32_t type, symbol;
};

static size_t relocation_size(const struct mt_elf *elf, bool addends)
{
	return (elf->is_64 ? 16u : 8u) + (!addends ? 0 : elf->is_64 ? 8u : 4u);
}

static void read_relocation(const struct mt_elf *elf, const uint8_t *bytes, struct relocation *out)
{
	uint64_t info = elf->is_64 ? mt_get_le64(bytes + 8) : mt_get_le32(bytes + 4);

	out->type = (uint32_t)(elf->is_64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info));
	out->symbol = (uint32_t)(elf->is_64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info));
}

static void set_symbol(const struct mt_elf *elf, uint8_t *bytes, uint32_t type, uint32_t symbol)
{
	if (elf->is_64)
		mt_put_le64(bytes + 8, ELF64_R_INFO((uint64_t)symbol, type));
	else
		mt_put_le32(bytes + 4, (uint32_t)ELF32_R_INFO(symbol, type));
}

/* Those that readers look for: with addends in 64-bit files. */
static bool add_resolver(const struct mt_elf *elf, const uint8_t *bytes, size_t size,
			 struct mt_skeleton_table *dynamic)
{
	if (!elf->is_64 || size < 24)
		return true;
	if (!mt_array_reserve(&dynamic->resolvers, dynamic->resolvers.count + 1))
		return false;
	dynamic->resolvers.items[dynamic->resolvers.count++] = mt_get_le64(bytes + 16);
	return true;
}

/* Marks what the relocation at `bytes` names, and keeps a copy, where it is one of a stub. */
static bool collect_relocation(const struct mt_elf *elf, const uint8_t *bytes, size_t size,
			       struct mt_skeleton_table *dynamic,
			       struct mt_skeleton_relocations *out)
{
	struct relocation r;

	read_relocation(elf, bytes, &r);
	if (!mt_plt_is_slot(elf->machine, r.type, r.symbol))
		return true;
	if (r.symbol && r.symbol < dynamic->relocated.count)
		dynamic->relocated.items[r.symbol] = 1;
	if (!r.symbol && !add_resolver(elf, bytes, size, dynamic))
		return false;
	if (!mt_array_grow((void **)&out->bytes, &out->capacity, out->size + size, 1))
		return false;
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
	return true;
}

static bool reserve_marks(struct mt_elf *elf, struct mt_skeleton_table *dynamic)
{
	size_t count = mt_elf_symbol_count(elf, true);

	if (dynamic->relocated.count)
		return true;
	if (!mt_array_reserve(&dynamic->relocated, count + 1) ||
	    !mt_array_reserve(&dynamic->numbers, count + 1))
		return false;
	memset(dynamic->relocated.items, 0, count + 1);
	memset(dynamic->numbers.items, 0, (count + 1) * sizeof(*dynamic->numbers.items));
	dynamic->relocated.count = dynamic->numbers.count = count;
	return true;
}

bool mt_skeleton_relocations_collect(struct mt_elf *elf, size_t i,
				     const struct mt_skeleton_input *input,
				     struct mt_skeleton_table *dynamic,
				     struct mt_skeleton_relocations *out)
{
	struct mt_span raw = mt_elf_raw_section(elf, i);
	size_t size = relocation_size(elf, elf->sections.items[i].type == SHT_RELA);
	size_t count = raw.bytes ? raw.size / size : 0, a_piece = RELOCATIONS / size;
	MT_CLEANUP_FREE uint8_t *room = malloc(RELOCATIONS);
	const uint8_t *piece = NULL;

	if (!room || !reserve_marks(elf, dynamic))
		return false;
	for (size_t at = 0; at < count; at++) {
		size_t n = count - at < a_piece ? count - at : a_piece;

		if (at % a_piece == 0)
			piece = mt_skeleton_input_look(input, raw, at * size, n * size, room);
		if (!collect_relocation(elf, piece + at % a_piece * size, size, dynamic, out))
			return false;
	}
	return true;
}

void mt_skeleton_relocations_renumber(const struct mt_elf *elf, bool addends,
				      const struct mt_skeleton_table *dynamic,
				      struct mt_skeleton_relocations *relocations)
{
	size_t size = relocation_size(elf, addends), kept = 0;

	for (size_t at = 0; at < relocations->size; at += size) {
		struct relocation r;
		uint32_t number;

		read_relocation(elf, relocations->bytes + at, &r);
		number = r.symbol < dynamic->numbers.count ? dynamic->numbers.items[r.symbol] : 0;
		if (r.symbol && !number)
			continue;
		memmove(relocations->bytes + kept, relocations->bytes + at, size);
		set_symbol(elf, relocations->bytes + kept, r.type, number);
		kept += size;
	}
	relocations->size = kept;
}

/* ---- Batches ---- */

/* Symbols that can be looked at: [from, end), whose entries are at `bytes`. */
struct window {
	size_t from, end;
	const uint8_t *bytes;
};

/* Few symbols that may be far from each other, where they were not copied. */
static void look_at(const struct mt_skeleton_table *table, struct window *window, size_t i)
{
	const struct mt_elf_symbol_table *raw = &table->from->tables[table->dynamic];
	struct mt_span span = {raw->bytes, raw->count * raw->stride, 0};
	size_t n = MT_SKELETON_LOOK / raw->stride, size;
	size_t copy = mt_array_split(table->copied.count, at, table->copied.items[at] < i);

	if (copy < table->copied.count && table->copied.items[copy] == i) {
		*window = (struct window){i, i + 1, table->copies.items + copy * raw->stride};
		return;
	}
	n = n < raw->count - i ? n : raw->count - i;
	size = n ? n * raw->stride : mt_skeleton_symbol_size(table->from);
	window->from = i;
	window->end = i + (n ? n : 1);
	window->bytes =
		mt_skeleton_input_look(table->input, span, i * raw->stride, size, table->entries);
}

/* Most of the symbols, which stay where they are. */
static void need_all(const struct mt_skeleton_table *table, struct window *window, size_t i)
{
	const struct mt_elf_symbol_table *raw = &table->from->tables[table->dynamic];

	window->from = i;
	window->end = i + WINDOW < raw->count ? i + WINDOW : raw->count;
	window->bytes = raw->bytes + i * raw->stride;
	need(table->input, window->bytes, (window->end - i) * raw->stride);
}

/* The symbol's own bytes, not its name, which is looked at only where a function may have it. */
static bool get_symbol(struct mt_skeleton_table *table, struct window *window, size_t i,
		       struct mt_elf_symbol *out)
{
	const struct mt_elf_symbol_table *raw = &table->from->tables[table->dynamic];

	if (i >= raw->count)
		return false;
	if (i < window->from || i >= window->end) {
		if (table->chosen)
			look_at(table, window, i);
		else
			need_all(table, window, i);
	}
	return mt_elf_symbol_read(table->from, raw,
				  window->bytes + (i - window->from) * raw->stride, i, out);
}

static bool is_relocated(const struct mt_skeleton_table *table, size_t i)
{
	return i < table->relocated.count && table->relocated.items[i];
}

/* The next symbol from i on that may be kept, before it is looked at; `end` where there is none. */
static size_t next_considered(const struct mt_skeleton_table *table, size_t i, size_t end)
{
	const uint8_t *bits = table->measured ? table->kept.items : table->marks.items;

	if (!table->measured && !table->chosen)
		return i;
	while (i < end && !(bits[i / 8] >> i % 8 & 1))
		i = bits[i / 8] >> i % 8 ? i + 1 : (i / 8 + 1) * 8;
	return i < end ? i : end;
}

static bool names_code(struct mt_skeleton_table *table, struct window *window, size_t i,
		       const struct mt_elf_symbol *symbol)
{
	if (is_relocated(table, i))
		return true;
	if (symbol->type == STT_NOTYPE && mt_symbol_names_tell(table->from)) {
		window->end = 0; /* it need not stay */
		need(table->input, symbol->name, 4);
	}
	return mt_symbol_is_function(table->from, symbol);
}

/* Whether the symbol is written, or may be while that is being found out. */
static bool is_kept(struct mt_skeleton_table *table, struct window *window, size_t i,
		    struct mt_elf_symbol *out)
{
	return i && get_symbol(table, window, i, out) &&
	       (table->measured || names_code(table, window, i, out));
}

/* The length of a name that ends with the table of names at the latest. */
static size_t name_length(const struct mt_skeleton_table *table, const char *name)
{
	const struct mt_elf_symbol_table *raw = &table->from->tables[table->dynamic];
	size_t left = (size_t)(raw->names + raw->names_size - name), length = 0;

	while (length < left) {
		size_t step = left - length < NAME_STEP ? left - length : NAME_STEP;
		const char *nul;

		need(table->input, name + length, step);
		nul = memchr(name + length, '\0', step);
		if (nul)
			return (size_t)(nul - name);
		length += step;
	}
	return length;
}

/* Appends the name, in pieces: it may be longer than what is in memory at a time. */
static bool add_name(const struct mt_skeleton_table *table, struct mt_skeleton_batch *batch,
		     const char *name, size_t length)
{
	if (batch->names.count + length >= NAMES_MAX ||
	    !mt_array_reserve(&batch->names, batch->names.count + length + 1))
		return false;
	for (size_t at = 0, n; at < length; at += n) {
		n = length - at < PIECE ? length - at : PIECE;
		if (length >= NAME_STEP) /* else that was what was looked at last */
			need(table->input, name + at, n);
		memcpy(batch->names.items + batch->names.count + at, name + at, n);
	}
	batch->names.items[batch->names.count + length] = '\0';
	batch->names.count += length + 1;
	return true;
}

static bool add_symbol(struct mt_skeleton_table *table, struct mt_skeleton_batch *batch, size_t i,
		       const struct mt_elf_symbol *from)
{
	const char *names = table->from->tables[table->dynamic].names;
	struct symbol *symbol = mt_array_push(&batch->symbols);

	if (!symbol)
		return false;
	*symbol = (struct symbol){
		.value = from->value,
		.size = from->size,
		.index = (uint32_t)i,
		.name = (uint32_t)(from->name - names),
		.section = from->section,
		.info = (uint8_t)ELF64_ST_INFO(from->binding, from->type),
		.visibility = from->visibility,
	};
	if (symbol->section < SHN_LORESERVE && symbol->section >= table->image->sections.count)
		symbol->section = NO_SECTION;
	return true;
}

/* What of the names is in table->names. */
struct looked {
	const char *bytes;
	size_t from, to;
};

/*
 * Looks at names from one on, the i-th in order: at those behind it, too, which are near enough.
 */
static void look_at_names(const struct mt_skeleton_table *table,
			  const struct mt_skeleton_batch *batch, size_t i, size_t at,
			  struct looked *looked)
{
	const struct mt_elf_symbol_table *raw = &table->from->tables[table->dynamic];
	struct mt_span span = {(const uint8_t *)raw->names, raw->names_size, 0};
	size_t end = at + NAME_STEP, most = at + MT_SKELETON_LOOK_NAMES;

	for (; ++i < batch->symbols.count && batch->order.items[i].address < end + NAME_GAP;)
		end = batch->order.items[i].address + NAME_STEP;
	end = end < most ? end : most;
	end = end < span.size ? end : span.size;
	*looked = (struct looked){.from = at, .to = end};
	looked->bytes = (const char *)mt_skeleton_input_look(table->input, span, at, end - at,
							     table->names);
}

static bool append_name(struct mt_skeleton_batch *batch, const char *bytes, size_t size)
{
	if (batch->names.count + size >= NAMES_MAX ||
	    !mt_array_reserve(&batch->names, batch->names.count + size + 1))
		return false;
	memcpy(batch->names.items + batch->names.count, bytes, size);
	batch->names.count += size;
	return true;
}

/*
 * Appends the i-th name in order, at an offset, of names that may be far from each other, and says
 * its length.
 */
static bool look_at_name(const struct mt_skeleton_table *table, struct mt_skeleton_batch *batch,
			 struct looked *looked, size_t i, size_t at, uint32_t *length)
{
	size_t all = table->from->tables[table->dynamic].names_size;
	size_t before = batch->names.count, n;
	const char *nul = NULL;

	for (; !nul && at < all; at += n) {
		if (at < looked->from || at >= looked->to)
			look_at_names(table, batch, i, at, looked);
		n = looked->to - at;
		nul = memchr(looked->bytes + (at - looked->from), '\0', n);
		n = nul ? (size_t)(nul - looked->bytes) - (at - looked->from) : n;
		if (!append_name(batch, looked->bytes + (at - looked->from), n))
			return false;
	}
	*length = (uint32_t)(batch->names.count - before);
	return append_name(batch, "", 1);
}

static bool read_name(const struct mt_skeleton_table *table, struct mt_skeleton_batch *batch,
		      struct looked *looked, size_t i, uint32_t *length)
{
	size_t at = batch->order.items[i].address;
	const char *name = table->from->tables[table->dynamic].names + at;

	if (table->chosen)
		return look_at_name(table, batch, looked, i, at, length);
	*length = (uint32_t)name_length(table, name);
	return add_name(table, batch, name, *length);
}

/* Reads the names, as they stand in the file: symbols have them in any order. */
static bool read_names(struct mt_skeleton_table *table, struct mt_skeleton_batch *batch)
{
	struct looked looked = {0};

	for (size_t i = 0; i < batch->symbols.count; i++)
		batch->order.items[i] =
			(struct mt_addressed){batch->symbols.items[i].name, (uint32_t)i};
	if (!mt_address_sort(batch->order.items, batch->symbols.count))
		return false;
	for (size_t i = 0; i < batch->symbols.count; i++) {
		struct symbol *symbol = &batch->symbols.items[batch->order.items[i].index];

		symbol->name = (uint32_t)batch->names.count;
		if (!read_name(table, batch, &looked, i, &symbol->length))
			return false;
	}
	return true;
}

/* How long the names are, as it was when they were measured. */
static void recall_lengths(const struct mt_skeleton_table *table, struct mt_skeleton_batch *batch)
{
	const char *names = table->from->tables[table->dynamic].names;

	for (size_t i = 0; i < batch->symbols.count; i++) {
		struct symbol *symbol = &batch->symbols.items[i];

		symbol->length = batch->kept + i < table->lengths.count
					 ? table->lengths.items[batch->kept + i]
					 : 0;
		if (symbol->length == LENGTH_MAX)
			symbol->length = (uint32_t)name_length(table, names + symbol->name);
	}
}

/*
 * Whether the other table has the same symbol: its name, without a version, and all that decides
 * whether it gives the name. One without a size counts by its place in the table, too.
 */
static bool is_known(const struct mt_skeleton_table *table, const struct mt_skeleton_batch *batch,
		     const struct symbol *symbol)
{
	const char *name = batch->names.items + symbol->name, *version;
	uint64_t numbers[] = {symbol->value, symbol->size, symbol->info}, ignored, key;

	if (!table->known || !symbol->size || is_relocated(table, symbol->index))
		return false;
	version = memchr(name, '@', symbol->length);
	key = mt_hash_bytes(name, version ? (size_t)(version - name) : symbol->length,
			    mt_hash_bytes(numbers, sizeof(numbers), 0));
	if (table->dynamic)
		return mt_map64_get(table->known, key, &ignored);
	if (table->known->count < KNOWN_MAX)
		(void)mt_map64_put(table->known, key, 1);
	return false;
}

/* While the table is measured: leaves those out that the other table has, and notes the others. */
static bool note_kept(struct mt_skeleton_table *table, struct mt_skeleton_batch *batch)
{
	size_t kept = 0;

	if (!mt_array_reserve(&table->lengths, table->lengths.count + batch->symbols.count))
		return false;
	for (size_t i = 0; i < batch->symbols.count; i++) {
		struct symbol symbol = batch->symbols.items[i];

		if (is_known(table, batch, &symbol))
			continue;
		batch->symbols.items[kept++] = symbol;
		table->kept.items[symbol.index / 8] |= (uint8_t)(1u << symbol.index % 8);
		table->lengths.items[table->lengths.count++] =
			(uint16_t)(symbol.length < LENGTH_MAX ? symbol.length : LENGTH_MAX);
	}
	batch->symbols.count = kept;
	return true;
}

static bool put_in_order(struct mt_skeleton_batch *batch)
{
	batch->order.count = batch->symbols.count;
	for (size_t i = 0; i < batch->symbols.count; i++)
		batch->order.items[i] =
			(struct mt_addressed){batch->symbols.items[i].value, (uint32_t)i};
	return mt_address_sort(batch->order.items, batch->order.count);
}

static bool complete_batch(struct mt_skeleton_table *table, struct mt_skeleton_batch *batch)
{
	if (!mt_array_reserve(&batch->order, batch->symbols.count + 1))
		return false;
	if (!batch->named)
		recall_lengths(table, batch);
	else if (!read_names(table, batch))
		return false;
	return (table->measured || note_kept(table, batch)) && put_in_order(batch);
}

/* Where the batch that begins at symbol i ends at the latest: where it did the first time. */
static size_t end_of_batch(const struct mt_skeleton_table *table, size_t i)
{
	size_t all = table->from->tables[table->dynamic].count;

	for (size_t k = 0; table->measured && k < table->ends.count; k++) {
		if (table->ends.items[k] > i)
			return table->ends.items[k];
	}
	return all < UINT32_MAX ? all : UINT32_MAX;
}

/* Of the symbols from i on; `kept` stand before them. */
static bool make_batch(struct mt_skeleton_table *table, struct mt_skeleton_batch *batch, size_t i,
		       size_t kept, bool named)
{
	size_t end = end_of_batch(table, i);
	struct window window = {0};
	struct mt_elf_symbol symbol;

	batch->symbols.count = batch->names.count = 0;
	batch->from = i;
	batch->kept = kept;
	batch->named = named;
	for (; i < end && (table->measured || batch->symbols.count < BATCH_MAX); i++) {
		i = next_considered(table, i, end);
		if (i == end)
			break;
		if (is_kept(table, &window, i, &symbol) && !add_symbol(table, batch, i, &symbol))
			return false;
	}
	batch->to = i;
	return complete_batch(table, batch);
}

/*
 * The batch of the symbols from *i on, which goes on to the next one's; most tables have but one,
 * which is made once. `kept` symbols stand before it. NULL out of memory.
 */
static const struct mt_skeleton_batch *next_batch(struct mt_skeleton_table *table, size_t *i,
						  size_t kept, bool named)
{
	struct mt_skeleton_batch *batch = table->batch;

	if (!batch)
		batch = table->batch = calloc(1, sizeof(*table->batch));
	if (!batch)
		return NULL;
	if ((batch->from != *i || !batch->to || (named && !batch->named)) &&
	    !make_batch(table, batch, *i, kept, named)) {
		batch->to = 0;
		return NULL;
	}
	*i = batch->to;
	return batch;
}

static const struct symbol *symbol_in_order(const struct mt_skeleton_batch *batch, size_t i)
{
	return &batch->symbols.items[batch->order.items[i].index];
}

static uint64_t strings_of(const struct mt_skeleton_batch *batch)
{
	uint64_t size = 0;

	for (size_t i = 0; i < batch->order.count; i++)
		size += symbol_in_order(batch, i)->length + UINT64_C(1);
	return size;
}

/* Gives numbers to the batch's symbols that relocations name. */
static void number(struct mt_skeleton_table *table, const struct mt_skeleton_batch *batch)
{
	for (size_t i = 0; i < batch->order.count; i++) {
		uint32_t index = symbol_in_order(batch, i)->index;

		if (index < table->numbers.count)
			table->numbers.items[index] = (uint32_t)(table->count + i);
	}
}

/* Room for what is noted of the symbols. */
static bool begin_measuring(struct mt_skeleton_table *table, size_t all)
{
	size_t bytes = (all + 7) / 8;

	if (!mt_array_reserve(&table->kept, bytes + 1))
		return false;
	memset(table->kept.items, 0, bytes + 1);
	table->count = table->strings = 1; /* the null symbol, in front of the others */
	return true;
}

bool mt_skeleton_table_measure(struct mt_skeleton_table *table)
{
	size_t all = mt_elf_symbol_count(table->from, table->dynamic);

	if (!begin_measuring(table, all))
		return false;
	for (size_t i = 0; i < all && i < UINT32_MAX;) {
		const struct mt_skeleton_batch *batch = next_batch(table, &i, 0, true);
		uint32_t *end = batch ? mt_array_push(&table->ends) : NULL;

		if (!end)
			return false;
		*end = (uint32_t)i;
		number(table, batch);
		table->count += batch->order.count;
		table->strings += strings_of(batch);
	}
	table->measured = true;
	if (table->count == 1)
		table->count = table->strings = 0;
	if (table->batch && table->batch->from)
		drop_batch(table); /* the first is next, or none */
	return table->strings < UINT32_MAX;
}

/* ---- Writing ---- */

size_t mt_skeleton_symbol_size(const struct mt_elf *image)
{
	return image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

static void encode_symbol(const struct mt_elf *image, const struct symbol *symbol, uint32_t name,
			  uint8_t *at)
{
	bool wide = image->is_64;
	uint8_t *middle = at + (wide ? 4 : 12);

	mt_put_le32(at, name);
	middle[0] = symbol->info;
	middle[1] = symbol->visibility;
	mt_put_le16(middle + 2, symbol->section);
	if (wide) {
		mt_put_le64(at + 8, symbol->value);
		mt_put_le64(at + 16, symbol->size);
	} else {
		mt_put_le32(at + 4, (uint32_t)symbol->value);
		mt_put_le32(at + 8, (uint32_t)symbol->size);
	}
}

/* What has been written of a section, and what it was measured to take. */
struct progress {
	const struct mt_skeleton_output *output;
	uint64_t left;
};

static bool put(struct progress *progress, const void *bytes, size_t size)
{
	size = size < progress->left ? size : progress->left;
	progress->left -= size;
	return !size || progress->output->put(progress->output->context, bytes, size);
}

/* Zeros in the place of what was there when it was measured. */
static bool put_rest(struct progress *progress)
{
	static const uint8_t zeros[256];

	while (progress->left) {
		if (!put(progress, zeros, sizeof(zeros)))
			return false;
	}
	return true;
}

static bool put_symbols(struct progress *progress, const struct mt_elf *image,
			const struct mt_skeleton_batch *batch, uint32_t *name)
{
	uint8_t at[sizeof(Elf64_Sym)];

	for (size_t i = 0; i < batch->order.count; i++) {
		const struct symbol *symbol = symbol_in_order(batch, i);

		encode_symbol(image, symbol, *name, at);
		if (!put(progress, at, mt_skeleton_symbol_size(image)))
			return false;
		*name += symbol->length + 1;
	}
	return true;
}

static bool put_names(struct progress *progress, const struct mt_skeleton_batch *batch)
{
	for (size_t i = 0; i < batch->order.count; i++) {
		const struct symbol *symbol = symbol_in_order(batch, i);

		if (!put(progress, batch->names.items + symbol->name, symbol->length + (size_t)1))
			return false;
	}
	return true;
}

/* Writes symbols, or with names their strings. */
static bool write_batches(struct mt_skeleton_table *table, bool names, struct progress *progress)
{
	size_t all = mt_elf_symbol_count(table->from, table->dynamic);
	uint32_t name = 1;
	size_t kept = 0;

	for (size_t i = 0; i < all && i < UINT32_MAX && progress->left;) {
		const struct mt_skeleton_batch *batch = next_batch(table, &i, kept, names);

		if (!batch || !(names ? put_names(progress, batch)
				      : put_symbols(progress, table->image, batch, &name)))
			return false;
		kept += batch->symbols.count;
	}
	return put_rest(progress);
}

bool mt_skeleton_table_write(struct mt_skeleton_table *table,
			     const struct mt_skeleton_output *output)
{
	static const uint8_t null[sizeof(Elf64_Sym)];
	size_t size = mt_skeleton_symbol_size(table->image);
	struct progress progress = {.output = output, .left = table->count * size};

	bool good = put(&progress, null, size) && write_batches(table, false, &progress);

	if (table->batch && table->batch->from)
		drop_batch(table);
	return good;
}

bool mt_skeleton_strings_write(struct mt_skeleton_table *table,
			       const struct mt_skeleton_output *output)
{
	struct progress progress = {.output = output, .left = table->strings};

	bool good = put(&progress, "", 1) && write_batches(table, true, &progress);

	drop_batch(table); /* nothing is behind the strings */
	return good;
}
