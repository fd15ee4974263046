/*
 * The set of images, with one image for each identity. Opens the ELF file of an image through the
 * sources on first use, and compares its build id with the recorded one. image_source.c finds the
 * files.
 */
#include "symbols/images/image.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/jitdump.h"
#include "symbols/carried/code_blocks.h"
#include "symbols/images/debug_file.h"

struct source {
	const struct mt_image_source *source;
	void *context;
};

/* Files that an image used before its build id was known; users may still borrow them. */
struct retired {
	struct mt_elf *elf, *code, *debug, *mini;
	uint8_t *mini_bytes;
	void *cfi;
	void (*cfi_destroy)(void *cfi);
};

/* A recorded path: the build id learned for the path alone, and its images without build id. */
struct known_path {
	uint8_t build_id[MT_BUILD_ID_MAX];
	size_t build_id_size;
	char *shown;	 /* the path with the name by which it was started, or NULL */
	char *run_as;	 /* name of the first process that ran it, or NULL */
	bool many_names; /* other processes had other names: `shown` is not used */
	/* in order of ids, linked by next_without_id; some may have a build id by now */
	struct mt_image *first, *last;
};

struct mt_image_set {
	MT_ARRAY(struct mt_image *) images;
	struct mt_strings *path_names;
	MT_ARRAY(struct known_path) paths; /* by number of the path in path_names */
	MT_ARRAY(struct source) sources;
	MT_ARRAY(struct retired) retired;
	struct mt_map64 index; /* hash of an identity, or the next free key -> id */
	const struct mt_elf_codec *codec;
	struct mt_span (*find_pieces)(void *context, const struct mt_image_identity *identity);
	void *pieces_context;
	struct mt_code_notes *notes; /* or NULL */
	pthread_mutex_t lock;	     /* held while an image is opened */
};

struct mt_image_set *mt_image_set_create(void)
{
	struct mt_image_set *set = mt_alloc(1, sizeof(*set));

	if (!set)
		return NULL;
	pthread_mutex_init(&set->lock, NULL);
	set->path_names = mt_strings_create();
	if (set->path_names)
		return set;
	mt_image_set_destroy(set);
	return NULL;
}

static void retired_deinit(struct retired *retired)
{
	if (retired->cfi_destroy)
		retired->cfi_destroy(retired->cfi);
	mt_elf_destroy(retired->elf);
	mt_elf_destroy(retired->code);
	mt_elf_destroy(retired->debug);
	mt_elf_destroy(retired->mini);
	free(retired->mini_bytes);
}

/* Moves the files out of the image. */
static struct retired image_take_bytes(struct mt_image *image)
{
	struct retired taken = {
		.elf = MT_TAKE(image->elf),
		.code = MT_TAKE(image->code),
		.debug = MT_TAKE(image->debug),
		.mini = MT_TAKE(image->mini),
		.mini_bytes = MT_TAKE(image->mini_bytes),
		.cfi = MT_TAKE(image->cfi),
		.cfi_destroy = MT_TAKE(image->cfi_destroy),
	};

	free(MT_TAKE(image->missing));
	free(MT_TAKE(image->found_at));
	free(MT_TAKE(image->debug_found_at));
	free(MT_TAKE(image->debug_refused));
	image->tried = image->debug_tried = image->code_tried = image->pieces_tried =
		image->unchecked = image->carried = false;
	return taken;
}

static void image_destroy(struct mt_image *image)
{
	struct retired bytes = image_take_bytes(image);

	retired_deinit(&bytes);
	free(image);
}

void mt_image_set_destroy(struct mt_image_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->images.count; i++)
		image_destroy(set->images.items[i]);
	for (size_t i = 0; i < set->retired.count; i++)
		retired_deinit(&set->retired.items[i]);
	for (size_t i = 0; i < set->paths.count; i++) {
		free(set->paths.items[i].shown);
		free(set->paths.items[i].run_as);
	}
	mt_array_deinit(&set->paths);
	mt_strings_destroy(set->path_names);
	mt_array_deinit(&set->images);
	mt_array_deinit(&set->retired);
	mt_array_deinit(&set->sources);
	mt_map64_deinit(&set->index);
	pthread_mutex_destroy(&set->lock);
	free(set);
}

