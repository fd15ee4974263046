/* The pages of what is loaded, and those of a stack. */
#include "record/ready.h"

#include <errno.h>
#include <link.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/base/pages.h"

#define STACK ((size_t)32 << 10)

/*
 * An object is of interest if a drain runs in it: it has one of these. Where code is not
 * position-independent, the address of a library's function is that of a stub of our own; the text
 * of an error is where the C library is.
 */
static bool has_ours(const struct dl_phdr_info *object)
{
	uintptr_t parts[] = {(uintptr_t)mt_ready_code, (uintptr_t)memcpy,
			     (uintptr_t)pthread_mutex_lock, (uintptr_t)strerror(EINVAL)};
	bool has = false;

	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + load->p_vaddr;

		if (load->p_type != PT_LOAD)
			continue;
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			has |= parts[k] - start < load->p_memsz;
	}
	return has;
}

/* What stands at the start of a page may be anything, the guard between two variables, too. */
__attribute__((no_sanitize("address"))) static void read_pages(uintptr_t start, size_t size)
{
	for (uintptr_t at = start; at < start + size; at = (at | (MT_PAGE_MIN - 1)) + 1)
		(void)*(const volatile uint8_t *)at;
}

/* What the loader has made read-only behind itself. */
static const ElfW(Phdr) * find_relro(const struct dl_phdr_info *object)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		if (object->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			return &object->dlpi_phdr[i];
	}
	return NULL;
}

/* Data that may be written has its own copy of a page from the first write on. */
static void ready_data(const struct dl_phdr_info *object, const ElfW(Phdr) * load)
{
	const ElfW(Phdr) *relro = find_relro(object);
	uintptr_t start = object->dlpi_addr + load->p_vaddr, end = start + load->p_memsz;

	if (relro && object->dlpi_addr + relro->p_vaddr < end) {
		uintptr_t fixed = object->dlpi_addr + relro->p_vaddr + relro->p_memsz;

		start = fixed > start ? fixed : start; /* it stands in front */
	}
	if (start < end)
		mt_pages_ready((void *)start, end - start);
}

static int ready_object(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	(void)context;
	if (!has_ours(object))
		return 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];

		if (load->p_type != PT_LOAD || !(load->p_flags & PF_R))
			continue;
		if (load->p_flags & PF_W)
			ready_data(object, load);
		else
			read_pages(object->dlpi_addr + load->p_vaddr, load->p_memsz);
	}
	return 0;
}

void mt_ready_code(void)
{
	(void)dl_iterate_phdr(ready_object, NULL);
}

void mt_ready_local(void)
{
	int mode = MPOL_LOCAL;

	if (!syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) && mode == MPOL_DEFAULT)
		(void)!syscall(SYS_set_mempolicy, MPOL_LOCAL, NULL, 0);
}

/* Nothing larger is taken from the stack for it: it may be small, as RLIMIT_STACK says. */
void mt_ready_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), lowest = 0;
	pthread_attr_t attr;
	size_t size;
	void *stack;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &stack, &size))
		lowest = (uintptr_t)stack;
	pthread_attr_destroy(&attr);
	if (lowest && lowest < here)
		mt_pages_ready((void *)(here - lowest > STACK ? here - STACK : lowest),
			       here - lowest > STACK ? STACK : here - lowest);
}
