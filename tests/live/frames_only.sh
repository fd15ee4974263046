#!/bin/bash
# mtrec --strip writes no byte of a stack, of registers, arguments or environment. The report is equal to that of the raw stacks, also
# with dumps that are too small and on code without tables.
# timeout: 300
# slow: dozens of recordings
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_compiler
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -g -o secret "$MT_TOP/tests/workloads/secret.c" || exit 1
export IN_THE_ENVIRONMENT=environment-secret-4713
word=argument-secret-4714

# secrets FILE: prints the program's secrets that are in FILE
secrets() {
	local text
	for text in on-the-stack-4711 environment-secret-4713 $word '\x12\x47\x12\x47\x12\x47\x12\x47'; do
		LC_ALL=C grep -qaP "$text" "$1" && echo -n "$text "
	done
}

# folded FILE [OPTION...]: prints the stacks of the pages that inner() touched
folded() {
	"$report" -q --folded "$@" 2>/dev/null | grep -o ';main;outer;middle;inner[; ].*'
}

# Uncompressed, and without images, whose names are not secret: grep can search the content of the file.
plain='-z 0 --embed none -e page-faults'
# shellcheck disable=SC2086
record_without_losses 'raw stacks are recorded' "$mtrec" $plain -o raw.mtr -- ./secret $word 2000
is '... with all secrets' "$(secrets raw.mtr)" "on-the-stack-4711 environment-secret-4713 $word "'\x12\x47\x12\x47\x12\x47\x12\x47 '
# shellcheck disable=SC2086
record_without_losses 'frames are recorded' "$mtrec" $plain --strip -o frames.mtr -- ./secret $word 2000
is '... and no secret' "$(secrets frames.mtr)" ''
folded raw.mtr >raw.folded
folded frames.mtr >frames.folded
is '... with the same stacks' "$(cat frames.folded)" "$(cat raw.folded)"
between '... of each page' 2000 "$(awk '{ n += $NF } END { print n + 0 }' frames.folded)" 2000
check '... as FORMAT.md specifies' "$MT_TOP/scripts/mtdump" --check frames.mtr
says '... --info says so' 'stripped +mtrec' <("$report" --info frames.mtr)
says '... and has the command without arguments' 'command +.*secret$' <("$report" --info frames.mtr)
check '... as raw stacks are when they are stripped later' "$report" -q --strip later.mtr raw.mtr
is '... to the same stacks' "$(folded later.mtr)" "$(cat frames.folded)"

./secret $word 0 &
running=$!
check 'a program that runs already is recorded' "$mtrec" $plain --strip --duration 700ms -p $running -o attached.mtr
is '... without secrets, its arguments among them' "$(secrets attached.mtr)" ''
says '... with its stacks' 'main;outer;middle;inner' <(folded attached.mtr)

# shellcheck disable=SC2086
"$mtrec" -q $plain --strip -p $running -o killed.mtr &
recorder=$!
has_stacks() {
	folded killed.mtr | grep -q 'main;outer;middle;inner'
}
until_true has_stacks
kill -9 $recorder
wait $recorder 2>/dev/null
is 'a recording that was killed holds no secret' "$(secrets killed.mtr)" ''
says '... and has its stacks' 'main;outer;middle;inner' <(folded killed.mtr)
kill $running
wait $running 2>/dev/null

# Each short-lived process is unwound with its own mappings: the program is started twenty times, and each process ends after its faults.
record_without_losses 'programs that come and go are recorded' "$mtrec" -e page-faults --strip -o lives.mtr -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ./secret word 50; done'
is '... with each of their stacks' "$(folded lives.mtr --comm secret | awk '{ n += $NF } END { print n + 0 }')" 1000

cp secret gone
./gone $word 0 &
running=$!
until_runs $running gone libc
rm gone
check 'a program whose file is gone is recorded' "$mtrec" -q -e page-faults --strip --duration 700ms -p $running -o gone.mtr
kill $running
wait $running 2>/dev/null
if [ "$(id -u)" -eq 0 ]; then
	says '... with its stacks' ';main;outer;middle;inner' <(folded gone.mtr)
