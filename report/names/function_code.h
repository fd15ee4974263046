/*
 * Disassembles functions of the report's images: from the file with the recorded build id, or the
 * code that the recording carries.
 */
#ifndef MT_REPORT_NAMES_FUNCTION_CODE_H
#define MT_REPORT_NAMES_FUNCTION_CODE_H

#include "report/tables/code_text.h"

struct mt_frame_key;
struct mt_function_code;
struct mt_image_set;
struct mt_symbol;

/* Names a frame, as mt_naming_name() does. */
typedef const struct mt_symbol *mt_function_namer(void *naming, const struct mt_frame_key *key);

/* Borrows images and naming. */
struct mt_function_code *mt_function_code_create(struct mt_image_set *images,
						 mt_function_namer *name, void *naming);
void mt_function_code_destroy(struct mt_function_code *code);

/* A reader that borrows `code`. */
struct mt_code_reader mt_function_code_reader(struct mt_function_code *code);

#endif
