/*
 * Puts image sources, kernel symbols and the symbolizer together for one report.
 */
#include "report/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/carried.h"
#include "formats/record.h"
#include "report/carried_images.h"
#include "report/facts.h"
#include "report/frames.h"
#include "report/jit_names.h"
#include "report/jitdumps.h"
#include "report/missing_names.h"
#include "symbols/debuginfod.h"
#include "symbols/elf.h"
#include "symbols/image.h"
#include "symbols/kernel.h"
#include "symbols/symbolize.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define KALLSYMS "/proc/kallsyms"

/* The kernel's names as a recording carries them. */
struct carried_kernel {
	size_t recording;
	struct mt_carried *carried;
	size_t content;
	uint32_t image;
	bool local; /* this machine's are preferred, and are of the same boot */
	bool tried;
	struct mt_kernel_symbols *symbols;
	struct mt_symbolizer *symbolizer;
};

struct mt_naming {
	struct mt_jit_names *jit;
	struct mt_jitdumps *dumps;
	MT_ARRAY(struct carried_kernel) kernels;
	struct carried_kernel *present; /* of the recording that is read; NULL: it has none */
	bool prefer_local;
	struct mt_image_set *images;
	struct mt_carried_images *carried;
	struct mt_symbolizer *symbolizer;
	struct mt_pool *pool;
	bool demangle, debuginfod;
	/*
	 * Reading kernel symbols takes longer than a small report: done for the first kernel frame.
	 */
	bool kernel_tried;
	struct mt_kernel_symbols *kernel;
	struct mt_symbolizer *kernel_symbolizer;
	char *kernel_problem; /* why kernel is NULL */
	bool any_boot;	      /* kernel came from a file that the user named */
	char boot_id[64];     /* this machine's */
	uint32_t kernel_image;
	struct mt_map64 problems; /* image id to index in problem_texts */
	MT_ARRAY(char *) problem_texts;
};

MT_DEFINE_CLEANUP(mt_naming, struct mt_naming)

static void read_boot_id(struct mt_naming *naming)
{
	MT_CLEANUP_FCLOSE FILE *file = fopen(BOOT_ID, "re");

	if (file && fgets(naming->boot_id, sizeof(naming->boot_id), file))
		naming->boot_id[strcspn(naming->boot_id, "\n")] = '\0';
}

/* Reads the symbols and makes the symbolizer that knows them; an error leaves both NULL. */
static struct mt_error *read_kernel(struct mt_naming *naming, const char *path)
{
	struct mt_symbolizer_options options = {.demangle = naming->demangle};
	struct mt_error *err = mt_kernel_symbols_read(path, &naming->kernel);

	naming->kernel_tried = true;
	if (err)
		return err;
	options.kernel = naming->kernel;
	naming->kernel_symbolizer = mt_symbolizer_create(&options);
	return naming->kernel_symbolizer ? NULL : mt_error_nomem();
}

/* This machine's, once. */
static void try_kernel(struct mt_naming *naming)
{
	struct mt_error *err = naming->kernel_tried ? NULL : read_kernel(naming, KALLSYMS);

	if (err)
		naming->kernel_problem = strdup(err->message);
	mt_error_destroy(err);
}

/* In the order in which they are asked; contexts are the options' strings. */
static bool add_sources(struct mt_image_set *images, const struct mt_naming_options *options,
			struct mt_carried_images *carried)
{
	char *symfs = (char *)options->symfs, *debug_dir = (char *)options->debug_dir;

