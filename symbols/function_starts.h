/*
 * Where the functions of an image start, as its unwind tables say.
 */
#ifndef MT_SYMBOLS_FUNCTION_STARTS_H
#define MT_SYMBOLS_FUNCTION_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_skeleton_input;

/* Link-time addresses in order, some perhaps more than once. All-zero there are none. */
struct mt_function_starts {
	uint64_t *items;
	size_t count, capacity;
};

/*
 * By .eh_frame_hdr, or by .eh_frame where that is missing (in static programs it often is) or has
 * another form than linkers give it. input: as for a skeleton, or NULL. False out of memory.
 */
bool mt_function_starts_read(struct mt_elf *elf, const struct mt_skeleton_input *input,
			     struct mt_function_starts *out);
void mt_function_starts_deinit(struct mt_function_starts *starts);

#endif
