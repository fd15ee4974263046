#!/bin/bash
# --growth attributes every byte of brk to the path that asked for it, --outstanding every byte that was not given back.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
needs_shared
${CXX:-c++} -O2 -g -o "$TMPDIR/brker" "$MT_SHARED/targets/brker.cpp" || skip_all 'brker does not compile'
cd "$TMPDIR" || exit 1

record_without_losses 'a program with 20,000 calls of brk is recorded' "$mtrec" -m 32M -e vm ./brker 20000 4096
"$MT_BUILD/mtreport" --growth --folded >folded
for path in '15, 0 27308032' '22, 1 27308032' '28, 2 27303936'; do
	is "grow<${path% *}> grew the heap by ${path##* } bytes" \
		"$(awk -v f="main;grow<${path% *}>" 'index($0, f) { sum += $NF } END { print sum }' folded)" "${path##* }"
done
"$MT_BUILD/mtreport" --outstanding --by kind --csv >kinds
is 'what is outstanding of the heap is that and what stdio took' "$(sed -n 's/^heap,\([0-9]*\),.*/\1/p' kinds)" 82055168
"$MT_BUILD/mtreport" --outstanding --by process --csv >processes
is '... and that the process has exited' "$(sed -n '2s/.*,\(brker[^,]*\).*/\1/p' processes)" 'brker [exited]'
finish
