/*
 * The table of an image's functions. Symbols are read once for their ranges and put into strips
 * (symbols/tables/strips.h). The first lookup in a strip sorts its functions by start, settles what
 * needs no names, as perf does (ends of symbols without a size, ranks of equal starts), and cuts
 * overlaps into disjoint pieces, each owned by the innermost symbol. Comparisons of demangled names
 * wait for a lookup of their address.
 */
#include "symbols/names/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "symbols/carried/function_symbol.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/plt.h"
#include "symbols/names/demangle.h"
#include "symbols/names/symbol_choice.h"
#include "symbols/tables/address_sort.h"
#include "symbols/tables/strips.h"

/*
 * A last symbol without size and section reaches to the end of the page after its own, as in perf.
 */
#define LAST_SYMBOL_PAGE ((uint64_t)4096)

enum {
	SYMBOLS_AT_ONCE = 64,
	FEW = 16,   /* functions: sorted in place */
	MANY = 256, /* sorted digit by digit */
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

/* The pieces of a strip, in address order: each reaches to the next one. */
struct pieces {
	size_t first, count;
};

struct mt_symtab {
	struct mt_elf *image, *symbols;
	size_t symbol_count, dynamic_count;
	MT_ARRAY(struct function) stubs;
	/* numbers of all that are functions: of .symtab, of .dynsym behind them, of stubs last */
	struct mt_strips *strips;
	struct mt_map64 settled;	     /* strip: index in pieces */
	MT_ARRAY(struct function) functions; /* of the strips that were settled */
	MT_ARRAY(struct pieces) pieces;
	MT_ARRAY(uint64_t) starts;
	MT_ARRAY(uint32_t) owners; /* index of a function, or MT_SYMTAB_NONE in a gap */
	struct {
		uint64_t from, to;
		uint32_t owner;
	} last; /* piece that was found: questions mostly come by rising address */
	bool settling;
};

MT_DEFINE_CLEANUP(mt_symtab, struct mt_symtab)

void mt_symtab_destroy(struct mt_symtab *symtab)
{
	if (!symtab)
		return;
	mt_strips_destroy(symtab->strips);
	mt_map64_deinit(&symtab->settled);
	mt_array_deinit(&symtab->stubs);
	mt_array_deinit(&symtab->functions);
	mt_array_deinit(&symtab->pieces);
	mt_array_deinit(&symtab->starts);
	mt_array_deinit(&symtab->owners);
	free(symtab);
}

/* ---- Reading ---- */

static uint64_t end_of(uint64_t start, uint64_t size)
{
	uint64_t end;

	return __builtin_add_overflow(start, size, &end) ? UINT64_MAX : end;
}

static void collect(struct mt_symtab *symtab, struct mt_elf *elf, bool dynamic, size_t from)
{
	struct mt_function_place places[SYMBOLS_AT_ONCE];
	size_t given, i = 0;

	while ((given = mt_symbol_functions(elf, dynamic, &i, places, SYMBOLS_AT_ONCE))) {
		for (size_t k = 0; k < given; k++)
			mt_strips_add(symtab->strips, (uint32_t)(from + places[k].index),
				      places[k].start, end_of(places[k].start, places[k].size));
	}
}

static bool add_stub(void *context, const struct mt_plt_stub *stub)
{
	struct mt_symtab *symtab = context;
	struct function *f = mt_array_push(&symtab->stubs);

	if (!f)
		return false;
	f->start = stub->start;
	f->end = stub->start + stub->size;
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

/* Where the image's code is: [*low, *high). */
static void find_code(const struct mt_elf *image, uint64_t *low, uint64_t *high)
{
	size_t count;
	const struct mt_segment *segments = mt_elf_segments(image, &count);

	*low = UINT64_MAX;
	*high = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t from = segments[i].vaddr, to = from + segments[i].memory_size;

		if (!(segments[i].flags & PF_X) || to < from)
			continue;
		*low = from < *low ? from : *low;
		*high = to > *high ? to : *high;
	}
}

static bool collect_all(struct mt_symtab *symtab)
{
	size_t numbered, count;
	uint64_t low, high;

	symtab->symbol_count = mt_elf_symbol_count(symtab->symbols, false);
	symtab->dynamic_count = mt_elf_symbol_count(symtab->image, true);
	if (!mt_plt_each(symtab->image, add_stub, symtab))
		return false;
	numbered = symtab->symbol_count + symtab->dynamic_count;
	count = numbered + symtab->stubs.count;
	if (count >= MT_SYMTAB_NONE)
		return false;
	find_code(symtab->image, &low, &high);
	symtab->strips = mt_strips_create(low, high, (uint32_t)count);
	if (!symtab->strips)
		return false;
	collect(symtab, symtab->symbols, false, 0);
	collect(symtab, symtab->image, true, symtab->symbol_count);
	for (size_t i = 0; i < symtab->stubs.count; i++) {
		struct function *f = &symtab->stubs.items[i];

		f->order = (uint32_t)(numbered + i);
		mt_strips_add(symtab->strips, f->order, f->start, f->end);
	}
	mt_strips_finish(symtab->strips);
	return true;
}

struct mt_symtab *mt_symtab_create(struct mt_elf *image, struct mt_elf *symbols)
{
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = calloc(1, sizeof(*symtab));

