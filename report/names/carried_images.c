/*
 * Finds the carried image with a given identity: by build id if there is one, else by path, device
 * and inode.
 */
#include "report/names/carried_images.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/reading/carried.h"
#include "symbols/carried/code_blocks.h"
#include "symbols/images/image.h"

/* One more carried file with the same identity. `content` is its index in `from`. */
struct further {
	struct mt_carried *from;
	size_t content;
};

struct entry {
	struct mt_carried *from;
	size_t content;
	const struct mt_file_record *fields;
	/*
	 * More carried files with this identity: of code, or of an image with only sampled parts
	 * (MT_KEPT_SEEN). Code is merged on first use; the parts of an image are opened together.
	 */
	MT_ARRAY(struct further) further;
	uint32_t kept;
	struct mt_span whole;
	uint8_t *merged; /* code merged from several files; NULL: not merged, or only one file */
	bool tried;
};

struct listing {
	MT_ARRAY(struct entry) entries;
	struct mt_map64 index; /* hash of an identity, or the next free key -> index in entries */
};

struct mt_carried_images {
	struct listing images, code;
};

struct mt_carried_images *mt_carried_images_create(void)
{
	return mt_alloc(1, sizeof(struct mt_carried_images));
}

static void listing_deinit(struct listing *listing)
{
	for (size_t i = 0; i < listing->entries.count; i++) {
		mt_array_deinit(&listing->entries.items[i].further);
		free(listing->entries.items[i].merged);
	}
	mt_array_deinit(&listing->entries);
	mt_map64_deinit(&listing->index);
}

void mt_carried_images_destroy(struct mt_carried_images *images)
{
	if (!images)
		return;
	listing_deinit(&images->images);
	listing_deinit(&images->code);
	free(images);
}

static bool is_image(const struct mt_file_record *fields)
{
	return fields->kind == MT_FILE_SKELETON || fields->kind == MT_FILE_VDSO;
}

static struct mt_text text_of(const void *bytes, size_t size)
{
	return (struct mt_text){.bytes = bytes, .size = size};
}

/* An identity, from a record or an image. */
struct key {
	struct mt_text build_id, path;
	uint64_t numbers[4];
};

static struct key key_of_fields(const struct mt_file_record *fields)
{
	return (struct key){fields->build_id,
			    fields->path,
			    {fields->major, fields->minor, fields->inode,
			     fields->inode_generation}};
}

static struct key key_of_identity(const struct mt_image_identity *identity)
{
	return (struct key){text_of(identity->build_id, identity->build_id_size),
			    text_of(identity->path, strlen(identity->path)),
			    {identity->device_major, identity->device_minor, identity->inode,
			     identity->inode_generation}};
}

static bool same_text(const struct mt_text *a, const struct mt_text *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->bytes, b->bytes, a->size));
}

/* MMAP2 records have the inode generation; MAP records have 0, which matches any. */
static bool same_key(const struct key *a, const struct key *b)
{
	if (!same_text(&a->build_id, &b->build_id))
		return false;
	if (a->build_id.size)
		return true;
	return same_text(&a->path, &b->path) && !memcmp(a->numbers, b->numbers, 3 * 8) &&
	       (a->numbers[3] == b->numbers[3] || !a->numbers[3] || !b->numbers[3]);
}

static uint64_t key_hash(const struct key *key)
{
	const struct mt_text *text = key->build_id.size ? &key->build_id : &key->path;

	return mt_hash_bytes(text->bytes, text->size, key->build_id.size ? 1 : key->numbers[2]);
}

static struct entry *find(const struct listing *listing, const struct key *key, uint64_t *slot)
{
	uint64_t i;

	for (*slot = key_hash(key); mt_map64_get(&listing->index, *slot, &i); ++*slot) {
		struct key there = key_of_fields(listing->entries.items[i].fields);

		if (same_key(&there, key))
			return &listing->entries.items[i];
	}
	return NULL;
}

/*
 * True if the file has only the sampled parts of an image. All such files of an image are used;
 * otherwise only the first complete one is.
 */
static bool seen_alone(const struct mt_file_record *fields)
{
	return fields->kind == MT_FILE_SKELETON && fields->kept & MT_KEPT_SEEN;
}

/* Adds a carried file to the entry with its identity. A complete image needs no other file. */
static void add_to(struct entry *entry, struct mt_carried *carried, size_t content)
{
	const struct mt_file_record *fields = mt_carried_get(carried, content);
	bool code = fields->kind == MT_FILE_CODE;

	if (!code && !seen_alone(entry->fields))
		return;
	if (!code && !seen_alone(fields)) {
		entry->further.count = 0; /* replaced by the complete image */
		entry->from = carried;
		entry->content = content;
		entry->fields = fields;
		entry->kept = fields->kept;
		return;
	}
	mt_array_append(&entry->further, (struct further){carried, content});
	entry->kept |= fields->kept;
}

