/*
 * libdw on our samples: one Dwfl with every image of the process, and a callback for the dump's
 * words.
 */
#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "symbols/elf.h"
#include "symbols/image.h"
#include "symbols/image_map.h"
#include "unwind/dump.h"
#include "unwind/oracle.h"
#include "unwind/unwind.h"

#define PID 1 /* any */

/* As functions names them. */
struct libdw {
	__typeof__(&dwfl_begin) begin;
	__typeof__(&dwfl_end) end;
	__typeof__(&dwfl_report_begin) report_begin;
	__typeof__(&dwfl_report_elf) report_elf;
	__typeof__(&dwfl_report_end) report_end;
	__typeof__(&dwfl_attach_state) attach_state;
	__typeof__(&dwfl_getthread_frames) getthread_frames;
	__typeof__(&dwfl_frame_pc) frame_pc;
	__typeof__(&dwfl_thread_state_registers) thread_state_registers;
	__typeof__(&dwfl_linux_proc_find_elf) linux_proc_find_elf;
	__typeof__(&dwfl_standard_find_debuginfo) standard_find_debuginfo;
};

static const char *const functions[] = {
	"dwfl_begin",
	"dwfl_end",
	"dwfl_report_begin",
	"dwfl_report_elf",
	"dwfl_report_end",
	"dwfl_attach_state",
	"dwfl_getthread_frames",
	"dwfl_frame_pc",
	"dwfl_thread_state_registers",
	"dwfl_linux_proc_find_elf",
	"dwfl_standard_find_debuginfo",
	NULL,
};

_Static_assert(sizeof(functions) == sizeof(struct libdw) + sizeof(char *), "a name for each");

static const struct mt_oracle_library library = {"libdw.so.1", functions};

struct state {
	void *handle; /* of the library */
	struct libdw dw;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	const struct mt_image_map *map;
	const struct mt_unwind_input *input; /* the sample under way */
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

	return state->dw.thread_state_registers(thread, 0, 17, state->input->regs.value);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	const struct state *state = arg;
	struct mt_stack *stack = state->stack;
	Dwarf_Addr pc;
	bool activation;

	if (!state->dw.frame_pc(frame, &pc, &activation))
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

static void report(struct state *state)
{
	size_t count;
	const struct mt_mapping *all = mt_image_map_all(state->map, &count);
	char *done = calloc(count + 1, 1);

	if (!done)
		return;
	state->dw.report_begin(state->dwfl);
	for (size_t i = 0; i < count; i++) {
		struct mt_elf *elf = mt_image_elf(all[i].image);
		uint64_t vaddr;

		if (!elf || done[i] || !mt_mapping_vaddr(&all[i], all[i].start, &vaddr))
			continue;
		for (size_t j = i; j < count; j++)
			done[j] |= all[j].image == all[i].image;
		if (all[i].image->kind == MT_IMAGE_FILE && all[i].image->found_at)
			state->dw.report_elf(state->dwfl, all[i].image->basename,
					     all[i].image->found_at, -1, all[i].start - vaddr,
					     false);
	}
	state->dw.report_end(state->dwfl, NULL, NULL);
	free(done);
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
	state->handle = mt_oracle_load(&library, &state->dw);
	if (state->handle) {
		state->callbacks.find_elf = state->dw.linux_proc_find_elf;
		state->callbacks.find_debuginfo = state->dw.standard_find_debuginfo;
		state->dwfl = state->dw.begin(&state->callbacks);
	}
	if (!state->dwfl) {
		mt_oracle_unload(state->handle);
		free(state);
		return NULL;
	}
	report(state);
	state->dw.attach_state(state->dwfl, NULL, PID, &threads, state);
	return state;
}

static void destroy(void *of)
{
	struct state *state = of;

	state->dw.end(state->dwfl);
	mt_oracle_unload(state->handle);
	free(state);
}

static void unwind(void *of, const struct mt_unwind_input *input, struct mt_stack *stack)
{
	struct state *state = of;

	state->input = input;
	state->stack = stack;
	state->dw.getthread_frames(state->dwfl, PID, take_frame, state);
}

const struct mt_oracle mt_oracle_libdw = {"libdw", &library, create, destroy, unwind};
#endif
