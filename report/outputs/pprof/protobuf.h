/*
 * Encodes messages of protocol buffers: varints and length-delimited fields, which are all that a
 * profile has.
 */
#ifndef MT_REPORT_OUTPUTS_PPROF_PROTOBUF_H
#define MT_REPORT_OUTPUTS_PPROF_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

/* A message under construction. */
struct mt_protobuf {
	MT_ARRAY(uint8_t) bytes;
};

void mt_protobuf_deinit(struct mt_protobuf *message);

/* Empties the message, but keeps its memory. */
void mt_protobuf_clear(struct mt_protobuf *message);

/* An integer field. 0 is the default of an absent field, and adds nothing. */
void mt_protobuf_integer(struct mt_protobuf *message, unsigned int field, uint64_t value);

/* A field of bytes: a string or a message. */
void mt_protobuf_bytes(struct mt_protobuf *message, unsigned int field, const void *bytes,
		       size_t size);
void mt_protobuf_message(struct mt_protobuf *message, unsigned int field,
			 const struct mt_protobuf *part);

/* A number of a packed field, whose bytes are put with mt_protobuf_message(). */
void mt_protobuf_packed(struct mt_protobuf *packed, uint64_t value);

#endif
