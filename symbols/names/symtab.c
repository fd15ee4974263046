/*
 * The table of an image's functions. Reads functions once and sorts them by start. First decides
 * what needs no names, as perf does: ends of symbols without a size, ranks of equal starts. Then
 * cuts overlapping functions into disjoint pieces, each owned by the innermost symbol. Demangled
 * names are compared only when their address is looked up.
 */
#include "symbols/names/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "symbols/carried/function_symbol.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/plt.h"
#include "symbols/names/demangle.h"
#include "symbols/tables/address_sort.h"

/*
 * A last symbol without size and section reaches to the end of the page after its page, as in perf.
 */
#define LAST_SYMBOL_PAGE ((uint64_t)4096)

/* 32 bytes: an image may have a million. */
struct function {
	uint64_t start, end;
	union {
		const char *name;  /* borrowed from the ELF */
		uint64_t resolver; /* of a PLT stub: the address of the IFUNC that has the name */
	};
	uint32_t order;	  /* order of reading */
	uint16_t section; /* bounds it if it has no size */
	uint8_t rank;
	bool plt : 1;	/* a stub: "@plt" is appended to the name */
	bool ifunc : 1; /* the name is the resolver's */
	bool tied : 1;	/* same start, end and rank as the next one: names decide */
};

struct mt_symtab {
	struct mt_elf *image;
	MT_ARRAY(struct function) functions; /* by start */
	/* disjoint pieces, each up to the start of the next one */
	MT_ARRAY(uint64_t) starts;
	MT_ARRAY(uint32_t) owners; /* index of a function, or MT_SYMTAB_NONE in a gap */
};

MT_DEFINE_CLEANUP(mt_symtab, struct mt_symtab)

void mt_symtab_destroy(struct mt_symtab *symtab)
{
	if (!symtab)
		return;
	mt_array_deinit(&symtab->functions);
	mt_array_deinit(&symtab->starts);
	mt_array_deinit(&symtab->owners);
	free(symtab);
}

/* ---- The choice among symbols at one address ---- */

/*
 * Prefers symbols in this order: with a size; with a type; global, then weak, then local; with
 * fewer leading underscores; with the longer name; the first. This is perf's order except that weak
 * precedes local: then a stripped file leads to the same names.
 */

/* Bits of a rank: the symbol has a size; it has a type. */
#define SIZED 8u
#define TYPED 4u

/* The part of the order that needs no names; higher is better. */
static unsigned int rank_of(bool sized, uint8_t type, uint8_t binding)
{
	unsigned int reach = binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2;

	return (sized ? SIZED : 0) | (type != STT_NOTYPE ? TYPED : 0) | reach;
}

/* For equal ranks: true if `later`, demangled, is a better name than `first`. */
static bool is_better_name(const char *later, const char *first)
{
	size_t a = strspn(first, "_"), b = strspn(later, "_");

	return a != b ? b < a : strlen(later) > strlen(first);
}

/* ---- Reading ---- */

static uint64_t end_of(uint64_t start, uint64_t size)
{
	uint64_t end;

	return __builtin_add_overflow(start, size, &end) ? UINT64_MAX : end;
}

/* Appends the functions of ".symtab" (dynamic false) or ".dynsym" (true); false out of memory. */
static bool collect(struct mt_symtab *symtab, struct mt_elf *elf, bool dynamic)
{
	size_t count = mt_elf_symbol_count(elf, dynamic);

	for (size_t i = 0; i < count; i++) {
		struct mt_elf_symbol symbol;
		struct function *f;

		if (!mt_elf_symbol(elf, dynamic, i, &symbol) ||
		    !mt_symbol_is_function(elf, &symbol))
			continue;
		f = mt_array_push(&symtab->functions);
		if (!f)
			return false;
		*f = (struct function){
			.start = symbol.value,
			.end = end_of(symbol.value, symbol.size),
			.name = symbol.name,
			.order = (uint32_t)(symtab->functions.count - 1),
			.section = symbol.section,
			.rank = (uint8_t)rank_of(symbol.size, symbol.type, symbol.binding),
		};
	}
	return true;
}

