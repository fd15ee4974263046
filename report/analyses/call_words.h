/*
 * Arguments and results of memory's system calls in words, as strace has them.
 */
#ifndef MT_REPORT_ANALYSES_CALL_WORDS_H
#define MT_REPORT_ANALYSES_CALL_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* "PROT_READ|PROT_WRITE", "PROT_NONE"; bits without a name in hex. Into out, terminated. */
void mt_words_prot(uint64_t prot, char *out, size_t size);

/* "MAP_PRIVATE|MAP_ANONYMOUS"; with the size of huge pages where it says one. */
void mt_words_map_flags(uint64_t flags, char *out, size_t size);

/* "MREMAP_MAYMOVE"; "0" for none. */
void mt_words_remap_flags(uint64_t flags, char *out, size_t size);

/* "ENOMEM" for -12; a number where that is no error with a name. Into out, terminated. */
void mt_words_error(int64_t result, char *out, size_t size);

#endif
