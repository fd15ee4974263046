/*
 * Keeps functions, ordered by time, in a segment tree over the addresses where they begin and end.
 * Each node lists the functions that cover its whole range, so a lookup reads the nodes from a leaf
 * upwards, even if functions overlap.
 */
#include "symbols/jit/jitdump_index.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/map64.h"
#include "formats/records/jitdump.h"
#include "symbols/tables/address_sort.h"

#define CODES_MAX (1u << 20)
#define ERAS_MAX (1u << 20)
#define LISTED_MAX (1u << 25) /* functions in the lists of all nodes */
/* V8 counts line addresses from the ELF header that perf puts before the code. */
#define ELF_HEADER_SIZE 64
#define PAGE 4096

struct code {
	uint64_t start, size, time;
	uint64_t moved; /* a current address plus this is the address used in `lines` */
	const char *name;
	const uint8_t *lines, *unwind;
	uint32_t lines_size, unwind_size; /* unwind: without its index */
	uint32_t number; /* position in the file; at equal times the later one is used */
};

/* An era begins when code is placed where other code was. */
struct era {
	uint64_t time;
	uint32_t first; /* index of its first code */
};

struct mt_jitdump {
	MT_ARRAY(struct code) codes; /* by time */
	MT_ARRAY(struct era) eras;   /* from the second era on */
	size_t left_out;
	bool timed; /* times are on the caller's clock */
	bool has_lines, has_unwind, lines_after_header;
	uint64_t *bounds;   /* start and end addresses of all codes, ascending, unique */
	size_t leaves;	    /* number of ranges between bounds */
	uint32_t *node_end; /* by node: end of its list; the previous node's end is its start */
	uint32_t *listed;   /* indices of codes, ascending within a node */
};

MT_DEFINE_CLEANUP(mt_jitdump, struct mt_jitdump)

void mt_jitdump_destroy(struct mt_jitdump *dump)
{
	if (!dump)
		return;
	mt_array_deinit(&dump->codes);
	mt_array_deinit(&dump->eras);
	free(dump->bounds);
	free(dump->node_end);
	free(dump->listed);
	free(dump);
}

/* ---- Reading ---- */

struct reading {
	struct mt_jitdump *dump;
	const int64_t *ahead;
	struct mt_map64 latest;			/* number of a code in the file -> index in codes */
	struct mt_jitdump_record lines, unwind; /* for the next LOAD; bytes NULL: none */
};

static struct code *add_code(struct reading *r, const struct mt_jitdump_record *record)
{
	struct mt_jitdump *dump = r->dump;
	struct code *code = NULL;

	if (dump->codes.count >= CODES_MAX) {
		dump->left_out++;
		return NULL;
	}
	code = mt_array_push(&dump->codes);
	if (!code)
		return NULL;
	code->start = record->address;
	code->size = record->size;
	code->number = (uint32_t)dump->codes.count - 1;
	if (dump->timed)
		code->time = record->time + (uint64_t)*r->ahead;
	(void)mt_map64_put(&r->latest, record->index, code->number);
	return code;
}

/* True if a line has an address past the code's end. */
static bool lines_pass_end(const struct code *code)
{
	struct mt_cursor c = mt_cursor_init(code->lines, code->lines_size);
	struct mt_jitdump_line line = {0};

	while (mt_jitdump_next_line(&c, &line)) {
		if (line.address >= code->start + code->size &&
		    line.address - code->start - code->size < ELF_HEADER_SIZE)
			return true;
	}
	return false;
}

static void take_load(struct reading *r, const struct mt_jitdump_record *record)
{
	struct code *code = add_code(r, record);

	if (code) {
		code->name = record->name;
		if (r->lines.bytes && r->lines.address == record->address) {
			code->lines = r->lines.bytes;
			code->lines_size = (uint32_t)r->lines.byte_count;
			r->dump->has_lines = true;
			r->dump->lines_after_header |= lines_pass_end(code);
		}
		if (r->unwind.byte_count > r->unwind.index_size) {
			code->unwind = r->unwind.bytes;
			code->unwind_size = (uint32_t)(r->unwind.byte_count - r->unwind.index_size);
			r->dump->has_unwind = true;
		}
	}
	r->lines.bytes = r->unwind.bytes = NULL;
	r->unwind.byte_count = r->unwind.index_size = 0;
}

static void take_move(struct reading *r, const struct mt_jitdump_record *record)
{
	struct code was, *code;
	uint64_t i;

	if (!mt_map64_get(&r->latest, record->index, &i))
		return;
	was = r->dump->codes.items[i];
	if (was.start != record->old_address)
		return;
	code = add_code(r, record);
	if (!code)
		return;
	code->name = was.name;
	code->lines = was.lines;
	code->lines_size = was.lines_size;
	code->moved = was.moved + (was.start - code->start);
	if (was.size == code->size) {
		code->unwind = was.unwind;
		code->unwind_size = was.unwind_size;
	}
}

