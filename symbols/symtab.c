/*
 * The table of an image's functions. Built in three steps: collect the symbols that are code, sort
 * them by start and settle what perf settles without names (ends of symbols without a size, ranks
 * among equal starts), then cut overlaps into disjoint pieces, each owned by the innermost symbol.
 * What only a comparison of demangled names can settle waits until somebody looks there.
 */
#include "symbols/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "symbols/address_sort.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"
#include "symbols/function_symbol.h"
#include "symbols/plt.h"
#include "symbols/symbol_choice.h"

/*
 * A last symbol without size and section reaches to the end of the page after its own, as in perf.
 */
#define LAST_SYMBOL_PAGE 4096

enum {
	SYMBOLS_AT_ONCE = 64,
	FEW = 16, /* functions that start at one address: sorted in place */
};

/* 32 bytes: an image may have a million. */
struct function {
	uint64_t start, end;
	union {
		const char *name;  /* borrowed from the ELF */
		uint64_t resolver; /* of a PLT stub: the address of the IFUNC that has the name */
	};
	uint32_t order;	  /* in which it was met */
	uint16_t section; /* which bounds it where it has no size of its own */
	uint8_t rank;
	bool plt : 1;	/* a stub: "@plt" is put behind the name */
	bool ifunc : 1; /* the name is the resolver's */
	bool tied : 1;	/* the next one has the same start, end and rank: their names decide */
};

