/*
 * The two symbol tables of an ELF file. Finds .dynsym through PT_DYNAMIC if there are no section
 * headers.
 */
#include <elf.h>
#include <string.h>

#include "formats/base/cursor.h"
#include "symbols/elf/elf_private.h"

static size_t symbol_size(const struct mt_elf *elf)
{
	return elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* Ends the string table at its last NUL, so that every offset in it starts a terminated string. */
static void set_names(struct mt_elf_symbol_table *table, const uint8_t *bytes, size_t size)
{
	const uint8_t *nul = bytes ? memrchr(bytes, 0, size) : NULL;

	table->names = nul ? (const char *)bytes : NULL;
	table->names_size = nul ? (size_t)(nul - bytes) + 1 : 0;
}

static bool table_of_section(struct mt_elf *elf, uint32_t type, struct mt_elf_symbol_table *table)
{
	struct mt_span symbols, names = {0};
	size_t i = mt_elf_section_of_type(elf, type), link;

	if (!i)
		return false;
	symbols = mt_elf_section_bytes(elf, i);
	link = elf->sections.items[i].link;
	if (link < elf->sections.count && elf->sections.items[link].type == SHT_STRTAB)
		names = mt_elf_section_bytes(elf, link);
	table->stride = elf->sections.items[i].entry_size;
	if (!symbols.bytes || table->stride < symbol_size(elf))
		return true;
	set_names(table, names.bytes, names.size);
	table->bytes = symbols.bytes;
	table->count = symbols.size / table->stride;
	return true;
}

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

static bool read_dynamic(const struct mt_elf *elf, struct dynamic *out)
{
	struct mt_span span = mt_elf_header_bytes(elf, PT_DYNAMIC);
	struct mt_cursor c = mt_cursor_init(span.bytes, span.size);

	while (mt_cursor_left(&c)) {
		uint64_t tag = elf->is_64 ? mt_cursor_u64(&c) : mt_cursor_u32(&c);
		uint64_t value = elf->is_64 ? mt_cursor_u64(&c) : mt_cursor_u32(&c);

		switch (tag) {
		case DT_NULL:
			c.bad = true;
			break;
		case DT_SYMTAB:
			out->symtab = value;
			break;
		case DT_STRTAB:
			out->strtab = value;
			break;
		case DT_STRSZ:
			out->strsz = value;
			break;
		case DT_HASH:
			out->hash = value;
			break;
		case DT_GNU_HASH:
			out->gnu_hash = value;
			break;
		}
	}
	return out->symtab && out->strtab;
}

/* Number of symbols, from the second word of DT_HASH. */
static size_t count_of_hash(const struct mt_elf *elf, uint64_t hash)
{
	const uint8_t *p = hash ? mt_elf_bytes_at(elf, hash, 8) : NULL;

	return p ? mt_get_le32(p + 4) : 0;
}

/* Number of symbols, from DT_GNU_HASH: the last symbol ends the chain of the highest bucket. */
static size_t count_of_gnu_hash(const struct mt_elf *elf, uint64_t hash)
{
	const uint8_t *head = hash ? mt_elf_bytes_at(elf, hash, 16) : NULL;
	uint32_t buckets, first, bloom, last = 0;
	uint64_t buckets_at, chains_at;
	const uint8_t *p;

	if (!head)
		return 0;
	buckets = mt_get_le32(head);
	first = mt_get_le32(head + 4);
	bloom = mt_get_le32(head + 8);
	buckets_at = hash + 16 + (uint64_t)bloom * (elf->is_64 ? 8 : 4);
	chains_at = buckets_at + (uint64_t)buckets * 4;
	p = mt_elf_bytes_at(elf, buckets_at, (size_t)buckets * 4);
	for (uint32_t i = 0; p && i < buckets; i++) {
		uint32_t symbol = mt_get_le32(p + (size_t)i * 4);

		last = symbol > last ? symbol : last;
	}
	if (last < first)
		return first;
	for (;; last++) {
		p = mt_elf_bytes_at(elf, chains_at + (uint64_t)(last - first) * 4, 4);
		if (!p || mt_get_le32(p) & 1)
			return p ? (size_t)last + 1 : 0;
	}
}

static void table_of_dynamic(const struct mt_elf *elf, struct mt_elf_symbol_table *table)
{
	struct dynamic d = {0};
	size_t count;

	if (!read_dynamic(elf, &d))
		return;
	count = count_of_hash(elf, d.hash);
	if (!count)
		count = count_of_gnu_hash(elf, d.gnu_hash);
	table->stride = symbol_size(elf);
	table->bytes = mt_elf_bytes_at(elf, d.symtab, count * table->stride);
	table->count = table->bytes ? count : 0;
	set_names(table, mt_elf_bytes_at(elf, d.strtab, d.strsz), d.strsz);
}

static void find_table(struct mt_elf *elf, bool dynamic, struct mt_elf_symbol_table *table)
{
	if (!table_of_section(elf, dynamic ? SHT_DYNSYM : SHT_SYMTAB, table) && dynamic &&
	    !elf->skeleton)
		table_of_dynamic(elf, table);
}

const struct mt_elf_symbol_table *mt_elf_symbol_table(struct mt_elf *elf, bool dynamic)
{
	struct mt_elf_symbol_table *kept = &elf->tables[dynamic], found = {0};

	if (__atomic_load_n(&kept->tried, __ATOMIC_ACQUIRE))
		return kept;
	find_table(elf, dynamic, &found);
	pthread_mutex_lock(&elf->lock);
	if (!kept->tried) {
		*kept = found;
		__atomic_store_n(&kept->tried, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&elf->lock);
	return kept;
}

size_t mt_elf_symbol_count(struct mt_elf *elf, bool dynamic)
{
	return mt_elf_symbol_table(elf, dynamic)->count;
}

static inline void read_symbol_64(const uint8_t *p, struct mt_elf_symbol *out)
{
	out->type = p[4] & 0xf;
	out->binding = p[4] >> 4;
	out->visibility = p[5] & 3;
	out->section = mt_get_le16(p + 6);
	out->value = mt_get_le64(p + 8);
	out->size = mt_get_le64(p + 16);
}

static inline void read_symbol_32(const uint8_t *p, struct mt_elf_symbol *out)
{
	out->value = mt_get_le32(p + 4);
	out->size = mt_get_le32(p + 8);
	out->type = p[12] & 0xf;
	out->binding = p[12] >> 4;
	out->visibility = p[13] & 3;
	out->section = mt_get_le16(p + 14);
}

static inline bool read_symbol(const struct mt_elf *elf, const struct mt_elf_symbol_table *table,
			       const uint8_t *p, size_t i, struct mt_elf_symbol *out)
{
	uint32_t name = mt_get_le32(p);

	if (name >= table->names_size)
		return false;
	if (elf->is_64)
		read_symbol_64(p, out);
	else
		read_symbol_32(p, out);
	out->name = table->names + name;
	out->named = name;
	out->index = i;
	return true;
}

bool mt_elf_symbol(struct mt_elf *elf, bool dynamic, size_t i, struct mt_elf_symbol *out)
{
	const struct mt_elf_symbol_table *table = mt_elf_symbol_table(elf, dynamic);

	return i < table->count &&
	       read_symbol(elf, table, table->bytes + i * table->stride, i, out);
}

bool mt_elf_symbol_read(const struct mt_elf *elf, const struct mt_elf_symbol_table *table,
			const uint8_t *entry, size_t i, struct mt_elf_symbol *out)
{
	return read_symbol(elf, table, entry, i, out);
}
