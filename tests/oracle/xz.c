/* Unpacks an xz file from stdin to stdout: xz [MAX]. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/err.h"
#include "symbols/xz.h"

int main(int argc, char **argv)
{
	static uint8_t in[32 << 20];
	size_t size = fread(in, 1, sizeof(in), stdin),
	       max = argc > 1 ? strtoul(argv[1], NULL, 0) : 1 << 28;
	size_t out_size = 0;
	uint8_t *out = NULL, *exact = malloc(size + 1);
	struct mt_error *err;

	/* of exactly that size, for the sanitizers */
	for (size_t i = 0; i < size; i++)
		exact[i] = in[i];
	err = mt_xz_decode(exact, size, max, &out, &out_size);
	free(exact);
	if (err) {
		fprintf(stderr, "%s\n", err->message);
		mt_error_destroy(err);
		return 1;
	}
	if (out)
		fwrite(out, 1, out_size, stdout);
	free(out);
	return 0;
}
