/* The edit distance of two words, computed row by row. */
#include "formats/base/nearest.h"

#include <string.h>

#define LONGEST 48 /* longest words that are compared */

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Number of letters to insert, delete, replace or swap with their neighbour. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t k = 0; k <= n; k++)
		above[k] = (unsigned)k;
	for (size_t i = 1; i <= m; i++) {
		unsigned *free_row = before;

		row[0] = (unsigned)i;
		for (size_t k = 1; k <= n; k++) {
			row[k] = least(above[k] + 1, row[k - 1] + 1,
				       above[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    before[k - 2] + 1 < row[k])
				row[k] = before[k - 2] + 1;
		}
		before = above;
		above = row;
		row = free_row;
	}
	return above[n];
}

void mt_nearest_offer(struct mt_nearest *nearest, const char *word)
{
	size_t length = strlen(word);
	unsigned apart;

	if (nearest->length < 3 || nearest->length > LONGEST || length > LONGEST)
		return;
	apart = distance(nearest->typed, nearest->length, word, length);
	if (apart > nearest->length / 3 || (nearest->best && apart >= nearest->distance))
		return;
	nearest->best = word;
	nearest->distance = apart;
}
