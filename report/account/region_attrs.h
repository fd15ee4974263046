/* Interned attributes of regions and identities of files. */
#ifndef MT_REPORT_ACCOUNT_REGION_ATTRS_H
#define MT_REPORT_ACCOUNT_REGION_ATTRS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/account/regions.h"

struct mt_attr_table;

enum mt_region_flag {
	MT_REGION_SHARED = 1,
	MT_REGION_NOT_FORKED = 2, /* madvise(MADV_DONTFORK) */
	MT_REGION_GROWS_DOWN = 4,
	MT_REGION_GIGANTIC = 8, /* MT_REGION_HUGE: pages of 1 GiB, not 2 MiB */
};

#define MT_FILE_NONE 0u

struct mt_region_attrs {
	uint64_t delta; /* file offset minus address, modulo 2^64; 0 without a file */
	uint32_t file;	/* file id, or MT_FILE_NONE */
	uint8_t prot;	/* PROT_READ, PROT_WRITE, PROT_EXEC */
	uint8_t kind;	/* enum mt_region_kind */
	uint16_t flags; /* bits of enum mt_region_flag */
};

struct mt_file_identity {
	uint32_t major, minor;
	uint64_t inode;
	const char *name; /* as in /proc/PID/maps or MMAP2 */
};

/* The caller destroys it. */
struct mt_attr_table *mt_attr_table_create(void);
void mt_attr_table_destroy(struct mt_attr_table *attr_table);

/* The id of region attributes. Attributes are borrowed and never move. */
uint32_t mt_attr_table_intern(struct mt_attr_table *attr_table,
			      const struct mt_region_attrs *attrs);
const struct mt_region_attrs *mt_attrs_get(const struct mt_attr_table *attr_table, uint32_t id);

/*
 * The id of a file, never MT_FILE_NONE. Files with an inode are compared without their names; the
 * first name is kept.
 */
uint32_t mt_attr_table_file(struct mt_attr_table *attr_table,
			    const struct mt_file_identity *identity);
/* A file's identity; the name is borrowed as long as the attribute table. */
struct mt_file_identity mt_attr_table_file_get(const struct mt_attr_table *attr_table,
					       uint32_t file);

/* True for memory that a program holds, as opposed to files it maps. */
static inline bool mt_region_attrs_are_held(const struct mt_region_attrs *attrs)
{
	return attrs->kind == MT_REGION_ANONYMOUS || attrs->kind == MT_REGION_HEAP ||
	       attrs->kind == MT_REGION_SHM || attrs->kind == MT_REGION_HUGE ||
	       attrs->kind == MT_REGION_THREAD_STACK;
}

#endif