static void add(struct mt_carried_images *images, struct mt_carried *carried, size_t content)
{
	const struct mt_file_record *fields = mt_carried_get(carried, content);
	bool code = fields->kind == MT_FILE_CODE;
	struct listing *listing = code ? &images->code : &images->images;
	struct key key = key_of_fields(fields);
	struct entry *entry;
	uint64_t slot;

	if (!code && !is_image(fields))
		return;
	entry = find(listing, &key, &slot);
	if (entry) {
		add_to(entry, carried, content);
		return;
	}
	mt_map64_put(&listing->index, slot, listing->entries.count);
	mt_array_append(&listing->entries, (struct entry){.from = carried,
							  .content = content,
							  .fields = fields,
							  .kept = fields->kept});
}

void mt_carried_images_add(struct mt_carried_images *images, struct mt_carried *carried)
{
	for (size_t i = 0; i < mt_carried_count(carried); i++)
		add(images, carried, i);
}

uint32_t mt_carried_images_kept(const struct mt_carried_images *images,
				const struct mt_image_identity *identity)
{
	struct key key = key_of_identity(identity);
	uint64_t slot;
	const struct entry *entry = find(&images->images, &key, &slot);

	return entry ? entry->kept : 0;
}

static struct mt_span content_of(struct mt_carried *from, size_t content)
{
	struct mt_span span = {.bytes = mt_carried_bytes(from, content)};

	span.size = span.bytes ? mt_carried_get(from, content)->size : 0;
	return span;
}

/* The bytes of carried file i of an entry; empty if they are damaged. */
static struct mt_span nth(const struct entry *entry, size_t i)
{
	const struct further *further = i ? &entry->further.items[i - 1] : NULL;

	return further ? content_of(further->from, further->content)
		       : content_of(entry->from, entry->content);
}

/* The bytes of all carried files of an entry. The caller frees the array. */
static struct mt_span *all_of(const struct entry *entry)
{
	struct mt_span *spans = mt_alloc(entry->further.count + 1, sizeof(*spans));

	for (size_t i = 0; i <= entry->further.count; i++)
		spans[i] = nth(entry, i);
	return spans;
}

static void drop_all(const struct entry *entry)
{
	mt_carried_drop(entry->from, entry->content);
	for (size_t i = 0; i < entry->further.count; i++)
		mt_carried_drop(entry->further.items[i].from, entry->further.items[i].content);
}

/* Sets the code of an entry; merges it if the entry has several carried files. */
static void merge_code(struct entry *entry)
{
	MT_CLEANUP_FREE struct mt_span *spans = NULL;

	entry->tried = true;
	if (!entry->further.count) {
		entry->whole = nth(entry, 0);
		return;
	}
	spans = all_of(entry);
	if (mt_code_blocks_merge(spans, entry->further.count + 1, &entry->merged,
				 &entry->whole.size))
		entry->whole.bytes = entry->merged;
	drop_all(entry);
}

struct mt_span mt_carried_images_code(void *context, const struct mt_image_identity *identity)
{
	struct mt_carried_images *images = context;
	struct key key = key_of_identity(identity);
	uint64_t slot;
	struct entry *entry = find(&images->code, &key, &slot);

	if (!entry)
		return (struct mt_span){0};
	if (!entry->tried)
		merge_code(entry);
	return entry->whole;
}

static struct mt_error *open_entry(struct entry *entry, struct mt_elf **out, char **found_at)
{
	MT_CLEANUP_FREE struct mt_span *spans = all_of(entry);
	struct mt_error *err;

	err = entry->fields->kind == MT_FILE_VDSO && spans[0].bytes
		      ? mt_elf_open_memory(spans[0].bytes, spans[0].size, "carried vdso", out)
		      : mt_elf_open_pieces(spans, entry->further.count + 1, "carried image", out);
	if (!err)
		*found_at = mt_copy_string(
			entry->kept & MT_KEPT_SEEN
				? "carried in the recording, as far as samples show it"
				: "carried in the recording");
	return err;
}

static struct mt_error *open_kept(const struct mt_carried_images *images,
				  const struct mt_image_identity *identity, bool unwind,
				  struct mt_elf **out, char **found_at)
{
	struct key key = key_of_identity(identity);
	uint64_t slot;
	struct entry *entry = find(&images->images, &key, &slot);

	if (!entry || !(entry->kept & MT_KEPT_UNWIND) == unwind)
		return NULL;
	return open_entry(entry, out, found_at);
}

static struct mt_error *open_carried(void *context, const struct mt_image_identity *identity,
				     struct mt_elf **out, char **found_at)
{
	return open_kept(context, identity, true, out, found_at);
}

static struct mt_error *open_names(void *context, const struct mt_image_identity *identity,
				   struct mt_elf **out, char **found_at)
{
	return open_kept(context, identity, false, out, found_at);
}

const struct mt_image_source mt_image_source_carried = {
	.name = "carried in the recording", .carried = true, .open = open_carried};
const struct mt_image_source mt_image_source_carried_names = {
	.name = "carried in the recording", .carried = true, .open = open_names};
