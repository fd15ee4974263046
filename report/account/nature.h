/*
 * What regions are, and which files they are of: each distinct answer once, with an id.
 */
#ifndef MT_REPORT_ACCOUNT_NATURE_H
#define MT_REPORT_ACCOUNT_NATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/account/regions.h"

struct mt_natures;

enum mt_region_flag {
	MT_REGION_SHARED = 1,
	MT_REGION_NOT_FORKED = 2, /* madvise(MADV_DONTFORK) */
	MT_REGION_GROWS_DOWN = 4,
	MT_REGION_GIGANTIC = 8, /* HUGE: of 1 GiB, not 2 MiB */
};

#define MT_FILE_NONE 0u

struct mt_nature {
	uint64_t delta; /* offset in the file less the address, modulo 2^64; 0 without a file */
	uint32_t file;	/* id, or MT_FILE_NONE */
	uint8_t prot;	/* PROT_READ, PROT_WRITE, PROT_EXEC */
	uint8_t kind;	/* enum mt_region_kind */
	uint16_t flags; /* enum mt_region_flag */
};

struct mt_file_identity {
	uint32_t major, minor;
	uint64_t inode;
	const char *name; /* as /proc/PID/maps or MMAP2 has it */
};

/* NULL out of memory. */
struct mt_natures *mt_natures_create(void);
void mt_natures_destroy(struct mt_natures *natures);

/* The id of a nature; UINT32_MAX out of memory. Borrows by id; what it points to stays. */
uint32_t mt_natures_intern(struct mt_natures *natures, const struct mt_nature *nature);
const struct mt_nature *mt_natures_get(const struct mt_natures *natures, uint32_t id);

/*
 * The id of a file, never MT_FILE_NONE; UINT32_MAX out of memory. With an inode the name does not
 * count: the first one is kept.
 */
uint32_t mt_natures_file(struct mt_natures *natures, const struct mt_file_identity *identity);
/* Its identity: the name holds as long as the natures. */
struct mt_file_identity mt_natures_file_get(const struct mt_natures *natures, uint32_t file);

/* What a program holds, whatever files it maps. */
static inline bool mt_nature_is_held(const struct mt_nature *nature)
{
	return nature->kind == MT_REGION_ANONYMOUS || nature->kind == MT_REGION_HEAP ||
	       nature->kind == MT_REGION_SHM || nature->kind == MT_REGION_HUGE ||
	       nature->kind == MT_REGION_THREAD_STACK;
}

#endif