static bool add_stub(void *context, const struct mt_plt_stub *stub)
{
	struct mt_symtab *symtab = context;
	struct function *f = mt_array_push(&symtab->functions);

	if (!f)
		return false;
	f->order = (uint32_t)(symtab->functions.count - 1);
	f->start = stub->start;
	f->end = stub->start + stub->size;
	f->section = SHN_ABS;
	f->rank = (uint8_t)rank_of(true, STT_FUNC, STB_GLOBAL);
	f->plt = true;
	f->ifunc = !stub->name;
	if (f->ifunc)
		f->resolver = stub->resolver;
	else
		f->name = stub->name;
	return true;
}

/* ---- Ends and ranks ---- */

/* By start; for equal starts the best rank first; then in order of reading. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* One past the last function that starts where function i does. */
static size_t end_of_start(const struct mt_symtab *symtab, size_t i)
{
	uint64_t start = symtab->functions.items[i].start;

	while (i < symtab->functions.count && symtab->functions.items[i].start == start)
		i++;
	return i;
}

/* Sorts functions as compare_functions() does. False out of memory. */
static bool sort_functions(struct function *f, size_t count)
{
	MT_CLEANUP_FREE struct mt_addressed *order = malloc((count + 1) * sizeof(*order));
	MT_CLEANUP_FREE struct function *unsorted = malloc((count + 1) * sizeof(*f));

	if (!order || !unsorted)
		return false;
	if (count)
		memcpy(unsorted, f, count * sizeof(*f));
	for (size_t i = 0; i < count; i++)
		order[i] = (struct mt_addressed){f[i].start, (uint32_t)i};
	if (!mt_address_sort(order, count))
		return false;
	for (size_t i = 0; i < count; i++)
		f[i] = unsorted[order[i].index];
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && f[to].start == f[from].start;)
			to++;
		if (to - from > 1)
			qsort(f + from, to - from, sizeof(*f), compare_functions);
	}
	return true;
}

/* Where the next function starts; after the last one, the end of the page after its page. */
static uint64_t next_start(const struct mt_symtab *symtab, size_t to, uint64_t start)
{
	if (to < symtab->functions.count)
		return symtab->functions.items[to].start;
	return (start | (LAST_SYMBOL_PAGE - 1)) + 1 + LAST_SYMBOL_PAGE;
}

/* A function without a size reaches to the next start, but not out of its section. */
static uint64_t end_without_size(const struct mt_elf *elf, const struct function *f, uint64_t end)
{
	struct mt_elf_section_info section;

	if (!mt_elf_section_info(elf, f->section, &section) || f->start < section.vaddr ||
	    f->start - section.vaddr > section.size)
		return end;
	return end < section.vaddr + section.size ? end : section.vaddr + section.size;
}

/* True if the later function's name is better. If names are NULL (out of memory), returns false. */
static bool names_better(struct mt_symtab *symtab, uint32_t later, uint32_t first)
{
	MT_CLEANUP_FREE char *a = mt_symtab_name(symtab, first, true);
	MT_CLEANUP_FREE char *b = mt_symtab_name(symtab, later, true);

	return a && b && is_better_name(b, a);
}

/* The index of the best name among functions [from, to). */
static size_t best_name(struct mt_symtab *symtab, size_t from, size_t to)
{
	size_t best = from;

	for (size_t i = from + 1; i < to; i++) {
		if (names_better(symtab, (uint32_t)i, (uint32_t)best))
			best = i;
	}
	return best;
}

/*
 * The function of [from, to) that was read last. It is chosen among functions without a size: perf
 * sets the end of only the last one, and prefers symbols with an end.
 */