bool mt_image_set_add_source(struct mt_image_set *set, const struct mt_image_source *source,
			     void *context)
{
	return mt_array_append(&set->sources, (struct source){source, context});
}

void mt_image_set_set_codec(struct mt_image_set *set, const struct mt_elf_codec *codec)
{
	set->codec = codec;
}

enum mt_image_kind mt_image_kind_of(const struct mt_image_identity *identity)
{
	if (identity->build_id_size && !strncmp(identity->path, "/memfd:", 7))
		return MT_IMAGE_FILE;
	return mt_image_kind_of_path(identity->path);
}

/* True if the paths and build ids are the same; without build ids, the paths and file numbers. */
static bool same_image(const struct mt_image_identity *a, const struct mt_image_identity *b,
		       bool by_build_id)
{
	if (strcmp(a->path, b->path) != 0)
		return false;
	if (by_build_id)
		return a->build_id_size == b->build_id_size &&
		       !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->device_major == b->device_major && a->device_minor == b->device_minor &&
	       a->inode == b->inode && a->inode_generation == b->inode_generation;
}

static uint64_t identity_hash(const struct mt_image_identity *identity, bool by_build_id)
{
	uint64_t numbers[] = {identity->device_major, identity->device_minor, identity->inode,
			      identity->inode_generation};
	uint64_t hash = mt_hash_bytes(identity->path, strlen(identity->path), by_build_id);

	if (by_build_id)
		return mt_hash_bytes(identity->build_id, identity->build_id_size, hash);
	return mt_hash_bytes(numbers, sizeof(numbers), hash);
}

