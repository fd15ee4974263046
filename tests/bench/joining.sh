#!/bin/bash
# Measures the cost of whole stacks compared with short dumps: of joining to the reporter, in instructions; of seeds and of reading
# absent stack pages to the recorded program, in CPU time at 45,000 faults a second.
#
#	tests/bench/joining.sh [RUNS]		9 of each kind, in turn
. "$(dirname "$0")/../lib.sh"
runs=${1:-9}
build_faulter || {
	echo 'bench: joining: no ../shared/targets beside the tree (MT_SHARED=DIR)' >&2
	exit 0
}
cd "$TMPDIR" || exit 1

# once NAME OPTION...: records one run of the target with these options; the target reports its own CPU time
once() {
	local name=$1
	shift
	"$MT_BUILD/mtrec" -q -e page-faults "$@" -o cost.mtr -- ./faulter 40000 20000 1 2 |
		sed -n 's/.*"cpu_total":\([0-9.]*\).*/\1/p' >>"$name"
}

# The program itself is noisy. The result is the median of all rounds' ratios to the plain run of the same round; "plain again" shows
# the ratio without any difference.
ratio() {
	paste "plain.$1" "$2.$1" | awk '{ print $2 / $1 }' | sort -n | awk '{ v[NR] = $1 } END { printf "%+.1f %%", 100 * (v[int((NR + 1) / 2)] - 1) }'
}

for dump in 8192 16384; do
	for ((i = 0; i < runs; i++)); do
		once plain.$dump --no-prefault --no-seeds --call-graph dwarf,$dump
		once again.$dump --no-prefault --no-seeds --call-graph dwarf,$dump
		once seeds.$dump --no-prefault --call-graph dwarf,$dump
		once both.$dump --call-graph dwarf,$dump
	done
	echo "target, dumps of $dump: with seeds $(ratio $dump seeds), with seeds and reads $(ratio $dump both) (bound: 3); plain again $(ratio $dump again)"
done

command -v callgrind_annotate >/dev/null || {
	echo 'bench: joining: instructions are counted by valgrind, which is not installed' >&2
	exit 0
}
for mode in 1 2; do
	"$MT_BUILD/mtrec" -q -e page-faults --call-graph dwarf,8192 --no-prefault -o join.mtr -- "$TMPDIR/faulter" 20000 0 1 $mode >/dev/null
	valgrind --tool=callgrind --callgrind-out-file=calls "$MT_BUILD/mtreport" -q -j 1 --folded --no-inline -o folded join.mtr 2>log ||
		{
			cat log >&2
			exit 1
		}
	callgrind_annotate --inclusive=yes --threshold=100 --auto=no calls | tr -d , | awk -v mode=$mode '
		# code inlined from other files has lines of its own, and the first line counts it as well
		/:mt_walker_walk / && !walk { walk = $1 }
		/:mt_join_adapter_learn / && !learn { learn = $1 }
		/:mt_join_adapter_see / && !see { see = $1 }
		/:mt_join_adapter_splice / && !splice { splice = $1 }
		END { printf "faulter 20000 0 1 %s: joining takes %.1f %% of what unwinding takes (bound: 20)\n", mode, 100 * (learn + see + splice) / walk }'
done
