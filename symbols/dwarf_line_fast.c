/*
 * Line programs 32 bytes at a time, by AVX2: where the opcodes and their operands are, and the sums
 * of what they do to address and line. Most of a program is opcodes of one byte and operands of one
 * or two; what is not is left to dwarf_line.c, opcode by opcode.
 *
 * Whether a byte is an opcode depends on the byte before it: "set column" makes an operand of what
 * follows, and a byte of an operand with its top bit set makes one more. So each byte is one of
 * three functions of "is an operand due?": those that are set_file and the like turn it round (as
 * an operand they end it), those with the top bit leave it as it is (as an opcode they are special,
 * and have none), all others end it. Turns are added up by exclusive or from the last end on.
 */
#include "formats/base/cpu.h"
#include "symbols/dwarf.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum {
	BLOCK = 32,
	OPCODE_BASE = 13, /* of all compilers that write version 3 to 5 */
	/* what opcodes below 16 are, one bit each from the top */
	HAS_OPERAND = 0x80,
	STOPS = 0x40, /* not done here */
	IS_LINE = 0x20,
	IS_FILE = 0x10,
	IS_CONST_ADD = 0x08,
	WHOLE = 24, /* a block of which fewer bytes were done was ended by an opcode */
};

/* What was gone over, not yet added up: four lanes each. */
struct sums {
	__m256i advances, specials, lows, highs;
	uint64_t special_count, negative_lows, negative_highs, const_adds;
	const uint8_t *file; /* operand of the last set_file; NULL: none */
};

bool mt_line_fast_usable(const struct mt_line_rules *rules)
{
	static const uint8_t lengths[OPCODE_BASE] = {0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

	return rules->opcode_base == OPCODE_BASE && rules->minimum_length == 1 &&
	       rules->line_range > 1 && !memcmp(rules->lengths, lengths, sizeof(lengths)) &&
	       mt_cpu_has(AVX2, "avx2") && mt_cpu_has(BMI1, "bmi") && mt_cpu_has(BMI2, "bmi2") &&
	       mt_cpu_has(POPCNT, "popcnt");
}

#define FAST __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define FAST_INLINE static inline FAST __attribute__((always_inline))

/* The bytes that bits stand for, all ones. */
FAST_INLINE __m256i bytes_of(uint32_t bits)
{
	const __m256i which = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2,
					       2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
	const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
	__m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), which);

	return _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
}

FAST_INLINE uint32_t top_bits(__m256i bytes)
{
	return (uint32_t)_mm256_movemask_epi8(bytes);
}

/* How many bits there are up to the topmost that is set. */
FAST_INLINE uint32_t bits_to_top(uint32_t bits)
{
	return 63 - (uint32_t)__builtin_clzll((uint64_t)bits << 1 | 1);
}

FAST_INLINE __m256i add_masked(__m256i sum, __m256i bytes, uint32_t bits)
{
	return _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_and_si256(bytes, bytes_of(bits)),
						     _mm256_setzero_si256()));
}

/* What opcodes are, by their value; 0 for those above 15. */
FAST_INLINE __m256i classes(__m256i v)
{
	const __m256i table = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(STOPS, 0, (char)(HAS_OPERAND | STOPS), (char)(HAS_OPERAND | IS_LINE),
			      (char)(HAS_OPERAND | IS_FILE), (char)HAS_OPERAND, 0, 0, IS_CONST_ADD,
			      STOPS, 0, 0, STOPS, 0, 0, 0));
	__m256i small = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(15)), v);

	return _mm256_and_si256(_mm256_shuffle_epi8(table, v), small);
}

/* After which bytes an operand is due: see above. */
FAST_INLINE uint32_t operand_due(uint32_t turns, uint32_t keeps)
{
	uint32_t open = turns | keeps, parity = turns, starts;

	parity ^= parity << 1;
	parity ^= parity << 2;
	parity ^= parity << 4;
	parity ^= parity << 8;
	parity ^= parity << 16;
	/* runs between ends: those before which the turns are odd are the other way round */
	starts = (parity & ~open) << 1 & open;
	return (parity ^ ~(open + starts)) & open;
}

