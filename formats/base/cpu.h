/*
 * CPU features. Some C libraries export the features that they have read. The compiler's builtin
 * runs CPUID again at each program start, which costs microseconds in a virtual machine.
 */
#ifndef MT_FORMATS_BASE_CPU_H
#define MT_FORMATS_BASE_CPU_H

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define MT_CPU_BY_LIBC 1
#endif
#endif

#ifdef MT_CPU_BY_LIBC
/* Whether the CPU has a feature, by its number in the C library. Only for the macro below. */
static inline int mt_cpu_feature(unsigned int number)
{
	const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(number / 128);

	return leaf->active_array[number / 32 % 4] >> (number % 32) & 1;
}

/*
 * Whether the CPU has a feature. `libc_name` and `name` are its names in the C library and in the
 * compiler.
 */
#define mt_cpu_has(libc_name, name) mt_cpu_feature(x86_cpu_##libc_name)
#elif defined(__x86_64__)
#define mt_cpu_has(libc_name, name) __builtin_cpu_supports(name)
#endif

#endif
