/*
 * Words wait in two logs: the older log until all mappings of its time are known, while the newer
 * log fills up. Then words that are in a mapping become places of the mapped image. A bit table
 * shows that most words are in no mapping.
 */
#include "record/carry/sampled_places.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/records/record.h"
#include "symbols/carried/seen_code.h"
#include "symbols/tables/address_sort.h"

#define BLOCK_BITS 10 /* 64 units of MT_SEEN_UNIT bytes share one word of bits */
#define UNIT_BITS 4
#define LOG_MAX 65536 /* words: a few tenths of a second of a program that grows fast */
#define GATHER_BITS 9
#define ADDRESS_LEAST UINT64_C(65536)
#define ADDRESS_END (UINT64_C(1) << 48)
#define NEAR_BITS 16 /* of the table of regions with code */
#define REGION_BITS 21
#define IMAGES_MAX 16384
#define PLACES_MAX 262144 /* blocks of code of all images, about 24 bytes each */
#define MAPPINGS_MAX 65536
#define PASSED_MAX 1024 /* mappings that are looked at for one block */

_Static_assert(1 << UNIT_BITS == MT_SEEN_UNIT && 64 * MT_SEEN_UNIT == 1 << BLOCK_BITS,
	       "a block's units are the bits of a word");

/* A KiB of addresses, or of a file, with a bit for each unit. */
struct block {
	uint64_t number;
	uint64_t units; /* 0: the slot is empty */
};

/* Words that wait for mappings. */
struct log {
	uint64_t *words; /* LOG_MAX of them */
	size_t count;
	uint64_t last_time; /* time of the latest word */
};

struct mapping {
	struct mt_code_mapping is;
	uint64_t reach;	 /* highest end of this mapping and of all before it */
	uint32_t widest; /* the image of the mapping that ends at `reach` */
};

struct place {
	uint64_t number, units, taken;
};

struct image {
	MT_ARRAY(struct place) places;
	uint64_t size; /* largest reported size of its file */
	bool whole;
};

struct mt_sampled_places {
	struct log older, newer;
	MT_ARRAY(struct mapping) mappings;
	size_t sorted; /* number of mappings in order of start; later ones are not sorted yet */
	MT_ARRAY(struct image) images;
	struct mt_map64 numbers; /* hash of identity -> image */
	struct mt_map64 index;	 /* block of an image -> index in places of the image */
	size_t places, untaken;	 /* number of blocks of code; approximate number of untaken units */
	uint64_t dropped; /* time up to which words were resolved before all mappings were known */
	uint8_t near[1 << (NEAR_BITS - 3)]; /* bit per region, approximate: has a mapping */
	struct block gather[1 << GATHER_BITS];
};

struct mt_sampled_places *mt_sampled_places_create(void)
{
	struct mt_sampled_places *seen = calloc(1, sizeof(*seen));

	if (!seen)
		return NULL;
	seen->older.words = malloc(LOG_MAX * sizeof(uint64_t));
	seen->newer.words = malloc(LOG_MAX * sizeof(uint64_t));
	if (seen->older.words && seen->newer.words && mt_array_push(&seen->images))
		return seen; /* images[0] means none */
	mt_sampled_places_destroy(seen);
	return NULL;
}

void mt_sampled_places_destroy(struct mt_sampled_places *seen)
{
	if (!seen)
		return;
	for (size_t i = 0; i < seen->images.count; i++)
		mt_array_deinit(&seen->images.items[i].places);
	mt_array_deinit(&seen->images);
	mt_array_deinit(&seen->mappings);
	mt_map64_deinit(&seen->numbers);
	mt_map64_deinit(&seen->index);
	free(seen->older.words);
	free(seen->newer.words);
	free(seen);
}

/* ---- Images and their places ---- */

static uint64_t identity(const struct mt_image_record *image)
{
	uint64_t numbers[] = {image->major, image->minor, image->inode, image->inode_generation,
			      image->size};

	return image->build_id.size ? mt_hash_bytes(image->build_id.bytes, image->build_id.size, 1)
				    : mt_hash_bytes(numbers, sizeof(numbers), 2);
}

