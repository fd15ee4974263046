/*
 * Combines image sources, names of kernel and generated code, and the symbolizer for one report.
 */
#include "report/names/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/reading/carried.h"
#include "formats/records/record.h"
#include "report/names/carried_images.h"
#include "report/names/function_code.h"
#include "report/names/jit_sources.h"
#include "report/names/missing_names.h"
#include "report/stacks/frames.h"
#include "report/stacks/kernel_names.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"
#include "symbols/elf/elf.h"
#include "symbols/images/debuginfod.h"
#include "symbols/images/image.h"
#include "symbols/names/symbolize.h"

struct mt_naming {
	struct mt_jit_sources *jit;
	struct mt_kernel_names *kernel;
	struct mt_function_code *code;
	struct mt_image_set *images;
	struct mt_carried_images *carried;
	struct mt_symbolizer *symbolizer;
	const struct mt_directories *symfs;
	bool debuginfod;
	struct utsname host;   /* this host */
	char recorded_on[65];  /* the host of the current recording; "": not known */
	bool own_host;	       /* the current recording is from this host, */
	bool own_release;      /* and from the same release of the kernel */
	bool begun, elsewhere; /* elsewhere: an earlier recording was from another host */
	size_t refused;	       /* files of this host rejected because a recording is from another */
	struct mt_map64 problems; /* image id to index in problem_texts */
	MT_ARRAY(char *) problem_texts;
};

MT_DEFINE_CLEANUP(mt_naming, struct mt_naming)

/* True if this host's file or vdso may differ from the recorded one, which has no build id. */
static bool may_differ(const struct mt_naming *naming, const struct mt_image_identity *identity)
{
	if (mt_image_kind_of_path(identity->path) == MT_IMAGE_VDSO)
		return naming->elsewhere || !naming->own_host || !naming->own_release;
	return (naming->elsewhere || !naming->own_host) && !access(identity->path, F_OK);
}

static struct mt_error *open_here(void *context, const struct mt_image_identity *identity,
				  struct mt_elf **out, char **found_at)
{
	struct mt_naming *naming = context;
	bool vdso = mt_image_kind_of_path(identity->path) == MT_IMAGE_VDSO;

	if (!identity->build_id_size) {
		if (naming->symfs->count && !vdso)
			return NULL;
		if (may_differ(naming, identity)) {
			naming->refused += naming->elsewhere || !naming->own_host;
			return mt_error_create(MT_ERR_NOT_FOUND,
					       "no build id was recorded, and this is another "
					       "%s",
					       naming->own_host ? "kernel" : "host");
		}
	}
	return mt_image_source_local.open(NULL, identity, out, found_at);
}

static const struct mt_image_source here = {.name = "local file", .open = open_here};

/* Adds sources in the order in which they are tried. Folders are borrowed from the options. */
static void add_sources(struct mt_naming *naming, const struct mt_naming_options *options)
{
	struct mt_image_set *images = naming->images;
	struct mt_carried_images *carried = naming->carried;
	char *debug_dir = (char *)options->debug_dir;

	if (!options->prefer_local)
		mt_image_set_add_source(images, &mt_image_source_carried, carried);
	for (size_t i = 0; i < options->symfs->count; i++)
		mt_image_set_add_source(images, &mt_image_source_below,
					(char *)options->symfs->items[i]);
	mt_image_set_add_source(images, &here, naming);
	if (debug_dir) {
		mt_image_set_add_source(images, &mt_image_source_below, debug_dir);
		mt_image_set_add_source(images, &mt_image_source_build_id, debug_dir);
	}
	mt_image_set_add_source(images, &mt_image_source_build_id, NULL);
	mt_image_set_add_source(images, &mt_image_source_carried, carried);
	mt_image_set_add_source(images, &mt_image_source_carried_names, carried);
	if (options->debuginfod) {
		mt_image_set_add_source(images, &mt_image_source_debuginfod_images,
					options->debuginfod);
		mt_image_set_add_source(images, &mt_image_source_debuginfod, options->debuginfod);
	}
}

