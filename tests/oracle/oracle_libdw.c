/*
 * Runs libdw on the samples of the bench, with one Dwfl for every image of the process and a
 * callback that reads the dump.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "symbols/elf/elf.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/cfi/dump.h"
#include "unwind/oracle/oracle.h"
#include "unwind/unwind.h"

#define PID 1 /* any number will do */

struct state {
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	const struct mt_image_map *map;
	const struct mt_unwind_input *input; /* the current sample */
	struct mt_stack *stack;
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return PID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *arg)
{
	const struct state *state = arg;
	const struct mt_unwind_input *in = state->input;
	const struct mt_dump dump = {
		.bytes = in->dump, .start = in->regs.value[7], .size = in->dump_size};

	(void)dwfl;
	return mt_dump_read(&dump, address, value);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct state *state = arg;

	return dwfl_thread_state_registers(thread, 0, 17, state->input->regs.value);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	const struct state *state = arg;
	struct mt_stack *stack = state->stack;
	Dwarf_Addr pc;
	bool activation;

	if (!dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	if (!pc)
		return DWARF_CB_ABORT;
	stack->frames[stack->count] = (struct mt_frame){
		.pc = pc,
		.source = stack->count ? MT_FRAME_CFI : MT_FRAME_IP,
		.call_return = !activation,
	};
	return ++stack->count < stack->capacity ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* Whether a mapping below this one belongs to the same image and holds one of its addresses. */
static bool is_reported(const struct mt_image_map *map, const struct mt_mapping *mapping)
{
	const struct mt_mapping *m = mt_image_map_next(map, 0);
	uint64_t vaddr;

	for (; m && m != mapping; m = mt_image_map_next(map, m->end)) {
		if (m->image == mapping->image && mt_mapping_vaddr(m, m->start, &vaddr))
			return true;
	}
	return false;
}

static void report(struct state *state)
{
	const struct mt_mapping *m = mt_image_map_next(state->map, 0);

	dwfl_report_begin(state->dwfl);
	for (; m; m = mt_image_map_next(state->map, m->end)) {
		const struct mt_image *image = m->image;
		uint64_t vaddr;

		if (!mt_image_elf(m->image) || !mt_mapping_vaddr(m, m->start, &vaddr) ||
		    is_reported(state->map, m))
			continue;
		if (image->kind == MT_IMAGE_FILE && image->found_at)
			dwfl_report_elf(state->dwfl, image->basename, image->found_at, -1,
					m->start - vaddr, false);
	}
	dwfl_report_end(state->dwfl, NULL, NULL);
}

static void *create(const struct mt_image_map *map)
{
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
						      .get_thread = get_thread,
						      .memory_read = memory_read,
						      .set_initial_registers = set_registers};
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->map = map;
	state->callbacks.find_elf = dwfl_linux_proc_find_elf;
	state->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
	state->dwfl = dwfl_begin(&state->callbacks);
	if (!state->dwfl) {
		free(state);
		return NULL;
	}
	report(state);
	dwfl_attach_state(state->dwfl, NULL, PID, &threads, state);
	return state;
}

static void destroy(void *of)
{
	struct state *state = of;

	dwfl_end(state->dwfl);
	free(state);
}

static void unwind(void *of, const struct mt_unwind_input *input, struct mt_stack *stack)
{
	struct state *state = of;

	state->input = input;
	state->stack = stack;
	dwfl_getthread_frames(state->dwfl, PID, take_frame, state);
}

const struct mt_oracle mt_oracle_libdw = {"libdw", create, destroy, unwind};