uint32_t mt_sampled_places_image(struct mt_sampled_places *seen,
				 const struct mt_image_record *image)
{
	uint64_t key = identity(image), number;

	if (!mt_map64_get(&seen->numbers, key, &number)) {
		number = seen->images.count;
		if (number >= IMAGES_MAX || !mt_array_push(&seen->images))
			return 0;
		if (!mt_map64_put(&seen->numbers, key, number)) {
			seen->images.count--;
			return 0;
		}
	}
	if (image->size > seen->images.items[number].size)
		seen->images.items[number].size = image->size;
	return (uint32_t)number;
}

void mt_sampled_places_make_whole(struct mt_sampled_places *seen, uint32_t number)
{
	struct image *image = &seen->images.items[number];

	image->whole = true;
	mt_array_deinit(&image->places);
}

/* Adds units of a block of an image. Ignores blocks past 2^58 bytes, which have no exact key. */
static void add_place(struct mt_sampled_places *seen, uint32_t number, uint64_t block,
		      uint64_t units)
{
	struct image *image = &seen->images.items[number];
	uint64_t key = (uint64_t)number << 48 | block, i;
	struct place *place;

	if (image->whole || block >= UINT64_C(1) << 48)
		return;
	if (mt_map64_get(&seen->index, key, &i)) {
		place = i < image->places.count ? &image->places.items[i] : NULL;
		if (!place || place->number != block)
			return;
		seen->untaken += (size_t)__builtin_popcountll(units & ~place->units);
		place->units |= units;
		return;
	}
	place = seen->places < PLACES_MAX ? mt_array_push(&image->places) : NULL;
	if (!place || !mt_map64_put(&seen->index, key, image->places.count - 1)) {
		mt_sampled_places_make_whole(seen, number);
		return;
	}
	*place = (struct place){.number = block, .units = units};
	seen->places++;
	seen->untaken += (size_t)__builtin_popcountll(units);
}

/* ---- Mappings ---- */

static inline size_t region_of(uint64_t address)
{
	uint64_t region = address >> REGION_BITS;

	return (size_t)((region ^ region >> NEAR_BITS) & ((1u << NEAR_BITS) - 1));
}

static inline bool is_near(const struct mt_sampled_places *seen, uint64_t address)
{
	size_t region = region_of(address);

	return seen->near[region / 8] >> region % 8 & 1;
}

static void set_near(struct mt_sampled_places *seen, uint64_t address)
{
	size_t region = region_of(address);

	seen->near[region / 8] |= (uint8_t)(1u << region % 8);
}

/* Returns true for a mapping of a whole image. Such mappings are removed when the list is full. */
static bool is_whole(const struct mt_sampled_places *seen, const struct mt_code_mapping *m)
{
	return seen->images.items[m->image].whole;
}

static void forget_whole(struct mt_sampled_places *seen)
{
	struct mapping *items = seen->mappings.items;
	size_t kept = 0;

	for (size_t i = 0; i < seen->mappings.count; i++) {
		if (!is_whole(seen, &items[i].is))
			items[kept++] = items[i];
	}
	seen->mappings.count = kept;
	seen->sorted = 0;
}

/* Orders mappings by start; equal mappings become neighbours. */
static int compare_mappings(const void *a, const void *b)
{
	const struct mt_code_mapping *x = &((const struct mapping *)a)->is;
	const struct mt_code_mapping *y = &((const struct mapping *)b)->is;

	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	if (x->end != y->end)
		return x->end > y->end ? 1 : -1;
	if (x->offset != y->offset)
		return x->offset > y->offset ? 1 : -1;
	return (x->image > y->image) - (x->image < y->image);
}

/* Marks the regions of a mapping; all regions if the mapping has 128 GiB or more. */
static void set_all_near(struct mt_sampled_places *seen, uint64_t start, uint64_t end)
{
	if ((end - start) >> REGION_BITS >= UINT64_C(1) << NEAR_BITS) {
		memset(seen->near, 0xff, sizeof(seen->near));
		return;
	}
	for (uint64_t at = start; at < end; at += UINT64_C(1) << REGION_BITS)
		set_near(seen, at);
	set_near(seen, end - 1);
}

