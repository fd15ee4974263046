/*
 * Code that no file holds: which of the perf maps (/tmp/perf-PID.map) at hand tells of a process'
 * anonymous memory, and the names in it. Each stands for an image of its own, whose file offsets
 * are addresses.
 */
#ifndef MT_REPORT_NAMES_JIT_NAMES_H
#define MT_REPORT_NAMES_JIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_carried;
struct mt_image;
struct mt_image_set;
struct mt_jit_names;
struct mt_symbol;

#define MT_JIT_NAMES_NO_LOCAL INT64_MAX

/* Borrows images. prefer_local: this machine's files count before carried ones. NULL: no memory. */
struct mt_jit_names *mt_jit_names_create(struct mt_image_set *images, bool prefer_local);
void mt_jit_names_destroy(struct mt_jit_names *jit);

/* Adds what the recording of that number carries, borrowed. False out of memory. */
bool mt_jit_names_add(struct mt_jit_names *jit, size_t recording, struct mt_carried *carried);

/*
 * The image of what pid's code at that time was named, NULL where nothing was: of the carried ones
 * the first that was read later; where there is none, /tmp/perf-PID.map as it is now, if that was
 * written at `since` (s since 1970) or later.
 */
struct mt_image *mt_jit_names_image(struct mt_jit_names *jit, size_t recording, int64_t since,
				    int32_t pid, uint64_t time);

/*
 * The text behind such an image where it is this machine's, and the recording carries none of that
 * process; else NULL. Borrowed.
 */
const uint8_t *mt_jit_names_local_text(const struct mt_jit_names *jit, size_t recording,
				       uint32_t image, int32_t *pid, size_t *size);

/*
 * The symbol at an address in such an image, until the next call; NULL where the image is another.
 */
const struct mt_symbol *mt_jit_names_name(struct mt_jit_names *jit, uint32_t image,
					  uint64_t address);

#endif