struct mt_symtab {
	MT_ARRAY(struct function) functions;
	/* disjoint pieces in address order: piece i reaches to piece i + 1 */
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

/* There is room for it. */
static inline void add_symbol(struct mt_symtab *symtab, const struct mt_elf_symbol *symbol)
{
	struct function *f = &symtab->functions.items[symtab->functions.count++];

	*f = (struct function){
		.start = symbol->value,
		.name = symbol->name,
		.order = (uint32_t)symtab->functions.count,
		.section = symbol->section,
		.rank = (uint8_t)mt_symbol_rank(symbol->size, symbol->type, symbol->binding),
	};
	if (__builtin_add_overflow(symbol->value, symbol->size, &f->end))
		f->end = UINT64_MAX;
}

static bool collect(struct mt_symtab *symtab, struct mt_elf *elf, bool dynamic)
{
	size_t count = mt_elf_symbol_count(elf, dynamic), given, i = 0;
	struct mt_elf_symbol symbols[SYMBOLS_AT_ONCE];

	if (!mt_array_reserve(&symtab->functions, symtab->functions.count + count))
		return false;
	while ((given = mt_elf_symbols(elf, dynamic, &i, symbols, SYMBOLS_AT_ONCE))) {
		for (size_t k = 0; k < given; k++) {
			if (mt_symbol_is_function(elf, &symbols[k]))
				add_symbol(symtab, &symbols[k]);
		}
	}
	return true;
}

static bool add_stub(void *context, const struct mt_plt_stub *stub)
{
	struct mt_symtab *symtab = context;
	struct function *f = mt_array_push(&symtab->functions);

	if (!f)
		return false;
	f->start = stub->start;
	f->end = stub->start + stub->size;
	f->order = (uint32_t)symtab->functions.count;
	f->section = SHN_ABS;
	f->rank = (uint8_t)mt_symbol_rank(true, STT_FUNC, STB_GLOBAL);
	f->plt = true;
	f->ifunc = !stub->name;
	if (f->ifunc)
		f->resolver = stub->resolver;
	else
		f->name = stub->name;
	return true;
}

/* By start; among equal starts by rank, the best first; then as they were met. */
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

/* Those that start at one address: mostly two, seldom many. */
static void sort_start(struct function *f, size_t count)
{
	if (count > FEW) {
		qsort(f, count, sizeof(*f), compare_functions);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct function moving = f[i];
		size_t to = i;

		for (; to && compare_functions(&f[to - 1], &moving) > 0; to--)
			f[to] = f[to - 1];
		f[to] = moving;
	}
}

static bool sort_functions(struct mt_symtab *symtab)
{
	size_t count = symtab->functions.count;
	struct mt_addressed *order = malloc((count + 1) * sizeof(*order));
	struct function *f = malloc((count + 1) * sizeof(*f));
	bool good = order && f;

	for (size_t i = 0; good && i < count; i++)
		order[i] = (struct mt_addressed){symtab->functions.items[i].start, (uint32_t)i};
	good = good && mt_address_sort(order, count);
	for (size_t i = 0; good && i < count; i++)
		f[i] = symtab->functions.items[order[i].index];
	free(order);
	if (!good) {
		free(f);
		return false;
	}
	free(symtab->functions.items);
	symtab->functions.items = f;
	symtab->functions.capacity = count + 1;
	for (size_t from = 0, to; from < count; from = to) {
		to = end_of_start(symtab, from);
		if (to - from > 1)
			sort_start(f + from, to - from);
	}
	return true;
}

/* A function without a size reaches to the next start, but not out of its section. */
static uint64_t end_without_size(struct mt_elf *elf, const struct function *f,
				 const struct function *next)
{
	uint64_t page = LAST_SYMBOL_PAGE,
		 end = next ? next->start : (f->start | (page - 1)) + 1 + page;
	struct mt_elf_section_info section;

	if (!mt_elf_section_info(elf, f->section, &section) || f->start < section.vaddr ||
	    f->start - section.vaddr > section.size)
		return end;
	return end < section.vaddr + section.size ? end : section.vaddr + section.size;
}

/*
 * Whether the later function's name is the better one; NULL names, out of memory, lose nothing but
 * the choice.
 */
static bool names_better(const struct mt_symtab *symtab, uint32_t later, uint32_t first)
{
	MT_CLEANUP_FREE char *a = mt_symtab_name(symtab, first, true);
	MT_CLEANUP_FREE char *b = mt_symtab_name(symtab, later, true);

	return a && b && mt_symbol_name_better(b, a);
}

/* The index of the best name among functions [from, to). */
static size_t best_name(const struct mt_symtab *symtab, size_t from, size_t to)
{
	size_t best = from;

	for (size_t i = from + 1; i < to; i++) {
		if (names_better(symtab, (uint32_t)i, (uint32_t)best))
			best = i;
	}
	return best;
}

/*
 * The function of [from, to) that was met last. Among those without a size it is the one: perf
 * gives an end to it alone, and then prefers what has an end.
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
 * Of the functions [from, to) that start at one address, moves the best rank to `kept` on; where
 * several have it and the same end, all of them, tied. Gives how many were kept.
 */
static size_t settle_start(struct mt_symtab *symtab, size_t from, size_t to, size_t kept)
{
	struct function *f = symtab->functions.items;
	bool same_end = true;
	size_t n;

	for (n = 1; from + n < to && f[from + n].rank == f[from].rank; n++)
		same_end &= f[from + n].end == f[from].end;
	if (!(f[from].rank & MT_SYMBOL_SIZED)) {
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

static void settle(struct mt_symtab *symtab, struct mt_elf *elf)
{
	struct function *f = symtab->functions.items;
	size_t count = symtab->functions.count, to, kept = 0;

	for (size_t from = 0; from < count; from = to) {
		to = end_of_start(symtab, from);
		for (size_t i = from; i < to; i++) {
			if (f[i].end == f[i].start)
				f[i].end = end_without_size(elf, &f[i], to < count ? &f[to] : NULL);
		}
		kept += settle_start(symtab, from, to, kept);
	}
	symtab->functions.count = kept;
}

/* What flattening keeps: the functions open at pos, the innermost last. */
struct sweep {
	struct mt_symtab *symtab;
	MT_ARRAY(uint32_t) open;
	uint64_t pos;
};

/* From pos on, owner has the addresses. There is room: flatten() sees to that. */
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
 * Goes on to the start of the next function: closes what ends before, and gives its place to what
 * is open around it.
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
	uint32_t *open = mt_array_push(&sweep->open);

	if (!open)
		return false;
	*open = i;
	sweep->pos = sweep->symtab->functions.items[i].start;
	add_piece(sweep, sweep->pos, i);
	return true;
}

/* A bare label inside a function that has a size is a place in it, not its end. */
static bool is_inner_label(const struct sweep *sweep, const struct function *f)
{
	return f->rank < MT_SYMBOL_TYPED && sweep->open.count;
}

/* Cuts the functions into disjoint pieces: at most two for each. */
static bool flatten(struct mt_symtab *symtab)
{
	struct sweep sweep = {.symtab = symtab};
	const struct function *f = symtab->functions.items;
	size_t count = symtab->functions.count;
	bool ok = mt_array_reserve(&symtab->starts, 2 * count + 1) &&
		  mt_array_reserve(&symtab->owners, 2 * count + 1);

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

	if (!symtab || !collect(symtab, symbols, false) || !collect(symtab, image, true) ||
	    !mt_plt_each(image, add_stub, symtab))
		return NULL;
	if (symtab->functions.count >= MT_SYMTAB_NONE)
		return NULL;
	if (!sort_functions(symtab))
		return NULL;
	settle(symtab, image);
	if (!flatten(symtab))
		return NULL;
	return MT_TAKE(symtab);
}

size_t mt_symtab_count(const struct mt_symtab *symtab)
{
	return symtab->functions.count;
}

/* The last piece that starts at or before vaddr; the count if there is none. */
static size_t piece_of(const struct mt_symtab *symtab, uint64_t vaddr)
{
	size_t low = 0, high = symtab->starts.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symtab->starts.items[middle] <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : symtab->starts.count;
}

/* Lets the names of tied functions decide, once: the winner takes the first's place. */
static void untie(struct mt_symtab *symtab, uint32_t first)
{
	struct function *f = symtab->functions.items;
	size_t last = first;

	while (f[last].tied)
		last++;
	if (last == first)
		return;
	f[first] = f[best_name(symtab, first, last + 1)];
	f[first].tied = false;
}

uint32_t mt_symtab_find(struct mt_symtab *symtab, uint64_t vaddr, uint64_t *start)
{
	size_t piece = piece_of(symtab, vaddr);
	uint32_t owner =
		piece < symtab->starts.count ? symtab->owners.items[piece] : MT_SYMTAB_NONE;

	if (owner == MT_SYMTAB_NONE)
		return MT_SYMTAB_NONE;
	untie(symtab, owner);
	*start = symtab->functions.items[owner].start;
	return owner;
}

/* The name without its version: "memcpy@@GLIBC_2.14". A name that is all version stays. */
static char *without_version(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at != name ? strndup(name, (size_t)(at - name)) : strdup(name);
}

/* The raw name; that of a stub without a symbol is the name of the function its resolver is. */
static const char *raw_name(const struct mt_symtab *symtab, const struct function *f)
{
	size_t piece;
	uint32_t owner;

	if (!f->ifunc)
		return f->name;
	piece = piece_of(symtab, f->resolver);
	owner = piece < symtab->starts.count ? symtab->owners.items[piece] : MT_SYMTAB_NONE;
	return owner == MT_SYMTAB_NONE || symtab->functions.items[owner].ifunc
		       ? "*ABS*"
		       : symtab->functions.items[owner].name;
}

char *mt_symtab_name(const struct mt_symtab *symtab, uint32_t function, bool demangle)
{
	const struct function *f = &symtab->functions.items[function];
	MT_CLEANUP_FREE char *plain = without_version(raw_name(symtab, f));
	char *demangled = plain && demangle ? mt_demangle(plain) : NULL, *stub = NULL;

	if (!demangled)
		demangled = MT_TAKE(plain);
	if (!f->plt || !demangled)
		return demangled;
	if (asprintf(&stub, "%s@plt", demangled) < 0)
		stub = NULL;
	free(demangled);
	return stub;
}
