/*
 * The words of a DATA chunk's PACKED records, held against those before them (FORMAT.md section
 * 7.4): many are one that was there not long ago, or differ from one in their lowest bits only.
 * What is left of each goes to planes, where bytes of one kind stand together. Both directions keep
 * all words of the chunk.
 */
#ifndef MT_FORMATS_STACKS_WORD_CODE_H
#define MT_FORMATS_STACKS_WORD_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_cursor;

/* Their order in a chunk's planes. */
enum mt_word_plane {
	MT_WORD_TAGS, /* two bits a word */
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

/* Where words stood last, by what is made of them; modulo 65,536. */
struct mt_word_tables {
	uint16_t same[1u << MT_WORD_TABLE_BITS];
	uint16_t alike[1u << MT_WORD_TABLE_BITS];
};

/* Bytes of one kind of a chunk's words. */
struct mt_plane {
	const uint8_t *bytes;
	size_t size;
};

/* Words on their way to planes. The memory is the caller's, with room for one more than come. */
struct mt_word_encoder {
	struct mt_word_tables *tables;
	uint64_t *words;
	size_t count;
	size_t same;	    /* the distance of the last word that was told by one */
	unsigned tags;	    /* the last four */
	uint8_t *tag_bytes; /* for a quarter as many */
	uint16_t *sames;    /* distances */
	uint32_t *alikes;   /* distances and, above them, differences */
	uint64_t *literals;
	size_t same_count, alike_count, literal_count;
};

/* Begins a chunk with tables and memory as they are set. */
void mt_word_encoder_begin(struct mt_word_encoder *encoder);
void mt_word_encode(struct mt_word_encoder *encoder, const uint8_t *from, size_t count);

/*
 * Tells the words so far that were not found as they are, in pieces that hold for the call: all
 * that there are but 0, most of them once. Before the end, if at all.
 */
typedef void mt_words_tell(void *context, const uint64_t *words, size_t count);
void mt_word_encoder_tell(const struct mt_word_encoder *encoder, mt_words_tell *tell,
			  void *context);

/* Behind the last word. The planes stand in the encoder's memory, until the next chunk begins. */
void mt_word_encoder_end(struct mt_word_encoder *encoder, struct mt_plane planes[MT_WORD_PLANES]);

/* And back. */
struct mt_word_decoder {
	struct mt_cursor *planes; /* MT_WORD_PLANES of them */
	uint64_t *words;	  /* room for all, and one more */
	size_t count;
	size_t same;
	uint32_t tags;
	unsigned tag_shift;
};

/* Begins a chunk with planes and words as they are set. */
void mt_word_decoder_begin(struct mt_word_decoder *decoder);

/* The next words, to `to`. False where the planes do not hold them. */
bool mt_word_decode(struct mt_word_decoder *decoder, uint8_t *to, size_t count);

#endif
