/*
 * The oracle as an unwind method. An unwinder caches its state for the most recent address spaces.
 */
#include "unwind/oracle/oracle.h"
#include "symbols/images/shared_library.h"

#include <stdlib.h>

#include "symbols/images/image_map.h"
#include "unwind/walk.h"

#ifdef HAVE_LIBUNWIND
enum {
	SPACES = 16,
};

struct space {
	void *state;
	struct mt_image_map *map; /* the state's copy of the map */
	uint32_t generation;
	size_t mappings;
};

/* State of one unwinder and one oracle. */
struct mt_oracle_spaces {
	const struct mt_oracle *oracle;
	struct space spaces[SPACES];
	size_t next; /* index of the space to replace */
};

static void space_deinit(const struct mt_oracle *oracle, struct space *space)
{
	if (space->state)
		oracle->destroy(space->state);
	mt_image_map_destroy(space->map);
	*space = (struct space){0};
}

static void spaces_destroy(struct mt_oracle_spaces *spaces)
{
	for (size_t i = 0; i < SPACES; i++)
		space_deinit(spaces->oracle, &spaces->spaces[i]);
	free(spaces);
}

/* The state for this map. Loading a library adds mappings but keeps the map's generation. */
static void *state_of(struct mt_oracle_spaces *spaces, const struct mt_image_map *map)
{
	uint32_t generation = mt_image_map_generation(map);
	size_t mappings = mt_image_map_count(map);
	const struct mt_mapping *m;
	struct space *space;

	for (size_t i = 0; i < SPACES; i++) {
		space = &spaces->spaces[i];
		if (space->state && space->generation == generation && space->mappings == mappings)
			return space->state;
	}
	space = &spaces->spaces[spaces->next++ % SPACES];
	space_deinit(spaces->oracle, space);
	space->map = mt_image_map_create();
	for (m = mt_image_map_next(map, 0); space->map && m; m = mt_image_map_next(map, m->end))
		(void)mt_image_map_insert(space->map, m);
	space->generation = generation;
	space->mappings = mappings;
	space->state = space->map ? spaces->oracle->create(space->map) : NULL;
	return space->state;
}

static void unwind_by(const struct mt_oracle *oracle, struct mt_unwinder *unwinder,
		      const struct mt_unwind_input *input, struct mt_stack *stack)
{
	struct mt_unwind_counts *counts = &unwinder->counts;
	size_t first = stack->count;
	void *state;

	if (!unwinder->oracle) {
		unwinder->oracle = calloc(1, sizeof(*unwinder->oracle));
		if (unwinder->oracle)
			unwinder->oracle->oracle = oracle;
		unwinder->oracle_destroy = spaces_destroy;
	}
	stack->end = input->have_regs ? MT_END_UNREPORTED : MT_END_NO_REGS;
	state = unwinder->oracle && input->have_regs ? state_of(unwinder->oracle, input->map)
						     : NULL;
	if (state)
		oracle->unwind(state, input, stack);
	if (stack->count == stack->capacity)
		stack->end = MT_END_LIMIT;
	counts->stacks++;
	counts->ends[stack->end]++;
	counts->frames += stack->count - first;
}

static void by_libunwind(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
			 struct mt_stack *stack)
{
	unwind_by(&mt_oracle_libunwind, unwinder, input, stack);
}

static const char *libunwind_problem(void)
{
	return mt_shared_library_problem(&mt_oracle_libunwind_library);
}
#endif

const struct mt_unwind_method mt_unwind_oracle_methods[] = {
#ifdef HAVE_LIBUNWIND
	{"libunwind", "libunwind through the stack dump, to compare: slow", by_libunwind,
	 libunwind_problem},
#endif
	{NULL, NULL, NULL, NULL},
};