/* Searches from the identity's hash on. NULL with the next free key if the identity is new. */
static struct mt_image *find_identity(const struct mt_image_set *set,
				      const struct mt_image_identity *identity, bool by_build_id,
				      uint64_t *key)
{
	uint64_t id;

	for (*key = identity_hash(identity, by_build_id); mt_map64_get(&set->index, *key, &id);
	     ++*key) {
		if (same_image(&set->images.items[id]->identity, identity, by_build_id))
			return set->images.items[id];
	}
	return NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Makes an image with a copy of identity, in which `path` replaces the path. Borrows `path`. */
static struct mt_image *image_create(const struct mt_image_identity *identity, const char *path)
{
	struct mt_image *image = mt_alloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->identity = *identity;
	if (image->identity.build_id_size > MT_BUILD_ID_MAX)
		image->identity.build_id_size = MT_BUILD_ID_MAX;
	image->basename = last_part(path);
	image->identity.path = path;
	return image;
}

/* Finds or adds a path; NULL out of memory. */
static struct known_path *path_get(struct mt_image_set *set, const char *path)
{
	uint32_t id = mt_strings_intern(set->path_names, path, strlen(path));

	return id == MT_STRING_NONE ? NULL : mt_array_at(&set->paths, id);
}

/* Gives the image the build id of its path, or lists the image until that build id is known. */
static void take_path_id(struct known_path *known, struct mt_image *image)
{
	if (image->identity.build_id_size)
		return;
	if (!known->build_id_size) {
		*(known->first ? &known->last->next_without_id : &known->first) = image;
		known->last = image;
	}
	memcpy(image->identity.build_id, known->build_id, known->build_id_size);
	image->identity.build_id_size = known->build_id_size;
}

bool mt_image_set_started(struct mt_image_set *set, const char *path, const char *name)
{
	struct known_path *known = path_get(set, path);

	if (known && known->shown)
		known->many_names |= strcmp(last_part(known->shown), name) != 0;
	else if (known &&
		 asprintf(&known->shown, "%.*s%s", (int)(last_part(path) - path), path, name) < 0)
		known->shown = NULL;
	return known && known->shown;
}

bool mt_image_set_run_as(struct mt_image_set *set, const char *path, const char *name)
{
	struct known_path *known = path_get(set, path);

	if (known && known->run_as)
		known->many_names |= strcmp(known->run_as, name) != 0;
	else if (known)
		known->run_as = mt_copy_string(name);
	return known && known->run_as;
}

const char *mt_image_shown(const struct mt_image *image)
{
	const struct known_path *known = path_get(image->set, image->identity.path);
	bool holds = known && known->shown && known->run_as && !known->many_names &&
		     !strcmp(last_part(known->shown), known->run_as);

	return holds ? known->shown : image->identity.path;
}

struct mt_image *mt_image_set_intern(struct mt_image_set *set,
				     const struct mt_image_identity *identity)
{
	uint64_t key;
	struct mt_image *image = find_identity(set, identity, identity->build_id_size, &key);
	struct known_path *known;

	if (image)
		return image;
	known = path_get(set, identity->path);
	if (!known || !mt_array_reserve(&set->images, set->images.count + 1))
		return NULL;
	image = image_create(identity,
			     mt_strings_get(set->path_names, (uint32_t)(known - set->paths.items)));
	if (!image)
		return NULL;
	if (!mt_map64_put(&set->index, key, set->images.count)) {
		image_destroy(image);
		return NULL;
	}
	image->id = (uint32_t)set->images.count;
	image->set = set;
	take_path_id(known, image);
	image->kind = mt_image_kind_of(&image->identity);
	set->images.items[set->images.count++] = image;
	return image;
}

size_t mt_image_set_count(const struct mt_image_set *set)
{
	return set->images.count;
}

struct mt_image *mt_image_set_get(const struct mt_image_set *set, uint32_t id)
{
	return id < set->images.count ? set->images.items[id] : NULL;
}

/* Compares build ids. NULL if they are the same, or none was recorded. */
static struct mt_error *check_build_id(const struct mt_image_identity *identity,
				       const struct mt_elf *elf, const char *found_at)
{
	char recorded[2 * MT_BUILD_ID_MAX + 1], found[2 * MT_BUILD_ID_MAX + 1];
	struct mt_span id = mt_elf_build_id(elf);

	if (!identity->build_id_size ||
	    mt_elf_has_build_id(elf, identity->build_id, identity->build_id_size))
		return NULL;
	mt_build_id_hex(identity->build_id, identity->build_id_size, recorded);
	mt_build_id_hex(id.bytes, id.size, found);
	return mt_error_create(MT_ERR_FORMAT, "%s: build id differs: recorded %s, file %s",
			       found_at, recorded, id.size ? found : "has none");
}

/* Appends an error's message to a line of reasons. Takes ownership of err. */
static void add_reason(char **reasons, struct mt_error *err)
{
	char *joined;

	if (!*reasons) {
		*reasons = strdup(err->message);
	} else if (asprintf(&joined, "%s; %s", *reasons, err->message) >= 0) {
		free(*reasons);
		*reasons = joined;
	}
	mt_error_destroy(err);
}

/* The same, but only for a file that exists and is the wrong one. Takes ownership of err. */
static void add_refusal(char **reasons, struct mt_error *err)
{
	if (err->kind == MT_ERR_FORMAT)
		add_reason(reasons, err);
	else
		mt_error_destroy(err);
}

/* Asks one source; *out and *found_at stay NULL if it has no matching file. */
static struct mt_error *ask_source(const struct source *from,
				   const struct mt_image_identity *identity, struct mt_elf **out,
				   char **found_at)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE char *at = NULL;
	struct mt_error *err = from->source->open(from->context, identity, &elf, &at);

	if (err || !elf)
		return err;
	err = check_build_id(identity, elf, at ? at : from->source->name);
	if (err)
		return err;
	*out = MT_TAKE(elf);
	*found_at = MT_TAKE(at);
	return NULL;
}

