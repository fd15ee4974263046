#!/bin/bash
# --resident adds up to smaps_rollup, to the kilobyte, after each step of a program that gains and loses pages in every way,
# with and without huge pages; each stack has the pages that it touched and did not give back.
# timeout: 180
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
"$mtrec" --list kmem:rss_stat >/dev/null 2>&1 || skip_all 'this kernel has no kmem:rss_stat'
IFS=.- read -r major minor _ < <(uname -r)
[ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 2 ]; } ||
	skip_all 'before Linux 6.2 kmem:rss_stat does not report each change'
[ -r /proc/self/smaps_rollup ] || skip_all 'this kernel has no smaps_rollup'
${CC:-cc} -D_GNU_SOURCE -O1 -g -pthread -o "$TMPDIR/steps" "$MT_TOP/tests/workloads/resident_steps.c" || exit 1
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport

# at STEP OPTION...: writes the report at that step to $out.
at() {
	local time
	time=$(awk -v name="$1" '$1 == name { print $2 }' steps.out)
	shift
	"$report" --resident --at "@$time" "$@" >"$out" 2>"$err"
}

# bytes STACK: prints the bytes of the rows whose stacks end in STACK.
bytes() {
	awk -v end="$1" '{ stack = $0; sub(/ [0-9]+$/, "", stack) }
		substr(stack, length(stack) - length(end) + 1) == end { sum += $NF } END { print sum + 0 }' "$out"
}

for thp in on off; do
	# shellcheck disable=SC2086
	record_without_losses "huge pages $thp: a program is recorded" "$mtrec" -m 32M -e vm,rss -- ./steps file ${thp/on/}
	cp "$out" steps.out
	: >wrong
	while read -r name _ kilobytes; do
		at "$name" --by process --csv
		# The child's row has the same names; the child is the last process.
		grep -q "^[0-9]*,steps,$((kilobytes * 1024))," "$out" || { echo "$name: $kilobytes kB"; cat "$out"; } >>wrong
	done <steps.out
	is "... $(wc -l <steps.out) steps, and the figures are smaps_rollup's" "$(cat wrong)" ''

	at mapped-over --folded
	# A page that is only read may be the page of zeros, which is not resident; the path that writes it later touches it.
	looked=$(awk '$1 == "touched" { before = $3 } $1 == "zero-pages" { print ($3 - before) / 4 }' steps.out)
	is '... touched, moved and not given back' "$(bytes ';touch')" $(((120 - looked) * 4096))
	is '... by reading, where the kernel gives a page for that' "$(bytes ';look')" $((looked * 4096))
	at unmapped --folded
	is '... all of it unmapped' "$(bytes ';touch')" 0
	at threads --folded
	is '... by threads' "$(bytes ';touch_in_thread;touch')" $((2000 * 4096))
	is '... kept' "$(bytes ';touch_kept')" $((33 * 4096))
	at kept --folded --by reserver
	is '... of what another function reserved' "$(awk '/;map(;[^ ]*)? / { sum += $NF } END { print sum }' "$out")" \
		$((33 * 4096))
	at populated --csv --by stack
	says '... populated' '^"?\[populated\]"?,204800,' "$out"
done
finish
