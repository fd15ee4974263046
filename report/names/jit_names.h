/*
 * Names of generated code from perf maps (/tmp/perf-PID.map), carried or on this machine. Each perf
 * map is an image whose file offsets are addresses.
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

/*
 * Borrows images. prefer_local: this machine's files take precedence over carried ones. NULL out of
 * memory.
 */
struct mt_jit_names *mt_jit_names_create(struct mt_image_set *images, bool prefer_local);
void mt_jit_names_destroy(struct mt_jit_names *jit);

/* Adds what a recording carries; borrowed. False out of memory. */
bool mt_jit_names_add(struct mt_jit_names *jit, size_t recording, struct mt_carried *carried);

/*
 * The image with names of pid's code at `time`, NULL: none. It is the first carried perf map read
 * later; if none is carried of this process, /tmp/perf-PID.map, if written at `since` (s since
 * 1970) or later. MT_JIT_NAMES_NO_LOCAL: carried ones only.
 */
struct mt_image *mt_jit_names_image(struct mt_jit_names *jit, size_t recording, int64_t since,
				    int32_t pid, uint64_t time);

/*
 * The text of such an image if it is this machine's, and the recording carries none of its process;
 * else NULL. Borrowed.
 */
const uint8_t *mt_jit_names_local_text(const struct mt_jit_names *jit, size_t recording,
				       uint32_t image, int32_t *pid, size_t *size);

/* The symbol at an address in such an image, valid until the next call; NULL for other images. */
const struct mt_symbol *mt_jit_names_name(struct mt_jit_names *jit, uint32_t image,
					  uint64_t address);

#endif
