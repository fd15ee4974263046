/*
 * Runs libunwind on samples: a remote address space over one dump, and one cache for all samples.
 */
#ifdef HAVE_LIBUNWIND
#include <elf.h>
#include <libunwind.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "symbols/elf/elf.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "symbols/images/shared_library.h"
#include "unwind/cfi/dump.h"
#include "unwind/oracle/oracle.h"
#include "unwind/unwind.h"

/*
 * libunwind-x86_64 exports this function for remote unwinders, but does not declare it in a header.
 */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip,
					      unw_dyn_info_t *di, unw_proc_info_t *pi,
					      int need_unwind_info, void *arg);

#define TEXT(x) #x
#define NAME(symbol) TEXT(symbol)

/* As functions names them. */
struct libunwind {
	__typeof__(&UNW_OBJ(dwarf_search_unwind_table)) dwarf_search_unwind_table;
	__typeof__(&unw_create_addr_space) create_addr_space;
	__typeof__(&unw_destroy_addr_space) destroy_addr_space;
	__typeof__(&unw_set_caching_policy) set_caching_policy;
	__typeof__(&unw_init_remote) init_remote;
	__typeof__(&unw_get_reg) get_reg;
	__typeof__(&unw_is_signal_frame) is_signal_frame;
	__typeof__(&unw_step) step;
};

static const char *const functions[] = {
	NAME(UNW_OBJ(dwarf_search_unwind_table)),
	NAME(unw_create_addr_space),
	NAME(unw_destroy_addr_space),
	NAME(unw_set_caching_policy),
	NAME(unw_init_remote),
	NAME(unw_get_reg),
	NAME(unw_is_signal_frame),
	NAME(unw_step),
	NULL,
};

_Static_assert(sizeof(functions) == sizeof(struct libunwind) + sizeof(char *), "a name for each");

const struct mt_shared_library mt_oracle_libunwind_library = {"libunwind-x86_64.so.8", functions};

struct state {
	void *handle; /* of the library */
	struct libunwind unw;
	unw_addr_space_t space;
	const struct mt_image_map *map;
	const struct mt_unwind_input *input; /* the sample that is being unwound */
};

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need,
			  void *arg)
{
	const struct state *state = arg;
	const struct mt_mapping *m = mt_image_map_find(state->map, ip);
	struct mt_elf *elf = m ? mt_image_elf(m->image) : NULL;
	unw_dyn_info_t di = {0};
	struct mt_span hdr;
	uint64_t vaddr;

	if (!elf || !mt_mapping_vaddr(m, ip, &vaddr))
		return -UNW_ENOINFO;
	hdr = mt_elf_section(elf, ".eh_frame_hdr");
	if (hdr.size < 12)
		return -UNW_ENOINFO;
	di.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	di.start_ip = m->start;
	di.end_ip = m->end;
	di.u.rti.segbase = hdr.vaddr + (ip - vaddr);
	di.u.rti.table_data = di.u.rti.segbase + 12;
	di.u.rti.table_len = (uint64_t)mt_get_le32(hdr.bytes + 8) * 8 / sizeof(unw_word_t);
	return state->unw.dwarf_search_unwind_table(as, ip, &di, pi, need, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int get_dyn_info_list(unw_addr_space_t as, unw_word_t *address, void *arg)
{
	(void)as;
	(void)address;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
		      void *arg)
{
	const struct state *state = arg;
	const struct mt_unwind_input *in = state->input;
	const struct mt_dump dump = {
		.bytes = in->dump, .start = in->regs.value[7], .size = in->dump_size};
	const struct mt_mapping *m;
	const uint8_t *bytes;
	struct mt_elf *elf;
	uint64_t vaddr;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (mt_dump_read(&dump, address, value))
		return 0;
	m = mt_image_map_find(state->map, address);
	elf = m ? mt_image_elf(m->image) : NULL;
	if (!elf || !mt_mapping_vaddr(m, address, &vaddr))
		return -UNW_EINVAL;
	bytes = mt_elf_bytes_at(elf, vaddr, 8);
	if (!bytes)
		return -UNW_EINVAL;
	*value = mt_get_le64(bytes);
	return 0;
}

/* libunwind's x86-64 register numbers are those of DWARF. */
static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct state *state = arg;

	(void)as;
	if (write || reg < 0 || reg > 16)
		return -UNW_EBADREG;
	*value = state->input->regs.value[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EINVAL;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t ip, char *name, size_t size,
			 unw_word_t *offset, void *arg)
{
	(void)as;
	(void)ip;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_EINVAL;
}

static void *create(const struct mt_image_map *map)
{
	unw_accessors_t accessors = {
		/* copied */
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->map = map;
	state->handle = mt_shared_library_load(&mt_oracle_libunwind_library, &state->unw);
	if (state->handle)
		state->space = state->unw.create_addr_space(&accessors, 0);
	if (!state->space) {
		mt_shared_library_unload(state->handle);
		free(state);
		return NULL;
	}
	state->unw.set_caching_policy(state->space, UNW_CACHE_GLOBAL);
	return state;
}

static void destroy(void *of)
{
	struct state *state = of;

	state->unw.destroy_addr_space(state->space);
	mt_shared_library_unload(state->handle);
	free(state);
}

static void unwind(void *of, const struct mt_unwind_input *input, struct mt_stack *stack)
{
	bool call_return = false;
	struct state *state = of;
	unw_cursor_t cursor;
	unw_word_t pc;

	state->input = input;
	if (state->unw.init_remote(&cursor, state->space, state))
		return;
	do {
		if (state->unw.get_reg(&cursor, UNW_REG_IP, &pc) || !pc)
			break;
		stack->frames[stack->count] = (struct mt_frame){
			.pc = pc,
			.source = stack->count ? MT_FRAME_CFI : MT_FRAME_IP,
			.call_return = call_return,
		};
		call_return = state->unw.is_signal_frame(&cursor) <= 0;
	} while (++stack->count < stack->capacity && state->unw.step(&cursor) > 0);
}

const struct mt_oracle mt_oracle_libunwind = {"libunwind", create, destroy, unwind};
#endif