	if (!symtab)
		return NULL;
	symtab->image = image;
	symtab->symbols = symbols;
	return collect_all(symtab) ? MT_TAKE(symtab) : NULL;
}

/* The function that a number stands for; false where its symbol can no longer be read. */
static bool read_function(const struct mt_symtab *symtab, uint32_t number, struct function *out)
{
	size_t symbols = symtab->symbol_count, numbered = symbols + symtab->dynamic_count;
	bool dynamic = number >= symbols;
	struct mt_elf_symbol symbol;

	if (number >= numbered) {
		*out = symtab->stubs.items[number - numbered];
		return true;
	}
	if (!mt_elf_symbol(dynamic ? symtab->image : symtab->symbols, dynamic,
			   number - (dynamic ? symbols : 0), &symbol))
		return false;
	*out = (struct function){
		.start = symbol.value,
		.end = end_of(symbol.value, symbol.size),
		.name = symbol.name,
		.order = number,
		.section = symbol.section,
		.rank = (uint8_t)mt_symbol_rank(symbol.size, symbol.type, symbol.binding),
	};
	return true;
}

/* ---- Settling ---- */

/* A strip while it is settled: its functions are the last ones of the table. */
struct settling {
	struct mt_symtab *symtab;
	const struct mt_strip *strip;
	size_t first;
};

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

/* Mostly two of one start, or a few of a strip. */
static void sort_few(struct function *f, size_t count)
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

static bool sort_many(struct function *f, size_t count)
{
	MT_CLEANUP_FREE struct mt_addressed *order = malloc(count * sizeof(*order));
	MT_CLEANUP_FREE struct function *unsorted = malloc(count * sizeof(*f));

	if (!order || !unsorted)
		return false;
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
			sort_few(f + from, to - from);
	}
	return true;
}

static bool take_functions(const struct settling *settling)
{
	struct mt_symtab *symtab = settling->symtab;
	size_t count = settling->strip->count;

	if (!count)
		return true;
	if (!mt_array_reserve(&symtab->functions, settling->first + count))
		return false;
	for (size_t i = 0; i < count; i++)
		symtab->functions.count +=
			read_function(symtab, settling->strip->numbers[i],
				      &symtab->functions.items[symtab->functions.count]);
	count = symtab->functions.count - settling->first;
	if (count > MANY)
		return sort_many(symtab->functions.items + settling->first, count);
	sort_few(symtab->functions.items + settling->first, count);
	return true;
}