	if (!options->prefer_local &&
	    !mt_image_set_add_source(images, &mt_image_source_carried, carried))
		return false;
	if (symfs && !mt_image_set_add_source(images, &mt_image_source_below, symfs))
		return false;
	if (!mt_image_set_add_source(
		    images, symfs ? &mt_image_source_vouched : &mt_image_source_local, NULL))
		return false;
	if (debug_dir && (!mt_image_set_add_source(images, &mt_image_source_below, debug_dir) ||
			  !mt_image_set_add_source(images, &mt_image_source_build_id, debug_dir)))
		return false;
	if (!mt_image_set_add_source(images, &mt_image_source_build_id, NULL) ||
	    !mt_image_set_add_source(images, &mt_image_source_carried, carried))
		return false;
	if (!mt_image_set_add_source(images, &mt_image_source_carried_names, carried))
		return false;
	return !options->debuginfod ||
	       (mt_image_set_add_source(images, &mt_image_source_debuginfod_images,
					options->debuginfod) &&
		mt_image_set_add_source(images, &mt_image_source_debuginfod, options->debuginfod));
}

static struct mt_error *open_images(struct mt_naming *naming,
				    const struct mt_naming_options *options)
{
	struct mt_image_identity kernel = {.path = "[kernel.kallsyms]"};
	const struct mt_image *image;

	naming->images = mt_image_set_create();
	naming->carried = mt_carried_images_create();
	if (!naming->images || !naming->carried ||
	    !add_sources(naming->images, options, naming->carried))
		return mt_error_nomem();
	mt_image_set_set_codec(naming->images, &mt_elf_codec_all);
	mt_image_set_set_pieces(naming->images, mt_carried_images_code, naming->carried);
	naming->jit = mt_jit_names_create(naming->images, options->prefer_local);
	naming->dumps = mt_jitdumps_create(
		&(struct mt_jitdumps_options){.images = naming->images,
					      .symfs = options->symfs,
					      .prefer_local = options->prefer_local,
					      .demangle = options->demangle,
					      .lines = options->lines});
	if (!naming->jit || !naming->dumps)
		return mt_error_nomem();
	image = mt_image_set_intern(naming->images, &kernel);
	if (!image)
		return mt_error_nomem();
	naming->kernel_image = image->id;
	return NULL;
}

struct mt_error *mt_naming_create(const struct mt_naming_options *options, struct mt_naming **out)
{
	MT_CLEANUP(mt_naming_destroy_p) struct mt_naming *naming = calloc(1, sizeof(*naming));
	struct mt_symbolizer_options symbolizer = {.demangle = options->demangle,
						   .inlined = options->inlined,
						   .lines = options->lines};
	struct mt_error *err;

	if (!naming)
		return mt_error_nomem();
	naming->pool = options->pool;
	naming->demangle = options->demangle;
	naming->debuginfod = options->debuginfod;
	naming->any_boot = options->kallsyms;
	naming->prefer_local = options->prefer_local;
	read_boot_id(naming);
	err = options->kallsyms ? read_kernel(naming, options->kallsyms) : NULL;
	err = err ? err : open_images(naming, options);
	if (err)
		return err;
	naming->symbolizer = mt_symbolizer_create(&symbolizer);
	if (!naming->symbolizer)
		return mt_error_nomem();
	*out = MT_TAKE(naming);
	return NULL;
}

void mt_naming_destroy(struct mt_naming *naming)
{
	if (!naming)
		return;
	mt_symbolizer_destroy(naming->symbolizer);
	mt_symbolizer_destroy(naming->kernel_symbolizer);
	mt_kernel_symbols_destroy(naming->kernel);
	for (size_t i = 0; i < naming->kernels.count; i++) {
		mt_symbolizer_destroy(naming->kernels.items[i].symbolizer);
		mt_kernel_symbols_destroy(naming->kernels.items[i].symbols);
	}
	mt_array_deinit(&naming->kernels);
	mt_jit_names_destroy(naming->jit);
	mt_jitdumps_destroy(naming->dumps);
	mt_image_set_destroy(naming->images);
	mt_carried_images_destroy(naming->carried);
	mt_map64_deinit(&naming->problems);
	for (size_t i = 0; i < naming->problem_texts.count; i++)
		free(naming->problem_texts.items[i]);
	mt_array_deinit(&naming->problem_texts);
	free(naming->kernel_problem);
	free(naming);
}

