/* Tests whether a function's own code calls another function by name. */
#ifndef MT_RECORD_ALLOCATORS_FUNCTION_CALLS_H
#define MT_RECORD_ALLOCATORS_FUNCTION_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_elf;

/*
 * Returns true if the code at a link-time address calls or jumps to the function `name`: directly,
 * by its PLT entry, or through its GOT slot (-fno-plt). Does not follow calls. Returns true for
 * code that cannot be read, including that of machines other than x86-64.
 */
bool mt_function_calls(struct mt_elf *elf, uint64_t address, uint64_t size, const char *name);

#endif