/* Where the next function starts; of the last one, the end of the page behind its own. */
static uint64_t next_start(const struct settling *settling, size_t to, uint64_t start)
{
	const struct mt_symtab *symtab = settling->symtab;

	if (to < symtab->functions.count)
		return symtab->functions.items[to].start;
	return settling->strip->last ? (start | (LAST_SYMBOL_PAGE - 1)) + 1 + LAST_SYMBOL_PAGE
				     : settling->strip->next;
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

/*
 * Whether the later function's name is the better one; NULL names, out of memory, lose nothing but
 * the choice.
 */
static bool names_better(struct mt_symtab *symtab, uint32_t later, uint32_t first)
{
	MT_CLEANUP_FREE char *a = mt_symtab_name(symtab, first, true);
	MT_CLEANUP_FREE char *b = mt_symtab_name(symtab, later, true);

	return a && b && mt_symbol_name_better(b, a);
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

static void settle(const struct settling *settling)
{
	struct mt_symtab *symtab = settling->symtab;
	struct function *f = symtab->functions.items;
	size_t count = symtab->functions.count, to, kept = settling->first;

	for (size_t from = settling->first; from < count; from = to) {
		uint64_t next;

		to = end_of_start(symtab, from);
		next = next_start(settling, to, f[from].start);
		for (size_t i = from; i < to; i++) {
			if (f[i].end == f[i].start)
				f[i].end = end_without_size(symtab->image, &f[i], next);
		}
		kept += settle_start(symtab, from, to, kept);
	}
	symtab->functions.count = kept;
}

/* What flattening keeps: the functions open at pos, the innermost last. */
struct sweep {
	struct mt_symtab *symtab;
	size_t first; /* of its pieces */
	MT_ARRAY(uint32_t) open;
	uint64_t pos;
};

/* From pos on, owner has the addresses. There is room: flatten() sees to that. */
static inline void add_piece(struct sweep *sweep, uint64_t pos, uint32_t owner)
{
	struct mt_symtab *symtab = sweep->symtab;
	size_t count = symtab->starts.count;

	if (count > sweep->first && symtab->starts.items[count - 1] == pos) {
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
static bool flatten(const struct settling *settling)
{
	struct mt_symtab *symtab = settling->symtab;
	struct sweep sweep = {.symtab = symtab, .first = symtab->starts.count};
	const struct function *f = symtab->functions.items;
	size_t first = settling->first, count = symtab->functions.count;
	size_t room = sweep.first + 2 * (count - first);
	bool ok =
		mt_array_reserve(&symtab->starts, room) && mt_array_reserve(&symtab->owners, room);

	for (size_t i = first; i < count && ok; i++) {
		if ((i > first && f[i - 1].tied) || f[i].end <= f[i].start)
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

/* Puts a strip's pieces behind those that there are; false out of memory. */
static bool settle_strip(struct mt_symtab *symtab, uint32_t id)
{
	MT_CLEANUP(mt_strip_deinit) struct mt_strip strip = {0};
	struct settling settling = {
		.symtab = symtab, .strip = &strip, .first = symtab->functions.count};
	size_t from = symtab->starts.count;

	if (!mt_array_reserve(&symtab->pieces, symtab->pieces.count + 1) ||
	    !mt_strips_list(symtab->strips, id, &strip) || !take_functions(&settling))
		return false;
	symtab->settling = true;
	settle(&settling);
	symtab->settling = false;
	if (!flatten(&settling) || !mt_map64_put(&symtab->settled, id, symtab->pieces.count))
		return false;
	symtab->pieces.items[symtab->pieces.count++] =
		(struct pieces){from, symtab->starts.count - from};
	return true;
}

/* ---- Asking ---- */

size_t mt_symtab_count(const struct mt_symtab *symtab)
{
	return symtab->functions.count;
}

/* How many of a strip's pieces, and of those before them, start at or before vaddr. */
static size_t pieces_below(const struct mt_symtab *symtab, const struct pieces *pieces,
			   uint64_t vaddr)
{
	size_t low = pieces->first, high = low + pieces->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symtab->starts.items[middle] <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of the last piece that starts at or before vaddr; MT_SYMTAB_NONE: there is none. */
static uint32_t owner_at(struct mt_symtab *symtab, uint64_t vaddr)
{
	const struct pieces *pieces;
	uint64_t settled;
	uint32_t strip;
	size_t below;

	if (vaddr >= symtab->last.from && vaddr < symtab->last.to)
		return symtab->last.owner;
	strip = mt_strips_find(symtab->strips, vaddr);
	if (!mt_map64_get(&symtab->settled, strip, &settled)) {
		settled = symtab->pieces.count;
		if (!settle_strip(symtab, strip))
			return MT_SYMTAB_NONE;
	}
	pieces = &symtab->pieces.items[settled];
	below = pieces_below(symtab, pieces, vaddr);
	if (below == pieces->first)
		return MT_SYMTAB_NONE;
	if (below < pieces->first + pieces->count) {
		symtab->last.from = symtab->starts.items[below - 1];
		symtab->last.to = symtab->starts.items[below];
		symtab->last.owner = symtab->owners.items[below - 1];
	}
	return symtab->owners.items[below - 1];
}

/* Lets the names of tied functions decide, once: the winner takes the first's place. */
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

/* The name without its version: "memcpy@@GLIBC_2.14". A name that is all version stays. */
static char *without_version(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at != name ? strndup(name, (size_t)(at - name)) : strdup(name);
}

/*
 * The raw name; that of a stub without a symbol is the name of the function its resolver is, once
 * it has one.
 */
static const char *raw_name(struct mt_symtab *symtab, const struct function *f)
{
	uint32_t owner;

	if (!f->ifunc)
		return f->name;
	owner = symtab->settling ? MT_SYMTAB_NONE : owner_at(symtab, f->resolver);
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