/*
 * The first matching ELF file of the sources, and whether it is carried; otherwise NULL, with
 * reasons in *reasons.
 */
static struct mt_elf *ask_sources(const struct mt_image *image, bool debug, bool ask_carried,
				  bool *carried, char **found_at, char **reasons)
{
	const struct mt_image_set *set = image->set;
	struct mt_elf *elf = NULL;
	struct mt_error *err;

	for (size_t i = 0; i < set->sources.count && !elf; i++) {
		const struct mt_image_source *source = set->sources.items[i].source;

		if (source->debug != debug || (source->carried && !ask_carried) ||
		    (source->whole && image->elf))
			continue;
		err = ask_source(&set->sources.items[i], &image->identity, &elf, found_at);
		if (err && image->elf)
			add_refusal(reasons, err);
		else if (err)
			add_reason(reasons, err);
		*carried = source->carried;
	}
	if (elf)
		mt_elf_set_codec(elf, set->codec);
	return elf;
}

static void image_open(struct mt_image *image)
{
	char *reasons = NULL;

	if (image->kind == MT_IMAGE_FILE || image->kind == MT_IMAGE_VDSO)
		image->elf = ask_sources(image, false, true, &image->carried, &image->found_at,
					 &reasons);
	if (image->elf) {
		image->unchecked = !image->identity.build_id_size;
		free(reasons);
	} else {
		image->missing = reasons ? reasons : strdup("not at hand");
	}
}

