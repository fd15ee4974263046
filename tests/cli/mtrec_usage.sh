#!/bin/bash
# mtrec's command line: mtrec reports each mistake in one clear line, with the right status, and overwrites no file.
. "$(dirname "$0")/../lib.sh"
mtrec=$MT_BUILD/mtrec
[ -x "$mtrec" ] || skip_all 'mtrec is not built'
cd "$TMPDIR" || exit 1
echo 'an earlier recording' >mtrec.mtr

# usage DESCRIPTION REGEX WORD...: checks for a usage error: status 2, a matching line, a second line with advice, no output.
usage() {
	local description=$1 line=$2
	shift 2
	expect 2 "$description" "$mtrec" "$@"
	says '... is reported' "^mtrec: $line\$" "$err"
	check '... in two lines, with nothing on stdout' test "$(wc -l <"$err") $(wc -c <"$out")" = '2 0'
}

usage 'no words at all' 'nothing to record: give -a, -C, -u, -G, -p, -t, or a command'
usage 'neither event nor target' 'nothing to record: give -a, -C, -u, -G, -p, -t, or a command' -q
usage 'neither target nor command' 'nothing to record: give -a, -C, -u, -G, -p, -t, or a command' -e brk
usage '-a with -p' '-a and -C record every process: -p and -t do not go with them' -e brk -a -p 1
usage '-C with -t' '-a and -C record every process: -p and -t do not go with them' -e brk -C 0 -t 1
usage 'a bad list of processes' "-p: '1,x' is not a list of numbers like 1,2,5-7" -e brk -p 1,x
usage 'a bad list of threads' "-t: '-1' is not a list .*" -e brk -t -1
usage 'a bad list of CPUs' "-C: '0-' is not a list .*" -e brk -C 0-
usage 'process 0' '-p: there is no process 0' -e brk -p 0
usage 'a bad ring size' "-m: '3X' is not a size like .*" -e brk -a -m 3X
usage 'a bad level' "-z: '23' is not a number from -7 to 22" -e brk -a -z 23
usage 'a bad count' "-c: '0' is not a number from 1 to .*" -e brk -a -c 0
usage 'a bad frequency' "-F: 'most' is not a number from 1 to .*" -e cpu-clock -a -F most
usage '-c with -F' '-c and -F exclude each other' -e cpu-clock -a -c 1 -F 1
usage 'a bad call graph' "--call-graph: unknown method 'bts'" -e brk -a --call-graph bts
usage 'a bad dump size' "--call-graph: bad dump size '7'" -e brk -a --call-graph dwarf,7
usage 'an unknown short option' "unknown option '-y'" -y
usage 'an unknown long option' "unknown option '--frobnicate'" --frobnicate
usage 'a short option without its argument' "option '-o' wants an argument" -e brk -a -o
usage 'a long option without its argument' "option '--event' wants an argument" --event
usage 'an argument for an option that takes none' "option '--quiet' takes no argument" --quiet=1
usage 'an empty output' '-o: empty file name' -e brk -a -o ''
usage '--all-user with --all-kernel' '--all-user and --all-kernel exclude each other' -a --all-user --all-kernel

usage '-I without --stat' '-I and -x go with --stat only' -a -I 1000
usage '-x without --stat' '-I and -x go with --stat only' -a -x,
usage 'a recording of --stat' '--stat records nothing: --max-size does not go with it' --stat -a --max-size 2M
usage 'an interval that is too short' "-I: '9' is not a number from 10 to 2147483647" --stat -a -I 9

# instead DESCRIPTION REGEX WORD...: checks an option of perf that mtrec does not have: status 2, and one line with the replacement.
instead() {
	local description=$1 line=$2
	shift 2
	expect 2 "$description" "$mtrec" "$@"
	says '... says what to use' "^mtrec: $line" "$err"
	check '... in one line' test "$(wc -l <"$err") $(wc -c <"$out")" = '1 0'
}

instead "perf's --overwrite" "--overwrite is perf's; here the file has everything; --duration or --max-size" -a --overwrite
instead "perf's --switch-output" "--switch-output is perf's; here run mtrec --duration TIME -o FILE in a loop" -a --switch-output
instead '... with its argument' "--switch-output is perf's; here run mtrec --duration TIME" record -a --switch-output=10M
instead "perf's -n" "-n is perf's; here --stat counts without samples" -a -n
instead 'another clock' "-k 'realtime' is refused: times are CLOCK_MONOTONIC [(]mono[)]; mtreport --info has the start in UTC" -a -k realtime
check 'the earlier recording is still there' grep -q 'an earlier recording' mtrec.mtr
check '... and there is no FILE.old' test ! -e mtrec.mtr.old