/* Merges the sorted new mappings, from `sorted` on, into the sorted mappings before them. */
static bool merge_fresh(struct mapping *items, size_t sorted, size_t count)
{
	size_t fresh = count - sorted;
	MT_CLEANUP_FREE struct mapping *copy = malloc(fresh * sizeof(*copy));

	if (!copy)
		return false;
	memcpy(copy, items + sorted, fresh * sizeof(*copy));
	while (fresh) {
		bool older = sorted && compare_mappings(&items[sorted - 1], &copy[fresh - 1]) > 0;

		items[--count] = older ? items[--sorted] : copy[--fresh];
	}
	return true;
}

/* Drops repeated mappings; returns the number of remaining mappings. */
static size_t drop_same(struct mapping *items, size_t count)
{
	size_t kept = 1;

	for (size_t i = 1; i < count; i++) {
		if (compare_mappings(&items[kept - 1], &items[i]) != 0)
			items[kept++] = items[i];
	}
	return kept;
}

/* Sorts the new mappings, which are few, and merges them into the old ones. */
static void sort_mappings(struct mt_sampled_places *seen)
{
	struct mapping *items = seen->mappings.items;
	size_t count = seen->mappings.count;
	uint64_t reach = 0;
	uint32_t widest = 0;

	if (seen->sorted == count)
		return;
	qsort(items + seen->sorted, count - seen->sorted, sizeof(*items), compare_mappings);
	if (!merge_fresh(items, seen->sorted, count))
		qsort(items, count, sizeof(*items), compare_mappings);
	seen->sorted = seen->mappings.count = drop_same(items, count);
	for (size_t i = 0; i < seen->sorted; i++) {
		if (items[i].is.end >= reach) {
			reach = items[i].is.end;
			widest = items[i].is.image;
		}
		items[i].reach = reach;
		items[i].widest = widest;
	}
}

/* Appends a mapping; false if there is no room. */
static bool add_mapping(struct mt_sampled_places *seen, const struct mt_code_mapping *mapping)
{
	if (seen->mappings.count >= MAPPINGS_MAX)
		sort_mappings(seen);
	if (seen->mappings.count >= MAPPINGS_MAX)
		forget_whole(seen);
	return seen->mappings.count < MAPPINGS_MAX &&
	       mt_array_append(&seen->mappings, (struct mapping){.is = *mapping});
}

void mt_sampled_places_map(struct mt_sampled_places *seen, const struct mt_code_mapping *mapping)
{
	if (!mapping->image || mapping->start >= mapping->end || mapping->end > ADDRESS_END ||
	    mapping->offset >= seen->images.items[mapping->image].size || is_whole(seen, mapping))
		return;
	if ((seen->dropped && (!mapping->time || mapping->time <= seen->dropped)) ||
	    !add_mapping(seen, mapping)) {
		mt_sampled_places_make_whole(seen, mapping->image);
		return;
	}
	set_all_near(seen, mapping->start, mapping->end);
}

static size_t mappings_from(const struct mt_sampled_places *seen, uint64_t address)
{
	return mt_array_split(seen->sorted, at, seen->mappings.items[at].is.start <= address);
}

/*
 * Adds the places of a block in all mappings that contain the block. A block never crosses the end
 * of a mapping, which is a multiple of the page size. Returns 0 or, after looking at PASSED_MAX
 * mappings, the image to make whole.
 */
static uint32_t find_near(struct mt_sampled_places *seen, const struct block *block)
{
	uint64_t address = block->number << BLOCK_BITS, offset;
	size_t passed = 0;

	for (size_t i = mappings_from(seen, address); i--;) {
		const struct mapping *m = &seen->mappings.items[i];

		if (m->reach <= address)
			return 0;
		if (passed++ == PASSED_MAX)
			return m->widest;
		offset = address - m->is.start + m->is.offset;
		if (address < m->is.end && offset < seen->images.items[m->is.image].size)
			add_place(seen, m->is.image, offset >> BLOCK_BITS, block->units);
	}
	return 0;
}

/*
 * Adds the places of a block. An image that a process maps over and over is made whole, and its
 * mappings are removed.
 */
static void find_places(struct mt_sampled_places *seen, const struct block *block)
{
	uint32_t image;

	while ((image = find_near(seen, block))) {
		mt_sampled_places_make_whole(seen, image);
		forget_whole(seen);
		sort_mappings(seen);
	}
}

/* ---- Words ---- */

