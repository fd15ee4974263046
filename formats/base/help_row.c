#include "formats/base/help_row.h"

#include <stdbool.h>
#include <string.h>

enum {
	TEXT_COLUMN = 28,
	WIDTH = 80,
};

void mt_help_row(const char *left, const char *text, FILE *to)
{
	size_t used = strlen(left), column = TEXT_COLUMN;

	fputs(left, to);
	if (used + 2 > TEXT_COLUMN)
		fprintf(to, "\n%*s", TEXT_COLUMN, "");
	else
		fprintf(to, "%*s", (int)(TEXT_COLUMN - used), "");
	for (bool first = true; *text; first = false) {
		size_t word = strcspn(text, " ");

		if (!first && column + 1 + word > WIDTH) {
			fprintf(to, "\n%*s", TEXT_COLUMN, "");
			column = TEXT_COLUMN;
		} else if (!first) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", (int)word, text);
		column += word;
		text += word + (text[word] == ' ');
	}
	fputc('\n', to);
}