static struct mt_error *open_images(struct mt_naming *naming,
				    const struct mt_naming_options *options)
{
	naming->images = mt_image_set_create();
	naming->carried = mt_carried_images_create();
	add_sources(naming, options);
	mt_image_set_set_codec(naming->images, &mt_elf_codec_all);
	mt_image_set_set_pieces(naming->images, mt_carried_images_code, naming->carried);
	naming->jit = mt_jit_sources_create(
		&(struct mt_jit_options){.images = naming->images,
					 .symfs = options->symfs,
					 .prefer_local = options->prefer_local,
					 .demangle = options->demangle,
					 .lines = options->lines});
	return mt_kernel_names_create(
		&(struct mt_kernel_names_options){.images = naming->images,
						  .kallsyms = options->kallsyms,
						  .prefer_local = options->prefer_local,
						  .demangle = options->demangle},
		&naming->kernel);
}

struct mt_error *mt_naming_create(const struct mt_naming_options *options, struct mt_naming **out)
{
	MT_CLEANUP(mt_naming_destroy_p) struct mt_naming *naming = mt_alloc(1, sizeof(*naming));
	struct mt_symbolizer_options symbolizer = {.demangle = options->demangle,
						   .inlined = options->inlined,
						   .lines = options->lines};
	struct mt_error *err;

	naming->symfs = options->symfs;
	uname(&naming->host);
	naming->debuginfod = options->debuginfod;
	err = open_images(naming, options);
	if (err)
		return err;
	naming->symbolizer = mt_symbolizer_create(&symbolizer);
	naming->code = mt_function_code_create(naming->images, mt_naming_name, naming);
	*out = MT_TAKE(naming);
	return NULL;
}

void mt_naming_destroy(struct mt_naming *naming)
{
	if (!naming)
		return;
	mt_symbolizer_destroy(naming->symbolizer);
	mt_function_code_destroy(naming->code);
	mt_kernel_names_destroy(naming->kernel);
	mt_jit_sources_destroy(naming->jit);
	mt_image_set_destroy(naming->images);
	mt_carried_images_destroy(naming->carried);
	mt_map64_deinit(&naming->problems);
	for (size_t i = 0; i < naming->problem_texts.count; i++)
		free(naming->problem_texts.items[i]);
	mt_array_deinit(&naming->problem_texts);
	free(naming);
}

void mt_naming_add_carried(struct mt_naming *naming, size_t recording, struct mt_carried *carried)
{
	mt_carried_images_add(naming->carried, carried);
	mt_jit_sources_add(naming->jit, recording, carried);
	mt_kernel_names_add(naming->kernel, recording, carried);
}

void mt_naming_begin(struct mt_naming *naming)
{
	naming->elsewhere |= naming->begun && !naming->own_host;
	naming->begun = true;
	naming->own_host = naming->own_release = false;
}

void mt_naming_set_fact(struct mt_naming *naming, const char *key, const char *value)
{
	if (!strcmp(key, "boot-id") && mt_kernel_names_is_this_boot(naming->kernel, value))
		naming->own_host = naming->own_release = true;
	if (!strcmp(key, "kernel"))
		naming->own_release |= !strcmp(value, naming->host.release);
	if (strcmp(key, "host") != 0)
		return;
	naming->own_host |= !strcmp(value, naming->host.nodename);
	snprintf(naming->recorded_on, sizeof(naming->recorded_on), "%s", value);
}

struct mt_kernel_names *mt_naming_kernel(const struct mt_naming *naming)
{
	return naming->kernel;
}

struct mt_code_reader mt_naming_code(const struct mt_naming *naming)
{
	return mt_function_code_reader(naming->code);
}

struct mt_jit_sources *mt_naming_jit(struct mt_naming *naming)
{
	return naming->jit;
}

uint32_t mt_naming_kept(const struct mt_naming *naming, const struct mt_image *image)
{
	return mt_carried_images_kept(naming->carried, &image->identity);
}

struct mt_image_set *mt_naming_images(struct mt_naming *naming)
{
	return naming->images;
}

