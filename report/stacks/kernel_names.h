/*
 * Names of kernel code: those that a recording carries of its kernel, or this machine's where it is
 * the boot that was recorded. Else kernel code is told apart by module alone, as far as mappings
 * tell of modules.
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
	const char *kallsyms;	     /* a file that holds whatever the boot; NULL: /proc/kallsyms */
	bool prefer_local;	     /* this machine's before those that the recording carries */
	bool demangle;
};

/* A kallsyms file that was asked for and cannot be read is an error; /proc/kallsyms is not. */
struct mt_error *mt_kernel_names_create(const struct mt_kernel_names_options *options,
					struct mt_kernel_names **out);
void mt_kernel_names_destroy(struct mt_kernel_names *names);

/* What the recording of that number carries; borrowed. False out of memory. */
bool mt_kernel_names_add(struct mt_kernel_names *names, size_t recording,
			 struct mt_carried *carried);

/* Whether that recording carries names of its kernel. */
bool mt_kernel_names_are_carried(const struct mt_kernel_names *names, size_t recording);

/* The recording of that number is read from now on, of another boot until told. */
bool mt_kernel_names_begin(struct mt_kernel_names *names, size_t recording);

/* True where this machine has run since the boot that boot_id names. */
bool mt_kernel_names_is_this_boot(const struct mt_kernel_names *names, const char *boot_id);
void mt_kernel_names_set_boot(struct mt_kernel_names *names, bool this_boot);

/* A mapping of the kernel's: a module's place is noted. False out of memory. */
bool mt_kernel_names_map(struct mt_kernel_names *names, const struct mt_kernel_record *record);

/*
 * The place of kernel code. Where nothing can name it, all of a module is one place, and all of
 * the kernel proper; but each address is with `apart`.
 */
struct mt_frame_key mt_kernel_names_place(const struct mt_kernel_names *names, uint64_t address,
					  bool apart);

/* The name of such a place; NULL where no names of its kernel are at hand. */
const struct mt_symbol *mt_kernel_names_name(struct mt_kernel_names *names,
					     const struct mt_frame_key *key);

/*
 * Why addresses of the recording that is read cannot be named, or NULL. Reads the names where that
 * was not done.
 */
const char *mt_kernel_names_problem(struct mt_kernel_names *names);

#endif
