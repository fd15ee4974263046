/*
 * Which images are carried: those mapped by processes that had a sample, found out on the writing
 * thread from the records that pass. A child maps what its parent mapped.
 */
#ifndef MT_RECORD_EMBED_CHOICE_H
#define MT_RECORD_EMBED_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_embed_choice;
struct mt_image_record;
struct mt_mapped_file;

/* What is called once for each image that is chosen, with its file or -1 where that is closed. */
struct mt_embed_offer {
	void *context;
	void (*offer)(void *context, int fd, const struct mt_mapped_file *file,
		      const struct mt_image_record *image);
	/* Of a process with its first sample, and when one with a sample execs; else exec_time 0 */
	void (*process)(void *context, int32_t pid, uint64_t exec_time);
};

/* unsampled: every image is chosen at once. NULL out of memory. */
struct mt_embed_choice *mt_embed_choice_create(bool unsampled, const struct mt_embed_offer *offer);
void mt_embed_choice_destroy(struct mt_embed_choice *choice);

/*
 * Makes an image known; fd, which is duplicated as long as there are few, may be -1. Gives its
 * number for mt_embed_choice_map(), 0 where it will not be carried.
 */
uint32_t mt_embed_choice_add(struct mt_embed_choice *choice, int fd,
			     const struct mt_mapped_file *file,
			     const struct mt_image_record *image);

/* What processes did, in whatever order the records come; time: of the record. */
void mt_embed_choice_map(struct mt_embed_choice *choice, int32_t pid, uint32_t image);
void mt_embed_choice_fork(struct mt_embed_choice *choice, int32_t pid, int32_t parent,
			  uint64_t time);
void mt_embed_choice_exec(struct mt_embed_choice *choice, int32_t pid, uint64_t time);
void mt_embed_choice_exit(struct mt_embed_choice *choice, int32_t pid, uint64_t time);
void mt_embed_choice_sample(struct mt_embed_choice *choice, int32_t pid);

#endif
