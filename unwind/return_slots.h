/*
 * Return addresses that return probes have replaced. While a function with a return probe runs, its
 * return address on the stack is the kernel's trampoline, the first byte of the page [uprobes]. The
 * replaced address is known from the function's entry, which mtrec records with each return probe.
 */
#ifndef MT_UNWIND_RETURN_SLOTS_H
#define MT_UNWIND_RETURN_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/dump.h"

#define MT_RETURN_SLOTS 16 /* innermost ones of a thread that a stack can have restored */

struct mt_return_slots;

/* Creates an empty table. */
struct mt_return_slots *mt_return_slots_create(void);
void mt_return_slots_destroy(struct mt_return_slots *slots);

/*
 * A thread entered a function with a return probe. Functions that it entered deeper on the stack
 * have returned.
 */
void mt_return_slots_enter(struct mt_return_slots *slots, int32_t tid,
			   const struct mt_return_slot *entered);

/* Borrows the thread's innermost slots until the next call. */
const struct mt_return_slot *mt_return_slots_get(const struct mt_return_slots *slots, int32_t tid,
						 size_t *count);

/* Drops all slots: records were lost, or another recording begins. */
void mt_return_slots_clear(struct mt_return_slots *slots);

#endif
