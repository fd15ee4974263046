/*
 * Each kernel is an image: one for each recording that carries names, one for this machine, and one
 * without names for all other kernels. Modules of kernels without names have separate images.
 */
#include "report/stacks/kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/reading/carried.h"
#include "formats/records/sample.h"
#include "report/stacks/frames.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "symbols/names/kernel.h"
#include "symbols/names/symbolize.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define KALLSYMS "/proc/kallsyms"
#define KERNEL "[kernel.kallsyms]"

enum {
	NAME_MAX_BYTES = 64, /* of a module's name; the kernel allows 56 */
};

/* A kernel's names, read for the first frame, because that takes longer than a small report. */
struct named_kernel {
	const struct mt_image *image;
	bool tried;
	struct mt_kernel_symbols *symbols;
	struct mt_symbolizer *symbolizer;
};

struct carried_kernel {
	struct named_kernel names;
	size_t recording;
	struct mt_carried *carried;
	size_t content;
	bool local; /* this machine's names are used: same boot, and preferred */
};

struct mt_kernel_names {
	struct mt_image_set *images;
	bool prefer_local, demangle;
	bool any_boot; /* `here` came from a file given by the user */
	char boot_id[64];
	struct named_kernel here;
	char *problem; /* why `here` has no names */
	const struct mt_image *nameless;
	MT_ARRAY(struct carried_kernel) carried;
	/* The state of the present recording: */
	struct carried_kernel *present; /* NULL: the recording does not carry names */
	bool this_boot;
	struct mt_image_map *modules;
};

MT_DEFINE_CLEANUP(mt_kernel_names, struct mt_kernel_names)

/* The image of the kernel with this number. */
static const struct mt_image *kernel_image(struct mt_kernel_names *names, uint64_t number)
{
	return mt_image_set_intern(names->images,
				   &(struct mt_image_identity){.path = KERNEL, .inode = number});
}

static void read_boot_id(struct mt_kernel_names *names)
{
	MT_CLEANUP_FCLOSE FILE *file = fopen(BOOT_ID, "re");

	if (file && fgets(names->boot_id, sizeof(names->boot_id), file))
		names->boot_id[strcspn(names->boot_id, "\n")] = '\0';
}

/* Makes a symbolizer from the names that were read. */
static struct mt_error *make_symbolizer(const struct mt_kernel_names *names,
					struct named_kernel *kernel, struct mt_error *err)
{
	struct mt_symbolizer_options options = {.demangle = names->demangle,
						.kernel = kernel->symbols};

	kernel->tried = true;
	if (err)
		return err;
	kernel->symbolizer = mt_symbolizer_create(&options);
	return NULL;
}

static struct mt_error *read_here(struct mt_kernel_names *names, const char *path)
{
	return make_symbolizer(names, &names->here,
			       mt_kernel_symbols_read(path, &names->here.symbols));
}

/* The symbolizer of this machine, created once. */
static struct mt_symbolizer *symbolizer_here(struct mt_kernel_names *names)
{
	struct mt_error *err = names->here.tried ? NULL : read_here(names, KALLSYMS);

	if (err)
		names->problem = mt_copy_string(err->message);
	mt_error_destroy(err);
	return names->here.symbolizer;
}

struct mt_error *mt_kernel_names_create(const struct mt_kernel_names_options *options,
					struct mt_kernel_names **out)
{
	MT_CLEANUP(mt_kernel_names_destroy_p)
	struct mt_kernel_names *names = mt_alloc(1, sizeof(*names));
	struct mt_error *err;

	names->images = options->images;
	names->prefer_local = options->prefer_local;
	names->demangle = options->demangle;
	names->any_boot = options->kallsyms;
	read_boot_id(names);
	err = options->kallsyms ? read_here(names, options->kallsyms) : NULL;
	if (err)
		return err;
	names->here.image = kernel_image(names, 0);
	names->nameless = kernel_image(names, UINT64_MAX);
	*out = MT_TAKE(names);
	return NULL;
}

static void named_kernel_deinit(struct named_kernel *kernel)
{
	mt_symbolizer_destroy(kernel->symbolizer);
	mt_kernel_symbols_destroy(kernel->symbols);
}

void mt_kernel_names_destroy(struct mt_kernel_names *names)
{
	if (!names)
		return;
	named_kernel_deinit(&names->here);
	for (size_t i = 0; i < names->carried.count; i++)
		named_kernel_deinit(&names->carried.items[i].names);
	mt_array_deinit(&names->carried);
	mt_image_map_destroy(names->modules);
	free(names->problem);
	free(names);
}

void mt_kernel_names_add(struct mt_kernel_names *names, size_t recording,
			 struct mt_carried *carried)
{
	size_t i = 0;

	while (i < mt_carried_count(carried) &&
	       mt_carried_get(carried, i)->kind != MT_FILE_KERNEL_SYMBOLS)
		i++;
	if (names->any_boot || i == mt_carried_count(carried))
		return;
	mt_array_append(&names->carried,
			(struct carried_kernel){.names.image = kernel_image(names, recording + 1),
						.recording = recording,
						.carried = carried,
						.content = i});
}