static void read_records(struct reading *r, const uint8_t *bytes, size_t size)
{
	struct mt_cursor c = mt_cursor_init(bytes, size);
	struct mt_jitdump_record record;

	while (mt_jitdump_next(&c, &record)) {
		if (record.type == MT_JITDUMP_HEADER)
			r->dump->timed = r->ahead && !(record.flags & MT_JITDUMP_ARCH_TIME);
		else if (record.type == MT_JITDUMP_LOAD)
			take_load(r, &record);
		else if (record.type == MT_JITDUMP_MOVE)
			take_move(r, &record);
		else if (record.type == MT_JITDUMP_LINES && record.byte_count <= UINT32_MAX)
			r->lines = record;
		else if (record.type == MT_JITDUMP_UNWIND && record.byte_count <= UINT32_MAX)
			r->unwind = record;
	}
}

/* ---- Building ---- */

static int compare_codes(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The leaf that begins at an address, or the last one before it; SIZE_MAX: none. */
static size_t leaf_of(const struct mt_jitdump *dump, uint64_t address)
{
	return mt_array_split(dump->leaves + 1, at, dump->bounds[at] <= address) - 1;
}

static bool make_bounds(struct mt_jitdump *dump)
{
	size_t count = dump->codes.count * 2, used = 0;

	dump->bounds = malloc((count + 1) * sizeof(*dump->bounds));
	if (!dump->bounds)
		return false;
	for (size_t i = 0; i < dump->codes.count; i++) {
		dump->bounds[2 * i] = dump->codes.items[i].start;
		dump->bounds[2 * i + 1] = dump->codes.items[i].start + dump->codes.items[i].size;
	}
	if (!mt_number_sort(dump->bounds, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!i || dump->bounds[i] != dump->bounds[used - 1])
			dump->bounds[used++] = dump->bounds[i];
	}
	dump->leaves = used - 1;
	return true;
}

/* Visits the nodes that cover a code's memory. Without `count`, adds the code to their lists. */
static void list_code(struct mt_jitdump *dump, uint32_t code, bool count)
{
	const struct code *c = &dump->codes.items[code];
	size_t low = leaf_of(dump, c->start) + dump->leaves,
	       high = leaf_of(dump, c->start + c->size) + dump->leaves;

	for (; low < high; low /= 2, high /= 2) {
		size_t nodes[2], n = 0;

		if (low & 1)
			nodes[n++] = low++;
		if (high & 1)
			nodes[n++] = --high;
		while (n--) {
			if (!count)
				dump->listed[dump->node_end[nodes[n]]] = code;
			dump->node_end[nodes[n]]++;
		}
	}
}

/* Builds the tree. False out of memory, or if the lists exceed their bound. */
static bool make_tree(struct mt_jitdump *dump)
{
	size_t nodes = dump->leaves * 2 + 1, sum = 0;

	dump->node_end = calloc(nodes, sizeof(*dump->node_end));
	if (!dump->node_end)
		return false;
	for (uint32_t i = 0; i < dump->codes.count; i++)
		list_code(dump, i, true);
	for (size_t i = 0; i < nodes; i++) {
		size_t here = dump->node_end[i];

		dump->node_end[i] = (uint32_t)sum;
		sum += here;
		if (sum > LISTED_MAX)
			return false;
	}
	dump->listed = malloc((sum + 1) * sizeof(*dump->listed));
	for (uint32_t i = 0; dump->listed && i < dump->codes.count; i++)
		list_code(dump, i, false);
	return dump->listed;
}

/* The next leaf from `leaf` on that no code has used; shortens the search paths. */
static uint32_t free_leaf(uint32_t *next, uint32_t leaf)
{
	while (next[leaf] != leaf) {
		next[leaf] = next[next[leaf]];
		leaf = next[leaf];
	}
	return leaf;
}

/* Marks the leaves of each code. If a leaf was marked before, an era begins. */
static bool make_eras(struct mt_jitdump *dump)
{
	MT_CLEANUP_FREE uint32_t *next = malloc((dump->leaves + 2) * sizeof(*next));

	if (!next)
		return false;
	for (uint32_t i = 0; i < dump->leaves + 2; i++)
		next[i] = i;
	for (uint32_t i = 0; i < dump->codes.count && dump->eras.count < ERAS_MAX; i++) {
		const struct code *c = &dump->codes.items[i];
		uint32_t end = (uint32_t)leaf_of(dump, c->start + c->size), painted = 0;
		uint32_t begin = (uint32_t)leaf_of(dump, c->start);

		for (uint32_t leaf = free_leaf(next, begin); leaf < end;
		     leaf = free_leaf(next, leaf)) {
			next[leaf] = leaf + 1;
			painted++;
		}
		if (painted == end - begin || !c->time)
			continue;
		if (!mt_array_append(&dump->eras, (struct era){c->time, i}))
			return false;
	}
	return true;
}

struct mt_jitdump *mt_jitdump_create(const uint8_t *bytes, size_t size, const int64_t *ahead)
{
	MT_CLEANUP(mt_jitdump_destroy_p) struct mt_jitdump *dump = calloc(1, sizeof(*dump));
	struct reading reading = {.dump = dump, .ahead = ahead};

	if (!dump)
		return NULL;
	dump->timed = ahead;
	read_records(&reading, bytes, size);
	mt_map64_deinit(&reading.latest);
	if (!dump->codes.count)
		return MT_TAKE(dump);
	qsort(dump->codes.items, dump->codes.count, sizeof(*dump->codes.items), compare_codes);
	if (!make_bounds(dump) || !make_tree(dump) || !make_eras(dump))
		return NULL;
	return MT_TAKE(dump);
}

/* ---- Lookups ---- */

size_t mt_jitdump_count(const struct mt_jitdump *dump)
{
	return dump->codes.count;
}

size_t mt_jitdump_left_out(const struct mt_jitdump *dump)
{
	return dump->left_out;
}

bool mt_jitdump_is_timed(const struct mt_jitdump *dump)
{
	return dump->timed;
}

bool mt_jitdump_has_lines(const struct mt_jitdump *dump)
{
	return dump->has_lines;
}

bool mt_jitdump_has_unwind(const struct mt_jitdump *dump)
{
	return dump->has_unwind;
}

uint32_t mt_jitdump_era(const struct mt_jitdump *dump, uint64_t time)
{
	return (uint32_t)mt_array_split(dump->eras.count, at, dump->eras.items[at].time <= time);
}

uint64_t mt_jitdump_era_end(const struct mt_jitdump *dump, uint32_t era)
{
	return era < dump->eras.count ? dump->eras.items[era].time : UINT64_MAX;
}

/* Updates *last and *later: the last code of the node below `limit`, and the first other one. */
static void look_in_node(const struct mt_jitdump *dump, size_t node, uint32_t limit, uint32_t *last,
			 uint32_t *later)
{
	const uint32_t begin = node ? dump->node_end[node - 1] : 0;
	const uint32_t *listed = dump->listed + begin;
	size_t count = dump->node_end[node] - begin;
	size_t below = mt_array_split(count, at, listed[at] < limit);

	if (below && (*last == MT_JITDUMP_NONE || listed[below - 1] > *last))
		*last = listed[below - 1];
	if (below < count && listed[below] < *later)
		*later = listed[below];
}

uint32_t mt_jitdump_find(const struct mt_jitdump *dump, uint32_t era, uint64_t address)
{
	uint32_t limit = era < dump->eras.count ? dump->eras.items[era].first : MT_JITDUMP_NONE;
	uint32_t last = MT_JITDUMP_NONE, later = MT_JITDUMP_NONE;
	size_t leaf;

	if (!dump->codes.count)
		return MT_JITDUMP_NONE;
	leaf = leaf_of(dump, address);
	if (leaf >= dump->leaves)
		return MT_JITDUMP_NONE;
	for (size_t node = leaf + dump->leaves; node; node /= 2)
		look_in_node(dump, node, limit, &last, &later);
	return last != MT_JITDUMP_NONE ? last : later;
}

void mt_jitdump_get(const struct mt_jitdump *dump, uint32_t code, struct mt_jitdump_code *out)
{
	const struct code *c = &dump->codes.items[code];

	*out = (struct mt_jitdump_code){c->start, c->size, c->name};
}

uint64_t mt_jitdump_place(const struct mt_jitdump *dump, uint32_t code, uint64_t address)
{
	uint64_t start = dump->codes.items[code].start;

	return (uint64_t)code << 32 | (address - start + start % PAGE);
}

uint32_t mt_jitdump_placed(const struct mt_jitdump *dump, uint64_t place, uint64_t *offset)
{
	uint32_t code = (uint32_t)(place >> 32);

	*offset = (uint32_t)place - dump->codes.items[code].start % PAGE;
	return code;
}

const char *mt_jitdump_line(const struct mt_jitdump *dump, uint32_t code, uint64_t offset,
			    uint32_t *line)
{
	const struct code *c = &dump->codes.items[code];
	struct mt_cursor cursor = mt_cursor_init(c->lines, c->lines_size);
	struct mt_jitdump_line at = {0}, best = {0};
	uint64_t address =
		c->start + c->moved + offset + (dump->lines_after_header ? ELF_HEADER_SIZE : 0);

	if (!c->lines)
		return NULL;
	while (mt_jitdump_next_line(&cursor, &at)) {
		if (at.address <= address && (!best.file || at.address >= best.address))
			best = at;
	}
	*line = best.line;
	return best.file;
}

struct mt_span mt_jitdump_unwind(const struct mt_jitdump *dump, uint32_t code)
{
	const struct code *c = &dump->codes.items[code];

	if (!c->unwind)
		return (struct mt_span){0};
	return (struct mt_span){
		.bytes = c->unwind, .size = c->unwind_size, .vaddr = c->start + mt_align8(c->size)};
}
