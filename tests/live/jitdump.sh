#!/bin/bash
# A process makes code and describes it in a jitdump. An address gets the name of the code that was there at that time, the tables of
# the jitdump unwind it, and lines are known. The jitdump is in the recording, in a file here, or in perf.data, processed by perf or not.
# timeout: 180
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
[ "$(uname -m)" = x86_64 ] || skip_all 'the workload is x86-64 code'
needs_compiler
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -g -fno-optimize-sibling-calls -o jitdumped "$MT_TOP/tests/workloads/jitdumped.c" || exit 1

# made FILE OPTION...: writes the functions of generated code, each with its count, to $TMPDIR/made.
made() {
	local file=$1
	shift
	"$report" -q --folded "$@" "$file" 2>why | sed -n 's/.*;main\( [^;]*\)\?;run\( [^;]*\)\?;//p' | sort >made
}

# as_reported DESCRIPTION [END OF A LINE]...: checks that `made` has the functions of the workload: whole stacks, each name at its time.
as_reported() {
	printf '%s\n' "first at its place${2-} 50" 'frameless 50' 'moved 50' "second::at${3-} 50" >wanted
	diff wanted made >differs
	if cmp -s wanted made; then pass "$1"; else fail "$1" differs; fi
}

"$mtrec" -q -e page-faults --embed none -o none.mtr ./jitdumped 50
made none.mtr
as_reported 'one address has the name of its time, by the file here'
"$report" --info none.mtr >info
check '--info lists it' grep -q '5 functions, of the file here; unwind tables: yes, lines: yes' info
check '--seal carries it' "$report" --seal sealed.mtr none.mtr
mkdir elsewhere
mv jit-*.dump elsewhere/
made sealed.mtr
as_reported '... so that the file is not needed'
made none.mtr
# without its tables the frameless function has no callers
is '... as it is without that' "$(cat made)" '[anon] 150'
"$report" --info none.mtr >info
check '... which --info reports' grep -q 'not used: no such file here' info
made none.mtr --symfs elsewhere
as_reported '... unless it is said where the file is'
for dump in elsewhere/jit-*.dump; do cp "$dump" "${dump##*/}"; done
made none.mtr
is 'another file of that name is not believed' "$(cat made)" '[anon] 150'
rm jit-*.dump

"$mtrec" -q -e page-faults -o carried.mtr ./jitdumped 50
rm jit-*.dump
made carried.mtr
as_reported 'the recording carries it'
check '... and is sound' "$MT_TOP/scripts/mtdump" --check carried.mtr
"$report" --info carried.mtr >info
check '... which --info reports' grep -q '5 functions, carried; unwind tables: yes, lines: none' info
"$mtrec" -q -e page-faults --embed lines --embed-limit 512M -o lines.mtr ./jitdumped 50
rm jit-*.dump
made lines.mtr --srcline
as_reported '... with --embed lines with lines, too' ' first.js:11' ' second.js:21'
"$mtrec" -q -e page-faults --embed symbols -o symbols.mtr ./jitdumped 50
rm jit-*.dump
"$report" --info symbols.mtr >info
check '... with --embed symbols without unwind tables' grep -q '5 functions, carried; unwind tables: none, lines: none' info

# Stacks that mtrec unwinds while it records are equal to those of raw dumps. Each is unwound with the tables of its time.
check 'a recording is stripped' "$report" -q --strip stripped.mtr carried.mtr
made stripped.mtr
cp made raw
as_reported '... and its stacks are whole'
"$mtrec" -q -e page-faults --strip -o stripping.mtr ./jitdumped 50
rm jit-*.dump
made stripping.mtr
is 'mtrec --strip, too, but for the frame that only its tables lead out of' "$(cat made)" "$(grep -v frameless raw)"
check '... which is named' grep -q '^jitdumped.*frameless' <("$report" -q --folded stripping.mtr)
check '... and sound' "$MT_TOP/scripts/mtdump" --check stripping.mtr

# A recording without an end has the code that the jitdump described up to that point.
"$mtrec" -q -e page-faults -o killed.mtr ./jitdumped 50 . 60 &
recorder=$!
carries() {
	[ -s killed.mtr ] && dump killed.mtr 2>/dev/null
	grep -q ' FILE .*kind=5 ' "$dump"
}
until_true carries
command=$(pgrep -P "$recorder")
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
[ -z "$command" ] || kill -KILL "$command"
rm jit-*.dump
made killed.mtr
as_reported 'killed: the recording carries a piece'

mkdir -p dumps
"$mtrec" -q -a -e page-faults -o all.mtr ./jitdumped 50 dumps
rm -r dumps
made all.mtr --comm jitdumped
as_reported 'recorded with -a'

if ! command -v perf >/dev/null; then
	skip 'perf.data' 'perf is not installed'
elif ! perf record -q -m 8192 -k 1 -e page-faults -c 1 --call-graph dwarf,4096 -o perf.data ./jitdumped 50 >said 2>&1; then
	skip 'perf.data' "perf record does not work here: $(tail -n 1 said)"
else
	made perf.data
	if grep -q 'were lost' why; then # the workload is faster than perf here
		skip 'perf.data, by the file here' "$(cat why)"
	else
		as_reported 'perf.data, by the file here'
	fi
	if perf inject --jit -i perf.data -o injected.data >said 2>&1 && ls jitted-*.so >/dev/null 2>&1; then
		rm jit-*.dump
		made injected.data
		is '... and processed by perf inject --jit' "$(grep -vx 'frameless.*' made | sed 's/ [0-9]*$//')" \
			"$(printf '%s\n' 'first at its place' 'moved' 'second::at')"
	else
		skip '... and processed by perf inject --jit' "it does not work here: $(tail -n 1 said)"
	fi
fi

if ! type -P node >/dev/null; then
	skip 'a script in node' 'node is not installed'
elif ! node --perf-prof -e 0 >/dev/null 2>&1; then
	skip 'a script in node' 'this node has no --perf-prof'
else
	rm -f jit-*.dump
	write_node_script
	"$mtrec" -q -e page-faults -o node.mtr node --perf-prof --interpreted-frames-native-stack grow.js
	"$report" -q --folded --no-inline node.mtr >here
	rm jit-*.dump
	"$report" -q --folded --no-inline node.mtr >folded
	check 'a script in node, by its functions' grep -q ';JS:[^;]*growBuffers [^;]*grow.js:2' folded
	check '... the same without its jitdump' diff here folded
fi
finish