static size_t last_met(const struct mt_symtab *symtab, size_t from, size_t to)
{
	const struct function *f = symtab->functions.items;
	size_t last = from;

	for (size_t i = from + 1; i < to; i++)
		last = f[i].order > f[last].order ? i : last;
	return last;
}

/*
 * Moves the best of the functions [from, to), which have equal starts, to `kept`. If several have
 * the best rank and the same end, keeps all of them, tied. Returns how many were kept.
 */
static size_t settle_start(struct mt_symtab *symtab, size_t from, size_t to, size_t kept)
{
	struct function *f = symtab->functions.items;
	bool same_end = true;
	size_t n;

	for (n = 1; from + n < to && f[from + n].rank == f[from].rank; n++)
		same_end &= f[from + n].end == f[from].end;
	if (!(f[from].rank & SIZED)) {
		f[from] = f[last_met(symtab, from, to)];
		n = 1;
	} else if (n > 1 && !same_end) {
		f[from] = f[best_name(symtab, from, from + n)];
		n = 1;
	}
	for (size_t i = 0; i < n; i++) {
		f[kept + i] = f[from + i];
		f[kept + i].tied = i + 1 < n;
	}
	return n;
}

static void settle(struct mt_symtab *symtab)
{
	struct function *f = symtab->functions.items;
	size_t count = symtab->functions.count, to, kept = 0;

	for (size_t from = 0; from < count; from = to) {
		uint64_t next;

		to = end_of_start(symtab, from);
		next = next_start(symtab, to, f[from].start);
		for (size_t i = from; i < to; i++) {
			if (f[i].end == f[i].start)
				f[i].end = end_without_size(symtab->image, &f[i], next);
		}
		kept += settle_start(symtab, from, to, kept);
	}
	symtab->functions.count = kept;
}

/* State of flattening: the functions open at pos, innermost last. */
struct sweep {
	struct mt_symtab *symtab;
	MT_ARRAY(uint32_t) open;
	uint64_t pos;
};

/* The owner has the addresses from pos on. flatten() reserved the room. */
static inline void add_piece(struct sweep *sweep, uint64_t pos, uint32_t owner)
{
	struct mt_symtab *symtab = sweep->symtab;
	size_t count = symtab->starts.count;

	if (count && symtab->starts.items[count - 1] == pos) {
		symtab->owners.items[count - 1] = owner;
		return;
	}
	symtab->starts.items[symtab->starts.count++] = pos;
	symtab->owners.items[symtab->owners.count++] = owner;
}

/*
 * Moves to the start of the next function: closes functions that end before it; the function around
 * a closed one owns the addresses after it.
 */
static void sweep_to(struct sweep *sweep, uint64_t next)
{
	const struct function *f = sweep->symtab->functions.items;

	while (sweep->open.count) {
		uint64_t end = f[sweep->open.items[sweep->open.count - 1]].end;

		if (end > next)
			return;
		sweep->open.count--;
		if (end <= sweep->pos)
			continue;
		sweep->pos = end;
		while (sweep->open.count && f[sweep->open.items[sweep->open.count - 1]].end <= end)
			sweep->open.count--;
		add_piece(sweep, end,
			  sweep->open.count ? sweep->open.items[sweep->open.count - 1]
					    : MT_SYMTAB_NONE);
	}
}

static bool open_function(struct sweep *sweep, uint32_t i)
{
	if (!mt_array_append(&sweep->open, i))
		return false;
	sweep->pos = sweep->symtab->functions.items[i].start;
	add_piece(sweep, sweep->pos, i);
	return true;
}

/* True for a bare label inside a function with a size: the function does not end there. */
static bool is_inner_label(const struct sweep *sweep, const struct function *f)
{
	return f->rank < TYPED && sweep->open.count;
}

