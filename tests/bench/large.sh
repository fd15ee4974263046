#!/bin/bash
# What memory a report of 2 GB needs, the pages of the file that are mapped counted with it (bar: 300 MB): a recording by mtrec of
# stacks that nothing makes smaller, and a perf.data file whose samples are repeated, later each time.
. "$(dirname "$0")/../lib.sh"
cat >"$TMPDIR/noise.c" <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
static uint64_t state = 1;
static __attribute__((noinline)) void touch(volatile char *page)
{
	uint64_t words[1920];
	for (int i = 0; i < 1920; i++)
		words[i] = (state ^= state << 13, state ^= state >> 7, state ^= state << 17);
	*page = (char)((volatile uint64_t *)words)[state % 1920];
}
int main(int argc, char **argv)
{
	long pages = argc > 1 ? atol(argv[1]) : 1;
	char *at = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(at, pages * 4096, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++) {
		touch(at + i * 4096);
		if (i % 2048 == 2047)
			madvise(at, i * 4096, MADV_DONTNEED);
	}
	return 0;
}
END
${CC:-cc} -O1 -o "$TMPDIR/noise" "$TMPDIR/noise.c" || exit 1

# measure FILE WHAT
measure() {
	python3 - "$MT_BUILD/mtreport" "$1" "$2" <<'END'
import os, subprocess, sys
mtreport, file, what = sys.argv[1:]
process = subprocess.Popen([mtreport, "-q", "--folded", file], stdout=subprocess.PIPE)
samples = sum(int(line.rsplit(b" ", 1)[1]) for line in process.stdout)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = status
print(f"{what}, {os.path.getsize(file) / 1e9:.2f} GB, {samples:,} samples: {usage.ru_maxrss >> 10} MB of memory, "
      f"{usage.ru_utime + usage.ru_stime:.2f} s of processor time, exit {status >> 8} (bar: 300 MB)")
END
	rm -f "$1"
}

"$MT_BUILD/mtrec" -q -z 0 -e page-faults --call-graph dwarf,16384 -o "$TMPDIR/large.mtr" "$TMPDIR/noise" 135000
measure "$TMPDIR/large.mtr" 'a recording'
if command -v perf >/dev/null && perf record -q -e page-faults -c 1 --call-graph dwarf,16384 -o "$TMPDIR/small.data" \
	"$TMPDIR/noise" 8000 >/dev/null 2>&1; then
	"$MT_TOP/tests/bench/repeat.py" "$TMPDIR/small.data" "$TMPDIR/large.data" 2000000000 &&
		measure "$TMPDIR/large.data" 'a perf.data file'
fi
exit 0