static struct carried_kernel *carried_by(const struct mt_kernel_names *names, size_t recording)
{
	for (size_t i = 0; i < names->carried.count; i++) {
		if (names->carried.items[i].recording == recording)
			return &names->carried.items[i];
	}
	return NULL;
}

bool mt_kernel_names_are_carried(const struct mt_kernel_names *names, size_t recording)
{
	return carried_by(names, recording);
}

void mt_kernel_names_begin(struct mt_kernel_names *names, size_t recording)
{
	names->present = carried_by(names, recording);
	names->this_boot = false;
	mt_image_map_destroy(names->modules);
	names->modules = mt_image_map_create();
}

bool mt_kernel_names_is_this_boot(const struct mt_kernel_names *names, const char *boot_id)
{
	return *names->boot_id && !strcmp(names->boot_id, boot_id);
}

void mt_kernel_names_set_boot(struct mt_kernel_names *names, bool this_boot)
{
	names->this_boot = this_boot;
	if (names->present)
		names->present->local = this_boot && names->prefer_local;
}

/* Converts "/lib/modules/6.1/kernel/net/nf-tables.ko.xz" to "[nf_tables]", as in kallsyms. */
static void module_name(const char *path, char out[NAME_MAX_BYTES])
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *suffix = *base == '[' ? NULL : strstr(base, ".ko");
	int length = (int)(suffix ? suffix - base : (ptrdiff_t)strlen(base));

	if (*base == '[')
		snprintf(out, NAME_MAX_BYTES, "%s", base);
	else
		snprintf(out, NAME_MAX_BYTES, "[%.*s]", length, base);
	for (char *c = out; *c; c++)
		*c = *c == '-' ? '_' : *c;
}

void mt_kernel_names_map(struct mt_kernel_names *names, const struct mt_kernel_record *record)
{
	char name[NAME_MAX_BYTES];
	struct mt_mapping mapping = {.start = record->start, .end = record->start + record->length};

	if (!record->name || !strncmp(record->name, "[kernel", 7) ||
	    mt_image_kind_of_path(record->name) != MT_IMAGE_KERNEL || mapping.end < mapping.start)
		return;
	module_name(record->name, name);
	mapping.image = (struct mt_image *)mt_image_set_intern(
		names->images, &(struct mt_image_identity){.path = name});
	mt_image_map_insert(names->modules, &mapping);
}

struct mt_frame_key mt_kernel_names_place(const struct mt_kernel_names *names, uint64_t address,
					  bool apart)
{
	bool here = names->this_boot || names->any_boot, named = here || names->present;
	const struct mt_mapping *module = named ? NULL : mt_image_map_find(names->modules, address);
	const struct mt_image *image = names->present ? names->present->names.image
				       : here	      ? names->here.image
				       : module	      ? module->image
						      : names->nameless;

	return (struct mt_frame_key){.image = image->id,
				     .flags = MT_FRAME_IN_KERNEL,
				     .offset = named || apart ? address : 0};
}

/* The symbolizer of carried names, which are read once; NULL if they are damaged. */
static struct mt_symbolizer *symbolizer_of(const struct mt_kernel_names *names,
					   struct carried_kernel *kernel)
{
	const uint8_t *bytes;

	if (kernel->names.tried)
		return kernel->names.symbolizer;
	kernel->names.tried = true;
	bytes = mt_carried_bytes(kernel->carried, kernel->content);
	if (bytes)
		mt_error_destroy(make_symbolizer(
			names, &kernel->names,
			mt_kernel_symbols_parse(
				(const char *)bytes,
				mt_carried_get(kernel->carried, kernel->content)->size,
				&kernel->names.symbols)));
	return kernel->names.symbolizer;
}

const struct mt_symbol *mt_kernel_names_name(struct mt_kernel_names *names,
					     const struct mt_frame_key *key)
{
	struct mt_symbolizer *symbolizer = NULL;
	struct mt_image *image = mt_image_set_get(names->images, key->image);

	if (!key->offset)
		return NULL;
	if (image == names->here.image)
		symbolizer = symbolizer_here(names);
	for (size_t i = 0; i < names->carried.count; i++) {
		struct carried_kernel *kernel = &names->carried.items[i];

		if (kernel->names.image == image)
			symbolizer = kernel->local ? symbolizer_here(names)
						   : symbolizer_of(names, kernel);
	}
	return symbolizer ? mt_symbolize(symbolizer, image, key->offset) : NULL;
}

size_t mt_kernel_names_lost(const struct mt_kernel_names *names)
{
	const struct mt_symbolizer *here = names->here.symbolizer;
	size_t lost = here ? mt_symbolizer_lost(here) : 0;

	for (size_t i = 0; i < names->carried.count; i++) {
		const struct mt_symbolizer *symbolizer = names->carried.items[i].names.symbolizer;

		lost += symbolizer ? mt_symbolizer_lost(symbolizer) : 0;
	}
	return lost;
}

const char *mt_kernel_names_problem(struct mt_kernel_names *names)
{
	struct carried_kernel *present = names->present;

	if (present && !present->local && symbolizer_of(names, present))
		return NULL;
	if (!names->this_boot && !names->any_boot)
		return present ? "what the recording carries of them is damaged"
			       : "recorded on another machine, or before this one last started";
	if (symbolizer_here(names))
		return NULL;
	return names->problem ? names->problem : "no kernel symbols at hand";
}
