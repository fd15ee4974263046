/*
 * Looks up the names of link-time addresses with symbols/names/symbolize, as a report does:
 *
 *	names FILE < ADDRESSES       one name a line
 *	names -t FILE < ADDRESSES    number of names found, and times of opening and naming
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elf/elf.h"
#include "symbols/images/image.h"
#include "symbols/names/symbolize.h"
#include "tests/oracle/addresses.h"

/* The file offset that is loaded at the address, as samples have it. */
static uint64_t offset_of(const struct mt_elf *elf, uint64_t vaddr)
{
	size_t count;
	const struct mt_segment *s = mt_elf_segments(elf, &count);

	for (size_t i = 0; i < count; i++) {
		if (vaddr - s[i].vaddr < s[i].file_size)
			return vaddr - s[i].vaddr + s[i].offset;
	}
	return vaddr;
}

static int ask(struct mt_symbolizer *symbolizer, struct mt_image *image, bool timed)
{
	double start = now();
	struct mt_elf *elf = mt_image_elf(image);
	size_t resolved = 0;

	if (!elf) {
		fprintf(stderr, "names: %s\n", image->missing);
		return 1;
	}
	for (size_t i = 0; i < address_count; i++) {
		const struct mt_symbol *s =
			mt_symbolize(symbolizer, image, offset_of(elf, addresses[i]));

		resolved += s->resolved;
		if (!timed)
			puts(s->name);
	}
	if (timed)
		printf("%zu addresses, %zu with names, %.0f ms\n", address_count, resolved,
		       (now() - start) * 1e3);
	return 0;
}

int main(int argc, char **argv)
{
	struct mt_symbolizer_options options = {.demangle = true};
	bool timed = argc > 1 && !strcmp(argv[1], "-t");
	char path[PATH_MAX];
	struct mt_image_identity identity = {.path = path};
	struct mt_image_set *set = mt_image_set_create();
	struct mt_symbolizer *symbolizer = mt_symbolizer_create(&options);
	int status;

	if (argc != 2 + timed || !set || !symbolizer || !realpath(argv[1 + timed], path))
		return 2;
	read_addresses();
	mt_image_set_set_codec(set, &mt_elf_codec_all);
	if (!mt_image_set_add_source(set, &mt_image_source_local, NULL) ||
	    !mt_image_set_add_source(set, &mt_image_source_build_id, NULL))
		return 2;
	status = ask(symbolizer, mt_image_set_intern(set, &identity), timed);
	mt_symbolizer_destroy(symbolizer);
	mt_image_set_destroy(set);
	return status;
}
