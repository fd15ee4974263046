/*
 * Chooses the images to carry: those mapped by processes with a sample. The writing thread passes
 * records here as it writes them. A child inherits its parent's mappings.
 */
#ifndef MT_RECORD_CARRY_IMAGE_CHOICE_H
#define MT_RECORD_CARRY_IMAGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_image_choice;
struct mt_image_file;
struct mt_image_files;

struct mt_carry_worker_offer {
	void *context;
	/* Called one time for each chosen image, after its file was read. */
	void (*offer)(void *context, const struct mt_image_file *file);
	/* Called at a process's first sample (exec_time 0), and at the time of each later exec. */
	void (*process)(void *context, int32_t pid, uint64_t exec_time);
};

/* unsampled: every image is chosen at once. Borrows files. NULL out of memory. */
struct mt_image_choice *mt_image_choice_create(bool unsampled,
					       const struct mt_carry_worker_offer *offer,
					       struct mt_image_files *files);
void mt_image_choice_destroy(struct mt_image_choice *choice);

/* Call when the file was read and `known` is set. Offers the file if it was chosen before. */
void mt_image_choice_know(struct mt_image_choice *choice, struct mt_image_file *file);

/* Pass the records of processes here, in any order. `time` is the time of the record. */
void mt_image_choice_map(struct mt_image_choice *choice, int32_t pid, struct mt_image_file *file);
void mt_image_choice_fork(struct mt_image_choice *choice, int32_t pid, int32_t parent,
			  uint64_t time);
void mt_image_choice_exec(struct mt_image_choice *choice, int32_t pid, uint64_t time);
void mt_image_choice_exit(struct mt_image_choice *choice, int32_t pid, uint64_t time);
void mt_image_choice_sample(struct mt_image_choice *choice, int32_t pid);

#endif
