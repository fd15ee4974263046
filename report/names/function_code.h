/*
 * Disassembles functions of the report's images: from the file with the recorded build id, or the
 * code that the recording carries.
 */
#ifndef MT_REPORT_NAMES_FUNCTION_CODE_H
#define MT_REPORT_NAMES_FUNCTION_CODE_H

#include "report/tables/code_text.h"

struct mt_function_code;
struct mt_naming;

/* Borrows the naming. NULL out of memory. */
struct mt_function_code *mt_function_code_create(struct mt_naming *naming);
void mt_function_code_destroy(struct mt_function_code *code);

/* The reader, borrowed. Images are those of the naming's frames. */
struct mt_code_reader mt_function_code_reader(struct mt_function_code *code);

#endif
