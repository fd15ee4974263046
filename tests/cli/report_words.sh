#!/bin/bash
# mtreport's arguments and exit statuses: each mistake gives one clear line and the right status, and mtreport overwrites no file.
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport
"$MT_TOP/tests/golden/recording/corpus.py" "$TMPDIR" stored no_samples a_flipped_bit_in_a_payload two_recordings cut_after_a_chunk || exit 1
cd "$TMPDIR" || exit 1
cp stored.mtr mtrec.mtr

# lines N: the last command printed N lines on standard error, each with the program's name before it.
lines() {
	if [ "$(wc -l <"$err")" -eq "$1" ] && ! grep -qv '^mtreport: ' "$err"; then
		pass "... in $1 line(s)"
	else
		fail "... in $1 line(s)" "$err"
	fi
}

# Help and version
check 'help' "$report" --help
says 'help names an analysis and an output' '^ +--samples \(default\)' "$out"
check '--help all' "$report" --help all
says '... has the rare ones, too' '^ +--unwind-report' "$out"
expect 2 'help on what there is none' "$report" --help nonsense
says '... says what there is' 'known is all'
lines 2
check 'version' "$report" --version
says 'the version is one line with the name' '^mtreport [0-9]+\.' "$out"

# Usage: 2
expect 2 'an unknown option is a usage error' "$report" --nonsense
says '... answered with the known ones' 'analyses: --samples --growth .*--latency .*--unwind-report; outputs: --summary --flamegraph .*--csv .*--annotate'
expect 2 'branch records are shown no more' "$report" --branches
says '... in the words of any unknown option' 'branches'
expect 2 'two outputs are a usage error' "$report" --folded --info
lines 1
expect 2 'where the recording comes from is not shown of an analysis' "$report" --growth --info
lines 1
expect 2 'an option without its value is a usage error' "$report" --comm
lines 1
expect 2 'an expression that does not compile is a usage error' "$report" --comm '/(/'
lines 1
expect 2 'an unknown way to unwind is a usage error' "$report" --unwind magic
says '... answered with the known ones' 'known: auto, dwarf, fp'
expect 2 'an unknown weight is a usage error' "$report" --folded --weight bytes
says '... answered with the known ones' 'known: count, period, and the fields'
expect 2 'a bad span is a usage error' "$report" --time 5,1
expect 2 'a recorded machine that is not there' "$report" --folded --symfs none mtrec.mtr
lines 1
expect 2 'the recording is not written over' "$report" --folded -o mtrec.mtr
check '... and stays what it was' cmp mtrec.mtr stored.mtr

# Unreadable: 3
expect 3 'a missing file is unreadable' "$report" none.mtr
says '... and named, with the reason' 'none\.mtr: .*No such file'
lines 1
: >zero.mtr
expect 3 'an empty file is unreadable' "$report" zero.mtr
says '... and said to be empty' 'zero\.mtr: is empty'
echo 'some text' >text.mtr
expect 3 'a text is no recording' "$report" text.mtr
lines 1
expect 3 'a folder is no recording' "$report" .
expect 3 'a device is no recording' "$report" /dev/null
printf 'PERFILE2%200s' '' >perf.data
expect 3 'a perf.data is no recording' "$report" perf.data
says '... and called by its name' 'perf\.data file'
expect 3 'one unreadable file among several is an error' "$report" stored.mtr none.mtr
expect 3 'kernel symbols that are not there are an error' "$report" --kallsyms /no/such/file mtrec.mtr
lines 1

# Nothing: 4
expect 4 'a recording without samples' "$report" --folded no_samples.mtr
says '... is said to have none' 'no_samples\.mtr: no samples'
check '... and prints nothing' test ! -s "$out"
expect 4 'selectors that match nothing' "$report" -e nonsense stored.mtr
says '... are answered with the events there are' 'it has the events page-faults, brk'
echo keep >keep.txt
expect 4 'a report of nothing' "$report" --folded --pid 999999 -o keep.txt stored.mtr
check '... writes over nothing' grep -qx keep keep.txt

# Output: 5
expect 5 'a full device' "$report" --folded -o /dev/full stored.mtr
says '... is said to be full' 'No space left'
expect 5 'a folder that is not there' "$report" --folded -o /no/such/folder/x stored.mtr
lines 1
for output in --summary --folded --script --info; do
	"$report" $output stored.mtr 2>"$err" >/dev/full
	check "$output to a full device is exit 5" test $? -eq 5
done

# Output files
check 'a report into a file' "$report" --folded -o out.folded stored.mtr
check '... is private' test "$(stat -c %a out.folded)" = 600
check 'the same report again' "$report" --folded -e brk -o out.folded stored.mtr
check '... keeps the old one' grep -q '^page-faults;' out.folded.old
check '... and is the new one' grep -q '^renamed;' out.folded
check '... and leaves no temporary file' test "$(ls out.folded*)" = "out.folded
out.folded.old"

