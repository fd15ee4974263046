/*
 * A preloaded library that makes this kernel answer like an older one. It refuses what the older
 * kernel refuses, with the same errno, and passes other calls on. The refusals of each kernel were
 * measured; the table below has all differences that perf_event_open, its ioctls and the path of
 * tracefs show.
 *
 *	LD_PRELOAD=old_kernel.so OLD_KERNEL=3.10 mtrec ...
 *
 * OLD_KERNEL_WITHOUT removes more: "syscalls" the syscalls:* tracepoints, as without
 * CONFIG_FTRACE_SYSCALLS; "tracepoints" all tracepoints; "perf" perf_event_open.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

struct old_kernel {
	const char *version;
	size_t attr_size;      /* bytes after this size must be 0, else E2BIG */
	unsigned flag_bits;    /* of the bit field; higher bits give EINVAL */
	unsigned sample_bits;  /* of sample_type */
	unsigned read_bits;    /* of read_format */
	unsigned software;     /* PERF_COUNT_SW_MAX; events from this number on give ENOENT */
	unsigned open_flags;   /* of perf_event_open */
	bool reserved_clockid; /* the clockid field must be 0 */
	bool ioctl_id, ioctl_pause, ioctl_modify, has_tracefs, has_uprobe_pmu;
};

static const struct old_kernel kernels[] = {
	{.version = "3.10",
	 .attr_size = 96,
	 .flag_bits = 23,
	 .sample_bits = 16,
	 .read_bits = 4,
	 .software = 9,
	 .open_flags = 7,
	 .reserved_clockid = true},
	{.version = "4.4",
	 .attr_size = 112,
	 .flag_bits = 27,
	 .sample_bits = 19,
	 .read_bits = 4,
	 .software = 11,
	 .open_flags = 15,
	 .ioctl_id = true,
	 .has_tracefs = true},
	{.version = "4.15",
	 .attr_size = 112,
	 .flag_bits = 29,
	 .sample_bits = 20,
	 .read_bits = 4,
	 .software = 11,
	 .open_flags = 15,
	 .ioctl_id = true,
	 .ioctl_pause = true,
	 .has_tracefs = true},
	{.version = "4.18",
	 .attr_size = 112,
	 .flag_bits = 29,
	 .sample_bits = 20,
	 .read_bits = 4,
	 .software = 11,
	 .open_flags = 15,
	 .ioctl_id = true,
	 .ioctl_pause = true,
	 .ioctl_modify = true,
	 .has_tracefs = true,
	 .has_uprobe_pmu = true},
	{.version = "5.4",
	 .attr_size = 112,
	 .flag_bits = 32,
	 .sample_bits = 20,
	 .read_bits = 4,
	 .software = 11,
	 .open_flags = 15,
	 .ioctl_id = true,
	 .ioctl_pause = true,
	 .ioctl_modify = true,
	 .has_tracefs = true,
	 .has_uprobe_pmu = true},
};

static const struct old_kernel *kernel(void)
{
	const char *version = getenv("OLD_KERNEL");

	for (size_t i = 0; version && i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (!strcmp(kernels[i].version, version))
			return &kernels[i];
	}
	return &kernels[sizeof(kernels) / sizeof(kernels[0]) - 1];
}

static bool without(const char *what)
{
	const char *set = getenv("OLD_KERNEL_WITHOUT");

	return set && !strcmp(set, what);
}

static int refuse(int errnum)
{
	errno = errnum;
	return -1;
}

/* The errno with which that kernel refuses the attr; 0 if it opens the event. */
static int refused_attr(const struct old_kernel *k, const struct perf_event_attr *attr)
{
	const uint8_t *bytes = (const uint8_t *)attr;
	uint64_t flags;

	for (size_t i = k->attr_size; i < attr->size; i++) {
		if (bytes[i])
			return E2BIG;
	}
	memcpy(&flags, bytes + 40, sizeof(flags));
	if (flags >> k->flag_bits || attr->sample_type >> k->sample_bits ||
	    attr->read_format >> k->read_bits)
		return EINVAL;
	if (k->reserved_clockid && attr->clockid)
		return EINVAL;
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config >= k->software)
		return ENOENT;
	return 0;
}

static long next_syscall(long number, const long *a)
{
	static long (*next)(long, ...);

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long open_event(const long *a)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a[0];
	const struct old_kernel *k = kernel();
	int errnum = refused_attr(k, attr);

	if (without("perf"))
		return refuse(EACCES);
	if (without("tracepoints") && attr->type == PERF_TYPE_TRACEPOINT)
		return refuse(EACCES);
	if ((unsigned long)a[4] & ~(unsigned long)k->open_flags)
		return refuse(EINVAL);
	return errnum ? refuse(errnum) : next_syscall(SYS_perf_event_open, a);
}

/* Replaces the C library's syscall(), which mtrec calls. */
long syscall(long number, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_perf_event_open)
		return open_event(a);
	return next_syscall(number, a);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	const struct old_kernel *k = kernel();
	va_list ap;
	long argument;

	va_start(ap, request);
	argument = va_arg(ap, long);
	va_end(ap);
	if ((request == PERF_EVENT_IOC_ID && !k->ioctl_id) ||
	    (request == PERF_EVENT_IOC_PAUSE_OUTPUT && !k->ioctl_pause) ||
	    (request == PERF_EVENT_IOC_MODIFY_ATTRIBUTES && !k->ioctl_modify))
		return refuse(ENOTTY);
	if (!next)
		next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	return next(fd, request, argument);
}

/* Returns 0, or the errno if the path does not exist on that kernel. */
static int refused_path(const char *path)
{
	const struct old_kernel *k = kernel();

	if (!k->has_tracefs && !strncmp(path, "/sys/kernel/tracing", 19))
		return ENOENT;
	if (without("tracepoints") &&
	    (!strncmp(path, "/sys/kernel/tracing", 19) || !strncmp(path, "/sys/kernel/debug", 17)))
		return EACCES;
	if (without("syscalls") && strstr(path, "events/syscalls/"))
		return ENOENT;
	if (!k->has_uprobe_pmu && strstr(path, "/event_source/devices/uprobe"))
		return ENOENT;
	return 0;
}

static int open_path(int dir, const char *path, int flags, unsigned mode)
{
	static int (*next)(int, const char *, int, ...);
	int errnum = refused_path(path);

	if (errnum)
		return refuse(errnum);
	if (!next)
		next = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	return next(dir, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	unsigned mode;

	va_start(ap, flags);
	mode = va_arg(ap, unsigned);
	va_end(ap);
	return open_path(dir, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	unsigned mode;

	va_start(ap, flags);
	mode = va_arg(ap, unsigned);
	va_end(ap);
	return open_path(AT_FDCWD, path, flags, mode);
}

int mount(const char *source, const char *target, const char *type, unsigned long flags,
	  const void *data)
{
	static int (*next)(const char *, const char *, const char *, unsigned long, const void *);

	if (type &&
	    ((!strcmp(type, "tracefs") && !kernel()->has_tracefs) || without("tracepoints")))
		return refuse(ENODEV);
	if (!next)
		next = (int (*)(const char *, const char *, const char *, unsigned long,
				const void *))dlsym(RTLD_NEXT, "mount");
	return next(source, target, type, flags, data);
}

int uname(struct utsname *name)
{
	static int (*next)(struct utsname *);
	int status;

	if (!next)
		next = (int (*)(struct utsname *))dlsym(RTLD_NEXT, "uname");
	status = next(name);
	snprintf(name->release, sizeof(name->release), "%s.0-old", kernel()->version);
	return status;
}
