/*
 * Which images are carried: those mapped by processes that had a sample, found out on the writing
 * thread from the records that pass. A child maps what its parent mapped.
 */
#ifndef MT_RECORD_CARRY_IMAGE_CHOICE_H
#define MT_RECORD_CARRY_IMAGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_image_choice;
struct mt_image_file;
struct mt_image_files;

struct mt_embed_offer {
	void *context;
	/* Called once for each image that is chosen, when its file was read. */
	void (*offer)(void *context, const struct mt_image_file *file);
	/* Of a process with its first sample, and when one with a sample execs; else exec_time 0 */
	void (*process)(void *context, int32_t pid, uint64_t exec_time);
};

/* unsampled: every image is chosen at once. Borrows files. NULL out of memory. */
struct mt_image_choice *mt_image_choice_create(bool unsampled, const struct mt_embed_offer *offer,
					       struct mt_image_files *files);
void mt_image_choice_destroy(struct mt_image_choice *choice);

/* The file was read, and is known: it is offered where it was chosen before. */
void mt_image_choice_know(struct mt_image_choice *choice, struct mt_image_file *file);

/* What processes did, in whatever order the records come; time: of the record. */
void mt_image_choice_map(struct mt_image_choice *choice, int32_t pid, struct mt_image_file *file);
void mt_image_choice_fork(struct mt_image_choice *choice, int32_t pid, int32_t parent,
			  uint64_t time);
void mt_image_choice_exec(struct mt_image_choice *choice, int32_t pid, uint64_t time);
void mt_image_choice_exit(struct mt_image_choice *choice, int32_t pid, uint64_t time);
void mt_image_choice_sample(struct mt_image_choice *choice, int32_t pid);

#endif
