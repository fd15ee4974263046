#!/bin/bash
# Measures cost and savings of mtrec --strip compared with raw stacks, for each sample: CPU time of the whole recorder, of its unwinding,
# and bytes of file. One program has stacks that hardly shrink, at 20,000 page faults a second; the other's shrink, as fast as it runs.
#
#	tests/bench/strip.sh [RUNS]		5 of each kind, in turn
. "$(dirname "$0")/../lib.sh"
runs=${1:-5}
build_faulter || {
	echo 'bench: strip: no ../shared/targets beside the tree (MT_SHARED=DIR)' >&2
	exit 0
}
cd "$TMPDIR" || exit 1

"${CXX:-g++}" -O2 -g -std=c++17 -o grower "$MT_TOP/tests/workloads/grower.cpp" || exit 1

# once NAME COMMAND OPTION...: prints a line of samples, bytes of file, us of mtrec's CPU time per sample, and us of unwinding in that
once() {
	local name=$1 command=$2
	shift 2
	# shellcheck disable=SC2086
	"$MT_BUILD/mtrec" --stats -e page-faults --embed none "$@" -o cost.mtr -- $command >/dev/null 2>stats
	awk -v size="$(stat -c %s cost.mtr)" '
		/^stripped / { us = $9 }
		/^CPU  .* s user/ { cpu = $2 + $5 }
		/^mtrec: / { samples = $4; gsub(",", "", samples) }
		END { printf "%d %d %.2f %.2f\n", samples, size, 1e6 * cpu / samples, us }' stats >>"$name"
}

# median FILE COLUMN
median() {
	sort -n -k "$2,$2" "$1" | awk -v column="$2" '{ v[NR] = $column } END { print v[int((NR + 1) / 2)] }'
}

for ((i = 0; i < runs; i++)); do
	once faulter-raw './faulter 40000 20000 1 2'
	once faulter-strip './faulter 40000 20000 1 2' --strip
	once grower-raw ./grower
	once grower-strip ./grower --strip
done
for name in faulter-raw faulter-strip grower-raw grower-strip; do
	samples=$(median $name 1)
	printf '%-14s %6d samples: %5.1f us of CPU a sample, of them %4.1f unwinding; %d bytes a sample\n' $name "$samples" \
		"$(median $name 3)" "$(median $name 4)" $(($(median $name 2) / samples))
done
