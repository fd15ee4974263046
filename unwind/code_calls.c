#include "unwind/code_calls.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "symbols/call_set.h"
#include "symbols/image.h"
#include "unwind/code_places.h"

#define CODE_BITS 12

/* Whether one function calls another directly, by the bytes of its code. */
struct in_code {
	uint64_t caller, callee; /* link-time addresses */
	const struct mt_image *image;
	bool calls;
};

/* What an image carries of its calls. */
struct carried {
	bool any; /* else its code is looked at */
	struct mt_call_set set;
};

struct mt_code_calls {
	const struct mt_code_places *places;
	struct mt_map64 set_of; /* image id to index in sets */
	MT_ARRAY(struct carried) sets;
	bool used;
	struct in_code in_code[1 << CODE_BITS];
};

struct mt_code_calls *mt_code_calls_create(const struct mt_code_places *places)
{
	struct mt_code_calls *calls = calloc(1, sizeof(*calls));

	if (calls)
		calls->places = places;
	return calls;
}

static void deinit(struct mt_code_calls *calls)
{
	mt_map64_deinit(&calls->set_of);
	for (size_t i = 0; i < calls->sets.count; i++)
		mt_call_set_deinit(&calls->sets.items[i].set);
	mt_array_deinit(&calls->sets);
}

void mt_code_calls_destroy(struct mt_code_calls *calls)
{
	if (!calls)
		return;
	deinit(calls);
	free(calls);
}

void mt_code_calls_begin(struct mt_code_calls *calls)
{
	const struct mt_code_places *places = calls->places;

	if (!calls->used) /* to clear what is clear would touch all of it */
		return;
	deinit(calls);
	memset(calls, 0, sizeof(*calls));
	calls->places = places;
}

/*
 * Borrowed until another image is asked for; NULL out of memory, and where the bytes in which
 * something was found are no longer the image's, as its build id was told only then.
 */
static const struct carried *image_set(struct mt_code_calls *calls, struct mt_image *image)
{
	struct mt_span bytes;
	struct carried *slot;
	struct mt_elf *elf;
	uint64_t i;

	if (mt_map64_get(&calls->set_of, image->id, &i))
		return &calls->sets.items[i];
	elf = mt_image_elf(image);
	if (!elf)
		return NULL;
	slot = mt_array_push(&calls->sets);
	if (!slot || !mt_map64_put(&calls->set_of, image->id, calls->sets.count - 1)) {
		calls->sets.count -= slot != NULL;
		return NULL;
	}
	bytes = mt_elf_section(elf, MT_CALL_SET_SECTION);
	slot->any = bytes.bytes;
	if (!mt_call_set_read(bytes, &slot->set))
		slot->set = (struct mt_call_set){0};
	return slot;
}

/* As the bytes of the code say; of a carried image only its list of calls does. */
static bool code_calls(struct mt_code_calls *calls, const struct mt_code_function *outer,
		       const struct mt_code_function *inner)
{
	uint64_t hash = mt_hash64(mt_hash64(outer->start) + inner->start);
	struct in_code *known = &calls->in_code[hash >> (64 - CODE_BITS)];
	struct mt_image *image = mt_code_places_image(calls->places, outer->image);
	struct mt_elf *code;

	if (image->carried) /* what is at hand here is not elsewhere */
		return false;
	if (known->image != image || known->caller != outer->start ||
	    known->callee != inner->start) {
		code = mt_image_elf(image);
		*known = (struct in_code){outer->start, inner->start, image,
					  code && mt_call_in_code(code, outer->start,
								  outer->end - outer->start,
								  inner->start)};
	}
	return known->calls;
}

bool mt_code_calls_has(struct mt_code_calls *calls, const struct mt_code_function *outer,
		       const struct mt_code_function *inner)
{
	const struct carried *carried;

	if (outer->image != inner->image)
		return false;
	calls->used = true;
	carried = image_set(calls, mt_code_places_image(calls->places, outer->image));
	if (!carried)
		return false;
	return carried->any ? mt_call_set_has(&carried->set, outer->start, inner->start)
			    : code_calls(calls, outer, inner);
}