else
	skip '... with its stacks' 'reaching deleted files needs root'
fi

# shellcheck disable=SC2086
if ${CC:-cc} -static -D_GNU_SOURCE -O1 -g -o whole "$MT_TOP/tests/workloads/secret.c" 2>/dev/null; then
	check 'a static program is recorded' "$mtrec" -q -e page-faults --strip -o static.mtr -- ./whole $word 500
	between '... with its stacks' 500 "$(folded static.mtr | awk '{ n += $NF } END { print n + 0 }')" 500
else
	skip 'a static program' 'no static C library'
fi

# shellcheck disable=SC2086
${CC:-cc} -O1 -g -o jitted "$MT_TOP/tests/workloads/jitted.c" || exit 1
check 'code that a program makes itself is recorded' "$mtrec" -q -e page-faults --strip -o jitted.mtr -- ./jitted 50
says '... and named' ';jitted touch of pages 50$' <("$report" -q --folded jitted.mtr)

if build_faulter; then
	for way in '' --strip; do
		# shellcheck disable=SC2086
		"$mtrec" -q -e page-faults --call-graph dwarf,8192 --no-prefault $way -o "cut$way.mtr" -- ./faulter 20000 0 1 2 >/dev/null
	done
	# part FILE [OPTION...]: prints how many in a thousand of faulter's stacks reach its main()
	part() {
		"$report" -q --folded --no-inline --comm faulter "$@" 2>/dev/null |
			awk '/;worker_loop;|;handle/ || /;step</ { n = $NF; all += n; if (/;main;/) whole += n }
				END { print all ? int(1000 * whole / all) : 0 }'
	}
	between 'of frames, too, a quarter is cut where dumps are too small' 700 "$(part cut--strip.mtr --no-join)" 800
	between '... and joined, as raw stacks are' $(($(part cut.mtr) - 10)) "$(part cut--strip.mtr)" 1000
	"$report" -q --strip copy.mtr cut--strip.mtr
	is '... and in a copy' "$(part copy.mtr)" "$(part cut--strip.mtr)"
else
	skip 'stacks that are cut' 'no ../shared/targets next to the tree (MT_SHARED=DIR)'
fi

for way in fp none; do
	check "where there are no raw stacks, --call-graph $way" "$mtrec" -e page-faults --strip --call-graph $way -o $way.mtr -- ./secret $word 500
	says '... and mtrec says so' "^mtrec: --strip: --call-graph $way records no raw bytes of stacks"
	is '... and arguments are left out' "$(secrets $way.mtr)" ''
done

# With --max-size, and with commands that start and stop recording. For --max-size, stripped samples that wait to be written count with
# their largest possible size. There are many of them on a loaded machine, and none is left when the limit ends the recording.
mkfifo orders answers
"$mtrec" -q -e page-faults --strip --embed none -z 0 --max-size 1M --control fifo:orders,answers --delay -1 -o ordered.mtr -- ./secret $word 0 &
recorder=$!
{
	echo enable
	read -r said <&4
	for ((i = 0; i < 100; i++)); do
		kill -0 $recorder 2>/dev/null || break
		sleep 0.2
	done
} 3<>answers 4<answers >orders
kill $recorder 2>/dev/null
wait $recorder
is '--strip with --control: the command is answered' "$said" ack
between '... and --max-size is kept' 65536 "$(stat -c %s ordered.mtr)" 1048576
is '... without secrets' "$(secrets ordered.mtr)" ''
says '... with stacks' 'main;outer;middle;inner' <(folded ordered.mtr)
check '... as FORMAT.md specifies' "$MT_TOP/scripts/mtdump" --check ordered.mtr

check '--strip --stats reports the stacks' "$mtrec" -e page-faults --strip --stats -o told.mtr -- ./secret $word 500
says '... how many, and what they cost' '^stripped +[0-9]+ stacks, [0-9]+ frames, [0-9.]+ % complete, [0-9.]+ us a stack; 0 left out'
says '... and the tables they took' 'unwind tables of [1-9][0-9]* images, .*s; 0 not to be read'
finish