expect 0 '--help' "$mtrec" --help
cp "$out" help
cp "$err" help_err
says '... shows the usage' '^Usage: mtrec \[-e EVENT\]' help
says '... and says where all options are' 'mtrec --help all' help
check '... only on stdout' test ! -s help_err
expect 0 '-h' "$mtrec" -h
cp "$out" help2
check '... is the same' cmp help2 help
expect 0 '--help all' "$mtrec" --help all
says '... shows the exit status' '^Exit status:' "$out"
says '... and rare options' '--embed-limit SIZE' "$out"
cp "$out" help2
expect 0 '--help=all' "$mtrec" --help=all
cp "$out" help3
check '... is the same' cmp help2 help3
usage 'help on an unknown topic' "--help: 'nonsense' is not known" --help nonsense
"$mtrec" --help nonsense 2>help3
says '... lists the topics' 'known is all' help3
expect 0 '--version' "$mtrec" --version
says '... is one line' '^mtrec [0-9]+\.[0-9]+' "$out"
expect 5 'help for a full disk' bash -c "'$mtrec' --help >/dev/full"
says '... fails as output' 'cannot write to standard output' "$err"

expect 0 '--list PATTERN' "$mtrec" --list page-faults
says '... has the event' '^page-faults +software ' "$out"
check '... and no other' test -z "$(grep -v fault "$out")"
expect 0 '--list takes shell patterns' "$mtrec" --list 'm*map'
says '... mmap and' '^mmap +syscall ' "$out"
expect 0 '--list=PATTERN' "$mtrec" --list=brk
says '... has it too' '^brk +syscall ' "$out"
"$mtrec" --list 2>/dev/null >list
"$MT_BUILD/mtreport" --help all >analyses
awk '$2 ~ /^(syscall|group|probes|software|hardware)$/ {
	if ($3 !~ /^(yes|part|no)$/ || $4 !~ /^(rare|storm|timed)$/ || NF < 7) print
	else if ($3 != "yes" && !/; here: ./) print "no reason: " $0
	else print $5 >"read_by"
}' list >wrong
is '--list: each event has kind, yes or part or no and why, cost, report, unit, help' "$(cat wrong)" ''
between '... of the whole table' 90 "$(wc -l <read_by)" 200
is '... and mtreport has each of those reports' \
	"$(sort -u read_by | while read -r report; do grep -q -- "^ *$report " analyses || echo "$report"; done)" ''
if command -v script >/dev/null; then
	script -qec "stty cols 80; '$mtrec' --list" /dev/null </dev/null 2>/dev/null | tr -d '\r' >folded
	is '... 80 columns wide on a terminal' "$(grep -v : folded | awk 'length > 80'; awk 'length > 80 && / /' folded)" ''
	says '... under a head' '^event +kind +here +cost +mtreport +unit' folded
	is '... with the same words' "$(sed -n '/^mremap /,/^mprotect /p' folded | sed '$d' | tr -s ' \n' ' ')" "$(grep '^mremap ' list | tr -s ' \n' ' ')"
else
	skip '... 80 columns wide on a terminal' 'script is not installed'
fi
usage 'two patterns' '--list takes one pattern' --list brk mmap
usage 'a command after --clean' "--clean runs no command: 'true'" --clean -- true
usage 'static probes of nobody' '--list usdt: no process is given' --list usdt
usage 'a command after --check' "--check runs no command: 'true'" --check -- true

expect 5 'help for a closed stdout' bash -c "'$mtrec' --help >&-"

# mtrec asks the kernel after it reads its arguments. Without perf events these commands end earlier, with 3 or 125.
if [ -n "${MT_NO_PERF:-}" ]; then
	skip 'unknown events and processes' "$MT_NO_PERF"
	finish
fi
usage 'an unknown event' "unknown event 'page-fault'" -e page-fault -a
expect 2 'an event that is like one' "$mtrec" -e pagefaults -a
says '... makes mtrec guess the event' '^mtrec: did you mean page-faults[?] '
usage 'an unknown event in a list' "unknown event 'nosuch'" -e page-faults,nosuch -- true
usage 'an empty event' '-e: empty event name' -e page-faults, -a
usage 'a bad modifier' "bad modifier in 'page-faults:z'" -e page-faults:z -a
if most=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null); then
	expect 125 'more samples a second than the kernel takes' "$mtrec" -e cpu-clock:u -F $((most + 1)) -- true
	says '... makes mtrec say the limit' "^mtrec: kernel.perf_event_max_sample_rate is $most: -F $most, or as root: " "$err"
