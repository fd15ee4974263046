/*
 * The header of a perf.data file, its attrs and its feature sections. Piped data has only the first
 * 16 bytes of the header.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/perfdata/perfdata.h"
#include "formats/reading/input.h"

enum {
	HEADER_MIN = 16, /* header of piped data */
	TYPE_SIZE = 72,	 /* of an event type, in files of perf before Linux 3.10 */
	ATTR_MIN = 64,
	ATTR_MAX = 4096,
};

struct section {
	uint64_t offset, size;
};

static struct section get_section(const uint8_t *at)
{
	return (struct section){mt_get_le64(at), mt_get_le64(at + 8)};
}

/*
 * Reads a whole section. *bytes stays NULL if the section lies outside the file or is larger than
 * any valid one.
 */
static struct mt_error *read_section(const struct mt_input *input, struct section section,
				     uint8_t **bytes)
{
	MT_CLEANUP_FREE uint8_t *buffer = NULL;
	struct mt_error *err;
	size_t got;

	if (!section.size || section.size > MT_PERF_FEATURE_MAX || section.offset > input->size ||
	    section.size > input->size - section.offset)
		return NULL;
	buffer = mt_alloc(section.size, 1);
	err = mt_input_read(input, section.offset, buffer, section.size, &got);
	if (!err && got == section.size)
		*bytes = MT_TAKE(buffer);
	return err;
}

/* One entry of the attr section: the attr, and the location of its ids. */
static struct mt_error *read_attr(const struct mt_input *input, struct mt_perf_facts *facts,
				  const uint8_t *entry, size_t size)
{
	struct section ids = get_section(entry + size - MT_PERF_SECTION_SIZE);
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	struct mt_error *err = read_section(input, ids, &bytes);

	if (!err)
		mt_perf_add_event(facts, entry, size - MT_PERF_SECTION_SIZE, bytes,
				  bytes ? ids.size / 8 : 0);
	return err;
}

static struct mt_error *read_attrs(const struct mt_input *input, struct mt_perf_facts *facts,
				   struct section attrs, uint64_t entry_size)
{
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	struct mt_error *err = read_section(input, attrs, &bytes);

	if (!err && !bytes)
		return mt_error_create(MT_ERR_FORMAT, "is cut short or damaged: its attributes "
						      "cannot be read");
	for (uint64_t at = 0; !err && attrs.size - at >= entry_size; at += entry_size)
		err = read_attr(input, facts, bytes + at, entry_size);
	return err;
}

static struct mt_error *read_types(const struct mt_input *input, struct mt_perf_facts *facts,
				   struct section types)
{
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	struct mt_error *err = read_section(input, types, &bytes);

	for (uint64_t at = 0; bytes && types.size - at >= TYPE_SIZE; at += TYPE_SIZE) {
		const char *name = (const char *)bytes + at + 8;

		if (memchr(name, 0, TYPE_SIZE - 8))
			mt_perf_add_number(facts, false, mt_get_le64(bytes + at), name);
	}
	return err;
}

static struct mt_error *read_feature(const struct mt_input *input, struct mt_perf_facts *facts,
				     uint32_t feature, struct section section)
{
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	struct mt_error *err = read_section(input, section, &bytes);

	if (!err && bytes)
		mt_perf_feature(facts, feature, bytes, section.size);
	return err;
}

/*
 * Reads the table after the data: the location of each feature whose bit is set, in the order of
 * the bits.
 */
static struct mt_error *read_features(const struct mt_input *input, struct mt_perf_facts *facts,
				      const uint8_t *bits, uint64_t table)
{
	struct mt_error *err = NULL;

	for (uint32_t feature = 0; feature < MT_PERF_FEATURE_BITS && !err; feature++) {
		uint8_t entry[MT_PERF_SECTION_SIZE];
		size_t got;

		if (!(bits[feature / 8] >> feature % 8 & 1))
			continue;
		err = mt_input_read(input, table, entry, sizeof(entry), &got);
		if (!err && got < sizeof(entry))
			break;
		err = err ? err : read_feature(input, facts, feature, get_section(entry));
		table += sizeof(entry);
	}
	return err;
}

static struct mt_error *check_magic(const uint8_t *header)
{
	if (!memcmp(header, "2ELIFREP", 8))
		return mt_error_create(
			MT_ERR_UNSUPPORTED,
			"is a perf.data file of a big-endian machine: not supported");
	/* Before Linux 3.4, the magic does not show the byte order; the size of the header does. */
	if (mt_get_le64(header + MT_PERF_OFF_SIZE) == (uint64_t)MT_PERF_HEADER_SIZE << 56)
		return mt_error_create(
			MT_ERR_UNSUPPORTED,
			"is a perf.data file of a big-endian machine: not supported");
	return NULL;
}

static struct mt_error *read_file(const struct mt_input *input, struct mt_perf_facts *facts,
				  const uint8_t *header, struct mt_perf_layout *out)
{
	struct section data = get_section(header + MT_PERF_OFF_DATA);
	uint64_t entry_size = mt_get_le64(header + MT_PERF_OFF_ATTR_SIZE);
	struct mt_error *err;

	if (entry_size < ATTR_MIN + MT_PERF_SECTION_SIZE || entry_size > ATTR_MAX)
		return mt_error_create(MT_ERR_FORMAT, "is damaged: attributes of %llu bytes",
				       (unsigned long long)entry_size);
	err = read_attrs(input, facts, get_section(header + MT_PERF_OFF_ATTRS), entry_size);
	if (err)
		return err;
	out->begin = data.offset < input->size ? data.offset : input->size;
	/* perf writes the data size, then the features, when it ends */
	out->cut_short = !data.size || data.size > input->size - out->begin;
	out->end = out->cut_short ? input->size : out->begin + data.size;
	err = read_types(input, facts, get_section(header + MT_PERF_OFF_TYPES));
	if (err || out->cut_short)
		return err;
	return read_features(input, facts, header + MT_PERF_OFF_FEATURES, out->end);
}

struct mt_error *mt_perf_header_read(const struct mt_input *input, struct mt_perf_facts *facts,
				     struct mt_perf_layout *out)
{
	uint8_t header[MT_PERF_HEADER_SIZE];
	size_t got;
	struct mt_error *err = mt_input_read(input, 0, header, sizeof(header), &got);

	if (err)
		return err;
	if (got < HEADER_MIN)
		return mt_error_create(MT_ERR_FORMAT,
				       "is a perf.data file cut short in its header");
	err = check_magic(header);
	if (err)
		return err;
	*out = (struct mt_perf_layout){.begin = HEADER_MIN, .end = input->size};
	out->piped = mt_get_le64(header + MT_PERF_OFF_SIZE) == HEADER_MIN;
	if (out->piped)
		return NULL;
	if (got < MT_PERF_HEADER_SIZE ||
	    mt_get_le64(header + MT_PERF_OFF_SIZE) != MT_PERF_HEADER_SIZE)
		return mt_error_create(MT_ERR_FORMAT, "is a perf.data file cut short or damaged in "
						      "its header");
	return read_file(input, facts, header, out);
}
