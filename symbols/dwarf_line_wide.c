/*
 * Line programs 64 bytes at a time, by AVX-512: as dwarf_line_fast.c does it, and discriminators
 * and line advances of three bytes as well, which leaves little to stop at. What tells is the
 * compares into mask registers; vectors stay at 256 bits, since wider ones slow down what runs
 * next.
 */
#include "formats/base/cpu.h"
#include "symbols/dwarf.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum {
	BLOCK = 64,
	OPCODE_BASE = 13,
	STEP = 56,  /* from one block to the next: an opcode's operands end in the block it is in */
	LAST = 60,  /* of the last one, to a whole opcode, the same */
	WHOLE = 52, /* a block of which fewer bytes were done was ended by an opcode */
	AHEAD = 1024, /* bytes that are asked of memory beforehand: over the end of a page */
};

/* 64 bytes of a program. */
struct block {
	__m256i low, high;
};

/* What was gone over, not yet added up: four lanes each, eight of advances. */
struct sums {
	__m256i advances, lines, lows, middles, highs;
	uint64_t special_count, const_adds, negative;
	const uint8_t *file; /* operand of the last set_file; NULL: none */
};

/* Where a block has which bytes, one bit each. */
struct bytes {
	uint64_t more, turns, within, stops;
};

/*
 * What a block leaves to the next. Blocks begin wherever the one before was left, so that none
 * waits for where the opcodes of another end.
 */
struct carry {
	uint64_t due;	 /* 1: the first byte is an operand */
	uint64_t within; /* which bytes are in the middle of a discriminator */
};

bool mt_line_wide_usable(const struct mt_line_rules *rules)
{
	return mt_line_fast_usable(rules) && mt_cpu_has(AVX512BW, "avx512bw") &&
	       mt_cpu_has(AVX512VL, "avx512vl");
}

#define WIDE __attribute__((target("avx512bw,avx512vl,bmi,bmi2,popcnt")))
#define WIDE_INLINE static inline WIDE __attribute__((always_inline))

WIDE_INLINE uint64_t join(__mmask32 low, __mmask32 high)
{
	return low | (uint64_t)high << 32;
}

WIDE_INLINE uint64_t equal(struct block v, char byte)
{
	__m256i all = _mm256_set1_epi8(byte);

	return join(_mm256_cmpeq_epi8_mask(v.low, all), _mm256_cmpeq_epi8_mask(v.high, all));
}

/* Bytes of at least, or at most, a value. */
WIDE_INLINE uint64_t from(struct block v, char byte)
{
	__m256i all = _mm256_set1_epi8(byte);

	return join(_mm256_cmpge_epu8_mask(v.low, all), _mm256_cmpge_epu8_mask(v.high, all));
}

WIDE_INLINE uint64_t up_to(struct block v, char byte)
{
	__m256i all = _mm256_set1_epi8(byte);

	return join(_mm256_cmple_epu8_mask(v.low, all), _mm256_cmple_epu8_mask(v.high, all));
}

/* How many bits there are up to the topmost that is set. */
WIDE_INLINE uint32_t bits_to_top(uint64_t bits)
{
	return bits ? 64 - (uint32_t)__builtin_clzll(bits) : 0;
}

WIDE_INLINE uint64_t count(uint64_t bits)
{
	return (uint64_t)__builtin_popcountll(bits);
}

/* Adds the low 7 bits of some bytes. */
WIDE_INLINE __m256i add_operands(__m256i sum, struct block v, uint64_t bits)
{
	__m256i seven = _mm256_set1_epi8(0x7f), zero = _mm256_setzero_si256();
	__m256i low = _mm256_and_si256(_mm256_maskz_mov_epi8((__mmask32)bits, v.low), seven);
	__m256i high =
		_mm256_and_si256(_mm256_maskz_mov_epi8((__mmask32)(bits >> 32), v.high), seven);

	return _mm256_add_epi64(sum, _mm256_add_epi64(_mm256_sad_epu8(low, zero),
						      _mm256_sad_epu8(high, zero)));
}

