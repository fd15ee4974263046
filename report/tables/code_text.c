/* Frees the text of code. */
#include "report/tables/code_text.h"

#include <stdlib.h>

void mt_code_text_deinit(struct mt_code_text *text)
{
	for (size_t i = 0; i < text->count; i++)
		free(text->lines[i].text);
	free(text->lines);
	*text = (struct mt_code_text){0};
}
