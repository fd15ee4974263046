#!/bin/bash
# mtreport's arguments and exit statuses: each mistake gives one clear line and the right status, and mtreport overwrites no file.
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport
"$MT_TOP/tests/golden/recording/corpus.py" "$TMPDIR" stored no_samples a_flipped_bit_in_a_payload two_recordings cut_after_a_chunk || exit 1
cd "$TMPDIR" || exit 1
cp stored.mtr mtrec.mtr

# lines N: checks that the last command printed N lines on standard error, each with the program's name in front.
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
says '... has the rare options, too' '^ +--unwind-report' "$out"
expect 2 'help on an unknown topic is a usage error' "$report" --help nonsense
says '... that lists the topics' 'known is all'
lines 2
check 'version' "$report" --version
says 'the version is one line with the name' '^mtreport [0-9]+\.' "$out"

# Usage: 2
expect 2 'an unknown option is a usage error' "$report" --nonsense
says '... answered with the known ones' 'analyses: --samples --growth .*--latency .*--unwind-report; outputs: --summary --flamegraph .*--csv .*--annotate'
expect 2 'branch records are no longer shown' "$report" --branches
says '... in the words of any unknown option' 'branches'
expect 2 'two outputs are a usage error' "$report" --folded --info
lines 1
expect 2 '--info together with an analysis is a usage error' "$report" --growth --info
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
expect 2 'the output may not overwrite the recording' "$report" --folded -o mtrec.mtr
check '... which is unchanged' cmp mtrec.mtr stored.mtr

# Unreadable: 3
expect 3 'a missing file is unreadable' "$report" none.mtr
says '... and mtreport names it, with the reason' 'none\.mtr: .*No such file'
lines 1
: >zero.mtr
expect 3 'an empty file is unreadable' "$report" zero.mtr
says '... and mtreport says that it is empty' 'zero\.mtr: is empty'
echo 'some text' >text.mtr
expect 3 'a text file is not a recording' "$report" text.mtr
lines 1
expect 3 'a folder is not a recording' "$report" .
expect 3 'a device is not a recording' "$report" /dev/null
printf 'PERFILE2%200s' '' >perf.data
expect 3 'a perf.data is no recording' "$report" perf.data
says '... and called by its name' 'perf\.data file'
expect 3 'one unreadable file among several is an error' "$report" stored.mtr none.mtr
expect 3 'a missing file of kernel symbols is an error' "$report" --kallsyms /no/such/file mtrec.mtr
lines 1

# Nothing: 4
expect 4 'a recording without samples has status 4' "$report" --folded no_samples.mtr
says '... and a line says that it has none' 'no_samples\.mtr: no samples'
check '... and prints nothing' test ! -s "$out"
expect 4 'selectors that match nothing' "$report" -e nonsense stored.mtr
says '... are answered with the recorded events' 'it has the events page-faults, brk'
echo keep >keep.txt
expect 4 'a report of nothing' "$report" --folded --pid 999999 -o keep.txt stored.mtr
check '... overwrites no file' grep -qx keep keep.txt

# Output: 5
expect 5 'a full device' "$report" --folded -o /dev/full stored.mtr
says '... and mtreport says that it is full' 'No space left'
expect 5 'an output in a missing folder is an error' "$report" --folded -o /no/such/folder/x stored.mtr
lines 1
for output in --summary --folded --script --info; do
	"$report" $output stored.mtr 2>"$err" >/dev/full
	check "$output to a full device is exit 5" test $? -eq 5
done

# Output files
check 'a report is written to a file' "$report" --folded -o out.folded stored.mtr
check '... that only its owner can read' test "$(stat -c %a out.folded)" = 600
check 'the same report is written again' "$report" --folded -e brk -o out.folded stored.mtr
check '... mtreport keeps the old file' grep -q '^page-faults;' out.folded.old
check '... and the new file has the report' grep -q '^renamed;' out.folded
check '... and no temporary file is left' test "$(ls out.folded*)" = "out.folded
out.folded.old"

# Several recordings, standard input
"$report" --folded stored.mtr >one.folded 2>/dev/null
check 'mtreport reads a recording from standard input' sh -c "cat stored.mtr | '$report' --folded - 2>/dev/null | cmp - one.folded"
check 'without a file name, mtreport reads the default file' sh -c "'$report' --folded 2>/dev/null | cmp - one.folded"
awk '{ print $1, $2 * 2 }' one.folded >two.folded
check 'several files give one report' sh -c "'$report' --folded stored.mtr -i stored.mtr 2>/dev/null | cmp - two.folded"
check 'several recordings in one file give one report, too' sh -c "cat stored.mtr stored.mtr | '$report' --folded - 2>/dev/null | cmp - two.folded"

# Selectors
# selects COUNT OPTION...: checks that the options select COUNT samples.
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
		says '... and a line says so' "^mtreport: ${option% *} is for --outstanding, --blocks,.* not for $analysis"
	done
done
"$report" --help all | sed -n '/^ *--by KEY/,/--top/p' | tr -s ' \n' ' ' >by.txt
for key in $("$report" --by nonsense stored.mtr 2>&1 | sed -n 's/.*known: //p' | tr -d ,); do
	check "--help knows --by $key" grep -qw "$key" by.txt
done
for analysis in kernel-memory swap hugepages resident compaction reclaim blocks leaks map maps; do
	expect 4 "--$analysis of a process that is not there" "$report" "--$analysis" --pid 999999 stored.mtr