/* Gathers units by block before looking them up, because the same places occur again and again. */
static inline void add_unit(struct mt_sampled_places *seen, uint64_t unit)
{
	uint64_t number = unit >> (BLOCK_BITS - UNIT_BITS), bit = UINT64_C(1) << unit % 64;
	struct block *block = &seen->gather[number % (1u << GATHER_BITS)];

	if (block->number != number || !block->units) {
		if (block->units)
			find_places(seen, block);
		*block = (struct block){.number = number};
	}
	block->units |= bit;
}

/*
 * Looks up the words of a log. Also looks up the byte before a word that is at the start of a unit,
 * because a return address may be the end of its function.
 */
static void resolve(struct mt_sampled_places *seen, struct log *log)
{
	sort_mappings(seen);
	for (size_t i = 0; i < log->count; i++) {
		uint64_t word = log->words[i];

		if (!is_near(seen, word))
			continue;
		add_unit(seen, word >> UNIT_BITS);
		if (!(word % MT_SEEN_UNIT))
			add_unit(seen, (word - 1) >> UNIT_BITS);
	}
	for (size_t i = 0; log->count && i < 1u << GATHER_BITS; i++) {
		if (seen->gather[i].units)
			find_places(seen, &seen->gather[i]);
		seen->gather[i].units = 0;
	}
	log->count = 0;
	log->last_time = 0;
}

/* Exchanges the logs; the older log must be empty. */
static void turn(struct mt_sampled_places *seen)
{
	struct log older = seen->older;

	seen->older = seen->newer;
	seen->newer = older;
}

/* Empties the newer log, which is full: resolves the older log without waiting for its mappings. */
static void make_room(struct mt_sampled_places *seen)
{
	if (seen->older.last_time > seen->dropped)
		seen->dropped = seen->older.last_time;
	resolve(seen, &seen->older);
	turn(seen);
}

void mt_sampled_places_words(struct mt_sampled_places *seen, const uint64_t *words, size_t count,
			     uint64_t last_time)
{
	struct log *log = &seen->newer;

	for (size_t i = 0; i < count; i++) {
		if (log->count == LOG_MAX)
			make_room(seen);
		log->last_time = last_time > log->last_time ? last_time : log->last_time;
		log->words[log->count] = words[i];
		log->count += words[i] - ADDRESS_LEAST < ADDRESS_END - ADDRESS_LEAST;
	}
}

void mt_sampled_places_settle(struct mt_sampled_places *seen, uint64_t complete_below)
{
	if (seen->older.last_time < complete_below)
		resolve(seen, &seen->older);
	if (!seen->older.count)
		turn(seen);
}

void mt_sampled_places_settle_all(struct mt_sampled_places *seen)
{
	resolve(seen, &seen->older);
	resolve(seen, &seen->newer);
}

/* ---- Results ---- */

size_t mt_sampled_places_untaken(const struct mt_sampled_places *seen)
{
	return seen->untaken;
}

static void list_units(uint64_t block, uint64_t units, uint64_t **to)
{
	for (; units; units &= units - 1)
		*(*to)++ = block << BLOCK_BITS | (uint64_t)__builtin_ctzll(units) << UNIT_BITS;
}

/* Lists the untaken places of an image, and marks them as taken. */
static void take_places(struct image *image, const struct mt_code_news *news)
{
	uint64_t *fresh = news->offsets;

	for (size_t i = 0; i < image->places.count; i++) {
		struct place *place = &image->places.items[i];

		list_units(place->number, place->units & ~place->taken, &fresh);
		place->taken = place->units;
	}
}

bool mt_sampled_places_take(struct mt_sampled_places *seen, uint32_t number,
			    struct mt_code_news *out)
{
	struct image *image = &seen->images.items[number];

	*out = (struct mt_code_news){.whole = image->whole};
	for (size_t i = 0; i < image->places.count; i++) {
		const struct place *place = &image->places.items[i];

		out->count += (size_t)__builtin_popcountll(place->units & ~place->taken);
	}
	if (!out->count)
		return true;
	out->offsets = malloc(out->count * sizeof(*out->offsets));
	if (!out->offsets)
		return false;
	take_places(image, out);
	seen->untaken -= out->count < seen->untaken ? out->count : seen->untaken;
	if (mt_number_sort(out->offsets, out->count))
		return true;
	free(MT_TAKE(out->offsets));
	return false;
}