/* The first content of kernel symbols; their image is the recording's own. */
static bool add_kernel(struct mt_naming *naming, size_t recording, struct mt_carried *carried)
{
	struct mt_image_identity identity = {.path = "[kernel.kallsyms]", .inode = recording + 1};
	const struct mt_image *image;
	struct carried_kernel *kernel;

	for (size_t i = 0; i < mt_carried_count(carried); i++) {
		if (mt_carried_get(carried, i)->kind != MT_FILE_KERNEL_SYMBOLS)
			continue;
		image = mt_image_set_intern(naming->images, &identity);
		kernel = image ? mt_array_push(&naming->kernels) : NULL;
		if (!kernel)
			return false;
		*kernel = (struct carried_kernel){.recording = recording,
						  .carried = carried,
						  .content = i,
						  .image = image->id};
		return true;
	}
	return true;
}

bool mt_naming_add_carried(struct mt_naming *naming, size_t recording, struct mt_carried *carried)
{
	return mt_carried_images_add(naming->carried, carried) &&
	       mt_jit_names_add(naming->jit, recording, carried) &&
	       mt_jitdumps_add(naming->dumps, recording, carried) &&
	       (naming->any_boot || add_kernel(naming, recording, carried));
}

void mt_naming_use_recording(struct mt_naming *naming, size_t recording)
{
	naming->present = NULL;
	for (size_t i = 0; i < naming->kernels.count; i++) {
		if (naming->kernels.items[i].recording == recording)
			naming->present = &naming->kernels.items[i];
	}
}

struct mt_image *mt_naming_jit_image(struct mt_naming *naming, size_t recording, int64_t since,
				     int32_t pid, uint64_t time)
{
	return mt_jit_names_image(naming->jit, recording, since, pid, time);
}

struct mt_jitdumps *mt_naming_jitdumps(struct mt_naming *naming)
{
	return naming->dumps;
}

/* Reads carried kernel symbols, once; what is damaged leaves no symbolizer. */
static void load_kernel(const struct mt_naming *naming, struct carried_kernel *kernel)
{
	struct mt_symbolizer_options options = {.demangle = naming->demangle};
	const uint8_t *bytes = mt_carried_bytes(kernel->carried, kernel->content);
	size_t size = mt_carried_get(kernel->carried, kernel->content)->size;

	kernel->tried = true;
	if (!bytes)
		return;
	mt_error_destroy(mt_kernel_symbols_parse((const char *)bytes, size, &kernel->symbols));
	options.kernel = kernel->symbols;
	if (kernel->symbols)
		kernel->symbolizer = mt_symbolizer_create(&options);
}

/* The carried names of the image, or NULL. */
static struct mt_symbolizer *carried_symbolizer(struct mt_naming *naming, uint32_t image)
{
	for (size_t i = 0; i < naming->kernels.count; i++) {
		struct carried_kernel *kernel = &naming->kernels.items[i];

		if (kernel->image != image || kernel->local)
			continue;
		if (!kernel->tried)
			load_kernel(naming, kernel);
		return kernel->symbolizer;
	}
	return NULL;
}

uint32_t mt_naming_kept(const struct mt_naming *naming, const struct mt_image *image)
{
	return mt_carried_images_kept(naming->carried, &image->identity);
}

bool mt_naming_carries_kernel(const struct mt_naming *naming, size_t recording)
{
	for (size_t i = 0; i < naming->kernels.count; i++) {
		if (naming->kernels.items[i].recording == recording)
			return true;
	}
	return false;
}

const uint8_t *mt_naming_local_text(const struct mt_naming *naming, size_t recording,
				    uint32_t image, int32_t *pid, size_t *size)
{
	return mt_jit_names_local_text(naming->jit, recording, image, pid, size);
}

