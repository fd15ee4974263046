/*
 * Places wait as ranges of addresses with a process and a time; records of mappings wait as copies.
 * Whatever was looked at a moment ago is known by a table of hashes, which forgets a process'
 * places when it maps code.
 */
#include "record/branch_code.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/map64.h"
#include "formats/chunk.h"
#include "formats/record.h"
#include "formats/sample.h"
#include "formats/stack_decoder.h"
#include "record/code_maps.h"
#include "record/known_files.h"
#include "record/plan.h"
#include "record/told_maps.h"
#include "symbols/code_blocks.h"
#include "symbols/image.h"
#include "symbols/image_map.h"
#include "unwind/sample_stack.h"

#define KERNEL_HALF ((uint64_t)1 << 63)
#define INSTRUCTION 16		    /* bytes that hold any */
#define RUN_MAX ((uint64_t)1 << 16) /* between two branches: nobody follows code further */
#define SEEN_BITS 16
#define ERAS 1024
#define PLACES_MAX ((size_t)1 << 18) /* that wait, 32 bytes each */
#define TOLD_MAX ((size_t)16 << 20)  /* bytes of records of mappings that wait */
#define BLOCKS_MAX ((size_t)1 << 20) /* in all: 16 MiB of code, and as much to know them by */
#define FIRST_NS UINT64_C(1000000000)
#define LAST_NS UINT64_C(60000000000)

/* Code that a process had there then. */
struct place {
	uint64_t time, start;
	uint32_t size;
	int32_t pid;
};

/* A record of a mapping: a copy, so far into the bytes. */
struct kept {
	uint64_t time;
	size_t at;
	uint32_t stream;
};

struct mt_branch_code {
	const struct mt_plan *plan;
	struct mt_branch_code_sink sink;
	struct mt_image_set *images;
	struct mt_code_maps *maps;
	struct mt_known_files files;
	struct mt_stack_decoder *decoder;
	uint8_t *decoded; /* MT_STACK_UNPACKED_MAX */
	MT_ARRAY(struct place) places;
	MT_ARRAY(struct kept) kept;
	MT_ARRAY(uint8_t) bytes;
	MT_ARRAY(struct mt_told_map) told;
	struct mt_code_notes *notes; /* image ids, and offsets in the file in place of addresses */
	size_t offered;		     /* of them */
	uint64_t due, pause, time;   /* of telling: next, until the next but one, the last */
	struct mt_branch_code_counts counts;
	uint32_t eras[ERAS]; /* by pid modulo that: how often one mapped code */
	uint64_t seen[1 << SEEN_BITS];
};

bool mt_branch_code_planned(const struct mt_plan *plan)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	}
	return false;
}

struct mt_branch_code *mt_branch_code_create(const struct mt_plan *plan,
					     const struct mt_branch_code_sink *sink)
{
	struct mt_branch_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->plan = plan;
	code->sink = *sink;
	code->pause = FIRST_NS;
	code->images = mt_image_set_create();
	code->maps = code->images ? mt_code_maps_create(code->images) : NULL;
	code->decoder = mt_stack_decoder_create();
	code->decoded = malloc(MT_STACK_UNPACKED_MAX);
	code->notes = mt_code_notes_create();
	if (code->maps && code->decoder && code->decoded && code->notes)
		return code;
	mt_branch_code_destroy(code);
	return NULL;
}

void mt_branch_code_destroy(struct mt_branch_code *code)
{
	if (!code)
		return;
	mt_code_maps_destroy(code->maps);
	mt_image_set_destroy(code->images);
	mt_known_files_deinit(&code->files);
	mt_stack_decoder_destroy(code->decoder);
	mt_code_notes_destroy(code->notes);
	mt_array_deinit(&code->places);
	mt_array_deinit(&code->kept);
	mt_array_deinit(&code->bytes);
	mt_array_deinit(&code->told);
	free(code->decoded);
	free(code);
}

void mt_branch_code_add_file(struct mt_branch_code *code, int fd, const struct mt_mapped_file *file,
			     const struct mt_image_record *image)
{
	mt_known_files_add(&code->files, fd, file, image);
}

/* ---- Gathering ---- */

static uint32_t *era_of(struct mt_branch_code *code, int32_t pid)
{
	return &code->eras[(uint32_t)pid % ERAS];
}