/* Cuts the functions into disjoint pieces, at most two per function. */
static bool flatten(struct mt_symtab *symtab)
{
	struct sweep sweep = {.symtab = symtab};
	const struct function *f = symtab->functions.items;
	size_t count = symtab->functions.count;
	bool ok = mt_array_reserve(&symtab->starts, 2 * count) &&
		  mt_array_reserve(&symtab->owners, 2 * count);

	for (size_t i = 0; i < count && ok; i++) {
		if ((i && f[i - 1].tied) || f[i].end <= f[i].start)
			continue;
		sweep_to(&sweep, f[i].start);
		if (!is_inner_label(&sweep, &f[i]))
			ok = open_function(&sweep, (uint32_t)i);
	}
	if (ok)
		sweep_to(&sweep, UINT64_MAX);
	mt_array_deinit(&sweep.open);
	return ok;
}

struct mt_symtab *mt_symtab_create(struct mt_elf *image, struct mt_elf *symbols)
{
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = calloc(1, sizeof(*symtab));

	if (!symtab)
		return NULL;
	symtab->image = image;
	if (!collect(symtab, symbols, false) || !collect(symtab, image, true) ||
	    !mt_plt_each(image, add_stub, symtab) || symtab->functions.count >= MT_SYMTAB_NONE ||
	    !sort_functions(symtab->functions.items, symtab->functions.count))
		return NULL;
	settle(symtab);
	return flatten(symtab) ? MT_TAKE(symtab) : NULL;
}

/* ---- Lookups ---- */

size_t mt_symtab_count(const struct mt_symtab *symtab)
{
	return symtab->functions.count;
}

/* The owner of the last piece that starts at or before vaddr, or MT_SYMTAB_NONE. */
static uint32_t owner_at(const struct mt_symtab *symtab, uint64_t vaddr)
{
	size_t below = mt_array_split(symtab->starts.count, i, symtab->starts.items[i] <= vaddr);

	return below ? symtab->owners.items[below - 1] : MT_SYMTAB_NONE;
}

/* Compares the names of tied functions, once. The best one replaces the first. */
static void untie(struct mt_symtab *symtab, uint32_t first)
{
	size_t last = first, best;

	while (symtab->functions.items[last].tied)
		last++;
	if (last == first)
		return;
	best = best_name(symtab, first, last + 1);
	symtab->functions.items[first] = symtab->functions.items[best];
	symtab->functions.items[first].tied = false;
}

uint32_t mt_symtab_find(struct mt_symtab *symtab, uint64_t vaddr, uint64_t *start)
{
	uint32_t owner = owner_at(symtab, vaddr);

	if (owner == MT_SYMTAB_NONE)
		return MT_SYMTAB_NONE;
	untie(symtab, owner);
	*start = symtab->functions.items[owner].start;
	return owner;
}

/*
 * The name without its version: "memcpy" of "memcpy@@GLIBC_2.14". Keeps a name that starts with
 * '@'.
 */
static char *without_version(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at != name ? strndup(name, (size_t)(at - name)) : strdup(name);
}

/* The raw name. For a stub without a symbol, the name of the function at its resolver. */
static const char *raw_name(struct mt_symtab *symtab, const struct function *f)
{
	uint32_t owner;

	if (!f->ifunc)
		return f->name;
	owner = owner_at(symtab, f->resolver);
	return owner == MT_SYMTAB_NONE || symtab->functions.items[owner].ifunc
		       ? "*ABS*"
		       : symtab->functions.items[owner].name;
}

char *mt_symtab_name(struct mt_symtab *symtab, uint32_t function, bool demangle)
{
	struct function f = symtab->functions.items[function];
	MT_CLEANUP_FREE char *plain = without_version(raw_name(symtab, &f));
	char *demangled = plain && demangle ? mt_demangle(plain) : NULL, *stub = NULL;

	if (!demangled)
		demangled = MT_TAKE(plain);
	if (!f.plt || !demangled)
		return demangled;
	if (asprintf(&stub, "%s@plt", demangled) < 0)
		stub = NULL;
	free(demangled);
	return stub;
}