/*
 * What bytes are, whether opcodes or operands. Of a discriminator (0, 2, 4 and a byte) the second
 * and third are taken for bytes of its operand that have the top bit set. Where the 0 is an operand
 * itself, the 2 is an opcode, which is stopped at.
 */
WIDE_INLINE struct bytes classify(struct block v, uint64_t before)
{
	uint64_t zero = equal(v, 0), two = equal(v, 2);
	uint64_t more = join(_mm256_movepi8_mask(v.low), _mm256_movepi8_mask(v.high));
	uint64_t discriminator = zero & two >> 1 & equal(v, 4) >> 2 & ~(more >> 3);
	uint64_t within = discriminator << 1 | discriminator << 2 | before;

	return (struct bytes){
		.more = more,
		.turns = (up_to(v, 5) & from(v, 2) & ~within) | discriminator,
		.within = within,
		.stops = (zero & ~discriminator) | two | equal(v, 9) | equal(v, 12),
	};
}

/* After which bytes an operand is due: see dwarf_line_fast.c. first: 1 where one is before them. */
WIDE_INLINE uint64_t operand_due(uint64_t turns, uint64_t keeps, uint64_t first)
{
	uint64_t open = turns | keeps, parity = turns, starts;

	parity ^= parity << 1;
	parity ^= parity << 2;
	parity ^= parity << 4;
	parity ^= parity << 8;
	parity ^= parity << 16;
	parity ^= parity << 32;
	starts = ((parity & ~open) << 1 | first) & open;
	return (parity ^ ~(open + starts)) & open;
}

/* The operands of line advances, of which there are three bytes at most. */
WIDE_INLINE void add_lines(struct sums *sums, struct block v, uint64_t opcodes, uint64_t more)
{
	uint64_t lows = opcodes << 1, middles = (lows & more) << 1, highs = (middles & more) << 1;
	__m256i sign = _mm256_set1_epi8(0x40);
	uint64_t negative = ~more & join(_mm256_test_epi8_mask(v.low, sign),
					 _mm256_test_epi8_mask(v.high, sign));

	sums->lows = add_operands(sums->lows, v, lows);
	sums->negative += count(lows & negative) << 7;
	if (!middles)
		return;
	sums->middles = add_operands(sums->middles, v, middles);
	sums->highs = add_operands(sums->highs, v, highs);
	sums->negative += (count(middles & negative) << 14) + (count(highs & negative) << 21);
}

/* What opcodes that stand for both do, in half a block; those of other bytes are 0 here. */
WIDE_INLINE void add_half(struct sums *sums, __m256i v, __mmask32 opcodes, __m256i reciprocal)
{
	__m256i special = _mm256_maskz_subs_epu8(opcodes, v, _mm256_set1_epi8(OPCODE_BASE));
	__m256i even = _mm256_and_si256(special, _mm256_set1_epi16(0xff));
	__m256i advance =
		_mm256_add_epi16(_mm256_mulhi_epu16(even, reciprocal),
				 _mm256_mulhi_epu16(_mm256_srli_epi16(special, 8), reciprocal));

	sums->lines =
		_mm256_add_epi64(sums->lines, _mm256_sad_epu8(special, _mm256_setzero_si256()));
	sums->advances =
		_mm256_add_epi32(sums->advances, _mm256_madd_epi16(advance, _mm256_set1_epi16(1)));
}

WIDE_INLINE void add_specials(struct sums *sums, struct block v, uint64_t opcodes,
			      __m256i reciprocal)
{
	add_half(sums, v.low, (__mmask32)opcodes, reciprocal);
	add_half(sums, v.high, (__mmask32)(opcodes >> 32), reciprocal);
	sums->special_count += count(opcodes);
}

WIDE_INLINE struct block load(const uint8_t *pos)
{
	return (struct block){_mm256_loadu_si256((const void *)pos),
			      _mm256_loadu_si256((const void *)(pos + 32))};
}

/*
 * One block; gives how many bytes it went over: STEP, with what there is to be known of the next
 * ones in *carry, or fewer, up to what is to be stopped at. Of the last block, whole opcodes.
 */
