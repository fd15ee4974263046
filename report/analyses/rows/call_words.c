/*
 * Tables of flags and their names.
 */
#include "report/analyses/rows/call_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "report/account/call.h"

struct word {
	uint64_t bit;
	const char *name;
};

static const struct word prots[] = {
	{PROT_READ, "PROT_READ"},	{PROT_WRITE, "PROT_WRITE"},
	{PROT_EXEC, "PROT_EXEC"},	{PROT_GROWSDOWN, "PROT_GROWSDOWN"},
	{PROT_GROWSUP, "PROT_GROWSUP"}, {0},
};

/* The flags of mmap. The type of mapping is not among them, because it is not a bit. */
static const struct word maps[] = {
	{MAP_FIXED, "MAP_FIXED"},
	{MAP_ANONYMOUS, "MAP_ANONYMOUS"},
	{0x40, "MAP_32BIT"},
	{MAP_GROWSDOWN, "MAP_GROWSDOWN"},
	{MAP_DENYWRITE, "MAP_DENYWRITE"},
	{MAP_EXECUTABLE, "MAP_EXECUTABLE"},
	{MAP_LOCKED, "MAP_LOCKED"},
	{MAP_NORESERVE, "MAP_NORESERVE"},
	{MAP_POPULATE, "MAP_POPULATE"},
	{MAP_NONBLOCK, "MAP_NONBLOCK"},
	{MAP_STACK, "MAP_STACK"},
	{MAP_HUGETLB, "MAP_HUGETLB"},
	{0x80000, "MAP_SYNC"},
	{0x100000, "MAP_FIXED_NOREPLACE"},
	{0},
};

static const struct word remaps[] = {
	{1, "MREMAP_MAYMOVE"}, {2, "MREMAP_FIXED"}, {4, "MREMAP_DONTUNMAP"}, {0}};

#define TYPE_MASK 0xfull
#define HUGE_SHIFT 26
#define HUGE_MASK 0x3full

struct words {
	char *out;
	size_t size, used;
};

static void add(struct words *words, const char *text)
{
	if (words->used < words->size)
		words->used += (size_t)snprintf(words->out + words->used, words->size - words->used,
						"%s%s", words->used ? "|" : "", text);
}

static void add_bits(struct words *words, const struct word *table, uint64_t bits)
{
	char rest[24];

	for (; table->name; table++) {
		if (!(bits & table->bit))
			continue;
		add(words, table->name);
		bits &= ~table->bit;
	}
	snprintf(rest, sizeof(rest), "0x%" PRIx64, bits);
	if (bits)
		add(words, rest);
}

void mt_words_prot(uint64_t prot, char *out, size_t size)
{
	struct words words = {out, size, 0};

	if (prot)
		add_bits(&words, prots, prot);
	else
		add(&words, "PROT_NONE");
}

void mt_words_map_flags(uint64_t flags, char *out, size_t size)
{
	static const char *const types[] = {NULL, "MAP_SHARED", "MAP_PRIVATE",
					    "MAP_SHARED_VALIDATE"};
	struct words words = {out, size, 0};
	uint64_t type = flags & TYPE_MASK, huge = flags >> HUGE_SHIFT & HUGE_MASK;
	char text[32];

	if (type && type < sizeof(types) / sizeof(*types))
		add(&words, types[type]);
	snprintf(text, sizeof(text), "%" PRIu64 "<<MAP_HUGE_SHIFT", huge);
	huge = flags & MAP_HUGETLB ? huge : 0;
	add_bits(&words, maps,
		 (flags & ~TYPE_MASK & ~(huge << HUGE_SHIFT)) |
			 (type < sizeof(types) / sizeof(*types) ? 0 : type));
	if (huge)
		add(&words, text);
	if (!words.used)
		add(&words, "0");
}

void mt_words_remap_flags(uint64_t flags, char *out, size_t size)
{
	struct words words = {out, size, 0};

	add_bits(&words, remaps, flags);
	if (!words.used)
		add(&words, "0");
}

void mt_words_error(int64_t result, char *out, size_t size)
{
	const char *name = mt_vm_call_failed(result) ? strerrorname_np((int)-result) : NULL;

	if (name)
		snprintf(out, size, "%s", name);
	else
		snprintf(out, size, "%" PRId64, result);
}