static void keep_problem(struct mt_naming *naming, uint32_t image, const struct mt_text *problem)
{
	mt_map64_put(&naming->problems, image, naming->problem_texts.count);
	mt_array_append(&naming->problem_texts, mt_copy_bytes(problem->bytes, problem->size));
}

void mt_naming_add_image(struct mt_naming *naming, const struct mt_image_record *record)
{
	MT_CLEANUP_FREE char *path =
		mt_copy_bytes(record->path.bytes ? record->path.bytes : "", record->path.size);
	struct mt_image_identity identity = {
		.path = path,
		.device_major = record->major,
		.device_minor = record->minor,
		.inode = record->inode,
	};
	MT_CLEANUP_FREE char *started = mt_copy_bytes(
		record->started.bytes ? record->started.bytes : "", record->started.size);
	const struct mt_image *image;

	if (*started)
		mt_image_set_started(naming->images, path, started);
	/*
	 * MMAP2 records name an image without its build id. So it is interned without the build id,
	 * which is set afterwards. Build id records of perf have only paths.
	 */
	if (record->inode || record->problem.size) {
		image = mt_image_set_intern(naming->images, &identity);
		if (record->problem.size)
			keep_problem(naming, image->id, &record->problem);
	}
	if (record->build_id.size && record->build_id.size <= MT_BUILD_ID_MAX) {
		memcpy(identity.build_id, record->build_id.bytes, record->build_id.size);
		identity.build_id_size = record->build_id.size;
		mt_image_set_learn_build_id(naming->images, &identity);
	}
}

const struct mt_symbol *mt_naming_name(void *context, const struct mt_frame_key *key)
{
	struct mt_naming *naming = context;
	struct mt_image *image = NULL;
	const struct mt_symbol *named;

	if (key->image != MT_FRAME_NO_IMAGE)
		image = mt_image_set_get(naming->images, key->image);
	named = mt_jit_sources_name(naming->jit, image, key->offset);
	if (!named && key->flags & MT_FRAME_IN_KERNEL)
		named = mt_kernel_names_name(naming->kernel, key);
	return named ? named : mt_symbolize(naming->symbolizer, image, key->offset);
}

const char *mt_naming_lines_problem(const struct mt_naming *naming, const char **path)
{
	const struct mt_image *image;
	const char *problem = mt_symbolizer_lines_problem(naming->symbolizer, &image);

	if (problem)
		*path = image->identity.path;
	return problem;
}

void mt_naming_print_missing(const struct mt_naming *naming, const char *prefix, FILE *to)
{
	size_t lost = mt_symbolizer_lost(naming->symbolizer) + mt_kernel_names_lost(naming->kernel);

	if (naming->refused) {
		fprintf(to, "%srecorded on ", prefix);
		mt_text_print_clean(*naming->recorded_on ? naming->recorded_on : "an unnamed host",
				    to);
		fprintf(to,
			", and this is %s: %zu file%s here that no build id vouches for "
			"%s not used; --symfs DIR says where that host's are\n",
			naming->host.nodename, naming->refused, naming->refused == 1 ? "" : "s",
			naming->refused == 1 ? "is" : "are");
	}
	if (lost)
		fprintf(to, "%sout of memory: %zu names or tables of names are missing\n", prefix,
			lost);
	mt_missing_names_print(naming->symbolizer, naming->debuginfod, prefix, to);
}

