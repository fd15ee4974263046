/*
 * The instructions of a function as text: the contract between the module that has the images and
 * an output that shows code.
 */
#ifndef MT_REPORT_TABLES_CODE_TEXT_H
#define MT_REPORT_TABLES_CODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* --asm */
enum mt_asm {
	MT_ASM_UNASKED, /* instructions without their source, in Intel's syntax */
	MT_ASM_INTEL,
	MT_ASM_ATT,
};

struct mt_code_line {
	uint64_t at; /* offset in bytes from the function's start */
	uint8_t size;
	bool is_syscall;
	char *text; /* ASCII, except for the name of a called function */
};

/* A function's code. Zero is valid. */
struct mt_code_text {
	uint64_t start;		    /* link-time address */
	struct mt_code_line *lines; /* count of them, by address; unavailable bytes are left out */
	size_t count, capacity;
	const char *from; /* the file that the bytes are from; borrowed from the reader */
	const char *why;  /* the reason why there are no lines, borrowed; NULL: there are lines */
};

static inline void mt_code_text_deinit(struct mt_code_text *text)
{
	for (size_t i = 0; i < text->count; i++)
		free(text->lines[i].text);
	free(text->lines);
	*text = (struct mt_code_text){0};
}

/* Reads the code of the function that begins at an offset of an image's file. */
struct mt_code_reader {
	void *context;
	void (*read)(void *context, uint32_t image, uint64_t offset, bool att,
		     struct mt_code_text *out);
};

#endif
