/*
 * Names of kernel code: from the recording, or from this machine for recordings of its present
 * boot. Without names, kernel code is only divided into modules, and only if the recording has
 * mappings of modules.
 */
#ifndef MT_REPORT_STACKS_KERNEL_NAMES_H
#define MT_REPORT_STACKS_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_carried;
struct mt_error;
struct mt_frame_key;
struct mt_image;
struct mt_image_set;
struct mt_kernel_names;
struct mt_kernel_record;
struct mt_symbol;

struct mt_kernel_names_options {
	struct mt_image_set *images; /* borrowed */
	const char *kallsyms;	     /* kallsyms file to use for any boot; NULL: /proc/kallsyms */
	bool prefer_local;	     /* prefer this machine's names to carried ones */
	bool demangle;
};

/*
 * An unreadable options->kallsyms is an error; an unreadable /proc/kallsyms is not. Borrows images.
 */
struct mt_error *mt_kernel_names_create(const struct mt_kernel_names_options *options,
					struct mt_kernel_names **out);
void mt_kernel_names_destroy(struct mt_kernel_names *names);

/* Adds the names that a recording carries; borrowed. */
void mt_kernel_names_add(struct mt_kernel_names *names, size_t recording,
			 struct mt_carried *carried);

/* True if the recording carries names of the kernel. */
bool mt_kernel_names_are_carried(const struct mt_kernel_names *names, size_t recording);

/*
 * Starts a recording, which is considered to be of another boot until mt_kernel_names_set_boot().
 */
void mt_kernel_names_begin(struct mt_kernel_names *names, size_t recording);

/* True if boot_id is this machine's present boot. */
bool mt_kernel_names_is_this_boot(const struct mt_kernel_names *names, const char *boot_id);
void mt_kernel_names_set_boot(struct mt_kernel_names *names, bool this_boot);

/* Adds a mapping of the kernel, to find a module's range. */
void mt_kernel_names_map(struct mt_kernel_names *names, const struct mt_kernel_record *record);

/*
 * The place of a kernel address. Without names each module is one place, and the kernel outside of
 * modules is one place; with `apart` each address is a separate place.
 */
struct mt_frame_key mt_kernel_names_place(const struct mt_kernel_names *names, uint64_t address,
					  bool apart);

/* The symbol of a place in a kernel; NULL without names of that kernel. */
const struct mt_symbol *mt_kernel_names_name(struct mt_kernel_names *names,
					     const struct mt_frame_key *key);

/* mt_symbolizer_lost() for kernel names. */
size_t mt_kernel_names_lost(const struct mt_kernel_names *names);

/* Why the present recording's kernel has no names; NULL if it has. Reads the names on first use. */
const char *mt_kernel_names_problem(struct mt_kernel_names *names);

#endif