# Several recordings, standard input
"$report" --folded stored.mtr >one.folded 2>/dev/null
check 'a recording from standard input' sh -c "cat stored.mtr | '$report' --folded - 2>/dev/null | cmp - one.folded"
check 'the default file' sh -c "'$report' --folded 2>/dev/null | cmp - one.folded"
awk '{ print $1, $2 * 2 }' one.folded >two.folded
check 'several files make one report' sh -c "'$report' --folded stored.mtr -i stored.mtr 2>/dev/null | cmp - two.folded"
check 'so do recordings in one file' sh -c "cat stored.mtr stored.mtr | '$report' --folded - 2>/dev/null | cmp - two.folded"

# Selectors
# selects COUNT OPTION...: so many samples are left.
selects() {
	local want=$1 got
	shift
	got=$("$report" --folded "$@" stored.mtr 2>/dev/null | awk '{ n += $NF } END { print n + 0 }')
	check "$* leaves $want samples" test "$got" -eq "$want"
}
selects 4 -e page-faults
selects 2 -e syscalls:sys_exit_brk
selects 6 -e brk,page-faults
selects 2 -e 'syscalls:*_brk'
selects 6 -e '*[ks]'
selects 0 -e 'sys?'
selects 6 --comm renamed
selects 0 --comm rename
selects 6 --comm '/^ren/'
selects 6 --pid 100
selects 0 --pid 101
selects 6 --tid 100
selects 6 --dso worker
selects 6 --dso /bin/worker
selects 0 --dso libc.so.6
selects 6 --symbol '[worker]'
selects 0 --symbol main
selects 6 --time 0%-100%
selects 2 --time 6%-
selects 0 --time 1,2
for option in '--older-than 1s' --all; do
	for analysis in --resident --maps; do
		# shellcheck disable=SC2086 # two words
		expect 2 "$analysis has no $option" "$report" $analysis $option stored.mtr
		says '... which a line says' "^mtreport: ${option% *} is for --outstanding, --blocks,.* not for $analysis"
	done
done
"$report" --help all | sed -n '/^ *--by KEY/,/--top/p' | tr -s ' \n' ' ' >by.txt
for key in $("$report" --by nonsense stored.mtr 2>&1 | sed -n 's/.*known: //p' | tr -d ,); do
	check "--help knows --by $key" grep -qw "$key" by.txt
done
for analysis in kernel-memory swap hugepages resident compaction reclaim blocks leaks map maps; do
	expect 4 "--$analysis of a process that is not there" "$report" "--$analysis" --pid 999999 stored.mtr
done
expect 2 'what is mapped at a time after the end' "$report" --maps --time 100000,100001 stored.mtr
says '... is an error' 'time begins at 100000 s'
expect 2 '--hugepages has no --at' "$report" --hugepages --at 1s stored.mtr
says '... and what has is named' '^mtreport: these do: .*--outstanding.*--blocks.*--maps, .*--kernel-memory'
expect 2 '--kernel-memory has no --all' "$report" --kernel-memory --all stored.mtr
expect 4 'selectors that match nothing of what an analysis is about' "$report" --faults --pid 999999 stored.mtr
says '... leave it at that' '^mtreport: of .* it has the events page-faults' "$err"
check '... and do not ask for what was recorded' sh -c '! grep -q "is about" "$1"' - "$err"
expect 2 'a time after the end is said to be that' "$report" --time 1000,2000 stored.mtr
says '... and when the recording ends' '^mtreport: --time begins at 1000 s, and the recording ends at [0-9.]+ s$'
scene=$MT_TOP/tests/golden/scenes/leak.mtr
expect 2 'so is one of the base' "$report" --outstanding --base-time 1000,2000 "$scene"
says '... with its end' '^mtreport: --base-time begins at 1000 s, and the recording ends at 15.004 s$'
expect 2 'so is a moment' "$report" --outstanding --at 999 "$scene"
says '... with the range of the recording' '^mtreport: --at 999: the recording is from 0 to 15.004 s$'
expect 2 'so is a moment of the clock' "$report" --outstanding --at @5 "$scene"
says '... with its range' '^mtreport: --at @5: the recording is from @[0-9]+ to @[0-9]+$'
expect 0 'the end is a moment' "$report" -q --outstanding --at 15.01 "$scene"
cp stored.mtr keep.mtr
for words in '--flamegraph keep.mtr' '--html keep.mtr' '--csv -o keep.mtr'; do
	# shellcheck disable=SC2086
	expect 2 "$words does not replace a recording" "$report" $words "$scene"
	says '... and says what it is' '^mtreport: keep.mtr: that is a recording, and a report does not replace it$'
done
check '... which is as it was' cmp stored.mtr keep.mtr
expect 0 'the length of a timeline may be a word of its own' "$report" --timeline 100ms --csv stored.mtr
cp "$out" words.csv
expect 0 '... as after an equals sign' "$report" --timeline=100ms --csv stored.mtr
cp "$out" equals.csv
check '... with the same rows' cmp words.csv equals.csv
expect 0 '... and a file after --timeline is a file' "$report" --csv --timeline stored.mtr