static int compare_images(const void *a, const void *b)
{
	const struct mt_facts_image *x = a, *y = b;

	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Reports the sources of an available image's unwind tables, names and lines. */
static void report_sources(struct mt_image *image, struct mt_facts_image *entry)
{
	struct mt_elf *elf = mt_image_elf(image), *symbols = mt_image_symbols_elf(image), *lines;
	const char *own = image->carried ? "carried" : "file", *path;

	lines = mt_image_lines_elf(image, &path);
	if (mt_elf_section(elf, ".eh_frame").bytes || mt_elf_section(elf, ".debug_frame").bytes)
		entry->unwind = own;
	if (symbols != elf)
		entry->names = "debug file";
	else if (mt_elf_symbol_count(elf, false) || mt_elf_symbol_count(elf, true))
		entry->names = own;
	if (lines)
		entry->lines = lines == elf ? own : image->carried ? "file" : "debug file";
}

/* The missing parts that a debuginfod server may have; NULL if it cannot be used. */
static const char *report_fetch(struct mt_image *image)
{
	struct mt_elf *elf = mt_image_elf(image);
	const char *path;

	if (image->kind != MT_IMAGE_FILE || !mt_debuginfod_may_know(image))
		return NULL;
	if (!elf)
		return "file and debug file";
	return mt_elf_symbol_count(mt_image_symbols_elf(image), false) &&
			       mt_image_lines_elf(image, &path)
		       ? NULL
		       : "debug file";
}

/* Writes a build id in hex. A build id of Go is text, of which only the end is known. */
static void write_build_id(const struct mt_image_identity *identity,
			   char out[2 * MT_BUILD_ID_MAX + 1])
{
	if (mt_is_go_build_id(identity->build_id, identity->build_id_size)) {
		snprintf(out, 2 * MT_BUILD_ID_MAX + 1, "go:..%.*s", (int)identity->build_id_size,
			 (const char *)identity->build_id);
		return;
	}
	for (size_t i = 0; i < identity->build_id_size; i++)
		snprintf(out + 2 * i, 3, "%02x", identity->build_id[i]);
}

static void list_image(struct mt_naming *naming, uint32_t id, uint64_t frames,
		       struct mt_facts *facts)
{
	struct mt_image *image = mt_image_set_get(naming->images, id);
	struct mt_facts_image *entry;
	uint64_t problem;

	if (image->kind != MT_IMAGE_FILE && image->kind != MT_IMAGE_VDSO)
		return;
	entry = mt_array_push(&facts->images);
	entry->path = image->identity.path;
	entry->frames = frames;
	entry->by_path = !image->identity.inode;
	write_build_id(&image->identity, entry->build_id);
	if (!mt_image_elf(image))
		entry->missing = image->missing ? image->missing : "not at hand";
	else
		report_sources(image, entry);
	entry->found_at = image->found_at;
	entry->refused = image->debug_refused;
	if (!naming->debuginfod)
		entry->fetch = report_fetch(image);
	if (mt_map64_get(&naming->problems, id, &problem))
		entry->problem = naming->problem_texts.items[problem];
}

/* Orders an image known only by its path after the same image with device and inode. */
static int compare_paths(const void *a, const void *b)
{
	const struct mt_facts_image *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	order = order ? order : strcmp(x->build_id, y->build_id);
	return order ? order : x->by_path - y->by_path;
}

/* Merges an image known only by its path with the same image that has device and inode. */
static void merge_images(struct mt_facts *facts)
{
	struct mt_facts_image *items = facts->images.items;
	size_t kept = 0;

	qsort(items, facts->images.count, sizeof(*items), compare_paths);
	for (size_t i = 0; i < facts->images.count; i++) {
		struct mt_facts_image *last = kept ? &items[kept - 1] : NULL;

		if (last && items[i].by_path && !strcmp(last->path, items[i].path) &&
		    !strcmp(last->build_id, items[i].build_id))
			last->frames += items[i].frames;
		else
			items[kept++] = items[i];
	}
	facts->images.count = kept;
	qsort(items, kept, sizeof(*items), compare_images);
}

void mt_naming_list_images(struct mt_naming *naming, const struct mt_frames *frames,
			   const struct mt_map64 *code, struct mt_facts *facts)
{
	size_t count = mt_image_set_count(naming->images);
	MT_CLEANUP_FREE uint64_t *used = mt_alloc(count + 1, sizeof(*used));
	uint64_t mapped;

	for (size_t i = 0; frames && i < mt_frames_count(frames); i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, (uint32_t)i);

		if (key->image < count)
			used[key->image]++;
	}
	for (uint32_t id = 0; id < count; id++) {
		bool wanted = frames ? used[id] : mt_map64_get(code, id, &mapped);

		if (wanted)
			list_image(naming, id, used[id], facts);
	}
	mt_jit_sources_list(naming->jit, facts);
	if (facts->images.count)
		merge_images(facts);
}