WIDE_INLINE uint32_t run_block(const uint8_t *pos, bool last, __m256i reciprocal,
			       struct carry *carry, struct sums *sums)
{
	struct block v = load(pos);
	struct bytes bytes = classify(v, carry->within);
	uint64_t due = operand_due(bytes.turns, bytes.more | bytes.within, carry->due);
	uint64_t opcodes = ~(due << 1 | carry->due);
	uint64_t line = equal(v, 3) & opcodes, files = equal(v, 4);
	/* a line advance of four bytes or more is rare */
	uint64_t stop = (bytes.stops & opcodes) |
			(line & (bytes.more & bytes.more >> 1 & bytes.more >> 2) >> 1);
	/* an operand that goes on up to the end of the block is rarer */
	bool ends = last || due >> (STEP - 1) == UINT64_MAX >> (STEP - 1);
	uint32_t whole = ends ? bits_to_top(_bzhi_u64(~due, LAST)) : STEP;
	uint32_t until = (uint32_t)_tzcnt_u64(stop), done = until < whole ? until : whole;

	*carry = (struct carry){due >> (STEP - 1) & 1, bytes.within >> STEP};
	opcodes = _bzhi_u64(opcodes, done);
	files &= opcodes;
	add_lines(sums, v, line & opcodes, bytes.more);
	add_specials(sums, v, from(v, OPCODE_BASE) & opcodes, reciprocal);
	sums->const_adds += count(equal(v, 8) & opcodes);
	sums->file = files ? pos + bits_to_top(files) : sums->file;
	return done;
}

WIDE_INLINE uint64_t total(__m256i lanes)
{
	__m128i half =
		_mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));

	return (uint64_t)_mm_extract_epi64(half, 0) + (uint64_t)_mm_extract_epi64(half, 1);
}

/* Adds up what was gone over. */
WIDE_INLINE void apply(const struct mt_line_rules *rules, const struct sums *sums,
		       struct mt_line_machine *m)
{
	__m256i pairs =
		_mm256_add_epi64(_mm256_srli_epi64(sums->advances, 32),
				 _mm256_and_si256(sums->advances, _mm256_set1_epi64x(UINT32_MAX)));
	__m256i operands = _mm256_add_epi64(_mm256_slli_epi64(sums->middles, 7),
					    _mm256_slli_epi64(sums->highs, 14));
	__m256i lines = _mm256_add_epi64(_mm256_add_epi64(sums->lines, sums->lows), operands);
	struct mt_cursor file =
		mt_cursor_init(sums->file, sums->file ? (size_t)(m->c.end - sums->file) : 0);
	uint64_t advance = total(pairs);

	m->address += advance + sums->const_adds * rules->special[255].advance;
	m->line += (uint32_t)(sums->special_count * (uint64_t)(int64_t)rules->line_base +
			      total(lines) - rules->line_range * advance - sums->negative);
	if (sums->file)
		m->file = (uint32_t)mt_dwarf_uleb(&file);
}

WIDE void mt_line_wide_run(const struct mt_line_rules *rules, const uint8_t *limit,
			   struct mt_line_machine *m)
{
	__m256i reciprocal = _mm256_set1_epi16((short)rules->reciprocal);
	__m256i zero = _mm256_setzero_si256();
	struct sums sums = {
		.advances = zero, .lines = zero, .lows = zero, .middles = zero, .highs = zero};
	const uint8_t *pos = m->c.pos, *end = m->c.end;
	struct carry carry = {0};

	while (pos < limit && end - pos >= BLOCK) {
		bool last = limit - pos <= LAST || end - pos < STEP + BLOCK;
		uint32_t done = run_block(pos, last, reciprocal, &carry, &sums);

		__builtin_prefetch(pos + AHEAD);
		if (done == STEP && !last) {
			pos += STEP; /* and not done, which is known late */
			continue;
		}
		pos += done;
		carry = (struct carry){0};
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
bool mt_line_wide_usable(const struct mt_line_rules *rules)
{
	(void)rules;
	return false;
}

void mt_line_wide_run(const struct mt_line_rules *rules, const uint8_t *limit,
		      struct mt_line_machine *m)
{
	(void)rules;
	(void)limit;
	(void)m;
}
#endif
