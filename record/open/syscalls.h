/* The system calls of the event table, with their numbers on this architecture. */
#ifndef MT_RECORD_OPEN_SYSCALLS_H
#define MT_RECORD_OPEN_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

struct mt_syscall {
	const char *name;
	long number;
};

/* Returns an array with an item for each MT_SYSCALL row, in the table's order. */
const struct mt_syscall *mt_syscalls(size_t *count);

/* Returns false if the table has no call of that name. */
bool mt_syscall_number(const char *name, long *number);

#endif
