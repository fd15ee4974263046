/*
 * Which images are carried: those mapped by processes that had a sample, found out on the writing
 * thread from the records that pass. A child maps what its parent mapped.
 */
#ifndef MT_RECORD_CARRY_IMAGE_CHOICE_H
#define MT_RECORD_CARRY_IMAGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_image_choice;
struct mt_file_worker;
struct mt_image_record;
struct mt_mapped_file;

/* What is called once for each image that is chosen, with its file, which it takes, or -1. */
struct mt_embed_offer {
	void *context;
	void (*offer)(void *context, int fd, const struct mt_mapped_file *file,
		      const struct mt_image_record *image);
	/* Of a process with its first sample, and when one with a sample execs; else exec_time 0 */
	void (*process)(void *context, int32_t pid, uint64_t exec_time);
};

/*
 * unsampled: every image is chosen at once. files, who closes them, is borrowed, or NULL. NULL out
 * of memory.
 */
struct mt_image_choice *mt_image_choice_create(bool unsampled, const struct mt_embed_offer *offer,
					       struct mt_file_worker *files);
void mt_image_choice_destroy(struct mt_image_choice *choice);

/*
 * Makes an image known, of which the file is still to be read. Gives its number for
 * mt_image_choice_map(), 0 where it will not be carried.
 */
uint32_t mt_image_choice_add(struct mt_image_choice *choice, const struct mt_mapped_file *file);

/*
 * The file was read, and image tells of it: it is offered once it is chosen. fd, which is taken,
 * may be -1. image NULL: there is nothing to carry.
 */
void mt_image_choice_know(struct mt_image_choice *choice, uint32_t number, int fd,
			  const struct mt_image_record *image);

/* What processes did, in whatever order the records come; time: of the record. */
void mt_image_choice_map(struct mt_image_choice *choice, int32_t pid, uint32_t image);
void mt_image_choice_fork(struct mt_image_choice *choice, int32_t pid, int32_t parent,
			  uint64_t time);
void mt_image_choice_exec(struct mt_image_choice *choice, int32_t pid, uint64_t time);
void mt_image_choice_exit(struct mt_image_choice *choice, int32_t pid, uint64_t time);
void mt_image_choice_sample(struct mt_image_choice *choice, int32_t pid);

#endif
