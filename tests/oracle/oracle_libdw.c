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
#include "tests/bench/samples.h"
#include "tests/oracle/oracle.h"
#include "unwind/dump.h"

struct oracle_state {
	Dwfl *dwfl;
	const struct samples *samples;
	const struct mt_unwind_input *input; /* the sample under way */
	uint64_t *pcs;
	size_t count, max;
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct oracle_state *state = arg;

	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return (pid_t)state->samples->pid;
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
	const struct oracle_state *state = arg;
	const struct mt_unwind_input *in = state->input;
	const struct mt_dump dump = {
		.bytes = in->dump, .start = in->regs.value[7], .size = in->dump_size};

	(void)dwfl;
	return mt_dump_read(&dump, address, value);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct oracle_state *state = arg;

	return dwfl_thread_state_registers(thread, 0, 17, state->input->regs.value);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct oracle_state *state = arg;
	Dwarf_Addr pc;
	bool activation;

	if (!dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	if (!pc)
		return DWARF_CB_ABORT;
	state->pcs[state->count++] = pc;
	return state->count < state->max ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void report(struct oracle_state *state)
{
	size_t count;
	const struct mt_mapping *all = mt_image_map_all(state->samples->map, &count);
	char *done = calloc(count + 1, 1);

	dwfl_report_begin(state->dwfl);
	for (size_t i = 0; i < count; i++) {
		struct mt_elf *elf = mt_image_elf(all[i].image);
		uint64_t vaddr;

		if (!elf || done[i] || !mt_mapping_vaddr(&all[i], all[i].start, &vaddr))
			continue;
		for (size_t j = i; j < count; j++)
			done[j] |= all[j].image == all[i].image;
		if (all[i].image->kind == MT_IMAGE_FILE)
			dwfl_report_elf(state->dwfl, all[i].image->basename,
					all[i].image->identity.path, -1, all[i].start - vaddr,
					false);
	}
	dwfl_report_end(state->dwfl, NULL, NULL);
	free(done);
}

static struct oracle_state *create(const struct samples *samples)
{
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
						      .get_thread = get_thread,
						      .memory_read = memory_read,
						      .set_initial_registers = set_registers};
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo};
	struct oracle_state *state = calloc(1, sizeof(*state));

	if (!state)
		abort();
	state->samples = samples;
	state->dwfl = dwfl_begin(&callbacks);
	report(state);
	dwfl_attach_state(state->dwfl, NULL, (pid_t)samples->pid, &threads, state);
	return state;
}

static void destroy(struct oracle_state *state)
{
	dwfl_end(state->dwfl);
	free(state);
}

static size_t unwind(struct oracle_state *state, const struct mt_unwind_input *input, uint64_t *pcs,
		     size_t max)
{
	state->input = input;
	state->pcs = pcs;
	state->count = 0;
	state->max = max;
	dwfl_getthread_frames(state->dwfl, (pid_t)state->samples->pid, take_frame, state);
	return state->count;
}

const struct oracle oracle_libdw = {"libdw", create, destroy, unwind};
#endif
