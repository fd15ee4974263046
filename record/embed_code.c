/* The file is read, not mapped, a page for each block at most: it may change meanwhile. */
#include "record/embed_code.h"

#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/embed_image.h"
#include "record/file_pages.h"
#include "symbols/code_blocks.h"
#include "symbols/elf.h"

MT_DEFINE_CLEANUP(mt_code_making, struct mt_code_making)

/* So much of a block as is loaded, from its first byte that is; its size is 0 where nothing is. */
static struct mt_span block_at(const struct mt_embed_file *file, uint64_t number)
{
	uint64_t offset = number * MT_CODE_BLOCK, end = offset + MT_CODE_BLOCK;
	struct mt_span span = {0};

	if (number >= mt_file_pages_size(file->pages) / MT_CODE_BLOCK + 1)
		return span;
	mt_file_pages_need(file->pages, offset, MT_CODE_BLOCK, false);
	while (offset < end && !mt_elf_offset_to_vaddr(file->elf, offset, &span.vaddr))
		offset++;
	span.size = (size_t)(end - offset);
	while (span.size && !(span.bytes = mt_elf_bytes_at(file->elf, span.vaddr, span.size)))
		span.size--;
	return span;
}

static struct mt_error *read_blocks(const struct mt_embed_file *file, const uint64_t *blocks,
				    size_t count, struct mt_embed_code *out)
{
	MT_CLEANUP(mt_code_making_destroy_p)
	struct mt_code_making *making = mt_code_making_create();
	uint64_t end = UINT64_MAX; /* behind the last block that is there: code may end with it */

	if (!making)
		return mt_error_nomem();
	for (size_t i = 0; i < count; i++) {
		struct mt_span span = block_at(file, blocks[i]);

		if (span.size)
			end = blocks[i] + 1;
		out->missing += !span.size && blocks[i] != end;
		if (span.size && !mt_code_making_add(making, span))
			return mt_error_nomem();
	}
	return mt_code_making_finish(making, &out->bytes, &out->size) ? NULL : mt_error_nomem();
}

struct mt_error *mt_embed_code_make(int fd, const char *name, const uint64_t *blocks, size_t count,
				    struct mt_embed_code *out)
{
	struct mt_embed_file file = {.fd = fd};
	struct mt_embed_code made = {0};
	struct mt_error *err = mt_embed_file_open(&file, name);

	if (!err)
		err = read_blocks(&file, blocks, count, &made);
	if (!err) {
		made.original_size = mt_file_pages_size(file.pages);
		*out = made;
	}
	mt_embed_file_close(&file);
	return err;
}
