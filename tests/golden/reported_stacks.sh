#!/bin/bash
# Folded stacks are an input like recordings; the text that perf script prints is refused by name.
. "$(dirname "$0")/../lib.sh"

report() { "$MT_BUILD/mtreport" -q "$@"; }
gives() { # gives DESCRIPTION TEXT COMMAND...: the command prints TEXT
	printf '%s\n' "$2" >"$TMPDIR/want"
	"${@:3}" >"$TMPDIR/given" 2>&1
	check "$1" diff "$TMPDIR/want" "$TMPDIR/given"
}
cd "$TMPDIR" || exit 1

printf '# a comment\nsh;main;run 12\nsh;main 3\r\n\nsh;main;inner_[i];call_[k];made_[j] 4\nlua;f(int, char);<script>" 7.5\nidle 2' >s.folded
gives 'folded stacks become the same folded stacks' 'idle 2
lua;f(int, char);<script>" 8
sh;main 3
sh;main;inner;call;made 4
sh;main;run 12' report --folded s.folded
gives 'their first name is the command' 'sh,19' sh -c "'$MT_BUILD/mtreport' -q --csv --by comm --comm sh s.folded | tail -n +2 | cut -d, -f2,3"
gives '--symbol selects' 'sh;main;run 12' report --folded --symbol run s.folded
check 'a flame graph is drawn of them' report --flamegraph x.svg s.folded
check '... in which kernel, inlined and made frames keep their kinds' sh -c \
	'grep -q "<title>inner (.*; inlined)" x.svg && grep -q "<title>call (.*; kernel)" x.svg && grep -q "<title>made (.*; JIT)" x.svg'
check 'pprof takes them' report --pprof x.pb.gz s.folded
gives 'a pipe is read' 'a;b 1' sh -c "echo 'a;b 1' | '$MT_BUILD/mtreport' -q --folded -"

printf 'sh;main;run 12 10\nsh;old 3 0\nsh;new 0 5\n' >pair.folded
gives 'two counts a line are a comparison' 'sh;main;run 12 10
sh;new 0 5
sh;old 3 0' report --folded pair.folded
gives '... for a table, too' 'gone,folded,sh,"old",3,0,-3' sh -c "'$MT_BUILD/mtreport' -q --csv pair.folded | grep gone"
expect 2 'the summary shows no comparison' report pair.folded
printf 'sh;main;in_[i];call_[k];made_[j] 4 6\n' >kinds.folded
check 'a comparison keeps kernel, inlined and made frames' sh -c "'$MT_BUILD/mtreport' -q --flamegraph d.svg kinds.folded &&
	grep -q '<title>in (.*; inlined' d.svg && grep -q '<title>call (.*; kernel' d.svg && grep -q '<title>made (.*; JIT' d.svg"
printf 'sh;main;run 5\nsh;new 5\n' >then.folded
gives '--base compares two files' 'idle 0 2
lua;f(int, char);<script>" 0 8
sh;main 0 3
sh;main;inner;call;made 0 4
sh;main;run 5 12
sh;new 5 0' report --folded --base then.folded s.folded

for analysis in growth outstanding resident blocks maps processes; do
	expect 4 "--$analysis says that stacks do not have it" report --$analysis s.folded
	says '... and what would' 'takes a recording'
done
printf 'some words\nof a text\n' >text
expect 3 'other text is no recording' report text
printf 'a;b 1\na;b\n' >half
expect 3 'nor is one that is folded in its first line only' report half
{ for _ in {1..70}; do echo 'a;b 1'; done; echo 'a;b'; head -c 1500000 /dev/zero | tr '\0' x; echo ' 1'; echo 'a;b 1'; } >long
gives 'a line that is too long, or says nothing, is left out' 'a;b 71' report --folded long
check '... and counted' sh -c "'$MT_BUILD/mtreport' --folded long 2>&1 >/dev/null | grep '2 records could not be decoded'"

tab=$(printf '\t')
cat >perf.script <<END
# captured on: today
Web Content  1234/1235 [002]  5678.123456:       4096 page-faults:u: addr=0x10
$tab    7f1200000012 std::vector<int, std::allocator<int> >::push_back+0x12 (/usr/lib/lib one.so (deleted))
$tab    7f1200000020 inner (inlined)
$tab    7f1200000020 outer(int)+0x8 (/usr/bin/prog)
  prog.cpp:12
$tab    7f1200000030 [unknown] (/usr/lib/libc.so.6)

kworker/0:1 77 [000] 5678.5: page-faults:u:
${tab}ffffffff81000010 do_page_fault+0x10 ([kernel.kallsyms])

perf 9 5679.000000001: cycles:  55d0c0ffee12 grow+0x12 (/usr/bin/grower)
prog 1234 [001] 5680.000000:   1 cycles:
END
sed 's/^# .*//; /^\t/d' perf.script >heads.script
grep "^$tab" perf.script >frames.script
for text in perf heads frames; do
	expect 3 "what perf script prints is refused: $text" report --folded $text.script
	says '... by its name' 'is the text that perf script prints'
	says '... and the line says what to give' 'perf.data file itself'
done
"$MT_TOP/tests/golden/recording/corpus.py" . stored || exit 1
report --script stored.mtr >first
expect 3 'and so is what --script prints' report first
report --folded stored.mtr >first
report --folded first >second
check 'what --folded prints is the same once read' diff first second
finish
