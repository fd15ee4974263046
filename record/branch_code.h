/*
 * Which code branch records lead through, found out on the writing thread: where each record comes
 * from, and what lies between two of them, since only code proves that it ran straight there. The
 * kernel's word for a branch, where it gives one, does not tell that, nor how long a call is.
 *
 * A sample's process may have mapped that code in a record that is still in another CPU's ring: so
 * places are gathered, and looked up once everything before a time is here. Each is told once, in
 * blocks of MT_CODE_BLOCK bytes of its file. Bounded in memory: what is beyond it is counted.
 */
#ifndef MT_RECORD_BRANCH_CODE_H
#define MT_RECORD_BRANCH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block;
struct mt_branch_code;
struct mt_image_record;
struct mt_mapped_file;
struct mt_plan;

/* A file's code that is new: blocks of MT_CODE_BLOCK bytes, by their numbers in it, rising. */
struct mt_branch_code_news {
	int fd; /* borrowed; -1: file says where to look */
	const struct mt_mapped_file *file;
	const struct mt_image_record *image;
	uint64_t time; /* rises from call to call */
	const uint64_t *blocks;
	size_t count;
};

struct mt_branch_code_sink {
	void *context;
	void (*offer)(void *context, const struct mt_branch_code_news *news);
};

/* What is not told of, in places that branch records lead through. */
struct mt_branch_code_counts {
	uint64_t nowhere; /* in no mapping that was recorded, or in memory that is no file's */
	uint64_t beyond;  /* past what is kept in memory */
	uint64_t passed;  /* samples that were not looked at in haste */
};

/* Whether the plan has an event with branch records. */
bool mt_branch_code_planned(const struct mt_plan *plan);

/* Borrows the plan. NULL out of memory. */
struct mt_branch_code *mt_branch_code_create(const struct mt_plan *plan,
					     const struct mt_branch_code_sink *sink);
void mt_branch_code_destroy(struct mt_branch_code *code);

/* Tells where the file is that somebody maps executable; fd, which is duplicated, may be -1. */
void mt_branch_code_add_file(struct mt_branch_code *code, int fd, const struct mt_mapped_file *file,
			     const struct mt_image_record *image);

/* A block of STATE: what ran already. Or of DATA; in haste its samples are passed by. */
void mt_branch_code_see(struct mt_branch_code *code, const struct mt_block *block, bool in_haste);

/*
 * No record below that time will come any more. What is new is told at once and then at pauses that
 * grow to a minute.
 */
void mt_branch_code_settle(struct mt_branch_code *code, uint64_t below);

/* No record at all will: tells what is left. */
void mt_branch_code_finish(struct mt_branch_code *code);

/* So far. */
struct mt_branch_code_counts mt_branch_code_counts(const struct mt_branch_code *code);

#endif