fi
printf '%s\n' disable enable disable enable disable enable stop >commands
expect 4 'a recording with six notes' "$mtrec" -e page-faults -p $$ --control fd:9 -o notes.mtr 9<commands
is '... makes mtrec print three' "$(grep -c '^mtrec: events [de][in]' "$err")" 3
says '... and the number of the others' '^mtrec: 3 more notes: mtreport --info shows them all$'
"$MT_BUILD/mtreport" --info notes.mtr >info 2>/dev/null
is '... which are in the recording' "$(grep -c 'note  *events [de][in]' info)" 6
expect 127 '--stat of a command that is not found' "$mtrec" --stat -- nosuchcommand
expect 5 '--stat to a file in a missing directory' "$mtrec" --stat -a -o none/f
says '... is reported' '^mtrec: cannot write none/f: No such file or directory$' "$err"
expect 0 'without -e, there are default events' "$mtrec" -o default.mtr -- true
"$MT_BUILD/mtreport" --info default.mtr >info
says '... page faults, and' 'page-faults: sample' info
if [ "$(id -u)" -eq 0 ]; then
	says '... all calls of vm' 'munmap: sample' info
	says '... and the events that count pages' 'kmem:rss_stat: mark' info
fi
expect 0 '-F for faults' "$mtrec" record -T -d -s -R -P -e page-faults -F 99 -o faults.mtr -- true
says '... thins the faults, and mtrec says so' '^mtrec: -F 99: page-faults: thinned to about as many samples a second$' "$err"
if [ "$(id -u)" -eq 0 ]; then
	expect 2 'a tracepoint that this kernel does not have' "$mtrec" -e no:such -a
	says '... is named' "^mtrec: unknown event 'no:such': this kernel has no such tracepoint$" "$err"
	expect 2 '... with a command' "$mtrec" -e no:such -- true
	usage 'a pattern that matches no tracepoint' "unknown event 'sched:no[*]such': no tracepoint matches" -e 'sched:no*such' -a
	usage 'a pattern that matches them all' "'[*]:[*]' matches more than 256 tracepoints" -e '*:*' -a
	expect 3 'nothing matches --list' "$mtrec" --list nosuchevent
	says '... is reported' "^mtrec: no event matches 'nosuchevent'$" "$err"
	usage 'no such CPU' '-C: none of these CPUs is online' -e page-faults -C 9999
fi
expect 3 'a process that does not exist' "$mtrec" -e page-faults -p 99999999
says '... is named' '^mtrec: -p: there is no process 99999999$' "$err"
expect 125 '... with a command' "$mtrec" -e page-faults -p 99999999 -- true
expect 3 'a thread that does not exist' "$mtrec" -e page-faults -t 99999999
says '... is named' '^mtrec: -t: there is no thread 99999999$' "$err"

expect 127 'a command that is not found' "$mtrec" -e page-faults -- nosuchcommand
says '... is named' '^mtrec: cannot run nosuchcommand: No such file or directory$' "$err"
check '... in one line' test "$(wc -l <"$err")" -eq 1
expect 127 'a path that does not exist' "$mtrec" -e page-faults ./nosuch
echo 'no program' >data
expect 126 'a file that cannot be executed' "$mtrec" -e page-faults ./data
says '... says why' 'cannot run ./data: Permission denied' "$err"
expect 126 'a directory as a command' "$mtrec" -e page-faults "$TMPDIR"
check 'the earlier recording is still there' grep -q 'an earlier recording' mtrec.mtr
check '... and there is no FILE.old' test ! -e mtrec.mtr.old

expect 125 'a directory as output' "$mtrec" -e page-faults -o "$TMPDIR" -- true
says '... says why' "^mtrec: cannot write $TMPDIR: Is a directory$" "$err"
expect 125 'an output in a missing directory' "$mtrec" -e page-faults -o none/f.mtr -- true
says '... says what to do' '^mtrec: -o FILE chooses another place$' "$err"
expect 5 '... without a command' "$mtrec" -e page-faults -p $$ -o none/f.mtr
expect 125 'a closed stdout as output' bash -c "'$mtrec' -e page-faults -o - -- true >&-"
if command -v script >/dev/null; then
	script -qec "'$mtrec' -e page-faults -o - -- true; echo status \$?" /dev/null </dev/null >terminal 2>&1
	says 'a recording is not written to a terminal' 'a recording is not for a terminal' terminal
	says '... and that is a usage error' 'status 2' terminal
else
	skip 'a recording is not written to a terminal' 'script is not installed'
fi
finish