done
expect 2 '--maps at a time after the end of the recording' "$report" --maps --time 100000,100001 stored.mtr
says '... is a usage error' 'time begins at 100000 s'
expect 2 '--hugepages has no --at' "$report" --hugepages --at 1s stored.mtr
says '... and what has is named' '^mtreport: these do: .*--outstanding.*--blocks.*--maps, .*--kernel-memory'
expect 2 '--kernel-memory has no --all' "$report" --kernel-memory --all stored.mtr
expect 4 'selectors that match no event of the analysis have status 4' "$report" --faults --pid 999999 stored.mtr
says '... and mtreport says only that' '^mtreport: of .* it has the events page-faults' "$err"
check '... without advice to record what was recorded' sh -c '! grep -q "is about" "$1"' - "$err"
expect 2 'a time after the end is a usage error' "$report" --time 1000,2000 stored.mtr
says '... that says when the recording ends' '^mtreport: --time begins at 1000 s, and the recording ends at [0-9.]+ s$'
scene=$MT_TOP/tests/golden/scenes/leak.mtr
expect 2 'a time after the end of the base is one, too' "$report" --outstanding --base-time 1000,2000 "$scene"
says '... that says when the base ends' '^mtreport: --base-time begins at 1000 s, and the recording ends at 15.004 s$'
expect 2 'a moment after the end is one, too' "$report" --outstanding --at 999 "$scene"
says '... that says the range of the recording' '^mtreport: --at 999: the recording is from 0 to 15.004 s$'
expect 2 'a time of day after the end is one, too' "$report" --outstanding --at @5 "$scene"
says '... that says the range as times of day' '^mtreport: --at @5: the recording is from @[0-9]+ to @[0-9]+$'
expect 0 'the end itself is a valid moment' "$report" -q --outstanding --at 15.01 "$scene"
cp stored.mtr keep.mtr
for words in '--flamegraph keep.mtr' '--html keep.mtr' '--csv -o keep.mtr'; do
	# shellcheck disable=SC2086
	expect 2 "$words does not replace a recording" "$report" $words "$scene"
	says '... and says what it is' '^mtreport: keep.mtr: that is a recording, and a report does not replace it$'
done
check '... which is as it was' cmp stored.mtr keep.mtr
expect 0 'the length of a timeline may be a separate word' "$report" --timeline 100ms --csv stored.mtr
cp "$out" words.csv
expect 0 '... or follow an equals sign' "$report" --timeline=100ms --csv stored.mtr
cp "$out" equals.csv
check '... with the same rows' cmp words.csv equals.csv
expect 0 '... and the name of a file after --timeline is a file' "$report" --csv --timeline stored.mtr

# A line always reports missing data
expect 0 'a damaged recording is still reported' "$report" --folded a_flipped_bit_in_a_payload.mtr
says '... and a line says what is missing' 'damaged chunk'
expect 0 'the summary mentions the damage in its text' "$report" a_flipped_bit_in_a_payload.mtr
says '... with the number' '^! .*1 damaged chunk' "$out"
expect 0 'a recording that was cut is still reported' "$report" --folded cut_after_a_chunk.mtr
says '... and mtreport says that it was cut short' 'cut short'
expect 0 'lost records are reported' "$report" --folded stored.mtr
says '... with their number' '3 records were lost'
expect 1 '--strict fails if records were lost' "$report" --folded --strict stored.mtr
expect 1 '--strict fails if the recording is damaged' "$report" --strict a_flipped_bit_in_a_payload.mtr
expect 0 '--quiet prints no message about it' "$report" -q --folded stored.mtr
check '... and no other message' test ! -s "$err"

# Text for other tools
"$report" --script stored.mtr 2>/dev/null | awk -f "$MT_TOP/tests/collapse_perf.awk" | LC_ALL=C sort >script.folded
sed 's/^[a-z-]*;//' one.folded | awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' | LC_ALL=C sort >merged.folded
check '--script collapses to what --folded gives' cmp script.folded merged.folded

# perf's words
made=$MT_TOP/tests/golden/recorded/attached.mtr
check 'the command line of perf report works' "$report" report --sort comm,dso,symbol --stdio -g -n --no-children --header -q -i "$made"
says '... and shows paths by comm and image' '^count +period +event comm image: function' "$out"
check 'the command line of perf script works' "$report" script -q "$made"
cp "$out" perf_script
"$report" --script -q "$made" >same
check '... and gives the output of --script' cmp same perf_script
expect 2 'an option of perf without meaning here is a usage error' "$report" -F comm,ip "$made"
says '... that names the option of mtreport to use' '^mtreport: -F is perf.s; here --by KEY,... chooses columns'
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
check '--percent-limit: only lines with at least that share of the sum' diff want large
expect 2 '--percent-limit of single events is a usage error' "$report" --mmaps --percent-limit 5 "$made"
says '... that says why' 'leaves out sums, and --mmaps shows single events'

# A line reports frames that do not fit in a picture, with their sum and the report that shows them
"$MT_TOP/tests/golden/recording/corpus.py" . memory_calls || exit 1
check '--growth --folded' "$report" --growth --folded memory_calls.mtr
says '... says how many bytes of shrinking it leaves out' '2,105,344 B of shrinking are left out: --folded has no room' "$err"
check 'the form with two columns includes it' "$report" -q --growth --folded --base-time 0%-50% --time 50%-100% memory_calls.mtr
says '... before, now' '^.* [0-9]+ [0-9]+$' "$out"
check 'a base of half the time' "$report" --growth --folded --base-time 0%-50% --time 0%-100% memory_calls.mtr
says '... is doubled, and a line says so' 'figures are multiplied by 2, to the same time: --per none shows them' "$err"
check '... in front of a text' "$report" -q --growth --table --base-time 0%-50% --time 0%-100% memory_calls.mtr
says '... too' 'figures are multiplied by 2, to the same time' "$out"
check '... unless --per none is given' "$report" --growth --folded --base-time 0%-50% --time 0%-100% --per none memory_calls.mtr
is '... which does not change the base' "$(grep -c multiplied "$err")" 0
finish
