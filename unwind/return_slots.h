/*
 * Return addresses that return probes have replaced. While a function with a return probe runs, the
 * kernel has replaced its return address on the stack by that of a trampoline, the first byte of
 * the page [uprobes]. mtrec also records the entry of the function, with the replaced address.
 */
#ifndef MT_UNWIND_RETURN_SLOTS_H
#define MT_UNWIND_RETURN_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/dump.h"

#define MT_RETURN_SLOTS 16 /* innermost replaced addresses kept for each thread */

struct mt_return_slots;

/* Creates an empty table. */
struct mt_return_slots *mt_return_slots_create(void);
void mt_return_slots_destroy(struct mt_return_slots *slots);

/*
 * Adds the slot of a function that the thread entered. Drops slots deeper on the stack, whose
 * functions have returned.
 */
void mt_return_slots_enter(struct mt_return_slots *slots, int32_t tid,
			   const struct mt_return_slot *entered);

/* Borrows the thread's innermost slots until the next mt_return_slots_enter() or _clear(). */
const struct mt_return_slot *mt_return_slots_get(const struct mt_return_slots *slots, int32_t tid,
						 size_t *count);

/* Drops all slots. Call when records were lost, and before another recording. */
void mt_return_slots_clear(struct mt_return_slots *slots);

#endif
