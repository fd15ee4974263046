/*
 * Encodes the words of a DATA chunk's PACKED records against earlier words of the chunk (FORMAT.md
 * section 7.4): many words repeat a recent word, or differ from one in their lowest 16 bits. The
 * output is planes, each with bytes of one kind. Encoder and decoder keep all words of the chunk.
 */
#ifndef MT_FORMATS_STACKS_WORD_CODE_H
#define MT_FORMATS_STACKS_WORD_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cursor;

/* In the order of a chunk's planes. */
enum mt_word_plane {
	MT_WORD_TAGS, /* two bits for each word */
	MT_WORD_SAME_LOW,
	MT_WORD_SAME_HIGH,
	MT_WORD_ALIKE_LOW,
	MT_WORD_ALIKE_HIGH,
	MT_WORD_DIFFERENCE_LOW,
	MT_WORD_DIFFERENCE_HIGH,
	MT_WORD_LITERALS, /* eight bytes each */
	MT_WORD_PLANES,
};

#define MT_WORD_TABLE_BITS 13

/* Hash tables: the index, modulo 65,536, of the last word with a hash. */
struct mt_word_tables {
	uint16_t same[1u << MT_WORD_TABLE_BITS];
	uint16_t alike[1u << MT_WORD_TABLE_BITS];
};

/* The bytes of one plane. */
struct mt_plane {
	const uint8_t *bytes;
	size_t size;
};

/* The caller owns the memory, with room for one word more than it encodes. */
struct mt_word_encoder {
	struct mt_word_tables *tables;
	uint64_t *words;
	size_t count;
	size_t same;	    /* distance of the last word in MT_WORD_SAME_LOW and _HIGH */
	unsigned tags;	    /* tags of the last four words */
	uint8_t *tag_bytes; /* a quarter as many bytes as words */
	uint16_t *sames;    /* distances */
	uint32_t *alikes;   /* distances, and the differences in the upper 16 bits */
	uint64_t *literals;
	size_t same_count, alike_count, literal_count;
};

/* Begins a chunk; tables and memory are set by the caller. */
void mt_word_encoder_begin(struct mt_word_encoder *encoder);
void mt_word_encode(struct mt_word_encoder *encoder, const uint8_t *from, size_t count);

/*
 * Passes the words encoded so far that did not repeat an earlier one, in batches that are valid
 * during the call: every word but 0 at least once, most of them once. Only before
 * mt_word_encoder_end().
 */
typedef void mt_words_deliver(void *context, const uint64_t *words, size_t count);
void mt_word_encoder_deliver(const struct mt_word_encoder *encoder, mt_words_deliver *deliver,
			     void *context);

/*
 * Ends the chunk. The planes lie in the encoder's memory and are valid until the next chunk begins.
 */
void mt_word_encoder_end(struct mt_word_encoder *encoder, struct mt_plane planes[MT_WORD_PLANES]);

/* The caller owns the memory. */
struct mt_word_decoder {
	struct mt_cursor *planes; /* MT_WORD_PLANES of them */
	uint64_t *words;	  /* room for all words and one more */
	size_t count;
	size_t same;
	uint32_t tags;
	unsigned tag_shift;
};

/* Begins a chunk; planes and words are set by the caller. */
void mt_word_decoder_begin(struct mt_word_decoder *decoder);

/* Decodes the next `count` words; false if the planes do not hold them. */
bool mt_word_decode(struct mt_word_decoder *decoder, uint8_t *to, size_t count);

#endif