/* Takes the place as one to look up, unless that was done a moment ago. */
static void add_place(struct mt_branch_code *code, const struct place *place)
{
	uint64_t words[] = {place->start, place->size,
			    (uint64_t)(uint32_t)place->pid << 32 | *era_of(code, place->pid)};
	uint64_t hash = mt_hash_bytes(words, sizeof(words), 0);
	uint64_t *seen = &code->seen[hash >> (64 - SEEN_BITS)];
	struct place *slot;

	if (*seen == hash)
		return;
	slot = code->places.count < PLACES_MAX ? mt_array_push(&code->places) : NULL;
	if (!slot) {
		code->counts.beyond++;
		return;
	}
	*slot = *place;
	*seen = hash;
}

/* From start, where that is known (not 0) and may lead there, to the instruction at end. */
static void add_run(struct mt_branch_code *code, struct place *place, uint64_t start, uint64_t end)
{
	if (!start || start > end || end - start > RUN_MAX)
		start = end;
	place->start = start;
	place->size = (uint32_t)(end - start) + INSTRUCTION;
	add_place(code, place);
}

/* As unwind/lbr_walk.c follows them, oldest first; gives where code runs behind the last. */
static uint64_t add_branches(struct mt_branch_code *code, struct place *place,
			     const struct mt_sample *sample, bool calls)
{
	uint64_t at = 0;

	for (size_t i = sample->branch_count; i--;) {
		const struct mt_branch *branch = &sample->branches[i];

		if (!branch->from || !branch->to) {
			at = 0;
		} else if (branch->to & KERNEL_HALF) {
			continue;
		} else {
			bool user = !(branch->from & KERNEL_HALF);

			if (user || (at && !calls))
				add_run(code, place, calls ? 0 : at,
					user ? branch->from : branch->to);
			at = branch->to;
		}
	}
	return at;
}

/* Where the user's code was, in each way that a sample tells it; gives how many. */
static size_t list_ips(const struct mt_attr *attr, const struct mt_sample *sample, uint64_t out[3])
{
	const uint64_t ip = (uint64_t)1 << 8; /* PERF_REG_X86_IP */
	struct mt_chain_halves halves = mt_chain_split(sample);
	size_t n = 0;

	out[n++] = sample->ip;
	if (sample->user_regs && attr->sample_regs_user & ip)
		out[n++] =
			sample->user_regs[__builtin_popcountll(attr->sample_regs_user & (ip - 1))];
	for (size_t i = 0; i < halves.user_count; i++) {
		if (halves.user[i] >= MT_CONTEXT_MAX)
			continue;
		out[n++] = halves.user[i];
		break;
	}
	return n;
}

static void take_sample(struct mt_branch_code *code, uint64_t time, const struct mt_kernel_bytes *b)
{
	const struct mt_attr *attr;
	struct mt_sample sample;
	struct place place;
	uint64_t ips[3], at;
	size_t count;
	bool calls;

	if (b->event >= code->plan->events.count)
		return;
	attr = &code->plan->events.items[b->event].decoded;
	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK) ||
	    !mt_sample_decode_bytes(attr, b, &sample) || !sample.branch_count)
		return;
	place = (struct place){.time = time, .pid = sample.pid};
	calls = attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	at = add_branches(code, &place, &sample, calls);
	count = at && !calls ? list_ips(attr, &sample, ips) : 0;
	for (size_t i = 0; i < count; i++) {
		if (ips[i] && !(ips[i] & KERNEL_HALF))
			add_run(code, &place, at, ips[i]);
	}
}

/* A sample of whichever kind, without its dump: packed ones rest on those before them. */
static void see_sample(struct mt_branch_code *code, const uint8_t *record)
{
	const uint8_t *body = record + MT_RECORD_HEADER_SIZE;
	size_t size = mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE, decoded, dump;
	uint64_t time = mt_get_le64(record + 8);
	struct mt_kernel_bytes b = {0};
	bool good = false;

	switch (mt_get_le32(record)) {
	case MT_RECORD_PACKED:
		good = mt_stack_unpack_kernel(code->decoder, time, body, size, code->decoded,
					      &decoded, &dump) &&
		       mt_packed_get(body, size, code->decoded, &b);
		break;
	case MT_RECORD_SAMPLE:
		good = mt_sample_get(body, size, NULL, &b);
		break;
	case MT_RECORD_KERNEL:
		good = mt_kernel_get(body, size, &b) && mt_get_le32(b.kernel) == MT_KERNEL_SAMPLE;
		break;
	}
	if (good)
		take_sample(code, time, &b);
}

