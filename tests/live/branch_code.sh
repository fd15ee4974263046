#!/bin/bash
# mtreport --seal adds the code that branch records lead through, so that they are classified and replayed where the program is not.
# There is no PMU here: tests/workloads/branch_pmu.c gives mtrec the records that tests/oracle/lbr_step.c has of a program it steps through;
# all else is the recorder, the kernel and the reader as they are.
# timeout: 400
# together: it looks at what it starts itself, and at nothing else
# slow: programs run one instruction at a time
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
needs_mtrec
[ "$(uname -m)" = x86_64 ] || skip_all 'not an x86-64 machine'
needs_command "${CC:-cc}"
needs_root
case $(file -L "$mtrec" 2>/dev/null) in *'statically linked'*) skip_all 'a static mtrec cannot be preloaded into' ;; esac
case $(ldd "$mtrec" 2>/dev/null) in *libasan*) preload=$(cc -print-file-name=libasan.so): ;; *) preload= ;; esac
build_tool lbr_step tests/oracle/lbr_step.c tests/oracle/branch_recorder.c tests/oracle/perf_file.c \
	tests/oracle/feeding.c tests/oracle/stepper.c || {
	fail 'the single-stepper builds' "$TMPDIR/why"
	finish
}
(cd "$MT_TOP" && "${CC:-cc}" -O1 -D_GNU_SOURCE -I. -shared -fPIC -o "$TMPDIR/branch_pmu.so" tests/workloads/branch_pmu.c -ldl) ||
	skip_all 'the library that plays a PMU does not build here'
cd "$TMPDIR" || exit 1
"${CC:-cc}" -O2 -static -Wl,--build-id -o frames "$MT_TOP/tests/workloads/unwind/frames.c" -lm 2>why ||
	skip_all 'the test program does not build statically here'
./lbr_step -s 1000 ./frames >why 2>&1
grep -q '^stepper: .*Operation not permitted' why && skip_all 'ptrace is not permitted'
mkdir empty gone

# recorded NAME STEPPER-OPTIONS MTREC-OPTIONS: NAME.mtr of the program, which is stepped through, and NAME.said
recorded() {
	local name=$1 step=$2 options=$3 stepper
	: >pid
	# shellcheck disable=SC2086
	timeout 120 ./lbr_step $step -F feed ./frames >pid 2>&1 &
	stepper=$!
	until_true test -s pid
	# shellcheck disable=SC2086
	LD_PRELOAD=$preload$TMPDIR/branch_pmu.so BRANCH_PMU_FEED=feed timeout 120 \
		"$mtrec" -m 8M -e cycles:u $options -p "$(head -n 1 pid)" -o "$name.mtr" >"$name.said" 2>&1
	wait $stepper
	samples=$(sed -n 's/ stacks,.*//p' pid)
	is "$name: each sample that the processor took is recorded" \
		"$("$MT_BUILD/mtreport" -q --script "$name.mtr" | grep -c ' cycles: $')" "$samples"
	check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check "$name.mtr"
}

# sealed NAME: NAME.mtr with the code that its branch records lead through
sealed() {
	check '... which --seal adds the code to' "$MT_BUILD/mtreport" -q --seal sealed.mtr "$1.mtr"
	check '... as FORMAT.md says, too' "$MT_TOP/scripts/mtdump" --check sealed.mtr
	mv sealed.mtr "$1.mtr"
}

# read_as NAME OPTION...: NAME.mtr as it is read here; elsewhere: where the program is not.
read_as() {
	local name=$1
	shift
	"$MT_BUILD/mtreport" -q "$@" "$name.mtr"
}
elsewhere() {
	mv frames gone/
	read_as "$@" --symfs empty
	mv gone/frames .
}

callers() {
	grep -c '^	'
}

# same_elsewhere NAME OPTION...
same_elsewhere() {
	read_as "$@" >here
	elsewhere "$@" >there
	[ -s here ] && diff here there
}

# all_the_same NAME
all_the_same() {
	check '... the same branches where the program is not' same_elsewhere "$1" --branches
	check '... the same replayed stacks' same_elsewhere "$1" --unwind lbr --no-inline --script
	check '... the same stacks of dump and branches' same_elsewhere "$1" --no-inline --script
}

recorded any '-j any,u -s 50 -d 1024' '-b --embed unwind'
between '... with hardly any replayed stack elsewhere' 0 "$(elsewhere any --unwind lbr --no-inline --script | callers)" $((samples + samples / 10))
sealed any
all_the_same any
replayed=$(read_as any --unwind lbr --no-inline --script | callers)
between '... which the code is needed for' $((samples + samples / 5)) "$replayed" 999999
recorded none '-j any,u -s 50 -d 1024' '-b --embed none'
is '--embed none carries none' "$("$MT_TOP/scripts/mtdump" none.mtr --chunks | grep -c FILE)" 0
is '... and has the same stacks here' "$(read_as none --unwind lbr --no-inline --script | callers)" "$replayed"
between '... and hardly any elsewhere' 0 "$(elsewhere none --unwind lbr --no-inline --script | callers)" $((samples + samples / 10))
recorded typed '-j any,u,save_type -s 50 -d 1024' -b
sealed typed
all_the_same typed
recorded stripped '-j any,u -s 50 -d 1024' '-b --strip'
sealed stripped
all_the_same stripped
recorded calls '-j call_stack,u -s 50 -d 1024' '--call-graph lbr'
sealed calls
all_the_same calls
finish