struct mt_image_set *mt_naming_images(struct mt_naming *naming)
{
	return naming->images;
}

uint32_t mt_naming_kernel_image(const struct mt_naming *naming)
{
	return naming->present ? naming->present->image : naming->kernel_image;
}

bool mt_naming_is_this_boot(const struct mt_naming *naming, const char *boot_id)
{
	return *naming->boot_id && !strcmp(naming->boot_id, boot_id);
}

bool mt_naming_knows_kernel(struct mt_naming *naming, bool this_boot)
{
	if (naming->present)
		naming->present->local = this_boot && naming->prefer_local;
	return this_boot || naming->any_boot || naming->present;
}

const char *mt_naming_kernel_problem(struct mt_naming *naming, bool this_boot)
{
	if (!mt_naming_knows_kernel(naming, this_boot))
		return "recorded on another machine, or before this one last started";
	if (naming->present && carried_symbolizer(naming, naming->present->image))
		return NULL;
	if (!this_boot && !naming->any_boot)
		return "what the recording carries of them is damaged";
	try_kernel(naming);
	if (naming->kernel_symbolizer)
		return NULL;
	return naming->kernel_problem ? naming->kernel_problem : "no kernel symbols at hand";
}

static bool keep_problem(struct mt_naming *naming, uint32_t image, const struct mt_text *problem)
{
	char *copy = strndup(problem->bytes, problem->size),
	     **slot = copy ? mt_array_push(&naming->problem_texts) : NULL;

	if (!slot) {
		free(copy);
		return false;
	}
	*slot = copy;
	return mt_map64_put(&naming->problems, image, naming->problem_texts.count - 1);
}

bool mt_naming_add_image(struct mt_naming *naming, const struct mt_image_record *record)
{
	MT_CLEANUP_FREE char *path =
		strndup(record->path.bytes ? record->path.bytes : "", record->path.size);
	struct mt_image_identity identity = {
		.path = path,
		.device_major = record->major,
		.device_minor = record->minor,
		.inode = record->inode,
	};
	const struct mt_image *image;

	if (!path)
		return false;
	/* Mappings name it without its build id: made so first, then told. perf tells of paths. */
	if (record->inode || record->problem.size) {
		image = mt_image_set_intern(naming->images, &identity);
		if (!image ||
		    (record->problem.size && !keep_problem(naming, image->id, &record->problem)))
			return false;
	}
	if (record->build_id.size && record->build_id.size <= MT_BUILD_ID_MAX) {
		memcpy(identity.build_id, record->build_id.bytes, record->build_id.size);
		identity.build_id_size = record->build_id.size;
		mt_image_set_learn_build_id(naming->images, &identity);
	}
	return true;
}

/* Whether this machine's kernel names hold for the kernel of that recording, and are preferred. */
static bool is_local(const struct mt_naming *naming, uint32_t image)
{
	for (size_t i = 0; i < naming->kernels.count; i++) {
		if (naming->kernels.items[i].image == image)
			return naming->kernels.items[i].local;
	}
	return false;
}

static struct mt_symbolizer *kernel_symbolizer(struct mt_naming *naming, uint32_t image)
{
	struct mt_symbolizer *symbolizer = carried_symbolizer(naming, image);

	if (symbolizer)
		return symbolizer;
	if (image == naming->kernel_image || is_local(naming, image))
		try_kernel(naming);
	else
		return naming->symbolizer;
	return naming->kernel_symbolizer ? naming->kernel_symbolizer : naming->symbolizer;
}

const struct mt_symbol *mt_naming_name(void *context, const struct mt_frame_key *key)
{
	struct mt_naming *naming = context;
	struct mt_symbolizer *symbolizer = naming->symbolizer;
	struct mt_image *image = NULL;

	const struct mt_symbol *named;

	if (key->image != MT_FRAME_NO_IMAGE)
		image = mt_image_set_get(naming->images, key->image);
	named = mt_jitdumps_name(naming->dumps, image, key->offset);
	if (!named)
		named = mt_jit_names_name(naming->jit, key->image, key->offset);
	if (named)
		return named;
	if ((key->flags & MT_FRAME_IN_KERNEL) && key->offset)
		symbolizer = kernel_symbolizer(naming, key->image);
	return mt_symbolize(symbolizer, image, key->offset);
}

