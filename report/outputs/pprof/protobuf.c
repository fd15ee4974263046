/* The parts of the wire format of protocol buffers that profiles need. */
#include "report/outputs/pprof/protobuf.h"

enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
	VARINT_MOST = 10, /* bytes of 64 bits, seven each */
};

void mt_protobuf_deinit(struct mt_protobuf *message)
{
	mt_array_deinit(&message->bytes);
}

void mt_protobuf_clear(struct mt_protobuf *message)
{
	message->bytes.count = 0;
}

void mt_protobuf_packed(struct mt_protobuf *packed, uint64_t value)
{
	mt_array_reserve(&packed->bytes, packed->bytes.count + VARINT_MOST);
	for (; value >= 0x80; value >>= 7)
		packed->bytes.items[packed->bytes.count++] = (uint8_t)(value | 0x80);
	packed->bytes.items[packed->bytes.count++] = (uint8_t)value;
}

void mt_protobuf_integer(struct mt_protobuf *message, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	mt_protobuf_packed(message, field << 3 | WIRE_VARINT);
	mt_protobuf_packed(message, value);
}

void mt_protobuf_bytes(struct mt_protobuf *message, unsigned int field, const void *bytes,
		       size_t size)
{
	mt_protobuf_packed(message, field << 3 | WIRE_BYTES);
	mt_protobuf_packed(message, size);
	mt_array_extend(&message->bytes, (const uint8_t *)bytes, size);
}

void mt_protobuf_message(struct mt_protobuf *message, unsigned int field,
			 const struct mt_protobuf *part)
{
	mt_protobuf_bytes(message, field, part->bytes.items, part->bytes.count);
}