/* Calls find once for an image, under the set's lock; *tried is one of the image's flags. */
static void open_once(struct mt_image *image, bool *tried, void (*find)(struct mt_image *image))
{
	if (__atomic_load_n(tried, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&image->set->lock);
	if (!*tried) {
		find(image);
		__atomic_store_n(tried, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&image->set->lock);
}

struct mt_elf *mt_image_elf(struct mt_image *image)
{
	open_once(image, &image->tried, image_open);
	return image->elf;
}

/* Opens the file that the skeleton was made from; only a build id can prove that. */
static void image_open_code(struct mt_image *image)
{
	struct mt_image_identity own = image->identity;
	struct mt_span id = mt_elf_build_id(image->elf);
	char *reasons = NULL, *found_at = NULL;
	bool ignored;

	if (!id.size || id.size > MT_BUILD_ID_MAX)
		return;
	memcpy(image->identity.build_id, id.bytes, id.size);
	image->identity.build_id_size = id.size;
	image->code = ask_sources(image, false, false, &ignored, &found_at, &reasons);
	image->identity = own;
	free(reasons);
	free(found_at);
}

struct mt_elf *mt_image_file_elf(struct mt_image *image)
{
	if (!mt_image_elf(image) || !image->carried)
		return NULL;
	open_once(image, &image->code_tried, image_open_code);
	return image->code;
}

void mt_image_set_set_pieces(struct mt_image_set *set,
			     struct mt_span (*find)(void *context,
						    const struct mt_image_identity *identity),
			     void *context)
{
	set->find_pieces = find;
	set->pieces_context = context;
}

void mt_image_set_set_notes(struct mt_image_set *set, struct mt_code_notes *notes)
{
	set->notes = notes;
}

static void find_pieces(struct mt_image *image)
{
	image->pieces = image->set->find_pieces(image->set->pieces_context, &image->identity);
}

struct mt_span mt_image_pieces(struct mt_image *image)
{
	if (image->set->find_pieces)
		open_once(image, &image->pieces_tried, find_pieces);
	return image->pieces;
}

const uint8_t *mt_image_code(struct mt_image *image, uint64_t vaddr, size_t n, bool anywhere)
{
	struct mt_elf *elf = mt_image_elf(image), *file;
	const uint8_t *code = elf ? mt_elf_bytes_at(elf, vaddr, n) : NULL;

	if (!code && elf && image->carried)
		code = mt_code_blocks_find(mt_image_pieces(image), vaddr, n);
	if (!code && anywhere) {
		file = mt_image_file_elf(image);
		code = file ? mt_elf_bytes_at(file, vaddr, n) : NULL;
	}
	if (code && image->set->notes)
		mt_code_notes_add(image->set->notes, image->id, vaddr, n);
	return code;
}

/* True if the section is present with its bytes. A skeleton keeps headers of omitted sections. */
static bool has_bytes(const struct mt_elf *elf, const char *section)
{
	struct mt_elf_section_info info;
	size_t index = mt_elf_find_section(elf, section);

	return index && mt_elf_section_info(elf, index, &info) && info.type != SHT_NOBITS &&
	       info.size;
}

/* True if any of the skeletons has lines. */
static bool has_lines(struct mt_elf *elf)
{
	for (size_t i = 0; i < mt_elf_pieces(elf); i++) {
		const struct mt_elf *piece = mt_elf_piece(elf, i);

		if (has_bytes(piece, ".debug_info") || has_bytes(piece, ".zdebug_info"))
			return true;
	}
	return false;
}

/* True if a debug file has something that the image lacks. */
static bool is_useful(const struct mt_image *image, struct mt_elf *debug)
{
	return (!image->carried && mt_elf_symbol_count(debug, false)) || has_lines(debug);
}

/* Drops a useless debug file. */
static void drop_useless(struct mt_image *image)
{
	if (!image->debug || is_useful(image, image->debug))
		return;
	mt_elf_destroy(MT_TAKE(image->debug));
	free(MT_TAKE(image->debug_found_at));
}

/*
 * Opens the debug file by the build id of the file in use, which may be longer than the recorded
 * one. A carried image has all symbols, but the file that it was made from may have lines.
 */
static void open_by_build_id(struct mt_image *image, char **reasons)
{
	struct mt_image_identity own = image->identity;
	struct mt_span id = mt_elf_build_id(image->elf);
	bool ignored;

	if (!id.size)
		return;
	memcpy(image->identity.build_id, id.bytes, id.size);
	image->identity.build_id_size = id.size;
	for (int debug = 1; debug >= !image->carried && !image->debug; debug--) {
		image->debug = ask_sources(image, debug, !image->carried, &ignored,
					   &image->debug_found_at, reasons);
		drop_useless(image);
	}
	image->identity = own;
}

/* Opens the debug file by .gnu_debuglink, in the directory of the file and in debug directories. */
static void open_by_link(struct mt_image *image, char **reasons)
{
	const struct mt_image_set *set = image->set;
	struct mt_debug_link link;
	struct mt_error *err;

	if (image->carried || !image->found_at || !mt_debug_link_read(image->elf, &link))
		return;
	err = mt_debug_link_open(&link, image->elf, image->found_at, NULL, &image->debug,
				 &image->debug_found_at);
	for (size_t i = 0; i < set->sources.count && !image->debug; i++) {
		const struct source *from = &set->sources.items[i];

		if (from->source != &mt_image_source_build_id)
			continue;
		if (err)
			add_refusal(reasons, err);
		err = mt_debug_link_open(&link, image->elf, image->found_at,
					 from->context ? from->context : "/usr/lib/debug",
					 &image->debug, &image->debug_found_at);
	}
	if (err)
		add_refusal(reasons, err);
	if (image->debug)
		mt_elf_set_codec(image->debug, set->codec);
	drop_useless(image);
}

/* Opens files with symbols or lines that the image lacks. */
static void image_open_debug(struct mt_image *image)
{
	bool symbols = mt_elf_symbol_count(image->elf, false);
	char **reasons = &image->debug_refused;
	struct mt_error *err = NULL;

	if ((symbols || image->carried) && has_lines(image->elf))
		return;
	open_by_build_id(image, reasons);
	if (!image->debug)
		open_by_link(image, reasons);
	if (!symbols && (!image->debug || !mt_elf_symbol_count(image->debug, false)))
		err = mt_mini_symbols_open(image->elf, image->basename, &image->mini,
					   &image->mini_bytes);
	if (err)
		add_refusal(reasons, err);
}

/* Opens the image and its debug file on first use. */
static struct mt_elf *open_both(struct mt_image *image)
{
	struct mt_elf *elf = mt_image_elf(image);

	if (elf)
		open_once(image, &image->debug_tried, image_open_debug);
	return elf;
}

struct mt_elf *mt_image_symbols_elf(struct mt_image *image)
{
	struct mt_elf *elf = open_both(image);

	if (!elf || mt_elf_symbol_count(elf, false))
		return elf;
	if (image->debug && !image->carried && mt_elf_symbol_count(image->debug, false))
		return image->debug;
	return image->mini ? image->mini : elf;
}

struct mt_elf *mt_image_lines_elf(struct mt_image *image, const char **path)
{
	struct mt_elf *elf = open_both(image);

	*path = image->found_at;
	if (!elf || has_lines(elf))
		return elf;
	*path = image->debug_found_at;
	return image->debug && has_lines(image->debug) ? image->debug : NULL;
}

/* Sets the build id. Retires the files in use if they have another one. */
static void image_learn(struct mt_image *image, const struct mt_image_identity *identity)
{
	struct mt_image_set *set = image->set;
	struct mt_error *differs;
	struct retired *retired;

	memcpy(image->identity.build_id, identity->build_id, identity->build_id_size);
	image->identity.build_id_size = identity->build_id_size;
	image->kind = mt_image_kind_of(&image->identity);
	if (!image->tried)
		return;
	differs = image->elf ? check_build_id(identity, image->elf, "") : NULL;
	if (image->elf && !differs) {
		image->unchecked = false;
		return;
	}
	mt_error_destroy(differs);
	retired = mt_array_push(&set->retired);
	if (retired)
		*retired = image_take_bytes(image);
}

/* Does nothing for an image that has a build id. */
static void learn(struct mt_image_set *set, struct mt_image *image,
		  const struct mt_image_identity *identity)
{
	uint64_t key;

	if (image->identity.build_id_size)
		return;
	pthread_mutex_lock(&set->lock);
	image_learn(image, identity);
	pthread_mutex_unlock(&set->lock);
	/* Also finds the image by its build id from now on. Out of memory, there are two images. */
	if (!find_identity(set, identity, true, &key))
		(void)mt_map64_put(&set->index, key, image->id);
}

/* Sets the build id of all images of a path that lack one, now and later. */
static void learn_by_path(struct mt_image_set *set, const struct mt_image_identity *identity)
{
	struct known_path *known = path_get(set, identity->path);
	struct mt_image *image, *next;

	if (!known)
		return;
	memcpy(known->build_id, identity->build_id, identity->build_id_size);
	known->build_id_size = identity->build_id_size;
	image = MT_TAKE(known->first);
	for (; image; image = next) {
		next = MT_TAKE(image->next_without_id);
		learn(set, image, identity);
	}
}

void mt_image_set_learn_build_id(struct mt_image_set *set, const struct mt_image_identity *identity)
{
	struct mt_image *image;
	uint64_t key;

	if (!identity->build_id_size || identity->build_id_size > MT_BUILD_ID_MAX)
		return;
	if (!identity->inode) {
		learn_by_path(set, identity);
		return;
	}
	image = find_identity(set, identity, false, &key);
	if (image)
		learn(set, image, identity);
}

void *mt_image_set_cfi(struct mt_image *image, void *cfi, void (*destroy)(void *cfi))
{
	void *there = NULL;

	__atomic_store_n(&image->cfi_destroy, destroy, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(&image->cfi, &there, cfi, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return cfi;
	destroy(cfi);
	return there;
}