void mt_naming_prepare(void *context, uint32_t image, const uint64_t *offsets, size_t count)
{
	struct mt_naming *naming = context;
	struct mt_image *of = mt_image_set_get(naming->images, image);

	if (of && of->kind == MT_IMAGE_FILE)
		mt_symbolizer_prepare(naming->symbolizer, of, offsets, count, naming->pool);
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
	mt_missing_names_print(naming->symbolizer, naming->debuginfod, prefix, to);
}

static int compare_images(const void *a, const void *b)
{
	const struct mt_facts_image *x = a, *y = b;

	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Where unwind tables, names and lines of an image at hand come from. */
static void tell_sources(struct mt_image *image, struct mt_facts_image *entry)
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

/* What a debuginfod server may have that is lacking; NULL where it cannot be asked for. */
static const char *tell_fetch(struct mt_image *image)
{
	struct mt_elf *elf = mt_image_elf(image);
	const char *path;

	if (image->kind != MT_IMAGE_FILE ||
	    !(elf ? mt_elf_build_id(elf).size : image->identity.build_id_size))
		return NULL;
	if (!elf)
		return "file and debug file";
	return mt_elf_symbol_count(mt_image_symbols_elf(image), false) &&
			       mt_image_lines_elf(image, &path)
		       ? NULL
		       : "debug file";
}

static bool list_image(struct mt_naming *naming, uint32_t id, uint64_t frames,
		       struct mt_facts *facts)
{
	struct mt_image *image = mt_image_set_get(naming->images, id);
	struct mt_facts_image *entry;
	uint64_t problem;

	if (image->kind != MT_IMAGE_FILE && image->kind != MT_IMAGE_VDSO)
		return true;
	entry = mt_array_push(&facts->images);
	if (!entry)
		return false;
	entry->path = image->identity.path;
	entry->frames = frames;
	for (size_t i = 0; i < image->identity.build_id_size; i++)
		snprintf(entry->build_id + 2 * i, 3, "%02x", image->identity.build_id[i]);
	if (!mt_image_elf(image))
		entry->missing = image->missing ? image->missing : "not at hand";
	else
		tell_sources(image, entry);
	entry->found_at = image->found_at;
	entry->refused = image->debug_refused;
	if (!naming->debuginfod)
		entry->fetch = tell_fetch(image);
	if (mt_map64_get(&naming->problems, id, &problem))
		entry->problem = naming->problem_texts.items[problem];
	return true;
}

struct mt_error *mt_naming_list_images(struct mt_naming *naming, const struct mt_frames *frames,
				       const struct mt_map64 *code, struct mt_facts *facts)
{
	size_t count = mt_image_set_count(naming->images);
	MT_CLEANUP_FREE uint64_t *used = calloc(count + 1, sizeof(*used));
	uint64_t mapped;

	if (!used)
		return mt_error_nomem();
	for (size_t i = 0; frames && i < mt_frames_count(frames); i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, (uint32_t)i);

		if (key->image < count)
			used[key->image]++;
	}
	for (uint32_t id = 0; id < count; id++) {
		bool wanted = frames ? used[id] : mt_map64_get(code, id, &mapped);

		if (wanted && !list_image(naming, id, used[id], facts))
			return mt_error_nomem();
	}
	if (!mt_jitdumps_list(naming->dumps, facts))
		return mt_error_nomem();
	if (facts->images.count)
		qsort(facts->images.items, facts->images.count, sizeof(*facts->images.items),
		      compare_images);
	return NULL;
}