# A line always reports missing data
expect 0 'a damaged recording is still reported' "$report" --folded a_flipped_bit_in_a_payload.mtr
says '... and a line says what is missing' 'damaged chunk'
expect 0 'the summary says it in its text' "$report" a_flipped_bit_in_a_payload.mtr
says '... with the number' '^! .*1 damaged chunk' "$out"
expect 0 'a recording that was cut is still reported' "$report" --folded cut_after_a_chunk.mtr
says '... and said to be cut short' 'cut short'
expect 0 'lost records are reported' "$report" --folded stored.mtr
says '... with their number' '3 records were lost'
expect 1 '--strict does not take losses' "$report" --folded --strict stored.mtr
expect 1 '--strict does not take damage' "$report" --strict a_flipped_bit_in_a_payload.mtr
expect 0 '--quiet says nothing of it' "$report" -q --folded stored.mtr
check '... at all' test ! -s "$err"

# Text for other tools
"$report" --script stored.mtr 2>/dev/null | awk -f "$MT_TOP/tests/collapse_perf.awk" | LC_ALL=C sort >script.folded
sed 's/^[a-z-]*;//' one.folded | awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' | LC_ALL=C sort >merged.folded
check '--script collapses to what --folded gives' cmp script.folded merged.folded

# perf's words
made=$MT_TOP/tests/golden/recorded/attached.mtr
check 'perf report as fingers know it' "$report" report --sort comm,dso,symbol --stdio -g -n --no-children --header -q -i "$made"
says '... is paths by comm and image' '^count +period +event comm image: function' "$out"
check 'perf script is --script' "$report" script -q "$made"
cp "$out" perf_script
"$report" --script -q "$made" >same
check '... as --script has it' cmp same perf_script
expect 2 'what has no meaning here says what to use' "$report" -F comm,ip "$made"
says '... in words of mtreport' '^mtreport: -F is perf.s; here --by KEY,... chooses columns'
lines 1

# --top and --percent-limit, of everything that has rows
for what in --mmaps --script '--mmaps --csv' --maps '--faults --by stack --csv' --folded '--growth --csv' '--faults --folded' '--timeline --csv'; do
	# shellcheck disable=SC2086
	"$report" -q $what "$made" >all
	# shellcheck disable=SC2086
	"$report" -q $what --top 2 "$made" >two
	case $what in
	--script) rows=$(grep -c '^[^[:space:]]' two) ;;
	*folded) rows=$(wc -l <two) ;;
	*csv) rows=$(($(wc -l <two) - 1)) ;;
	*) rows=$(grep -cE '[0-9]' two) ;;
	esac
	check "$what --top 2 has two rows of more" test "$rows" -eq 2 -a "$(wc -l <all)" -gt "$(wc -l <two)"
done
"$report" -q --folded "$made" | sed 's/.* //' | sort -rn | head -n 2 >heaviest
"$report" -q --folded --top 2 "$made" | sed 's/.* //' | sort -rn >two
check '--folded --top 2: the heaviest, however many rows make up a line' diff heaviest two
"$report" -q --folded --percent-limit 20 "$made" | sed 's/.* //' >large
"$report" -q --folded "$made" | sed 's/.* //' | awk '{ v[NR] = $1; s += $1 } END { for (i = 1; i <= NR; i++) if (v[i] >= s / 5) print v[i] }' >want
check '--percent-limit: lines of that part of all' diff want large
expect 2 'no part of single events' "$report" --mmaps --percent-limit 5 "$made"
says '... which --top bounds' 'leaves out sums, and --mmaps shows single events'

# A line reports frames that do not fit in a picture, with their sum and the report that shows them
"$MT_TOP/tests/golden/recording/corpus.py" . memory_calls || exit 1
check '--growth --folded' "$report" --growth --folded memory_calls.mtr
says '... says how much shrinking it leaves out' '2,105,344 B of shrinking are left out: --folded has no room' "$err"
check 'the two-column form has it' "$report" -q --growth --folded --base-time 0%-50% --time 50%-100% memory_calls.mtr
says '... before, now' '^.* [0-9]+ [0-9]+$' "$out"
check 'a base of half the time' "$report" --growth --folded --base-time 0%-50% --time 0%-100% memory_calls.mtr
says '... is doubled, which is said' 'figures are multiplied by 2, to the same time: --per none shows them' "$err"
check '... in front of a text' "$report" -q --growth --table --base-time 0%-50% --time 0%-100% memory_calls.mtr
says '... too' 'figures are multiplied by 2, to the same time' "$out"
check '... but for --per none' "$report" --growth --folded --base-time 0%-50% --time 0%-100% --per none memory_calls.mtr
is '... which leaves it as it is' "$(grep -c multiplied "$err")" 0
finish
