#!/bin/bash
# Measures the cost of pictures: a flame graph of 200,000 distinct stacks (bars: 5 s, 5 MB), a page of 100,000 in a browser (bars:
# interactive within 3 s, a zoom within 100 ms), and a page of ten million events (bars: written in 10 s, below 10 MB), whose pprof takes
# up to 1.5 times the processor time of --folded.
. "$(dirname "$0")/../lib.sh"
. "$MT_TOP/tests/browser/pages/lib.sh"
needs_browser

# write_stacks COUNT: writes as many distinct stacks to stacks.folded
write_stacks() {
	python3 - "$TMPDIR/stacks.folded" "$1" <<'END'
import random, sys
chance = random.Random(1)
with open(sys.argv[1], "w") as out:
    for i in range(int(sys.argv[2])):
        path = [f"function_{depth}_{chance.randrange(3 + depth)}" for depth in range(chance.randrange(12, 30))]
        out.write(f"program;{';'.join(path)};leaf_{i % 5000} {chance.randrange(1, 100)}\n")
END
}

write_stacks 200000
TIMEFORMAT='a flame graph of 200,000 stacks: %R s, %U + %S s of processor time'
time "$MT_BUILD/mtreport" -q --flamegraph "$TMPDIR/stacks.svg" "$TMPDIR/stacks.folded" || exit 1
echo "of $(stat -c %s "$TMPDIR/stacks.svg") bytes"
write_stacks 100000
"$MT_BUILD/mtreport" -q --html "$TMPDIR/stacks.html" "$TMPDIR/stacks.folded" || exit 1
echo "100,000 stacks: a page of $(stat -c %s "$TMPDIR/stacks.html") bytes"
node "$MT_TOP/tests/browser/pages/page_speed.js" "$TMPDIR/stacks.html"

command -v perf >/dev/null || { echo 'no perf: ten million events are not measured'; exit 0; }
cat >"$TMPDIR/faults.c" <<'END'
#include <stdlib.h>
static void touch(int depth, char *at) { if (depth) touch(depth - 1, at); else *(volatile char *)at = 1; }
int main(void)
{
	for (int i = 0; i < 20000; i++)
		touch(i % 40, malloc(200000));
}
END
${CC:-cc} -O0 -fno-omit-frame-pointer -o "$TMPDIR/faults" "$TMPDIR/faults.c" || exit 1
perf record -q -e page-faults -c 1 -g -o "$TMPDIR/small.data" "$TMPDIR/faults" >/dev/null 2>&1 || exit 1
few=$("$MT_BUILD/mtreport" -q --folded "$TMPDIR/small.data" | awk '{ n += $NF } END { print n }')
"$MT_TOP/tests/bench/repeat.py" "$TMPDIR/small.data" "$TMPDIR/large.data" $(($(stat -c %s "$TMPDIR/small.data") * (10000000 / few)))
TIMEFORMAT="$((few * (10000000 / few))) events: %R s, %U + %S s of processor time"
time "$MT_BUILD/mtreport" -q --html "$TMPDIR/large.html" "$TMPDIR/large.data" || exit 1
echo "a page of $(stat -c %s "$TMPDIR/large.html") bytes"
for output in --folded "--pprof $TMPDIR/large.pb.gz"; do
	TIMEFORMAT="${output%% *}: %U + %S s of processor time"
	# shellcheck disable=SC2086 # an option and its value
	time "$MT_BUILD/mtreport" -q $output "$TMPDIR/large.data" >/dev/null || exit 1
done
