#!/bin/bash
# mtrec --strip: no byte of a stack is written, nor what registers, arguments and environment held; and the report is the one that the
# raw stacks give, past dumps that were too small and on code without tables, too.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
needs_mtrec
command -v "$(cut -d" " -f1 <<<"${CC:-cc}")" >/dev/null || skip_all "no compiler: ${CC:-cc}"
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -g -o secret "$MT_TOP/tests/workloads/secret.c" || exit 1
export IN_THE_ENVIRONMENT=environment-secret-4713
word=argument-secret-4714

# secrets FILE: which of the program's secrets stand in it
secrets() {
	local text
	for text in on-the-stack-4711 environment-secret-4713 $word '\x12\x47\x12\x47\x12\x47\x12\x47'; do
		LC_ALL=C grep -qaP "$text" "$1" && echo -n "$text "
	done
}

# folded FILE [OPTION...]: the stacks of the pages that inner() touched
folded() {
	"$report" -q --folded "$@" 2>/dev/null | grep -o ';main;outer;middle;inner[; ].*'
}

# Uncompressed, and without images, whose names are not secret: what is in the file can be looked for.
plain='-q -z 0 --embed none -e page-faults'
# shellcheck disable=SC2086
check 'raw stacks are recorded' "$mtrec" $plain -o raw.mtr -- ./secret $word 2000
is '... with all secrets' "$(secrets raw.mtr)" "on-the-stack-4711 environment-secret-4713 $word "'\x12\x47\x12\x47\x12\x47\x12\x47 '
# shellcheck disable=SC2086
check 'frames are recorded' "$mtrec" $plain --strip -o frames.mtr -- ./secret $word 2000
is '... and no secret' "$(secrets frames.mtr)" ''
folded raw.mtr >raw.folded
folded frames.mtr >frames.folded
is '... with the same stacks' "$(cat frames.folded)" "$(cat raw.folded)"
between '... of each page' 2000 "$(awk '{ n += $NF } END { print n + 0 }' frames.folded)" 2000
check '... as the page on the format has it' "$MT_TOP/scripts/mtdump" --check frames.mtr
says '... --info tells of it' 'stripped +mtrec' <("$report" --info frames.mtr)
says '... and the command is told without arguments' 'command +.*secret$' <("$report" --info frames.mtr)
check '... as raw stacks are when they are stripped later' "$report" -q --strip later.mtr raw.mtr
is '... to the same stacks' "$(folded later.mtr)" "$(cat frames.folded)"

./secret $word 0 &
running=$!
check 'a program that runs already is recorded' "$mtrec" $plain --strip --duration 700ms -p $running -o attached.mtr
is '... without secrets, its arguments among them' "$(secrets attached.mtr)" ''
says '... with its stacks' 'main;outer;middle;inner' <(folded attached.mtr)

# shellcheck disable=SC2086
"$mtrec" $plain --strip -p $running -o killed.mtr &
recorder=$!
sleep 1.6
kill -9 $recorder
wait $recorder 2>/dev/null
is 'one that was killed amid holds no secret' "$(secrets killed.mtr)" ''
says '... and its stacks' 'main;outer;middle;inner' <(folded killed.mtr)
kill $running
wait $running 2>/dev/null

check 'what became of stacks is told' "$mtrec" -e page-faults --strip --stats -o told.mtr -- ./secret $word 500
says '... how many, and what they cost' '^stripped +[0-9]+ stacks, [0-9]+ frames, [0-9.]+ % complete, [0-9.]+ us a stack; 0 left out'
says '... and the tables they took' 'unwind tables of [1-9][0-9]* images, .* 0 not to be read'
finish