/* Whether it changes what code a process has. */
static bool changes_code(const uint8_t *kernel)
{
	uint16_t misc = mt_get_le16(kernel + 4);

	switch (mt_get_le32(kernel)) {
	case MT_KERNEL_MMAP:
	case MT_KERNEL_MMAP2:
		return !(misc & PERF_RECORD_MISC_MMAP_DATA);
	case MT_KERNEL_COMM:
		return misc & PERF_RECORD_MISC_COMM_EXEC;
	case MT_KERNEL_FORK: /* a process, no thread */
		return mt_get_le32(kernel + 8) != mt_get_le32(kernel + 12);
	default:
		return false;
	}
}

static void keep_map(struct mt_branch_code *code, const uint8_t *record, uint32_t stream)
{
	struct mt_kernel_bytes b;
	size_t size = mt_get_le32(record + 4);
	struct kept *slot;

	if (code->bytes.count + size > TOLD_MAX) /* earlier than its turn, rather than never */
		mt_branch_code_settle(code, UINT64_MAX);
	slot = mt_array_reserve(&code->bytes, code->bytes.count + size) ? mt_array_push(&code->kept)
									: NULL;
	if (!slot)
		return;
	*slot = (struct kept){mt_get_le64(record + 8), code->bytes.count, stream};
	memcpy(code->bytes.items + code->bytes.count, record, size);
	code->bytes.count += size;
	if (mt_kernel_get(record + MT_RECORD_HEADER_SIZE, size - MT_RECORD_HEADER_SIZE, &b) &&
	    b.kernel_size >= 16 && changes_code(b.kernel))
		++*era_of(code, (int32_t)mt_get_le32(b.kernel + 8));
}

/* Of an event with branch records or another. */
static bool has_sample(const uint8_t *record)
{
	uint32_t type = mt_get_le32(record);
	struct mt_kernel_bytes b;

	return type == MT_RECORD_PACKED || type == MT_RECORD_SAMPLE ||
	       (type == MT_RECORD_KERNEL &&
		mt_kernel_get(record + MT_RECORD_HEADER_SIZE,
			      mt_get_le32(record + 4) - MT_RECORD_HEADER_SIZE, &b) &&
		mt_get_le32(b.kernel) == MT_KERNEL_SAMPLE);
}

void mt_branch_code_see(struct mt_branch_code *code, const struct mt_block *block, bool in_haste)
{
	size_t size;

	if (block->type == MT_CHUNK_STATE) {
		mt_told_maps_state(code->maps, block);
		return;
	}
	mt_stack_decoder_reset(code->decoder);
	for (size_t at = 0; at < block->used; at += size) {
		const uint8_t *record = block->bytes + at;

		size = mt_get_le32(record + 4);
		if (mt_told_map_is_one(record))
			keep_map(code, record, block->stream);
		else if (!in_haste)
			see_sample(code, record);
		else
			code->counts.passed += has_sample(record);
	}
}

/* ---- Looking up ---- */

static size_t find_in_map(struct mt_branch_code *code, const struct mt_image_map *map,
			  uint64_t from, uint64_t end)
{
	const struct mt_mapping *mapping = mt_image_map_find(map, from);
	size_t n;

	if (!mapping || mapping->image->kind != MT_IMAGE_FILE) {
		code->counts.nowhere += !mapping || mapping->image->kind == MT_IMAGE_ANONYMOUS;
		return 0;
	}
	n = (size_t)((end < mapping->end ? end : mapping->end) - from);
	if (mt_code_notes_count(code->notes) >= BLOCKS_MAX)
		code->counts.beyond++;
	else
		mt_code_notes_add(code->notes, mapping->image->id,
				  mt_mapping_file_offset(mapping, from), n);
	return n;
}

