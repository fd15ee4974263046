#!/bin/bash
# What a fuzz target begins with, into its corpus: seeds.sh TARGET DIR. fuzz_lines: small programs with functions that are inlined,
# linked to the addresses that it asks for. Files of odd size are asked for beforehand. Those of the ledger: long runs of steps at
# random, as what comes of few steps is found soon.
set -u
dir=$2
case $1 in fuzz_ledger | fuzz_residence | fuzz_verdicts)
	for number in {1..40}; do
		LC_ALL=C awk -v seed="$number" 'BEGIN { srand(seed); for (i = 0; i < 200 + 30 * seed; i++) printf "%c", rand() * 256 }' \
			>"$dir/seed-$number"
	done
	;;
esac
if [ "$1" = fuzz_reader ]; then # chunks that are stored, with stacks that become planes
	PYTHONDONTWRITEBYTECODE=1 "$(dirname "$0")/../golden/recording/corpus.py" "$dir" stored memory_calls coded_dumps \
		packed_samples packed_samples_of_every_kind || exit 1
	cp "$(dirname "$0")/../golden/recorded/chains.mtr" "$dir"
fi
[ "$1" = fuzz_lines ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/seed.c" <<'END'
static inline __attribute__((always_inline)) int small(int a)
{
	if (a > 3)
		a *= 7;
	return a + 1;
}
static inline __attribute__((always_inline)) int looping(int a)
{
	for (int i = 0; i < a; i++)
		a += small(i);
	return a;
}
int first(int a) { return looping(a) + small(a); }
int second(int a)
{
	{
		int b = small(a);

		if (b > 4)
			return looping(b);
	}
	return first(a);
}
void _start(void)
{
	second(3);
	for (;;)
		;
}
END
for version in 4 5; do
	for flags in -O1 -O2 '-O2 -ffunction-sections'; do
		for cc in ${CC:-cc} clang; do
			seed="$dir/seed-$version-${flags//[^a-zA-Z0-9]/}-${cc##*/}"
			# shellcheck disable=SC2086
			$cc -g -gdwarf-$version $flags -nostdlib -static -Wl,-Ttext=0x1000 -o "$seed" "$work/seed.c" 2>"$work/why" || continue
			{
				cat "$seed"
				printf x
			} >"$seed-odd"
		done
	done
done
exit 0