/* One block; gives how many bytes it went over, whole opcodes. */
FAST_INLINE uint32_t run_block(const uint8_t *pos, __m256i reciprocal, struct sums *sums)
{
	__m256i v = _mm256_loadu_si256((const void *)pos), zero = _mm256_setzero_si256();
	__m256i class = classes(v), low = _mm256_and_si256(v, _mm256_set1_epi8(0x7f));
	__m256i special = _mm256_subs_epu8(v, _mm256_set1_epi8(OPCODE_BASE));
	__m256i advance = _mm256_packus_epi16(
		_mm256_mulhi_epu16(_mm256_unpacklo_epi8(special, zero), reciprocal),
		_mm256_mulhi_epu16(_mm256_unpackhi_epi8(special, zero), reciprocal));
	uint32_t more = top_bits(v), negative = top_bits(_mm256_slli_epi16(v, 1));
	uint32_t due = operand_due(top_bits(class), more), opcodes = ~(due << 1);
	uint32_t line = top_bits(_mm256_slli_epi16(class, 2)) & opcodes;
	/* a line advance of three bytes or more is rare */
	uint32_t stop = (top_bits(_mm256_slli_epi16(class, 1)) & opcodes) |
			(line & (more & more >> 1) >> 1);
	uint32_t whole = bits_to_top(~due), until = _tzcnt_u32(stop), specials, lows, highs;
	uint32_t done = until < whole ? until : whole, files;

	opcodes = _bzhi_u32(opcodes, done);
	specials =
		top_bits(_mm256_cmpeq_epi8(_mm256_max_epu8(v, _mm256_set1_epi8(OPCODE_BASE)), v)) &
		opcodes;
	lows = (line & opcodes) << 1;
	highs = (lows & more) << 1;
	files = top_bits(_mm256_slli_epi16(class, 3)) & opcodes;
	sums->advances = add_masked(sums->advances, advance, specials);
	sums->specials = add_masked(sums->specials, special, specials);
	sums->lows = add_masked(sums->lows, low, lows);
	sums->highs = add_masked(sums->highs, low, highs);
	sums->special_count += (uint32_t)__builtin_popcount(specials);
	sums->negative_lows += (uint32_t)__builtin_popcount(lows & ~more & negative);
	sums->negative_highs += (uint32_t)__builtin_popcount(highs & negative);
	sums->const_adds +=
		(uint32_t)__builtin_popcount(top_bits(_mm256_slli_epi16(class, 4)) & opcodes);
	sums->file = files ? pos + bits_to_top(files) : sums->file;
	return done;
}

FAST_INLINE uint64_t total(__m256i lanes)
{
	__m128i half =
		_mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));

	return (uint64_t)_mm_extract_epi64(half, 0) + (uint64_t)_mm_extract_epi64(half, 1);
}

/* Adds up what was gone over. */
FAST_INLINE void apply(const struct mt_line_rules *rules, const struct sums *sums,
		       struct mt_line_machine *m)
{
	uint64_t advance = total(sums->advances);
	struct mt_cursor file = mt_cursor_init(sums->file, sums->file ? BLOCK : 0);

	m->address += advance + sums->const_adds * rules->special[255].advance;
	m->line += (uint32_t)(sums->special_count * (uint64_t)(int64_t)rules->line_base +
			      total(sums->specials) - rules->line_range * advance +
			      total(sums->lows) - (sums->negative_lows << 7) +
			      (total(sums->highs) << 7) - (sums->negative_highs << 14));
	if (sums->file)
		m->file = (uint32_t)mt_dwarf_uleb(&file);
}

FAST void mt_line_fast_run(const struct mt_line_rules *rules, const uint8_t *limit,
			   struct mt_line_machine *m)
{
	__m256i reciprocal = _mm256_set1_epi16((short)rules->reciprocal);
	struct sums sums = {.advances = _mm256_setzero_si256(),
			    .specials = _mm256_setzero_si256(),
			    .lows = _mm256_setzero_si256(),
			    .highs = _mm256_setzero_si256()};
	const uint8_t *pos = m->c.pos, *end = m->c.end;

	while (pos < limit && end - pos >= BLOCK) {
		uint32_t done = run_block(pos, reciprocal, &sums);

		pos += done;
		if (done >= WHOLE)
			continue;
		if (!mt_line_is_discriminator(pos, end))
			break;
		pos += 2 + pos[1];
	}
	m->c.pos = pos;
	apply(rules, &sums, m);
}
#else
bool mt_line_fast_usable(const struct mt_line_rules *rules)
{
	(void)rules;
	return false;
}

void mt_line_fast_run(const struct mt_line_rules *rules, const uint8_t *limit,
		      struct mt_line_machine *m)
{
	(void)rules;
	(void)limit;
	(void)m;
}
#endif
