#!/bin/bash
# An interpreter's deep stacks are whole with dumps of 8 KiB, also if the process began as another program: a shell
# that execs the interpreter.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command python3
cd "$TMPDIR" || exit 1
cat >deep.py <<'END'
import json, re

def nested(n):
    return [nested(n - 1) for _ in range(2)] if n else {"a": list(range(50))}

for i in range(30):
    json.dumps(nested(8))
    re.compile("(a|b)*c" * i)
END
check 'a shell that becomes an interpreter is recorded' \
	"$MT_BUILD/mtrec" -q -e page-faults --call-graph dwarf,8192 -o deep.mtr -- bash -c 'env true; exec env python3 deep.py'
"$MT_BUILD/mtreport" -q --unwind-report --comm python3 deep.mtr >reasons

# stacks WORDS: prints how many stacks of the interpreter that line of the table counts, in all images.
stacks() {
	awk -v words="$1" 'match($0, words) { n = substr($0, RSTART + RLENGTH); sub(/^[^0-9]*/, "", n); sub(/ .*/, "", n); gsub(",", "", n); sum += n }
		END { print sum + 0 }' reasons
}

whole=$(stacks 'stacks end +root')
all=$(stacks 'stacks end +[^0-9]*')
joined=$(stacks 'stacks joined +[^0-9]*')
echo "# $whole of $all are whole, $joined were joined"
if [ "$joined" -ge 20 ]; then
	between '... nearly all of its stacks are whole' 970 $((1000 * whole / all)) 1000 # in a thousand; the bar is 98 in a hundred
else
	skip '... nearly all of its stacks are whole' "only $joined of this python3's stacks were cut"
fi
finish
