#!/bin/bash
# Runs programs one instruction at a time, and compares the unwinder with the true call chain, in prologues, epilogues, signal frames, PLT
# stubs, realigned frames, handwritten assembly, the dynamic linker and the vdso.
# timeout: 180
# slow: millions of single steps
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'not an x86-64 machine'
needs_command "${CC:-cc}"
build_tool unwind_step tests/oracle/unwind_step.c tests/oracle/stepper.c || {
	fail 'the single-stepper builds' "$TMPDIR/why"
	finish
}
workloads=$MT_TOP/tests/workloads/unwind
echo 'int main(void) { return 0; }' >"$TMPDIR/probe.c"
${CC:-cc} "$TMPDIR/probe.c" -o "$TMPDIR/probe" && "$TMPDIR/unwind_step" -e 100 "$TMPDIR/probe" >"$TMPDIR/why" 2>&1
grep -q '^stepper: .*Operation not permitted' "$TMPDIR/why" && skip_all 'ptrace is not permitted'

# The start-up code of the C library (crt1.o, the dynamic linker's _start) has no CFI: at about 20 instructions the stack is too
# short because of that, and at 10 per shared library.
startup=40

# too DESCRIPTION...: like follows(), for other builds of a program that was followed already; only with MT_TESTS=long.
too() {
	[ "${MT_TESTS:-}" != long ] || follows "$@"
}

# follows DESCRIPTION STEPPER-OPTIONS COMPILER-WORDS...
follows() {
	local description=$1 options=$2
	shift 2
	if ! ${CC:-cc} "$@" -o "$TMPDIR/program" -lm 2>"$TMPDIR/why"; then
		skip "$description" 'the compiler cannot build it'
		return
	fi
	# shellcheck disable=SC2086
	check "$description" "$TMPDIR/unwind_step" $options "$TMPDIR/program"
	sed 's/^/# /' "$out"
}

follows 'signal frames, alternate stacks, siglongjmp, -O2' '-e 300 -j 20' -O2 -static "$workloads/signals.c"
too 'the same, -O0' '-e 400 -j 20' -O0 -static "$workloads/signals.c"
follows 'realigned and variable frames, longjmp, -O2' "-e $startup -j 10" -O2 -static "$workloads/frames.c"
too 'the same, -O0, static PIE' "-e $startup -j 10" -O0 -static-pie "$workloads/frames.c"
too 'the same, wide vectors' "-e $startup -j 10" -O3 -mavx2 -static "$workloads/frames.c"
too 'the same without .eh_frame_hdr' "-e $startup -j 10" -O2 -static -Wl,--no-eh-frame-hdr "$workloads/frames.c"
follows 'lazy PLT, vdso, the dynamic linker' "-e $startup" -O2 -no-pie -Wl,-z,lazy "$workloads/calls.c"
too 'the same with an IBT PLT, PIE' "-e $startup" -O2 -fcf-protection -Wl,-z,ibtplt,-z,lazy "$workloads/calls.c"
follows 'assembly: every form of CFI, and none' "-e $startup" -O2 -static \
	"$workloads/assembly.S" "$workloads/assembly_main.c"
finish
