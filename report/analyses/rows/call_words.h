/*
 * Arguments and results of memory system calls as text, as strace prints them. All texts are cut to
 * `size` and NUL-terminated.
 */
#ifndef MT_REPORT_ANALYSES_CALL_WORDS_H
#define MT_REPORT_ANALYSES_CALL_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* "PROT_READ|PROT_WRITE", "PROT_NONE"; unnamed bits in hex. */
void mt_words_prot(uint64_t prot, char *out, size_t size);

/* "MAP_PRIVATE|MAP_ANONYMOUS", with the size of huge pages if the flags have one. */
void mt_words_map_flags(uint64_t flags, char *out, size_t size);

/* "MREMAP_MAYMOVE"; "0" without flags. */
void mt_words_remap_flags(uint64_t flags, char *out, size_t size);

/* "ENOMEM" for -12; other results as a number. */
void mt_words_error(int64_t result, char *out, size_t size);

#endif
