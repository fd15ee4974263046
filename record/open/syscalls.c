/* Numbers of the event table's system calls. */
#include "record/open/syscalls.h"

#include <string.h>
#include <sys/syscall.h>

#define MT_SOFTWARE(...)
#define MT_HARDWARE(...)
#define MT_CACHE(...)
#define MT_MARK(...)
#define MT_GROUP(...)
#define MT_ALLOCATOR(...)
#define MT_SYSCALL(name, ...) {#name, SYS_##name},

static const struct mt_syscall syscalls[] = {
#include "formats/events.def"
};

const struct mt_syscall *mt_syscalls(size_t *count)
{
	*count = sizeof(syscalls) / sizeof(syscalls[0]);
	return syscalls;
}

bool mt_syscall_number(const char *name, long *number)
{
	for (size_t i = 0; i < sizeof(syscalls) / sizeof(syscalls[0]); i++) {
		if (strcmp(syscalls[i].name, name))
			continue;
		*number = syscalls[i].number;
		return true;
	}
	return false;
}