/* What lies past the end of a mapping is in another one, or not there. */
static void look_up(struct mt_branch_code *code, const struct place *place)
{
	const struct mt_image_map *map = mt_code_maps_find(code->maps, place->pid, place->time);
	uint64_t end = place->start + place->size, last = end - INSTRUCTION, from = place->start;
	size_t n = find_in_map(code, map, from, end);

	if (!n && from != last) /* it did not run from there */
		n = find_in_map(code, map, from = last, end);
	if (n && from + n < end && mt_image_map_find(map, from + n))
		(void)find_in_map(code, map, from + n, end);
}

static void look_up_places(struct mt_branch_code *code, uint64_t below)
{
	size_t left = 0;

	for (size_t i = 0; i < code->places.count; i++) {
		struct place place = code->places.items[i];

		if (place.time >= below)
			code->places.items[left++] = place;
		else
			look_up(code, &place);
	}
	code->places.count = left;
}

/* Applies what is due of the kept records, and closes the gap that it leaves. */
static void apply_kept(struct mt_branch_code *code, uint64_t below)
{
	size_t left = 0, used = 0;

	code->told.count = 0;
	if (!mt_array_reserve(&code->told, code->kept.count))
		return; /* maps are later what they are now */
	for (size_t i = 0; i < code->kept.count; i++) {
		const struct kept *kept = &code->kept.items[i];

		if (kept->time < below)
			code->told.items[code->told.count++] = (struct mt_told_map){
				kept->time, kept->stream, code->bytes.items + kept->at};
	}
	mt_told_maps_apply(code->told.items, code->told.count, &code->plan->events.items[0].decoded,
			   code->maps);
	for (size_t i = 0; i < code->kept.count; i++) {
		struct kept kept = code->kept.items[i];
		size_t size = mt_get_le32(code->bytes.items + kept.at + 4);

		if (kept.time < below)
			continue;
		memmove(code->bytes.items + used, code->bytes.items + kept.at, size);
		kept.at = used;
		used += size;
		code->kept.items[left++] = kept;
	}
	code->kept.count = left;
	code->bytes.count = used;
}

/* ---- Telling ---- */

static int compare_blocks(const void *a, const void *b)
{
	const struct mt_code_block *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* So many blocks of one image. */
static void offer(struct mt_branch_code *code, const struct mt_code_block *blocks, size_t count,
		  uint64_t *numbers)
{
	const struct mt_image *image = mt_image_set_get(code->images, blocks[0].image);
	const struct mt_known_file *file = mt_known_files_find(&code->files, &image->identity);

	if (!file) {
		code->counts.nowhere += count;
		return;
	}
	for (size_t i = 0; i < count; i++)
		numbers[i] = blocks[i].number;
	code->sink.offer(code->sink.context,
			 &(struct mt_branch_code_news){file->fd, &file->at, &file->record,
						       ++code->time, numbers, count});
}

static void tell(struct mt_branch_code *code)
{
	size_t count = mt_code_notes_count(code->notes) - code->offered, next;
	struct mt_code_block *blocks = malloc((count + 1) * sizeof(*blocks));
	uint64_t *numbers = malloc((count + 1) * sizeof(*numbers));

	if (blocks && numbers) {
		mt_code_notes_copy(code->notes, code->offered, count, blocks);
		code->offered += count;
		qsort(blocks, count, sizeof(*blocks), compare_blocks);
		for (size_t i = 0; i < count; i = next) {
			for (next = i; next < count && blocks[next].image == blocks[i].image;)
				next++;
			offer(code, blocks + i, next - i, numbers);
		}
	}
	free(blocks);
	free(numbers);
}

void mt_branch_code_settle(struct mt_branch_code *code, uint64_t below)
{
	apply_kept(code, below);
	look_up_places(code, below);
	mt_code_maps_settle(code->maps);
	if (below < code->due || below == UINT64_MAX)
		return;
	code->time = below > code->time ? below : code->time;
	tell(code);
	code->due = below + code->pause;
	code->pause = code->pause < LAST_NS / 2 ? code->pause * 2 : LAST_NS;
}

void mt_branch_code_finish(struct mt_branch_code *code)
{
	mt_branch_code_settle(code, UINT64_MAX);
	tell(code);
}

struct mt_branch_code_counts mt_branch_code_counts(const struct mt_branch_code *code)
{
	return code->counts;
}
