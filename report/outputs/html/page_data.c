/* Collects the columns in a compressed stream in memory, and the JSON in another one. */
#include "report/outputs/html/page_data.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"
#include "report/outputs/pprof/gzip.h"

enum {
	BUFFER = 64 << 10,
	LARGEST_ITEM = 16, /* bytes of a number */
};

struct mt_page_data {
	FILE *json, *packed; /* streams into json_text and packed_bytes */
	char *json_text, *packed_bytes;
	size_t json_size, packed_size;
	struct mt_gzip *gzip;
	size_t written; /* bytes that precede the buffer */
	size_t used;
	unsigned char buffer[BUFFER];
};

struct mt_page_data *mt_page_data_create(void)
{
	struct mt_page_data *data = mt_alloc(1, sizeof(*data));

	data->json = mt_open_text(&data->json_text, &data->json_size);
	data->packed = mt_open_text(&data->packed_bytes, &data->packed_size);
	data->gzip = mt_gzip_create(data->packed);
	return data;
}

void mt_page_data_destroy(struct mt_page_data *data)
{
	if (!data)
		return;
	mt_gzip_destroy(data->gzip);
	fclose(data->json);
	fclose(data->packed);
	free(data->json_text);
	free(data->packed_bytes);
	free(data);
}

FILE *mt_page_data_json(struct mt_page_data *data)
{
	return data->json;
}

/* ---- Columns ---- */

static void flush(struct mt_page_data *data)
{
	mt_gzip_write(data->gzip, data->buffer, data->used);
	data->written += data->used;
	data->used = 0;
}

static void put_bytes(struct mt_page_data *data, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		size_t part = BUFFER - data->used < size ? BUFFER - data->used : size;

		memcpy(data->buffer + data->used, at, part);
		data->used += part;
		at += part;
		size -= part;
		if (data->used == BUFFER)
			flush(data);
	}
}

void mt_page_data_column(struct mt_page_data *data, const char *name, size_t count)
{
	fprintf(data->json, "\"%s\":[%zu,%zu]", name, data->written + data->used, count);
}

void mt_page_data_number(struct mt_page_data *data, uint64_t number)
{
	if (data->used + LARGEST_ITEM > BUFFER)
		flush(data);
	for (; number >= 0x80; number >>= 7)
		data->buffer[data->used++] = (unsigned char)(number | 0x80);
	data->buffer[data->used++] = (unsigned char)number;
}

void mt_page_data_signed(struct mt_page_data *data, int64_t number)
{
	mt_page_data_number(data, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

void mt_page_data_double(struct mt_page_data *data, double number)
{
	put_bytes(data, &number, sizeof(number));
}

void mt_page_data_text(struct mt_page_data *data, const char *text)
{
	size_t length = strlen(text);

	mt_page_data_number(data, length);
	put_bytes(data, text, length);
}

/* ---- The end ---- */

static void put_json(struct mt_page_data *data)
{
	unsigned char size[4];

	fflush(data->json);
	put_bytes(data, "{", 1);
	put_bytes(data, data->json_text, data->json_size);
	put_bytes(data, "}", 1);
	for (size_t i = 0; i < sizeof(size); i++)
		size[i] = (unsigned char)((data->json_size + 2) >> 8 * i);
	put_bytes(data, size, sizeof(size));
	flush(data);
}

/* Writes RFC 4648, section 4: four digits for each three bytes, which need no escaping in HTML. */
static void write_base64(const unsigned char *bytes, size_t size, FILE *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t group = (uint32_t)bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes[i + 2] : 0);

		putc_unlocked(digits[group >> 18], to);
		putc_unlocked(digits[group >> 12 & 63], to);
		putc_unlocked(left > 1 ? digits[group >> 6 & 63] : '=', to);
		putc_unlocked(left > 2 ? digits[group & 63] : '=', to);
	}
}

void mt_page_data_write(struct mt_page_data *data, FILE *to)
{
	put_json(data);
	mt_gzip_finish(data->gzip);
	if (fflush(data->packed) || ferror(data->packed) || ferror(data->json))
		mt_memory_failed();
	write_base64((const unsigned char *)data->packed_bytes, data->packed_size, to);
}
